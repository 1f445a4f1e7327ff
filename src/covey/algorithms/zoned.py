"""Questions that are asked by zone, where zones let rows through in part. Only what comes back is divided by a rate.

Each is one release, with the noise that it has without zones: a row is in one zone (queries/zoned.md). Without zones,
each is the plain question. With people a row's zone is the one that its person was kept by, which no place tells: there
all pairs of a zone and a place are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.noise.mechanisms import DiscreteLaplace
from covey.post.zones import KeptClusters, KeptCounts, Keys, likely_pairs
from covey.private.curator import Adds, Curator
from covey.queries.base import Query, Rows
from covey.queries.counts import CellCounts
from covey.queries.grid import MOST_CELLS, Grid
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums
from covey.queries.tree import TreeLeaves
from covey.queries.voronoi import VoronoiSums, nearest
from covey.queries.zoned import ByPersonsZone, ByZone, OfImages, ZonedCells, ZonedLeaves, check_size

SPOTS_AT_ONCE = 2**10  # whose places are found: a table of each with thousands of centres or rays stays small

Floats = NDArray[np.float64]
Labels = Callable[[Rows], NDArray[np.int64]]  # the place that each row counts at, -1 for none


def count_cells(curator: Curator, grid: Grid, noise: DiscreteLaplace) -> KeptCounts:
    """Rows per cell of a grid, which has at most 2^24/(kinds of zones + 1) cells."""
    if curator.zones is None or curator.zones.together is not None:
        return _everywhere(curator, CellCounts(grid), noise)
    query = ZonedCells.of(grid.domain, grid.per_axis, curator.zones.regions)
    keys = Keys(query.cell_of, curator.zones.rates[query.zone_of], grid.cells)
    return KeptCounts(curator.release(query, noise).astype(np.float64), _scale(curator, query, noise), keys)


def count_leaves_of(curator: Curator, leaves: TreeLeaves, noise: DiscreteLaplace) -> KeptCounts:
    """Rows per leaf of a tree."""
    if curator.zones is None or curator.zones.together is not None:
        return _everywhere(curator, leaves, noise)
    lower, upper = leaves.tree.boxes(leaves.leaves)
    possible = curator.zones.regions.possible_in(lower, upper)
    noisy = curator.release(ZonedLeaves(leaves, curator.zones.regions, possible), noise).astype(np.float64)
    return KeptCounts(noisy, _scale(curator, leaves, noise), Keys.of(possible, curator.zones.rates))


def count_images(
    curator: Curator,
    projected: Curator,
    leaves: TreeLeaves,
    projection: Projection,
    noise: DiscreteLaplace,
    *,
    sums: int,
) -> KeptCounts:
    """Rows per leaf of a tree of the rows' images: in each zone all leaves, since an image does not tell a row's zone.

    sums : how many are asked for afterwards. Where these or the leaves, by zone, would be more than can be held, kept
    rows are counted as they are: it was charged before.
    """
    if not _held(curator, max(leaves.size, sums)):
        return _plain(projected, leaves, noise)
    return _everywhere(curator, OfImages(leaves, projection), noise)


def count_places(
    curator: Curator, query: Query, noise: DiscreteLaplace, places: Labels, *more: ArrayLike
) -> KeptCounts:
    """Rows per place, whatever places are; `more` are points of places that may be too small to be found."""
    if curator.zones is None:
        return _plain(curator, query, noise)
    noisy, scale = _by_zone(curator, query, noise), _scale(curator, query, noise)
    likely = _likely(curator, noisy, places, *more, scale=scale)
    return KeptCounts(noisy[likely], scale, _keys(curator, likely))


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Noisy sums of clusters, as `VoronoiSums` reads them, for a search; and their noisy numbers of rows.

    scales : of the noise in the number of rows behind a cluster's sums. kept : the noisy number of all kept rows.
    """

    sums: NDArray[np.int64] | Floats
    counts: Floats
    scales: Floats
    kept: float


def check_sums(curator: Curator, k: int) -> None:
    """Refuse more sums of k clusters, by zone, than can be held; before anything is paid."""
    if curator.zones is not None:
        check_size(k * (curator.domain.dimension + 1), curator.zones.kinds - 1)


