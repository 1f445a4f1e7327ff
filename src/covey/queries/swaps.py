"""How much each swap of a centre for another candidate gains: utilities for a private local search. Proof: swaps.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import check_objective
from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.costs import cost_units
from covey.queries.counts import all_move
from covey.queries.voronoi import sums_by_label

BLOCK_VALUES = 2**15  # costs that stay in the cache

Integers = NDArray[np.int64]


class SwapGains:
    """For a current set of k of m public candidates: what dropping one and adding another gains, for all k·(m-k) swaps.

    candidates : (m, d) points in lattice units, snapped. current : k different indices of them, fewer than m.
    The value is a flat vector, k lines (the centre that goes) of m-k (the candidate that comes); `swap` tells which.
    Utilities are in public integer units, the larger the better.
    """

    name = "gain of each swap"

    def __init__(
        self, candidates: ArrayLike, current: ArrayLike, domain: Domain, *, objective: str = "k-means"
    ) -> None:
        points, chosen = np.asarray(candidates, dtype=np.float64), np.asarray(current)
        if points.ndim != 2 or 0 in points.shape or points.shape[1] != domain.dimension:
            raise ParameterError("candidates", f"must be points with {domain.dimension} coordinates")
        check_objective(objective)
        if chosen.ndim != 1 or chosen.dtype.kind != "i" or not 1 <= len(chosen) < len(points):
            raise ParameterError("current", "must be whole numbers, at least one and fewer than there are candidates")
        if len(np.unique(chosen)) < len(chosen) or chosen.min() < 0 or chosen.max() >= len(points):
            raise ParameterError("current", "must be different places in the list of candidates")
        self.domain, self.objective = domain, objective
        self.candidates = domain.snap(points)
        self.current = chosen.astype(np.intp)
        self.others = np.setdiff1d(np.arange(len(points)), self.current)
        for array in (self.candidates, self.current, self.others):
            array.setflags(write=False)
        self.shift, largest = cost_units(_farthest_squared(self.candidates, domain), objective)
        self.row_cost = max(1, largest)
        gain, loss = self._reach()
        self.relative = gain + loss < self.row_cost  # to the current cost: a smaller range, where that helps
        self.offset = loss if self.relative else 0
        self.most = gain + loss if self.relative else self.row_cost

    @property
    def size(self) -> int:
        return len(self.current) * len(self.others)

    def swap(self, index: int) -> tuple[int, int]:
        """The place in `current` that is dropped, and the candidate that is added, by a swap's index."""
        place, other = divmod(index, len(self.others))
        return place, int(self.others[other])

    def after(self, index: int) -> NDArray[np.intp]:
        """The current set after a swap."""
        place, added = self.swap(index)
        changed = self.current.copy()
        changed[place] = added
        return changed

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return all_move(self.most, self.size, monotone=neighbours is Neighbours.ADD_REMOVE)

    def accumulate(self, rows: Rows, out: Integers) -> None:
        k, table = len(self.current), out.reshape(len(self.current), -1)
        step = max(1, BLOCK_VALUES // len(self.candidates))
        for start in range(0, rows.shape[1], step):
            costs = self._costs(rows[:, start : start + step])  # whole numbers of at most 26 bits
            ours, added = costs[:k], costs[k:]
            label = np.asarray(ours.argmin(axis=0), dtype=np.intp)
            every = np.arange(len(label))
            first = ours[label, every]
            ours[label, every] = self.row_cost  # no cost exceeds it
            second = ours.min(axis=0)
            kept = np.minimum(added, first)
            table -= kept.sum(axis=1).astype(np.int64)  # exact: below 2^26 · rows of a block, like all sums here
            more = np.minimum(added, second, out=added)
            more -= kept
            table -= sums_by_label(more, label, k)
            if self.relative:
                table += int(first.sum()) + self.offset * len(label)

    def _costs(self, rows: Rows) -> NDArray[np.float64]:
        """What each row costs with each candidate alone, the current ones first: (m, n) whole numbers."""
        lifted = np.ones((len(rows) + 2, rows.shape[1]))
        lifted[:-2] = rows
        lifted[-1] = np.square(lifted[:-2]).sum(axis=0)  # exact: whole numbers below 2^52 in any order
        cost = np.asarray(self._lifted @ lifted)
        if self.objective == "k-median":
            np.sqrt(cost, out=cost)
            cost *= 2.0**-self.shift
        return np.floor(cost, out=cost)

    @property
    def _lifted(self) -> NDArray[np.float64]:
        """(-2c, |c|², 1): times (x, 1, |x|²) it is |x - c|², here already in cost units for k-means."""
        points = self.candidates[np.concatenate([self.current, self.others])].astype(np.float64)
        norms = np.square(points).sum(axis=1, keepdims=True)
        lifted = np.hstack([-2.0 * points, norms, np.ones_like(norms)])
        return lifted * 2.0**-self.shift if self.objective == "k-means" else lifted

    def _reach(self) -> tuple[int, int]:
        """The most that any swap gains, and the most that any swap loses, by one row of the domain, in cost units."""
        ours, others = self.candidates[self.current], self.candidates[self.others]
        coming = self._between(ours, others)  # [l, i]: how far i can be better than l
        gain = max(0, int(coming.min(axis=0).max()))
        going = self._between(ours, ours)  # [l, j]: how far j can be better than l
        np.fill_diagonal(going, np.iinfo(np.int64).max)
        instead = self._between(others, ours)  # [i, j]
        loss = max(0, int(np.minimum(going.min(axis=0), instead).max()))
        return min((gain >> self.shift) + 1, self.row_cost), min((loss >> self.shift) + 1, self.row_cost)

    def _between(self, worse: Integers, better: Integers) -> Integers:
        """How much less than at `worse` the cost at `better` can be, for any row: whole numbers, rounded up.

        For k-means |x - a|² - |x - b|² is linear in x, so its maximum over the box or the ball is known.
        """
        length = np.zeros((len(worse), len(better)), dtype=np.int64)
        squared = np.zeros_like(length)
        for a, b in zip(worse.T, better.T, strict=True):
            away = np.abs(a[:, None] - b)
            length += away
            squared += away * away
        if self.objective == "k-median" or self.domain.ball:
            root = np.floor(np.sqrt(squared.astype(np.float64))).astype(np.int64) + 1
            if self.objective == "k-median":
                return root
            length = root
        norms = np.square(worse).sum(axis=1)[:, None] - np.square(better).sum(axis=1)
        return np.asarray(norms + 2 * self.domain.limit * length, dtype=np.int64)


def _farthest_squared(points: Integers, domain: Domain) -> int:
    """A whole number that no squared distance of a row of the domain from one of the points exceeds."""
    most = np.square(np.abs(points) + domain.limit).sum(axis=1)
    if domain.ball:
        lengths = np.floor(np.sqrt(np.square(points).sum(axis=1).astype(np.float64))).astype(np.int64) + 1
        most = np.minimum(most, np.square(lengths + domain.limit))
    return int(most.max())
