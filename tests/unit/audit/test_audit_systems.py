"""`covey audit --system`: a function that leaks is caught, one that does not is not, and a broken one is told apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import elsewhere
from covey.audit.cells import plan_systems, work
from covey.audit.systems import Promised, promises, refuse_broken, trial_of
from covey.bench import runner
from covey.cli.main import cli
from covey.errors import DataError


def in_this_process(tasks, *, work, store, workers=2, report=None):
    for task in tasks:
        store.add(task, work(task), 0.0)


@pytest.fixture
def audit(monkeypatch):
    monkeypatch.setattr(runner, "run_tasks", in_this_process)
    monkeypatch.setattr(elsewhere, "RNG", np.random.default_rng(1))
    return lambda *asked: CliRunner().invoke(cli, ["audit", *asked])


def test_a_leak_is_found_and_is_exit_code_1(audit, tmp_path):
    few = ("--trials", "120", "--columns", "2", "--out", str(tmp_path))
    done = audit("--system", "elsewhere:leaky", *few)
    assert done.exit_code == 1
    assert "FAILED elsewhere:leaky, add-remove, d = 2, k = 2, ε = 1: the bound" in done.output
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["about"]["packages"]["numpy"] == np.__version__
    assert document["cells"][0]["lower"] > 1.5
    assert not (tmp_path / "README.md").exists()  # that page is about Covey


def test_an_honest_function_passes(audit):
    """Its noise is Laplace for the relation that is asked about, and seeded, so that there is no false alarm."""
    done = audit("--system", "elsewhere:honest", "--neighbours", "replace-one", "--trials", "120", "--columns", "1")
    assert done.exit_code == 0
    assert "passed" in done.output


def test_an_error_for_one_neighbour_only_is_a_leak():
    (cell,) = plan_systems([promised("elsewhere:fails_without")], trials=120)
    answer = work(cell)
    assert answer["failed"]
    assert answer["lower"] > 1


@pytest.mark.parametrize(("name", "words"), [("failing", "ZeroDivisionError: no way"), ("short", "2 x 2 centres")])
def test_a_broken_function_is_no_leak(audit, name, words):
    done = audit("--system", f"elsewhere:{name}", "--columns", "2")
    assert isinstance(done.exception, DataError)
    assert words in str(done.exception)


def promised(system: str, **more) -> Promised:
    return Promised(**{"system": system, "neighbours": "add-remove", "columns": 2, "k": 2, "epsilon": 1.0} | more)


def test_neighbours_differ_in_one_row():
    first, second = promised("elsewhere:honest").pair
    assert np.array_equal(first[:-1], second)
    first, second = promised("elsewhere:honest", neighbours="replace-one").pair
    assert first.shape == second.shape
    assert (first != second).any(axis=1).sum() == 1


def test_every_promise_has_its_share_of_the_confidence():
    asked = promises(["elsewhere:honest"], neighbours="add-remove", epsilons=(1.0, 2.0), delta=0.0, columns=(1, 2, 6))
    cells = plan_systems(asked, trials=50)
    assert [(each.columns, each.k) for each in asked[::2]] == [(1, 1), (2, 2), (6, 2)]
    assert sum(cell.parameters["alpha"] for cell in cells) == pytest.approx(0.01)
    refuse_broken(asked)


def test_a_delta_is_handed_on_and_excused(monkeypatch):
    seen = []

    def given(X, k, epsilon, delta, bounds):
        seen.append(delta)
        return np.zeros((k, 2))

    monkeypatch.setattr(elsewhere, "given", given, raising=False)
    for delta in (0.0, 0.01):
        trial_of(promised("elsewhere:given", delta=delta))(0, None)
    assert seen == [None, 0.01]
    assert promised("elsewhere:given", delta=0.01).claim.delta == 0.01


@pytest.mark.parametrize(
    "wrong",
    [
        ["--system", "elsewhere:honest", "--algorithm", "grid"],
        ["--system", "elsewhere:honest", "--full"],
        ["--columns", "3"],
        ["--neighbours", "replace-one"],
    ],
)
def test_options_that_do_not_go_together_are_refused(audit, wrong):
    done = audit(*wrong)
    assert done.exit_code == 2
    assert "--system" in done.output
