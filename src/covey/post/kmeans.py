"""Weighted k-means of a synopsis: points with noisy weights of either sign. Free: it never sees rows."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.coarsen import coarsen
from covey.post.distances import Floats, as_box, as_rows, as_weights, blocks, cost, cost_of_labels, nearest

__all__ = ["Clustering", "cost", "nearest", "weighted_kmeans"]

_STILL = 1e-4  # a start is finished when no centre moves by more than this fraction of the synopsis's spread
_PATIENCE = int(os.environ.get("PA","4"))
_WORTH_SCOUTING = float(os.environ.get("WS","1e-3"))
_WORTH = float(os.environ.get("WP","1e-4"))
_LONG_ROW = 48  # from this many centres on, argmin along a row beats a running minimum over centres
_LIGHT = 1e-12  # a cluster whose net weight is at most this fraction of the largest weight keeps its centre


@dataclass(frozen=True, eq=False)
class Clustering:
    """k centres (k x d), the net weight nearest to each (may be negative), and the cost on the synopsis."""

    centres: Floats
    sizes: Floats
    cost: float


def weighted_kmeans(
    points: ArrayLike,
    weights: ArrayLike,
    *,
    k: int,
    lower: ArrayLike,
    upper: ArrayLike,
    starts: ArrayLike,
    rounds: int = 100,
    coarse: int = 4096,
    polish: int = 3,
) -> Clustering:
    """The best of several runs of Lloyd's algorithm on weighted points, by cost on those points.

    Negative weights take part in the update, where they cancel the noise of empty space (Su et al. 2016,
    section 4.2). A centre becomes the weighted mean of its points, clipped to the box, if their net weight is
    positive; otherwise it stays. Such rounds need not lower the cost, so the best round of each start counts.

    With more than twice `coarse` points, all `starts` (s x k x d) first run on at most max(coarse, 16 k) buckets
    of neighbouring points, and the `polish` best of them then run on the points themselves. A bucket moves as one,
    but its weight and sum are exact.
    """
    x, w = as_rows("points", points), as_weights(weights, points)
    low, high = as_box(lower, upper)
    c = _as_starts(starts, k=k, low=low, high=high)
    if x.shape[1] != low.size:
        raise ParameterError("points", "must have as many columns as the box")
    if rounds < 0 or coarse < 1 or polish < 1:
        raise ParameterError("rounds, coarse, polish", "must be positive")

    middle, unit = low / 2 + high / 2, _power_of_two((high / 2 - low / 2).max())
    heaviest = _power_of_two(np.abs(w).max(initial=0.0))
    counts = w != 0
    y, v = (x[counts] - middle) / unit, w[counts] / heaviest
    box = (low - middle) / unit, (high - middle) / unit
    c = (c - middle) / unit

    if len(v) > 2 * coarse:
        buckets = coarsen(y, v, limit=max(coarse, 16 * k))
        c, costs = _lloyd(_Cells.of_buckets(y, v, buckets), c, box=box, rounds=rounds, worth=_WORTH_SCOUTING)
        c = c[_first_distinct(costs, polish)]
    c, costs = _lloyd(_Cells.of_points(y, v), c, box=box, rounds=rounds, worth=_WORTH)

    centres = np.clip(c[costs.argmin()] * unit + middle, low, high)
    labels = nearest(x, centres)
    sizes = np.bincount(labels, w / heaviest, k) * heaviest
    return Clustering(centres, sizes, cost_of_labels(x, w, centres, labels))


@dataclass(frozen=True, eq=False)
class _Cells:
    """What a round needs to know: where each cell is, and what it adds to its cluster's sums."""

    at: Floats  # (d + 1) x n: position, and a row of ones
    adds: Floats  # (d + 1) x n: weight x position, and weight
    squares: float  # the sum of weight x squared norm

    @staticmethod
    def of_points(x: Floats, w: Floats) -> "_Cells":
        at = np.ones((x.shape[1] + 1, len(w)))
        at[:-1] = x.T
        return _Cells(at, at * w, _squares(x, w))

    @staticmethod
    def of_buckets(x: Floats, w: Floats, bucket: NDArray[np.intp]) -> "_Cells":
        """A bucket lies at the mean of its points by absolute weight, which is never far from them."""
        count = int(bucket.max()) + 1
        mass = np.abs(w)
        total = np.bincount(bucket, mass, count)
        divisor = np.where(total > 0, total, 1.0)
        at, adds = np.ones((2, x.shape[1] + 1, count))
        for a, column in enumerate(x.T):
            at[a] = np.bincount(bucket, mass * column, count) / divisor
            adds[a] = np.bincount(bucket, w * column, count)
        adds[-1] = np.bincount(bucket, w, count)
        return _Cells(at, adds, _squares(x, w))

    @property
    def spread(self) -> float:
        """Root mean squared distance from the mean, by absolute weight."""
        mass = np.abs(self.adds[-1])
        if not mass.any():
            return 0.0
        x, mass = self.at[:-1], mass / mass.sum()
        return float(np.sqrt((np.square(x - (x @ mass)[:, None]) @ mass).sum()))

    def sums(self, centres: Floats) -> Floats:
        """For each start, the sums of the cells nearest to each of its centres: s x k x (d + 1)."""
        s, k, d = centres.shape
        labels = self._labels(centres)
        out = np.empty((s, d + 1, k))
        for i in range(s):
            label = labels[i].astype(np.intp)
            for a, column in enumerate(self.adds):
                out[i, a] = np.bincount(label, column, k)
        return out.transpose(0, 2, 1)

    def costs(self, centres: Floats, sums: Floats) -> Floats:
        """The cost of each start's centres, given its sums."""
        norms = np.square(centres).sum(axis=2)
        return self.squares + (norms * sums[:, :, -1]).sum(axis=1) - 2.0 * (centres * sums[:, :, :-1]).sum(axis=(1, 2))

    def _labels(self, centres: Floats) -> NDArray[np.integer]:
        """The nearest centre of each cell for each start (s x n); ties go to the lowest index."""
        s, k, _ = centres.shape
        n = self.at.shape[1]
        norms = np.einsum("skd,skd->sk", centres, centres)
        factors = np.concatenate([-2.0 * centres, norms[:, :, None]], axis=2).reshape(s * k, -1)
        labels = np.empty((s, n), dtype=np.uint8 if k < _LONG_ROW else np.intp)
        scratch = np.empty(0)
        for cells in blocks(n, width=s * k):
            size = s * k * (cells.stop - cells.start)
            scratch = scratch if scratch.size >= size else np.empty(size)  # one block of memory, used again
            if k < _LONG_ROW:
                scores = scratch[:size].reshape(s * k, -1)
                np.matmul(factors, self.at[:, cells], out=scores)
                labels[:, cells] = _lowest(scores.reshape(s, k, -1))
            else:
                scores = scratch[:size].reshape(-1, s * k)
                np.matmul(self.at[:, cells].T, factors.T, out=scores)
                labels[:, cells] = scores.reshape(-1, s, k).argmin(axis=2).T
        return labels


