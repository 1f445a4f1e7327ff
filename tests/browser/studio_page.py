"""What the browser tests share: the real server on a thread, real Chromium, and pages that watch themselves.

A page fails its test when it writes an error to the console, throws, or asks for anything outside the studio's origin.
The page's own security policy forbids `eval`, so tests wait for attributes of the stage, never for a script's answer.
"""

from __future__ import annotations

import contextlib
import io
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Route, sync_playwright

from covey import Box
from covey.budget.ledger.ledger import Ledger
from covey.cli.demo import BOX, make_city
from covey.studio.app import make_app, page_files
from covey.studio.serve import listen
from covey.studio.settings import Basemap, Settings

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
PEOPLE = 20_000
PATIENCE = 100_000  # milliseconds, on a machine that is busy with other tests


AXE = Path(__file__).resolve().parents[2] / "build" / "axe" / "axe.min.js"  # see scripts/studio_assets.py


def has_map() -> bool:
    """Whether `make studio-assets` has been run."""
    return "assets/maplibre/maplibre-gl.mjs" in page_files()


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))


@dataclass
class Served:
    """A running studio: its address, and its API for what a test wants to know without the page."""

    address: str
    app: Any

    def ask(self, path: str, *, method: str = "GET", body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Covey-Studio": "1", "Content-Type": "application/json"} if method != "GET" else {}
        request = urllib.request.Request(self.address + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as answer:
            content = answer.read()
        return json.loads(content)

    def look(self, *, alone: float | None = None) -> None:
        """Take the look as a program would: at all levels, or at the one of an epsilon alone."""
        price = self.ask("api/state")["price"]["epsilon"] if alone is None else alone
        body = {"confirm": True, "epsilon": price, "alone": alone is not None}
        job = self.ask("api/look", method="POST", body=body)
        while (now := self.ask(f"api/job/{job['id']}"))["state"] == "running":
            time.sleep(0.05)
        assert now["state"] == "done", now


@contextlib.contextmanager
def serving(data: Any, bounds: Box | None, out: Path, **more: Any) -> Iterator[Served]:
    """The server of `covey studio` on a free port of this machine."""
    with listen("127.0.0.1", 0) as bound:
        settings = Settings(port=bound.getsockname()[1], data=data, bounds=bounds, out=out, **more)
        app = make_app(settings)
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1))
        bound.listen(64)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Served(settings.address, app)
        finally:
            server.should_exit = True
            thread.join(10)


