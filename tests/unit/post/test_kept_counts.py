"""Noisy numbers of kept rows, counted up: sums over zones, their law, and when a search takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from covey.post.errors.boxes import CountedBoxes, laplace_variance
from covey.post.zones import KeptCounts, Keys, likely_pairs

KEYS = Keys(np.array([0, 1, 1]), np.array([1.0, 1.0, 0.1]), 2)  # two places, the second also in a zone


def test_numbers_are_divided_by_their_rates_and_added_up():
    assert KeptCounts(np.array([5.0, 7.0, 3.0]), 2.0, KEYS).counts.tolist() == [5.0, 37.0]


def test_noise_is_divided_as_the_numbers_are_and_coins_add_theirs():
    counted = KeptCounts(np.array([5.0, 7.0, 3.0]), 2.0, KEYS)
    one = laplace_variance(2.0)
    assert counted.variances == pytest.approx([one, one + one / 0.01 + 30 * 0.9 / 0.1])
    assert counted.scales == pytest.approx([2.0, 2 * np.sqrt(1 + 100)])


def test_without_zones_nothing_changes():
    counts, points = np.array([5.0, -7.0]), np.zeros((2, 1))
    plain = KeptCounts(counts, 2.0)
    boxes = plain.boxes(points, points + 1, strictness=0.5)
    before = CountedBoxes.of_one_scale(points, points + 1, counts, scale=2.0, strictness=0.5)
    for name in ("counts", "variances", "thresholds", "scales"):
        assert np.array_equal(getattr(boxes, name), getattr(before, name))
    assert plain.for_search() is plain


def test_a_search_takes_a_zone_as_it_is_where_its_rows_do_not_stand_out():
    noise = np.sqrt(laplace_variance(2.0))
    for kept, up in ((2.9 * noise, 1.0), (3.1 * noise, 0.1)):
        found = KeptCounts(np.array([5.0, 7.0, kept]), 2.0, KEYS).for_search()
        assert found.keys is not None
        assert found.keys.rate.tolist() == [1.0, 1.0, up]


def test_pairs_are_likely_where_points_fell_or_no_noise_explains_a_number():
    noisy = np.array([[0.0, 0.0, 0.0], [0.0, 100.0, 0.0]])
    likely = likely_pairs(noisy, np.array([0, 1, -1]), np.array([0, 0, 1]), scale=1.0)
    assert likely.tolist() == [[True, True, True], [False, True, True]]  # nothing fell into the last place
    assert not likely_pairs(0.01 * noisy, np.array([0, 1]), np.array([0, 0]), scale=1.0)[1, 1]


def test_keys_are_in_the_order_of_their_mask():
    keys = Keys.of(np.array([[True, True], [False, True]]), np.array([1.0, 0.1]))
    assert keys.place.tolist() == [0, 1, 1]
    assert keys.rate.tolist() == [1.0, 1.0, 0.1]


def of_people(noisy, rate=0.1, scale=1.0, together=3):
    """Two zones, none and one of this rate, and as many places as there are columns."""
    noisy = np.array(noisy, dtype=float)
    keys = Keys.of(np.ones(noisy.shape, dtype=np.bool_), np.array([1.0, rate]), together)
    return KeptCounts(noisy.ravel(), scale, keys)


def test_coins_that_keep_several_rows_add_as_many_times_their_variance():
    counted, one = of_people([[5, 7], [3, -4]]), laplace_variance(1.0)
    assert counted.counts.tolist() == [35.0, -33.0]
    assert counted.variances == pytest.approx([one * 101 + 3 * 30 * 0.9 / 0.1, one * 101])
    assert counted.coins == pytest.approx([3 * np.sqrt(0.9) / 0.1] * 2)


def test_of_people_a_search_leaves_out_keys_that_noise_explains():
    least = np.log(4) + 3  # of four keys
    counted = of_people([[5, 7], [least + 0.1, least - 0.1]])
    assert counted.in_places().counts == pytest.approx([5 + 10 * (least + 0.1), 7])
    plain = KeptCounts(counted.noisy, 1.0, replace(counted.keys, together=None))
    assert np.array_equal(plain.in_places().counts, plain.for_search().counts)
