"""What `auto` makes of noisy leaves, and k-means++ on weighted points. None of it sees rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.post.errors.boxes import CountedBoxes
from covey.post.leaves import STARTS, cluster, kept_weights, recentre, settled
from covey.post.random import public_rng
from covey.post.starts import plus_plus

BOX = {"lower": [-10.0, -10.0], "upper": [10.0, 10.0]}


def cost(points: np.ndarray, weights: np.ndarray, centres: np.ndarray) -> float:
    away = np.square(points[:, None] - centres[None]).sum(axis=2).min(axis=1)
    return float(weights @ away)


# --- plus_plus --------------------------------------------------------------------------------------------------------


def test_starts_are_points_of_positive_weight_and_differ_where_they_can():
    rng = np.random.default_rng(1)
    points, weights = rng.uniform(-1, 1, (60, 3)), rng.uniform(-1, 1, 60)
    starts = plus_plus(points, weights, 8, starts=20, rng=public_rng(1))
    assert starts.shape == (20, 8, 3)
    usable = {tuple(point) for point in points[weights > 0]}
    for centres in starts:
        assert len({tuple(centre) for centre in centres}) == 8
        assert all(tuple(centre) in usable for centre in centres)


def test_starts_are_not_far_from_the_best_choice_of_points():
    """Brute force over all choices of three points: the best of the greedy starts comes close."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        points, weights = rng.uniform(-1, 1, (14, 2)), rng.uniform(0.1, 5, 14)
        best = min(cost(points, weights, points[list(chosen)]) for chosen in combinations(range(14), 3))
        starts = plus_plus(points, weights, 3, starts=10, rng=public_rng(3))
        found = [cost(points, weights, centres) for centres in starts]
        assert best <= min(found) + 1e-12
        assert min(found) < 1.35 * best
        assert np.mean(found) < 2.5 * best


def test_the_first_centre_is_drawn_by_weight_and_the_second_by_weight_and_distance():
    points = np.array([[0.0], [1.0], [3.0]])
    starts = plus_plus(points, [6.0, 3.0, 1.0], 2, starts=6000, rng=public_rng(4), trials=1)
    first = [(starts[:, 0, 0] == point).mean() for point in (0, 1, 3)]
    np.testing.assert_allclose(first, [0.6, 0.3, 0.1], atol=0.03)
    after_zero = starts[starts[:, 0, 0] == 0, 1, 0]
    assert (after_zero == 3).mean() == pytest.approx(9 / 12, abs=0.04)  # 3·1 against 1·9


def test_far_groups_are_all_found_however_light():
    rng = np.random.default_rng(5)
    middles = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    points = np.concatenate([middle + rng.normal(0, 0.05, (40, 2)) for middle in middles])
    weights = np.repeat([100.0, 1.0, 1.0, 0.5], 40)
    for centres in plus_plus(points, weights, 4, starts=20, rng=public_rng(5)):
        away = np.square(middles[:, None] - centres[None]).sum(axis=2).min(axis=1)
        assert away.max() < 1


def test_duplicates_and_zero_weights_leave_fewer_points_than_centres():
    points = np.array([[1.0, 1.0]] * 5 + [[2.0, 2.0]] * 3 + [[7.0, 7.0]])
    weights = np.array([1.0] * 8 + [0.0])
    for centres in plus_plus(points, weights, 5, starts=10, rng=public_rng(6)):
        assert {tuple(centre) for centre in centres} == {(1.0, 1.0), (2.0, 2.0)}
    alone = plus_plus([[3.0]], [1e-300], 3, starts=2, rng=public_rng(7))
    assert (alone == 3.0).all()


@pytest.mark.parametrize(
    ("weights", "starts", "trials"), [([0.0, 0.0], 1, 1), ([-1.0, -2.0], 1, 1), ([1.0, 1.0], 0, 1), ([1.0, 1.0], 1, 0)]
)
def test_without_a_positive_weight_there_is_no_start(weights, starts, trials):
    with pytest.raises(ParameterError, match="weights"):
        plus_plus([[0.0], [1.0]], weights, 2, starts=starts, rng=public_rng(1), trials=trials)


