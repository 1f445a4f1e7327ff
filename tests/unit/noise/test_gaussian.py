"""Discrete Gaussian noise: the acceptance coin against exact arithmetic, and the numbers of gaussian.md."""

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, erfc, exp, isqrt, log, pi, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from covey.errors import ParameterError
from covey.noise import OsSource, SeededSource
from covey.noise.coins import Probability
from covey.noise.gaussian import _accepted, discrete_gaussian
from covey.noise.mechanisms import (
    GAUSSIAN_DELTA,
    GAUSSIAN_DELTA_FACTOR,
    GAUSSIAN_EPSILON,
    GAUSSIAN_LARGEST_EPSILON,
    GAUSSIAN_VARIANCE_PER_NUMBER,
)

VARIANCES = [Fraction(1, 100), Fraction(9, 100), Fraction(1), Fraction(22, 7), Fraction(10**6, 3), Fraction(2**90)]


class Scripted:
    """Answers the 32-bit request with the given words and every later one with `further`."""

    seeded = True

    def __init__(self, words, further):
        self.script, self.further, self.asked = words, further, 0

    def words(self, count, dtype):
        if dtype is np.uint32:
            return np.asarray(self.script, dtype=dtype)
        self.asked += 1
        return np.full(count, self.further, dtype=dtype)


def exact_probability(y, variance, scale, bits):
    return Probability.exp_minus((abs(y) - variance / scale) ** 2 / (2 * variance)).leading(bits)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_coin_is_right_on_every_side_of_its_boundary(variance):
    """Words around floor(p·2^32), followed by zeros or by ones for ever: U is word/2^32, or (word + 1)/2^32."""
    scale = isqrt(int(variance)) + 1
    for y in sorted({0, 1, -1, 2, scale // 2, scale, -scale, 2 * scale, 3 * scale + 1, 5 * scale}):
        head = exact_probability(y, variance, scale, 32)
        words = [w for w in (head - 2, head - 1, head, head + 1, head + 2, 0, (1 << 32) - 1) if 0 <= w < 1 << 32]
        for further in (0, (1 << 64) - 1):
            source = Scripted(words, further)
            accepted = _accepted(np.full(len(words), y), variance=variance, scale=scale, source=source)
            assert accepted.tolist() == [w <= head if further == 0 else w < head for w in words]
            if head < 1 << 32:
                assert source.asked  # the word on the boundary was not decided by floats


@pytest.mark.parametrize(("step", "expected"), [(-1, True), (1, False)])
def test_the_coin_asks_for_as_many_digits_as_it_needs(step, expected):
    variance, scale = Fraction(22, 7), 2
    edge = exact_probability(3, variance, scale, 96)
    source = Scripted([edge >> 64], edge % (1 << 64) + step)
    assert _accepted(np.array([3]), variance=variance, scale=scale, source=source).tolist() == [expected]
    assert source.asked == 1


def test_a_certain_acceptance_is_certain():
    """variance/scale is an integer: |Y| = 2 gives e^0 = 1, which every word is below."""
    source = Scripted([0, 1 << 31, (1 << 32) - 1], (1 << 64) - 1)
    assert _accepted(np.array([2, -2, 2]), variance=Fraction(6), scale=3, source=source).all()


def test_exp_of_this_platform_keeps_what_the_error_bound_assumes():
    """`_accepted` and `_pick_by_floats` trust np.exp to a relative 2^-49."""
    exact = Context(prec=40)
    for x in np.concatenate([-np.linspace(0, 40, 2001), -np.geomspace(1e-9, 700, 2001)]):
        truth = exact.exp(Decimal(float(x)))
        assert abs(Decimal(float(np.exp(np.full(8, x))[3])) - truth) <= truth * Decimal(2) ** -49


@pytest.mark.parametrize("shape", [0, 1, (), (2, 3), (0, 4), (1 << 15) + 1])
def test_shapes(shape):
    drawn = discrete_gaussian(shape, variance=Fraction(81), source=OsSource())
    assert drawn.shape == np.empty(shape).shape
    assert drawn.dtype == np.int64


def test_a_seed_repeats_the_noise():
    draws = [discrete_gaussian(100, variance=Fraction(900), source=SeededSource(s)).tolist() for s in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), 1, 0.5, Fraction(2**90 + 1), Fraction(1, 2**91)])
