"""Lower bounds on epsilon: right, strong enough to be worth something, and able to catch what is planted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from covey.audit import mechanisms
from covey.audit.blackbox import attack_mechanism, power, share
from covey.audit.bounds import Claim, at_least, at_most
from covey.audit.cells import ALPHA, FULL, MECHANISM_TRIALS, USUAL, plan
from covey.audit.mechanisms import experiments
from covey.audit.scores import lower_bound
from covey.noise import chain
from covey.noise import mechanisms as noise
from covey.noise.source import SeededSource

ALONE = share(ALPHA / 2, 20)
FAST = [each.name for each in experiments(1.0, trials=1000) if "exponential" not in each.name]
SINGLE = [name for name in FAST if name not in ("threshold, a key of one", "chain, the most private level")]


def attacked(name, *, epsilon=1.0, trials=MECHANISM_TRIALS, seed=1, alpha=ALONE):
    chosen = next(each for each in experiments(epsilon, trials=trials) if each.name == name)
    return attack_mechanism(chosen, trials=trials, alpha=alpha, source=SeededSource(seed))


# --- the arithmetic ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hits", [0, 1, 17, 99, 100])
def test_the_bounds_of_a_probability_are_those_of_clopper_and_pearson(hits):
    known = binomtest(hits, 100).proportion_ci(confidence_level=0.98, method="exact")
    assert at_least(hits, 100, 0.01) == pytest.approx(known.low)
    assert at_most(hits, 100, 0.01) == pytest.approx(known.high)


def test_a_bound_never_exceeds_what_the_counts_say():
    p, q = 0.7310585786, 0.2689414214  # randomised response of epsilon 1
    many = 10**7
    found = float(Claim(1.0).lower(int(p * many), int(q * many), trials=many, alpha=0.01))
    assert 0.99 < found < 1.0
    assert float(Claim(1.0, 0.1).lower(int(p * many), int(q * many), trials=many, alpha=0.01)) == pytest.approx(
        math.log((p - 0.1) / q), abs=0.01
    )
    assert float(Claim(1.0, 0.8).lower(int(p * many), int(q * many), trials=many, alpha=0.01)) == 0.0


def test_a_bound_on_mu_is_a_difference_of_normal_quantiles():
    many = 10**7
    hits, others = int(norm.sf(-0.5) * many), int(norm.sf(0.5) * many)
    assert float(Claim(1.0, kind="mu").lower(hits, others, trials=many, alpha=0.01)) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize(("p", "trials"), [(0.3, 40), (0.5, 500), (0.02, 2_000)])
def test_the_combined_bound_is_wrong_no_more_often_than_it_may_be(p, trials):
    rng = np.random.default_rng(0)
    hits, others = rng.binomial(trials, [[p], [p / math.e]], (2, 4_000))
    bounds = Claim(1.0).lower(hits, others, trials=trials, alpha=0.2, steps=8)
    assert (bounds > 1.0).mean() <= 0.2
    assert (Claim(1.0).lower(hits, others, trials=trials, alpha=0.9, steps=8) > 1.0).mean() > 0.2


def test_the_combined_bound_is_above_two_separate_ones_and_below_what_was_counted():
    separate = math.log(at_least(700, 1000, 0.005) / at_most(300, 1000, 0.005))
    assert separate < float(Claim(1.0).lower(700, 300, trials=1000, alpha=0.01)) < math.log(7 / 3)


@pytest.mark.parametrize(("hits", "others"), [(0, 0), (0, 100), (100, 100), (50, 100)])
@pytest.mark.parametrize("kind", ["epsilon", "mu"])
def test_counts_that_prove_nothing_give_zero(hits, others, kind):
    assert float(Claim(1.0, kind=kind).lower(hits, others, trials=100, alpha=0.01)) == 0.0


def test_bounds_are_wrong_no_more_often_than_they_may():
    """Randomised response of epsilon 0.5, attacked 80 times at 80%: choosing and proving on one half fails."""
    wrong, p = 0, 1 / (1 + math.exp(-0.5))
    for seed in range(80):
        rng = np.random.default_rng(seed)
        ours, theirs = (rng.random((400, 1)) < each for each in (p, 1 - p))
        wrong += lower_bound(ours.astype(float), theirs.astype(float), Claim(0.5), alpha=0.2).failed
    assert wrong <= 80 * 0.2


def test_equal_outputs_missing_ones_and_few_trials_prove_nothing():
    equal = np.ones((100, 2))
    assert lower_bound(equal, equal, Claim(1.0), alpha=0.01).lower == 0.0
    assert lower_bound(equal * np.nan, equal * np.nan, Claim(1.0), alpha=0.01).lower == 0.0
    assert lower_bound(equal[:10], 0 * equal[:10], Claim(1.0), alpha=0.01).lower == 0.0


def test_whether_there_is_an_output_at_all_is_an_output():
    ours, theirs = np.full((200, 1), np.nan), np.full((200, 1), 3.0)
    assert lower_bound(ours, theirs, Claim(1.0), alpha=0.01).lower > 2


def test_an_interval_in_the_middle_is_found_although_no_single_threshold_is_worth_much():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(0, 0.3, (4000, 2)), rng.normal(0, 3.0, (4000, 2))
    alone = lower_bound(ours[:, :1] ** 3, theirs[:, :1] ** 3, Claim(1.0), alpha=0.01)
    both = lower_bound(ours, theirs, Claim(1.0), alpha=0.01)
    assert both.lower > max(2.0, alone.lower)
    assert both.event.startswith("boosted trees")


@pytest.mark.parametrize("size", [USUAL, FULL])
def test_all_bounds_of_an_audit_together_are_wrong_with_a_chance_of_at_most_alpha(size):
    shares = [Fraction(cell.parameters.get("alpha", 0)) for cell in plan(size)]
    assert Fraction(99, 100) * Fraction(ALPHA) < sum(shares) <= Fraction(ALPHA) * (1 + Fraction(1, 10**9))


# --- power and truth on single mechanisms -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SINGLE)
def test_the_bound_of_a_single_release_is_at_least_nine_tenths_of_the_claim(name):
    found = attacked(name)
    assert 0.9 <= power(found) <= 1.0
    assert found.trials == MECHANISM_TRIALS


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", FAST)
def test_no_bound_is_above_its_claim(name, epsilon):
    assert not attacked(name, epsilon=epsilon, trials=20_000).failed


def test_the_exponential_mechanism_in_a_small_size():
    found = attacked("exponential mechanism", epsilon=2.0, trials=8_000)
    assert 0.75 <= power(found) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_the_exponential_mechanism_at_full_size(epsilon):
    found = attacked("exponential mechanism", epsilon=epsilon, alpha=share(ALPHA / 2, 4) * 3 / 4)
    assert 0.9 <= power(found) <= 1.0


# --- planted errors ---------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(monkeypatch):
    """Noise scales a tenth too small, everywhere."""
    laplace, gaussian, pick = noise.discrete_laplace, noise.discrete_gaussian, noise.pick

    def smaller(shape, *, inverse_scale, source):
        return laplace(shape, inverse_scale=inverse_scale * Fraction(10, 9), source=source)

    monkeypatch.setattr(noise, "discrete_laplace", smaller)
    monkeypatch.setattr(chain, "discrete_laplace", smaller)
    monkeypatch.setattr(
        noise,
        "discrete_gaussian",
        lambda shape, *, variance, source: gaussian(shape, variance=variance * Fraction(81, 100), source=source),
    )
    monkeypatch.setattr(noise, "pick", lambda u, *, rate, source: pick(u, rate=rate * Fraction(10, 9), source=source))


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("name", SINGLE)
def test_a_noise_scale_a_tenth_too_small_is_caught(name):
    assert attacked(name).failed


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_an_exponential_mechanism_a_tenth_too_sure_is_caught():
    assert attacked("exponential mechanism", epsilon=3.0, trials=2 * MECHANISM_TRIALS).failed


def test_a_threshold_of_one_less_is_caught(monkeypatch):
    exact = noise.smallest_threshold
    monkeypatch.setattr(noise, "smallest_threshold", lambda **asked: exact(**asked) - 1)
    assert attacked("threshold, a key of one").failed


def test_a_sample_larger_than_was_paid_for_is_caught(monkeypatch):
    honest = mechanisms.kept
    monkeypatch.setattr(mechanisms, "kept", lambda *, rate, source: honest(rate=rate * Fraction(5, 4), source=source))
    assert attacked("sampled count").failed


def test_a_level_that_is_drawn_anew_instead_of_from_the_chain_is_caught(monkeypatch):
    """Independent noise at each level: looking at all of them costs the sum."""

    def anew(self, exact, sensitivity, source):
        return [noise.DiscreteLaplace(each).add(exact, sensitivity, source) for each in self.epsilons]

    monkeypatch.setattr(chain.ChainedLaplace, "add_chain", anew)
    assert attacked("chain, all levels").failed


def test_noise_for_add_remove_under_replace_one_is_caught(monkeypatch):
    """The sensitivity of one relation used for the other: half the noise that is needed."""
    monkeypatch.setattr(
        mechanisms.CellCounts,
        "sensitivity",
        lambda self, _: mechanisms.Count(self.domain).sensitivity(mechanisms.Neighbours.ADD_REMOVE),
    )
    assert attacked("histogram, replace-one", trials=20_000).failed
