"""The sources of a node's page without a browser: chances, borders and records against those of `covey thin`."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from covey.errors import DataError
from covey.fit.node import thin_file
from covey.fit.zones import Zones, keeping
from covey.geo.geojson import Region
from covey.private.lattice import to_lattice
from covey.public import Box, resolve_bounds
from covey.published.levels.levels import USUAL_LEVELS
from covey.studio.node.page import HERE, join_modules, make_page

SOURCES = sorted(path for path in HERE.iterdir() if path.suffix in (".js", ".css", ".html"))
Runner = Callable[[str, Any], Any]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    """A function of the page's sources, asked by node: what it returns for some input."""

    def runner(body: str, given: Any) -> Any:
        names = {
            "coins": "decimal, drawWords, keeping, promised",
            "shapes": "checkedRing, features, members, readZones",
            "track": "findAxes, parts, places, readTrack",
        }
        entry = tmp_path / "entry.js"
        imports = "".join(f'import {{ {each} }} from "{HERE}/{name}.js";\n' for name, each in names.items())
        entry.write_text(
            f"{imports}const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
            f"const answer = (given) => {{ {body} }};\nconsole.log(JSON.stringify(answer(given)));\n"
        )
        command = ["node", "-e", join_modules(entry)]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return runner


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_short_names_no_address_and_sets_text_as_text(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 350
    assert "://" not in text
    for word in (
        "innerHTML",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "sendBeacon",
        "localStorage",
        "Math.random",
    ):
        assert word not in text


def test_the_page_is_one_file_that_may_load_and_send_nothing() -> None:
    page = make_page().decode()
    assert page.isascii() or "charset=" in page
    assert "{{" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    policy = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert len(policy) == 1
    assert policy[0].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[0]
    assert re.findall(r"<script[^>]*src|<link[^>]*stylesheet|@import|\surl\(", page) == []
    assert sum(len(path.read_text().splitlines()) for path in SOURCES if path.suffix == ".js") < 600


PAIRS = [
    *(("0.1", "1"), ("0.2", "1"), ("0.5", "2"), ("0.999999", "1"), ("0.000001", "3"), ("1", "30"), ("1e-3", "0.5")),
    *(("12.5", "40"), ("0.3", "0.30000000000000004"), ("9999.9", "10000"), ("1.5e0", "+2."), (".25", " 3 ")),
]


@needs_node
def test_chances_are_those_of_the_command_and_never_above_the_exact_quotient(run: Runner) -> None:
    pick = random.Random(5)
    drawn = [sorted((pick.uniform(1e-6, 4), pick.uniform(1e-6, 4))) for _ in range(200)]
    pairs = [*PAIRS, *((repr(low), repr(high)) for low, high in drawn if low < high)]
    found = run("return given.map(([a, b]) => String(keeping(decimal(a), decimal(b))))", pairs)
    expected = [keeping(Fraction(low.strip()), Fraction(high.strip().rstrip("."))) for low, high in pairs]
    assert [int(each) for each in found] == expected  # certified floors; both are sure of their last digit


@needs_node
def test_what_is_no_epsilon_or_not_stricter_is_refused(run: Runner) -> None:
    texts = ["", ".", "0", "-1", "0x1", "1e5", "1e-7", "NaN", "Infinity", "1,5", "1_0", "0.1 0.2", "1e-9999"]
    assert run("return given.map(decimal)", texts) == [None] * len(texts)
    body = "return given.map((pair) => { try { keeping(...pair.map(decimal)); } catch { return true; } return false; })"
    assert run(body, [("1", "1"), ("2", "1"), ("0.10", "0.1"), ("0.1", "1")]) == [True, True, True, False]


@needs_node
@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.95, False), (1.05, False)])
def test_words_of_the_browser_keep_as_many_rows_as_they_should(run: Runner, off: float, accepted: bool) -> None:
    """The words are fresh in every run: a rate that is off by 5% lies 19 standard errors away, the border 6.5."""
    body = "const k = keeping(decimal('0.2'), decimal('1')); return drawWords(given).reduce((n, w) => n + (w < k), 0)"
    kept = run(body, 1_000_001)
    rate = np.expm1(0.2) / np.expm1(1) * off
    assert (binomtest(kept, 1_000_001, rate).pvalue > 1e-10) == accepted


