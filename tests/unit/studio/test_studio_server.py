"""The studio as a process: `covey studio --demo` on a real socket."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from urllib.parse import urlsplit

import pytest

from covey.cli.main import main

PATIENCE = 100  # seconds, on a machine that is busy with other tests


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address that a running demo prints; its uploads end at 1 MB."""
    folder = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "covey.cli.main", "studio", "--demo", "--no-browser", "--upload-limit", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    usual = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # in the background of a shell it would be ignored
    process = subprocess.Popen(command, cwd=folder, preexec_fn=usual, **pipes)
    try:
        line = process.stdout.readline()
        assert line.startswith("Covey studio: http://127.0.0.1:"), process.stderr.read()
        programs = process.stdout.readline()
        assert programs.startswith("It opens once.")
        assert "Ctrl-C" in process.stdout.readline()
        yield urlsplit(programs.split()[-1])
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=200)
    assert process.returncode == 130
    assert err.strip() == "covey: error: interrupted; what was charged stays charged"


def ask(address, method: str, path: str, body=None, **headers):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=PATIENCE)
    try:
        mark = {"X-Covey-Studio": "1"} if method != "GET" else {}
        content = None if body is None else json.dumps(body)
        kind = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, address.path + path, content, {**mark, **kind, **headers})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_the_demo_from_the_price_to_a_level(address):
    state = json.loads(ask(address, "GET", "api/state")[2])
    assert state["demo"]
    assert state["data"]["geographic"]
    status, _, body = ask(address, "POST", "api/look", {"confirm": True, "epsilon": state["price"]["epsilon"]})
    assert status == 202
    job = json.loads(body)["id"]
    end = time.monotonic() + 200
    while (found := json.loads(ask(address, "GET", f"api/job/{job}")[2]))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert found["state"] == "done"
    level = json.loads(ask(address, "GET", "api/levels/4?k=7")[2])
    assert sum(level["sizes"]) == pytest.approx(200_000, rel=0.02)
    assert len(level["regions"]["features"]) == 7


def test_the_server_says_nothing_about_itself(address):
    status, headers, _ = ask(address, "GET", "")
    assert status == 200
    assert "server" not in {name.lower() for name in headers}


def test_strangers_are_refused_on_the_wire(address):
    assert ask(address, "GET", "api/state", Host="evil.example")[0] == 403
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=PATIENCE)
    connection.request("GET", "/wrong-token-0123456789/api/state")
    assert connection.getresponse().status == 403
    connection.close()
    assert ask(address, "POST", "api/owner", {"on": False}, Origin="http://evil.example")[0] == 403


def test_an_endless_upload_is_cut_off_at_the_limit(address):
    """No length is declared; the refusal comes after about a megabyte, not after what the client is willing to send."""
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as wire:
        head = (
            f"POST {address.path}api/uploads?name=a.csv HTTP/1.1\r\nHost: {address.netloc}\r\nX-Covey-Studio: 1\r\n"
            "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        wire.sendall(head.encode())
        chunk, sent = b"10000\r\n" + b"1" * 65536 + b"\r\n", 0
        wire.settimeout(0.01)
        answer = b""
        while sent < 2**27 and not answer:
            try:
                wire.settimeout(PATIENCE)
                wire.sendall(chunk)
                sent += 65536
                wire.settimeout(0.001)
                answer = wire.recv(65536)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        wire.settimeout(PATIENCE)
        while b"}}" not in answer:
            more = wire.recv(65536)
            if not more:
                break
            answer += more
    assert sent < 2**25, "the server stopped reading long before"
    assert b"413" in answer.split(b"\r\n", 1)[0]
    assert b"larger than 1 MB" in answer


def test_a_wrong_path_on_the_wire_is_not_normalised_into_a_file(address):
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as wire:
        path = f"{address.path}../../../../etc/passwd"
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
        answer = wire.makefile("rb").read()
    assert re.match(rb"HTTP/1.1 40[34]", answer)
    assert b"root:" not in answer


# --- the command's own refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--demo", "x.csv"], "--demo"),
        (["x.csv"], "--bounds"),
        (["--ledger", "l"], "--dataset"),
        (["--demo", "--key", "k"], "--key"),
        (["--demo", "--host", "0.0.0.0"], "host: must be one address"),
        (["none.csv", "--bounds", "a=0:1"], "there is no file"),
        (["--demo", "--zones", "none.json"], "zones: cannot read"),
        (["--demo", "--basemap", "ftp://x"], "basemap"),
        (["--demo", "--ledger", "none.ledger", "--dataset", "x"], "none.ledger"),
        (["--demo", "--port", "70000"], "--port"),
        (["--demo", "--lon", "nothing"], "--lon"),
        (["--demo", "--out", __file__], "out: "),
        (["--demo", "--out", f"{__file__}/below"], "cannot be the folder of publications"),
        (["--demo", "--host", "203.0.113.77"], "--host: cannot listen on 203.0.113.77"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_served(capsys, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["studio", *arguments, "--no-browser"])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("covey: error:")
    assert words in error


def test_the_browser_is_opened_through_a_private_file(monkeypatch, tmp_path):
    """The address must not stand on a command line, where other users of the machine could read it."""
    import os
    import webbrowser
    from urllib.request import url2pathname

    from covey.studio.serve import opened_browser

    seen = []

    def look(url):
        path = url2pathname(urlsplit(url).path)
        with open(path) as file:
            seen.append((url, os.stat(path).st_mode & 0o077, file.read()))

    monkeypatch.setattr(webbrowser, "open", look)
    with opened_browser("http://127.0.0.1:1/secret-token/"):
        pass
    url, others, content = seen[0]
    assert "secret-token" not in url
    assert others == 0
    assert "url=http://127.0.0.1:1/secret-token/" in content
    assert not os.path.exists(url2pathname(urlsplit(url).path))
