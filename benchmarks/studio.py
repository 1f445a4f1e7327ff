"""How fast the studio's page is, in real Chromium on a million points: first paint, the look, and slider to redraw.

    python benchmarks/studio.py [--rows 1000000] [--screen 4k] [--out benchmarks/results/studio.json]

The server is the command `covey studio` in a process of its own. A redraw is counted from the slider's event to the
second frame after the stage has drawn the level, so that what is counted has reached the screen. Chromium draws the map
in software here (SwiftShader): a machine with a graphics card is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import Page, sync_playwright

from covey.cli.demo import make_city

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "browser"))
from studio_page import PATIENCE, launch  # noqa: E402

SCREENS = {"laptop": {"width": 1280, "height": 800}, "4k": {"width": 3840, "height": 2160}}
BOUNDS = "lon=-0.16:0.16,lat=-0.10:0.10"
ROUNDS = ((3, 4, 3, 2, 1, 0, 1, 2), (4, 0, 3, 1, 4, 2, 0, 2))  # to neighbours, then in leaps
MOVE = """
([selector, value, attribute, wanted]) => new Promise((resolve) => {
  const stage = document.querySelector('#stage');
  const start = performance.now();
  const seen = new MutationObserver(check);
  function check() {
    if (stage.getAttribute(attribute) !== wanted) return;
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
  }
  seen.observe(stage, { attributes: true });
  const control = document.querySelector(selector);
  control.value = value;
  control.dispatchEvent(new Event(selector === '#level' ? 'input' : 'change', { bubbles: true }));
  check();
})
"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"


@contextmanager
def studio(folder: Path, rows: int) -> Iterator[str]:
    """`covey studio` on a Parquet file of made-up people; gives its address."""
    file = folder / "city.parquet"
    city = make_city(rows)
    pq.write_table(pa.table({"lon": city[:, 0], "lat": city[:, 1]}), file)
    command = [str(Path(sys.executable).parent / "covey"), "studio", str(file), "--bounds", BOUNDS, "--no-browser"]
    command += ["--out", str(folder / "out")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        found = re.search(r"http\S+", process.stdout.readline())
        if found is None:
            raise SystemExit("covey studio did not start")
        yield found.group()
    finally:
        process.terminate()
        process.wait(10)


def measure(address: str, size: dict[str, int]) -> tuple[str, dict[str, Any]]:
    """Chromium's version, and the times of one visit by it."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        times = visit(browser.new_page(viewport=size), address)
        version = browser.version
        browser.close()
    return version, times


def visit(page: Page, address: str) -> dict[str, Any]:
    """Times of one visit: the page, the look, and every move."""
    page.set_default_timeout(6 * PATIENCE)
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("#rehearsal-card h2")
    card = time.perf_counter() - start
    page.wait_for_selector("#stage[data-level='2']")
    stage = time.perf_counter() - start
    painted = page.evaluate(PAINTED)
    page.wait_for_timeout(3000)
    page.click("#several summary")
    page.click("#pay-several")
    start = time.perf_counter()
    page.click("#confirm-look")
    page.wait_for_selector("#stage[data-level='2'][data-rehearsing='false']")
    look = time.perf_counter() - start
    page.wait_for_timeout(4000)  # the neighbours are fetched ahead
    neighbours, leaps = ([move(page, "#level", level) for level in levels] for levels in ROUNDS)
    centres = [move(page, "#k", k) for k in (6, 7, 8, 12, 20, 5)]
    cold = []
    for k, level in ((9, 4), (11, 0), (14, 3), (17, 1)):  # a level that nothing was fetched ahead for
        move(page, "#k", k, pause=0)
        cold.append(move(page, "#level", level))
    return {
        "first_paint_s": painted,
        "rehearsal_card_s": card,
        "rehearsal_drawn_s": stage,
        "look_to_first_level_s": look,
        "slider_to_neighbour_s": summary(neighbours),
        "slider_in_leaps_s": summary(leaps),
        "slider_at_once_after_another_k_s": summary(cold),
        "number_of_centres_s": summary(centres),
    }


def move(page: Page, control: str, value: int, *, pause: int = 400) -> float:
    attribute = "data-level" if control == "#level" else "data-k"
    seconds = page.evaluate(MOVE, [control, str(value), attribute, str(value)]) / 1000
    page.wait_for_timeout(pause)  # a person looks before moving on
    return float(seconds)


def summary(seconds: list[float]) -> dict[str, float]:
    return {"median": statistics.median(seconds), "largest": max(seconds), "moves": len(seconds)}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the studio's page in Chromium.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, help="by default where the pages look for it")
    parser.add_argument("--screen", choices=SCREENS, default="laptop")
    chosen = parser.parse_args()
    out = chosen.out or HERE / "results" / (
        "studio.json" if chosen.screen == "laptop" else f"studio_{chosen.screen}.json"
    )
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder), chosen.rows) as address:
        version, measured = measure(address, SCREENS[chosen.screen])
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()}
    document = {
        "rows": chosen.rows,
        "screen": chosen.screen,
        "chromium": version,
        "machine": machine,
        **rounded(measured),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
