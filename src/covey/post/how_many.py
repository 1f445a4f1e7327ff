"""How many clusters weighted points with noise show. Free: it never sees rows.

The jump method (Sugar and James 2003): let W(k) be the least k-means cost. On rows spread evenly over d dimensions W(k)
falls like k^(-2/d), so that W(k)^(-d/2) grows in a straight line through the origin, by W(k)^(-d/2)/k a step; where
the k-th centre finds a cluster of its own it jumps. `strength` is the jump in such steps: about 1 wherever nothing
is to be found, and about the same at all k on rows that fill fewer dimensions. So a jump tells something only where it
is several times as strong as most, and where it stays when the noise is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats
from covey.post.kmeans import Clustering, weighted_kmeans
from covey.post.starts import plus_plus

STARTS = 4
REDRAWS = 6
CLEAR = 2.2  # times the usual strength: what even rows seldom reach
HIGHEST = 0.85  # of k, which no strength exceeds: that is clear too, though for k = 2 it is no multiple of the usual
ALIKE = 0.5  # of the highest jump: another k that fits about equally well
AGREE = 0.6  # of the redraws that must find the same k, or a neighbour of it
POINTS = 4  # that stand out, for each cluster: of fewer, each may be a cluster, and noise alone makes some
FEWEST = 12  # values of k that are looked at, or "most" means little


@dataclass(frozen=True, eq=False)
class Evidence:
    """Weighted points, with columns scaled as distances are measured, that noise of a known deviation is in."""

    points: Floats  # m x d
    weights: Floats  # m: of either sign
    spreads: Floats  # m: the mean square of the rows about their point
    deviations: Floats  # m: of the noise in `weights`
    thresholds: Floats  # m: a weight above it stands out of the noise
    dimension: float  # of what rows can fill

    def standing(self, weights: Floats) -> NDArray[np.bool_]:
        return weights > self.thresholds


class Answer(NamedTuple):
    """k : the number that fits best, None if that cannot be told; `likeliest` is a guess then.

    low, high : between which others fit nearly as well. centres : those found for each k that was asked. more : whether
    still more clusters than were asked for fit better.
    """

    k: int | None
    likeliest: int
    low: int | None
    high: int | None
    centres: dict[int, Floats]
    more: bool


def how_many(evidence: Evidence, least: int, most: int, rng: np.random.Generator) -> Answer:
    """The number of clusters from `least` (2 or more) to `most` that fits best, or that this cannot be told."""
    standing = evidence.standing(evidence.weights)
    ks = np.arange(1, min(max(most + 2, FEWEST), int(standing.sum()) // POINTS) + 1)
    if len(ks) < max(least, 3):
        return Answer(None, least, None, None, {}, more=False)
    costs, centres = _curve(evidence, evidence.weights, ks, rng)
    asked = slice(least - 2, most - 1)  # of jumps, the first of which is that to k = 2
    jumps, strengths = jump_sizes(costs, evidence.dimension)
    best = int(jumps[asked].argmax()) + least
    again = [_redrawn(evidence, ks, centres, asked, rng) + least for _ in range(REDRAWS)]
    usual, highest = max(float(np.median(strengths)), 0.5), int(jumps.argmax()) + 2
    clear, higher = (strengths[k - 2] >= min(CLEAR * usual, HIGHEST * k) for k in (best, highest))
    found = {int(k): each for k, each in zip(ks, centres, strict=True) if least <= k <= most}
    more = bool(higher) and highest > most
    if not clear or np.mean(np.abs(np.array(again) - best) <= 1) < AGREE:
        return Answer(None, best, None, None, found, more)
    alike = [best, *again, *(np.flatnonzero(jumps[asked] >= ALIKE * jumps[best - 2]) + least)]
    return Answer(best, best, int(min(alike)), int(max(alike)), found, more)


def jump_sizes(costs: Floats, dimension: float) -> tuple[Floats, Floats]:
    """The jump to each k from 2 on, in units of that to 1; and each in steps of a straight line through the origin."""
    ks, ratios = np.arange(2, len(costs) + 1), np.maximum(costs, 1e-300) / max(float(costs[0]), 1e-300)
    heights = np.maximum(ratios, 1e-12) ** (-dimension / 2)
    jumps = np.diff(heights)
    return jumps, ks * jumps / heights[1:]


def _curve(
    evidence: Evidence, weights: Floats, ks: NDArray[np.intp], rng: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    kept = evidence.standing(weights)
    points, heavy = evidence.points[kept], weights[kept]
    within = float(heavy @ evidence.spreads[kept])
    found = [_cluster(points, heavy, plus_plus(points, heavy, int(k), starts=STARTS, rng=rng), int(k) + 5) for k in ks]
    return np.array([each.cost for each in found]) + within, [each.centres for each in found]


def _redrawn(
    evidence: Evidence, ks: NDArray[np.intp], centres: list[Floats], asked: slice, rng: np.random.Generator
) -> int:
    """The highest jump when what stands out gets noise once more, each k starting from the centres it had."""
    noise = rng.laplace(size=len(evidence.weights)) * evidence.deviations / np.sqrt(2)
    weights = np.where(evidence.standing(evidence.weights), evidence.weights, 0.0) + noise
    kept = evidence.standing(weights)
    if kept.sum() <= len(ks):
        return 0
    points, heavy = evidence.points[kept], weights[kept]
    within = float(heavy @ evidence.spreads[kept])
    costs = np.array([_cluster(points, heavy, each[None], 0).cost for each in centres]) + within
    return int(jump_sizes(costs, evidence.dimension)[0][asked].argmax())


def _cluster(points: Floats, weights: Floats, starts: Floats, swaps: int) -> Clustering:
    ends = {"lower": points.min(axis=0), "upper": points.max(axis=0)}
    return weighted_kmeans(points, weights, k=starts.shape[1], starts=starts, swaps=swaps, **ends)
