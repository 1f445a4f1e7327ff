"""A private tree of boxes with noisy counts: the synopsis behind `auto`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.tree import PrivTree
from covey.private.curator import Curator
from covey.public import Domain
from covey.queries.tree import Tree, TreeLeaves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Leaves:
    """Boxes that fill the domain, in lattice units, each with its noisy number of rows."""

    lower: Floats
    upper: Floats
    counts: Floats
    scale: float  # of the Laplace noise on the counts

    @property
    def points(self) -> Floats:
        return np.asarray((self.lower + self.upper) / 2)

    @property
    def widths(self) -> Floats:
        return np.asarray(self.upper - self.lower)


def count_leaves(curator: Curator, tree: Tree, *, splits: PrivTree, noise: DiscreteLaplace) -> Leaves:
    """Grow a tree and count its leaves. The plan must hold both events."""
    leaves = TreeLeaves(tree, curator.grow(tree, splits))
    counts = curator.release(leaves, noise)
    lower, upper = tree.boxes(leaves.leaves)
    sensitivity = leaves.sensitivity(curator.neighbours)
    return Leaves(lower, upper, counts.astype(np.float64), float(Fraction(sensitivity.l1) / noise.epsilon))


def inside(points: Floats, domain: Domain) -> Floats:
    """Points moved into the domain."""
    clipped = np.clip(points, -domain.limit, domain.limit)
    if domain.ball:
        norms = np.sqrt(np.square(clipped).sum(axis=1, keepdims=True))
        clipped *= domain.limit / np.maximum(norms, domain.limit)
    return np.asarray(clipped)
