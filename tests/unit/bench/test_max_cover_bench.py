"""`covey bench aaai21`: the quick version from end to end, verdicts, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conftest import in_this_process
from covey.bench import harness
from covey.bench.aaai21 import run as aaai21
from covey.bench.aaai21.tasks import SYSTEMS, mean_cost, plain_lloyd, rows_of, seconds_of_picks
from covey.cli.main import cli


def test_the_quick_version_writes_everything_and_a_second_call_only_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    out = tmp_path / "results"
    first = CliRunner().invoke(cli, ["bench", "aaai21", "--quick", "--out", str(out)])
    assert first.exit_code == 0, first.output
    assert {each.name for each in out.iterdir()} >= {"results.json", "costs.md", "times.md", "growth.csv"}
    results = json.loads((out / "results.json").read_text())
    table = results["figures"]["figure1"]
    assert {row["algorithm"] for row in table} == {aaai21.PLAIN, *SYSTEMS}
    assert {(row["set"], row["k"]) for row in table} == {(name, k) for name in aaai21.SETS for k in aaai21.QUICK.ks}
    assert all(row["cost"] > 0 for row in table)
    assert {row["what"] for row in results["figures"]["growth"]} == {"n", "dimensions", "growth"}
    assert {each["form"] for each in aaai21.judge(table)} == set(aaai21.FORMS)
    assert results["claims"] == []  # made-up rows say nothing of a paper
    assert not (out / "claims.md").exists()
    assert "reproduced" not in first.output
    assert harness.NO_VERDICT in first.output
    again = CliRunner().invoke(cli, ["bench", "aaai21", "--quick", "--out", str(out)])
    tasks = len({task.key for _, task, _ in aaai21.make_plan(aaai21.QUICK)})
    assert f"{tasks} tasks, {tasks} of them already done" in again.output


def test_the_full_version_asks_for_the_paper_s_sets():
    plan = aaai21.make_plan(aaai21.FULL)
    assert max(shared["k"] for figure, _, shared in plan if figure == "figure1") == 64
    assert rows_of("64 Gaussians", None, None).shape == (50_000, 100)
    assert aaai21.FULL.epsilon == 1


@pytest.mark.parametrize(("private", "expected"), [((10.0, 9.5), True), ((10.0, 4.0), False)])
def test_verdicts_follow_their_rules(private, expected):
    """A falling cost makes max cover better than its comparator, and its curve no longer flat; in either form."""
    table = []
    for name in aaai21.SETS:
        for k, plain, ours in zip((2, 8), (10.0, 5.0), private, strict=True):
            costs = {aaai21.PLAIN: plain}
            for cover, comparator in aaai21.FORMS.values():
                costs |= {cover: ours, comparator: 9.8}
            if k == 8:
                costs |= {each + aaai21.NO_ROUND: 9.7 for each in aaai21.FORMS["as printed: NOISY-AVG"]}
            table += [{"set": name, "k": k, "algorithm": each, "cost": cost} for each, cost in costs.items()]
    lower, lower_too, flat, flat_too, last = aaai21.judge(table)
    assert not lower["reproduced"]  # behind at k = 2
    assert "not on 64 Gaussians at k = 2" in lower["measured"]
    assert flat["reproduced"] is expected
    assert (lower_too["form"], flat_too["form"]) == (list(aaai21.FORMS)[1],) * 2
    assert not last["reproduced"]  # the comparator is better without the round


def test_the_page_shows_what_was_measured():
    root = Path(__file__).parents[3]
    page = (root / "docs" / "papers" / "aaai21.md").read_text(encoding="utf-8")
    for name in ("figure1", "growth"):
        assert f"../../benchmarks/results/aaai21/{name}.png" in page


def test_measures():
    rows = rows_of("MNIST", 400, None)
    assert mean_cost(rows, rows[:1]) == pytest.approx(np.square(rows - rows[0]).sum(axis=1).mean())
    assert plain_lloyd(rows, 8, seed=0) < mean_cost(rows, rows.mean(axis=0)[None])
    assert seconds_of_picks(200, 2, 1.0, 2) > 0
