"""At most m rows of every person, chosen by a keyed hash, never by their order. Proof: cap.md.

Of each person the m rows stay whose hash of (person, lattice row, copy number) is smallest; a row that was outside the
bounds and one that was not are two, even at one lattice point. So which rows of a person
stay depends on that person's own rows and a secret key: someone else's rows, the order of rows, and how a table is
cut into pieces or files do not matter. Rows without an id are nobody's and are left out. What stays is kept in memory;
who was counted is never told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.source import Source
from covey.post.threads import on_all_cores
from covey.private.engines.base import Sealed
from covey.private.engines.rows import RowEngine
from covey.private.lattice import to_block
from covey.private.narrowed.names import Names
from covey.private.narrowed.zones import ALWAYS, Coins
from covey.private.tables.base import Piece, Places, Table, piece_rows, within
from covey.private.tables.ids import has_id
from covey.public import Domain
from covey.queries.base import Query
from covey.queries.people import PeopleByRows

AT_ONCE = 6 * 2**20  # different pairs of a person and a row of two columns that a pass holds; of wider rows, fewer
MOST_WRONG = 2**10  # words that differ in their last bits alone: with more, they are no hashes
COPIES = 2**20  # copies of rows that are ranked at once
OUTSIDE = np.uint64(ALWAYS - 1)  # every coin keeps somebody without a row in a zone
Words = NDArray[np.uint64]


@dataclass(frozen=True, repr=False)
class Group(Sealed):
    """Rows of the same person, lattice point and flag (or all of a person's), told once, with how often they occur."""

    low: Words
    high: Words
    row: Words
    rank: Words  # of the first copy
    last: Words  # the largest coin that keeps somebody with such a row (private/narrowed/zones.py)
    copies: NDArray[np.int64]
    values: NDArray[np.float64]  # (d, n) raw values, one row of each group

    def at(self, places: NDArray[Any]) -> Group:
        return Group(*(getattr(self, each.name)[..., places] for each in fields(self)))

    @classmethod
    def joined(cls, groups: Sequence[Group]) -> Group:
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(each, name) for each in groups], axis=-1) for name in names))

    @cached_property
    def by_rank(self) -> NDArray[np.int64]:
        """The order of the ranks: asked for when equal pairs are looked for, and when the smallest are chosen."""
        return ascending(self.rank)

    def merged(self) -> Group:
        """Equal pairs together. They have equal ranks, and others have not, but for an accident of the hash."""
        order = self.by_rank
        again = ~_begins(self.rank[order])
        if not again.any():
            return self
        ordered = self.at(order)
        fresh = _begins(ordered.low, ordered.high, ordered.row)
        if (again & fresh).any():
            ordered = self.at(np.lexsort((self.row, self.high, self.low)))
            fresh = _begins(ordered.low, ordered.high, ordered.row)
        first = np.flatnonzero(fresh)
        copies = np.add.reduceat(ordered.copies, first) if len(first) else ordered.copies
        once = ordered.at(first)
        return Group(once.low, once.high, once.row, once.rank, once.last, copies, once.values)


@dataclass(frozen=True, repr=False)
class Ranked(Sealed):
    """Single rows, each with its place in its person's order."""

    low: Words
    high: Words
    rank: Words
    row: Words
    copy: Words
    values: NDArray[np.float64]

    def smallest(self, most: int, other: Ranked | None, *, by_rank: NDArray[np.int64] | None = None) -> Ranked:
        """The first `most` of every person, of these and the others; by_rank : the order of all ranks, if known."""
        joined = {each.name: getattr(self, each.name) for each in fields(Ranked)}
        if other is not None:
            joined = {name: np.concatenate([getattr(other, name), own], axis=-1) for name, own in joined.items()}
        order = ascending(joined["rank"]) if by_rank is None else by_rank
        order = order[ascending(joined["low"][order])]
        low, high, rank = (joined[name][order] for name in ("low", "high", "rank"))
        start = _begins(low, high)
        if not (_begins(low, rank) & (_begins(low) | ~start)).all():
            order = np.lexsort(tuple(joined[name] for name in ("copy", "row", "rank", "high", "low")))
            start = _begins(joined["low"][order], joined["high"][order])
        first = np.flatnonzero(start)
        within = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        stay = order[within < most]
        return Ranked(**{name: values[..., stay] for name, values in joined.items()})

    def without(self, low: Words, high: Words) -> Ranked:
        """All rows but those of the people with these names."""
        gone = set(zip(low.tolist(), high.tolist(), strict=True))
        people = zip(self.low.tolist(), self.high.tolist(), strict=True)
        stay = np.fromiter((who not in gone for who in people), dtype=np.bool_, count=len(self.low))
        return Ranked(*(getattr(self, each.name)[..., stay] for each in fields(self)))


