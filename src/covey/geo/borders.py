"""Which place belongs to which centre: Voronoi polygons inside the bounds, by cutting a box with half-planes.

Distances are those of the fit, in half-widths of each column's range; of equal centres the first has everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Point = tuple[float, float]
BOX: tuple[Point, ...] = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
_EQUAL = 1e-12


def voronoi(centres: Sequence[Point], box: Sequence[Point] = BOX) -> list[list[Point]]:
    """For each centre, the corners of its region in a box, counter-clockwise; none if it has no area."""
    return [_region(i, centres, box) for i in range(len(centres))]


def _region(i: int, centres: Sequence[Point], box: Sequence[Point]) -> list[Point]:
    x, y = centres[i]
    corners = list(box)
    others = sorted((math.hypot(a - x, b - y), j) for j, (a, b) in enumerate(centres) if j != i)
    for distance, j in others:
        if distance < _EQUAL:
            if j < i:
                return []
            continue
        if distance > 2 * max((math.hypot(a - x, b - y) for a, b in corners), default=0.0):
            break  # neither this one nor any farther one can cut
        corners = _cut(corners, (x, y), centres[j])
    return corners if len(corners) > 2 else []


def _cut(corners: list[Point], here: Point, there: Point) -> list[Point]:
    """The part of a convex polygon that is nearer to `here` than to `there`."""
    nx, ny = there[0] - here[0], there[1] - here[1]
    limit = nx * (here[0] + there[0]) / 2 + ny * (here[1] + there[1]) / 2
    sides = [nx * a + ny * b - limit for a, b in corners]
    kept: list[Point] = []
    for k, (corner, side) in enumerate(zip(corners, sides, strict=True)):
        before, side_before = corners[k - 1], sides[k - 1]
        if (side > 0) != (side_before > 0):
            t = side_before / (side_before - side)
            kept.append((before[0] + t * (corner[0] - before[0]), before[1] + t * (corner[1] - before[1])))
        if side <= 0:
            kept.append(corner)
    return kept


def region_features(centres: ArrayLike, lower: ArrayLike, upper: ArrayLike, half: ArrayLike) -> list[dict[str, Any]]:
    """GeoJSON polygons, one for each centre (x, y) that has a region, with the property `centre`: its index.

    half : what distances are measured in, along each axis.
    """
    low, high, unit = (np.asarray(each, dtype=np.float64) for each in (lower, upper, half))
    middle = low / 2 + high / 2
    right, top = ((high - middle) / unit).tolist()
    box = [(x * right, y * top) for x, y in BOX]
    scaled = (np.asarray(centres, dtype=np.float64) - middle) / unit
    features = []
    for i, corners in enumerate(voronoi([(x, y) for x, y in scaled.tolist()], box)):
        if corners:
            ring = np.clip(np.array([*corners, corners[0]]) * unit + middle, low, high).tolist()
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "geometry": geometry, "properties": {"centre": i}})
    return features
