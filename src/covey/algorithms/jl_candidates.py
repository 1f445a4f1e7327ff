"""`jl-candidates`: a random projection, private candidate centres, private local search (Balcan et al. 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import Outcome, after_size, learn_size
from covey.algorithms.local_search import MOST_SWAPS, Search, check_pairs, first_choice, usual_swaps
from covey.algorithms.max_cover import Means, averages_of, means_of
from covey.budget.accounting.plan import Plan, split
from covey.checks import Flag, OneOf, Whole
from covey.errors import ParameterError
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.tree import PrivTree
from covey.post.distances import nearest
from covey.post.starts import uniform_starts
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums
from covey.queries.tree import Nodes, Tree, TreeLeaves

SHARES = (2, 1, 4, 3)  # of epsilon: the partition, the counts of its boxes, the local search, the means
ROUND_SHARES = (6, 3, 12, 14, 21)  # the same before a last round: to both averages as much as max-cover gives them
MOST_DIMENSIONS = 30
MOST_CANDIDATES = 10_000

Floats = NDArray[np.float64]
LEFT = "the numbers of rows were released with averages of clusters that the centres have since left"


def jl_candidates(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    public_rng: np.random.Generator,
    dimensions: Annotated[int, Whole(1, MOST_DIMENSIONS)] | None = None,
    candidates: Annotated[int, Whole(2, MOST_CANDIDATES)] | None = None,
    swaps: Annotated[int, Whole(0, MOST_SWAPS)] | None = None,
    averages: Annotated[str, OneOf("shortened", "sums", "noisy-avg")] | None = None,
    final_round: Annotated[bool, Flag()] = True,
) -> Outcome:
    """k centres: rows are projected at random, candidate centres found where they are, k of them chosen, averaged.

    Guarantee: epsilon-DP under add/remove (4% for the noisy number of rows) and replace-one (n is public), in one plan
    after the number of rows: the splits of the partition are one event (noise/tree.md), the counts of its boxes another
    (queries/tree.md); the `swaps` + 1 picks of the local search share theirs (queries/swaps.md); one release of sums
    and counts in the full space, where a row's cluster is judged by its image (queries/residuals.md).

    (epsilon, delta)-DP with a delta, the form of AAAI'21: averages are "sums" (Gaussian or Laplace noise, the lesser;
    numbers of rows with Laplace noise) or "noisy-avg" (noise/noisy_average.md; add/remove only). Each release of them
    is a plan of its own, also the `final_round` in the full space: epsilon and delta add up over plans.

    The projection is drawn without looking at rows, from a range that is public; what the search sees is cut to where
    the partition found rows. As published, counts are exact, the range is the data's own, and the parts add up to
    1.75 epsilon. Edge cases: where the partition finds too few candidates, random points are added.
    """
    d = curator.domain.dimension
    wanted = min(max(candidates or max(64, 8 * k), 2 * k), MOST_CANDIDATES)
    many = usual_swaps(k) if swaps is None else swaps
    check_pairs(k=k, candidates=wanted)
    parts, rounds = share_out(
        after_size(epsilon, curator.neighbours),
        delta,
        k=k,
        domain=curator.domain,
        neighbours=curator.neighbours,
        averages=averages,
        final_round=final_round,
    )
    size, _, told = learn_size(curator, epsilon)
    size = max(size, 1)
    q = min(d, dimensions or max(1, round(math.log(size) / 2)), MOST_DIMENSIONS)
    splits, boxes = PrivTree(parts[0], fan_out=2 ** min(2, q), theta=size // wanted), DiscreteLaplace(parts[1])
    search, noise = Search(parts[2], many), tuple(DiscreteLaplace(each) for each in parts[3:])
    curator.reserve(Plan((splits.event(), boxes.event(), *search.events(), *(each.event() for each in noise))))
    for means in rounds:
        curator.reserve(means.plan())
    wide = random_projection(curator.domain, q, size=size, rng=public_rng)
    image = curator.project(wide)
    found = _partition(image, wide, splits, boxes, most=wanted, least=min(wanted, 2 * k), rng=public_rng)
    narrow, points = _cut_to(found, wide)
    start = first_choice(points, k, rng=public_rng)
    chosen = found.points[search.run(curator.project(narrow), points, start, objective="k-means")]
    if noise:
        centres, sizes = _means(curator, wide, found, chosen, noise[0])
    else:
        lifted = _inside(_lift(chosen, wide.matrix), curator.domain)
        lower = None if q == d else lifted @ wide.matrix.T * (image.domain.limit / wide.half)
        centres, sizes = averages_of(curator, lifted, rounds[0], rng=public_rng, within=(wide, image, lower))
    for means in rounds[1:]:
        centres, sizes = averages_of(curator, centres, means, rng=public_rng)
    notes = {"dimensions": q, "candidates": len(points), "swaps": many, "boxes": found.boxes, **told}
    return Outcome(centres, sizes, notes, not_told=LEFT)


def share_out(
    epsilon: Fraction,
    delta: Fraction,
    *,
    k: int,
    domain: Domain,
    neighbours: Neighbours,
    averages: str | None,
    final_round: bool,
) -> tuple[tuple[Fraction, ...], tuple[Means, ...]]:
    """The epsilon of everything that is pure, in one plan, and averages that are plans of their own.

    Shortened averages, usual without a delta, belong to the first. Others share delta equally; what has Laplace noise
    leaves its part.
    """
    averages = averages or ("sums" if delta else "shortened")
    if averages == "shortened":
        return split(epsilon, *SHARES), ()
    if averages == "noisy-avg" and (neighbours is not Neighbours.ADD_REMOVE or not delta):
        raise ParameterError("averages", "'noisy-avg' is proven for add-remove, with a delta above 0")
    parts = split(epsilon, *(ROUND_SHARES if final_round else (*ROUND_SHARES[:3], sum(ROUND_SHARES[3:]))))
    each = delta / len(parts[3:])
    means = partial(means_of, k=k, domain=domain, averages=averages, neighbours=neighbours)
    return parts[:3], tuple(means(part, each) for part in parts[3:])


def uses_delta(
    *,
    domain: Domain,
    neighbours: Neighbours,
    k: int,
    epsilon: Fraction,
    delta: Fraction,
    averages: str | None,
    final_round: bool,
    **_own: Any,
) -> bool:
    """Whether an average takes noise that needs a delta: sums in few columns do not."""
    _, rounds = share_out(
        after_size(epsilon, neighbours),
        delta,
        k=k,
        domain=domain,
        neighbours=neighbours,
        averages=averages,
        final_round=final_round,
    )
    return any(each.delta for each in rounds)


def random_projection(domain: Domain, q: int, *, size: int, rng: np.random.Generator) -> Projection:
    """A matrix of random signs (Achlioptas 2003), or the identity if nothing is to be reduced; and a public range.

    For any fixed row a sum of d coordinates with random signs is beyond |row|·√(2 ln(2·q·size)) with probability below
    1/(q·size): of `size` rows about one is clipped. No entry exceeds d·limit.
    """
    d, zero = domain.dimension, np.zeros(domain.dimension)
    if q >= d:
        return Projection(np.eye(d, dtype=np.int64), zero, np.full(d, domain.limit), domain)
    matrix = 2 * rng.integers(0, 2, (q, d)) - 1
    longest = math.sqrt(domain.row_l2_squared) * math.sqrt(2 * math.log(2 * q * max(size, 2)))
    half = min(domain.row_l1, math.ceil(longest))
    return Projection(matrix, zero, np.full(q, half), domain)


@dataclass(frozen=True)
class Found:
    """Candidate centres in units of the projection's product, about the middle of the domain."""

    points: Floats  # m x q
    lower: Floats  # q: a box around all that the partition found
    upper: Floats
    boxes: int  # that the partition ended with


