"""From noisy counts to the range of a column: free, it never sees rows.

First the magnitude, from counts by signed powers of two; then, from the leaves of a tree inside it, the range beyond
whose ends no more than a few rows are told from noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHANCE = 0.01  # that anything is taken for rows where there are none
RUNS = (1, 2, 4, 8)  # neighbouring counts that are looked at together: rows may be spread over several
NEXT = 3.0  # scales of the noise that a count next to certain ones must have: chance has it one time in forty
TAIL = 0.01  # of the rows, that may lie beyond each end
DOUBT = 2.5  # deviations of its noise that a sum of counts must be above `TAIL`, to count wherever it is
STEEP = 3.0  # deviations that it must be above it for each doubling of the range: a little wider costs little
MARGIN = 1 / 12  # of the range, that is added at either end: a wide range costs little, and one that cuts costs more
USUAL_SHARE, MOST_SHARE = Fraction(1, 8), Fraction(1, 4)  # of epsilon: of a column, and of all that name no share
AROUND = 0.25  # of what the magnitudes show, that the window goes on at either end, at least
SAME = 2.0**-17  # of the window: numbers that lie so close have no width that could be told
RARE = 0.125  # scales of the noise for each power of two: of what is hardly seen, moderate numbers are likelier
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


def extended(counts: Floats, first: int, last: int, *, scale: float) -> tuple[int, int]:
    """With the counts next to the first and the last that likely hold rows: they make the range wider by one each."""
    likely = counts > NEXT * scale
    while first > 0 and likely[first - 1]:
        first -= 1
    while last < len(counts) - 1 and likely[last + 1]:
        last += 1
    return first, last


def largest_noise(run: int, tries: int) -> float:
    """What no sum of so many Laplace noises of scale 1 exceeds in so many tries, but for `CHANCE` (Chernoff)."""
    return float(((math.log(tries / CHANCE) - run * np.log1p(-np.square(_SLOPES))) / _SLOPES).min())


def beside(counts: Floats, *, about_0: int, about_1: int, scale: float) -> tuple[int, int]:
    """From the count of numbers about 0, where only that one stands out, to the likeliest of the others.

    Rows beside 0 are too few to be certain of, but a range must have a width, and this one most likely holds them.
    """
    powers = np.abs(np.abs(np.arange(len(counts)) - about_0) - about_1)
    likely = counts - RARE * scale * powers
    likely[about_0] = -np.inf
    best = int(likely.argmax())
    return min(best, about_0), max(best, about_0)


def around(certain: tuple[float, float], more: tuple[float, float]) -> tuple[float, float]:
    """The window to look in: a magnitude more than is certain, and at least a quarter of the width at either end.

    Small magnitudes beside large ones are narrow, so that one more of them would not reach over 0.
    """
    width = AROUND * (certain[1] - certain[0])
    return min(more[0], certain[0] - width), max(more[1], certain[1] + width)


def inner_range(edges: Floats, counts: Floats, *, scale: float) -> tuple[float, float]:
    """The range beyond whose ends no more than `TAIL` of the rows each are told from noise, and a margin.

    edges : m + 1, ascending, of m leaves that lie side by side; counts : their noisy numbers of rows. All of the edges
    where there are too few rows to tell, and where all numbers are the same, as far as the leaves show.
    """
    most, middles = TAIL * max(float(counts.sum()), 1.0), (edges[:-1] + edges[1:]) / 2

    def ends(doubt: Floats) -> tuple[float, float]:
        first, last = _end(edges, counts, doubt, most=most), _end(-edges[::-1], counts[::-1], doubt[::-1], most=most)
        return first, -last

    first, last = ends(np.full(len(counts), DOUBT * scale))
    if last > first:
        wider = np.maximum(last - middles, middles - first) / (last - first)  # than what is certain
        likely = ends(np.clip(STEEP * np.log2(wider), 0.0, DOUBT) * scale)
        first, last = min(first, likely[0]), max(last, likely[1])
    if last - first < SAME * (edges[-1] - edges[0]):
        return float(edges[0]), float(edges[-1])
    margin = MARGIN * (last - first)
    return max(first - margin, float(edges[0])), min(last + margin, float(edges[-1]))


def _end(edges: Floats, counts: Floats, doubt: Floats, *, most: float) -> float:
    """Where, from the first edge on, some run of leaves holds more than `most` rows beyond doubt; inf for nowhere.

    doubt : of each leaf, that of a run that ends there, for every square root of twice its length. Runs are looked at,
    not all leaves so far: the noise of many empty ones would hide the rows of a few. Within the last leaf of the run
    rows are taken to be spread evenly.
    """
    sums = np.append(0.0, np.cumsum(counts))
    for leaf, count in enumerate(counts):
        runs = sums[leaf + 1] - sums[: leaf + 1]
        above = runs - doubt[leaf] * np.sqrt(2.0 * np.arange(leaf + 1, 0, -1))
        start = int(above.argmax())
        if above[start] > most:
            part = (most - max(sums[leaf] - sums[start], 0.0)) / count if count > 0 else 0.0
            return float(edges[leaf] + min(max(part, 0.0), 1.0) * (edges[leaf + 1] - edges[leaf]))
    return math.inf


def outward(low: float, high: float) -> tuple[float, float]:
    """The range with its ends rounded outward to a decimal step of at most a fiftieth of it."""
    digits = -math.floor(math.log10((high - low) / STEPS))
    step = 10.0**-digits
    return round(math.floor(low / step) * step, max(digits, 0)), round(math.ceil(high / step) * step, max(digits, 0))
