"""Mechanisms: the noise and the charge come from one field, wrong parameters are named, thresholds keep their word."""

from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import product
from math import exp, isclose

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.events import Approximate, Gaussian, Pure, Sensitivity
from covey.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    OsSource,
    RadialLaplace,
    SeededSource,
    ThresholdedLaplace,
)
from covey.noise.coins import exp_bounds
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace
from covey.noise.radial import radial_laplace
from covey.noise.selection import pick
from covey.noise.threshold import smallest_threshold

ONE = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
EPSILON, DELTA = Fraction(1, 3), Fraction(1, 10**6)


def test_events():
    assert DiscreteLaplace(EPSILON).event() == Pure(EPSILON)
    assert RadialLaplace(EPSILON).event() == Pure(EPSILON)
    assert Exponential(EPSILON).event() == Pure(EPSILON)
    assert DiscreteGaussian(Fraction(5, 2)).event() == Gaussian(Fraction(5, 2))
    assert ThresholdedLaplace(EPSILON, DELTA).event() == Approximate(EPSILON, DELTA)


def test_laplace_noise_has_the_scale_of_the_l1_sensitivity():
    sensitivity = Sensitivity(l1=12, l2_squared=50, linf=7, coordinates=3)
    exact = np.arange(6).reshape(2, 3)
    noisy = DiscreteLaplace(EPSILON).add(exact, sensitivity, SeededSource(1))
    noise = discrete_laplace((2, 3), inverse_scale=Fraction(1, 36), source=SeededSource(1))
    assert np.array_equal(noisy, exact + noise)


def test_noise_by_length_has_the_rate_of_the_blocks():
    sensitivity = Sensitivity(l1=12, l2_squared=50, linf=7, coordinates=3, block=3, l2_by_block=9)
    exact = np.arange(6)
    noisy = RadialLaplace(EPSILON).add(exact, sensitivity, SeededSource(1))
    noise = radial_laplace(2, 3, rate=Fraction(1, 27), source=SeededSource(1))
    assert np.array_equal(noisy, exact + noise.reshape(-1))
    assert Sensitivity(l1=12, l2_squared=50, linf=7, coordinates=3).l2_by_block == 12


def test_noise_by_length_that_cannot_be_drawn_is_refused_before_it_is_paid():
    RadialLaplace(EPSILON).check(ONE)
    wide = Sensitivity(l1=2**40, l2_squared=2**80, linf=2**40, coordinates=1)
    long = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1, block=2**10 + 1, l2_by_block=1)
    for sensitivity in (wide, long):
        with pytest.raises(ParameterError):
            RadialLaplace(EPSILON).check(sensitivity)


def test_gaussian_noise_has_the_variance_of_the_l2_sensitivity():
    sensitivity = Sensitivity(l1=2**40, l2_squared=3 * 2**40, linf=7, coordinates=3)
    exact = np.arange(6).reshape(2, 3)
    noisy = DiscreteGaussian(Fraction(5, 2)).add(exact, sensitivity, SeededSource(1))
    noise = discrete_gaussian((2, 3), variance=Fraction(25, 4) * 3 * 2**40, source=SeededSource(1))
    assert np.array_equal(noisy, exact + noise)


@pytest.mark.parametrize(("monotone", "rate"), [(False, Fraction(1, 30)), (True, Fraction(1, 15))])
def test_the_exponential_mechanism_uses_the_largest_change(monotone, rate):
    sensitivity = Sensitivity(l1=100, l2_squared=500, linf=5, coordinates=20, monotone=monotone)
    utilities = np.arange(200)
    for seed in range(40):
        expected = pick(utilities, rate=rate, source=SeededSource(seed))
        assert Exponential(EPSILON).pick(utilities, sensitivity, SeededSource(seed)) == expected


