"""How badly each small coreset on a tiny grid answers its worst query: utilities for a private choice. exact.md."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from covey.checks import check_objective
from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.costs import cost_units, farthest_in_cube
from covey.queries.counts import all_move
from covey.queries.grid import Grid

COST_BITS = 20  # of a row's cost: m times the cost of 2^36 rows fits 63 bits
MOST_WORK = 2**23  # candidates times queries, a public number
MOST_POINTS = 64
CHUNK_VALUES = 2**18

Integers = NDArray[np.int64]


def work(cells: int, *, points: int, centres: int) -> tuple[int, int]:
    """How many candidate coresets and how many queries there are on a grid of so many cells."""
    queries = sum(comb(cells, i) for i in range(1, min(centres, cells) + 1))
    return comb(cells + points - 1, points), queries


class WorstErrors:
    """Minus the largest error of each candidate coreset over all queries, in public integer units.

    A candidate is a multiset of `points` cells, each point with the weight rows/points; a query is a set of 1 to
    `centres` cells. `rows` is public or was released before. Utility: minus the largest, over queries Q, of
    |points·Q(rows) - rows·Q(candidate)|, where each point of the candidate has weight 1.
    """

    name = "worst error of each coreset"

    def __init__(self, grid: Grid, *, points: int, centres: int, rows: int, objective: str = "k-means") -> None:
        check_objective(objective)
        if not 1 <= points <= MOST_POINTS or centres < 1 or not 0 <= rows <= 2**36:
            raise ParameterError("points", f"must be 1 to {MOST_POINTS}; centres at least 1; rows at most 2^36")
        candidates, queries = work(grid.cells, points=points, centres=centres)
        if candidates * queries > MOST_WORK:
            raise ParameterError("grid", f"{candidates} candidates with {queries} queries each are too many")
        self.grid, self.points, self.centres, self.rows = grid, points, centres, rows
        self.objective = objective
        self.candidates = _choices(combinations_with_replacement(range(grid.cells), points), points)
        self.shift, self.row_cost = cost_units(farthest_in_cube(grid.domain), objective, bits=COST_BITS)

    @property
    def domain(self) -> Domain:
        return self.grid.domain

    @property
    def size(self) -> int:
        return len(self.candidates)

    @property
    def unit(self) -> float:
        """What 1 of the utility is as a cost in lattice units: of squared distances, or of distances."""
        return float(2.0**self.shift / self.points)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        del neighbours  # a row's cost lies in [0, row_cost]: adding and replacing move a query by at most that
        return all_move(self.points * self.row_cost, self.size)

    def costs(self) -> Integers:
        """The cost of a row on each cell, for each query: queries x cells, integers of at most 20 bits. Public."""
        places = self.grid.lattice_points(np.arange(self.grid.cells)).astype(np.float64)
        squared = np.zeros((self.grid.cells, self.grid.cells))
        for coordinate in places:  # exact: whole numbers below 2^52
            squared += np.square(coordinate[:, None] - coordinate)
        if self.objective == "k-median":
            squared = np.floor(np.sqrt(squared))
        single = np.floor(squared * 2.0**-self.shift).astype(np.int64)
        tables = []
        for many in range(1, min(self.centres, self.grid.cells) + 1):
            chosen = _choices(combinations(range(self.grid.cells), many), many)
            best = single[chosen[:, 0]]
            for j in range(1, many):
                best = np.minimum(best, single[chosen[:, j]])
            tables.append(best)
        return np.concatenate(tables)

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        costs = self.costs()
        wanted = self.points * (costs[:, cells] @ counts)  # queries
        copies = np.zeros((self.grid.cells, self.size))
        np.add.at(copies, (self.candidates, np.arange(self.size)[:, None]), 1)
        worst = np.zeros(self.size, dtype=np.int64)
        step = max(1, CHUNK_VALUES // self.size)
        for start in range(0, len(costs), step):
            given = costs[start : start + step].astype(np.float64) @ copies  # exact: whole numbers below 2^27
            errors = np.abs(wanted[start : start + step, None] - self.rows * given.astype(np.int64))
            np.maximum(worst, errors.max(axis=0), out=worst)
        return -worst


def _choices(lines: object, width: int) -> Integers:
    return np.array(list(lines), dtype=np.int64).reshape(-1, width)  # type: ignore[call-overload]