@pytest.mark.parametrize("columns", [2, 9])
def test_starts_that_are_drawn_side_by_side_are_those_drawn_one_after_another(columns, monkeypatch):
    rng = public_rng(8)
    points, weights = rng.uniform(-1, 1, (5000, columns)), rng.uniform(0, 1, 5000)
    generators = public_rng(9), public_rng(9)
    together = plus_plus(points, weights, 6, starts=4, rng=generators[0])
    monkeypatch.setattr("covey.post.starts._MANY", len(points) + 1)
    alone = plus_plus(points, weights, 6, starts=4, rng=generators[1])
    assert np.array_equal(together, alone)
    assert generators[0].random() == generators[1].random()  # and both leave it as they should


def test_the_generator_decides_the_starts():
    points, weights = np.random.default_rng(8).uniform(-1, 1, (50, 2)), np.ones(50)
    first, same, other = (plus_plus(points, weights, 5, starts=3, rng=public_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


# --- kept_weights -----------------------------------------------------------------------------------------------------


def test_counts_that_stand_out_are_kept_as_they_are():
    counts = np.array([100.0, 5.0, -30.0, 14.0, 13.0] + [0.0] * 95)
    kept = kept_weights(counts, scale=5.0, strictness=0.6)  # 0.6·5·ln(100) = 13.8
    assert kept.tolist()[:5] == [100, 0, 0, 14, 0]
    assert not kept[5:].any()


def test_empty_leaves_rarely_stand_out():
    rng = np.random.default_rng(9)
    noise = rng.laplace(0, 4.0, (200, 1000))
    often = np.mean([(kept_weights(each, scale=4.0, strictness=0.65) > 0).mean() for each in noise])
    assert often < 0.5 * 1000**-0.65 * 1.2
    assert (kept_weights(noise[0], scale=4.0, strictness=0.0) > 0).mean() > 0.4


@pytest.mark.parametrize("counts", [[-5.0], [0.0, 0.0], [-3.0, -1.0, -2.0], [0.1] * 50])
def test_if_no_count_stands_out_the_largest_is_kept(counts):
    kept = kept_weights(np.array(counts), scale=10.0, strictness=0.65)
    assert (kept > 0).sum() == 1
    assert kept[int(np.argmax(counts))] >= 1


# --- cluster ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_clear_groups_are_found(objective):
    rng = np.random.default_rng(10)
    middles = np.array([[-6.0, -6.0], [6.0, -5.0], [0.0, 7.0], [7.0, 7.0]])
    points = np.concatenate([middle + rng.normal(0, 0.3, (50, 2)) for middle in middles])
    found = cluster(points, np.repeat([9.0, 3.0, 1.0, 0.2], 50), k=4, objective=objective, rng=public_rng(1), **BOX)
    away = np.linalg.norm(middles[:, None] - found.centres[None], axis=2).min(axis=1)
    assert away.max() < 0.3
    assert found.sizes.sum() == pytest.approx(660)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [3.0, 0.0], [1.0, 1.0]])
def test_fewer_points_than_centres(objective, weights):
    points = np.arange(2.0 * len(weights)).reshape(-1, 2)
    found = cluster(points, np.array(weights), k=5, objective=objective, rng=public_rng(2), **BOX)
    assert found.centres.shape == (5, 2)
    assert np.isfinite(found.centres).all()
    assert np.abs(found.centres).max() <= 10


def test_an_unknown_objective_is_named():
    with pytest.raises(ParameterError, match="objective"):
        cluster(np.zeros((1, 2)), np.ones(1), k=1, objective="k-modes", rng=public_rng(1), **BOX)
    assert STARTS >= 1


# --- recentre ---------------------------------------------------------------------------------------------------------


def leaves_of(rng: np.random.Generator, *, rows: int, scale: float) -> tuple[np.ndarray, ...]:
    """A 32 x 32 grid of leaves over two bells, with noisy counts, and the rows themselves."""
    data = np.concatenate([rng.normal(-4, 1.5, (rows, 2)), rng.normal(4, 1.5, (rows, 2))])
    edges = np.linspace(-10, 10, 33)
    counts = np.histogram2d(*data.T, bins=(edges, edges))[0].ravel()
    middles = (edges[1:] + edges[:-1]) / 2
    points = np.stack([each.ravel() for each in np.meshgrid(middles, middles, indexing="ij")], axis=1)
    return points, np.full_like(points, 20 / 32), counts + rng.laplace(0, scale, counts.shape), data


