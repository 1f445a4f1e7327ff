# ruff: noqa: E402
"""Opening a file in the studio: dropped, its bounds said on a map, and refusals that offer what works instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from studio_page import CHROMIUM, Opener, has_map, serving

from covey.budget.ledger.ledger import Ledger
from covey.studio.settings import Basemap

pytest_plugins = ["studio_page"]
pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)"),
    pytest.mark.skipif(not has_map(), reason="no list of places: make studio-assets"),
]
DROP = """([name, text]) => {
  const all = new DataTransfer();
  all.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: all, bubbles: true, cancelable: true }));
}"""


def test_bounds_by_a_place_or_by_drawing_and_refusals_that_offer_what_works(tmp_path: Path, visit: Opener) -> None:
    ledger = Ledger.create(tmp_path / "city.ledger", dataset="cologne", epsilon=0.6)
    rows = np.random.default_rng(1).normal([6.96, 50.94], 0.01, (500, 2))
    text = "lon,lat\n" + "".join(f"{x:.5f},{y:.5f}\n" for x, y in rows)
    with serving(None, None, tmp_path / "out", ledger=ledger, basemap=Basemap(kind="none")) as served:
        watched = visit(served)
        page = watched.page
        page.goto(served.address)
        page.locator("#data-file").wait_for(state="attached")

        page.evaluate(DROP, ["trips.docx", "no table"])
        card = page.locator(".refusal")
        card.get_by_text("trips.docx was not opened").wait_for()
        assert card.get_by_role("button", name="Choose another file").is_visible()
        card.get_by_role("button", name="Say how it is written").click()
        assert page.locator("#reading select").first.is_visible()

        page.evaluate(DROP, ["trips.csv", "6.9,50.9\n6.8,50.8\n"])
        card.get_by_text("the first line of the file holds numbers, not names of columns").wait_for()
        page.evaluate(DROP, ["trips.csv", ""])
        card.get_by_text("it is empty").wait_for()

        page.evaluate(DROP, ["trips.csv", text])
        page.get_by_label("Around which place?").fill("koln")
        page.locator("#places-found button", has_text="Köln").first.click()
        fields = [page.get_by_label(label) for label in ("lon from", "lon to", "lat from", "lat to")]
        ends = [float(field.input_value()) for field in fields]
        assert ends[0] < 6.9 < 7.0 < ends[1]
        assert ends[2] < 50.9 < 51.0 < ends[3]
        assert ends[1] - ends[0] < 1, "the city, not the world"

        watched.drawn(view="scatter")
        page.click("#draw-bounds")
        for place in ((0.4, 0.4), (0.7, 0.4), (0.7, 0.7), (0.4, 0.4)):
            watched.click_at(*place)
        watched.until(lambda: float(page.get_by_label("lon from").input_value()) > ends[0])
        drawn = [
            float(page.get_by_label(label).input_value()) for label in ("lon from", "lon to", "lat from", "lat to")
        ]
        assert ends[0] < drawn[0] < drawn[1] < ends[1]
        assert ends[2] < drawn[2] < drawn[3] < ends[3]

        page.get_by_role("button", name="Open", exact=True).click()
        card.get_by_role("button", name="“cologne”, 0.6 left").click()
        page.get_by_role("button", name="Open", exact=True).click()
        watched.drawn(rehearsing="true", level=2)
        bounds = served.ask("api/state")["data"]["bounds"]
        assert bounds == {"lower": [drawn[0], drawn[2]], "upper": [drawn[1], drawn[3]]}

        page.fill("#level", "4")
        page.click("#pay")
        card.get_by_text("0.6 of the privacy budget of “cologne” is left. It pays for:").wait_for()
        assert page.is_disabled("#confirm-look")
        assert card.get_by_role("button").all_inner_texts() == [
            "“most private”, for 0.1",
            "“very private”, for 0.25",
            "“balanced”, for 0.5",
        ]
        card.get_by_role("button", name="balanced").click()
        assert "Costs 0.5" in page.inner_text("#price-card")
        page.click("#confirm-look")
        watched.drawn(rehearsing="false", k=5)
        assert [entry["epsilon"] for entry in served.ask("api/ledger")["entries"]] == [0.5]
        watched.pardon("415", "422")
        page.close()
