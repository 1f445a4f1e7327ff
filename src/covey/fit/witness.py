"""A row for every zone: what a certificate promises to rows in a zone, some row within the bounds must get.

A zone may lie outside the bounds, or stricter zones may cover it; then nobody gets its epsilon, and to print it would
be untrue. Rows are tried where what is left of a zone must have some: on its edges where they enter the bounds, at its
corners, where borders cross and a little beside them. What is found is judged as all rows are (`to_lattice`,
`Regions.index`), so that no promise is printed in error. One that is not found may still be there, in a sliver between
zones: whoever draws such zones is asked to draw them anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from covey.geo.areas import BORDER, Area, Bits, Regions, Rows, parts_within
from covey.geo.geojson import inside
from covey.post.random import public_rng
from covey.private.lattice import to_lattice
from covey.public import Domain

Floats = NDArray[np.float64]
_FEW, _MANY, _WORK = 64, 1 << 14, 1 << 28  # rows tried for a zone at first, and then; rows x edges looked at
_BESIDE = BORDER + 2  # lattice steps: off a border
_BLOCK = 1 << 20


def find_rows(regions: Regions, zones: Sequence[Area]) -> Iterator[Floats | None]:
    """For each zone a row whose strictest zone has its epsilon, in the units of the data; last, a row in no zone.

    zones : each as an area of its own. None where no row was found; a row that is given is within the bounds, and it is
    so. Depends on public geometry alone, and gives the same rows every time.
    """
    domain, asked = regions.domain, (*zones, None)
    numbers = {area.epsilon: i for i, area in enumerate(regions.areas, start=1)}
    edges = sum(len(each) for area in regions.areas for each in area.polygons)
    tried = [_tries(domain, zone, (), _FEW) for zone in asked]
    index = np.split(
        regions.index(_judged(np.concatenate(tried), domain)), np.cumsum([len(each) for each in tried])[:-1]
    )
    for zone, points, seen in zip(asked, tried, index, strict=True):
        number = 0 if zone is None else numbers[zone.epsilon]
        row = _one_of(zone, points[seen == number], domain)
        stricter = regions.areas[: number - 1] if number else regions.areas
        if row is None:
            points = _tries(domain, zone, stricter, min(_MANY, _WORK // max(edges, 1)))
            row = _one_of(zone, points[regions.index(_judged(points, domain)) == number], domain)
        yield row


def _judged(points: Floats, domain: Domain) -> Rows:
    return to_lattice(np.ascontiguousarray(points.T), domain)


def _one_of(zone: Area | None, points: Floats, domain: Domain) -> Floats | None:
    """The first of the rows that lies in the zone itself."""
    there = np.ones(len(points), dtype=np.bool_) if zone is None else _holds(zone, _judged(points, domain))
    return points[np.argmax(there)] if there.any() else None


def _holds(zone: Area, rows: Rows) -> Bits:
    """As `Area.contains`, but without a table, which would not pay for few rows."""
    if not zone.polygons:
        return zone.contains(rows)
    points = rows[list(zone.axes)].T.astype(np.float64)
    found = np.zeros(len(points), dtype=np.bool_)
    for edges in zone.polygons:
        step = max(1, _BLOCK // len(edges))
        for start in range(0, len(points), step):
            found[start : start + step] |= inside(points[start : start + step], edges, near=BORDER)
    return found


def _tries(domain: Domain, zone: Area | None, stricter: Sequence[Area], count: int) -> Floats:
    """Points within the bounds, in the units of the data: combinations of what is worth trying along each axis."""
    limit, d, (least, most) = float(domain.limit), domain.dimension, domain.corners
    low, high = (each.clip(least, most) for each in _ends(zone, d))
    areas = [each for each in (zone, *stricter) if each is not None]
    boxes = np.concatenate([np.empty((0, 2, d)), *(each.boxes for each in areas)])
    axes = next((each.axes for each in areas if each.polygons), ())
    free = (low <= least) & (high >= most) & (zone is not None)  # any place is as good as any other, but for boxes
    slots = [_along(boxes[:, :, j], low[j], high[j], free=bool(free[j]))[:, None] for j in range(d)]
    if axes:
        pair = np.stack([each.ravel() for each in np.meshgrid(*(slots[j][: _FEW // 8] for j in axes))], axis=1)
        there = _on_map(zone, stricter, axes, low[list(axes)], high[list(axes)], count=count)
        pair = np.concatenate([pair, there])
        slots = [pair[:: ceil(len(pair) / count)], *(slots[j] for j in range(d) if j not in axes)]
    order = [*axes, *(j for j in range(d) if j not in axes)]
    count = min(count, max(_FEW, (1 << 22) // d))
    sizes = [len(each) for each in slots]
    if prod(sizes) <= count:
        picks = np.arange(prod(sizes))[:, None] // np.cumprod([1, *sizes[:-1]]) % sizes
    else:
        alike = np.minimum(np.arange(8)[:, None], np.array(sizes) - 1)  # the first of each, the second of each, ...
        picks = np.concatenate([alike, public_rng(0).integers(0, sizes, (count, len(sizes)))])
    points = np.empty((len(picks), d))
    points[:, order] = np.concatenate([slot[picks[:, i]] for i, slot in enumerate(slots)], axis=1)
    points = points.clip(least, most)
    if domain.ball:
        points *= limit / np.maximum(limit, np.sqrt(np.square(points).sum(axis=1)))[:, None]
    return domain.from_lattice(points)


def _ends(zone: Area | None, d: int) -> tuple[Floats, Floats]:
    """The lower and the upper corner of what encloses a zone; infinite where nothing does."""
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    if zone is not None and zone.polygons:
        corners = np.concatenate(zone.polygons).reshape(-1, 2)
        low[list(zone.axes)], high[list(zone.axes)] = corners.min(axis=0), corners.max(axis=0)
    elif zone is not None:
        low, high = zone.boxes[0]
    return low, high


def _along(boxes: Floats, low: float, high: float, *, free: bool) -> Floats:
    """What is worth trying along an axis: nearest to the middle of the bounds, the ends, and beside every box."""
    beside = np.concatenate([boxes[:, 0] - _BESIDE, boxes[:, 1] + _BESIDE, boxes[:, 0], boxes[:, 1]])
    beside = beside[(beside >= low) & (beside <= high)]
    ends = [] if free and not beside.size else [(low + high) / 2, low, high]
    return np.array([np.clip(0.0, low, high), *ends, *np.unique(beside)])


def _on_map(
    zone: Area | None, stricter: Sequence[Area], axes: Sequence[int], low: Floats, high: Floats, *, count: int
) -> Floats:
    """What is worth trying on the two axes of polygons: on a zone's edges, on a grid, and where other borders are."""
    least, most = (
        end[list(axes)] for end in next(each for each in (zone, *stricter) if each is not None).domain.corners
    )
    frame = _outlines(np.array([[least, most]]))
    own = frame if zone is None else np.concatenate([*zone.polygons, _outlines(zone.boxes[:, :, list(axes)])])
    start, way, first, last = parts_within(own, least - BORDER, most + BORDER)
    nearest = np.clip(-(start * way).sum(axis=1) / np.maximum(np.square(way).sum(axis=1), 1e-300), first, last)
    on = [start + way * share[:, None] for share in (first, last, (first + last) / 2, nearest)]
    across = 64 if count > _FEW else 5
    lines = [np.linspace(a, b, across) for a, b in zip(low, high, strict=True)]
    grid = np.stack([each.ravel() for each in np.meshgrid(*lines)], axis=1)
    boxes = [_outlines(each.boxes[:, :, list(axes)]) for each in stricter]
    others = np.concatenate([np.empty((0, 4)), *boxes, *(edges for each in stricter for edges in each.polygons)])
    near = (np.minimum(others[:, :2], others[:, 2:]) <= high + _BESIDE) & (
        np.maximum(others[:, :2], others[:, 2:]) >= low - _BESIDE
    )
    others = _some(others[near.all(axis=1)], 2048)
    marks = np.concatenate([others[:, :2], _crossings(np.concatenate([frame, _some(own, 512)]), others)])
    marks = _some(marks[((marks >= low - _BESIDE) & (marks <= high + _BESIDE)).all(axis=1)], 256)
    steps = [np.array([a, b]) * far for far in (_BESIDE, 64.0, 2.0**12) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    beside = [marks + step for step in steps] if len(marks) else []
    return np.concatenate([_some(np.concatenate(on), count // 2), grid, *beside])


def _outlines(boxes: Floats) -> Floats:
    """The edges of rectangles; those that go on for ever end far outside."""
    (x1, y1), (x2, y2) = boxes.clip(-(2.0**40), 2.0**40).transpose(1, 2, 0)
    corners = np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]])
    return np.concatenate([corners, np.roll(corners, -1, axis=0)], axis=1).transpose(0, 2, 1).reshape(-1, 4)


def _some(points: Floats, most: int) -> Floats:
    return points[:: ceil(len(points) / most)] if len(points) else points


def _crossings(one: Floats, two: Floats) -> Floats:
    """Where edges of the one list cross those of the other, up to rounding."""
    a, r = one[:, None, :2], (one[:, 2:] - one[:, :2])[:, None]
    b, s = two[None, :, :2], (two[:, 2:] - two[:, :2])[None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        across = r[..., 0] * s[..., 1] - r[..., 1] * s[..., 0]
        t, u = (((b - a)[..., 0] * w[..., 1] - (b - a)[..., 1] * w[..., 0]) / across for w in (s, r))
    i, j = np.nonzero((t >= 0) & (t <= 1) & (u >= 0) & (u <= 1))
    return np.asarray(one[i, :2] + t[i, j][:, None] * (one[i, 2:] - one[i, :2]), dtype=np.float64)
