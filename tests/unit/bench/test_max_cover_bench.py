"""`covey bench aaai21`: the quick version from end to end, what is left out where an algorithm is missing, verdicts."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from click.testing import CliRunner

from covey.algorithms.registry import ALGORITHMS
from covey.bench import harness
from covey.bench.aaai21 import run as aaai21
from covey.bench.aaai21.tasks import SYSTEMS, mean_cost, plain_lloyd, rows_of, seconds_of_picks
from covey.cli.main import cli


def in_this_process(tasks, *, work, store, report):
    """`run_tasks` without its processes, whose start takes longer than the tasks; test_bench_su16.py is for those."""
    sent = pickle.loads(pickle.dumps(work))
    for task in tasks:
        if task.key not in store.answers:
            store.add(task, sent(task), 1.0)


def test_the_quick_version_writes_everything_and_a_second_call_only_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    out = tmp_path / "results"
    first = CliRunner().invoke(cli, ["bench", "aaai21", "--quick", "--out", str(out)])
    assert first.exit_code == 0, first.output
    assert {each.name for each in out.iterdir()} >= {"results.json", "claims.md", "figure1.csv", "growth.csv"}
    results = json.loads((out / "results.json").read_text())
    table = results["figures"]["figure1"]
    assert {row["algorithm"] for row in table} == {aaai21.PLAIN, *(s for s in SYSTEMS if SYSTEMS[s][0] in ALGORITHMS)}
    assert {(row["set"], row["k"]) for row in table} == {(name, k) for name in aaai21.SETS for k in aaai21.QUICK.ks}
    assert all(row["cost"] > 0 for row in table)
    assert {row["what"] for row in results["figures"]["growth"]} == {"n", "dimensions", "growth"}
    assert results["claims"][-1]["reproduced"] in (True, False)
    assert "reproduced" in first.output
    again = CliRunner().invoke(cli, ["bench", "aaai21", "--quick", "--out", str(out)])
    tasks = len({task.key for _, task, _ in aaai21.make_plan(aaai21.QUICK)})
    assert f"{tasks} tasks, {tasks} of them already done" in again.output


def test_algorithms_that_do_not_exist_are_left_out(monkeypatch):
    monkeypatch.delitem(ALGORITHMS, "jl-candidates", raising=False)
    kinds = {shared.get("algorithm") for _, _, shared in aaai21.make_plan(aaai21.FULL)}
    assert "jl-candidates" not in kinds
    assert {"max-cover", "lloyd", "auto", aaai21.PLAIN} <= kinds


def test_the_full_version_asks_for_the_paper_s_sets():
    plan = aaai21.make_plan(aaai21.FULL)
    assert max(shared["k"] for figure, _, shared in plan if figure == "figure1") == 64
    assert rows_of("64 Gaussians", None, None).shape == (50_000, 100)
    assert aaai21.FULL.epsilon == 1


@pytest.mark.parametrize(("private", "expected"), [((10.0, 9.5), True), ((10.0, 4.0), False)])
def test_verdicts_follow_their_rules(private, expected):
    table = []
    for name in aaai21.SETS:
        for k, plain, ours in zip((2, 8), (10.0, 5.0), private, strict=True):
            for algorithm, cost in ((aaai21.PLAIN, plain), ("max-cover", ours), ("jl-candidates", 11.0)):
                table.append({"set": name, "k": k, "algorithm": algorithm, "cost": cost})
    against, plateau = aaai21.judge(table)
    assert against["reproduced"]
    assert plateau["reproduced"] is expected


def test_measures():
    rows = rows_of("MNIST", 400, None)
    assert mean_cost(rows, rows[:1]) == pytest.approx(np.square(rows - rows[0]).sum(axis=1).mean())
    assert plain_lloyd(rows, 8, seed=0) < mean_cost(rows, rows.mean(axis=0)[None])
    assert seconds_of_picks(200, 2, 1.0, 2) > 0
