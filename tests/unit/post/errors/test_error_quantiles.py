"""Quantiles of sums of Laplace noise, against sums that were drawn."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.errors.quantiles import deviations
from covey.post.random import public_rng


@pytest.mark.parametrize("draws", [1, 2, 5, 100])
def test_as_many_deviations_hold_a_sum_of_laplace_draws_as_often_as_they_say(draws):
    rng, runs = public_rng(draws), 400_000
    gamma = rng.gamma(draws, size=(2, runs))  # a sum of m Laplace draws is the difference of two Gammas
    sums = np.abs(gamma[0] - gamma[1]) / np.sqrt(2 * draws)
    for level in (0.9, 0.99, 0.999):
        wide = float(deviations(level, np.array([float(draws)]))[0])
        assert (sums <= wide).mean() == pytest.approx(level, abs=max(4 * np.sqrt(level * (1 - level) / runs), 3e-4))


def test_few_draws_need_more_deviations_at_high_levels_and_fewer_at_low_ones():
    few, many = deviations(0.999, np.array([1.0, 1e4]))
    assert few == pytest.approx(np.log(1000) / np.sqrt(2), rel=0.01)  # exactly, of one draw
    assert many == pytest.approx(3.29, abs=0.01)
    assert deviations(0.9, np.array([1e6]))[0] == pytest.approx(1.645, abs=0.005)


def test_a_weighted_sum_has_the_draws_of_its_kurtosis():
    rng = public_rng(3)
    weights = np.array([1.0, 0.5, 0.2, 0.2, 0.1])
    sums = np.abs(rng.laplace(size=(300_000, 5)) @ weights) / np.sqrt(2 * (weights**2).sum())
    draws = (weights**2).sum() ** 2 / (weights**4).sum()
    for level in (0.9, 0.99):
        assert (sums <= deviations(level, np.array([draws]))[0]).mean() == pytest.approx(level, abs=0.003)
