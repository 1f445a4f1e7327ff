"""What a mechanism really draws: every call of the exact samplers, with the rate or variance that it was given.

A likelihood that trusted a mechanism's description would not notice a wrong scale. So the rates come from the calls.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

import covey.noise
from covey.noise import gaussian, laplace, radial, selection

SAMPLERS: dict[str, Any] = {
    "discrete_laplace": laplace.discrete_laplace,
    "discrete_gaussian": gaussian.discrete_gaussian,
    "radial_laplace": radial.radial_laplace,
    "pick": selection.pick,
}


@dataclass(frozen=True)
class Call:
    """One call of a sampler. rate: inverse scale, variance, or what a unit of utility adds to a weight's logarithm."""

    sampler: str
    rate: Fraction
    given: Any  # the shape, or the utilities
    drawn: Any


@contextmanager
def put(place: Any, name: str, value: Any) -> Iterator[None]:
    """Another value for an attribute, for a while."""
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


@contextmanager
def record_calls(answers: Callable[[Call], Any] | None = None) -> Iterator[list[Call]]:
    """All calls of the samplers by mechanisms, while it lasts. answers: what to answer in place of what was drawn."""
    calls: list[Call] = []

    def noted(call: Call) -> Any:
        calls.append(call)
        answer = call.drawn if answers is None else answers(call)
        return answer.copy() if isinstance(answer, np.ndarray) else answer  # a mechanism may add into its noise

    def discrete_laplace(shape: Any, *, inverse_scale: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["discrete_laplace"](shape, inverse_scale=inverse_scale, source=source)
        return noted(Call("discrete_laplace", inverse_scale, shape, drawn))

    def discrete_gaussian(shape: Any, *, variance: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["discrete_gaussian"](shape, variance=variance, source=source)
        return noted(Call("discrete_gaussian", variance, shape, drawn))

    def radial_laplace(count: int, size: int, *, rate: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["radial_laplace"](count, size, rate=rate, source=source)
        return noted(Call("radial_laplace", rate, (count, size), drawn))

    def pick(utilities: Any, *, rate: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["pick"](utilities, rate=rate, source=source)
        return noted(Call("pick", rate, np.array(utilities), drawn))

    with ExitStack() as stack:
        for listener in (discrete_laplace, discrete_gaussian, radial_laplace, pick):
            for module in _users(listener.__name__):
                stack.enter_context(put(module, listener.__name__, listener))
        yield calls


def _users(name: str) -> list[Any]:
    """The modules of mechanisms that call a sampler by its name; samplers may call one another unheard."""
    return [module for module in _mechanisms() if getattr(module, name, None) is SAMPLERS[name]]


@cache
def _mechanisms() -> tuple[Any, ...]:
    homes = {each.__module__ for each in SAMPLERS.values()}
    paths = [f"{covey.noise.__name__}.{each.name}" for each in pkgutil.iter_modules(covey.noise.__path__)]
    return tuple(import_module(path) for path in paths if path not in homes)
