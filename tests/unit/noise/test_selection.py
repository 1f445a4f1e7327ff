"""The exponential mechanism: floats and certified arithmetic give the same answer for the same words."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise import OsSource, SeededSource
from covey.noise.coins import Uniform, exp_bounds
from covey.noise.selection import _behind, _pick_by_floats, pick, pick_exactly

LONG = 400


class Scripted:
    """Chosen 64-bit words, in order, then random ones."""

    seeded = True

    def __init__(self, *words):
        self.script, self.rest, self.asked = list(words), SeededSource(0), 0

    def words(self, count, dtype):
        assert (count, dtype) == (1, np.uint64)
        self.asked += 1
        return np.array([self.script.pop(0)], dtype=np.uint64) if self.script else self.rest.words(1, np.uint64)


def cumulative(utilities, rate):
    """The cumulative probabilities as fractions, within 2^-380: brute force, one exponential each."""
    best = max(utilities)
    weights = [Fraction(exp_bounds(rate * (best - u), LONG)[0], 1 << LONG) for u in utilities]
    total = sum(weights)
    return [part / total for part in accumulate(weights)]


CASES = {
    "few": ([3, 1, 4, 1, 5], Fraction(1, 2)),
    "ties": ([7] * 9, Fraction(1)),
    "one": ([-5], Fraction(3)),
    "two far": ([0, 10**6], Fraction(1)),
    "far and near": ([0, 2**40, 2**40 - 1, -(2**40), 2**40 - 3], Fraction(1, 3)),
    "whole range": ([-(2**63), 2**63 - 1, 0, 2**63 - 2], Fraction(1)),
    "whole range, flat": ([-(2**63), 2**63 - 1, 0, 2**63 - 2], Fraction(1, 2**64)),
    "steep": ([0, 1, 2, 2, 1], Fraction(10**40)),
    "flat": (list(range(50)), Fraction(1, 10**400)),
    "long": (list(range(120)), Fraction(1, 20)),
    "best first": (list(range(120, 0, -1)), Fraction(1, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_both_paths_agree_with_brute_force_on_the_same_words(name):
    utilities, rate = np.array(CASES[name][0], dtype=np.int64), CASES[name][1]
    edges = cumulative(CASES[name][0], rate)
    random = SeededSource(3).words(30, np.uint64).tolist()
    for word in [0, 1, (1 << 64) - 1, *random]:
        quick = pick(utilities, rate=rate, source=Scripted(word))
        slow = pick_exactly(utilities, rate=rate, uniform=Uniform(Scripted(word)))
        assert quick == slow
        inside = [i for i, edge in enumerate(edges) if Fraction(word, 1 << 64) < edge]
        if not any(abs(edge - Fraction(word, 1 << 64)) < Fraction(1, 2**63) for edge in edges):
            assert slow == inside[0]


@pytest.mark.parametrize("name", ["few", "long", "best first", "whole range, flat"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_word_on_an_edge_is_left_to_certified_arithmetic(name, step):
    """U agrees with an edge of the cumulative probabilities on 64 digits; the next word puts it on one side."""
    utilities, rate = np.array(CASES[name][0], dtype=np.int64), CASES[name][1]
    for i, edge in list(enumerate(cumulative(CASES[name][0], rate)[:-1]))[::9]:
        first, second = divmod(int(edge * (1 << 128)), 1 << 64)
        assert _pick_by_floats(_behind(utilities), rate=rate, word=first) is None
        source = Scripted(first, second + 2 * step)
        answer = pick(utilities, rate=rate, source=source)
        assert answer == (i if step < 0 else i + 1)
        assert source.asked > 1


@pytest.mark.parametrize("name", ["few", "far and near", "long"])
def test_certified_arithmetic_does_not_trust_its_last_digits(name):
    """U is given with 128 digits at once, a few units from an edge: as fine as the first precision itself."""
    utilities, rate = np.array(CASES[name][0], dtype=np.int64), CASES[name][1]
    edges = cumulative(CASES[name][0], rate)
    for step in (-40, -9, -3, -1, 1, 3, 9, 40):
        for edge in edges[:-1:13] if len(edges) > 20 else edges[:-1]:
            value = int(edge * (1 << 128)) + step
            if 0 <= value < 1 << 128:
                expected = next(i for i, other in enumerate(edges) if Fraction(value, 1 << 128) < other)
                assert (
                    pick_exactly(utilities, rate=rate, uniform=Uniform(Scripted(), value=value, bits=128)) == expected
                )


def test_floats_alone_decide_almost_always():
    utilities = np.arange(1000) * 3 % 701
    words = SeededSource(8).words(2000, np.uint64).tolist()
    assert all(_pick_by_floats(_behind(utilities), rate=Fraction(1, 50), word=w) is not None for w in words)


def test_differences_do_not_overflow():
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert _behind(np.array([low, high, -1, 0])).tolist() == [2**64 - 1, 0, 2**63, 2**63 - 1]
    picks = {pick(np.array([low, high, low]), rate=Fraction(1, 10**6), source=OsSource()) for _ in range(50)}
    assert picks == {1}


def test_no_setting_of_numpy_makes_a_choice_raise():
    with np.errstate(all="raise"):
        assert pick(np.array([0, 10**6]), rate=Fraction(1), source=OsSource()) == 1


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 10, 15, 16, 17, 99, 100, 101])
def test_every_candidate_can_be_the_answer_at_every_size(size):
    """Rows of the two-level sum that are full, short or missing."""
    utilities = np.zeros(size, dtype=np.int64)
    words = [((2 * i + 1) << 64) // (2 * size) for i in range(size)]
    assert [pick(utilities, rate=Fraction(1), source=Scripted(w)) for w in words] == list(range(size))


@pytest.mark.parametrize("utilities", [np.array([], dtype=np.int64), np.zeros((2, 2), dtype=np.int64), np.zeros(3)])
def test_wrong_utilities_are_refused(utilities):
    with pytest.raises(ParameterError, match="utilities"):
        pick(utilities, rate=Fraction(1), source=OsSource())


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), 1, 0.5])
def test_wrong_rates_are_refused(rate):
    with pytest.raises(ParameterError, match="epsilon"):
        pick(np.zeros(3, dtype=np.int64), rate=rate, source=OsSource())
