"""From counts to a proven lower bound on epsilon or mu. All of it public arithmetic.

An event that was fixed beforehand happened `hits` times in `trials` independent runs on each of two neighbours. What is
(epsilon, delta)-DP has p <= e^epsilon q + delta, so epsilon >= ln((p - delta)/q). What is mu-GDP (Dong, Roth, Su 2019)
has z(p) <= z(q) + mu, z the normal quantile, so mu >= z(p) - z(q).

p and q are bounded together. With a = P(at least so many hits | p) and b = P(at most so many others | q), two exact and
independent p-values, a·b <= t has a chance of at most t(1 - ln t) = alpha (Fisher's combination). All (p, q) with
a·b > t are a confidence region; on its border, p is the Clopper-Pearson lower bound of level a and q the upper one of
level t/a. The bound is the least over the border. Two separate bounds of level alpha/2 would be right as well, and
lower: as if both were at their worst at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import beta

KINDS = ("epsilon", "mu")
STEPS = 48  # of the border of the confidence region; fewer are quicker, as right, and prove a little less


@lru_cache(maxsize=64)
def combined(alpha: float) -> float:
    """Fisher's combination of two p-values: the product t that is reached with a chance of at most alpha."""
    return float(np.exp(brentq(lambda log: np.exp(log) * (1 - log) - alpha, -700.0, 0.0)))


def at_least(hits: ArrayLike, trials: int, alpha: float) -> NDArray[np.float64]:
    """The Clopper-Pearson lower bound of a probability: too high with a chance of at most alpha."""
    seen = np.asarray(hits)
    found = beta.ppf(alpha, np.maximum(seen, 1), trials - seen + 1)
    return np.where(seen == 0, 0.0, found)


def at_most(hits: ArrayLike, trials: int, alpha: float) -> NDArray[np.float64]:
    """The Clopper-Pearson upper bound of a probability: too low with a chance of at most alpha."""
    seen = np.asarray(hits)
    found = beta.ppf(1 - alpha, seen + 1, np.maximum(trials - seen, 1))
    return np.where(seen == trials, 1.0, found)


@dataclass(frozen=True)
class Claim:
    """What is promised: `epsilon` (with delta), or `mu` of Gaussian differential privacy."""

    amount: float
    delta: float = 0.0
    kind: str = "epsilon"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a claim is one of {', '.join(KINDS)}")

    def lower(self, hits: ArrayLike, others: ArrayLike, *, trials: int, alpha: float, steps: int = STEPS) -> Any:
        """The bound on `amount` that hits on one neighbour against `others` on the other prove; never below 0.

        Guarantee: if the event does not depend on these trials, the bound exceeds the true amount with a chance of
        at most alpha. Edge cases: no hits, or all others, prove nothing: 0.
        """
        border = np.geomspace(combined(alpha), 1.0, steps + 1)  # levels a; between two of them, the worse of each
        bounds = [
            self._between(at_least(hits, trials, a), at_most(others, trials, border[0] / more))
            for a, more in pairwise(border)
        ]
        return np.maximum(np.min(bounds, axis=0), 0.0)

    def _between(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """The amount that probabilities of exactly these sizes prove."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "mu":
                found = ndtri(low) - ndtri(high)
            else:
                found = np.log(np.maximum(low - self.delta, 0.0)) - np.log(high)
        return np.nan_to_num(found, nan=0.0, neginf=0.0)
