"""Write the public map of the demo's made-up city, which the studio draws under it: shore, river, roads, districts.

    python scripts/demo_city.py

Everything comes from the constants of covey.cli.demo, which are public; no row is involved.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from covey.cli.demo import BOX, CITY, RIVER_HALF_WIDTH, ROADS, District, river, road

TARGET = Path(__file__).resolve().parent.parent / "src" / "covey" / "studio" / "page" / "demo-city.json"
NAMES = ("Old Town", "Harbour", "University", "Mills", "Garden Suburb", "New Towers", "Village")
DIGITS = 5


def shore() -> list[list[float]]:
    """An island around the city's box: a rounded rectangle with bays."""
    turn = np.linspace(0, 2 * np.pi, 361)
    (west, east), (south, north) = BOX.ranges
    bays = 1.26 + 0.05 * np.sin(3 * turn + 1) + 0.035 * np.sin(7 * turn) + 0.018 * np.sin(13 * turn + 2)
    corner = (np.abs(np.cos(turn)) ** 4 + np.abs(np.sin(turn)) ** 4) ** -0.25
    lon = (east - west) / 2 * bays * corner * np.cos(turn)
    lat = (north - south) / 2 * (bays + 0.08) * corner * np.sin(turn)
    return ring(lon, lat)


def stream() -> list[list[float]]:
    """The river from shore to shore, a little wider towards the sea."""
    lon = np.linspace(-0.24, 0.24, 241)
    half = RIVER_HALF_WIDTH * (0.62 + 1.4 * (lon / 0.24) ** 4)
    middle = river(lon)
    return ring(np.concatenate([lon, lon[::-1]]), np.concatenate([middle + half, (middle - half)[::-1]]))


def ring(lon: Any, lat: Any) -> list[list[float]]:
    corners = np.round(np.stack([lon, lat], axis=1), DIGITS).tolist()
    return [*corners, corners[0]]


def feature(kind: str, geometry: str, coordinates: Any, name: str = "") -> dict[str, Any]:
    properties = {"kind": kind, "name": name}
    return {"type": "Feature", "properties": properties, "geometry": {"type": geometry, "coordinates": coordinates}}


def above(district: District) -> list[float]:
    """Where a name stands clear of the people: north of the district."""
    up = np.hypot(district.length * np.sin(district.turn), district.width * np.cos(district.turn))
    return np.round([district.middle[0], district.middle[1] + 2.1 * up], DIGITS).tolist()  # type: ignore[no-any-return]


def city() -> dict[str, Any]:
    """The whole map as GeoJSON."""
    steps = np.linspace(0, 1, 25)
    features = [feature("land", "Polygon", [shore()]), feature("river", "Polygon", [stream()])]
    for start, end in ROADS:
        features.append(feature("road", "LineString", np.round(road(start, end, steps), DIGITS).tolist()))
    for district, name in zip(CITY, NAMES, strict=True):
        features.append(feature("district", "Point", above(district), name))
    return {"type": "FeatureCollection", "features": features}


if __name__ == "__main__":
    TARGET.write_text(json.dumps(city(), separators=(",", ":")) + "\n")
