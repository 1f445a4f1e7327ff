"""Starts that look at no data."""

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.post.random import public_rng
from covey.post.starts import sphere_packing, uniform_starts


def gaps(points: np.ndarray) -> np.ndarray:
    between = np.linalg.norm(points[:, None] - points[None], axis=2)
    return between[np.triu_indices(len(points), 1)]


def radius(points: np.ndarray) -> float:
    """The radius that a packing in [-1, 1]^d has reached."""
    return min(1 - np.abs(points).max(), gaps(points).min(initial=np.inf) / 2)


@pytest.mark.parametrize(
    ("k", "d"), [(1, 1), (2, 1), (100, 1), (1, 2), (7, 2), (100, 2), (30, 10), (1, 784), (10, 784)]
)
def test_packings_keep_their_distance(k, d):
    points = sphere_packing(k, lower=-np.ones(d), upper=np.ones(d), rng=public_rng(5))
    assert points.shape == (k, d)
    assert radius(points) > 0


def test_a_packing_beats_chance_and_comes_near_the_best_possible_one():
    box = {"lower": [-1, -1], "upper": [1, 1]}
    packed = np.mean([radius(sphere_packing(15, **box, rng=public_rng(i))) for i in range(10)])
    chance = np.mean([radius(uniform_starts(15, **box, rng=public_rng(i))) for i in range(10)])
    assert packed > 5 * chance
    assert packed > 0.7 * 0.2543  # the densest packing known of 15 equal discs in this square


def test_one_point_goes_to_the_middle():
    np.testing.assert_allclose(sphere_packing(1, lower=[0, 0], upper=[4, 4], rng=public_rng(1)), [[2, 2]])


def test_many_points_on_a_line():
    points = sphere_packing(1000, lower=[0], upper=[1], rng=public_rng(2), steps=8)
    assert points.shape == (1000, 1)
    assert gaps(points).min() > 0


@pytest.mark.parametrize("make", [sphere_packing, uniform_starts])
@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([3.0], [3.0]),
        ([3.0, -1.0], [3.0, 1.0]),
        ([0.0, 0.0], [1.0, 1e-300]),
        ([-1e308, -1e308], [1e308, 1e308]),
        ([1.0], [np.nextafter(1.0, 2.0)]),
        ([0.0], [5e-324]),
    ],
)
@pytest.mark.parametrize("k", [1, 3, 40])
def test_any_box_will_do(make, lower, upper, k):
    with np.errstate(all="raise", under="ignore"):
        points = make(k, lower=lower, upper=upper, rng=public_rng(7))
    assert points.shape == (k, len(lower))
    assert (points >= lower).all()
    assert (points <= upper).all()


def test_a_column_without_width_does_not_hold_the_others_back():
    flat = sphere_packing(5, lower=[-1, 2, -1], upper=[1, 2, 1], rng=public_rng(4))
    assert (flat[:, 1] == 2).all()
    assert radius(flat[:, [0, 2]]) > 0.2


@pytest.mark.parametrize("make", [sphere_packing, uniform_starts])
def test_the_generator_decides_everything(make):
    def draw(seed):
        return make(9, lower=[-1, -1], upper=[1, 1], rng=public_rng(seed))

    np.random.seed(0)  # noqa: NPY002  the global generator must have no say
    first = draw(3)
    np.random.seed(1)  # noqa: NPY002
    assert np.array_equal(first, draw(3))
    assert not np.array_equal(first, draw(4))
    assert not np.array_equal(draw(None), draw(None))


def test_hopeless_tries_end_with_uniform_points():
    assert sphere_packing(50, lower=[-1], upper=[1], rng=public_rng(1), tries=1, steps=1).shape == (50, 1)


@pytest.mark.parametrize("make", [sphere_packing, uniform_starts])
@pytest.mark.parametrize(
    ("k", "lower", "upper"),
    [
        (0, [0], [1]),
        (2, [1], [0]),
        (2, [0, 0], [1]),
        (2, [], []),
        (2, [np.nan], [1]),
        (2, [0], [np.inf]),
        (2, 0, 1),
    ],
)
def test_wrong_arguments_are_named(make, k, lower, upper):
    with pytest.raises(ParameterError):
        make(k, lower=lower, upper=upper, rng=public_rng(1))
