"""How far rows are from the nearest of some public centres: a histogram that keeps the sum exact. Proof: scores.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import check_objective
from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.costs import cost_units
from covey.queries.squares import farthest_square
from covey.queries.voronoi import exact_scores

MASS = 2**16  # of a row: what it adds, in two parts
KNOTS = 32  # between the farthest place and where the first ring begins
CHUNK_VALUES = 2**20  # of the table rows x centres
MOST_SETS = 20
LEAST = 2  # units of cost, at which rings may end
TOO_NEAR = "is too near to a centre to be told from it; choose a larger distance"

Integers = NDArray[np.int64]


class SoftRings:
    """For each set of centres, rows by their cost: the squared distance from the nearest centre, or the distance.

    A row adds `MASS` in all, split between the two knots that its cost lies between, so that the masses times their
    knots add up to the sum of costs. Knots are public: they halve the squared distance with every second one. breaks :
    squared distances in lattice units at which no mass is shared between nearer and farther rows. most : for each set a
    squared distance that its costs are cut to, or None.
    """

    name = "distances from the nearest centre"

    def __init__(
        self,
        sets: Sequence[ArrayLike],
        domain: Domain,
        *,
        objective: str = "k-means",
        breaks: Sequence[float] = (),
        most: Sequence[float | None] = (),
    ) -> None:
        check_objective(objective)
        if not 1 <= len(sets) <= MOST_SETS:
            raise ParameterError("centres", f"must be 1 to {MOST_SETS} sets")
        self.domain, self.objective = domain, objective
        self.centres = tuple(domain.snap(each) for each in sets)
        for each in self.centres:
            if each.ndim != 2 or each.shape[1] != domain.dimension or len(each) < 1:
                raise ParameterError("centres", f"must be arrays of points with {domain.dimension} coordinates")
            each.setflags(write=False)
        farthest = [farthest_square(each, domain) for each in self.centres]
        self.shift, _ = cost_units(max(farthest), objective)
        cut = [far if end is None else min(far, int(end)) for far, end in zip_longest(farthest, most)]
        ends = [each for each, end in zip_longest(cut, most) if end is not None]
        if ends and self._cost(np.array(ends, dtype=np.float64)).min() < LEAST:
            raise ParameterError("clip", TOO_NEAR)
        self.knots = tuple(self._knots(each, breaks) for each in cut)

    def _knots(self, farthest: int, breaks: Sequence[float]) -> Integers:
        """Ascending costs from 0 to the largest; where rings break, twice."""
        end = max(LEAST, self._cost(np.array([float(farthest)]))[0])
        ratio = 2.0**0.5 if self.objective == "k-means" else 2.0**0.25
        inner = [int(end / ratio**step) for step in range(1, KNOTS)]
        within = np.minimum(np.asarray(breaks, dtype=np.float64), float(farthest))  # a number that whole ones can be
        edges = [int(each) for each in self._cost(within) if each < end]
        if min(edges, default=1) < 1:
            raise ParameterError("within", TOO_NEAR)
        single = sorted({each for each in inner if each > 0} - set(edges))
        return np.array(sorted([0, *single, *edges, *edges, int(end)]), dtype=np.int64)

    def _cost(self, squares: NDArray[np.float64]) -> Integers:
        """Costs of squared distances, in public integer units: whole numbers of at most 26 bits."""
        cost = np.floor(np.sqrt(squares)) if self.objective == "k-median" else squares
        return np.floor(cost * 2.0**-self.shift).astype(np.int64)

    @property
    def size(self) -> int:
        return sum(map(len, self.knots))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        many = len(self.centres)
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(
                l1=MASS * many, l2_squared=MASS**2 * many, linf=MASS, coordinates=2 * many, monotone=True
            )
        return Sensitivity(l1=2 * MASS * many, l2_squared=2 * MASS**2 * many, linf=MASS, coordinates=4 * many)

    def accumulate(self, rows: Rows, out: Integers) -> None:
        step = max(64, CHUNK_VALUES // max(map(len, self.centres)))
        for start in range(0, rows.shape[1], step):
            some = rows[:, start : start + step]
            norms = np.zeros(some.shape[1])
            for coordinate in some.astype(np.float64):  # exact integers below 2^52
                norms += coordinate * coordinate
            for centres, knots, part in zip(self.centres, self.knots, self.parts(out), strict=True):
                cost = np.minimum(self._cost(exact_scores(some, centres).min(axis=0) + norms), knots[-1])
                below = np.clip(np.searchsorted(knots, cost, side="left") - 1, 0, len(knots) - 2)
                low, high = knots[below], knots[below + 1]
                upper = (cost - low) * MASS // (high - low)
                np.add.at(part, below, MASS - upper)
                np.add.at(part, below + 1, upper)

    def parts(self, flat: Integers) -> list[Integers]:
        """The numbers of each set."""
        return np.split(flat, np.cumsum([len(each) for each in self.knots])[:-1])

    def told(self, knots: Integers) -> NDArray[np.float64]:
        """Knots as costs in lattice units."""
        return np.asarray(knots * 2.0**self.shift, dtype=np.float64)
