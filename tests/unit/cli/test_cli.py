"""The command line: every command and option, every way to fail, and what must never happen to a budget."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey import Ledger, Release
from covey.algorithms.registry import ALGORITHMS
from covey.cli.main import cli, main
from covey.cli.options import read_bounds, read_params
from covey.errors import DataError, ParameterError
from covey.public import Ball, Box
from randomness import same_randomness

ROOT = Path(__file__).parents[3]
BOUNDS = ("--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def covey(capsys):
    """Run a command in this process."""

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            main([str(each) for each in arguments])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capsys.readouterr())

    return run


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "covey.cli.main", *map(str, arguments)]


def start(*arguments: object, **options: object) -> subprocess.Popen:
    return subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def write_trips(path: Path, rows: int = 600) -> Path:
    rng = np.random.default_rng(5)
    middles = np.array([[-74.05, 40.75], [-74.0, 40.8], [-73.95, 40.85]])
    points = middles[rng.integers(3, size=rows)] + rng.normal(scale=0.004, size=(rows, 2))
    np.savetxt(path, points, delimiter=",", header="lon,lat", comments="", fmt="%.5f")
    return path


@pytest.fixture
def trips(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_trips(tmp_path / "trips.csv")


@pytest.fixture
def book(trips) -> Path:
    path = trips.parent / "city.ledger"
    Ledger.create(path, dataset="trips", epsilon=3)
    return path


def spent(path: Path) -> float:
    return float(Ledger.open(path).datasets()["trips"].spent.epsilon)


# --- what it prints ---------------------------------------------------------------------------------------------------


def test_fit_prints_centres_sizes_and_the_certificate(covey, trips):
    done = covey("fit", trips, "-k", 3, "--epsilon", 1, *BOUNDS)
    assert done.code == 0
    assert done.err == ""
    assert "lon" in done.out
    assert "rows (noisy)" in done.out
    assert "epsilon = 1" in done.out
    assert "No durable ledger" in done.out


def test_rows_at_the_ends_of_wrong_bounds_are_pointed_out(covey, trips):
    asked = ("fit", trips, "-k", 3, "--epsilon", 5, "--bounds")
    with same_randomness(1):
        exchanged = covey(*asked, "lon=40.7:40.9,lat=-74.1:-73.9")
        other_units = covey(*asked, "lon=-74.1:-73.9,lat=4070:4090")
        right = covey(*asked, BOUNDS[1])
    assert "Most rows seem to lie at an end of the range of lon, lat" in exchanged.out
    assert "at an end of the range of lat, where" in other_units.out
    assert right.code == 0
    assert "at an end" not in right.out


def test_json_is_the_release_document_and_nothing_else(covey, trips):
    done = covey("fit", trips, "-k", 3, "--epsilon", 1, *BOUNDS, "--json")
    release = Release.from_json(done.out.encode())
    assert release.columns == ["lon", "lat"]
    assert len(release.centres) == 3
    assert release.to_json().decode() == done.out
    assert done.err == ""


def test_files_are_written_and_named(covey, trips):
    done = covey("fit", trips, "-k", 3, "--epsilon", 1, *BOUNDS, "--out", "r.json", "--geojson", "c.geojson")
    assert done.code == 0
    assert "Wrote r.json, c.geojson." in done.out
    release = Release.load("r.json")
    features = json.loads(Path("c.geojson").read_text())["features"]
    assert [f["geometry"]["coordinates"] for f in features] == release.centres


def test_quiet_prints_nothing(covey, trips):
    assert covey("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--out", "r.json", "--quiet") == (0, "", "")
    assert Path("r.json").exists()


def test_quiet_with_json_prints_the_document(covey, trips):
    done = covey("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--quiet", "--json")
    assert json.loads(done.out)["format"] == "covey-release"


def test_longitude_and_latitude_may_be_named(covey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("up,along\n0.1,0.9\n0.2,0.8\n")
    base = ("fit", "d.csv", "-k", 1, "--epsilon", 1, "--bounds", "0:1,0:1", "--geojson", "c.geojson")
    refused = covey(*base)
    assert refused.code == 2
    assert "--lon" in refused.err
    assert covey(*base, "--lon", "along", "--lat", "up").code == 0
    point = json.loads(Path("c.geojson").read_text())["features"][0]
    assert point["geometry"]["coordinates"] == [point["properties"]["along"], point["properties"]["up"]]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_runs_from_the_command_line(covey, trips, name):
    row = ALGORITHMS[name]
    if "k-means" not in row.objectives:
        pytest.skip("fit is for k-means")
    extra = () if row.guarantee == "pure" else ("--delta", "1e-6")
    corners = np.array([-74.1, 40.7]), np.array([-73.9, 40.9])
    for own, value in {**row.few_rows, **row.needs(*corners, 2, np.random.default_rng(0))}.items():
        if isinstance(value, list):  # comes from a file
            Path("own.csv").write_text("\n".join(["lon,lat", *(",".join(map(repr, line)) for line in value), ""]))
        extra += ("--param", f"{own}={'own.csv' if isinstance(value, list) else value}")
    relation = ("--neighbours", str(row.neighbours[0]))
    done = covey("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--algorithm", name, *relation, *extra, "--json")
    assert done.code == 0, done.err
    certificate = json.loads(done.out)["certificate"]
    assert certificate["algorithm"] == name
    assert certificate["neighbours"] == relation[1]


def test_parameters_reach_the_algorithm(covey, trips):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--json", "--algorithm", "lloyd")
    done = covey(*base, "--param", "rounds=2", "--param", "start=uniform")
    parameters = json.loads(done.out)["certificate"]["parameters"]
    assert (parameters["rounds"], parameters["start"]) == (2, "uniform")


def test_a_ball_and_bounds_by_position(covey, trips):
    ball = covey("fit", trips, "-k", 2, "--epsilon", 1, "--ball", 100, "--json")
    assert json.loads(ball.out)["certificate"]["domain"]["type"] == "ball"
    box = covey("fit", trips, "-k", 2, "--epsilon", 1, "--bounds", "-75:-73,40:41", "--json")
    assert json.loads(box.out)["certificate"]["domain"]["lower"] == [-75, 40]


def test_parquet_gives_the_same_as_csv(covey, trips):
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(trips), "trips.parquet")
    seeded = ("-k", 3, "--epsilon", 1, *BOUNDS, "--seed", 4, "--json")
    assert covey("fit", trips, *seeded).out == covey("fit", "trips.parquet", *seeded).out


def test_algorithms_lists_the_registry(covey):
    done = covey("algorithms")
    rows = json.loads(covey("algorithms", "--json").out)
    assert [row["name"] for row in rows] == list(ALGORITHMS)
    for row in rows:
        assert row["parameters"] == ALGORITHMS[row["name"]].parameters
        line = next(line for line in done.out.splitlines() if line.split("  ")[0] == row["name"])
        assert all(text in line for text in (row["summary"], row["paper"], *row["parameters"], *row["neighbours"]))


def test_version_and_help(covey):
    from covey import __version__

    assert __version__ in covey("--version").out
    assert covey().out == covey("--help").out
    assert "covey fit trips.csv" in covey("--help").out
    assert "init" in covey("ledger").out


def all_commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, each in group.commands.items():
        found += all_commands(each, (*path, name)) if isinstance(each, click.Group) else [(*path, name)]
    return found


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_every_command_and_option_explains_itself(covey, path):
    text = covey(*path, "--help").out
    assert len(text) > 100
    node: click.Command = cli
    for name in path:
        assert isinstance(node, click.Group)
        node = node.commands[name]
    for option in node.params:
        if isinstance(option, click.Option):
            assert option.help, option.opts
            assert option.opts[0] in text


def test_no_escape_codes_outside_a_terminal(covey, trips, book, monkeypatch):
    Path("odd.csv").write_text("\x1b[31mred,lat\n0.5,0.5\n")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    ledgered = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips")
    done = subprocess.run(command(*ledgered), capture_output=True, check=False)
    assert b"\x1b" not in done.stdout + done.stderr
    assert done.stdout
    for arguments in (
        ("fit", "odd.csv", "-k", 1, "--epsilon", 1, "--bounds", "0:1,0:1"),
        ("fit", "odd.csv", "-k", 1, "--epsilon", 1, "--bounds", "no=0:1"),
        ("algorithms",),
        ("ledger", "show", book),
        ("--help",),
    ):
        done = covey(*arguments)
        assert "\x1b" not in done.out + done.err
        assert done.out + done.err


def on_a_terminal(columns: int, *arguments: object) -> str:
    """What a person sees on a terminal of that width, with its codes."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)  # the test runner may set it for its own terminal
    process = subprocess.Popen(command(*arguments), stdout=follower, stderr=follower, stdin=follower, env=environment)
    os.close(follower)
    seen = b""
    while True:
        try:
            block = os.read(leader, 4096)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(leader)
    assert process.wait() == 0
    return seen.decode()


