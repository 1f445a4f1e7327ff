"""The pictures of the studio's page in docs/guide: the demo's city on a laptop, in dark colours and on a phone.

python scripts/studio_pictures.py      # after `make studio-assets chromium`; look at them before they are committed
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from covey.cli.demo import BOX, make_city

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from studio_page import Served, Watched, launch, serving  # noqa: E402

IMAGES = ROOT / "docs" / "guide" / "images"
LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 860}, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
PARK = (-0.05, 0.05, -0.04, 0.03)  # lon from, to, lat from, to: where no site may stand


def opened(browser: Browser, served: Served, view: str, **screen: object) -> Page:
    """The page at a level, when its map and what reruns say are drawn."""
    watched = Watched(browser.new_context(**screen).new_page(), f"{served.address}#{view}")
    page = watched.open()
    wanted = dict(part.split("=") for part in view.split("&"))
    watched.drawn(level=wanted["level"], k=wanted["k"], view="map")
    page.wait_for_timeout(6_000)  # reruns, and boxes that change slowly
    return page


def with_one_more_site(page: Page) -> None:
    page.click("#take-centres")
    page.click("#forbidden-box summary")
    for field, value in zip(page.locator("#forbidden-box input").all(), PARK, strict=True):
        field.fill(str(value))
    page.click("#forbidden-box button")
    page.click("#find-sites")
    page.locator("#compare-table").get_by_text("Private centres and 1 more").wait_for()
    page.locator("#compare-result").scroll_into_view_if_needed()
    page.wait_for_timeout(1_000)


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as out:
        browser = launch(playwright)
        with serving(make_city(200_000), BOX, Path(out), name="a made-up city", demo=True, seed=1) as served:
            served.look()
            opened(browser, served, "level=3&k=6", **LAPTOP).screenshot(path=IMAGES / "studio.png")
            opened(browser, served, "level=3&k=6", **PHONE).screenshot(path=IMAGES / "studio-phone.png")
            dark = opened(browser, served, "level=2&k=3&tab=compare", color_scheme="dark", **LAPTOP)
            with_one_more_site(dark)
            dark.screenshot(path=IMAGES / "studio-dark.png")
        browser.close()


if __name__ == "__main__":
    main()
