"""Composition against exact curves: never below them, by hand, at extremes and where floats underflow."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from covey.budget import Cost, compose
from covey.budget.accounting.gaussian import delta_bound
from covey.events import Approximate, Gaussian, Pure


def _delta(epsilon: float, pures: list[Fraction], mu: float) -> float:
    """The exact delta of pure events and one Gaussian: a sum over the signs of the pure events' losses."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(pures)):
        left = epsilon - sum(s * float(e) for s, e in zip(signs, pures, strict=True))
        weight = math.prod(1 / (1 + math.exp(-s * float(e))) for s, e in zip(signs, pures, strict=True))
        if mu == 0:
            total += weight * max(0.0, -math.expm1(left)) if left < 0 else 0.0
        else:
            near, far = left / mu - mu / 2, left / mu + mu / 2
            total += weight * (math.erfc(near / math.sqrt(2)) - math.exp(left) * math.erfc(far / math.sqrt(2))) / 2
    return total


@pytest.mark.parametrize(
    ("pures", "multipliers", "delta"),
    [
        (("0.04", "0.2", "0.17"), (6, 6, 4, 5, 5), "1e-6"),
        (("0.3", "0.3", "0.3", "0.3"), (), "0.01"),
        (("0.001", "2", "0.7"), (), "0.2"),
        (("1.5", "0.00004"), (1,), "0.0001"),
    ],
)
def test_what_a_mixed_plan_costs_is_never_below_the_exact_curve(pures, multipliers, delta):
    exact = [Fraction(each) for each in pures]
    events = [*map(Pure, exact), *(Gaussian(Fraction(each)) for each in multipliers)]
    cost = compose(events, delta=Fraction(delta))
    mu = math.sqrt(sum(1 / each**2 for each in multipliers))
    assert _delta(float(cost.epsilon), exact, mu) <= float(delta) * (1 + 1e-9)
    assert cost.epsilon <= sum(exact) or multipliers


def test_a_cost_beyond_every_privacy_loss_distribution_is_not_cut_off():
    """Was 1e15, the number that stood for "no bound"."""
    cost = compose([Approximate(Fraction(10**16), Fraction(1, 10**6)), Pure(Fraction(1))], delta=Fraction(1, 10**5))
    assert cost == Cost(Fraction(10**16 + 1), Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("mu", "epsilon", "exact"),  # exact: 60 digits of mpmath, rounded down
    [
        (2.695245071459375, 100.0, 1.9532395e-281),
        (8.812144139631155, 300.0, 5.5642123e-194),
        (21.175669332793237, 590.0, 2.0173727e-67),
    ],
)
def test_the_gaussian_curve_is_an_upper_bound_where_erfc_underflows(mu, epsilon, exact):
    assert delta_bound(mu=mu, epsilon=epsilon) >= exact
