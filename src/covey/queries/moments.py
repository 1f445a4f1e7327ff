"""Sums and second moments of rows clipped about a public centre. Proof: moments.md."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.clipping import FINEST, Clip, Norm

MOST_ROWS = 2**20  # of a block: far from 2^53 in every sum
BLOCK_VALUES = 2**19  # coordinates of a block, four megabytes as float64


def _single(domain: Domain, centre: ArrayLike, radius: float) -> NDArray[np.float64]:
    point = np.asarray(centre, dtype=np.float64)
    if point.shape != (domain.dimension,) or np.ndim(radius) != 0:
        raise ParameterError("centre, radius", f"must be a point with {domain.dimension} coordinates, and a number")
    return point[None, :]


class MeanSums:
    """The sum of the residuals x - c of all rows, each clipped to `radius`: d integers in units of radius/unit_limit.

    centre, radius : in lattice units, see `Clip`. norm : "l2" for noise by length, "l1" for Laplace noise, which then
    does not grow with d. unit_limit : as in `Clip`.
    """

    name = "sum of clipped residuals"
    finest = FINEST

    def __init__(
        self, domain: Domain, centre: ArrayLike, radius: float, *, norm: Norm = "l2", unit_limit: int = FINEST
    ) -> None:
        self.domain = domain
        self.clip = Clip(domain, _single(domain, centre, radius), radius, norm=norm, unit_limit=unit_limit)

    @property
    def size(self) -> int:
        return self.domain.dimension

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return self.clip.one_row(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        for start in range(0, rows.shape[1], MOST_ROWS):
            block = self.clip.residuals(rows[:, start : start + MOST_ROWS])
            out[: len(block)] += block.sum(axis=1).astype(np.int64)  # exact: at most 2^24·2^20 in any order
        out[self.domain.dimension :] += self.row * rows.shape[1]

    @property
    def row(self) -> int:
        """What a row adds to a last number, which is not there."""
        return 0

    def shift(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noisy sum of residuals in lattice units: divide by a (noisy) number of rows and add it to the centre."""
        return np.asarray(noisy * self.clip.units[0], dtype=np.float64)


class MeanAndCount(MeanSums):
    """The same sums, and the number of rows as a last number: each row counts 3/8 of what stands for the radius.

    So the number is in the same vector as the sums, and noise by length has hardly more to pay than for sums alone.
    """

    name = "sum of clipped residuals, and number of rows"

    @property
    def row(self) -> int:
        """What a row adds to the last number."""
        return max(1, 3 * self.clip.unit_limit // 8)

    @property
    def size(self) -> int:
        return self.domain.dimension + 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        sums = self.clip.one_row(neighbours)
        if neighbours is Neighbours.REPLACE_ONE:
            return replace(sums, block=self.size)  # the number of rows does not move
        square = sums.l2_squared + self.row**2
        return Sensitivity(
            l1=sums.l1 + self.row,
            l2_squared=square,
            linf=max(sums.linf, self.row),
            coordinates=self.size,
            block=self.size,
            l2_by_block=math.isqrt(square - 1) + 1,  # the root, rounded up
        )

    def shift(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        return super().shift(noisy[:-1])

    def count(self, noisy: NDArray[np.int64]) -> float:
        """The noisy number of rows; may be negative."""
        return float(noisy[-1]) / self.row


class Variances:
    """Σ y_j² for every column j, over the residuals y of all rows, clipped to `radius`: d integers.

    All of a row's squares together are at most the radius squared, so Laplace noise on them does not grow with d.
    """

    name = "squares of clipped residuals"
    finest = 2**16  # 2^30 rows at the radius stay below 2^63

    def __init__(self, domain: Domain, centre: ArrayLike, radius: float, *, unit_limit: int = finest) -> None:
        self.domain = domain
        self.clip = Clip(domain, _single(domain, centre, radius), radius, unit_limit=min(unit_limit, self.finest))

    @property
    def size(self) -> int:
        return self.domain.dimension

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        square = self.clip.unit_limit**2
        if neighbours is Neighbours.ADD_REMOVE or self.size == 1:
            # With one column a replaced square moves within [0, square].
            return Sensitivity(
                l1=square,
                l2_squared=square**2,
                linf=square,
                coordinates=self.size,
                monotone=neighbours is Neighbours.ADD_REMOVE,
            )
        return Sensitivity(l1=2 * square, l2_squared=2 * square**2, linf=square, coordinates=self.size)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        for start in range(0, rows.shape[1], MOST_ROWS):
            y = self.clip.residuals(rows[:, start : start + MOST_ROWS])
            out += np.einsum("ij,ij->i", y, y).astype(np.int64)  # exact: at most 2^32·2^20 in any order

    def squares(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noisy sums of squares in lattice units²: divide by a (noisy) number of rows."""
        return np.asarray(noisy * self.clip.units[0] ** 2, dtype=np.float64)


class SecondMoments:
    """Σ y yᵀ over the residuals y of all rows, clipped to `radius`: the upper triangle, line by line, as integers.

    Numbers on and off the diagonal are multiplied by small whole numbers, so that one noise scale serves the norm
    of the whole matrix: 12 and 17 (about 1 : √2) after clipping in L2, 1 and 2 after clipping in L1.
    """

    name = "second moments of clipped residuals"
    finest = 26_000

    def __init__(
        self, domain: Domain, centre: ArrayLike, radius: float, *, norm: Norm = "l2", unit_limit: int = 2**16
    ) -> None:
        self.domain = domain
        # The largest round numbers for which 2^30 rows at the radius stay below 2^63.
        unit_limit = min(unit_limit, self.finest if norm == "l2" else 2**16)
        self.clip = Clip(domain, _single(domain, centre, radius), radius, norm=norm, unit_limit=unit_limit)
        self.weights = (12, 17) if norm == "l2" else (1, 2)

    @property
    def size(self) -> int:
        return self.domain.dimension * (self.domain.dimension + 1) // 2

    @property
    def rows_at_once(self) -> int:
        """How many rows a chunk should have: a line of the d x d product costs as much as several rows."""
        return max(64, min(2**16, BLOCK_VALUES // self.domain.dimension))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        d, square = self.domain.dimension, self.clip.unit_limit**2
        times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        if d == 1:  # a single sum of squares, each at most `square`: replaced, it moves by no more than that
            l1 = linf = self.weights[0] * square
            return Sensitivity(l1=l1, l2_squared=l1**2, linf=linf, coordinates=1, monotone=times == 1)
        if self.clip.norm == "l1":
            return Sensitivity(l1=times * square, l2_squared=times * square**2, linf=square, coordinates=self.size)
        l2_squared = times * 289 * square**2 // 2
        return Sensitivity(
            l1=(7 + 17 * d) * square // 2 if times == 1 else math.isqrt(self.size * l2_squared),
            l2_squared=l2_squared,
            linf=(12 if times == 1 else 17) * square,
            coordinates=self.size,
        )

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        on, off = self.weights
        step = self.rows_at_once
        for start in range(0, rows.shape[1], step):
            y = self.clip.residuals(rows[:, start : start + step])
            table = y @ y.T  # exact: at most unit_limit²·2^16 <= 2^48 in any order
            moments = table.reshape(-1)[self._upper].astype(np.int64)
            moments *= off
            moments[self._diagonal] = on * np.diagonal(table).astype(np.int64)
            out += moments

    def matrix(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noisy second moments as a symmetric matrix in lattice units²: divide by a (noisy) number of rows."""
        d = self.domain.dimension
        on, off = self.weights
        values = noisy * (self.clip.units[0] ** 2 / off)
        values[self._diagonal] *= off / on
        table = np.zeros((d, d))
        table.reshape(-1)[self._upper] = values
        return table + np.triu(table, 1).T

    @cached_property
    def _upper(self) -> NDArray[np.intp]:
        line, column = np.triu_indices(self.domain.dimension)
        return np.asarray(line * self.domain.dimension + column, dtype=np.intp)

    @cached_property
    def _diagonal(self) -> NDArray[np.intp]:
        d = self.domain.dimension
        return np.asarray(np.cumsum([0, *range(d, 1, -1)]), dtype=np.intp)
