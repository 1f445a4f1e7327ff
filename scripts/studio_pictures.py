"""The pictures of the studio's page in docs/guide: the demo's city on a laptop, in dark colours and on a phone.

python scripts/studio_pictures.py [DATA]      # after `make studio-assets chromium`; look at them before a commit

With a folder of data (`covey bench` reads the same one) also New York and Joensuu.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from playwright.sync_api import Browser, Page, sync_playwright

from covey import Box
from covey.cli.demo import BOX, make_city

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from studio_page import Served, Watched, launch, serving  # noqa: E402

IMAGES = ROOT / "docs" / "guide" / "images"
LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 860}, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
CITIES = {  # a picture: what the data is called, its file, its columns, what is declared, and how many centres
    "studio-new-york": ("New York taxis", "nyc_taxi", ("pickup_lon", "pickup_lat"), (-74.06, -73.72), (40.56, 40.9), 8),
    "studio-joensuu": ("Mopsi users in Joensuu", "mopsi_finland", ("lon", "lat"), (29.6, 29.9), (62.5, 62.67), 6),
}
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


def cities(browser: Browser, data: Path, out: Path) -> None:
    """One level of real data, chosen in advance and paid for alone."""
    for picture, (name, file, columns, lon, lat, k) in CITIES.items():
        table = pq.read_table(data / f"{file}.parquet", columns=list(columns))
        rows = np.column_stack([table[column].to_numpy() for column in columns])
        with serving(rows, Box(lon=lon, lat=lat), out, name=name) as served:
            served.look(alone=1.0)
            opened(browser, served, f"level=0&k={k}", **LAPTOP).screenshot(path=IMAGES / f"{picture}.png")


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
        for folder in sys.argv[1:]:
            cities(browser, Path(folder), Path(out))
        browser.close()


if __name__ == "__main__":
    main()
