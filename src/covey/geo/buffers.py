"""Everything within some metres of public places: discs around points, bands along lines and borders.

Nobody within the distance is left out: the sphere is that of the Earth's strongest curve, a disc is a polygon around
its circle, and a band is the hull of the discs at its ends. A disc reaches at most two per cent farther than asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError, ParameterError
from covey.public import Domain

Floats = NDArray[np.float64]
RADIUS = 6_335_439.0  # metres: the least that the Earth is curved by, a north-south line's at the equator
SIDES, MARGIN = 32, 1.001  # of a disc; edges are straight in degrees, which takes less than the margin off
LEAST_METRES, MOST_METRES, HIGHEST, WIDEST = 0.01, 100_000.0, 80.0, 180.0
DIGITS = 9  # of a corner in degrees, so that it is the same on every machine
_DEPTHS = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}


def buffered(document: Any, metres: Any, *, name: str) -> dict[str, Any]:
    """A GeoJSON MultiPolygon of all that lies in the shapes of a document or within so many metres of them.

    `name` is the parameter that errors speak of.
    """
    if isinstance(metres, bool) or not isinstance(metres, int | float) or not LEAST_METRES <= metres <= MOST_METRES:
        raise FormatError(f"{name}: buffer_metres must be a number from {LEAST_METRES} to {MOST_METRES:,.0f}")
    parts: list[Any] = []
    for kind, coordinates in _shapes(document, name):
        if kind.endswith("Polygon"):
            parts += [coordinates] if kind == "Polygon" else coordinates
        for line in _lines(kind, coordinates, name):
            discs = [_disc(place, metres, name) for place in line]
            bands = pairwise(discs) if len(discs) > 1 else [(discs[0], discs[0])]
            parts += [[_hull(np.concatenate(ends)).tolist()] for ends in bands]
    return {"type": "MultiPolygon", "coordinates": parts}


def metres_of(properties: Mapping[str, Any], *, name: str) -> Any:
    """How far a shape reaches beyond itself, as its properties say; None where they do not."""
    for each in properties:
        if str(each).lower().startswith("buffer") and each != "buffer_metres":
            raise FormatError(f"{name}: a property that begins with 'buffer' must be 'buffer_metres'")
    return properties.get("buffer_metres")


def check_degrees(domain: Domain, axes: tuple[int, int], *, named: bool, name: str) -> None:
    """Metres are told on a map alone: columns in degrees, whose longitudes do not reach around it."""
    ends = [(domain.middle[axis] - domain.half[axis], domain.middle[axis] + domain.half[axis]) for axis in axes]
    inside = all(-most <= low and high <= most for (low, high), most in zip(ends, (180, 90), strict=True))
    if not (inside and (named or domain.columns is not None)):
        raise ParameterError(
            name,
            "buffer_metres needs columns that are longitude and latitude by their names, or lon= and lat=, with "
            "bounds from -180 to 180 and -90 to 90; give polygons instead",
        )


def _shapes(document: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The kind and the coordinates of every shape in a GeoJSON document."""
    kind = document.get("type") if isinstance(document, Mapping) else None
    try:
        if kind in ("FeatureCollection", "GeometryCollection"):
            for each in document["features" if kind == "FeatureCollection" else "geometries"]:
                yield from _shapes(each, name)
        elif kind == "Feature":
            yield from _shapes(document["geometry"], name)
        elif isinstance(kind, str) and kind in _DEPTHS:
            yield kind, document["coordinates"]
        else:
            raise FormatError(f"{name}: with buffer_metres, must be GeoJSON made of points, lines or polygons")
    except (KeyError, TypeError, RecursionError):
        raise FormatError(f"{name}: a {kind} of the GeoJSON is damaged") from None


def _lines(kind: str, coordinates: Any, name: str) -> Iterator[Floats]:
    """The places of each line or ring of a shape, in order; of points, one by one."""
    try:
        depth, found = _DEPTHS[kind], [coordinates]
        for _ in range(depth - 1):
            found = [each for part in found for each in part]
        for each in found:
            places = np.array([each[:2]] if depth == 0 else [place[:2] for place in each], dtype=np.float64)
            if places.ndim != 2 or places.shape[1] != 2 or not len(places):
                raise ValueError
            if kind.endswith("Polygon") and (places[0] != places[-1]).any():
                places = np.concatenate([places, places[:1]])  # a ring that its file did not close
            yield from places[:, None] if kind == "MultiPoint" else [places]
    except (TypeError, ValueError, OverflowError, KeyError):
        raise FormatError(f"{name}: a {kind} must be made of [longitude, latitude] positions") from None


def _disc(place: Floats, metres: float, name: str) -> Floats:
    """The corners of a polygon around the circle of a radius about a place, on the sphere."""
    lon, lat = np.radians(place)
    far = math.atan(math.tan(metres * MARGIN / RADIUS) / math.cos(math.pi / SIDES))
    towards = 2 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
    up = np.arcsin(np.sin(lat) * np.cos(far) + np.cos(lat) * np.sin(far) * np.cos(towards))
    across = np.arctan2(np.sin(towards) * np.sin(far) * np.cos(lat), np.cos(far) - np.sin(lat) * np.sin(up))
    corners = np.degrees(np.stack([lon + across, up], axis=1))
    if not (np.abs(place[1]) <= HIGHEST and (np.abs(corners[:, 0]) <= WIDEST).all()):
        raise FormatError(
            f"{name}: what lies within buffer_metres reaches across the 180th meridian or beyond latitude "
            f"{HIGHEST:.0f}; give it as polygons"
        )
    return np.round(corners, DIGITS)


def _hull(places: Floats) -> Floats:
    """The closed ring of the convex hull of places."""
    ordered = [*map(tuple, np.unique(places, axis=0).tolist())]
    ring: list[tuple[float, float]] = []
    for side in (ordered, ordered[::-1]):
        half: list[tuple[float, float]] = []
        for x, y in side:
            while len(half) > 1 and _turn(half[-2], half[-1], (x, y)) <= 0:
                half.pop()
            half.append((x, y))
        ring += half[:-1]
    return np.array([*ring, ring[0]])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
