"""Noisy counts of boxes that fill the domain: what every error here is computed from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, squared_lengths, two_nearest

MOST_COLUMNS = 4  # beyond, the corners of a box and the places to look at in it are too many
_SLIVER = 1e-6  # of a width
_MANY = 2**14  # boxes: of more, each is looked at in fewer places
_CHUNK = 2**18  # pairs of a box or point and a centre that are held at once


def cropped(points: Floats, widths: Floats, edge: Floats) -> tuple[Floats, Floats]:
    """Boxes (m, d), by their middles and widths, without what lies beyond -edge or edge along an axis.

    Of one that lies beyond altogether, a sliver at the edge is left: it stands for no rows, but keeps its number.
    """
    if (edge == edge.max()).all():
        return points, widths
    most = edge - _SLIVER * widths
    low = np.clip(points - widths / 2, -edge, most)
    high = np.clip(points + widths / 2, -most, edge)
    cut = (np.abs(points) + widths / 2 > edge) & (edge < edge.max())  # what is not cut stays to the bit
    return np.where(cut, (low + high) / 2, points), np.where(cut, high - low, widths)


@dataclass(frozen=True, eq=False)
class CountedBoxes:
    """Boxes of the cube [-1, 1]^d, each with its noisy number of rows and the law of that noise."""

    points: Floats  # m x d: their middles
    widths: Floats  # m x d
    counts: Floats  # m: of either sign
    variances: Floats  # m: of the noise in `counts`
    thresholds: Floats  # m: a count above it stands out of the noise of all boxes
    scales: Floats  # m: by how much an empty box that stands out exceeds its threshold, on average
    coins: Floats | None = None  # m: the deviation that one kept row has, where coins kept rows of a box; else 0

    @classmethod
    def of_one_scale(
        cls, points: Floats, widths: Floats, counts: Floats, *, scale: float, strictness: float
    ) -> CountedBoxes:
        """Boxes whose counts all have discrete Laplace noise of one scale."""
        alike = np.ones(len(counts))
        highest = strictness * scale * np.log(max(len(counts), 4))
        return cls(points, widths, counts, laplace_variance(scale) * alike, highest * alike, scale * alike)

    @property
    def dimension(self) -> int:
        return self.points.shape[1]

    @cached_property
    def stands(self) -> NDArray[np.bool_]:
        """Which boxes stand out of the noise; if none does, the one that comes nearest to it."""
        above = self.counts > self.thresholds
        beyond = self.counts - self.thresholds
        return above if above.any() else beyond == beyond.max()

    @cached_property
    def sure(self) -> Floats:
        """The counts that stand out of the noise, and no others."""
        return np.where(self.stands, np.maximum(self.counts, 0.0), 0.0)

    @property
    def scale(self) -> float | None:
        """Of the Laplace noise in the counts; None where it differs."""
        return float(self.scales[0]) if (self.scales == self.scales[0]).all() else None

    @property
    def rows(self) -> float:
        """The noisy number of rows in all boxes."""
        return float(self.counts.sum())

    @cached_property
    def sides(self) -> Floats:
        """m x d: which side of the domain each box lies at along each axis, -1 or 1, and 0 for none or both.

        Rows outside the bounds are put on the edge of the domain: there all rows of a box may be on one of its sides.
        """
        found = np.empty(self.points.shape[::-1])
        for side, middle, width in zip(found, self.points.T, self.widths.T, strict=True):
            low, high, near = middle - width / 2, middle + width / 2, 1e-6 * width
            np.subtract(high >= high.max() - near, low <= low.min() + near, out=side, dtype=np.float64)
        return found.T

    @cached_property
    def at_edge(self) -> NDArray[np.intp]:
        """Of the boxes at the domain's edge, those that exceed their thresholds: in others, wide and far away, rows
        would be noise."""
        above = np.flatnonzero(self.counts > self.thresholds)
        return above[np.logical_or.reduce([side.take(above) != 0 for side in self.sides.T])]

    def within(self, edge: Floats) -> CountedBoxes:
        """The same boxes as far as they lie between -edge and edge, where all rows are."""
        points, widths = cropped(self.points, self.widths, edge)
        return replace(self, points=points, widths=widths)

    def scaled(self, unit: float) -> CountedBoxes:
        """The same boxes in other units of length."""
        return replace(self, points=self.points / unit, widths=self.widths / unit)

    def of_all(self, scale: float) -> CountedBoxes:
        """The boxes of a random sample as those of all rows, each of which `scale` rows stand for.

        A row is drawn with probability 1/scale: N of the sample are N·scale of all, with variance N·scale·(scale - 1).
        """
        drawn = np.maximum(self.counts, 0.0) * scale * (scale - 1)
        return replace(
            self,
            counts=self.counts * scale,
            variances=self.variances * scale**2 + drawn,
            thresholds=self.thresholds * scale,
            scales=self.scales * scale,
            coins=None if self.coins is None else self.coins * scale,
        )

    def counting(self, counts: Floats, variances: Floats | None = None) -> CountedBoxes:
        """The same boxes with other counts."""
        return replace(self, counts=counts, variances=self.variances if variances is None else variances)

    def some(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> CountedBoxes:
        parts = ("points", "widths", "counts", "variances", "thresholds", "scales")
        coins = None if self.coins is None else self.coins[which]
        return replace(self, coins=coins, **{part: getattr(self, part)[which] for part in parts})

    def near(self, centres: Floats) -> Near:
        """The centre that each box's middle is nearest to, and which boxes a border between two centres may cut."""
        label, squares, second = two_nearest(self.points, centres)
        return Near(label, squares, _at_a_border(squares, second, self.widths))

    def cut_by(self, centres: Floats, near: Near | None = None) -> Cut:
        """Which boxes a border between centres cuts, and where. near : of these centres, if that is known.

        For x = p + e with |e| <= w/2 along each axis, |x - i|² - |x - j|² is |p - i|² - |p - j|² + 2e·(j - i), and so
        at least |p - i|² - |p - j|² - Σ w|j - i|: where that is below 0, part of the box is nearer to i.
        """
        label, _, border = self.near(centres) if near is None else near
        boxes, others, depths = [border[:0]], [border[:0]], [np.empty(0)]
        for part in chunks(len(border), len(centres)):
            which = border[part]
            points, own = self.points[which], centres[label[which]]
            gap = _squares(points, centres) - np.square(points - own).sum(axis=1)[:, None]
            reach = np.zeros_like(gap)
            for axis in range(self.dimension):
                reach += self.widths[which, axis, None] * np.abs(centres[None, :, axis] - own[:, axis, None])
            box, other = np.nonzero((gap < reach * (1 - 1e-9)) & (reach > 0))  # not by rounding: its own centre
            boxes.append(which[box])
            others.append(other)
            depths.append(gap[box, other])
        box, other, gap = np.concatenate(boxes), np.concatenate(others), np.concatenate(depths)
        apart = self.widths[box] * np.abs(centres[other] - centres[label[box]])
        return Cut(label, box, other, part_beyond(gap, apart))


