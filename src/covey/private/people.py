"""At most m rows of every person, chosen by a keyed hash, never by their order. Proof: people.md.

Of each person the m rows stay whose hash of (person, lattice row, copy number) is smallest. So which rows of a person
stay depends on that person's own rows and a secret key: someone else's rows, the order of rows, and how a table is
cut into pieces or files do not matter. What stays is kept in memory; who was counted is never told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.keyed import derived_key, siphash
from covey.private.engine import Sealed
from covey.private.lattice import to_lattice
from covey.private.rows import RowEngine
from covey.private.tables import Piece, Places, Table, piece_rows, within
from covey.private.threads import on_all_cores
from covey.public import Domain
from covey.queries.base import Query, Rows
from covey.queries.people import PeopleByRows

AT_ONCE = 2**22  # different pairs of a person and a row that a pass over the table holds
COPIES = 2**20  # copies of rows that are ranked at once
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # a text that says the same as a whole number
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Names:
    """The keys of one fit: what people and rows are called behind the door."""

    key: bytes

    def people(self, ids: Any) -> tuple[Words, Words]:
        """128 bits for each id. Whole numbers and texts that say the same agree; missing ids are one person."""
        if not pa.types.is_integer(ids.type):
            ids = pc.if_else(pc.equal(pc.binary_length(ids), 0), pa.scalar(None, ids.type), ids)  # an empty cell
            known = ids.dictionary_encode()
            low, high = self._texts(known.dictionary)
            place = known.indices.fill_null(len(low)).to_numpy(zero_copy_only=False)
            return np.append(low, np.uint64(0))[place], np.append(high, np.uint64(0))[place]
        numbers = ids.fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
        low, high = (siphash(derived_key(self.key, part), [numbers]) for part in ("low", "high"))
        if ids.null_count:
            missing = ids.is_null().to_numpy(zero_copy_only=False)
            low[missing] = high[missing] = 0
        return low, high

    def _texts(self, texts: Any) -> tuple[Words, Words]:
        whole = pc.match_substring_regex(texts, WHOLE)
        numbers = pc.if_else(whole, texts, pa.scalar(b"0", texts.type)).cast(pa.large_string()).cast(pa.int64())
        low, high = (np.array(each) for each in self.people(numbers))
        others = np.flatnonzero(~whole.to_numpy(zero_copy_only=False))
        for place, text in zip(others.tolist(), texts.take(pa.array(others)).to_pylist(), strict=True):
            digest = hashlib.blake2b(text, key=self.key, digest_size=16).digest()
            low[place], high[place] = np.frombuffer(digest, dtype="<u8")
        return low, high

    def rows(self, rows: Rows) -> Words:
        """64 bits for each lattice row."""
        pairs = np.zeros((-(-len(rows) // 2) * 2, rows.shape[1]), dtype=np.int32)
        pairs[: len(rows)] = rows
        words = pairs.view(np.uint32).astype(np.uint64)
        return siphash(derived_key(self.key, "row"), list(words[::2] << np.uint64(32) | words[1::2]))

    def ranks(self, low: Words, high: Words, row: Words, copy: Words) -> Words:
        """The order of a person's rows: a random one, the same for the same rows."""
        return siphash(derived_key(self.key, "rank"), [low, high, row, copy])


@dataclass(frozen=True)
class Group:
    """Rows of the same person and lattice point (or all of a person's), told once, with how often they occur."""

    low: Words
    high: Words
    row: Words
    rank: Words  # of the first copy
    copies: NDArray[np.int64]
    values: NDArray[np.float64]  # (d, n) raw values, one row of each group

    def at(self, places: NDArray[Any]) -> Group:
        return Group(*(getattr(self, each.name)[..., places] for each in fields(self)))

    @classmethod
    def joined(cls, groups: Sequence[Group]) -> Group:
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(each, name) for each in groups], axis=-1) for name in names))

    def merged(self) -> Group:
        """Equal pairs together."""
        order = np.lexsort((self.row, self.high, self.low))
        ordered = self.at(order)
        fresh = np.ones(len(order), dtype=np.bool_)
        fresh[1:] = _differ(ordered.low, ordered.high, ordered.row)
        first = np.flatnonzero(fresh)
        copies = np.add.reduceat(ordered.copies, first) if len(first) else ordered.copies
        once = ordered.at(first)
        return Group(once.low, once.high, once.row, once.rank, copies, once.values)


@dataclass(frozen=True)
class Ranked:
    """Single rows, each with its place in its person's order."""

    low: Words
    high: Words
    rank: Words
    row: Words
    copy: Words
    values: NDArray[np.float64]

    def smallest(self, most: int, other: Ranked | None) -> Ranked:
        """The first `most` of every person, of these and the others."""
        both = [self] if other is None else [other, self]
        names = [each.name for each in fields(Ranked)]
        joined = {name: np.concatenate([getattr(each, name) for each in both], axis=-1) for name in names}
        order = np.lexsort(tuple(joined[name] for name in ("copy", "row", "rank", "high", "low")))
        ordered = {name: values[..., order] for name, values in joined.items()}
        start = np.ones(len(order), dtype=np.bool_)
        start[1:] = _differ(ordered["low"], ordered["high"])
        first = np.flatnonzero(start)
        within = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        stay = within < most
        return Ranked(**{name: values[..., stay] for name, values in ordered.items()})

    def persons(self) -> NDArray[np.int64]:
        """Whose each row is, counted from 0; rows of a person stand together."""
        start = np.zeros(len(self.low), dtype=np.int64)
        start[1:] = _differ(self.low, self.high)
        return np.cumsum(start)


