"""`covey.plan` and `covey plan`: the same options, the same words, the same numbers, errors in the words of each."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
from click.testing import CliRunner

import covey
from covey.cli.main import cli

OPTIONS = ["--error", "5%", "--size-error", "0.05", "--place-error", "600m", "--extent", "30km", "--epsilon", "0.5"]
WISHES = {"error": 0.05, "size_error": "5%", "place_error": "600m", "extent": 30_000, "epsilon": 0.5}


@pytest.fixture(scope="module")
def outlook():
    return covey.plan(1e5, 2, 10, **WISHES)


def printed(*more: str) -> str:
    done = CliRunner().invoke(cli, ["plan", "--n", "1e5", "-d", "2", "-k", "10", *OPTIONS, *more])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_option_of_the_command_is_a_parameter():
    theirs = {each.name for each in cli.commands["plan"].params} - {"as_json", "plot"}
    named = {"size": "n", "columns": "d", "clusters": "k"}
    assert {named.get(name, name) for name in theirs} == set(inspect.signature(covey.plan).parameters)


def test_both_say_the_same(outlook):
    assert printed() == f"{outlook}\n"
    assert json.loads(printed("--json")) == json.loads(json.dumps(outlook.document()))


def test_bounds_of_a_map_tell_metres():
    at_home = covey.plan(1e5, 2, 10, place_error="1km", bounds={"lon": (-74.3, -73.65), "lat": (40.45, 41.0)})
    assert at_home.width == pytest.approx(0.55 * 111_320.0)
    assert at_home.needs["place"].most == pytest.approx(1000 / at_home.width)
    boxed = covey.plan(1e5, 2, 10, bounds=covey.Box(lon=(-74.3, -73.65), lat=(40.45, 41.0)))
    assert (boxed.width, boxed.needs, boxed.epsilon) == (at_home.width, {}, None)


@pytest.mark.parametrize(
    ("wishes", "taught"),
    [
        ({"place_error": "300m"}, "place_error: 300m needs the size of the domain: add `extent='30km'`"),
        ({"error": 5}, "error: 5 would be 500%: for 5% write 5%"),
        ({"bounds": (0, 1)}, "bounds: tell a width"),
        ({"bounds": {"x": (0, 1), "y": (0, 1)}}, "bounds: tell a width"),
        ({"extent": -3}, "extent: '-3m' is not of the form 30km or 800m"),
        ({"epsilon": "much"}, "epsilon: must be"),
    ],
)
def test_errors_name_parameters(wishes, taught):
    with pytest.raises(covey.ParameterError) as error:
        covey.plan(1e5, 2, 10, **wishes)
    assert str(error.value).startswith(taught)
    assert "--" not in str(error.value)


def test_no_centre_is_expected_farther_off_than_the_domain_is_wide():
    """Over 1000% of the width was said of a place; in metres it was the width."""
    places = [line[3] for line in covey.plan(100, 2, 100).table()]
    assert places[0].startswith("100% (")
    assert not any(end.startswith("over") for end in places)


def test_numbers_of_numpy_are_plain_in_the_document():
    asked = covey.plan(np.float64(1e5), np.int64(2), np.int64(10), epsilon=np.float64(1.0))
    assert json.loads(json.dumps(asked.document()))["forecast"][0]["k"] == 10
    with pytest.raises(covey.ParameterError, match="epsilon: must be a positive number, at most 10000"):
        covey.plan(1e5, 2, 10, epsilon=1e5)
