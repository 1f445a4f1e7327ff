"""From noisy counts to the range of a column."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.ranges import CHANCE, RUNS, inner_range, largest_noise, lit, outward


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


def test_ends_with_hardly_any_rows_are_cut_off():
    edges, counts = np.arange(11.0), np.array([0, 3, 0, 400, 500, 300, 0, 0, 2, 0.0])
    assert inner_range(edges, counts, scale=1.0) == pytest.approx((2.7, 6.3))  # with a margin
    assert inner_range(edges, np.where(counts == 3, 40, counts), scale=1.0) == pytest.approx((0.5, 6.5))
    assert inner_range(edges, counts, scale=100.0) == (0.0, 10.0)  # in doubt nothing is cut
    assert inner_range(edges, -counts, scale=1.0) == (0.0, 10.0)
    assert inner_range(np.array([0.0, 1.0]), np.array([5.0]), scale=0.1) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("ends", "rounded"),
    [((-74.2571, -73.6633), (-74.26, -73.66)), ((0, 1), (0, 1)), ((8123.4, 149_000.2), (8000, 150_000))],
)
def test_ends_are_rounded_outward(ends, rounded):
    assert outward(*ends) == pytest.approx(rounded)
    assert outward(*ends)[0] <= ends[0] < ends[1] <= outward(*ends)[1]
