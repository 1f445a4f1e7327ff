"""Fewer points: totals kept, right on average, better than plain sampling, and the corners."""

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.post.many import costs_of_sets
from covey.post.random import public_rng
from covey.post.reduce import reduce_points


def synopsis(seed=0, m=4000, d=2, signed=True):
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 0.4, (m, d)).clip(-1, 1)
    return points, rng.laplace(1, 1, m) if signed else rng.exponential(1, m)


def errors(points, weights, chosen, heavier, sets, objective="k-median"):
    whole = costs_of_sets(points, weights, sets, objective=objective)
    return costs_of_sets(points[chosen], heavier, sets, objective=objective) / whole - 1


@pytest.mark.parametrize("m", [2, 3, 10, 100, 1000, 3999])
def test_totals_of_both_signs_are_kept(m):
    points, weights = synopsis()
    chosen, heavier = reduce_points(points, weights, m=m, rng=public_rng(0))
    assert len(chosen) == len(set(chosen.tolist())) <= m
    assert len(chosen) > 0.6 * m
    for sign in (1, -1):
        assert heavier[sign * heavier > 0].sum() == pytest.approx(weights[sign * weights > 0].sum())
        assert (sign * weights[chosen[sign * heavier > 0]] > 0).all()


@pytest.fixture(scope="module")
def thousand():
    """The same synopsis reduced a thousand times: for which objective does not matter."""
    points, weights = synopsis(m=600)
    return points, weights, [reduce_points(points, weights, m=30, rng=public_rng(i)) for i in range(1000)]


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_costs_are_right_on_average_over_the_draws(thousand, objective):
    points, weights, reduced = thousand
    sets = np.random.default_rng(1).uniform(-1, 1, (5, 3, 2))
    whole = costs_of_sets(points, weights, sets, objective=objective)
    draws = [costs_of_sets(points[chosen], w, sets, objective=objective) / whole - 1 for chosen, w in reduced]
    mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0)
    assert (np.abs(mean) < 5 * spread / np.sqrt(1000)).all()


@pytest.mark.parametrize("d", [1, 2, 8])
def test_it_is_better_than_drawing_without_buckets(d):
    points, weights = synopsis(d=d, signed=False)
    sets = np.random.default_rng(1).uniform(-1, 1, (50, 3, d))
    ours, plain = [], []
    for i in range(20):
        rng = np.random.default_rng(i)
        ours.append(errors(points, weights, *reduce_points(points, weights, m=200, rng=public_rng(i)), sets))
        drawn = rng.choice(len(points), 200, p=weights / weights.sum())
        plain.append(errors(points, weights, drawn, np.full(200, weights.sum() / 200), sets))
    assert np.std(ours) < {1: 0.1, 2: 0.3, 8: 0.95}[d] * np.std(plain)


def test_far_heavy_points_are_not_lost():
    points, weights = synopsis(signed=False)
    points[17] = [1.0, -1.0]
    weights[17] = 500
    chosen, heavier = reduce_points(points, weights, m=50, rng=public_rng(1))
    assert heavier[chosen == 17] == pytest.approx(500, rel=0.2)


def test_small_ones():
    one = np.array([[0.0, 0.0]])
    assert reduce_points(one, [3.0], m=5, rng=public_rng(0))[1].tolist() == [3.0]
    assert reduce_points(one, [0.0], m=5, rng=public_rng(0))[1].tolist() == [0.0]
    same = np.zeros((9, 2))
    chosen, heavier = reduce_points(same, np.arange(1.0, 10), m=4, rng=public_rng(0))
    assert heavier.sum() == pytest.approx(45)
    assert len(chosen) <= 4
    chosen, _ = reduce_points(np.eye(3), [1.0, -1e-9, 2.0], m=3, rng=public_rng(0))
    assert sorted(chosen) == [0, 1, 2]
    for m, weights in ((0, [1.0]), (1, [1.0, -1.0])):
        with pytest.raises(ParameterError, match="m"):
            reduce_points(np.zeros((len(weights), 2)), weights, m=m, rng=public_rng(0))


def test_extreme_weights_do_not_overflow():
    points, weights = synopsis(m=100)
    _, heavier = reduce_points(points, weights * 1e300, m=10, rng=public_rng(0))
    assert np.isfinite(heavier).all()
    _, heavier = reduce_points(points, weights * 1e-300, m=10, rng=public_rng(0))
    assert heavier.sum() == pytest.approx(weights.sum() * 1e-300)
