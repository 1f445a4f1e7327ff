# ruff: noqa: E402
"""What is placed on the studio's map: sites that are searched for, dragged, deleted and taken back, zones around the
places of a file, corners that drag; and the address that brings a view back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import CHROMIUM, Opener, Served, Watched, has_map

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")
needs_map = pytest.mark.skipif(not has_map(), reason="no map library: npm was missing when `make studio-assets` ran")


def drag(watched: Watched, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from one place of the stage to another, given in parts of its width and height."""
    frame = watched.page.locator("#stage").bounding_box()
    assert frame is not None
    (x0, y0), (x1, y1) = (
        (frame["x"] + across * frame["width"], frame["y"] + down * frame["height"]) for across, down in (start, end)
    )
    watched.page.mouse.move(x0, y0)
    watched.page.mouse.down()
    watched.page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
    watched.page.mouse.move(x1, y1)
    watched.page.mouse.up()


def places(page: Any, name: str) -> list[str]:
    """Where the sites of a set are, in the words of its list."""
    found: list[str] = page.locator(
        f"[aria-label='Move or delete sites of {name}'] + .sites .number"
    ).all_text_contents()
    return found


@pytest.mark.parametrize("view", [pytest.param("map", marks=needs_map), "scatter"])
def test_sites_are_dragged_deleted_and_every_step_can_be_taken_back(looked: Served, visit: Opener, view: str) -> None:
    watched = visit(looked)
    watched.address += f"#tab=compare&view={view}"
    page = watched.open()
    watched.drawn(level=2, view=view, ready="true")
    page.click("#drop-sites")
    for place in ((0.3, 0.4), (0.6, 0.6)):
        watched.click_at(*place)
    page.click("#draw-cancel")
    watched.drawn(sites=2)
    before = places(page, "Plan A")
    drag(watched, (0.3, 0.4), (0.45, 0.3))
    watched.until(lambda: places(page, "Plan A")[0] != before[0])
    moved = places(page, "Plan A")
    assert moved[1] == before[1]
    watched.click_at(0.45, 0.3)  # a press that does not travel is a click, and moves nothing
    watched.until(lambda: "site 1 at" in page.inner_text("#tooltip"))
    assert places(page, "Plan A") == moved
    page.click("#panel-compare summary:has-text('Move or delete')")
    page.get_by_label("Delete site 2 of Plan A").click()
    watched.drawn(sites=1)
    page.click("#panel-compare-undo")
    watched.drawn(sites=2)
    page.locator("#tab-compare").press("Control+z")
    watched.until(lambda: places(page, "Plan A") == before)
    page.get_by_label("Move site 1 of Plan A").click()
    watched.click_at(0.5, 0.5)
    watched.until(lambda: places(page, "Plan A")[0] not in (before[0], moved[0]))


