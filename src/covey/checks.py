"""What a user gives, checked: numbers, amounts and tables, or an error that names the parameter and says what to do."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import exactly

Floats = NDArray[np.float64]
OBJECTIVES = ("k-means", "k-median")


def whole_number(name: str, value: object, *, least: int, most: int = 10**6) -> int:
    """A whole-number parameter, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ParameterError(name, f"must be a whole number, at least {least} and at most {most:,}")
    return int(value)


def positive(name: str, value: object) -> float:
    """A positive parameter of a size that formulas can work with, or an error that names it."""
    number = isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 1e-9 <= value <= 1e9:  # type: ignore[operator]
        raise ParameterError(name, "must be a positive number, from 1e-9 to 1e9")
    return float(value)  # type: ignore[arg-type]


def amount(name: str, value: Any, *, below: float = math.inf) -> Fraction:
    """A privacy parameter as the exact fraction it prints as."""
    number = isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < below:
        limit = "a positive, finite number" if below == math.inf else f"a number above 0 and below {below:g}"
        raise ParameterError(name, f"must be {limit}")
    exact = exactly(value if isinstance(value, Fraction) else value.item() if isinstance(value, np.generic) else value)
    if name == "epsilon" and not Fraction(1, 10**6) <= exact <= 10**4:
        raise ParameterError(name, "must lie between 0.000001 and 10000; usual values are 0.1 to 3")
    return exact


def check_objective(value: Any) -> Any:
    if value not in OBJECTIVES:
        raise ParameterError("objective", "must be 'k-means' or 'k-median'")
    return value


def table(name: str, values: ArrayLike, width: int) -> Floats:
    """At least one row of finite numbers, which nobody can change any more; one that is so already is not copied."""
    frozen = isinstance(values, np.ndarray) and values.dtype == np.float64 and not values.flags.writeable
    found = np.asarray(values) if frozen else numbers(values)
    if found is None:
        raise ParameterError(name, "must be a table of numbers")
    if found.ndim != 2 or len(found) == 0 or found.shape[1] != width or not np.isfinite(found).all():
        raise ParameterError(name, f"must be at least one row of {width} finite numbers")
    return _frozen(found)


def weights_of(values: ArrayLike, many: int) -> Floats:
    """One finite number for each point."""
    found = numbers(values)
    if found is None or found.shape != (many,) or not np.isfinite(found).all():
        raise ParameterError("weights", "must be one finite number for each point")
    return _frozen(found)


def numbers(values: ArrayLike) -> Floats | None:
    """An array of floats, or None where that cannot be: text, ragged lists, numbers too large for a float."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _frozen(values: Floats) -> Floats:
    if values.flags.writeable:
        values.flags.writeable = False
    return values
