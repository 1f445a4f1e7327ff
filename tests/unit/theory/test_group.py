"""Group privacy of sampling: exact tails, never below the truth, and tight where it should be."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import ParameterError
from covey.theory.group import group_privacy


def binomial(g, rate):
    rate = Fraction(str(rate))
    return [math.comb(g, j) * rate**j * (1 - rate) ** (g - j) for j in range(g + 1)]


def hypergeometric(g, n, m):
    return [Fraction(math.comb(g, j) * math.comb(n - g, m - j), math.comb(n, m)) if j <= m else 0 for j in range(g + 1)]


@pytest.mark.parametrize("g", [1, 2, 7, 30])
@pytest.mark.parametrize("rate", [0.001, 0.3, 0.9, 1])
def test_binomial_tails_are_exact_and_rounded_up(g, rate):
    exact = binomial(g, rate)
    for step in group_privacy(0.5, group=g, rate=rate).curve:
        tail = sum(exact[step.threshold + 1 :], Fraction(0))
        assert tail <= Fraction(step.delta) <= tail * Fraction(1 + 1e-12)


@pytest.mark.parametrize(("g", "n", "m"), [(1, 1, 1), (3, 10, 4), (9, 10, 4), (10, 10, 10), (30, 1000, 50), (8, 10, 5)])
def test_hypergeometric_tails_are_exact_and_rounded_up(g, n, m):
    exact = hypergeometric(g, n, m)
    for step in group_privacy(0.5, group=g, sample=m, n=n).curve:
        tail = sum(exact[step.threshold + 1 :], Fraction(0))
        assert tail <= Fraction(step.delta) <= tail * Fraction(1 + 1e-12)


def worst_delta(g, chances, epsilon, goal):
    """The true delta, in both directions, of a mechanism that loses exactly epsilon for each member in the sample.

    Its output is a whole number y with chance proportional to e^(-epsilon·|y - members in the sample|).
    """
    laws = np.exp(-epsilon * np.abs(np.arange(-60, g + 61) - np.arange(g + 1)[:, None]))
    laws /= laws.sum(axis=1, keepdims=True)
    mixed, without = np.array(chances, dtype=np.float64) @ laws, laws[0]
    grown = math.exp(goal)
    return max(np.maximum(mixed - grown * without, 0).sum(), np.maximum(without - grown * mixed, 0).sum())


@pytest.mark.parametrize("g", range(1, 31))
def test_no_bound_is_ever_violated_by_a_mechanism_that_loses_all_it_may(g):
    epsilon = 0.7
    for rate in (0.05, 0.5):
        found = group_privacy(epsilon, group=g, rate=rate)
        chances = binomial(g, rate)
        for step in found.curve[:: max(1, g // 5)]:
            truth = worst_delta(g, chances, epsilon, step.epsilon)
            assert truth <= step.delta + 1e-9
            assert truth <= found.delta_at(step.epsilon) + 1e-9
        assert worst_delta(g, chances, epsilon, found.amplified.epsilon) <= 1e-9
        assert worst_delta(g, chances, epsilon, found.naive.epsilon) <= 1e-9


def randomised_response_delta(chances, epsilon, goal):
    """The true delta of binary randomised response on "is any member in the sample", where a member costs epsilon."""
    grown, p = math.exp(goal), 1 / (1 + math.exp(epsilon))
    hit = 1 - float(chances[0])
    mixed = hit * (1 - p) + (1 - hit) * p
    return max(mixed - grown * p, (1 - p) - grown * (1 - mixed), p - grown * mixed, (1 - mixed) - grown * (1 - p), 0.0)


def test_the_bounds_are_tight_for_one_person():
    for rate, epsilon in itertools.product((0.01, 0.2, 1.0), (0.1, 1.0)):
        found = group_privacy(epsilon, group=1, rate=rate)
        chances = binomial(1, rate)
        assert randomised_response_delta(chances, epsilon, found.amplified.epsilon) <= 1e-12
        assert randomised_response_delta(chances, epsilon, 0.99 * found.amplified.epsilon) > 0
        goal = 0.3 * found.amplified.epsilon
        assert randomised_response_delta(chances, epsilon, goal) <= found.delta_at(goal) + 1e-12
    one = group_privacy(1.0, group=1, rate=1)
    assert one.delta_at(0.5) == pytest.approx(randomised_response_delta(binomial(1, 1), 1.0, 0.5))


def test_the_numbers_of_the_documents():
    found = group_privacy(0.5, group=100, rate=0.01)
    assert found.naive.epsilon == 50
    assert found.amplified.epsilon == pytest.approx(0.6466, abs=1e-4)
    assert found.amplified.delta == 0
    assert (found.curve[2].epsilon, found.curve[2].delta) == (1.0, pytest.approx(0.0794, abs=1e-4))
    assert found.delta_at(found.amplified.epsilon) == 0


@settings(max_examples=40)
@given(
    st.integers(1, 40),
    st.sampled_from([0.001, 0.1, 0.5, 1]),
    st.sampled_from([0.01, 0.5, 2.0]),
    st.sampled_from([0.0, 1e-9, 1e-4]),
)
def test_curves_are_orderly(g, rate, epsilon, delta):
    found = group_privacy(epsilon, group=g, rate=rate, delta=delta)
    assert [step.threshold for step in found.curve] == list(range(g + 1))
    if delta == 0:
        assert all(a.delta >= b.delta for a, b in itertools.pairwise(found.curve))
        assert found.curve[-1].delta == 0
        assert all(found.delta_at(step.epsilon) <= step.delta for step in found.curve)
        best = found.best_threshold(0.01)
        assert best.delta <= 0.01
        assert found.epsilon_at(0.01) <= best.epsilon + 1e-6
    assert found.amplified.epsilon <= found.naive.epsilon * (1 + 1e-12)
    assert found.curve[-1].delta <= found.naive.delta * (1 + 1e-9) or found.naive.delta == 1


def test_an_inner_delta_grows_with_the_steps():
    found = group_privacy(0.5, group=3, rate=1, delta=1e-6)
    wanted = 1e-6 * (1 + math.exp(0.5) + math.exp(1.0))
    assert found.naive.delta == pytest.approx(wanted)
    assert found.curve[3].delta == pytest.approx(wanted)
    assert found.naive.delta >= wanted * (1 - 1e-15)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"epsilon": 0, "group": 5, "rate": 0.1}, "epsilon"),
        ({"epsilon": 1, "group": 0, "rate": 0.1}, "group"),
        ({"epsilon": 1, "group": 2.5, "rate": 0.1}, "group"),
        ({"epsilon": 1, "group": 5, "rate": 0}, "rate"),
        ({"epsilon": 1, "group": 5, "rate": 1.1}, "rate"),
        ({"epsilon": 1, "group": 5, "rate": math.nan}, "rate"),
        ({"epsilon": 1, "group": 5}, "rate"),
        ({"epsilon": 1, "group": 5, "rate": 0.1, "n": 10}, "rate"),
        ({"epsilon": 1, "group": 5, "sample": 11, "n": 10}, "sample"),
        ({"epsilon": 1, "group": 11, "sample": 5, "n": 10}, "group"),
        ({"epsilon": 1, "group": 5, "rate": 0.1, "delta": 1}, "delta"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(arguments, name):
    with pytest.raises(ParameterError, match=name):
        group_privacy(**arguments)


def test_impossible_targets_are_refused():
    found = group_privacy(1.0, group=4, rate=0.5, delta=1e-3)
    with pytest.raises(ParameterError, match="delta"):
        found.best_threshold(1e-9)
    with pytest.raises(ParameterError, match="delta"):
        found.epsilon_at(1e-9)
    for value in (-1, math.nan):
        with pytest.raises(ParameterError):
            found.delta_at(value)


@pytest.mark.parametrize(
    "sampled", [{"rate": "0.99999999999999"}, {"sample": 10**15 - 10**5, "n": 10**15}, {"sample": 999, "n": 1_000}]
)
def test_chances_too_small_to_write_do_not_make_a_group_invisible(sampled):
    """The chance of no member underflowed to 0, and all others with it: the promise was (0, 0) for everybody."""
    group = min(100_000, sampled.get("n", 10**9))
    found = group_privacy(0.5, group=group, **sampled)
    assert found.curve[0].delta > 0.99
    assert abs(sum(found._chances) - 1) < Decimal("1e-30")


@pytest.mark.parametrize("n", [10, 23])
def test_all_chances_of_a_fixed_sample(n):
    for sample in range(1, n + 1):
        for group in range(1, n + 1):
            chances = group_privacy(1, group=group, sample=sample, n=n)._chances
            for j, chance in enumerate(chances):
                wanted = Fraction(math.comb(group, j) * math.comb(n - group, max(0, sample - j)), math.comb(n, sample))
                wanted = wanted if j <= sample else Fraction(0)
                assert abs(Fraction(chance) - wanted) <= wanted / 10**60


def test_a_fixed_sample_of_nearly_everybody_is_quick():
    found = group_privacy(1, group=3, sample=10**15 - 1, n=10**15)  # went through the 10^15 others, one by one
    assert found.curve[1].delta == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("own", [{"epsilon": "1e-40", "rate": "1e-40"}, {"epsilon": 1, "rate": "1e-90"}])
def test_amounts_too_small_for_the_digits_are_refused(own):
    with pytest.raises(ParameterError):  # was a promise of epsilon 0 and delta 0
        group_privacy(group=3, **own)


def test_a_tiny_promise_is_never_none_at_all():
    found = group_privacy("1e-9", group=2, rate="1e-15", delta="1e-30")
    assert 2e-24 <= found.amplified.epsilon < 2.1e-24
    assert 2e-45 <= found.amplified.delta < 2.1e-45


def test_numbers_too_large_to_write_are_no_error():
    found = group_privacy(100, group=20_000, rate=0.5, delta=1e-6)
    assert found.naive.delta == 1
    assert found.delta_at(1e300) <= 1
    assert group_privacy(0.5, group=10, rate=0.5).delta_at(1e300) == 0
