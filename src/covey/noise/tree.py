"""PrivTree's decisions: which nodes of a tree split, however deep it grows, at one price. Proof: tree.md.

A node of depth j that holds c rows splits if max(c - j·bias, theta - bias) + noise > theta (Zhang, Xiao, Xie 2016). All
of it is done in whole numbers, many of them for a row; the scale is the smallest whose exact worst case costs at
most epsilon, which is less noise than the paper's scale of (2β - 1)/((β - 1)·epsilon) rows.
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
from covey.noise.threshold import least_enough
from covey.public import Neighbours

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 2**30), Fraction(2**20)
MOST_FAN_OUT = 2**16
FINENESS = 2**11  # a scale is at least about this many units: rounding it up loses less than a thousandth
SLACK = Fraction(1, 10**25)  # of the loss: pays for Decimal's rounding, the sum's tail and the wrap-around of int64
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

    Edge cases: an empty node is treated like any other, and splits with probability about 1/(2·fan_out) (the root:
    1/2). epsilon from 2^-30 to 2^20, fan_out from 2 to 2^16: checked here, before anything is paid.
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

    def splits(
        self, counts: NDArray[np.int64], *, depth: int, neighbours: Neighbours, source: Source
    ) -> NDArray[np.bool_]:
        """Whether each node of this depth splits, given the exact number of its rows."""
        units = self.units(neighbours)
        noise = discrete_laplace(counts.shape, inverse_scale=Fraction(1, units.noise), source=source)
        return np.asarray(noise > -above(counts - self.theta, depth=depth, units=units))


def above(rows: NDArray[np.int64], *, depth: int, units: Units) -> NDArray[np.int64]:
    """How far a node's biased count is above the threshold, in units; `rows` is its count minus theta."""
    most = _FARTHEST // units.row  # a clamp keeps the order of counts and their distance of at most one row
    biased = np.clip(rows, -most, most) * units.row - depth * units.bias
    return np.asarray(np.maximum(biased, -units.bias), dtype=np.int64)


@lru_cache(maxsize=256)
def smallest_noise(epsilon: Fraction, fan_out: int, *, replace: bool) -> Units:
    """The smallest scale, in whole units, whose certified worst case costs at most epsilon; and its bias."""
    paper = Fraction(2 * fan_out - 1, fan_out - 1) / epsilon * (2 if replace else 1)  # in rows
    row = 1
    while row * paper < FINENESS:
        row *= 2

    def enough(noise: int) -> bool:
        units = Units(row, noise, bias_of(noise, fan_out))
        return worst_loss(units, fan_out, replace=replace) <= epsilon

    noise = least_enough(enough, most=2 * int(row * paper) + 2)
    if noise is None:  # there always is one; but a promise is checked
        raise ParameterError("epsilon", "no noise was certified for a tree of this epsilon")
    return Units(row, noise, bias_of(noise, fan_out))


def bias_of(noise: int, fan_out: int) -> int:
    """The smallest whole number that is certainly at least noise · ln(fan_out)."""
    log = Fraction(_DIGITS.ln(Decimal(fan_out))) * (1 + Fraction(1, 10**50))
    return math.ceil(noise * log)


def worst_loss(units: Units, fan_out: int, *, replace: bool) -> Fraction:
    """The privacy loss of all decisions in the worst case, rounded up by less than 2·`SLACK`. Formula: tree.md.

    Needs a bias of at least noise · ln(fan_out).
    """
    less, times, over = _DIGITS.subtract, _DIGITS.multiply, _DIGITS.divide  # never the caller's own precision
    periods, rest = divmod(units.row, units.bias)

    def power(exponent: int) -> Decimal:
        """q^exponent, q = e^(-1/noise)."""
        return _DIGITS.exp(over(Decimal(-exponent), Decimal(units.noise)))

    both, period, step = _DIGITS.add(Decimal(1), power(1)), power(units.bias), power(rest)
    grown, left = Decimal(1), Decimal(1)  # the product of the ratios of split probabilities, and q^(i·bias)
    for _ in range(1 + 100 // (fan_out.bit_length() - 1)):
        ratio = over(less(both, times(left, step)), less(both, left))
        grown, left = times(grown, ratio), times(left, period)
    logs = Fraction(_DIGITS.ln(grown)) + periods * Fraction(_DIGITS.ln(both))
    slopes = periods * (units.bias + 1) + rest + (units.row if replace else 0)
    return logs + Fraction(slopes, units.noise) + SLACK
