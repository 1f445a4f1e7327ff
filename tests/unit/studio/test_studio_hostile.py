"""Attacks on the studio: what broke once must not break again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from covey import Ledger
from covey.errors import ParameterError
from covey.public import Person
from covey.studio import uploads as uploading
from covey.studio.serve import listen
from covey.studio.settings import Settings
from covey.studio.view import promise
from studio_client import BOUNDS, TOKEN, Asking, asking, town

OCTETS = {"Content-Type": "application/octet-stream"}
JSON = {"Content-Type": "application/json"}
CORNER = np.tile([-73.91, 40.89], (2000, 1))


def send(studio: Asking, rows: np.ndarray) -> None:
    assert studio.post("api/batches", {"points": rows.tolist()}).status_code == 200


def upload(studio: Asking, content: bytes) -> dict:
    return studio.ask("POST", "api/uploads", content=content, headers=OCTETS)


def square(**properties: object) -> dict:
    ring = [[-74.05, 40.75], [-74.0, 40.75], [-74.0, 40.8], [-74.05, 40.8], [-74.05, 40.75]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "properties": {"epsilon": 0.2, **properties}, "geometry": geometry}


def collection(*features: dict) -> dict:
    return {"type": "FeatureCollection", "features": list(features)}


# --- data and keys ----------------------------------------------------------------------------------------------------


def test_a_key_never_shows_the_levels_of_other_rows(tmp_path):
    """The second collection has other rows: what was stored for the first is not a look at them."""
    book = Ledger.create(tmp_path / "ledger", dataset="trips", epsilon=10)
    studio = asking(tmp_path, data=None, ledger=book, dataset="trips", key="one look")
    send(studio, town(2000))
    assert studio.post("api/batches/close").status_code == 200
    studio.look()
    send(studio, CORNER)
    assert studio.post("api/batches/close").status_code == 200
    studio.look()
    [centre] = studio.get("api/levels/4?k=1").json()["centres"]
    assert np.abs(np.array(centre) - CORNER[0]).max() < 0.01
    assert book.datasets()["trips"].spent.epsilon == 4


def test_a_key_still_holds_for_what_was_opened_first(tmp_path):
    book = Ledger.create(tmp_path / "ledger", dataset="trips", epsilon=2)
    for _ in range(2):
        asking(tmp_path, ledger=book, dataset="trips", key="one look").look()
    assert book.datasets()["trips"].spent.epsilon == 2


@pytest.mark.parametrize(
    "body",
    [{"dataset": "nobody's"}, {"bounds": {"lower": [0], "upper": [1]}}, {"bounds": {"lower": [1, 1], "upper": [0, 0]}}],
)
def test_batches_survive_a_close_that_is_refused(tmp_path, body):
    book = Ledger.create(tmp_path / "ledger", dataset="trips", epsilon=10)
    studio = asking(tmp_path, data=None, ledger=book, dataset="trips")
    send(studio, town(50))
    send(studio, CORNER)
    assert studio.post("api/batches/close", body).status_code == 422
    send(studio, CORNER)
    assert studio.post("api/batches/close").status_code == 200
    assert len(studio.studio._data.source) == 50 + 2 * len(CORNER)


def test_an_upload_that_is_opened_meanwhile_is_not_removed(tmp_path, monkeypatch):
    """While a fifth file is looked at, the oldest becomes the open one: a look must find its rows."""
    studio = asking(tmp_path, data=None, bounds=None)
    ids = [upload(studio, b"lon,lat\n-74,40.8\n").json()["id"] for _ in range(4)]
    real = uploading.open_table
    once = threading.Event()

    def meanwhile(path: Path) -> object:
        if not once.is_set():
            once.set()
            bounds = {"lower": [-75, 40], "upper": [-73, 41]}
            assert studio.post("api/open", {"upload": ids[0], "bounds": bounds}).status_code == 200
        return real(path)

    monkeypatch.setattr(uploading, "open_table", meanwhile)
    assert upload(studio, b"lon,lat\n-74,40.8\n").status_code == 201
    assert studio.studio.data_in_use().exists()
    studio.look()


def test_files_that_are_sent_at_once_cannot_fill_the_disk(tmp_path):
    studio = asking(tmp_path, data=None, bounds=None).studio  # its folder of uploads lives as long as it does
    uploads = studio.uploads

    async def endless():
        yield b"lon,lat\n"
        await asyncio.sleep(60)

    async def many() -> list[object]:
        tasks = [asyncio.ensure_future(uploads.receive("", endless(), {})) for _ in range(9)]
        await asyncio.sleep(0.05)
        refused = [task.exception() for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return refused

    refused = asyncio.run(many())
    assert [each.status for each in refused] == [429] * 5
    assert not list(uploads._folder.iterdir())
    assert uploads._arriving == 0


def test_drawn_zones_are_not_dropped_in_silence_when_the_next_rows_are_opened(tmp_path):
    studio = asking(tmp_path)
    assert studio.ask("PUT", "api/zones", json=collection(square(name="home"))).status_code == 200
    send(studio, town(500))
    state = studio.post("api/batches/close").json()
    assert [each["properties"]["name"] for each in state["zones"]["features"]] == ["home"]
    other = upload(studio, b"a,b\n1,2\n").json()["id"]
    body = {"upload": other, "bounds": {"lower": [0, 0], "upper": [9, 9]}}
    assert studio.post("api/open", body).json()["zones"] is None  # they cannot lie there


# --- the owner's view, seeds ------------------------------------------------------------------------------------------


def test_a_release_says_that_raw_data_was_seen_before_it_was_asked_for(tmp_path):
    studio = asking(tmp_path)
    asked = {"k": 2, "epsilon": 1.0}
    assert "not covered" not in studio.post("api/releases", asked).text
    for on in (True, False):
        studio.post("api/owner", {"on": on})
    release = studio.post("api/releases", asked).json()
    assert "not covered" in release["certificate"]["parameters"]["choice"]
    assert release["certificate"]["epsilon"] == 1.0


def test_a_seeded_release_is_handed_out_only_if_allowed(tmp_path):
    asked = {"k": 2, "epsilon": 1.0}
    assert asking(tmp_path, seed=3).post("api/releases", asked).status_code == 409
    allowed = asking(tmp_path, seed=3, allow_seeded=True).post("api/releases", asked)
    assert allowed.json()["certificate"]["seeded"]


# --- documents that should not break it -------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", [b"5", b"true", b"1" + b"0" * 400, b'"text"', b"{}", b"[[1e400, 2]]", b"[5]"])
def test_strange_multipoints_are_missing_rows_or_refused(tmp_path, coordinates):
    answer = upload(asking(tmp_path), b'{"type": "MultiPoint", "coordinates": ' + coordinates + b"}")
    assert answer.status_code in (201, 422), answer.text


@pytest.mark.parametrize("number", ["1" + "0" * 400, "NaN", "Infinity", "1e999", '"1e999"', "[]", "true", "null"])
def test_strange_corners_are_refused_in_words(tmp_path, number):
    studio = asking(tmp_path)
    polygon = f'{{"type": "Polygon", "coordinates": [[[-74, 40.75], [{number}, 40.8], [-74.05, 40.8]]]}}'
    zone = f'{{"type": "Feature", "properties": {{"epsilon": 0.1}}, "geometry": {polygon}}}'
    text = f'{{"type": "FeatureCollection", "features": [{zone}]}}'
    assert studio.ask("PUT", "api/zones", content=text, headers=JSON).status_code == 422
    studio.look()
    body = f'{{"level": 0, "sets": {{"a": [[-74, 40.8]]}}, "forbidden": {polygon}}}'
    answer = studio.ask("POST", "api/alternatives", content=body, headers=JSON)
    assert answer.status_code == 422 or number in ('"1e999"', "null", "true"), answer.text
    assert answer.status_code != 500


# --- what is published ------------------------------------------------------------------------------------------------


def test_columns_called_like_our_own_notes_do_not_replace_them(tmp_path):
    studio = asking(tmp_path, data=None, bounds=None, seed=5, allow_seeded=True)
    found = upload(studio, b"size,kind\n" + b"0.5,0.5\n" * 500).json()
    body = {"upload": found["id"], "bounds": {"lower": [0, 0], "upper": [1, 1]}}
    assert studio.post("api/open", body).status_code == 200
    studio.look()
    files = studio.post("api/publish", {"level": 4, "k": 1}).json()["files"]
    first = studio.get(files[1]["url"]).json()["features"][0]["properties"]
    assert first["kind"] == "centre"
    assert 400 < first["size"] < 600


def test_text_of_clients_is_text_in_the_report_and_both_zones_of_one_name_are_told(tmp_path):
    mark = "<img src=x onerror=alert(1)>"
    studio = asking(tmp_path, data=None, bounds=None)
    found = upload(studio, f"{mark}lon,lat\n".encode() + b"-74.02,40.77\n" * 300).json()
    body = {"upload": found["id"], "bounds": {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}}
    assert studio.post("api/open", body).status_code == 200
    beside = square(name=mark, epsilon=0.375)
    beside["geometry"]["coordinates"] = [[[x + 0.06, y] for x, y in beside["geometry"]["coordinates"][0]]]
    zones = collection(square(name=mark, epsilon=0.125), beside)
    assert studio.ask("PUT", "api/zones", json=zones).status_code == 200
    studio.look()
    files = studio.post("api/publish", {"level": 4, "k": 2, "name": mark}).json()["files"]
    page = studio.get(files[2]["url"])
    assert "<img" not in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    assert page.text.count("rows there are promised") == 2
    for file in files[:2]:
        answer = studio.get(file["url"])
        assert "json" in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        json.loads(answer.text)


PEOPLE = str(Person("driver", 5))


def test_before_the_look_nothing_is_promised_to_a_person_with_several_rows_unless_people_are_protected():
    assert "person" not in promise(1.0, str(Person()))
    assert "any one person (all rows with the same 'driver', of which at most 5 count)" in promise(1.0, PEOPLE)


@pytest.mark.parametrize("ending", ["SIGHUP", "SIGTERM"])
def test_nothing_that_was_sent_outlives_the_studio(tmp_path, ending):
    """However it ends, a closed terminal too: uploads are raw rows."""
    command = [sys.executable, "-m", "covey.cli.main", "studio", "--out", str(tmp_path / "out")]
    place = {**os.environ, "TMPDIR": str(tmp_path), "BROWSER": "true %s"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    usual = partial(signal.signal, getattr(signal, ending), signal.SIG_DFL)  # under nohup it would be ignored
    with subprocess.Popen(command, env=place, preexec_fn=usual, **pipes) as process:
        try:
            process.stdout.readline()  # the link for a browser
            address = process.stdout.readline().rpartition(" ")[2].strip()
            headers = {"X-Covey-Studio": "1", **OCTETS}
            asked = urllib.request.Request(f"{address}api/uploads", data=b"lon,lat\n1,2\n", headers=headers)
            with urllib.request.urlopen(asked, timeout=100) as answer:
                assert answer.status == 201
            made = list(tmp_path.glob("covey-studio-*"))
            assert len(made) == 2  # uploads, and the file that opened the browser: it holds the token
            assert all(each.stat().st_mode & 0o077 == 0 for each in made)
            [folder] = [each for each in made if each.is_dir()]
            assert list(folder.glob("*.csv"))
            process.send_signal(getattr(signal, ending))
            process.wait(100)
        finally:
            process.kill()
    assert not list(tmp_path.glob("covey-studio-*"))


# --- the door ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0", "0x0", "0.0", "::0", "0:0:0:0:0:0:0:0", "000.0.0.0"])
def test_other_spellings_of_every_address_are_refused_too(host):
    with pytest.raises(ParameterError):
        listen(host, 0).close()


def test_a_name_that_begins_like_loopback_is_not_loopback():
    assert not Settings(host="127.example.org").is_loopback
    assert Settings(host="127.0.0.2").is_loopback
    assert Settings(host="::1").is_loopback


@pytest.mark.parametrize("path", ["//{t}/api/state", "/{t}", "/{t}x/api/state", "/x/{t}/api/state", "/.{t}/api/state"])
def test_the_token_is_the_whole_first_part_of_the_path(tmp_path, path):
    studio = asking(tmp_path)
    assert studio.client.get(path.format(t=TOKEN)).status_code == 403


@pytest.mark.parametrize("path", ["//api/state", "/api/state/", "/%2e%2e/api/state", "/assets/%2e%2e/%2e%2e/app.py"])
def test_no_other_spelling_of_a_path_finds_a_route_or_file(tmp_path, path):
    answer = asking(tmp_path).client.get(f"/{TOKEN}{path}")
    assert answer.status_code in (403, 404)
    assert "import" not in answer.text


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND"])
def test_unusual_methods_reach_nothing(tmp_path, method):
    studio = asking(tmp_path)
    for path in ("api/state", "api/owner/centres", "", "docs"):
        assert studio.client.request(method, f"/{TOKEN}/{path}").status_code in (403, 405)


def test_rows_and_progress_are_not_told_by_the_job(tmp_path):
    """The steps of a look are as many for ten rows as for a hundred thousand."""
    told = set()
    for number, rows in enumerate((10, 100_000)):
        studio = asking(tmp_path / str(number), data=town(rows), bounds=BOUNDS)
        studio.look()
        job = studio.get("api/state").json()["job"]
        told.add((job["done"], job["of"], job["what"], job["error"]))
    assert told == {(3, 3, "done", None)}
