"""Where something may be built: inside what is allowed, outside what is forbidden, and how to get there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from covey.geo.areas import parts_within
from covey.geo.geojson import Region

Floats = NDArray[np.float64]
MARGINS = (1e-4, 1e-7, 1e-10)  # half-widths between a place and a border: the first is right even in printed digits
_NEAREST = 8  # edges that a place is moved to
_ALONG = 1024  # places along all borders that are looked at, about
_PAIRS = 1 << 24  # of such places and edges, or fewer places are
_PER_AXIS = 32  # of places anywhere in the bounds


@dataclass(frozen=True, eq=False)
class Ground:
    """What public regions leave of a map: longitudes and latitudes, as in GeoJSON.

    Borders belong to their regions: a place on the border of what is allowed may be built on, one on the border of
    what is forbidden may not. middle : of the map's bounds. half : the unit of distance along each axis. reach : how
    many of them the bounds are wide to either side.
    """

    allowed: Region | None
    forbidden: Region | None
    middle: Floats
    half: Floats
    reach: Floats = field(default_factory=lambda: np.ones(2))

    def holds(self, places: Floats) -> NDArray[np.bool_]:
        """Which of the (n, 2) places may be built on, within the bounds or not."""
        found = np.ones(len(places), dtype=np.bool_)
        if self.allowed is not None:
            found &= self.allowed.contains(places)
        if self.forbidden is not None:
            found[found] = ~self.forbidden.contains(places[found])
        return found

    def nearest(self, places: Floats) -> Floats:
        """Places in the bounds as they are if they may be built on; else moved just over the nearest border that leads
        to where one may. nan where none is found."""
        found = np.clip(places, self.middle - self.half * self.reach, self.middle + self.half * self.reach)
        wrong = np.flatnonzero(~self.holds(found))
        if wrong.size == 0:
            return found
        feet, over = self._feet(self._scaled(found[wrong]))
        found[wrong] = np.nan
        for rank, margin, way in product(range(feet.shape[1]), (*MARGINS, 0.0), range(over.shape[2])):
            left = np.flatnonzero(np.isnan(found[wrong, 0]))
            if left.size == 0:
                return found
            self._take(found, wrong[left], feet[left, rank] + margin * over[left, rank, way])
        left = wrong[np.isnan(found[wrong, 0])]
        if left.size and len(self.some):
            squares = np.square(self._scaled(places[left])[:, None] - self._scaled(self.some)).sum(axis=2)
            found[left] = self.some[squares.argmin(axis=1)]
        return found

    @cached_property
    def some(self) -> Floats:
        """Places all over the bounds that may be built on, along all borders too; empty if there is none."""
        axis = (np.arange(_PER_AXIS) + 0.5) / _PER_AXIS * 2 - 1
        lattice = np.stack([each.ravel() for each in np.meshgrid(axis, axis)], axis=1)
        lattice = lattice * self.reach * self.half + self.middle
        along, across = self._along()
        found = np.full_like(along, np.nan)
        for margin in (*MARGINS, 0.0):
            for side in (margin, -margin):
                left = np.flatnonzero(np.isnan(found[:, 0]))
                self._take(found, left, along[left] + side * across[left])
        return np.concatenate([lattice[self.holds(lattice)], found[~np.isnan(found[:, 0])]])

    def _take(self, found: Floats, which: NDArray[np.intp], tried: Floats) -> None:
        """Those of the tried places (in half-widths) that lie in the bounds and may be built on are found."""
        places = tried * self.half + self.middle
        good = np.flatnonzero((np.abs(tried) <= self.reach).all(axis=1))
        good = good[self.holds(places[good])]
        found[which[good]] = places[good]

    def _scaled(self, places: Floats) -> Floats:
        return np.asarray((places - self.middle) / self.half)

    @cached_property
    def _borders(self) -> tuple[Floats, Floats]:
        """Edges of all regions and of the bounds, as far as they lie in these: starts and ways, in half-widths."""
        corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * self.reach
        lines = [np.hstack([corners, np.roll(corners, -1, axis=0)])]
        regions = [each for each in (self.allowed, self.forbidden) if each is not None]
        twice, unit = np.tile(self.middle, 2), np.tile(self.half, 2)
        lines += [(edges - twice) / unit for each in regions for edges in each.polygons]
        start, way, first, last = parts_within(np.concatenate(lines), -self.reach, self.reach)
        return start + first[:, None] * way, (last - first)[:, None] * way

    def _along(self) -> tuple[Floats, Floats]:
        """Places on the borders, each with the direction across."""
        start, way = self._borders
        length = np.sqrt(np.square(way).sum(axis=1))
        many = np.ceil(length / max(float(length.sum()), 1e-300) * _ALONG).astype(np.int64)
        which = np.repeat(np.arange(len(many)), many)
        share = (np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many) + 0.5) / many[which]
        across = _unit(way[:, ::-1] * (-1.0, 1.0))
        step = 1 + len(which) // max(_ALONG // 4, min(4 * _ALONG, _PAIRS // len(start)))
        return (start[which] + share[:, None] * way[which])[::step], across[which][::step]

    def _feet(self, places: Floats) -> tuple[Floats, Floats]:
        """The nearest points of the nearest edges, in half-widths: places x edges x 2; and ways over each: on from the
        place, and straight across to either side."""
        start, way = self._borders
        square = np.maximum(np.square(way).sum(axis=1), 1e-300)
        many = min(_NEAREST, len(start))
        found, over = np.empty((len(places), many, 2)), np.empty((len(places), many, 3, 2))
        for i, place in enumerate(places):
            share = np.clip(((place - start) * way).sum(axis=1) / square, 0, 1)
            feet = start + share[:, None] * way
            near = np.argsort(np.square(feet - place).sum(axis=1), kind="stable")[:many]
            found[i] = feet[near]
            across = _unit(way[near][:, ::-1] * (-1.0, 1.0))
            over[i] = np.stack([_unit(feet[near] - place), across, -across], axis=1)
        return found, over


def _unit(ways: Floats) -> Floats:
    """Directions of length 1; 0 where there is none."""
    length = np.sqrt(np.square(ways).sum(axis=1, keepdims=True))
    return np.asarray(ways / np.maximum(length, 1e-300))
