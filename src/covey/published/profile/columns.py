"""The columns that a profile is asked for, and the cells that their values fall into: all of it public."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.checks import no_column, whole_number
from covey.errors import ParameterError
from covey.geo.clock import DAYS

CATEGORY, NUMBER, HOUR, WEEKDAY = KINDS = ("category", "number", "hour", "weekday")
PRIVATE = "private"  # of a column that is asked for: its categories are still to be found
OTHER, MISSING = "other", "missing"
USUAL_BINS, MOST_CELLS, MOST_COLUMNS, MOST_PRIVATE, LONGEST = 20, 1_000, 64, 8, 200
HOW = (
    "'mode=bike|car|walk', 'mode=private' to find them, 'age=0:120', 'age=0:120:12' for 12 bins, 'hour(when)' or "
    "'weekday(when)'"
)
_CLOCK = re.compile(r"(hour|weekday)\((.+)\)", re.DOTALL)
_DECIMALS = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")


def spelling(text: str) -> str:
    """How a category is written, whichever program wrote it: 7.0 as 7, 2.50 as 2.5, True as true; else as it is."""
    if _DECIMALS.fullmatch(text):
        shorter = text.rstrip("0").rstrip(".")
        return "0" if shorter == "-0" else shorter
    return text.lower() if len(text) <= 5 and text.lower() in ("true", "false") else text


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column that is asked about.

    source : the column of the data that it is read from. cells : by their names; the last one has whatever is in no
    other. edges : between the cells of numbers, ascending. A column of the kind "private" is none of a document: it is
    one of categories, once they are found.
    """

    name: str
    source: str
    kind: str
    cells: list[str]
    edges: list[float] | None = None

    def is_possible(self) -> bool:
        """Whether a column that was read from a file can be one."""
        numbers = self.edges is not None
        ascending = np.all(np.diff(self.edges) > 0) and np.isfinite(self.edges).all() if self.edges else not numbers
        fitting = self.edges is None or len(self.edges) == len(self.cells)
        return self.kind in KINDS and numbers == (self.kind == NUMBER) and bool(ascending and fitting and self.cells)


def read_columns(
    given: Any, names: Sequence[str], known: Mapping[str, tuple[float, float]], clocks: Sequence[str] = ()
) -> tuple[Column, ...]:
    """Columns as a user gives them: texts, or a dictionary of a name and its categories or its public range.

    names : of the data's columns. known : public ranges that need not be told again, those of the release. clocks :
    the columns of dates that the release has hours or weekdays of.
    """
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise ParameterError("columns", f"must be a list such as [{HOW}], or a dictionary")
    asked = list(given.items()) if isinstance(given, Mapping) else [_taken_apart(each) for each in given]
    found = [_column(name, declared, names, known) for name, declared in asked]
    if not 1 <= len(found) <= MOST_COLUMNS:
        raise ParameterError("columns", f"must be 1 to {MOST_COLUMNS}")
    for name in (each.name for each in found):
        if [each.name for each in found].count(name) > 1:
            raise ParameterError("columns", f"names {name!r} twice")
    if sum(each.kind == PRIVATE for each in found) > MOST_PRIVATE:
        raise ParameterError("columns", f"at most {MOST_PRIVATE} may have private categories; declare those of others")
    ways = {**dict.fromkeys(known, "numbers"), **dict.fromkeys(clocks, "dates")}
    for each in found:
        way = {CATEGORY: "categories", PRIVATE: "categories", NUMBER: "numbers"}.get(each.kind, "dates")
        if ways.setdefault(each.source, way) != way:
            raise ParameterError(
                "columns", f"{each.source!r} is read as {ways[each.source]} already, and not as {way} too"
            )
    return tuple(found)


def _taken_apart(text: Any) -> tuple[str, Any]:
    """`mode=bike|car`, `mode=private`, `age=0:120`, `age=0:120:12` or a name alone."""
    if not isinstance(text, str) or not text:
        raise ParameterError("columns", f"must be texts such as {HOW}")
    name, equals, declared = text.partition("=")
    if not equals:
        return text, None
    ends = declared.split(":")
    try:
        if len(ends) in (2, 3):
            return name, (float(ends[0]), float(ends[1]), *map(int, ends[2:]))
    except ValueError:
        pass  # a category with a colon in it
    return name, PRIVATE if declared == PRIVATE else declared.split("|")


def _column(name: Any, declared: Any, names: Sequence[str], known: Mapping[str, tuple[float, float]]) -> Column:
    clock = None if name in names else _CLOCK.fullmatch(str(name))
    source = str(name) if clock is None else clock[2]
    if list(names).count(source) != 1:
        raise ParameterError(
            "columns", no_column(source, names) if source not in names else f"{source!r} is there twice"
        )
    if clock is not None:
        if declared is not None:
            raise ParameterError("columns", f"{name} is declared by its name: leave the rest out")
        cells = [f"{hour:02d}:00" for hour in range(24)] if clock[1] == HOUR else list(DAYS)
        return Column(name=str(name), source=str(source), kind=clock[1], cells=[*cells, MISSING])
    declared = known.get(source) if declared is None else declared
    if isinstance(declared, str) and declared == PRIVATE:
        return Column(name=source, source=source, kind=PRIVATE, cells=[OTHER])
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        if declared and all(isinstance(each, str) for each in declared):
            return Column(name=source, source=source, kind=CATEGORY, cells=_categories(source, declared))
        if len(declared) in (2, 3) and all(map(_is_number, declared)):
            return _of_numbers(source, *declared)
    raise ParameterError(
        "columns",
        f"{source!r} needs its categories or its public range, known without looking at the rows: one of {HOW}",
    )


def _categories(name: str, declared: Sequence[str]) -> list[str]:
    found = [*(spelling(str(each)) for each in declared), OTHER]
    if len(found) > MOST_CELLS or len(set(found)) < len(found):
        raise ParameterError(
            "columns", f"{name!r} needs 1 to {MOST_CELLS - 1} different categories, none called 'other'"
        )
    if not all(0 < len(each) <= LONGEST and each.isprintable() for each in found):
        raise ParameterError("columns", f"categories of {name!r} must be one line of text, 1 to {LONGEST} characters")
    return found


def _of_numbers(name: str, low: float, high: float, bins: Any = USUAL_BINS) -> Column:
    low, high, many = (
        float(low),
        float(high),
        whole_number(f"columns: bins of {name!r}", bins, least=1, most=MOST_CELLS - 1),
    )
    edges = np.linspace(low, high, many + 1)
    if not (low < high and np.isfinite(edges).all() and np.all(np.diff(edges) > 0)):
        raise ParameterError("columns", f"the range of {name!r} must be two finite numbers, the lower one first")
    cells = [f"{a} to {b}" for a, b in pairwise(edges_in_words(edges))]
    return Column(name=name, source=name, kind=NUMBER, cells=[*cells, MISSING], edges=edges.tolist())


def edges_in_words(edges: NDArray[np.float64]) -> list[str]:
    """Edges in as few digits, but at least six, as leave each where it is but for a hundredth of a bin."""
    wanted, least = edges.tolist(), float(np.diff(edges).min())
    for digits in range(6, 17):
        told = [f"{edge:.{digits}g}" for edge in wanted]
        if all(abs(float(each) - edge) <= least / 100 for each, edge in zip(told, wanted, strict=True)):
            return told
    return [f"{edge:.17g}" for edge in wanted]


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )
