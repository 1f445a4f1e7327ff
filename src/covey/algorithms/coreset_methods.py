"""The algorithm behind each method of a coreset. All of it public."""

from __future__ import annotations

from typing import Any

from covey.errors import ParameterError

METHODS = {
    "auto": "auto",
    "ball": "ball-coreset",
    "net": "net-coreset",
    "exact": "exact-coreset",
    "grid": "grid",
}


def coreset_algorithm(method: Any, parameters: Any) -> tuple[str, dict[str, Any] | None]:
    """The algorithm behind a method, and its parameters."""
    if not isinstance(method, str) or method not in METHODS:
        raise ParameterError("method", f"must be one of {', '.join(map(repr, METHODS))}")
    algorithm = METHODS[method]
    if algorithm not in ("auto", "grid"):  # the others always come with a coreset
        return algorithm, parameters
    if parameters is not None and not isinstance(parameters, dict):
        raise ParameterError("method_params", "must be a dictionary of the method's own parameters, or None")
    if (parameters or {}).get("keep_synopsis", True) is not True:  # it would be paid for, and then not be there
        raise ParameterError("method_params", "keep_synopsis must be True, or left out: it is the coreset")
    return algorithm, {"keep_synopsis": True, **(parameters or {})}
