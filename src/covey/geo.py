"""Longitude and latitude: GeoJSON for what is published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from covey.errors import ParameterError

LONGITUDE = ("lon", "lng", "long", "longitude", "x_lon")
LATITUDE = ("lat", "latitude", "y_lat")


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
            raise ParameterError(parameter, f"name the column that is the {meaning}; there are {options}")
        places.append(found[0])
    return places[0], places[1]


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
