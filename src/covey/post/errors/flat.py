"""Sizes of clusters in many columns, from boxes that were counted in a subspace of few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covey.post.distances import Floats, nearest
from covey.post.errors.boxes import laplace_variance
from covey.post.errors.sizes import Sizes

_PLACES = 24  # in a box, where its rows are looked for
_NARROWER = 0.7  # than the box: rows gather where the cluster is


@dataclass(frozen=True, eq=False)
class FlatBoxes:
    """Boxes in a subspace, in its own coordinates about `middle`, with their noisy counts."""

    points: Floats  # m x q: the middles of their mass
    widths: Floats  # m x q
    counts: Floats  # m
    scale: float  # of the Laplace noise in them
    middle: Floats  # d
    axes: Floats  # d x q, orthonormal
    outside: float  # the mean square of rows outside the subspace

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
    taken, and the difference between both is part of the error.
    """
    sizes, noise, uneven, fourth = _assigned(boxes, centres, boxes.rows(rng, centres))
    other = _assigned(boxes, centres, boxes.rows(rng, None))[0]
    uneven = np.maximum(uneven, 0.0) + np.square(sizes - other)  # at worst all rows of a box on one side
    draws = np.square(noise + uneven) / np.maximum(fourth, 1e-300)
    return Sizes(sizes, noise, uneven, draws, boxes.scale)


def _assigned(boxes: FlatBoxes, centres: Floats, rows: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    k, m, variance = len(centres), len(boxes.counts), laplace_variance(boxes.scale)
    pairs = np.repeat(np.arange(m), _PLACES) * k + nearest(rows, centres)
    share = np.bincount(pairs, minlength=m * k).reshape(m, k) / _PLACES
    spread = (share * (1 - share)).T @ (boxes.counts**2 - variance)
    fourth = (share**4).sum(axis=0) * variance**2
    return share.T @ boxes.counts, (share**2).sum(axis=0) * variance, spread, fourth
