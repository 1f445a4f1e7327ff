"""`covey bench ipsn17`: the quick version from end to end, and the rules of its tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from covey.bench.ipsn17 import run as ipsn17
from covey.bench.ipsn17.tasks import SETS, first_rows, loaded
from covey.bench.sets import Floats

QUICK = replace(
    ipsn17.QUICK,
    runs=1,
    sizes=(3_000,),
    ladders=((1, (1.0,)), (5, (0.01, 4.0))),
    taxi_rows=1_500,
    centres=(1,),
    compared=(4_000,),
    time_sizes=(2_000, 4_000),
    time_sizes_4d=(2_000, 4_000),
)
SMALL = replace(ipsn17.PAPER, quick=QUICK)  # even quicker than `--quick`: the same kinds of tasks, fewer of each


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("ipsn17")
    said: list[str] = []
    SMALL.run(data=None, out=out, quick=True, report=None, say=said.append)
    return out, said


def test_the_quick_version_writes_everything(quick):
    out, said = quick
    results = json.loads((out / "results.json").read_text())
    assert {"figure3", "figure4", "figure5", "figure6", "figure7"} == set(results["figures"])
    for name, rows in results["figures"].items():
        assert rows, name
        assert (out / f"{name}.csv").stat().st_size > 0
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
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
    (found,) = ipsn17.table2(rows)
    assert (found["smallest_epsilon"], found["error_there"], found["paper"]) == (0.8, 0.9, 0.8)
    (none,) = ipsn17.table2([row(0.1, None), row(0.2, 3.0)])
    assert none["smallest_epsilon"] is None
    assert "none tried" in ipsn17.table2_text([none])


def test_slopes_are_those_of_a_power_law():
    rows = [row(1, None, cpu=3e-6 * n**1.25, n=n) for n in (10**4, 10**5, 10**6)]
    (found,) = ipsn17.slopes(rows)
    assert found["slope"] == pytest.approx(1.25)
    assert found["paper"] == 1.7


def test_errors_are_relative_to_the_baseline():
    answer = {"refused": False, "costs": [2.0, 4.0], "sizes": [10, 20]}
    assert ipsn17.summary(answer, 2.0) == {"refused": False, "error": 0.5, "se": 0.5, "size": 15.0, "runs": 2}
    assert ipsn17.summary({"refused": True, "costs": [1.0], "sizes": [3]}, 1.0)["error"] is None


def test_costs_equal_their_definition():
    load = loaded("cabs", 700, None)
    centres: Floats = np.array([[0.1, 0.2], [-0.5, 0.4]])
    slow = np.square(load.rows[:, None] - centres).sum(axis=2).min(axis=1).sum()
    assert load.cost(centres) == pytest.approx(slow)


def test_the_page_shows_the_tables_that_were_measured():
    root = Path(__file__).parents[3]
    page = (root / "docs" / "papers" / "ipsn17.md").read_text(encoding="utf-8")
    for name in ("table2.md", "slopes.md"):
        assert (root / "benchmarks" / "results" / "ipsn17" / name).read_text(encoding="utf-8") in page


@pytest.mark.parametrize("which", SETS)
def test_stand_ins_are_named(which):
    assert SETS[which].stands_in
    assert first_rows(which, 50, data=None).shape == (50, SETS[which].dimension)