def test_the_best_third_site_is_a_button_and_stays_outside_what_is_forbidden(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    watched.address += "#tab=compare&view=scatter&level=4&k=2"
    page = watched.open()
    watched.drawn(level=4, k=2)
    page.click("#take-centres")
    assert page.inner_text("#find-sites") == "Find the best third site"
    page.click("#find-sites")
    watched.drawn(sites=5)
    page.locator("#compare-table").get_by_text("Private centres and 1 more").wait_for()
    best = page.locator("#compare-result .bars li").filter(has_text="best")
    assert "Private centres and 1 more" in best.inner_text(), "a third site brings people nearer"
    stand = looked.ask("api/levels/4?k=2")["centres"]
    body = {"level": 4, "objective": "k-means", "fixed": stand}
    (free,) = looked.ask("api/sites", method="POST", body=body)["sites"]
    page.get_by_label("Add here: Private centres", exact=True).click()
    page.click("#forbidden-box summary")
    ends = (free[0] - 0.01, free[0] + 0.01, free[1] - 0.01, free[1] + 0.01)
    for field, value in zip(page.locator("#forbidden-box input").all(), ends, strict=True):
        field.fill(f"{value:.5f}")
    page.click("#forbidden-box button")
    assert page.inner_text("#find-sites") == "Find the best third site outside what is forbidden"
    page.click("#find-sites")
    watched.drawn(sites=8)
    page.locator("#compare-table").get_by_text("Private centres and 1 more 2").wait_for()
    result = page.locator("#compare-result .bars li")
    assert "1 site forbidden" in result.nth(1).inner_text()
    assert "forbidden" not in result.nth(2).inner_text()


def test_the_address_brings_the_view_back_and_holds_nothing_private(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    watched.address += "#view=scatter"
    page = watched.open()
    watched.drawn(level=2, view="scatter")
    page.fill("#level", "3")
    page.click("#k-more")
    page.check("input[value='k-median']")
    watched.drawn(level=3, k=6, objective="k-median")
    page.click("#tab-zones")
    watched.until(lambda: page.url.endswith("tab=zones"))  # the browser tells of a new address when it likes
    fragment = page.url.partition("#")[2]
    assert fragment == "level=3&k=6&objective=k-median&view=scatter&tab=zones"
    page.reload()
    watched.drawn(level=3, k=6, objective="k-median", view="scatter")
    assert page.get_attribute("#tab-zones", "aria-selected") == "true"
    room = page.url.partition("#")[0]
    page.goto(f"{room}#level=1&k=4&tab=look")
    watched.drawn(level=1, k=4)
    page.goto(f"{room}#level=77&k=900&objective=nonsense&token=x")
    watched.drawn(level=1, k=50)
    watched.until(lambda: "token" not in page.url)


def test_a_corner_of_a_forbidden_region_drags_as_do_those_of_a_shape_that_is_being_drawn(
    looked: Served, visit: Opener
) -> None:
    watched = visit(looked)
    watched.address += "#view=scatter&tab=compare"
    page = watched.open()
    watched.drawn(level=2, view="scatter")
    page.click("#draw-forbidden")
    for place in ((0.3, 0.3), (0.5, 0.3), (0.5, 0.5)):
        watched.click_at(*place)
    drag(watched, (0.5, 0.3), (0.6, 0.25))
    page.click("#draw-finish")
    kept = lambda: page.evaluate("() => JSON.parse(Object.values(sessionStorage)[0]).forbidden[0].ring")  # noqa: E731
    ring = np.array(kept())
    assert ring.shape == (4, 2), "dragging a corner adds none"
    assert ring[1, 0] > ring[2, 0] + 0.02
    drag(watched, (0.3, 0.3), (0.25, 0.4))
    watched.until(lambda: kept()[0] != ring[0].tolist())
    assert kept()[0] == kept()[-1], "a ring stays closed"
    assert kept()[1:3] == ring[1:3].tolist()
    page.click("#panel-compare-undo")
    watched.until(lambda: np.allclose(kept(), ring))


SCHOOLS = b'name;lon;lat\n"Rose; and Lily";0,01;0,02\nPoplar;-0,05;0,01\nSomewhere;;\n'


def test_places_of_a_file_become_a_zone_whose_share_is_told_before_paying(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    watched.address += "#tab=zones"
    page = watched.open()
    watched.drawn(level=2)
    page.set_input_files("#zone-file", {"name": "schools.csv", "mimeType": "text/csv", "buffer": SCHOOLS})
    form = page.locator("#zone-import")
    watched.until(lambda: "schools: 2 places." in form.inner_text())  # a file is read when it is
    assert "1 more in the file has no place" in form.inner_text()
    assert "of the rows inside 16.2% would be kept on this level alone" in form.inner_text().lower()
    page.fill("#zone-buffer", "500")
    page.click("#zone-add")
    watched.drawn(zones=1)
    zones = lambda: (fresh.ask("api/state")["zones"] or {"features": []})["features"]  # noqa: E731
    (zone,) = zones()
    assert zone["properties"]["name"] == "schools: 2 places, 500 m"
    middles = [np.mean(rings[0][:-1], axis=0) for rings in zone["geometry"]["coordinates"]]
    assert np.allclose(middles, [[0.01, 0.02], [-0.05, 0.01]], atol=1e-6)
    assert fresh.ask("api/ledger")["entries"] == []
    page.click("#panel-zones-undo")
    watched.drawn(zones=0)
    page.click("#zone-box summary")
    page.click("#zone-box button")
    watched.drawn(zones=1)
    before = np.array(zones()[0]["geometry"]["coordinates"][0])
    frame = page.locator("#overlay").bounding_box()
    scale = min((frame["width"] - 110) / 0.32, (frame["height"] - 68) / 0.20)
    across, down = 76 + (frame["width"] - 110) / 2, 20 + (frame["height"] - 68) / 2  # the middle of the bounds
    corner = ((across + scale * before[2, 0]) / frame["width"], (down - scale * before[2, 1]) / frame["height"])
    with watched.taken("**/api/zones?*", "#zone-list .item"):
        drag(watched, corner, (corner[0] + 0.1, corner[1] - 0.1))
    after = np.array(zones()[0]["geometry"]["coordinates"][0])
    assert after[2, 0] > before[2, 0] + 0.01
    assert np.allclose(after[[0, 1, 3, 4]], before[[0, 1, 3, 4]])
    drag(watched, (corner[0] + 0.1, corner[1] - 0.1), (0.2, 0.48))  # across the other side: refused, and back it goes
    page.locator("#problem").get_by_text("crosses").wait_for()
    assert np.allclose(zones()[0]["geometry"]["coordinates"][0], after)
    watched.pardon("422")  # the refusal that this test is about
    page.click("#panel-zones-undo")
    watched.until(lambda: np.allclose(zones()[0]["geometry"]["coordinates"][0], before))
