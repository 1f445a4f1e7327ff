"""A delta that no plan can use is neither charged nor certified; one that is certified can be used."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.auto.shares import choose_shares
from covey.algorithms.ball_coreset import MOST_ROWS, Settings, make_plan
from covey.algorithms.kit import after_size
from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.plan import Reserve
from covey.budget.ledger.ledger import Ledger
from covey.errors import BudgetError, LedgerError
from covey.fit.fit import fit
from covey.public import Box, Neighbours, resolve_bounds

DELTA = 1e-6
IDLE = [  # algorithm, columns, k, epsilon, and more
    *((name, 2, 3, 1.0, {}) for name, row in ALGORITHMS.items() if row.guarantee == "pure"),
    *(("auto", d, k, epsilon, {}) for d in (1, 2, 3, 4) for k, epsilon in ((1, 1e-6), (100, 1.0), (3, 1e4))),
    ("auto", 5, 3, 1e-6, {}),
    ("auto", 4, 3, 1.0, {"sample": 0.5}),
    ("auto", 33, 3, 1e-5, {"neighbours": "replace-one"}),
    ("ball-coreset", 2, 1, 1.0, {}),
    ("ball-coreset", 2, 2, 1.0, {"neighbours": "replace-one"}),
    ("ball-coreset", 16, 100, 1e4, {}),
    ("lloyd", 2, 3, 1.0, {}),
]
USED = [
    ("auto", 5, 3, 1.0, 300, {}),
    ("auto", 100, 3, 1.0, 300, {"neighbours": "replace-one"}),
    ("auto", 5, 3, 1e-5, 300, {"sample": 3}),  # few of many rows may be given much
    ("ball-coreset", 2, 20, 20.0, 20_000, {}),
    ("max-cover", 3, 2, 1.0, 300, {}),
    ("jl-candidates", 40, 2, 1.0, 300, {}),
    ("lloyd", 2, 2, 1.0, 300, {"own": {"noise": "gaussian"}}),
]


@pytest.fixture
def opened(monkeypatch):
    """The delta of every plan that is opened."""
    found, real = [], Reserve.open

    def watched(self, plan):
        cost = real(self, plan)
        found.append(cost.delta)
        return cost

    monkeypatch.setattr(Reserve, "open", watched)
    return found


def kind_of(more: dict) -> dict:
    """The type of promise that a ledger must be made for."""
    return {name: more[name] for name in ("neighbours", "person") if name in more}


def asked(name: str, d: int, k: int, epsilon: float, *, n: int = 50, delta: float | None = DELTA, own=None, **more):
    own = (own or {}) | ALGORITHMS[name].needs(-np.ones(d), np.ones(d), k, np.random.default_rng(0))
    rows = np.random.default_rng(0).uniform(-1, 1, (n, d))
    given = {"k": k, "epsilon": epsilon, "delta": delta, "algorithm": name, "algorithm_params": own or None}
    return fit(rows, bounds=Box(*[(-1, 1)] * d), dataset="data", random_state=1, **given, **more)


@pytest.mark.parametrize(("name", "d", "k", "epsilon", "more"), IDLE)
def test_a_delta_that_no_plan_can_use_is_neither_charged_nor_certified(opened, name, d, k, epsilon, more):
    book = Ledger.memory(epsilon=10**4, delta=0, **kind_of(more))  # has none to spend
    made = asked(name, d, k, epsilon, ledger=book, **more)
    assert made.certificate.delta == 0
    assert "delta" not in made.certificate.statement
    assert book.datasets()["data"].spent.delta == 0
    assert set(opened) == {0}


@pytest.mark.parametrize(("name", "d", "k", "epsilon", "n", "more"), USED)
def test_a_delta_that_is_certified_can_be_used(opened, name, d, k, epsilon, n, more):
    with pytest.raises(BudgetError):
        asked(name, d, k, epsilon, n=n, ledger=Ledger.memory(epsilon=10**4, delta=0, **kind_of(more)), **more)
    book = Ledger.memory(epsilon=10**4, delta=DELTA, **kind_of(more))
    made = asked(name, d, k, epsilon, n=n, ledger=book, **more)
    assert made.certificate.delta == DELTA == float(book.datasets()["data"].spent.delta)
    assert sum(opened) > 0 or more.get("sample")


def test_every_algorithm_that_takes_a_delta_is_looked_at():
    assert {name for name, row in ALGORITHMS.items() if row.guarantee != "pure"} == {name for name, *_ in USED}
    assert all((row.uses_delta is not None) == (row.guarantee == "either") for row in ALGORITHMS.values())


def test_a_key_stands_for_the_delta_that_was_asked_for():
    book = Ledger.memory(epsilon=10).with_key("monday")
    first = asked("auto", 2, 3, 1.0, ledger=book)
    assert asked("auto", 2, 3, 1.0, ledger=book) == first
    with pytest.raises(LedgerError, match="other parameters"):
        asked("auto", 2, 3, 1.0, delta=None, ledger=book)


# --- against all numbers of rows --------------------------------------------------------------------------------------

AMOUNTS = [
    (Fraction(1, 10**6), Fraction(1, 10**6)),
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(1), Fraction(1, 10**15)),
]


def domain_of(d: int):
    return resolve_bounds(Box(*[(-1, 1)] * d), names=None, width=d)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("epsilon", "delta"), [*AMOUNTS, (Fraction(1, 1600), Fraction(1, 10**15))])
@pytest.mark.parametrize(("d", "k"), [(5, 1), (34, 1000)])
def test_auto_uses_a_delta_at_some_number_of_rows_or_at_none(d, k, epsilon, delta, neighbours):
    public = {"neighbours": neighbours, "k": k, "delta": delta}
    left = after_size(epsilon, neighbours, share=(1, 49))
    plans = [choose_shares(d=d, size=float(2**i), epsilon=left, **public).plan for i in range(4, 41, 4)]
    found = ALGORITHMS["auto"].uses_delta(domain=domain_of(d), epsilon=epsilon, **public)
    assert found == any(plan.cost().delta > 0 for plan in plans)


@pytest.mark.parametrize(("epsilon", "delta"), [*AMOUNTS, (Fraction(10**4), Fraction(1, 10**6))])
@pytest.mark.parametrize(("d", "k"), [(2, 1), (2, 3), (2, 15), (16, 5)])
def test_balls_use_a_delta_at_some_number_of_rows_or_at_none(d, k, epsilon, delta):
    own = {name: value for name, value in ALGORITHMS["ball-coreset"].parameters.items() if name != "starts"}
    settings = Settings(domain=domain_of(d), neighbours=Neighbours.ADD_REMOVE, k=k, **own)
    left = after_size(epsilon, Neighbours.ADD_REMOVE)
    costs = []
    for size in (16, 2**12, 2**20, 2**30, MOST_ROWS):
        _, demand, sizes = settings.rounds(size, epsilon=left, delta=delta, least=1)
        costs.append(make_plan(sizes, demand, epsilon=left, delta=delta, counted=True)[0].cost())
    public = {"domain": domain_of(d), "neighbours": Neighbours.ADD_REMOVE, "k": k, "epsilon": epsilon, "delta": delta}
    found = ALGORITHMS["ball-coreset"].uses_delta(**public, **own, starts=1)
    assert found == any(cost.delta > 0 for cost in costs)
