"""How far centres may be off, from reruns of the whole fit on made-up rows: where they land again, and what they cost.

The rows are made up of what was released: the boxes that stand out, and about them what light boxes have together, with
rows where the mixture puts them. Fits leave light boxes out, and are off by that: reruns on rows without them were not,
and said so. A rerun cannot know of a cluster that the noise has hidden: all here holds "if no cluster was missed".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr, ndtri
from scipy.stats import f as f_distribution

from covey.post.distances import Floats, Objective, add_up, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import LEAST_EXCESS, WIDEST, what_is_paid
from covey.post.errors.mixture import Mixture, Places, box_parts, box_shares, fit_mixture, likely_places
from covey.post.errors.quantiles import LEVEL
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import plus_plus

RERUNS = 10
MOST_ROWS = 100_000  # that are made up; of more rows, each stands for several and the noise is as much smaller
MOST_COUNTED = 1e30  # rows that boxes may have: squares of more overflow
FARTHEST = 0.2  # a tenth of the domain: a radius beyond is no place
WITHIN = 0.15  # of the variance of a box's width: what reruns on rows of one mixture do not see of a place
FINEST = 0.5  # of a box's width: rounded rows may all be on one side of their boxes, and no rerun sees that either
BIAS = 2.0  # times the square of how far all reruns are off together: of light boxes they know but a part
EDGE = 0.5  # of how far a centre moves if all rows in boxes at the domain's edge sit on it: nor do they see that
HIDDEN = 0.5  # of the variance that noise of all boxes gives a place: rows too few to stand out pull by about as much
SAFETY = 1.3  # on the excess: made-up rows are easier to cluster than real ones
MOST_EXCESS = 1.0  # a bound beyond says nothing: clusters are missed, and how many is not known
MOST_PLACES = 2**16  # that the best centres are looked for among
NARROW = 0.25  # deviations of a Gaussian: in a box no wider, its rows are made up evenly
BANDS = 8  # of light boxes about a centre, each twice as far as the one before, by squares
_UPPER = 1.28  # the 90% quantile of a normal distribution


class Reruns(NamedTuple):
    """radii : for each centre, nan where its place is not determined. excess : a bound on the extra cost, or None."""

    radii: Floats
    excess: float | None


Again = Callable[[Floats, float, int], Floats]  # rows, by how much epsilon grows, seed -> centres in [-1, 1]^d


@dataclass(frozen=True, eq=False)
class MadeUp:
    """What stands for the rows: boxes with whole numbers of them, and where in a box they are."""

    boxes: CountedBoxes  # those with rows, whose counts add up to all rows
    mixture: Mixture

    @classmethod
    def of(cls, boxes: CountedBoxes, centres: Floats) -> MadeUp:
        mixture = fit_mixture(boxes, centres)
        counts = np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0) + _light(boxes, mixture, centres)
        share = max(boxes.rows, 1.0) / max(float(counts.sum()), 1.0)
        some = counts > 0
        return cls(boxes.some(some).counting(counts[some] * share), mixture)

    @cached_property
    def ends(self) -> tuple[NDArray[np.intp], Floats, NDArray[np.bool_]]:
        """For each box the Gaussians near it, sums of the chances that a row is of one of the first of them or the
        background, and whether it has another density at one end of the box than at the other."""
        near, chances, even = box_parts(self.boxes, self.mixture)
        uneven = (self.boxes.widths[:, None] > NARROW * self.mixture.deviations[near]).any(axis=2)
        sums = np.cumsum(np.concatenate([chances, even[:, None]], axis=1), axis=1)
        return near, np.ascontiguousarray(sums.T), np.pad(uneven, ((0, 0), (0, 1)))

    def rows(self, rng: np.random.Generator, *, part: float = 1.0) -> Floats:
        """One set of made-up rows, or about a part of it."""
        boxes, mixture = self.boxes, self.mixture
        many = np.floor(boxes.counts * part + rng.random(len(boxes.counts))).astype(np.int64)
        box = np.repeat(np.arange(len(many)), many)
        near, ends, uneven = self.ends
        drawn = rng.random(len(box)) * ends[-1, box]
        column = sum((drawn > end[box] for end in ends), np.zeros(len(box), dtype=np.intp))
        places = rng.random((len(box), boxes.dimension))
        lower, upper = boxes.points - boxes.widths / 2, boxes.points + boxes.widths / 2
        rows = lower[box] + boxes.widths[box] * places
        some = np.flatnonzero(uneven[box, column])
        which = near[box[some], column[some]]
        mean, deviation = mixture.means[which], mixture.deviations[which]
        low, high = ((side[box[some]] - mean) / deviation for side in (lower, upper))
        flipped = low > 0
        low, high = np.where(flipped, -high, low), np.where(flipped, -low, high)
        below, above = ndtr(low), ndtr(high)
        z = np.clip(ndtri(np.maximum(below + places[some] * (above - below), 1e-300)), low, high)
        rows[some] = mean + deviation * np.where(flipped, -z, z)
        return np.clip(rows, -1.0, 1.0)


def _light(boxes: CountedBoxes, mixture: Mixture, centres: Floats) -> Floats:
    """The rows of boxes that do not stand out, one by one too few to be told from noise; 0 for those that do.

    The boxes in a band about a centre have rows together, in sum S with noise of variance V: S - V/S of them are taken,
    none where that is negative, and spread as the mixture has them, but no box gets so many that it would stand out.
    """
    k, heavy = len(centres), np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0)
    label = nearest(boxes.points, centres)
    away = np.square(boxes.points - centres[label]).sum(axis=1)
    squares = add_up(label, heavy * (away + np.square(boxes.widths).sum(axis=1) / 12), k)
    usual = np.maximum(squares / np.maximum(add_up(label, heavy, k), 1.0), 1e-12)
    band = np.clip(np.floor(np.log2(np.maximum(away / usual[label], 1e-12))) + 2, 0, BANDS - 1).astype(np.intp)
    group, many = label * BANDS + band, k * BANDS
    light = ~boxes.stands
    total, noise = (add_up(group, np.where(light, each, 0.0), many) for each in (boxes.counts, boxes.variances))
    shares = np.where(light, box_shares(boxes, mixture), 0.0)
    rows = np.where(total > 0, np.maximum(total - noise / np.maximum(total, 1.0), 0.0), 0.0)
    each = shares * (rows / np.maximum(add_up(group, shares, many), 1e-300))[group]
    return np.minimum(each, np.maximum(boxes.thresholds, 0.0))


def rerun(
    boxes: CountedBoxes, centres: Floats, objective: Objective, again: Again, *, rng: np.random.Generator
) -> Reruns | None:
    """Fit made-up rows again and again, and see how far the centres are from the best ones of those rows.

    None where no box has any.
    """
    made = MadeUp.of(boxes, centres)
    if not 0 < float(made.boxes.counts.sum()) < MOST_COUNTED:
        return None
    places = likely_places(made.boxes, made.mixture)
    points, weights = places.points, places.parts * made.boxes.counts[places.box]
    best = _best(*_fewer(places, made.boxes.counts), centres, objective, rng)
    least = max(float(weights @ what_is_paid(points, best, objective)), 1e-300)
    part = min(1.0, MOST_ROWS / max(boxes.rows, 1.0))
    found = [again(made.rows(rng, part=part), 1 / part, int(rng.integers(2**31))) for _ in range(RERUNS)]
    extra = [float(weights @ what_is_paid(points, each, objective)) / least - 1 for each in found]
    moved = np.stack([each[_matched(best, each)] - best for each in found])
    unseen = _unseen(boxes, centres)
    radii = np.maximum(_radii(unseen.variances, moved), FINEST * np.sqrt(unseen.squares))
    bound = _bound(extra, unseen, float(weights.sum()), least, objective)
    return Reruns(np.where(radii <= FARTHEST, radii, np.nan), bound)


def _fewer(places: Places, rows: Floats) -> tuple[Floats, Floats]:
    """Places with their rows, each for itself; or of very many, which boxes are small that have, one for each box."""
    if len(places.points) <= MOST_PLACES:
        return places.points, places.parts * rows[places.box]
    return places.means(len(rows)), rows


def _best(points: Floats, weights: Floats, centres: Floats, objective: Objective, rng: np.random.Generator) -> Floats:
    """The centres that made-up rows have without noise, each in the order of the released one that it stands for."""
    edge, k = np.ones(points.shape[1]), len(centres)
    search = weighted_kmeans if objective == "k-means" else weighted_kmedian
    starts = np.concatenate([centres[None], plus_plus(points, weights, k, starts=3, rng=rng)])
    found = search(points, weights, k=k, lower=-edge, upper=edge, starts=starts, swaps=k).centres
    return found[_matched(centres, found)]


def _matched(centres: Floats, others: Floats) -> Floats:
    """For each centre the other one that it is paired with, so that all distances together are smallest."""
    squares = np.square(centres[:, None] - others).sum(axis=2)
    return np.asarray(linear_sum_assignment(squares)[1])


class _Unseen(NamedTuple):
    """What no rerun sees: of each centre, and of sums over rows of squares of how far their centres are off."""

    squares: Floats  # the mean square of its boxes' widths
    variances: Floats  # of its place, along each axis
    heavy: float  # if the rows of each box all sit in one place of it
    hidden: float  # by the noise of all boxes
    sure: float  # to compare with: squares of how far rows that stand out are from their centres


def _unseen(boxes: CountedBoxes, centres: Floats) -> _Unseen:
    """Where in their boxes rows really are, whether those at the domain's edge all sit on it, and rows in light boxes.

    Light boxes have a part in made-up rows, but as the mixture spreads them: about the centre. Real ones may all be on
    one side. Means of all boxes would tell, up to their noise, and what exceeded it would stand out.
    """
    k, d, label = len(centres), boxes.dimension, nearest(boxes.points, centres)
    weight = np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0)
    rows = np.maximum(add_up(label, weight, k), 1.0)
    inside = np.square(boxes.widths).mean(axis=1)
    squares = add_up(label, weight * inside, k) / rows
    shifts = [add_up(label, weight * along, k) / rows for along in (boxes.sides * boxes.widths / 2).T]
    apart = np.square(boxes.points - centres[label]).mean(axis=1)
    heavy = add_up(label, np.square(weight) * inside / 12, k) / rows**2
    hidden = add_up(label, boxes.variances * apart, k) / rows**2
    variances = WITHIN * squares / 12 + EDGE**2 * np.square(shifts).sum(axis=0) + HIDDEN * hidden
    sure = float(weight @ (inside / 12 + apart))
    return _Unseen(squares, variances, d * float(rows @ heavy), d * float(rows @ hidden), d * sure)


def _bound(extra: Sequence[float], unseen: _Unseen, rows: float, least: float, objective: Objective) -> float | None:
    """What the extra cost stays below nine times in ten, as a part of the cost; None where noise leaves that open.

    It does where noise alone would move means of all boxes by more than a cost may be off that is told: more than that
    part of what rows in boxes that stand out pay. Of all, told would be bounds that noise has made large.
    """
    if unseen.hidden > WIDEST * unseen.sure:
        return None
    per_square = rows / (2 * least) if objective == "k-median" else 1.0  # a square over twice the usual distance
    bound = float(np.hypot(SAFETY * _law(extra) + unseen.heavy * per_square / least, LEAST_EXCESS))
    return bound if bound <= MOST_EXCESS else None


def _radii(unseen: Floats, moved: Floats) -> Floats:
    """A radius about each released centre that holds its place nine times in ten.

    Of B reruns the covariance about the best centre, with twice what they are off on average, half of it evened out
    over directions, and what they do not see; for the place itself d·F(d, B) of it.
    """
    many, _, d = moved.shape
    together = moved.mean(axis=0)
    spread = np.einsum("bki,bkj->kij", moved, moved) / many
    spread += (BIAS - 1) * np.einsum("ki,kj->kij", together, together)
    level = spread.trace(axis1=1, axis2=2) / d
    total = spread / 2 + (level / 2 + unseen)[:, None, None] * np.eye(d)
    return np.sqrt(d * f_distribution.ppf(LEVEL, d, many) * np.linalg.eigvalsh(total)[:, -1])


def _law(extra: Sequence[float]) -> float:
    """What the extra cost stays below nine times in ten, by a lognormal law of the reruns' own, or the largest."""
    logs = np.log(np.maximum(extra, 1e-5))
    law = np.exp(logs.mean() + _UPPER * logs.std(ddof=1) * np.sqrt(1 + 1 / len(extra)))
    return float(min(law, np.exp(logs.max())))
