"""Residuals of rows about public centres, clipped to a public norm, in integer units. Proof: clipping.md."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows

Norm = Literal["l1", "l2"]
FINEST = 2**24  # the largest `unit_limit`: beyond it the rounding of floats could break the norm in integers


class Clip:
    """x - c for rows x and public centres c, shortened to a public radius and cut to whole numbers.

    centres : (k, d) points in lattice units, snapped. radii : a number, or one for each centre, in lattice units of the
    norm; rounded to a whole number, at least 1, and at most the farthest that a row of the domain can be from
    the centre (more would only be noise). unit_limit : the whole number that stands for the radius, so that a residual
    of centre j comes in units of radii[j] / unit_limit lattice units.

    Guarantee: the integers of every clipped row have an L2 norm (or L1 norm) of at most `unit_limit`, exactly, and
    depend on that row and its label alone.
    """

    def __init__(
        self, domain: Domain, centres: ArrayLike, radii: ArrayLike, *, norm: Norm = "l2", unit_limit: int = FINEST
    ) -> None:
        self.domain = domain
        self.centres = domain.snap(centres)
        if self.centres.ndim != 2 or self.centres.shape[1] != domain.dimension or len(self.centres) < 1:
            raise ParameterError("centres", f"must be an array of points with {domain.dimension} coordinates")
        if norm not in ("l1", "l2"):
            raise ParameterError("norm", "must be 'l1' or 'l2'")
        if not 1 <= unit_limit <= FINEST:
            raise ParameterError("unit_limit", "must be a whole number from 1 to 2^24")
        self.norm: Norm = norm
        self.unit_limit = unit_limit
        wanted = np.asarray(radii, dtype=np.float64)
        if wanted.shape not in ((), (len(self.centres),)) or not np.all(wanted > 0):
            raise ParameterError("radius", "must be a positive number, or one for each centre")
        reach = [farthest(domain, centre, norm=norm) for centre in self.centres]
        self.radii = np.clip(np.rint(np.minimum(wanted, reach)), 1, None).astype(np.int64)
        self._origin = self.centres.T.astype(np.float64)  # (d, k): row - origin is exact
        for array in (self.centres, self.radii, self._origin):
            array.setflags(write=False)

    @property
    def units(self) -> NDArray[np.float64]:
        """The length of one integer unit of each centre's residuals, in lattice units."""
        return self.radii / self.unit_limit

    def residuals(self, rows: Rows | NDArray[np.float64], label: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """The clipped residuals of (d, n) rows about their labels' centres (the first, without labels): whole numbers.

        Behind the door only. Elementwise but for the norm, which is an exact integer: the batch never matters.
        """
        if label is None:
            away, radius = rows.astype(np.float64), self.radii[:1]
            away -= self._origin[:, :1]
        else:
            away, radius = np.take(self._origin, label, axis=1), self.radii[label]
            np.subtract(rows, away, out=away)
        if self.norm == "l2":
            norm = np.sqrt(np.einsum("ij,ij->j", away, away))  # the square is a whole number below 2^52 in any order
        else:
            norm = np.einsum("ij->j", np.abs(away))
        away *= self.unit_limit / np.maximum(norm, radius)
        return np.trunc(away, out=away)  # toward the centre, so that the norm holds in integers

    def one_row(self, neighbours: Neighbours) -> Sensitivity:
        """How far the sum of clipped residuals about one centre moves."""
        d, times = self.domain.dimension, 1 if neighbours is Neighbours.ADD_REMOVE else 2
        longest = times * self.unit_limit
        return Sensitivity(
            l1=longest if self.norm == "l1" else math.isqrt(d * longest**2),
            l2_squared=longest**2,
            linf=longest,
            coordinates=d,
            block=d,
            l2_by_block=longest,
        )


def farthest(domain: Domain, centre: NDArray[np.int64], *, norm: Norm = "l2") -> int:
    """A whole number that no row of the domain exceeds in distance from a lattice point: a public bound."""
    limit = domain.limit
    across = limit + np.abs(centre)  # of int64: all their squares together stay below 2^52
    if norm == "l1":
        return min(int(across.sum()), domain.row_l1 + int(across.sum()) - domain.dimension * limit)
    squared = int(across @ across)
    if domain.ball:
        squared = min(squared, (limit + math.isqrt(int(centre @ centre)) + 1) ** 2)
    root = math.isqrt(squared)
    return root if root * root == squared else root + 1
