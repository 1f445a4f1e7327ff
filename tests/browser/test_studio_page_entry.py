# ruff: noqa: E402
"""How a browser gets into the studio, and what it is told when it does not; errors in words."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from playwright.sync_api import Browser
from studio_page import CHROMIUM, PATIENCE, Opener, Served

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")


def test_a_link_opens_once_and_its_token_leaves_the_address(fresh: Served, browser: Browser, visit: Opener) -> None:
    link = fresh.ask("api/links", method="POST", body={})["address"]
    watched = visit(fresh)
    watched.address = link
    page = watched.open()
    room = page.url.partition("#")[0]  # after it, what is on the screen
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/studio-[0-9a-f]{16}/", room)
    assert page.evaluate("document.cookie") == "", "no script reads it"
    page.reload()
    watched.drawn(rehearsing="true")
    tab = page.context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto(room)
    tab.wait_for_selector("#stage[data-points]")
    tab.close()
    for address, words in (
        (link, "has been opened before"),
        ("/".join(link.split("/")[:3]) + "/", "use the whole address"),
        (room, "use the whole address"),
    ):
        other = browser.new_context().new_page()
        other.set_default_timeout(PATIENCE)
        other.goto(address)
        assert other.inner_text("h1") == "This is a Covey studio"
        assert words in other.inner_text("body")
        assert "{" not in other.inner_text("body")
        other.context.close()
    page.goto(link)
    page.get_by_role("link", name="go on there").click()
    page.wait_for_selector("#stage[data-points]")
    watched.errors.clear()  # that the used link was refused


def test_a_server_on_another_port_is_sent_the_cookie_and_can_do_nothing_with_it(fresh: Served, visit: Opener) -> None:
    """Somebody else on this machine has seen the address, and leads the browser to that path on a port of theirs."""
    watched = visit(fresh)
    page = watched.open()
    room = page.url.partition("#")[0]
    seen: list[str] = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>a prize</title>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Thief) as thief:  # browsers open connections that they never use
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        lured = page.context.new_page()
        lured.set_default_timeout(PATIENCE)
        lured.goto(f"http://127.0.0.1:{thief.server_port}/{room.split('/')[3]}/")
        assert lured.evaluate("localStorage.length") == 0, "the key is of the studio's port"
        lured.close()
        thief.shutdown()
    assert seen[0].startswith("covey-studio="), "browsers send cookies of a host to all its ports; else mend the docs"
    for path, change in (("api/state", False), ("api/ledger", False), ("api/owner", True)):
        headers = {"Cookie": seen[0], "X-Covey-Studio": "1", "Content-Type": "application/json"}
        request = urllib.request.Request(room + path, data=b'{"on": true}' if change else None, headers=headers)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=PATIENCE / 1000)
    assert page.evaluate("localStorage.length") > 0


def test_a_window_of_an_earlier_run_is_told_so_in_words(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(rehearsing="true")
    page.context.clear_cookies()
    page.click("#tab-ledger")
    page.locator("#problem").get_by_text("does not know this window any more").wait_for()
    assert "Open the link that it shows in its terminal" in page.inner_text("#problem")
    watched.pardon("403")  # also of what the page asks for by itself


def test_words_of_a_browser_or_a_validator_reach_nobody(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(rehearsing="true")
    page.evaluate(
        """async () => {
          const { attempt } = await import("./js/dom.js");
          await attempt(() => { throw new TypeError(`AJAXError: Failed to fetch ${location.href}`); });
        }"""
    )
    assert page.inner_text("#problem") == "Something went wrong in this page; please reload it."
    token = fresh.address.split("/")[3]
    assert token not in page.content()
    assert not [url for url in watched.asked if token in url and not url.endswith(f"/{token}/")]


def test_values_along_an_axis_are_told_apart_however_near_they_are(fresh: Served, visit: Opener) -> None:
    watched = visit(fresh)
    page = watched.open()
    watched.drawn(rehearsing="true")
    made = page.evaluate(
        """async () => {
          const { labels, ticks } = await import("./js/scatterview.js");
          const near = [[-73.9851, -73.9849], [40.7, 40.9], [5, 5.0000001], [1e6, 1e6 + 2]];
          const views = [...near, [999, 1003], [0, 1e7], [-3, 900]];
          return views.map(([from, to]) => labels(ticks(from, to, 600, 110)));
        }"""
    )
    for values in made:
        assert len(values) >= 2
        assert len(set(values)) == len(values), values
