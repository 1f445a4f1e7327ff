"""From the noisy histogram of one level to boxes that stand out of its noise, large where little does. Free.

Everything here is a function of one level's own noisy counts and of public numbers. A level that was chosen in advance
is therefore as private as its own noise: no other level takes part (levels.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.mixture import ROUNDS, Mixture, Places, fit_mixture, misfit
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.random import public_rng
from covey.post.starts import plus_plus

Floats = NDArray[np.float64]
STRICTNESS = 1.0  # times the largest noise that all boxes of a size have among them: more is worth cutting for
LEAF_STRICTNESS = 0.8  # times the largest noise that the boxes which are left have among them: more stands out
MOST_BOXES = 3072  # that stand out: with more, boxes are cut for heavier ones only, so that a level is quickly drawn
_HALF = 0.12  # the epsilon at which half as many may: a less private level shows more, however many rows there are
NARROW = 1 / 16  # of the cube: a wider box at the edge holds more than the rows that were moved there
_STRICTER = 1.04
_STARTS, _BUCKETS, _POLISH = 5, 512, 2  # of the search: a slider waits for it
_ROUNDS = 50  # from the middles of boxes to where their rows probably are
_BADLY = 200.0  # times what noise and chance explain: of counts that are more off, one bell for each centre says little
_TOWNS, _FOR_A_TOWN = 40, 4  # bells instead, at most, and how many boxes there must be for each


@dataclass(frozen=True, eq=False)
class Layer:
    """The boxes of one size: arrays of d axes, each as long as there are boxes along it."""

    counts: Floats
    variances: Floats
    widest: Floats  # the largest scale of the noise of any cell in it

    def halved(self) -> Layer:
        """Boxes twice as wide."""
        return Layer(_joined(self.counts, np.sum), _joined(self.variances, np.sum), _joined(self.widest, np.max))

    def largest_noise(self, among: int) -> Floats:
        """About the largest noise that `among` boxes like each of these have among them.

        The largest of L sums of Laplace noise is about sqrt(2·variance·ln L) for wide sums and scale·ln L for single
        cells: the larger of the two.
        """
        log = np.log(max(4, among))
        return np.maximum(np.sqrt(2 * log) * np.sqrt(self.variances), self.widest * log)


def _joined(values: NDArray[Any], how: Callable[..., Any]) -> NDArray[Any]:
    """The sum (or maximum, or any) of each 2 x ... x 2 boxes."""
    d = values.ndim
    parts = values.reshape([part for side in values.shape for part in (side // 2, 2)])
    return np.asarray(how(parts, axis=tuple(range(1, 2 * d, 2))))


def _spread(values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Every box's value for each of its halves."""
    for axis in range(values.ndim):
        values = np.repeat(values, 2, axis=axis)
    return values


def most_boxes(strength: float) -> int:
    """How many boxes of a level may stand out, by the epsilon of its own noise: it ascends from level to level."""
    return max(1, round(MOST_BOXES * strength / (strength + _HALF)))


