"""Where in a box its rows are: a mixture of k Gaussians and an even background, fitted to noisy counts of boxes.

The middle of a box is far from where its rows are when the box is wide and a cluster sits at its edge; midpoints with
signed counts overstate a cost by a third. The mixture, fitted by EM to the counts alone, says where they probably are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from covey.post.distances import Floats, add_up, add_up_each, blocks, nearest, nearest_with_squares
from covey.post.errors.boxes import CountedBoxes, chunks
from covey.post.random import public_rng
from covey.post.threads import in_order

ROUNDS = 15
MOST_BOXES = 2**13  # that a mixture is fitted to
NEAREST = 6  # Gaussians that may have rows in a box; farther ones have none
_BACKGROUND = (0.002, 0.02, 0.3)  # least, first and most share of the even background
_STILL, _STILL_NARROW = 1e-2, 1e-3  # of the smallest deviation: when no Gaussian moves or widens by more, it is done
_NARROW, _NARROWEST = 1 / 4, 1 / 16  # of the narrowest box: the least deviation
_ADDED, _LIKELY = 30.0, 1 / 3  # rows that say how wide a Gaussian is before any others do, and what they say
_STEP = 1.6  # a deviation changes by at most this factor in a round
_LOOK_AGAIN = 5  # rounds until the nearest Gaussians are looked for again
_SMALL = 0.5  # of the deviation of the Gaussian next to a box: one place stands for it
_AT_ONCE = 16  # numbers for each box: so many of them are worked on at once that all stay in the cache
_ROOT = float(np.sqrt(2 * np.pi))
_LEAST_SHARE = 0.01  # of a box's rows: a Gaussian with less is left out there
_PER_AXIS = {1: 9, 2: 3, 3: 2, 4: 2}  # places for each Gaussian and box, by dimension


@dataclass(frozen=True, eq=False)
class Mixture:
    """k Gaussians with a deviation for each axis, and an even background."""

    shares: Floats  # k
    means: Floats  # k x d
    deviations: Floats  # k x d
    background: float


class Places(NamedTuple):
    """Places in boxes, and the part of its box's rows that each stands for."""

    points: Floats
    parts: Floats
    box: NDArray[np.intp]

    def means(self, boxes: int) -> Floats:
        """Where the rows of each of so many boxes are on average."""
        return np.stack([add_up(self.box, self.parts * along, boxes) for along in self.points.T], axis=1)


class _Moments(NamedTuple):
    mass: Floats
    mean: Floats
    variance: Floats


def fit_mixture(
    boxes: CountedBoxes, centres: Floats, *, rounds: int = ROUNDS, most: int = MOST_BOXES, narrow: bool = False
) -> Mixture:
    """The mixture that explains the counts, from one Gaussian at each centre. Signed counts: their noise cancels.

    A Gaussian whose rows do not exceed twice their noise stays as it is. narrow : for clusters narrower than a box,
    whose place in it the few rows in the next boxes tell. How wide they are is then often open: a few rows are added
    that say a third of a box.
    """
    boxes = _some(boxes, most)
    volume = np.prod(boxes.widths / 2, axis=1)
    total, k = max(boxes.rows, 1.0), len(centres)
    near = np.empty((0, 0), dtype=np.intp)
    box = float(boxes.widths.min())
    found, smallest = _first(boxes, centres), max(box * (_NARROWEST if narrow else _NARROW), 1e-6)
    added = _ADDED if narrow else 0.0
    for turn in range(rounds):
        near = _near(boxes.points, found) if turn % _LOOK_AGAIN == 0 else near
        moments = _moments(boxes, found, near)
        mass = moments.mass.prod(axis=0) * found.shares[near]
        even = found.background * volume
        part = mass / (mass.sum(axis=0) + even + 1e-300)
        rows = part * boxes.counts
        noise = part**2 * boxes.variances
        number, noise, *firsts = _sums(near, [rows, noise, *(rows * along for along in moments.mean)], k)
        sure = (number > 2 * np.sqrt(noise))[:, None]
        each = np.maximum(number, 1.0)[:, None]
        means = np.stack(firsts, axis=1) / each
        reach = 2 * found.deviations
        means = np.where(sure, np.clip(means, centres - reach, centres + reach), found.means)
        away = moments.variance + np.square(moments.mean - means.T[:, near])
        squares = (_sums(near, [rows * along for along in away], k).T + added * (_LIKELY * box) ** 2) / (each + added)
        low, high = np.square(found.deviations / _STEP), np.square(found.deviations * _STEP)
        spread = np.where(sure, np.sqrt(np.clip(squares, low, high)), found.deviations)
        shares = np.maximum(number, 0.002 * total / k)
        left = 1 - part.sum(axis=0)
        background = float(np.clip(boxes.counts @ left / total, _BACKGROUND[0], _BACKGROUND[2]))
        before, spread = found, np.clip(spread, smallest, 1.0)
        found = Mixture(shares / shares.sum() * (1 - background), means, spread, background)
        moved = np.abs(np.concatenate([means - before.means, spread - before.deviations])).max()
        if moved < (_STILL_NARROW if narrow else _STILL) * float(spread.min()):
            break
    return found


