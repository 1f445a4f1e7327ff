"""Weighted k-means of a synopsis: points with noisy weights of either sign. Free: it never sees rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.cells import Cells
from covey.post.distances import (
    Floats,
    add_up,
    as_box,
    as_rows,
    as_weights,
    cost,
    cost_of_labels,
    nearest,
)
from covey.post.lloyd import Box, lloyd, swap
from covey.post.threads import one_blas_thread, side_by_side

__all__ = ["Clustering", "cost", "nearest", "weighted_kmeans"]

Starts = ArrayLike | Callable[[], Floats]

MANY = 1 << 13  # points: of more, two threads are worth while
_SCOUT_WORTH = 1e-3  # when to stop: see lloyd
_WORTH = 1e-4
_ALIKE = 1e-9  # starts whose costs differ by less than this fraction of the scatter ended in the same place


@dataclass(frozen=True, eq=False)
class Clustering:
    """The result of k-means on a synopsis."""

    centres: Floats  # k x d, inside the box
    sizes: Floats  # the net weight nearest to each centre; may be negative
    cost: float  # on the synopsis; may be negative too


def weighted_kmeans(
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
    """The best of several runs of Lloyd's algorithm on weighted points, by cost on those points.

    Negative weights take part in the update, where they cancel the noise of empty space (Su et al. 2016,
    section 4.2). A centre becomes the weighted mean of its points, clipped to the box, if their net weight is
    positive; otherwise it stays. Such rounds need not lower the cost, so the best round of each start counts.

    1. All `starts` (starts x k x columns, or what draws them meanwhile) run for up to `rounds` each. If there are more
       than twice as many points as `coarse` (at least 16 k), they run on that many buckets of neighbouring points,
       whose sums are exact.
    2. Each of the `polish` best tries up to `swaps` times to move a centre that is missed least to where a centre
       helps most, and goes on while that lowers the cost. With 0, this is Lloyd's algorithm alone.
    3. After buckets, the `polish` best run on the points; if those are very many, on smaller buckets, and then only
       the best of them on the points.

    Nothing is random; without points, the result is the first start. With k above the number of points, or with
    equal starts, some centres may be equal; the first of equals is given all their points.
    """
    x = as_rows("points", points)
    w = as_weights(weights, len(x))
    low, high = as_box(lower, upper)
    if not callable(starts):
        _as_starts(starts, k=k, low=low, high=high)
    if x.shape[1] != low.size:
        raise ParameterError("points", "must have as many columns as the box")
    if min(rounds, swaps) < 0 or min(coarse, polish) < 1:
        raise ParameterError("rounds, coarse, polish, swaps", "must not be negative; coarse and polish at least 1")

    # From here on the box and the points are within [-2, 2] and the weights too: no product overflows.
    middle = low / 2 + high / 2
    unit = _power_of_two(max(float((high - middle).max()), float(np.abs(x - middle).max(initial=0.0))))
    heaviest = _power_of_two(float(np.abs(w).max(initial=0.0)))
    box = (low - middle) / unit, (high - middle) / unit
    w = w / heaviest
    counts = w != 0

    def cells() -> list[Cells]:
        return stages_of((x[counts] - middle) / unit, w[counts], smallest=max(coarse, 16 * k))

    with one_blas_thread():
        stages, drawn = side_by_side(cells, lambda: drawn_starts(starts), worth=callable(starts) and len(x) > MANY)
        c = (_as_starts(drawn, k=k, low=low, high=high) - middle) / unit
        best = _search(stages, c, box=box, rounds=rounds, polish=polish, swaps=swaps)
        centres = np.clip(best * unit + middle, low, high)
        labels = nearest(x, centres)
    sizes, total = add_up(labels, w, k), cost_of_labels(x, w, centres, labels)
    return Clustering(centres, sizes * heaviest, total * heaviest)


def stages_of(x: Floats, w: Floats, *, smallest: int) -> list[Cells]:
    """The points as cells, and, where there are many, in fewer and fewer buckets."""
    stages = [Cells.of_points(x, w)]
    for size in (16 * smallest, smallest):
        if len(stages[-1]) > 2 * size:
            stages.append(stages[-1].merged(size))
    return stages


def drawn_starts(starts: Starts) -> ArrayLike:
    return starts() if callable(starts) else starts


def _search(stages: list[Cells], starts: Floats, *, box: Box, rounds: int, polish: int, swaps: int) -> Floats:
    """The best centres found: k x d."""
    scout = stages.pop()
    c, costs = lloyd(scout, starts, box=box, rounds=rounds, worth=_SCOUT_WORTH if stages else _WORTH)
    if rounds and swaps:
        best = _best_distinct(scout, costs, polish)
        c = np.stack([swap(scout, c[i], costs[i], box=box, limit=swaps) for i in best])
        c, costs = lloyd(scout, c, box=box, rounds=rounds, worth=_SCOUT_WORTH if stages else _WORTH)
    while stages:
        c = c[_best_distinct(scout, costs, polish)]
        scout, polish = stages.pop(), 1
        c, costs = lloyd(scout, c, box=box, rounds=rounds, worth=_WORTH)
    return c[_best_distinct(scout, costs, 1)[0]]


def _best_distinct(cells: Cells, costs: Floats, count: int) -> NDArray[np.intp]:
    """The starts of lowest cost, best first; of those that ended in the same place, only the first."""
    order = np.argsort(costs, kind="stable")
    higher = np.diff(costs[order], prepend=-np.inf) > _ALIKE * cells.scatter + cells.rounding
    return np.minimum.reduceat(order, np.flatnonzero(higher))[:count]


def _as_starts(starts: ArrayLike, *, k: int, low: Floats, high: Floats) -> Floats:
    c = np.asarray(starts, dtype=np.float64)
    if k < 1 or c.ndim != 3 or len(c) == 0 or c.shape[1:] != (k, low.size):
        raise ParameterError("starts", "must be at least one set of k centres: starts x k x columns")
    if not np.isfinite(c).all():
        raise ParameterError("starts", "must be finite")
    return np.clip(c, low, high)


def _power_of_two(x: float) -> float:
    """A power of two near x (1 for 0): scaling by it is exact."""
    return float(np.ldexp(1.0, int(np.frexp(x)[1]) - 1)) if x > 0 else 1.0
