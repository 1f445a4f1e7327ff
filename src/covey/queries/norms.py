"""How many rows lie between public distances from a centre, in all directions or along each axis. Proof: norms.md."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows

LARGEST_UNIT = 2**30


def _ascending(name: str, values: ArrayLike) -> list[Fraction]:
    numbers = np.asarray(values, dtype=np.float64)
    usable = numbers.ndim == 1 and len(numbers) >= 1 and np.all(np.isfinite(numbers)) and numbers[0] >= 0
    if not usable or not np.all(np.diff(numbers) > 0):
        raise ParameterError(name, "must be finite numbers, ascending, none negative")
    return [Fraction(number) for number in numbers.tolist()]


def _point(domain: Domain, centre: ArrayLike) -> NDArray[np.int64]:
    point = domain.snap(centre)
    if point.shape != (domain.dimension,):
        raise ParameterError("centre", f"must be a point with {domain.dimension} coordinates")
    point.setflags(write=False)
    return point


def _checked(unit: int) -> int:
    if not 1 <= unit <= LARGEST_UNIT:
        raise ParameterError("unit", "must be a whole number from 1 to 2^30")
    return unit


class NormCounts:
    """The number of rows whose distance from a public centre lies in [0, r1], (r1, r2], ..., (rm, ∞): m + 1 counts.

    centre, radii : in lattice units; the centre is snapped. Each row counts `unit`: Laplace noise needs no more than 1,
    Gaussian noise needs counts in finer integers.
    """

    name = "rows by distance"

    def __init__(self, domain: Domain, centre: ArrayLike, radii: ArrayLike, *, unit: int = 1) -> None:
        self.domain = domain
        self.centre = _point(domain, centre)
        exact = _ascending("radii", radii)
        self.radii = np.array([float(radius) for radius in exact])
        self.unit = _checked(unit)
        farther = 2**53  # than any squared distance
        self._squares = np.array([min(math.floor(radius**2), farther) for radius in exact], dtype=np.float64)

    @property
    def size(self) -> int:
        return len(self.radii) + 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One row is in one bucket; a replaced row may change it."""
        one = self.unit
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(l1=one, l2_squared=one**2, linf=one, coordinates=1, monotone=True)
        return Sensitivity(l1=2 * one, l2_squared=2 * one**2, linf=one, coordinates=2)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        away = rows.astype(np.float64)
        away -= self.centre[:, None]
        squared = np.einsum("ij,ij->j", away, away)  # whole numbers below 2^52 in any order
        bucket = np.searchsorted(self._squares, squared, side="left")  # how many radii are below the distance
        out += self.unit * np.bincount(bucket, minlength=self.size)

    def counts(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noisy number of rows in each bucket; may be negative."""
        return noisy / self.unit

    def within(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noisy number of rows within each radius; it need not ascend."""
        return np.cumsum(self.counts(noisy))[:-1]
