# ruff: noqa: E402
"""The page of a node in real Chromium, opened as a file: what leaves it is what it says, and nothing else ever does."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'covey[test]'")

pytest.register_assert_rewrite("studio_page")

from playwright.sync_api import Browser, Page
from studio_page import CHROMIUM, PATIENCE

from covey.cli.main import main
from covey.fit.node import thin_file

pytest_plugins = ["studio_page"]
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is not there (make chromium)")

HEADER = b"time,lon,lat,note\r\n"
HOME = [f'08:{i:03d},1.5,1.5,"at ""home"", \xe9"\r\n'.encode() for i in range(400)]
WORK = [f"09:{i:03d},4.5,4.5,work\r\n".encode() for i in range(100)]
AWAY = [f"10:{i:03d},{2.5 + i / 200},{3 + i / 400},way\r\n".encode() for i in range(200)]
NOWHERE = [b",,,\r\n", b"11,191,3,x\r\n", b"11,3\r\n"]
TRACK = HEADER + b"".join([*HOME, *AWAY[:100], *NOWHERE, *WORK, *AWAY[100:]])
STEP = 60  # pixels of an arrow key


def zone(name: str, epsilon: float, low: float, high: float) -> dict[str, Any]:
    ring = [[low, low], [high, low], [high, high], [low, high], [low, low]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "properties": {"name": name, "epsilon": epsilon}, "geometry": geometry}


ZONES = {"type": "FeatureCollection", "features": [zone("home", 0.5, 1, 2), zone("work", 0.2, 4, 5)]}


@dataclass
class Node:
    """The page, what it asked the network for, and what went wrong."""

    page: Page
    address: str
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, content: bytes = TRACK, *, name: str = "track.csv", rows: int | None = None) -> None:
        self.page.set_input_files("#track-file", {"name": name, "mimeType": "text/csv", "buffer": content})
        self.page.wait_for_selector(f'#stage[data-rows="{703 if rows is None else rows}"]')

    def draw(self, zones: Any = ZONES, *, many: int = 2) -> None:
        content = json.dumps(zones).encode()
        self.page.set_input_files("#zone-file", {"name": "mine.geojson", "mimeType": "text/json", "buffer": content})
        self.page.wait_for_selector(f'#stage[data-zones="{many}"]')

    def saved(self, button: str = "#save") -> bytes:
        with self.page.expect_download() as download:
            self.page.click(button)
        return Path(download.value.path()).read_bytes()

    def epsilon(self, name: str, value: str) -> None:
        box = self.page.get_by_label(f"Epsilon of {name}", exact=True)
        box.fill(value)
        box.press("Tab")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as the command writes it."""
    file = tmp_path_factory.mktemp("node") / "node.html"
    main(["studio", "--node", "--no-browser", "--out", str(file)])
    return file.as_uri()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Node]]:
    """Opens watched pages; at the end each must have asked for nothing but itself, and without an error."""
    nodes: list[Node] = []

    def opener(**options: Any) -> Node:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 700}, **options})
        node = Node(context.new_page(), address)
        node.page.set_default_timeout(PATIENCE)
        node.page.on("console", lambda message: message.type == "error" and node.errors.append(message.text))
        node.page.on("pageerror", lambda error: node.errors.append(str(error)))
        node.page.on("dialog", lambda dialog: (node.errors.append(dialog.message), dialog.dismiss()))
        node.page.on("request", lambda request: node.asked.append(request.url))
        node.page.goto(address)
        nodes.append(node)
        return node

    yield opener
    for node in nodes:
        node.page.context.close()
        assert node.errors == []
        assert {each for each in node.asked if not each.startswith("blob:")} == {address}


@pytest.fixture
def node(visit: Callable[..., Node]) -> Node:
    return visit()


def records(sent: bytes) -> list[bytes]:
    assert sent.startswith(HEADER)
    return [each + b"\r\n" for each in sent.removeprefix(HEADER).split(b"\r\n")[:-1]]


def test_the_file_that_is_saved_holds_the_rows_that_are_said_to_leave(node: Node) -> None:
    node.open()
    node.draw()
    assert "200 rows in no zone leave" in node.page.inner_text("#summary")
    assert "Of 500 in your zones about 164 will" in node.page.inner_text("#summary")  # 400 at 0.3775, 100 at 0.1289
    node.page.click("#show")
    node.page.wait_for_selector('#stage[data-shown="true"]')
    sent = records(node.saved())
    assert len(sent) == int(node.page.get_attribute("#stage", "data-leave") or 0)
    left = set(sent)
    assert sent == [each for each in [*HOME, *AWAY[:100], *WORK, *AWAY[100:]] if each in left]  # to the byte, in order
    assert left >= set(AWAY)
    assert not left & set(NOWHERE)
    assert 60 < len(left & set(HOME)) < 260  # 151 on average, more than eleven deviations from either end
    for many, words in ((len(left & set(HOME)), "400 rows in it"), (len(left & set(WORK)), "100 rows in it")):
        assert f"{words}, {many} of them leave" in node.page.inner_text("#zone-list")