def _some(boxes: CountedBoxes, most: int) -> CountedBoxes:
    """All boxes, or of more than `most` the heaviest and some others, each of which then counts for several."""
    many, half = len(boxes.counts), most // 2
    if many <= most:
        return boxes
    order = _heaviest_first(np.abs(boxes.counts))
    light = public_rng(many).choice(order[half:], half, replace=False)
    times = np.ones(many)
    times[light] = (many - half) / len(light)
    chosen = np.concatenate([order[:half], light])
    return boxes.counting(boxes.counts * times, boxes.variances * times**2).some(chosen)


def _heaviest_first(weights: Floats) -> NDArray[np.intp]:
    """The order of weights, of equal ones the first first. Whole numbers below 2^16, as most are, are sorted by digits,
    which takes a tenth of the time."""
    most = np.iinfo(np.uint16).max
    short = np.minimum(weights, most).astype(np.uint16)
    return np.argsort(most - short if np.array_equal(short, weights) else -weights, kind="stable")


def _first(boxes: CountedBoxes, centres: Floats) -> Mixture:
    k = len(centres)
    weights = np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0)
    label = nearest(boxes.points, centres)
    squares = np.square(boxes.points - centres[label]) + np.square(boxes.widths) / 12
    rows = add_up(label, weights, k)
    overall = max(float((weights @ squares).sum()) / max(float(weights.sum()), 1.0) / boxes.dimension, 1e-10)
    sums = np.stack([add_up(label, weights * column, k) for column in squares.T], axis=1)
    spread = np.where(rows[:, None] > 0, sums / np.maximum(rows, 1e-9)[:, None], overall)
    shares = np.maximum(rows, 1.0)
    background = _BACKGROUND[1]
    return Mixture(shares / shares.sum() * (1 - background), centres, np.sqrt(np.maximum(spread, 1e-10)), background)


def _near(points: Floats, mixture: Mixture) -> NDArray[np.intp]:
    """The Gaussians that are nearest to each box, by distance in their own deviations: a column for each box.

    Few are all near each, and told in one column for all.
    """
    k = len(mixture.means)
    if k <= NEAREST:
        return np.arange(k)[:, None]
    score = np.zeros((len(points), k))
    for axis in range(points.shape[1]):
        score += np.square((points[:, axis, None] - mixture.means[:, axis]) / mixture.deviations[:, axis])
    return np.ascontiguousarray(np.argpartition(score, NEAREST, axis=1)[:, :NEAREST].T)


def _sums(near: NDArray[np.intp], values: Sequence[Floats], k: int) -> Floats:
    """Of numbers of the Gaussians near each box, for each Gaussian: values x k."""
    return add_up_each(np.broadcast_to(near, values[0].shape).ravel(), [each.ravel() for each in values], k)