@needs_node
def test_what_is_promised_is_what_the_command_says(run: Runner) -> None:
    totals = [0.5, 1, 2, 5, 20, 800]
    found = run("return given.map((total) => promised(keeping(decimal('0.1'), decimal('1')), total))", totals)
    rate = keeping(Fraction(1, 10), Fraction(1)) / 2**64
    assert found == pytest.approx([np.logaddexp(np.log1p(-rate), np.log(rate) + each) for each in totals])


RINGS = {
    "star": [[0, 0], [1, 3], [4, 4], [1, 5], [0, 8], [-1, 5], [-4, 4], [-1, 3]],
    "thin": [[10, 10], [10.0001, 14], [10.0002, 10]],
    "notched": [[20, 0], [24, 0], [24, 4], [22, 1], [20, 4]],
}


@needs_node
def test_whoever_is_in_a_zone_for_the_command_is_in_it_for_the_page(run: Runner) -> None:
    """Also near borders, where both have a margin: the page's is the wider one."""
    rng = np.random.default_rng(4)
    domain = resolve_bounds(Box(lon=(-180, 180), lat=(-90, 90)), names=("lon", "lat"), width=2)
    for ring in RINGS.values():
        ends = np.array([*ring, ring[0]], dtype=float)
        part = rng.integers(0, len(ring), 4000)
        along = ends[part] + rng.uniform(0, 1, (4000, 1)) * (ends[part + 1] - ends[part])
        points = np.concatenate([rng.uniform(-30, 30, (2000, 2)), along + rng.normal(0, 3e-5, (4000, 2)), ends])
        feature = {
            "type": "Feature",
            "properties": {"epsilon": 0.1},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        area = Zones.read(feature).on(domain).areas[0]
        ours = area.contains(to_lattice(points.T, domain))
        exact = Region.read(feature).contains(points)
        xs, ys = points.T.tolist()
        theirs = np.array(run("return [...members([checkedRing(given[0])], given[1], given[2])]", [ring, xs, ys]), bool)
        assert (theirs >= ours).all()
        assert (theirs >= exact).all()
        far = Region.read(feature).contains(points + 1e-4) | Region.read(feature).contains(points - 1e-4)
        assert (theirs & ~ours).sum() < 0.4 * len(points)
        assert not (theirs & ~far & ~ours)[:2000].any()  # and nobody elsewhere is


@needs_node
def test_rings_that_meet_themselves_are_refused_and_others_taken(run: Runner) -> None:
    body = "return given.map((ring) => { try { checkedRing(ring); return true; } catch { return false; } })"
    tangled = [
        *(
            [[0, 0], [1, 1], [1, 0], [0, 1]],
            [[0, 0], [2, 0], [1, 0], [1, 1]],
            [[0, 0], [1, 0]],
            [[0, 0], [1, 0], [2, 0]],
        ),
        *([[0, 0], [2, 0], [2, 2], [1, 0], [0, 2]], [[0, 0], [181, 0], [1, 1]], [[-170, 0], [170, 0], [0, 5]]),
        *([[0, 0], [4, 0], [4, 4], [0, 4], [0, 0], [4, 0], [4, 4], [0, 4]], "abc", None, [["a", 1], [2, 2], [3, 1]]),
    ]
    assert run(body, tangled) == [False] * len(tangled)
    closed = [*RINGS["star"], RINGS["star"][0]]
    assert run(body, [*RINGS.values(), closed, closed[::-1]]) == [True] * (len(RINGS) + 2)


CELLS = [
    "1.5",
    " 3.25 ",
    "-74",
    "+.5e1",
    "",
    "nan",
    "inf",
    "x",
    "0x1",
    "1,5",
    'a"b',
    '"',
    "two\nlines",
    "\r",
    "é",
    "1e999",
    "181",
]


def written(cell: str, pick: random.Random) -> str:
    """As a writer writes it, or, now and then, as none should."""
    if pick.random() < 0.2:
        return cell
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\r\n') or pick.random() < 0.2 else cell


@needs_node
def test_the_page_reads_and_sends_the_records_that_the_command_does(run: Runner, tmp_path: Path) -> None:
    """Files with every kind of cell, and some that no correct writer made; one zone that holds nobody."""
    pick, texts, expected = random.Random(7), [], []
    far = {"type": "Polygon", "coordinates": [[[100, 80], [101, 80], [101, 81]]]}
    zones = {"type": "Feature", "properties": {"epsilon": 0.1}, "geometry": far}
    while len(texts) < 150:
        end = pick.choice(["\n", "\r\n"])
        rows = [
            [
                written(pick.choice(CELLS if pick.random() < 0.4 else CELLS[:4]), pick)
                for _ in range(3 + (pick.random() < 0.05))
            ]
            for _ in range(8)
        ]
        lines = ["lon,note,lat", "1.5,x,2.5", *(",".join(row) for row in rows), *([""] if pick.random() < 0.3 else [])]
        text = end.join(lines) + (end if pick.random() < 0.7 else "")
        file = tmp_path / "track.csv"
        file.write_bytes(text.encode())
        texts.append(text)
        try:
            upload = thin_file(file, zones, epsilon=1.0)
            expected.append([upload.rows, upload.unplaced, upload.content.decode()])
        except DataError:  # for a quote
            expected.append(None)
    assert 15 < expected.count(None) < 75
    assert sum(each[0] - each[1] for each in expected if each) > 3 * len(texts)  # rows that leave
    body = """return given.map((text) => {
        let track;
        try { track = readTrack("track.csv", new TextEncoder().encode(text)); } catch { return null; }
        const { xs } = places(track, findAxes(track.names));
        const leaves = [...xs].map((x) => !Number.isNaN(x));
        const sent = parts(track, leaves).map((part) => (part.at ? Buffer.from(part).toString() : part));
        return [leaves.length, leaves.filter((each) => !each).length, sent.join("")];
    })"""
    for text, found, ours in zip(texts, run(body, texts), expected, strict=True):
        assert found == ours, text


def polygon(properties: dict[str, Any], ring: list[Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring]}}


