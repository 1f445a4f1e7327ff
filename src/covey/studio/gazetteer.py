"""Places by their names, from the list that is bundled with the map, and bounds around them. Public: no row is read."""

from __future__ import annotations

import json
import math
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

from covey.geo.geojson import METRES

PLACES = Path(__file__).parent / "assets" / "places"
MOST = 8
LEAST_REACH, REACH = 3_000.0, 12.0  # metres around a place: at least, and for the square root of its people
HIGHEST = 89.0


def find_places(name: str, *, folder: Path = PLACES) -> list[dict[str, Any]]:
    """The largest places whose name begins so, then those that only hold it; none where no list is installed."""
    wanted = folded(name)
    known = _places(folder)
    first = [each for each in known if each[0].startswith(wanted)][:MOST]
    more = [each for each in known if wanted in each[0] and not each[0].startswith(wanted)] if len(first) < MOST else []
    return [
        {"name": name, "lon": lon, "lat": lat, "people": people, "bounds": around(lon, lat, people)}
        for _, name, lon, lat, people in (first + more)[:MOST]
    ]


def around(lon: float, lat: float, people: int) -> list[float]:
    """West, south, east and north of a square around a place: larger for more people, within the world."""
    up = max(LEAST_REACH, REACH * math.sqrt(people)) / METRES
    across = up / max(0.1, math.cos(math.radians(lat)))
    west, east = max(-180.0, lon - across), min(180.0, lon + across)
    south, north = max(-HIGHEST, lat - up), min(HIGHEST, lat + up)
    return [round(each, 3) for each in (west, south, east, north)]


def folded(name: str) -> str:
    """Small letters without accents: how people type."""
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower().strip() or name.lower()


@lru_cache(maxsize=2)
def _places(folder: Path) -> list[tuple[str, str, float, float, int]]:
    """All of them, the largest first."""
    found = []
    for file in sorted(folder.glob("*_*.json")):
        found += [(folded(name), name, lon, lat, people) for name, lon, lat, people in json.loads(file.read_bytes())]
    return sorted(found, key=lambda each: -each[4])
