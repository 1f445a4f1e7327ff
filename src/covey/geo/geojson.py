"""Longitude and latitude: GeoJSON for what is published, and the public regions that it is compared with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import LATITUDE, LONGITUDE
from covey.errors import FormatError, ParameterError
from covey.geo.rings import area, check_rings

METRES = 111_320.0  # of a degree of latitude
WIDEST, HIGHEST = 360.0, 90.0  # degrees: columns that go beyond are no longitude or latitude
_BORDER = 1e-12  # of the largest coordinate: a point this near to a border lies on it
_BLOCK = 1 << 20  # points x edges looked at together
_FARTHEST = 1e100  # no coordinate of anything, but its square is still a number


def find_axes(columns: Sequence[str], lon: str | None = None, lat: str | None = None) -> tuple[int, int]:
    """Which columns are longitude and latitude, by the names given or by the usual ones."""
    places = []
    options = ", ".join(map(repr, columns))
    for parameter, given, usual, meaning in (
        ("lon", lon, LONGITUDE, "longitude"),
        ("lat", lat, LATITUDE, "latitude"),
    ):
        found = [i for i, name in enumerate(columns) if name == given or (given is None and _is(name, usual))]
        if len(found) != 1:
            raise ParameterError(parameter, f"name the column that is the {meaning}, in degrees; there are {options}")
        places.append(found[0])
    if places[0] == places[1]:
        raise ParameterError("lat", f"is the same column as the longitude, {columns[places[0]]!r}; there are {options}")
    return places[0], places[1]


def is_map(names: Sequence[str]) -> bool:
    """Whether two columns are longitude and latitude by their names."""
    return _is(names[0], LONGITUDE) and _is(names[1], LATITUDE)


def metres_of_half(
    columns: Sequence[str], middle: ArrayLike, half: ArrayLike, lon: str | None = None, lat: str | None = None
) -> NDArray[np.float64] | None:
    """The half-widths of two columns in metres, at the middle of the map, and 0 for all others; None where there is
    no map: no columns of that name, or none in degrees."""
    try:
        axes = list(find_axes(columns, lon, lat))
    except ParameterError:
        return None
    middles, halves = np.asarray(middle, dtype=np.float64)[axes], np.asarray(half, dtype=np.float64)[axes]
    if (np.abs(middles) + halves > (WIDEST, HIGHEST)).any():
        return None
    metres = np.zeros(len(columns))
    metres[axes] = METRES * halves * (np.cos(np.radians(middles[1])), 1.0)
    return metres


def _is(name: str, usual: Iterable[str]) -> bool:
    words = name.lower().replace("-", "_").split("_")
    return name.lower() in usual or any(word in usual for word in words)


def feature_collection(points: Sequence[tuple[float, float]], properties: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A GeoJSON document of points (longitude, latitude), each with its properties."""
    return {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]}, "properties": each}
            for (lon, lat), each in zip(points, properties, strict=True)
        ],
    }


