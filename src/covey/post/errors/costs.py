"""What rows pay for centres, and between which two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from covey.post.distances import Floats, Objective, add_up, nearest
from covey.post.errors.boxes import CountedBoxes, chunks, spots
from covey.post.errors.mixture import Places
from covey.post.errors.quantiles import LEVEL, deviations

UNEVEN = 0.3  # of the difference between rows that are spread evenly in boxes and rows of the mixture
PLACE = 1.0  # of the variance of a cost when all rows of a box sit in one place
EDGE = 0.8  # of what rows would pay more if all of those in boxes at the domain's edge sat on it
TOGETHER = 0.1  # of that deviation, for boxes whose rows all sit on the same side
LEAST_ROWS = 60.0  # times the scale of the noise, for each centre: with fewer, intervals fail
WIDEST = 0.4  # of the cost: a half-width beyond says nothing
ON_EDGE = 0.1  # of the cost: where rows on the domain's edge would change it by more, it is not told either
WITHIN = 0.6  # of the cost: with more of it decided inside boxes, counts of boxes do not tell it
FEW = "there are too few rows for this level of privacy"
WIDE = "noise is as large as the cost at this level of privacy"
COARSE = "the cost is decided by where rows sit inside boxes that are counted as a whole"
_AT_ONCE = 16  # boxes are taken in parts that suit so many centres
Pay = Callable[[Floats], Floats]  # what a row at each of some points pays


class Cost(NamedTuple):
    """An estimated cost, and the ends of an interval that holds the true one nine times in ten.

    why : what keeps the interval from being told, which is then from nan to nan; None where it is told.
    """

    cost: float
    low: float
    high: float
    why: str | None = None


def cost_interval(
    boxes: CountedBoxes, places: Places, centres: Floats, objective: Objective, *, level: float = LEVEL
) -> Cost:
    """The cost of the rows for given centres, or why it cannot be told."""

    def pay(points: Floats) -> Floats:
        return what_is_paid(points, centres, objective)

    found = _estimate(boxes, places, pay, level=level)
    return _told(found, _why(boxes, found, pay, len(centres)))


def mean_interval(boxes: CountedBoxes, places: Places, pay: Pay, k: int, *, level: float = LEVEL) -> Cost:
    """What a row pays on average for k centres, or why that cannot be told.

    The number of rows comes from the same noisy counts as the cost. To first order the mean m of n rows is off by the
    sum of noise·(paid - m)/n over boxes: in a box whose rows pay the mean, noise moves cost and number alike.
    """
    found = _estimate(boxes, places, pay, level=level)
    why = _why(boxes, found, pay, k)
    if why is not None:
        return Cost(found.cost / boxes.rows if boxes.rows > 0 else math.nan, math.nan, math.nan, why)
    mean, half = found.cost / boxes.rows, found.half_of_rows / boxes.rows
    return Cost(mean, max(mean - half, 0.0), mean + half)


def _why(boxes: CountedBoxes, found: _Estimate, pay: Pay, k: int) -> str | None:
    """What keeps a cost from being told, if anything does."""
    sure = _sure(boxes)
    if _too_few(boxes, k):
        return FEW
    if float(sure @ pay(boxes.points)) < (1 - WITHIN) * float(sure @ found.even):
        return COARSE
    if found.half > WIDEST * min(found.cost, 1.15 * float(sure @ found.paid)):
        return WIDE
    return COARSE if abs(found.edge) > ON_EDGE * found.cost else None


def difference_interval(
    boxes: CountedBoxes, places: Places, centres: Floats, others: Floats, objective: Objective, *, level: float = LEVEL
) -> Cost:
    """By how much centres cost more than others, or why that cannot be told.

    Both costs come from the same counts, so that most of their noise cancels: what counts is by how much more a row in
    each box pays. The interval says nothing of what the two costs are.
    """

    def more(points: Floats) -> Floats:
        return what_is_paid(points, centres, objective) - what_is_paid(points, others, objective)

    found = _estimate(boxes, places, more, level=level)
    why = FEW if _too_few(boxes, max(len(centres), len(others))) else None
    return _told(found, why)


class _Estimate(NamedTuple):
    cost: float
    half: float  # of its interval
    half_of_rows: float  # of the interval of what a row pays, times their number
    paid: Floats  # by a row of each box, by the mixture
    even: Floats  # and if rows were spread evenly
    edge: float  # what rows would pay more if all in boxes at the domain's edge sat on it


def _estimate(boxes: CountedBoxes, places: Places, pay: Pay, *, level: float) -> _Estimate:
    """Each box's count times what a row there pays on average by the mixture, and how wrong that may be.

    By the noise of the counts; and by where in their boxes rows are: a part of what evenly spread rows would pay more,
    the deviation of a box's rows that all sit in one place, and a part of what rows on the domain's edge would pay.
    """
    paid = add_up(places.box, places.parts * pay(places.points), len(boxes.counts))
    cost = float(boxes.counts @ paid)
    even, spread = _evenly(boxes, pay)
    variance = (UNEVEN * (float(boxes.counts @ even) - cost)) ** 2
    variance += PLACE * max(float((boxes.counts**2 - boxes.variances) @ spread**2), 0.0)
    variance += (TOGETHER * float(boxes.counts @ spread)) ** 2
    edge = _on_the_edge(boxes, paid, pay)
    variance += (EDGE * edge) ** 2
    mean = cost / boxes.rows if boxes.rows > 0 else 0.0
    half, half_of_rows = (
        _half(boxes.variances * np.square(paid - each), variance, level=level) for each in (0.0, mean)
    )
    return _Estimate(cost, half, half_of_rows, paid, even, edge)


def _half(noise: Floats, other: float, *, level: float) -> float:
    """The half-width of an interval: of noise with these variances, in one box each, and of another deviation."""
    variance = float(noise.sum()) + other
    draws = variance**2 / max(float(np.square(noise).sum()), 1e-300)
    return float(deviations(level, np.array([draws]))[0]) * variance**0.5


def _told(found: _Estimate, why: str | None) -> Cost:
    if why is not None:
        return Cost(found.cost, math.nan, math.nan, why)
    return Cost(found.cost, found.cost - found.half, found.cost + found.half)


def _too_few(boxes: CountedBoxes, k: int) -> bool:
    return boxes.rows < LEAST_ROWS * k * float(boxes.scales.min())


def _sure(boxes: CountedBoxes) -> Floats:
    """The counts that stand out of the noise, and no others."""
    return np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0)


def what_is_paid(points: Floats, centres: Floats, objective: Objective) -> Floats:
    """By a row at each of the points."""
    squares = np.square(points - centres[nearest(points, centres)]).sum(axis=1)
    return squares if objective == "k-means" else np.sqrt(squares)


def _evenly(boxes: CountedBoxes, pay: Pay) -> tuple[Floats, Floats]:
    """What a row pays on average, and its deviation, in each box if rows were spread evenly in it."""
    within = spots(boxes.dimension, len(boxes.counts))
    mean, deviation = np.empty(len(boxes.counts)), np.empty(len(boxes.counts))
    for part in chunks(len(boxes.counts), _AT_ONCE * len(within)):
        points = boxes.points[part, None, :] + boxes.widths[part, None, :] * within
        paid = pay(points.reshape(-1, boxes.dimension)).reshape(len(points), -1)
        mean[part], deviation[part] = paid.mean(axis=1), paid.std(axis=1)
    return mean, deviation


def _on_the_edge(boxes: CountedBoxes, paid: Floats, pay: Pay) -> float:
    """What rows would pay more if all of those in boxes at the domain's edge sat on it, spread evenly along it.

    Of what exceeds the thresholds of boxes: in others, wide and far away, that would be noise.
    """
    which = np.flatnonzero(boxes.sides.any(axis=1) & (boxes.counts > boxes.thresholds))
    side, some = boxes.sides[which, None, :], boxes.some(which)
    within = np.where(side != 0, side / 2, spots(boxes.dimension, len(boxes.counts)))
    points = some.points[:, None, :] + some.widths[:, None, :] * within
    there = pay(points.reshape(-1, boxes.dimension)).reshape(within.shape[:2]).mean(axis=1)
    return float((some.counts - some.thresholds) @ (there - paid[which]))
