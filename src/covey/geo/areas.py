"""Where zones are, on the lattice of a domain: public geometry that rows and grids are compared with.

Membership of a row is decided from its lattice point alone, by arithmetic on that one point: total, the same in every
batch. A row within two lattice steps of a border is inside. docs/guide/zones.md is the guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.geo.geojson import Region, inside, is_map
from covey.public import Domain

Bits = NDArray[np.bool_]
Rows = NDArray[np.int32]  # lattice rows, one column per row
Ends = float | NDArray[np.float64]  # one for both axes, or one for each
WORLD = (180.0, 90.0)  # degrees of longitude and latitude
BORDER = 2.0  # lattice steps: more than a row is moved by on its way to the lattice of a box or a ball
_LOOKUP = 256  # cells per axis of the table that answers for most rows
_FINE = 512  # of the table that answers for boxes of any size
_BLOCK = 1 << 20
_SPOTS = 1 << 12  # places at which a domain is looked at
_COORDINATES = 1 << 22  # of all of them, about


@dataclass(frozen=True, eq=False)
class Area:
    """All zones that share one epsilon: polygons on two axes, and boxes.

    polygons : of each its edges x1, y1, x2, y2 in lattice units. axes : which coordinates those are. boxes : of each a
    lower and an upper corner in lattice units, infinite along the axes that it does not limit.
    """

    domain: Domain
    epsilon: Fraction
    polygons: tuple[NDArray[np.float64], ...]
    axes: tuple[int, int]
    boxes: NDArray[np.float64]  # boxes x 2 x d

    def contains(self, rows: Rows) -> Bits:
        """Which lattice rows lie in the area or on its border."""
        found = np.zeros(rows.shape[1], dtype=np.bool_)
        for low, high in self.boxes:
            there = np.ones(rows.shape[1], dtype=np.bool_)
            for coordinate, start, end in zip(rows, low, high, strict=True):
                if start > -np.inf or end < np.inf:
                    there &= (coordinate >= start - BORDER) & (coordinate <= end + BORDER)
            found |= there
        if self.polygons:
            found |= self._in_polygons(rows[self.axes[0]], rows[self.axes[1]])
        return found

    def _in_polygons(self, x: NDArray[np.int32], y: NDArray[np.int32]) -> Bits:
        within, touched = self._lookup
        cell = _cell(x, self.domain, _LOOKUP) * _LOOKUP + _cell(y, self.domain, _LOOKUP)
        found = within.take(cell)
        unsure = np.flatnonzero(~found & touched.take(cell))
        unsure = unsure[np.argsort(x[unsure], kind="stable")]  # a polygon then looks at the rows between its ends only
        points = np.stack([x[unsure], y[unsure]], axis=1).astype(np.float64)
        answer = np.zeros(len(unsure), dtype=np.bool_)
        for edges, (low, high) in zip(self.polygons, self._ends, strict=True):
            first, last = (int(np.searchsorted(points[:, 0], end)) for end in (low[0], high[0]))
            some = np.arange(first, last)
            some = some[~answer[some] & (points[some, 1] >= low[1]) & (points[some, 1] <= high[1])]
            step = max(1, _BLOCK // len(edges))
            for start in range(0, len(some), step):
                part = some[start : start + step]
                answer[part] = inside(points[part], edges, near=BORDER)
        found[unsure] = answer
        return found

    @cached_property
    def _ends(self) -> list[NDArray[np.float64]]:
        """The lower and the upper corner of each polygon, with its border and a little more."""
        both = [edges.reshape(-1, 2) for edges in self.polygons]
        return [np.stack([each.min(axis=0) - 2 * BORDER, each.max(axis=0) + 2 * BORDER]) for each in both]

    @cached_property
    def _lookup(self) -> tuple[Bits, Bits]:
        return _polygon_cells(self.polygons, self.domain, _LOOKUP)

    def cells(self, per_axis: int) -> tuple[Bits, Bits]:
        """For every cell of a grid: whether it lies wholly within one zone, and whether any zone may touch it."""
        d, width = self.domain.dimension, (2 * self.domain.limit + 1) / per_axis
        within, touched = (np.zeros((per_axis,) * d, dtype=np.bool_) for _ in range(2))
        first = -self.domain.limit + width * np.arange(per_axis)  # where each cell begins, up to a lattice step
        near = BORDER + 1
        for low, high in self.boxes:
            whole, some = np.ones((), dtype=np.bool_), np.ones((), dtype=np.bool_)
            for start, end in zip(low, high, strict=True):
                whole = np.multiply.outer(whole, (first >= start) & (first + width <= end))
                some = np.multiply.outer(some, (first + width + near >= start) & (first - near <= end))
            within |= whole
            touched |= some
        if self.polygons:
            shape = [per_axis if j in self.axes else 1 for j in range(d)]
            flat = _polygon_cells(self.polygons, self.domain, per_axis)
            square = [each.reshape(per_axis, per_axis) for each in flat]
            square = square if self.axes[0] < self.axes[1] else [each.T for each in square]
            within |= square[0].reshape(shape)
            touched |= square[1].reshape(shape)
        return within.ravel(), touched.ravel()

    def holds(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> tuple[Bits, Bits]:
        """For boxes anywhere, (m, d) corners in lattice units: wholly within one zone; any zone may touch it.

        Where a table of cells cannot tell, near the border of a polygon, a box is taken to be touched.
        """
        within, touched = (np.zeros(len(lower), dtype=np.bool_) for _ in range(2))
        near = BORDER + 1
        for low, high in self.boxes:
            within |= ((lower >= low) & (upper <= high)).all(axis=1)
            touched |= ((upper + near >= low) & (lower - near <= high)).all(axis=1)
        if self.polygons:
            unit, axes = _FINE / (2 * self.domain.limit + 1), list(self.axes)
            first = np.floor((lower[:, axes] + self.domain.limit + 0.5) * unit + 1e-6).astype(np.int64)
            last = np.ceil((upper[:, axes] + self.domain.limit + 0.5) * unit - 1e-6).astype(np.int64)
            first = first.clip(0, _FINE - 1)
            last = np.maximum(last.clip(1, _FINE), first + 1)
            whole, some = (_in_ranges(table, first, last) for table in self._sums)
            within |= whole == (last - first).prod(axis=1)
            touched |= some > 0
        return within, touched

    @cached_property
    def _sums(self) -> list[NDArray[np.int64]]:
        """How many cells of a fine table lie within a polygon, and how many one touches, up to each corner."""
        tables = (each.reshape(_FINE, _FINE) for each in _polygon_cells(self.polygons, self.domain, _FINE))
        return [np.pad(each.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0))) for each in tables]

    @property
    def ranges(self) -> Iterator[NDArray[np.float64]]:
        """A lower and an upper corner about each polygon and box, within the domain, in lattice units."""
        ends = self.domain.corners
        for edges in self.polygons:
            around = np.array(ends)
            corners = edges.reshape(-1, 2)
            around[:, list(self.axes)] = corners.min(axis=0), corners.max(axis=0)
            yield around.clip(*ends)
        yield from self.boxes.clip(*ends)

    def along_borders(self, many: int) -> Iterator[NDArray[np.float64]]:
        """About so many points on the edges of each polygon, evenly by length: in a strip no others may be."""
        everywhere, axes = np.array(self.domain.corners), list(self.axes)
        for edges in self.polygons:
            start, way, first, last = parts_within(edges, *everywhere[:, axes])
            lengths = np.abs(way).max(axis=1, initial=0.0)
            ends = np.cumsum((last - first) * lengths)
            if not len(ends) or ends[-1] == 0:
                continue
            place = ends[-1] * (np.arange(many) + 0.5) / many
            edge = np.searchsorted(ends, place).clip(0, len(ends) - 1)
            share = last[edge] - (ends[edge] - place) / lengths[edge]
            points = _spread(everywhere, many)
            points[:, axes] = start[edge] + way[edge] * share[:, None]
            yield points.clip(*everywhere)


def _in_ranges(sums: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many cells with a property lie in each range of cells along both axes, from sums up to each corner."""
    (x1, y1), (x2, y2) = first.T, last.T
    return np.asarray(sums[x2, y2] - sums[x1, y2] - sums[x2, y1] + sums[x1, y1])


