"""Counts on rays around public centres: rows per centre, and per (centre, ray, interval of distances). intervals.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import one_unit
from covey.queries.voronoi import nearest

CHUNK_VALUES = 2**20  # of the table rows x centres, or rows x rays
MOST_RAY = 2**14  # the largest entry of a ray: products with rows stay exact

Integers = NDArray[np.int64]


class CentreCounts:
    """The number of rows nearest to each public centre; ties go to the lowest index."""

    name = "rows per centre"

    def __init__(self, centres: ArrayLike, domain: Domain) -> None:
        self.domain = domain
        self.centres = _lattice("centres", domain.snap(centres), domain)

    @property
    def size(self) -> int:
        return len(self.centres)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        for piece in _pieces(rows, len(self.centres)):
            out += np.bincount(nearest(piece, self.centres), minlength=self.size)


class IntervalCounts:
    """The number of rows in each slot: nearest centre, best ray from there, interval of the distance.

    rays : (r, d) whole numbers, directions of about the same length; the best one has the largest product with
    row - centre. squares : the ascending squared distances that separate the intervals; a row with a squared distance
    of at most the first is at its centre and in no slot, one beyond the last is in the last interval. place : for every
    (centre, ray, interval) the index of its number in the answer, or -1 for slots that are left out.
    """

    name = "rows per interval"

    def __init__(
        self, centres: ArrayLike, rays: ArrayLike, squares: ArrayLike, place: ArrayLike, domain: Domain
    ) -> None:
        self.domain = domain
        self.centres = _lattice("centres", domain.snap(centres), domain)
        self.rays = _lattice("rays", rays, domain)
        self.squares = np.array(squares, dtype=np.int64)
        self.place = np.array(place, dtype=np.int64)
        if self.squares.ndim != 1 or len(self.squares) < 1 or (np.diff(self.squares, prepend=-1) <= 0).any():
            raise ParameterError("squares", "must be ascending whole numbers, at least one")
        if self.place.shape != (len(self.centres), len(self.rays), len(self.squares)):
            raise ParameterError("place", "must have one index for every centre, ray and interval")
        if np.abs(self.rays).max() > MOST_RAY:
            raise ParameterError("rays", f"must be whole numbers of at most {MOST_RAY}")
        used = np.sort(self.place[self.place >= 0])
        if self.place.min() < -1 or (used != np.arange(len(used))).any():
            raise ParameterError("place", "must hold every index once, and -1 elsewhere")
        for array in (self.squares, self.place):
            array.setflags(write=False)

    @property
    def size(self) -> int:
        return int(self.place.max()) + 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        for piece in _pieces(rows, max(len(self.centres), len(self.rays))):
            slots = self.slots(piece)
            out += np.bincount(slots[slots >= 0], minlength=self.size)

    def slots(self, rows: Rows) -> Integers:
        """The slot of each row, -1 for none: a function of the single row."""
        centre = nearest(rows, self.centres)
        offset = (rows - self.centres[centre].T).astype(np.float64)  # all numbers below are whole, and exact
        squared = np.zeros(rows.shape[1])
        for coordinate in offset:
            squared += coordinate * coordinate
        interval = np.searchsorted(self.squares, squared, side="left") - 1
        ray = (self.rays.astype(np.float64) @ offset).argmax(axis=0)  # ties: the lowest index
        last = len(self.squares) - 1
        return np.where(interval < 0, -1, self.place[centre, ray, np.clip(interval, 0, last)])


def _pieces(rows: Rows, width: int) -> list[Rows]:
    step = max(64, CHUNK_VALUES // width)
    return [rows[:, start : start + step] for start in range(0, rows.shape[1], step)]


def _lattice(name: str, points: ArrayLike, domain: Domain) -> Integers:
    array = np.asarray(points)
    if array.dtype.kind != "i" or array.ndim != 2 or array.shape[1] != domain.dimension or len(array) < 1:
        raise ParameterError(name, f"must be at least one line of {domain.dimension} whole numbers")
    array = array.astype(np.int64)
    array.setflags(write=False)
    return array
