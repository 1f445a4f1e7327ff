"""`covey profile`: what it prints, writes and charges, and every way to fail before that."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from covey import Ledger
from covey.cli.main import cli
from covey.fit.fit import fit
from covey.published.profile.profile import Profile

COLUMNS = ("--columns", "mode=bike|car,age=0:100:10", "--columns", "hour(when)")


@pytest.fixture
def trips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(rng.choice([0.2, 0.8], (500, 2)) + rng.normal(0, 0.02, (500, 2)), columns=["x", "y"])
    rows["mode"], rows["age"] = np.where(rows.x > 0.5, "bike", "car"), rng.uniform(0, 100, 500)
    rows["when"] = [f"2024-05-01 {each:02d}:30" for each in rng.integers(0, 24, 500)]
    rows.to_csv("trips.csv", index=False)
    fit(rows, k=4, epsilon=3.0, bounds={"x": (0, 1), "y": (0, 1)}).save("release.json")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["profile", "release.json", "trips.csv", *arguments])


def test_a_profile_is_printed_and_written_and_charged(trips):
    book = Ledger.create("city.ledger", dataset="trips", epsilon=1)
    charged = ("--ledger", "city.ledger", "--dataset", "trips", "--key", "monday")
    done = run(*COLUMNS, "--epsilon", "0.6", *charged, "--out", "profile.json", "--plot", "profile.png")
    assert done.exit_code == 0, done.output
    assert "What is in 4 clusters" in done.output
    assert "Charged epsilon 0.6" in done.output
    assert Path("profile.png").read_bytes().startswith(b"\x89PNG")
    found = Profile.load("profile.json")
    assert [each.name for each in found.columns] == ["mode", "age", "hour(when)"]
    again = run(*COLUMNS, "--epsilon", "0.6", *charged, "--json")
    assert json.loads(again.output) == json.loads(Path("profile.json").read_text())
    assert float(book.datasets()["trips"].spent.epsilon) == 0.6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--columns"),
        (("--columns", "mode=bike"), "--epsilon"),
        ((*COLUMNS, "--epsilon", "1", "--quiet"), "nothing would be left"),
        ((*COLUMNS, "--epsilon", "1", "--seed", "1", "--out", "p.json"), "--allow-seeded"),
        ((*COLUMNS, "--epsilon", "1", "--key", "a"), "--ledger"),
        ((*COLUMNS, "--epsilon", "1", "--out", "trips.csv"), "another file of this command"),
        ((*COLUMNS, "--epsilon", "1", "--plot", "release.json"), "another file of this command"),
        ((*COLUMNS, "--epsilon", "1", "--engine", "spark"), "engine"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_read(trips, arguments, words):
    done = run(*arguments)
    assert done.exit_code != 0
    assert words in f"{done.output} {done.exception}"


def test_a_file_without_centres_is_refused(trips):
    Path("release.json").write_text("{}")
    assert run(*COLUMNS, "--epsilon", "1").exit_code != 0
