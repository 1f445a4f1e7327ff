"""How many rows a coreset has, in all and in a box, and between which two numbers. From its weights alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.post.errors.parts import in_parts
from covey.public import Box
from covey.published.certificate import reach_of, scale_of
from covey.published.coreset.answers import why_unknown

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset


Floats = NDArray[np.float64]
_ROUNDING = 1e-9  # of a column's range: no step of the lattice is so fine


class Count(NamedTuple):
    """An estimated number of rows, and the ends of an interval that holds the true one nine times in ten.

    why : what keeps the interval from being told, which is then from nan to nan; None where it is told.
    """

    rows: float
    low: float
    high: float
    why: str | None = None


class Counts:
    """The question of a coreset how many rows there are."""

    @overload
    def count(self, box: Box, *, interval: Literal[False] = False) -> float: ...

    @overload
    def count(self, box: Box, *, interval: Literal[True]) -> Count: ...

    def count(self: Any, box: Box, *, interval: bool = False) -> float | Count:
        """The estimated number of rows in a box of some of the columns; a cell that is cut counts by its share.

        Rows outside the bounds count where they were moved to, at the edge. interval : return (rows, low, high, why)
        instead: between low and high nine times in ten, for any one box that does not depend on the noise, unless rows
        lie on the same side of most cells that it cuts (what was moved to the edge is taken into account); where that
        cannot be told they are nan and `why` says why not.
        """
        shares = Shares.of(self, box)
        return rows_in(self, shares) if interval else float(shares.all @ self.weights)


class Shares(NamedTuple):
    """The share of each cell in a box, along every column that the box is of; of a point all or nothing."""

    all: Floats  # the product of those along columns
    along: dict[int, Floats]
    ends: dict[int, tuple[float, float]]  # of columns

    @classmethod
    def of(cls, coreset: Coreset, box: Box) -> Shares:
        columns = box.columns or tuple(coreset.columns)
        if len(box.ranges) != len(columns) or not set(columns) <= set(coreset.columns):
            raise ParameterError("box", f"must have ranges for some of the columns {', '.join(coreset.columns)}")
        along, ends = {}, {}
        for name, given in zip(columns, box.ranges, strict=True):
            j = coreset.columns.index(name)
            low, high = ends[j] = _beyond_the_bounds(coreset, j, given)
            x, width = coreset.points[:, j], np.zeros(len(coreset)) if coreset.cells is None else coreset.cells[:, j]
            within = ((x >= low) & (x <= high)).astype(np.float64)
            share = _share_of_widths(x, np.where(width > 0, width, 1.0), low, high)
            along[j] = np.where(width > 0, share, within)
        return cls(_product(along, len(coreset)), along, ends)

    def on_edges(self, coreset: Coreset, sides: Floats) -> Iterator[Floats]:
        """The same if all rows of the cells along one edge of the domain sat on it, for each edge."""
        for j, (low, high) in self.ends.items():
            others = _product({i: share for i, share in self.along.items() if i != j}, len(coreset))
            for side, edge in zip((-1, 1), _edges(coreset, j), strict=True):
                yield np.where(sides[:, j] == side, others * (low <= edge <= high), self.all)


def _product(shares: dict[int, Floats], many: int) -> Floats:
    return np.asarray(math.prod(shares.values(), start=np.ones(many)))


def rows_of(coreset: Coreset) -> Count:
    """The number of all rows."""
    return rows_in(coreset, Shares(np.ones(len(coreset)), {}, {}))


def rows_in(coreset: Coreset, shares: Shares) -> Count:
    """The number of rows in a share of each cell, with its interval where the noise of the weights is known."""
    count, boxes = float(shares.all @ coreset.weights), coreset.boxes
    if boxes is None:
        return Count(count, math.nan, math.nan, why_unknown(coreset))
    low, high = in_parts(boxes, shares.all, shares.on_edges(coreset, boxes.sides)).intervals()[0].tolist()
    return Count(count, max(low, 0.0), max(high, 0.0))


def _share_of_widths(x: Floats, width: Floats, low: float, high: float) -> Floats:
    """The part of each width about x that is between low and high; a cut that only rounding makes is none.

    What rounding makes of a coordinate is a millionth of the narrowest cells, and more where the origin is far away.
    """
    rounding = np.minimum(8 * np.spacing(np.abs(x) + width) / width, 0.25)
    below, above = (low - (x - width / 2)) / width, (x + width / 2 - high) / width
    parts = (np.where(each < rounding, 0.0, np.where(each > 1 - rounding, 1.0, each)) for each in (below, above))
    return np.maximum(1.0 - sum(parts), 0.0)


def _beyond_the_bounds(coreset: Coreset, column: int, ends: tuple[float, float]) -> tuple[float, float]:
    """The ends of a range, as far out as cells go where they are at the bounds, or beyond.

    A cell at the edge reaches half a step of the lattice beyond it. Where many rows were moved there it is only two
    steps wide, and a quarter of it lies outside of the bounds: of its rows none does.
    """
    lowest, highest = _edges(coreset, column)
    off, (low, high) = _ROUNDING * (highest - lowest), ends
    return -math.inf if low <= lowest + off else low, math.inf if high >= highest - off else high


def _edges(coreset: Coreset, column: int) -> tuple[float, float]:
    """The bounds of a column."""
    domain = coreset.certificate.domain
    middle, half = (float(each[column]) for each in scale_of(domain))
    reach = half * float(reach_of(domain)[column])
    return middle - reach, middle + reach
