"""Several privacy levels of one statistic as a chain, each from the one before by more noise. Proof: chain.md.

The least private level is the statistic plus discrete Laplace noise. Every more private one adds to it: nothing, with
the probability w of `stay`, else a fresh draw of its own parameter. So each level alone is the statistic plus exact
discrete Laplace noise of its own epsilon, and all of them together are computed from the least private one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Pure, Sensitivity
from covey.noise.coins import Probability, exp_bounds, flip
from covey.noise.laplace import check_scale, discrete_laplace
from covey.noise.source import Source

_SPARE = 64  # further bits: the bounds of a quotient of differences lose some


@lru_cache(maxsize=64)
def stay(wide: Fraction, narrow: Fraction) -> Probability:
    """w = p'(1-p)²/(p(1-p')²) with p = e^-wide, p' = e^-narrow: the chance that nothing is added.

    `wide` < `narrow` are the inverse scales of the more and of the less private noise. w is a non-constant rational
    function of e^(1/m) for a whole number m, and so no binary fraction: its digits can always be certified.
    """
    if not 0 < wide < narrow:
        raise ValueError("the more private level has the smaller inverse scale")

    def bounds(bits: int) -> tuple[int, int]:
        work = bits + _SPARE
        one = 1 << work
        (low, high), (low_, high_) = exp_bounds(wide, work), exp_bounds(narrow, work)
        between, between_ = exp_bounds(narrow - wide, work)  # p'/p = e^-(narrow - wide)
        if high >= one or high_ >= one:  # too few bits to tell p from 1
            return 0, 1 << bits
        least = (between * (one - high) ** 2 << bits) // ((one - low_) ** 2 << work)
        most = -((-between_ * (one - low) ** 2 << bits) // ((one - high_) ** 2 << work))
        return least, min(most, 1 << bits)

    return Probability(bounds)


def add_more(noisy: NDArray[np.int64], *, wide: Fraction, narrow: Fraction, source: Source) -> NDArray[np.int64]:
    """From numbers with noise of inverse scale `narrow`, numbers with noise of inverse scale `wide`.

    Guarantee: if `noisy` - x is discrete Laplace of `narrow`, independent for each number, the result - x is that of
    `wide`, exactly. Modulo 2^64, like all noise. How many words are drawn depends on coins only, never on numbers.
    """
    more = noisy.copy()
    flat = more.reshape(-1)
    moved = np.flatnonzero(~flip(stay(wide, narrow), flat.size, source))
    flat[moved] += discrete_laplace(moved.size, inverse_scale=wide, source=source)
    return more


@dataclass(frozen=True)
class ChainedLaplace:
    """Integer Laplace noise at several levels at once, most private first.

    Guarantee: level i alone is epsilons[i]-DP, any set of levels is as private as the least private of them, and all
    are epsilons[-1]-DP together: one event. Edge cases: one level is `DiscreteLaplace`; equal levels are refused.
    """

    epsilons: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.epsilons or any(not isinstance(each, Fraction) or each <= 0 for each in self.epsilons):
            raise ParameterError("levels", "must be positive Fractions, at least one")
        if any(more >= less for more, less in pairwise(self.epsilons)):
            raise ParameterError("levels", "must ascend, from the most private level to the least")

    def event(self) -> Pure:
        return Pure(self.epsilons[-1])

    def check(self, sensitivity: Sensitivity) -> None:
        """Refuse noise that `add_chain` would refuse, which a caller can do before it pays."""
        check_scale(self.epsilons[0] / sensitivity.l1)

    def add_chain(self, exact: ArrayLike, sensitivity: Sensitivity, source: Source) -> list[NDArray[np.int64]]:
        """exact + noise at every level, in the shape of `exact`, most private first."""
        self.check(sensitivity)
        numbers = np.asarray(exact)
        if not np.can_cast(numbers.dtype, np.int64) or numbers.dtype.kind == "b":
            raise TypeError("noise is added to integers only")
        scales = [epsilon / sensitivity.l1 for epsilon in self.epsilons]
        levels = [numbers + discrete_laplace(numbers.shape, inverse_scale=scales[-1], source=source)]
        for wide, narrow in reversed(list(pairwise(scales))):
            levels.append(add_more(levels[-1], wide=wide, narrow=narrow, source=source))
        return levels[::-1]
