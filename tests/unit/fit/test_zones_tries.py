"""Where a row for a zone is looked for: along an axis, on the map, and beside the borders of stricter zones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from covey.fit.witness import _BESIDE, _FEW, _along, _on_map
from covey.geo.areas import Area
from covey.public import resolve_bounds

DOMAIN = resolve_bounds((-1, 1), names=None, width=2)
LIMIT = float(DOMAIN.limit)
TRIANGLE = np.array([[400.0, 400.0, 90000.0, 800.0], [90000.0, 800.0, 500.0, 70000.0], [500.0, 70000.0, 400.0, 400.0]])
NO_BOXES = np.empty((0, 2, 2))


def among(points, wanted) -> bool:
    return all(np.abs(points - each).max(axis=1).min() < 1e-6 for each in np.atleast_2d(wanted))


def test_along_an_axis_the_middle_the_ends_and_both_sides_of_every_border_are_tried():
    boxes = np.array([[-500.0, 700.0], [-9000.0, 9000.0]])
    beside = {-500.0 - _BESIDE, 700.0 + _BESIDE, -500.0, 700.0}
    assert set(_along(boxes, -1000.0, 3000.0, free=False)) == {0.0, 1000.0, -1000.0, 3000.0, *beside}
    assert set(_along(boxes, 600.0, 3000.0, free=True)) == {600.0, 1800.0, 3000.0, 700.0, 700.0 + _BESIDE}
    assert _along(np.empty((0, 2)), -10.0, 10.0, free=True).tolist() == [0.0]


def tried(stricter=(), zone=TRIANGLE, count=_FEW):
    area = Area(DOMAIN, Fraction(1, 2), (zone,), (0, 1), NO_BOXES)
    low, high = zone.reshape(-1, 2).min(axis=0), zone.reshape(-1, 2).max(axis=0)
    return _on_map(area, stricter, (0, 1), low, high, count=count), low, high


def test_on_the_map_the_ends_the_middle_and_the_nearest_point_of_every_edge_and_a_grid_are_tried():
    points, low, high = tried()
    for x1, y1, x2, y2 in TRIANGLE:
        start, way = np.array([x1, y1]), np.array([x2 - x1, y2 - y1])
        nearest = start + way * np.clip(-(start @ way) / (way @ way), 0, 1)
        assert among(points, [start, start + way, start + way / 2, nearest])
    for x in np.linspace(low[0], high[0], 5):
        assert among(points, [[x, y] for y in np.linspace(low[1], high[1], 5)])


def test_beside_the_corners_of_stricter_zones_near_and_far_steps_are_tried():
    corner = np.array([20000.0, 30000.0])
    box = np.array([[[-LIMIT, -LIMIT], corner]])
    edges = np.array(
        [[40000.0, 9000.0, 41000.0, 9000.0], [41000.0, 9000.0, 40000.0, 9500.0], [40000.0, 9500.0, 40000.0, 9000.0]]
    )
    stricter = (Area(DOMAIN, Fraction(1, 4), (edges,), (0, 1), box),)
    points, *_ = tried(stricter)
    for mark in (corner, *edges[:, :2]):
        for far in (_BESIDE, 64.0, 2.0**12):
            assert among(points, [mark + far * np.array([a, b]) for a in (-1, 0, 1) for b in (-1, 0, 1)])