def _moments(boxes: CountedBoxes, mixture: Mixture, near: NDArray[np.intp]) -> _Moments:
    """Of the Gaussians near each box: axes x Gaussians x boxes, since numpy is quick along long rows."""
    middles, half = boxes.points.T.copy()[:, None], boxes.widths.T.copy()[:, None] / 2
    lower, upper = middles - half, middles + half
    means, deviations = mixture.means.T[:, near], mixture.deviations.T[:, near]

    def some(part: slice) -> _Moments:
        own = part if near.shape[1] > 1 else slice(None)
        return box_moments(lower[..., part], upper[..., part], means[..., own], deviations[..., own])

    found = in_order(some, blocks(len(boxes.counts), width=_AT_ONCE * len(near)))
    return _Moments(*(np.concatenate(each, axis=-1) for each in zip(*found, strict=True)))


def box_moments(lower: Floats, upper: Floats, means: Floats, deviations: Floats) -> _Moments:
    """Of each normal distribution within each box, axis by axis: its mass there, and its mean and variance there."""
    low, high, side = _lower_tail((lower - means) / deviations, (upper - means) / deviations)
    mass = ndtr(high) - ndtr(low)
    sure = np.maximum(mass, 1e-290)
    at_low, at_high = (np.exp(-0.5 * z * z) / _ROOT for z in (low, high))
    mean = np.clip((at_low - at_high) / sure, low, high)
    variance = np.clip(1 + (low * at_low - high * at_high) / sure - mean**2, 0.0, np.square(high - low) / 4)
    return _Moments(mass, means + deviations * (side * mean), deviations**2 * variance)


