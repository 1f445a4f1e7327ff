"""`auto` in up to 4 dimensions: a private tree of boxes in the whole space, clustered for free."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from covey.algorithms.outcome import LatticeCoreset, Outcome
from covey.algorithms.tree_synopsis import count_leaves, inside
from covey.budget.plan import Plan, split
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.tree import PrivTree
from covey.post.leaves import cluster, kept_weights, recentre
from covey.private.curator import Curator
from covey.queries.tree import Tree

TREE_SHARE, COUNT_SHARE = 45, 55  # of epsilon
STRICTNESS = 0.65


def from_tree(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    objective: str,
    public_rng: np.random.Generator,
    keep_synopsis: bool,
) -> Outcome:
    """k centres from the leaves of a private tree whose boxes shrink where rows are.

    Guarantee: epsilon-DP: 45% of it for all splits together, 55% for one noisy count per leaf. No formula needs the
    number of rows, so none is paid for. Edge cases: a tree on no rows is a small random one; rows all in one place grow
    it to the lattice's resolution; leaves whose counts do not stand out of the noise weigh nothing in the search.
    """
    tree = Tree(curator.domain, axes_per_split=curator.domain.dimension)
    for_tree, for_counts = split(epsilon, TREE_SHARE, COUNT_SHARE)
    splits, noise = PrivTree(for_tree, tree.fan_out), DiscreteLaplace(for_counts)
    curator.reserve(Plan((splits.event(), noise.event())))
    leaves = count_leaves(curator, tree, splits=splits, noise=noise)
    weights = kept_weights(leaves.counts, scale=leaves.scale, strictness=STRICTNESS)
    lower, upper = curator.domain.corners
    stand = weights > 0
    points = leaves.points
    found = cluster(points[stand], weights[stand], k=k, lower=lower, upper=upper, objective=objective, rng=public_rng)
    centres = found.centres
    if objective == "k-means":
        centres = recentre(points, leaves.widths, leaves.counts, weights, centres, scale=leaves.scale)
    coreset = LatticeCoreset(points[stand], weights[stand], leaves.widths[stand]) if keep_synopsis else None
    notes = {"synopsis": "tree", "leaves": len(weights), "leaves_kept": int(stand.sum())}
    return Outcome(inside(centres, curator.domain), found.sizes, notes, coreset=coreset)
