"""Three people who have never met Covey, each with one script: what they try works, or says what to do."""

from __future__ import annotations

import json
import runpy
import shlex
import warnings
from pathlib import Path

import pytest
from make_files import make_files

from covey import Ledger
from covey.cli.main import main

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("person", ["data_scientist", "researcher"])
def test_a_person_in_python(person, capsys):
    with warnings.catch_warnings():
        runpy.run_path(str(HERE / f"{person}.py"))
    assert "epsilon" in capsys.readouterr().out


REFUSALS = [  # words of what is refused, in the order of the script
    "`covey ledger init` makes one",
    "`covey ledger add` adds a data set to it",
    "--force replaces it",
    "only epsilon 1",
    "Is it 'lon'?",
    "Is it 'Longitude (deg)'?",
    "--force replaces it",
]


def commands(script: Path) -> list[tuple[bool, list[str]]]:
    """Whether each command of a shell script is to be refused, and its words."""
    lines = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
    words = [shlex.split(line.removeprefix("! ")) for line in lines]
    assert all(each[0] == "covey" for each in words)
    return [(line.startswith("! "), each[1:]) for line, each in zip(lines, words, strict=True)]


def test_a_person_at_a_command_line(capsys):
    make_files(Path())
    said = []
    for refused, words in commands(HERE / "city_officer.sh"):
        code = 0
        try:
            main(words)
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        assert code == (2 if refused else 0), (words, printed.err)
        if refused:
            assert printed.err.startswith("covey: error: ")
            assert printed.err.count("\n") == 1
            said.append(printed.err)
    for words, each in zip(REFUSALS, said, strict=True):
        assert words in each
    assert not any("Ledger." in each or "Traceback" in each for each in said)
    spent = {name: float(account.spent.epsilon) for name, account in Ledger.open("city.ledger").datasets().items()}
    assert spent == {"trips": 2.0, "stations": 1.0}
    centres = json.loads(Path("centres.geojson").read_text())
    assert centres["type"] == "FeatureCollection"
    assert Path("stations.png").read_bytes().startswith(b"\x89PNG")
