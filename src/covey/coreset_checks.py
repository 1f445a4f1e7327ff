"""What a coreset is given, checked: tables, weights and numbers, or an error that names the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError

Floats = NDArray[np.float64]
OBJECTIVES = ("k-means", "k-median")


def whole(name: str, value: object, *, least: int, most: int) -> int:
    """A whole number within these ends."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ParameterError(name, f"must be a whole number, at least {least} and at most {most:,}")
    return int(value)


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
