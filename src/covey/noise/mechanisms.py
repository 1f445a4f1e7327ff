"""Mechanisms: frozen, public descriptions of noise, each of which knows what it costs.

The scale of the noise and the event that is charged come from the same field, so they cannot drift apart. A mechanism
is used by the curator only: it gets an exact statistic, its sensitivity and a source, and hands back what may be
published.

What the accountant must add for Gaussian events (proof in gaussian.md). Events are composed as if the noise were
continuous. If a plan with n Gaussian events is (epsilon, delta)-DP by that account, and epsilon <= 100, then
with the integers that Covey draws it is (epsilon + n·2^-20, (1 + n·2^-29)·delta + n·2^-150)-DP. These numbers are the
constants `GAUSSIAN_*` below; the budget folder holds its own copy of them, as the two may not import each other.
Laplace noise, on numbers or blocks, the exponential mechanism and thresholded histograms need no such addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Approximate, Gaussian, Pure, Sensitivity
from covey.noise.gaussian import check_variance, discrete_gaussian
from covey.noise.laplace import check_scale, discrete_laplace
from covey.noise.radial import LARGEST_RATE, check_rate, radial_laplace
from covey.noise.selection import pick
from covey.noise.source import Source
from covey.noise.threshold import smallest_threshold

GAUSSIAN_EPSILON = Fraction(1, 2**20)
GAUSSIAN_DELTA_FACTOR = Fraction(1, 2**29)
GAUSSIAN_DELTA = Fraction(1, 2**150)
GAUSSIAN_LARGEST_EPSILON = 100
GAUSSIAN_VARIANCE_PER_NUMBER = 2**26


@dataclass(frozen=True)
class DiscreteLaplace:
    """Integer Laplace noise of scale (L1 sensitivity)/epsilon on every number of a statistic.

    Guarantee: epsilon-DP, exactly. Edge cases: see `discrete_laplace`; the sum wraps around modulo 2^64.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def event(self) -> Pure:
        return Pure(self.epsilon)

    def check(self, sensitivity: Sensitivity) -> None:
        """Refuse noise that `add` would refuse, which a caller can do before it pays."""
        check_scale(self.epsilon / sensitivity.l1)

    def add(self, exact: ArrayLike, sensitivity: Sensitivity, source: Source) -> NDArray[np.int64]:
        """exact + noise, in the shape of `exact`."""
        numbers = _integers(exact)
        noise = discrete_laplace(numbers.shape, inverse_scale=self.epsilon / sensitivity.l1, source=source)
        return np.add(numbers, noise, out=noise)


@dataclass(frozen=True)
class RadialLaplace:
    """Integer noise on every block of a statistic, by the block's length: rate epsilon/(sum of the blocks' L2 changes).

    Guarantee: epsilon-DP, exactly. Edge cases: a statistic without blocks is made of blocks of one number each; a rate
    beyond 4 is drawn as 4, which is more noise than was paid for; the sum wraps around modulo 2^64.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def event(self) -> Pure:
        return Pure(self.epsilon)

    def rate(self, sensitivity: Sensitivity) -> Fraction:
        return min(self.epsilon / sensitivity.l2_by_block, Fraction(LARGEST_RATE))

    def check(self, sensitivity: Sensitivity) -> None:
        """Refuse noise that `add` would refuse, which a caller can do before it pays."""
        check_rate(self.rate(sensitivity), sensitivity.block)

    def add(self, exact: ArrayLike, sensitivity: Sensitivity, source: Source) -> NDArray[np.int64]:
        """exact + noise, in the shape of `exact`."""
        numbers = _integers(exact)
        blocks = numbers.reshape(-1, sensitivity.block)
        noise = radial_laplace(*blocks.shape, rate=self.rate(sensitivity), source=source)
        return np.add(numbers, noise.reshape(numbers.shape))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Integer Gaussian noise of standard deviation multiplier · (L2 sensitivity) on every number of a statistic.

    Guarantee: what the continuous Gaussian mechanism of this multiplier gives, and the fixed addition stated at
    the top of this file. Edge cases: a variance below 2^26 per number of the statistic is refused, because
    the addition is proven from there on; the units of a query are public, so this says nothing about rows.
    """

    multiplier: Fraction

    def __post_init__(self) -> None:
        _positive("multiplier", self.multiplier)

    def event(self) -> Gaussian:
        return Gaussian(self.multiplier)

    def add(self, exact: ArrayLike, sensitivity: Sensitivity, source: Source) -> NDArray[np.int64]:
        """exact + noise, in the shape of `exact`."""
        numbers = _integers(exact)
        variance = self.multiplier**2 * sensitivity.l2_squared
        if variance < GAUSSIAN_VARIANCE_PER_NUMBER * numbers.size:
            raise ParameterError(
                "multiplier", "the noise is too coarse on this statistic's integers: give the query finer units"
            )
        noise = discrete_gaussian(numbers.shape, variance=variance, source=source)
        return np.add(numbers, noise, out=noise)

    def check(self, sensitivity: Sensitivity) -> None:
        """Refuse noise that is too large to be drawn, which a caller can do before it pays."""
        check_variance(self.multiplier**2 * sensitivity.l2_squared)


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism: an index, chosen with probability proportional to e^(rate·utility).

    The rate is epsilon/(2·linf); if one person moves all utilities in the same direction, epsilon/linf.

    Guarantee: epsilon-DP, exactly. Edge cases: see `pick`.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)

    def event(self) -> Pure:
        return Pure(self.epsilon)

    def pick(self, utilities: ArrayLike, sensitivity: Sensitivity, source: Source) -> int:
        """The index of the chosen candidate."""
        worst = sensitivity.linf if sensitivity.monotone else 2 * sensitivity.linf
        return pick(_integers(utilities), rate=self.epsilon / worst, source=source)


