"""Weighted k-means: laws that hold for any synopsis, and a plain twin that it is held to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.post.kmeans import cost, weighted_kmeans
from covey.post.random import public_rng
from covey.post.starts import sphere_packing


def twin(points, weights, starts, *, rounds):
    """Lloyd's algorithm in [-1, 1]^d, start by start, in plain steps: the lowest cost met, and its centres."""
    best, winner = np.inf, starts[0]
    for centres in starts:
        for done in range(rounds + 1):
            squares = np.square(points[:, None, :] - centres[None]).sum(axis=2)
            label = squares.argmin(axis=1)
            value = weights @ squares.min(axis=1)
            if value < best:
                best, winner = value, centres
            if done == rounds:
                break
            moved = centres.copy()
            for j in range(len(centres)):
                net = weights[label == j].sum()
                if net > 0:
                    moved[j] = np.clip(weights[label == j] @ points[label == j] / net, -1, 1)
            if np.array_equal(moved, centres):
                break
            centres = moved
    return best, winner


def box(d):
    return {"lower": -np.ones(d), "upper": np.ones(d)}


def synopses(count, *, signed=True, most=60):
    """Points in general position (ties would make the path of a start a matter of rounding), weights, starts.

    The same in every run: whether rounding decides a path is then no matter of luck.
    """
    for seed in range(count):
        rng = public_rng(seed)
        m, k, d = 1 + 37 * seed % most, int(rng.integers(1, 7)), int(rng.integers(1, 5))
        points, starts = rng.uniform(-1, 1, (m, d)), rng.uniform(-1, 1, (4, k, d))
        weights = rng.laplace(1.0, 1.0, m) if signed else rng.exponential(1.0, m)
        yield points, weights, starts


def either_sign(count):
    """Every second one without negative weights."""
    for number, (points, weights, starts) in enumerate(synopses(count)):
        yield points, weights if number % 2 else np.abs(weights), starts


def run(synopsis, **options):
    points, weights, starts = synopsis
    return weighted_kmeans(points, weights, k=starts.shape[1], **box(points.shape[1]), starts=starts, **options)


def assert_same_places(centres, others):
    """Which of two centres that met in a corner goes on is a matter of rounding; where they end is not."""
    distance = np.linalg.norm(centres[:, None] - others[None], axis=2)
    assert distance.min(axis=0).max() < 1e-6
    assert distance.min(axis=1).max() < 1e-6


def test_a_few_rounds_are_those_of_the_twin():
    for seed, synopsis in enumerate(synopses(100)):
        rounds = seed % 4
        best, centres = twin(*synopsis, rounds=rounds)
        found = run(synopsis, rounds=rounds, swaps=0)
        assert found.cost == pytest.approx(best, rel=1e-6, abs=1e-6)
        if len(synopsis[0]) > 30 and not np.isclose(found.cost, 0):
            np.testing.assert_allclose(found.centres, centres, atol=1e-3)


def test_many_rounds_end_where_the_twin_ends():
    for synopsis in synopses(50, signed=False):
        best, _ = twin(*synopsis, rounds=100)
        assert run(synopsis, swaps=0).cost == pytest.approx(best, rel=1e-3, abs=1e-9)


def test_swaps_never_raise_the_cost():
    for synopsis in either_sign(80):
        plain = run(synopsis, swaps=0).cost
        assert run(synopsis).cost <= plain + 1e-9 * (1 + abs(plain))


def test_splitting_a_weight_in_two_changes_nothing():
    for seed, (points, weights, starts) in enumerate(synopses(100)):
        part = public_rng(seed).integers(-4, 5, len(points)) * 0.25
        split = np.concatenate([points, points]), np.concatenate([weights * part, weights * (1 - part)]), starts
        one, two = run((points, weights, starts), swaps=0), run(split, swaps=0)
        assert_same_places(two.centres, one.centres)
        np.testing.assert_allclose(np.sort(two.sizes), np.sort(one.sizes), atol=1e-6)
        assert two.cost == pytest.approx(one.cost, rel=1e-6, abs=1e-6)


