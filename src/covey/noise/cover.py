"""The picks of max cover: exponential mechanisms over grids too large to list, proven together. Proof: cover.md.

A grid point that covers c of the rows still there weighs e^(rate·c), and all points count, covered or not. The
weights are drawn exactly: the whole grid once, at weight 1 a point, and what covered points weigh beyond that.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Approximate, Neighbours
from covey.noise.coins import Probability, Uniform, exp_bounds
from covey.noise.source import Source

ANYWHERE, PROPOSED = -1, -2  # what `choose` answers besides the place of a level
BOUNDS = ("stated", "exact")
_UP, _DOWN = Context(prec=50, rounding=ROUND_CEILING), Context(prec=50, rounding=ROUND_FLOOR)
_UNIT = 10**18  # costs are rounded up to whole multiples of 1/_UNIT
_MARGIN, _TERMS = 2.0**-30, 2**20  # the margin grows with the number of terms beyond these

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CoverPicks:
    """Picks of grid points, one after the other; the rows that a pick covers leave and never count again.

    A point that covers c of the rows that are left weighs e^(epsilon·c/2). `bound` says which of two proven costs is
    charged: "stated", (e^(epsilon/2) - 1)·ln(1/delta), or "exact", the smallest one that holds for every input. Where a
    row is replaced, both cost epsilon/2 more, at e^(-epsilon/2)·delta.

    Guarantee: all picks together, however many, on however many grids, are (event().epsilon, delta)-DP for adding or
    removing one row, or for replacing one: `neighbours`. Edge cases: with no rows left a pick is uniform over the grid.
    """

    epsilon: Fraction
    delta: Fraction
    bound: str = "stated"
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or not 0 < self.epsilon <= 200:
            raise ParameterError("epsilon", "of the picks must be a Fraction above 0 and at most 200")
        if not isinstance(self.delta, Fraction) or not 0 < self.delta < 1:
            raise ParameterError("delta", "of the picks must be a Fraction above 0 and below 1")
        if self.bound not in BOUNDS:
            raise ParameterError("bound", f"must be {' or '.join(map(repr, BOUNDS))}")

    @classmethod
    def within(
        cls,
        *,
        epsilon: Fraction,
        delta: Fraction,
        bound: str = "stated",
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> CoverPicks:
        """The sharpest picks that cost at most (epsilon, delta)."""
        low, high = Fraction(0), min(2 * epsilon, Fraction(200))  # the cost is never below half of a pick's own
        if cls(high, delta, bound, neighbours).event().epsilon <= epsilon:
            return cls(high, delta, bound, neighbours)
        for _ in range(60):
            middle = _short((low + high) / 2)
            if cls(middle, delta, bound, neighbours).event().epsilon <= epsilon:
                low = middle
            else:
                high = middle
        if low == 0:
            raise ParameterError("epsilon", "is too small for the picks of a cover")
        return cls(low, delta, bound, neighbours)

    @property
    def rate(self) -> Fraction:
        """What one covered row adds to the logarithm of a weight."""
        return self.epsilon / 2

    def event(self) -> Approximate:
        return Approximate(cost_of(self.epsilon, self.delta, self.bound, self.neighbours), self.delta)

    def ceiling(self, *, points: int, proposals: int, most: int) -> int:
        """The largest count, at most `most`, up to which proposing rows' offsets at random is quick enough.

        Public or not, it changes how long a pick takes and never what is picked.
        """
        allowed = math.log(2 * points) - math.log(max(proposals, 1))
        slope = float(self.rate)

        def quick(count: int) -> bool:
            x = slope * count
            return (x if x > 30 else math.log(math.expm1(x))) - math.log(count) <= allowed

        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if quick(middle) else (low, middle)
        return low

    def choose(
        self, *, points: int, proposals: int, ceiling: int, levels: Integers, many: Integers, source: Source
    ) -> int:
        """Where one uniform number falls: `ANYWHERE`, `PROPOSED`, or the place of a level.

        `points` is the size of the grid. many[i] points have the count levels[i], all of them above `ceiling`. Points
        with lower counts are proposed: `proposals` pairs of a row and an offset, each weighing the `top` of a
        ceiling's point; `accepts` decides on them, and a refusal starts the draw again.
        """
        uniform = Uniform(source)
        uniform.more()
        proposed = proposals * (_top(self.rate, ceiling) if ceiling else Fraction(0))
        quick = _by_floats(points, proposed, levels, many, rate=self.rate, word=uniform.value)
        if quick is None:
            quick = _exactly(points, proposed, levels, many, rate=self.rate, uniform=uniform)
        return quick - 2 if quick >= 2 else (ANYWHERE, PROPOSED)[quick]

    def accepts(self, count: int, *, ceiling: int, source: Source) -> bool:
        """A coin for a proposed point that covers `count` rows: (e^(rate·count) - 1)/count against the ceiling's."""
        if not 1 <= count <= ceiling:
            return False  # such a point is drawn in its own level
        exponent, below = self.rate * count, count * _top(self.rate, ceiling)

        def bounds(bits: int) -> tuple[int, int]:
            work = bits + 2 * math.ceil(exponent * 3 / 2) + 64
            low, high = exp_bounds(exponent, work)
            least, most = Fraction((1 << work) - high, high) / below, Fraction((1 << work) - low, low) / below
            return math.floor(least * 2**bits), math.ceil(most * 2**bits)

        return Uniform(source).below(Probability(bounds))


