"""`covey bench data`: what is told of each set, and getting one from a server on this machine, whole or not at all."""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from click.testing import CliRunner

from covey.bench import sets
from covey.bench.data import fetch
from covey.bench.data.sources import SOURCES, Reader
from covey.cli.main import cli
from covey.errors import DataError, ParameterError

ROWS = np.array([[3.0, 4.5], [1e6, 0.25], [7.0, 8.0]])
PLAIN = Reader(columns=(0, 1))
TEXT = b"x y\n3 4.5\n1000000 0.25\n\n7 8\n"
PAGES = {
    "/rows.txt": TEXT,
    "/rows.txt.gz": gzip.compress(TEXT),
    "/first.txt": b"3,4.5\n",
    "/rest.txt": b"|comment\n1000000,0.25\n7,8\n",
    "/torn.gz": gzip.compress(TEXT)[:-9],
    "/other.txt": b"1 2\n3 4\n",
    "/letters.txt": b"\xff\xfe\x00",
    "/much.gz": gzip.compress(bytes(100_000)),
}


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        short = self.path == "/short.txt"
        if self.path == "/moved.txt":
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/rows.txt")
            self.end_headers()
            return
        self.send_response(200 if page or short else 404)
        self.send_header("Content-Length", str(len(TEXT) if short else len(page or b"")))
        self.end_headers()
        self.wfile.write(TEXT[:6] if short else page or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server():
    running = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()
    thread.join()


def source(*addresses: str, reader: Reader = PLAIN):
    s1 = next(each for each in SOURCES if each.file == "s1")
    return replace(s1, addresses=addresses, reader=reader, count=3, rows=fetch.checksum(ROWS), sha256="")


@pytest.mark.parametrize(
    ("pages", "reader"),
    [
        (["/rows.txt"], Reader(columns=(0, 1))),
        (["/rows.txt.gz"], Reader(columns=(0, 1))),
        (["/first.txt", "/rest.txt"], Reader(columns=(0, 1), between=",")),
    ],
)
def test_a_set_is_got_and_read_as_the_benchmarks_read_it(server, tmp_path, pages, reader):
    wanted = source(*(server + page for page in pages), reader=reader)
    assert "3 rows" in fetch.get(wanted, tmp_path / "new")
    assert np.array_equal(sets.table_of(tmp_path / "new" / "s1.parquet", ["x", "y"]), ROWS)
    assert sets.read(sets.utility_set("s1"), tmp_path / "new").shape == (3, 2)
    assert fetch.get(wanted, tmp_path / "new") == "is here, the same rows"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("/other.txt", "another set"),
        ("/nowhere.txt", "cannot get"),
        ("/short.txt", "whole"),
        ("/torn.gz", "not a text"),
        ("/letters.txt", "not a text"),
    ],
)
def test_what_is_not_the_set_leaves_nothing_behind(server, tmp_path, page, words):
    with pytest.raises(DataError, match=words):
        fetch.get(source(server + page), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_address_elsewhere_must_be_https():
    with pytest.raises(DataError, match="https"):
        fetch.download("http://example.org/rows.txt")
    with pytest.raises(DataError, match="https"):
        fetch.download("file:///etc/hostname")


def test_an_address_may_not_lead_to_one_that_is_not_https(server, monkeypatch):
    moved = server.replace("127.0.0.1", "localhost") + "/moved.txt"
    assert fetch.download(moved) == TEXT.decode()
    monkeypatch.setattr(fetch, "LOCAL", ("localhost",))
    with pytest.raises(DataError, match="is not an https address"):
        fetch.download(moved)


def test_little_that_unpacks_to_much_is_refused(server, monkeypatch):
    monkeypatch.setattr(fetch, "MOST_BYTES", 50_000)
    with pytest.raises(DataError, match="not a text"):
        fetch.download(f"{server}/much.gz")


def test_lines_may_be_sorted_by_a_column_and_columns_be_swapped():
    lines = ["2\t5\t50", "0\t7\t70", "head\tb\tc", "1\t6\t60"]
    found = fetch.read_lines(lines, Reader(columns=(2, 1), sorted_by=0))
    assert found.tolist() == [[70, 7], [60, 6], [50, 5]]


def test_another_file_is_not_replaced(server, tmp_path):
    (tmp_path / "s1.parquet").write_bytes(b"mine")
    with pytest.raises(DataError, match="another file"):
        fetch.get(source(f"{server}/rows.txt"), tmp_path)
    assert (tmp_path / "s1.parquet").read_bytes() == b"mine"


def test_every_file_of_the_benchmarks_has_a_source_a_licence_a_checksum_and_bounds():
    from covey.bench.coverage.suite import OTHERS
    from covey.bench.ipsn17.tasks import SETS

    used = {each.file for each in (*sets.UTILITY, *sets.SU16, *OTHERS, *SETS.values()) if each.file}
    assert used == {each.file for each in SOURCES}
    for each in SOURCES:
        assert all((each.source, each.licence, each.count)), each.file
        assert len(bytes.fromhex(each.sha256)) == 32
        assert bool(each.addresses) == bool(each.reader) == bool(each.rows) != bool(each.made), each.file
        assert all(address.startswith("https://") for address in each.addresses)
        if each.reader is not None:
            assert len(each.reader.columns) == len(fetch.bounds_of(each.file))


def test_the_list_tells_all_of_it_and_what_is_here(tmp_path):
    done = CliRunner().invoke(cli, ["bench", "data", "list", "--json", "--data", str(tmp_path)], catch_exceptions=False)
    rows = {row["set"]: row for row in json.loads(done.output)}
    assert rows["s1"]["bounds"] == "x=0:1000000,y=0:1000000"
    assert {row["here"] for row in rows.values()} == {"not here"}
    words = CliRunner().invoke(cli, ["bench", "data", "list"], catch_exceptions=False, env={"COVEY_DATA": ""}).output
    assert "mnist_train: 60,000 rows, not here, no address is known" in words
    assert rows["s1"]["sha256"] in words


def test_the_command_gets_what_it_can_and_says_what_it_cannot(server, tmp_path, monkeypatch):
    made = next(each for each in SOURCES if each.made)
    monkeypatch.setattr(fetch, "SOURCES", (source(f"{server}/rows.txt"), made))
    run = CliRunner()
    done = run.invoke(cli, ["bench", "data", "fetch", "--data", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "s1 was written: 3 rows" in done.output
    assert f"{made.file} cannot be got: it was made from" in done.output
    asked = run.invoke(cli, ["bench", "data", "fetch", made.file, "--data", str(tmp_path)])
    assert isinstance(asked.exception, DataError)
    assert isinstance(run.invoke(cli, ["bench", "data", "fetch", "s9", "--data", "."]).exception, ParameterError)
    nowhere = run.invoke(cli, ["bench", "data", "fetch"], env={"COVEY_DATA": ""})
    assert nowhere.exit_code == 2
    assert "COVEY_DATA" in nowhere.output
