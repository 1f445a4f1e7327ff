"""Sizes of clusters in many columns, from boxes that were counted in a subspace of few."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from covey.post.distances import Floats, nearest
from covey.post.errors.sizes import FEWEST, Sizes
from covey.post.threads import in_order

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

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The random numbers behind `rows`."""
        m, q = self.points.shape
        return rng.random((m, _PLACES, q)), rng.normal(size=(m * _PLACES, len(self.middle)))

    def rows(self, drawn: tuple[Floats, Floats], centres: Floats | None) -> Floats:
        """Some places of the rows of each box in all columns: m·24 x d.

        Beside the subspace rows lie where the centre is that is nearest within it, or about the middle for None; and
        about that evenly in all directions.
        """
        q, (even, normal) = self.points.shape[1], drawn
        spot = self.points[:, None] + _NARROWER * self.widths[:, None] * (even - 0.5)
        spot = spot.reshape(-1, q)
        rows = self.middle + spot @ self.axes.T
        if centres is not None:
            own = centres - self.middle
            rows += self._beside(own)[nearest(spot, own @ self.axes)]
        d = len(self.middle)
        noise = normal * np.sqrt(self.outside / max(d - q, 1))
        return np.asarray(rows + self._beside(noise))

    def _beside(self, rows: Floats) -> Floats:
        """What of rows lies outside the subspace."""
        return np.asarray(rows - (rows @ self.axes) @ self.axes.T)


def flat_sizes(boxes: FlatBoxes, centres: Floats, *, rng: np.random.Generator) -> Sizes:
    """How many rows are nearest to each centre in all columns, from counts in a subspace of them.

    Where rows are beside the subspace is not known: near the centre of their cluster, or about the middle. The first is
    taken, and the difference between both is part of the error; and so is a few kept rows' (post/zones.md).
    """
    step = max(1, _VALUES // (_PLACES * (len(boxes.middle) + len(centres))))  # all at once would fill the memory
    parts = [boxes.some(slice(start, start + step)) for start in range(0, len(boxes.counts), step)]
    work = ((some, some.drawn(rng), beside) for beside in (centres, None) for some in parts)
    assigned = ((lambda each=each: _assigned(*each, centres=centres)) for each in work)  # drawn in order
    found = in_order(lambda sums: sums(), assigned) if len(parts) == 1 else [sums() for sums in assigned]
    (sizes, noise, uneven, fourth), (other, *_) = (
        sum(some, np.zeros((4, len(centres)))) for some in (found[: len(parts)], found[len(parts) :])
    )
    uneven = np.maximum(uneven, 0.0) + np.square(sizes - other)  # at worst all rows of a box on one side
    uneven += 0.0 if boxes.coins is None else FEWEST * np.square(boxes.coins.max())
    squares = np.square(noise + uneven)
    draws = squares / np.maximum(fourth, 1e-30 * squares + 1e-300)
    return Sizes(sizes, noise, uneven, draws, boxes.scale)


def _assigned(boxes: FlatBoxes, drawn: tuple[Floats, Floats], beside: Floats | None, *, centres: Floats) -> Floats:
    """Sizes, their noise, how uneven they may be, and fourth moments: 4 x k."""
    m, k = len(boxes.counts), len(centres)
    pairs = np.repeat(np.arange(m), _PLACES) * k + nearest(boxes.rows(drawn, beside), centres)
    share = np.bincount(pairs, minlength=m * k).reshape(m, k) / _PLACES
    noise, uneven = (share**2).T @ boxes.variances, (share * (1 - share)).T @ (boxes.counts**2 - boxes.variances)
    return np.stack([share.T @ boxes.counts, noise, uneven, (share**4).T @ boxes.variances**2])
