"""Choosing places for signed weights: as good as trying all sets, and every move pays."""

from itertools import combinations

import numpy as np
import pytest

from covey.post.distances import cost
from covey.post.random import public_rng
from covey.post.swaps import MOST_AT_ONCE, MOST_CELLS, Search, cells_of, choose, settle, spread_out

OBJECTIVES = ("k-means", "k-median")


def scene(seed, many=60, places=9, given=0, signed=True):
    rng = np.random.default_rng(seed)
    weights = rng.laplace(1, 2, many) if signed else rng.exponential(1, many)
    return rng.uniform(-1, 1, (many, 2)), weights, rng.uniform(-1, 1, (places, 2)), rng.uniform(-1, 1, (given, 2))


def chosen(points, weights, places, given, *, new, objective, tries=30):
    cells = cells_of(points, weights)
    rng = public_rng(0)
    return choose(cells, places, given=given, new=new, objective=objective, starts=(), tries=tries, rng=rng)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(12))
def test_it_finds_what_trying_all_sets_finds(objective, seed):
    new, given = 1 + seed % 4, seed % 3
    points, weights, places, stands = scene(seed, given=given, signed=seed % 2 == 0)
    found = chosen(points, weights, places, stands, new=new, objective=objective)
    assert len(set(found)) == new
    prices = {
        each: cost(points, weights, np.vstack([stands, places[list(each)]]), objective)
        for each in combinations(range(len(places)), new)
    }
    assert prices[tuple(sorted(found))] == pytest.approx(min(prices.values()), abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_exchange_costs_what_it_says(objective):
    points, weights, places, stands = scene(3, given=2)
    search = Search(cells_of(points, weights), places, stands, objective)
    now = np.array([1, 4])
    after = search._after(now)
    for place in range(len(places)):
        for out in range(2):
            swapped = now.copy()
            swapped[out] = place
            price = cost(points, weights / np.abs(weights).max(), np.vstack([stands, places[swapped]]), objective)
            assert after[place, out] == pytest.approx(price, abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_long_list_is_searched_nearly_as_well_as_a_whole_one(objective, monkeypatch):
    points, weights, places, stands = scene(5, many=400, places=1500, given=1, signed=False)
    assert len(places) > MOST_AT_ONCE
    found = chosen(points, weights, places, stands, new=4, objective=objective)
    monkeypatch.setattr("covey.post.swaps.MOST_AT_ONCE", 10_000)
    whole = chosen(points, weights, places, stands, new=4, objective=objective, tries=0)
    prices = [cost(points, weights, np.vstack([stands, places[each]]), objective) for each in (found, whole)]
    assert prices[0] <= 1.02 * prices[1]


def test_a_list_of_equal_places_has_as_many_as_are_wanted():
    places = np.zeros((2000, 2))
    found = chosen(*scene(1)[:2], places, np.empty((0, 2)), new=30, objective="k-means")
    assert len(set(found)) == 30


def test_spread_out_places_stand_for_all():
    places = np.random.default_rng(0).uniform(-1, 1, (3000, 2))
    some = spread_out(places, 200)
    assert 150 <= len(set(some)) <= 200
    gaps = np.sqrt(np.square(places[:, None] - places[some]).sum(axis=2)).min(axis=1)
    assert gaps.max() < 0.5
    assert spread_out(places, 5000).tolist() == list(range(3000))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(6))
def test_moves_lower_the_cost_and_stay_where_they_may(objective, seed):
    points, weights, places, stands = scene(seed, given=seed % 2)

    def west(trials):
        return np.minimum(trials, [-0.1, np.inf])

    cells, first = cells_of(points, weights), west(places[:3])
    found = settle(cells, first, given=stands, objective=objective, onto=west)
    assert (found[:, 0] <= -0.1).all()
    assert (np.abs(found) <= 1).all()
    before, after = (cost(points, weights, np.vstack([stands, each]), objective) for each in (first, found))
    assert after <= before + 1e-9


@pytest.mark.parametrize(("objective", "best"), [("k-means", 0.25), ("k-median", 0.0)])
def test_one_free_centre_goes_to_the_mean_or_the_median(objective, best):
    points, weights = np.array([[0.0, 0.5], [0.0, 0.5], [0.0, 0.5], [1.0, 0.5]]), np.ones(4)
    start = np.array([[-0.7, -0.7]])
    found = settle(
        cells_of(points, weights), start, given=np.empty((0, 2)), objective=objective, onto=lambda trials: trials
    )
    assert found[0] == pytest.approx([best, 0.5], abs=1e-3)


def test_a_place_that_is_not_found_is_not_taken():
    points, weights, places, stands = scene(2)
    found = settle(
        cells_of(points, weights), places[:2], given=stands, objective="k-means", onto=lambda x: np.full_like(x, np.nan)
    )
    assert np.array_equal(found, places[:2])


def test_weights_that_are_all_negative_end_too():
    points, weights, places, stands = scene(4, given=1)
    found = chosen(points, -np.abs(weights), places, stands, new=2, objective="k-means")
    settle(cells_of(points, -np.abs(weights)), places[found], given=stands, objective="k-median", onto=lambda x: x)
    assert len(set(found)) == 2


def test_very_many_points_are_put_together():
    rng = np.random.default_rng(0)
    points, weights = rng.uniform(-1, 1, (20_000, 2)), rng.laplace(1, 3, 20_000)
    cells = cells_of(points, weights)
    assert len(cells) <= MOST_CELLS
    assert cells.weights.sum() == pytest.approx(weights.sum() / np.abs(weights).max())


@pytest.mark.parametrize("weight", [0.0, 1e300, 1e-300])
def test_weights_of_any_size_have_an_answer(weight):
    points, _, places, stands = scene(1)
    weights = np.full(len(points), weight)
    found = chosen(points, weights, places, stands, new=2, objective="k-median")
    assert len(set(found)) == 2
    settle(cells_of(points, weights), places[found], given=stands, objective="k-means", onto=lambda x: x)
