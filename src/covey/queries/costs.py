"""The cost of each public candidate set of centres: utilities for a private choice. Proof: costs.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.voronoi import exact_scores

ROW_COST_BITS = 26
BLOCK_VALUES = 2**16


class NegativeCosts:
    """Minus the cost of the rows for each candidate set, in public integer units: the larger the better."""

    name = "cost of each candidate"

    def __init__(self, candidates: ArrayLike, domain: Domain, *, objective: str = "k-means") -> None:
        stacked = np.asarray(candidates, dtype=np.float64)
        if stacked.ndim != 3 or 0 in stacked.shape or stacked.shape[2] != domain.dimension:
            raise ParameterError("candidates", f"must be sets x centres x {domain.dimension} coordinates")
        if objective not in ("k-means", "k-median"):
            raise ParameterError("objective", "must be 'k-means' or 'k-median'")
        self.domain = domain
        self.objective = objective
        self.candidates = domain.snap(stacked)
        self.candidates.setflags(write=False)
        # The largest squared distance between points of the cube, and the shift that fits a row's cost into 26 bits.
        farthest = 4 * domain.dimension * domain.limit**2
        largest = farthest if objective == "k-means" else int(np.floor(np.sqrt(float(farthest))))
        self.shift = max(0, largest.bit_length() - ROW_COST_BITS)
        self.row_cost = largest >> self.shift

    @property
    def size(self) -> int:
        return int(self.candidates.shape[0])

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        times = self.size  # one row moves the cost of every candidate
        return Sensitivity(
            l1=self.row_cost * times,
            l2_squared=self.row_cost**2 * times,
            linf=self.row_cost,
            coordinates=times,
            monotone=neighbours is Neighbours.ADD_REMOVE,
        )

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        sets, k, _ = self.candidates.shape
        many = max(1, BLOCK_VALUES // (k * max(1, rows.shape[1])))  # candidate sets whose scores fit the cache
        norms = np.zeros(rows.shape[1])
        for coordinate in rows.astype(np.float64):  # exact integers below 2^52
            norms += coordinate * coordinate
        for start in range(0, sets, many):
            centres = self.candidates[start : start + many]
            scores = exact_scores(rows, centres.reshape(-1, centres.shape[2]))
            cost = scores.reshape(len(centres), k, -1).min(axis=1)
            cost += norms
            if self.objective == "k-median":
                np.floor(np.sqrt(cost, out=cost), out=cost)
            cost *= 2.0**-self.shift
            np.floor(cost, out=cost)
            out[start : start + many] -= cost.sum(axis=1).astype(np.int64)  # exact: below 2^26 · rows of a chunk
