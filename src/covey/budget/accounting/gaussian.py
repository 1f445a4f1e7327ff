"""The Gaussian mechanism in closed form (Balle and Wang 2018), with every rounding error on the safe side.

Noise of standard deviation sigma on a statistic of sensitivity 1 has mu = 1/sigma. Its exact privacy curve is

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon * Phi(-mu/2 - epsilon/mu)

and Gaussians compose, adaptively and without loss, by adding up mu squared (Dong, Roth and Su 2022). The functions
here return upper bounds on what is spent: floats are only accurate to some digits, so a margin larger than their
error is always added.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

# Above this the second term of the curve is left out, which can only make delta larger, and e^epsilon never overflows.
_LARGE_EPSILON = 600.0
# Far below any delta that can be asked for; covers what erfc loses to underflow.
_UNDERFLOW = 1e-290
_TINIEST = 2.0**-1072  # a few units of the smallest floats: what erfc may gain there, before e^epsilon magnifies it
_STEPS = 200


def float_up(value: Fraction) -> float:
    """The smallest-effort float that is at least `value`."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_down(value: Fraction) -> float:
    """The smallest-effort float that is at most `value`."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def root_up(value: Fraction) -> float:
    """A float that is at least the square root of `value`."""
    root = math.sqrt(float_up(value))
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def delta_bound(*, mu: float, epsilon: float) -> float:
    """At least the exact delta of Gaussian noise at this epsilon, and at most 1; 0 if mu is 0.

    Within 0.001% of the exact value for epsilon below 600 and mu above 1e-6.
    """
    if mu == 0.0:
        return 0.0
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near > 40 + 2.0**-40 * far:
        return _UNDERFLOW  # Phi(-40) is below 1e-349
    # erfc turns an error e of its argument t into a relative error of about 2*t*e, and t itself carries a few
    # roundings of `far`: 16 of them are allowed for.
    margin = 2.0**-48 * (1 + far) ** 2
    if margin >= 1:
        return 1.0
    upper = math.erfc(near / math.sqrt(2)) / 2 * (1 + margin)
    lower = 0.0
    if epsilon < _LARGE_EPSILON:
        lower = math.exp(epsilon) * max(0.0, math.erfc(far / math.sqrt(2)) / 2 * (1 - margin) - _TINIEST)
    return min(1.0, max(0.0, upper - lower) + _UNDERFLOW)


def epsilon_bound(*, mu: float, delta: float) -> float:
    """At least the exact epsilon of Gaussian noise at this delta > 0, within a factor of 1e-9 where it matters."""
    if delta_bound(mu=mu, epsilon=0.0) <= delta:
        return 0.0
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))  # the tail bound: a start, checked below
    while delta_bound(mu=mu, epsilon=high) > delta:
        high = 2 * high + 1
        if high > 1e15:
            return math.inf
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low <= 1e-12 * high:
            break
        if delta_bound(mu=mu, epsilon=middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def mu_bound(*, epsilon: float, delta: float) -> float:
    """At most the largest mu whose noise is (epsilon, delta)-DP; 0 if there is none."""
    if delta <= _UNDERFLOW or epsilon < 0:
        return 0.0
    low, high = 0.0, 2.0**-40
    while high < 2.0**24 and delta_bound(mu=high, epsilon=epsilon) <= delta:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if delta_bound(mu=middle, epsilon=epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


class Mixture:
    """The privacy curve of Gaussian noise composed with (epsilon, delta) events: a start for searches, not a bound.

    Such an event loses +epsilon or -epsilon at worst, so the curve is a finite sum of Gaussian curves, shifted.
    Beyond 512 different sums of losses, neighbouring ones are merged.
    """

    def __init__(self, pairs: Iterable[tuple[Fraction, Fraction, int]]) -> None:
        self.losses = {0.0: 1.0}
        self.lost = 0.0  # the probability of an unbounded loss
        for epsilon, delta, times in pairs:
            up = float(epsilon)
            likely = 1 / (1 + math.exp(-min(up, 500.0)))
            for _ in range(times):
                spread: dict[float, float] = {}
                for loss, weight in self.losses.items():
                    for moved, part in ((loss + up, likely), (loss - up, 1 - likely)):
                        moved = round(moved, 12)
                        spread[moved] = spread.get(moved, 0.0) + weight * part
                self.losses = _merged(spread)
                self.lost = self.lost + float(delta) * (1 - self.lost)

    def delta(self, *, mu: float, epsilon: float) -> float:
        finite = sum(w * _delta_anywhere(mu=mu, epsilon=epsilon - loss) for loss, w in self.losses.items())
        return self.lost + (1 - self.lost) * finite

    def mu(self, *, epsilon: float, delta: float, most: float) -> float:
        """The largest mu up to `most` whose curve passes below (epsilon, delta); 0 if none does."""
        low, high = 0.0, most
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(mu=middle, epsilon=epsilon) <= delta else (low, middle)
        return low


def _delta_anywhere(*, mu: float, epsilon: float) -> float:
    """delta at any epsilon; below 0 the curve follows from the one above 0 by symmetry."""
    if epsilon >= 0:
        return delta_bound(mu=mu, epsilon=epsilon)
    return 1 - math.exp(epsilon) * (1 - delta_bound(mu=mu, epsilon=-epsilon))


def _merged(losses: dict[float, float], most: int = 512) -> dict[float, float]:
    if len(losses) <= most:
        return losses
    step = (max(losses) - min(losses)) / (most - 1)
    merged: dict[float, float] = {}
    for loss, weight in losses.items():
        place = round(loss / step) * step
        merged[place] = merged.get(place, 0.0) + weight
    return merged