def _cell(coordinate: NDArray[np.int32], domain: Domain, per_axis: int) -> NDArray[np.int64]:
    """As in queries/grid.py: exact, because the product stays below 2^52."""
    place = (coordinate.astype(np.float64) + domain.limit) * per_axis
    return np.asarray(place / (2 * domain.limit + 1), dtype=np.int64)


def _polygon_cells(polygons: tuple[NDArray[np.float64], ...], domain: Domain, per_axis: int) -> tuple[Bits, Bits]:
    """For each cell of a square grid, first axis slowest: wholly within a polygon; touched by one.

    A cell that no border comes near to (within a cell's width) is as its middle is. Edges are cut into pieces of at
    most half a cell, and the 3 x 3 cells about each end of a piece count as touched by the border.
    """
    within, touched = (np.zeros((per_axis, per_axis), dtype=np.bool_) for _ in range(2))
    unit = per_axis / (2 * domain.limit + 1)
    for edges in polygons:
        border = np.zeros_like(within)
        lines = (edges + domain.limit) * unit
        corners = np.floor(_points_along(lines, per_axis)).astype(np.int64)
        for shift in np.ndindex(3, 3):
            near = corners + np.array(shift) - 1
            near = near[((near >= 0) & (near < per_axis)).all(axis=1)]
            border[near[:, 0], near[:, 1]] = True
        middle = _middles_inside(lines, per_axis)
        within |= middle & ~border
        touched |= middle | border
    return within.ravel(), touched.ravel()


