# ruff: noqa: E402
"""What the studio's page shows on its map: boxes by density, edges, numbers that stay, you, the owner's crosses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import AXE, CHROMIUM, Opener, Served, Watched, serving, share_of
from tiles import pmtiles

from covey import Box
from covey.cli.demo import BOX, make_city
from covey.studio.app import page_files
from covey.studio.serve import read_basemap
from covey.studio.settings import Basemap

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A town a fifth of whose people are east of the bounds."""
    rng = np.random.default_rng(3)
    beyond = np.column_stack([np.full(1500, 0.5), rng.normal(0, 0.01, 1500)])
    rows, out = np.concatenate([make_city(6000), beyond]), tmp_path_factory.mktemp("out")
    with serving(rows, BOX, out, name="a harbour", basemap=Basemap(kind="none"), seed=1, allow_seeded=True) as served:
        served.look()
        yield served


@pytest.fixture(scope="module")
def page_of(harbour: Served, browser: Any) -> Any:
    """One page for the tests below, each of which begins where it wants to."""
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    watched = Watched(context.new_page(), harbour.address)
    watched.watch()
    watched.open()
    yield watched
    watched.verdict()
    context.close()


LAND, WATER = (246, 244, 238), (217, 228, 234)
DARK_LAND, DARK_WATER = (40, 50, 59), (14, 20, 26)
needs_tiles = pytest.mark.skipif(
    "assets/pmtiles/pmtiles.js" not in page_files(), reason="no reader of tiles: npm was missing when assets were made"
)


def part_of_stage(page: Any, place: list[float]) -> tuple[float, float]:
    """Where a place is on the scatter view, in parts of the stage's width and height."""
    frame = page.locator("#overlay").bounding_box()
    inner, tall = frame["width"] - 110, frame["height"] - 68  # without the axes
    scale = min(inner / 0.32, tall / 0.20)
    across, down = 76 + inner / 2 + scale * place[0], 20 + tall / 2 - scale * place[1]
    return across / frame["width"], down / frame["height"]


def test_boxes_are_coloured_by_density_on_a_scale_that_the_legend_tells(page_of: Any, harbour: Served) -> None:
    page = page_of.page
    page.fill("#level", "4")
    page_of.drawn(level=4, growing="false")
    level = harbour.ask("api/levels/4")
    standing = sum(1 for stands, weight in zip(level["stands"], level["weights"], strict=True) if stands and weight > 0)
    assert int(page.get_attribute("#stage", "data-boxes")) == standing > 50
    scale = page.locator("#legend .scale")
    assert "rows per km²" in scale.inner_text()
    marks = [float(mark.replace(",", "")) for mark in scale.locator(".marks span").all_inner_texts()]
    assert np.allclose(np.diff(np.log10(marks)), 1), "powers of ten"
    page.uncheck("input[name='layer-centres']")
    heaviest = int(np.argmax(np.where(level["edge"], 0, level["weights"])))
    page_of.tip_at(*part_of_stage(page, level["points"][heaviest]), "rows per km²")
    page.check("input[name='layer-centres']")


def test_a_centre_keeps_its_number_from_level_to_level(page_of: Any, harbour: Served) -> None:
    page, places = page_of.page, {}
    for level in (4, 3, 4):
        page.fill("#level", str(level))
        page_of.drawn(level=level)
        numbers = [int(each) for each in page.get_attribute("#stage", "data-numbers").split()]
        assert sorted(numbers) == [1, 2, 3, 4, 5]
        centres = harbour.ask(f"api/levels/{level}")["centres"]
        places[level] = dict(zip(numbers, centres, strict=True))
    for number, place in places[4].items():
        near = min(places[3], key=lambda other: np.hypot(*np.subtract(places[3][other], place)))
        assert near == number


def test_rows_from_outside_are_hatched_told_and_can_be_left_out_of_the_centres(page_of: Any, harbour: Served) -> None:
    page = page_of.page
    page.fill("#level", "3")
    page_of.drawn(level=3)
    assert int(page.get_attribute("#stage", "data-edge")) > 0
    assert page.locator("#legend").get_by_text("moved to the edge").is_visible()
    outside = harbour.ask("api/levels/3")["outside"]
    assert f"About {100 * outside['share']:.3g}% of the rows" in page.inner_text("#edge-words")
    low, high = map(float, re.findall(r"([\d.]+)%", page.inner_text("#edge-words"))[1:])
    assert low <= 100 * outside["low"] <= low + 0.1, "not rounded up"
    assert high - 0.1 <= 100 * outside["high"] <= high, "not rounded down"
    page.check("#edges-out")
    page_of.until(lambda: "edges=false" in page_of.asked[-1] or page.get_attribute("#explore", "aria-busy") == "false")
    page.click("#publish")
    assert "outside the bounds" in page.inner_text("#publish-warnings")
    page.click("#publish-confirm")
    page.wait_for_selector("#certificate")
    link = str(page.locator(".links a").nth(2).get_attribute("href"))
    assert harbour.ask(link)["certificate"]["parameters"]["edges"] is False
    page.keyboard.press("Escape")
    page.uncheck("#edges-out")


