"""DATA on the command line: what says how it is read, `covey columns`, and standard input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey import File, Ledger
from covey.cli.main import cli, main
from covey.cli.studio import make_settings

BOUNDS = ["--bounds", "lon=0:1,lat=0:1"]
ASK = ["-k", "2", "--epsilon", "1", *BOUNDS, "--seed", "3", "--json"]
COMMANDS = ("fit", "coreset", "columns", "studio")


@pytest.fixture
def frame(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    made = pd.DataFrame(np.random.default_rng(0).random((300, 2)).round(6), columns=["lon", "lat"])
    made.to_csv("plain.csv", index=False)
    return made


@pytest.fixture
def run(capsys):
    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            main([*arguments])
        except SystemExit as end:
            return int(end.code or 0), *capsys.readouterr()
        return 0, *capsys.readouterr()

    return command


def strange(frame: pd.DataFrame) -> list[str]:
    """A file as a spreadsheet of Europe saves it, and what has to be said of it."""
    text = "Trips of the city\n\n" + frame.to_csv(index=False, sep=";", decimal=",")
    Path("strange.csv").write_bytes(text.encode("utf-16"))
    return ["strange.csv", "--delimiter", ";", "--decimal", ",", "--header-line", "3", "--encoding", "utf-16"]


@pytest.mark.parametrize("command", ["fit", "coreset"])
def test_a_file_and_its_strange_twin_give_the_same_release(frame, run, command):
    code, expected, _ = run(command, "plain.csv", *ASK)
    assert code == 0
    code, out, err = run(command, *strange(frame), *ASK)
    assert code == 0, err
    assert json.loads(out) == json.loads(expected)


def test_every_command_that_takes_data_takes_the_same_options():
    wanted = {"--format", "--delimiter", "--decimal", "--header-line", "--encoding", "--sheet", "--geometry"}
    takers = [name for name, each in cli.commands.items() if any(p.name == "data" for p in each.params)]
    assert sorted(takers) == sorted([*COMMANDS, "assign", "profile", "score", "thin"])
    for name in takers:
        assert wanted <= {option for each in cli.commands[name].params for option in each.opts}


def test_the_studio_opens_the_file_as_it_was_declared(frame, tmp_path):
    from covey.studio.data import open_data

    path, *_ = strange(frame)
    source = File(path, delimiter=";", decimal=",", header_line=3, encoding="utf-16")
    settings = make_settings(
        source,
        False,
        None,
        bounds=("lon=0:1,lat=0:1",),
        person=None,
        rows_per_person=1,
        zones_file=None,
        basemap=None,
        out=str(tmp_path),
        upload_limit=1,
    )
    opened = open_data(settings.data, bounds=settings.bounds, name=settings.name, dataset="d")
    assert opened.columns == ("lon", "lat")
    assert settings.name == "strange.csv"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--delimiter", "xx"], "--delimiter: must be one character"),
        (["--decimal", ";"], "--decimal: must be"),
        (["--header-line", "0"], "--header-line: must be"),
        (["--encoding", "klingon"], "--encoding: must be"),
        (["--sheet", "x"], "--sheet: is nothing that a CSV file can be told"),
        (["--format", "doc"], "--format: must be one of"),
    ],
)
def test_what_makes_no_sense_names_the_option(frame, run, options, words):
    for command in (["fit", "plain.csv", *ASK], ["columns", "plain.csv"]):
        code, _, err = run(*command, *options)
        assert code == 2
        assert words in err
        assert err.count("\n") == 1


def test_options_of_data_need_data(run):
    code, _, err = run("studio", "--delimiter", ";", "--demo")
    assert code == 2
    assert "--delimiter: says how DATA is to be read" in err


# covey columns


def test_columns_shows_names_and_the_types_of_a_schema(frame, run):
    frame.assign(who=range(300)).to_parquet("rows.parquet")
    code, out, _ = run("columns", "rows.parquet", "--json")
    kinds = [("lon", "double"), ("lat", "double"), ("who", "int64")]
    assert json.loads(out) == [{"name": name, "type": kind} for name, kind in kinds]
    code, out, _ = run("columns", "plain.csv", "--json")
    assert json.loads(out) == [{"name": name, "type": None} for name in ("lon", "lat")]
    code, out, _ = run("columns", "rows.parquet")
    assert code == 0
    assert "lon" in out
    assert "double" in out
    code, out, _ = run("columns", *strange(frame))
    assert [line.split()[0] for line in out.splitlines()][-2:] == ["lon", "lat"]


def test_columns_of_a_folder_are_those_of_all_its_files(frame, run):
    Path("day=1").mkdir()
    Path("day=2").mkdir()
    frame.to_csv("day=1/a.csv", index=False)
    frame.assign(note="x").to_csv("day=2/b.csv", index=False)
    code, out, _ = run("columns", "day=*", "--json")
    assert code == 0
    assert [(each["name"], each["type"]) for each in json.loads(out)] == [
        *(("lon", None), ("lat", None), ("note", None)),
        ("day", "int32"),
    ]


def test_columns_reads_no_row(frame, run, monkeypatch):
    from covey.private.tables.csv.reader import CsvPart

    def forbidden(*_arguments, **_options):
        raise AssertionError("a row was read")

    for name in ("tasks", "not_numbers", "rows", "_blocks"):
        monkeypatch.setattr(CsvPart, name, forbidden)
    code, out, _ = run("columns", "plain.csv")
    assert code == 0
    assert "lon" in out


# Standard input


class Piped(io.TextIOWrapper):
    def isatty(self) -> bool:
        return False


def pipe(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(io.BytesIO(content)))


@pytest.mark.parametrize("command", ["fit", "coreset"])
def test_standard_input_is_read_like_the_file(frame, run, command, monkeypatch, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    code, expected, _ = run(command, "plain.csv", *ASK)
    pipe(monkeypatch, Path("plain.csv").read_bytes())
    code, out, err = run(command, "-", *ASK)
    assert code == 0, err
    assert json.loads(out) == json.loads(expected)
    assert list(temporary.iterdir()) == [], "nothing of it stays"
    path, *options = strange(frame)
    pipe(monkeypatch, Path(path).read_bytes())
    code, out, _ = run(command, "-", *options, *ASK)
    assert json.loads(out) == json.loads(expected)
    frame.to_parquet("rows.parquet")
    pipe(monkeypatch, Path("rows.parquet").read_bytes())
    code, out, _ = run(command, "-", "--format", "parquet", *ASK)
    assert json.loads(out) == json.loads(expected)


def test_standard_input_that_breaks_is_refused_before_a_charge(frame, run, monkeypatch):
    class Broken(io.BytesIO):
        def read(self, *_arguments) -> bytes:
            raise OSError(5, "Input/output error")

    book = Ledger.create("city.ledger", dataset="d", epsilon=1)
    monkeypatch.setattr(sys, "stdin", Piped(Broken()))
    ask = [each for each in ASK if each not in ("--seed", "3")]
    code, _, err = run("fit", "-", *ask, "--ledger", "city.ledger", "--dataset", "d")
    assert code == 2
    assert "standard input could not be kept" in err
    assert book.datasets()["d"].remaining.epsilon == 1


def test_a_terminal_is_not_read(frame, run, monkeypatch):
    class Terminal(Piped):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    code, _, err = run("fit", "-", *ASK)
    assert code == 2
    assert "this is a terminal" in err
