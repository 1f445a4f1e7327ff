"""What rows pay for centres, and between which two numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from covey.post.distances import Floats, Objective, add_up, nearest
from covey.post.errors.boxes import CountedBoxes, chunks, spots
from covey.post.errors.mixture import Places
from covey.post.errors.quantiles import LEVEL, deviations

UNEVEN = 0.3  # of the difference between rows that are spread evenly in boxes and rows of the mixture
PLACE = 1.0  # of the variance of a cost when all rows of a box sit in one place
TOGETHER = 0.1  # of that deviation, for boxes whose rows all sit on the same side
LEAST_ROWS = 60.0  # times the scale of the noise, for each centre: with fewer, intervals fail
WIDEST = 0.4  # of the cost: a half-width beyond says nothing
WITHIN = 0.6  # of the cost: with more of it decided inside boxes, counts of boxes do not tell it
FEW = "there are too few rows for this level of privacy"
WIDE = "noise is as large as the cost at this level of privacy"
COARSE = "the cost is decided by where rows sit inside boxes that are counted as a whole"


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
    """The cost of the rows for given centres, or why it cannot be told.

    Each box's count times what a row there pays on average by the mixture; its noise; and how wrong the mixture may be
    about where in their boxes rows are: by a part of what evenly spread rows would pay more, and by the deviation of
    a box's rows that all sit in one place.
    """
    paid = add_up(places.box, places.parts * what_is_paid(places.points, centres, objective), len(boxes.counts))
    cost = float(boxes.counts @ paid)
    even, spread = _evenly(boxes, centres, objective)
    noise = boxes.variances * paid**2
    variance = float(noise.sum()) + (UNEVEN * (float(boxes.counts @ even) - cost)) ** 2
    variance += PLACE * max(float((boxes.counts**2 - boxes.variances) @ spread**2), 0.0)
    variance += (TOGETHER * float(boxes.counts @ spread)) ** 2
    draws = variance**2 / max(float(np.square(noise).sum()), 1e-300)
    half = float(deviations(level, np.array([draws]))[0]) * variance**0.5
    sure = np.where(boxes.stands, np.maximum(boxes.counts, 0.0), 0.0)
    why = None
    if boxes.rows < LEAST_ROWS * len(centres) * float(boxes.scales.min()):
        why = FEW
    elif half > WIDEST * min(cost, 1.15 * float(sure @ paid)):
        why = WIDE
    elif float(sure @ what_is_paid(boxes.points, centres, objective)) < (1 - WITHIN) * float(sure @ even):
        why = COARSE
    return Cost(cost, cost - half, cost + half) if why is None else Cost(cost, math.nan, math.nan, why)


def what_is_paid(points: Floats, centres: Floats, objective: Objective) -> Floats:
    """By a row at each of the points."""
    squares = np.square(points - centres[nearest(points, centres)]).sum(axis=1)
    return squares if objective == "k-means" else np.sqrt(squares)


def _evenly(boxes: CountedBoxes, centres: Floats, objective: Objective) -> tuple[Floats, Floats]:
    """What a row pays on average, and its deviation, in each box if rows were spread evenly in it."""
    within = spots(boxes.dimension, len(boxes.counts))
    mean, deviation = np.empty(len(boxes.counts)), np.empty(len(boxes.counts))
    for part in chunks(len(boxes.counts), len(centres) * len(within)):
        points = boxes.points[part, None, :] + boxes.widths[part, None, :] * within
        paid = what_is_paid(points.reshape(-1, boxes.dimension), centres, objective).reshape(len(points), -1)
        mean[part], deviation[part] = paid.mean(axis=1), paid.std(axis=1)
    return mean, deviation