def sum_clusters(curator: Curator, sums: VoronoiSums, noise: DiscreteLaplace) -> ClusterSums:
    """Sums and counts of the rows nearest to each centre."""
    scale = float(sums.sensitivity(curator.neighbours).l1 / (curator.domain.limit * noise.epsilon))
    if curator.zones is None:
        noisy = curator.release(sums, noise)
        counts = sums.counts(noisy)
        return ClusterSums(noisy, counts, np.full(len(counts), scale), float(counts.sum()))
    table = _by_zone(curator, sums, noise).reshape(curator.zones.kinds, len(sums.centres), -1)
    kept = table[:, :, -1] / curator.domain.limit
    likely = _likely(curator, kept, lambda rows: nearest(rows, sums.centres), sums.centres, scale=scale)
    counted = KeptCounts(kept[likely], scale, _keys(curator, likely))
    search = counted.in_places()
    assert search.keys is not None
    added = [search.keys.add_up(column / search.keys.rate) for column in table[likely].T]
    return ClusterSums(np.stack(added, axis=1).ravel(), counted.counts, search.scales, float(kept.sum()))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Noisy sums as `ResidualSums` reads them, the deviation of each cluster's noise, and the rows behind its sums."""

    noisy: NDArray[np.int64] | Floats
    doubt: float | Floats
    weights: Floats


def sum_residuals(
    curator: Curator, sums: ResidualSums, noise: Adds, *, doubt: float, weights: Floats, kept: KeptClusters | None
) -> Residuals:
    """Sums of the residuals of clusters of about so many rows, `weights`; `kept` says how many by zone.

    doubt : the deviation of the noise of every number.
    """
    if kept is None:
        return Residuals(curator.release(sums, noise), doubt, weights)
    table = _by_zone(curator, sums, noise).reshape(*kept.kept.shape, -1)
    factors = kept.factors(doubt / sums.clip.unit_limit * np.sqrt(curator.domain.dimension))
    added = (table * factors[:, :, None]).sum(axis=0).ravel()
    return Residuals(added, doubt * np.sqrt(np.square(factors).sum(axis=0)), kept.weights(factors))


def _by_zone(curator: Curator, query: Query, noise: Adds) -> Floats:
    """(zones, numbers of the query), noisy."""
    zones = curator.zones
    assert zones is not None
    by_row = zones.together is None
    noisy = curator.release(ByZone(query, zones.regions) if by_row else ByPersonsZone(query, zones.kinds), noise)
    return noisy.reshape(zones.kinds, -1).astype(np.float64)


def _everywhere(curator: Curator, query: Query, noise: DiscreteLaplace) -> KeptCounts:
    """Rows of all pairs of a zone and a place; kept rows as they are where these are more than can be held."""
    if not _held(curator, query.size):
        return _plain(curator, query, noise)
    noisy = _by_zone(curator, query, noise)
    keys = _keys(curator, np.ones(noisy.shape, dtype=np.bool_))
    return KeptCounts(noisy.ravel(), _scale(curator, query, noise), keys)


def _held(curator: Curator, numbers: int) -> bool:
    """Whether there are zones, and so many numbers by zone are not too many."""
    return curator.zones is not None and numbers * curator.zones.kinds <= MOST_CELLS


def _keys(curator: Curator, possible: NDArray[np.bool_]) -> Keys:
    assert curator.zones is not None
    return Keys.of(possible, curator.zones.rates, curator.zones.together)


def _likely(curator: Curator, noisy: Floats, places: Labels, *more: ArrayLike, scale: float) -> NDArray[np.bool_]:
    """Which pairs of a zone and a place rows can be in, by public points all over the domain; of people's rows, all."""
    assert curator.zones is not None
    if curator.zones.together is not None:
        return np.ones(noisy.shape, dtype=np.bool_)
    regions, domain = curator.zones.regions, curator.domain
    points = [domain.snap(each).astype(np.int32).T for each in more]
    spots = np.ascontiguousarray(np.concatenate([regions.spots(), *points], axis=1))
    starts = range(0, spots.shape[1], SPOTS_AT_ONCE)
    place = np.concatenate([places(spots[:, start : start + SPOTS_AT_ONCE]) for start in starts])
    return likely_pairs(noisy, place, regions.index(spots).astype(np.int64), scale=scale)


def _plain(curator: Curator, query: Query, noise: DiscreteLaplace) -> KeptCounts:
    return KeptCounts(curator.release(query, noise).astype(np.float64), _scale(curator, query, noise))


def _scale(curator: Curator, query: Query, noise: DiscreteLaplace) -> float:
    return float(query.sensitivity(curator.neighbours).l1 / noise.epsilon)
