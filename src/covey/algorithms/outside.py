"""Algorithms from outside: rows of the table that installed packages offer as entry points of `covey.algorithms`.

An entry point is an `Algorithm`, written like Covey's own: it meets rows through its curator alone, which charges what
it reserves and adds the noise. It is called PACKAGE/NAME, so that nobody takes it for one of Covey's, and its module is
imported only when it is asked for. That its plan keeps what it states is for its author to prove; what it states must
be whole, or it is refused.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from importlib import metadata

from covey.algorithms.registry import FIT_NOTES, SUPPLIED, Algorithm
from covey.errors import ParameterError
from covey.public import Neighbours

GROUP = "covey.algorithms"
GUARANTEES = ("pure", "approximate", "either")


def entries() -> dict[str, metadata.EntryPoint]:
    """What installed packages offer, by PACKAGE/NAME; nothing is imported."""
    found = metadata.entry_points(group=GROUP)
    return {f"{each.dist.name}/{each.name}": each for each in found if each.dist is not None}


def load(name: str) -> Algorithm:
    """The algorithm of that name, with where it comes from; or an error that says what it lacks."""
    entry = entries()[name]
    try:
        row = entry.load()
    except Exception as error:
        raise ParameterError("algorithm", f"{name!r} cannot be imported: {type(error).__name__}: {error}") from None
    if what := lacks(row):
        raise ParameterError("algorithm", f"{name!r} is not one that Covey can run: {what}")
    assert entry.dist is not None
    return replace(row, name=name, origin=f"{entry.dist.name} {entry.dist.version}")


def lacks(row: object) -> str:
    """What an algorithm fails to state of all that Covey's own state; "" if it states everything."""
    if not isinstance(row, Algorithm):
        return "it must be a covey.algorithms.registry.Algorithm"
    if row.guarantee not in GUARANTEES:
        return f"its guarantee must be one of {', '.join(GUARANTEES)}"
    if not row.neighbours or not all(isinstance(each, Neighbours) for each in row.neighbours):
        return "its neighbours must name the relations that it is proven for"
    if not (row.summary and row.paper):
        return "it must have a summary, and the paper that proves it"
    if "Guarantee" not in (inspect.getdoc(row.run) or ""):
        return "the docstring of its function must state its Guarantee"
    first, *asked = inspect.signature(row.run).parameters.values()
    if first.name != "curator" or any(each.kind is not inspect.Parameter.KEYWORD_ONLY for each in asked):
        return "its function must take a curator, and everything else by keyword only"
    if unknown := {each.name for each in asked if each.default is inspect.Parameter.empty} - SUPPLIED:
        return f"no fit supplies {', '.join(sorted(unknown))}: give a default, and a range"
    if taken := FIT_NOTES.intersection(row.parameters):
        return f"{', '.join(sorted(taken))} in a certificate is what the fit says: give it another name"
    if silent := [name for name in row.parameters if name not in row.ranges or not row.ranges[name].kinds]:
        return f"{', '.join(silent)} must declare a range"
    try:
        row.check_parameters(row.parameters)
    except ParameterError as error:
        return f"its defaults are not in their ranges: {error}"
    return ""