def test_coarse_units_are_refused_for_gaussian_noise():
    fine, coarse = (Sensitivity(l1=1, l2_squared=s, linf=1, coordinates=1) for s in (5 * 2**26, 5 * 2**26 - 1))
    mechanism = DiscreteGaussian(Fraction(1))
    assert mechanism.add(np.zeros(5, dtype=np.int64), fine, OsSource()).shape == (5,)
    with pytest.raises(ParameterError, match="finer units"):
        mechanism.add(np.zeros(5, dtype=np.int64), coarse, OsSource())


@pytest.mark.parametrize(
    "mechanism",
    [DiscreteLaplace(Fraction(1, 2**54)), RadialLaplace(Fraction(1, 2**36)), DiscreteGaussian(Fraction(2**44))],
)
def test_sums_wrap_around_modulo_two_to_the_64(mechanism):
    """Wrapping is post-processing; clipping the noise, or raising, would not be."""
    ends = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min] * 50)
    with np.errstate(all="raise"):
        noisy = mechanism.add(ends, ONE, SeededSource(4))
    plain = mechanism.add(np.zeros(100, dtype=np.int64), ONE, SeededSource(4))
    wrapped = [(int(a) + int(b) + 2**63) % 2**64 - 2**63 for a, b in zip(ends, plain, strict=True)]
    assert noisy.tolist() == wrapped
    assert any(wrapped[i] != int(ends[i]) + int(plain[i]) for i in range(100))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32, np.int64])
def test_integers_of_any_size_are_welcome(dtype):
    assert DiscreteLaplace(Fraction(1000)).add(np.array([1, 2], dtype=dtype), ONE, OsSource()).tolist() == [1, 2]


@pytest.mark.parametrize("exact", [[1.0], [True], ["1"], np.array([1], dtype=np.uint64), np.array([1], dtype=object)])
def test_everything_else_is_refused_by_its_type(exact):
    for mechanism in (DiscreteLaplace(EPSILON), RadialLaplace(EPSILON), DiscreteGaussian(Fraction(2**20))):
        with pytest.raises(TypeError, match="integers only"):
            mechanism.add(exact, ONE, OsSource())
    with pytest.raises(TypeError, match="integers only"):
        Exponential(EPSILON).pick(exact, ONE, OsSource())


def test_a_single_number_and_an_empty_statistic():
    assert DiscreteLaplace(Fraction(1000)).add(5, ONE, OsSource()).shape == ()
    assert DiscreteLaplace(EPSILON).add(np.zeros((0, 3), dtype=np.int64), ONE, OsSource()).shape == (0, 3)
    assert DiscreteGaussian(Fraction(1)).add(np.zeros(0, dtype=np.int64), ONE, OsSource()).shape == (0,)


def test_the_exact_statistic_is_not_written_to():
    exact = np.zeros(10, dtype=np.int64)
    DiscreteLaplace(Fraction(1, 100)).add(exact, ONE, OsSource())
    RadialLaplace(Fraction(1, 100)).add(exact, ONE, OsSource())
    DiscreteGaussian(Fraction(2**20)).add(exact, ONE, OsSource())
    assert not exact.any()


MAKERS = {
    DiscreteLaplace: {"epsilon": EPSILON},
    RadialLaplace: {"epsilon": EPSILON},
    DiscreteGaussian: {"multiplier": EPSILON},
    Exponential: {"epsilon": EPSILON},
    ThresholdedLaplace: {"epsilon": EPSILON, "delta": DELTA},
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1), 1, 0.5, "1", None, float("nan")])
def test_wrong_parameters_are_named(kind, wrong):
    for name in (field.name for field in fields(kind)):
        with pytest.raises(ParameterError, match=name) as refusal:
            kind(**{**MAKERS[kind], name: wrong})
        assert refusal.value.parameter == name


@pytest.mark.parametrize("kind", MAKERS)
def test_descriptions_are_frozen_and_compare_by_value(kind):
    mechanism = kind(**MAKERS[kind])
    assert mechanism == kind(**MAKERS[kind])
    assert hash(mechanism) == hash(kind(**MAKERS[kind]))
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(mechanism, field.name, Fraction(9))


