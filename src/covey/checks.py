"""What a user gives, checked: numbers, amounts and tables, or an error that names the parameter and says what to do."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import DataError, ParameterError
from covey.events import exactly

Floats = NDArray[np.float64]
OBJECTIVES = ("k-means", "k-median")
LONGITUDE = ("lon", "lng", "long", "longitude", "x_lon")
LATITUDE = ("lat", "latitude", "y_lat")
COMMAS = {";": ";", "\t": "tab", "|": "|"}  # between cells of a CSV, and how they are said


def whole_number(name: str, value: object, *, least: int, most: float = 10**6) -> int:
    """A whole-number parameter, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        limit = "" if most == math.inf else f" and at most {most:,}"
        raise ParameterError(name, f"must be a whole number, at least {least}{limit}")
    return int(value)


def is_text(name: str) -> bool:
    """Whether a file can hold a name: no halves of characters, which are found now, and not after a charge."""
    return name.encode(errors="replace").decode() == name


def refuse_arguments(function: str, more: Mapping[str, Any]) -> None:
    """Refuse arguments that are not taken; of weights with the reason."""
    if "sample_weight" in more:
        what = (
            "is not taken: every proof is for rows that count once each; a weight would be the influence of one person"
        )
        raise ParameterError("sample_weight", what)
    if more:
        raise TypeError(f"{function} got an unexpected keyword argument {next(iter(more))!r}")


def no_column(name: str, names: Sequence[str]) -> str:
    """That there is no such column, which there are, and which of them may be meant."""
    words = f"the data has no column {name!r}; it has {', '.join(map(repr, names))}"
    if meant := similar(name, names):
        return f"{words}. Is it {' or '.join(map(repr, meant))}?"
    for sign, said in COMMAS.items():
        if any(sign in each for each in names):
            return f"{words}. If {said!r} stands between cells, give delimiter={said!r} (--delimiter {said!r})"
    if names.count("") > 1:
        return f"{words}. If the names stand further down, below a title, give header_line=3 (--header-line 3), or so"
    return words


def similar(name: str, names: Sequence[str]) -> list[str]:
    """Names that may be meant by one that is not there: of the same word, or spelled nearly so."""
    wanted = _word(name)
    same = [each for each in names if _word(each) == wanted]
    near = get_close_matches(wanted, [_word(each) for each in names], n=1, cutoff=0.8)
    return same or [each for each in names if _word(each) in near]


def _word(name: str) -> str:
    """A name without its unit, case, spaces and signs; those of longitude are one word, and of latitude another."""
    plain = re.sub(r"[\W_]+", "", re.sub(r"\(.*?\)|\[.*?\]", "", name)).lower()
    return next((usual[0] for usual in (LONGITUDE, LATITUDE) if plain in usual), plain)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(value, bool)


def positive(name: str, value: object) -> float:
    """A positive parameter of a size that formulas can work with, or an error that names it."""
    if not _is_number(value) or not 1e-9 <= value <= 1e9:  # type: ignore[operator]
        raise ParameterError(name, "must be a positive number, from 1e-9 to 1e9")
    return float(value)  # type: ignore[arg-type]


class Range(ABC):
    """What a parameter may be, beside its type in a signature: `rounds: Annotated[int, Whole(1, 1_000)] = 5`."""

    @abstractmethod
    def read(self, name: str, value: Any) -> Any:
        """The value as formulas take it, or an error that names the parameter."""


@dataclass(frozen=True)
class Whole(Range):
    """A whole number of this range."""

    least: int
    most: int = 10**6

    def read(self, name: str, value: Any) -> int:
        return whole_number(name, value, least=self.least, most=self.most)


@dataclass(frozen=True)
class Positive(Range):
    """A positive number of a size that formulas can work with."""

    def read(self, name: str, value: Any) -> float:
        return positive(name, value)


@dataclass(frozen=True)
class Between(Range):
    """A number from least to most, both included, which are positive."""

    least: float
    most: float
    says: str = "must be a number from {least:g} to {most:g}"

    def read(self, name: str, value: Any) -> float:
        number = positive(name, value)
        if not self.least <= number <= self.most:
            raise ParameterError(name, self.says.format(least=self.least, most=self.most))
        return number


