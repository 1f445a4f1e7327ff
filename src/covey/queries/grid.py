"""Public grids of equal cells over a domain's cube. Proof: grid.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.public import Domain

MOST_CELLS = 2**24  # of a grid whose table of cells is held in memory: a public number, never judged by the rows


@dataclass(frozen=True)
class Grid:
    """A public grid of equal cells: `per_axis` cells along each axis of the domain's cube."""

    domain: Domain
    per_axis: int

    def __post_init__(self) -> None:
        if self.per_axis < 1 or self.cells >= 2**62:
            raise ParameterError("grid", "needs at least 1 cell per axis and fewer than 2^62 in all")

    @property
    def cells(self) -> int:
        return int(self.per_axis**self.domain.dimension)

    def index(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The cell of each lattice row, last axis fastest."""
        limit, width = self.domain.limit, 2 * self.domain.limit + 1
        kind: type[np.int32 | np.int64] = np.int32 if self.cells < 2**31 else np.int64  # the shorter, the quicker
        cell: NDArray[Any] = np.zeros(rows.shape[1], dtype=kind)
        for coordinate in rows:
            place = coordinate.astype(np.float64)
            place += limit
            place *= self.per_axis  # exact: below 2^52
            place /= width
            cell *= self.per_axis
            cell += place.astype(kind)
        return cell.astype(np.int64, copy=False)

    def midpoints(self, cells: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The middle of each cell (of all, by default), in lattice units: shape (cells, d)."""
        numbers = np.arange(self.cells) if cells is None else cells
        axis = (np.arange(self.per_axis) + 0.5) / self.per_axis
        axis = axis * (2 * self.domain.limit + 1) - self.domain.limit - 0.5
        middle = np.empty((len(numbers), self.domain.dimension))
        for j in reversed(range(self.domain.dimension)):
            numbers, place = np.divmod(numbers, self.per_axis)
            middle[:, j] = axis[place]
        return middle

    def lattice_points(self, cells: NDArray[np.int64]) -> NDArray[np.int32]:
        """The lattice point nearest to the middle of each cell, one column per cell: shape (d, cells).

        In a ball the middle of a cell at its edge may lie outside: it is moved to the surface, so that rows on cells
        keep the norms that the domain promises. grid.md.
        """
        points = self.domain.snap(self.midpoints(cells))
        if self.domain.ball:
            length = np.sqrt(np.square(points.astype(np.float64)).sum(axis=1, keepdims=True))
            points = np.trunc(points * (self.domain.limit / np.maximum(length, self.domain.limit)))
        return np.ascontiguousarray(points.T.astype(np.int32))


@dataclass(frozen=True)
class SuitedGrid:
    """The paper's grid for whatever number of rows: (nε/θ)^(2d/(2+d)) cells, at least 1 and at most 2^24 in all.

    kinds : how many numbers a cell may need, one for each kind of zone.
    """

    domain: Domain
    epsilon: float
    theta: float = 10.0
    kinds: int = 1

    def of(self, rows: int) -> Grid:
        d = self.domain.dimension
        wanted = max(1.0, rows * self.epsilon / self.theta) ** (2 / (2 + d))
        most = int((MOST_CELLS // self.kinds) ** (1 / d) + 1e-9)
        return Grid(self.domain, max(1, min(int(wanted + 1e-9), most)))


@dataclass(frozen=True)
class OnGrid:
    """What is asked of the rows in the cells of a grid: a number for each cell, unless a query says otherwise."""

    grid: Grid

    @property
    def domain(self) -> Domain:
        return self.grid.domain

    @property
    def size(self) -> int:
        return self.grid.cells
