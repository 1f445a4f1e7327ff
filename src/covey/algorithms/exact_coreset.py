"""`exact-coreset`: the exponential mechanism over all small coresets of a tiny grid (Feldman et al. 2009 §3)."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Annotated

import numpy as np

from covey.algorithms.kit import LatticeCoreset, Outcome, learn_size
from covey.budget.accounting.plan import Plan
from covey.checks import Whole
from covey.errors import ParameterError
from covey.noise.mechanisms import Exponential
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import sphere_packing
from covey.private.curator import Curator
from covey.queries.exact import MOST_POINTS, MOST_WORK, WorstErrors, work
from covey.queries.grid import Grid

CONFIDENCE = 0.95
LARGEST_SIDE = 16
MOST_CELLS = 64
USUAL_WORK = 2**20  # of a side that is chosen here: a fraction of a second
UNCOUNTED = "the coreset was picked as a whole: no number of rows was counted"


def exact_coreset(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    objective: str = "k-means",
    points: Annotated[int, Whole(1, MOST_POINTS)] = 4,
    side: Annotated[int, Whole(1, LARGEST_SIDE)] | None = None,
    starts: Annotated[int, Whole(1, 10_000)] = 10,
) -> Outcome:
    """The coreset of `points` points of a tiny grid whose worst query is answered best, up to noise; k centres of it.

    Guarantee: epsilon-DP under add/remove (4% for the noisy number of rows, which the coreset's weights add up to) and
    replace-one (n is public): one pick by the exponential mechanism; proof in queries/exact.md.
    A reference for tests and teaching: all coresets and all queries are tried. Edge cases: too many of them, or too
    many columns, is refused before the charge, with the numbers.
    """
    grid = Grid(curator.domain, _side(side, dimension=curator.domain.dimension, points=points, centres=k))
    size, left, told = learn_size(curator, epsilon)
    size = min(size, 2**36)
    coresets = WorstErrors(grid, points=points, centres=k, rows=size, objective=objective)
    choice = Exponential(left)
    curator.reserve(Plan((choice.event(),)))
    chosen = coresets.candidates[curator.select(coresets, choice)]
    cells, copies = np.unique(chosen, return_counts=True)
    weights = np.asarray(copies * (size / points), dtype=np.float64)
    coreset = LatticeCoreset(grid.lattice_points(cells).T.astype(np.float64), weights)
    lower, upper = curator.domain.corners
    cluster = weighted_kmedian if objective == "k-median" else weighted_kmeans
    found = cluster(
        coreset.points,
        coreset.weights,
        k=k,
        lower=lower,
        upper=upper,
        starts=np.stack([sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(starts)]),
    )
    limit = float(curator.domain.limit)
    largest = coresets.row_cost * 2.0**coresets.shift / (limit if objective == "k-median" else limit**2)
    notes = {
        **told,
        "cells_per_axis": grid.per_axis,
        "points": points,
        "candidates": coresets.size,
        "beyond_the_best": 2 * largest / float(left) * log(coresets.size / (1 - CONFIDENCE)),
    }
    return Outcome(found.centres, found.sizes, notes, coreset=coreset, not_told=UNCOUNTED)


def _side(side: int | None, *, dimension: int, points: int, centres: int) -> int:
    """Cells per axis: as asked for, or the most that are tried quickly; refused by public numbers alone."""

    def effort(cells: int) -> tuple[int, int]:
        return work(cells, points=points, centres=centres)

    if side is None:
        sides = [s for s in range(2, LARGEST_SIDE + 1) if s**dimension <= MOST_CELLS]
        fitting = [s for s in sides if np.prod(effort(s**dimension), dtype=object) <= USUAL_WORK]
        side = max(fitting, default=2)
    cells = side**dimension
    if cells > MOST_CELLS:
        raise ParameterError(
            "side", f"{side} cells on each of {dimension} axes are {cells:.3g} cells; the most is {MOST_CELLS}"
        )
    candidates, queries = effort(cells)
    if candidates * queries > MOST_WORK:
        raise ParameterError(
            "points",
            f"{candidates:,} coresets on {cells} cells times {queries:,} queries are too many to try (at most "
            f"{MOST_WORK:,}); take fewer points, a smaller side, or fewer clusters",
        )
    return side
