"""A private tree of boxes with noisy counts: the synopsis behind `auto`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.zoned import count_leaves_of
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.halves import in_halves
from covey.post.zones import KeptCounts
from covey.private.curator import Curator
from covey.public import Domain
from covey.queries.tree import TreeLeaves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Leaves:
    """Boxes that fill the domain, in lattice units, each with its noisy number of rows."""

    lower: Floats
    upper: Floats
    counted: KeptCounts

    @property
    def counts(self) -> Floats:
        return self.counted.counts

    @property
    def scale(self) -> float:
        """Of the Laplace noise on the counts, as they were released."""
        return self.counted.scale

    @property
    def points(self) -> Floats:
        return np.asarray((self.lower + self.upper) / 2)

    @property
    def widths(self) -> Floats:
        return np.asarray(self.upper - self.lower)

    def for_search(self, strictness: float) -> Leaves:
        """The leaves as a search takes them."""
        return replace(self, counted=in_halves(self.counted, self.points, strictness=strictness))

    def standing(self, strictness: float) -> Floats:
        """The counts of the leaves that stand out of the noise, or of what they kept in each zone; 0 for the others."""
        return self.counted.standing(strictness).counts


def counted(curator: Curator, leaves: TreeLeaves, noise: DiscreteLaplace) -> Leaves:
    """The leaves of a tree that was grown, with their noisy counts."""
    lower, upper = leaves.tree.boxes(leaves.leaves)
    return Leaves(lower, upper, count_leaves_of(curator, leaves, noise))


def inside(points: Floats, domain: Domain) -> Floats:
    """Points moved into the domain."""
    clipped = np.clip(points, -domain.limit, domain.limit)
    if domain.ball:
        norms = np.sqrt(np.square(clipped).sum(axis=1, keepdims=True))
        clipped *= domain.limit / np.maximum(norms, domain.limit)
    return np.asarray(clipped)
