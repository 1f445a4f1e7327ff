"""Noise, for any parameters: certified digits, exact choices and smallest thresholds against slower twins."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.events import Sensitivity
from covey.noise import DiscreteLaplace, SeededSource, ThresholdedLaplace
from covey.noise.coins import Probability, Uniform, Wheel, exp_bounds, flip
from covey.noise.laplace import digit, discrete_laplace
from covey.noise.selection import pick, pick_exactly
from covey.noise.threshold import smallest_threshold

exponents = st.fractions(min_value=0, max_value=60, max_denominator=10**6)
rates = st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6)
int64 = st.integers(-(2**63), 2**63 - 1)


@given(st.fractions(0, 30, max_denominator=10**4), st.fractions(0, 30, max_denominator=10**4), st.integers(1, 300))
def test_exponentials_multiply(a, b, bits):
    """e^-a · e^-b = e^-(a+b): the enclosures of both sides must meet."""
    (low_a, high_a), (low_b, high_b), (low, high) = (exp_bounds(x, bits) for x in (a, b, a + b))
    assert low_a * low_b <= high << bits
    assert high_a * high_b >= low << bits


@given(exponents, st.integers(1, 200), st.integers(1, 200))
def test_fewer_digits_are_a_prefix_of_more(exponent, bits, more):
    short = Probability.exp_minus(exponent).leading(bits)
    long = Probability.exp_minus(exponent).leading(bits + more)
    assert short == long >> more


@given(st.fractions(0, 1), st.lists(st.integers(0, 2**16 - 1), max_size=50), st.integers(0, 2**32))
def test_a_rational_coin_is_a_comparison_of_fractions(probability, words, seed):
    class Words:
        seeded = True
        rest = SeededSource(seed)

        def words(self, count, dtype):
            return np.array(words, dtype=dtype) if dtype is np.uint16 else self.rest.words(count, dtype)

    shown = flip(Probability.rational(probability), len(words), Words())
    for word, outcome in zip(words, shown, strict=True):
        if Fraction(word + 1, 2**16) <= probability:
            assert outcome
        if Fraction(word, 2**16) >= probability:
            assert not outcome


@given(st.fractions(Fraction(1, 2**55), 50), st.sampled_from([2, 8, 64]), st.booleans(), st.data())
@settings(max_examples=50)
def test_a_wheel_is_the_number_of_thresholds_above_a_uniform_number(rate, faces, top, data):
    thresholds = digit(rate, faces=faces, top=top)
    word = data.draw(st.one_of(st.integers(0, 2**16 - 1), st.sampled_from([t.leading(16) for t in thresholds])))
    word = min(word, 2**16 - 1)
    further = data.draw(st.integers(0, 2**64 - 1))

    class Words:
        seeded = True

        def words(self, count, dtype):
            return np.full(count, word if dtype is np.uint16 else further, dtype=dtype)

    uniform = Uniform(Words(), value=word, bits=16)
    assert Wheel(thresholds).draw(1, Words()).tolist() == [sum(uniform.below(edge) for edge in thresholds)]


@given(st.lists(int64 | st.integers(-20, 20), min_size=1, max_size=25), rates, st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_choice_is_the_same_by_floats_and_by_certified_arithmetic(utilities, rate, seed):
    array = np.array(utilities, dtype=np.int64)
    quick = pick(array, rate=rate, source=SeededSource(seed))
    assert quick == pick_exactly(array, rate=rate, uniform=Uniform(SeededSource(seed)))


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20), rates, int64, st.integers(0, 2**32))
@settings(deadline=None)
def test_a_choice_depends_on_differences_only(utilities, rate, shift, seed):
    array = np.array(utilities, dtype=np.int64)
    shift = shift // 4
    moved = pick(array + shift, rate=rate, source=SeededSource(seed))
    assert moved == pick(array, rate=rate, source=SeededSource(seed))


@given(
    st.fractions(Fraction(1, 1000), 20, max_denominator=1000),
    st.fractions(Fraction(1, 10**9), Fraction(99, 100), max_denominator=10**9),
    st.integers(1, 10**6),
    st.integers(1, 50),
)
@settings(deadline=None)
def test_thresholds_are_the_smallest_that_keep_their_word(inverse_scale, delta, linf, coordinates):
    tau = smallest_threshold(inverse_scale=inverse_scale, delta=delta, linf=linf, coordinates=coordinates)

    def shown(tau):  # with 300 bits, two units of which cannot matter for numbers of this size
        q, power = (Fraction(exp_bounds(inverse_scale * m, 300)[0], 1 << 300) for m in (1, tau - linf))
        return coordinates * power / (1 + q)

    assert tau > linf
    assert shown(tau) <= delta
    assert tau == linf + 1 or shown(tau - 1) > delta


@given(st.lists(int64, max_size=30), st.fractions(Fraction(1, 2**40), 10), st.integers(1, 2**15), st.integers(0, 99))
@settings(deadline=None)
def test_adding_noise_is_addition_modulo_two_to_the_64(exact, epsilon, l1, seed):
    sensitivity = Sensitivity(l1=l1, l2_squared=l1 * l1, linf=l1, coordinates=1)
    noisy = DiscreteLaplace(epsilon).add(np.array(exact, dtype=np.int64), sensitivity, SeededSource(seed))
    noise = discrete_laplace(len(exact), inverse_scale=epsilon / l1, source=SeededSource(seed))
    expected = [(a + int(b) + 2**63) % 2**64 - 2**63 for a, b in zip(exact, noise, strict=True)]
    assert noisy.tolist() == expected


@given(st.dictionaries(int64, st.integers(-3, 2**50), max_size=40), st.integers(0, 2**32))
@settings(deadline=None)
def test_a_thresholded_histogram_shows_occurring_keys_in_order(histogram, seed):
    mechanism = ThresholdedLaplace(Fraction(1), Fraction(1, 100))
    sensitivity = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
    keys, counts = (np.array(list(part), dtype=np.int64) for part in (histogram.keys(), histogram.values()))
    shown, noisy = mechanism.add_by_key(keys, counts, sensitivity, SeededSource(seed))
    assert shown.tolist() == sorted(shown.tolist())
    assert all(histogram[key] > 0 for key in shown.tolist())
    assert (noisy >= mechanism.threshold(sensitivity)).all()
    assert {key for key, count in histogram.items() if count > 1000} <= set(shown.tolist())
