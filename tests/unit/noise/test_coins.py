"""Coins and wheels against big-integer arithmetic: certified digits, the first look, the ties after it."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from covey.noise.coins import Probability, Uniform, Wheel, exp_bounds, flip
from covey.noise.laplace import digit


class Scripted:
    """A source that answers with chosen words, in order, and complains when asked for anything else."""

    seeded = True

    def __init__(self, *answers):
        self.answers = list(answers)

    def words(self, count, dtype):
        expected, values = self.answers.pop(0)
        assert dtype is expected
        assert count == len(values)
        return np.array(values, dtype=dtype)


def exp_minus(exponent, bits):
    """floor(e^-exponent · 2^bits), from the series of e^x in fractions: shares nothing with `exp_bounds`."""
    power, total, n = Fraction(1), Fraction(1), 0
    while True:
        n += 1
        power *= exponent
        total += power / factorial(n)
        rest = 2 * power * exponent / factorial(n + 1)  # bounds the remainder once n >= 2·exponent
        if n >= 2 * exponent:
            low, high = (1 << bits) / (total + rest), (1 << bits) / total
            if low // 1 == high // 1:
                return low // 1


EXPONENTS = [Fraction(1), Fraction(1, 3), Fraction(22, 7), Fraction(1, 10**6), Fraction(1, 2**55), Fraction(63, 2)]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("bits", [16, 80, 144, 300])
def test_leading_digits_are_those_of_the_series(exponent, bits):
    assert Probability.exp_minus(exponent).leading(bits) == exp_minus(exponent, bits)


@pytest.mark.parametrize("exponent", [*EXPONENTS, Fraction(0), Fraction(10**30), Fraction(10**400, 3)])
@pytest.mark.parametrize("bits", [1, 64, 500])
def test_bounds_enclose_and_are_close(exponent, bits):
    low, high = exp_bounds(exponent, bits)
    assert 0 <= low <= high <= low + 3
    if exponent == 0:
        assert low == high == 1 << bits
    elif exponent < 100:
        assert low <= exp_minus(exponent, bits) < high


def test_a_loose_bound_is_refined_until_the_digits_are_certain():
    asked = []

    def third(bits):
        asked.append(bits)
        blur = (1 << bits) >> (bits // 4)  # only a quarter of the digits are right
        return max((1 << bits) // 3 - blur, 0), (1 << bits) // 3 + blur

    assert Probability(third).leading(80) == (1 << 80) // 3
    assert len(asked) > 1


def test_rational_probabilities_keep_their_ends():
    assert Probability.rational(Fraction(1)).leading(16) == 1 << 16
    assert Probability.rational(Fraction(0)).leading(16) == 0
    assert Probability.rational(Fraction(3, 2**200)).leading(200) == 3
    assert Probability.rational(Fraction(3, 2**200)).leading(199) == 1
    assert Probability.exp_minus(Fraction(0)).leading(80) == 1 << 80
    for wrong in (Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(ValueError):
            Probability.rational(wrong)
    with pytest.raises(ValueError):
        Probability.exp_minus(Fraction(-1))


def test_digits_asked_for_earlier_do_not_change_later_ones():
    fresh, used = Probability.exp_minus(Fraction(1, 7)), Probability.exp_minus(Fraction(1, 7))
    used.leading(500)
    assert [used.leading(b) for b in range(0, 300, 7)] == [fresh.leading(b) for b in range(0, 300, 7)]


@pytest.mark.parametrize("exponent", EXPONENTS[:4])
def test_a_coin_is_the_comparison_of_two_real_numbers_on_every_first_word(exponent):
    coin = Probability.exp_minus(exponent)
    head, tail = divmod(exp_minus(exponent, 80), 1 << 64)
    every = np.arange(1 << 16)
    for further in (0, tail - 1, tail + 1, (1 << 64) - 1):
        source = Scripted((np.uint16, every), (np.uint64, [further]))
        expected = (every < head) | ((every == head) & (further < tail))
        assert np.array_equal(flip(coin, every.size, source), expected)


@pytest.mark.parametrize(("last", "expected"), [(-1, True), (1, False)])
def test_a_coin_that_ties_twice_asks_for_a_third_word(last, expected):
    head, tail, third = (exp_minus(Fraction(1), b) % (1 << w) for b, w in ((16, 16), (80, 64), (144, 64)))
    source = Scripted((np.uint16, [head]), (np.uint64, [tail]), (np.uint64, [third + last]))
    assert flip(Probability.exp_minus(Fraction(1)), 1, source).tolist() == [expected]
    assert not source.answers


def test_certain_coins():
    source = Scripted((np.uint16, [0, 7, 65535]), (np.uint16, [0, 7, 65535]), (np.uint64, [0]), (np.uint64, [1]))
    assert flip(Probability.rational(Fraction(1)), 3, source).all()
    assert not flip(Probability.rational(Fraction(0)), 3, source).any()


def test_a_coin_of_a_half_counts_its_boundary_on_the_right_side():
    source = Scripted((np.uint16, [32767, 32768, 32769]), (np.uint64, [0]), (np.uint64, [0]), (np.uint64, [5]))
    assert flip(Probability.rational(Fraction(1, 2)), 3, source).tolist() == [True, False, False]


WHEELS = {
    "low": digit(Fraction(1, 50), faces=64, top=False),
    "steep": digit(Fraction(3), faces=64, top=False),
    "top": digit(Fraction(1), faces=64, top=True),
    "flat": digit(Fraction(1, 2**55), faces=32, top=False),
    "two": [Probability.rational(Fraction(1)), Probability.rational(Fraction(1, 3))],
}


@pytest.mark.parametrize("name", WHEELS)
def test_a_wheel_counts_the_thresholds_above_on_every_first_word(name):
    thresholds = WHEELS[name]
    certified = [edge.leading(80) for edge in thresholds]
    heads = {edge >> 64 for edge in certified}
    every = np.arange(1 << 16)
    ties = [w for w in every if w in heads]
    decided = np.setdiff1d(every, ties)
    expected = (decided[:, None] < np.array([edge >> 64 for edge in certified])).sum(axis=1)
    choices = {0, 1, (1 << 64) - 1} | {(edge + step) % (1 << 64) for edge in certified for step in (-1, 1)}
    for further in sorted(choices - {edge % (1 << 64) for edge in certified})[::7]:
        source = Scripted((np.uint16, every), (np.uint64, [further] * len(ties)))
        drawn = Wheel(thresholds).draw(every.size, source)
        for word in ties:
            assert drawn[word] == sum((int(word) << 64 | further) < edge for edge in certified)
        assert np.array_equal(drawn[decided], expected)


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("k", [1, 2, 30, 63])
def test_a_wheel_that_ties_on_eighty_digits_asks_for_more(k, step):
    thresholds = digit(Fraction(1, 50), faces=64, top=False)
    edge, longer = (thresholds[k - 1].leading(bits) for bits in (80, 144))
    source = Scripted(
        (np.uint16, [edge >> 64]), (np.uint64, [edge % (1 << 64)]), (np.uint64, [longer % (1 << 64) + step])
    )
    drawn = Wheel(thresholds).draw(1, source)
    assert drawn.tolist() == [sum(longer + step < other.leading(144) for other in thresholds)]
    assert drawn.tolist() == [k if step < 0 else k - 1]
    assert not source.answers


def test_a_wheel_refuses_what_it_cannot_hold():
    half, third = (Probability.rational(Fraction(1, n)) for n in (2, 3))
    for wrong in ([], [third, half], [half] * 255):
        with pytest.raises(ValueError):
            Wheel(wrong)


def test_a_uniform_number_gains_digits_at_its_end():
    uniform = Uniform(Scripted((np.uint64, [5]), (np.uint64, [9])))
    uniform.more()
    uniform.more()
    assert (uniform.value, uniform.bits) == (5 << 64 | 9, 128)
