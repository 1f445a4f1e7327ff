# ruff: noqa: E402
"""The studio's page in real Chromium against the real server: look, slide, zones, alternatives, publish."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import CHROMIUM, Opener, Served, serving

import covey.studio.studio as studio_module
from covey.cli.demo import BOX, make_city
from covey.public import Person

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")


def factors(page: Any) -> list[str]:
    """What stands under the slider, in advance and after looking."""
    found: list[str] = page.locator("#level-price strong").all_inner_texts()
    return found


def test_the_page_opens_on_made_up_rows_and_the_level_chosen_there_is_paid_for_alone(
    fresh: Served, visit: Opener
) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2, rehearsing="true")
    assert page.locator("#made-up").is_visible()
    assert "these rows are made up" in page.inner_text("#rehearsal-card")
    assert not page.locator("#publish").is_visible()
    page.fill("#rows", "99999999")
    page.press("#rows", "Enter")
    assert page.input_value("#rows") == "1000000", "what is rehearsed on, not what cannot be had"
    page.fill("#rows", "5000")
    page.press("#rows", "Enter")
    watched.until(lambda: any("rows=5000" in url for url in watched.asked))
    page.fill("#level", "1")
    watched.drawn(level=1)
    offer = fresh.ask("api/state")["offers"][1]
    assert factors(page) == [offer["alone"]["factor"], "7.39"]
    assert not [url for url in watched.asked if "/api/levels/" in url]
    assert fresh.ask("api/ledger")["entries"] == []
    page.click("#pay")
    card = page.inner_text("#price-card")
    assert f"Costs {offer['epsilon']:g}" in card
    assert "of the 8 that remain" in card
    assert f"chosen in advance, ε = 0.25, a factor of at most {offer['alone']['factor']}" in card
    page.click("#confirm-look")
    watched.drawn(level=0, k=5, rehearsing="false")
    assert page.text_content("#level-name") == "very private"
    assert not page.locator("#level").is_visible(), "there is nothing to slide to"
    assert not page.locator("#made-up").is_visible()
    assert [entry["epsilon"] for entry in fresh.ask("api/ledger")["entries"]] == [0.25]
    page.click("#publish")
    page.click("#publish-confirm")
    page.wait_for_selector("#certificate")
    assert f"factor of at most {offer['alone']['factor']}" in page.inner_text("#certificate")
    page.get_by_role("button", name="Done").click()
    page.click("#rehearse-again")
    watched.drawn(level=2, rehearsing="true")
    assert "the sum of all of them, ε = 0.75" in page.inner_text("#level-price")


def test_several_levels_are_paid_for_at_the_price_of_the_last_and_the_page_says_so(
    fresh: Served, visit: Opener
) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2, rehearsing="true")
    page.click("#several summary")
    assert "7.39 at every level" in page.inner_text("#several-price")
    page.check("input[name='up-to'][value='0.5']")
    assert "costs 0.5" in page.inner_text("#several-price")
    assert factors(page) == ["1.65", "1.65"]
    page.click("#pay-several")
    page.click("#confirm-look")
    watched.drawn(level=1, k=5, rehearsing="false")
    assert page.get_attribute("#level", "max") == "2"
    page.fill("#level", "0")
    watched.drawn(level=0)
    assert factors(page) == ["1.65", "1.11"]
    assert [entry["epsilon"] for entry in fresh.ask("api/ledger")["entries"]] == [0.5]
    page.click("#tab-ledger")
    page.locator("#ledger-table").wait_for()
    ledger = page.inner_text("#panel-ledger")
    assert "7.5 of 8 remain" in ledger
    assert not {"null", "undefined", "NaN", "false"} & set(ledger.split())


def test_a_look_can_be_cancelled_and_the_page_says_that_the_charge_stays(
    fresh: Served, visit: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = studio_module.slider.fit_levels

    def slow(*given: Any, progress: Any = None, **more: Any) -> Any:
        while progress is not None:
            progress(1, 4, "counting cells")  # raises once somebody cancelled
            time.sleep(0.02)
        return real(*given, **more)

    monkeypatch.setattr(studio_module.slider, "fit_levels", slow)
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2)
    watched.pay(alone=True)
    page.get_by_text("counting cells").wait_for()
    assert page.locator("progress").get_attribute("max") == "1"
    page.click("#cancel-look")
    page.locator("#problem").get_by_text("What was charged stays charged").wait_for()
    assert page.locator("#pay").is_visible()
    assert fresh.ask("api/state")["looked"] is False


def test_a_budget_that_somebody_else_spent_meanwhile_is_refused_in_words(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2)
    fresh.ask("api/releases", method="POST", body={"k": 3, "epsilon": 7.0, "algorithm": "lloyd"})
    watched.pay(alone=False)
    page.locator(".refusal").get_by_text("1 of the privacy budget of “city” is left. It pays for:").wait_for()
    assert page.locator(".refusal button").count() == 4
    assert page.locator("#confirm-look").is_disabled()
    assert "of the 1 that remain" in page.inner_text("#price-card")
    watched.pardon("409")  # the refusal that this test is about


def test_the_slider_names_levels_draws_them_and_fetches_each_once(plain: Served, visit: Opener) -> None:
    watched = visit(plain)
    page = watched.open()
    names, sizes = [level["name"] for level in plain.ask("api/state")["levels"]], {}
    for level in (0, 1, 2, 3, 4, 3, 2, 1, 0):
        page.fill("#level", str(level))
        watched.drawn(level=level)
        assert page.text_content("#level-name") == names[level]
        assert page.get_attribute("#level", "aria-valuetext") == names[level]
        assert len(page.inner_text("#level-meaning")) > 20
        sizes[level] = page.get_attribute("#stage", "data-points")
        assert "boxes" in page.inner_text("#facts")
    assert len(set(sizes.values())) > 1
    fetched = [url for url in watched.asked if "/api/levels/" in url]
    assert len(fetched) == len(set(fetched))
    assert not page.get_by_text("ε of this level").is_visible(), "the epsilon belongs in the details"
    page.click("#level-details summary")
    assert page.get_by_text("ε of this level").is_visible()


def test_the_number_of_centres_and_the_objective_are_free_to_change(plain: Served, visit: Opener) -> None:
    watched = visit(plain)
    page = watched.open()
    before = plain.ask("api/ledger")["entries"]
    watched.drawn(k=5, objective="k-means")
    page.click("#k-more")
    watched.drawn(k=6)
    page.fill("#k", "99")
    page.press("#k", "Enter")
    watched.drawn(k=50)
    page.click("#k-less")
    watched.drawn(k=49)
    page.fill("#k", "3")
    page.press("#k", "Enter")
    page.check("input[value='k-median']")
    watched.drawn(k=3, objective="k-median")
    page.click("#centre-details summary")
    assert page.locator("#centre-table tbody tr").count() == 3
    assert plain.ask("api/ledger")["entries"] == before


def test_a_zone_is_drawn_with_clicks_made_stricter_and_fixed_by_the_look(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    page.click("#tab-zones")
    page.click("#draw-zone")
    for place in ((0.3, 0.35), (0.45, 0.33), (0.47, 0.5)):
        watched.click_at(*place)
    watched.click_at(0.32, 0.52, double=True)
    watched.drawn(zones=1)
    (zone,) = fresh.ask("api/state")["zones"]["features"]
    ring = np.array(zone["geometry"]["coordinates"][0])
    assert ring.shape == (5, 2)
    assert np.all(np.abs(ring) < [0.16, 0.10])
    levels = fresh.ask("api/state")["offers"]
    assert zone["properties"]["epsilon"] == levels[0]["epsilon"]
    with watched.taken("**/api/zones?*", "#zone-list .item"):
        page.select_option("#zone-list select", str(levels[1]["epsilon"]))
    (zone,) = fresh.ask("api/state")["zones"]["features"]
    assert zone["properties"]["epsilon"] == levels[1]["epsilon"]
    page.click("#tab-look")
    watched.pay(alone=False)
    watched.drawn(level=2, zones=1, rehearsing="false")
    page.click("#tab-zones")
    assert not page.locator("#draw-zone").is_visible()
    assert page.get_by_text("they take part in every level").is_visible()


def test_a_zone_is_drawn_by_touch_and_a_second_window_sees_it(fresh: Served, visit: Opener) -> None:
    other = visit(fresh)
    other.open()
    watched = visit(fresh, has_touch=True)
    page = watched.open()
    watched.drawn(level=2)
    page.click("#tab-zones")
    page.click("#draw-zone")
    frame = page.locator("#stage").bounding_box()
    assert frame is not None

    def tap(across: float, down: float) -> None:
        page.touchscreen.tap(frame["x"] + across * frame["width"], frame["y"] + down * frame["height"])

    for place in ((0.3, 0.35), (0.45, 0.33), (0.47, 0.5), (0.6, 0.7)):
        tap(*place)
    page.click("#draw-undo")
    tap(0.302, 0.352)  # the first corner again
    watched.drawn(zones=1)
    (zone,) = fresh.ask("api/state")["zones"]["features"]
    assert len(zone["geometry"]["coordinates"][0]) == 4, "three corners: the fourth was taken back"
    assert "of the rows inside 16.2% would be kept" in page.inner_text("#zone-list").lower()
    page.click("#draw-zone")
    tap(0.5, 0.5)
    page.click("#draw-cancel")
    other.page.click("#tab-zones")
    other.page.click("#zone-box summary")
    other.page.click("#zone-box button")
    other.page.locator("#problem").get_by_text("another window").wait_for()
    other.drawn(zones=1)
    other.pardon("409")  # the refusal that this test is about


def test_zones_come_from_a_typed_box_or_a_file_and_a_wrong_file_is_refused_in_words(
    fresh: Served, visit: Opener
) -> None:
    watched = visit(fresh)
    page = watched.open()
    page.click("#tab-zones")
    page.click("#zone-box summary")
    page.click("#zone-box button")
    watched.drawn(zones=1)
    shape = {"type": "Polygon", "coordinates": [[[0.0, 0.0], [0.05, 0.0], [0.05, 0.05], [0.0, 0.0]]]}
    document = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"name": "Clinic"}, "geometry": shape}],
    }
    send = lambda content: {"name": "zones.geojson", "mimeType": "application/json", "buffer": content}  # noqa: E731
    page.set_input_files("#zone-file", send(json.dumps(document).encode()))
    page.click("#zone-add")
    watched.drawn(zones=2)
    assert fresh.ask("api/state")["zones"]["features"][1]["properties"]["name"] == "Clinic"
    page.set_input_files("#zone-file", send(b"not json"))
    page.locator("#problem").get_by_text("no polygons").wait_for()
    page.get_by_label("Remove Clinic").click()
    watched.drawn(zones=1)


def test_what_is_said_about_a_file_stays_when_the_page_goes_on_by_itself(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    held = watched.holding("**/api/rehearsal/4?*")  # from the start: the page asks for neighbours by itself
    page = watched.open()
    page.press("#level", "End")
    watched.until(lambda: bool(held))
    page.click("#tab-zones")
    page.set_input_files("#zone-file", {"name": "zones.json", "mimeType": "application/json", "buffer": b"not json"})
    page.locator("#problem").get_by_text("no polygons").wait_for()
    with page.expect_response("**/api/rehearsal/4/places?*"):
        held[0].continue_()
    assert page.locator("#problem").is_visible(), "places were asked for by the page: that answers nobody"


def test_plans_are_compared_and_a_site_in_a_forbidden_region_is_pointed_out(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    page = watched.open()
    watched.drawn(level=2, ready="true")  # a map that is still on its way hears no click
    page.click("#tab-compare")
    page.click("#take-centres")
    page.click("#new-set")
    page.click("#drop-sites")
    for place in ((0.3, 0.4), (0.6, 0.6)):
        watched.click_at(*place)
    page.keyboard.press("Escape")
    watched.drawn(sites=7)
    page.locator("#compare-table tbody tr").nth(1).wait_for()
    best = page.locator("#compare-result .bars li").filter(has_text="best")
    assert best.count() == 1
    assert "Private centres" in best.inner_text(), "centres made for the data must beat two arbitrary sites"
    page.fill("[aria-label='Name of set 2']", "Two depots")
    page.press("[aria-label='Name of set 2']", "Enter")
    page.locator("#compare-table").get_by_text("Two depots").wait_for()
    page.click("#forbidden-box summary")
    for field, value in zip(page.locator("#forbidden-box input").all(), ("-0.16", "0.16", "-0.1", "0.1"), strict=True):
        field.fill(value)
    page.click("#forbidden-box button")
    page.locator("#compare-result").get_by_text("2 sites forbidden").wait_for()
    assert "differ in their number of sites" in page.inner_text("#uneven")
    assert re.search(r"[\d.]+ km \([\d.]+ k?m to [\d.]+ km\)", page.inner_text("#compare-table"))
    page.reload()
    watched.drawn(sites=7)
    page.click("#tab-compare")
    assert page.input_value("[aria-label='Name of set 2']") == "Two depots"


def test_publishing_writes_files_that_can_be_fetched_and_shows_the_certificate(plain: Served, visit: Opener) -> None:
    watched = visit(plain)
    page = watched.open()
    watched.drawn(level=2)
    page.click("#publish")
    page.fill("#publish-name", "Spring plan")
    page.click("#publish-confirm")
    page.wait_for_selector("#certificate")
    assert "differentially private" in page.inner_text("#certificate")
    links = [link.get_attribute("href") for link in page.locator(".links a").all()]
    assert [str(link).rpartition("/")[2] for link in links] == [
        f"a-made-up-city-balanced.{each}" for each in ("html", "geojson", "json")
    ]
    release = plain.ask(str(links[2]))
    assert len(release["centres"]) == 5
    page.get_by_role("button", name="Done").click()
    page.click("#tab-ledger")
    page.locator("#panel-ledger").get_by_text("Spring plan").wait_for()
    assert page.locator("#ledger-table tbody tr").count() == 1, "publishing costs nothing beyond the look"


def test_the_owners_switch_says_what_it_means_and_marks_what_is_published(fresh: Served, visit: Opener) -> None:
    fresh.look()
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2, owner=0)
    assert "do not show or share" in " ".join(page.inner_text("#owner-words").split())
    page.locator(".switch").click()
    assert "Switching off does not take that back" in page.inner_text("#owner-dialog")
    page.get_by_role("button", name="Keep it off").click()
    assert not page.is_checked("#owner-switch")
    assert fresh.ask("api/state")["owner"]["ever"] is False
    page.locator(".switch").click()
    page.click("#owner-confirm")
    watched.drawn(owner=5)
    assert page.locator("#legend").get_by_text("NOT private").is_visible()
    page.click("#k-less")
    watched.drawn(owner=4)
    page.locator(".switch").click()
    watched.drawn(owner=0)
    page.click("#publish")
    assert "with sight of raw data" in page.inner_text("#publish-dialog")


@pytest.fixture
def drivers(tmp_path: Path) -> Iterator[Served]:
    places = make_city(6000)
    trips = pd.DataFrame({"driver": np.arange(6000) % 900, "lon": places[:, 0], "lat": places[:, 1]})
    with serving(trips, BOX, tmp_path, person=Person("driver", 2)) as studio:
        yield studio


def test_with_people_the_page_promises_to_people_and_offers_no_zones(drivers: Served, visit: Opener) -> None:
    watched = visit(drivers)
    page = watched.open()
    watched.drawn(level=2)
    page.click("#pay")
    assert "column “driver”, at most 2 of them count" in page.inner_text("#price-card")
    assert "Zones" not in page.inner_text("#price-card")
    page.get_by_role("button", name="Not now").click()
    page.click("#tab-zones")
    assert page.get_by_text("Zones are not for levels of people").is_visible()
    assert not page.locator("#draw-zone").is_visible()
    page.click("#tab-look")
    watched.pay(alone=False)
    watched.drawn(level=2, rehearsing="false")
    page.click("#centre-details summary")
    assert "at most 2 of a person" in page.inner_text("#error-words")
    page.click("#publish")
    assert "at most 2 of a person" in page.inner_text("#publish-warnings")
    page.keyboard.press("Escape")
    page.get_by_text("any one person (all rows with the same 'driver', of which at most 2 count)").first.wait_for()
