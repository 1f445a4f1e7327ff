"""The number of rows of each cluster in every cell of other columns: what a profile shows. Proof: profile.md.

And, for a column whose categories are not known beforehand, how many rows have each text: to be shown by a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import count_into, one_unit
from covey.queries.voronoi import nearest

CHUNK_VALUES = 2**20  # of the table rows x centres
MOST_SIZE = 2**20
TEXT_BYTES = 48  # of a category that is found: what is longer is cut
PAIRS = TEXT_BYTES // 2  # coordinates that hold such a text, two bytes each
PAIR_VALUES = 2**16

Integers = NDArray[np.int64]
Texts = NDArray[np.bytes_]


@dataclass(frozen=True)
class CategoryTexts:
    """How many rows have each text in a column whose texts take PAIRS coordinates, of which `first` is the first.

    Release with a threshold only: which texts occur is itself private.
    """

    domain: Domain
    first: int
    name: str = "rows per text"

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def keys(self, rows: Rows) -> Texts:
        return texts_of(rows[self.first : self.first + PAIRS], self.domain.limit)


class ProfileCounts:
    """Rows by nearest centre and cell, for each of some columns: a row is in one cell of every column.

    The last coordinates of the domain are the columns, the first ones are those of the centres. cells : of a column
    how many it has, at least 2, if a row has the number of its cell there, from 0; or the texts of all cells but the
    last, if a row has its text there, in PAIRS coordinates. The value is flat: column by column, in each cluster by
    cluster.
    """

    name = "rows per cluster and cell"

    def __init__(self, centres: ArrayLike, cells: Sequence[int | Sequence[bytes]], domain: Domain) -> None:
        self.domain = domain
        self.cells = tuple(each if isinstance(each, int) else len(each) + 1 for each in cells)
        self.texts = tuple(None if isinstance(each, int) else _ordered(each) for each in cells)
        width = domain.dimension - sum(1 if each is None else PAIRS for each in self.texts)
        points = np.asarray(centres, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != width or min(points.shape) < 1:
            raise ParameterError("centres", f"must be at least one point with {width} coordinates")
        if not self.cells or any(isinstance(each, int) and each < 2 for each in cells) or domain.ball:
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
            for cell, many, part in zip(self._cells(some[width:]), self.cells, self._parts(out), strict=True):
                count_into(part, label * many + cell)

    def tables(self, noisy: Integers) -> list[Integers]:
        """The numbers of each column, clusters x cells."""
        return [part.reshape(len(self.centres), -1) for part in self._parts(noisy)]

    def _parts(self, flat: Integers) -> list[Integers]:
        return np.split(flat, np.cumsum(np.array(self.cells[:-1]) * len(self.centres)))

    def _cells(self, codes: Rows) -> Iterator[Integers]:
        """The number of the cell that each row is in, column by column."""
        place, limit = 0, self.domain.limit
        for many, texts in zip(self.cells, self.texts, strict=True):
            if texts is None:
                yield cell_of(codes[place], many, limit)
                place += 1
            else:
                yield _found(texts_of(codes[place : place + PAIRS], limit), *texts)
                place += PAIRS


def cell_of(code: NDArray[np.int32], many: int, limit: int) -> Integers:
    """The number of the cell that a lattice coordinate stands for: total, whatever the coordinate is."""
    return np.clip(((code.astype(np.int64) + limit) * (many - 1) + limit) // (2 * limit), 0, many - 1)


def texts_of(pairs: Rows, limit: int) -> Texts:
    """The texts that PAIRS lattice coordinates of each row stand for, as bytes: total as well."""
    numbers = cell_of(pairs.T, PAIR_VALUES, limit).astype(">u2")
    return np.ascontiguousarray(numbers).view(f"S{TEXT_BYTES}").reshape(-1)


def _ordered(texts: Sequence[bytes]) -> tuple[Texts, Integers]:
    """Texts in ascending order, and the place that each of them has among those given."""
    given = np.array(texts, dtype=f"S{TEXT_BYTES}")
    order = np.argsort(given, kind="stable")
    return given[order], order


def _found(texts: Texts, known: Texts, order: Integers) -> Integers:
    """The place of each text among the known ones; for all others the place behind the last."""
    if not len(known):
        return np.zeros(len(texts), dtype=np.int64)
    near = np.minimum(np.searchsorted(known, texts), len(known) - 1)
    return np.where(known[near] == texts, order[near], len(known))
