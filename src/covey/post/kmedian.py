"""Weighted k-median of a synopsis: points with noisy weights of either sign. Free: it never sees rows."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import ParameterError
from covey.post.cells import Cells
from covey.post.distances import (
    Floats,
    add_up,
    as_box,
    as_rows,
    as_weights,
    cost_of_labels,
    nearest,
)
from covey.post.kmeans import MANY, Clustering, Starts, drawn_starts, stages_of, weighted_kmeans
from covey.post.lloyd import lloyd
from covey.post.medians import Box, kmedian, nearest_cells, swap
from covey.post.threads import one_blas_thread, side_by_side

__all__ = ["weighted_kmedian"]

_SCOUT_ROUNDS = 20  # of Lloyd's algorithm, which is quick, to bring the starts near
_SCOUT_WORTH = 1e-3  # when to stop: see kmedian
_WORTH = 1e-5
_FINE_WORTH = 1e-4  # on all the points, after buckets


def weighted_kmedian(
    points: ArrayLike,
    weights: ArrayLike,
    *,
    k: int,
    lower: ArrayLike,
    upper: ArrayLike,
    starts: Starts,
    rounds: int = 100,
    coarse: int = 4096,
    polish: int = 3,
    swaps: int = 100,
) -> Clustering:
    """k centres of low k-median cost: the sum of weight x distance to the nearest centre.

    Negative weights take part, where they cancel the noise of empty space. No step raises the signed cost of a
    cluster (see medians.py); choosing the nearest centre anew may, so the best round of each start counts.

    1. The starts are the centres of weighted_kmeans, and each of `starts` (starts x k x columns) after some rounds
       of Lloyd's algorithm. If there are more than twice as many points as `coarse` (at least 16 k), all run on
       that many buckets of neighbouring points.
    2. The `polish` best by k-median cost run for up to `rounds`, then try up to `swaps` times to move the centre that
       is missed least to where a centre helps most.
    3. After buckets, the best of them run on the points; if those are very many, on smaller buckets first.

    Nothing is random; without points, the result is the first start. With k above the number of points, or with
    equal starts, some centres may be equal; the first of equals is given all their points.
    """
    x = as_rows("points", points)
    w = as_weights(weights, len(x))
    low, high = as_box(lower, upper)
    if max(np.abs(low).max(), np.abs(high).max(), np.abs(x).max(initial=0.0)) > 1e150:
        raise ParameterError("points", "are too large for distances; scale the columns first")
    drawn = cache(lambda: np.asarray(drawn_starts(starts), dtype=np.float64))  # once, for both
    middle, heaviest = low / 2 + high / 2, float(np.abs(w).max(initial=0.0)) or 1.0

    def means() -> Floats:  # it checks the other arguments
        fixed = {"rounds": rounds, "coarse": coarse, "polish": polish, "swaps": swaps}
        return weighted_kmeans(x, w, k=k, lower=low, upper=high, starts=drawn, **fixed).centres

    def cells() -> tuple[float, list[Cells]]:  # the points are within [-2, 2] and the weights within [-1, 1]
        unit = max(float((high - middle).max()), float(np.abs(x - middle).max(initial=0.0))) or 1.0
        kept = (x[w != 0] - middle) / unit, w[w != 0] / heaviest
        return unit, stages_of(*kept, smallest=max(coarse, 16 * k))

    with one_blas_thread():
        found, (unit, stages) = side_by_side(means, cells, worth=len(x) > MANY)
        best = _search(
            stages,
            (found - middle) / unit,
            (np.clip(drawn(), low, high) - middle) / unit,
            box=((low - middle) / unit, (high - middle) / unit),
            rounds=rounds,
            polish=polish,
            swaps=swaps,
        )
        centres = np.clip(best * unit + middle, low, high)
        labels = nearest(x, centres)
    sizes = add_up(labels, w / heaviest, k) * heaviest
    total = cost_of_labels(x, w / heaviest, centres, labels, "k-median") * heaviest
    return Clustering(centres, sizes, total)


def _search(
    stages: list[Cells], means: Floats, starts: Floats, *, box: Box, rounds: int, polish: int, swaps: int
) -> Floats:
    """The best centres found: k x d."""
    if len(stages[0]) == 0 or rounds == 0:
        return means
    scout = stages.pop()
    worth = _SCOUT_WORTH if stages else _WORTH
    near, _ = lloyd(scout, starts, box=box, rounds=_SCOUT_ROUNDS, worth=_SCOUT_WORTH)
    candidates = _best(scout, [means, *near], polish)
    found = []
    for candidate in candidates:
        centres, cost = kmedian(scout, candidate, box=box, rounds=rounds, worth=worth)
        if swaps:
            centres, cost = swap(scout, centres, cost, box=box, limit=swaps, worth=worth)
            centres, cost = kmedian(scout, centres, box=box, rounds=rounds, worth=worth)
        found.append(centres)
    while stages:
        scout = stages.pop()
        found = [kmedian(scout, each, box=box, rounds=rounds, worth=_FINE_WORTH)[0] for each in _best(scout, found, 1)]
    return _best(scout, found, 1)[0]


def _best(cells: Cells, candidates: list[Floats], count: int) -> list[Floats]:
    """The candidates of lowest k-median cost, best first; of those of the same cost, only the first."""
    costs = np.array([cells.weights @ nearest_cells(cells, each)[1] for each in candidates])
    order = np.argsort(costs, kind="stable")
    higher = np.diff(costs[order], prepend=-np.inf) > cells.rounding
    return [candidates[i] for i in order[higher][:count]]
