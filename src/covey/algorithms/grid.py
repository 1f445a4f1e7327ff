"""`grid`: noisy counts on a uniform grid, clustered for free (EUGkM; Su et al. 2016 §4.2)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import LatticeCoreset, Outcome, after_size, learn_size
from covey.algorithms.zoned import count_cells
from covey.budget.accounting.plan import Plan
from covey.checks import Flag, Positive, Whole
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.distances import add_up, nearest
from covey.post.errors.boxes import MOST_COLUMNS, CountedBoxes
from covey.post.halves import in_halves
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import sphere_packing
from covey.post.zones import KeptCounts
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.published.release import Synopsis
from covey.queries.grid import MOST_CELLS, Grid, SuitedGrid

STRICTNESS = 0.65  # times the largest noise of all cells: more stands out
CLUSTERED_CELLS = 2**20  # more are put together in blocks before they are clustered
MANY_COLUMNS = "cells of more than four columns are too wide to say where rows in them are"
MANY_CELLS = "there are too many cells to compute errors from"


def grid(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    objective: str = "k-means",
    theta: Annotated[float, Positive()] = 10.0,
    starts: Annotated[int, Whole(1, 10_000)] = 30,
    keep_synopsis: Annotated[bool, Flag()] = False,
) -> Outcome:
    """k centres from one noisy histogram: M = (nε/θ)^(2d/(2+d)) equal cells.

    Guarantee: epsilon-DP under add/remove (4% of it for the noisy number of rows that sets M, the rest for the cells)
    and replace-one (n is public, 2% for the rows outside the bounds; noise twice as large). Clustering the noisy cells,
    by k-means or k-median, is free post-processing.

    As printed, M comes from the exact number of rows, so that the shape of the grid itself leaks; here it does not.
    Edge cases: every cell is noised, empty or not, and negative counts are kept; in many dimensions the grid is a
    single cell and the centres say little more than where the domain is. With `keep_synopsis` the noisy cells are
    part of the release, to be queried, sampled and clustered again (covey.Coreset).
    """
    if curator.zones is None:
        for_cells = after_size(epsilon, curator.neighbours)
        curator.expect(_suited(curator, for_cells, theta=theta, keep_synopsis=keep_synopsis))
    size, left, told = learn_size(curator, epsilon)
    noise = DiscreteLaplace(left)
    curator.reserve(Plan((noise.event(),)))
    found = from_cells(
        curator,
        k=k,
        size=size,
        noise=noise,
        theta=theta,
        starts=starts,
        public_rng=public_rng,
        objective=objective,
        keep_synopsis=keep_synopsis,
    )
    return replace(found, notes={**found.notes, **told})


def from_cells(
    curator: Curator,
    *,
    k: int,
    size: int,
    noise: DiscreteLaplace,
    theta: float,
    starts: int,
    public_rng: np.random.Generator,
    objective: str = "k-means",
    keep_synopsis: bool = False,
) -> Outcome:
    """Release the cells of a grid that suits `size` rows and cluster them. The plan must hold `noise`'s event."""
    cells = _suited(curator, noise.epsilon, theta=theta, keep_synopsis=keep_synopsis).of(size)
    counted = count_cells(curator, cells, noise)
    lower, upper = curator.domain.corners
    cluster = weighted_kmedian if objective == "k-median" else weighted_kmeans
    few = cells.cells <= CLUSTERED_CELLS
    searched = in_halves(counted, cells.midpoints(), strictness=STRICTNESS) if few else counted.in_places()
    points, weights = blocks_of_cells(cells, searched.counts)
    clusters = cluster(
        points,
        weights,
        k=k,
        lower=lower,
        upper=upper,
        starts=np.stack([sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(starts)]),
    )
    notes = {"cells_per_axis": cells.per_axis, "theta": theta}
    boxes, not_told = boxes_of_cells(cells, counted)
    sizes, synopsis, coreset = clusters.sizes, None, None
    if counted.keys is not None:
        sizes = add_up(nearest(points, clusters.centres), blocks_of_cells(cells, counted.counts)[1], k)
    if keep_synopsis and counted.keys is None:
        synopsis = Synopsis(cells.per_axis, counted.counts.astype(np.int64).tolist())
    elif keep_synopsis:  # numbers of rows that are no whole ones
        of_all = counted if counted.keys is None or counted.keys.together is None else searched
        coreset = LatticeCoreset(cells.midpoints(), of_all.counts, _widths(cells))
    return Outcome(
        clusters.centres,
        sizes,
        notes,
        synopsis,
        coreset,
        boxes=boxes,
        not_told=not_told,
        counted_up=counted.keys is not None,
    )


def _widths(cells: Grid) -> NDArray[np.float64]:
    return np.full((cells.cells, cells.domain.dimension), (2 * cells.domain.limit + 1) / cells.per_axis)


def boxes_of_cells(cells: Grid, counted: KeptCounts) -> tuple[CountedBoxes | None, str]:
    """The cells with their noise, for errors; or None, and why no error is computed from them."""
    if cells.domain.dimension > MOST_COLUMNS:
        return None, MANY_COLUMNS
    if cells.cells > CLUSTERED_CELLS:
        return None, MANY_CELLS
    return counted.boxes(cells.midpoints(), _widths(cells), strictness=STRICTNESS), ""


def blocks_of_cells(cells: Grid, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and noisy weights to cluster: the cells, or blocks of neighbouring cells where there are very many. Free.

    A block's point is the mean of its cells by their noisy counts, so that sums over blocks are sums over cells; where
    noise puts that mean outside the block, it is the block's middle.
    """
    d, side = cells.domain.dimension, cells.per_axis
    step = math.ceil((cells.cells / CLUSTERED_CELLS) ** (1 / d))
    if step == 1:
        return cells.midpoints(), counts
    first = np.arange(0, side, step)
    last = np.append(first[1:], side) - 1
    table = counts.reshape((side,) * d)
    width = (2 * cells.domain.limit + 1) / side
    middles = (np.arange(side) + 0.5) * width - cells.domain.limit - 0.5
    weights = _summed(table, first)
    points = np.empty((weights.size, d))
    for axis in range(d):
        along = [1] * d
        along[axis] = side
        sums = _summed(table * middles.reshape(along), first)
        along[axis] = len(first)
        low, high = (middles[ends].reshape(along) for ends in (first, last))
        with np.errstate(all="ignore"):
            mean = sums / weights
        inside = (mean >= low - width / 2) & (mean <= high + width / 2)
        points[:, axis] = np.where(inside, mean, (low + high) / 2).ravel()
    return points, weights.ravel()


def _summed(table: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums over blocks that begin at `first` along every axis."""
    for axis in range(table.ndim):
        table = np.add.reduceat(table, first, axis=axis)
    return table


def cells_per_axis(domain: Domain, *, size: int, epsilon: float, theta: float = 10.0, kinds: int = 1) -> int:
    """The side of the paper's grid for so many rows."""
    return SuitedGrid(domain, epsilon, theta, kinds).of(size).per_axis


def _suited(curator: Curator, epsilon: Fraction, *, theta: float, keep_synopsis: bool) -> SuitedGrid:
    """The grid for each number of rows, in which cells are counted with this epsilon."""
    strength = float(epsilon) / (2 if curator.neighbours is Neighbours.REPLACE_ONE else 1)
    kinds = 1 if curator.zones is None else curator.zones.kinds
    if keep_synopsis and curator.zones is not None:  # points of a coreset take much more room than a list of counts
        kinds = max(kinds, MOST_CELLS // CLUSTERED_CELLS)
    return SuitedGrid(curator.domain, strength, theta, kinds)
