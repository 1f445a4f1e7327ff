"""Per cluster, the sum of its rows' residuals, clipped to the cluster's own public radius. Proof: residuals.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.clipping import Clip, Norm
from covey.queries.moments import BLOCK_VALUES
from covey.queries.projection import Projection
from covey.queries.voronoi import MANY_COLUMNS, nearest, sums_by_label

MOST_ROWS = 2**16  # of a block: bounds the memory, and keeps every sum far from 2^53


class ResidualSums:
    """Per cluster of rows nearest to a public centre c: the sum of x - c, clipped to the cluster's radius.

    centres : (k, d) points in lattice units, snapped. radius : a number, or one for each centre, in lattice units, see
    `Clip`; every cluster has its own units, radius/unit_limit. projection : judge "nearest" by the rows' images
    under this map, all its lines on one scale and unclipped, instead of in the full space. norm : "l2" for
    noise by length, "l1" for Laplace noise. with_counts : also the number of rows of each cluster, in units of
    1/unit_limit, as a last coordinate.

    The value is a flat vector of k·d integers, or k·(d+1).
    """

    name = "clipped residuals per cluster"

    def __init__(
        self,
        domain: Domain,
        centres: ArrayLike,
        radius: ArrayLike,
        *,
        projection: Projection | None = None,
        norm: Norm = "l2",
        with_counts: bool = False,
    ) -> None:
        self.domain = domain
        self.clip = Clip(domain, centres, radius, norm=norm)
        self.centres = self.clip.centres
        self.with_counts = with_counts
        self._map = None if projection is None else _one_scale(projection, domain)
        self._targets = self.centres
        if self._map is not None:
            self._targets = self._map.apply(self.centres.T.astype(np.int32)).T.astype(np.int64)

    @property
    def size(self) -> int:
        return int(len(self.centres) * (self.domain.dimension + self.with_counts))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        limit, counts = self.clip.unit_limit, int(self.with_counts)
        one, within = self.clip.one_row(Neighbours.ADD_REMOVE), self.clip.one_row(Neighbours.REPLACE_ONE)
        l1, l2_squared = one.l1 + counts * limit, one.l2_squared + counts * limit**2
        block, length = one.coordinates + counts, math.isqrt(l2_squared - 1) + 1  # of one cluster's change: the root
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(
                l1=l1, l2_squared=l2_squared, linf=limit, coordinates=block, block=block, l2_by_block=length
            )
        if len(self.centres) == 1:
            return replace(within, block=block)  # the only count does not move
        return Sensitivity(  # in one cluster, from end to end; or from one cluster into another
            l1=max(within.l1, 2 * l1),
            l2_squared=max(within.l2_squared, 2 * l2_squared),
            linf=within.linf,
            coordinates=2 * block,
            block=block,
            l2_by_block=2 * length,
        )

    @property
    def rows_at_once(self) -> int:
        """How many rows a chunk should have: of many columns, lines of few rows cost more to begin than to add up."""
        d = self.domain.dimension
        return 256 if d < MANY_COLUMNS else max(64, min(2**16, BLOCK_VALUES // max(d, len(self.centres))))

    def labels(self, rows: Rows | NDArray[np.float64]) -> NDArray[np.intp]:
        """The cluster of each row. Behind the door only."""
        return nearest(rows if self._map is None else self._map.apply(rows), self._targets)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        k, d = self.centres.shape
        table = out.reshape(k, -1)
        for start in range(0, rows.shape[1], MOST_ROWS):
            block = rows[:, start : start + MOST_ROWS].astype(np.float64)  # once, for both of the next lines
            label = self.labels(block)
            residuals = self.clip.residuals(block, label)
            table[:, :d] += sums_by_label(residuals, label, k)  # exact: at most 2^24·2^16 in any order
            if self.with_counts:
                table[:, d] += self.clip.unit_limit * np.bincount(label, minlength=k)

    def shifts(self, noisy: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """The noisy residual sums, (k, d), in lattice units: divide by (noisy) counts and add them to the centres."""
        sums = noisy.reshape(len(self.centres), -1)[:, : self.domain.dimension]
        return np.asarray(sums * self.clip.units[:, None], dtype=np.float64)

    def counts(self, noisy: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """The noisy number of rows of each cluster; may be negative."""
        if not self.with_counts:
            raise ParameterError("with_counts", "these sums were asked for without counts")
        return noisy.reshape(len(self.centres), -1)[:, -1] / self.clip.unit_limit


def _one_scale(projection: Projection, domain: Domain) -> Projection:
    """The same lines with one half-width that no row exceeds: nothing is clipped, distances keep their proportions."""
    if projection.domain != domain:
        raise ParameterError("projection", "must be one of the same domain")
    matrix, middle = np.abs(projection.matrix), np.abs(projection.middle)
    widest = max(1, int((matrix @ (domain.limit + middle)).max()))  # below 2^52, by the projection's own check
    return Projection(projection.matrix, projection.middle, np.full(len(matrix), widest), domain)
