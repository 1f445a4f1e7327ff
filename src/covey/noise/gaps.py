"""Which places of a table a random sample keeps, exactly and without visiting the others. Proof: gaps.md.

Every place has a coin of its own that shows heads with exactly the given rate. The number of tails between two heads
is geometric, so the sampler draws those gaps and skips the tails. Floating point answers where its error bound says
that it cannot be wrong; otherwise certified arithmetic with more digits does.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.coins import Uniform
from covey.noise.source import Source

Places = NDArray[np.int64]
SMALLEST_RATE = Fraction(1, 2**40)
_FARTHEST = 2**44  # no table is longer: a larger gap ends every one of them just the same
_FEWEST, _MOST = 2**8, 2**16  # gaps drawn at a time; sums of 2^16 gaps stay below 2^61


def check_rate(rate: Fraction) -> None:
    if not isinstance(rate, Fraction) or not SMALLEST_RATE <= rate < 1:
        raise ParameterError("sample", "a rate must be a Fraction from 2^-40 to 1, below 1")


def gaps(count: int, *, rate: Fraction, source: Source) -> Places:
    """`count` independent geometric numbers: P(gap >= g) = (1 - rate)^g exactly, up to 2^44, where they are cut.

    Edge cases: a rate outside [2^-40, 1) is refused.
    """
    check_rate(rate)
    words = source.words(count, np.uint64)
    drawn, sure = _by_floats(words, rate=rate)
    for unsure in np.flatnonzero(~sure):
        uniform = Uniform(source, value=int(words[unsure]), bits=64)
        drawn[unsure] = min(gap_exactly(uniform, rate=rate), _FARTHEST)
    return drawn


def _by_floats(words: NDArray[np.uint64], *, rate: Fraction) -> tuple[Places, NDArray[np.bool_]]:
    """The gaps that U in [word, word + 1)/2^64 stands for, and where floats are sure of them.

    The gap is floor(q), q = ln U / ln(1 - rate). The errors, with u = 2^-53: `word` as a float is off by a relative
    u, and U is up to 1/word (relative) above it, so ln U is off by less than 2u + 2/word; log is trusted to a relative
    2^-49 only; `slope`, the float nearest to 1/-ln(1 - rate), to u, and the product to u. So q is off by less than
    (2u + 2/word)·slope + q·2^-48, and the margin is twice that. A gap of 0 has no lower end to keep away from.
    """
    slope = _slope(rate)
    with np.errstate(all="ignore"):  # the word 0 makes infinities, which are never sure
        floats = words.astype(np.float64)
        q = -np.log(floats * 2.0**-64) * slope
        floor = np.floor(q)
        margin = 2 * ((2.0**-52 + 2 / floats) * slope + q * 2.0**-48)
        past = q - floor
        sure = ((past > margin) | (floor == 0)) & (1 - past > margin)
        sure &= words > 0
        floor[~sure] = 0
    return np.minimum(floor, _FARTHEST).astype(np.int64), sure


@lru_cache(maxsize=64)
def _slope(rate: Fraction) -> float:
    context = Context(prec=60)  # never the caller's, which may keep a few digits only
    return float(context.divide(Decimal(-1), _log_of_tails(rate, context)))


def _log_of_tails(rate: Fraction, context: Context) -> Decimal:
    tails = 1 - rate
    return context.ln(context.divide(Decimal(tails.numerator), Decimal(tails.denominator)))


def gap_exactly(uniform: Uniform, *, rate: Fraction) -> int:
    """The gap that `uniform` stands for, by certified arithmetic alone: slow, and always right.

    With p digits, quotients and logarithms are correctly rounded, each to a relative 10^(1-p). The rounding of
    1 - rate moves its logarithm by a relative 10^(1-p)/rate < 10^(14-p); that of U, which is 1 (whose logarithm is
    exact) or at least 2^-bits below 1, by a relative 10^(1-p)·2^bits. With a = bits·log10(2) and p = 60 + 2a both are
    below 10^(-45-a), so q is off by less than a relative 10^(-40-a): the bounds close in as bits grow.
    """
    while True:
        if uniform.value > 0:
            digits = uniform.bits * 302 // 1000 + 1
            context = Context(prec=60 + 2 * digits)
            slope, scale = _log_of_tails(rate, context), Decimal(1 << uniform.bits)
            most, least = (
                context.divide(context.ln(context.divide(Decimal(end), scale)), slope)
                for end in (uniform.value, uniform.value + 1)
            )
            off = Decimal(1).scaleb(-40 - digits, context)
            first = _floor(context.multiply(least, context.subtract(Decimal(1), off)))
            if first == _floor(context.multiply(most, context.add(Decimal(1), off))):
                return first
        uniform.more()


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_FLOOR))


def kept(*, rate: Fraction, source: Source) -> Iterator[Places]:
    """The places of the heads in an endless row of coins, ascending, in blocks; stop asking when they are too far."""
    after, many = -1, _FEWEST
    while after < _FARTHEST:
        block = after + np.cumsum(gaps(many, rate=rate, source=source) + 1)
        after = int(block[-1])
        yield block
        many = min(2 * many, _MOST)


def choose(size: int, *, of: int, source: Source) -> Places:
    """`size` different places below `of`, ascending; every such set with the same probability.

    They are the first `size` different ones in a row of independent uniform places; where more than half are wanted,
    those to leave out are drawn instead. A uniform place is a word modulo `of`; words of the last, incomplete
    round of remainders are thrown away.
    """
    if not 0 <= size <= of <= _FARTHEST:
        raise ParameterError("sample", "a size must be from 0 to the number of rows")
    if 2 * size > of:
        left_out = choose(of - size, of=of, source=source)
        stay = np.ones(of, dtype=np.bool_)
        stay[left_out] = False
        return np.flatnonzero(stay)
    drawn = np.empty(0, dtype=np.int64)
    while True:
        different, first = np.unique(drawn, return_index=True)
        if different.size >= size:
            return np.sort(different[np.argsort(first, kind="stable")[:size]])
        words = source.words((size - different.size) * 3 // 2 + 16, np.uint64)
        if 2**64 % of:
            words = words[words < 2**64 - 2**64 % of]
        drawn = np.concatenate([drawn, (words % np.uint64(of)).astype(np.int64)])
