"""Calibrated noise stays within its budget, and is not larger than it has to be."""

from fractions import Fraction

import pytest

from covey.budget import calibrate_gaussian, compose
from covey.budget.accounting import accountant
from covey.errors import BudgetError, ParameterError
from covey.events import Approximate, Event, Gaussian, Pure

DELTA = Fraction(1, 10**6)
OTHERS: list[list[Event]] = [
    [],
    [Pure(Fraction(1, 10))],
    [Pure(Fraction(3, 10))] * 3,
    [Pure(Fraction(1, 100))] * 100,
    [Approximate(Fraction(1, 4), Fraction(1, 10**7)), Pure(Fraction(1, 20))],
    [Gaussian(Fraction(12)), Pure(Fraction(1, 8))],
    [Gaussian(Fraction(12))],
]


@pytest.mark.parametrize(
    ("others", "epsilon"),
    [*((each, Fraction(1)) for each in OTHERS), (OTHERS[0], Fraction(8)), (OTHERS[5], Fraction(8))],
)
def test_the_noise_fits_and_five_percent_less_would_not(others, epsilon):
    multipliers = calibrate_gaussian(
        others=others, shares=[Fraction(1, 4), Fraction(3, 4)], epsilon=epsilon, delta=DELTA
    )
    cost = compose([*others, *map(Gaussian, multipliers)], delta=DELTA)
    assert cost.epsilon <= epsilon
    assert cost.delta <= DELTA
    smaller = [Gaussian(m * Fraction(95, 100)) for m in multipliers]
    assert compose([*others, *smaller], delta=DELTA).epsilon > epsilon


def test_shares_set_the_ratio_of_the_multipliers_and_need_not_add_up_to_one():
    one, two = calibrate_gaussian(others=[], shares=[Fraction(4), Fraction(1)], epsilon=Fraction(1), delta=DELTA)
    assert float(two / one) == pytest.approx(2, rel=1e-5)
    again = calibrate_gaussian(others=[], shares=[Fraction(4, 5), Fraction(1, 5)], epsilon=Fraction(1), delta=DELTA)
    assert again == (one, two)


def test_multipliers_are_short_fractions():
    (multiplier,) = calibrate_gaussian(others=[], shares=[Fraction(1)], epsilon=Fraction(1, 3), delta=DELTA)
    assert 2**20 % multiplier.denominator == 0


def test_without_other_events_the_closed_form_is_met_to_six_digits():
    from dp_accounting.gaussian_mechanism import get_sigma_gaussian

    (multiplier,) = calibrate_gaussian(others=[], shares=[Fraction(1)], epsilon=Fraction(1), delta=DELTA)
    exact = get_sigma_gaussian(1.0, 1e-6)
    assert exact <= multiplier <= exact * (1 + 1e-5)


def test_few_distributions_are_evaluated_and_a_repetition_needs_none(monkeypatch):
    calls = []
    real = accountant._distribution_epsilon
    monkeypatch.setattr(accountant, "_distribution_epsilon", lambda *a: calls.append(a) or real(*a))
    for epsilon in ("1.234567", "3.21"):
        calls.clear()
        asked = {
            "others": [Pure(Fraction(1, 9)), Pure(Fraction(1, 11))],
            "shares": [Fraction(1)] * 3,
            "epsilon": Fraction(epsilon),
            "delta": DELTA,
        }
        first = calibrate_gaussian(**asked)
        assert 1 <= len(calls) <= 5
        calls.clear()
        assert calibrate_gaussian(**asked) == first
        assert calls == []


@pytest.mark.parametrize(
    ("others", "epsilon"),
    [
        ([Pure(Fraction(1))], Fraction(1, 2)),
        ([Gaussian(Fraction(1))], Fraction(1, 2)),
        ([Approximate(Fraction(1, 10), DELTA)], Fraction(1)),
        ([], Fraction(1, 10**7)),
    ],
)
def test_a_budget_that_leaves_nothing_is_refused(others, epsilon):
    with pytest.raises(BudgetError, match="leave no budget"):
        calibrate_gaussian(others=others, shares=[Fraction(1)], epsilon=epsilon, delta=DELTA)


@pytest.mark.parametrize("others", [[], [Pure(Fraction(1, 2))]])
def test_an_epsilon_beyond_the_proof_is_not_used_up(others):
    (multiplier,) = calibrate_gaussian(others=others, shares=[Fraction(1)], epsilon=Fraction(10**6), delta=DELTA)
    assert 90 < compose([*others, Gaussian(multiplier)], delta=DELTA).epsilon <= 100


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"shares": []}, "shares"),
        ({"shares": [Fraction(0)]}, "shares"),
        ({"shares": [0.5]}, "shares"),
        ({"delta": Fraction(0)}, "delta"),
        ({"delta": Fraction(1)}, "delta"),
        ({"epsilon": Fraction(0)}, "epsilon"),
        ({"others": ["free"]}, "events"),
    ],
)
def test_wrong_arguments_are_named(change, parameter):
    asked = {"others": [], "shares": [Fraction(1)], "epsilon": Fraction(1), "delta": DELTA} | change
    with pytest.raises(ParameterError) as caught:
        calibrate_gaussian(**asked)
    assert caught.value.parameter == parameter
