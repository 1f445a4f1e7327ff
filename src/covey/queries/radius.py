"""The quality of a radius: GOOD-RADIUS of Nissim, Stemmer, Vadhan (2016), as IPSN'17 uses it. Proof: radius.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.events import Sensitivity
from covey.public import Neighbours
from covey.queries.ballcounts import dense, wide_box_counts
from covey.queries.counts import all_move
from covey.queries.grid import OnGrid

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class RadiusQuality(OnGrid):
    """2t·Q(r) for public radii r, where Q(r) = min{t - L(r before), L(r) - t + slack}/2.

    L(r) is the average, over the t rows for which it is largest, of the number of rows in the ball of radius r around
    the row, capped at t. Balls are boxes of 2r + 1 cells (the maximum norm). Q is large where a ball of radius r holds
    about t rows and the next smaller one does not. Multiplied by 2t, everything is a whole number.
    """

    t: int
    slack: int
    name: str = "quality of radii"

    @property
    def radii(self) -> tuple[int, ...]:
        """Half-widths in cells: 0, then about geometric of ratio 2^(1/4), up to one that reaches everything."""
        side, radii, step = self.grid.per_axis, [0], 0
        while radii[-1] < side:
            radius, step = round(2 ** (step / 4)), step + 1
            if radius > radii[-1]:
                radii.append(radius)
        return tuple(radii)

    @property
    def size(self) -> int:
        return len(self.radii)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:  # noqa: ARG002 - the same for both, see the proof
        return all_move(2 * self.t, self.size)

    def evaluate(self, cells: Integers, counts: Integers) -> Integers:
        table = dense(self.grid, cells, counts)
        t, before = self.t, 0
        quality = np.empty(self.size, dtype=np.int64)
        for i, radius in enumerate(self.radii):
            around = wide_box_counts(table, radius).ravel()[cells]
            total = sum_of_largest(np.minimum(around, t), counts, t)  # t·L(r)
            quality[i] = min(t * t - before, total - t * t + t * self.slack)
            before = total
        return quality


def sum_of_largest(values: Integers, times: Integers, t: int) -> int:
    """The sum of the t largest of the numbers, each of which occurs so many times; all of them, if there are fewer."""
    order = np.argsort(values, kind="stable")[::-1]
    values, times = values[order], times[order]
    used = np.clip(t - (np.cumsum(times) - times), 0, times)
    return int(values @ used)
