"""The paper's error formulas against simulation of the noise they describe."""

import numpy as np
import pytest

from covey.algorithms.hybrid import hybrid_threshold
from covey.noise.laplace import discrete_laplace
from covey.noise.source import SeededSource
from su16_formulas import grid_bias_bound, grid_cells, grid_variance, hybrid_error, lloyd_error

FINE = 2**20  # lattice units of r = 1: fine enough that the integers do not matter


def laplace(shape, scale, source):
    """Laplace numbers of a scale given in units of r, from the exact sampler."""
    from fractions import Fraction

    return discrete_laplace(shape, inverse_scale=Fraction(1) / Fraction(round(scale * FINE)), source=source) / FINE


@pytest.mark.parametrize(("n", "d", "k", "epsilon", "rounds"), [(50_000, 2, 4, 1.0, 5), (20_000, 6, 5, 2.0, 1)])
def test_equation_7_is_the_error_of_a_noisy_mean(n, d, k, epsilon, rounds):
    rho, times, source = 0.225, 40_000, SeededSource(7)
    size = n / k
    total = 2 * rho * size  # |S_i| / (2 r C) = rho
    scale = (d + 1) * rounds / epsilon
    means = (total + laplace((times, d), scale, source)) / (size + laplace((times, 1), scale, source))
    measured = np.square(means - total / size).sum(axis=1).mean()
    assert measured == pytest.approx(lloyd_error(n=n, d=d, k=k, epsilon=epsilon, rounds=rounds, rho=rho), rel=0.06)


def test_equation_13_is_one_round_with_half_of_epsilon():
    n, d, k, epsilon, source = 30_000, 3, 3, 0.8, SeededSource(8)
    size, scale = n / k, (d + 1) / (epsilon / 2)
    total = 2 * 0.225 * size
    means = (total + laplace((40_000, d), scale, source)) / (size + laplace((40_000, 1), scale, source))
    measured = np.square(means - total / size).sum(axis=1).mean()
    assert measured == pytest.approx(hybrid_error(n=n, d=d, k=k, epsilon=epsilon), rel=0.06)


@pytest.mark.parametrize(("d", "per_axis", "k"), [(2, 32, 4), (3, 16, 8)])
def test_equation_9_is_the_variance_of_a_noisy_grids_centre(d, per_axis, k):
    n, epsilon, times, source = 10_000_000, 1.0, 3_000, SeededSource(9)
    side = round(per_axis / k ** (1 / d))  # cells of one cluster along an axis: a cube of 1/k of the domain
    axis = (np.arange(side) + 0.5) * 2 / per_axis - side / per_axis  # from the cube's middle, r = 1
    places = np.stack([each.ravel() for each in np.meshgrid(*[axis] * d)], axis=1)
    noise = laplace((times, len(places)), 1 / epsilon, source)
    size = n / k
    centres = noise @ places / (size + noise.sum(axis=1, keepdims=True))
    measured = np.square(centres).sum(axis=1).mean()
    assert measured == pytest.approx(grid_variance(n=n, d=d, k=k, epsilon=epsilon, cells=per_axis**d), rel=0.08)


def test_equation_12_is_9_with_the_cells_of_4():
    setting = {"n": 40_000, "d": 3, "epsilon": 0.7}
    cells = grid_cells(**setting)
    assert grid_variance(k=5, **setting) == pytest.approx(grid_variance(k=5, cells=cells, **setting))
    assert grid_variance(k=5, **setting) == pytest.approx(
        2 * 3 * 5 ** (1 / 3) / (3 * 10 ** (6 / 5) * (40_000 * 0.7) ** (4 / 5))
    )


def test_equation_10_bounds_the_bias_and_is_reached():
    rng, d, per_axis = np.random.default_rng(1), 2, 10
    bound = grid_bias_bound(d=d, cells=per_axis**d)

    def bias(rows):
        middles = (np.floor((rows + 1) / 2 * per_axis) + 0.5) * 2 / per_axis - 1
        return np.square(middles.mean(axis=0) - rows.mean(axis=0)).sum()

    assert all(bias(rng.uniform(-1, 1, (5, d)) * scale) <= bound for scale in rng.uniform(0.01, 1, 2_000))
    assert bias(np.full((3, d), 1e-12)) == pytest.approx(bound)  # every row in the corner of its cell


def test_inequality_15_says_where_a_round_begins_to_pay():
    for n, d, k in ((5_000, 2, 15), (48_842, 6, 5), (26_733, 10, 3)):
        threshold = hybrid_threshold(n=n, d=d, k=k)
        for factor, pays in ((0.8, False), (1.25, True)):
            setting = {"n": n, "d": d, "k": k, "epsilon": threshold * factor}
            assert (hybrid_error(**setting) < grid_variance(**setting)) is pays
