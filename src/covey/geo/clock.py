"""Hours and weekdays as places on a circle: hour(when) is two columns, the cosine and sine of a clock's hand. Public.

By a lookup table of 1,440 minutes, or of 7 days, so that every engine has the same numbers. 23:59 is beside 00:00, and
Sunday beside Monday. A centre within the circle is told by where it points to, unless its hand is too short to point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.checks import check_columns
from covey.errors import ParameterError
from covey.public import Box

AXES = ("cos", "sin")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
KINDS = {"hour": (24, 1440), "weekday": (7, 7)}  # how far the range goes, and steps around the circle
SHORT = 0.5  # a hand, of rows that are spread over more than half of the circle: it points where few may be
NOWHERE = {"hour": "no one hour", "weekday": "no one day"}
_NAME = re.compile(r"(hour|weekday)\((.+)\)", re.DOTALL)
_COLUMN = re.compile(r"(cos|sin) ((hour|weekday)\((.+)\))", re.DOTALL)
_DIGITS = 12  # of a cosine: every machine agrees on as many


class Hand(NamedTuple):
    """One of the two columns of a circle: which, of what, and the column of dates that it is read from."""

    axis: str
    name: str
    kind: str
    source: str

    def numbers(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The column's numbers for steps around the circle; NaN for -1, which is missing."""
        whole = KINDS[self.kind][1]
        turn = {"cos": math.cos, "sin": math.sin}[self.axis]
        table = np.array([*(round(turn(2 * math.pi * step / whole), _DIGITS) for step in range(whole)), math.nan])
        return np.asarray(table[steps])


def hand(column: str) -> Hand | None:
    """What a column of a domain is, if it is one of a circle."""
    found = _COLUMN.fullmatch(column)
    return None if found is None else Hand(*found.groups())


def source_of(column: str) -> str:
    """The column of the data that a column of a domain is read from."""
    found = hand(column)
    return column if found is None else found.source


def with_circles(bounds: Any, names: Sequence[str] | None) -> tuple[Any, tuple[str, ...] | None]:
    """Bounds with two columns for each hour(...) and weekday(...), and the names that the data has with them."""
    used = getattr(bounds, "columns", bounds if isinstance(bounds, Mapping) else None) or names or ()
    if strange := [name for name in used if hand(str(name)) is not None]:
        raise ParameterError("bounds", f"column {strange[0]!r} is called as one of a circle would be; rename it")
    given = dict(zip(bounds.columns or (), bounds.ranges, strict=False)) if isinstance(bounds, Box) else bounds
    if not isinstance(given, Mapping) or not any(_NAME.fullmatch(str(name)) for name in given):
        return bounds, None if names is None else tuple(names)
    ranges: dict[str, Any] = {}
    for name, ends in given.items():
        found = None if name in (names or ()) else _NAME.fullmatch(str(name))
        if found is None:
            ranges[name] = ends
            continue
        if names is None:
            raise ParameterError("bounds", f"{name} needs columns with names: pass a frame, a table or a file")
        check_columns([found[2]], names)
        most = KINDS[found[1]][0]
        if not isinstance(ends, Sequence) or tuple(ends) != (0, most):
            raise ParameterError("bounds", f"of {name} go from 0 to {most}: it is a circle")
        ranges |= {f"{axis} {name}": (-1.0, 1.0) for axis in AXES}
    return Box.of(ranges), (*(names or ()), *(name for name in ranges if hand(name) is not None))


def told(columns: Sequence[str], centre: Sequence[float]) -> dict[str, str]:
    """Hours and weekdays of a centre in words, by the name of their first column: where it points to on the circle,
    or that it stands for no one hour or day."""
    found = {}
    for place, column in enumerate(columns):
        clock = hand(column)
        if clock is None or clock.axis != AXES[0] or f"{AXES[1]} {clock.name}" not in columns:
            continue
        x, y = centre[place], centre[list(columns).index(f"{AXES[1]} {clock.name}")]
        if math.hypot(x, y) < SHORT:
            found[column] = NOWHERE[clock.kind]
            continue
        whole = KINDS[clock.kind][1]
        step = round(math.atan2(y, x) / (2 * math.pi) * whole) % whole
        found[column] = f"{step // 60:02d}:{step % 60:02d}" if clock.kind == "hour" else DAYS[step]
    return found
