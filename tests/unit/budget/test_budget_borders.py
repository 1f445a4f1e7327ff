"""Borders and inner steps of the accounting, each against a formula of its own."""

from __future__ import annotations

import json
import math
import sqlite3
from fractions import Fraction
from statistics import NormalDist

import pytest

from covey.budget.accounting import amplify, gaussian
from covey.budget.accounting.accountant import Cost, compose
from covey.budget.accounting.amounts import DELTA_UNITS, shown
from covey.budget.accounting.amplify import amplified, inner_cost
from covey.budget.accounting.groups import group_cost, row_cost
from covey.budget.ledger import store
from covey.budget.ledger.ledger import Ledger
from covey.errors import LedgerError, ParameterError
from covey.events import Approximate, Pure

RATE, DELTA = Fraction(1, 10), Fraction(1, 10**6)


def test_an_inner_epsilon_that_would_cost_too_much_goes_down_step_by_step(monkeypatch):
    """The first guess is right but for rounding; were it too large, the largest that is not is taken."""
    guess = inner_cost(Cost(Fraction(1)), rate=RATE).epsilon
    real = amplify._amplified
    monkeypatch.setattr(amplify, "_amplified", lambda epsilon, rate: real(epsilon + Fraction(7, 10**9), rate))
    found = inner_cost(Cost(Fraction(1)), rate=RATE).epsilon
    assert guess - found in (Fraction(7, 10**9), Fraction(6, 10**9))
    monkeypatch.undo()
    assert amplified(Cost(guess), rate=RATE).epsilon <= 1
    assert amplified(Cost(guess + Fraction(2, 10**9)), rate=RATE).epsilon > 1


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [-3.0, -0.5, 0.0, 0.5, 2.0])
def test_the_curve_of_gaussian_noise_goes_on_below_zero(mu, epsilon):
    """delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon · Phi(-mu/2 - epsilon/mu), of either sign."""
    phi = NormalDist().cdf
    expected = phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)
    assert gaussian._delta_anywhere(mu=mu, epsilon=epsilon) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_losses_that_are_merged_keep_their_weight_and_hardly_move():
    losses = {i / 97: 1 / 2000 for i in range(2000)}
    merged = gaussian._merged(losses, most=512)
    assert len(merged) <= 513
    assert sum(merged.values()) == pytest.approx(1, rel=1e-12)
    step = (2000 - 1) / 97 / 511
    mean = sum(loss * weight for loss, weight in losses.items())
    assert sum(loss * weight for loss, weight in merged.items()) == pytest.approx(mean, abs=step / 2)
    few = {0.0: 0.5, 1.0: 0.5}
    assert gaussian._merged(few) is few


def test_an_anchor_is_a_line_of_json(tmp_path):
    Ledger.create(tmp_path / "ledger.db", dataset="trips", epsilon=1, anchor=tmp_path / "anchor")
    written = (tmp_path / "anchor").read_bytes()
    assert written.endswith(b"}\n")
    assert written.count(b"\n") == 1
    json.loads(written)


@pytest.mark.parametrize("error", [OverflowError("2 to the 70"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")])
def test_values_that_the_library_cannot_read_are_told_as_damage_without_the_value(tmp_path, error):
    ledger = Ledger.create(tmp_path / "ledger.db", dataset="trips", epsilon=1)
    with pytest.raises(LedgerError, match="damaged") as told, ledger._store._explained():
        raise error
    assert "70" not in str(told.value)


def test_one_event_with_more_delta_than_was_promised_is_refused():
    assert compose([Approximate(Fraction(1), DELTA)], delta=DELTA) == Cost(Fraction(1), DELTA)
    for least in (Fraction(0), DELTA / 2, DELTA * Fraction(999, 1000)):
        with pytest.raises(ParameterError, match="delta"):
            compose([Approximate(Fraction(1), DELTA)], delta=least)


def test_pure_events_without_a_delta_add_up():
    assert compose([Pure(Fraction(1, 3))] * 3, delta=Fraction(0)) == Cost(Fraction(1))


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(1, 2), Fraction(0)])
def test_floats_are_rounded_to_the_side_that_was_asked_for(value):
    down, up = gaussian.float_down(value), gaussian.float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))
    assert (down == up) == (Fraction(float(value)) == value)
    assert Fraction(gaussian.root_up(value)) ** 2 >= value


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_a_person_has_at_least_one_row(rows):
    for cost in (row_cost, group_cost):
        with pytest.raises(ParameterError):
            cost(Cost(Fraction(1), DELTA), rows=rows)


def test_a_connection_that_cannot_be_set_up_is_closed(monkeypatch):
    closed = []

    class Broken:
        def execute(self, _):
            raise sqlite3.OperationalError("no")

        def close(self):
            closed.append(True)

    monkeypatch.setattr(store.sqlite3, "connect", lambda *_, **__: Broken())
    with pytest.raises(sqlite3.OperationalError):
        store._connect("file:x")
    assert closed == [True]


def test_what_a_ledger_shows_is_exact_down_to_its_smallest_unit():
    """Of small amounts six digits were shown, so that less seemed to be left than was asked for, or more."""
    for units in (1, 1_234_567_891_234, 10**15 + 1, 123_456_789 * 10**9):
        assert Fraction(shown(Fraction(units, DELTA_UNITS))) == Fraction(units, DELTA_UNITS)
