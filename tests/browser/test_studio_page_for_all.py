# ruff: noqa: E402
"""The studio's page for everybody: dark, on a phone, by keyboard, without a map, on data that is not geographic."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import AXE, CHROMIUM, Opener, Served, has_map, serving, share_of

from covey import Box
from covey.cli.demo import make_city

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")
needs_map = pytest.mark.skipif(not has_map(), reason="no map library: npm was missing when `make studio-assets` ran")


def brightness(page: Any, selector: str) -> float:
    """Of an element's background, 0 to 255."""
    colour = page.locator(selector).evaluate("element => getComputedStyle(element).backgroundColor")
    return float(np.mean([float(part) for part in colour.strip("rgba()").split(",")[:3]]))


def test_dark_colours_follow_the_system_and_the_switch_and_are_remembered(plain: Served, visit: Opener) -> None:
    watched = visit(plain, color_scheme="dark")
    page = watched.open()
    watched.drawn(dark="true")
    assert brightness(page, "#panel") < 60
    page.click("#theme-switch")
    watched.drawn(dark="false")
    assert brightness(page, "#panel") > 200
    page.reload()
    watched.drawn(dark="false")
    assert page.get_attribute("#theme-switch", "aria-label") == "Switch to dark colours"


def test_a_phone_shows_everything_without_scrolling_sideways(looked: Served, visit: Opener) -> None:
    watched = visit(looked, viewport={"width": 360, "height": 740}, has_touch=True)
    page = watched.open()
    watched.drawn(level=2)
    for tab in ("zones", "compare", "ledger", "look"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(150)
        assert page.locator("html").evaluate("page => page.scrollWidth") == 360, tab
    for control in ("#level", "#k-more", "#publish", "#theme-switch", "#zoom-in", "#tab-zones"):
        box = page.locator(control).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 28
    page.locator("#k-more").tap()
    watched.drawn(k=6)


def focus_of(page: Any) -> str:
    return str(page.locator("html").evaluate("() => document.activeElement.id || document.activeElement.className"))


def tab_to(page: Any, wanted: str, *, most: int = 30) -> None:
    """Press Tab until an element has the focus, and see that the focus shows."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if focus_of(page) == wanted:
            outline = page.locator("html").evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"{wanted} has the focus and does not show it"
            return
    raise AssertionError(f"Tab never reached {wanted}")


def test_the_keyboard_alone_takes_the_look_moves_the_slider_draws_and_publishes(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh, reduced_motion="reduce")
    page = watched.open()
    watched.drawn(level=2, rehearsing="true")  # before that nothing can be paid for, and Tab passes by
    tab_to(page, "tab-look")
    page.keyboard.press("ArrowRight")
    assert focus_of(page) == "tab-zones"
    tab_to(page, "draw-zone")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cross:not([hidden])")
    for way in ("ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press("Space")
        page.keyboard.press(way)
        page.wait_for_timeout(100)
    page.keyboard.press("Enter")
    watched.drawn(zones=1)
    page.locator("#tab-zones").focus()
    page.keyboard.press("Home")
    tab_to(page, "pay", most=40)
    page.keyboard.press("Enter")
    watched.until(lambda: focus_of(page) == "confirm-look")
    page.keyboard.press("Escape")
    tab_to(page, "level")
    page.keyboard.press("ArrowLeft")
    watched.drawn(level=1)
    page.locator("#several summary").focus()
    page.keyboard.press("Enter")
    tab_to(page, "pay-several")
    page.keyboard.press("Enter")
    watched.until(lambda: focus_of(page) == "confirm-look")
    page.keyboard.press("Enter")
    watched.drawn(level=2, rehearsing="false")
    watched.until(lambda: focus_of(page) == "level")  # after the look the slider has the focus
    page.keyboard.press("ArrowRight")
    watched.drawn(level=3)
    page.keyboard.press("Home")
    watched.drawn(level=0)
    assert page.get_attribute("#level-meaning", "aria-live") == "polite"
    tab_to(page, "publish", most=40)
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#certificate")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")


def test_data_that_is_not_geographic_gets_two_axes_and_no_map(tmp_path: Path, visit: Opener) -> None:
    rows = np.random.default_rng(3).normal([40, 30_000], [8, 6_000], (5_000, 2))
    file = tmp_path / "pay.csv"
    np.savetxt(file, rows, delimiter=",", header="age,income", comments="", fmt="%.3f")
    with serving(file, Box(age=(0, 100), income=(0, 80_000)), tmp_path / "out", name="pay.csv", seed=1) as served:
        served.look()
        watched = visit(served)
        page = watched.open()
        watched.drawn(view="scatter", level=2)
        assert not [url for url in watched.asked if "maplibre" in url]
        assert "age and income" in (page.get_attribute("#overlay", "aria-label") or "")
        page.click("#centre-details summary")
        assert page.locator("#centre-table th").nth(2).inner_text() == "income"
        watched.tip_at(0.45, 0.57, "noisy")  # where most rows are
        page.locator("#overlay").focus()
        for key in ("ArrowLeft", "+", "-"):
            page.keyboard.press(key)
        page.close()


def test_without_the_map_library_the_page_says_why_and_still_works(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    watched.page.route("**/assets/versions.json", lambda route: route.fulfill(status=404, body="{}"))
    page = watched.open()
    watched.drawn(view="scatter", level=2)
    assert "map library is not installed" in page.inner_text("#notice")
    watched.pardon("404")  # the one that this test made


def test_a_file_opened_in_the_page_needs_declared_bounds_before_anything_else(tmp_path: Path, visit: Opener) -> None:
    with serving(None, None, tmp_path / "out") as served:
        watched = visit(served)
        page = watched.page
        page.goto(served.address)
        content = io.BytesIO()
        np.savetxt(content, make_city(2_000), delimiter=";", header="Trips of a day\nlon;lat", comments="", fmt="%.6f")
        written = content.getvalue().replace(b".", b",")  # as a spreadsheet in Germany does
        page.locator("#data-file").wait_for(state="attached")
        dropped = page.evaluate_handle(
            "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'trips.csv')); return all; }",
            written.decode(),
        )
        page.dispatch_event("body", "drop", {"dataTransfer": dropped})
        page.get_by_label("Trips of a day from").wait_for()
        page.click("#reading summary")
        page.get_by_label("Line with the names").fill("2")
        page.get_by_label("Decimal sign").select_option("comma")
        page.click("#read-again")
        for label, value in (("lon from", "-0.16"), ("lon to", "0.16"), ("lat from", "-0.1"), ("lat to", "0.1")):
            page.get_by_label(label).fill(value)
        page.get_by_role("button", name="Open").click()
        watched.drawn(rehearsing="true")
        assert page.inner_text("#data-name") == "trips.csv"
        assert served.ask("api/state")["data"]["bounds"] == {"lower": [-0.16, -0.1], "upper": [0.16, 0.1]}
        page.close()


@needs_map
def test_the_map_is_drawn_moves_with_its_buttons_and_answers_the_pointer(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    page = watched.open()
    watched.drawn(view="map", level=2)
    page.locator("#overlay").evaluate("canvas => { canvas.style.visibility = 'hidden'; }")
    light, dark = [(246, 244, 238), (217, 228, 234)], [(40, 50, 59), (14, 20, 26)]  # land, sea
    for colours in (light, dark, light):  # the sea comes back with every change of colours
        for colour in colours:
            assert share_of(page, colour) > 0.05, f"the map shows none of {colour}"
        page.click("#theme-switch")
    page.click("#theme-switch")
    page.locator("#overlay").evaluate("canvas => { canvas.style.visibility = ''; }")
    scale = page.inner_text(".maplibregl-ctrl-scale")
    page.click("#zoom-in")
    watched.until(lambda: page.inner_text(".maplibregl-ctrl-scale") != scale)
    page.click("#zoom-fit")
    watched.until(lambda: page.inner_text(".maplibregl-ctrl-scale") == scale)
    watched.tip_at(0.5, 0.47, "noisy")  # the old town


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there (npm was missing when `make studio-assets` ran)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_main_states_of_the_page(plain: Served, visit: Opener, scheme: str) -> None:
    watched = visit(plain, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
    page = watched.open()
    watched.drawn(level=2, dark=str(scheme == "dark").lower())
    page.evaluate(AXE.read_text())

    def violations(state: str) -> None:
        found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
        assert [(state, each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []

    page.click("#centre-details summary")
    violations("look")
    page.click("#tab-zones")
    violations("zones")
    page.click("#tab-compare")
    page.click("#take-centres")
    page.click("#find-sites")
    page.locator("#compare-table").get_by_text("and 1 more").wait_for()
    page.click("#panel-compare summary:has-text('Move or delete')")
    violations("compare")
    page.click("#tab-ledger")
    page.locator("#ledger-table").wait_for()
    violations("ledger")
    page.click("#tab-look")
    page.click("#publish")
    page.wait_for_selector("dialog[open]")
    violations("publish")
    page.keyboard.press("Escape")
    page.click("#rehearse-again")
    watched.drawn(rehearsing="true")
    page.click("#several summary")
    violations("rehearsal")