@dataclass
class Watched:
    """A page and what it did behind the scenes."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    pardoned: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _heard(self, message: ConsoleMessage) -> None:
        no_map = message.location["url"].endswith("assets/versions.json") and not has_map()  # the page falls back
        if message.type == "error" and not no_map:
            self.errors.append(message.text)

    def pardon(self, *words: str) -> None:
        """Errors with these words are what a test is about, those too that a browser tells after the test's end."""
        self.pardoned.extend(words)

    def open(self) -> Page:
        """At the address; what stands after # comes back with the page, and not with the link that leads to it."""
        link, _, view = self.address.partition("#")
        self.page.goto(link)
        self.page.wait_for_selector("#stage[data-points]")
        if view:
            room = self.page.url.partition("#")[0]
            self.page.goto("about:blank")
            self.page.goto(f"{room}#{view}")
            self.page.wait_for_selector("#stage[data-points]")
        return self.page

    def drawn(self, **attributes: object) -> Page:
        """Wait until the stage has drawn what the attributes say."""
        wanted = "".join(f'[data-{name}="{value}"]' for name, value in attributes.items())
        self.page.wait_for_selector(f"#stage{wanted}")
        return self.page

    def pay(self, *, alone: bool) -> None:
        """Pay for the level that the rehearsal shows, or for all of them."""
        if not alone:
            self.page.click("#several summary")
        self.page.click("#pay" if alone else "#pay-several")
        self.page.click("#confirm-look")

    @contextlib.contextmanager
    def taken(self, request: str, part: str) -> Iterator[None]:
        """What is done here asks the server for a change: wait until a part of the page is made anew by the answer.

        The server knows of a change before the page does, and whoever acts in between is refused as a second window.
        """
        held = self.holding(request)
        yield
        self.until(lambda: bool(held))
        self.page.locator(part).first.evaluate("element => element.setAttribute('data-old', '')")
        held[0].continue_()
        self.page.wait_for_selector(f"{part}[data-old]", state="detached")
        self.page.unroute(request)

    def holding(self, request: str) -> list[Route]:
        """Where the first request of this address will stand, until a test lets it go on; later ones pass."""
        held: list[Route] = []
        self.page.route(request, lambda route: route.continue_() if held else held.append(route))
        return held

    def until(self, holds: Callable[[], bool], *, seconds: float = PATIENCE / 1000) -> None:
        """Wait until something holds that the page itself does not show."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "it never came to hold"
            self.page.wait_for_timeout(50)

    def click_at(self, across: float, down: float, *, double: bool = False) -> None:
        """Click a place of the stage, given in parts of its width and height."""
        frame = self.page.locator("#stage").bounding_box()
        assert frame is not None
        place = (frame["x"] + across * frame["width"], frame["y"] + down * frame["height"])
        (self.page.mouse.dblclick if double else self.page.mouse.click)(*place)

    def tip_at(self, across: float, down: float, words: str) -> None:
        """Click a place, again while the view still moves, until the words beside the pointer hold these."""

        def clicked() -> bool:
            self.click_at(across, down)
            tip = self.page.locator("#tooltip")
            return tip.is_visible() and words in tip.inner_text()

        self.until(clicked)

    def verdict(self) -> None:
        """No error on the console, no request to anywhere else."""
        assert [error for error in self.errors if not any(word in error for word in self.pardoned)] == []
        origin = "/".join(self.address.split("/")[:3]) + "/"
        assert [url for url in self.asked if not url.startswith((origin, f"blob:{origin[:-1]}", "data:"))] == []
        assert self.asked, "the page asked for nothing: it was not watched"


def share_of(page: Page, colour: tuple[int, int, int], *, least: float = 0.05, tries: int = 200) -> float:
    """The part of the stage's pixels that have a colour, once it is more than `least`."""
    from matplotlib.image import imread

    share = 0.0
    for _ in range(tries):
        pixels = imread(io.BytesIO(page.locator("#stage").screenshot()), format="png")[..., :3] * 255
        share = float(np.mean(np.abs(pixels - colour).max(axis=2) < 3))
        if share > least:
            break
        page.wait_for_timeout(250)
    return share


Opener = Callable[..., Watched]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demo's city after its look, the same in every run; for tests that leave the server as they found it."""
    out = tmp_path_factory.mktemp("out")
    with serving(make_city(PEOPLE), BOX, out, name="a made-up city", demo=True, seed=1) as served:
        served.look()
        yield served


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same without a map underneath, as with --basemap none, for tests of what stands beside the map."""
    out = tmp_path_factory.mktemp("out")
    with serving(make_city(PEOPLE), BOX, out, name="a made-up city", basemap=Basemap(kind="none")) as served:
        served.look()
        yield served


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """The demo's city before its look, without a map underneath, with a ledger that holds a total."""
    ledger = Ledger.memory()
    ledger.add("city", epsilon=8)
    given = {"name": "a made-up city", "basemap": Basemap(kind="none"), "ledger": ledger, "dataset": "city"}
    with serving(make_city(PEOPLE), BOX, tmp_path / "out", **given) as served:
        yield served


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    """Opens watched pages, and asks each at the end whether anything went wrong."""
    contexts, pages = [], []

    def opener(served: Served, **options: Any) -> Watched:
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 640}, **options})
        contexts.append(context)
        watched = Watched(context.new_page(), served.address)
        watched.watch()
        pages.append(watched)
        return watched

    yield opener
    for each in contexts:
        each.close()
    for page in pages:
        page.verdict()