@needs_node
def test_a_zone_has_the_epsilon_that_the_command_gives_it(run: Runner) -> None:
    """Of an epsilon and a usual level the stricter one; another thing's level says nothing."""
    ring = [[1, 1], [2, 1], [2, 2]]
    told: list[dict[str, Any]] = [{"level": level.name} for level in USUAL_LEVELS]
    told += [{"epsilon": 0.3, **each} for each in ({}, *told, {"level": "2"}, {"level": "constructor"}, {"level": 1})]
    found = run(
        "return given.map((each) => readZones(JSON.stringify(each))[0].epsilon)", [polygon(p, ring) for p in told]
    )
    ours = [float(Zones.read(polygon(each, ring)).zones[0].epsilon) for each in told]
    assert [float(each) for each in found] == ours
    refused = [polygon(each, ring) for each in ({}, {"level": "2"}, {"epsilon": "0.3"})]
    refused += [polygon({"epsilon": 0.3}, [[1, 1], corner, [2, 2]]) for corner in ([None, 1], ["2", 1], [True, 1], [2])]
    body = "return given.map((each) => { try { return readZones(JSON.stringify(each)); } catch { return null; } })"
    assert run(body, refused) == [None] * len(refused)


@needs_node
def test_a_header_of_several_lines_is_refused(run: Runner) -> None:
    """It always leaves, and rows would leave with it."""
    texts = ['lon,lat,"note\n1.5,1.5,home"\n3,3,x\n', "lon,lat,note\rx,y,home\r", "lon,lat,note\r\n3,3,x\r\n"]
    body = """return given.map((text) => {
        try { return readTrack("a.csv", new TextEncoder().encode(text)).names; } catch { return null; }
    })"""
    assert run(body, texts) == [None, None, ["lon", "lat", "note"]]
