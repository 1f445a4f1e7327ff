"""Weighted k-means of a synopsis: the corners of its contract."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from covey.errors import ParameterError
from covey.post.coarsen import coarsen
from covey.post.kmeans import cost, weighted_kmeans
from covey.post.random import public_rng
from covey.post.starts import uniform_starts

SQUARE = {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]}


def starts_of(k, d, *, count=5, seed=0):
    rng = public_rng(seed)
    return np.stack([uniform_starts(k, lower=-np.ones(d), upper=np.ones(d), rng=rng) for _ in range(count)])


def test_finds_planted_groups(blobs):
    found = weighted_kmeans(blobs, np.ones(len(blobs)), k=3, **SQUARE, starts=starts_of(3, 2))
    order = np.argsort(found.centres[:, 0])
    np.testing.assert_allclose(found.centres[order], [[-0.6, -0.5], [0.1, 0.6], [0.5, -0.4]], atol=0.03)
    assert found.sizes.sum() == pytest.approx(600)
    assert found.cost == pytest.approx(cost(blobs, np.ones(len(blobs)), found.centres))


def test_negative_weights_cancel_the_noise_of_empty_space():
    far = [[0.9, 0.9], [0.9, 0.8]]
    near = [[-0.5, -0.5], [-0.4, -0.5]]
    found = weighted_kmeans(near + far, [10, 10, 7, -7], k=1, **SQUARE, starts=[[[0, 0]]])
    np.testing.assert_allclose(found.centres, [[-0.45, -0.465]])  # without -7: pulled a quarter of the way


def test_no_points_gives_the_first_start():
    starts = starts_of(4, 2)
    found = weighted_kmeans(np.empty((0, 2)), [], k=4, **SQUARE, starts=starts)
    assert np.allclose(found.centres, starts[0])
    assert not found.sizes.any()
    assert found.cost == 0


@pytest.mark.parametrize("weights", [[0, 0, 0], [-1, -2, 0], [-1e300, -1, -1]])
def test_without_positive_weight_centres_stay_inside(weights):
    starts = starts_of(2, 2)
    points = [[0.0, 0.0], [0.5, 0.5], [1.0, -1.0]]
    found = weighted_kmeans(points, weights, k=2, **SQUARE, starts=starts)
    assert (np.abs(found.centres) <= 1).all()
    assert found.cost <= 0
    still = weighted_kmeans(points, weights, k=2, **SQUARE, starts=starts, swaps=0)
    assert any(np.allclose(still.centres, start) for start in starts)


def test_fewer_points_than_centres_costs_nothing():
    points = np.array([[0.25, 0.5], [-0.5, 0.75]])
    found = weighted_kmeans(points, [2.0, 3.0], k=5, **SQUARE, starts=starts_of(5, 2, count=20))
    assert found.cost == pytest.approx(0, abs=1e-12)
    assert sorted(found.sizes[found.sizes != 0]) == pytest.approx([2, 3])


def test_equal_starts_are_freed_by_a_swap_and_the_first_holds_the_points_without():
    points = np.array([[-0.5, 0.0], [0.5, 0.0]])
    same = np.zeros((3, 2, 2))
    freed = weighted_kmeans(points, [1, 1], k=2, **SQUARE, starts=same)
    assert freed.cost == pytest.approx(0, abs=1e-12)
    held = weighted_kmeans(points, [1, 1], k=2, **SQUARE, starts=same, swaps=0)
    assert held.sizes.tolist() == [2, 0]


@pytest.mark.parametrize(("m", "k", "d"), [(9000, 1, 1), (9000, 70, 2), (300, 3, 784), (80, 20, 784), (9000, 5, 30)])
def test_all_shapes(m, k, d):
    rng = np.random.default_rng(m + d)
    points, weights = rng.uniform(-1, 1, (m, d)), rng.laplace(1, 2, m)
    starts = starts_of(k, d, count=3)
    found = weighted_kmeans(points, weights, k=k, lower=-np.ones(d), upper=np.ones(d), starts=starts, coarse=1000)
    assert found.centres.shape == (k, d)
    assert found.sizes.shape == (k,)
    assert found.sizes.sum() == pytest.approx(weights.sum())
    assert found.cost <= min(cost(points, weights, start) for start in starts)
    if k == 1:
        np.testing.assert_allclose(found.centres[0], np.clip(weights @ points / weights.sum(), -1, 1), atol=1e-9)


def test_a_town_on_the_globe_is_not_lost_in_the_buckets():
    rng = np.random.default_rng(5)
    middles = np.array([[2.30, 48.85], [2.35, 48.88], [2.40, 48.82], [2.28, 48.80]])
    town = middles[rng.integers(4, size=20_000)] + rng.normal(0, 0.005, (20_000, 2))
    globe = rng.uniform([-180, -90], [180, 90], (20_000, 2))
    points = np.concatenate([town, globe])
    weights = np.concatenate([np.full(20_000, 5.0), rng.laplace(0, 1e-6, 20_000)])
    starts = np.stack([uniform_starts(4, lower=[-180, -90], upper=[180, 90], rng=rng) for _ in range(10)])
    found = weighted_kmeans(points, weights, k=4, lower=[-180, -90], upper=[180, 90], starts=starts)
    assert np.abs(np.sort(found.centres[:, 0]) - np.sort(middles[:, 0])).max() < 0.01


def test_buckets_are_few_and_small_where_the_mass_is():
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.uniform(-1, 1, (5000, 3)), rng.normal(0.5, 0.01, (5000, 3))])
    mass = np.repeat([0.01, 10.0], 5000)
    bucket = coarsen(points, mass, limit=500)
    assert bucket.min() == 0
    assert bucket.max() < 500
    assert len(np.unique(bucket[5000:])) > 200
    assert coarsen(np.zeros((50, 2)), np.ones(50), limit=20).max() == 0
    assert coarsen(points, mass, limit=1).max() == 0


def test_the_same_inputs_give_the_same_bits():
    rng = np.random.default_rng(2)
    points, weights = rng.uniform(-1, 1, (20_000, 2)), rng.laplace(0.5, 1, 20_000)
    one, two = (weighted_kmeans(points, weights, k=6, **SQUARE, starts=starts_of(6, 2)) for _ in range(2))
    assert np.array_equal(one.centres, two.centres)
    assert np.array_equal(one.sizes, two.sizes)
    assert one.cost == two.cost


def test_inputs_are_left_alone():
    rng = np.random.default_rng(2)
    points, weights, starts = rng.uniform(-1, 1, (500, 2)), rng.laplace(0.5, 1, 500), starts_of(3, 2)
    before = points.copy(), weights.copy(), starts.copy()
    weighted_kmeans(points, weights, k=3, **SQUARE, starts=starts)
    assert all(np.array_equal(a, b) for a, b in zip(before, (points, weights, starts), strict=True))


def test_blas_gets_its_threads_back():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        assert 2 in before
        weighted_kmeans([[0.0, 0.0]], [1.0], k=2, **SQUARE, starts=starts_of(2, 2))
        assert threads() == before


GOOD = {"points": [[0.0, 0.0]], "weights": [1.0], "k": 1, "starts": [[[0.0, 0.0]]], **SQUARE}


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": [[0.0]]},
        {"points": [[np.nan, 0.0]]},
        {"weights": [np.inf]},
        {"weights": [1.0, 2.0]},
        {"k": 0},
        {"k": 2},
        {"starts": [[0.0, 0.0]]},
        {"starts": np.empty((0, 1, 2))},
        {"starts": [[[np.nan, 0.0]]]},
        {"lower": [2.0, 2.0]},
        {"rounds": -1},
        {"swaps": -1},
        {"coarse": 0},
        {"polish": 0},
    ],
)
def test_wrong_arguments_are_named(wrong):
    assert weighted_kmeans(**GOOD).cost == 0
    with pytest.raises(ParameterError):
        weighted_kmeans(**(GOOD | wrong))
