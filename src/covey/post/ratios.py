"""Sums of noisy numbers with weights, their ratios, and the intervals that the noise leaves. Free."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from covey.post.distances import Floats
from covey.post.errors.boxes import laplace_variance
from covey.post.errors.quantiles import LEVEL, deviations

Told = tuple[float, float, float]  # a number, and between which two it lies


@dataclass(frozen=True, eq=False)
class Noisy:
    """Numbers with independent discrete Laplace noise of one scale."""

    numbers: Floats
    scale: float

    def sum(self, weights: Floats, level: float = LEVEL, *, least: float = -math.inf) -> Told:
        """The sum with these weights. least : the true one is no less.

        A noisy sum below that is moved there before its interval is told: nearer to every possible sum, so that the
        interval holds the true one no less often, and is never empty. Cut afterwards it would be a point, or nothing.
        """
        total, half = float(weights @ self.numbers), math.sqrt(self._squares(weights, level) * float(weights @ weights))
        total = max(total, least)
        return total, max(total - half, least), total + half

    def ratio(
        self, above: Floats, below: Floats, level: float = LEVEL, *, least: float = -math.inf, most: float = math.inf
    ) -> Told | None:
        """The ratio of two sums; None where the lower one may be zero. least, most : the true one is between.

        For the true ratio m, above - m·below has a noise of known law, whose variance is quadratic in m: the interval
        is all m that it does not rule out (Fieller). A noisy sum above that no possible ratio has is moved to the
        nearest one that has: |above - m·below| gets no larger for any possible m, so none is ruled out by that.
        """
        top, bottom = float(above @ self.numbers), float(below @ self.numbers)
        if bottom <= 0:
            return None
        top = min(max(top, least * bottom), most * bottom)
        guess = top / bottom
        far = self._squares(above - guess * below, level)
        square = bottom**2 - far * float(below @ below)
        if square <= 0:
            return None
        middle, last = top * bottom - far * float(above @ below), top**2 - far * float(above @ above)
        root = math.sqrt(max(middle**2 - square * last, 0.0))
        ends = (middle - root) / square, (middle + root) / square
        return guess, min(max(ends[0], least), guess), max(min(ends[1], most), guess)

    def _squares(self, weights: Floats, level: float) -> float:
        """The square of the quantile of a sum with such weights, for weights of length 1."""
        squares = np.square(weights)
        most = max(float(squares.max()), 1e-300)
        draws = (float(squares.sum()) / most) ** 2 / max(float(np.square(squares / most).sum()), 1e-300)
        return float(deviations(level, np.array(draws))) ** 2 * laplace_variance(self.scale)
