"""From noisy counts to the range of a column: free, it never sees rows.

First the magnitude, from counts by signed powers of two; then, from the leaves of a tree inside it, the smallest range
beyond which hardly any rows can be.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHANCE = 0.01  # that anything is taken for rows where there are none
RUNS = (1, 2, 4, 8)  # neighbouring counts that are looked at together: rows may be spread over several
TAIL = 0.01  # of the rows, that may lie beyond each end
STANDS = 2.0  # scales of the noise: a leaf with less holds no rows that could be told
DOUBT = math.sqrt(0.5)  # scales, half a deviation of a count: what is added to what seems to lie beyond an end
MARGIN = 0.1  # of the range, that is added at either end: a wide range costs little, and one that cuts costs more
USUAL_SHARE, MOST_SHARE = Fraction(1, 20), Fraction(1, 4)  # of epsilon: of a column, and of all that name no share
STEPS = 50  # decimal steps of a range, at least: its ends are rounded outward to them
_SLOPES = np.linspace(0.02, 0.98, 97)


def usual_share(columns: int) -> Fraction:
    """The share of epsilon of each of so many columns that name none."""
    return min(USUAL_SHARE, MOST_SHARE / columns)


def lit(counts: Floats, *, scale: float) -> tuple[int, int] | None:
    """The first and the last of a row of noisy counts between which rows certainly are; None where none are certain.

    The shortest run of counts that stands out counts first, and no count stands for two runs.
    """
    left, found = counts.astype(np.float64), []
    for run in RUNS:
        least = scale * largest_noise(run, len(counts) * len(RUNS))
        while (sums := np.convolve(left, np.ones(run), mode="valid")).max() > least:
            best = int(sums.argmax())
            found += [best, best + run - 1]
            left[best : best + run] = 0.0
    return (min(found), max(found)) if found else None


def largest_noise(run: int, tries: int) -> float:
    """What no sum of so many Laplace noises of scale 1 exceeds in so many tries, but for `CHANCE` (Chernoff)."""
    return float(((math.log(tries / CHANCE) - run * np.log1p(-np.square(_SLOPES))) / _SLOPES).min())


def inner_range(edges: Floats, counts: Floats, *, scale: float) -> tuple[float, float]:
    """The smallest range of whole leaves beyond whose ends at most `TAIL` of the rows seem to lie each, and a margin.

    edges : m + 1, ascending, of m leaves that lie side by side; counts : their noisy numbers of rows.
    """
    most = TAIL * max(float(counts.sum()), 1.0) - DOUBT * scale
    stand = np.where(counts > STANDS * scale, counts, 0.0)
    low, high = (int(np.searchsorted(np.cumsum(each), most, side="right")) for each in (stand, stand[::-1]))
    if most < 0 or low + high >= len(counts):  # too few rows to cut anything
        low = high = 0
    first, last = float(edges[low]), float(edges[len(counts) - high])
    margin = MARGIN * (last - first)
    return max(first - margin, float(edges[0])), min(last + margin, float(edges[-1]))


def outward(low: float, high: float) -> tuple[float, float]:
    """The range with its ends rounded outward to a decimal step of at most a fiftieth of it."""
    digits = -math.floor(math.log10((high - low) / STEPS))
    step = 10.0**-digits
    return round(math.floor(low / step) * step, max(digits, 0)), round(math.ceil(high / step) * step, max(digits, 0))
