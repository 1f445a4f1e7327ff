"""Quantiles of sums of Laplace noise: heavier than normal where few draws make up the sum."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import gammaincinv, ndtr

from covey.post.distances import Floats

LEVEL = 0.9
_FEWEST, _MOST, _STEPS, _PARTS = 0.5, 2e4, 40, 400


def deviations(level: float, draws: Floats) -> Floats:
    """How many standard deviations hold a sum of so many Laplace draws with this probability.

    The sum of m draws is a normal one of random variance, 2·Gamma(m): its excess kurtosis is 3/m. A sum with weights
    has the m that gives its kurtosis: (Σ w²)²/Σ w⁴.
    """
    logs, quantiles = _table(level)
    return np.interp(np.log(np.clip(draws, _FEWEST, _MOST)), logs, quantiles)


@cache
def _table(level: float) -> tuple[Floats, Floats]:
    logs = np.linspace(np.log(_FEWEST), np.log(_MOST), _STEPS)
    places = (np.arange(_PARTS) + 0.5) / _PARTS
    places = np.concatenate([places, 1 - np.geomspace(1e-7, 0.5 / _PARTS, 40)[::-1]])  # the tail counts at high levels
    edges = np.concatenate([[0.0], (places[1:] + places[:-1]) / 2, [1.0]])
    shares = np.diff(edges)
    return logs, np.array([_quantile(level, float(np.exp(log)), places, shares) for log in logs])


def _quantile(level: float, draws: float, places: Floats, shares: Floats) -> float:
    deviation = np.sqrt(np.maximum(gammaincinv(draws, places) / draws, 1e-300))
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        outside = float(shares @ (2 * ndtr(-middle / deviation)))
        low, high = (middle, high) if outside > 1 - level else (low, middle)
    return high