class Strictest(Sealed):
    """The strictest zone that each person has a row in, told by the largest coin that keeps them. Proof: zones.md.

    All rows of a person count here, kept or not: whoever has a row in a zone is promised the zone's epsilon.
    """

    def __init__(self) -> None:
        none = np.empty(0, dtype=np.uint64)
        self._low, self._high, self._last = none, none, none

    def add(self, group: Group) -> None:
        here = np.flatnonzero(group.last < OUTSIDE)
        low, high, last = (
            np.concatenate([old, new[here]])
            for old, new in ((self._low, group.low), (self._high, group.high), (self._last, group.last))
        )
        order = np.lexsort((last, high, low))
        low, high, last = low[order], high[order], last[order]
        fresh = _begins(low, high)
        self._low, self._high, self._last = low[fresh], high[fresh], last[fresh]

    def gone(self, names: Names) -> tuple[Words, Words]:
        """The names of the people whose own coin, one for all their rows, does not keep them."""
        gone = names.coins(self._low, self._high) > self._last
        return self._low[gone], self._high[gone]


def ascending(words: Words) -> NDArray[np.int64]:
    """The stable order of words that are evenly spread, as hashes are: a sort of their first bits, with their places.

    Quicker than argsort. The few neighbours with the same first bits are put in order afterwards.
    """
    if (words[1:] >= words[:-1]).all():
        return np.arange(len(words))
    last = np.uint64((1 << len(words).bit_length()) - 1)
    packed = words & ~last | np.arange(len(words), dtype=np.uint64)
    packed.sort()
    order = (packed & last).astype(np.int64)
    sorted_ = words[order]
    wrong = np.flatnonzero(sorted_[1:] < sorted_[:-1])
    if len(wrong) > MOST_WRONG:
        return np.argsort(words, kind="stable")
    packed |= last
    for place in wrong:
        run = slice(*(np.searchsorted(packed, packed[place], side=side) for side in ("left", "right")))
        order[run] = np.sort(order[run])[np.argsort(words[np.sort(order[run])], kind="stable")]
    return order


def _begins(*columns: Words) -> NDArray[np.bool_]:
    """Where an entry differs from the one before it; the first one does."""
    found = np.ones(len(columns[0]), dtype=np.bool_)
    np.not_equal(columns[0][1:], columns[0][:-1], out=found[1:])
    for each in columns[1:]:
        found[1:] |= each[1:] != each[:-1]
    return found


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
            most = AT_ONCE * 8 // (6 + len(group.values))  # beside its columns, a pair has six numbers
            while count > most:
                held = [Group.joined(held).merged()]
                count = len(held[0].rank)
                if count > most // 2 and high - low > 1:
                    high = low + (high - low) // 2
                    held = [_between(held[0], low, high)]
                    count = len(held[0].rank)
                else:
                    break
        if held:
            whole, held = Group.joined(held).merged(), []  # the parts make room
            yield whole
        low, width = high, 2 * (high - low)  # a crowded range says nothing about the next


def _between(group: Group, low: int, high: int) -> Group:
    if low == 0 and high == 2**64:
        return group
    return group.at(np.flatnonzero((group.rank >= np.uint64(low)) & (group.rank <= np.uint64(high - 1))))


