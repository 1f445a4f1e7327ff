"""Who is refused, on every route: routes are listed from the application, so that a new one is covered by itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.routing import Route

from covey.studio.settings import Limits
from studio_client import MARK, TOKEN, Asking, asking

SMALL = Limits(reads=1e6, changes=1e6, strangers=1e6, upload=5000, batch=4000, body=3000)
READS = {"GET", "HEAD"}
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
}
VALUES = {"job": "0" * 16, "level": "1", "publication": "0" * 16, "file": "report.html", "file:path": "index.html"}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Asking:
    return asking(tmp_path_factory.mktemp("studio"), limits=SMALL)


def filled(path: str, values: dict[str, str] = VALUES) -> str:
    return re.sub(r"\{([^}]+)\}", lambda found: values[found.group(1)], path).removeprefix("/")


def every_route(app: Asking) -> list[tuple[str, str]]:
    """(method, path with its parameters) of every route."""
    assert all(isinstance(route, Route) for route in app.routes), "a mount or a socket: cover it here"
    return [(method, route.path) for route in app.routes for method in sorted(route.methods)]


def changing(app: Asking) -> list[tuple[str, str]]:
    return [(method, filled(path)) for method, path in every_route(app) if method not in READS]


def refused(answer, status: int, words: str) -> None:
    assert answer.status_code == status, (answer.request.url, answer.text)
    error = answer.json()["error"]
    assert set(error) == {"parameter", "message"}
    assert words in error["message"]
    assert_safe(answer)


def assert_safe(answer) -> None:
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'self'" in policy or "sandbox" in policy
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_there_are_routes_to_try(small):
    found = every_route(small)
    assert len(found) > 20
    assert ("POST", "/api/look") in found
    assert len(changing(small)) >= 11


@pytest.mark.parametrize("token", ["x" * 32, "", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é" * 9, "%00"])
def test_a_wrong_token_opens_no_route(small, token):
    for method, path in every_route(small):
        answer = small.client.request(method, f"/{token}/{filled(path)}", headers=MARK)
        if method == "HEAD":
            assert answer.status_code == 403
        else:
            refused(answer, 403, "token")


def test_a_bare_address_shows_a_person_a_page_and_a_program_json(small):
    for accept, kind in (("text/html,*/*", "text/html"), ("*/*", "application/json")):
        answer = small.client.get("/", headers={"Accept": accept})
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith(kind)
        assert "use the whole address" in answer.text
        assert small.settings.token not in answer.text


@pytest.fixture
def browser(small):
    """Requests as a browser sends them that was given a link; it keeps the cookie as browsers do, by its path."""
    from starlette.testclient import TestClient

    def visit(address: str, client: TestClient | None = None, **headers: str):
        client = client or TestClient(small.guarded, base_url="http://127.0.0.1:8000", follow_redirects=False)
        sent = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site", **headers}
        return client, client.get(address, headers=sent)

    return visit


def test_a_link_opens_once_and_leaves_no_token_in_the_address(small, browser):
    link = small.settings.new_link()
    client, opened = browser(link)
    cookie = opened.headers["set-cookie"]
    room, key = re.search(r'data-key="([\w-]{32})" data-room="(/studio-[0-9a-f]{16}/)"', opened.text).group(2, 1)
    assert re.fullmatch(rf"covey-studio=[\w-]{{32}}; Path={room}; HttpOnly; SameSite=Strict", cookie)
    assert_safe(opened)
    assert client.get(room).status_code == 200
    assert client.get(f"{room}js/enter.js").status_code == 200
    told = client.get(f"{room}api/state", headers={"X-Covey-Studio": key})
    assert told.json()["data"]["name"] == "town"
    assert client.get(room).status_code == 200, "and again, after a reload or in another tab"
    for visitor in (None, client):
        _, again = browser(link, visitor)
        assert again.status_code == 403
        assert "opened before" in again.text
        assert "set-cookie" not in again.headers
        assert f'<a href="{room}">' in again.text, "the browser that has the cookie finds its way back"
    stranger, _ = browser("/")
    refused(stranger.get(f"{room}api/state"), 403, "token")
    assert small.settings.token not in room + cookie + opened.text
    assert key not in cookie


def test_only_a_visit_uses_up_a_link(small, browser):
    link = small.settings.new_link()
    for wasted in (
        small.client.head(link),
        small.client.post(link, headers=MARK),
        small.client.get(link, headers={"Host": "evil.example"}),
        small.client.get(link, headers={"Sec-Purpose": "prefetch;prerender"}),
        small.client.get(link, headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}),
        small.client.get(f"{link}api/state"),
        small.client.get(link.removesuffix("/")),
    ):
        assert wasted.status_code == 403
        assert "set-cookie" not in wasted.headers
    assert "set-cookie" in browser(link)[1].headers


def test_a_browser_leaves_the_token_of_programs_behind(small, browser):
    client, opened = browser(small.settings.address)
    assert "set-cookie" in opened.headers
    assert client.get(f"/{small.settings.entry.room}/").status_code == 200
    assert "set-cookie" not in small.get("api/state").headers


@pytest.mark.parametrize("cookie", ["", "covey-studio=", "covey-studio=x", "covey-studio={}x", "other={}", "{}"])
def test_a_room_without_its_cookie_is_closed_on_every_route(small, cookie):
    entry = small.settings.entry
    for method, path in every_route(small):
        address = f"/{entry.room}/{filled(path)}"
        headers = {"X-Covey-Studio": entry._key, "Cookie": cookie.format(entry._cookie)}
        assert small.client.request(method, address, headers=headers).status_code == 403, (method, path)


def test_a_cookie_of_another_run_or_in_another_path_opens_nothing(small, tmp_path):
    other = asking(tmp_path).settings.entry
    mine = small.settings.entry
    key = {"X-Covey-Studio": mine._key}
    foreign = ((mine.room, other), (other.room, mine), (other.room, other), ("x", mine))
    for room, entry in foreign:
        given = {**key, "Cookie": f"covey-studio={entry._cookie}"}
        refused(small.client.get(f"/{room}/api/state", headers=given), 403, "token")
    tossed = {**key, "Cookie": f"covey-studio=planted; covey-studio={mine._cookie}"}
    assert small.client.get(f"/{mine.room}/api/state", headers=tossed).status_code == 200


@pytest.mark.parametrize("key", [None, "", "1", "x" * 32, "the cookie", "of another run"])
def test_who_has_the_cookie_alone_learns_and_changes_nothing(small, tmp_path, key):
    """As a server of another user on this machine may, to which the browser was led: cookies know no ports."""
    entry = small.settings.entry
    key = {"the cookie": entry._cookie, "of another run": asking(tmp_path).settings.entry._key}.get(key, key)
    given = {"Cookie": f"covey-studio={entry._cookie}"} | ({} if key is None else {"X-Covey-Studio": key})
    open_to_it = {"api/basemap", filled("api/publications/{publication}/{file}"), "index.html"}
    for method, path in every_route(small):
        where = filled(path)
        answer = small.client.request(method, f"/{entry.room}/{where}", headers=given)
        if method in READS and where in open_to_it:
            assert answer.status_code in (200, 404), "files of the page, the map under it, what has a random id"
        elif method == "HEAD":
            assert answer.status_code == 403
        else:
            refused(answer, 403, "key")
    for trick in (
        "/api/state",
        "assets/../api/state",
        "js/..%2fapi/state",
        "API/state",
        "api/publications",
        "api/state/",
    ):
        answer = small.client.get(f"/{entry.room}/{trick}", headers=given)
        assert answer.status_code in (403, 404)
        assert "town" not in answer.text


def test_with_the_cookie_every_other_protection_holds(small):
    entry = small.settings.entry
    given = {"Cookie": f"covey-studio={entry._cookie}", "X-Covey-Studio": entry._key}

    def ask(method, path, **headers):
        return small.client.request(method, f"/{entry.room}/{path}", headers={**given, **headers})

    refused(ask("GET", "api/state", Host="evil.example:8000"), 403, "Host")
    refused(ask("POST", "api/owner", Origin="http://127.0.0.1:9999"), 403, "another page")
    refused(ask("POST", "api/owner", **MARK), 403, "X-Covey-Studio")
    assert ask("GET", "api/state").status_code == 200
    other_port = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    refused(ask("GET", "api/owner/centres", **other_port), 403, "another page")


def test_another_browser_is_given_another_link(small, browser):
    made = small.post("api/links")
    assert made.status_code == 201
    assert "set-cookie" in browser(made.json()["address"])[1].headers
    for _ in range(40):
        small.settings.new_link()
    assert len(small.settings.entry._links) <= 32


def test_no_token_at_all_opens_nothing(small):
    for path in ("/", "/docs", "/openapi.json", "/api/state", f"//{TOKEN}/api/state", f"/x/../{TOKEN}", f"/{TOKEN}"):
        refused(small.client.get(path), 403, "token")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:9999", "127.0.0.1", "evil.example:8000", "localhost.", ""])
def test_a_foreign_host_opens_no_route(small, host):
    for method, path in every_route(small):
        refused(small.ask(method, filled(path), headers={"Host": host}), 403, "Host")


def test_the_names_of_this_machine_are_let_in(small):
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"):
        assert small.get("api/state", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:9999"])
def test_a_foreign_origin_opens_no_route(small, origin):
    for method, path in every_route(small):
        refused(small.ask(method, filled(path), headers={"Origin": origin}), 403, "another page")


def test_a_cross_site_request_is_refused_even_without_an_origin(small):
    refused(small.get("api/state", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}), 403, "another")
    refused(small.get("api/state", headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}), 403, "another")
    opened = small.get("", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    assert opened.status_code == 200


def test_the_pages_own_origin_is_let_in(small):
    answer = small.post("api/owner", {"on": False}, headers={"Origin": "http://127.0.0.1:8000"})
    assert answer.status_code == 200


def test_a_change_without_the_mark_is_refused(small):
    for method, path in changing(small):
        refused(small.client.request(method, f"/{TOKEN}/{path}", json={}), 403, "X-Covey-Studio")


def test_a_body_that_is_not_json_is_refused(small):
    for method, path in changing(small):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            if path == "api/uploads" and kind in ("text/plain", ""):
                continue
            answer = small.ask(method, path, content=b"{}", headers={"Content-Type": kind})
            refused(answer, 415, "as application/octet-stream" if path == "api/uploads" else "JSON")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_that_is_too_large_is_refused_while_it_comes(small, streamed):
    """With its length declared, and without. (test_studio_server.py shows that the rest is not taken.)"""
    for method, path in changing(small):
        body = (b" " * 1000 for _ in range(100)) if streamed else b" " * 100_000
        kind = "application/octet-stream" if path == "api/uploads" else "application/json"
        answer = small.ask(method, path, content=body, headers={"Content-Type": kind})
        if streamed and method == "DELETE":  # its route reads no body
            assert answer.status_code in (200, 404)
            continue
        refused(answer, 413, "larger than")
    assert list(small.studio._folder.iterdir()) == []


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 2900, b'{"a": 1e99999, "b": NaN', b"9" * 2900, b'"\\ud800'])
def test_a_malformed_body_is_refused(small, body):
    for method, path in changing(small):
        if method == "DELETE" or path == "api/uploads":
            continue
        answer = small.ask(method, path, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500, (path, answer.text)
        assert answer.json()["error"]["message"]


TRAVERSALS = [
    "../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/pyproject.toml",
    "..%5c..%5cetc%5cpasswd",
    "....//....//etc/passwd",
    "/etc/passwd",
    "%00",
    "js/../../app.py",
    "~root",
]


@pytest.mark.parametrize("attempt", TRAVERSALS)
def test_no_route_opens_a_path_that_a_client_names(small, attempt):
    for method, path in every_route(small):
        for name in re.findall(r"\{([^}]+)\}", path):
            answer = small.ask(method, filled(path, {**VALUES, name: attempt}))
            assert 400 <= answer.status_code < 500, (path, answer.text[:100])
            assert answer.status_code == 403 or "error" in answer.json()
            assert "root:" not in answer.text
            assert_safe(answer)
    upload = small.ask("POST", f"api/uploads?name={attempt}", content=b"lon,lat\n1,2\n")
    assert upload.status_code in (201, 415)
    assert small.post("api/open", {"upload": attempt, "bounds": {"lower": [0], "upper": [1]}}).status_code == 404
    assert not Path("/etc/passwd.part").exists()
    for file in small.studio._folder.iterdir():
        assert re.fullmatch(r"[0-9a-f]{16}\.csv", file.name)
    small.studio.uploads._kept.clear()
    for file in small.studio._folder.iterdir():
        file.unlink()


def test_every_answer_carries_the_headers(small):
    for method, path in every_route(small):
        assert_safe(small.ask(method, filled(path)))
    for path in ("", "docs", "openapi.json", "api/nothing", "api/state"):
        assert_safe(small.get(path))


def test_other_methods_are_refused_in_words(small):
    refused(small.ask("PATCH", "api/state"), 405, "method")
    refused(small.get("api/no/such"), 404, "nothing here")
    refused(small.ask("OPTIONS", "api/look"), 405, "method")


def test_a_bug_is_told_by_its_kind_and_place_alone(small, monkeypatch):
    def broken():
        raise RuntimeError("a row of 40.7123")

    monkeypatch.setattr(small.studio, "state", broken)
    answer = small.get("api/state")
    refused(answer, 500, "a bug in Covey: RuntimeError in studio/routes.py")
    assert "40.7" not in answer.text


def test_nothing_of_the_framework_is_reachable(small):
    for path in ("redoc", "docs/oauth2-redirect"):
        assert small.get(path).status_code == 404


def test_the_api_page_loads_nothing_and_shows_every_operation(small):
    page, document = small.get("docs").text, small.get("openapi.json").json()
    assert not re.search(r"<script|src=|href=|https?://", page)
    for path, operations in document["paths"].items():
        assert f" {path.removeprefix('/')}</h3>" in page
        assert all(f"<b>{method.upper()}</b>" in page for method in operations)
    assert TOKEN not in page
    assert TOKEN not in str(document)


def test_the_page_is_served_below_the_token(small):
    page = small.get("")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert not re.search(r'(?:src|href)="/', page.text), "addresses must be relative"


# --- how often --------------------------------------------------------------------------------------------------------


FEW = Limits(reads=0.001, changes=0.001, strangers=0.001, burst_seconds=3000)  # three at once, then one in 1000 s


def test_too_many_requests_are_told_to_wait(tmp_path):
    few = asking(tmp_path, limits=FEW)
    answers = [few.get("api/state") for _ in range(5)]
    assert [each.status_code for each in answers[:3]] == [200] * 3
    refused(answers[-1], 429, "too many")
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert few.post("api/owner", {"on": False}).status_code == 200, "changes are counted apart"


def test_strangers_cannot_use_up_the_owners_requests(tmp_path):
    few = asking(tmp_path, limits=FEW)
    answers = [few.client.get(f"/{'x' * 32}/api/state").status_code for _ in range(20)]
    assert answers[0] == 403
    assert answers[-1] == 429
    assert few.get("api/state").status_code == 200
