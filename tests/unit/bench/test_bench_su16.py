"""The benchmark of Su et al. 2016: data sets, the measure, the runner, and the quick version from end to end."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from covey.bench import runner, sets
from covey.bench.runner import Store, Task, run_tasks
from covey.bench.su16 import run as su16
from covey.bench.su16.claims import judge
from covey.bench.su16.tasks import VARIANTS, one_block_size
from covey.bench.workload import Workload
from covey.errors import DataError
from covey.events import exactly
from covey.post.random import public_rng
from covey.queries.blocks import BlockCentres


class Stop(Exception):
    """Stands for Ctrl-C."""


def double(task: Task) -> dict[str, int]:
    if task.kind == "fails":
        raise ValueError("no good")
    if task.kind == "dies":
        os._exit(1)
    return {"twice": 2 * task.parameters["x"]}


@pytest.fixture(scope="module")
def workload() -> Workload:
    rows, _ = sets.gaussian_clusters(d=3, k=4, n=700)
    return Workload(rows, k=4, name="test", starts=3)


@pytest.mark.parametrize(("d", "k", "n"), [(2, 2, 1000), (2, 10, 1001), (10, 7, 999), (3, 1, 50)])
def test_made_up_clusters_are_equal_separate_and_inside_the_box(d: int, k: int, n: int) -> None:
    rows, label = sets.gaussian_clusters(d=d, k=k, n=n)
    sizes = np.bincount(label, minlength=k)
    assert rows.shape == (n, d)
    assert np.abs(rows).max() <= 1
    assert sizes.sum() == n
    assert sizes.max() - sizes.min() <= 1
    means = np.stack([rows[label == j].mean(axis=0) for j in range(k)])
    gaps = np.square(rows[:, None] - means).sum(axis=2)
    assert (gaps.argmin(axis=1) == label).mean() > 0.99  # the nearest mean is the row's own: well separated
    assert np.array_equal(rows, sets.gaussian_clusters(d=d, k=k, n=n)[0])


def test_nicv_equals_its_brute_force_twin(workload: Workload) -> None:
    rows, _ = sets.gaussian_clusters(d=3, k=4, n=700)
    rng = public_rng(1)
    for k in (1, 2, 9):
        centres = rng.uniform(-1.2, 1.2, size=(k, 3))
        slow = sum(min(((row - centre) ** 2).sum() for centre in centres) for row in rows) / len(rows)
        assert workload.nicv(centres * workload.domain.limit) == pytest.approx(slow, rel=1e-10)


def test_every_algorithm_that_takes_a_start_gets_the_same_ones(workload: Workload) -> None:
    from covey.post.starts import sphere_packing

    lower, upper = workload.domain.corners
    rng = workload.public_at(0)
    in_a_row = [sphere_packing(4, lower=lower, upper=upper, rng=rng) for _ in range(3)]
    alone = [sphere_packing(4, lower=lower, upper=upper, rng=workload.public_at(i)) for i in range(3)]
    assert np.array_equal(in_a_row, workload.packings)
    assert np.array_equal(alone, workload.packings)


def test_kmeans_ends_in_a_fixed_point_and_never_gets_worse(workload: Workload) -> None:
    centres, traces = workload.kmeans()
    assert np.array_equal(workload.exact_round(workload.domain.snap(centres)), centres)
    assert workload.nicv(centres) == min(map(min, traces))
    for trace in traces:
        assert (np.diff(trace) <= 1e-9).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_runs_repeat_for_a_seed_and_differ_otherwise(workload: Workload, variant: str) -> None:
    algorithm, own = VARIANTS[variant]
    first, again, other = (workload.run(algorithm, epsilon=1.0, seed=seed, **own).centres for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert 0 < workload.nicv(first) < 4 * 3


def test_noise_alone_has_the_scale_of_equation_3(workload: Workload) -> None:
    """Taken apart, `blocks` is its averages plus noise of 2(max - min)kd/(ℓε): smaller with more blocks."""
    centres, _ = workload.kmeans()
    spreads = []
    for blocks in (10, 200):
        query = BlockCentres(domain=workload.domain, k=4, blocks=blocks)
        found = [one_block_size(workload, query, centres, exactly(5.0), run) for run in range(20)]
        assert set(found[0]) == {"gkm", "aggregation", "noise"}
        spreads.append(np.mean([np.abs(each["noise"] - centres).mean() for each in found]))
    assert spreads[0] > 5 * spreads[1]


def test_answers_are_kept_and_never_asked_for_again(tmp_path: Path) -> None:
    tasks = [Task("double", {"x": i}, alone=i == 3) for i in range(5)]
    seen: list[tuple[int, int]] = []
    run_tasks(tasks, work=double, store=Store(tmp_path / "t.jsonl"), report=lambda done, of, _: seen.append((done, of)))
    assert seen == [(i, 5) for i in range(1, 6)]
    store = Store(tmp_path / "t.jsonl")
    assert [store.answers[task.key] for task in tasks] == [{"twice": 2 * i} for i in range(5)]
    seen.clear()
    run_tasks(tasks, work=double, store=store, report=lambda done, of, _: seen.append((done, of)))
    assert seen == []


def test_a_torn_line_is_cut_off_and_its_task_done_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tasks = [Task("double", {"x": i}) for i in range(2)]
    whole = Store(path)
    for task in tasks:
        whole.add(task, double(task), 0.1)
    path.write_bytes(path.read_bytes()[:-9])
    assert len(Store(path).answers) == 1
    run_tasks(tasks, work=double, store=Store(path), workers=1)
    assert len(Store(path).answers) == 2
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(("kind", "words"), [("fails", "no good"), ("dies", "ended")])
def test_a_failed_task_is_an_error_and_keeps_the_finished_ones(tmp_path: Path, kind: str, words: str) -> None:
    tasks = [Task("double", {"x": 1}), Task(kind, {"x": 2}), Task("double", {"x": 3})]
    with pytest.raises(RuntimeError, match=words):
        run_tasks(tasks, work=double, store=Store(tmp_path / "t.jsonl"), workers=1)
    assert len(Store(tmp_path / "t.jsonl").answers) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_dies_before_it_reads_its_task_is_an_error(tmp_path: Path, monkeypatch, when: str) -> None:
    ours, theirs = multiprocessing.Pipe()
    if when == "before":
        theirs.close()
    else:
        threading.Timer(0.2, theirs.close).start()
    monkeypatch.setattr(runner, "_crew", lambda *_: nullcontext([ours]))
    with pytest.raises(RuntimeError, match="ended"):
        run_tasks([Task("double", {"x": 1})], work=double, store=Store(tmp_path / "t.jsonl"), workers=1)


def test_missing_data_is_a_clear_error(tmp_path: Path) -> None:
    nothing = lambda *_: None  # noqa: E731
    with pytest.raises(DataError, match="quick"):
        su16.PAPER.run(data=tmp_path / "none", out=tmp_path / "out", quick=False, report=None, say=nothing)
    with pytest.raises(DataError, match=r"s1\.parquet"):
        su16.PAPER.run(data=tmp_path, out=tmp_path / "out", quick=False, report=None, say=nothing)


def test_rows_are_clipped_to_their_bounds_and_scaled(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [0, 500_000, 2_000_000], "y": [1_000_000, 250_000, -5]}), tmp_path / "s1.parquet")
    assert sets.read(sets.SU16[0], tmp_path).tolist() == [[-1, 1], [0, -0.5], [1, -1]]


@pytest.mark.slow
def test_the_quick_version_from_end_to_end(tmp_path: Path) -> None:
    """Stopped midway, taken up again, finished; a third call measures nothing and writes the same files."""
    tiny = {"out": tmp_path, "data": None, "quick": True}
    done: list[int] = []

    def stop_early(finished: int, of: int, what: str) -> None:
        done.append(finished)
        if finished == 40:
            raise Stop

    with pytest.raises(Stop):
        su16.PAPER.run(**tiny, report=stop_early, say=lambda _: None)  # type: ignore[arg-type]
    kept = len((tmp_path / "tasks.jsonl").read_text().splitlines())
    assert kept == 40
    assert not (tmp_path / "results.json").exists()

    said: list[str] = []
    first: list[int] = []
    su16.PAPER.run(**tiny, report=lambda finished, *_: first.append(finished), say=said.append)  # type: ignore[arg-type]
    assert first[0] == kept + 1
    assert "40 of them already done" in said[0]
    check_files(tmp_path)

    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again: list[int] = []
    su16.PAPER.run(**tiny, report=lambda finished, *_: again.append(finished), say=said.append)  # type: ignore[arg-type]
    assert again == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def check_files(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text())
    assert set(results["figures"]) == {f"figure{i}" for i in range(1, 8)}
    assert all(each["stands_in"] == "made-up clusters" for each in results["sets"])
    assert {"cpus", "python", "numpy", "covey"} <= set(results["machine"])
    for name, table in results["figures"].items():
        with (folder / f"{name}.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == len(table) > 0
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        for row in table:
            assert row.get("nicv", 1.0) > 0
    assert results["claims"] == []  # made-up rows say nothing of a paper
    assert not (folder / "claims.md").exists()
    claims = judge(results["figures"], results["forced"], results["sets"])
    assert {each["figure"] for each in claims} == set("1234567")
    assert all(isinstance(each["reproduced"], bool) and each["measured"] for each in claims)
    table = su16.claims_page({**results, "claims": claims})
    assert table.count("\n| ") == len(claims)
    assert "Not the paper's own rows: S1 (made-up clusters)" in table
    text = (folder / "results.json").read_text()
    assert str(folder) not in text
    assert str(Path.home()) not in text


def test_the_page_shows_the_claims_and_figures_as_measured() -> None:
    root = Path(__file__).parents[3]
    results = root / "benchmarks" / "results" / "su16"
    page = (root / "docs" / "papers" / "su16.md").read_text()
    assert "<!-- from: benchmarks/results/su16/claims.md -->" in page  # tests/unit/test_pages.py compares
    for figure in range(1, 8):
        assert f"../../benchmarks/results/su16/figure{figure}.png" in page
        assert (results / f"figure{figure}.png").exists()
