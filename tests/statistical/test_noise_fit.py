"""A million draws against the exact law: the right scale is accepted, five per cent to either side is not.

The draws are seeded, so these tests always give the same answer; p-values below 1e-9 count as a wrong law.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, norm

from covey.events import Sensitivity
from covey.noise import OsSource, SeededSource, ThresholdedLaplace
from covey.noise.coins import Probability, flip
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace
from covey.noise.selection import pick

DRAWS = 10**6
WRONG = 1e-9
OFF = pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.95, False), (1.05, False)])


def fits(observed, expected):
    """The p-value of Pearson's test; neighbouring cells are merged until each expects at least 20."""
    cells = [[0.0, 0.0]]
    for seen, due in zip(observed, expected, strict=True):
        if cells[-1][1] >= 20:
            cells.append([0.0, 0.0])
        cells[-1][0] += seen
        cells[-1][1] += due
    if cells[-1][1] < 20 and len(cells) > 1:
        last = cells.pop()
        cells[-1][0] += last[0]
        cells[-1][1] += last[1]
    seen, due = np.array(cells).T
    assert len(cells) > 1
    assert abs(due.sum() - seen.sum()) < 1e-6 * seen.sum()
    return chi2.sf(((seen - due) ** 2 / due).sum(), len(cells) - 1)


def fits_law(drawn, below, scale):
    """Compare with P(X < x) = below(x), on all integers near 0, or on 200 cells if there are too many."""
    reach = int(14 * scale) + 2
    inner = np.unique(np.linspace(-reach, reach, min(2 * reach + 1, 400)).astype(np.int64))
    observed = np.bincount(np.searchsorted(inner, drawn, side="right"), minlength=inner.size + 1)
    cumulative = np.concatenate([[0.0], below(inner), [1.0]])
    return fits(observed, np.diff(cumulative) * drawn.size)


def laplace_below(scale):
    """P(X < x) = q^(1-x)/(1+q) up to 0, and 1 - q^x/(1+q) beyond."""

    def below(x):
        ends = np.exp(-np.where(x > 0, x, 1 - x) / scale) / (1 + np.exp(-1 / scale))
        return np.where(x > 0, 1 - ends, ends)

    return below


def gaussian_below(sigma):
    if sigma > 1000:  # the rounded normal law: the difference is far below what a million draws can see
        return lambda x: norm.cdf((x - 0.5) / sigma)
    support = np.arange(-int(40 * sigma) - 40, int(40 * sigma) + 41)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    cumulative = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    return lambda x: cumulative[np.searchsorted(support, x)]


SCALES = [
    Fraction(1, 5),
    Fraction(1),
    Fraction(7, 3),
    Fraction(10),
    Fraction(1000, 7),
    Fraction(2**16),
    Fraction(2**40),
]


@OFF
@pytest.mark.parametrize("scale", [*SCALES, Fraction(2**55)])
def test_laplace_noise_has_the_promised_scale_and_this_test_can_tell(scale, off, accepted):
    drawn = discrete_laplace(DRAWS, inverse_scale=1 / scale, source=SeededSource(11))
    assert (fits_law(drawn, laplace_below(float(scale) * off), float(scale)) > WRONG) == accepted


SIGMAS = [0.3, 0.5, 1.0, 1.5, 7.25, 300.0, 2.0**12, 2.0**30, 2.0**45]


@OFF
@pytest.mark.parametrize("sigma", SIGMAS)
def test_gaussian_noise_has_the_promised_deviation_and_this_test_can_tell(sigma, off, accepted):
    drawn = discrete_gaussian(DRAWS, variance=Fraction(sigma) ** 2, source=SeededSource(12))
    assert (fits_law(drawn, gaussian_below(sigma * off), sigma) > WRONG) == accepted


def test_a_narrow_gaussian_is_all_but_constant():
    """sigma = 0.1: P(X != 0) = 2e^-50."""
    assert not discrete_gaussian(DRAWS, variance=Fraction(1, 100), source=SeededSource(13)).any()


def test_gaussian_noise_of_an_irrational_deviation():
    drawn = discrete_gaussian(DRAWS, variance=Fraction(22, 7), source=SeededSource(14))
    assert fits_law(drawn, gaussian_below((22 / 7) ** 0.5), 2.0) > WRONG


