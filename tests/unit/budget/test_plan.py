"""Plans, splits, and what a fit may draw."""

import sys
import threading
from fractions import Fraction

import pytest

from covey.budget import Cost, Plan, Promise, Reserve, compose, split
from covey.errors import BudgetError, ParameterError
from covey.events import Approximate, Gaussian, Pure

TENTH = Fraction(1, 10)
DELTA = Fraction(1, 10**6)


def test_a_plan_costs_what_its_events_compose_to():
    assert Plan((Pure(TENTH),) * 3).cost() == Cost(Fraction(3, 10))
    events = (Pure(TENTH), Gaussian(Fraction(5)))
    assert Plan(events, DELTA).cost() == compose(events, delta=DELTA)


def test_a_split_is_exact():
    assert split(Fraction(1), 1, 2) == (Fraction(1, 3), Fraction(2, 3))
    assert split(Fraction(3, 2), "0.3", 0.7) == (Fraction(9, 20), Fraction(21, 20))
    assert split(Fraction(1), Fraction(5)) == (Fraction(1),)


@pytest.mark.parametrize("weights", [(), (0,), (1, -1), ("much",), (float("nan"),), (float("inf"),), (None,)])
def test_a_split_needs_weights_above_zero(weights):
    with pytest.raises(ParameterError, match="weights"):
        split(Fraction(1), *weights)


def test_everything_planned_can_be_drawn_once_in_any_order():
    reserve = Reserve(Promise.of(Fraction(1)))
    assert reserve.open(Plan((Pure(TENTH), Pure(TENTH), Pure(Fraction(1, 2))))) == Cost(Fraction(7, 10))
    reserve.draw(Pure(Fraction(1, 2)), "counts")
    reserve.draw(Pure(TENTH), "sums")
    assert reserve.remaining == (Pure(TENTH),)
    reserve.draw(Pure(Fraction(2, 20)), "sums")
    assert reserve.remaining == ()
    with pytest.raises(BudgetError, match=r"sums: Pure\(epsilon 0\.1\) was not planned"):
        reserve.draw(Pure(TENTH), "sums")


@pytest.mark.parametrize(
    "event",
    [
        Pure(TENTH + Fraction(1, 10**30)),
        Pure(TENTH / 2),
        Approximate(TENTH, Fraction(0)),
        Gaussian(TENTH),
        "Pure(1/10)",
        None,
    ],
)
def test_only_an_exactly_equal_event_can_be_drawn(event):
    reserve = Reserve(Promise.of(Fraction(1)))
    reserve.open(Plan((Pure(TENTH),)))
    with pytest.raises(BudgetError, match="moments"):
        reserve.draw(event, "moments")
    assert reserve.remaining == (Pure(TENTH),)


def test_nothing_can_be_drawn_before_a_plan_is_opened():
    with pytest.raises(BudgetError, match="sums"):
        Reserve(Promise.of(Fraction(1))).draw(Pure(TENTH), "sums")


def test_plans_add_up_and_the_budget_is_the_limit():
    reserve = Reserve(Promise.of(Fraction(1)))
    reserve.open(Plan((Pure(Fraction(1, 2)),)))
    reserve.open(Plan((Pure(Fraction(1, 2)),)))
    assert reserve.opened == Cost(Fraction(1))
    with pytest.raises(BudgetError, match="does not fit"):
        reserve.open(Plan((Pure(Fraction(1, 10**12)),)))
    assert reserve.remaining == (Pure(Fraction(1, 2)),) * 2


def test_a_refused_plan_can_not_be_drawn_on():
    reserve = Reserve(Promise.of(Fraction(1)))
    with pytest.raises(BudgetError):
        reserve.open(Plan((Pure(TENTH), Pure(Fraction(1)))))
    with pytest.raises(BudgetError):
        reserve.draw(Pure(TENTH), "sums")
    assert reserve.opened == Cost(Fraction(0))


def test_deltas_of_plans_add_up_too():
    noisy = Plan((Gaussian(Fraction(20)),), DELTA)
    reserve = Reserve(Promise.of(Fraction(100), 2 * DELTA))
    reserve.open(noisy)
    reserve.open(noisy)
    with pytest.raises(BudgetError, match="delta"):
        reserve.open(noisy)


def test_a_pure_budget_has_no_room_for_delta():
    with pytest.raises(BudgetError):
        Reserve(Promise.of(Fraction(100))).open(Plan((Gaussian(Fraction(20)),), DELTA))


def test_threads_cannot_draw_one_event_twice():
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(200):
            reserve = Reserve(Promise.of(Fraction(1)))
            reserve.open(Plan((Pure(Fraction(1)),)))
            together, drawn = threading.Barrier(4), []

            def draw(reserve=reserve, together=together, drawn=drawn):
                together.wait()
                try:
                    reserve.draw(Pure(Fraction(1)), "map")
                except BudgetError:
                    return
                drawn.append(1)

            threads = [threading.Thread(target=draw) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(drawn) == 1
    finally:
        sys.setswitchinterval(switch)