def _lower_tail(low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Ends of an interval, mirrored where it lies above the mean: differences are exact in the lower tail. And -1 where
    it was mirrored, else 1."""
    side: Floats = np.where(low > 0, -1.0, 1.0)
    one, other = side * low, side * high
    return np.minimum(one, other), np.maximum(one, other), side


def box_parts(boxes: CountedBoxes, mixture: Mixture) -> tuple[NDArray[np.intp], Floats, Floats]:
    """For each box the Gaussians near it, the part of its rows that each has there, and that of the background."""
    near, mass, even = _masses(boxes, mixture)
    total = mass.sum(axis=1) + even
    return near, mass / total[:, None], even / total


def box_shares(boxes: CountedBoxes, mixture: Mixture) -> Floats:
    """The part of all rows that each box has by the mixture."""
    _, mass, even = _masses(boxes, mixture)
    return np.asarray(mass.sum(axis=1) + even)


def misfit(boxes: CountedBoxes, mixture: Mixture) -> float:
    """How badly a mixture explains the counts: about 1 where nothing but noise and chance is left of them."""
    there = max(boxes.rows, 1.0) * box_shares(boxes, mixture)
    return float(np.mean(np.square(boxes.counts - there) / (boxes.variances + there)))


def mean_places(boxes: CountedBoxes, mixture: Mixture) -> Floats:
    """Where the rows of each box are on average."""
    near = _near(boxes.points, mixture)
    moments = _moments(boxes, mixture, near)
    mass = moments.mass.prod(axis=0) * mixture.shares[near]
    even = mixture.background * np.prod(boxes.widths / 2, axis=1) + 1e-300
    middles = zip(moments.mean, boxes.points.T, strict=True)
    sums = [(mass * along).sum(axis=0) + even * middle for along, middle in middles]
    return np.stack(sums, axis=1) / (mass.sum(axis=0) + even)[:, None]


def _masses(boxes: CountedBoxes, mixture: Mixture) -> tuple[NDArray[np.intp], Floats, Floats]:
    found = [_some_masses(boxes.some(some), mixture) for some in chunks(len(boxes.counts), NEAREST)]
    near, mass, even = (np.concatenate(each) for each in zip(*found, strict=True))
    return near, mass, even


def _some_masses(boxes: CountedBoxes, mixture: Mixture) -> tuple[NDArray[np.intp], Floats, Floats]:
    near = _near(boxes.points, mixture)
    means, deviations = mixture.means.T[:, near], mixture.deviations.T[:, near]
    ends = ((boxes.points + side * boxes.widths / 2).T[:, None] for side in (-1, 1))
    low, high, _ = _lower_tail(*((each - means) / deviations for each in ends))
    mass = (ndtr(high) - ndtr(low)).prod(axis=0) * mixture.shares[near]
    return np.broadcast_to(near, mass.shape).T, mass.T, mixture.background * np.prod(boxes.widths / 2, axis=1)


def likely_places(boxes: CountedBoxes, mixture: Mixture) -> Places:
    """Each box as a few places where its rows probably are. The parts of a box add up to 1.

    Of very many boxes, one that is small beside the Gaussian next to it is one place.
    """
    if len(boxes.counts) <= 2 * MOST_BOXES:
        return _several_places(boxes, mixture)
    own, _ = nearest_with_squares(boxes.points, mixture.means)
    each_axis = zip(boxes.widths.T, mixture.deviations.T, strict=True)
    small = np.logical_and.reduce([width <= _SMALL * deviation.take(own) for width, deviation in each_axis])
    one, rest = np.flatnonzero(small), np.flatnonzero(~small)
    found = Places(_one_place(boxes.points[one], boxes.widths[one], mixture), np.ones(len(one)), one)
    if len(rest) == 0:
        return found
    several = _several_places(boxes.some(rest), mixture)
    several = several._replace(box=rest[several.box])
    return Places(*(np.concatenate(both) for both in zip(found, several, strict=True)))


def _one_place(middles: Floats, widths: Floats, mixture: Mixture) -> Floats:
    """Where a row pays what those of a small box do on average, whatever that is, up to powers of the width w.

    Rows of density f are off the middle by w²/12·∇log f, and spread by w²/12 about that. Over all boxes the spread
    adds as much to what is paid as half of the way to their mean takes away (Stein's identity), and cancels that.
    """
    found = in_order(lambda part: _uphill(middles[part], mixture), blocks(len(middles), width=_AT_ONCE))
    return middles + np.square(widths) / 24 * np.concatenate([middles[:0], *found])  # of no boxes, none


def _uphill(middles: Floats, mixture: Mixture) -> Floats:
    """∇log f at some points."""
    points = np.ascontiguousarray(middles.T)  # axes x boxes, since numpy is quick along long rows
    density, slope = np.full(len(points.T), mixture.background / 2 ** len(points)), np.zeros(points.shape)
    for share, mean, deviation in zip(mixture.shares, mixture.means, mixture.deviations, strict=True):
        away = (mean[:, None] - points) / deviation[:, None]
        here = share / np.prod(deviation * _ROOT) * np.exp(-0.5 * sum(np.square(along) for along in away))
        density += here
        slope += away * (here / deviation[:, None])
    return (slope / density).T


def _several_places(boxes: CountedBoxes, mixture: Mixture) -> Places:
    lower, upper = boxes.points - boxes.widths / 2, boxes.points + boxes.widths / 2
    near, part, even = box_parts(boxes, mixture)
    box, column = np.nonzero(part > _LEAST_SHARE)
    which = near[box, column]
    low, high, side = _lower_tail(
        (lower[box] - mixture.means[which]) / mixture.deviations[which],
        (upper[box] - mixture.means[which]) / mixture.deviations[which],
    )
    below, above = ndtr(low), ndtr(high)
    rest = np.flatnonzero(even > _LEAST_SHARE)
    levels = _levels(boxes.dimension) if len(boxes.counts) <= 2 * MOST_BOXES else np.full((1, boxes.dimension), 0.5)
    points, parts, boxes_of = [], [], []
    for level in levels:
        z = np.clip(ndtri(np.maximum(below + level * (above - below), 1e-300)), low, high)
        points += [mixture.means[which] + mixture.deviations[which] * (side * z)]
        points += [lower[rest] + boxes.widths[rest] * level]
        parts += [part[box, column] / len(levels), even[rest] / len(levels)]
        boxes_of += [box, rest]
    owner, weight = np.concatenate(boxes_of), np.concatenate(parts)
    weight /= add_up(owner, weight, len(boxes.counts))[owner]
    return Places(np.concatenate(points), weight, owner)


def _levels(dimension: int) -> Floats:
    """Quantiles along the axes at which a distribution is read."""
    per_axis = _PER_AXIS.get(dimension, 2)
    axis = (np.arange(per_axis) + 0.5) / per_axis
    return np.stack([part.ravel() for part in np.meshgrid(*[axis] * dimension, indexing="ij")], axis=1)
