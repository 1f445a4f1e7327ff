"""The forecast and `covey plan`: orderly, honest about its range, and never near any rows."""

import json

import pytest
from click.testing import CliRunner

from covey.cli.main import cli
from covey.errors import ParameterError
from covey.theory.forecast import forecast, smallest_epsilon, smallest_n

SHAPES = [(2_000, 1, 3), (1e5, 2, 10), (1e4, 4, 20), (3e4, 8, 5), (5e4, 60, 30)]


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_more_rows_more_epsilon_and_fewer_clusters_never_hurt(n, d, k, delta):
    base = forecast(n=n, d=d, k=k, epsilon=0.5, delta=delta)
    assert 1 <= base.low <= base.ratio <= base.high
    assert forecast(n=n, d=d, k=k, epsilon=1.0, delta=delta).ratio < base.ratio
    assert forecast(n=2 * n, d=d, k=k, epsilon=0.5, delta=delta).ratio < base.ratio
    assert forecast(n=n, d=d, k=2 * k, epsilon=0.5, delta=delta).ratio > base.ratio
    stricter = forecast(n=n, d=d, k=k, epsilon=0.5, delta=delta, neighbours="replace-one")
    assert stricter.ratio == forecast(n=n, d=d, k=k, epsilon=0.25, delta=delta).ratio


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_targets_are_met_and_not_by_much_more(n, d, k):
    epsilon = smallest_epsilon(target=1.1, n=n, d=d, k=k)
    assert forecast(n=n, d=d, k=k, epsilon=epsilon).ratio <= 1.1
    assert forecast(n=n, d=d, k=k, epsilon=epsilon * 0.97).ratio > 1.1
    rows = smallest_n(target=1.1, epsilon=0.5, d=d, k=k)
    assert forecast(n=rows, d=d, k=k, epsilon=0.5).ratio <= 1.1
    assert rows == k or forecast(n=max(k, rows * 0.97), d=d, k=k, epsilon=0.5).ratio > 1.1


def test_what_auto_would_take_is_what_it_takes():
    from covey.algorithms.auto.auto import MOST_TREE_DIMENSIONS

    assert forecast(n=1e4, d=MOST_TREE_DIMENSIONS, k=3, epsilon=1).route == "tree"
    assert forecast(n=1e4, d=MOST_TREE_DIMENSIONS + 1, k=3, epsilon=1).route == "subspace, pure"
    assert forecast(n=1e4, d=MOST_TREE_DIMENSIONS + 1, k=3, epsilon=1, delta=1e-6).route == "subspace"
    assert not forecast(n=1e12, d=2, k=3, epsilon=50).measured


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"n": 0}, "n"),
        ({"n": float("nan")}, "n"),
        ({"d": 0}, "d"),
        ({"k": 2.5}, "k"),
        ({"k": 2000}, "k"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"neighbours": "all"}, "neighbours"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(change, name):
    with pytest.raises(ParameterError, match=name):
        forecast(**{"n": 1000, "d": 2, "k": 5, "epsilon": 1, **change})


def test_targets_that_nothing_reaches_are_refused():
    with pytest.raises(ParameterError, match="target"):
        smallest_epsilon(target=1.0, n=1000, d=2, k=5)
    with pytest.raises(ParameterError, match="target"):
        smallest_epsilon(target=1.000001, n=20, d=100, k=10)


def test_the_command_answers_in_words_json_and_a_picture(tmp_path):
    run = CliRunner()
    words = run.invoke(cli, ["plan", "--n", "1e5", "-d", "2", "-k", "10", "--epsilon", "0.5", "--target", "1.05"])
    assert words.exit_code == 0, words.output
    assert "tree" in words.output
    assert "should need epsilon" in words.output
    assert "What nobody can beat" in words.output
    assert "rows." in words.output
    found = run.invoke(cli, ["plan", "--n", "1e4", "-d", "20", "-k", "10", "--delta", "1e-6", "--json"])
    assert [row["epsilon"] for row in json.loads(found.output)["forecast"]] == [0.1, 0.2, 0.5, 1.0, 2.0]
    picture = tmp_path / "plan.png"
    assert run.invoke(cli, ["plan", "--n", "1e4", "-d", "2", "-k", "3", "--plot", str(picture)]).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run.invoke(cli, ["plan", "--n", "many", "-d", "2", "-k", "3"]).exit_code != 0


def test_the_benchmark_of_the_forecast_is_kept():
    """At least 80% of the suite's cells are within 30%: measured by benchmarks/plan.py --check."""
    from pathlib import Path

    kept = json.loads((Path(__file__).parents[3] / "benchmarks/results/plan_check.json").read_text())
    assert kept["shares"]["within_30_percent"] >= 0.8
