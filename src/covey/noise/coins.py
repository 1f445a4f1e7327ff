"""Exact coins and wheels: random choices whose probabilities are real numbers such as 1/(1+e), not floats.

A probability is known by certified binary digits, as many as are asked for. A choice compares a uniform number with
it digit by digit, and asks for more digits of both only while they agree. So the probability of the outcome
*is* the real number: nothing is rounded, and two words of randomness decide practically always.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from covey.noise.source import Source

Bounds = Callable[[int], tuple[int, int]]
_MORE = 64  # how many further digits a tie draws at a time
_HEAD = 16  # digits of the first comparison: the fastest size of word that seldom ties
_TIE = 255


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= e^-exponent · 2^bits <= high <= low + 3, for an exponent >= 0.

    Decimal's division, exp and multiplication are correctly rounded, each to a relative 10^(1 - digits) at most. The
    exponent is below `bits`, so the rounding of the quotient moves e^-exponent by a relative bits·10^(1 - digits). All
    together that is less than 2^bits·(bits + 3)·10^(1 - digits) < (bits + 3)·10^-14 < 1 unit.
    """
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent >= bits:  # e^-bits < 2^-bits: do not bother decimal with exponents that may be astronomic
        return 0, 1
    context = Context(prec=bits * 302 // 1000 + 16)  # 2^bits < 10^(0.302·bits): at least 15 guard digits
    quotient = context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    units = int(context.multiply(context.exp(quotient), Decimal(1 << bits)))
    return max(units - 1, 0), units + 2


class Probability:
    """A real number in [0, 1], known by certified binary digits.

    `bounds(bits)` gives integers low <= p·2^bits <= high that close in on p·2^bits, relative to 2^bits, as bits
    grow. Guarantee: `leading(bits)` is floor(p·2^bits), certainly.

    Edge cases: a p that is itself a binary fraction must have exact bounds (low == high) from some precision
    on, or its digits could never be certified. Every other p needs nothing; e^-a with rational a > 0, and every
    non-constant rational function of it, is transcendental and so never a binary fraction.
    """

    __slots__ = ("_bounds", "_known")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._known = (0, -1)  # bits, value; none yet

    @classmethod
    def rational(cls, value: Fraction) -> Probability:
        """The fraction itself."""
        if not 0 <= value <= 1:
            raise ValueError("a probability lies in [0, 1]")
        top, bottom = value.numerator, value.denominator
        return cls(lambda bits: ((top << bits) // bottom, -((-top << bits) // bottom)))

    @classmethod
    def exp_minus(cls, exponent: Fraction) -> Probability:
        """e^-exponent, for an exponent >= 0."""
        if exponent < 0:
            raise ValueError("a probability lies in [0, 1]")
        return cls(lambda bits: exp_bounds(exponent, bits))

    def leading(self, bits: int) -> int:
        """floor(p · 2^bits)."""
        known, value = self._known
        if value >= 0 and bits <= known:
            return value >> (known - bits)
        work = bits + 64
        while True:
            low, high = (bound >> (work - bits) for bound in self._bounds(work))
            if low == high:
                self._known = (bits, low)
                return low
            work *= 2


class Uniform:
    """One uniform real number in [0, 1), whose binary digits are drawn when they are needed.

    So far it lies in [value, value + 1) / 2^bits.
    """

    __slots__ = ("_source", "bits", "value")

    def __init__(self, source: Source, *, value: int = 0, bits: int = 0) -> None:
        self._source = source
        self.value = value
        self.bits = bits

    @classmethod
    def drawn(cls, source: Source) -> Uniform:
        """With its first 64 digits, which nearly always decide."""
        return cls(source, value=int(source.words(1, np.uint64)[0]), bits=_MORE)

    def more(self) -> None:
        """Draw 64 more digits."""
        self.value = self.value << _MORE | int(self._source.words(1, np.uint64)[0])
        self.bits += _MORE

    def below(self, probability: Probability) -> bool:
        """Whether the number is below `probability`: an event of exactly that probability."""
        while True:
            edge = probability.leading(self.bits)
            if self.value != edge:
                return self.value < edge
            self.more()


def flip(probability: Probability, count: int, source: Source) -> NDArray[np.bool_]:
    """`count` independent coins that show True with exactly this probability.

    Edge cases: probability 0 and 1 are never and always.
    """
    words = source.words(count, np.uint16)
    edge = probability.leading(_HEAD)  # 2^16 for probability 1: larger than every word
    shown = words < edge
    for tie in np.flatnonzero(words == edge):
        shown[tie] = Uniform(source, value=int(words[tie]), bits=_HEAD).below(probability)
    return shown


class Wheel:
    """Exact draws from {0, ..., n}, given P(draw >= k) for k = 1..n, by inversion of one uniform number.

    `at_least` descends. The first 16 digits of the uniform number decide almost always, by one look into a table;
    the rest get 64 more digits together, and a tie after those 80 is settled one by one, with as many digits as
    it takes. Guarantee: P(draw >= k) is exactly at_least[k - 1].

    Work per draw does not depend on the value drawn, except that ties (at most n words of 65,536) take longer.
    """

    __slots__ = ("_heads", "_table", "_tails", "_thresholds", "size")

    def __init__(self, at_least: Sequence[Probability]) -> None:
        self.size = len(at_least)
        if not 1 <= self.size < _TIE:
            raise ValueError("a wheel has 1 to 254 thresholds")
        certified = [threshold.leading(_HEAD + _MORE) for threshold in at_least]
        if any(low > high for high, low in pairwise(certified)):
            raise ValueError("the thresholds of a wheel descend")
        self._thresholds = tuple(at_least)
        self._heads = np.array([edge >> _MORE for edge in certified], dtype=np.uint32)  # up to 2^16 itself
        self._tails = np.array([edge % (1 << _MORE) for edge in certified], dtype=np.uint64)
        reached = np.cumsum(np.bincount(self._heads, minlength=(1 << _HEAD) + 1))[:-1]  # how many heads are <= w
        self._table = (self.size - reached).astype(np.uint8)
        self._table[self._heads[self._heads < 1 << _HEAD]] = _TIE

    def draw(self, count: int, source: Source) -> NDArray[np.uint8]:
        """`count` independent draws."""
        words = source.words(count, np.uint16)
        drawn = self._table.take(words)
        ties = np.flatnonzero(drawn == _TIE)
        if ties.size:
            drawn[ties] = self._settle(words[ties], source)
        return drawn

    def _settle(self, words: NDArray[np.uint16], source: Source) -> NDArray[np.uint8]:
        further = source.words(words.size, np.uint64)
        same = words[:, None] == self._heads
        below = (words[:, None] < self._heads) | (same & (further[:, None] < self._tails))
        drawn: NDArray[np.uint8] = below.sum(axis=1, dtype=np.uint8)
        for tie in np.flatnonzero((same & (further[:, None] == self._tails)).any(axis=1)):
            value = int(words[tie]) << _MORE | int(further[tie])
            uniform = Uniform(source, value=value, bits=_HEAD + _MORE)
            drawn[tie] = sum(uniform.below(edge) for edge in self._thresholds)  # one number for all of them
        return drawn
