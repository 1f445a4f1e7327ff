"""Public grids of growing side over a ball, and which of their points cover a row. Proof: cover.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.public import Domain
from covey.queries.base import Rows

MOST_OFFSETS = 2**22  # grid points that cover one row; a public number
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cover:
    """Grids over the ball in a domain's cube, one after the other, and how many points are to be picked from each.

    sides : the side of each grid in lattice units, whole numbers. reach : a grid point covers a row if the squared
    distance between it and the grid point nearest to the row is at most this, in units of the side. picks : how many
    points are picked from each grid. A grid holds the points side·b, b whole, |b_j| <= half(grid) for every axis j.
    """

    domain: Domain
    sides: tuple[int, ...]
    reach: int
    picks: int
    name: str = "max cover"

    def __post_init__(self) -> None:
        if not self.sides or any(not isinstance(side, int) or side < 1 for side in self.sides):
            raise ParameterError("sides", "must be positive whole numbers, at least one")
        if self.reach < 0 or self.picks < 1:
            raise ParameterError("reach, picks", "must be at least 0, and at least 1")
        if offsets_in(self.domain.dimension, self.reach) > MOST_OFFSETS:
            raise ParameterError(
                "growth",
                f"makes more than 2^22 grid points cover a row in {self.domain.dimension} dimensions: raise it",
            )

    def half(self, grid: int) -> int:
        """The largest coordinate of a point, in sides: that of the point nearest to the cube's edge."""
        side = self.sides[grid]
        return (2 * self.domain.limit + side) // (2 * side)

    def points(self, grid: int) -> int:
        """How many points a grid has."""
        return int((2 * self.half(grid) + 1) ** self.domain.dimension)

    def inside(self, rows: Rows) -> Integers:
        """Lattice rows (d, n) moved into the ball that touches the cube's sides, towards its middle. One by one."""
        away = rows.astype(np.float64)
        norm = np.sqrt(np.einsum("ij,ij->j", away, away))  # of a whole number below 2^52: exact in any order
        away *= self.domain.limit / np.maximum(norm, self.domain.limit)
        return np.trunc(away).astype(np.int64)

    def nearest(self, rows: Integers, grid: int) -> Integers:
        """The grid point nearest to each row (d, n), in sides; half-way goes up."""
        side = self.sides[grid]
        return np.asarray((2 * rows + side) // (2 * side))

    def offsets(self) -> NDArray[np.int32]:
        """Every way from a row's nearest grid point to a point that covers the row: (points, d), in sides."""
        return _offsets(self.domain.dimension, self.reach)


@lru_cache(maxsize=64)
def offsets_in(dimension: int, reach: int) -> int:
    """How many points of the whole-number lattice lie within the square root of `reach` of one of them."""
    ways = [0] * (reach + 1)
    ways[0] = 1
    for _ in range(dimension):
        more = [0] * (reach + 1)
        for total, count in enumerate(ways):
            for step in range(math.isqrt(reach - total) + 1 if count else 0):
                more[total + step * step] += count * (2 if step else 1)
        ways = more
    return sum(ways)


@lru_cache(maxsize=8)
def _offsets(dimension: int, reach: int) -> NDArray[np.int32]:
    found = np.zeros((1, 0), dtype=np.int32)
    left = np.array([reach])
    for _ in range(dimension):  # an axis at a time: every beginning with every step that it leaves room for
        root = math.isqrt(reach)
        steps = np.arange(-root, root + 1, dtype=np.int32)
        begin, step = np.nonzero(np.square(steps) <= left[:, None])
        found = np.concatenate([found[begin], steps[step][:, None]], axis=1)
        left = left[begin] - np.square(steps[step])
    found.setflags(write=False)
    return found
