"""Noise against its exact law: the right scale is accepted, five per cent to either side is not.

The draws are seeded, so these tests always give the same answer; p-values below 1e-9 count as a wrong law. A million
draws each is the full size (full.py); fewer are enough to tell five per cent.
"""

from fractions import Fraction

import numpy as np
import pytest
from laws import LAWS, WRONG, fits, fits_law, laplace_below, p_values, radial_length

from covey.noise import OsSource, SeededSource
from covey.noise.coins import Probability, flip
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace
from covey.noise.selection import pick

DRAWS = 10**6
OFFS = (1, 0.95, 1.05)


def accepts_only_the_promise(found, wrong=WRONG):
    return {off: p > wrong for off, p in found.items()} == {1: True, 0.95: False, 1.05: False}


@pytest.mark.parametrize("name", LAWS)
def test_noise_has_the_promised_scale_and_this_test_can_tell(name):
    assert accepts_only_the_promise(p_values(name, LAWS[name].few))


def test_a_hundred_numbers_at_once_have_the_promised_length():
    law = radial_length(Fraction(1, 2**24), 100, few=1_500)
    drawn = law.draw(law.few, SeededSource(11))
    assert accepts_only_the_promise({off: law.p_value(drawn, off) for off in OFFS})


def test_there_are_enough_laws_of_every_kind():
    kinds = {name.partition("-")[0] for name in LAWS}
    assert kinds == {"laplace", "gaussian", "radial", "choice", "gap", "threshold"}
    assert len(LAWS) >= 20


def test_ties_share_evenly():
    source = SeededSource(19)
    picked = [pick(np.array([5, 5, 5, 5]), rate=Fraction(1), source=source) for _ in range(20_000)]
    assert fits(np.bincount(picked, minlength=4), [5_000] * 4) > WRONG
    assert fits(np.bincount(picked, minlength=4), np.array([0.22, 0.26, 0.26, 0.26]) * 20_000) < WRONG


def test_a_narrow_gaussian_is_all_but_constant():
    """sigma = 0.1: P(X != 0) = 2e^-50."""
    assert not discrete_gaussian(DRAWS, variance=Fraction(1, 100), source=SeededSource(13)).any()


def draw(kind, spread, seed):
    if kind == "laplace":
        return discrete_laplace(DRAWS, inverse_scale=Fraction(1, spread), source=SeededSource(seed))
    return discrete_gaussian(DRAWS, variance=Fraction(spread**2), source=SeededSource(seed))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_low_bits_of_wide_noise_are_uniform(kind):
    """A float in disguise would show holes or steps here."""
    drawn = draw(kind, 2**40, 15)
    for shift in (0, 6, 11, 20):
        low = (drawn >> shift) & 255
        assert fits(np.bincount(low, minlength=256), np.full(256, DRAWS / 256)) > WRONG


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_every_integer_near_zero_occurs(kind):
    seen = np.unique(draw(kind, 1000, 16))
    assert set(range(-300, 301)) <= set(seen.tolist())


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_draws_are_independent_of_earlier_ones(kind):
    """Pairs at a distance, 1 and a whole block among them, against the product of the two laws."""
    drawn = np.clip(draw(kind, 1, 17), -2, 2) + 2
    each = np.bincount(drawn, minlength=5) / DRAWS
    for lag in (1, 2, 1 << 15):
        pairs = np.bincount(5 * drawn[:-lag] + drawn[lag:], minlength=25)
        assert fits(pairs, np.outer(each, each).ravel() * pairs.sum()) > WRONG


def test_the_operating_systems_noise_has_the_same_law():
    """The one test here that is not seeded: a right sampler fails it in one run of 10^12, a wrong one never passes."""
    drawn = discrete_laplace(DRAWS // 2, inverse_scale=Fraction(1, 3), source=OsSource())
    found = {off: fits_law(drawn, laplace_below(3 * off), 3.0) for off in OFFS}
    assert accepts_only_the_promise(found, wrong=1e-12)


@pytest.mark.parametrize(("exponent", "count"), [(Fraction(1), DRAWS), (Fraction(1, 10), DRAWS), (Fraction(6), 10**7)])
def test_a_coin_shows_its_probability_and_this_test_can_tell(exponent, count):
    shown = flip(Probability.exp_minus(exponent), count, SeededSource(18)).sum()
    chances = {off: np.exp(-float(exponent)) * off for off in OFFS}
    found = {off: fits([shown, count - shown], np.array([p, 1 - p]) * count) for off, p in chances.items()}
    assert accepts_only_the_promise(found)