def _points_along(lines: NDArray[np.float64], per_axis: int) -> NDArray[np.float64]:
    """Points on the edges, at most half a cell apart, of the part that comes near the grid; lines in cell units."""
    start, way, first, last = parts_within(lines, -2.0, per_axis + 2.0)
    pieces = np.ceil(2 * (last - first) * np.abs(way).max(axis=1, initial=0.0)).astype(np.int64) + 1
    which = np.repeat(np.arange(len(pieces)), pieces + 1)
    step = np.arange(len(which)) - np.repeat(np.cumsum(pieces + 1) - pieces - 1, pieces + 1)
    share = first[which] + (last - first)[which] * step / pieces[which]
    return np.asarray(start[which] + way[which] * share[:, None], dtype=np.float64)


def parts_within(lines: NDArray[np.float64], low: Ends, high: Ends) -> tuple[NDArray[np.float64], ...]:
    """The edges that enter the box from low to high: starts, ways, and the shares at which they enter and leave."""
    start, way = lines[:, :2], lines[:, 2:] - lines[:, :2]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        enter, leave = (low - start) / way, (high - start) / way
    still = way == 0
    out = still & ((start < low) | (start > high))
    enter, leave = np.minimum(enter, leave), np.maximum(enter, leave)
    first = np.where(still, -np.inf, enter).max(axis=1)
    last = np.where(still, np.inf, leave).min(axis=1)
    near = (np.maximum(first, 0) <= np.minimum(last, 1)) & ~out.any(axis=1)
    return start[near], way[near], first[near].clip(0, 1), last[near].clip(0, 1)


def _middles_inside(lines: NDArray[np.float64], per_axis: int) -> Bits:
    """Which middles of cells have an odd number of edges on one side: the even-odd rule, line by line."""
    x1, y1, x2, y2 = lines.T
    middles = np.arange(per_axis) + 0.5
    found = np.zeros((per_axis, per_axis), dtype=np.bool_)
    low, high = (int(np.clip(end, 0, per_axis)) for end in (min(y1.min(), y2.min()) - 1, max(y1.max(), y2.max()) + 1))
    for j in range(low, high):
        y = middles[j]
        spans = np.flatnonzero((y1 > y) != (y2 > y))
        if spans.size:
            cross = x1[spans] + (y - y1[spans]) * (x2 - x1)[spans] / (y2 - y1)[spans]
            found[:, j] = (spans.size - np.searchsorted(np.sort(cross), middles, side="right")) % 2 == 1
    return found


