"""`covey bench utility --system MODULE:FUNCTION`: others on the same cells, judged by the same cost."""

from __future__ import annotations

import json
import pickle
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

import elsewhere
from covey.algorithms import systems
from covey.bench import harness
from covey.bench.peers import figures
from covey.bench.runner import Task, attempt
from covey.bench.utility import run as utility
from covey.bench.utility.tasks import System, fit_task, mean_cost, perform, rows_of
from covey.cli.main import cli
from covey.errors import DataError, ParameterError

SOURCE = {"name": "s1", "rows": "abc", "n": 200, "size": 200, "objective": "k-means", "epsilon": 1.0, "run": 0}
BOUNDS = (-np.ones(2), np.ones(2))


def in_this_process(tasks, *, work, store, workers=2, report=None):
    for task in tasks:
        if task.key not in store.answers:
            store.add(task, work(task), 0.0)


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """`covey bench utility --quick` of one set and one epsilon, without other processes."""
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    monkeypatch.setattr(utility, "QUICK_ROWS", 200)
    monkeypatch.setattr(utility, "small_multiples", lambda _: b"")
    few = ["bench", "utility", "--quick", "--sets", "s1", "--eps", "1", "--runs", "1", "--out", str(tmp_path)]
    return lambda *more: CliRunner().invoke(cli, [*few, *more])


def test_a_function_is_measured_like_covey(quick, tmp_path):
    done = quick("--system", "elsewhere:honest", "--system", "elsewhere:leaky", "--pure")
    assert done.exit_code == 0
    document = json.loads((tmp_path / "elsewhere-honest-pure.json").read_text())
    assert document["label"] == "elsewhere:honest, pure"
    assert document["cells"][0]["delta"] is None
    assert document["cells"][0]["code"] == [systems.load("elsewhere:honest").code]
    assert "elsewhere:honest, pure" in done.output
    assert "0 runs to do" in quick("--system", "elsewhere:leaky", "--pure").output


def test_its_cost_is_that_of_its_centres_and_it_gets_what_is_promised(monkeypatch):
    seen = {}

    def corner(X, k, epsilon, delta, bounds):
        seen.update(k=k, epsilon=epsilon, delta=delta, bounds=[each.tolist() for each in bounds])
        X[:] = 0.0  # its own copy
        return np.ones((k, 2))

    monkeypatch.setattr(systems, "load", lambda name: systems.System(name, corner))
    task = fit_task(System(name="elsewhere:corner"), **SOURCE)
    answer = perform(task, data=None, python=None)
    assert answer["cost"] == mean_cost(rows_of("s1", 200, None), np.ones((15, 2)))
    assert seen == {"k": 15, "epsilon": 1.0, "delta": 0.000354, "bounds": [[-1.0, -1.0], [1.0, 1.0]]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("short", "15 x 2 centres, and returned 14 x 2"),
        ("lost", "not finite"),
        ("words", "returned list"),
    ],
)
def test_what_is_not_k_centres_is_an_error_that_says_so(quick, name, words):
    error = quick("--system", f"elsewhere:{name}").exception
    assert isinstance(error, DataError)
    assert words in str(error)


def test_an_error_of_its_own_is_a_refusal_of_the_set(quick, tmp_path):
    assert quick("--system", "elsewhere:failing").exit_code == 0
    cell = json.loads((tmp_path / "elsewhere-failing.json").read_text())["cells"][0]
    assert cell["refused"] == "ZeroDivisionError: no way"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere_at_all:f", "cannot import 'nowhere_at_all'"),
        ("elsewhere:nothing", "has no function 'nothing'"),
        ("elsewhere:NAME", "has no function"),
        ("elsewhere:two_arguments", "function\\(X, k, epsilon, delta, bounds\\)"),
        ("else where:f", "MODULE:FUNCTION"),
        ("elsewhere:", "MODULE:FUNCTION"),
        ("google", "MODULE:FUNCTION"),
    ],
)
def test_what_is_no_such_function_is_refused_by_name(name, words):
    with pytest.raises(ParameterError, match=words) as error:
        System.parse(name, pure=False)
    assert error.value.parameter == "system"


def test_a_function_takes_no_parameters_of_algorithms():
    with pytest.raises(ParameterError, match="as it is"):
        System.parse("elsewhere:honest", pure=False, parameters={"side": 3})


def test_other_code_is_another_task(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for text in ("", "\n# changed\n"):
        (tmp_path / "a_system_of_ours.py").write_text(f"def f(X, k, epsilon, delta, bounds):\n    return X[:k]\n{text}")
        systems.load.cache_clear()
        monkeypatch.delitem(__import__("sys").modules, "a_system_of_ours", raising=False)
        (tmp_path / f"key{bool(text)}").write_text(fit_task(System(name="a_system_of_ours:f"), **SOURCE).key)
    systems.load.cache_clear()
    assert (tmp_path / "keyTrue").read_text() != (tmp_path / "keyFalse").read_text()


def test_peers_are_pinned_to_versions_and_commits():
    assert System.parse("diffprivlib", pure=False).version == "diffprivlib 0.6.6, scikit-learn 1.8.0"
    assert "commit b5b0286" in figures.SOURCE
    assert all("==" in each for each in figures.NEEDS)
    assert systems.load("elsewhere:honest").version == ""
    assert systems.packages()["numpy"] == np.__version__


def test_no_file_beside_the_script_of_a_peer_hides_the_peer():
    """A script's folder comes first on its path."""
    from importlib.machinery import PathFinder

    assert PathFinder.find_spec("diffprivlib", [str(figures.SCRIPT.parent)]) is None


def test_an_error_of_covey_is_told_in_its_own_words_and_a_bug_with_its_traceback():
    asked = {"system": "elsewhere:short", "set": "s1", "n": 60, "objective": "k-means", "epsilon": 1, "delta": None}
    _, problem = attempt(Task("fit", asked), partial(perform, data=None, python=None))
    assert isinstance(problem, DataError)
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)  # it comes from another process
    _, bug = attempt(Task("fit", {}), partial(perform, data=None, python=None))
    assert "KeyError" in bug


def test_the_toys_are_called_as_the_contract_says():
    found = systems.load("elsewhere:honest").centres(np.zeros((13, 2)), k=3, epsilon=1.0, delta=None, bounds=BOUNDS)
    assert found.shape == (3, 2)
    assert elsewhere.TILES.parameters == {"side": 8}
