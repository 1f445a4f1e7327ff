"""What a mechanism really draws: every call of the two exact samplers, with the rate that it was given.

A likelihood that trusted a mechanism's description would not notice a wrong scale. So the rates come from the calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from covey.noise import laplace, selection

SAMPLERS: dict[str, Any] = {"discrete_laplace": laplace.discrete_laplace, "pick": selection.pick}


@dataclass(frozen=True)
class Call:
    """One call of a sampler. rate: inverse scale, or what a unit of utility adds to the logarithm of a weight."""

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
def overhear(answers: Callable[[Call], Any] | None = None) -> Iterator[list[Call]]:
    """All calls of the samplers by mechanisms, while it lasts. answers: what to answer in place of what was drawn."""
    calls: list[Call] = []

    def noted(call: Call) -> Any:
        calls.append(call)
        answer = call.drawn if answers is None else answers(call)
        return answer.copy() if isinstance(answer, np.ndarray) else answer  # a mechanism may add into its noise

    def discrete_laplace(shape: Any, *, inverse_scale: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["discrete_laplace"](shape, inverse_scale=inverse_scale, source=source)
        return noted(Call("discrete_laplace", inverse_scale, shape, drawn))

    def pick(utilities: Any, *, rate: Fraction, source: Any) -> Any:
        drawn = SAMPLERS["pick"](utilities, rate=rate, source=source)
        return noted(Call("pick", rate, np.array(utilities), drawn))

    with ExitStack() as stack:
        listeners: dict[str, Any] = {"discrete_laplace": discrete_laplace, "pick": pick}
        for name, listener in listeners.items():
            for module in _users(name):
                stack.enter_context(put(module, name, listener))
        yield calls


def _users(name: str) -> Sequence[Any]:
    """The modules of mechanisms that call a sampler by its name."""
    home = SAMPLERS[name].__module__
    mine = [module for path, module in sys.modules.items() if path.startswith("covey.noise.") and path != home]
    return [module for module in mine if getattr(module, name, None) is SAMPLERS[name]]