def test_coins_stay_through_every_preview_and_a_stricter_zone_only_takes_away(node: Node) -> None:
    node.open()
    node.draw()
    first = records(node.saved())
    node.page.click("#show")
    assert records(node.saved()) == first
    assert "more than once" in node.page.inner_text("#saved")
    node.epsilon("home", "0.1")
    stricter = records(node.saved())
    assert set(stricter) < set(first)
    node.epsilon("home", "0.5")
    assert records(node.saved()) == first
    node.page.get_by_role("button", name="Remove home").click()
    node.page.wait_for_selector('#stage[data-zones="1"]')
    assert set(records(node.saved())) >= set(HOME) | set(first)
    node.draw({**ZONES, "features": ZONES["features"][:1]})
    assert records(node.saved()) == first
    node.open(rows=703)  # the same file again has other coins: the same ones with a chance below 10^-60
    node.page.wait_for_selector('#stage[data-shown="false"]')
    assert records(node.saved()) != first


def test_zones_that_follow_the_coins_are_said_not_to_be_covered(node: Node) -> None:
    node.open()
    node.draw()
    node.epsilon("home", "0.3")
    assert node.page.locator("#seen").is_hidden()
    node.page.click("#show")
    assert node.page.locator("#seen").is_hidden()
    node.epsilon("home", "0.2")
    assert "not covered by the promise" in node.page.inner_text("#seen")


def test_the_page_says_what_is_promised_to_a_row(node: Node) -> None:
    node.open()
    node.draw()
    words = " ".join(node.page.inner_text("#promise").split())
    assert "raw rows for the collector" in words
    assert "adding or removing a row, promises each single row this ε" in words
    assert "home 0.22 0.5 1.3 4.1 work 0.081 0.2 0.61 3 A row elsewhere 0.5 1 2 5" in words  # ln(1 + q(e^E - 1))
    node.page.fill("#epsilon", "0.4")
    node.page.press("#epsilon", "Tab")
    assert "below that of the releases" in node.page.inner_text("#zone-list")
    assert node.page.locator("#save").is_disabled()
    assert node.page.locator("#promise").is_hidden()


def test_the_zones_are_saved_for_the_person_and_the_command_takes_them(node: Node, tmp_path: Path) -> None:
    node.open()
    node.draw()
    content = node.saved("#save-zones")
    assert json.loads(content)["features"] == ZONES["features"]
    (tmp_path / "mine.geojson").write_bytes(content)
    (tmp_path / "track.csv").write_bytes(TRACK)
    upload = thin_file(tmp_path / "track.csv", tmp_path / "mine.geojson", epsilon=1.0)
    assert [(each.names, each.rows) for each in upload.shares] == [(("work",), 100), (("home",), 400)]


def test_where_zones_overlap_the_strictest_counts(node: Node) -> None:
    node.open()
    node.draw({"type": "FeatureCollection", "features": [zone("all", 0.9, 0, 6), zone("home", 1e-6, 1, 2)]})
    words = node.page.inner_text("#zone-list")
    assert "300 rows in it; each leaves with a chance of 84.9%" in words
    assert "400 rows in it; each leaves with a chance of 0.0000582%" in words
    assert sum(each in HOME for each in records(node.saved())) < 3  # more with a chance below 10^-11


def test_points_and_gpx_become_csv(node: Node) -> None:
    points = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [x, 3.25]}} for x in (3.5, "no", 3.75)]
    node.open(json.dumps({"type": "FeatureCollection", "features": points}).encode(), name="track.geojson", rows=3)
    node.draw()
    assert node.saved() == b"lon,lat\n3.5,3.25\n3.75,3.25\n"
    gpx = (
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lon="9" lat="9"/><trk><trkseg><trkpt lat="3.25" lon="3.5">'
        '<time> 2026-01-01T00:00:00Z </time></trkpt><trkpt lat="3.25"/><trkpt lat="3" lon="3.25"><time>a, "b"</time>'
        "</trkpt></trkseg></trk></gpx>"
    )
    node.open(gpx.encode(), name="Track.GPX", rows=3)
    node.page.wait_for_selector('#data-name:text("Track.GPX")')
    assert node.saved() == b'lon,lat,time\n3.5,3.25,2026-01-01T00:00:00Z\n3.25,3,"a, ""b"""\n'


EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def test_what_a_file_holds_is_never_markup(node: Node) -> None:
    node.open(f'lon,lat,"{EVIL}"\n1.5,1.5,"{EVIL}"\n'.encode(), name=f"{EVIL[:27]}.csv", rows=1)
    node.draw({"type": "FeatureCollection", "features": [zone(EVIL, 0.2, 1, 2)]}, many=1)
    node.page.click("#show")
    assert node.page.locator("img").count() == 0
    assert node.page.locator("script").count() == 1
    assert EVIL in node.page.inner_text("#promise-table")
    evil = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><gpx><trkpt lon="1" lat="1">&b;</trkpt></gpx>'
    node.page.set_input_files("#track-file", {"name": "evil.gpx", "mimeType": "text/xml", "buffer": evil})
    node.page.wait_for_selector("#problem:not([hidden])")
    assert "declares entities" in node.page.inner_text("#problem")


@pytest.mark.parametrize(
    ("picker", "content", "words"),
    [
        ("#track-file", b"1.5,2.5\n3,4\n", "must name its columns"),
        ("#track-file", b"", "must name its columns"),
        ("#track-file", b"time;lon;lat\n08:00;1,5;1,5\n", "Commas must stand between the cells"),
        ("#zone-file", b"{", "not a JSON document"),
        ("#zone-file", b"{}", "Zones are GeoJSON"),
        ("#zone-file", json.dumps({**zone("a", 0.1, 0, 1), "properties": {}}).encode(), "property epsilon"),
        (
            "#zone-file",
            json.dumps({**zone("a", 0.1, 0, 1), "properties": {"epsilon": 0.1, "buffer_metres": 5}}).encode(),
            "knows no buffer_metres",
        ),
        (
            "#zone-file",
            b'{"type": "Feature", "properties": {"epsilon": 1}, "geometry": {"type": "Polygon", "coordinates": '
            b"[[[0, 0], [1, 1], [1, 0], [0, 1]]]}}",
            "crosses or touches itself",
        ),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(node: Node, picker: str, content: bytes, words: str) -> None:
    node.open()
    node.page.set_input_files(picker, {"name": "file", "mimeType": "text/plain", "buffer": content})
    node.page.wait_for_selector("#problem:not([hidden])")
    assert words in node.page.inner_text("#problem")
    assert node.page.get_attribute("#stage", "data-rows") == "703"


def test_columns_are_chosen_where_their_names_do_not_say_it(node: Node) -> None:
    node.open(b"east,north\n1.5,2.5\n", rows=1)
    assert node.page.locator("#work").is_hidden()
    node.page.select_option("#lon", label="east")
    node.page.select_option("#lat", label="north")
    node.page.wait_for_selector("#stage[data-view]")
    node.draw()
    assert node.saved() == b"east,north\n1.5,2.5\n"


SENDING = {
    "fetch": "fetch(to).then(() => 'sent', () => 'refused')",
    "image": "new Promise((done) => Object.assign(new Image(), "
    "{ onload: done, onerror: () => done('refused'), src: to }))",
    "script": "new Promise((done) => document.head.append(Object.assign(document.createElement('script'), "
    "{ onload: done, onerror: () => done('refused'), src: to })))",
    "beacon": "Promise.resolve(navigator.sendBeacon(to, 'x')).then(() => 'refused')",  # it never tells
    "socket": "new Promise((done) => { try { Object.assign(new WebSocket(to.replace('http', 'ws')), { onopen: done, "
    "onerror: () => done('refused') }); } catch { done('refused'); } })",
}


def test_the_policy_keeps_even_a_script_in_the_page_from_sending_anything(visit: Callable[..., Node]) -> None:
    node = visit()
    node.open()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        to = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        for name, script in SENDING.items():
            assert node.page.evaluate(f"to => {script}", to) == "refused", name
        node.page.wait_for_timeout(300)
        with pytest.raises(BlockingIOError):  # nobody came
            listener.accept()
    end = time.monotonic() + PATIENCE / 1000
    while len(node.errors) < len(SENDING) and time.monotonic() < end:
        node.page.wait_for_timeout(50)  # a busy browser tells of what it refused when it has time
    assert len(node.errors) >= len(SENDING)
    assert all("Content Security Policy" in each for each in node.errors)
    node.errors.clear()  # those that this test made
    node.asked[:] = [node.address]  # Chromium tells of a request before its policy stops it


def focus_of(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.id"))


def tab_to(page: Page, wanted: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if focus_of(page) == wanted:
            return
    raise AssertionError(f"Tab never reached {wanted}")


def test_the_keyboard_alone_draws_a_zone_looks_and_saves(visit: Callable[..., Node]) -> None:
    node = visit(reduced_motion="reduce")
    page = node.page
    tab_to(page, "track-file")
    node.open()
    tab_to(page, "draw-zone")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cross:not([hidden])")
    for way in ("ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press("Space")
        page.keyboard.press(way)
    page.keyboard.press("Enter")
    page.wait_for_selector('#stage[data-zones="1"]')
    tab_to(page, "show")
    page.keyboard.press("Enter")
    page.wait_for_selector('#stage[data-shown="true"]')
    tab_to(page, "save")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "upload.csv"


def test_a_polygon_is_drawn_by_clicks_and_a_tangled_one_is_refused(node: Node) -> None:
    node.open()
    frame = node.page.locator("#stage").bounding_box()
    assert frame is not None

    def click(*corners: tuple[float, float]) -> None:
        node.page.click("#draw-zone")
        for across, down in corners:
            node.page.mouse.click(frame["x"] + across * frame["width"], frame["y"] + down * frame["height"])
        node.page.keyboard.press("Enter")

    click((0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7))
    node.page.wait_for_selector('#stage[data-zones="1"]')
    assert node.page.get_by_label("Epsilon of Zone 1", exact=True).input_value() == "0.1"
    click((0.3, 0.3), (0.7, 0.7), (0.7, 0.3), (0.3, 0.7))
    node.page.wait_for_selector("#problem:not([hidden])")
    assert "without crossings" in node.page.inner_text("#problem")
    assert node.page.get_attribute("#stage", "data-zones") == "1"


def test_nothing_is_saved_without_a_zone_or_while_one_is_drawn(node: Node) -> None:
    """All of the track would leave, and the person think otherwise."""
    node.open()
    assert "every row would leave" in node.page.inner_text("#summary")
    assert node.page.locator("#save").is_disabled()
    node.draw()
    assert node.page.locator("#save").is_enabled()
    node.page.click("#draw-zone")
    assert node.page.locator("#save").is_disabled()
    node.page.keyboard.press("Escape")
    assert node.page.locator("#save").is_enabled()
    for name in ("home", "work"):
        node.page.get_by_label(f"Remove {name}", exact=True).click()
    assert node.page.locator("#save").is_disabled()


COLOURS = """() => {
    const canvas = document.getElementById("overlay"), found = {};
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) {
        const colour = data.slice(i, i + 3).join();
        found[colour] = (found[colour] ?? 0) + 1;
    }
    return found;
}"""


def test_the_map_has_marks_of_every_kind_in_light_and_in_dark(visit: Callable[..., Node]) -> None:
    for scheme, paper in (("light", 255), ("dark", 26)):
        node = visit(color_scheme=scheme)
        node.open()
        node.draw()
        node.page.wait_for_selector(f'#stage[data-dark="{"true" if scheme == "dark" else "false"}"]')
        node.page.wait_for_timeout(100)
        colours = node.page.evaluate(COLOURS)
        for colour in ((f"{paper},", 10_000), ("15,95,140" if scheme == "light" else "124,192,234", 200)):
            assert sum(many for key, many in colours.items() if key.startswith(colour[0])) > colour[1]
    node.page.click("#theme-switch")
    node.page.wait_for_selector('#stage[data-dark="false"]')


def test_a_phone_shows_everything_without_scrolling_sideways(visit: Callable[..., Node]) -> None:
    node = visit(viewport={"width": 360, "height": 740}, has_touch=True)
    node.open()
    node.draw()
    assert node.page.locator("html").evaluate("page => page.scrollWidth") == 360
    for control in ("#track-file", "#draw-zone", "#epsilon", "#show", "#save", "#zoom-in"):
        box = node.page.locator(control).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 28


def test_everything_that_can_be_used_has_a_name(node: Node) -> None:
    node.open()
    node.draw()
    for role in ("button", "textbox", "combobox"):
        for each in node.page.get_by_role(role).all():
            assert each.evaluate("e => (e.ariaLabel || e.labels?.[0]?.innerText || e.innerText).trim()"), role
    assert node.page.get_by_role("application", name="Map of your track").count() == 1
    assert node.page.get_attribute("#summary", "aria-live") == "polite"
