"""`covey bench ipsn17`: the quick version from end to end, and the rules of its tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import in_this_process
from covey.bench import harness
from covey.bench.ipsn17 import rules, tables
from covey.bench.ipsn17 import run as ipsn17
from covey.bench.ipsn17.claims import CLAIMS, claims_text, judge
from covey.bench.ipsn17.tasks import MANHATTAN, SETS, first_rows, inside, loaded, printed_side, rounds
from covey.bench.sets import Floats

QUICK = replace(
    ipsn17.QUICK,
    runs=((3_000, 5, 1),),
    other_runs=1,
    sizes=(3_000,),
    ladders=((1, (1.0,)), (5, (0.01, 4.0))),
    taxi_rows=1_500,
    taxi_runs=1,
    centres=(1,),
    compared=(4_000,),
    map_runs=1,
    time_sizes=(2_000, 4_000),
    time_sizes_4d=(2_000, 4_000),
)
SMALL = replace(ipsn17.PAPER, quick=QUICK)  # even quicker than `--quick`: the same kinds of tasks, fewer of each


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("ipsn17")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness, "run_tasks", in_this_process)
        SMALL.run(data=None, out=out, quick=True, report=None, say=said.append)
    return out, said


def test_the_quick_version_writes_everything(quick):
    out, said = quick
    results = json.loads((out / "results.json").read_text())
    assert {*(f"figure{i}" for i in range(3, 9)), "jump", "stages"} == set(results["figures"])
    for name, rows in results["figures"].items():
        assert rows, name
        assert (out / f"{name}.csv").stat().st_size > 0
        if name.startswith("figure"):
            assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert len(judge(results["figures"], results["table2"])) == len(CLAIMS)
    assert results["claims"] == []  # made-up rows say nothing of a paper
    assert not (out / "claims.md").exists()
    assert "| k | rows |" in (out / "table2.md").read_text()
    assert any("n^" in text for text in said)
    useful = [row for row in results["figures"]["figure5"] if row["epsilon"] >= 4 and not row["refused"]]
    assert useful
    assert all(row["error"] < 1 for row in useful)


@pytest.mark.slow
def test_a_second_call_measures_nothing(quick):
    out, _ = quick
    again = replace(SMALL, perform=lambda *_, **__: pytest.fail("measured again"))
    said: list[str] = []
    again.run(data=None, out=out, quick=True, report=None, say=said.append)
    assert "of them already done" in said[0]


def row(epsilon: float, error: float | None, **more):
    base = {"set": "cabs", "n": 100_000, "k": 5, "variant": "ball", "relation": "replace-one"}
    return {**base, "epsilon": epsilon, "error": error, "refused": error is None, **more}


def test_the_smallest_useful_epsilon_counts_from_above():
    """An epsilon that is good by luck, below one that is not, does not count."""
    rows = [row(0.1, None), row(0.2, 0.5), row(0.4, 1.2), row(0.8, 0.9), row(1.6, 0.1)]
    (found,) = tables.table2(rows)
    assert (found["smallest_epsilon"], found["error_there"], found["paper"]) == (0.8, 0.9, 0.8)
    (none,) = tables.table2([row(0.1, None), row(0.2, 3.0)])
    assert none["smallest_epsilon"] is None
    assert "none of those tried" in tables.table2_text([none])


def test_slopes_are_those_of_a_power_law():
    rows = [row(1, None, cpu=3e-6 * n**1.25, n=n) for n in (10**4, 10**5, 10**6)]
    (found,) = tables.slopes(rows)
    assert found["slope"] == pytest.approx(1.25)
    assert found["paper"] == 1.7


def test_errors_are_relative_to_the_baseline():
    answer = {"refused": False, "costs": [2.0, 4.0], "sizes": [10, 20], "rounds": [10, 20], "negative": [0, 1]}
    found = tables.summary(answer, 2.0)
    assert found == {"refused": False, "error": 0.5, "se": 0.5, "size": 15, "round": 15, "negative": 0.5, "runs": 2}
    assert tables.summary({"refused": True, "costs": [1.0], "sizes": [3]}, 1.0)["error"] is None


def test_costs_equal_their_definition():
    load = loaded("cabs", 700, None)
    centres: Floats = np.array([[0.1, 0.2], [-0.5, 0.4]])
    slow = np.square(load.rows[:, None] - centres).sum(axis=2).min(axis=1).sum()
    assert load.cost(centres) == pytest.approx(slow)


def test_the_page_shows_what_was_measured():
    """tests/unit/test_pages.py compares what is between the marks."""
    root = Path(__file__).parents[3]
    page = (root / "docs" / "papers" / "ipsn17.md").read_text(encoding="utf-8")
    for name in ("claims.md", "table2.md", "slopes.md"):
        assert f"<!-- from: benchmarks/results/ipsn17/{name} -->" in page
    for figure in range(3, 9):
        assert f"../../benchmarks/results/ipsn17/figure{figure}.png" in page


# --- the rules: each can say yes and no -------------------------------------------------------------------------------

COVEY = rules.FORMS[1]


def cell(**own):
    base = {"set": "cabs", "n": 1_000, "k": 5, "variant": "ball", "relation": "replace-one", "epsilon": 1.0}
    more = {"refused": False, "error": 0.5, "se": 0.01, "size": 10, "round": 10, "negative": 0, "cpu": 1.0, "side": 32}
    return {**base, **more, **own}


def times(power: float) -> list:
    return [cell(n=n, k=k, cpu=k * 1e-6 * n**power) for k in (1, 5) for n in (10**4, 10**5, 10**6)]


def ladder(what: str, values, **own) -> list:
    return [cell(epsilon=float(2**i), **{what: value}, **own) for i, value in enumerate(values)]


def compared(ball: float, net: float, points: float = 300, negative: int = 9) -> list:
    return [cell(error=ball), cell(variant="net", error=net, size=points, negative=negative)]


def jumps(*seconds: float) -> list:
    return [cell(n=n, cpu=cpu) for n, cpu in zip((60, 95, 105), seconds, strict=True)]


@pytest.mark.parametrize(
    ("rule", "figure", "good", "bad"),
    [
        (rules.seconds, "figure3", [cell(n=10**6, cpu=39.0)], [cell(n=10**6, cpu=41.0)]),
        (rules.growth, "figure3", times(1.65), times(1.2)),
        (rules.more_centres_more_time, "figure3", times(1.0), [cell(n=n, k=k) for k in (1, 5) for n in (10, 100)]),
        (rules.jump, "jump", jumps(1.0, 1.1, 2.0), jumps(1.0, 1.1, 1.2)),
        (rules.sizes_grow, "figure5", ladder("size", [3, 4, 5, 6]), ladder("size", [3, 4, 3, 6])),
        (rules.sizes_straight, "figure5", ladder("size", [3, 5, 7, 9]), ladder("size", [3, 3, 3, 9])),
        (rules.a_point_a_round, "figure5", [cell()], [cell(round=9)]),
        (rules.errors_fall, "figure5", ladder("error", [4, 3, 2, 1]), ladder("error", [4, 1, 2, 3])),
        (rules.errors_waver, "figure5", ladder("error", [4, 4, 1], k=1), ladder("error", [4, 2, 1], k=1)),
        (rules.few_points, "figure5", [cell(k=1, epsilon=0.1, size=9)], [cell(k=1, epsilon=0.1, size=10)]),
        (rules.clearly_smaller, "figure7", compared(0.1, 0.2), compared(0.2, 0.2)),
        (rules.size_ratio, "figure7", compared(0.1, 0.2, points=300), compared(0.1, 0.2, points=500)),
        (rules.signs, "figure7", compared(0.1, 0.2), compared(0.1, 0.2, negative=0)),
        (rules.fewer_points, "figure8", ladder("size", [3, 4, 5]), ladder("size", [3, 5, 4])),
        (
            rules.errors_grow_with_centres,
            "figure6",
            [cell(k=k, error=k) for k in (1, 2, 3)],
            [cell(k=k, error=-k) for k in (1, 2, 3)],
        ),
        (
            rules.stages,
            "stages",
            [cell(k=1, rounds=[4, 4, 4, 5]), cell(k=5, rounds=[6, 7, 8])],
            [cell(k=1, rounds=[4, 5, 6, 7]), cell(k=5, rounds=[6, 7, 8])],
        ),
    ],
)
def test_a_rule_says_yes_and_no(rule, figure, good, bad):
    assert rule({"figure6": [], figure: good}, COVEY)[1] is True
    assert rule({"figure6": [], figure: bad}, COVEY)[1] is False


def test_a_rule_without_cells_has_no_verdict():
    nothing = {name: [] for name in (*(f"figure{i}" for i in range(3, 9)), "jump", "stages")}
    judged = judge(nothing, [])
    assert {each[f"{form.name}_reproduced"] for each in judged for form in rules.FORMS} == {None}
    assert "reproduces 0 of 0" in claims_text(judged)


def test_table_2_is_judged_by_value_and_by_order():
    paper = [{"k": k, "n": n, "variant": "ball", "smallest_epsilon": e} for (k, n), e in tables.PAPER_TABLE.items()]
    for rule in (rules.feasible_values, rules.feasible_order, rules.too_large):
        assert rule({"table2": paper}, COVEY)[1] is True
        assert rule({"table2": [{**each, "smallest_epsilon": 0.1} for each in paper]}, COVEY)[1] is False


def test_the_number_of_balls_is_that_of_a_run():
    made = loaded("cabs", 3_000, None).run("ball", k=5, epsilon=4.0, relation="replace-one", seed=1)
    assert rounds(n=3_000, k=5, variant="ball", epsilons=[4.0]) == [made.notes["rounds"]]


def test_the_printed_grid_is_the_smallest_power_of_two_with_more_places_than_rows():
    assert [printed_side(n) for n in (2**16 - 1, 2**16, 10**6)] == [256, 512, 1024]


def test_the_island_has_an_inside():
    times_square, airport = (-73.985, 40.758), (-73.874, 40.777)
    assert inside(np.array([times_square, airport]), MANHATTAN).tolist() == [True, False]


@pytest.mark.parametrize("which", SETS)
def test_stand_ins_are_named(which):
    assert SETS[which].stands_in
    assert first_rows(which, 50, data=None).shape == (50, SETS[which].dimension)
