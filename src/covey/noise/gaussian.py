"""The discrete Gaussian distribution, exactly. Proof and edge cases: gaussian.md.

P(X = x) is proportional to e^(-x²/(2σ²)) on the integers. Canonne, Kamath and Steinke (2020, arXiv 2004.00010): propose
a discrete Laplace number Y of scale t = floor(σ) + 1, accept it with probability exp(-(|Y| - σ²/t)²/(2σ²)). Floating
point only ever decides where it cannot be wrong; the rest is decided by certified digits.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.coins import Probability, Uniform
from covey.noise.laplace import discrete_laplace
from covey.noise.source import Source

LARGEST_VARIANCE = 2**90
SMALLEST_VARIANCE = Fraction(1, 2**90)
_WORD = 2.0**-32  # one unit of the 32-bit word that decides
_MARGIN = 2.0**-36  # many times the error of the float probability, which is below 2^-48: see `_accepted`
_BLOCK = 1 << 15


def discrete_gaussian(shape: int | tuple[int, ...], *, variance: Fraction, source: Source) -> NDArray[np.int64]:
    """Independent integers X with P(X = x) proportional to exp(-x²/(2·variance)).

    Guarantee: the distribution is exact. `variance` is the parameter σ²; the variance of X itself is at most
    that, and equal to it for all practical purposes once σ > 1.

    Edge cases: variance outside [2^-90, 2^90] is refused with a ParameterError. How many proposals are rejected
    is independent of the numbers that come out.
    """
    check_variance(variance)
    scale = isqrt(variance.numerator // variance.denominator) + 1
    noise = np.empty(shape, dtype=np.int64)
    flat = noise.reshape(-1)
    filled = 0
    while filled < flat.size:
        missing = flat.size - filled
        proposed = discrete_laplace(min(_BLOCK, missing * 7 // 5 + 16), inverse_scale=Fraction(1, scale), source=source)
        kept = proposed[_accepted(proposed, variance=variance, scale=scale, source=source)][:missing]
        flat[filled : filled + kept.size] = kept
        filled += kept.size
    return noise


def check_variance(variance: Fraction) -> None:
    """Refuse a variance outside [2^-90, 2^90]."""
    if not isinstance(variance, Fraction) or variance <= 0:
        raise ParameterError("multiplier", "the variance of the noise must be a positive Fraction")
    if variance > LARGEST_VARIANCE:
        raise ParameterError("multiplier", "the noise would exceed 2^45 units; give the query coarser units")
    if variance < SMALLEST_VARIANCE:
        raise ParameterError("multiplier", "the noise would be below 2^-45 units; give the query finer units")


def _accepted(proposed: NDArray[np.int64], *, variance: Fraction, scale: int, source: Source) -> NDArray[np.bool_]:
    """For each Y an independent coin of probability exactly e^-x, x = (|Y| - c)²/(2·variance), c = variance/scale.

    Why the float value of e^-x is within 2^-48 (u = 2^-53 is the unit roundoff; terms in u² are left to the slack):
    c = whole + part. |Y| - whole is an exact integer, and exact as a float below 2^53; beyond, it is rounded by a
    relative u. `part` is off by at most u·c, and c <= σ because scale > σ. So z = |Y| - c is off by at most
    2u|z| + uσ (the conversion and the subtraction; the part), and x = z·z·h, h = 1/(2σ²) rounded once, by
    u·(4x + 3x) + 2|z|·uσ·h = u·(7x + sqrt(2x)) <= u·(8x + 1). That moves e^-x by at most u·(8x + 1)·e^-x < 4u, and
    exp itself is trusted to a relative 2^-49 only (libraries promise 2^-52). Together: below 2^-48.
    """
    whole = variance // scale
    part = float(variance / scale - whole)
    away = np.abs(proposed) - whole - part
    with np.errstate(all="ignore"):  # underflow to 0 is meant, whatever the caller's settings
        probability = np.exp(away * away * -float(1 / (2 * variance)))
    words = source.words(proposed.size, np.uint32)
    above = probability - words * _WORD  # the uniform number lies in [words, words + 1) · _WORD
    accepted: NDArray[np.bool_] = above >= _WORD + _MARGIN
    for unsure in np.flatnonzero(~accepted & (above > -_MARGIN)):
        exponent = (abs(int(proposed[unsure])) - variance / scale) ** 2 / (2 * variance)
        uniform = Uniform(source, value=int(words[unsure]), bits=32)
        accepted[unsure] = uniform.below(Probability.exp_minus(exponent))
    return accepted
