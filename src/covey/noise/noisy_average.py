"""NOISY-AVG: averages of clusters whose sizes are private too (Nissim, Stemmer, Vadhan 2016). Proof: noisy_average.md.

m̂ = m + Lap(5/ε) - (5/ε)·ln(2/δ); if m̂ > 0, the mean plus N(0, σ²), σ = 5Δ/(4εm̂)·√(2 ln(3.5/δ)). In integers: the
mean is rounded down to a fine public unit and gets discrete Gaussian noise that covers the rounding as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Approximate, Sensitivity
from covey.noise.gaussian import LARGEST_VARIANCE, discrete_gaussian
from covey.noise.laplace import discrete_laplace
from covey.noise.mechanisms import GAUSSIAN_EPSILON, GAUSSIAN_LARGEST_EPSILON, GAUSSIAN_VARIANCE_PER_NUMBER
from covey.noise.source import Source

FINE = 2**12  # an average's unit is this part of the sums' unit
SMALLEST_DELTA = Fraction(1, 2**140)  # 0.61 of it leaves room for the 2^-150 that discrete noise may add
_DIGITS = Context(prec=40)
_SAFE = 1 + Fraction(1, 10**9)  # on every multiplier: far more than floats and Decimal can be wrong


@dataclass(frozen=True)
class NoisyAverages:
    """The average of each cluster's rows, given their sums and their number; each row is in one cluster.

    The statistic is one line of integers for each cluster: d sums, then the number of rows times `linf`, where no row
    adds a vector longer than `linf` to the sums. The answer has d averages in units of 1/`FINE`, then m̂, for each.
    m̂ <= 0 means that nothing is known: zeros, for which the caller draws any point of the domain.

    Guarantee: (epsilon, delta)-DP for adding or removing one row, for all clusters together. Edge cases: a cluster
    without rows has the average 0 and is noised like the others; m̂ = 0 is an answer of nothing, never a division; an m̂
    so small that the noise would exceed 2^45 units has the average 0. A statistic of another kind is refused.
    """

    epsilon: Fraction
    delta: Fraction
    clusters: int

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or not Fraction(1, 2**16) <= self.epsilon <= 10**4:
            raise ParameterError("epsilon", "of noisy averages must be a Fraction from 2^-16 to 10000")
        if not isinstance(self.delta, Fraction) or not SMALLEST_DELTA <= self.delta < 1:
            raise ParameterError("delta", "of noisy averages must be a Fraction from 2^-140 to below 1")
        if self.clusters < 1:
            raise ParameterError("clusters", "must be at least 1")

    def event(self) -> Approximate:
        return Approximate(self.epsilon, self.delta)

    @property
    def offset(self) -> int:
        """What is taken off a noisy number of rows, so that it hardly ever exceeds the true one."""
        log = Fraction(_DIGITS.ln(_DIGITS.divide(Decimal(2 * self.delta.denominator), Decimal(self.delta.numerator))))
        return math.ceil(5 / self.epsilon * log * _SAFE)

    @property
    def multiplier(self) -> Fraction:
        """The noise of an average, as a multiple of how far one row can move it."""
        return _multiplier(self.epsilon, self.delta)

    def add(self, exact: ArrayLike, sensitivity: Sensitivity, source: Source) -> NDArray[np.int64]:
        """Averages and m̂ of each cluster, one line after the other."""
        table = np.asarray(exact, dtype=np.int64).reshape(self.clusters, -1)
        size, longest = table.shape[1] - 1, sensitivity.linf
        if sensitivity.coordinates != size + 1 or sensitivity.l2_squared != 2 * longest**2:  # public numbers
            raise ParameterError("query", "noisy averages need sums and numbers of rows per cluster, under add-remove")
        rows = table[:, -1] // longest
        noise = discrete_laplace(self.clusters, inverse_scale=self.epsilon / 5, source=source)
        held = rows + noise - self.offset
        out = np.zeros_like(table)
        for cluster, known in enumerate(held.tolist()):
            out[cluster, -1] = known
            if known > 0:
                variance = self.variance(known, size=size, longest=longest)
                if variance > LARGEST_VARIANCE:  # follows from m̂, which is handed out: zeros, and never an error
                    continue
                count = max(1, int(rows[cluster]))
                means = [total * FINE // count for total in table[cluster, :-1].tolist()]
                out[cluster, :-1] = means + discrete_gaussian(size, variance=variance, source=source)
        return out.reshape(-1)

    def variance(self, known: int, *, size: int, longest: int) -> Fraction:
        """The variance of the noise on each average of a cluster with m̂ = `known`, in units of 1/`FINE`."""
        moved = Fraction(2 * longest * FINE, known) + math.isqrt(size - 1) + 1  # the second part covers the rounding
        return max((self.multiplier * moved) ** 2, Fraction(GAUSSIAN_VARIANCE_PER_NUMBER * size))


@lru_cache(maxsize=256)
def _multiplier(epsilon: Fraction, delta: Fraction) -> Fraction:
    # What discrete noise may cost beyond continuous noise comes off; beyond an epsilon of 100 that is not proven.
    part = min(epsilon * 4 / 5, Fraction(GAUSSIAN_LARGEST_EPSILON)) - GAUSSIAN_EPSILON
    if epsilon * 4 / 5 <= 1:
        log = _DIGITS.ln(_DIGITS.divide(Decimal(35 * delta.denominator), Decimal(10 * delta.numerator)))
        return Fraction(_DIGITS.sqrt(_DIGITS.multiply(Decimal(2), log))) / part * _SAFE
    low, high = 2.0**-20, 2.0**20
    for _ in range(200):
        middle = math.sqrt(low * high)
        if gaussian_delta(middle, float(part)) <= float(delta) / 2.8 * (1 - 1e-6):
            high = middle
        else:
            low = middle
    return Fraction(high) * _SAFE


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """The exact delta of Gaussian noise (Balle and Wang 2018), to about ten digits."""
    near, far = epsilon * multiplier - 1 / (2 * multiplier), epsilon * multiplier + 1 / (2 * multiplier)
    if near > 37:
        return 0.0
    second = math.exp(epsilon + math.log(max(math.erfc(far / math.sqrt(2)) / 2, 5e-324))) if epsilon < 700 else 0.0
    return max(0.0, math.erfc(near / math.sqrt(2)) / 2 - second)
