"""What the user declares about the data, never computed from rows: bounds, neighbours, people.

A declaration (`Box`, `Ball`, a pair) becomes a `Domain` once the columns are known. The domain fixes the lattice of
integers that rows are snapped to (private/lattice.py), so that every statistic is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import check_columns, column_ranges, is_text, no_column
from covey.errors import ParameterError
from covey.events import Neighbours as Neighbours
from covey.events import exactly

USUAL_QUANTILE = Fraction(9, 10)
MOST_ROWS_PER_PERSON = 10**6


@dataclass(frozen=True)
class Person:
    """The privacy unit: whose presence is hidden. One row each, or all rows that share an id column.

    Parameters
    ----------
    column : str or None, default=None
        The column that says whose a row is; None when each row is a person.
    rows : int or str, default=1
        How many rows of a person count at most; or "auto", or "auto:" and a share of the people ("auto:0.9") whose
        rows should all count: the number is then chosen privately, and paid for.
    """

    column: str | None = None
    rows: Any = 1

    def __post_init__(self) -> None:
        if self.column is not None:
            if not isinstance(self.column, str) or not self.column or not is_text(self.column):
                raise ParameterError("person", "must be the name of a column, or None when each row is a person")
            object.__setattr__(self, "column", str(self.column))  # a text of numpy is no JSON
        if isinstance(self.rows, str):
            share = self.quantile
            if share is None or not Fraction(1, 2) <= share <= Fraction(99, 100):
                raise ParameterError("rows_per_person", 'must be a whole number, "auto", or "auto:" and 0.5 to 0.99')
        else:
            whole = isinstance(self.rows, int | np.integer) and not isinstance(self.rows, bool)
            if not whole or not 1 <= self.rows <= MOST_ROWS_PER_PERSON:
                raise ParameterError(
                    "rows_per_person", f'must be a whole number from 1 to {MOST_ROWS_PER_PERSON:,}, or "auto"'
                )
            object.__setattr__(self, "rows", int(self.rows))
        if self.column is None and self.rows != 1:
            raise ParameterError("rows_per_person", "needs person= to name the id column that rows share")

    @property
    def quantile(self) -> Fraction | None:
        """The share of the people whose rows should all count, if the number of rows is to be chosen by it."""
        if not isinstance(self.rows, str):
            return None
        word, colon, number = self.rows.partition(":")
        try:
            share = exactly(number) if colon else USUAL_QUANTILE
        except (ValueError, ZeroDivisionError):
            return None
        return share if word == "auto" else None

    def with_rows(self, rows: int) -> Person:
        """The same people, with the number of rows that was chosen."""
        return Person(self.column, rows)

    def columns_of(self, names: Sequence[str] | None, width: int) -> tuple[tuple[str, ...] | None, int]:
        """The columns that bounds without names are for: all but the one that says whose a row is."""
        if names is None or self.column is None:
            return None if names is None else tuple(names), width
        if self.column not in names:
            raise ParameterError("person", no_column(self.column, names))
        return tuple(name for name in names if name != self.column), width - 1

    def __str__(self) -> str:
        if self.column is None:
            return "one row"
        return f"all rows with the same {self.column!r}, of which at most {self.rows} count"


def _range(name: str, pair: Any) -> tuple[float, float]:
    parameter = f"bounds of {name}"
    try:
        lower, upper = (float(end) for end in pair)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(parameter, "must be a pair (lower, upper) of numbers") from None
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise ParameterError(parameter, "must be finite numbers")
    if lower >= upper:
        raise ParameterError(parameter, f"lower must be below upper, got ({lower:g}, {upper:g})")
    half = upper / 2 - lower / 2
    if half < 1e-300 or half > 1e300 or max(abs(lower), abs(upper)) > 2.0**40 * half:
        raise ParameterError(parameter, "the range is too narrow or too wide for floating-point numbers")
    return lower, upper


class Box:
    """A public range for each column, by name or position.

    Rows outside are moved to the nearest point of the box. Take the ranges from what is known without looking at
    the rows (a map's edge, a sensor's limits): bounds computed from the rows are a leak that no noise repairs.
    Distances are measured with every column scaled to [-1, 1], but for longitude and latitude, whose metres are equal.

    Parameters
    ----------
    *by_position : pairs of numbers
        (lower, upper) for each column of the data, in their order.
    **by_name : pairs of numbers
        (lower, upper) for each column that is to be used, by its name. `Box.of` takes names that are not Python names.

    Examples
    --------
    >>> from covey import Box
    >>> Box(lon=(-74.1, -73.9), lat=(40.7, 40.9)).columns
    ('lon', 'lat')
    >>> Box((0, 1), (-1, 1))
    Box((0.0, 1.0), (-1.0, 1.0))
    """

    columns: tuple[str, ...] | None
    ranges: tuple[tuple[float, float], ...]

    def __init__(self, /, *by_position: Sequence[float], **by_name: Sequence[float]) -> None:
        if by_position and by_name:
            raise ParameterError("bounds", "a Box takes ranges by position or by column name, not both")
        if not (by_position or by_name):
            raise ParameterError("bounds", "a Box needs at least one range, such as Box(lon=(-74.1, -73.9))")
        self.columns = tuple(by_name) or None
        named = by_name.items() if by_name else ((f"column {i}", pair) for i, pair in enumerate(by_position))
        self.ranges = tuple(_range(name, pair) for name, pair in named)

    @classmethod
    def of(cls, ranges: Mapping[str, Sequence[float]]) -> Box:
        """A box from a dictionary, for column names that are not Python names."""
        return cls(**{str(name): pair for name, pair in ranges.items()})

    def domain(self, names: Sequence[str] | None, width: int) -> Domain:
        if self.columns is None and len(self.ranges) != width:
            given = f"ranges given: {len(self.ranges)}"
            raise ParameterError("bounds", f"each of the {width} columns needs a range, or name those to use; {given}")
        columns = self.columns
        if columns is not None and names is None and len(columns) != width:
            raise ParameterError("bounds", f"names {len(columns)} columns but the data has {width}, without names")
        if names is not None:
            check_columns(columns or names, names)
        return Domain(
            columns=columns or (tuple(names) if names is not None else None),
            middle=tuple(low / 2 + high / 2 for low, high in self.ranges),
            half=tuple(high / 2 - low / 2 for low, high in self.ranges),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.columns, self.ranges) == (other.columns, other.ranges)

    def __hash__(self) -> int:
        return hash((self.columns, self.ranges))

    def __repr__(self) -> str:
        if self.columns is None:
            return f"Box({', '.join(map(repr, self.ranges))})"
        return f"Box({', '.join(f'{c}={r!r}' for c, r in zip(self.columns, self.ranges, strict=True))})"


@dataclass(frozen=True)
class Ball:
    """A public ball around `center` (the origin by default): rows outside are moved to its surface.

    In many dimensions a ball needs far less noise than the box around it, if the norm of a row is known to be bounded.

    Parameters
    ----------
    radius : float
        The largest norm of a row, known without looking at the rows.
    center : sequence of float or None, default=None
        A number for each column; None for the origin.
    columns : sequence of str or None, default=None
        The names of the columns that are to be used; None for all.

    Examples
    --------
    >>> from covey import Ball
    >>> Ball(1.0, center=(0, 0, 5)).center
    (0.0, 0.0, 5.0)
    """

    radius: float
    center: tuple[float, ...] | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        try:
            radius = float(self.radius)
            center = None if self.center is None else tuple(float(c) for c in self.center)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError("bounds", "a Ball's radius and center must be numbers") from None
        if not 1e-300 < radius < 1e300:
            raise ParameterError("bounds", "a Ball's radius must be a positive, finite number")
        if center is not None and not all(abs(c) <= 2.0**40 * radius for c in center):
            raise ParameterError("bounds", "a Ball's center must be finite and not far larger than its radius")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "center", center)
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    def domain(self, names: Sequence[str] | None, width: int) -> Domain:
        columns = self.columns
        if names is not None:
            check_columns(columns or names, names)
        if columns is not None and names is not None:
            width = len(columns)
        elif columns is not None and len(columns) != width:
            raise ParameterError("bounds", f"names {len(columns)} columns but the data has {width}, without names")
        if self.center is not None and len(self.center) != width:
            raise ParameterError("bounds", f"the Ball's center has {len(self.center)} numbers for {width} columns")
        return Domain(
            columns=columns or (tuple(names) if names is not None else None),
            middle=self.center or (0.0,) * width,
            half=(self.radius,) * width,
            ball=True,
        )


@dataclass(frozen=True)
class Domain:
    """A box or a ball whose columns are known, with its integer lattice.

    Lattice coordinates are signed integers of at most `limit` = 2^(bits-1) - 1 in absolute value; `limit` stands for
    the edge of the box, or the radius of the ball. `bits` follows from the public dimension: 2·bits + log2(d) <= 52,
    so that squared distances between lattice points are exact in float64.

    middle, half : of every column's range. scale : how much each column counts in distances, the largest of them 1, and
    what part of the lattice's cube it takes; None where all count the same. metres : whether longitude and latitude
    count in equal metres (geo/metric.py).
    """

    middle: tuple[float, ...]
    half: tuple[float, ...]
    columns: tuple[str, ...] | None = None
    ball: bool = False
    scale: tuple[float, ...] | None = None
    metres: bool = False

    def __post_init__(self) -> None:
        if not is_text("".join(self.columns or ())):  # found now, and not when the release is written
            raise ParameterError("bounds", "a column's name is not valid text; rename it")

    @property
    def dimension(self) -> int:
        return len(self.middle)

    @property
    def bits(self) -> int:
        return (52 - (self.dimension - 1).bit_length()) // 2

    @property
    def limit(self) -> int:
        return (1 << (self.bits - 1)) - 1

    @property
    def row_l1(self) -> int:
        """The largest L1 norm of a lattice row."""
        if self.ball:
            return min(math.isqrt(self.dimension * self.limit**2), self.dimension * self.limit)
        return self.dimension * self.limit

    @property
    def row_l2_squared(self) -> int:
        """The largest squared L2 norm of a lattice row."""
        return self.limit**2 if self.ball else self.dimension * self.limit**2

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns or tuple(f"x{i}" for i in range(self.dimension))

    @property
    def corners(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and upper corner of the box, or of a ball's cube, in lattice units."""
        edge = self.reach * self.limit
        return -edge, edge

    @property
    def reach(self) -> NDArray[np.float64]:
        """How far the columns' ranges reach in the lattice's cube [-1, 1]^d."""
        return np.ones(self.dimension) if self.scale is None else np.array(self.scale)

    @property
    def unit(self) -> NDArray[np.float64]:
        """How much of each column is as far as half of the lattice's cube: what distances are measured in."""
        return np.asarray(np.array(self.half) / self.reach)

    def to_lattice(self, points: ArrayLike) -> NDArray[np.float64]:
        """Lattice coordinates of (n, d) public points in user coordinates: neither rounded nor kept in the domain."""
        away = np.asarray(points, dtype=np.float64) - np.array(self.middle)
        return np.asarray(away / self.unit * self.limit)

    def from_lattice(self, points: ArrayLike) -> NDArray[np.float64]:
        """User coordinates of (n, d) lattice points, which need not be integers."""
        scaled = np.asarray(points, dtype=np.float64) / self.limit
        return np.asarray(np.array(self.middle) + self.unit * scaled, dtype=np.float64)

    def snap(self, points: ArrayLike) -> NDArray[np.int64]:
        """The nearest lattice points of (n, d) public points given in lattice units, kept in the domain's cube.

        Total, like the map of the rows: a coordinate that is NaN goes to the middle.
        """
        known = np.nan_to_num(np.asarray(points, dtype=np.float64), nan=0.0)
        return np.rint(np.clip(known, -self.limit, self.limit)).astype(np.int64)

    def describe(self) -> dict[str, Any]:
        """The domain as plain data, for certificates and files."""
        if self.ball:
            return {"type": "ball", "radius": self.half[0], "center": list(self.middle)}
        return {
            "type": "box",
            "lower": [m - h for m, h in zip(self.middle, self.half, strict=True)],
            "upper": [m + h for m, h in zip(self.middle, self.half, strict=True)],
            **({} if self.scale is None else {"scale": list(self.scale)}),
            **({"equal_metres": True} if self.metres else {}),
        }


Bounds = Box | Ball | Mapping[str, Sequence[float]] | Sequence[Any]


def resolve_bounds(bounds: Bounds | None, *, names: Sequence[str] | None, width: int) -> Domain:
    """The domain that a declaration means for data with these columns."""
    if bounds is None:
        raise ParameterError(
            "bounds",
            "must be given: public limits of each column, such as Box(lon=(-74.1, -73.9), lat=(40.7, 40.9)); "
            "never computed from the rows",
        )
    if isinstance(bounds, Box | Ball):
        return bounds.domain(names, width)
    if isinstance(bounds, Mapping):
        return Box.of(bounds).domain(names, width)
    return Box(*column_ranges(bounds, width)).domain(names, width)
