"""The discrete Laplace distribution, exactly. Proof and edge cases: laplace.md.

P(X = x) is proportional to e^(-s|x|) on the integers, s = epsilon / sensitivity. X is the difference of two geometric
numbers, and the digits of a geometric number (in any base) are independent: each is one draw of an exact wheel.
The work depends on s and on how many numbers are drawn, never on their values.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.coins import Probability, Wheel, exp_bounds
from covey.noise.source import Source

LARGEST_SCALE = 2**55
_REACH = 45  # the wheels reach to e^-45: the tail beyond them is exact as well, but slow, and so kept rare
_DIGIT_BITS = 6  # 64 faces: fewer wheels than with coins, and a table with a tie in at most a thousandth
_BLOCK = 1 << 15  # words, digits and results of a block stay in the second-level cache


def discrete_laplace(shape: int | tuple[int, ...], *, inverse_scale: Fraction, source: Source) -> NDArray[np.int64]:
    """Independent integers X with P(X = x) = (1-q)/(1+q) · q^|x|, q = e^-inverse_scale.

    Guarantee: the distribution is exact. Results are given modulo 2^64, as int64; a number beyond 2^63 wraps
    around, which for x + X is post-processing (and has probability at most e^-256).

    Edge cases: a scale 1/inverse_scale above 2^55 is refused with a ParameterError. A scale close to 0 gives
    zeros. Shape () gives a 0-dimensional array.
    """
    check_scale(inverse_scale)
    wheels = _wheels(inverse_scale)
    noise = np.empty(shape, dtype=np.int64)
    flat = noise.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        _fill(flat[start : start + _BLOCK], wheels, source)
    return noise


def check_scale(inverse_scale: Fraction) -> None:
    """Refuse a scale that is not positive or beyond 2^55."""
    if not isinstance(inverse_scale, Fraction) or inverse_scale <= 0:
        raise ParameterError("epsilon", "the inverse scale of the noise must be a positive Fraction")
    if inverse_scale * LARGEST_SCALE < 1:
        raise ParameterError(
            "epsilon", "too small: the noise would exceed 2^55 units; raise epsilon, or spend it in fewer parts"
        )


def _fill(block: NDArray[np.int64], wheels: tuple[tuple[int, Wheel], ...], source: Source) -> None:
    """Write block = G1 - G2, digit by digit; the last wheel is the top digit."""
    count = block.size
    block[:] = 0
    for weight, wheel in wheels:
        digits = wheel.draw(2 * count, source).view(np.int8)  # at most 64: the sign bit is free
        block += np.multiply(digits[:count] - digits[count:], weight, dtype=np.int64)
    # The top digit has no largest value: its wheel's last face says "that many, and a fresh top digit on top".
    beyond = np.flatnonzero(digits == wheel.size)
    while beyond.size:
        again = wheel.draw(beyond.size, source)
        signed = np.where(beyond < count, weight, -weight) * again.astype(np.int64)
        np.add.at(block, beyond % count, signed)
        beyond = beyond[again == wheel.size]


@lru_cache(maxsize=32)
def _wheels(inverse_scale: Fraction) -> tuple[tuple[int, Wheel], ...]:
    """The digits of a geometric number with P(G >= m) = e^(-inverse_scale·m): (place value, wheel), low to high."""
    total = 1
    while inverse_scale * 2**total < _REACH:
        total += 1
    places = -(-total // _DIGIT_BITS)
    wheels = []
    shift = 0
    for place in range(places):
        faces = 1 << (total - shift) // (places - place)
        top = place == places - 1
        wheels.append((1 << shift, Wheel(digit(inverse_scale * 2**shift, faces=faces, top=top))))
        shift += faces.bit_length() - 1
    return tuple(wheels)


def digit(rate: Fraction, *, faces: int, top: bool) -> list[Probability]:
    """P(D >= k), k = 1, 2, ..., for one digit D of a geometric number; rate = inverse scale · place value.

    Below the top, P(D = d) is proportional to x^d for d < faces, x = e^-rate: k runs to faces - 1. The top digit
    is geometric itself, P(D >= k) = x^k, and k runs to faces, where the wheel stops and the caller goes on.
    """

    @lru_cache(maxsize=2)
    def powers(bits: int) -> list[tuple[int, int]]:
        low, high = exp_bounds(rate, bits)
        bounds = [(1 << bits, 1 << bits)]
        for _ in range(faces):
            bounds.append((bounds[-1][0] * low >> bits, -(-bounds[-1][1] * high >> bits)))
        return bounds

    def at_least(k: int, bits: int) -> tuple[int, int]:
        (low, high), (cut_low, cut_high) = powers(bits)[k], powers(bits)[faces]
        if top:
            return low, high
        one = 1 << bits
        if cut_high >= one:  # the precision is too small to tell x^faces from 1
            return 0, one
        return (max(low - cut_high, 0) << bits) // (one - cut_low), -((cut_low - high << bits) // (one - cut_high))

    def threshold(k: int) -> Probability:
        return Probability(lambda bits: at_least(k, bits))

    return [threshold(k) for k in range(1, faces + top)]
