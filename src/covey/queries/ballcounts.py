"""How many rows lie in boxes around the places of a public grid: small balls are found by it. Proof: ballcounts.md."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from covey.events import Sensitivity
from covey.public import Neighbours
from covey.queries.counts import all_move
from covey.queries.grid import Grid, OnGrid

Integers = NDArray[np.int64]

WORTH = 64  # of a row in the smallest ball; in the largest it is half of that
SMALLEST_SIDE = 4  # coarser grids are not made: there a box of five cells already holds everything
FINEST, COARSER = (0, 1, 2, 3), (2, 3)  # half-widths of the boxes, in cells of the level


@dataclass(frozen=True)
class BallScores(OnGrid):
    """For every place: the best of min(rows in a ball around it, t), weighed up to twice as high in a small ball.

    Balls are boxes (the maximum norm): 1, 3, 5 and 7 cells across, then 5 and 7 cells of grids that are coarser by
    factors of two and have fewer places. So a candidate is a place and a radius up to a factor of two, and one pick by
    the exponential mechanism finds the centre of a small ball of about t rows without finding its radius first.
    """

    t: int
    name: str = "scores of small balls"

    @property
    def sides(self) -> tuple[int, ...]:
        """Cells along each axis, by level: the finest first."""
        sides = [self.grid.per_axis]
        while sides[-1] > SMALLEST_SIDE:
            sides.append((sides[-1] + 1) // 2)
        return tuple(sides)

    @property
    def size(self) -> int:
        return int(sum(side**self.domain.dimension for side in self.sides))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return all_move(WORTH, self.size, monotone=neighbours is Neighbours.ADD_REMOVE)

    def worth(self, level: int, half: int) -> int:
        """What a row counts in a ball of this width: from 64 (one cell) down to 32 (the widest)."""
        widest = log2((2 * COARSER[-1] + 1) * 2.0 ** (len(self.sides) - 1))
        width = log2((2 * half + 1) * 2.0**level)
        return round(WORTH * (1 - width / widest / 2))

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        table = dense(self.grid, cells, counts)
        scores = []
        for level in range(len(self.sides)):
            best = np.zeros_like(table)
            for half in COARSER if level else FINEST:
                inside = np.minimum(box_counts(table, half), self.t)
                inside *= self.worth(level, half)
                np.maximum(best, inside, out=best)
            scores.append(best.ravel())
            table = halved(table)
        return np.concatenate(scores)

    def place(self, index: int) -> NDArray[np.float64]:
        """The middle of a candidate, in lattice units."""
        d = self.domain.dimension
        for level, side in enumerate(self.sides):
            if index < side**d:
                where = np.array(np.unravel_index(index, (side,) * d), dtype=np.float64)
                return _middle(self.grid, (where + 0.5) * 2**level)
            index -= side**d
        raise IndexError("no such candidate")


@dataclass(frozen=True)
class BoxCounts(OnGrid):
    """For every cell of the grid: the rows in the box that reaches `half` cells to each side of it."""

    half: int
    name: str = "rows in boxes"

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return all_move(1, self.size, monotone=neighbours is Neighbours.ADD_REMOVE)

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        return wide_box_counts(dense(self.grid, cells, counts), self.half).ravel()

    def place(self, index: int) -> NDArray[np.float64]:
        """The middle of a candidate, in lattice units."""
        where = np.array(np.unravel_index(index, (self.grid.per_axis,) * self.domain.dimension), dtype=np.float64)
        return _middle(self.grid, where + 0.5)


class BoxSums:
    """Sums of (row - middle) over the rows of a box, and their number in units of the box's reach. d + 1 integers."""

    name = "sums in a box"

    def __init__(self, grid: Grid, middle: NDArray[np.float64], reach: int) -> None:
        self.grid = grid
        self.domain = grid.domain
        self.middle = grid.domain.snap(middle)
        self.reach = max(1, int(reach))  # in lattice units, to each side
        self.middle.setflags(write=False)

    @property
    def size(self) -> int:
        return self.domain.dimension + 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(
            l1=times * self.size * self.reach,
            l2_squared=times**2 * self.size * self.reach**2,
            linf=times * self.reach,
            coordinates=self.size,
        )

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        away = self.grid.lattice_points(cells).astype(np.int64) - self.middle[:, None]
        inside = np.abs(away).max(axis=0) <= self.reach
        away, rows = away[:, inside], counts[inside]
        return np.append(away @ rows, self.reach * rows.sum()).astype(np.int64)

    def mean(self, noisy: Integers) -> NDArray[np.float64]:
        """The noisy mean of the box, kept in the box; its middle, if fewer than one row seems to be there."""
        rows = noisy[-1] / self.reach
        if rows < 1:
            return self.middle.astype(np.float64)
        lower, upper = self.domain.corners
        away = np.clip(noisy[:-1] / rows, -self.reach, self.reach)
        mean: NDArray[np.float64] = np.clip(self.middle + away, lower, upper)
        return mean


def dense(grid: Grid, cells: Integers, counts: Integers) -> Integers:
    """The table of cells as an array with d axes."""
    table = np.zeros(grid.cells, dtype=np.int64)
    table[cells] = counts
    return table.reshape((grid.per_axis,) * grid.domain.dimension)


def halved(table: Integers) -> Integers:
    """The same counts on a grid of cells twice as wide along each axis; an odd last cell stays alone."""
    for axis in range(table.ndim):
        even, odd = (table[(slice(None),) * axis + (slice(start, None, 2),)] for start in (0, 1))
        pairs = even.copy()
        pairs[(slice(None),) * axis + (slice(0, odd.shape[axis]),)] += odd
        table = pairs
    return table


def box_counts(table: Integers, half: int) -> Integers:
    """For every cell the sum over the cells at most `half` away along each axis: by shifts, for small halves."""
    for axis in range(table.ndim if half else 0):
        total = table.copy()
        for shift in range(1, min(half, table.shape[axis] - 1) + 1):
            low = (slice(None),) * axis + (slice(None, -shift),)
            high = (slice(None),) * axis + (slice(shift, None),)
            total[high] += table[low]
            total[low] += table[high]
        table = total
    return table


def wide_box_counts(table: Integers, half: int) -> Integers:
    """The same by running sums: the time does not depend on `half`."""
    for axis in range(table.ndim):
        side = table.shape[axis]
        first = np.zeros_like(table[(slice(None),) * axis + (slice(0, 1),)])
        sums = np.concatenate([first, np.cumsum(table, axis=axis)], axis=axis)
        place = np.arange(side)
        last, before = np.minimum(place + half + 1, side), np.maximum(place - half, 0)
        table = np.take(sums, last, axis=axis) - np.take(sums, before, axis=axis)
    return table


def _middle(grid: Grid, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """A place given in cells along each axis, in lattice units inside the domain's cube."""
    limit = grid.domain.limit
    return np.clip(cells / grid.per_axis * (2 * limit + 1) - limit - 0.5, -limit, limit)