@dataclass(frozen=True, init=False)
class OneOf(Range):
    """One of a few texts."""

    options: tuple[str, ...]
    says: str

    def __init__(self, *options: str, says: str = "must be one of {options}") -> None:
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "says", says.format(options=", ".join(map(repr, options))))

    def read(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise ParameterError(name, self.says)
        return value


@dataclass(frozen=True)
class Flag(Range):
    """True or False, and no number that stands for one."""

    says: str = "must be True or False"

    def read(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(name, self.says)
        return bool(value)


@dataclass(frozen=True)
class Later(Range):
    """A range that follows from other parameters or the domain: the algorithm checks it, before it reserves."""

    why: str

    def read(self, name: str, value: Any) -> Any:  # noqa: ARG002 - any value, for now
        return value


@dataclass(frozen=True)
class Ranges:
    """The alternatives of an annotation: of `Annotated[int, Whole(1)] | Annotated[str, OneOf("all")] | None`, three."""

    kinds: tuple[tuple[type, Range], ...]
    optional: bool

    @classmethod
    def of(cls, hint: Any) -> Ranges:
        alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        declared = [(each, one) for each in alternatives for one in getattr(each, "__metadata__", ())]
        kinds = tuple((each.__origin__, one) for each, one in declared if isinstance(one, Range))
        return cls(kinds, NoneType in alternatives)

    def read(self, name: str, value: Any) -> Any:
        """By the range of the value's own type, or else by the first, which then says what it should be."""
        if not self.kinds or (value is None and self.optional):
            return value
        first = self.kinds[0][1]
        return next((each for kind, each in self.kinds if type(value) is kind), first).read(name, value)


def amount(name: str, value: Any, *, below: float = math.inf) -> Fraction:
    """A privacy parameter as the exact fraction it prints as."""
    if not _is_number(value) or not 0 < value < below:
        limit = "a positive, finite number" if below == math.inf else f"a number above 0 and below {below:g}"
        raise ParameterError(name, f"must be {limit}")
    exact = exactly(value if isinstance(value, Fraction) else value.item() if isinstance(value, np.generic) else value)
    if name == "epsilon" and not Fraction(1, 10**6) <= exact <= 10**4:
        raise ParameterError(name, "must lie between 0.000001 and 10000; usual values are 0.1 to 3")
    return exact


def not_negative(name: str, value: Any) -> Fraction:
    """The exact fraction that an amount in a ledger stands for, written as a number or a text; none is below 0."""
    try:
        exact = exactly(value)
    except (ValueError, TypeError, ZeroDivisionError):
        raise ParameterError(name, "must be a number, such as 0.5 or '1e-6'") from None
    if exact < 0:
        raise ParameterError(name, "must not be negative")
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


def spreads_of(values: ArrayLike, many: int) -> Floats:
    """One mean squared distance for each point."""
    found = numbers(values)
    if found is None or found.shape != (many,) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError("spreads", "must be one finite number, at least 0, for each point")
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


def column_ranges(bounds: Any, width: int) -> list[tuple[Any, Any]]:
    """(lower, upper) for each of `width` columns, from what a user wrote without names.

    A pair of numbers is the range of every column, a list of pairs has one range for each column, and a pair of arrays
    is (lower, upper). What two columns could mean both ways is refused: read the wrong way it is a domain that is far
    too large, and nothing would say so.
    """
    if not isinstance(bounds, list | tuple | np.ndarray):
        raise ParameterError("bounds", "must be a Box, a Ball, ranges by names of columns, or a pair (lower, upper)")
    numbers = [_numbers(each) for each in bounds]
    ranges = [(float(each[0]), float(each[1])) for each in numbers if each.shape == (2,)]
    if not len(ranges) == len(bounds) == width:
        return _between_corners(bounds, width)
    if width != 2 or _is_written_by_column(bounds):
        return ranges
    corners = _between_corners(bounds, width)
    if _is_pair_of_arrays(bounds) or not _are_ranges(ranges):
        return corners
    if not _are_ranges(corners):
        return ranges
    first, second = (", ".join(f"({low:g}, {high:g})" for low, high in way) for way in (ranges, corners))
    raise ParameterError(
        "bounds",
        f"can be read in two ways: write Box({first}) if each pair is the range of a column, or Box({second}) if the "
        "first holds all lower and the second all upper ends",
    )


def _is_written_by_column(bounds: Any) -> bool:
    return isinstance(bounds, list) and not any(isinstance(each, np.ndarray) for each in bounds)


def _is_pair_of_arrays(bounds: Any) -> bool:
    return isinstance(bounds, tuple) and all(isinstance(each, np.ndarray) for each in bounds)


def _are_ranges(ranges: list[tuple[Any, Any]]) -> bool:
    return all(low < high for low, high in ranges)


def _numbers(value: Any) -> Floats:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("bounds", "must be made of numbers, or of arrays of numbers") from None


def _between_corners(bounds: Any, width: int) -> list[tuple[Any, Any]]:
    """The ranges between a lower and an upper end for all columns, or one for each."""
    ends = [_numbers(each) for each in bounds]
    if len(ends) != 2 or any(each.shape not in {(), (1,), (width,)} for each in ends):
        raise ParameterError(
            "bounds",
            f"must have one range for each of {width} columns, [(low, high), ...], or be a pair (lower, upper) of "
            f"numbers, or of arrays with {width} numbers each",
        )
    lower, upper = (np.broadcast_to(each, (width,)).tolist() for each in ends)
    return list(zip(lower, upper, strict=True))


def check_columns(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns that the data does not have, or has twice."""
    for column in wanted:
        if column not in names:
            raise DataError(f"bounds: {no_column(column, names)}")
        if list(names).count(column) > 1:
            raise DataError(f"bounds: the data has more than one column {column!r}; rename one")