@dataclass(frozen=True, eq=False)
class Region:
    """Polygons with holes, as in GeoJSON, longitude first. Their borders belong to them, those of their holes too.

    Polygons that overlap add up. A ring that crosses or touches itself is refused, and so is a hole that crosses
    another ring or lies outside: nobody is left out by how a tangle is read. A polygon across the 180th meridian must
    be cut in two there, as GeoJSON asks.
    """

    polygons: tuple[NDArray[np.float64], ...]  # of each: its edges, those of its holes too, as x1, y1, x2, y2

    @classmethod
    def read(cls, source: Any, *, name: str = "region") -> Region:
        """A region from GeoJSON: a document, or the path of a file. `name` is the parameter that errors speak of."""
        if isinstance(source, cls):
            return source
        if isinstance(source, str | os.PathLike):
            source = read_json(source, name)
        polygons = tuple(_edges(rings, name) for rings in _polygons(source, name))
        if not polygons:
            raise FormatError(f"{name}: holds no area; give at least one Polygon or MultiPolygon")
        return cls(polygons)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which of the (n, 2) points (longitude, latitude) lie in the region or on a border of it."""
        x = np.asarray(points, dtype=np.float64)
        found = np.zeros(len(x), dtype=bool)
        for edges in self.polygons:
            step = max(1, _BLOCK // len(edges))
            for start in range(0, len(x), step):
                found[start : start + step] |= inside(x[start : start + step], edges)
        return found


def inside(points: NDArray[np.float64], edges: NDArray[np.float64], *, near: float | None = None) -> NDArray[np.bool_]:
    """Even-odd rule over all rings of one polygon: a ray to the east crosses its edges an odd number of times.

    Of rings as `Region.read` takes them, this is what every other rule says too.

    near : how far from an edge a point still lies on it; by default a rounding error.
    """
    px, py = points[:, :1], points[:, 1:]
    x1, y1, x2, y2 = edges.T
    dx, dy = x2 - x1, y2 - y1
    cross = dx * (py - y1) - dy * (px - x1)
    if near is None:
        near = _BORDER * max(1e-300, float(np.abs(edges).max()))
    between = (px >= np.minimum(x1, x2) - near) & (px <= np.maximum(x1, x2) + near)
    between &= (py >= np.minimum(y1, y2) - near) & (py <= np.maximum(y1, y2) + near)
    border = (between & (np.abs(cross) <= near * np.hypot(dx, dy))).any(axis=1)
    spans = (y1 > py) != (y2 > py)
    east = np.where(dy > 0, cross > 0, cross < 0)  # the edge is east of the point
    return border | (np.count_nonzero(spans & east, axis=1) % 2 == 1)


def _polygons(document: Any, name: str) -> Iterator[Any]:
    """The rings of every polygon in a GeoJSON document."""
    kind = document.get("type") if isinstance(document, Mapping) else None
    try:
        if kind == "FeatureCollection":
            for each in document["features"]:
                yield from _polygons(each, name)
        elif kind == "Feature":
            yield from _polygons(document["geometry"], name)
        elif kind == "GeometryCollection":
            for each in document["geometries"]:
                yield from _polygons(each, name)
        elif kind == "Polygon":
            yield document["coordinates"]
        elif kind == "MultiPolygon":
            yield from document["coordinates"]
        else:
            raise FormatError(f"{name}: must be GeoJSON made of Polygon or MultiPolygon, such as a city's borders")
    except (KeyError, TypeError, RecursionError):
        raise FormatError(f"{name}: a {kind} of the GeoJSON is damaged") from None


def _edges(rings: Any, name: str) -> NDArray[np.float64]:
    """The edges of a polygon's rings, closed if they are not. What they enclose is clear: see rings.py."""
    parts = []
    try:
        for ring in rings:
            corners = np.array([position[:2] for position in ring], dtype=np.float64)
            if corners.ndim != 2 or corners.shape[1] != 2 or not (np.abs(corners) <= _FARTHEST).all():
                raise ValueError
            if len(set(map(tuple, corners.tolist()))) < 3:
                raise FormatError(f"{name}: a ring of a polygon has fewer than three corners")
            parts.append(corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)])
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name}: a polygon must be rings of [longitude, latitude] positions") from None
    if not parts:
        raise FormatError(f"{name}: a polygon without rings holds no area")
    with np.errstate(all="ignore"):
        check_rings(parts, name)
        edges = [np.hstack([each, np.roll(each, -1, axis=0)]) for each in parts]
        for hole in parts[1:]:  # rings do not cross, so that some corners speak for all, and a larger ring is around
            if area(hole) >= area(parts[0]) or not inside(hole[:: 1 + len(hole) // 16], edges[0]).all():
                raise FormatError(f"{name}: a hole lies outside its polygon; the first ring is the outer one")
    return np.concatenate(edges)


def read_json(path: str | os.PathLike[str], name: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise FormatError(f"{name}: cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise FormatError(f"{name}: {str(path)!r} is not a JSON document") from None
