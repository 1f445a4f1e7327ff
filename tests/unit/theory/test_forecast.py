"""The forecast: orderly, honest about its range, made from what was measured, and never near any rows."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.theory.forecast import LARGEST_EPSILON, LEAST, MEASURES, forecast, smallest_epsilon, smallest_n

ROOT = Path(__file__).parents[3]
SHAPES = [(2_000, 1, 3), (1e5, 2, 10), (1e4, 4, 20), (3e4, 8, 5), (5e4, 60, 30)]


@pytest.fixture(scope="module")
def benchmark():
    """benchmarks/plan.py, which is a script and no part of the package."""
    spec = importlib.util.spec_from_file_location("benchmark_of_plan", ROOT / "benchmarks" / "plan.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize("what", MEASURES)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_more_rows_more_epsilon_and_fewer_clusters_never_hurt(n, d, k, delta, what):
    def errors(**change):
        return getattr(forecast(**{"n": n, "d": d, "k": k, "epsilon": 0.5, "delta": delta, **change}), what)

    base = errors()
    assert LEAST <= base.low <= base.middle <= base.high
    for better in (errors(epsilon=1.0), errors(n=2 * n)):
        assert all(after <= before for after, before in zip(better, base, strict=True))
        assert better.middle < base.middle
    assert errors(k=2 * k).middle > base.middle
    assert errors(neighbours="replace-one") == errors(epsilon=0.25)


def test_no_line_rises_before_or_after_its_bend():
    for model in json.loads((ROOT / "src/covey/theory/forecast.json").read_text()).values():
        lines = [line for what in MEASURES for line in model[what].values()]
        assert all(slope <= 0 for line in lines for slope in line[1:3])
        assert all(line[2] < 0 for line in lines)


@pytest.mark.parametrize("what", MEASURES)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_a_wish_is_met_and_not_by_much_more(n, d, k, what):
    most = {"cost": 0.1, "size": 0.2, "place": 0.1}[what]

    def errors(epsilon=0.5, rows=n):
        return getattr(forecast(n=max(rows, k), d=d, k=k, epsilon=epsilon), what)

    needed = smallest_epsilon(what=what, most=most, n=n, d=d, k=k)
    assert errors(epsilon=needed.usual).middle <= most < errors(epsilon=needed.usual * 0.97).middle
    if needed.nearly_sure is None:
        assert errors(epsilon=LARGEST_EPSILON).high > most
    else:
        assert needed.nearly_sure >= needed.usual
        assert errors(epsilon=needed.nearly_sure).high <= most < errors(epsilon=needed.nearly_sure * 0.97).high
    rows = smallest_n(what=what, most=most, epsilon=0.5, d=d, k=k)
    assert errors(rows=rows.usual).middle <= most
    assert rows.usual == k or errors(rows=rows.usual * 0.97).middle > most
    assert rows.nearly_sure is None or errors(rows=rows.nearly_sure).high <= most


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_more_budget_finds_more_clusters(n, d, k):
    some, most = forecast(n=n, d=d, k=k, epsilon=0.1).found, forecast(n=100 * n, d=d, k=k, epsilon=0.1).found
    assert 0 < some < most < 1


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


def test_a_wish_that_nothing_reaches_is_refused_with_the_best_there_is():
    with pytest.raises(ParameterError, match="error: must be a share above 0"):
        smallest_epsilon(what="cost", most=0, n=1000, d=2, k=5)
    best = forecast(n=200, d=100, k=10, epsilon=LARGEST_EPSILON).size.middle
    with pytest.raises(ParameterError, match=f"size_error: cannot be reached with 200 rows.*{best:.2%} at epsilon 10"):
        smallest_epsilon(what="size", most=0.001, n=200, d=100, k=10)
    with pytest.raises(ParameterError, match=r"place_error: cannot be reached at epsilon 0\.5 .* about so"):
        smallest_n(what="place", most=LEAST / 2, d=2, k=10, epsilon=0.5, say=lambda _: "about so")


def test_the_forecast_is_what_the_benchmark_makes_of_its_results(benchmark):
    made = benchmark.fitted(benchmark.results())
    kept = json.loads((ROOT / "src/covey/theory/forecast.json").read_text())
    assert made.keys() == kept.keys()
    for route, model in kept.items():
        assert made[route]["measured"] == model["measured"]
        assert made[route]["ranges"] == model["ranges"]
        assert made[route]["found"] == pytest.approx(model["found"], abs=0.01)
        for what in MEASURES:
            for quantile, line in model[what].items():
                assert made[route][what][quantile] == pytest.approx(line, rel=0.01, abs=0.01)


def test_the_three_lines_part_the_made_up_fits_as_they_say(benchmark):
    """One, five and nine of ten are below: what a quantile is, on all routes together."""
    rows = benchmark.results()
    for what in MEASURES:
        told = benchmark.told(rows, what)
        expected = [getattr(forecast(**{name: row[name] for name in benchmark.SHAPE}), what) for row in told]
        truth = np.array([max(row[what], LEAST) for row in told])
        lines = np.array(expected)
        below, not_above = (truth[:, None] < lines * 0.999).mean(axis=0), (truth[:, None] <= lines * 1.001).mean(axis=0)
        for share, least, most in zip((0.1, 0.5, 0.9), below, not_above, strict=True):  # many are LEAST
            assert least - 0.03 <= share <= most + 0.03


def test_what_is_said_of_the_check_is_what_was_measured(benchmark):
    """The shares of results/plan_check.json, on docs/guide/choosing.md, follow from its cells and the model."""
    kept = json.loads((ROOT / "benchmarks/results/plan_check.json").read_text())
    assert benchmark.shares(kept["cells"]) == kept["shares"]
    assert benchmark.shares(benchmark.new(kept["cells"])) == kept["shares_of_new_sets"]
    for cell in kept["cells"]:
        expected = forecast(**{name: cell[name] for name in benchmark.SHAPE})
        for what in MEASURES:
            assert cell["forecast"][what] == pytest.approx(getattr(expected, what), rel=1e-3, abs=1e-5)
    assert kept["shares"]["cost"]["within_30_percent"] >= 0.8


def test_half_of_the_largest_place_errors_are_those_of_ordinary_k_means(benchmark):
    """As docs/guide/choosing.md says: up to 4 columns, with n·ε/k of at least 1,000."""
    told = benchmark.told([row for row in benchmark.results() if row["d"] <= 4], "place")
    rich = [(row["place"], row["itself"]) for row in told if row["n"] * row["epsilon"] / row["k"] >= 1000]
    private, ordinary = np.array(rich).T
    largest = private >= np.quantile(private, 0.9)
    assert np.mean(ordinary[largest] >= private[largest] / 2) == pytest.approx(0.5, abs=0.1)


def test_moved_counts_found_clusters_only(benchmark):
    ordinary = np.array([[-0.8, 0.0], [0.0, 0.0], [0.8, 0.0]])
    private = np.array([[0.8, 0.1], [-0.8, 0.02], [0.1, 0.9]])
    assert benchmark.moved(ordinary, private) == pytest.approx([0.01, 0.05])
    assert benchmark.moved(ordinary[:1], private[:1]) == pytest.approx([np.hypot(1.6, 0.1) / 2])


def test_nearest_is_the_brute_force_one(benchmark):
    rng = np.random.default_rng(3)
    rows, centres = rng.uniform(-1, 1, (9_000, 3)), rng.uniform(-1, 1, (4, 3))
    cost, sizes = benchmark.nearest(rows, centres)
    away = np.square(rows[:, None] - centres).sum(axis=2)
    assert cost == pytest.approx(away.min(axis=1).sum())
    assert sizes.tolist() == np.bincount(away.argmin(axis=1), minlength=4).tolist()
