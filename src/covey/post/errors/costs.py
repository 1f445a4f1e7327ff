"""What rows pay for centres, and between which two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, Objective, add_up, squared_lengths, squares_to_nearest
from covey.post.errors.boxes import CountedBoxes, Near, chunks, spots
from covey.post.errors.mixture import Places
from covey.post.errors.quantiles import LEVEL, deviations

UNEVEN = 0.3  # of the difference between rows that are spread evenly in boxes and rows of the mixture
TOWARDS = 0.1  # of it, that costs of centres take which were chosen on the same counts as the mixture is fitted to
PLACE = 1.0  # of the variance of a cost when all rows of a box sit in one place
EDGE = 0.8  # of what rows would pay more if all of those in boxes at the domain's edge sat on it
TOGETHER = 0.1  # of that deviation, for boxes whose rows all sit on the same side
POINT = 1e-5  # of half the domain: rows that a box so narrow stands out with are all the same
LEAST_EXCESS = 0.005  # of the cost: optima of k-means differ by about so much, and made-up rows do not have the same
LEAST_ROWS = 60.0  # times the scale of the noise, for each centre: with fewer, intervals fail
WIDEST = 0.35  # of what rows in boxes that stand out pay: a half-width beyond says nothing
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


class Paid(NamedTuple):
    """What a row pays at each of the points that a cost is told from."""

    middles: Floats  # of the boxes
    places: Floats
    spots: Floats  # spots x boxes: evenly spread in each box
    edge: Floats  # boxes at the domain's edge x spots: on that edge
    sides: Floats  # axes x 2 x boxes: on the upper and lower sides of boxes, where rows are known to be rounded

    @classmethod
    def of(
        cls, boxes: CountedBoxes, places: Places | None, pay: Pay, known: tuple[Floats, Floats] | None = None
    ) -> Paid:
        """Each point is asked for once. places : None if they are found meanwhile. known : `middles` and `spots`, if
        they are."""
        within, d = spots(boxes.dimension, len(boxes.counts)), boxes.dimension
        which = boxes.at_edge
        side, some = boxes.sides[which, None, :], boxes.some(which)
        points = some.points[:, None, :] + some.widths[:, None, :] * np.where(side != 0, side / 2, within)
        edge = pay(points.reshape(-1, d)).reshape(len(which), len(within))
        some = boxes.some(_rounded(boxes)[1])
        steps = np.multiply.outer([0.5, -0.5], some.widths)[None] * np.eye(d)[:, None, None, :]
        sides = pay((some.points + steps).reshape(-1, d)).reshape(d, 2, -1)
        middles, even = (pay(boxes.points), _evenly(boxes, within, pay)) if known is None else known
        return cls(middles, np.empty(0) if places is None else pay(places.points), even, edge, sides)

    def roots(self) -> Paid:
        """Of squares, the distances."""
        return Paid(*map(np.sqrt, self))


def _evenly(boxes: CountedBoxes, within: Floats, pay: Pay) -> Floats:
    """What is paid at places that are evenly spread in each box: places x boxes."""
    even = np.empty((len(within), len(boxes.counts)))
    middles, widths = boxes.points.T.copy(), boxes.widths.T.copy()  # numpy is quick along long rows
    for part in chunks(len(boxes.counts), _AT_ONCE * len(within)):
        points = middles[:, None, part] + widths[:, None, part] * within.T[:, :, None]
        even[:, part] = pay(points.reshape(boxes.dimension, -1).T).reshape(len(within), -1)
    return even


def squares_paid(
    boxes: CountedBoxes, places: Places | None, centres: Floats, known: tuple[Floats, Floats] | None = None
) -> Paid:
    """The squares of distances, which every objective is told from. known : `squares_in_boxes`, if they are."""
    known = squares_in_boxes(boxes, centres, boxes.near(centres)) if known is None else known
    return Paid.of(boxes, places, lambda points: squares_to_nearest(points, centres), known)


def squares_in_boxes(boxes: CountedBoxes, centres: Floats, near: Near) -> tuple[Floats, Floats]:
    """Those at the middles of boxes and evenly spread in them: all of a box that no border cuts is nearest to the
    centre of its middle."""
    within = spots(boxes.dimension, len(boxes.counts))
    even, gap = np.zeros((len(within), len(boxes.counts))), np.empty(len(boxes.counts))
    for axis, (middle, width) in enumerate(zip(boxes.points.T.copy(), boxes.widths.T.copy(), strict=True)):
        own = centres[:, axis].take(near.label)
        for squares, step in zip(even, within[:, axis], strict=True):
            np.add(np.multiply(width, step, out=gap), middle, out=gap)
            squares += np.square(np.subtract(gap, own, out=gap), out=gap)
    cut = boxes.some(near.border)
    even[:, near.border] = _evenly(cut, within, lambda points: squares_to_nearest(points, centres))
    return near.squares, even


def cost_interval(
    boxes: CountedBoxes, places: Places, centres: Floats, objective: Objective, *, level: float = LEVEL
) -> Cost:
    """The cost of the rows for given centres, or why it cannot be told."""
    squares = squares_paid(boxes, places, centres)
    return intervals(boxes, places, squares if objective == "k-means" else squares.roots(), len(centres), level=level)[
        0
    ]


def mean_interval(
    boxes: CountedBoxes, places: Places, pay: Pay, k: int, *, level: float = LEVEL, towards: float = 0.0
) -> Cost:
    """What a row pays on average for k centres, or why that cannot be told."""
    return intervals(boxes, places, Paid.of(boxes, places, pay), k, level=level, towards=towards)[1]


def intervals(
    boxes: CountedBoxes, places: Places, paid: Paid, k: int, *, level: float = LEVEL, towards: float = 0.0
) -> tuple[Cost, Cost]:
    """What all rows pay for k centres, and what one does on average, or why that cannot be told.

    towards : how far it is that of even rows. The number of rows comes from the same noisy counts as the cost. To first
    order the mean m of n rows is off by the sum of noise·(paid - m)/n over boxes: in a box whose rows pay the mean,
    noise moves cost and number alike.
    """
    found = _estimate(boxes, places, paid, level=level, towards=towards)
    why = _why(boxes, found, paid, k)
    if why is not None:
        mean = Cost(found.cost / boxes.rows if boxes.rows > 0 else math.nan, math.nan, math.nan, why)
    else:
        middle, half = found.cost / boxes.rows, found.half_of_rows / boxes.rows
        mean = Cost(middle, max(middle - half, 0.0), middle + half)
    return _told(found, why), mean


def _why(boxes: CountedBoxes, found: _Estimate, paid: Paid, k: int) -> str | None:
    """What keeps a cost from being told, if anything does."""
    sure = boxes.sure
    if _too_few(boxes, k):
        return FEW
    if float(sure @ paid.middles) < (1 - WITHIN) * float(sure @ found.even):
        return COARSE
    if found.half > WIDEST * float(sure @ found.paid):  # not of the cost: told would be those that noise makes large
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

    found = _estimate(boxes, places, Paid.of(boxes, places, more), level=level)
    why = FEW if _too_few(boxes, max(len(centres), len(others))) else None
    return _told(found, why)


class _Estimate(NamedTuple):
    cost: float
    half: float  # of its interval
    half_of_rows: float  # of the interval of what a row pays, times their number
    paid: Floats  # by a row of each box, by the mixture
    even: Floats  # and if rows were spread evenly
    edge: float  # what rows would pay more if all in boxes at the domain's edge sat on it


def _estimate(boxes: CountedBoxes, places: Places, at: Paid, *, level: float, towards: float = 0.0) -> _Estimate:
    """Each box's count times what a row there pays on average by the mixture, and how wrong that may be.

    By the noise of the counts; and by where in their boxes rows are: a part of what evenly spread rows would pay more,
    the deviation of a box's rows that all sit in one place, a part of what rows on the domain's edge would pay, and
    what they would if all were on one side of their boxes, where many are known to be the same.
    """
    mixed = add_up(places.box, places.parts * at.places, len(boxes.counts))
    even, spread = at.spots.mean(axis=0), at.spots.var(axis=0)
    more = even - mixed
    paid = mixed + towards * more
    cost = float(boxes.counts @ paid)
    variance = (UNEVEN * float(boxes.counts @ more)) ** 2 + _on_one_side(boxes, at.sides) ** 2
    variance += PLACE * max(float((np.square(boxes.counts) - boxes.variances) @ spread), 0.0)
    variance += (TOGETHER * float(boxes.counts @ np.sqrt(spread))) ** 2
    edge = _on_the_edge(boxes, paid, at.edge)
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


def inside_matters(boxes: CountedBoxes, centres: Floats) -> bool:
    """Whether where rows are inside their boxes may change the cost by more than optima differ anyway."""
    kept = np.flatnonzero(boxes.stands)
    points, widths = (np.stack([along.take(kept) for along in each.T]).T for each in (boxes.points, boxes.widths))
    inside = squared_lengths(widths) / 12
    paid = inside + what_is_paid(points, centres, "k-means")
    return float(np.maximum(boxes.counts.take(kept), 0.0) @ (inside - LEAST_EXCESS * paid)) > 0


def what_is_paid(points: Floats, centres: Floats, objective: Objective) -> Floats:
    """By a row at each of the points."""
    squares = squares_to_nearest(points, centres)
    return squares if objective == "k-means" else np.sqrt(squares)


def _on_one_side(boxes: CountedBoxes, sides: Floats) -> float:
    """What rows would pay more if all were on the same side of their boxes, as far as rows are known to be rounded.

    A box is cut down to a point only where many rows are the same. Then those of wider boxes have few values too, and
    may all lie below, or above, their middles. With half of the rows in points that is taken for certain.
    """
    rounded, which = _rounded(boxes)
    more = [float(boxes.counts[which] @ (upper - lower)) / 2 for upper, lower in sides]
    return rounded * math.hypot(*more)


def _rounded(boxes: CountedBoxes) -> tuple[float, NDArray[np.intp]]:
    """How far rows are known to be rounded, from 0 to 1, and the boxes that they may be on one side of, if any are."""
    rows, points = boxes.sure, np.logical_and.reduce([width <= POINT for width in boxes.widths.T])
    rounded = min(2 * float(rows[points].sum()) / max(float(rows.sum()), 1.0), 1.0)
    return rounded, np.flatnonzero((rows > 0) & ~points & (rounded > 0))


def _on_the_edge(boxes: CountedBoxes, paid: Floats, edge: Floats) -> float:
    """What rows would pay more if all of those in boxes at the domain's edge sat on it, spread evenly along it."""
    which = boxes.at_edge
    return float((boxes.counts[which] - boxes.thresholds[which]) @ (edge.mean(axis=1) - paid[which]))
