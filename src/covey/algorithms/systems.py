"""Systems from outside: any function(X, k, epsilon, delta, bounds) -> centres, named as MODULE:FUNCTION.

Benchmarks and audits call it, on public or made-up rows only. It promises what it promises by itself: no curator
stands between it and the rows, and no fit for users ever runs one.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from covey.checks import Floats
from covey.errors import DataError, ParameterError

FORM = "must be MODULE:FUNCTION, such as mypackage:cluster"
CONTRACT = "function(X, k, epsilon, delta, bounds) -> centres"


@dataclass(frozen=True)
class System:
    """A function that Python can import, by the name that it is asked for."""

    name: str
    function: Callable[..., Any]

    def centres(self, rows: Floats, *, k: int, epsilon: float, delta: float | None, bounds: Any) -> Floats:
        """What the function makes of a copy of the rows; an error if these are not k centres.

        bounds: lower and upper, an array each, with a number for each column. delta: None asks for pure epsilon.
        """
        found = self.function(np.array(rows), k=k, epsilon=epsilon, delta=delta, bounds=bounds)
        return checked(found, name=self.name, k=k, d=rows.shape[1])

    @cached_property
    def version(self) -> str:
        """Of the package that holds it, by the name under which it is installed; "" if it is not installed."""
        owners = _owners().get(self.function.__module__.partition(".")[0], ())
        return ", ".join(f"{each} {metadata.version(each)}" for each in sorted(set(owners)))

    @cached_property
    def code(self) -> str:
        """Changes with the sources of the module or package that holds it."""
        top = sys.modules[self.function.__module__.partition(".")[0]]
        file = Path(getattr(top, "__file__", None) or ".")
        files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
        digest = hashlib.sha256()
        for each in files:
            digest.update(each.read_bytes() + b"\0" if each.is_file() else b"")
        return digest.hexdigest()[:12]


@cache
def _owners() -> Mapping[str, Sequence[str]]:
    """The installed packages that each module belongs to."""
    return metadata.packages_distributions()


def packages() -> dict[str, str]:
    """The version of every installed package that this process has imported so far: what a system was run with."""
    owners = _owners()
    loaded = {name for module in list(sys.modules) for name in owners.get(module, ())}
    return {name: metadata.version(name) for name in sorted(loaded, key=str.lower)}


def checked(found: Any, *, name: str, k: int, d: int) -> Floats:
    """k finite centres of d columns, or an error that says what came instead."""
    try:
        centres = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"system: {name} must return an array of numbers, and returned {type(found).__name__}"
        ) from None
    if centres.shape != (k, d):
        was = " x ".join(map(str, centres.shape)) or "a single number"
        raise DataError(f"system: {name} must return k x d = {k} x {d} centres, and returned {was}")
    if not np.isfinite(centres).all():
        raise DataError(f"system: {name} returned centres that are not finite numbers")
    return centres


@lru_cache(maxsize=16)
def load(name: str) -> System:
    """The function of that name, imported as Python would from the current folder; all that can be wrong is told."""
    module, colon, function = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
        raise ParameterError("system", FORM)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
    except Exception as error:
        raise ParameterError("system", f"cannot import {module!r}: {type(error).__name__}: {error}") from None
    for part in function.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ParameterError("system", f"{module!r} has no function {function!r}")
    try:
        inspect.signature(found).bind(None, k=1, epsilon=1.0, delta=None, bounds=None)
    except TypeError as error:
        raise ParameterError("system", f"{name} must be a {CONTRACT}: {error}") from None
    except ValueError:  # a function without a signature: it is called as it is
        pass
    return System(name, found)
