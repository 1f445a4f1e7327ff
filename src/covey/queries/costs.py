"""The cost of each public candidate set of centres: utilities for a private choice. Proof: costs.md."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import check_objective
from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import all_move
from covey.queries.voronoi import exact_scores

ROW_COST_BITS = 26
BLOCK_VALUES = 2**16


def farthest_in_cube(domain: Domain) -> int:
    """The largest squared distance between two lattice points of a domain's cube."""
    return 4 * domain.dimension * domain.limit**2


def cost_units(farthest: int, objective: str, *, bits: int = ROW_COST_BITS) -> tuple[int, int]:
    """The shift that fits a row's cost into so many bits, and the largest cost then; farthest: squared, of any row."""
    largest = farthest if objective == "k-means" else isqrt(farthest)
    shift = max(0, largest.bit_length() - bits)
    return shift, largest >> shift


class NegativeCosts:
    """Minus the cost of the rows for each candidate set, in public integer units: the larger the better."""

    name = "cost of each candidate"

    def __init__(self, candidates: ArrayLike, domain: Domain, *, objective: str = "k-means") -> None:
        stacked = np.asarray(candidates, dtype=np.float64)
        if stacked.ndim != 3 or 0 in stacked.shape or stacked.shape[2] != domain.dimension:
            raise ParameterError("candidates", f"must be sets x centres x {domain.dimension} coordinates")
        check_objective(objective)
        self.domain = domain
        self.objective = objective
        self.candidates = domain.snap(stacked)
        self.candidates.setflags(write=False)
        self.shift, self.row_cost = cost_units(farthest_in_cube(domain), objective)

    @property
    def size(self) -> int:
        return int(self.candidates.shape[0])

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return all_move(self.row_cost, self.size, monotone=neighbours is Neighbours.ADD_REMOVE)

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