def _squares(x: Floats, w: Floats) -> float:
    return float(w @ np.einsum("nd,nd->n", x, x))


def _lowest(scores: Floats) -> NDArray[np.uint8]:
    """The position of the minimum along axis 1, the first of equals. Overwrites the scores of centre 0.

    A running minimum over whole rows; for few centres that is several times faster than argmin.
    """
    best = scores[:, 0]
    label = np.zeros(best.shape, dtype=np.uint8)
    lower = np.empty(best.shape, dtype=bool)
    raised = lower.view(np.uint8)
    for j in range(1, scores.shape[1]):
        np.less(scores[:, j], best, out=lower)
        np.minimum(scores[:, j], best, out=best)
        np.multiply(raised, np.uint8(j), out=raised)  # j where centre j is nearer than all before it, else 0
        np.maximum(raised, label, out=label)
    return label


def _lloyd(
    cells: _Cells, starts: Floats, *, box: tuple[Floats, Floats], rounds: int, worth: float
) -> tuple[Floats, Floats]:
    """The best centres that each start passes through, and their costs.

    A start ends when its centres stand still, or when _PATIENCE rounds together lowered its cost by less than the
    fraction `worth`: with negative weights, centres may circle for ever.
    """
    still = _STILL * cells.spread
    best, lowest = starts.copy(), np.full(len(starts), np.inf)
    running, centres = np.arange(len(starts)), starts
    moved = np.full(len(starts), np.inf)
    history = np.full((len(starts), _PATIENCE), np.inf)
    for done in range(rounds + 1):
        sums = cells.sums(centres)
        costs = cells.costs(centres, sums)
        better = costs < lowest[running]
        best[running[better]], lowest[running[better]] = centres[better], costs[better]
        gain = history[running, done % _PATIENCE] - lowest[running]
        history[running, done % _PATIENCE] = lowest[running]
        go = (moved > still) & (gain > worth * np.abs(lowest[running]))
        if done == rounds or not go.any():
            break
        running, before = running[go], centres[go]
        centres = _update(before, sums[go], box)
        moved = np.sqrt(np.square(centres - before).sum(axis=2)).max(axis=1)
    return best, lowest


def _update(centres: Floats, sums: Floats, box: tuple[Floats, Floats]) -> Floats:
    net = sums[:, :, -1:]
    heavy = net > _LIGHT
    means = np.clip(sums[:, :, :-1] / np.where(heavy, net, 1.0), *box)
    return np.where(heavy, means, centres)


def _first_distinct(scores: Floats, count: int) -> NDArray[np.intp]:
    """The starts with the lowest costs, best first; of starts that ended at the same cost, one is enough."""
    order = np.argsort(scores, kind="stable")
    steps = np.diff(scores[order], prepend=-np.inf)
    distinct = order[steps > 1e-6 * np.ptp(scores)] if np.ptp(scores) > 0 else order[:1]
    return distinct[:count]


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
