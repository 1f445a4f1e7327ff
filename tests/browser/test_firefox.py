# ruff: noqa: E402
"""The studio in Firefox: from the link to a page that is sent, a file of one's own, a zone, a second window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from firefox import FIREFOX, Firefox, firefox
from studio_page import Served, has_map, serving

from covey.budget.ledger.ledger import Ledger
from covey.cli.demo import BOX, make_city

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FIREFOX.exists(), reason=f"no Firefox: {FIREFOX} is not there (make firefox)"),
]
END, LEFT = "\ue010", "\ue012"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Firefox]:
    """A browser in which no script of a page may fail."""
    with firefox(tmp_path / "profile") as opened:
        yield opened
        assert opened.errors() == []


@pytest.fixture
def city(tmp_path: Path) -> Iterator[Served]:
    """The demo's city before its look, with a ledger that holds a total."""
    ledger = Ledger.memory()
    ledger.add("city", epsilon=8)
    given = {"name": "a made-up city", "demo": True, "ledger": ledger, "dataset": "city"}
    with serving(make_city(5_000), BOX, tmp_path / "out", **given) as served:
        yield served


def enter(page: Firefox, served: Served) -> None:
    page.open(served.ask("api/links", method="POST", body={})["address"])
    page.drawn(rehearsing="true")


def pay(page: Firefox) -> None:
    page.click("#pay")
    page.click("#confirm-look")
    page.drawn(rehearsing="false")


def test_from_the_link_to_a_page_that_is_sent(page: Firefox, city: Served, tmp_path: Path) -> None:
    enter(page, city)
    assert "/studio-" in page.run("return location.pathname")
    assert "Made-up rows" in page.text("body")
    page.drawn(level=page.run("return document.querySelector('#level').value"))
    page.press("#level", END)
    last = int(page.run("return document.querySelector('#level').max"))
    page.drawn(level=last)
    assert "7.39" in page.text("#level-price"), "the most detailed level has the factor of its own epsilon"
    page.press("#level", LEFT)
    page.drawn(level=last - 1)
    assert "2.72" in page.text("#level-price")
    page.click("#k-more")
    page.drawn(k=6)
    pay(page)
    page.drawn(k=6, ready="true", view="map" if has_map() and page.has_webgl() else "scatter")
    assert int(page.run("return document.querySelector('#stage').dataset.boxes")) > 50
    assert "rows per km²" in page.text("#legend .scale")
    page.click("#centre-details summary")
    rows = page.run("return [...document.querySelectorAll('#centre-table tbody tr')].map((row) => row.innerText)")
    assert len(rows) == 6
    assert all(re.search(r"-?[\d,]+ \([\d,]+ to [\d,]+\)", row) for row in rows), "each size has an interval"
    page.until("return !document.querySelector('#publish').disabled")
    page.click("#publish")
    assert "ε = 1, a factor of 2.72" in page.text("#publish-dialog")
    page.click("#publish-confirm")
    page.until("return document.querySelector('nav.links a') !== null")
    assert page.text("#problem") == ""
    (tmp_path / "studio.png").write_bytes(page.picture())
    assert len(city.ask("api/publications")["publications"]) == 1
    (sent,) = (tmp_path / "out").rglob("*.html")
    page.open(sent.as_uri())
    page.until("return !document.querySelector('.mine').hidden")
    for column in (0, 1):
        page.press(f"[data-column='{column}']", "0.01")
    page.click(".mine button[type=submit]")
    assert "entre" in page.until("return document.querySelector('.mine .answer').innerText")


def test_a_reload_and_a_second_window_are_let_in_and_a_zone_is_drawn(page: Firefox, city: Served) -> None:
    enter(page, city)
    room = page.run("return location.href")
    page.open(room.partition("#")[0])
    page.drawn(rehearsing="true")
    page.click("#tab-zones")
    page.click("#draw-zone")
    for place in ((0.4, 0.3), (0.6, 0.3), (0.6, 0.5), (0.4, 0.3)):  # the first corner again closes it
        page.click_at("#stage", *place)
    page.drawn(zones=1)
    assert "would be kept" in page.text("#zone-list")
    (zone,) = city.ask("api/state")["zones"]["features"]
    assert len(zone["geometry"]["coordinates"][0]) == 4
    page.ask("WebDriver:SwitchToWindow", handle=page.ask("WebDriver:NewWindow", type="window")["handle"])
    page.open(room.partition("#")[0])
    page.drawn(rehearsing="true", zones=1)


def test_a_file_is_opened_within_bounds_by_a_place_and_you_are_told_your_odds(page: Firefox, tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal([6.96, 50.94], 0.02, (3_000, 2))
    (tmp_path / "trips.csv").write_text("lon;lat\n" + "".join(f"{x:.5f};{y:.5f}\n" for x, y in rows))
    with serving(None, None, tmp_path / "out") as served:
        page.open(served.ask("api/links", method="POST", body={})["address"])
        page.press("#data-file", str(tmp_path / "trips.csv"))
        page.press("#place-name", "koln")
        page.click("#places-found button")
        page.until("return document.querySelector('[aria-label=\"lon from\"]').value > 6")
        page.click("#open-slot button[type=submit]")
        page.drawn(rehearsing="true")
        pay(page)
        page.click("#you")
        page.click_at("#stage", 0.5, 0.5)
        page.drawn(you="true")
        words = page.text("#you-words")
        assert "half sure can become sure to at most 63 in 100" in words, "e^0.5 / (1 + e^0.5)"
        assert "here or elsewhere: to at most 74 in 100" in words, "e^1 / (1 + e^1)"