def draw(kind, spread, seed):
    if kind == "laplace":
        return discrete_laplace(DRAWS, inverse_scale=Fraction(1, spread), source=SeededSource(seed))
    return discrete_gaussian(DRAWS, variance=Fraction(spread**2), source=SeededSource(seed))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_low_bits_of_wide_noise_are_uniform(kind):
    """A float in disguise would show holes or steps here."""
    for shift in (0, 6, 11, 20):
        low = (draw(kind, 2**40, 15) >> shift) & 255
        assert fits(np.bincount(low, minlength=256), np.full(256, DRAWS / 256)) > WRONG


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_every_integer_near_zero_occurs(kind):
    seen = np.unique(draw(kind, 1000, 16))
    assert set(range(-300, 301)) <= set(seen.tolist())


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("lag", [1, 2, 1 << 15])
def test_draws_are_independent_of_earlier_ones(kind, lag):
    """Pairs at a distance, 1 and a whole block among them, against the product of the two laws."""
    drawn = np.clip(draw(kind, 1, 17), -2, 2) + 2
    pairs = np.bincount(5 * drawn[:-lag] + drawn[lag:], minlength=25)
    each = np.bincount(drawn, minlength=5) / DRAWS
    assert fits(pairs, np.outer(each, each).ravel() * pairs.sum()) > WRONG


@OFF
def test_the_operating_systems_noise_has_the_same_law(off, accepted):
    """The one test here that is not seeded; a right sampler fails it once in a billion runs."""
    drawn = discrete_laplace(DRAWS, inverse_scale=Fraction(1, 3), source=OsSource())
    assert (fits_law(drawn, laplace_below(3 * off), 3.0) > WRONG) == accepted


@OFF
@pytest.mark.parametrize("exponent", [Fraction(1), Fraction(1, 10), Fraction(6)])
def test_a_coin_shows_its_probability_and_this_test_can_tell(exponent, off, accepted):
    shown = flip(Probability.exp_minus(exponent), 10 * DRAWS, SeededSource(18)).sum()
    probability = np.exp(-float(exponent)) * off
    expected = np.array([probability, 1 - probability]) * 10 * DRAWS
    assert (fits([shown, 10 * DRAWS - shown], expected) > WRONG) == accepted


CHOICES = {
    "close": ([3, 1, 4, 1, 5, 9, 2, 6], Fraction(1, 2)),
    "ties": ([5, 5, 5, 5], Fraction(1)),
    "a million behind": ([0, 10**6, 10**6 - 1], Fraction(1)),
    "far behind, flat": ([0, 2**40, 2**41], Fraction(1, 2**40)),
}


@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.8, False), (1.25, False)])
@pytest.mark.parametrize("name", CHOICES)
def test_choices_have_the_promised_rate_and_this_test_can_tell(name, off, accepted):
    utilities, rate = np.array(CHOICES[name][0]), CHOICES[name][1]
    source = SeededSource(19)
    picked = [pick(utilities, rate=rate, source=source) for _ in range(30_000)]
    weights = np.exp((utilities - utilities.max()) * float(rate) * off)
    p_value = fits(np.bincount(picked, minlength=len(utilities)), weights / weights.sum() * len(picked))
    assert (p_value > WRONG) == (accepted or name == "ties")


@pytest.mark.parametrize(("off", "accepted"), [(0, True), (-1, False), (1, False)])
def test_a_key_of_one_person_is_shown_as_seldom_as_promised_and_this_test_can_tell(off, accepted):
    epsilon, delta, keys = Fraction(1), Fraction(1, 20), 500_000
    one = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
    mechanism = ThresholdedLaplace(epsilon, delta)
    shown, _ = mechanism.add_by_key(np.arange(keys), np.ones(keys, dtype=np.int64), one, SeededSource(20))
    probability = np.exp(-float(epsilon) * (mechanism.threshold(one) - 1 + off)) / (1 + np.exp(-float(epsilon)))
    expected = np.array([probability, 1 - probability]) * keys
    assert probability <= delta or off < 0
    assert (fits([shown.size, keys - shown.size], expected) > WRONG) == accepted
