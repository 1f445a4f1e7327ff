"""Noise on vectors whose law depends on their length alone, exactly. Proof and edge cases: radial.md.

P(Z = z) is proportional to e^(-t·|z|) on vectors of d integers, |z| their Euclidean length. Proposals are a mixture of
discrete Gaussian vectors of variance j²/t², j = 1, 2, ...; each length belongs to one j, by exact comparison, and a
proposal of that j is accepted by a certified coin. No float decides anything.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.coins import Probability, Uniform, exp_bounds
from covey.noise.gaussian import discrete_gaussian
from covey.noise.selection import land
from covey.noise.source import Source

LARGEST_RATE = 4  # the noise of a number is then below a unit
LARGEST_SCALE = 2**36  # leaves room for j up to 2^9 below the largest variance of Gaussian noise
LARGEST_SIZE = 2**10  # beyond, the weights of the spreads would take seconds; a j beyond 2^9 is then below e^-100000
_SPARE = 64


def radial_laplace(count: int, size: int, *, rate: Fraction, source: Source) -> NDArray[np.int64]:
    """`count` independent vectors Z of `size` integers, P(Z = z) proportional to e^(-rate·|z|).

    Guarantee: the distribution is exact. Edge cases: a rate outside [2^-36, 4], or vectors of more than 2^10 numbers,
    are refused with a ParameterError. How many proposals are rejected, about half, is independent of what comes out.
    """
    check_rate(rate, size)
    drawn = np.empty((count, size), dtype=np.int64)
    missing = np.arange(count)
    while missing.size:
        spreads = np.array([_spread(rate, size, source) for _ in missing])
        rejected = []
        for j in np.unique(spreads).tolist():
            places = missing[spreads == j]
            drawn[places] = discrete_gaussian((places.size, size), variance=(j / rate) ** 2, source=source)
            rejected += [place for place in places if not _accepted(drawn[place].tolist(), j, rate, source)]
        missing = np.array(rejected, dtype=np.int64)
    return drawn


def check_rate(rate: Fraction, size: int) -> None:
    """Refuse a rate outside [2^-36, 4], and vectors of more than 2^10 numbers."""
    if not isinstance(rate, Fraction) or not 1 <= rate * LARGEST_SCALE <= LARGEST_RATE * LARGEST_SCALE:
        raise ParameterError("epsilon", "the scale of the noise must be from 1/4 to 2^36 units")
    if not 1 <= size <= LARGEST_SIZE:
        raise ParameterError("query", "the blocks of a statistic must have 1 to 2^10 numbers each")


def _spread(rate: Fraction, size: int, source: Source) -> int:
    """j >= 1 with probability proportional to e^(-j²/2)·θ_j^size, θ_j = Σ_m e^(-(rate·m/j)²/2)."""
    return 1 + land(lambda bits: spread_bounds(rate, size, bits), Uniform.drawn(source), endless=True)


@lru_cache(maxsize=64)
def spread_bounds(rate: Fraction, size: int, bits: int) -> list[tuple[int, int]]:
    """Bounds of the weights of j = 1, 2, ..., in common units; the last is for all the rest together."""
    last = isqrt(size) + 2 + isqrt(bits)
    work = bits + size + 2 * (isqrt(size) + 1) * (isqrt(bits) + 3)
    weights = []
    for j in range(1, last + 1):
        low, high = (bound * j**size for bound in exp_bounds(Fraction(j * j, 2), work))
        below, above = power_bounds(*theta_bounds(j / rate, work), size, work)
        weights.append((low * below >> work, -(-high * above >> work)))
    return [*weights, (0, weights[-1][1])]  # each weight beyond is less than half of the one before


def power_bounds(low: int, high: int, exponent: int, bits: int) -> tuple[int, int]:
    """Bounds of 2^bits·(v/2^bits)^exponent for low <= v <= high: by squares, each rounded outwards."""
    least = most = 1 << bits
    while exponent:
        if exponent & 1:
            least, most = least * low >> bits, -(-most * high >> bits)
        low, high, exponent = low * low >> bits, -(-high * high >> bits), exponent >> 1
    return least, most


def theta_bounds(sigma: Fraction, bits: int) -> tuple[int, int]:
    """Integers around 2^bits·Σ_m e^(-m²/(2σ²))/(σ√(2π)) = 2^bits·(1 + 2·Σ_(m >= 1) e^(-2π²σ²m²)), for σ >= 1/4."""
    low = high = 1 << bits
    least, most = (2 * (bound * sigma / (1 << bits)) ** 2 for bound in pi_bounds(bits))
    m = 1
    while True:
        low += 2 * exp_bounds(most * m * m, bits)[0]
        high += 2 * exp_bounds(least * m * m, bits)[1]
        if least * m * m >= bits:
            return low, high + 2  # what is left is less than the last term, which is less than one unit
        m += 1


@lru_cache(maxsize=8)
def pi_bounds(bits: int) -> tuple[int, int]:
    """Integers low <= π·2^bits <= low + 3, by Machin's formula: cut terms err by far less than 2^64 of their units."""
    one = 1 << bits + _SPARE

    def arctan(n: int) -> int:
        """Of 1/n: the alternating series."""
        power, total, odd = one // n, 0, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= n * n
            odd += 2
        return total

    units = 16 * arctan(5) - 4 * arctan(239) >> _SPARE
    return units - 1, units + 2


def _accepted(vector: list[int], j: int, rate: Fraction, source: Source) -> bool:
    """A coin of probability e^(-1/2 + (x - j²)²/(2j²)), x = rate·|vector|, if j(j-1) <= x < j(j+1); else never."""
    square = rate**2 * sum(number * number for number in vector)  # x², exactly
    if not (j * (j - 1)) ** 2 <= square < (j * (j + 1)) ** 2:
        return False
    return Uniform.drawn(source).below(Probability(lambda bits: coin_bounds(square, j, bits)))


def coin_bounds(square: Fraction, j: int, bits: int) -> tuple[int, int]:
    """Bounds of 2^bits·e^-y, y = x + 1/2 - j²/2 - x²/(2j²), which only needs a root for its x. Exact where y is 0."""
    product = square.numerator * square.denominator << 2 * bits  # x = √product / (denominator·2^bits)
    root = isqrt(product)
    roots = (root, root if root * root == product else root + 1)
    rest = Fraction(1 - j * j, 2) - square / (2 * j * j)
    least, most = (max(rest + Fraction(each, square.denominator << bits), Fraction(0)) for each in roots)
    return exp_bounds(most, bits)[0], exp_bounds(least, bits)[1]
