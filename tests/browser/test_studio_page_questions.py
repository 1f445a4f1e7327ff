# ruff: noqa: E402
"""The studio's page in real Chromium: how many clusters there are, as a curve, and what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

import numpy as np
import pandas as pd
from studio_page import CHROMIUM, Opener, Served, serving

from covey.cli.demo import BOX, make_city
from covey.studio.settings import Basemap

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
    assert len(told["costs"]) == 19
    assert page.locator(".curve-dot").count() == sum(cost is not None for _, cost, _, _ in told["costs"]) > 0
    assert page.locator(".curve-hidden").count() == sum(cost is None for _, cost, _, _ in told["costs"])
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


def test_a_profile_is_paid_for_and_told_by_the_numbers_of_the_map(tmp_path: Path, visit: Opener) -> None:
    rows = pd.DataFrame(make_city(5000), columns=list(BOX.columns or ()))
    rows["shop"] = np.where(rows.iloc[:, 0] > 0, "<img src=x onerror=alert(1)>", "bank")
    with serving(rows, BOX, tmp_path / "out", name="a made-up city", basemap=Basemap(kind="none")) as served:
        watched = visit(served)
        page = watched.open()
        page.click("#tab-profile")
        assert page.locator("#profile-closed").is_visible()
        assert page.locator("#profile-ask").is_disabled()
        served.look()
        watched.open()
        page.click("#tab-profile")
        page.fill("#profile-columns", "shop=private")
        page.fill("#profile-delta", "0.000001")
        page.click("#profile-ask")
        assert "never given back" in page.inner_text("#profile-price")
        assert len(served.ask("api/ledger")["entries"]) == 1
        page.click("#profile-confirm")
        page.wait_for_selector('#profile-result[data-columns="1"]')
        assert "<img src=x onerror=alert(1)>" in page.inner_text(".profile-table")
        assert sorted(page.locator(".profile-table tbody th").all_inner_texts()) == ["1", "2", "3", "4", "5", "all"]
        assert page.inner_text("#profile-sentences").startswith("Centre ")
        assert [entry["epsilon"] for entry in served.ask("api/ledger")["entries"]][1:] == [0.2]
        page.wait_for_load_state("networkidle")
        page.goto("about:blank")  # it asks no more of a server that is about to end
        watched.verdict()