@dataclass(frozen=True, eq=False)
class Regions:
    """Areas, the strictest first. The number of a row is 0 outside of all, else that of its strictest area, from 1."""

    domain: Domain
    areas: tuple[Area, ...]

    def index(self, rows: Rows) -> NDArray[np.uint8]:
        """The number of each lattice row."""
        number = np.zeros(rows.shape[1], dtype=np.uint8)
        for i in range(len(self.areas), 0, -1):  # the strictest comes last, and stays
            number[self.areas[i - 1].contains(rows)] = i
        return number

    def possible(self, per_axis: int) -> Bits:
        """Which numbers rows in each cell of a grid can have: (numbers, cells). Every cell has at least one."""
        if per_axis == 1:  # whatever the zones are; and of very many axes no table has as many
            return np.ones((len(self.areas) + 1, 1), dtype=np.bool_)
        return self._numbers(area.cells(per_axis) for area in self.areas)

    def possible_in(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Bits:
        """The same for boxes of any size, (m, d) corners in lattice units: (numbers, boxes)."""
        return self._numbers(area.holds(lower, upper) for area in self.areas)

    def _numbers(self, areas: Iterable[tuple[Bits, Bits]]) -> Bits:
        left, found = np.ones((), dtype=np.bool_), []
        for within, touched in areas:
            found.append(touched & left)
            left = left & ~within  # not wholly within a stricter area
        return np.stack([left, *found])

    def spots(self) -> Rows:
        """Lattice points spread evenly over the domain and over each zone: where rows of every number can be."""
        limit, d = self.domain.limit, self.domain.dimension
        ranges = [each for area in self.areas for each in area.ranges]
        everywhere = np.array(self.domain.corners)
        most = max(16, min(_SPOTS, _COORDINATES // (4 * d)))
        each_zone = max(8, most // len(ranges))
        parts = [_spread(everywhere, most), *(_spread(each, 2 * each_zone) for each in ranges)]
        points = np.concatenate([*parts, *(line for area in self.areas for line in area.along_borders(each_zone))])
        if self.domain.ball:
            length = np.sqrt(np.square(points).sum(axis=1, keepdims=True))
            points *= (limit - 1) / np.maximum(length, limit - 1)
        return np.ascontiguousarray(np.rint(points).astype(np.int32).T)


def _spread(ends: NDArray[np.float64], many: int) -> NDArray[np.float64]:
    """Points between two corners: multiples of an irrational step along each axis, which fill a box evenly."""
    d = ends.shape[1]
    root = 2.0
    for _ in range(64):  # x^(d + 1) = x + 1: Kronecker's sequence with the steps of Roberts (2018)
        root = (1 + root) ** (1 / (d + 1))
    steps = root ** -np.arange(1.0, d + 1)
    return np.asarray(ends[0] + (ends[1] - ends[0]) * ((0.5 + np.arange(1, many + 1)[:, None] * steps) % 1.0))


def check_world(regions: Sequence[Region], domain: Domain, axes: tuple[int, int]) -> None:
    """Refuse a polygon that leaves the map of the world, or may: the rows that it means would be on the other side.

    An edge over more than half of the world is one that goes the other way round to many a reader; one from end to
    end of the map goes nowhere else.
    """
    reach = [abs(domain.middle[axis]) + domain.half[axis] for axis in axes]
    if domain.columns is None:
        earth = domain.dimension == 2 and reach == list(WORLD)
    else:
        earth = is_map([domain.names[axis] for axis in axes]) and all(a <= b for a, b in zip(reach, WORLD, strict=True))
    for edges in (edges for each in regions for edges in each.polygons if earth):
        if (np.abs(edges) > (*WORLD, *WORLD)).any():
            raise ParameterError(
                "zones", "a polygon reaches beyond longitude 180 or latitude 90; cut it in two at the 180th meridian"
            )
        across = np.abs(edges[:, 2] - edges[:, 0])
        if ((across > WORLD[0]) & (across < 2 * WORLD[0])).any():
            raise ParameterError(
                "zones",
                "an edge of a polygon spans more than 180 degrees of longitude; cut the polygon in two at the 180th "
                "meridian if it goes across, or else give the edge corners in between",
            )