@dataclass(frozen=True)
class ThresholdedLaplace:
    """Integer Laplace noise on the counts of keys that occur; only noisy counts of at least tau are shown.

    Guarantee: (epsilon, delta)-DP, although which keys occur is itself private. Edge cases: keys whose count is not
    positive are dropped first, as if they did not occur; no keys at all is a normal release; tau depends on public
    numbers only.
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _positive("epsilon", self.epsilon)
        _positive("delta", self.delta)
        if self.delta >= 1:
            raise ParameterError("delta", "must be below 1")

    def event(self) -> Approximate:
        return Approximate(self.epsilon, self.delta)

    def threshold(self, sensitivity: Sensitivity) -> int:
        """tau: the smallest noisy count that is shown."""
        return smallest_threshold(
            inverse_scale=self.epsilon / sensitivity.l1,
            delta=self.delta,
            linf=sensitivity.linf,
            coordinates=sensitivity.coordinates,
        )

    def add_by_key(
        self, keys: NDArray[Any], counts: ArrayLike, sensitivity: Sensitivity, source: Source
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The keys whose noisy count reaches tau, in ascending order, and these noisy counts.

        `keys` is an array of distinct keys, or of distinct rows that are compared from the left. The order in which
        they come in (which may follow the order of the rows) leaves no trace.
        """
        tau = self.threshold(sensitivity)
        numbers = _integers(counts)
        if keys.ndim not in (1, 2) or numbers.shape != keys.shape[:1]:
            raise ValueError("a histogram has one count for each key")
        occurs = numbers > 0
        keys, numbers = keys[occurs], numbers[occurs]
        columns = keys.reshape(len(keys), -1) if keys.size else keys.reshape(0, 1)
        order = np.lexsort(columns.T[::-1])
        keys, numbers, columns = keys[order], numbers[order], columns[order]
        if (columns[1:] == columns[:-1]).all(axis=1).any():
            raise ValueError("a histogram holds each key once")
        noise = discrete_laplace(numbers.shape, inverse_scale=self.epsilon / sensitivity.l1, source=source)
        noisy = np.add(numbers, noise, out=noise)
        shown = noisy >= tau
        return keys[shown], noisy[shown]


def _positive(name: str, value: object) -> None:
    if not isinstance(value, Fraction) or value <= 0:
        raise ParameterError(name, "must be a positive Fraction; covey.events.exactly makes one of a number")


def _integers(values: ArrayLike) -> NDArray[np.int64]:
    """The values as int64; floats are refused by their type, so no value decides whether this raises."""
    array = np.asarray(values)
    if not np.can_cast(array.dtype, np.int64) or array.dtype.kind == "b":
        raise TypeError("noise is added to integers only")
    return array.astype(np.int64, copy=False)
