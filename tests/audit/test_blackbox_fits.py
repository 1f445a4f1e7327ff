"""Whole fits under attack: every algorithm of the registry, what stands in front of them, and planted leaks."""

from __future__ import annotations

import numpy as np
import pytest

from covey.algorithms.kit import Outcome, learn_size
from covey.algorithms.registry import ALGORITHMS, Algorithm
from covey.audit.blackbox import attack
from covey.audit.cases import CHAINS, DELTA, FRONTS, Case, Neighbouring, cases, in_front
from covey.audit.cells import FULL, USUAL, plan
from covey.errors import BudgetError, ParameterError
from covey.queries.counts import Count

FEW = 32  # fits of each neighbour: enough for what is gross, and that is what can go wrong in a change
EPSILON = 0.2


def case_of(name, **more):
    row = ALGORITHMS[name]
    delta = DELTA if row.guarantee == "approximate" else 0.0
    return Case(name, str(row.neighbours[-1]), "one or none", EPSILON, delta, **more)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_attacked_and_keeps_its_promise(name):
    answer = attack(case_of(name), trials=FEW, alpha=1e-4, seed=11)
    assert answer["status"] == "done"
    assert not answer["failed"], answer


IN_FRONT = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.algorithm == "lloyd" else [])
    for each in in_front([EPSILON])
]


@pytest.mark.parametrize("case", IN_FRONT)
def test_what_stands_in_front_keeps_its_promise(case):
    answer = attack(case, trials=FEW, alpha=1e-4, seed=7)
    if answer["status"] == "not in this version":
        pytest.skip(answer["why"])
    assert answer["status"] == "done", answer
    assert not answer["failed"], answer


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_keeps_its_promise_under_both_relations_and_in_more_columns(name):
    for case in cases([name], epsilons=[1.0], pairs=["corner to corner"]):
        answer = attack(case, trials=300, alpha=1e-4, seed=3)
        assert answer["status"] == "done"
        assert not answer["failed"], (case.name, answer)


def test_a_grid_that_publishes_its_cells_is_told_apart_and_no_more_than_that():
    answer = attack(Case("grid", "add-remove", "one or none", 4.0), trials=100, alpha=1e-3, seed=5)
    assert 1.0 < answer["lower"] <= 4.0


# --- the registry is what is attacked ---------------------------------------------------------------------------------


def exact_size(curator, *, k, epsilon, public_rng):
    """Pays for a noisy number of rows, and publishes the exact one."""
    learn_size(curator, epsilon)
    rows = int(curator._engine.total(Count(curator.domain))[0])
    return Outcome(np.zeros((k, curator.domain.dimension)), np.full(k, float(rows)))


def exact_note(curator, *, k, epsilon, public_rng):
    """A branch that depends on the exact number of rows, in a note of the certificate."""
    learn_size(curator, epsilon)
    rows = int(curator._engine.total(Count(curator.domain))[0])
    return Outcome(np.zeros((k, curator.domain.dimension)), None, {"rounds": [1, 1 + rows % 2]})


def refuses_somebody(curator, *, k, epsilon, public_rng):
    """An error that only some rows lead to."""
    learn_size(curator, epsilon)
    if int(curator._engine.total(Count(curator.domain))[0]):
        raise BudgetError("not for these rows")
    return Outcome(np.zeros((k, curator.domain.dimension)))


def breaks_for_somebody(curator, *, k, epsilon, public_rng):
    """A bug that only some rows lead to."""
    learn_size(curator, epsilon)
    return Outcome(np.zeros((k, 1 // int(curator._engine.total(Count(curator.domain))[0]))))


def never_runs(curator, *, k, epsilon, public_rng):
    raise ParameterError("depth", "must be given")


@pytest.fixture
def planted(monkeypatch):
    def plant(run):
        monkeypatch.setitem(ALGORITHMS, "planted", Algorithm(name="planted", run=run, summary="", paper=""))

    return plant


@pytest.mark.parametrize("run", [exact_size, exact_note, refuses_somebody])
def test_a_planted_leak_is_caught(planted, run):
    planted(run)
    answer = attack(Case("planted", "add-remove", "one or none", EPSILON), trials=FEW, alpha=1e-4, seed=1)
    assert answer["failed"], answer


def test_a_bug_that_only_some_rows_lead_to_is_no_output(planted):
    planted(breaks_for_somebody)
    with pytest.raises(ZeroDivisionError):
        attack(Case("planted", "add-remove", "one or none", EPSILON), trials=FEW, alpha=1e-4, seed=1)


def test_an_algorithm_that_refuses_everything_is_not_passed_off_as_attacked(planted):
    planted(never_runs)
    answer = attack(Case("planted", "add-remove", "one or none", EPSILON), trials=FEW, alpha=1e-4)
    assert answer["status"] == "refused"
    assert "depth" in answer["why"]


def test_a_new_algorithm_is_in_the_plan_without_further_code(planted):
    planted(exact_size)
    for size in (USUAL, FULL):
        kinds = {cell.kind for cell in plan(size) if cell.parameters.get("algorithm") == "planted"}
        assert kinds == {"fit", "replay", "transcript"}


def test_both_relations_all_pairs_and_deltas_are_in_the_plan():
    found = cases(epsilons=[1.0], pairs=["one or none", "corner to corner"])
    assert len(set(found)) == len(found)
    for name, row in ALGORITHMS.items():
        own = [each for each in found if each.algorithm == name and not each.front]
        assert {each.neighbours for each in own} == {str(each) for each in row.neighbours}
        assert {each.pair for each in own} == {"one or none", "corner to corner"}
        assert {each.delta > 0 for each in own} == {"pure": {False}, "approximate": {True}, "either": {True, False}}[
            row.guarantee
        ]
    assert {each.front for each in found} == {"", *FRONTS, *CHAINS}


def test_the_shares_of_alpha_add_up_to_one_percent():
    for size in (USUAL, FULL):
        assert sum(cell.parameters.get("alpha", 0.0) for cell in plan(size)) == pytest.approx(0.01)


def test_neighbours_differ_by_one_person():
    first, second = Neighbouring(Case("grid", "add-remove", "corner to corner", 1.0))._data
    assert len(first) == len(second) + 1
    assert (first[:-1] == second).all()
    first, second = Neighbouring(Case("grid", "replace-one", "corner to corner", 1.0))._data
    assert len(first) == len(second)
    assert (first != second).any(axis=1).sum() == 1
