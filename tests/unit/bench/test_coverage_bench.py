"""`covey bench coverage`: the quick version from end to end, its measures on cases with known answers, the bars."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conftest import in_this_process
from covey.bench import harness
from covey.bench.coverage import bars, cells, measure
from covey.bench.coverage import run as coverage
from covey.bench.coverage.suite import OTHERS, SUITE
from covey.bench.runner import Store
from covey.cli.main import cli
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.post.distances import cost, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.reruns import Reruns
from covey.post.random import public_rng
from covey.published.coreset.coreset import Coreset

ROOT = Path(__file__).parents[3]


def test_the_quick_version_says_how_long_it_takes_writes_everything_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    call = ["bench", "coverage", "--quick", "--out", str(tmp_path)]
    first = CliRunner().invoke(cli, [*call, "--fits", "2"])
    assert first.exit_code == 0, first.output
    assert "CPU hours are left" in first.output
    tables = {"sizes", "costs", "differences", "ways", "doubt", "places", "excess", "beyond", "balls", "times"}
    wanted = {"results.json", "bars.md", "coverage.png", *(f"{name}.csv" for name in tables)}
    assert {each.name for each in tmp_path.iterdir()} == {*wanted, "tasks.jsonl"}
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results["figures"]) == tables
    assert all(0 <= row["held"] <= 1 and row["gate"] > 0 for row in results["figures"]["sizes"])
    assert {row["method"] for row in results["figures"]["sizes"]} == {"auto", "levels", "grid"}
    assert {row["method"] for row in results["figures"]["places"]} == {"auto", "levels"}
    again = CliRunner().invoke(cli, [*call, "--fits", "2", "--keep"])
    many = len(coverage.make_plan(coverage.QUICK, None))
    assert f"{many} tasks, {many} of them already done" in again.output


def test_limits_are_checked_before_anything_is_done(tmp_path):
    for name, wrong in (("sets", "s9"), ("methods", "lloyd")):
        with pytest.raises(ParameterError, match=wrong):
            coverage.run(
                data=None,
                out=tmp_path / "c",
                quick=True,
                limits={name: (wrong,)},
                keep=False,
                report=None,
                say=lambda _: None,
            )
    assert not (tmp_path / "c").exists()


def test_the_plan_is_what_was_asked_for(monkeypatch):
    monkeypatch.setattr(coverage, "rows_of", lambda *_: np.zeros((1000, 1)))
    plan = coverage.make_plan(coverage.FULL, Path("."))
    assert len(OTHERS) >= 6
    assert {step.shared["set"] for step in plan} == {each.name for each in SUITE}
    counted: dict[tuple[str, ...], int] = {}
    for step in plan:
        key = (step.figure, step.shared["set"], step.shared["method"], step.shared["epsilon"])
        counted[key] = counted.get(key, 0) + step.task.parameters["many"]
    assert {(key[0], many) for key, many in counted.items()} == {("fits", 200), ("reruns", 60), ("balls", 40)}
    columns = {each.name: each.dimension for each in SUITE}
    assert {key[2] for key in counted if columns[key[1]] > 4} == {"auto", "ball-coreset"}
    assert {key[2] for key in counted if key[0] == "reruns"} == {"auto", "levels"}


def test_hours_are_of_what_is_left(tmp_path):
    plan, store = coverage.make_plan(coverage.QUICK, None), Store(tmp_path / "t.jsonl")
    before = coverage.cpu_hours(plan, store)
    for step in plan[: len(plan) // 2]:
        store.add(step.task, {"fits": []}, 1.0)
    assert 0 < coverage.cpu_hours(plan, store) < before


def test_rows_are_located_in_their_boxes():
    rows = public_rng(1).uniform(-1, 1, (500, 2))
    release = fit(rows, k=3, epsilon=5.0, bounds=(-1, 1), algorithm_params={"keep_synopsis": True}, random_state=1)
    boxes = Coreset.of(release).boxes
    found = measure.locate(boxes, rows)
    assert (np.abs(rows - boxes.points[found]) <= boxes.widths[found] / 2 + 1e-6).all()
    assert (measure.locate(boxes.some(np.arange(len(boxes.counts)) < 1), rows) == -1).any()


def test_rows_of_equal_values_are_in_boxes_as_narrow_as_the_lattice():
    """As a fit places them, in whole numbers: a row that is off by rounding would make its box an empty one."""
    rows = np.repeat(public_rng(2).integers(0, 255, (40, 2)) / 127.5 - 1, 200, axis=0)
    release = fit(rows, k=3, epsilon=5.0, bounds=(-1, 1), algorithm_params={"keep_synopsis": True}, random_state=1)
    boxes = Coreset.of(release).boxes
    assert boxes.widths.min() < 1e-6
    found = measure.locate(boxes, rows)
    assert (found >= 0).all()
    inside = np.bincount(found, minlength=len(boxes.counts))
    assert np.abs(boxes.counts - inside).max() < 20 * np.sqrt(boxes.variances.max())


def test_a_centre_on_an_empty_box_is_a_phantom():
    rows = np.full((100, 1), -0.9)
    points = np.array([[-0.5], [0.5]])
    boxes = CountedBoxes.of_one_scale(points, np.ones((2, 1)), np.array([100.0, 50.0]), scale=3.0, strictness=1.0)
    release = fit(rows, k=2, epsilon=5.0, bounds=(-1, 1), random_state=1)
    release = type(release)(
        objective="k-means",
        columns=release.columns,
        centres=points.tolist(),
        sizes=None,
        certificate=release.certificate,
        errors=type(release.errors)(doubtful=[True, False]),
    )
    found = measure.of_doubt(release, boxes, rows)
    assert found == {"phantoms": 1, "phantoms_called_real": 1, "real": 1, "real_doubted": 1}


def test_places_count_only_for_clusters_that_were_found():
    best = np.array([[-0.5, 0.0], [0.5, 0.0], [0.5, 0.5]])
    centres = np.array([[0.5, 0.51], [-0.45, 0.0], [0.0, -0.9]])  # the second cluster was missed
    rows = np.repeat(best, 10, axis=0) + 0.01 * public_rng(0).normal(size=(30, 2))
    found = measure.of_places(Reruns(np.array([0.02, 0.03, 0.05]), 0.5), centres, best, centres, rows)
    assert (found["found"], found["places"], found["places_held"]) == (2, 2, 1)
    assert found["excess"] > 1
    assert not found["alike"]
    unknown = measure.of_places(Reruns(np.array([np.nan, 0.1, 0.1]), None), centres, best, centres, rows)
    assert (unknown["found"], unknown["places"], unknown["places_held"]) == (2, 1, 1)


def test_of_two_optima_that_cost_the_same_the_near_one_says_where_a_centre_belongs_and_of_others_the_better():
    """Four equal clusters and two centres: left and right, or above and below."""
    corners = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
    sides, ends = np.array([[-0.5, 0.0], [0.5, 0.0]]), np.array([[0.0, -0.5], [0.0, 0.5]])
    released, told = sides + 0.02, Reruns(np.array([0.05, 0.05]), 0.01)
    alike = measure.of_places(told, released, ends, sides, corners)
    assert (alike["alike"], alike["found"], alike["places_held"]) == (1, 2, 2)
    assert 0 < alike["excess"] < 0.01
    narrow = corners * [0.9, 1.0]  # now above and below is better by more than can be left open
    worse = measure.of_places(told, released, ends, sides * [0.9, 1.0], narrow)
    assert (worse["alike"], worse["places_held"]) == (0, 0)
    better = measure.of_places(told, sides * [0.9, 1.0], np.zeros((2, 2)), sides * [0.9, 1.0], narrow)
    assert better["excess"] == 0  # private centres may beat those of ten runs: what is best is the better of both


def test_a_bound_is_judged_where_it_is_told_and_a_small_one_is_tight_enough():
    fit = {"excess": 0.0001, "alike": 1}
    small = cells.excess([{**fit, "excess_bound": 0.005}] * 4)
    assert (small["held"], small["told"], small["times"]) == (1, 1, 1)
    assert cells.excess([{**fit, "excess_bound": 0.02}] * 4)["times"] == pytest.approx(4)
    untold = cells.excess([{"excess": 5.0, "excess_bound": None, "alike": 0}] * 2)
    assert (untold["held"], untold["told"], untold["times"]) == (None, 0, None)


def test_a_difference_is_judged_by_what_both_sets_of_sites_truly_cost():
    rows = public_rng(3).uniform(-1, 1, (2_000, 2))
    sites, others = np.array([[0.0, 0.0]]), np.array([[0.5, 0.5]])
    true = {"k-means": tuple(cost(rows, np.ones(len(rows)), each) for each in (sites, others))}
    wrong = {"k-means": (true["k-means"][0] + 1_000, true["k-means"][1])}
    held = []
    for seed in range(6):
        kept = {"keep_synopsis": True}
        release = fit(rows, k=2, epsilon=5.0, bounds=(-1, 1), algorithm_params=kept, random_state=seed)
        (holds, off, wide), *_ = measure.of_differences(Coreset.of(release), sites, others, true).values()
        assert holds == (abs(off) <= wide)
        assert wide < 0.5
        assert measure.of_differences(Coreset.of(release), sites, others, wrong)["difference_means"][0] == 0
        held.append(holds)
    assert sum(held) >= 4


def test_a_way_is_judged_by_the_mean_of_what_rows_truly_walk():
    rows = public_rng(3).uniform(-1, 1, (2_000, 2))
    release = fit(rows, k=2, epsilon=5.0, bounds=(-1, 1), algorithm_params={"keep_synopsis": True}, random_state=1)
    site = np.array([[0.0, 0.0]])
    true = {each: (cost(rows, np.ones(len(rows)), site, each),) for each in ("k-means", "k-median")}
    for held, ratio, wide in measure.of_ways(Coreset.of(release), site, true, len(rows)).values():
        assert held == 1
        assert abs(ratio - 1) <= wide < 0.2
    assert measure.of_ways(Coreset.of(release), site, true, 2 * len(rows))["way_median"][0] == 0


def test_sizes_are_judged_by_the_rows_nearest_to_each_centre():
    rows = public_rng(3).uniform(-1, 1, (400, 2))
    release = fit(rows, k=2, epsilon=1.0, bounds=(-1, 1), random_state=1)
    label = nearest(rows, np.array(release.centres))
    found = measure.of_sizes(release, label)
    ends = release.size_intervals
    true = np.bincount(label, minlength=2)
    assert found["sizes_held"] == sum(low <= size <= high for (low, high), size in zip(ends, true, strict=True))


def test_the_standard_error_takes_the_numbers_of_a_fit_together():
    alone = cells.share([1, 0] * 50, [1] * 100)
    together = cells.share([10, 0] * 5, [10] * 10)
    assert alone["held"] == together["held"] == 0.5
    assert alone["of"] == together["of"] == 100
    assert alone["se"] == pytest.approx(0.05, rel=0.02)
    assert together["se"] == pytest.approx(0.5 / 3, rel=0.02)
    assert cells.share([], [])["held"] is None


@pytest.mark.parametrize(("held", "met", "near"), [(0.9, True, 0), (0.86, False, 1), (0.5, False, 0), (0.99, False, 0)])
def test_verdicts_follow_their_rules(held, met, near):
    row = {"set": "s1", "method": "auto", "epsilon": 1.0, "gate": 300.0, "held": held, "se": 0.01, "of": 100}
    verdict = bars.BARS[0].judged({"sizes": [row]})
    assert (verdict["met"], verdict["near"], verdict["cells"]) == (met, near, 1)
    assert bars.BARS[0].judged({"sizes": [{**row, "gate": 50.0}]})["met"] is None
    assert bars.BARS[1].judged({"sizes": [{**row, "gate": 50.0}]})["met"] is (held >= 0.8)


def test_the_page_shows_what_was_measured_and_no_number_of_its_own():
    page = (ROOT / "docs" / "guide" / "coverage.md").read_text(encoding="utf-8")
    for name in ("bars.md", "coverage.png"):
        assert f"../../benchmarks/results/coverage/{name}" in page
        assert (ROOT / "benchmarks" / "results" / "coverage" / name).exists()
