"""Statistics by zone: rows per cell of a grid or leaf of a tree, or any sum over rows or people's. Proof: zoned.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.geo.areas import Regions
from covey.public import Domain, Neighbours
from covey.queries.base import Numbers, Query, Rows
from covey.queries.counts import count_into, one_unit
from covey.queries.grid import MOST_CELLS, Grid, OnGrid
from covey.queries.projection import Projection
from covey.queries.tree import TreeLeaves


def check_size(numbers: int, kinds: int) -> None:
    """Refuse more numbers than so many kinds of zones can each have: from public ones, so before anything is paid."""
    if numbers * (kinds + 1) > MOST_CELLS:
        raise ParameterError("zones", f"{kinds} different epsilons on {numbers} numbers: at most 2^24 in all")


@dataclass(frozen=True, eq=False)
class ZonedCells(OnGrid):
    """The number of rows for every key: a cell of a grid and one of the zones that rows in it can be in.

    Keys are public: zone by zone, cells ascending. A row whose pair is no key (which rounding alone could bring about)
    counts with its cell's first key.
    """

    regions: Regions | None
    cell_of: NDArray[np.int64]  # of each key
    zone_of: NDArray[np.int64]
    keys: NDArray[np.int64]  # zone x cells + cell -> key
    name: str = "rows per cell and zone"

    @classmethod
    def of(cls, domain: Domain, per_axis: int, regions: Regions | None) -> ZonedCells:
        """The query of a grid with zones, or without any."""
        grid = Grid(domain, per_axis)
        zones = 1 if regions is None else len(regions.areas) + 1
        check_size(grid.cells, zones - 1)
        every = np.ones((1, grid.cells), dtype=np.bool_) if regions is None else regions.possible(per_axis)
        zone, cell = np.nonzero(every)
        keys = np.full(every.size, -1, dtype=np.int64)
        keys[zone * grid.cells + cell] = np.arange(len(cell))
        first = np.empty(grid.cells, dtype=np.int64)
        first[cell[::-1]] = np.arange(len(cell))[::-1]
        return cls(grid, regions, cell, zone, np.where(keys < 0, np.tile(first, zones), keys))

    @property
    def size(self) -> int:
        return len(self.cell_of)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        pair = self.grid.index(rows)
        if self.regions is not None:
            pair += self.regions.index(rows).astype(np.int64) * self.grid.cells
        count_into(out, self.keys.take(pair))


class ZonedLeaves:
    """The number of rows for every key: a leaf of a tree and one of the zones that rows in it can be in.

    possible : (zones, leaves), public; keys are in its order. A row whose pair is none of them is not counted. Of all
    pairs there may be many times as many as memory holds, since how many leaves there are is known after the charge.
    """

    def __init__(self, leaves: TreeLeaves, regions: Regions, possible: NDArray[np.bool_]) -> None:
        if leaves.domain != regions.domain:
            raise ParameterError("zones", "are drawn on another domain than the tree")
        self.leaves, self.regions, self.domain = leaves, regions, leaves.domain
        self.name = f"{leaves.name} and zone"
        self._pairs = np.flatnonzero(possible)

    @property
    def size(self) -> int:
        return len(self._pairs)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        pair = self.regions.index(rows).astype(np.int64) * self.leaves.size + self.leaves.places(rows)
        key = np.searchsorted(self._pairs, pair)
        np.add.at(out, key[self._pairs.take(key, mode="clip") == pair], 1)


class InBlocks:
    """Any sum over rows, of the rows of each zone by itself: a block of numbers for each zone, by the zone's number."""

    def __init__(self, query: Query, blocks: int) -> None:
        self.query, self.domain, self.blocks = query, query.domain, blocks
        self.name = f"{query.name}, by zone"
        self.rows_at_once = getattr(query, "rows_at_once", 256)

    @property
    def size(self) -> int:
        return self.blocks * self.query.size

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """That of the query: a row is in one block. Replaced, it may leave one block and enter another."""
        one = self.query.sensitivity(Neighbours.ADD_REMOVE)
        if neighbours is Neighbours.ADD_REMOVE:
            return one
        same = self.query.sensitivity(neighbours)
        return Sensitivity(
            l1=max(2 * one.l1, same.l1),
            l2_squared=max(2 * one.l2_squared, same.l2_squared),
            linf=max(one.linf, same.linf),
            coordinates=max(2 * one.coordinates, same.coordinates),
        )

    def tally(self, zone: Numbers, rows: Rows, out: NDArray[np.int64]) -> None:
        """Add rows of zones with these numbers. Behind the door only."""
        table, there = out.reshape(self.blocks, -1), np.flatnonzero(np.bincount(zone, minlength=self.blocks))
        for number in there:
            mine = rows if len(there) == 1 else np.ascontiguousarray(rows[:, zone == number])
            self.query.accumulate(mine, table[number])


class ByZone(InBlocks):
    """The zone of a row is where the row itself is."""

    def __init__(self, query: Query, regions: Regions) -> None:
        if query.domain != regions.domain:
            raise ParameterError("zones", "are drawn on another domain than the query's")
        super().__init__(query, len(regions.areas) + 1)
        self.regions = regions

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        self.tally(self.regions.index(rows), rows, out)


class ByPersonsZone(InBlocks):
    """The zone of a row is that by which its person was kept, with all their rows: it comes with the row, not from it.

    kinds : how many numbers zones have, 0 for none included.
    """

    def __init__(self, query: Query, kinds: int) -> None:
        super().__init__(query, kinds)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:  # noqa: ARG002
        raise ParameterError("query", "lattice rows do not tell whose they are: people's zones come with them")


class OfImages:
    """A sum over the rows' images under a public map, as a sum over the rows: these tell their zones."""

    def __init__(self, query: Query, projection: Projection) -> None:
        if query.domain != projection.target:
            raise ParameterError("projection", "leads to another domain than the query's")
        self.query, self.projection, self.domain = query, projection, projection.domain
        self.name, self.size = f"{query.name}, of images", query.size

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """That of the query: a row has one image, which no other row changes."""
        return self.query.sensitivity(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        self.query.accumulate(self.projection.apply(rows), out)
