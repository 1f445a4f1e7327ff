# ruff: noqa: E402
"""The studio in Firefox: it opens, the slider moves, a level is paid for and published, the page to send answers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from firefox import FIREFOX, firefox
from studio_page import serving

from covey.budget.ledger.ledger import Ledger
from covey.cli.demo import BOX, make_city

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FIREFOX.exists(), reason=f"no Firefox: {FIREFOX} is not there (apt-get install firefox-esr)"
    ),
]


def test_from_the_link_to_a_page_that_is_sent(tmp_path: Path) -> None:
    ledger = Ledger.memory()
    ledger.add("city", epsilon=8)
    given = {"name": "a made-up city", "demo": True, "ledger": ledger, "dataset": "city"}
    with (
        serving(make_city(5_000), BOX, tmp_path / "out", **given) as served,
        firefox(tmp_path / "profile") as page,
    ):
        page.open(served.ask("api/links", method="POST", body={})["address"])
        page.drawn(rehearsing="true")
        assert "/studio-" in page.run("return location.pathname")
        assert "Made-up rows" in page.text("body")
        page.drawn(level=page.run("return document.querySelector('#level').value"))
        page.press("#level", "\ue010")  # End: the last level
        last = page.run("return document.querySelector('#level').max")
        page.drawn(level=last)
        page.press("#level", "\ue012")  # to the left
        page.drawn(level=int(last) - 1)
        page.click("#k-more")
        page.drawn(k=6)
        page.click("#pay")
        page.click("#confirm-look")
        page.drawn(rehearsing="false")
        page.drawn(k=6)
        page.until("return !document.querySelector('#publish').disabled")
        page.click("#publish")
        page.click("#publish-confirm")
        page.until("return document.querySelector('nav.links a') !== null")
        assert page.text("#problem") == ""
        assert len(served.ask("api/publications")["publications"]) == 1
        (tmp_path / "studio.png").write_bytes(page.picture())
        (sent,) = (tmp_path / "out").rglob("*.html")
        page.open(sent.as_uri())
        page.until("return !document.querySelector('.mine').hidden")
        for column in (0, 1):
            page.press(f"[data-column='{column}']", "0.01")
        page.click(".mine button[type=submit]")
        assert "entre" in page.until("return document.querySelector('.mine .answer').innerText")
