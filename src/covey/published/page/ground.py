"""Land, borders and names of places within the bounds, from the outlines that the studio ships. All of it public."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

Point = tuple[float, float]
Frame = tuple[float, float, float, float]  # west, south, east, north

ASSETS = Path(__file__).parents[2] / "studio" / "assets"
WIDE = 15.0  # degrees: coarse outlines are enough for more
SQUARE = 10  # degrees: names of places are in one file for each such square
MOST_NAMES = 400
STATES: Frame = (-180.0, 13.0, -64.0, 72.0)  # where borders within the United States are


class Ground(NamedTuple):
    """Rings of land and of water in it, lines, and names with their place, the largest places first."""

    land: list[list[Point]]
    water: list[list[Point]]
    lines: list[list[Point]]
    names: list[tuple[str, float, float]]
    credit: str


def ground_of(frame: Frame, *, assets: Path = ASSETS) -> Ground | None:
    """What lies within the bounds; None where no outlines are installed, or all of it is sea."""
    west, south, east, north = frame
    world = assets / "world"
    if not (world / "index.json").is_file():
        return None
    wide = max(east - west, north - south) > WIDE
    found = [_read(world / "countries.json")] if wide else list(_countries(world, frame))
    polygons = [each["geometry"]["coordinates"] for part in found for each in part["features"]]
    rings = [ring for shape in polygons for polygon in shape for ring in polygon]
    land = [cut for ring in rings if len(cut := within(ring, frame)) > 2]
    if not land:
        return None
    lines = [] if wide or not _meet(frame, STATES) else list(_borders(assets / "us", frame))
    names = [] if wide else _names(assets / "places", frame)
    credit = "Outlines: Natural Earth" + ("; names of places: GeoNames, CC BY 4.0." if names else ".")
    return Ground(land, [], lines, names, credit)


def drawn_ground(document: dict[str, Any]) -> Ground:
    """That of a GeoJSON map whose features say their kind: land, river, road, district."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in document["features"]:
        kinds.setdefault(each["properties"]["kind"], []).append(each)
    land, water = (
        [[(x, y) for x, y in ring] for each in kinds.get(kind, ()) for ring in each["geometry"]["coordinates"]]
        for kind in ("land", "river")
    )
    lines = [[(x, y) for x, y in each["geometry"]["coordinates"]] for each in kinds.get("road", ())]
    places = [(each["properties"]["name"], *each["geometry"]["coordinates"]) for each in kinds.get("district", ())]
    return Ground(land, water, lines, places, "The map under it is made up.")


def within(ring: Sequence[Sequence[float]], frame: Frame) -> list[Point]:
    """The part of a ring inside the frame: cut by one side after the other."""
    corners = [(float(x), float(y)) for x, y in ring]
    for axis, limit, sign in ((0, frame[0], 1), (0, frame[2], -1), (1, frame[1], 1), (1, frame[3], -1)):
        kept: list[Point] = []
        for before, here in zip(corners[-1:] + corners[:-1], corners, strict=True):
            a, b = sign * (before[axis] - limit), sign * (here[axis] - limit)
            if (a < 0) != (b < 0):
                t = a / (a - b)
                kept.append((before[0] + t * (here[0] - before[0]), before[1] + t * (here[1] - before[1])))
            if b >= 0:
                kept.append(here)
        corners = kept
    return corners


@lru_cache(maxsize=8)
def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _meet(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _countries(world: Path, frame: Frame) -> Iterator[Any]:
    for each in _read(world / "index.json"):
        if any(_meet(box, frame) for box in each["boxes"]):
            yield _read(world / "detail" / each["file"])


def _borders(folder: Path, frame: Frame) -> Iterator[list[Point]]:
    """The runs of lines whose parts meet the frame."""
    for name in ("states.json", "counties.json"):
        for line in _read(folder / name)["features"][0]["geometry"]["coordinates"]:
            run: list[Point] = []
            for (x0, y0), (x1, y1) in pairwise(line):
                if _meet((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), frame):
                    run = run or [(x0, y0)]
                    run.append((x1, y1))
                elif run:
                    yield run
                    run = []
            if run:
                yield run


def _names(folder: Path, frame: Frame) -> list[tuple[str, float, float]]:
    west, south, east, north = frame
    found: list[tuple[str, float, float, int]] = []
    for x in range(int(west // SQUARE), int(east // SQUARE) + 1):
        for y in range(int(south // SQUARE), int(north // SQUARE) + 1):
            file = folder / f"{x}_{y}.json"
            found += _read(file) if file.is_file() else []
    inside = [each for each in found if west < each[1] < east and south < each[2] < north]
    return [(name, x, y) for name, x, y, _ in sorted(inside, key=lambda each: -each[3])[:MOST_NAMES]]