def test_the_order_of_the_points_does_not_matter():
    for seed, (points, weights, starts) in enumerate(synopses(100)):
        order = public_rng(seed).permutation(len(points))
        one, two = (run((points[each], weights[each], starts), swaps=0) for each in (slice(None), order))
        assert_same_places(two.centres, one.centres)
        assert two.cost == pytest.approx(one.cost, rel=1e-6, abs=1e-6)


any_number = st.floats(-1e305, 1e305)
any_weight = st.one_of(any_number, st.integers(-3, 3).map(float), st.sampled_from([1e300, -1e300, 5e-324]))
coordinate = st.one_of(st.floats(-3, 3), st.integers(-2, 2).map(float))


@given(st.data())
def test_centres_stay_in_the_box_and_sizes_add_up_whatever_the_weights(data):
    m, k, d = (data.draw(st.integers(*ends)) for ends in ((0, 12), (1, 4), (1, 3)))
    points = np.array(data.draw(st.lists(coordinate, min_size=m * d, max_size=m * d))).reshape(m, d)
    weights = np.array(data.draw(st.lists(any_weight, min_size=m, max_size=m)))
    starts = np.array(data.draw(st.lists(coordinate, min_size=k * d, max_size=k * d))).reshape(1, k, d)
    lower = np.array(data.draw(st.lists(st.floats(-2, 0), min_size=d, max_size=d)))
    upper = lower + np.array(data.draw(st.lists(st.sampled_from([0.0, 1e-9, 1.0, 2.5]), min_size=d, max_size=d)))
    found = weighted_kmeans(
        points, weights, k=k, lower=lower, upper=upper, starts=starts, coarse=data.draw(st.sampled_from([1, 4096]))
    )
    assert (found.centres >= lower).all()
    assert (found.centres <= upper).all()
    heaviest = np.abs(weights).max(initial=1.0)
    assert (found.sizes / heaviest).sum() == pytest.approx((weights / heaviest).sum(), abs=1e-9)


@pytest.mark.parametrize("coarse", [1, 4096])
def test_sizes_and_cost_are_those_of_the_centres(coarse):
    for points, weights, starts in synopses(25, most=300):
        found = run((points, weights, starts), coarse=coarse)
        assert found.sizes.sum() == pytest.approx(weights.sum(), abs=1e-9)
        assert found.cost == pytest.approx(cost(points, weights, found.centres), abs=1e-9)


def test_more_rounds_never_raise_the_cost():
    for synopsis in either_sign(60):
        costs = [run(synopsis, rounds=rounds, swaps=0).cost for rounds in range(6)]
        assert (np.diff(costs) <= 1e-9 * (1 + np.abs(costs[0]))).all()


def noisy_grid(seed, *, side, k, n, epsilon, spread):
    """Counts of n rows in k groups on a side x side grid of [-1, 1]^2, with Laplace noise."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-0.85, 0.85, (k, 2))[rng.integers(k, size=n)] + spread * rng.normal(size=(n, 2))
    cells = np.clip(((rows + 1) / 2 * side).astype(int), 0, side - 1)
    counts = np.bincount(cells @ [side, 1], minlength=side**2) + rng.laplace(0, 1 / epsilon, side**2)
    axis = (np.arange(side) + 0.5) / side * 2 - 1
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    packings = [sphere_packing(k, **box(2), rng=public_rng(100 * seed + i)) for i in range(30)]
    return points, counts, np.stack(packings)


def test_buckets_and_swaps_lose_nothing_against_every_start_in_full():
    ratios = []
    for k, spread, epsilon in [(3, 0.1, 0.5), (4, 0.06, 1.0), (5, 0.06, 0.3), (8, 0.04, 1.0)]:
        for seed in range(2):
            synopsis = noisy_grid(seed, side=40, k=k, n=16_000, epsilon=epsilon, spread=spread)
            full, _ = twin(*synopsis, rounds=20)
            ratios.append([run(synopsis, coarse=300, swaps=swaps).cost / full for swaps in (0, 100)])
    plain, swapped = np.mean(ratios, axis=0)
    assert plain < 1.02
    assert swapped < 1.001
