"""`covey bench blocki21`: the quick version from end to end, its brute force, verdicts, and the page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from covey.bench import harness
from covey.bench.blocki21 import run as blocki21
from covey.bench.blocki21.claims import judge, of_copies, of_time
from covey.bench.blocki21.tasks import binomial, copies, group, hockey_stick, largest_loss, laws_of, rows_of
from covey.cli.main import cli

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks" / "results" / "blocki21"


def in_this_process(tasks, *, work, store, report):
    for task in tasks:
        if task.key not in store.answers:
            store.add(task, work(task), 1.0)


def test_the_quick_version_writes_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    done = CliRunner().invoke(cli, ["bench", "blocki21", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "results.json").read_text())
    assert {path.name for path in tmp_path.iterdir()} >= {"excess.md", "rows.md", "times.md", "groups.md"}
    assert {row["objective"] for row in results["figures"]["samples"]} == {"k-means", "k-median"}
    assert {row["relation"] for row in results["figures"]["rows"]} == {"add-remove", "replace-one"}
    assert all(row["excess"] >= 0 for row in results["figures"]["samples"])
    assert judge(results["figures"])
    assert results["claims"] == []  # made-up rows say nothing of a paper
    assert "reproduced" not in done.output


def test_the_brute_force_is_that_of_its_definition():
    assert binomial(5, 0.3) == pytest.approx([math.comb(5, j) * 0.3**j * 0.7 ** (5 - j) for j in range(6)])
    assert binomial(2, 0.3, most=4)[3:].tolist() == [0, 0]
    laws = laws_of(3, 0.7)
    assert laws.sum(axis=1) == pytest.approx(np.ones(4))
    assert largest_loss(laws[2], laws[0]) == pytest.approx(1.4)  # each member loses all of epsilon
    assert hockey_stick(laws[2], laws[0], 1.4) == pytest.approx(0, abs=1e-12)
    assert hockey_stick(laws[2], laws[0], 1.0) > 0.1


def test_one_member_s_loss_is_the_amplified_one_and_a_row_put_back_loses_more():
    found = group(epsilon=1.0, rate=0.2, group=1)
    assert found["largest_loss"] == pytest.approx(math.log(1 + 0.2 * math.expm1(1.0)))
    twice = copies(epsilon=1.0, share=1.0, n=1000)
    assert twice["kept_out"] == pytest.approx(1)
    assert twice["put_back"] == pytest.approx(1000 * math.log1p(math.expm1(1.0) / 1000), rel=1e-6)


def test_verdicts_can_go_either_way():
    slow = [{"n": n, "sample_cpu": seconds, "all_cpu": seconds} for n, seconds in ((10, 1.0), (1000, 100.0))]
    assert not of_time(slow)["reproduced"]
    assert of_time([{**row, "sample_cpu": 1.0} for row in slow])["reproduced"]
    row = {"share": 1.0, "epsilon": 1.0, "kept_out": 1.0}
    assert of_copies([{**row, "put_back": 1.7}])["reproduced"]
    assert not of_copies([{**row, "put_back": 0.9}])["reproduced"]


def test_clusters_are_unequal_and_always_the_same():
    rows = rows_of("clusters", 3_000, None)
    assert rows.shape == (3_000, 2)
    assert np.abs(rows).max() <= 1
    assert rows_of("clusters", 3_000, None) is rows
    assert blocki21.FULL.runs >= 10


def test_the_page_shows_what_was_measured():
    page = (ROOT / "docs" / "papers" / "blocki21.md").read_text(encoding="utf-8")
    for name in ("claims.md", "excess.md", "rows.md", "times.md", "groups.md"):
        assert (RESULTS / name).read_text(encoding="utf-8") in page
    for name in ("samples", "rows", "times", "groups"):
        assert f"../../benchmarks/results/blocki21/{name}.png" in page
