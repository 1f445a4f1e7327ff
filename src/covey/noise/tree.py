"""PrivTree's decisions: which nodes of a tree split, however deep it grows, at one price. Proof: tree.md.

A node of depth j that holds c rows splits if max(c - j·bias, theta - bias) + noise > theta (Zhang, Xiao, Xie 2016).
Here the noise is one that would have split the node's parent too, had that held no more rows: then what is paid
telescopes along a path, and less than half of the paper's scale, (2β - 1)/((β - 1)·epsilon) rows, will do. All of it
is done in whole numbers, many of them for a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Pure
from covey.noise.laplace import discrete_laplace
from covey.noise.source import Source
from covey.public import Neighbours

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 2**30), Fraction(2**20)
MOST_FAN_OUT = 2**16
FINENESS = 2**11  # a scale is at least about this many units: rounding it up loses less than a thousandth
SLACK = Fraction(1, 10**25)  # of the loss: pays for the wrap-around of int64
MOST_TRIES, AT_ONCE = 16, 2**13  # draws for each node at a time, and for all: most of a draw's time is asking for it
_DIGITS = Context(prec=60)
_FARTHEST = 2**61  # units: no count is further from the threshold


@dataclass(frozen=True)
class Units:
    """The whole numbers behind the decisions: what a row counts, the noise's scale, and the bias of a level."""

    row: int
    noise: int
    bias: int


@dataclass(frozen=True)
class PrivTree:
    """Decides which nodes of a tree split, where each row is in one node of every depth and children part their rows.

    Guarantee: all decisions of one tree, level after level, are epsilon-DP together, however many levels there are.
    So is everything computed from them, such as an end to all growth when a level has become too wide.

    Edge cases: an empty node is treated like any other, and if theta is 0 splits with probability about 1/(2·fan_out)
    (the root: a little more than 1/2). How often noise is drawn again depends on the counts: who watches the clock may
    learn more than epsilon says. epsilon from 2^-30 to 2^20, fan_out from 2 to 2^16: checked here, before anything is
    paid.
    """

    epsilon: Fraction
    fan_out: int
    theta: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise ParameterError("epsilon", "must be a positive Fraction; covey.events.exactly makes one of a number")
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise ParameterError("epsilon", "of a tree must be from 2^-30 to 2^20")
        if not isinstance(self.fan_out, int) or not 2 <= self.fan_out <= MOST_FAN_OUT:
            raise ParameterError("fan_out", "must be a whole number from 2 to 2^16")
        if not isinstance(self.theta, int) or abs(self.theta) > 2**60:
            raise ParameterError("theta", "must be a whole number of rows, at most 2^60")

    def event(self) -> Pure:
        return Pure(self.epsilon)

    def units(self, neighbours: Neighbours) -> Units:
        """The smallest noise that costs at most epsilon for these neighbours."""
        return smallest_noise(self.epsilon, self.fan_out, replace=neighbours is Neighbours.REPLACE_ONE)

    def blind(self, most: int, *, depth: int, neighbours: Neighbours) -> bool:
        """Whether nodes of this depth and of any below, with at most so many rows, are decided like empty ones."""
        units = self.units(neighbours)
        return bool(above(np.array([most - self.theta]), depth=depth, units=units)[0] == -units.bias)

    def splits(
        self, counts: NDArray[np.int64], *, depth: int, neighbours: Neighbours, source: Source
    ) -> NDArray[np.bool_]:
        """Whether each node of this depth splits, given the exact number of its rows."""
        units = self.units(neighbours)
        heights = above(counts - self.theta, depth=depth, units=units)
        split, left = np.zeros(len(heights), dtype=np.bool_), np.arange(len(heights))
        while left.size:
            tries = max(1, min(MOST_TRIES, AT_ONCE // left.size))
            noise = discrete_laplace((tries, left.size), inverse_scale=Fraction(1, units.noise), source=source)
            low = noise + heights[left]
            fits = low > -units.bias  # would have split the parent too
            first = fits.argmax(axis=0)  # of its tries
            split[left] = low[first, np.arange(left.size)] > 0
            left = left[~fits.any(axis=0)]
        return split


def above(rows: NDArray[np.int64], *, depth: int, units: Units) -> NDArray[np.int64]:
    """How far a node's biased count is above the threshold, in units; `rows` is its count minus theta."""
    most = _FARTHEST // units.row  # a clamp keeps the order of counts and their distance of at most one row
    biased = np.clip(rows, -most, most) * units.row - depth * units.bias
    return np.asarray(np.maximum(biased, -units.bias), dtype=np.int64)


@lru_cache(maxsize=256)
def smallest_noise(epsilon: Fraction, fan_out: int, *, replace: bool) -> Units:
    """A scale, in whole units, whose certified worst case costs at most epsilon and hardly less; and its bias."""
    row = 1
    while row < FINENESS * epsilon:
        row *= 2
    return units_of(math.ceil(row * cost_of_a_row(fan_out, replace=replace) / (epsilon - SLACK)), row, fan_out)


def units_of(noise: int, row: int, fan_out: int) -> Units:
    """The bias is the smallest whole number that is certainly at least noise · ln(2·fan_out)."""
    log = Fraction(_DIGITS.ln(Decimal(2 * fan_out))) * (1 + Fraction(1, 10**50))
    return Units(row, noise, math.ceil(noise * log))


def cost_of_a_row(fan_out: int, *, replace: bool) -> Fraction:
    """What all decisions cost in the worst case, times the scale in rows, for a scale of at least `FINENESS` units.

    A row that leaves costs 1, one that joins a little more, where its leaf is whole: 1 + w/(2 - w), w = 1/(2β), in the
    limit. Formula: tree.md.
    """
    again = Fraction(1, 2 * fan_out)
    return 1 + again / (2 - again - Fraction(1, FINENESS)) + (1 if replace else 0)
