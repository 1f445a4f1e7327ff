# ruff: noqa: E402
"""What the studio's page says of errors, in real Chromium: intervals, hollow centres, rings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import CHROMIUM, Opener, Served, serving

from covey.cli.demo import BOX, make_city
from covey.studio.settings import Basemap

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")
SIZE = re.compile(r"-?[\d,]+ \([\d,]+ to [\d,]+\)")


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """So few people that at a private level some centres are only noise."""
    out = tmp_path_factory.mktemp("out")
    with serving(make_city(3000), BOX, out, name="a village", basemap=Basemap(kind="none"), seed=1) as served:
        served.look()
        yield served


def test_sizes_have_intervals_and_doubtful_centres_are_hollow(village: Served, visit: Opener) -> None:
    watched = visit(village)
    page = watched.open()
    page.fill("#level", "1")
    page.fill("#k", "12")
    page.press("#k", "Enter")
    watched.drawn(level=1, k=12)
    doubtful = village.ask("api/levels/1?k=12")["errors"]["doubtful"]
    assert any(doubtful), "this test is about some that are"
    watched.drawn(doubtful=sum(doubtful))
    assert page.locator("#legend").get_by_text("may be only noise").is_visible()
    page.click("#centre-details summary")
    numbers = [int(each) for each in (page.get_attribute("#stage", "data-numbers") or "").split()]
    doubtful = [doubtful[numbers.index(number)] for number in range(1, 13)]  # the list is in the order of the numbers
    rows = page.locator("#centre-table tbody tr").all()
    assert [row.get_attribute("class") == "doubtful" for row in rows] == doubtful
    assert ["may be only noise" in row.inner_text() for row in rows] == doubtful
    assert all(SIZE.search(row.inner_text()) for row in rows)
    facts = page.inner_text("#facts")
    assert re.search(r"off by, 9 times in 10\s+± [\d,]+ to [\d,]+ rows", facts)
    assert "cannot be told at this level of privacy" in facts
    assert "may be only noise." in page.inner_text("#error-words")


def test_rings_come_after_the_centres_and_are_told_in_words(village: Served, visit: Opener) -> None:
    watched = visit(village)
    page = watched.open()
    page.fill("#level", "4")
    page.fill("#k", "3")
    page.press("#k", "Enter")
    watched.drawn(level=4, k=3, rings=3)
    assert page.locator("#legend").get_by_text("where a centre probably is").is_visible()
    page.click("#centre-details summary")
    words = [row.inner_text() for row in page.locator("#centre-table tbody tr").all()]
    assert all(re.search(r"probably within [\d,.]+ k?m", each) for each in words)
    assert "if no cluster was missed" in page.inner_text("#facts")
    assert re.search(r"Cost \(k-means\), 9 times in 10\s+[\d,.]+ to [\d,.]+", page.inner_text("#facts"))
    before = len([url for url in watched.asked if "/api/places/" in url])
    page.fill("#level", "3")
    watched.drawn(level=3)
    page.fill("#level", "4")
    watched.drawn(level=4, rings=3)
    assert len([url for url in watched.asked if "/api/places/4" in url]) <= before, "what was found is kept"


def test_the_words_beside_a_centre_hold_its_interval_and_its_place(village: Served, visit: Opener) -> None:
    watched = visit(village)
    page = watched.open()
    page.fill("#level", "4")
    page.fill("#k", "1")
    page.press("#k", "Enter")
    watched.drawn(level=4, k=1, rings=1)
    (x, y) = village.ask("api/levels/4?k=1")["centres"][0]
    frame = page.locator("#overlay").bounding_box()
    assert frame is not None
    scale = min((frame["width"] - 110) / 0.32, (frame["height"] - 68) / 0.20)
    across = (76 + (frame["width"] - 110) / 2 + scale * x) / frame["width"]
    down = (20 + (frame["height"] - 68) / 2 - scale * y) / frame["height"]
    watched.tip_at(across, down, "probably within")
    tip = page.inner_text("#tooltip")
    assert "Centre 1" in tip
    assert SIZE.search(tip)


def test_compared_sets_have_intervals(village: Served, visit: Opener) -> None:
    watched = visit(village)
    page = watched.open()
    watched.drawn(level=2)
    page.fill("#level", "4")
    watched.drawn(level=4)
    page.click("#tab-compare")
    page.click("#take-centres")
    page.locator("#compare-table").wait_for()
    assert re.search(r"[\d,.]+ \([\d,.]+ to [\d,.]+\)", page.inner_text("#compare-table"))
    assert "cannot be told apart" in page.inner_text("#panel-compare")


def test_where_zones_hide_how_far_off_sizes_are_the_rehearsal_says_so_before_paying(
    fresh: Served, visit: Opener
) -> None:
    """A rehearsal that left the zones out would tell of more certainty than is paid for."""
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(level=2, rehearsing="true")
    page.click("#centre-details summary")
    rows = page.locator("#centre-table tbody tr")
    assert all(SIZE.search(row) for row in rows.all_inner_texts())
    page.click("#tab-zones")
    page.click("#zone-box summary")
    page.click("#zone-box button")
    watched.drawn(zones=1)
    page.click("#tab-look")
    page.locator("#facts").get_by_text("cannot be told", exact=True).first.wait_for()
    assert all("how far off is not known" in row for row in rows.all_inner_texts())
    watched.pay(alone=False)
    watched.drawn(level=2, rehearsing="false")
    assert all("how far off is not known" in row for row in rows.all_inner_texts())
    assert "by a factor of at most 7.39, and of what this one alone shows" in page.inner_text("#level-meaning")
    page.click("#publish")
    assert "How far off the sizes are cannot be told" in page.inner_text("#publish-warnings")
    page.keyboard.press("Escape")
    page.click("#tab-compare")
    page.click("#take-centres")
    page.locator("#compare-table").get_by_text("how far off is not known").wait_for()
