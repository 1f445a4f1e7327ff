"""`auto` in more than 4 dimensions: a private subspace, a private tree in it, and rounds of clipped residuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.auto.lifted import Seen, lifted
from covey.algorithms.auto.one_mean import one_mean, too_few
from covey.algorithms.auto.shares import Shares, Vector, choose_shares, deviation, drawable
from covey.algorithms.auto.synopsis import Leaves, inside
from covey.algorithms.kit import Outcome, learn_size
from covey.algorithms.zoned import count_images, sum_residuals
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.distances import add_up, nearest
from covey.post.errors.flat import FlatBoxes, flat_sizes
from covey.post.leaves import certain, cluster
from covey.post.subspace import (
    LEAST_SCATTER,
    Subspace,
    gained,
    lost_square,
    mean_square,
    middles_of_mass,
    outer_radius,
    principal_axes,
    shrunk,
    shrunk_steps,
    smooth_columns,
    spanned,
    widest_columns,
)
from covey.post.zones import KeptClusters, KeptCounts
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.published.outside import ROWS_BY_BOUNDS
from covey.queries.moments import MeanSums, SecondMoments, Variances
from covey.queries.norms import NormCounts
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums
from covey.queries.tree import Tree, TreeLeaves

Floats = NDArray[np.float64]
Moments = TypeVar("Moments", MeanSums, SecondMoments, Variances)

SIZE_SHARE = (1, 49)  # of epsilon: 2% for the noisy number of rows
RADII = 40  # from twice the domain's radius down, four to a halving
STRICTNESS = 0.6
L1_LENGTH = 0.8  # times the root of the number of columns: the L1 norm of a vector of length 1
SPARE_STRICTNESS = 0.45  # where there are centres to spare: leaves that are only noise are counted again
COUNTED_ROUND = 2  # in which spare centres are counted, and after which only k are left
COARSE = 4  # numbers of a mean that smoothing its columns leaves as they are


def from_subspace(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    delta: Fraction,
    objective: str,
    public_rng: np.random.Generator,
    keep_synopsis: bool,
) -> Outcome:
    """k centres: find where the rows are and their main axes, cluster a tree there, then refine in the full space.

    Guarantee: (epsilon, delta)-DP, or epsilon-DP for delta 0. A first plan holds the noisy numbers of rows inside
    and outside the bounds; the second, whose shares are chosen from it, everything else, or one mean where rows are too
    few. What each release looks at (the centre, radius, axes, boxes and centres) comes from earlier releases; how much
    noise it gets does not.
    """
    domain = curator.domain
    size, left, told = learn_size(curator, epsilon, share=SIZE_SHARE)
    size = max(size, 1)
    known: dict[str, Any] = {"size": size, "epsilon": left, "delta": delta, "told": told}
    if not keep_synopsis and too_few(curator, **known):
        return one_mean(curator, k=k, objective=objective, public_rng=public_rng, **known)
    kinds = 1 if curator.zones is None else curator.zones.kinds
    asked: dict[str, Any] = {"d": domain.dimension, "k": k, "neighbours": curator.neighbours, "zones": kinds}
    shares = choose_shares(size=size, epsilon=left, delta=delta, **asked)
    shares = shares if kinds == 1 else replace(shares, spare=0)  # whose rows would be counted by zone again
    curator.reserve(shares.plan)
    middle, off, radius, lost = _where_the_rows_are(curator, shares, size, doubt=_doubt_of_rows(curator, told, size))
    subspace, doubt = _main_axes(curator, shares, size, middle=middle, radius=radius, k=k)
    projection, half = _projection(subspace, middle=middle, off=off, radius=radius, width=shares.width, domain=domain)
    leaves = _tree(curator, projection, half, shares, k=k)
    points = middles_of_mass(leaves.lower, leaves.upper, half=half, deviations=np.sqrt(subspace.variances))
    strictness = SPARE_STRICTNESS if shares.spare else STRICTNESS
    standing = leaves.counted.for_search().standing(strictness)
    weights = standing.sure().counts
    stand = weights > 0
    how: dict[str, Any] = {"objective": objective, "rng": public_rng}
    found = cluster(points[stand], weights[stand], k=k + shares.spare, lower=-half, upper=half, **how)
    label = nearest(points, found.centres)
    heavy, kept = _cluster_weights(standing, label, k=len(found.centres), size=size)
    places = found.centres.copy()
    if not certain(leaves.counted.noisy, scale=leaves.scale).any():
        places[int(heavy.argmin())] = 0.0  # the middle, which noise alone must not make worse
    centres = inside(middle + places @ subspace.axes.T, domain)
    beside = max(subspace.scatter - float(subspace.variances.sum()), 0.0)
    if kept is not None:  # the moments were of kept rows: of all, what boxes have more or less of a square
        more = mean_square(points, weights) - mean_square(points, standing.kept)
        subspace = replace(subspace, scatter=max(subspace.scatter + more, beside, LEAST_SCATTER * radius**2))
    between = mean_square(found.centres, heavy)
    unseen = off - subspace.axes @ (off @ subspace.axes)  # how far the middle is off beside the subspace
    within = max(subspace.scatter - between, 0.05 * subspace.scatter, float(unseen @ unseen))
    centres, part_of = _refined(
        curator,
        centres,
        merge=partial(_merged, k=k, domain=domain, **how),
        shares=shares,
        weights=heavy,
        kept=kept,
        subspace=subspace,
        projection=projection,
        within=within,
        radius=radius,
        reach=shares.reach if objective == "k-means" else shares.reach / 2,
    )
    notes: dict[str, Any] = {
        "synopsis": "tree in a subspace",
        "axes": int(subspace.axes.shape[1]),
        "leaves": len(weights),
        "leaves_kept": int(stand.sum()),
        "rounds": len(shares.rounds),
        **told,
    }
    label = part_of[label]
    coreset = None
    if keep_synopsis:
        rows = size if kept is None else float(heavy.sum())
        seen = Seen(middle, half, size=rows, doubt=doubt, lost=lost)
        coreset, told = lifted(leaves, weights, label, centres, subspace, seen, domain)
        notes |= told
    flat = FlatBoxes(
        points,
        leaves.widths,
        leaves.counts,
        leaves.counted.variances,
        leaves.scale if kept is None else None,
        coins=leaves.counted.coins,
        middle=middle,
        axes=subspace.axes,
        outside=beside,
    )
    flat, seen_centres = in_span(flat, centres)
    sizes = flat_sizes(flat, seen_centres, rng=public_rng)
    return Outcome(centres, sizes.sizes, notes, coreset=coreset, size_law=sizes, counted_up=kept is not None)


def in_span(boxes: FlatBoxes, centres: Floats) -> tuple[FlatBoxes, Floats]:
    """The same boxes and centres in the span of the subspace and the centres, of few columns instead of many.

    Which centre is nearest is told there: what of a row lies beside it is as far from every centre. Of the rows' mean
    square outside the subspace, which is even in all directions, the span has its part.
    """
    d, q = boxes.axes.shape
    span = spanned(boxes.axes, (centres - boxes.middle).T)
    part = boxes.outside * (span.shape[1] - q) / max(d - q, 1)
    return replace(boxes, middle=boxes.middle @ span, axes=span.T @ boxes.axes, outside=part), centres @ span


def _doubt_of_rows(curator: Curator, told: dict[str, Any], size: float) -> float:
    """The deviation of the noisy number of rows, two counts with noise of one scale, as a part of it."""
    return 2 * float(told[ROWS_BY_BOUNDS[2]]) / size if curator.neighbours is Neighbours.ADD_REMOVE else 0.0


def _where_the_rows_are(
    curator: Curator, shares: Shares, size: float, *, doubt: float
) -> tuple[Floats, Floats, float, float]:
    """A middle of the rows, how far it is off by the number of rows alone, a radius that nearly all rows are within,
    and the mean square that lies beyond it.

    The second mean of the rows, about the first, is divided by their noisy number: where they are in a sliver far from
    the first, that alone is many times as wide as they are. doubt : of that number, as a part of it.
    """
    domain = curator.domain
    reach = math.sqrt(domain.row_l2_squared)
    first = _moments(MeanSums, curator, np.zeros(domain.dimension), reach, shares.mean)
    mean = first.shift(curator.release(first, shares.mean)) / size
    spread = deviation(shares.mean, first.sensitivity(curator.neighbours)) * float(first.clip.units[0]) / size
    smooth = not shares.gaussian and domain.dimension > 8
    mean = smooth_columns(mean, deviation=spread) if smooth else mean
    mean = shrunk(mean, spread, reach=reach, count=COARSE if smooth else None)
    mean = inside(mean[None], domain)[0]
    radii = 2 * reach * 2.0 ** (-np.arange(RADII) / 4)[::-1]
    norms = NormCounts(domain, mean, radii)
    counts = norms.counts(curator.release(norms, shares.norms))
    scale = deviation(shares.norms, norms.sensitivity(curator.neighbours)) / math.sqrt(2)
    radius = outer_radius(counts, radii, size=size, coverage=shares.coverage, scale=scale)
    again = _moments(MeanSums, curator, mean, radius, shares.recentre)
    shift = again.shift(curator.release(again, shares.recentre)) / size
    spread = deviation(shares.recentre, again.sensitivity(curator.neighbours)) * float(again.clip.units[0]) / size
    shift = shrunk(shift, spread, reach=radius)
    lost = lost_square(counts, radii, size=size, radius=radius, scale=scale)
    return inside((mean + shift)[None], domain)[0], doubt * shift, radius, lost


def _main_axes(
    curator: Curator, shares: Shares, size: float, *, middle: Floats, radius: float, k: int
) -> tuple[Subspace, float]:
    """The subspace to look at, and the standard deviation of the noise in its scatter."""
    if shares.full_moments:
        query = _moments(SecondMoments, curator, middle, radius, shares.moments)
        matrix = query.matrix(curator.release(query, shares.moments))
        spread = deviation(shares.moments, query.sensitivity(curator.neighbours))
        noise = spread * float(query.clip.units[0]) ** 2 / query.weights[1]
        doubt = noise * query.weights[1] / query.weights[0] * math.sqrt(curator.domain.dimension) / size
        return principal_axes(matrix, size=size, radius=radius, noise=noise, k=k), doubt
    diagonal = _moments(Variances, curator, middle, radius, shares.moments)
    squares = diagonal.squares(curator.release(diagonal, shares.moments))
    spread = deviation(shares.moments, diagonal.sensitivity(curator.neighbours))
    noise = spread * float(diagonal.clip.units[0]) ** 2
    doubt = noise * math.sqrt(curator.domain.dimension) / size
    return widest_columns(squares, size=size, radius=radius, noise=noise, k=k), doubt


def _moments(kind: type[Moments], curator: Curator, centre: Floats, radius: float, noise: Vector) -> Moments:
    """A query in units as fine as its noise allows: a very small epsilon asks for more noise than can be drawn."""
    unit_limit = kind.finest
    query = kind(curator.domain, centre, radius, unit_limit=unit_limit)
    while not drawable(noise, query.sensitivity(curator.neighbours)):
        unit_limit //= 2
        query = kind(curator.domain, centre, radius, unit_limit=unit_limit)
    return query


def _projection(
    subspace: Subspace, *, middle: Floats, off: Floats, radius: float, width: float, domain: Domain
) -> tuple[Projection, Floats]:
    """The map to the subspace, and the half-widths of the box there, in lattice units: `width` standard deviations of
    the rows, or of the middle if that is further off."""
    unit = Projection.unit(domain)
    wide = np.maximum(np.sqrt(subspace.variances), np.abs(off @ subspace.axes))
    half = np.maximum(np.minimum(width * wide, radius), 1.0)
    matrix = np.rint(subspace.axes.T * unit).astype(np.int64)
    return Projection(matrix, middle, np.rint(half * unit).astype(np.int64), domain), half


def _tree(curator: Curator, projection: Projection, half: Floats, shares: Shares, *, k: int) -> Leaves:
    """The leaves of a private tree in the subspace, in lattice units about the middle."""
    narrow = curator.project(projection)
    tree = Tree(narrow.domain, widths=tuple(half.tolist()), axes_per_split=2)
    leaves = TreeLeaves(tree, narrow.grow(tree, shares.tree))
    lower, upper = tree.boxes(leaves.leaves)
    sums = k * curator.domain.dimension
    counted = count_images(curator, narrow, leaves, projection, shares.counts, sums=sums)
    unit = half / (narrow.domain.limit + 0.5)  # boxes reach half a lattice step beyond the outermost points
    return Leaves(lower * unit, upper * unit, counted)


def _cluster_weights(
    standing: KeptCounts, label: NDArray[np.intp], *, k: int, size: float
) -> tuple[Floats, KeptClusters | None]:
    """How many rows each cluster has: its leaves', scaled up to the number of rows, and never below their noise.

    By zone, where leaves were counted so, with the numbers of kept rows. standing : the leaves that stand out.
    """
    leaves = np.bincount(label[standing.counts > 0], minlength=k)
    least = 2 * standing.scale * np.sqrt(2.0 * np.maximum(leaves, 1))
    times = size / max(float(standing.noisy.sum()), 1.0)
    rows = np.maximum(add_up(label, standing.sure().counts, k) * times, least)
    if standing.keys is None:
        return rows, None
    return rows, KeptClusters.of(replace(standing, noisy=standing.noisy * times), label, least)


def _merged(
    centres: Floats, rows: Floats, *, doubt: float, k: int, domain: Domain, objective: str, rng: np.random.Generator
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """k centres of many with noisy numbers of rows, their numbers of rows, and which of the k each became part of.

    What does not stand out of the noise by a deviation, `doubt`, weighs nothing: most of it has no rows.
    """
    edge = np.full(domain.dimension, float(domain.limit))
    heavy = np.where(rows > doubt, rows, 0.0)
    heavy = heavy if np.count_nonzero(heavy) >= k else np.maximum(rows, doubt)
    merged = cluster(centres, heavy, k=k, lower=-edge, upper=edge, objective=objective, rng=rng).centres
    part_of = nearest(centres, merged)
    return inside(merged, domain), np.maximum(add_up(part_of, heavy, k), 2 * doubt), part_of


def _refined(
    curator: Curator,
    centres: Floats,
    *,
    merge: Callable[..., tuple[Floats, Floats, NDArray[np.intp]]],
    shares: Shares,
    weights: Floats,
    kept: KeptClusters | None,
    subspace: Subspace,
    projection: Projection,
    within: float,
    radius: float,
    reach: float,
) -> tuple[Floats, NDArray[np.intp]]:
    """Rounds of noisy residual sums, clipped to about the size of a residual, the first judged in the subspace.

    If there are centres to spare, the second round also counts their rows, and merges them. Returned with the
    centres: which of them each one of the start became part of.
    """
    clip, part_of = None, np.arange(len(centres))
    for number, noise in enumerate(shares.rounds):
        wanted = reach * math.sqrt(within)
        clip = min(wanted, radius) if clip is None else min(max(wanted, clip / 2), clip)
        judged = projection if number == 0 else None
        counted = shares.spare > 0 and number + 1 == COUNTED_ROUND
        if isinstance(noise, DiscreteLaplace):  # drawn for its L1 norm
            length = clip * L1_LENGTH * math.sqrt(curator.domain.dimension)
            sums = ResidualSums(curator.domain, centres, length, projection=judged, norm="l1")
        else:
            sums = ResidualSums(curator.domain, centres, clip, projection=judged, with_counts=counted)
        doubt = deviation(noise, sums.sensitivity(curator.neighbours))
        found = sum_residuals(curator, sums, noise, doubt=doubt, weights=weights, kept=kept)
        noisy, weights = found.noisy, found.weights
        weights = np.maximum(sums.counts(noisy), 2 * doubt / sums.clip.unit_limit) if counted else weights
        shifts = sums.shifts(noisy) / weights[:, None]
        spread = found.doubt * sums.clip.units / weights
        steps = shrunk_steps(shifts, spread, weights, subspace.axes)
        centres = inside(sums.centres + steps, curator.domain)
        within = max(within - max(gained(steps, shifts, spread, weights), 0.0), 0.02 * subspace.scatter)
        if counted:
            centres, weights, part_of = merge(centres, sums.counts(noisy), doubt=doubt / sums.clip.unit_limit)
    return centres, part_of
