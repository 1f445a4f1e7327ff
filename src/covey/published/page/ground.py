"""Land, borders and names of places within the bounds, from the outlines that the studio ships. All of it public."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

Point = tuple[float, float]
Frame = tuple[float, float, float, float]  # west, south, east, north

ASSETS = Path(__file__).parents[2] / "studio" / "assets"
WIDE = 15.0  # degrees: coarse outlines are enough for more
PLACES, WATER = 10, 5  # degrees: names of places and water are in one file for each such square
MOST_NAMES = 400
ALL_SEA = 0.999  # of a frame: then no map is drawn
STATES: Frame = (-180.0, 13.0, -64.0, 72.0)  # where borders within the United States are


class Ground(NamedTuple):
    """Rings of land and of water in it, lines, and names with their place, the largest places first."""

    land: list[list[Point]]
    water: list[list[Point]]
    lines: list[list[Point]]
    names: list[tuple[str, float, float]]
    credit: str


def ground_of(frame: Frame, *, assets: Path = ASSETS) -> Ground | None:
    """What lies within the bounds; None where no map is installed, or all of it is sea."""
    west, south, east, north = frame
    if not (assets / "water" / "index.json").is_file():
        return None
    if max(east - west, north - south) > WIDE:
        return _of_countries(assets / "world" / "countries.json", frame)
    squares = [_read(file) for file in _squares(assets / "water", frame, WATER)]
    rings = (_walked(ring) for square in squares for polygon in square["water"] for ring in polygon)
    water = [cut for ring in rings if len(cut := within(ring, frame)) > 2]
    names = _names(assets / "places", frame)
    if not names and _share(water, frame) > ALL_SEA:
        return None
    borders = [_walked(line) for square in squares for line in square["borders"]]
    lines = [*_runs(borders, frame), *_borders(assets / "us", frame)]
    land = [(west, south), (east, south), (east, north), (west, north)]  # where no water is
    credit = "Water: © OpenStreetMap contributors; borders: Natural Earth"
    return Ground([land], water, lines, names, credit + ("; names of places: GeoNames, CC BY 4.0." if names else "."))


def _of_countries(file: Path, frame: Frame) -> Ground | None:
    """Coarse outlines, for a view of many degrees."""
    polygons = [each["geometry"]["coordinates"] for each in _read(file)["features"]]
    rings = [ring for shape in polygons for polygon in shape for ring in polygon]
    land = [cut for ring in rings if len(cut := within(ring, frame)) > 2]
    return Ground(land, [], [], [], "Outlines: Natural Earth.") if land else None


def _walked(steps: list[int]) -> list[Point]:
    """A line of differences in ten-thousandths of a degree."""
    return [(x / 1e4, y / 1e4) for x, y in zip(accumulate(steps[::2]), accumulate(steps[1::2]), strict=True)]


def _share(rings: list[list[Point]], frame: Frame) -> float:
    """The part of a frame that rings cover, those around islands counted with them."""
    areas = (sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise([*ring, ring[0]])) / 2 for ring in rings)
    return abs(sum(areas)) / ((frame[2] - frame[0]) * (frame[3] - frame[1]))


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


def _borders(folder: Path, frame: Frame) -> list[list[Point]]:
    """Those of states and counties within the United States."""
    if not _meet(frame, STATES):
        return []
    files = (_read(folder / name) for name in ("states.json", "counties.json"))
    return list(_runs((line for each in files for line in each["features"][0]["geometry"]["coordinates"]), frame))


def _runs(lines: Iterable[Sequence[Sequence[float]]], frame: Frame) -> Iterator[list[Point]]:
    """The runs of lines whose parts meet the frame."""
    for line in lines:
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


def _squares(folder: Path, frame: Frame, side: int) -> Iterator[Path]:
    """The files of the squares that a frame touches."""
    west, south, east, north = (int(value // side) for value in frame)
    files = (folder / f"{x}_{y}.json" for x in range(west, east + 1) for y in range(south, north + 1))
    return (file for file in files if file.is_file())


def _names(folder: Path, frame: Frame) -> list[tuple[str, float, float]]:
    west, south, east, north = frame
    found = [each for file in _squares(folder, frame, PLACES) for each in _read(file)]
    inside = [each for each in found if west < each[1] < east and south < each[2] < north]
    return [(name, x, y) for name, x, y, _ in sorted(inside, key=lambda each: -each[3])[:MOST_NAMES]]