def _partition(
    image: Curator,
    wide: Projection,
    splits: PrivTree,
    noise: DiscreteLaplace,
    *,
    most: int,
    least: int,
    rng: np.random.Generator,
) -> Found:
    """The middles of the boxes that were split and are heavy by their noisy counts, the smallest ones first."""
    tree = Tree(image.domain, axes_per_split=splits.fan_out.bit_length() - 1)
    leaves = TreeLeaves(tree, image.grow(tree, splits))
    counts = image.release(leaves, noise)
    nodes = split_nodes(tree, leaves.leaves)
    heavy = rows_of(tree, nodes, leaves.leaves, counts) > splits.theta / 2 + 5 / float(noise.epsilon)
    nodes = Nodes(nodes.depths[heavy], nodes.keys[heavy])
    height = heights(tree, nodes)
    order = np.lexsort((rng.random(len(nodes)), height))[:most]
    kept = Nodes(nodes.depths[order], nodes.keys[order])
    points = tree.midpoints(kept)
    lower, upper = tree.boxes(kept)
    fine = height[order] == 0
    edge = np.full(image.domain.dimension, image.domain.limit + 0.5)
    low, high = (lower[fine].min(axis=0), upper[fine].max(axis=0)) if fine.any() else (-edge, edge)
    if len(points) < least:
        more = uniform_starts(least - len(points), lower=low, upper=high, rng=rng)
        points = np.concatenate([points, more])
    unit = wide.half[0] / edge[0]  # boxes reach half a lattice step beyond the outermost points
    return Found(points * unit, low * unit, high * unit, len(leaves.leaves))