class Near(NamedTuple):
    """Of each box's middle, the nearest centre and the squared distance to it; and the boxes at a border, or more."""

    label: NDArray[np.intp]
    squares: Floats
    border: NDArray[np.intp]


class Cut(NamedTuple):
    """The nearest centre of each box's middle; and for boxes that reach over a border to another centre, how far."""

    label: NDArray[np.intp]
    box: NDArray[np.intp]
    other: NDArray[np.intp]
    part: Floats  # of the box, that is nearer to the other centre than to its own


def part_beyond(least: Floats, widths: Floats) -> Floats:
    """P(Σ U > least) of independent U, each uniform within ± its width: how much of a box lies beyond a plane.

    The volume that a plane cuts off a box, by inclusion and exclusion of its corners, on widths of which the smallest
    are made up to a thousandth of the largest, so that nothing cancels.
    """
    d, largest = widths.shape[1], np.maximum(widths.max(axis=1, initial=0.0), 1e-300)
    half = np.maximum(widths / largest[:, None], 1e-3)
    beyond = np.clip(least, -d * largest, d * largest) / largest
    total = np.zeros(len(least))
    for corner in product((1.0, -1.0), repeat=d):
        total += math.prod(corner) * np.maximum(half @ np.array(corner) - beyond, 0.0) ** d
    return np.clip(total / (math.factorial(d) * np.prod(2 * half, axis=1)), 0.0, 1.0)


def laplace_variance(scale: float) -> float:
    """Of discrete Laplace noise: 2p/(1-p)² for p = e^(-1/scale), in a form that no scale overflows."""
    return 2 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2


def chunks(rows: int, columns: int) -> Iterator[slice]:
    """Parts of so many rows, so that a table of each with `columns` stays small."""
    step = max(1, _CHUNK // max(1, columns))
    return (slice(start, start + step) for start in range(0, rows, step))


def _at_a_border(first: Floats, second: Floats, widths: Floats) -> NDArray[np.intp]:
    """Which boxes a border may cut, by the squares of how far their middles are from the two nearest centres.

    Σ w|j - i| is at most the box's diagonal times |j - i|, which is at most |p - i| + |p - j|: where |p - j| - |p - i|
    is as long as the diagonal, no part of the box is nearer to j.
    """
    return np.flatnonzero(np.sqrt(second) - np.sqrt(first) <= 1.001 * np.sqrt(squared_lengths(widths)))


def _squares(points: Floats, centres: Floats) -> Floats:
    squares = np.square(points).sum(axis=1)[:, None] - 2 * points @ centres.T + np.square(centres).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def spots(dimension: int, boxes: int = 1) -> Floats:
    """Evenly spread places in a unit box about its middle: 25 in one and two columns, 27 in three, 81 in four.

    For very many boxes, which are small, two along each axis.
    """
    per_axis = {1: 25, 2: 5}.get(dimension, 3) if boxes <= _MANY else 2
    axis = (np.arange(per_axis) + 0.5) / per_axis - 0.5
    return np.stack([part.ravel() for part in np.meshgrid(*[axis] * dimension, indexing="ij")], axis=1)
