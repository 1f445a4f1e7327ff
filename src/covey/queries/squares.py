"""The sum of the rows' squared distances from the nearest of some public centres: one number. Proof: squares.md."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.voronoi import exact_scores

ROW_BITS = 26
SPLITS = 256  # of the domain, to find out how far from all centres a row can be
CHUNK_VALUES = 2**20  # of the table rows x centres


class NearestSquares:
    """Σ over rows of min_c |x - c|², each shifted right to at most 2^26.

    A row's number is at most `row_most`, that of the farthest place in the domain from all centres: far less than the
    squared diameter where centres stand where rows are.
    """

    name = "sum of squared distances"

    def __init__(self, centres: ArrayLike, domain: Domain) -> None:
        self.domain = domain
        self.centres = domain.snap(centres)
        if self.centres.ndim != 2 or self.centres.shape[1] != domain.dimension or len(self.centres) < 1:
            raise ParameterError("centres", f"must be an array of points with {domain.dimension} coordinates")
        self.centres.setflags(write=False)
        farthest = farthest_square(self.centres, domain)
        self.shift = max(0, farthest.bit_length() - ROW_BITS)
        self.row_most = max(1, farthest >> self.shift)

    @property
    def most(self) -> float:
        """What a row's squared distance is at most, in lattice units."""
        return float(self.row_most + 1) * 2.0**self.shift

    @property
    def size(self) -> int:
        return 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """The same amounts for both: where a row is replaced, one number of [0, row_most] takes another's place."""
        most = self.row_most
        monotone = neighbours is Neighbours.ADD_REMOVE
        return Sensitivity(l1=most, l2_squared=most**2, linf=most, coordinates=1, monotone=monotone)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        step = max(64, CHUNK_VALUES // len(self.centres))
        for start in range(0, rows.shape[1], step):
            some = rows[:, start : start + step].astype(np.float64)
            squares = exact_scores(rows[:, start : start + step], self.centres).min(axis=0)
            for coordinate in some:  # exact integers below 2^52
                squares += coordinate * coordinate
            out[0] += int(np.floor(squares * 2.0**-self.shift).sum())  # exact: below 2^26 · rows of a chunk

    def in_all(self, noisy: NDArray[np.int64]) -> float:
        """The noisy sum in squared lattice units; may be negative."""
        return float(noisy[0]) * 2.0**self.shift


def farthest_square(centres: NDArray[np.int64], domain: Domain) -> int:
    """A number that no lattice row's squared distance from the nearest centre exceeds: from public numbers alone.

    Boxes that fill the cube are split in two, always the one with the largest bound: the squared distance of its
    farthest corner from the centre for which that is least. In a ball, boxes without a point of it do not count.
    """
    middle = np.zeros(domain.dimension, dtype=np.int64)

    def bound(low: NDArray[np.int64], high: NDArray[np.int64]) -> int:
        if domain.ball and np.square(np.clip(middle, low, high)).sum() > domain.limit**2:
            return -1
        far = np.maximum(np.abs(centres - low), np.abs(centres - high))
        return int(np.square(far).sum(axis=1).min())

    low, high = middle - domain.limit, middle + domain.limit
    waiting = [(-bound(low, high), 0, low, high)]
    for number in range(1, 2 * SPLITS, 2):
        most, _, low, high = heappop(waiting)
        axis = int((high - low).argmax())
        cut = int(low[axis] + high[axis]) // 2
        if low[axis] == high[axis]:  # a single point: its bound is exact
            return -most
        below, above = high.copy(), low.copy()
        below[axis], above[axis] = cut, cut + 1
        heappush(waiting, (-bound(low, below), number, low, below))
        heappush(waiting, (-bound(above, high), number + 1, above, high))
    return -waiting[0][0]
