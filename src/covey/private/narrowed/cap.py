"""At most m rows of every person, chosen by a keyed hash, never by their order. Proof: cap.md.

Of each person the m rows stay whose hash of (person, lattice row, copy number) is smallest; a row that was outside the
bounds and one that was not are two, even at one lattice point. So which rows of a person
stay depends on that person's own rows and a secret key: someone else's rows, the order of rows, and how a table is
cut into pieces or files do not matter. Rows without an id are nobody's and are left out. What stays is kept in memory;
who was counted is never told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.source import Source
from covey.post.threads import in_order, on_all_cores
from covey.private.engines.base import Sealed
from covey.private.engines.rows import RowEngine
from covey.private.lattice import to_block
from covey.private.narrowed.names import Names
from covey.private.narrowed.pairs import (
    Group,
    Ranked,
    Words,
    ascending,
    begins,
    complete,
    cut,
    first_byte,
    grouped,
    shares,
)
from covey.private.narrowed.zones import Coins
from covey.private.tables.base import Piece, Places, Table, piece_rows, within
from covey.private.tables.ids import has_id
from covey.public import Domain
from covey.queries.base import Query
from covey.queries.people import PeopleByRows

COPIES = 2**20  # copies of rows that are ranked at once


class Strictest(Sealed):
    """The number of the strictest zone that each person has a row in. Proof: zones.md.

    All rows of a person count here, kept or not: whoever has a row in a zone is promised the zone's epsilon.
    """

    def __init__(self) -> None:
        none = np.empty(0, dtype=np.uint64)
        self._low, self._high, self._zone = none, none, none.astype(np.uint8)

    def add(self, groups: Sequence[Group]) -> None:
        here = [(each, np.flatnonzero(each.zone)) for each in groups]
        low = np.concatenate([self._low, *(each.low[places] for each, places in here)])
        high = np.concatenate([self._high, *(each.high[places] for each, places in here)])
        zone = np.concatenate([self._zone, *(each.zone[places] for each, places in here)])
        order = ascending(zone.astype(np.uint64), high, low)  # zones are in order, the strictest first
        low, high, zone = low[order], high[order], zone[order]
        fresh = begins(low, high)
        self._low, self._high, self._zone = low[fresh], high[fresh], zone[fresh]

    def of(self, low: Words, high: Words) -> NDArray[np.uint8]:
        """The numbers of the people with these names, 0 of those who have no row in a zone."""
        found = np.zeros(len(low), dtype=np.uint8)
        place, left = np.searchsorted(self._low, low), np.arange(len(low))
        while len(left):  # once: first words that are equal by accident are looked at one after the other
            left = left[place[left] < len(self._low)]
            left = left[self._low[place[left]] == low[left]]
            same = self._high[place[left]] == high[left]
            found[left[same]] = self._zone[place[left[same]]]
            left = left[~same]
            place[left] += 1
        return found


def capped(
    units: Callable[[], Iterator[Callable[[], Group]]], *, most: int, names: Names, coins: Coins | None = None
) -> tuple[Ranked | None, NDArray[np.uint8]]:
    """The first `most` rows of every person, None if there are no rows at all; with coins, of every person whom their
    zone's coin keeps, and of each row the number of that zone."""
    kept: Ranked | None = None
    zones = Strictest()

    def choose(share: tuple[list[Group], Ranked | None]) -> Ranked:
        return _first_rows(complete(share[0]), share[1], most, names)

    for held in grouped(units):
        zones.add(held)
        parts = shares(held)
        before = [None] * len(parts) if kept is None else cut(kept, len(parts))
        kept = Ranked.joined(in_order(choose, zip(parts, before, strict=True)))
        del held, parts, before  # they make room for the next lot
    if kept is None or coins is None:
        return kept, np.empty(0, dtype=np.uint8)
    zone = zones.of(kept.low, kept.high)
    stay, inside = np.ones(len(zone), dtype=np.bool_), np.flatnonzero(zone)
    stay[inside] = coins.keep(zone[inside], names.coins(kept.low[inside], kept.high[inside]))
    return (kept, zone) if stay.all() else (kept.at(np.flatnonzero(stay)), zone[stay])


def _first_rows(group: Group, kept: Ranked | None, most: int, names: Names) -> Ranked:
    """The first `most` rows of every person, of complete groups and of what was kept of others."""
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
    table: Table, domain: Domain, person: str, names: Names, *, coins: Coins | None = None, whole: bool = False
) -> Iterator[Callable[[], Group]]:
    """The table's pieces as groups, by the first bytes of names, without rows that have no id; with `whole`, all rows
    of a person are one group and no values are kept."""

    def read(piece: Any) -> Group:
        values, ids = piece()
        mine = has_id(ids)
        if not mine.all():
            values, ids = values[:, mine], ids.filter(pa.array(mine))
        low, high = names.people(ids)
        none, once = np.zeros(len(low), dtype=np.uint64), np.ones(len(low), dtype=np.int64)
        zone = np.zeros(len(low), dtype=np.uint8)
        order = np.argsort(first_byte(low), kind="stable")
        if whole:
            return Group(low, high, none, low, zone, once, values[:0]).at(order)
        block = to_block(values, domain)
        row = names.rows(block)
        zone = zone if coins is None else coins.regions.index(block.rows)
        return Group(low, high, row, names.ranks(low, high, row, none), zone, once, values).at(order)

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
        self._zone = np.empty(0, dtype=np.uint8)
        self._read = False
        self.names, self.width = table.names, table.width

    def _values(self) -> NDArray[np.float64]:
        if not self._read:
            units = partial(read_groups, self._table, self._domain, self._person, self._key, coins=self._coins)
            self._kept, self._zone = capped(units, most=self._most, names=self._key, coins=self._coins)
            self._table.check_unchanged()
            self._read = True
        return np.empty((self._domain.dimension, 0)) if self._kept is None else self._kept.values

    def zoned(self, coins: Coins, domain: Domain, source: Source) -> CappedTable:  # noqa: ARG002
        """The same people, thinned by zones: with all rows or none, by one coin at the rate of their strictest zone."""
        thinned = CappedTable(self._table, self._domain, self._person, most=self._most, key=self._key.key)
        thinned._coins, thinned.by_person = coins, True
        return thinned

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        self._same(columns)
        values = self._values()
        step = piece_rows(len(values))
        for start in range(0, values.shape[1], step):
            yield partial(self._some, slice(start, start + step))

    def rows(self) -> int:
        return int(self._values().shape[1])

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        self._same(columns)
        values = self._values()
        for block in within(places, values.shape[1], step=piece_rows(len(values))):
            yield partial(self._some, block)

    def _some(self, places: slice | Places) -> NDArray[np.float64]:
        """The rows in these places, with the zone of each one's person behind it where people were kept by zones."""
        some = self._values()[:, places]
        return np.concatenate([some, self._zone[None, places]]) if self.by_person else some

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
        for held in grouped(units):
            for group in on_all_cores(complete, shares(held)):
                counts += query.tally(group.copies)
        self._table.check_unchanged()
        return counts

    def _units(self) -> NoReturn:
        raise ParameterError("query", "only the number of people by their rows is known here")