def test_on_a_terminal_tables_and_progress_are_drawn(trips):
    seen = on_a_terminal(100, "fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS)
    assert "\x1b[" in seen
    assert "─" in seen
    assert "rows (noisy)" in seen
    assert "checking" in seen  # the first step of the progress bar


@pytest.mark.parametrize("columns", [40, 250])  # blocks of lines, and a table
def test_a_table_stays_whole_on_every_terminal(columns):
    words = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", on_a_terminal(columns, "algorithms"))
    assert max(len(line.rstrip()) for line in words.splitlines()) <= columns
    flat = re.sub(r"[^a-z0-9=.]", "", words)
    for row in ALGORITHMS.values():
        assert re.sub(r"[^a-z0-9=.]", "", row.summary) in flat


# --- what it refuses --------------------------------------------------------------------------------------------------

REFUSED = {
    "k of zero": (("-k", 0), "-k"),
    "k not whole": (("-k", 2.5), "-k"),
    "no epsilon": (("--epsilon", "much"), "'--epsilon': 'much' is not a number, such as 0.5"),
    "epsilon of zero": (("--epsilon", 0), "--epsilon"),
    "negative epsilon": (("--epsilon", -1), "--epsilon"),
    "epsilon nan": (("--epsilon", "nan"), "--epsilon"),
    "epsilon inf": (("--epsilon", "inf"), "--epsilon"),
    "epsilon too large": (("--epsilon", 1e9), "--epsilon"),
    "delta of one": (("--delta", 1), "--delta"),
    "unknown algorithm": (("--algorithm", "magic"), "--algorithm"),
    "unknown parameter": (("--param", "magic=1"), "--param"),
    "parameter without value": (("--param", "rounds"), "--param"),
    "parameter twice": (("--algorithm", "lloyd", "--param", "rounds=1", "--param", "rounds=2"), "--param"),
    "parameter of the wrong kind": (("--algorithm", "lloyd", "--param", "rounds=many"), "rounds"),
    "unknown relation": (("--neighbours", "swap"), "--neighbours"),
    "unknown column": (("--bounds", "height=0:1"), "height"),
    "column twice": (("--bounds", "lon=0:1"), "--bounds"),
    "a range missing": (("--bounds", "lon"), "--bounds"),
    "names and positions": (("--bounds", "0:1"), "--bounds"),
    "ball as well": (("--ball", 3), "--ball"),
    "no such folder": (("--out", "nowhere/r.json"), "nowhere"),
    "out is a folder": (("--out", "."), "out"),
    "out is the data": (("--out", "trips.csv"), "out"),
    "out is the ledger": (("--out", "city.ledger"), "out"),
    "one file for both": (("--out", "same.json", "--geojson", "./same.json"), "out"),
    "seeded to a file": (("--seed", 1, "--out", "r.json"), "--seed"),
    "seeded to a map": (("--seed", 1, "--geojson", "c.geojson"), "--seed"),
    "negative seed": (("--seed", -1), "--seed"),
    "unknown option": (("--frobnicate",), "--frobnicate"),
    "quiet for nothing": (("--quiet",), "--quiet"),
    "no such longitude": (("--geojson", "c.geojson", "--lon", "east"), "--lon"),
    "no such person": (("--person", "who"), "--person: the data has no column 'who'"),
    "a person with a range": (("--person", "lat"), "--person: 'lat' says whose a row is"),
    "no rows of a person": (("--person", "who", "--rows-per-person", 0), "--rows-per-person: must be a whole number"),
    "rows of nobody": (("--rows-per-person", 3), "--rows-per-person: needs --person to name"),
    "no such zones": (("--zones", "none.geojson"), "--zones: cannot read"),
    "a range after a space": (("lat=40.7:40.9",), "DATA is one file, a folder or a pattern in quotes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_line_that_names_the_parameter_and_spends_nothing(covey, trips, book, case):
    arguments, named = REFUSED[case]
    before, files = book.read_bytes(), sorted(Path().iterdir())
    base = ("fit", "trips.csv", "-k", 3, "--epsilon", 1, *BOUNDS, "--ledger", "city.ledger", "--dataset", "trips")
    done = covey(*base, *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("covey: error: ")
    assert done.err.count("\n") == 1
    assert named in done.err
    assert book.read_bytes() == before
    assert sorted(Path().iterdir()) == files


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("fit",), "DATA"),
        (("fit", "trips.csv", "--epsilon", 1, *BOUNDS), "-k"),
        (("fit", "trips.csv", "-k", 1, *BOUNDS), "--epsilon"),
        (("fit", "trips.csv", "-k", 1, "--epsilon", 1), "--bounds"),
        (("fit", "no.csv", "-k", 1, "--epsilon", 1, *BOUNDS), "no.csv"),
        (("fit", "city.ledger", "-k", 1, "--epsilon", 1, *BOUNDS), "city.ledger"),
        (("fit", ".", "-k", 1, "--epsilon", 1, *BOUNDS), "must end in"),
        (("fit", "trips.csv", "-k", 1, "--epsilon", 1, *BOUNDS, "--key", "a"), "--key"),
        (("fit", "trips.csv", "-k", 1, "--epsilon", 1, *BOUNDS, "--ledger", "city.ledger"), "--dataset"),
        (("fit", "trips.csv", "-k", 1, "--epsilon", 1, *BOUNDS, "--ledger", "no", "--dataset", "d"), "no"),
        (("fit", "trips.csv", "-k", 1, "--epsilon", 1, "--bounds", "height=0:1"), "--bounds: the data has no column"),
        (
            ("fit", "trips.csv", "-k", 1, "--epsilon", 1, "--bounds", "lon=-7410:-7390,lat=0:9", "--geojson", "c.json"),
            "--bounds: of 'lon' go beyond 360 degrees",
        ),
        (
            ("fit", "trips.csv", "-k", 1, "--epsilon", 1, "--bounds", "lon=0:9,lat=0:4090", "--geojson", "c.json"),
            "--bounds: of 'lat' go beyond 90 degrees",
        ),
        (("audit", "--algorithm", "lloyd", "--out", "trips.csv"), "out: cannot make the folder 'trips.csv'"),
        (("frob",), "frob"),
        (("demo", "--out", "trips.csv"), "trips.csv"),
        (("demo", "--seed", "x"), "--seed"),
        (("ledger", "init", "new.ledger", "--epsilon", 1), "--dataset"),
        (("ledger", "init", "new.ledger", "--dataset", "d"), "--epsilon"),
        (("ledger", "init", "new.ledger", "--dataset", "d", "--epsilon", "x"), "--epsilon"),
        (("ledger", "init", "new.ledger", "--dataset", "d", "--epsilon", -1), "--epsilon"),
        (("ledger", "init", "new.ledger", "--dataset", "d", "--epsilon", 1, "--delta", 2), "--delta"),
        (("ledger", "init", "no/new.ledger", "--dataset", "d", "--epsilon", 1), "new.ledger"),
        (("ledger", "init", "new.ledger", "--dataset", "d", "--epsilon", 1, "--anchor", "no/a"), "no/a"),
        (("ledger", "init", "city.ledger", "--dataset", "d", "--epsilon", 1), "exists"),
        (("ledger", "show", "no.ledger"), "no.ledger"),
        (("ledger", "show", "trips.csv"), "trips.csv"),
        (("ledger", "verify", "trips.csv"), "trips.csv"),
    ],
)
def test_every_command_refuses_in_one_line(covey, book, arguments, named):
    done = covey(*arguments)
    assert done.code == 2
    assert done.err.startswith("covey: error: ")
    assert done.err.count("\n") == 1
    assert named in done.err
    assert not Path("new.ledger").exists()


def test_seeded_may_be_written_on_demand_and_says_so(covey, trips):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--seed", 3)
    assert covey(*base, "--out", "r.json").code == 2
    assert not Path("r.json").exists()
    assert covey(*base, "--allow-seeded", "--out", "r.json").code == 0
    assert Release.load("r.json").certificate.seeded
    assert "NOT PRIVATE" in covey(*base).out
    assert covey(*base, "--json").out == Path("r.json").read_text()


def test_no_row_value_reaches_an_error(covey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("name,lat\n" + "secretname,0.5\n" * 5)
    done = covey("fit", "words.csv", "-k", 1, "--epsilon", 1, "--bounds", "0:1,0:1")
    assert done.code == 2
    assert "secretname" not in done.err
    assert "name" in done.err


def test_a_bug_is_one_line_without_values(covey, trips, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("row 40.7128 of somebody")

    monkeypatch.delenv("COVEY_DEBUG", raising=False)
    monkeypatch.setattr("covey.private.opening.open_table", broken)
    done = covey("fit", trips, "-k", 1, "--epsilon", 1, *BOUNDS)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "RuntimeError in private/opening.py, line" in done.err
    assert "40.7128" not in done.err
    assert "COVEY_DEBUG" in done.err


def test_debugging_warns_that_a_traceback_may_hold_values(trips, monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("row 40.7128 of somebody")

    monkeypatch.setenv("COVEY_DEBUG", "1")
    monkeypatch.setattr("covey.private.opening.open_table", broken)
    with pytest.raises(RuntimeError):
        main(["fit", str(trips), "-k", "1", "--epsilon", "1", *BOUNDS])
    assert "may hold private values" in capsys.readouterr().err


def test_what_was_paid_for_is_not_lost_with_a_full_disk(covey, trips, book, monkeypatch):
    def full(*_: object) -> None:
        raise DataError("out: cannot write 'r.json': No space left on device")

    monkeypatch.setattr(Release, "save", full)
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips")
    done = covey(*base, "--out", "r.json", "--quiet")
    assert done.code == 2
    assert "No space left" in done.err
    assert Release.from_json(done.out.encode()).certificate.receipt is not None


# --- bounds and parameters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("lon=-74.1:-73.9", "lat=40.7:40.9"), Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))),
        (("lon=-74.1:-73.9,lat=40.7:40.9",), Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))),
        (("0:1,-2:-1",), Box((0, 1), (-2, -1))),
        (("0:1", "-2:-1"), Box((0, 1), (-2, -1))),
        (("1e-3:1e3",), Box((0.001, 1000))),
        (("income, yearly=0:1e6,age=0:120",), Box.of({"income, yearly": (0, 1e6), "age": (0, 120)})),
        (("a=b=0:1",), Box.of({"a=b": (0, 1)})),
        (("time:start=0:1",), Box.of({"time:start": (0, 1)})),
        (("self=0:1",), Box.of({"self": (0, 1)})),
    ],
)
def test_bounds_are_read(options, expected):
    assert read_bounds(options, None) == expected


