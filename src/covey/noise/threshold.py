"""The threshold of a histogram over unknown keys. Proof and edge cases: threshold.md.

A key that only one person holds must stay unseen, except with probability delta. Noise is added to the keys that occur,
and a key is shown only if its noisy count reaches tau.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from covey.errors import ParameterError
from covey.noise.coins import exp_bounds

_WRAP = 2**63  # int64 wraps a noisy count of -2^63 - 1 to a positive number: a second way to reach tau
_LARGEST_MARGIN = 2**62


@lru_cache(maxsize=256)
def smallest_threshold(*, inverse_scale: Fraction, delta: Fraction, linf: int, coordinates: int) -> int:
    """The smallest tau > linf with coordinates · P(linf + X >= tau) <= delta, X discrete Laplace.

    Guarantee: with q = e^-inverse_scale and m = tau - linf, the certified inequality is
    coordinates · (q^m + q^(2^63)) <= delta · (1 + q); the second term pays for the wrap-around of int64.

    Edge cases: tau is at least linf + 1. If no m up to 2^62 will do, delta is too small for this scale: refused
    with a ParameterError.
    """

    def enough(margin: int) -> bool:
        return _enough(margin, inverse_scale=inverse_scale, delta=delta, coordinates=coordinates)

    margin = least_enough(enough, most=_LARGEST_MARGIN)
    if margin is None:
        raise ParameterError("delta", "too small for noise of this scale: raise delta or epsilon")
    return linf + margin


def least_enough(enough: Callable[[int], bool], *, most: int) -> int | None:
    """The least of the whole numbers 1 to `most` that is enough, as all above it are; None if `most` is not."""
    if not enough(most):
        return None
    too_small, large_enough = 0, most
    while large_enough - too_small > 1:
        middle = (too_small + large_enough) // 2
        if enough(middle):
            large_enough = middle
        else:
            too_small = middle
    return large_enough


def _enough(margin: int, *, inverse_scale: Fraction, delta: Fraction, coordinates: int) -> bool:
    """Whether coordinates · (q^margin + q^(2^63)) <= delta · (1 + q), certainly.

    Both sides agree only if a rational function of a transcendental number vanishes, which it does not: some
    precision always decides.
    """
    bits = 128
    while True:
        reached = exp_bounds(inverse_scale * margin, bits)
        wrapped = exp_bounds(inverse_scale * _WRAP, bits)
        step = exp_bounds(inverse_scale, bits)
        shown_low, shown_high = (coordinates * (a + b) for a, b in zip(reached, wrapped, strict=True))
        allowed_low, allowed_high = (delta * ((1 << bits) + q) for q in step)
        if shown_high <= allowed_low:
            return True
        if shown_low > allowed_high:
            return False
        bits *= 2