def test_a_delta_of_one_is_refused():
    with pytest.raises(ParameterError, match="delta"):
        ThresholdedLaplace(EPSILON, Fraction(1))


# Thresholds ---------------------------------------------------------------------------------------------------------


def tail(inverse_scale, margin, terms=3000):
    """P(X >= margin) by adding up the law of X, in whole multiples of 2^-200."""
    bits = 200
    one, q, total = 1 << bits, exp_bounds(inverse_scale, bits)[1], 0
    probability = (one - q) * exp_bounds(inverse_scale * margin, bits)[1] // (one + q)
    for _ in range(terms):
        total += probability
        probability = probability * q >> bits
    return Fraction(total, one)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**15)])
@pytest.mark.parametrize(("l1", "linf", "coordinates"), [(1, 1, 1), (3, 3, 1), (4, 2, 3), (5, 1, 5)])
def test_tau_is_enough_and_one_less_is_not(epsilon, delta, l1, linf, coordinates):
    sensitivity = Sensitivity(l1=l1, l2_squared=l1 * l1, linf=linf, coordinates=coordinates)
    tau = ThresholdedLaplace(epsilon, delta).threshold(sensitivity)
    assert tau > linf
    assert coordinates * tail(epsilon / l1, tau - linf) <= delta
    assert tau == linf + 1 or coordinates * tail(epsilon / l1, tau - 1 - linf) > delta


def test_tau_is_above_what_one_person_holds_even_if_delta_is_large():
    assert ThresholdedLaplace(Fraction(50), Fraction(99, 100)).threshold(ONE) == 2


def test_a_delta_too_small_for_the_scale_is_refused():
    wide = Sensitivity(l1=2**50, l2_squared=2**50, linf=2**50, coordinates=1)
    assert ThresholdedLaplace(Fraction(1), Fraction(1, 10**300)).threshold(wide) > 690 * 2**50
    with pytest.raises(ParameterError, match="delta"):
        ThresholdedLaplace(Fraction(1, 32), Fraction(1, 10**300)).threshold(wide)


def outcomes(counts, keys, epsilon, l1, tau):
    """The law of the release: for each key hidden or a shown value, all keys independent."""
    scale, reach = epsilon / l1, 60
    per_key = []
    for key in keys:
        count = counts.get(key, 0)
        law = {"hidden": 1.0}
        if count > 0:
            q = exp(-scale)
            law = {v: (1 - q) / (1 + q) * q ** abs(v - count) for v in range(tau, count + reach)}
            law["hidden"] = 1 - sum(law.values())
        per_key.append(law)
    joint = {}
    for combination in product(*(law.items() for law in per_key)):
        probability = 1.0
        for _, p in combination:
            probability *= p
        joint[tuple(v for v, _ in combination)] = probability
    return joint


NEIGHBOURS = [  # counts with and without, l1, linf, coordinates
    ({}, {"x": 1}, 1, 1, 1),
    ({"z": 5}, {"z": 6, "x": 1}, 2, 1, 2),
    ({"z": 9, "x": 1}, {"z": 9, "y": 1}, 2, 1, 2),
    ({"z": 4, "x": 1}, {"z": 5, "y": 1}, 3, 1, 3),
    ({}, {"x": 1, "y": 2}, 3, 2, 2),
    ({"x": 2}, {"y": 2}, 4, 2, 2),
]


