"""Rows as a table of weighted cells: what whole queries and `drop_nearest` work on. Proof: cells.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.source import Source
from covey.private.engines.base import Sealed
from covey.queries.base import KeyedQuery, Query
from covey.queries.blocks import BlockCentres
from covey.queries.counts import InsideOutside
from covey.queries.grid import MOST_CELLS, Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree
from covey.queries.voronoi import exact_scores

Integers = NDArray[np.int64]
CHUNK_ROWS = 2**15
BINS = 2**14


class CellEngine(Sealed):
    """Rows moved to the middle of their cell of a public grid, held as (cell, how many rows) in ascending order.

    Moving each row to its cell is a map of single rows, so neighbours stay neighbours. The table is made when it is
    first needed.
    """

    unit: str | None = None
    nodes_at_once = None

    def __init__(self, grid: Grid, read: Callable[[], tuple[Integers, Integers]]) -> None:
        if grid.cells > MOST_CELLS:
            raise ParameterError("grid", f"has {grid.cells} cells; a table of cells holds at most 2^24")
        self._grid = grid
        self._read: Callable[[], tuple[Integers, Integers]] | None = read
        self._table: tuple[Integers, Integers] | None = None
        self._points: NDArray[np.int32] | None = None

    def cells(self, grid: Grid) -> tuple[Integers, Integers]:
        if grid != self._grid:
            raise ParameterError("grid", "these rows were already moved to the cells of another grid")
        if self._table is None and self._read is not None:
            self._table, self._read = self._read(), None
        assert self._table is not None
        return self._table

    def drop_nearest(self, centres: Integers, how_many: int) -> CellEngine:
        """All rows but the `how_many` nearest to any of the centres (lattice points, one per line).

        The order is total: squared distance from the cell's lattice point, then the cell's number (its coordinates,
        first axis first); rows of one cell are equal. If fewer rows are left, none stay.
        """
        cells, counts = self.cells(self._grid)
        points = self._lattice_points()
        left = counts - dropped_rows(squared_distances(points, centres), counts, how_many)
        stay = left > 0
        rest = cells[stay], left[stay]
        narrower = CellEngine(self._grid, lambda: rest)
        narrower._points = points[:, stay]
        return narrower

    def _lattice_points(self) -> NDArray[np.int32]:
        """The lattice point of each occupied cell, one column per cell; kept, because many rounds ask for them."""
        if self._points is None:
            self._points = self._grid.lattice_points(self.cells(self._grid)[0])
        return self._points

    def _rows(self) -> Iterator[NDArray[np.int32]]:
        cells, counts = self.cells(self._grid)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        for start in range(0, total, CHUNK_ROWS):
            place = np.searchsorted(ends, np.arange(start, min(start + CHUNK_ROWS, total)), side="right")
            yield self._grid.lattice_points(cells[place])

    def total(self, query: Query) -> Integers:
        if isinstance(query, InsideOutside):
            raise ParameterError("query", "rows on cells do not tell which were outside the bounds: count them before")
        out = np.zeros(query.size, dtype=np.int64)
        for rows in self._rows():
            query.accumulate(rows, out)
        return out

    def totals_by_key(self, query: KeyedQuery) -> tuple[Integers, Integers]:
        cells, counts = self.cells(self._grid)
        keys, where = np.unique(query.keys(self._grid.lattice_points(cells)), return_inverse=True)
        totals = np.zeros(len(keys), dtype=np.int64)
        np.add.at(totals, where, counts)
        return keys, totals

    def block_outputs(self, query: BlockCentres, source: Source) -> Integers:
        rows = np.concatenate([np.empty((self._grid.domain.dimension, 0), dtype=np.int32), *self._rows()], axis=1)
        count = rows.shape[1]
        block = (source.words(count, np.uint64) % np.uint64(query.blocks)).astype(np.int64)
        return query.outputs(rows, block, source.words(count, np.uint64))

    def expect(self, what: Tree | SuitedGrid) -> None:
        """Cells are at hand: they are counted when they are asked for."""

    def remember(self, tree: Tree, leaves: Nodes, counts: Integers) -> None:
        """A table of cells is quick to count again."""

    def projected(self, projection: Projection) -> NoReturn:  # noqa: ARG002
        raise ParameterError("curator", "project rows before they are moved to cells")

    def split(self, parts: int, source: Source) -> NoReturn:  # noqa: ARG002
        raise ParameterError("curator", "split rows before they are moved to cells")


def squared_distances(points: NDArray[np.int32], centres: Integers) -> NDArray[np.float64]:
    """Exact integers: the squared distance from each point (a column) to the nearest centre."""
    out = np.empty(points.shape[1])
    step = max(64, CHUNK_ROWS // len(centres))
    for start in range(0, points.shape[1], step):
        some = points[:, start : start + step]
        norms = np.square(some.astype(np.float64)).sum(axis=0)  # whole numbers below 2^52: exact in any order
        out[start : start + step] = exact_scores(some, centres).min(axis=0) + norms
    return out


def dropped_rows(distances: NDArray[np.float64], counts: Integers, how_many: int) -> Integers:
    """How many rows each cell loses when the first `how_many` go, in order of (distance, place in the table).

    Cells are put into bins of distance; all bins before the last that is touched go whole, and only that one is sorted.
    A bin is a monotone function of the distance, so this is what sorting all cells would give.
    """
    dropped = np.zeros_like(counts)
    if len(counts) == 0 or how_many <= 0:
        return dropped
    how_many = min(how_many, 2**62)  # more rows than there are; a number beyond int64 would raise, unless it is empty
    width = max(float(distances.max()), 1.0) / BINS
    bins = (distances / width).astype(np.int64)
    ends = np.cumsum(np.bincount(bins, weights=counts, minlength=BINS + 1))  # exact: below 2^53 rows
    last = int(np.searchsorted(ends, how_many))  # the first bin with which enough rows are gone
    before = bins < last
    dropped[before] = counts[before]
    there = np.flatnonzero(bins == last)
    there = there[np.argsort(distances[there], kind="stable")]  # ties: the lower cell first
    done = counts[there].cumsum() - counts[there] + int(ends[last - 1] if last else 0)
    dropped[there] = np.clip(how_many - done, 0, counts[there])
    return dropped