def _differ(*columns: Words) -> NDArray[np.bool_]:
    """Where an entry differs from the one before it."""
    return np.asarray(np.logical_or.reduce([each[1:] != each[:-1] for each in columns]))


def grouped(units: Callable[[], Iterator[Callable[[], Group]]]) -> Iterator[Group]:
    """Complete groups, in tables of bounded size: as many passes as that takes, each for a range of first ranks."""
    low, width = 0, 2**64
    while low < 2**64:
        high = min(2**64, low + width)
        held: list[Group] = []
        count = 0
        for group in on_all_cores(lambda unit: unit(), units()):
            held.append(_between(group, low, high))
            count += len(held[-1].rank)
            while count > AT_ONCE:
                held = [Group.joined(held).merged()]
                count = len(held[0].rank)
                if count > AT_ONCE // 2 and high - low > 1:
                    high = low + (high - low) // 2
                    held = [_between(held[0], low, high)]
                    count = len(held[0].rank)
                else:
                    break
        if held:
            yield Group.joined(held).merged()
        low, width = high, high - low


def _between(group: Group, low: int, high: int) -> Group:
    if low == 0 and high == 2**64:
        return group
    return group.at(np.flatnonzero((group.rank >= np.uint64(low)) & (group.rank <= np.uint64(high - 1))))


def capped(units: Callable[[], Iterator[Callable[[], Group]]], *, most: int, names: Names) -> Ranked | None:
    """The first `most` rows of every person; None if there are no rows at all."""
    kept: Ranked | None = None
    for group in grouped(units):
        once = np.zeros(len(group.rank), dtype=np.uint64)
        kept = Ranked(group.low, group.high, group.rank, group.row, once, group.values).smallest(most, kept)
        further = group.copies - 1
        ends = np.cumsum(further)
        for start in range(0, int(ends[-1]) if len(ends) else 0, COPIES):
            number = np.arange(start, min(start + COPIES, int(ends[-1])))
            pair = np.searchsorted(ends, number, side="right")
            copy = (number - (ends - further)[pair] + 1).astype(np.uint64)
            some = group.at(pair)
            rank = names.ranks(some.low, some.high, some.row, copy)
            kept = Ranked(some.low, some.high, rank, some.row, copy, some.values).smallest(most, kept)
    return kept


def read_groups(
    table: Table, domain: Domain, person: str, names: Names, *, whole: bool = False
) -> Iterator[Callable[[], Group]]:
    """The table's pieces as groups; with `whole`, all rows of a person are one group and no values are kept."""

    def read(piece: Any) -> Group:
        values, ids = piece()
        low, high = names.people(ids)
        none = np.zeros(len(low), dtype=np.uint64)
        row = none if whole else names.rows(to_lattice(values, domain))
        rank = low if whole else names.ranks(low, high, row, none)
        return Group(low, high, row, rank, np.ones(len(low), dtype=np.int64), values[:0] if whole else values).merged()

    for piece in table.pieces_with_ids(domain.columns, person):
        yield partial(read, piece)


class CappedTable(Sealed):
    """At most `most` rows of every person of a table: read when first needed, and kept."""

    def __init__(self, table: Table, domain: Domain, person: str, *, most: int, key: bytes) -> None:
        table.check_person(person)
        self._table, self._domain, self._person, self._most = table, domain, person, most
        self._key = Names(key)
        self._kept: Ranked | None = None
        self._read = False
        self.names, self.width = table.names, table.width

    def _values(self) -> NDArray[np.float64]:
        if not self._read:
            units = partial(read_groups, self._table, self._domain, self._person, self._key)
            self._kept = capped(units, most=self._most, names=self._key)
            self._table.check_unchanged()
            self._read = True
        return np.empty((self._domain.dimension, 0)) if self._kept is None else self._kept.values

    def persons(self) -> NDArray[np.int64]:
        """Whose each kept row is, counted from 0."""
        self._values()
        return np.empty(0, dtype=np.int64) if self._kept is None else self._kept.persons()

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        self._same(columns)
        values = self._values()
        step = piece_rows(len(values))
        for start in range(0, values.shape[1], step):
            yield partial(values.__getitem__, (slice(None), slice(start, start + step)))

    def rows(self) -> int:
        return int(self._values().shape[1])

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        self._same(columns)
        values = self._values()
        for block in within(places, values.shape[1], step=piece_rows(len(values))):
            yield partial(values.__getitem__, (slice(None), block))

    def _same(self, columns: Sequence[str] | None) -> None:
        if tuple(columns or ()) != tuple(self._domain.columns or ()):
            raise ParameterError("columns", "must be those whose rows were counted")

    def check_person(self, person: str) -> NoReturn:  # noqa: ARG002
        raise ParameterError("person", "has been dealt with")

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> NoReturn:  # noqa: ARG002
        self.check_person(person)

    def check_unchanged(self) -> None:
        """The rows are in memory."""


class PeopleCount(RowEngine):
    """An engine that knows how many people have how many rows, and nothing else: what a cap is chosen by."""

    def __init__(self, table: Table, domain: Domain, person: str, *, key: bytes) -> None:
        super().__init__(domain)
        table.check_person(person)
        self._table, self._person, self._names = table, person, Names(key)

    def total(self, query: Query) -> NDArray[np.int64]:
        if not isinstance(query, PeopleByRows):
            return super().total(query)
        counts = np.zeros(query.size, dtype=np.int64)
        units = partial(read_groups, self._table, self._domain, self._person, self._names, whole=True)
        for group in grouped(units):
            counts += query.tally(group.copies)
        self._table.check_unchanged()
        return counts

    def _units(self) -> NoReturn:
        raise ParameterError("query", "only the number of people by their rows is known here")