@pytest.mark.parametrize(("lower", "holds"), [(0, True), (1, False)])
def test_the_promise_of_tau_by_brute_force_in_both_directions_and_this_test_can_tell(lower, holds):
    """The hockey-stick divergence of the whole release between neighbours is at most delta; with tau - 1 it is not."""
    kept = []
    for first, second, l1, linf, coordinates in NEIGHBOURS:
        for epsilon, delta in [(Fraction(1), Fraction(1, 50)), (Fraction(2), Fraction(1, 1000))]:
            mechanism = ThresholdedLaplace(epsilon, delta)
            sensitivity = Sensitivity(l1=l1, l2_squared=l1**2, linf=linf, coordinates=coordinates)
            tau = mechanism.threshold(sensitivity) - lower
            keys = sorted({*first, *second})
            a, b = (outcomes(counts, keys, float(epsilon), l1, tau) for counts in (first, second))
            for p, p2 in ((a, b), (b, a)):
                stick = sum(max(v - exp(epsilon) * p2.get(o, 0), 0) for o, v in p.items())
                kept.append(stick <= delta + 1e-12)
    assert all(kept) == holds


SHOWN = ThresholdedLaplace(Fraction(1), Fraction(1, 10**6))


def test_keys_come_out_in_ascending_order_whatever_the_order_of_rows():
    keys, counts = np.arange(-500, 500) * 3, np.arange(1000) % 40 + 1
    first = SHOWN.add_by_key(keys, counts, ONE, SeededSource(6))
    shuffled = np.argsort(SeededSource(9).words(1000, np.uint64))
    second = SHOWN.add_by_key(keys[shuffled], counts[shuffled], ONE, SeededSource(6))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert (np.diff(first[0]) > 0).all()
    assert 100 < first[0].size < 1000
    assert first[1].min() >= SHOWN.threshold(ONE)


def test_keys_may_be_rows_or_words():
    rows = np.array([[2, 1], [1, 9], [1, 3]])
    keys, _ = SHOWN.add_by_key(rows, [1000, 1000, 1000], ONE, OsSource())
    assert keys.tolist() == [[1, 3], [1, 9], [2, 1]]
    words, _ = SHOWN.add_by_key(np.array(["b", "c", "a"]), [1000, 1000, 1000], ONE, OsSource())
    assert words.tolist() == ["a", "b", "c"]


def test_keys_that_do_not_occur_are_never_shown():
    """Drawn at random they would be shown with probability of about delta: here, half the time."""
    eager = ThresholdedLaplace(Fraction(1, 100), Fraction(99, 100))
    keys, _ = eager.add_by_key(np.arange(4000), np.zeros(4000, dtype=np.int64) - np.arange(4000) % 2, ONE, OsSource())
    assert keys.size == 0


def test_no_keys_is_a_normal_release():
    for keys in (np.array([], dtype=np.int64), np.zeros((0, 2), dtype=np.int64)):
        shown, noisy = SHOWN.add_by_key(keys, np.array([], dtype=np.int64), ONE, OsSource())
        assert shown.shape == keys.shape
        assert noisy.shape == (0,)


def test_malformed_histograms_are_refused():
    with pytest.raises(ValueError, match="one count for each key"):
        SHOWN.add_by_key(np.arange(3), np.array([1, 2]), ONE, OsSource())
    with pytest.raises(ValueError, match="each key once"):
        SHOWN.add_by_key(np.array([1, 2, 1]), np.array([1, 2, 3]), ONE, OsSource())


def test_thresholds_do_not_depend_on_how_the_fraction_is_written():
    arguments = {"delta": DELTA, "linf": 1, "coordinates": 1}
    assert smallest_threshold(inverse_scale=Fraction(2, 4), **arguments) == smallest_threshold(
        inverse_scale=Fraction(1, 2), **arguments
    )


def test_a_threshold_pays_for_a_noisy_count_that_wraps_around():
    """Of noise of scale 2^60, about e^-8 of the draws leave int64 below and come back above."""
    asked = {"inverse_scale": Fraction(1, 2**60), "delta": Fraction(1, 10), "linf": 1, "coordinates": 2}
    shown = exp(-(smallest_threshold(**asked) - 1) / 2**60)
    assert isclose(2 * (shown + exp(-8)), 0.2, rel_tol=1e-9)