def test_wrong_variances_are_refused_by_name(variance):
    with pytest.raises(ParameterError, match=r"^multiplier: "):
        discrete_gaussian(1, variance=variance, source=OsSource())


def test_no_setting_of_numpy_makes_the_noise_raise():
    with np.errstate(all="raise"):
        discrete_gaussian(10_000, variance=Fraction(1, 2**60), source=SeededSource(1))


# gaussian.md, section 2 -------------------------------------------------------------------------------------------


def rounded(k, sigma):
    """P(round(N) = k)."""
    low, high = ((abs(k) + half) / (sigma * sqrt(2)) for half in (-0.5, 0.5))
    return (erfc(low) - erfc(high)) / 2


def discrete(sigma, reach):
    weights = {k: exp(-k * k / (2 * sigma**2)) for k in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("sigma", [1.0, 1.7, 4.0, 10.0])
def test_discrete_and_rounded_gaussian_are_as_close_as_the_note_says(sigma):
    noise = discrete(sigma, ceil(20 * sigma))
    zeta = 3 * exp(-2 * pi**2 * sigma**2)
    for k in range(-ceil(6 * sigma), ceil(6 * sigma) + 1):
        ratio = log(noise[k] / rounded(k, sigma))
        assert -(k**2) / (8 * sigma**4) - zeta - 1e-9 <= ratio <= 1 / (24 * sigma**2) + 1e-9


@pytest.mark.parametrize(("short", "holds"), [(0, True), (0.7, False)])
def test_the_whole_statement_for_one_event_at_a_small_sigma_and_this_test_can_tell(short, holds):
    """The hockey-stick curve of the discrete Gaussian against that of the continuous one, shift 1..8, sigma 4."""
    sigma, x, worst = 4.0, 30.0, -1.0
    noise = discrete(sigma, 120)
    radius = (sigma * sqrt(1 + 2 * sqrt(x) + 2 * x) + 0.5) ** 2
    alpha, beta, tau = 1 / (24 * sigma**2), radius / (8 * sigma**4), exp(-x)
    for shift in (1, 2, 4, 8):
        mu = shift / sigma
        for epsilon in np.linspace(0.05, 6, 40):
            continuous = norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
            factor = exp(epsilon + alpha + beta - short)
            stick = sum(max(noise.get(k - shift, 0) - factor * noise.get(k, 0), 0) for k in range(-120, 121))
            allowed = exp(alpha) * (continuous + exp(epsilon) * tau)
            worst = max(worst, stick - allowed)
    assert (worst <= 0) == holds


@pytest.mark.parametrize("numbers", [1, 2, 10, 1000, 2**20, 2**40])
def test_the_constants_of_the_note_hold(numbers):
    variance = GAUSSIAN_VARIANCE_PER_NUMBER * numbers
    x = 300 * log(2)
    radius = (1 + 2**-10) * variance * (numbers + 2 * sqrt(numbers * x) + 2 * x) + (1 + 2**10) * numbers / 4
    alpha, beta = numbers / (24 * variance), radius / (8 * variance**2)
    assert alpha + beta < GAUSSIAN_EPSILON
    assert 2 * alpha < GAUSSIAN_DELTA_FACTOR  # e^(n·alpha) <= 1 + 2·n·alpha while n·alpha <= 1
    assert 2 * exp(GAUSSIAN_LARGEST_EPSILON) * 2.0**-300 < GAUSSIAN_DELTA
