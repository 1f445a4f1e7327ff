"""Folders and patterns on the command line: the same release as of one file, and no output among the data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covey.cli.main import main

OPTIONS = ["-k", "2", "--epsilon", "1", "--bounds", "lon=0:1,lat=0:1", "--seed", "3"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(0).random((400, 2)), columns=["lon", "lat"])
    frame.to_csv("whole.csv", index=False)
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=2").mkdir()
    frame[:150].to_csv("day=1/trips.csv", index=False)
    frame[150:].to_csv("day=2/trips.csv.gz", index=False)
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    try:
        main([*arguments])
    except SystemExit as end:
        return int(end.code or 0), *capsys.readouterr()
    return 0, *capsys.readouterr()


@pytest.mark.parametrize("command", ["fit", "coreset"])
def test_a_pattern_and_a_file_give_the_same_release(data, capsys, command):
    base = [*OPTIONS, "--json"]
    (data / "many").mkdir()
    (data / "day=1").rename(data / "many" / "day=1")
    (data / "day=2").rename(data / "many" / "day=2")
    code, expected, _ = run(capsys, command, "whole.csv", *base)
    assert code == 0
    for path in ("many", "many/", "m*/day=?/*", "many/**/*.csv*", "many/day=*"):
        code, out, err = run(capsys, command, path, *base)
        assert (code, err) == (0, "") or "seed" in err.lower(), path
        assert json.loads(out) == json.loads(expected), path


@pytest.mark.parametrize("option", ["--out", "--geojson"])
def test_no_output_replaces_the_data_or_comes_to_lie_among_it(data, capsys, option):
    before = (data / "day=1" / "trips.csv").read_bytes()
    for path, out in (("day*/*", "day=1/trips.csv"), ("day=1", "day=1/new.json"), (".", "new.json"), (".", "day=2/x")):
        code, _, err = run(capsys, "fit", path, *OPTIONS, option, out, "--allow-seeded")
        assert code == 2
        assert err.startswith("covey: out: ") or "out: " in err
    assert (data / "day=1" / "trips.csv").read_bytes() == before
    assert not (data / "new.json").exists()
    code, _, err = run(capsys, "fit", "day*/*", *OPTIONS, option, "new.json", "--allow-seeded")
    assert code == 0, err


@pytest.mark.parametrize(("path", "words"), [("nothing*", "no data file that"), (".", "must end in"), ("x", "no file")])
def test_what_is_not_there_is_one_line(data, capsys, path, words):
    (data / "notes.md").write_text("notes")
    code, _, err = run(capsys, "fit", path, *OPTIONS)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "bounds", "told"),
    [
        ("title.csv", "Our trips,,\nlon,lat,when\n0.1,0.2,08:15\n", "lon=0:1", "--header-line 3"),
        ("track.gpx", "<gpx></gpx>", "lon=0:1", "a GPX track, which only `covey thin` reads; save it as CSV"),
        ("whole.csv", None, "lon=0:1,hour(when)", "such as hour(when)=0:24"),
        ("whole.csv", None, "private", "or NAME=private"),
    ],
)
def test_what_to_do_is_said(data, capsys, name, text, bounds, told):
    if text is not None:
        (data / name).write_text(text)
    code, _, err = run(capsys, "fit", name, "-k", "2", "--epsilon", "1", "--bounds", bounds)
    assert code == 2
    assert told in err
