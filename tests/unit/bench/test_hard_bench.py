"""The hard suite: what its rows are, what its tables say, and that it goes on where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from covey.bench.hard.cases import all_cases
from covey.bench.hard.families import FAMILIES
from covey.bench.hard.run import collect, groups_table
from covey.cli.main import cli


@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.name)
def test_every_drawing_of_a_family_is_another_set_in_the_domain_and_always_the_same(family):
    rows = family.rows(0, 300)
    assert rows.shape == (300, family.d)
    assert np.abs(rows).max() <= 1
    np.testing.assert_array_equal(rows, family.rows(0, 300))
    assert not np.array_equal(rows, family.rows(1, 300))


def test_a_sliver_is_a_thousandth_of_the_domain():
    assert np.ptp(FAMILIES[6].rows(0, 2_000), axis=0).max() < 0.004


def test_every_case_is_run_twenty_times_but_where_it_is_slow_and_forty_where_one_run_decides():
    runs = {(case.group, case.set): case.runs for case in all_cases()}
    assert {name for (_, name), many in runs.items() if many < 20} == {"mnist_train"}
    assert {name for (_, name), many in runs.items() if many == 40} == {"unbalance"}
    assert len({(case.group, case.label) for case in all_cases()}) == len(list(all_cases()))


def test_a_run_is_judged_by_the_baseline_of_its_own_drawing():
    of_rows = {"set": "rings", "n": None, "objective": "k-means", "made_up": None}
    baselines = [({**of_rows, "draw": draw}, {"cost": cost}) for draw, cost in ((0, 2.0), (1, 4.0))]
    shared = {"group": "families", "case": "rings", "epsilon": 0.1, **of_rows}
    fits = [({**shared, "draw": draw}, {"cost": cost}) for draw, cost in ((0, 2.0), (1, 6.0), (0, 8.0))]
    results = collect({"baselines": baselines, "fits": fits})
    (cell,) = results["figures"]["cells"]
    assert (cell["mean"], cell["median"], cell["worst"]) == (pytest.approx(6.5 / 3), 1.5, 4.0)
    assert "| families | 0.1 | 1 | 2.17 | 1.50 | 4.00 |" in groups_table(results)


def test_the_quick_suite_from_the_command_line(tmp_path):
    asked = ["bench", "utility", "--suite", "hard", "--quick", "--out", str(tmp_path)]
    told = CliRunner().invoke(cli, asked)
    assert told.exit_code == 0, told.output
    assert "no verdict" in told.output
    assert {row["group"] for row in json.loads((tmp_path / "results.json").read_text())["groups"]} >= {"families"}
    assert (tmp_path / "hard.png").stat().st_size > 10_000
    again = CliRunner().invoke(cli, asked)
    assert "12 tasks, 12 of them already done" in again.output


def test_what_the_hard_suite_does_not_take_is_refused(tmp_path):
    told = CliRunner().invoke(cli, ["bench", "utility", "--suite", "hard", "--runs", "3", "--out", str(tmp_path)])
    assert told.exit_code == 2
    assert "only --data, --quick and --out" in told.output
