"""The algorithm behind a method or a default. All of it public."""

from __future__ import annotations

from typing import Any

from covey.algorithms.registry import ALGORITHMS, find
from covey.errors import ParameterError
from covey.private.tables import open_table
from covey.public import resolve_bounds

METHODS = {"ball": "ball-coreset", "net": "net-coreset", "exact": "exact-coreset", "grid": "grid"}
AUTO = "auto"  # the algorithm of method="auto"; the whole switch is to say "auto" here once that returns a coreset
MOST_GRID_COLUMNS = 4  # in more, the cells of a grid are too wide to be a coreset of anything


def clustering_algorithm(algorithm: str, objective: str) -> str:
    """The algorithm that a fit for this objective runs: the one asked for, or `grid` where "auto" has no answer yet."""
    return "grid" if algorithm == "auto" and objective not in find("auto").objectives else algorithm


def coreset_algorithm(method: Any, parameters: Any, *, bounds: Any, data: Any) -> tuple[str, dict[str, Any] | None]:
    """The algorithm behind a method, and its parameters; all of it public."""
    there = {name: algorithm for name, algorithm in METHODS.items() if algorithm in ALGORITHMS}
    if method != "auto" and (not isinstance(method, str) or method not in there):
        raise ParameterError("method", f"must be one of {', '.join(map(repr, ('auto', *there)))}")
    algorithm = AUTO if method == "auto" else there[method]
    if algorithm not in ("auto", "grid"):  # the others always come with a coreset
        return algorithm, parameters
    if method == "auto" and algorithm == "grid":
        table = open_table(data)
        if resolve_bounds(bounds, names=table.names, width=table.width).dimension > MOST_GRID_COLUMNS:
            others = " or ".join(repr(name) for name in there if name != "grid") or "none in this version"
            raise ParameterError("method", f"'auto' is for up to {MOST_GRID_COLUMNS} columns; beyond, choose: {others}")
    if parameters is not None and not isinstance(parameters, dict):
        raise ParameterError("method_params", "must be a dictionary of the method's own parameters, or None")
    if (parameters or {}).get("keep_synopsis", True) is not True:  # it would be paid for, and then not be there
        raise ParameterError("method_params", "keep_synopsis must be True, or left out: it is the coreset")
    return algorithm, {"keep_synopsis": True, **(parameters or {})}
