"""Averages of many lines of integers, one of which may be anything (sample and aggregate). Proof: averages.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Pure
from covey.noise.laplace import discrete_laplace
from covey.noise.selection import pick
from covey.noise.source import Source

CANDIDATES = 1025  # public values that a quantile is picked from, evenly over the domain
QUARTILES = (25, 75)  # percent
UNITS = 2**20  # a clamped value is measured in this many steps of its range


@dataclass(frozen=True)
class ClampedAverages:
    """The average of every column of a table, when one line may be replaced by any other.

    Half of epsilon finds a range for each column: its quartiles, picked by the exponential mechanism from public
    values, and half as much again of their distance on either side, never beyond the domain. The other half pays
    for the noise on the sums of the values clamped to their ranges.

    Guarantee: epsilon-DP for replacing one line. Edge cases: one line is a table; equal quartiles get a range of one
    candidate's step.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise ParameterError("epsilon", "must be a positive Fraction; covey.events.exactly makes one of a number")

    def event(self) -> Pure:
        return Pure(self.epsilon)

    def average(self, table: NDArray[np.int64], limit: int, source: Source) -> NDArray[np.float64]:
        """The noisy average of each column of a (lines, columns) table of integers in [-limit, limit]."""
        lines, columns = table.shape
        low, high = self.ranges(table, limit, source)
        clamped = np.clip(table, low, high)
        steps = (clamped - low) * UNITS // (high - low)  # whole numbers 0..UNITS, one range like another
        noise = discrete_laplace(columns, inverse_scale=self.epsilon / (2 * columns * UNITS), source=source)
        average = (steps.sum(axis=0) + noise) / (lines * UNITS)
        return np.asarray(np.clip(low + average * (high - low), low, high), dtype=np.float64)

    def ranges(
        self, table: NDArray[np.int64], limit: int, source: Source
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A private range for each column, within [-limit, limit]: half of epsilon for all of them."""
        lines, columns = table.shape
        candidates = np.linspace(-limit, limit, CANDIDATES).astype(np.int64)
        step = 2 * limit // (CANDIDATES - 1) + 1
        rate = self.epsilon / (2 * columns * len(QUARTILES)) / (2 * 100)  # utilities move by at most 100
        ends = np.empty((len(QUARTILES), columns), dtype=np.int64)
        for column in range(columns):
            below = np.searchsorted(np.sort(table[:, column]), candidates, side="left")
            for row, percent in enumerate(QUARTILES):
                utilities = -np.abs(100 * below - percent * lines)
                ends[row, column] = candidates[pick(utilities.astype(np.int64), rate=rate, source=source)]
        ends.sort(axis=0)
        margin = (ends[1] - ends[0]) // 2 + step
        return np.maximum(ends[0] - margin, -limit), np.minimum(ends[1] + margin, limit)
