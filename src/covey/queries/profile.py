"""The number of rows of each cluster in every cell of other columns: what a profile shows. Proof: profile.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import count_into
from covey.queries.voronoi import nearest

CHUNK_VALUES = 2**20  # of the table rows x centres
MOST_SIZE = 2**20

Integers = NDArray[np.int64]


class ProfileCounts:
    """Rows by nearest centre and cell, for each of some columns: a row is in one cell of every column.

    The last coordinates of the domain are the columns, in each of which a row has the number of its cell, from 0; the
    first ones are those of the centres. cells : how many each column has, at least 2. The value is flat: column by
    column, in each cluster by cluster.
    """

    name = "rows per cluster and cell"

    def __init__(self, centres: ArrayLike, cells: Sequence[int], domain: Domain) -> None:
        self.domain, self.cells = domain, tuple(cells)
        width = domain.dimension - len(self.cells)
        points = np.asarray(centres, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != width or min(points.shape) < 1:
            raise ParameterError("centres", f"must be at least one point with {width} coordinates")
        if not self.cells or min(self.cells) < 2 or domain.ball:
            raise ParameterError("cells", "must be at least 2 for each column, and the domain no ball")
        padded = np.zeros((len(points), domain.dimension))
        padded[:, :width] = points
        self.centres = domain.snap(padded)[:, :width]
        self.centres.setflags(write=False)
        if self.size > MOST_SIZE:
            raise ParameterError("columns", f"have {self.size:,} cells in all clusters; the most is {MOST_SIZE:,}")

    @property
    def size(self) -> int:
        return len(self.centres) * sum(self.cells)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        each = len(self.cells)
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(l1=each, l2_squared=each, linf=1, coordinates=each, monotone=True)
        return Sensitivity(l1=2 * each, l2_squared=2 * each, linf=1, coordinates=2 * each)

    def accumulate(self, rows: Rows, out: Integers) -> None:
        k, width = self.centres.shape
        step = max(64, CHUNK_VALUES // k)
        for start in range(0, rows.shape[1], step):
            some = rows[:, start : start + step]
            label = nearest(some[:width], self.centres)
            for code, many, part in zip(some[width:], self.cells, self._parts(out), strict=True):
                count_into(part, label * many + self._cell(code, many))

    def tables(self, noisy: Integers) -> list[Integers]:
        """The numbers of each column, clusters x cells."""
        return [part.reshape(len(self.centres), -1) for part in self._parts(noisy)]

    def _parts(self, flat: Integers) -> list[Integers]:
        return np.split(flat, np.cumsum(np.array(self.cells[:-1]) * len(self.centres)))

    def _cell(self, code: NDArray[np.int32], many: int) -> Integers:
        """The number of the cell that a lattice coordinate stands for: total, whatever the coordinate is."""
        limit = self.domain.limit
        return np.clip(((code.astype(np.int64) + limit) * (many - 1) + limit) // (2 * limit), 0, many - 1)