def capped(units: Callable[[], Iterator[Callable[[], Group]]], *, most: int, names: Names) -> Ranked | None:
    """The first `most` rows of every person whom their zone's coin keeps; None if there are no rows at all."""
    kept: Ranked | None = None
    zones = Strictest()
    for group in grouped(units):
        zones.add(group)
        once = np.zeros(len(group.rank), dtype=np.uint64)
        ranked = Ranked(group.low, group.high, group.rank, group.row, once, group.values)
        kept = ranked.smallest(most, kept, by_rank=group.by_rank if kept is None else None)
        further = group.copies - 1
        ends = np.cumsum(further)
        for start in range(0, int(ends[-1]) if len(ends) else 0, COPIES):
            number = np.arange(start, min(start + COPIES, int(ends[-1])))
            pair = np.searchsorted(ends, number, side="right")
            copy = (number - (ends - further)[pair] + 1).astype(np.uint64)
            some = group.at(pair)
            rank = names.ranks(some.low, some.high, some.row, copy)
            kept = Ranked(some.low, some.high, rank, some.row, copy, some.values).smallest(most, kept)
    low, high = zones.gone(names)
    return kept if kept is None or not len(low) else kept.without(low, high)


def read_groups(
    table: Table, domain: Domain, person: str, names: Names, *, coins: Coins | None = None, whole: bool = False
) -> Iterator[Callable[[], Group]]:
    """The table's pieces as groups, without rows that have no id; with `whole`, all rows of a person are one group and
    no values are kept."""

    def read(piece: Any) -> Group:
        values, ids = piece()
        mine = has_id(ids)
        if not mine.all():
            values, ids = values[:, mine], ids.filter(pa.array(mine))
        low, high = names.people(ids)
        none, once = np.zeros(len(low), dtype=np.uint64), np.ones(len(low), dtype=np.int64)
        last = np.full(len(low), OUTSIDE)
        if whole:
            return Group(low, high, none, low, last, once, values[:0])
        block = to_block(values, domain)
        row = names.rows(block)
        last = last if coins is None else coins.last_words(block.rows)
        return Group(low, high, row, names.ranks(low, high, row, none), last, once, values)

    for piece in table.pieces_with_ids(domain.columns, person):
        yield partial(read, piece)


class CappedTable(Table):
    """At most `most` rows of every person of a table: read when first needed, and kept."""

    no_people = "has been dealt with"

    def __init__(self, table: Table, domain: Domain, person: str, *, most: int, key: bytes) -> None:
        table.check_person(person)
        self._table, self._domain, self._person, self._most = table, domain, person, most
        self._coins: Coins | None = None
        self._key = Names(key)
        self._kept: Ranked | None = None
        self._read = False
        self.names, self.width = table.names, table.width

    def _values(self) -> NDArray[np.float64]:
        if not self._read:
            units = partial(read_groups, self._table, self._domain, self._person, self._key, coins=self._coins)
            self._kept = capped(units, most=self._most, names=self._key)
            self._table.check_unchanged()
            self._read = True
        return np.empty((self._domain.dimension, 0)) if self._kept is None else self._kept.values

    def zoned(self, coins: Coins, domain: Domain, source: Source) -> CappedTable:  # noqa: ARG002
        """The same people, thinned by zones: with all rows or none, by one coin at the rate of their strictest zone."""
        thinned = CappedTable(self._table, self._domain, self._person, most=self._most, key=self._key.key)
        thinned._coins = coins
        return thinned

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
        if self.names is not None and tuple(columns or ()) != tuple(self._domain.columns or ()):
            raise ParameterError("columns", "must be those whose rows were counted")


class PeopleCount(RowEngine):
    """An engine that knows how many people have how many rows, and nothing else: what a cap is chosen by."""

    def __init__(self, table: Table, domain: Domain, person: str, *, key: bytes) -> None:
        super().__init__(domain)
        table.check_person(person)
        self._table, self._person, self._names, self.unit = table, person, Names(key), person

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