def test_light_leaves_that_come_back_bring_centres_nearer_to_the_means():
    rng = np.random.default_rng(11)
    before = after = 0.0
    for _ in range(30):
        points, widths, counts, data = leaves_of(rng, rows=2000, scale=4.0)
        weights = kept_weights(counts, scale=4.0, strictness=0.65)
        start = np.array([[-5.0, -4.0], [4.0, 5.0]])
        found = cluster(points[weights > 0], weights[weights > 0], k=2, objective="k-means", rng=public_rng(1), **BOX)
        moved = recentre(points, widths, counts, weights, found.centres, scale=4.0)
        label = np.square(data[:, None] - start[None]).sum(axis=2).argmin(axis=1)
        means = np.stack([data[label == j].mean(axis=0) for j in (0, 1)])
        for centres, which in ((found.centres, "before"), (moved, "after")):
            error = np.square(means[:, None] - centres[None]).sum(axis=2).min(axis=1).sum()
            before, after = (before + error, after) if which == "before" else (before, after + error)
    assert after < before


def test_without_noise_centres_go_to_the_means_of_their_leaves():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [8.0, 8.0]])
    counts = np.array([10.0, 5.0, 5.0, 7.0])
    moved = recentre(points, np.ones_like(points), counts, counts, np.array([[0.0, 0.0], [7.0, 8.0]]), scale=0.0)
    np.testing.assert_allclose(moved, [[0.25, 0.25], [8, 8]])


def test_a_centre_stays_if_what_came_back_is_mostly_noise():
    rng = np.random.default_rng(12)
    points = rng.uniform(-1, 1, (400, 2))
    counts = rng.laplace(0, 50.0, 400)
    weights = np.zeros(400)
    weights[0] = counts[0] = 60.0
    centres = np.array([[0.1, 0.2]])
    moved = recentre(points, np.full((400, 2), 0.1), counts, weights, centres, scale=50.0)
    np.testing.assert_array_equal(moved, centres)


def test_a_centre_without_leaves_stays():
    points, counts = np.zeros((1, 2)), np.array([5.0])
    centres = np.array([[0.0, 0.0], [9.0, 9.0]])
    moved = recentre(points, np.ones((1, 2)), counts, counts, centres, scale=1.0)
    np.testing.assert_array_equal(moved, centres)


def test_scales_that_differ_count_where_their_leaves_are():
    """Of two centres with the same leaves about them, the one whose noise is wide stays."""
    points = np.concatenate([np.array([[-0.5], [-0.4]]), np.array([[0.4], [0.5]])])
    weights, centres = np.array([8.0, 4.0, 4.0, 8.0]), np.array([[-0.41], [0.41]])
    moved = recentre(points, np.full((4, 1), 0.1), weights, weights, centres, scale=np.array([1.0, 1.0, 7.0, 1.0]))
    assert moved[:, 0] == pytest.approx([-5.6 / 12, 0.41])
    assert recentre(points, np.full((4, 1), 0.1), weights, weights, centres, scale=1.0)[1, 0] == pytest.approx(5.6 / 12)


# --- settled ----------------------------------------------------------------------------------------------------------


def cells_of(rows: np.ndarray, per_axis: int) -> CountedBoxes:
    """Exact counts of the cells of a grid on [-1, 1]²."""
    edges = np.linspace(-1, 1, per_axis + 1)
    counts = np.histogram2d(*rows.T, bins=(edges, edges))[0].ravel()
    middles = (edges[1:] + edges[:-1]) / 2
    points = np.stack([each.ravel() for each in np.meshgrid(middles, middles, indexing="ij")], axis=1)
    return CountedBoxes.of_one_scale(points, np.full(points.shape, 2 / per_axis), counts, scale=1.0, strictness=0.65)


@pytest.mark.parametrize(("per_axis", "nearer"), [(8, 3.0), (200, 1.0)])
def test_centres_settle_where_rows_are_in_wide_boxes_and_not_in_their_middles(per_axis, nearer):
    """Clusters narrower than a box: its middle is off by far more than the rows. In narrow boxes nothing moves."""
    rng = np.random.default_rng(8)
    true = np.array([[-0.55, -0.41], [0.52, 0.30], [0.07, -0.68]])
    rows = true[rng.integers(3, size=30_000)] + rng.normal(0, 0.08, (30_000, 2))
    boxes = cells_of(rows, per_axis)
    weights = np.where(boxes.stands, boxes.counts, 0.0)
    middles = recentre(boxes.points, boxes.widths, boxes.counts, weights, true, scale=1.0)
    found = settled(boxes, weights, true, scale=1.0)
    if nearer == 1.0:
        np.testing.assert_array_equal(found, middles)
    else:
        assert nearer * np.abs(found - true).max() < np.abs(middles - true).max()