@lru_cache(maxsize=1024)
def cost_of(
    epsilon: Fraction, delta: Fraction, bound: str = "stated", neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Fraction:
    """What picks with weights e^(epsilon·c/2) cost at `delta`, rounded up.

    stated: max(r, (e^r - 1)·ln(1/delta)), r = epsilon/2. exact: max(r, (e^r - 1)·ln((1 - e^-r)/delta) - r). Where a row
    is replaced, r more, with e^-r·delta in place of delta.
    """
    rate, replaced = epsilon / 2, neighbours is Neighbours.REPLACE_ONE
    high, low = (_decimal(rate, context) for context in (_UP, _DOWN))
    gain = _UP.subtract(_nudged(_UP.exp(high), up=True), Decimal(1))
    odds = _nudged(_UP.ln(_UP.divide(Decimal(delta.denominator), Decimal(delta.numerator))), up=True)
    if bound == "exact":
        hit = _UP.subtract(Decimal(1), _nudged(_DOWN.exp(_DOWN.minus(high)), up=False))
        odds = _UP.add(odds, _nudged(_UP.ln(hit), up=True))
    if replaced:
        odds = _UP.add(odds, high)
    long = _UP.multiply(gain, max(odds, Decimal(0)))
    if bound == "exact":
        long = _UP.subtract(long, low)
    joining = Fraction(high) if replaced else Fraction(0)  # another row comes as the first one leaves
    return Fraction(math.ceil((max(Fraction(high), Fraction(long)) + joining) * _UNIT), _UNIT)


def printed_cost(epsilon: Fraction, delta: Fraction) -> float:
    """Lemma 17 of the paper: e·epsilon·ln(1/delta)/2. It holds up to an epsilon of 3.5."""
    return math.e * float(epsilon) * math.log(1 / float(delta)) / 2


def below(count: int, source: Source) -> int:
    """A uniform whole number from 0 to count - 1, exactly, however large count is."""
    bits = (count - 1).bit_length()
    words = -(-bits // 64)
    while True:
        value = 0
        for word in source.words(words, np.uint64).tolist():
            value = value << 64 | word
        value >>= 64 * words - bits
        if value < count:
            return value


def _short(value: Fraction) -> Fraction:
    """The value rounded down to 60 binary digits: exact sums of it stay short."""
    shift = 60 + value.denominator.bit_length() - value.numerator.bit_length()
    return Fraction(math.floor(value * 2**shift), 2**shift)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _nudged(value: Decimal, *, up: bool) -> Decimal:
    """Decimal rounds exp and ln to the nearest number whatever the direction asked for: one more step is safe."""
    return _UP.next_plus(value) if up else _DOWN.next_minus(value)


@lru_cache(maxsize=4096)
def _top(rate: Fraction, ceiling: int) -> Fraction:
    """A fraction that is certainly at least (e^(rate·ceiling) - 1)/ceiling, and hardly more."""
    exponent = rate * ceiling
    bits = 64 + 2 * math.ceil(exponent * 3 / 2)
    bits += max(0, exponent.denominator.bit_length() - exponent.numerator.bit_length())
    low, _ = exp_bounds(exponent, bits)
    return Fraction((1 << bits) - low, low) / ceiling


def _by_floats(
    points: int, proposed: Fraction, levels: Integers, many: Integers, *, rate: Fraction, word: int
) -> int | None:
    """The part that U in [word, word + 1)/2^64 falls on, or None where floats cannot be sure. Errors: cover.md."""
    slope, best = float(rate), int(levels.max(initial=0))
    base = float(rate * best)
    logs = np.empty(2 + len(levels))
    logs[0] = math.log(points) - base
    logs[1] = math.log(proposed.numerator) - math.log(proposed.denominator) - base if proposed else -np.inf
    with np.errstate(all="ignore"):  # underflow to 0 is meant
        logs[2:] = np.log(many) - slope * (best - levels) + np.log(-np.expm1(-slope * levels))
        ends = np.cumsum(np.exp(logs - logs.max()))
    total = float(ends[-1])
    margin = _MARGIN * max(1.0, len(ends) / _TERMS) * total
    point = word * 2.0**-64 * total
    place = min(int(np.searchsorted(ends, point, side="right")), len(ends) - 1)
    if place > 0 and point - ends[place - 1] < margin:
        return None
    if place < len(ends) - 1 and ends[place] - point < margin:
        return None
    return place


def _exactly(
    points: int, proposed: Fraction, levels: Integers, many: Integers, *, rate: Fraction, uniform: Uniform
) -> int:
    """The same by certified arithmetic: all weights divided by e^(rate·(the largest count)), in 2^-bits."""
    best = int(levels.max(initial=0))
    bits = 128
    while True:
        base = exp_bounds(rate * best, bits)
        lows = [points * base[0], math.floor(proposed * base[0])]
        highs = [points * base[1], math.ceil(proposed * base[1])]
        for level, count in zip(levels.tolist(), many.tolist(), strict=True):
            low, high = exp_bounds(rate * (best - level), bits)
            lows.append(count * max(0, low - base[1]))
            highs.append(count * max(0, high - base[0]))
        low_ends, high_ends = list(accumulate(lows)), list(accumulate(highs))
        first = uniform.value * low_ends[-1] >> uniform.bits
        last = -(-(uniform.value + 1) * high_ends[-1] >> uniform.bits)
        place = bisect_right(high_ends, first)
        if place == len(lows) - 1 or (place < len(lows) and last <= low_ends[place]):
            return place
        uniform.more()
        bits *= 2
