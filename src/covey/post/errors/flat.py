"""Sizes of clusters in many columns, from boxes that were counted in a subspace of few."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from covey.post.distances import Floats, nearest
from covey.post.errors.sizes import FEWEST, Sizes

_PLACES = 24  # in a box, where its rows are looked for
_VALUES = 2**22  # coordinates and distances of places that are held at once
_NARROWER = 0.7  # than the box: rows gather where the cluster is


@dataclass(frozen=True, eq=False)
class FlatBoxes:
    """Boxes in a subspace, in its own coordinates about `middle`, with their noisy counts."""

    points: Floats  # m x q: the middles of their mass
    widths: Floats  # m x q
    counts: Floats  # m
    variances: Floats  # m: of the noise in them
    scale: float | None  # of Laplace noise, where all counts have the same
    coins: Floats | None  # m: the deviation that one kept row has, where coins kept rows of a box
    middle: Floats  # d
    axes: Floats  # d x q, orthonormal
    outside: float  # the mean square of rows outside the subspace

    def some(self, which: slice) -> FlatBoxes:
        parts = ("points", "widths", "counts", "variances")
        return replace(self, **{part: getattr(self, part)[which] for part in parts})

    def rows(self, rng: np.random.Generator, centres: Floats | None) -> Floats:
        """Some places of the rows of each box in all columns: m·24 x d.

        Beside the subspace rows lie where the centre is that is nearest within it, or about the middle for None; and
        about that evenly in all directions.
        """
        m, q = self.points.shape
        spot = self.points[:, None] + _NARROWER * self.widths[:, None] * (rng.random((m, _PLACES, q)) - 0.5)
        spot = spot.reshape(-1, q)
        rows = self.middle + spot @ self.axes.T
        if centres is not None:
            own = centres - self.middle
            rows += self._beside(own)[nearest(spot, own @ self.axes)]
        d = len(self.middle)
        noise = rng.normal(size=rows.shape) * np.sqrt(self.outside / max(d - q, 1))
        return np.asarray(rows + self._beside(noise))

    def _beside(self, rows: Floats) -> Floats:
        """What of rows lies outside the subspace."""
        return np.asarray(rows - (rows @ self.axes) @ self.axes.T)


def flat_sizes(boxes: FlatBoxes, centres: Floats, *, rng: np.random.Generator) -> Sizes:
    """How many rows are nearest to each centre in all columns, from counts in a subspace of them.

    Where rows are beside the subspace is not known: near the centre of their cluster, or about the middle. The first is
    taken, and the difference between both is part of the error; and so is a few kept rows' (post/zones.md).
    """
    sizes, noise, uneven, fourth = _assigned(boxes, centres, rng, beside=centres)
    other = _assigned(boxes, centres, rng, beside=None)[0]
    uneven = np.maximum(uneven, 0.0) + np.square(sizes - other)  # at worst all rows of a box on one side
    uneven += 0.0 if boxes.coins is None else FEWEST * np.square(boxes.coins.max())
    squares = np.square(noise + uneven)
    draws = squares / np.maximum(fourth, 1e-30 * squares + 1e-300)
    return Sizes(sizes, noise, uneven, draws, boxes.scale)


def _assigned(boxes: FlatBoxes, centres: Floats, rng: np.random.Generator, *, beside: Floats | None) -> Floats:
    """Sizes, their noise, how uneven they may be, and fourth moments: 4 x k. In parts: of all boxes at once, places in
    all columns would fill the memory."""
    k, sums = len(centres), np.zeros((4, len(centres)))
    step = max(1, _VALUES // (_PLACES * (len(boxes.middle) + k)))
    for start in range(0, len(boxes.counts), step):
        some = boxes.some(slice(start, start + step))
        m = len(some.counts)
        pairs = np.repeat(np.arange(m), _PLACES) * k + nearest(some.rows(rng, beside), centres)
        share = np.bincount(pairs, minlength=m * k).reshape(m, k) / _PLACES
        sums[0] += share.T @ some.counts
        sums[1] += (share**2).T @ some.variances
        sums[2] += (share * (1 - share)).T @ (some.counts**2 - some.variances)
        sums[3] += (share**4).T @ some.variances**2
    return sums
