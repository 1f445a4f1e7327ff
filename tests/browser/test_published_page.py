# ruff: noqa: E402
"""A published page in real Chromium, opened as a file: it answers by itself, asks nobody, and its text stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from playwright.sync_api import Browser, Page
from studio_page import CHROMIUM, PATIENCE

from covey import Box, Coreset, Release
from covey.fit.fit import fit
from covey.published.errors import Errors
from covey.published.plane import Plane
from covey.published.report import letters, report
from randomness import same_randomness

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")

NASTY = '</script><img src="x" onerror="document.title=\'owned\'"> & "trips"'
BOX = Box(lon=(6.8, 7.12), lat=(50.84, 51.04))
RING = [[6.82, 50.86], [6.9, 50.86], [6.9, 50.92], [6.82, 50.86]]
ZONE = {"properties": {"name": NASTY}, "geometry": {"type": "Polygon", "coordinates": [RING]}}
Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def release() -> Release:
    rng = np.random.default_rng(5)
    places = np.array([[6.96, 50.94], [7.05, 50.9], [6.88, 50.98]])
    rows = places[rng.integers(3, size=3000)] + rng.normal(0, 0.012, (3000, 2))
    with same_randomness(5):  # with other noise a border of two regions may run through a pixel that a test clicks
        found = fit(rows, k=4, epsilon=1.0, bounds=BOX, algorithm_params={"keep_synopsis": True})
    errors = found.errors or Errors()
    doubtful = [False, False, False, True]
    return msgspec.structs.replace(
        found, errors=msgspec.structs.replace(errors, doubtful=doubtful, radii=[0.05, 0.02, None, None])
    )


@pytest.fixture(scope="module")
def file(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "cologne-balanced.html"
    given: dict[str, Any] = {"labels": [letters(i) for i in range(4)], "coreset": Coreset.of(release)}
    path.write_bytes(report(release, Plane.of(release), name=NASTY, about=NASTY, zones=[ZONE], **given))
    return path


@pytest.fixture
def visit(browser: Browser, file: Path) -> Iterator[Opener]:
    """Opens the file; at the end it must have asked for nothing but itself, without an error."""
    opened: list[tuple[Any, list[str], list[str]]] = []

    def opener(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 900, "height": 900}, **options})
        page, asked, errors = context.new_page(), [], []  # type: ignore[var-annotated]
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type in ("error", "warning") and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        opened.append((context, asked, errors))
        page.goto(file.as_uri())
        return page

    yield opener
    for context, asked, errors in opened:
        context.close()
        assert errors == []
        assert {each for each in asked if not each.startswith("data:")} == {file.as_uri()}


def click(page: Page, place: list[float]) -> None:
    """Click a place of the bounds, while all of the map is shown."""
    frame = page.locator("svg.map").bounding_box()
    assert frame is not None
    across, up = (place[0] - 6.8) / 0.32, (place[1] - 50.84) / 0.2
    page.locator("svg.map").click(position={"x": across * frame["width"], "y": (1 - up) * frame["height"]})


def test_a_name_of_a_data_set_is_text_and_nothing_else(visit: Opener) -> None:
    page = visit()
    page.wait_for_selector("body[data-ready]")
    assert page.inner_text("h1") == NASTY
    assert page.title() == NASTY
    assert page.locator("img").count() == 0
    assert page.locator(".zone title").text_content() == NASTY


def test_which_centre_is_mine_by_typing_and_by_clicking(visit: Opener, release: Release) -> None:
    page = visit()
    place = [6.95, 50.95]
    mine = int(release.predict(np.array([place]))[0])
    page.get_by_label("lon").fill("6.95, 50.95")
    page.get_by_label("lon").press("Enter")
    page.wait_for_selector(f'svg.map[data-mine="{mine}"]')
    words = page.inner_text(".answer")
    assert f"nearest to centre {letters(mine)}," in words
    assert re.search(r"[\d.]+ k?m away", words)
    assert re.search(r"About [\d,]+ \([\d,]+ to [\d,]+\) rows", words)
    assert page.locator(f'tr.mine[data-centre="{mine}"]').count() == 1
    assert page.locator(f'.region.mine[data-centre="{mine}"]').count() == 1
    for each in ([7.1, 50.85], [6.81, 51.03]):
        click(page, each)
        other = int(release.predict(np.array([each]))[0])
        page.wait_for_selector(f'svg.map[data-mine="{other}"]')
        assert float(page.get_by_label("lon").input_value()) == pytest.approx(each[0], abs=1e-3)
    page.get_by_label("lon").fill("50.95")
    page.get_by_label("lat").fill("6.95")
    page.get_by_role("button", name="Find it").click()
    page.get_by_text("Are the two numbers exchanged?").wait_for()
    page.get_by_label("lat").fill("north")
    page.get_by_role("button", name="Find it").click()
    page.get_by_text("Give a number for lat.").wait_for()


def test_the_map_moves_by_keys_and_buttons_and_its_scale_follows(visit: Opener) -> None:
    page = visit()
    scale = page.locator(".scale text")
    assert scale.text_content() == "2 km"
    page.locator("svg.map").focus()
    for key in ("+", "+", "+", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_selector('svg.map[data-zoom="4.10"]')
    assert scale.text_content() == "500 m"
    assert "7.12000" not in page.locator("svg.map .edge").nth(1).text_content()
    page.keyboard.press("Enter")
    page.wait_for_selector("svg.map[data-mine]")
    page.get_by_role("button", name="Show all").click()
    page.wait_for_selector('svg.map[data-zoom="1.00"]')
    assert scale.text_content() == "2 km"


def test_doubt_errors_zones_and_the_promise_are_told_in_marks_and_in_words(visit: Opener) -> None:
    page = visit()
    assert page.locator(".mark.hollow").count() == 1
    dashes = page.locator(".mark.hollow").evaluate("mark => getComputedStyle(mark).strokeDasharray")
    assert dashes != "none"
    assert page.locator("ellipse.ring").count() == 2
    assert page.locator("text.unplaced").count() == 2
    assert page.locator("path.zone").count() == 1
    assert "Hollow: may be only noise." in page.inner_text("figcaption")
    assert "rows per km², noisy" in page.inner_text("figcaption")
    assert "at most 74 in 100" in page.inner_text("main")
    assert "epsilon = 1" in page.inner_text(".promise")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it_in_either_colours(visit: Opener, scheme: str) -> None:
    page = visit(viewport={"width": 360, "height": 700}, color_scheme=scheme)
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    letter = page.locator(".letter").first.bounding_box()
    assert letter is not None
    assert letter["height"] > 9, "letters keep their size on a small map"
    colour = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 200) is (scheme == "dark")


def test_without_script_the_map_and_the_promise_are_there(visit: Opener) -> None:
    page = visit(java_script_enabled=False)
    assert page.locator(".centre").count() == 4
    assert page.locator(".mine").is_hidden()
    assert page.locator(".promise").is_visible()