def test_what_is_off_by_much_is_amber_or_red_in_words_too_and_again_before_publishing(page_of: Any) -> None:
    page = page_of.page
    page.fill("#level", "0")
    page.fill("#k", "12")
    page.press("#k", "Enter")
    page_of.drawn(level=0, k=12)
    assert page.locator("#facts .red").count() > 0
    assert re.search(r"at worst [\d,.]+%|over 500%", page.inner_text("#facts"))
    page.click("#publish")
    warnings = page.inner_text("#publish-warnings")
    assert "off by more than half of itself" in warnings
    assert "May be only noise: centre" in warnings
    page.keyboard.press("Escape")
    page.fill("#k", "5")
    page.press("#k", "Enter")
    page_of.drawn(k=5)


def test_you_on_this_map_in_odds(page_of: Any) -> None:
    page = page_of.page
    page.fill("#level", "0")
    page_of.drawn(level=0)
    page.click("#you")
    page_of.click_at(0.4, 0.4)
    page_of.drawn(you="true")
    words = page.inner_text("#you-words")
    assert "at most 89 in 100" in words, "after looking at all levels the promise is that of the last: e²/(1+e²)"
    assert "at most 99 in 100" in words, "here or elsewhere: 2ε"
    assert "“You” are one row" in words
    assert "same at every spot outside zones" in words


def test_forty_quick_clicks_end_where_they_say_and_publish_waits(page_of: Any) -> None:
    page = page_of.page
    before, held = len(page_of.asked), page_of.holding("**/api/levels/*k=45*")
    for _ in range(40):
        page.locator("#k-more").dispatch_event("click")
    assert page.input_value("#k") == "45"
    assert page.is_disabled("#publish"), "what the map shows is not what the controls say"
    page_of.until(lambda: bool(held))
    held[0].continue_()
    page_of.drawn(k=45)
    page.unroute("**/api/levels/*k=45*")
    page_of.until(lambda: page.is_enabled("#publish"))
    assert len([url for url in page_of.asked[before:] if "/api/levels/" in url and "k=4" in url]) < 20
    page.route("**/api/levels/**", lambda route: route.fulfill(status=429, json={"error": {"message": "too many"}}))
    page.fill("#k", "7")
    page.press("#k", "Enter")
    page.locator("#problem").get_by_text("too many").wait_for()
    assert page.input_value("#k") == "45", "a refusal leaves the controls where the map is"
    page.unroute("**/api/levels/**")
    page_of.pardon("429")  # the refusal that this test made
    page.fill("#k", "5")
    page.press("#k", "Enter")
    page_of.drawn(k=5)


@needs_tiles
def test_a_file_of_tiles_and_the_names_of_places_lie_under_the_data_anywhere(tmp_path: Path, visit: Opener) -> None:
    file = tmp_path / "world.pmtiles"
    file.write_bytes(pmtiles())
    rows, bounds = np.add(make_city(300), (6.96, 50.94)), Box(lon=(6.8, 7.12), lat=(50.84, 51.04))
    with serving(rows, bounds, tmp_path / "out", basemap=read_basemap(str(file))) as served:
        watched = visit(served)
        page = watched.open()
        watched.drawn(view="map", rehearsing="true")
        page.locator("#overlay").evaluate("canvas => { canvas.style.visibility = 'hidden'; }")
        assert share_of(page, WATER, least=0.5) > 0.5, "the north of this world is water"
        page.close()
    with serving(rows, bounds, tmp_path / "out") as served:
        watched = visit(served)
        page = watched.open()
        watched.until(lambda: any(url.endswith("assets/places/0_5.json") for url in watched.asked))
        page.locator("#overlay").evaluate("canvas => { canvas.style.visibility = 'hidden'; }")
        assert share_of(page, LAND, least=0.5) > 0.5
        page.close()


@needs_tiles
def test_water_lies_under_the_data_in_light_and_dark_and_says_whose_it_is(tmp_path: Path, visit: Opener) -> None:
    rows, bounds = np.add(make_city(300), (-73.98, 40.72)), Box(lon=(-74.1, -73.8), lat=(40.6, 40.85))
    with serving(rows, bounds, tmp_path / "out") as served:
        for scheme, land, water in (("light", LAND, WATER), ("dark", DARK_LAND, DARK_WATER)):
            watched = visit(served, color_scheme=scheme, bypass_csp=True)
            held = watched.holding("**/assets/water/index.json")
            page = watched.open()
            watched.drawn(view="map", rehearsing="true", ready="true")
            page.locator("#overlay").evaluate("canvas => { canvas.style.visibility = 'hidden'; }")
            assert share_of(page, land, least=0.7) > 0.7, "land, until it is known where water is"
            held[0].continue_()
            watched.until(lambda: any(url.endswith("assets/water/-15_8.json") for url in watched.asked))  # noqa: B023
            watched.until(lambda: 0.1 < share_of(page, water, tries=1) < 0.5)  # noqa: B023
            assert share_of(page, land, least=0.3) > 0.3, (
                "Manhattan and Brooklyn are land, the rivers around them are not"
            )
            page.get_by_text("© OpenStreetMap contributors").wait_for()
            if AXE.exists():
                page.evaluate(AXE.read_text())
                found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
                assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
            page.close()
