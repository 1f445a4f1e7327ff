"""The benchmarks of utility and speed: the sets, the tasks, the comparison with peers, and the quick versions."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conftest import in_this_process
from covey.bench import harness, sets
from covey.bench.peers import figures as peers
from covey.bench.runner import Store, Task
from covey.bench.speed import child
from covey.bench.speed import run as speed
from covey.bench.utility import report as utility_report
from covey.bench.utility import run as utility
from covey.bench.utility import tasks as utility_tasks
from covey.bench.utility.run import Request
from covey.bench.utility.tasks import System, fingerprint, fit_task
from covey.cli.main import cli
from covey.errors import DataError, ParameterError

SOURCE = {"name": "s1", "rows": "abc", "n": 100, "objective": "k-means"}


def document(ratios: dict[str, float], *, label: str = "covey:auto", quick: bool = False) -> dict[str, object]:
    cells = [{"set": s, "epsilon": 1.0, "ratio": r, "se": 0.01, "runs": 3} for s, r in ratios.items()]
    return {"label": label, "system": label, "pure": False, "quick": quick, "objective": "k-means", "cells": cells}


# --- the sets ---------------------------------------------------------------------------------------------------------


def test_the_suite_has_its_fifteen_rows_and_every_one_has_figures_of_the_peers() -> None:
    assert [(each.name, each.k) for each in sets.UTILITY] == [
        ("s1", 15),
        ("gowalla_places", 5),
        ("california_roads", 2),
        ("house_rgb", 3),
        ("adult_num", 5),
        ("lifesci", 3),
        ("letter", 26),
        ("gas_emissions", 10),
        ("nyc_pickups_5", 5),
        ("nyc_pickups_10", 10),
        ("nyc_trips", 5),
        ("unbalance", 8),
        ("birch2", 100),
        ("mnist_train", 10),
        ("gaussians_64", 64),
    ]
    assert set(peers.PUBLISHED) == {each.name for each in sets.UTILITY}
    assert {each.name: each.dimension for each in sets.UTILITY if each.dimension > 15} == {
        "letter": 16,
        "mnist_train": 784,
        "gaussians_64": 100,
    }


@pytest.mark.parametrize(
    ("epsilon", "means"), [(0.1, (5.32, 6.15, 1.54)), (0.5, (3.71, 4.29, 1.08)), (1.0, (3.00, 3.44, 1.03))]
)
def test_the_published_figures_have_the_published_geometric_means(epsilon: float, means: tuple[float, ...]) -> None:
    """A slip in typing a figure would show here."""
    for peer, mean in zip(peers.PEERS, means, strict=True):
        figures = [each[epsilon][peer] for each in peers.PUBLISHED.values()]
        assert utility_report.geometric_mean(figures) == pytest.approx(mean, rel=0.005)  # of rounded figures


def test_clusters_in_the_ball_are_tight_inside_and_always_the_same() -> None:
    rows = sets.ball_clusters(d=100, k=64, n=6400)
    assert np.square(rows).sum(axis=1).max() <= 1
    one_centre = np.square(rows - rows.mean(axis=0)).sum()
    best = utility_tasks.plain_kmeans(rows, k=64, starts=3, seed=0)
    assert one_centre / (utility_tasks.mean_cost(rows, best, "k-means") * len(rows)) == pytest.approx(49, abs=4)
    assert np.array_equal(rows, sets.ball_clusters(d=100, k=64, n=6400))


def test_cost_equals_its_brute_force_twin() -> None:
    rows = sets.ball_clusters(d=3, k=4, n=200)
    centres = rows[:5] + 0.1
    squares = [min(((row - centre) ** 2).sum() for centre in centres) for row in rows]
    assert utility_tasks.mean_cost(rows, centres, "k-means") == pytest.approx(np.mean(squares))
    assert utility_tasks.mean_cost(rows, centres, "k-median") == pytest.approx(np.mean(np.sqrt(squares)))


# --- systems and tasks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["covey", "covey:nothing", "google", "covey:"])
def test_a_system_that_does_not_exist_is_refused(bad: str) -> None:
    with pytest.raises(ParameterError):
        System.parse(bad, pure=False)


def test_a_system_is_pure_if_asked_for_or_if_the_algorithm_always_is() -> None:
    assert System.parse("covey:grid", pure=False).label == "covey:grid, pure"
    assert System.parse("covey:grid", pure=True, parameters={"theta": 2.0}).file == "covey-grid-theta=2.0-pure"
    with pytest.raises(ParameterError, match="theta_two"):
        System.parse("covey:grid", pure=True, parameters={"theta_two": 2.0})
    with pytest.raises(ParameterError, match="as it is"):
        System.parse("sklearn", pure=True, parameters={"theta": 2.0})


def test_delta_goes_only_to_those_that_can_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from covey.algorithms import registry

    row = registry.ALGORITHMS["grid"]
    monkeypatch.setitem(registry.ALGORITHMS, "grid", replace(row, guarantee="either"))
    more = {**SOURCE, "size": 10_000, "epsilon": 1.0, "run": 0}
    assert fit_task(System.parse("covey:grid", pure=False), **more).parameters["delta"] == 1e-6
    assert fit_task(System.parse("covey:grid", pure=True), **more).parameters["delta"] is None
    monkeypatch.setitem(registry.ALGORITHMS, "grid", replace(row, guarantee="approximate"))
    with pytest.raises(ParameterError, match="only"):
        System.parse("covey:grid", pure=True)


def test_what_changes_an_answer_changes_the_task() -> None:
    plain = {"size": 100, "epsilon": 1.0, "run": 0}
    grid = System.parse("covey:grid", pure=False)
    keys = {
        fit_task(grid, **SOURCE, **plain).key,
        fit_task(System.parse("covey:hybrid", pure=False), **SOURCE, **plain).key,
        fit_task(System.parse("covey:grid", pure=False, parameters={"theta": 2.0}), **SOURCE, **plain).key,
        fit_task(System.parse("diffprivlib", pure=False), **SOURCE, **plain).key,
        fit_task(grid, **SOURCE, **{**plain, "epsilon": 2.0}).key,
        fit_task(grid, **SOURCE, **{**plain, "run": 1}).key,
        fit_task(grid, **{**SOURCE, "rows": "abd"}, **plain).key,
        fit_task(grid, **{**SOURCE, "objective": "k-median"}, **plain).key,
    }
    assert len(keys) == 8
    sklearn = System.parse("sklearn", pure=False)
    assert fit_task(sklearn, **SOURCE, **plain).key == fit_task(sklearn, **SOURCE, **{**plain, "epsilon": 2.0}).key


def test_the_fingerprint_follows_the_sources_that_a_fit_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fit/fit.py", "post/kmeans.py", "bench/plots.py", "cli/bench.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(utility_tasks, "PACKAGE", tmp_path)
    before = fingerprint()
    (tmp_path / "bench/plots.py").write_text("x = 2\n")
    (tmp_path / "cli/bench.py").write_text("x = 2\n")
    assert fingerprint() == before
    (tmp_path / "post/kmeans.py").write_text("x = 2\n")
    assert fingerprint() != before


def test_answers_of_other_sources_are_used_only_if_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    task = fit_task(System.parse("covey:grid", pure=False), **SOURCE, size=100, epsilon=1.0, run=0)
    store.add(Task("fit", {**task.parameters, "code": "older"}), {"cost": 7.0}, 1.0)
    assert utility.answer_of(task, store, {}) is None
    found = utility.answer_of(task, store, utility.stamped(store))
    assert found is not None
    assert found[1] == {"cost": 7.0}
    store.add(task, {"cost": 5.0}, 1.0)
    assert utility.answer_of(task, store, utility.stamped(store)) == (task.key, {"cost": 5.0})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"names": ("s9",)}, "s9"),
        ({"epsilons": (0.0,)}, "eps"),
        ({"epsilons": (math.nan,)}, "eps"),
        ({"runs": 0}, "runs"),
        ({"objective": "k-modes"}, "objective"),
        ({"objective": "k-median", "systems": ("sklearn",)}, "k-median"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_done(tmp_path: Path, wrong: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        utility.run(Request(quick=True, **wrong), data=None, out=tmp_path / "u", report=None, say=lambda _: None)
    assert not (tmp_path / "u").exists()


def test_missing_data_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="quick"):
        utility.run(Request(), data=tmp_path / "none", out=tmp_path, report=None, say=lambda _: None)


# --- peers ------------------------------------------------------------------------------------------------------------


def test_diffprivlib_is_skipped_with_a_word_where_its_environment_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(command: list[str], **_: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="something\nno such package")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", no_network)
    said: list[str] = []
    request = Request(quick=True, systems=("diffprivlib",), names=("s1",))
    utility.run(request, data=None, out=tmp_path / "u", report=None, say=said.append)
    assert any("skipped" in each and "no such package" in each for each in said)
    assert not (tmp_path / "u" / "diffprivlib.json").exists()


def test_the_process_of_a_peer_is_sent_rows_once_and_ends_when_closed(tmp_path: Path, monkeypatch) -> None:
    import sys

    fake = tmp_path / "diffprivlib"
    fake.mkdir()
    (fake / "__init__.py").write_text("")
    (fake / "models.py").write_text(
        "class KMeans:\n"
        "    def __init__(self, n_clusters, epsilon, bounds):\n"
        "        self.k, self.epsilon = n_clusters, epsilon\n"
        "    def fit(self, rows):\n"
        "        self.cluster_centers_ = rows[:self.k] * self.epsilon\n"
        "        return self\n"
    )
    script = tmp_path / "script.py"
    script.write_text(peers.SCRIPT.read_text())  # beside the made-up package, which it then finds
    monkeypatch.setattr(peers, "SCRIPT", script)
    process = peers.Diffprivlib(sys.executable)
    rows = np.arange(12.0).reshape(6, 2)
    for _ in range(2):
        centres, seconds, cpu = process.fit(rows, k=3, epsilon=0.5)
        assert np.array_equal(centres, rows[:3] / 2)
        assert min(seconds, cpu) >= 0
    assert np.array_equal(process.fit(rows[::-1], k=1, epsilon=1.0)[0], [[10, 11]])
    process.close()


# --- the tables -------------------------------------------------------------------------------------------------------


def test_wins_count_means_and_take_equal_digits_as_level() -> None:
    ours = document({"s1": 1.0201, "letter": 1.30, "mnist_train": 1.5})
    assert utility_report.compare(ours, 1.0, "Google") == {"ahead": 2, "level": 0, "behind": 1}
    assert utility_report.compare(ours, 1.0, "recipe") == {"ahead": 0, "level": 1, "behind": 2}
    assert utility_report.wins(document({"s1": 1.0}, quick=True), 1.0) == []


def test_tables_show_ratios_peers_and_geometric_means() -> None:
    ours, pure = document({"s1": 1.0, "birch2": 4.0}), document({"s1": 2.0}, label="covey:auto, pure")
    text = utility_report.markdown([ours, pure])
    assert "| s1 | 15 | 1.00 ± 0.01 | 2.00 ± 0.01 | 8.56 | 5.06 | 1.02 |" in text
    assert "| birch2 | 100 | 4.00 ± 0.01 | – | 358 | 171 | 0.94 |" in text
    assert "**2.00** | **2.00 (1 sets)**" in text
    assert "covey:auto against Google: ahead in 2 of 2" in text
    refusing = document({"s1": 1.0})
    refusing["cells"].append({"set": "letter", "epsilon": 1.0, "refused": "k: too many"})  # type: ignore[attr-defined]
    assert "refuses letter: k: too many" in utility_report.markdown([refusing])
    assert utility_report.compare(refusing, 1.0, "IBM")["behind"] == 1


# --- end to end -------------------------------------------------------------------------------------------------------


def test_the_quick_version_goes_on_and_writes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    arguments = ["bench", "utility", "--quick", "--out", str(tmp_path), "--sets", "s1", "--system", "sklearn"]
    first = CliRunner().invoke(cli, [*arguments, "--system", "covey:lloyd", "--runs", "1"], catch_exceptions=False)
    assert first.exit_code == 0
    assert "4 runs to do" in first.output  # a baseline, one of scikit-learn, two of lloyd
    again = CliRunner().invoke(cli, [*arguments, "--system", "covey:lloyd", "--runs", "1"], catch_exceptions=False)
    assert "0 runs to do" in again.output
    more = ["--system", "covey:lloyd", "--runs", "2", "--eps", "1", "--sets", "s1"]
    assert "1 runs to do" in CliRunner().invoke(cli, [*arguments[:5], *more], catch_exceptions=False).output
    results = json.loads((tmp_path / "covey-lloyd-pure.json").read_text())
    runs = {(row["set"], row["epsilon"]): row["runs"] for row in results["cells"]}
    assert runs == {("s1", 0.5): 1, ("s1", 1.0): 2}
    assert all(row["ratio"] > 0.9 for row in results["cells"])
    plain = json.loads((tmp_path / "sklearn.json").read_text())
    assert all(row["ratio"] == pytest.approx(1, abs=0.5) for row in plain["cells"])
    table = (tmp_path / "table.md").read_text()
    assert "made-up rows" in table
    assert "covey:lloyd, pure | sklearn" in table
    assert "Google" not in table
    assert (tmp_path / "utility.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path) not in (tmp_path / "covey-lloyd-pure.json").read_text()


def test_k_median_has_files_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    request = Request(quick=True, systems=("covey:grid",), names=("s1",), epsilons=(1.0,), runs=1, objective="k-median")
    utility.run(request, data=None, out=tmp_path, report=None, say=lambda _: None)
    results = json.loads((tmp_path / "covey-grid-pure-k-median.json").read_text())
    assert 0.9 < results["cells"][0]["ratio"] < 3
    assert "non-private k-median" in (tmp_path / "table-k-median.md").read_text()
    assert (tmp_path / "utility-k-median.png").exists()


def mostly_here(in_own_process: Callable[..., dict]) -> Callable[..., dict]:
    """Only the first of those that have a file, and of those that have none, is a process: its start takes longest."""
    begun: set[bool] = set()

    def answer(what: str, path: Path | None, n: int) -> dict:
        if (path is None) not in begun:
            begun.add(path is None)
            return in_own_process(what, path, n)
        with redirect_stdout(StringIO()) as printed:
            child.main(what, str(path or ""), str(n))
        return json.loads(printed.getvalue())

    return answer


def test_the_speed_of_everything_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "speed.json"
    monkeypatch.setattr(speed, "QUICK", replace(speed.QUICK, rows=(2_000, 3_000), growth=(500, 2_000), parquet=20_000))
    monkeypatch.setattr(speed, "in_own_process", cache(mostly_here(speed.in_own_process)))  # reading is measured twice
    parts = ["--parts", "fits,people,imports,growth,parquet,noise"]
    done = CliRunner().invoke(cli, ["bench", "speed", "--quick", *parts, "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    results = json.loads(out.read_text())
    assert set(results["times_scikit_learn"]) == set(speed.FITS)
    works = [row["work"] for row in results["table"]]
    assert any("peak memory" in each for each in works)
    assert any("growth" in each for each in works)
    assert any("noise" in each for each in works)
    wanted = ["auto, 3,000 x 2", "KMedian auto, 2,000 x 2", "auto, people, m = 1, 5,000 rows x 2", "import of KMeans"]
    assert {*wanted} <= {*works}
    assert all(row["met"] is None for row in results["table"])  # goals are for the full sizes
    speed.run(data=None, out=out, quick=True, parts=["noise"], with_diffprivlib=False, say=lambda _: None)
    again = json.loads(out.read_text())
    assert [row["work"] for row in again["table"]] == works  # one part is measured again, the others are kept
    assert again["table"][:-1] == results["table"][:-1]
    with pytest.raises(ParameterError, match="parts"):
        speed.run(data=None, out=out, quick=True, parts=["x"], with_diffprivlib=False, say=lambda _: None)


def test_goals_are_the_most_that_a_value_may_be() -> None:
    assert speed.line("a", seconds=2.0, peer="b", against=1.0, goal=2.0)["met"]
    assert not speed.line("a", seconds=2.1, peer="b", against=1.0, goal=2.0)["met"]
    assert speed.line("a", seconds=2.0, peer="b", against=1.0)["met"] is None
    assert "MISSED" in speed.in_words(speed.line("a", seconds=3.0, value=3.0, goal=2.0, unit="s"))
