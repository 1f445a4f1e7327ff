"""One data set under test: its rows behind the door, its starts, and the measure of every figure, NICV."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.algorithms.genetic import genetic
from covey.algorithms.grid import cells_per_axis, from_cells
from covey.algorithms.hybrid import hybrid_threshold
from covey.algorithms.kit import Outcome, learn_size
from covey.algorithms.lloyd import one_round
from covey.algorithms.registry import find
from covey.bench.sets import Floats, seed_of
from covey.budget.accounting.plan import Plan, Reserve, split
from covey.budget.accounting.promise import Promise
from covey.events import exactly
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource
from covey.post.distances import Objective, cost
from covey.post.kmeans import weighted_kmeans
from covey.post.random import public_rng
from covey.post.starts import sphere_packing
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import open_table
from covey.public import Domain
from covey.queries.counts import CellCounts, Count
from covey.queries.grid import Grid
from covey.queries.voronoi import VoronoiSums

BLOCK = 2**13  # rows whose distances to a few centres stay in the cache
MOST_ROUNDS = 300  # of ordinary k-means; it has stopped long before


def unit_box(d: int) -> Domain:
    """[-1, 1]^d."""
    return Domain(middle=(0.0,) * d, half=(1.0,) * d)


def door(engine: MemoryEngine, domain: Domain, promise: Promise, *, seed: int) -> Curator:
    """A fresh curator that may spend as much as the promise; its noise comes from the seed."""
    source = SeededSource(seed)
    return Curator(engine, domain=domain, source=source, reserve=Reserve(promise), charge=lambda: None)


class Workload:
    """Rows in [-1, 1]^d that every algorithm of the paper can be run on, again and again.

    The engine is loaded once; each run has a curator of its own, so every run pays and draws as a fit would. Noise is
    seeded: the rows are public and the figures repeatable. `starts` sphere packings are drawn once, and all
    algorithms that take a start use the same ones, as in the paper.
    """

    def __init__(self, rows: Floats, *, k: int, name: str, starts: int) -> None:
        self.name, self.k, self.starts = name, k, starts
        self.domain = unit_box(rows.shape[1])
        self.engine = MemoryEngine(open_table(rows), self.domain)
        self.engine.total(Count(self.domain))  # reads the rows now, so that no run is charged with the time
        self.size = len(rows)
        self._columns = np.ascontiguousarray(rows.T)
        self._squares = float(np.square(rows).sum())
        rng = public_rng(seed_of("starts", name))
        lower, upper = self.domain.corners
        self._states, packings = [], []
        for _ in range(starts):
            self._states.append(rng.bit_generator.state)
            packings.append(sphere_packing(k, lower=lower, upper=upper, rng=rng))
        self.packings = np.stack(packings)

    def nicv(self, centres: ArrayLike) -> float:
        """The mean squared distance of the rows to their nearest centre, in [-1, 1]^d. Centres are in lattice units."""
        points = self.domain.from_lattice(centres)
        norms = np.square(points).sum(axis=1, keepdims=True)
        total = self._squares
        for first in range(0, self.size, BLOCK):
            scores = (-2.0 * points) @ self._columns[:, first : first + BLOCK]
            scores += norms
            total += float(scores.min(axis=0).sum())
        return total / self.size

    def curator(self, *, epsilon: Fraction, seed: int) -> Curator:
        """A fresh door to the rows, with a budget of epsilon."""
        return door(self.engine, self.domain, Promise.of(epsilon), seed=seed)

    def public_at(self, start: int) -> np.random.Generator:
        """Public randomness that draws start number `start` next, and the following starts after it."""
        rng = public_rng(0)
        rng.bit_generator.state = self._states[start]
        return rng

    def run(self, algorithm: str, *, epsilon: float, seed: int, start: int = 0, **parameters: Any) -> Outcome:
        """One run of an algorithm, as a fit would run it."""
        budget = exactly(epsilon)
        if algorithm.startswith(("grid", "hybrid")):
            parameters = {"starts": self.starts, **parameters}
        method = OWN[algorithm] if algorithm in OWN else find(algorithm).run
        curator = self.curator(epsilon=budget, seed=seed)
        return method(curator, k=self.k, epsilon=budget, public_rng=self.public_at(start), **parameters)

    def kmeans(self) -> tuple[Floats, list[list[float]]]:
        """Ordinary k-means from every start until nothing moves: the best centres, and each start's NICV by round."""
        best, traces = self.packings[0], []
        lowest = np.inf
        for start in self.packings:
            centres = self.domain.snap(start)
            trace = [self.nicv(centres)]
            for _ in range(MOST_ROUNDS):
                moved = self.exact_round(centres)
                if np.array_equal(moved, centres):
                    break
                centres = moved
                trace.append(self.nicv(centres))
            traces.append(trace)
            if min(trace) < lowest:
                best, lowest = centres.astype(np.float64), min(trace)
        return best, traces

    def exact_round(self, centres: NDArray[np.int64]) -> NDArray[np.int64]:
        """A round of Lloyd's algorithm without noise; a cluster without rows keeps its centre."""
        clusters = VoronoiSums(centres, self.domain)
        return self.domain.snap(clusters.means(self.engine.total(clusters)))


