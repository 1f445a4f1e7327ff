"""Coins for a sample: floats and certified arithmetic agree, and places are what coins would have given."""

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise import OsSource, SeededSource
from covey.noise.coins import Uniform
from covey.noise.gaps import SMALLEST_RATE, _by_floats, choose, gap_exactly, gaps, kept

RATES = [
    Fraction(1, 2),
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(99, 100),
    Fraction(7, 10**6),
    1 - Fraction(1, 10**9),
]


class Scripted:
    """Chosen 64-bit words, in order, then random ones."""

    seeded = True

    def __init__(self, *words):
        self.script, self.rest, self.more = list(words), SeededSource(0), 0

    def words(self, count, dtype):  # noqa: ARG002
        given, self.script = self.script[:count], self.script[count:]
        self.more += not given
        return np.array(given + self.rest.words(count - len(given), np.uint64).tolist(), dtype=np.uint64)


def brute_gap(value, bits, rate):
    """The gap of U in [value, value + 1)/2^bits by multiplying out, or None if that is not decided yet."""
    tails, power, g = 1 - rate, Fraction(1), 0
    while Fraction(value, 1 << bits) < power * tails:
        power *= tails
        g += 1
        if Fraction(value + 1, 1 << bits) > power:
            return None
    return g


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 3), Fraction(99, 100), Fraction(1, 20)])
def test_the_certified_gap_is_the_one_that_multiplying_out_gives(rate):
    edges = [int((1 - rate) ** g * 2**64) for g in range(6)]
    words = [w + off for w in edges for off in (-2, -1, 0, 1) if 0 <= w + off < 2**64]
    decided = 0
    for word in [*words, 1, 2**64 - 1, *SeededSource(1).words(40, np.uint64).tolist()]:
        expected = brute_gap(word, 64, rate)
        source = Scripted()
        found = gap_exactly(Uniform(source, value=word, bits=64), rate=rate)
        if expected is not None:
            decided += 1
            assert found == expected
            assert gaps(1, rate=rate, source=Scripted(word))[0] == found
    assert decided > 50


@pytest.mark.parametrize("rate", RATES, ids=float)
def test_floats_are_never_wrong_where_they_are_sure(rate):
    near = [int((1 - rate) ** g * 2**64) + off for g in (1, 2, 3, 5, 9) for off in (-3000, -1, 0, 1, 3000)]
    script = [w for w in near if 0 <= w < 2**64] + [0, 1, 2**64 - 1, 2**63]
    words = np.array(script + SeededSource(2).words(300, np.uint64).tolist(), dtype=np.uint64)
    drawn, sure = _by_floats(words, rate=rate)
    assert sure[len(script) :].mean() > 0.99
    assert not sure[script.index(0)]
    for word, gap in zip(words[sure].tolist(), drawn[sure].tolist(), strict=True):
        assert gap_exactly(Uniform(Scripted(), value=word, bits=64), rate=rate) == gap


def test_floats_with_a_smaller_margin_would_be_wrong():
    """The check can fail: at an exact edge, floats alone fall on either side."""
    rate = Fraction(1, 2)
    words = np.array([2**63 - 1, 2**63, 2**62 - 1, 2**62], dtype=np.uint64)  # U just below 1/2 and 1/4, and from there
    assert not _by_floats(words, rate=rate)[1].any()
    assert [gap_exactly(Uniform(Scripted(), value=int(w), bits=64), rate=rate) for w in words] == [1, 0, 2, 1]


def test_undecided_digits_are_followed_by_more():
    rate = Fraction(1, 3)
    edge = int(Fraction(2, 3) * 2**64)  # U and 2/3 agree in all 64 digits
    source = Scripted()
    gap_exactly(Uniform(source, value=edge, bits=64), rate=rate)
    assert source.more == 1
    exact = Uniform(Scripted(0, 0, 0, 5), value=2**63, bits=64)  # U = 1/2 to 256 digits, and only then above it
    assert gap_exactly(exact, rate=Fraction(1, 2)) == 0
    assert exact.bits > 256


def test_places_ascend_and_are_the_sums_of_gaps():
    rate = Fraction(1, 10)
    blocks = list(islice(kept(rate=rate, source=SeededSource(5)), 4))
    places = np.concatenate(blocks)
    assert (np.diff(places) >= 1).all()
    assert places[0] >= 0
    first = gaps(len(blocks[0]), rate=rate, source=SeededSource(5))
    assert (np.diff(blocks[0], prepend=-1) - 1 == first).all()
    assert 0 in [next(kept(rate=Fraction(9, 10), source=OsSource()))[0] for _ in range(50)]


def test_tiny_rates_neither_overflow_nor_go_on_for_ever():
    blocks = list(kept(rate=SMALLEST_RATE, source=SeededSource(1)))
    assert all((np.diff(block) > 0).all() for block in blocks)
    assert blocks[-1][-1] >= 2**44


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(1, 2**41), 0.5, Fraction(3, 2)])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(ParameterError, match="rate"):
        gaps(1, rate=rate, source=OsSource())


@pytest.mark.parametrize(("size", "of"), [(0, 0), (0, 5), (5, 5), (1, 1), (3, 7), (6, 7), (500, 1000), (999, 10**6)])
def test_a_chosen_set_has_its_size_and_ascends(size, of):
    places = choose(size, of=of, source=SeededSource(3))
    assert len(places) == size
    assert (np.diff(places) > 0).all()
    assert all(0 <= place < of for place in places.tolist())


@pytest.mark.parametrize(("size", "of"), [(2, 1), (-1, 5), (1, 2**45)])
def test_an_impossible_size_is_refused(size, of):
    with pytest.raises(ParameterError, match="sample"):
        choose(size, of=of, source=OsSource())


def test_words_beyond_the_last_whole_round_are_thrown_away():
    of = 3 * 2**40
    top = 2**64 - 1  # 2^64 is not a multiple of 3: the last remainders would come up too often
    assert top >= 2**64 - 2**64 % of
    assert choose(1, of=of, source=Scripted(top, 77)).tolist() == [77]


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(2, 3), Fraction(999, 1000), Fraction(1, 2**40)], ids=float)
def test_floats_are_sure_of_a_gap_only_where_it_is_right(rate):
    """Words around every boundary (1 - rate)^g·2^64, where a wrong slope or a small margin would show."""
    words, bounds = [], [Fraction(1)]
    for _ in range(400):
        bounds.append(bounds[-1] * (1 - rate))
    for bound in bounds[1:]:
        near = int(bound * 2**64)
        words += [w for w in (near - 2**14, near - 3, near - 1, near, near + 1, near + 3, near + 2**14) if w < 2**64]
    words = np.array([w for w in words if w > 0], dtype=np.uint64)
    found, sure = _by_floats(words, rate=rate)
    for word, gap in zip(words[sure].tolist(), found[sure].tolist(), strict=True):
        if gap + 1 < len(bounds):
            assert bounds[gap + 1] * 2**64 < word + 1
            assert word < bounds[gap] * 2**64
            assert bounds[gap + 1] * 2**64 <= word
            assert word + 1 <= math.ceil(bounds[gap] * 2**64)
