"""The exponential mechanism on integer utilities, exactly. Proof and edge cases: selection.md.

P(i) is proportional to e^(rate·u_i). One uniform number U is laid on the cumulative weights. Floating point answers
where its error bound says that it cannot be wrong; otherwise certified arithmetic of growing precision does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.coins import Uniform, exp_bounds
from covey.noise.source import Source


def pick(utilities: NDArray[np.int64], *, rate: Fraction, source: Source) -> int:
    """An index i, with probability proportional to e^(rate·utilities[i]).

    Guarantee: the distribution is exact, whatever the utilities and however far apart. One pass over all of them;
    ties share evenly.

    Edge cases: with probability of about len(utilities)·2^-36 the answer takes the slow path, `pick_exactly`. No
    utilities at all, or a rate that is not a positive Fraction, is refused with a ParameterError.
    """
    if not isinstance(rate, Fraction) or rate <= 0:
        raise ParameterError("epsilon", "the rate of the exponential mechanism must be a positive Fraction")
    if utilities.ndim != 1 or utilities.size == 0 or utilities.dtype != np.int64:
        raise ParameterError("utilities", "must be a non-empty, one-dimensional array of int64")
    uniform = Uniform.drawn(source)
    behind = _behind(utilities)
    quick = _pick_by_floats(behind, rate=rate, word=uniform.value)
    return _pick_exactly(behind, rate=rate, uniform=uniform) if quick is None else quick


def pick_exactly(utilities: NDArray[np.int64], *, rate: Fraction, uniform: Uniform) -> int:
    """The index that `uniform` falls on, by certified arithmetic alone: slow, and always right.

    `pick` gives the same answer for the same random words.
    """
    return _pick_exactly(_behind(utilities), rate=rate, uniform=uniform)


def _behind(utilities: NDArray[np.int64]) -> NDArray[np.uint64]:
    """How far each utility is behind the best: 0 .. 2^64 - 1, exact because the subtraction is modulo 2^64."""
    unsigned: NDArray[np.uint64] = utilities.view(np.uint64)
    best: np.uint64 = unsigned[utilities.argmax()]
    return np.subtract(best, unsigned)


def _pick_by_floats(behind: NDArray[np.uint64], *, rate: Fraction, word: int) -> int | None:
    """The index that U in [word, word + 1)/2^64 falls on, or None where floats cannot be sure.

    The error, with u = 2^-53. The exponent x = behind·rate carries three roundings; while x < 708 it is off by less
    than 708·4u < 2^-41, so e^-x by a relative 2^-41, and exp itself is trusted to 2^-49 only. Beyond 708 the weight
    is less than 2^-1020 and so is its error. Adding up in rows, then the rows, makes at most `additions` roundings
    on the way to any prefix of non-negative terms. So prefixes and total (which is at least 1) are off by less than
    `error`·total, the point U·total too, and both, with the roundings of the test, by less than 4·`error`·total.
    """
    slope = float(min(rate, Fraction(2**80)))  # from 2^80 on, everything behind the best weighs 0 in floats
    with np.errstate(all="ignore"):  # underflow to 0 is meant, and must not raise because of a utility
        weights = np.exp(behind * -slope)
    width = isqrt(weights.size - 1) + 1
    full = weights.size // width * width
    rows = weights[:full].reshape(-1, width).sum(axis=1)
    starts = np.concatenate([[0.0], np.cumsum(rows)])
    total = float(starts[-1] + weights[full:].sum())
    additions = 2 * width + 8
    error = 2.0**-40 + additions * 2.0**-53
    margin = 4 * error * total

    point = word * 2.0**-64 * total
    row = min(int(np.searchsorted(starts, point, side="right")) - 1, (weights.size - 1) // width)
    edges = starts[row] + np.concatenate([[0.0], np.cumsum(weights[row * width : (row + 1) * width])])
    column = min(int(np.searchsorted(edges, point, side="right")) - 1, edges.size - 2)
    index: int = row * width + column
    if index > 0 and point - edges[column] < margin:
        return None
    if index < weights.size - 1 and edges[column + 1] - point < margin:
        return None
    return index


def _pick_exactly(behind: NDArray[np.uint64], *, rate: Fraction, uniform: Uniform) -> int:
    distances, inverse = np.unique(behind, return_inverse=True)
    group = inverse.tolist()

    def weights(bits: int) -> list[tuple[int, int]]:
        each = [exp_bounds(rate * int(distance), bits) for distance in distances]  # one per distinct utility
        return [each[g] for g in group]

    return land(weights, uniform)


def land(weights: Callable[[int], list[tuple[int, int]]], uniform: Uniform, *, endless: bool = False) -> int:
    """The index that `uniform` falls on when laid on weights, of which `weights(bits)` gives ever closer bounds.

    endless : the last bounds are those of all further weights together, of which more bits tell more one by one.
    """
    bits = 128
    while True:
        bounds = weights(bits)
        low = list(accumulate(least for least, _ in bounds))
        high = list(accumulate(most for _, most in bounds))
        # U·total lies in [first, last), and prefix i of the weights in [low[i], high[i]].
        first = uniform.value * low[-1] >> uniform.bits
        last = -(-(uniform.value + 1) * high[-1] >> uniform.bits)
        index = bisect_right(high, first)  # U is certainly beyond every earlier prefix
        if last <= low[index] or (index == len(low) - 1 and not endless):
            return index
        uniform.more()
        bits *= 2
