"""Amplification: the numbers, the guarantee of the inverse, and mechanisms that reach the bound."""

import decimal
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.budget.accounting.accountant import Cost, compose
from covey.budget.accounting.amplify import MOST_DELTA, SMALLEST_RATE, amplified, inner_cost
from covey.errors import ParameterError
from covey.events import Pure, exactly

HALF = Fraction(1, 2)
RATES = st.fractions(SMALLEST_RATE, 1)


def test_ten_releases_on_one_sample_cost_0_906_and_not_0_065():
    inner = compose([Pure(HALF)] * 10, delta=Fraction(0))
    whole = amplified(inner, rate=Fraction(1, 100))
    assert float(whole.epsilon) == pytest.approx(0.906, abs=5e-4)
    wrong = 10 * amplified(Cost(HALF), rate=Fraction(1, 100)).epsilon
    assert float(wrong) == pytest.approx(0.065, abs=5e-4)


def test_ten_randomised_responses_on_one_sample_do_lose_0_906():
    """The rule is needed: answers "x is in the sample" ten times at 0.5; the likeliest ratio is e^0.9059."""
    rate, truth = 0.01, math.exp(0.5) / (1 + math.exp(0.5))
    without = (1 - truth) ** 10  # all ten say "in" although x is not
    present = rate * truth**10 + (1 - rate) * without
    assert math.log(present / without) == pytest.approx(0.90589, abs=1e-5)
    assert math.log(present / without) <= float(amplified(Cost(Fraction(5)), rate=Fraction(1, 100)).epsilon) + 1e-12


@given(st.fractions(Fraction(1, 10**6), 50), st.fractions(0, Fraction(1, 10)), RATES)
def test_the_inner_cost_amplifies_to_no_more_than_the_whole(epsilon, delta, rate):
    whole = Cost(epsilon, delta)
    inner = inner_cost(whole, rate=rate)
    with localcontext(prec=200):
        e, xi = (Decimal(each.numerator) / Decimal(each.denominator) for each in (inner.epsilon, rate))
        goal = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        assert (1 + xi * (e.exp() - 1)).ln() <= goal + Decimal(10) ** -190
        more = e + 2 * Decimal(10) ** -9
        assert e == 10**4 or (1 + xi * (more.exp() - 1)).ln() > goal, "as large as it can be"
    assert inner.delta * rate <= delta
    assert inner.delta <= max(MOST_DELTA, delta)
    assert inner.epsilon > epsilon - Fraction(1, 10**9)


@given(st.fractions(0, 50), RATES)
def test_amplified_is_rounded_up_and_never_more_than_the_mechanism_alone(epsilon, rate):
    whole = amplified(Cost(epsilon, Fraction(1, 1000)), rate=rate)
    with localcontext(prec=200):
        e, xi = (Decimal(each.numerator) / Decimal(each.denominator) for each in (epsilon, rate))
        exact = (1 + xi * (e.exp() - 1)).ln() - Decimal(10) ** -190  # its own rounding
        assert Decimal(whole.epsilon.numerator) / Decimal(whole.epsilon.denominator) >= exact
    assert whole.epsilon <= epsilon + Fraction(1, 10**9)
    assert whole.delta == rate / 1000


def test_a_rate_of_one_changes_nothing():
    cost = Cost(Fraction(1, 3), Fraction(1, 10**6))
    assert inner_cost(cost, rate=Fraction(1)) == cost
    assert amplified(cost, rate=Fraction(1)) == cost


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(2), Fraction(-1), Fraction(1, 2**41), 0.5, math.nan])
def test_a_rate_that_is_none_is_refused(rate):
    for function in (amplified, inner_cost):
        with pytest.raises(ParameterError, match="rate"):
            function(Cost(Fraction(1)), rate=rate)


@pytest.mark.parametrize("cost", [Cost(Fraction(-1)), Cost(Fraction(10**5)), Cost(Fraction(1), Fraction(1))])
def test_an_impossible_cost_is_refused(cost):
    for function in (amplified, inner_cost):
        with pytest.raises(ParameterError, match="cost"):
            function(cost, rate=HALF)


def noisy_count(sample, y, epsilon):
    """The chance of y for a count with geometric noise."""
    q = math.exp(-epsilon)
    return (1 - q) / (1 + q) * q ** abs(y - sum(sample))


def worst_loss(first, second):
    return max(abs(math.log(a / b)) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_poisson_under_add_remove_by_brute_force(epsilon, rate):
    def law(rows):
        kept = [each for size in range(len(rows) + 1) for each in combinations(range(len(rows)), size)]
        return [
            sum(
                rate ** len(s) * (1 - rate) ** (len(rows) - len(s)) * noisy_count([rows[i] for i in s], y, epsilon)
                for s in kept
            )
            for y in range(-15, 20)
        ]

    loss = worst_loss(law([1, 0, 1]), law([1, 0, 1, 1]))
    bound = float(amplified(Cost(Fraction(str(epsilon))), rate=Fraction(str(rate))).epsilon)
    assert 0.5 * bound < loss <= bound + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_without_replacement_under_replace_one_by_brute_force(epsilon, size):
    n = 5

    def law(rows):
        sets = list(combinations(rows, size))
        return [sum(noisy_count(s, y, epsilon) for s in sets) / len(sets) for y in range(-15, 20)]

    losses = [worst_loss(law([0] * n), law([1] + [0] * (n - 1))), worst_loss(law([1] * n), law([0] + [1] * (n - 1)))]
    bound = float(amplified(Cost(Fraction(str(epsilon))), rate=Fraction(size, n)).epsilon)
    assert 0.5 * bound < max(losses) <= bound + 1e-12


def test_one_coin_for_several_people_amplifies_less_than_the_formula():
    """Why whole row groups are never sampled: two rows with one coin lose more than amplification of one row twice."""
    epsilon, rate = 1.0, 0.01
    shared = math.log(1 + rate * (math.exp(2 * epsilon) - 1))
    apart = 2 * math.log(1 + rate * (math.exp(epsilon) - 1))
    assert shared > 1.8 * apart


def test_amplified_is_rounded_up_and_the_inner_cost_down():
    rng = np.random.default_rng(7)
    with localcontext(decimal.Context(prec=300)):

        def true(epsilon: Fraction, rate: Fraction) -> Decimal:
            strength, share = (Decimal(x.numerator) / Decimal(x.denominator) for x in (epsilon, rate))
            return (1 + share * (strength.exp() - 1)).ln()

        for _ in range(60):
            rate = Fraction(int(rng.integers(1, 2**40)), 2 ** int(rng.integers(40, 80)))
            rate = min(max(rate, Fraction(1, 2**40)), Fraction(2**40 - 1, 2**40))
            whole = Cost(exactly(float(10 ** rng.uniform(-6, 3.9))), exactly(float(10 ** rng.uniform(-12, -0.01))))
            inner = inner_cost(whole, rate=rate)
            goal = Decimal(whole.epsilon.numerator) / Decimal(whole.epsilon.denominator)
            assert true(inner.epsilon, rate) <= goal
            assert inner.delta * rate <= whole.delta < 1
            assert inner.delta <= max(Fraction(1, 100), whole.delta)
            up = amplified(Cost(inner.epsilon), rate=rate).epsilon
            assert Decimal(up.numerator) / Decimal(up.denominator) >= true(inner.epsilon, rate)
