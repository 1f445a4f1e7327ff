"""Borders of what mechanisms and samplers take."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise.averages import ClampedAverages
from covey.noise.gaussian import check_variance
from covey.noise.noisy_average import gaussian_delta
from covey.noise.selection import _pick_by_floats


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), 0.5, 1])
def test_clamped_averages_need_a_positive_fraction(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        ClampedAverages(epsilon)


def test_variances_from_two_to_the_minus_90_to_two_to_the_90_are_taken():
    for inside in (Fraction(1, 2**90), Fraction(2**90)):
        check_variance(inside)
    for outside in (Fraction(1, 2**90) * Fraction(99, 100), Fraction(1, 2**91), Fraction(2**90) + 1, Fraction(0), 1.0):
        with pytest.raises(ParameterError, match="multiplier"):
            check_variance(outside)


def test_equal_quartiles_still_have_a_range():
    """A range of one candidate's step, never a division by nothing."""
    low, high = ClampedAverages(Fraction(100)).ranges(np.full((50, 1), 3), 4, _ZEROS)
    assert low < high


class _Zeros:
    seeded = True

    def words(self, count, kind):
        return np.full(count, 7, dtype=kind)


_ZEROS = _Zeros()


@pytest.mark.parametrize(("away", "sure"), [(1.2, False), (1.3, True)])
def test_the_margin_of_a_pick_counts_every_addition(away, sure):
    """2^20 equal weights, 2·2^10 + 8 additions: a margin of 4·(2^-40 + 2056·2^-53) of the total, or 1.25·2^-18."""
    behind = np.zeros(2**20, dtype=np.uint64)
    word = int((5 + away * 2.0**-18) * 2.0**44)
    assert (_pick_by_floats(behind, rate=Fraction(1), word=word) is not None) == sure


def test_from_an_epsilon_of_700_on_the_second_term_is_left_out_which_makes_delta_larger():
    first = math.erfc((700 * 0.05 - 1 / 0.1) / math.sqrt(2)) / 2
    assert gaussian_delta(0.05, 700.0) == first > 0
    assert gaussian_delta(0.05, 699.9) <= math.erfc((699.9 * 0.05 - 1 / 0.1) / math.sqrt(2)) / 2
