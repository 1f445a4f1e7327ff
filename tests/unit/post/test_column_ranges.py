"""From noisy counts to the range of a column."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.ranges import CHANCE, RUNS, around, beside, extended, inner_range, largest_noise, lit, outward


def test_noise_alone_is_hardly_ever_taken_for_rows():
    """At most `CHANCE` of the time: of 4,000 tries 40. More than 80 would be a chance below 10^-8."""
    rng = np.random.default_rng(3)
    found = sum(lit(rng.laplace(scale=7.0, size=193), scale=7.0) is not None for _ in range(4000))
    assert found <= 80
    short = sum(lit(rng.laplace(scale=10.0, size=193), scale=2.0) is not None for _ in range(200))
    assert short > 100  # and a scale that is too small would be noticed


@pytest.mark.parametrize("run", RUNS)
def test_the_bound_on_a_sum_of_noises_holds_and_is_not_far_off(run):
    sums = np.random.default_rng(run).laplace(size=(200_000, run)).sum(axis=1)
    tries = round(CHANCE / 1e-3)
    beyond = np.mean(sums > largest_noise(run, tries))  # the bound is for a chance of 1 in 1,000
    assert beyond <= 1.5e-3
    assert np.mean(sums > largest_noise(run, tries) / 2) > 1e-3


def test_rows_are_found_where_they_are_also_spread_over_many_counts():
    counts = np.zeros(193)
    counts[100] = 1000
    assert lit(counts, scale=10.0) == (100, 100)
    counts[:] = 0
    counts[60:68] = 60  # none of them stands out by itself
    assert lit(counts, scale=10.0) == (60, 67)
    counts[150] = 500
    assert lit(counts, scale=10.0) == (60, 150)
    assert lit(counts, scale=1000.0) is None


def test_what_is_next_to_certain_rows_need_not_be_certain():
    counts = np.zeros(193)
    counts[[100, 101, 102, 104, 150]] = [1000, 40, 35, 40, 40]
    assert lit(counts, scale=10.0) == (100, 100)
    assert extended(counts, 100, 100, scale=10.0) == (100, 102)
    assert extended(counts[::-1], 92, 92, scale=10.0) == (90, 92)


def test_beside_0_the_likeliest_magnitude_counts_and_moderate_ones_are_likelier():
    counts = np.zeros(193)
    counts[[96, 140, 190]] = [5000, 50, 60]
    assert beside(counts, about_0=96, about_1=33, scale=10.0) == (96, 140)
    counts[190] = 200
    assert beside(counts, about_0=96, about_1=33, scale=10.0) == (96, 190)
    counts[60] = 400
    assert beside(counts, about_0=96, about_1=33, scale=10.0) == (60, 96)


def test_the_window_reaches_over_0_where_magnitudes_are_small_beside_its_width():
    assert around((1.0, 64.0), (0.5, 128.0)) == (-14.75, 128.0)
    assert around((-128.0, -64.0), (-256.0, -32.0)) == (-256.0, -32.0)


def test_ends_with_hardly_any_rows_are_cut_off():
    edges, counts = np.arange(11.0), np.array([0, 3, 0, 400, 500, 300, 0, 0, 2, 0.0])
    low, high = inner_range(edges, counts, scale=1.0)
    assert (low, high) == pytest.approx((3.03 - 2.93 / 12, 5.96 + 2.93 / 12), abs=0.01)  # 1% of the rows, and a margin
    low, _ = inner_range(edges, np.where(counts == 3, 40, counts), scale=1.0)
    assert 0.8 < low < 1.2  # 40 rows are no noise
    assert inner_range(edges, counts, scale=1000.0) == (0.0, 10.0)  # in doubt nothing is cut
    assert inner_range(edges, -counts, scale=1.0) == (0.0, 10.0)


def test_what_lies_near_needs_less_evidence_than_what_lies_far():
    """25 rows, of which 12 may be cut, and noise of a scale of 6: not beyond doubt, but they make little wider."""
    edges, counts = np.arange(41.0), np.where((np.arange(40) >= 20) & (np.arange(40) < 30), 120.0, 0.0)

    def first(place: int, rows: float) -> float:
        return inner_range(edges, np.where(np.arange(40) == place, rows, counts), scale=6.0)[0]

    certain = inner_range(edges, counts, scale=6.0)[0]
    assert certain - 1 < first(19, 25) < certain - 0.4
    assert certain - 2 < first(1, 25) <= certain
    assert first(1, 60) < 2


def test_an_end_lies_within_a_leaf_where_its_rows_would_be_spread_evenly():
    edges, counts = np.array([0.0, 4.0, 8.0, 12.0]), np.array([20.0, 960.0, 20.0])
    assert inner_range(edges, counts, scale=1e-3) == pytest.approx((2 - 8 / 12, 10 + 8 / 12), abs=0.01)


def test_numbers_that_are_all_the_same_keep_the_window():
    edges = np.array([0.0, 0.5, 0.5 + 2.0**-20, 1.0])
    assert inner_range(edges, np.array([0.0, 1000.0, 0.0]), scale=1.0) == (0.0, 1.0)


def test_noise_far_out_hardly_ever_widens_a_range():
    """Leaves of a tree about a narrow clump: 30 empty ones, each twice as wide as the next inner one."""
    rng = np.random.default_rng(5)
    side = 2.0 ** np.arange(15)
    edges = np.concatenate([-side[::-1], [0.0], side])
    counts = np.zeros(30)
    counts[[14, 15]] = 500.0
    ranges = [inner_range(edges, counts + rng.laplace(scale=2.5, size=30), scale=2.5) for _ in range(300)]
    assert np.mean([high - low > 4 for low, high in ranges]) < 0.1  # of 32,768


@pytest.mark.parametrize(
    ("ends", "rounded"),
    [((-74.2571, -73.6633), (-74.26, -73.66)), ((0, 1), (0, 1)), ((8123.4, 149_000.2), (8000, 150_000))],
)
def test_ends_are_rounded_outward(ends, rounded):
    assert outward(*ends) == pytest.approx(rounded)
    assert outward(*ends)[0] <= ends[0] < ends[1] <= outward(*ends)[1]
