"""The page's files and the scripts that make its map, without a browser: readable, closed in itself, and up to date."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "src" / "covey" / "studio" / "page"
WRITTEN = sorted(path for path in PAGE.rglob("*") if path.suffix in (".html", ".css", ".js"))
IMPORT = re.compile(r'(?:from|import)\s+"(\.[^"]+)"')
TILES = "pmtiles://${url}"  # what the map's library calls a file of tiles, which the studio itself serves
NAMESPACE = "http://www.w3.org/2000/svg"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_its_parts() -> None:
    assert {path.suffix for path in WRITTEN} == {".html", ".css", ".js"}


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(PAGE).as_posix())
def test_a_file_is_short_names_no_address_elsewhere_and_imports_what_exists(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 350
    assert "://" not in text.replace(NAMESPACE, "").replace(TILES, "")
    assert "innerHTML" not in text, "text is set as text: a data set's name is not markup"
    for name in IMPORT.findall(text):
        assert (path.parent / name).resolve().is_file(), name


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: the page's syntax is not checked")
def test_every_module_parses(tmp_path: Path) -> None:
    modules = [path for path in WRITTEN if path.suffix == ".js" and path.name not in ("early.js", "enter.js")]
    assert len(modules) > 10
    assert refused(modules) == []
    wrong = tmp_path / "wrong.js"
    wrong.write_text("export const x = ;")
    assert refused([modules[0], wrong]) == [str(wrong)]


def refused(modules: list[Path]) -> list[str]:
    """The files that are no JavaScript modules; one process reads them all."""
    program = """
        const { readFileSync } = require("fs"), { SourceTextModule } = require("vm");
        const wrong = process.argv.slice(1).filter((path) => {
          try { new SourceTextModule(readFileSync(path, "utf8")); return false; } catch { return true; }
        });
        console.log(JSON.stringify(wrong));
    """
    command = ["node", "--experimental-vm-modules", "--no-warnings", "-e", program, "--", *map(str, modules)]
    found: list[str] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def test_the_page_has_no_script_or_handler_of_its_own_inline() -> None:
    page = (PAGE / "index.html").read_text()
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert re.findall(r"\son\w+=", page) == []


def test_the_demos_map_is_the_one_that_its_constants_make() -> None:
    assert json.loads((PAGE / "demo-city.json").read_text()) == json.loads(json.dumps(script("demo_city").city()))


# Two unit squares side by side, sharing the arc from (1, 0) to (1, 1); coordinates in tenths, shifted by 100 and 50.
SQUARES = {
    "transform": {"scale": [0.1, 0.1], "translate": [100, 50]},
    "arcs": [[[10, 0], [0, 10]], [[10, 10], [-10, 0], [0, -10], [10, 0]], [[10, 0], [10, 0], [0, 10], [-10, 0]]],
    "objects": {
        "land": {
            "geometries": [
                {"type": "Polygon", "arcs": [[0, 1]], "id": "1", "properties": {"name": "West"}},
                {"type": "MultiPolygon", "arcs": [[[2, -1]]], "id": "2", "properties": {"name": "East"}},
                {"type": None},
            ]
        }
    },
}


def test_topojson_becomes_closed_rings_with_names_and_each_border_once() -> None:
    assets = script("studio_assets")
    west, east = assets.features(SQUARES, "land", digits=3)
    assert west["properties"] == {"id": "1", "name": "West"}
    assert west["geometry"]["coordinates"] == [[[(101, 50), (101, 51), (100, 51), (100, 50), (101, 50)]]]
    assert east["geometry"]["coordinates"] == [[[(101, 50), (102, 50), (102, 51), (101, 51), (101, 50)]]]
    assert list(assets.borders(SQUARES, "land", digits=3)) == [[(101, 50), (101, 51)]]
    assert assets.label(east)["geometry"]["coordinates"] == [101.5, 50.5]


def test_water_is_cut_into_squares_as_a_library_cuts_it_and_small_shapes_are_left_out() -> None:
    from shapely import Polygon, box

    assets = script("studio_assets")
    outer, island = [(-12, 3), (14, 1), (13, 12), (2, 16), (-9, 11)], [(-2, 4), (3, 4), (3, 9), (-2, 9)]
    whole, seen = Polygon(outer, [island]), 0.0
    for name, rings in assets.in_squares([outer, island]):
        x, y = (5 * int(part) for part in name.split("_"))
        cut = Polygon(rings[0]).symmetric_difference(Polygon(rings[1])) if len(rings) > 1 else Polygon(rings[0])
        assert cut.symmetric_difference(whole.intersection(box(x, y, x + 5, y + 5))).area < 1e-9
        seen += cut.area
    assert abs(seen - whole.area) < 1e-9
    assert assets.differences([(1.00012, -2), (1.00014, -2), (0.5, -2.5)]) == [10001, -20000, -5001, -5000]
    sea = "[[[0,0],[1,0],[1,1.5e-1],[0,0]],[[0,0],[1,0],[1,1],[0,0]]]"
    text = f'{{"geometries": [{{"coordinates":[{sea},[[[-1,2],[0,0],[1,1]]]]}}'
    assert [len(polygon) for polygon in assets.polygons_of(text)] == [2, 1]
    triangle = [(0, 0), (0.03, 0), (0, 0.03), (0, 0)]
    assert not assets.is_water(triangle), "5 km², but without a shape"
    assert assets.is_water([(0, 0), (1, 0), (0, 1), (0, 0)]), "the sea"


def test_places_are_read_from_protocol_buffers() -> None:
    def field(tag: int, content: bytes | int) -> bytes:
        if isinstance(content, int):
            return bytes([tag << 3, content])
        return bytes([tag << 3 | 2, len(content)]) + content

    towns = [(b"A", 8, 6, 100), (b"\xc3\x9c", 3, 4, 0)]  # differences, doubled; an odd number is negative
    message = [field(2, name) + field(9, people) + field(10, x) + field(11, y) for name, x, y, people in towns]
    content = b"".join(bytes([len(each)]) + each for each in message)
    assert list(script("studio_assets").places(content)) == [("A", 4e-5, 3e-5, 100), ("Ü", 2e-5, 5e-5, 0)]
    assert script("studio_assets").varint(b"\xac\x02", 0) == (300, 2)


def test_a_ring_across_the_date_line_is_walked_on_and_one_around_the_pole_is_left() -> None:
    assets = script("studio_assets")
    across = [(179, 0), (-179, 0), (-179, 1), (179, 1), (179, 0)]
    assert assets.unwrapped(across) == [(179, 0), (181, 0), (181, 1), (179, 1), (179, 0)]
    around = [(-180, -90), (-180, -70), (0, -65), (180, -70), (180, -90), (-180, -90)]
    assert assets.unwrapped(around) == around


def test_without_npm_the_set_up_goes_on_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert script("studio_assets").main([str(tmp_path / "assets")]) == 0
    assert "npm is not installed" in capsys.readouterr().err
    assert not (tmp_path / "assets").exists()
