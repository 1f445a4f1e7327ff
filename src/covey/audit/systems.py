"""Systems from outside under attack: any function(X, k, epsilon, delta, bounds) -> centres, seen from outside alone.

The attacker knows all rows but one person's, and sees the centres, or that there were none because of an error. What
a system promises, and under which relation, is for its caller to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.systems import load
from covey.audit.bounds import Claim
from covey.audit.features import Line, of_centres
from covey.errors import CoveyError, DataError

COLUMNS = (1, 2, 6)
MANY = 12  # rows at one corner
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Promised:
    """What a system promises about a pair of data sets of so many columns."""

    system: str
    neighbours: str
    columns: int
    k: int
    epsilon: float
    delta: float = 0.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta)

    @property
    def name(self) -> str:
        delta = f", δ = {self.delta:g}" if self.delta else ""
        return f"{self.system}, {self.neighbours}, d = {self.columns}, k = {self.k}, ε = {self.epsilon:g}{delta}"

    @property
    def code(self) -> str:
        """Of the system: another makes another cell."""
        system = load(self.system)
        return f"{system.version} {system.code}".strip()

    @property
    def pair(self) -> tuple[Floats, Floats]:
        """Twelve rows at one corner of [-1, 1]^d, and a person at the other; the second has them not, or elsewhere."""
        others = np.full((MANY, self.columns), -1.0)
        first = np.concatenate([others, np.ones((1, self.columns))])
        return first, np.full_like(first, -1.0) if self.neighbours == "replace-one" else others


def promises(
    systems: Sequence[str],
    *,
    neighbours: str,
    epsilons: Sequence[float],
    delta: float,
    columns: Sequence[int],
    k: int | None = None,
) -> list[Promised]:
    """Every promise that is to be attacked. k: 1 in one column and 2 in more, if it is not given."""
    return [
        Promised(system=each, neighbours=neighbours, columns=d, k=k or min(d, 2), epsilon=epsilon, delta=delta)
        for each in systems
        for d in columns
        for epsilon in epsilons
    ]


def trial_of(promised: Promised) -> Callable[[int, int | None], Line]:
    """trial(which, seed): a call on the first (0) or second (1) neighbour. A system has a randomness of its own."""
    system, pair, edge = load(promised.system), promised.pair, np.ones(promised.columns)

    def trial(which: int, _: int | None) -> Line:
        try:
            centres = system.centres(
                pair[which],
                k=promised.k,
                epsilon=promised.epsilon,
                delta=promised.delta or None,
                bounds=(-edge, edge),
            )
        except CoveyError:
            raise
        except Exception as error:  # whatever an attacker sees of it
            raise DataError(f"system: {promised.system} failed: {type(error).__name__}: {error}") from None
        line = of_centres(centres, None, edge)
        order = np.argsort(np.square(centres - edge).sum(axis=1))
        return line | {f"reach {rank}": float(np.abs(centres[i]).max()) for rank, i in enumerate(order[:3])}

    return trial


def refuse_broken(promised: Sequence[Promised]) -> None:
    """One call on each neighbour before the attack: a system that fails on both is broken, not leaking."""
    for each in promised:
        trial, problems = trial_of(each), []
        for which in (0, 1):
            try:
                trial(which, None)
            except CoveyError as error:
                problems.append(error)
        if len(problems) == 2:
            raise problems[0]
