"""`covey score`: what it prints, writes and charges, and every way to fail before that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from covey import Ball, Box, Ledger, ParameterError, PrivateCoreset, Release
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


def test_a_bracket_of_a_coreset_without_cells_is_called_one(trips):
    rows = np.clip(np.random.default_rng(3).normal(0.0, 0.3, (100_000, 2)), -1, 1)
    with same_randomness(1):
        made = PrivateCoreset(3, epsilon=5.0, method="ball", bounds=Ball(radius=2)).fit(rows)
        cells = PrivateCoreset(3, epsilon=5.0, bounds=(-1, 1)).fit(rows)
    made.release_.save("balls.json")
    cells.release_.save("cells.json")
    balls, boxes = (
        " ".join(CliRunner().invoke(cli, ["score", name]).output.split()) for name in ("balls.json", "cells.json")
    )
    assert "The two ends are a bracket" in balls
    assert "times in 10" not in balls
    assert "Intervals hold 9 times in 10." in boxes
    assert "bracket" not in boxes


@pytest.mark.parametrize("seed", [None, 3])
def test_what_is_said_to_ask_rows_with_is_no_refusal(trips, seed):
    made = fit("trips.csv", k=4, epsilon=0.5, bounds={"x": (0, 1), "y": (0, 1)}, random_state=seed)
    made.save("release.json")
    told = " ".join(run().output.split())
    asked = told[told.index("covey score RELEASE DATA ") :].split()[4:]
    done = run("trips.csv", *(each.rstrip(".") for each in asked))
    assert done.exit_code == 0, done.output
    assert ("--seed" in asked) is (seed is not None)


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


def said(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["score", *arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_what_a_release_does_not_tell_of_itself_has_its_reason_and_what_is_exact_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(3).normal(0, 0.3, (3000, 6))
    asked = {"epsilon": 1.0, "bounds": (-1, 1)}
    fit(rows, k=3, **asked).save("six.json")
    told = said("six.json")
    assert "Not told: cost, distance and explained. Only the rows of each cluster were counted" in told
    assert re.search(r"separation [\d.]+ exact exact", told)
    assert "Rows can be asked for cost, distance and explained: covey score" in told
    fit(rows[:, :2], k=1, **asked).save("one.json")
    told = said("one.json")
    assert "Not told: explained. What a single centre would cost is known only where" in told
    assert "Not told: separation. There is one centre." in told
    assert "Rows can be asked for explained:" in told
    fit(rows[:, :2], k=2, **asked, errors="none").save("none.json")
    assert "Not told: cost and distance. The release does not say." in said("none.json")
    fit(rows[:, :2], k=2, **asked, algorithm_params={"keep_synopsis": True}).save("kept.json")
    assert "Not told" not in said("kept.json")


def test_of_a_release_with_zones_it_is_said_what_can_be_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(3).normal(0, 0.3, (3000, 2))
    pd.DataFrame(rows, columns=["x0", "x1"]).to_csv("rows.csv", index=False)
    fit(rows, k=3, epsilon=1.0, bounds=(-1, 1), zones=[(Box((-1, -0.1), (-1, 1)), 0.5)]).save("zones.json")
    told = said("zones.json")
    assert "Centres were chosen by the same noise of zones" in told
    assert "Rows cannot be asked about a release with zones" in told
    assert "Rows can be asked" not in told
    with pytest.raises(ParameterError, match="is fitted without zones") as refused:
        Release.load("zones.json").score("rows.csv", epsilon=0.5, random_state=1)
    assert "A score without data costs nothing" in str(refused.value)
