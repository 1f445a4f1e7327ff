"""What `covey plan --questions` says of bounds, scores and profiles is what they turn out to cost and tell."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import covey
from covey import Box, KMeans, ParameterError
from covey.cli.main import cli
from covey.fit.fit import fit

N, EPSILON = 4000, 0.5
BOX = Box(x=(-1, 1), y=(-1, 1))


@pytest.fixture(scope="module")
def told():
    return covey.plan(N, 2, 1, epsilon=EPSILON, delta=1e-6, questions=2).questions[0]


@pytest.fixture(scope="module")
def made():
    """One cluster about the middle: half of the rows there, half a quarter of the way to the corner and beyond."""
    rows = pd.DataFrame({"x": np.repeat([0.0, 0.5], N // 2), "y": np.repeat([0.0, 0.5], N // 2)})
    rows["mode"] = np.resize(["a", "b", "c", "d"], N)
    release = KMeans(1, epsilon=1e4, bounds=BOX, random_state=1).fit(rows).release_
    return rows, release


def half(told) -> float:
    return (told[2] - told[1]) / 2


def test_a_profile_is_as_wide_as_it_was_said_to_be(told, made):
    rows, release = made
    found = release.profile(rows, columns=["mode=a|b|c", "x"], epsilon=EPSILON, random_state=1)  # d is other
    assert half(found.shares("mode")[0, 0]) == pytest.approx(told.share, rel=0.1)
    q = np.exp(-1 / found.noise_scale)
    whole = np.floor(told.count)
    assert 0.85 < 1 - 2 * q ** (whole + 1) / (1 + q) < 0.93  # nine of ten counts are within
    two = {"columns": ["mode=private", "x"], "delta": 1e-6, "epsilon": EPSILON, "random_state": 1}
    assert release.profile(rows, **two).certificate.parameters["private"]["mode"]["threshold"] == told.category


def test_a_score_is_as_wide_as_it_was_said_to_be(told, made):
    rows, release = made
    found = release.score(rows, epsilon=EPSILON, within=0.3, random_state=1)
    assert half(found.share_within()) == pytest.approx(told.within, rel=0.5)
    farthest = found.sets[0].knots[-1]
    assert half(found.cost()) / N / farthest == pytest.approx(told.square, rel=0.5)


def test_bounds_take_what_they_were_said_to_take(told, made):
    rows, _ = made
    asked = {"k": 1, "epsilon": 100, "bounds": {"x": "private", "y": "private"}, "random_state": 1, "errors": "none"}
    spread = rows[["x", "y"]] + np.random.default_rng(1).normal(0, 1, (N, 2))
    assert fit(spread, **asked).certificate.parameters["bounds"]["epsilon"] / 100 == pytest.approx(
        told.bounds / EPSILON
    )


def test_replace_one_doubles_the_noise_and_no_delta_tells_no_category():
    usual, twice = (
        covey.plan(1e5, 2, 10, epsilon=1, neighbours=each, questions=3).questions[0]
        for each in ("add-remove", "replace-one")
    )
    assert twice.count == pytest.approx(2 * usual.count, rel=0.05)
    assert twice.within == pytest.approx(2 * usual.within, rel=0.01)
    assert usual.category is None
    assert covey.plan(1e5, 2, 10).questions == ()


def test_the_command_prints_a_second_table():
    ask = ["plan", "--n", "1e5", "-d", "2", "-k", "10", "--epsilon", "0.5", "--questions", "3"]
    said = CliRunner().invoke(cli, ask).output
    outlook = covey.plan(1e5, 2, 10, epsilon=0.5, questions=3)
    assert "Private bounds of all 2 columns" in said.replace("\n", " ")
    assert all(cell in said for line in outlook.further() for cell in line)
    assert all(cell in str(outlook) for line in outlook.further() for cell in line)
    document = json.loads(CliRunner().invoke(cli, [*ask, "--json"]).output)
    assert [each["epsilon"] for each in document["questions"]] == [0.5, 0.25, 0.05]
    with pytest.raises(ParameterError, match="questions"):
        covey.plan(1e5, 2, 10, questions=0)


def test_few_rows_are_told_nothing():
    [least, *_] = reversed(covey.plan(50, 2, 10, epsilon=0.1, questions=3).questions)
    assert least.line()[5] == "nothing"
