"""Shares and medians of noisy counts, each with the interval that its noise leaves. Free: from noisy numbers alone.

All counts have independent discrete Laplace noise of one scale. Intervals are about the rows that were counted, and
hold with the stated probability over the noise; that rows are a sample of something is not in them. Proof: shares.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats
from covey.post.errors.boxes import laplace_variance
from covey.post.errors.quantiles import LEVEL, deviations


@dataclass(frozen=True, eq=False)
class Counts:
    """Noisy counts, lines x cells: of lines that are disjoint, each number the sum of `times` counts of one scale."""

    numbers: Floats
    scale: float
    times: int = 1

    @property
    def whole(self) -> Counts:
        """All lines together, as a single one."""
        return Counts(self.numbers.sum(axis=0, keepdims=True), self.scale, self.times * len(self.numbers))

    def sizes(self, level: float = LEVEL) -> Floats:
        """lines x 3: each line's number of rows, and between which two numbers it lies."""
        cells = self.numbers.shape[1]
        half = self._half(np.array(float(cells)), np.array(float(cells)), level)
        total = self.numbers.sum(axis=1)
        return np.stack([total, total - half, total + half], axis=1)

    def shares(self, level: float = LEVEL) -> Floats:
        """lines x cells x 3: the share of each cell in its line, and its interval: (0, 1) where nothing can be told.

        With a count c and a line's total N, c - sN has for the true share s a noise of known law, whose variance is
        quadratic in s: the interval is all s that it does not rule out (Fieller).
        """
        counts, cells = self.numbers, self.numbers.shape[1]
        if cells == 1:  # whatever is in the line is in its only cell
            return np.ones((len(counts), 1, 3))
        total = counts.sum(axis=1, keepdims=True)
        guess = np.clip(counts / np.where(total > 0, total, np.inf), 0.0, 1.0)
        own, rest = (1 - guess) ** 2, (cells - 1) * guess**2
        draws = (own + rest) ** 2 / (own**2 + rest**2 / (cells - 1)) * self.times
        far = np.maximum(deviations(level, draws), deviations(level, np.array(float(self.times))))
        variance = (np.sqrt(laplace_variance(self.scale) * self.times) * far + self._step(cells, level)) ** 2
        square = total**2 - variance * cells
        with np.errstate(all="ignore"):
            low = _root(np.minimum(counts, total), total, variance, square, -1.0)
            high = _root(np.maximum(counts, 0.0), total, variance, square, 1.0)
            ends = np.stack([low, high], axis=2)
        told = (square > 0) & (total > 0)
        ends = np.where(told[..., None], np.clip(ends, 0.0, 1.0), (0.0, 1.0))
        return np.concatenate([np.clip(guess, ends[..., 0], ends[..., 1])[..., None], ends], axis=2)

    def medians(self, edges: Floats, level: float = LEVEL) -> Floats:
        """lines x 3: the median of each line's numbers, and its interval. edges : between the cells, ascending.

        Rows below an edge less those above it have the noise of all cells, for every edge. The median's bin has no more
        rows below its lower edge than above it, and no fewer below its upper edge: bins for which the noise rules out
        neither are kept, which the true one is with probability `level`.
        """
        bins = self.numbers.shape[1]
        below = np.cumsum(self.numbers, axis=1)
        total = below[:, -1:]
        lead = np.concatenate([-total, 2 * below - total], axis=1)  # at every edge, the outer ones too
        half = self._half(np.array(float(bins)), np.array(float(bins)), level)
        kept = (lead[:, 1:] >= -half) & (lead[:, :-1] <= half)
        kept |= ~kept.any(axis=1, keepdims=True)
        first, last = kept.argmax(axis=1), bins - 1 - kept[:, ::-1].argmax(axis=1)
        low, high = edges[first], edges[last + 1]
        return np.stack([np.clip(_crossing(lead, edges), low, high), low, high], axis=1)

    def _half(self, squares: Floats, fourths: Floats, level: float) -> float:
        """Half of the interval of a sum of counts with weights, by the sums of their squares and fourth powers."""
        draws = squares**2 / fourths * self.times
        half = deviations(level, draws) * np.sqrt(laplace_variance(self.scale) * self.times * squares)
        return float(half) + self._step(self.numbers.shape[1], level)

    def _step(self, cells: int, level: float) -> float:
        """Half a row, by which noise in whole rows may exceed what a smooth law says; 0 where there hardly is noise."""
        p = math.exp(-1 / self.scale)
        return 0.5 if ((1 - p) / (1 + p)) ** (cells * self.times) < level else 0.0


def _root(counts: Floats, total: Floats, variance: Floats, square: Floats, sign: float) -> Floats:
    """The lower or upper share that a count does not rule out. A count that no share has is moved to the next that one
    has, which makes intervals longer, and never empty."""
    middle = counts * total - variance
    return np.asarray((middle + sign * np.sqrt(np.maximum(middle**2 - square * (counts**2 - variance), 0.0))) / square)


def _crossing(lead: Floats, edges: Floats) -> NDArray[np.float64]:
    """Where each line has as many rows below as above: the last edge with fewer below, and a part of the next bin."""
    under = lead < 0
    last = np.where(under.any(axis=1), lead.shape[1] - 1 - under[:, ::-1].argmax(axis=1), 0)
    place = np.minimum(last, lead.shape[1] - 2)
    lines = np.arange(len(lead))
    start, step = lead[lines, place], lead[lines, place + 1] - lead[lines, place]
    part = np.clip(-start / np.where(step > 0, step, np.inf), 0.0, 1.0)
    return np.asarray(edges[place] + part * (edges[place + 1] - edges[place]))
