"""From counts to a proven lower bound on epsilon or mu. All of it public arithmetic.

An event that was fixed beforehand happened `hits` times in `trials` independent runs on each of two neighbours. With
Clopper-Pearson bounds, p is at least p_low and q at most q_high, both at once with confidence 1 - alpha. What is
(epsilon, delta)-DP has p <= e^epsilon q + delta, so epsilon >= ln((p_low - delta)/q_high). What is mu-GDP (Dong, Roth,
Su 2019) has z(p) <= z(q) + mu, z the normal quantile, so mu >= z(p_low) - z(q_high).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import beta

KINDS = ("epsilon", "mu")


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

    def lower(self, hits: ArrayLike, others: ArrayLike, *, trials: int, alpha: float) -> Any:
        """The bound on `amount` that hits on one neighbour against `others` on the other prove; never below 0.

        Guarantee: if the event does not depend on these trials, the bound exceeds the true amount with a chance of
        at most alpha. Edge cases: no hits, or all others, prove nothing: 0.
        """
        low, high = at_least(hits, trials, alpha / 2), at_most(others, trials, alpha / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "mu":
                found = ndtri(low) - ndtri(high)
            else:
                found = np.log(np.maximum(low - self.delta, 0.0)) - np.log(high)
        return np.maximum(np.nan_to_num(found, nan=0.0, neginf=0.0), 0.0)
