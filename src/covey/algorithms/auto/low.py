"""`auto` in up to 4 dimensions: noisy counts of boxes that fill the whole space, clustered for free."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.auto.one_mean import drawable_mean, one_mean, too_few
from covey.algorithms.auto.synopsis import Leaves, counted, inside
from covey.algorithms.kit import LatticeCoreset, Outcome, learn_size
from covey.algorithms.zoned import count_cells
from covey.budget.accounting.plan import Plan, split
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.tree import PrivTree
from covey.post.distances import add_up, nearest
from covey.post.leaves import certain, cluster, settled
from covey.post.phantoms import without_phantoms
from covey.private.curator import Curator
from covey.public import Neighbours
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid
from covey.queries.tree import Tree, TreeLeaves

TREE_SHARE, COUNT_SHARE = 35, 65  # of epsilon
HEAD_START = {1: 1.5, 2: 1.5, 3: 1.0, 4: 1.0}  # by dimension: how many levels' bias every node is spared, at most
ROWS_SPARED = 1 / 8  # of the rows for each centre: where they are few, empty boxes would split with the others
MANY = 2**22  # rows, that take long to pass over: boxes that noise alone has cut below what one pass counts are cut off
FINE = {1: 22, 2: 11}  # levels of these, by dimension
PARTS = 1000  # of a centre's rows: where noise would allow smaller boxes, they would only add noise, and take time
STRICTNESS = 0.65

# When rows are few for the budget and fill the box evenly, a grid with all of the budget is better than a tree.
SIZE_SHARE = (1, 49)  # of epsilon: 2% for the noisy number of rows
FEW = 125  # rows x epsilon for each centre: with more, a tree is fine enough anywhere
LOOK = {2: 40, 3: 113}  # by dimension: rows x the epsilon of a look at 4 cells per axis, to know evenness to about 20%
LOOK_CELLS = 4
LEAST_FOR_LOOK, MOST_FOR_LOOK = Fraction(2, 100), Fraction(14, 100)  # of epsilon
EVEN = 0.4  # 1: rows fill the box evenly; 1/cells: all are in one cell
GRID_STRICTNESS = 0.5


def from_boxes(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    objective: str,
    public_rng: np.random.Generator,
    keep_synopsis: bool,
) -> Outcome:
    """k centres from noisy counts of boxes: of a private tree that is finer where rows are, or of a grid.

    Guarantee: epsilon-DP. A noisy number of rows (2%; under replace-one it is public, and 2% counts those outside the
    bounds) decides in 2 and 3 dimensions whether to look at 4 cells per axis (2 to 14%), and what that shows
    decides between grid and tree: each choice, from released values, starts a plan. A tree takes 35% of the rest for
    all its splits together, with a threshold below 0 so that depth costs small clusters less, or above where rows are
    so many that boxes would have hardly any, and 65% for one count per leaf, or, if it has only one, for a mean
    (`one_mean`); a grid takes all of it for its cells, and so does a mean where a public number of rows says that there
    is nothing to find. Edge cases: a tree on no rows is a small random one; rows all in one place grow it to the
    lattice's resolution; counts that do not stand out of the noise weigh nothing in the search.
    """
    tree = Tree(curator.domain, axes_per_split=curator.domain.dimension)
    curator.expect(tree)
    size, left, told = learn_size(curator, epsilon, share=SIZE_SHARE)
    known: dict[str, Any] = {"size": max(size, 1), "delta": Fraction(0), "told": told}
    asked = {"k": k, "objective": objective, "public_rng": public_rng, "keep_synopsis": keep_synopsis, **known}
    if too_few(curator, epsilon=left, **known):
        return one_mean(curator, epsilon=left, **asked)
    even, left = _looks_even(curator, left, size=size, k=k)
    for_tree, for_counts = split(left, TREE_SHARE, COUNT_SHARE)
    grown = None if even else _tree(curator, tree, for_tree, size=size, k=k)
    if grown is not None and len(grown.leaves) == 1 and drawable_mean(curator, for_counts):
        return one_mean(curator, epsilon=for_counts, **asked)
    leaves = _grid(curator, left, size=size, k=k) if grown is None else _counted(curator, grown, for_counts)
    strictness = GRID_STRICTNESS if even else STRICTNESS
    searched = leaves.for_search(strictness)
    weights, counts, scales = searched.standing(strictness), searched.counts, searched.counted.scales
    lower, upper = curator.domain.corners
    points, limit = leaves.points, curator.domain.limit
    boxes = leaves.counted.boxes(points, leaves.widths, strictness=strictness)
    of_search = searched.counted.keys is None  # boxes have its own noise then, and else that of their numbers
    seen = searched.counted.boxes(points, leaves.widths, strictness=strictness) if of_search else boxes.counting(counts)
    seen = seen.within(upper + 0.5).scaled(limit)
    stand = without_phantoms(seen, weights > 0, k, public_rng, tree=True)
    weights = np.where(stand, weights, 0.0)
    found = cluster(points[stand], weights[stand], k=k, lower=lower, upper=upper, objective=objective, rng=public_rng)
    centres = found.centres
    if objective == "k-means":
        centres = settled(seen, weights, centres / limit, scale=scales) * limit
    of_all = searched if of_search else leaves
    coreset = LatticeCoreset(points, of_all.counts, leaves.widths) if keep_synopsis else None
    synopsis = "grid" if even else "tree"
    notes = {"synopsis": synopsis, "leaves": len(weights), "leaves_kept": int(stand.sum()), **told}
    if not certain(counts, scale=scales).any():
        lightest = add_up(nearest(points[stand], centres), weights[stand], k).argmin()
        centres[lightest] = (lower + upper) / 2  # the middle, which noise alone must not make worse
    centres = inside(centres, curator.domain)
    counted_up = leaves.counted.keys is not None
    return Outcome(centres, None, notes, coreset=coreset, boxes=boxes, counted_up=counted_up)


def _looks_even(curator: Curator, epsilon: Fraction, *, size: int, k: int) -> tuple[bool, Fraction]:
    """Whether few rows fill the box evenly, and what is left of epsilon. Looks only where a grid could be better."""
    d, sides = curator.domain.dimension, _sides(curator)
    if d not in LOOK or size < 1 or size * epsilon > FEW * k * sides:
        return False, epsilon
    amount = max(Fraction(LOOK[d] * sides, size), LEAST_FOR_LOOK * epsilon)
    if amount > MOST_FOR_LOOK * epsilon:
        return False, epsilon
    noise = DiscreteLaplace(amount)
    curator.reserve(Plan((noise.event(),)))
    counts = curator.release(CellCounts(Grid(curator.domain, LOOK_CELLS)), noise)
    return evenness(counts.astype(np.float64), scale=float(sides / amount)) > EVEN, epsilon - amount


def evenness(counts: NDArray[np.float64], *, scale: float) -> float:
    """How evenly rows fill cells: (Σ c)²/(cells·Σ c²), from noisy counts, a standard deviation on the low side."""
    even = max(float(counts.sum()), 1.0) ** 2 / len(counts)
    squares = float(np.square(counts).sum()) - 2 * scale**2 * len(counts)
    return even / max(squares + scale**2 * math.sqrt(20 * len(counts)), even)


def _grid(curator: Curator, epsilon: Fraction, *, size: int, k: int) -> Leaves:
    """A grid of about 12 cells for each centre, or a quarter of rows x epsilon, but at most half of that."""
    sides = _sides(curator)
    signal = size * float(epsilon) / sides
    cells = min(max(12.0 * k, signal / 4), signal / 2)
    grid = Grid(curator.domain, max(2, round(cells ** (1 / curator.domain.dimension))))
    noise = DiscreteLaplace(epsilon)
    curator.reserve(Plan((noise.event(),)))
    found = count_cells(curator, grid, noise)
    middles, half = grid.midpoints(), (curator.domain.limit + 0.5) / grid.per_axis
    return Leaves(middles - half, middles + half, found)


def _tree(curator: Curator, tree: Tree, epsilon: Fraction, *, size: int, k: int) -> TreeLeaves:
    """The leaves of a tree, in a plan of its own: whether it has more than one decides what is asked next."""
    units = PrivTree(epsilon, tree.fan_out).units(curator.neighbours)
    head_start = HEAD_START[curator.domain.dimension] * units.bias / units.row
    spared = min(head_start, ROWS_SPARED * size / k)
    paid = math.log(PARTS * k, tree.fan_out) * units.bias / units.row  # for the levels down to so many boxes
    theta = round(max(size / (PARTS * k) - paid, -spared))
    splits = PrivTree(epsilon, tree.fan_out, theta=theta)
    curator.reserve(Plan((splits.event(),)))
    fine = FINE.get(curator.domain.dimension) if theta > 0 and size >= MANY else None
    return TreeLeaves(tree, curator.grow(tree, splits, fine=fine))


def _counted(curator: Curator, leaves: TreeLeaves, epsilon: Fraction) -> Leaves:
    noise = DiscreteLaplace(epsilon)
    curator.reserve(Plan((noise.event(),)))
    return counted(curator, leaves, noise)


def _sides(curator: Curator) -> int:
    """How many cells a person can change: one, or two if a row is replaced."""
    return 2 if curator.neighbours is Neighbours.REPLACE_ONE else 1
