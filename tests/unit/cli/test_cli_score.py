"""`covey score`: what it prints, writes and charges, and every way to fail before that."""

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
from covey.published.score.score import Score
from randomness import same_randomness


@pytest.fixture
def trips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(rng.choice([0.2, 0.8], (500, 2)) + rng.normal(0, 0.02, (500, 2)), columns=["x", "y"])
    rows.to_csv("trips.csv", index=False)
    Path("middle.csv").write_text("x,y\n0.5,0.5\n")
    with same_randomness(1):  # which set is worse is judged here
        for name, k in (("release", 4), ("other", 2)):
            fit(rows, k=k, epsilon=3.0, bounds={"x": (0, 1), "y": (0, 1)}).save(f"{name}.json")
        yield


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["score", "release.json", *arguments])


def test_what_a_release_tells_of_itself_is_printed_for_nothing(trips):
    done = run()
    assert done.exit_code == 0, done.output
    assert "for nothing" in done.output
    assert "the distance is in metres on a map" in " ".join(done.output.split())
    assert json.loads(run("--json").output).keys() == {"cost", "distance", "explained", "separation"}


def test_scores_are_printed_and_written_and_charged(trips):
    book = Ledger.create("city.ledger", dataset="trips", epsilon=1)
    charged = ("--ledger", "city.ledger", "--dataset", "trips")
    sets = ("--against", "other.json", "--centers", "middle.csv")
    done = run(
        "trips.csv", "--epsilon", "0.6", *charged, *sets, "--within", "0.1", "--out", "s.json", "--plot", "s.png"
    )
    assert done.exit_code == 0, done.output
    assert "share within 0.1" in done.output
    assert "middle is worse than release." in done.output
    assert [each.name for each in Score.load("s.json").sets] == ["release", "other", "middle"]
    assert Path("s.png").read_bytes().startswith(b"\x89PNG")
    assert float(book.datasets()["trips"].spent.epsilon) == 0.6


def test_a_cost_that_noise_covers_is_said_to_be_lost(trips):
    lost, told = (" ".join(run("trips.csv", "--epsilon", each).output.split()) for each in ("0.001", "1000"))
    assert "A cost that may be 0 is lost in the noise" in lost
    assert "lost in the noise" not in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("trips.csv",), "--epsilon: a question to the rows has a price"),
        (("--epsilon", "1"), "DATA: is needed"),
        (("trips.csv", "--epsilon", "1", "--against", "other.json", "--against", "./other.json"), "different names"),
        (("trips.csv", "--epsilon", "1", "--against", "middle.csv"), "no file that Covey publishes"),
        (("trips.csv", "--epsilon", "1", "--out", "other.json", "--against", "other.json"), "another file"),
        (("trips.csv", "--epsilon", "1", "--within", "-1"), "within: must be a positive distance"),
    ],
)
def test_what_is_wrong_is_refused(trips, arguments, words):
    done = run(*arguments)
    assert done.exit_code != 0
    assert words in f"{done.output} {done.exception}"