@pytest.mark.parametrize("text", ["", ",", "lon", "lon=", "lon=1", "lon=1:2:3", "lon=a:b", "1,2", "0:1,", "lon=1:"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(ParameterError, match=r"^bounds: .*not of the form"):
        read_bounds((text,), None)


@pytest.mark.parametrize("text", ["lon=1:0", "lon=0:0", "lon=0:inf", "lon=nan:1", "0:1e308"])
def test_impossible_ranges_are_refused(text):
    with pytest.raises(ParameterError, match="bounds"):
        read_bounds((text,), None)


def test_a_ball_is_read():
    assert read_bounds((), 2.5) == Ball(2.5)


def test_parameters_are_numbers_true_or_false_or_words():
    values = read_params(("a=7", "b=0.5", "c=uniform", "d=1e3", "e=x=y", "f=-3", "g=true", "h=false", "i=True"))
    expected = {"a": 7, "b": 0.5, "c": "uniform", "d": 1e3, "e": "x=y", "f": -3, "g": True, "h": False, "i": "True"}
    assert values == expected
    assert [type(v) for v in values.values()] == [type(v) for v in expected.values()]


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_init_show_and_verify(covey, trips):
    assert covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", "1.5", "--anchor", "a").code == 0
    assert "nothing was charged" in covey("ledger", "show", "l").out
    covey("fit", trips, "-k", 2, "--epsilon", 0.1, *BOUNDS, "--ledger", "l", "--dataset", "trips")
    shown = json.loads(covey("ledger", "show", "l", "--json").out)
    assert shown["datasets"][0]["epsilon_left"] == 1.4
    assert shown["charges"][0]["state"] == "released"
    assert shown["anchored"]
    assert "1.4" in covey("ledger", "show", "l").out
    assert "in order" in covey("ledger", "verify", "l").out


def test_without_an_anchor_the_owner_is_told(covey, trips):
    assert "--anchor" in covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", 1).out
    assert "no anchor" in covey("ledger", "verify", "l").out


def test_an_exhausted_budget_refuses(covey, trips, book):
    base = ("fit", trips, "-k", 2, *BOUNDS, "--ledger", book, "--dataset", "trips")
    assert "Left: 0 of 3" in covey(*base, "--epsilon", 3).out
    done = covey(*base, "--epsilon", 0.000001, "--out", "r.json")
    assert done.code == 2
    assert "'trips'" in done.err
    assert done.err.count("\n") == 1
    assert not Path("r.json").exists()
    assert spent(book) == 3


def test_a_data_set_is_made_for_one_type_of_promise(covey, trips):
    made = covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", 9, "--neighbours", "replace-one")
    assert "for replacing one row" in made.out
    assert covey("ledger", "add", "l", "--dataset", "people", "--epsilon", 2, "--person", "driver").code == 0
    assert covey("ledger", "list", "l").out.splitlines() == [
        "trips\tepsilon 9, delta 0 left\treplacing one row",
        "people\tepsilon 2, delta 0 left\tadding or removing all rows with the same 'driver'",
    ]
    assert covey("ledger", "add", "l", "--dataset", "people", "--epsilon", 2).code == 2
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", "l", "--dataset", "trips")
    refused = covey(*base)
    assert refused.code == 2
    assert "charged as epsilon 2 and delta 0" in refused.err
    done = covey(*base, "--convert")
    assert "'trips' will be charged at most epsilon 2 and delta 0" in done.err
    assert "Charged epsilon 2 to data set 'trips'. Left: 7 of 9." in done.out
    assert covey(*base[:-4], "--convert").code == 2


def test_a_release_is_got_again_and_compared_with_a_file(covey, trips, book):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips")
    covey(*base, "--out", "r.json")
    assert "Wrote again.json" in covey("ledger", "export", book, "--entry", 3, "--out", "again.json").out
    assert Path("again.json").read_bytes() == Path("r.json").read_bytes()
    assert "entry 3 paid for, byte by byte" in covey("ledger", "verify", book, "--release", "r.json").out
    forged = json.loads(Path("r.json").read_text())
    forged["centres"][0][0] += 1e-9  # the receipt alone proves nothing
    Path("forged.json").write_text(json.dumps(forged, indent=2) + "\n")
    refused = covey("ledger", "verify", book, "--release", "forged.json")
    assert refused.code == 2
    assert "is not the release that is stored with it" in refused.err
    covey("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--out", "other.json")
    assert covey("ledger", "verify", book, "--release", "other.json").code == 2
    for entry, words in ((2, "is no charge"), (99, "is no charge")):
        refused = covey("ledger", "export", book, "--entry", entry, "--out", "none.json")
        assert (refused.code, words in refused.err, Path("none.json").exists()) == (2, True, False)


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_coreset_is_compared_with_the_release_it_was_paid_for_with(covey, trips, book, suffix):
    out = f"c.{suffix}"
    base = ("coreset", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", "--out", out)
    assert covey(*base).code == 0
    assert "the coreset of the release that entry 3 paid for" in covey("ledger", "verify", book, "--release", out).out


def test_a_table_that_says_more_than_the_coreset_is_no_coreset_of_the_ledger(covey, trips, book):
    base = ("coreset", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips")
    assert covey(*base, "--out", "c.parquet").code == 0
    table = pq.read_table("c.parquet")
    document = json.loads(table.schema.metadata[b"covey"])
    document["statement"] = "This release is differentially private with epsilon = 0.001."
    forged = table.replace_schema_metadata({b"covey": json.dumps(document)})
    more = table.append_column("rows", pa.array([7.0] * len(table)))
    for each in (forged, more, table.replace_schema_metadata({**table.schema.metadata, b"note": b"approved"})):
        pq.write_table(each, "forged.parquet")
        refused = covey("ledger", "verify", book, "--release", "forged.parquet")
        assert (refused.code, "is not the release that is stored" in refused.err) == (2, True)
    pq.write_table(table, "again.PARQUET", compression="none")
    assert "and nothing else" in covey("ledger", "verify", book, "--release", "again.PARQUET").out


def test_a_receipt_pasted_onto_another_kind_of_file_is_noticed(covey, trips, book):
    base = ("-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips")
    covey("fit", trips, *base, "--out", "r.json")
    covey("coreset", trips, *base, "--out", "c.json")
    document = json.loads(Path("c.json").read_text())
    document["certificate"]["receipt"] = json.loads(Path("r.json").read_text())["certificate"]["receipt"]
    Path("forged.json").write_text(json.dumps(document))
    assert "is not the release that is stored" in covey("ledger", "verify", book, "--release", "forged.json").err
    document["certificate"]["receipt"] = None
    Path("forged.json").write_text(json.dumps(document))
    assert (
        "holds no receipt: what was made without a ledger"
        in covey("ledger", "verify", book, "--release", "forged.json").err
    )


def test_no_output_replaces_what_belongs_to_a_ledger(covey, trips):
    covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", 9, "--anchor", "a")
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", "l", "--dataset", "trips")
    assert covey(*base).code == 0
    for out in ("l", "a", "l-journal", "a.lock"):
        for command in (("ledger", "export", "l", "--entry", 3), base):
            refused = covey(*command, "--out", out)
            assert (refused.code, "is another file of this command" in refused.err) == (2, True)
    assert spent("l") == 1


def test_what_costs_nothing_is_not_refused_for_its_price(covey, trips):
    covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", 2, "--neighbours", "replace-one")
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", "l", "--dataset", "trips", "--convert")
    grid = ("--algorithm", "grid", "--delta", 1e-6)  # pure: no delta is charged, and none is left
    assert covey(*base, *grid, "--key", "monday", "--out", "r.json").code == 0
    assert covey(*base, *grid, "--key", "monday", "--out", "again.json").code == 0
    assert Path("again.json").read_bytes() == Path("r.json").read_bytes()
    assert covey(*base, *grid).code == 2


def test_a_foreign_ledger_and_a_foreign_data_set_are_refused(covey, trips, book):
    Path("foreign.ledger").write_bytes(b"SQLite format 3\x00" + bytes(4096))
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS)
    foreign = covey(*base, "--ledger", "foreign.ledger", "--dataset", "trips")
    other = covey(*base, "--ledger", book, "--dataset", "visits")
    for done in (foreign, other):
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "visits" in other.err
    assert spent(book) == 0


def test_an_old_copy_is_refused_with_an_anchor(covey, trips):
    covey("ledger", "init", "l", "--dataset", "trips", "--epsilon", 1, "--anchor", "a")
    old = Path("l").read_bytes()
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", "l", "--dataset", "trips")
    assert covey(*base).code == 0
    Path("l").write_bytes(old)
    done = covey(*base)
    assert done.code == 2
    assert "old copy" in done.err


def test_a_key_used_again_returns_the_same_bytes_and_costs_nothing(covey, trips, book):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", "--key", "monday")
    assert covey(*base, "--out", "first.json").code == 0
    before = book.read_bytes()
    assert covey(*base, "--out", "second.json").code == 0
    assert Path("first.json").read_bytes() == Path("second.json").read_bytes()
    assert covey(*base, "--json").out.encode() == Path("first.json").read_bytes()
    assert "at no cost" in covey(*base).out
    assert book.read_bytes() == before
    assert spent(book) == 1


def test_a_key_for_another_request_is_refused(covey, trips, book):
    base = ("fit", trips, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", "--key", "monday")
    assert covey(*base, "-k", 2).code == 0
    done = covey(*base, "-k", 3)
    assert done.code == 2
    assert "key" in done.err
    assert spent(book) == 1


# --- what may happen to a process -------------------------------------------------------------------------------------

SLOW = ("--algorithm", "lloyd", "--param", "rounds=10000", "-k", 100)


def wait_for_charge(path: Path, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 250
    while spent(path) == 0:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def slow_fit(trips, book):
    """A fit that is charged and would run for minutes."""
    write_trips(trips, rows=20_000)
    base = ("fit", trips, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", *SLOW)
    usual = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # in the background of a shell it would be ignored
    process = start(*base, "--out", "release.json", "--key", "k", preexec_fn=usual)
    try:
        wait_for_charge(book, process)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_kill_9_leaves_a_charge_and_no_release(covey, slow_fit, book):
    slow_fit.send_signal(signal.SIGKILL)
    assert slow_fit.wait() == -signal.SIGKILL
    left = sorted(path.name for path in Path().iterdir() if not path.name.startswith("city.ledger"))
    assert left == ["trips.csv"]
    shown = json.loads(covey("ledger", "show", book, "--json").out)
    assert [charge["state"] for charge in shown["charges"]] == ["not finished"]
    assert spent(book) == 1
    assert covey("ledger", "verify", book).code == 0


# Python drops a KeyboardInterrupt that comes inside a callback of a weak reference, and says so; the work goes on.
LOST = re.compile(r"Exception ignored in: <function Weak\w+Dictionary\..*\n(?:.*\n)*?KeyboardInterrupt: ?\n")


def test_an_interrupt_is_one_line(slow_fit, book):
    for patience in (60, 60, 120):  # again, where one was dropped
        slow_fit.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            out, err = slow_fit.communicate(timeout=patience)
            break
    assert slow_fit.returncode == 130
    assert out == b""
    words = LOST.sub("", err.decode())
    assert words.startswith("covey: error: interrupted")
    assert words.count("\n") == 1
    assert not Path("release.json").exists()
    assert spent(book) == 1


def test_processes_that_race_on_a_ledger_never_overspend(trips, book):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", "--json")
    racers = [start(*base) for _ in range(4)]  # for a budget of 3
    ends = [racer.communicate() for racer in racers]
    codes = sorted(racer.returncode for racer in racers)
    assert codes == [0, 0, 0, 2]
    assert spent(book) == 3
    releases = [Release.from_json(out) for out, _ in ends if out]
    assert len({release.certificate.receipt for release in releases}) == 3


def test_processes_that_race_with_one_key_show_one_release(trips, book):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--ledger", book, "--dataset", "trips", "--json")
    racers = [start(*base, "--key", "same") for _ in range(3)]
    shown = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert len(shown) == 1
    assert spent(book) <= 3


def test_a_closed_pipe_is_silent_and_the_files_are_written(trips):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        command("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--out", "r.json"), stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    _, err = process.communicate()
    assert err == b""
    assert process.returncode == 141
    assert Release.load("r.json").centres
