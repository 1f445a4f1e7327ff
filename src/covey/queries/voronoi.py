"""Counts and coordinate sums of the rows nearest to each public centre. Proof: voronoi.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows

MANY_COLUMNS = 24  # from here on a matrix product adds up faster than one bincount per column


def exact_scores(rows: Rows | NDArray[np.float64], centres: NDArray[np.int64]) -> NDArray[np.float64]:
    """|c|² - 2xc for every centre and row, shape (k, n): integers, exact in float64 in any order of summation."""
    scores = np.asarray((-2.0 * centres) @ rows.astype(np.float64, copy=False), dtype=np.float64)
    scores += np.square(centres).sum(axis=1, keepdims=True)
    return scores


def nearest(rows: Rows | NDArray[np.float64], centres: NDArray[np.int64]) -> NDArray[np.intp]:
    """The index of the nearest centre of each row; ties go to the lowest index."""
    return np.asarray(exact_scores(rows, centres).argmin(axis=0), dtype=np.intp)


def sums_by_label(values: NDArray[Any], label: NDArray[np.intp], count: int) -> NDArray[np.int64]:
    """The sums of (d, n) whole numbers under each label, (count, d): exact while they stay below 2^53."""
    if len(values) < MANY_COLUMNS:
        sums = [np.bincount(label, weights=coordinate, minlength=count) for coordinate in values]
        return np.stack(sums, axis=1).astype(np.int64)
    member = np.zeros((count, len(label)))
    member[label, np.arange(len(label))] = 1.0
    return np.asarray(member @ values.T, dtype=np.int64)


class VoronoiSums:
    """Per cluster of rows nearest to a public centre: d coordinate sums, and the count in units of `limit`.

    The value is a flat vector of k·(d+1) integers. Counts are scaled like an edge coordinate, so that one noise scale
    serves both, as in the paper's (dr + 1) with r = 1.
    """

    name = "sums and counts per cluster"

    def __init__(self, centres: ArrayLike, domain: Domain) -> None:
        self.domain = domain
        self.centres = domain.snap(centres)
        if self.centres.ndim != 2 or self.centres.shape[1] != domain.dimension or len(self.centres) < 1:
            raise ParameterError("centres", f"must be an array of points with {domain.dimension} coordinates")
        self.centres.setflags(write=False)

    @property
    def size(self) -> int:
        return int(self.centres.shape[0] * (self.domain.dimension + 1))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        domain, count = self.domain, self.domain.limit
        one = domain.row_l1 + count
        one_squared = domain.row_l2_squared + count**2
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(l1=one, l2_squared=one_squared, linf=count, coordinates=domain.dimension + 1)
        return Sensitivity(
            l1=2 * one,
            l2_squared=max(2 * one_squared, 4 * domain.row_l2_squared),  # two clusters, or corner to corner in one
            linf=2 * count,
            coordinates=2 * (domain.dimension + 1),
        )

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        k, d = self.centres.shape
        label = nearest(rows, self.centres)
        table = out.reshape(k, d + 1)
        table[:, :d] += sums_by_label(rows, label, k)  # exact: |sum| <= limit · rows of a chunk, far below 2^53
        table[:, d] += self.domain.limit * np.bincount(label, minlength=k)

    def counts(self, noisy: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """The noisy number of rows of each cluster; may be negative."""
        return noisy.reshape(len(self.centres), -1)[:, -1] / self.domain.limit

    def means(self, noisy: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """New centres in lattice units: noisy sum over noisy count, kept in the cube; a cluster whose noisy count is
        below one row keeps its centre."""
        table = noisy.reshape(len(self.centres), -1)
        counts = self.counts(noisy)[:, None]
        means = table[:, :-1] / np.maximum(counts, 1.0)
        means = np.where(counts >= 1.0, means, self.centres)
        return np.clip(means, -self.domain.limit, self.domain.limit)
