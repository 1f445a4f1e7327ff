"""Coordinate sums over nested slabs with the same public number of rows: what a private weak net is made of. net.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.grid import MOST_CELLS, Grid

MOST_BOXES = 2**16
MOST_ROWS = 2**44  # a public number of rows: beyond it, ranks times slabs would not fit 64 bits

Integers = NDArray[np.int64]


class NetSums:
    """Per basic box of a nested cut into slabs, the d coordinate sums of its rows: f·d integers, f = slabs^d.

    The first `rows` rows in the order of the first coordinate are cut into `slabs` slabs of equal number, each slab
    along the second coordinate, and so on. `rows` is public or was released before: how many rows there really are
    decides nothing. Rows beyond it are in no box; if there are fewer, the last boxes stay empty.
    """

    name = "sums per basic box"

    def __init__(self, grid: Grid, *, slabs: int, rows: int) -> None:
        if slabs < 1 or slabs**grid.domain.dimension > MOST_BOXES:
            raise ParameterError("c", f"must be at least 1, and give at most {MOST_BOXES:,} basic boxes")
        if grid.cells > MOST_CELLS:
            raise ParameterError("grid", f"has {grid.cells} cells; a table of cells holds at most 2^24")
        if not 0 <= rows <= MOST_ROWS:
            raise ParameterError("rows", "must be a number of rows, from 0 to 2^44")
        self.grid = grid
        self.slabs = slabs
        self.rows = rows
        self.boxes = int(slabs**grid.domain.dimension)

    @property
    def domain(self) -> Domain:
        return self.grid.domain

    @property
    def size(self) -> int:
        return self.boxes * self.domain.dimension

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        d, limit = self.domain.dimension, self.domain.limit
        l1 = 2 * d * limit * self.slabs ** (d - 1)  # widths of a slab's parts add up: net.md
        if neighbours is Neighbours.ADD_REMOVE:
            l1 += self.domain.row_l1  # one box has a row more
        return Sensitivity(l1=l1, l2_squared=2 * limit * l1, linf=2 * limit, coordinates=self.size)

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        d, c = self.domain.dimension, self.slabs
        points = self.grid.lattice_points(cells).astype(np.int64)  # (d, cells)
        item, many = np.arange(len(cells)), counts
        slab = np.zeros(len(cells), dtype=np.int64)
        sizes = np.array([self.rows], dtype=np.int64)
        for axis in range(d):
            order = np.lexsort((item, points[axis, item], slab))  # by slab, coordinate, number of the cell: total
            item, many, slab = item[order], many[order], slab[order]
            end = np.cumsum(many)
            new = np.diff(slab, prepend=-1) != 0
            before = (end - many)[new]  # rows in all slabs before this one
            start = end - many - before[np.cumsum(new) - 1]
            room = sizes[slab]
            end = np.minimum(start + many, room)  # ranks beyond the slab's public size are in no box
            inside = start < end
            item, slab, start, end, room = item[inside], slab[inside], start[inside], end[inside], room[inside]
            first, last = ((start + 1) * c - 1) // room, (end * c - 1) // room  # parts of its first and last row
            pieces = last - first + 1
            whose = np.repeat(np.arange(len(item)), pieces)
            part = first[whose] + np.arange(len(whose)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
            low = np.maximum(start[whose], part * room[whose] // c)
            high = np.minimum(end[whose], (part + 1) * room[whose] // c)
            item, many, slab = item[whose], high - low, slab[whose] * c + part
            sizes = _parts(sizes, c)
        out = np.zeros((self.boxes, d), dtype=np.int64)
        np.add.at(out, slab, points[:, item].T * many[:, None])
        return out.ravel()

    def sizes(self) -> Integers:
        """The public number of rows of each box, if there are at least `rows`."""
        sizes = np.array([self.rows], dtype=np.int64)
        for _ in range(self.domain.dimension):
            sizes = _parts(sizes, self.slabs)
        return sizes

    def means(self, noisy: Integers) -> NDArray[np.float64]:
        """The net: the noisy sum of each box over its public number of rows, kept in the cube."""
        means = noisy.reshape(self.boxes, -1) / np.maximum(self.sizes(), 1)[:, None]
        return np.clip(means, -self.domain.limit, self.domain.limit)


def _parts(sizes: Integers, c: int) -> Integers:
    """The sizes of the c parts of each slab: they differ by at most 1."""
    ends = np.arange(c + 1) * sizes[:, None] // c
    return np.asarray(np.diff(ends, axis=1).ravel(), dtype=np.int64)
