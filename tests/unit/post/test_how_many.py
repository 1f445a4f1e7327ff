"""How many clusters weighted points show."""

import numpy as np
import pytest

from covey.post.how_many import Evidence, how_many, jump_sizes
from covey.post.random import public_rng


def evidence(points: np.ndarray, weights: np.ndarray, noise: float = 1.0) -> Evidence:
    alike = np.ones(len(points))
    return Evidence(points, weights, 0 * alike, noise * alike, 3 * noise * alike, points.shape[1])


def lattice(per_axis: int) -> np.ndarray:
    axis = np.linspace(-0.9, 0.9, per_axis)
    return np.stack([each.ravel() for each in np.meshgrid(axis, axis)], axis=1)


def heaps(k: int, *, apart: float = 0.25) -> tuple[np.ndarray, np.ndarray]:
    """A lattice with k round heaps on it, far from each other."""
    points = lattice(28)
    middles = np.array([(x, y) for y in (-0.7, 0.0, 0.7) for x in (-0.7, 0.0, 0.7)])[:k]
    squares = np.square(points[:, None] - middles[None]).sum(axis=2).min(axis=1)
    return points, 1000 * np.exp(-squares / (2 * (apart / 4) ** 2))


def test_even_rows_jump_by_one_step_at_every_k() -> None:
    for dimension in (1.0, 2.0, 5.0):
        costs = np.arange(1.0, 30.0) ** (-2 / dimension)
        jumps, strengths = jump_sizes(costs, dimension)
        np.testing.assert_allclose(jumps, 1, rtol=1e-9)
        np.testing.assert_allclose(strengths, 1, rtol=1e-9)


def test_a_cost_that_falls_to_nothing_is_no_error() -> None:
    jumps, strengths = jump_sizes(np.array([1.0, 0.5, 0.0, 0.0, -1e-9]), 4.0)
    assert np.isfinite(jumps).all()
    assert np.isfinite(strengths).all()


@pytest.mark.parametrize("k", [2, 4, 6, 9])
def test_heaps_are_counted(k: int) -> None:
    found = how_many(evidence(*heaps(k)), 2, 10, public_rng(1))
    assert found.k == found.low == k
    assert found.centres[k].shape == (k, 2)
    assert not found.more


def test_even_rows_do_not_tell() -> None:
    found = how_many(evidence(lattice(20), np.full(400, 100.0)), 2, 10, public_rng(1))
    assert found.k is None
    assert found.low is None
    assert 2 <= found.likeliest <= 10


def test_even_rows_do_not_ask_for_more_clusters() -> None:
    asked = [how_many(evidence(lattice(20), np.full(400, 100.0)), 2, most, public_rng(1)) for most in (3, 4, 5)]
    assert not any(each.more for each in asked)


def test_noise_that_hides_the_heaps_is_said() -> None:
    """The same heaps under noise as large as they are: redraws of it do not agree, or nothing stands out."""
    points, weights = heaps(6)
    noisy = weights + public_rng(3).laplace(scale=1500, size=len(weights))
    assert how_many(evidence(points, noisy, 2100.0), 2, 10, public_rng(1)).k is None


def test_more_clusters_than_asked_for_are_mentioned() -> None:
    found = how_many(evidence(*heaps(9)), 2, 5, public_rng(1))
    assert found.more
    assert set(found.centres) == {2, 3, 4, 5}


def test_hardly_any_points_do_not_tell() -> None:
    few = evidence(np.array([[0.0, 0.0], [0.5, 0.5], [-0.5, 0.5]]), np.array([50.0, 40.0, -3.0]))
    assert how_many(few, 2, 9, public_rng(1)).k is None