def boxes_of(fine: Layer, *, whole: float, whole_variance: float, most: int = MOST_BOXES) -> CountedBoxes:
    """The coarsest boxes in which everything that stands out of the noise has a box of its own.

    fine : the cells of the grid, a power of two along each axis. A box is cut into 2^d halves if any box within it
    stands out. whole : a noisy number of all rows, and the variance of its noise, for the case that nothing does: then
    the whole cube is one box.
    """
    layers = [fine]
    while layers[-1].counts.shape[0] > 1:
        layers.append(layers[-1].halved())
    layers.reverse()
    times = [layer.counts / layer.largest_noise(layer.counts.size) for layer in layers]
    strictness = STRICTNESS
    while True:
        cut = _cut([each > strictness for each in times])
        leaf = [~each if j == 0 else ~each & _spread(cut[j - 1]) for j, each in enumerate(cut)]
        among = sum(int(each.sum()) for each in leaf)  # next to what stands out: fewer to be taken in by than all boxes
        thresholds = [LEAF_STRICTNESS * layer.largest_noise(among) for layer in layers]
        found = zip(layers, leaf, thresholds, strict=True)
        if sum(int((layer.counts > least)[there].sum()) for layer, there, least in found) <= most:
            break
        strictness *= _STRICTER
    if leaf[0].any():
        one, edge = np.ones(1), np.zeros((1, fine.counts.ndim))
        scale = math.sqrt(whole_variance / 2) * one
        return CountedBoxes(edge, edge + 2, max(whole, 1.0) * one, whole_variance * one, 0 * one, scale)
    parts = [_found(*each) for each in zip(layers, leaf, thresholds, strict=True)]
    return CountedBoxes(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _cut(stands: list[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """Which boxes have a box within them that stands out, whole cube first."""
    cut = [np.zeros(stands[-1].shape, dtype=np.bool_)]
    for each in reversed(stands[1:]):
        cut.append(_joined(each | cut[-1], np.any).astype(np.bool_))
    return cut[::-1]


def _found(layer: Layer, there: NDArray[np.bool_], thresholds: Floats) -> tuple[Floats, ...]:
    per_axis = layer.counts.shape[0]
    points = (2.0 * np.stack(np.nonzero(there), axis=1) + 1) / per_axis - 1
    variances, least = layer.variances[there], thresholds[there]
    scales = np.maximum(layer.widest[there], variances / least)  # of a sum: its tail beyond the threshold is lighter
    return points, np.full(points.shape, 2 / per_axis), layer.counts[there], variances, least, scales


def at_edge(boxes: CountedBoxes, reach: Floats) -> NDArray[np.bool_]:
    """The narrow boxes at the edge of the domain: what lies outside the bounds was moved into them."""
    touches = (np.abs(boxes.points) + boxes.widths / 2 >= reach * (1 - 1e-9)).any(axis=1)
    return np.asarray(touches & (boxes.widths.min(axis=1) <= NARROW))


def quick_clusters(points: Floats, weights: Floats, k: int, objective: str) -> Floats:
    """k centres of points in the cube [-1, 1]^d with positive weights: the same ones for the same points.

    k-median starts from the centres of k-means and moves few of them elsewhere: a fraction of a second.
    """
    edge = np.ones(points.shape[1])
    starts = plus_plus(points, weights, k, starts=_STARTS, rng=public_rng(0))
    found = weighted_kmeans(
        points, weights, k=k, lower=-edge, upper=edge, starts=starts, coarse=_BUCKETS, polish=_POLISH, swaps=k + 10
    )
    if objective == "k-means":
        return found.centres
    return weighted_kmedian(
        points,
        weights,
        k=k,
        lower=-edge,
        upper=edge,
        starts=found.centres[None],
        rounds=20,
        coarse=_BUCKETS,
        polish=1,
        swaps=6 if k <= 20 else 3,
    ).centres


def closer(boxes: CountedBoxes, taken: NDArray[np.bool_], mixture: Mixture) -> Mixture:
    """A mixture that says where in boxes rows are, or one of more bells that says it much better.

    A centre of a country has many towns, and a bell as wide as the country says nothing of where in its box a town is;
    a bell of its own does, by what the boxes around have of it. Where the first mixture explains the counts tolerably
    it stays: more bells than there are groups would follow the noise.
    """
    k, many = len(mixture.means), min(_TOWNS, int(taken.sum()) // _FOR_A_TOWN)
    if many < 2 * k or (before := misfit(boxes, mixture)) < _BADLY:
        return mixture
    towns = quick_clusters(boxes.points[taken], boxes.counts[taken], many, "k-means")
    found = fit_mixture(boxes, towns, rounds=2 * ROUNDS, narrow=True)
    return found if misfit(boxes, found) < before / 2 else mixture


def refined(boxes: CountedBoxes, taken: NDArray[np.bool_], places: Places, centres: Floats) -> Floats:
    """Centres of k-means moved to where the rows of the boxes taken probably are, which need not be their middles."""
    edge, counted = np.ones(boxes.dimension), taken[places.box]
    weights = places.parts * boxes.counts[places.box]
    return weighted_kmeans(
        places.points[counted],
        weights[counted],
        k=len(centres),
        lower=-edge,
        upper=edge,
        starts=centres[None],
        rounds=_ROUNDS,
        swaps=0,
    ).centres
