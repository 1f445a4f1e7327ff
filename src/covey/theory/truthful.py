"""How little a false report can gain when sites are chosen from a private coreset (STOC'09 §1.1).

Feldman, Fiat, Kaplan and Nissim (2009) point out, after McSherry and Talwar (2007), that choosing places from a private
coreset is an approximately truthful mechanism. docs/guide/coresets.md derives the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from covey.errors import ParameterError
from covey.public import Neighbours


@dataclass(frozen=True)
class TruthfulBound:
    """The most that lying can gain for a group that agrees on its lies; see truthful_bound."""

    factor: float  # expected benefit after lying <= factor x expected benefit of the truth + slack x most
    gain: float  # factor - 1: the most that can be gained, as a fraction of what the truth brings
    share: float  # the most that can be gained, as a fraction of the largest benefit that any outcome brings
    slack: float  # what delta adds, as a fraction of the largest benefit; 0 for pure epsilon


def truthful_bound(
    epsilon: float, group: int = 1, *, delta: float = 0.0, neighbours: str = "replace-one"
) -> TruthfulBound:
    """The most that a group of people gains by reporting false rows to an (epsilon, delta)-private release.

    Formal guarantee. Whatever is done with the release afterwards, and for any benefit u >= 0 that a person draws from
    the outcome, E[u | lie] <= factor·E[u | truth] + slack·max u, with factor = e^{gε} for g people who lie together.
    For pure epsilon also E[u | lie] - E[u | truth] <= share·max u, with share = tanh(gε/2).

    Parameters
    ----------
    epsilon : float
        The epsilon of the certificate.
    group : int, default=1
        How many people agree on their lies.
    delta : float, default=0.0
        The delta of the certificate.
    neighbours : {'replace-one', 'add-remove'}, default='replace-one'
        The relation of the certificate. A lie replaces a row. Under "replace-one" that is one step of ε; under
        "add-remove" it is two (the true row leaves, the false one enters), and ε counts twice. Staying away altogether
        is one step under "add-remove".

    Examples
    --------
    >>> from covey import truthful_bound
    >>> round(truthful_bound(0.3).factor, 2)
    1.35
    """
    steps = _whole(group) * (1 if Neighbours.parse(neighbours) is Neighbours.REPLACE_ONE else 2)
    for name, value, below in (("epsilon", epsilon, math.inf), ("delta", delta, 1.0)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < below or (name == "epsilon" and value == 0):
            least = "above 0" if name == "epsilon" else "at least 0 and below 1"
            raise ParameterError(name, f"must be a number, {least}")
    whole = steps * float(epsilon)
    factor = _up(math.exp(whole)) if whole < 700 else math.inf
    gain = _up(math.expm1(whole)) if whole < 700 else math.inf
    slack = 0.0
    if delta:  # δ of g steps: δ·(1 + e^ε + … + e^{(g-1)ε})
        one = math.expm1(epsilon) if epsilon < 700 else math.inf
        slack = min(1.0, _up(delta * gain / one)) if math.isfinite(gain) else 1.0
    return TruthfulBound(factor=factor, gain=gain, share=min(1.0, _up(math.tanh(whole / 2) + slack)), slack=slack)


def _up(value: float) -> float:
    """A little more than rounding may have taken away: a bound is never too small."""
    return value * (1 + 1e-14)


def _whole(group: int) -> int:
    if isinstance(group, bool) or not isinstance(group, int) or group < 1:
        raise ParameterError("group", "must be a whole number of people, at least 1")
    return group