def rows_of(tree: Tree, nodes: Nodes, leaves: Nodes, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The noisy number of rows of nodes above the leaves: the sum of their leaves' counts."""
    depth = tree.deepest
    ends = tree.starts(nodes, depth) + (1 << (depth - nodes.depths) * tree.axes_per_split)
    starts, before = tree.starts(leaves, depth), np.concatenate([[0], np.cumsum(counts)])
    first, beyond = (np.searchsorted(starts, each) for each in (tree.starts(nodes, depth), ends))
    return np.asarray(before[beyond] - before[first])


def split_nodes(tree: Tree, leaves: Nodes) -> Nodes:
    """All nodes above the leaves: those that were split."""
    bits, above = tree.axes_per_split, np.empty(0, dtype=np.int64)
    depths, keys = [above], [above]
    for depth in range(int(leaves.depths.max(initial=0)), 0, -1):
        above = np.unique(np.concatenate([above, leaves.keys[leaves.depths == depth]]) >> bits)
        depths.append(np.full(len(above), depth - 1, dtype=np.int64))
        keys.append(above)
    return tree.in_order(np.concatenate(depths), np.concatenate(keys))


def heights(tree: Tree, nodes: Nodes) -> NDArray[np.int64]:
    """How many levels each of the nodes is above the lowest of them that it holds: 0 if it holds no other."""
    bits, places = tree.axes_per_split, list(zip(nodes.depths.tolist(), nodes.keys.tolist(), strict=True))
    highest = dict.fromkeys(places, 0)
    for depth, key in sorted(places, reverse=True):  # the deepest first
        for up in range(1, depth + 1):
            holder = (depth - up, key >> up * bits)
            if highest.get(holder, -1) >= up:
                break  # and so has everything above it
            if holder in highest:
                highest[holder] = up
    return np.array([highest[each] for each in places], dtype=np.int64)


def _cut_to(found: Found, wide: Projection) -> tuple[Projection, Floats]:
    """The same projection with the range of what was found, and the candidates in lattice units of its target."""
    domain, matrix = wide.domain, wide.matrix
    middle = domain.snap(_lift((found.lower + found.upper) / 2, matrix))
    shift = (matrix @ middle).astype(np.float64)
    widest = max(float(np.abs(end - shift).max()) for end in (found.lower, found.upper))
    half = max(1, math.ceil(widest))
    narrow = Projection(matrix, middle, np.full(len(matrix), half), domain)
    points = (found.points - shift) * (narrow.target.limit / half)
    return narrow, np.clip(points, -narrow.target.limit, narrow.target.limit)


def _lift(points: Floats, matrix: NDArray[np.int64]) -> Floats:
    """The shortest vectors with these products."""
    return np.asarray(points @ np.linalg.pinv(matrix.astype(np.float64)).T)


def _means(
    curator: Curator, wide: Projection, found: Found, chosen: Floats, noise: DiscreteLaplace
) -> tuple[Floats, Floats]:
    """Noisy mean and noisy number of the rows nearest to each chosen candidate, in the full space."""
    domain = curator.domain
    d, q = domain.dimension, len(wide.matrix)
    if q == d:  # about a chosen candidate: twice the spread of the candidates near it
        near = chosen[nearest(found.points, chosen)]
        length = 2 * math.sqrt(float(np.square(found.points - near).sum(axis=1).mean())) + 0.05 * domain.limit
    else:  # a sum with random signs is about as long as the row
        length = 1.25 * math.sqrt(float(np.square(found.points).mean()))
    sums = ResidualSums(
        domain,
        _lift(chosen, wide.matrix),
        max(1.0, math.sqrt(d) * length),
        projection=wide,
        norm="l1",
        with_counts=True,
    )
    noisy = curator.release(sums, noise)
    counts = sums.counts(noisy)
    spread = math.sqrt(2) * float(sums.sensitivity(curator.neighbours).l1 / noise.epsilon) * sums.clip.units
    steps = sums.shifts(noisy) / np.maximum(counts, 1.0)[:, None]
    error = d * np.square(spread / np.maximum(counts, 1.0))  # James and Stein: a step that is mostly noise is shortened
    kept = np.clip(1 - error / np.maximum(np.square(steps).sum(axis=1), 1e-300), 0.0, 1.0)
    kept[counts < 1] = 0.0
    return _inside(sums.centres + kept[:, None] * steps, domain), counts


def _inside(points: Floats, domain: Domain) -> Floats:
    clipped = np.clip(points, -domain.limit, domain.limit)
    if domain.ball:
        clipped *= domain.limit / np.maximum(np.sqrt(np.square(clipped).sum(axis=1, keepdims=True)), domain.limit)
    return np.asarray(clipped)
