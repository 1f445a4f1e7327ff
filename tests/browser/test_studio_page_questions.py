# ruff: noqa: E402
"""The studio's page in real Chromium: how many clusters there are, as a curve."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import CHROMIUM, Opener, Served

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")


def test_the_curve_says_how_many_clusters_there_are_and_shows_them(looked: Served, visit: Opener) -> None:
    watched = visit(looked)
    page = watched.open()
    told = looked.ask("api/how-many/2")
    assert told["k"] == 7
    page.click("#curve-details summary")
    page.wait_for_selector('#curve-details[data-k="7"][data-shown="5"]')
    assert page.inner_text("#curve-words") == told["words"]
    assert page.locator(".curve-dot").count() == len(told["costs"]) == 19
    assert page.locator(".curve-whisker").count() == sum(low is not None for _, _, low, _ in told["costs"])
    assert told["words"] in page.get_attribute(".curve", "aria-label")
    page.click("#curve-take")
    watched.drawn(k=7)
    page.wait_for_selector('#curve-details[data-shown="7"]')
    assert not page.locator("#curve-take").is_visible()
    watched.verdict()


def test_a_rehearsal_has_a_curve_of_its_own_and_costs_nothing(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    page.click("#curve-details summary")
    page.wait_for_selector("#curve-details[data-k]")
    assert "/api/rehearsal/2/how-many?" in watched.asked[-1] or any("how-many" in url for url in watched.asked)
    assert not any("api/how-many" in url for url in watched.asked)
    assert fresh.ask("api/ledger")["entries"] == []
    watched.verdict()
