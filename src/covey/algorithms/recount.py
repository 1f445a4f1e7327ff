"""What `ball-coreset` asks at the end about all rows and their nearest balls: how many, where, and how far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import LatticeCoreset
from covey.algorithms.zoned import sum_clusters
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.distances import nearest
from covey.post.spreads import spread_out, told
from covey.private.curator import Curator
from covey.queries.grid import Grid
from covey.queries.squares import NearestSquares
from covey.queries.voronoi import VoronoiSums

Floats = NDArray[np.float64]

CERTAIN = 4  # a mean is used if the noisy count behind it is so many times the scale of its noise
LEAST_PLACES = 4  # along an axis, for costs that are to be trusted


@dataclass(frozen=True)
class Counting:
    """The noise of both questions."""

    sums: DiscreteLaplace
    squares: DiscreteLaplace


@dataclass(frozen=True)
class Counted:
    """The balls with their weights, and the scales of the noise of each count (in rows) and of the squares.

    by_zone : whether zones let rows through in part: of those that were not kept, nobody knows how far away they are.
    """

    coreset: LatticeCoreset
    count_scales: Floats
    square_scale: float = 0.0
    by_zone: bool = False


def recount(curator: Curator, centres: Floats, noise: Counting) -> Counted:
    """Noisy counts and means of the rows nearest to each ball's centre: all rows, those that no ball took included.

    Σ |x - c|² about a ball's centre c is Σ |x - p|² + rows·|p - c|² about the mean p of its rows (Steiner): what the
    points moved is taken off the noisy sum of squares, and what is left is spread over the points. Where zones let rows
    through in part, those that were not kept are taken to be as far away as those that were: divided by a small rate,
    the noise of so large a number would be all of it.
    """
    sums, squares = VoronoiSums(centres, curator.domain), NearestSquares(centres, curator.domain)
    noisy = sum_clusters(curator, sums, noise.sums)
    moves = shrunk_moves(sums, noisy.sums, noisy.scales)
    points, weights = sums.centres + moves, np.maximum(sums.counts(noisy.sums), 0.0)
    up = 1.0 if curator.zones is None else max(1.0, float(weights.sum()) / max(noisy.kept, 1.0))
    about_centres = up * squares.in_all(curator.release(squares, noise.squares))
    about_points = about_centres - float(weights @ np.square(moves).sum(axis=1))
    spreads = spread_out(points, weights, about_points, most=squares.most)
    square_scale = up * squares.most / float(noise.squares.epsilon)
    coreset = LatticeCoreset(points, weights, spreads=spreads)
    return Counted(coreset, noisy.scales, square_scale, curator.zones is not None)


def shrunk_moves(sums: VoronoiSums, noisy: NDArray[np.int64] | Floats, scale: Floats) -> Floats:
    """From each ball's centre towards its noisy mean, by the share of the way that is not noise (Stein).

    A mean that is taken as it comes fits its own noise: the spread about it would come out too small by that much.
    """
    counts, limit = sums.counts(noisy), sums.domain.limit
    certain = (counts >= CERTAIN * scale)[:, None]
    moves = np.where(certain, sums.means(noisy) - sums.centres, 0.0)
    blur = 2 * sums.domain.dimension * np.square(scale * limit / np.maximum(counts, 1.0))  # mean square of the noise
    length = np.maximum(np.square(moves).sum(axis=1), 1e-9)
    return np.asarray(moves * np.maximum(0.0, 1 - blur / length)[:, None])


def union(parts: Sequence[Counted]) -> Counted:
    """The balls of all parts; the noise of the squares adds up by its variance."""
    found = [each.coreset for each in parts]
    spreads = [each.spreads for each in found if each.spreads is not None]
    whole = LatticeCoreset(
        np.concatenate([each.points for each in found]),
        np.concatenate([each.weights for each in found]),
        spreads=np.concatenate(spreads) if spreads else None,
    )
    scales = np.concatenate([each.count_scales for each in parts])
    return Counted(whole, scales, hypot(*(each.square_scale for each in parts)), parts[0].by_zone)


def cost_notes(counted: Counted, centres: Floats, grid: Grid, *, few: bool) -> dict[str, Any]:
    """Whether costs of the coreset are to be trusted, and why not (docs/decisions/0020).

    With fewer than four places along an axis rows are about as far from their balls as from one another: then many are
    nearer to another centre than their ball is, and their costs come out too large.
    """
    coreset = counted.coreset
    if coreset.spreads is None:
        return {"cost_trusted": False, "cost_doubt": "nothing tells how far rows are from their points"}
    away = np.square(coreset.points - centres[nearest(coreset.points, centres)]).sum(axis=1)
    noise = sqrt(2) * hypot(counted.square_scale, float(np.sqrt(np.square(counted.count_scales * away).sum())))
    unit = grid.domain.limit**2
    doubts = {
        "there are fewer balls than centres": few,
        "balls are as large as what they are in": grid.per_axis < LEAST_PLACES,
        "how far rows in zones are from their points is not known": counted.by_zone,
    }
    return told(doubts, cost=float(coreset.weights @ (away + coreset.spreads)) / unit, noise=noise / unit)
