"""How far centres may be off, from reruns of the whole fit on made-up rows: where they land again, and what they cost.

The rows are made up of what was released: the boxes that stand out, and about them what light boxes have together, with
rows where the mixture puts them. Fits leave light boxes out, and are off by that: reruns on rows without them were not,
and said so. A rerun cannot know of a cluster that the noise has hidden: all here holds "if no cluster was missed".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr, ndtri
from scipy.stats import f as f_distribution

from covey.post.distances import Floats, Objective, add_up, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import what_is_paid
from covey.post.errors.mixture import Mixture, box_parts, box_shares, fit_mixture, likely_places
from covey.post.errors.quantiles import LEVEL
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import plus_plus

RERUNS = 10
MOST_ROWS = 100_000  # that are made up; of more rows, each stands for several and the noise is as much smaller
MOST_COUNTED = 1e30  # rows that boxes may have: squares of more overflow
FARTHEST = 0.2  # a tenth of the domain: a radius beyond is no place
WITHIN = 0.15  # of the variance of a box's width: what reruns on rows of one mixture do not see of a place
BIAS = 2.0  # times the square of how far all reruns are off together: of light boxes they know but a part
EDGE = 0.5  # of how far a centre moves if all rows in boxes at the domain's edge sit on it: nor do they see that
IN_COST = 1 / 6  # of what they do not see: centres are off together, and their costs less than each could be
SAFETY = 1.5  # on the excess: made-up rows are easier to cluster than real ones
BANDS = 8  # of light boxes about a centre, each twice as far as the one before, by squares
_UPPER = 1.28  # the 90% quantile of a normal distribution


class Reruns(NamedTuple):
    """radii : for each centre, nan where its place is not determined. excess : a bound on the extra cost."""

    radii: Floats
    excess: float


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

    def rows(self, rng: np.random.Generator, *, part: float = 1.0) -> Floats:
        """One set of made-up rows, or about a part of it."""
        boxes, mixture = self.boxes, self.mixture
        many = np.floor(boxes.counts * part + rng.random(len(boxes.counts))).astype(np.int64)
        box = np.repeat(np.arange(len(many)), many)
        near, chances, even = box_parts(boxes, mixture)
        ends = np.cumsum(np.concatenate([chances, even[:, None]], axis=1), axis=1)
        drawn = rng.random(len(box)) * ends[box, -1]
        column = (drawn[:, None] > ends[box]).sum(axis=1)
        places = rng.random((len(box), boxes.dimension))
        lower, upper = boxes.points - boxes.widths / 2, boxes.points + boxes.widths / 2
        rows = lower[box] + boxes.widths[box] * places
        some = np.flatnonzero(column < near.shape[1])
        which = near[box[some], column[some]]
        mean, deviation = mixture.means[which], mixture.deviations[which]
        low, high = ((ends[box[some]] - mean) / deviation for ends in (lower, upper))
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
    best = _best(points, weights, centres, objective, rng)
    least = max(float(weights @ what_is_paid(points, best, objective)), 1e-300)
    part = min(1.0, MOST_ROWS / max(boxes.rows, 1.0))
    found = [again(made.rows(rng, part=part), 1 / part, int(rng.integers(2**31))) for _ in range(RERUNS)]
    extra = [float(weights @ what_is_paid(points, each, objective)) / least - 1 for each in found]
    moved = np.stack([each[_matched(best, each)] - best for each in found])
    rows, unseen, edge = _unseen(boxes, centres)
    away = IN_COST * float(rows @ unseen) * boxes.dimension / least
    if objective == "k-median":
        away *= float(weights.sum()) / (2 * least)  # of distances: the square over twice the usual distance
    return Reruns(_radii(unseen + edge, moved), _bound(extra) + SAFETY * away)


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


def _unseen(boxes: CountedBoxes, centres: Floats) -> tuple[Floats, Floats, Floats]:
    """The rows of each centre, and two variances of its place, along each axis, that no rerun sees.

    Where in their boxes rows really are: a part of the variance of a row that is anywhere in a box of that width, and
    of how far the centre is off if rows in boxes at the domain's edge all sit on it.
    """
    k, kept = len(centres), boxes.some(boxes.stands)
    label, weight = nearest(kept.points, centres), np.maximum(kept.counts, 0.0)
    rows = add_up(label, weight, k)
    shifts = weight[:, None] * boxes.sides[boxes.stands] * kept.widths / 2
    sums = [
        add_up(label, weight * np.square(kept.widths).mean(axis=1), k),
        *(add_up(label, each, k) for each in shifts.T),
    ]
    widths, *off = (each / np.maximum(rows, 1.0) for each in sums)
    return rows, WITHIN * widths / 12, EDGE**2 * np.square(off).sum(axis=0)


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
    radius = np.sqrt(d * f_distribution.ppf(LEVEL, d, many) * np.linalg.eigvalsh(total)[:, -1])
    return np.where(radius <= FARTHEST, radius, np.nan)


def _bound(extra: Sequence[float]) -> float:
    """Above the extra cost nine times in ten, by a lognormal law of the reruns' own or the largest, and for safety."""
    logs = np.log(np.maximum(extra, 1e-5))
    law = np.exp(logs.mean() + _UPPER * logs.std(ddof=1) * np.sqrt(1 + 1 / len(extra)))
    return float(SAFETY * min(law, np.exp(logs.max())))