def mean_cost(rows: Floats, centres: Floats, objective: Objective = "k-means") -> float:
    return cost(rows, np.ones(len(rows)), centres, objective) / len(rows)


def printed_cells(
    curator: Curator,
    *,
    k: int,
    size: int,
    noise: DiscreteLaplace,
    theta: float,
    starts: int,
    public_rng: np.random.Generator,
) -> Outcome:
    """`from_cells` as printed: Lloyd's algorithm alone on the noisy cells, without Covey's swaps of centres."""
    strength = float(noise.epsilon)
    cells = Grid(curator.domain, cells_per_axis(curator.domain, size=size, epsilon=strength, theta=theta))
    counts = curator.release(CellCounts(cells), noise).astype(np.float64)
    lower, upper = curator.domain.corners
    packings = [sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(starts)]
    found = weighted_kmeans(
        cells.midpoints(), counts, k=k, lower=lower, upper=upper, starts=np.stack(packings), swaps=0
    )
    return Outcome(found.centres)


def two_steps(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    starts: int,
    cells: Callable[..., Outcome],
    rule: str,
    theta: float = 10.0,
) -> Outcome:
    """A grid clustered by `cells` and then a round: by inequality (15), "always" or "never" (`grid` alone)."""
    size, left, _ = learn_size(curator, epsilon)
    least = hybrid_threshold(n=max(1, size), d=curator.domain.dimension, k=k, theta=theta)
    pays = rule == "always" or (rule == "printed" and float(left) >= least)
    noises = [DiscreteLaplace(part) for part in (split(left, 1, 1) if pays else (left,))]
    curator.reserve(Plan(tuple(noise.event() for noise in noises)))
    found = cells(curator, k=k, size=size, noise=noises[0], theta=theta, starts=starts, public_rng=public_rng)
    centres = one_round(curator, found.centres, noises[1])[0] if pays else found.centres
    return Outcome(centres, notes={"refined": pays})


def printed_genetic(curator: Curator, *, k: int, epsilon: Fraction, public_rng: np.random.Generator) -> Outcome:
    """`genetic` with the picks of the printed one, which allow for costs that move either way: half of epsilon."""
    return genetic(curator, k=k, epsilon=epsilon / 2, public_rng=public_rng, rate=2 * 1.25e-3)  # as many rounds


OWN: dict[str, Callable[..., Outcome]] = {  # forms that only benchmarks run
    "grid, printed": partial(two_steps, cells=printed_cells, rule="never"),
    "hybrid, printed": partial(two_steps, cells=printed_cells, rule="printed"),
    "hybrid, forced, printed": partial(two_steps, cells=printed_cells, rule="always"),
    "hybrid, forced": partial(two_steps, cells=from_cells, rule="always"),
    "genetic, printed": printed_genetic,
}
