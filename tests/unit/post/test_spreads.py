"""Rows spread about their points: how far, and what centres cost then; against rows that are really drawn."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.distances import cost
from covey.post.many import costs_of_sets, spread_costs
from covey.post.spreads import spread_out, told

OBJECTIVES = ["k-means", "k-median"]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 2, 6])
def test_clouds_cost_what_their_rows_cost(d, k, objective):
    rng = np.random.default_rng(10 * d + k)
    points, weights = rng.uniform(-1, 1, (5, d)), rng.uniform(1, 5, 5)
    spreads = rng.uniform(0.01, 0.2, 5)
    sets = rng.uniform(-1, 1, (4, k, d))
    found = spread_costs(points, weights, sets, objective=objective, spreads=spreads)
    for centres, plain, most, likely in zip(sets, found.plain, found.spread, found.likely, strict=True):
        true = 0.0
        for point, weight, spread in zip(points, weights, spreads, strict=True):
            rows = point + rng.normal(0, np.sqrt(spread / d), (20_000, d))
            true += weight * cost(rows, np.full(20_000, 1 / 20_000), centres, objective)
        assert plain == pytest.approx(cost(points, weights, centres, objective))
        assert true < 1.02 * most
        assert likely <= most + 1e-9
        assert abs(likely - true) <= abs(most - true) + 0.02 * true
        if k == 1:
            assert plain < true
        if k < (3 if d < 5 else 2) and (objective == "k-means" or d > 1):  # of more centres only two are looked at
            assert likely == pytest.approx(true, rel=0.03)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_spreads_all_costs_are_the_plain_one(objective):
    rng = np.random.default_rng(1)
    points, weights, sets = rng.normal(size=(300, 2)), rng.laplace(1, 2, 300), rng.normal(size=(40, 3, 2))
    plain = costs_of_sets(points, weights, sets, objective=objective)
    for spreads in (None, np.zeros(300)):
        found = spread_costs(points, weights, sets, objective=objective, spreads=spreads)
        for each in (found.plain, found.spread, found.likely):
            np.testing.assert_allclose(each, plain, atol=1e-9)
    expected = [cost(points, weights, centres, objective) for centres in sets]
    np.testing.assert_allclose(plain, expected)


def test_many_sets_are_priced_like_each_alone():
    rng = np.random.default_rng(2)
    points, weights, spreads = rng.normal(size=(700, 3)), rng.laplace(1, 2, 700), rng.uniform(0, 1, 700)
    sets = rng.normal(size=(900, 4, 3))
    for objective in OBJECTIVES:
        found = spread_costs(points, weights, sets, objective=objective, spreads=spreads)
        for i in (0, 255, 256, 899):
            alone = spread_costs(points, weights, sets[[i]], objective=objective, spreads=spreads)
            assert found.likely[i] == pytest.approx(alone.likely[0])
            assert found.spread[i] == pytest.approx(alone.spread[0])


# --- spread_out -------------------------------------------------------------------------------------------------------


def test_spreads_add_up_to_the_total():
    rng = np.random.default_rng(3)
    points, weights = rng.uniform(-1, 1, (40, 2)), rng.uniform(0, 9, 40)
    spreads = spread_out(points, weights, 7.5, most=8.0)
    assert weights @ spreads == pytest.approx(7.5)
    assert spreads.min() > 0


def test_a_negative_total_is_none_and_one_beyond_all_rows_is_cut():
    points, weights = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]), np.array([2.0, 2.0, 1.0])
    assert spread_out(points, weights, -3.0, most=8.0).tolist() == [0, 0, 0]
    assert weights @ spread_out(points, weights, 1e9, most=8.0) == pytest.approx(40)
    found = spread_out(points, weights, 6.0, most=8.0)
    assert found.tolist() == pytest.approx([1.0, 1.0, 2.0])  # as the distance of the nearest other point


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, 0.0]])
def test_points_on_top_of_one_another_and_without_weight(weights):
    found = spread_out(np.zeros((2, 3)), np.array(weights), 5.0, most=12.0)
    assert np.isfinite(found).all()
    assert np.array(weights) @ found == pytest.approx(5.0 * sum(weights))
    assert spread_out(np.zeros((1, 3)), np.array([2.0]), 5.0, most=12.0).tolist() == [2.5]


# --- words ------------------------------------------------------------------------------------------------------------


def test_doubts_are_said():
    assert told({"a": False}, cost=10, noise=0.9) == {"cost_trusted": True, "cost_noise": 0.9}
    assert told({"a": True, "b": True}, cost=10, noise=0.9)["cost_doubt"] == "a; b"
    assert told({}, cost=10, noise=1.0)["cost_doubt"] == "the noise is large"
    assert not told({}, cost=-1.0, noise=0.1)["cost_trusted"]
