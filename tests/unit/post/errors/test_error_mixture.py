"""Where in their boxes rows are: the mixture finds it where midpoints are far off, and so do made-up rows."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.distances import cost
from covey.post.errors.boxes import CountedBoxes, spots
from covey.post.errors.costs import COARSE, FEW, WIDE, cost_interval
from covey.post.errors.mixture import (
    MOST_BOXES,
    Mixture,
    Places,
    _heaviest_first,
    box_moments,
    box_shares,
    fit_mixture,
    likely_places,
    mean_places,
)
from covey.post.errors.reruns import MadeUp
from covey.post.random import public_rng

CENTRES = np.array([[-0.5, -0.5], [0.4, -0.3], [0.1, 0.6]])


def rows_and_boxes(*, per_axis: int = 16, n: int = 30_000, scale: float = 5.0, spread: float = 0.05):
    """Three round clusters whose middles are in corners of boxes: their rows are not where the boxes' middles are."""
    rng = public_rng(4)
    rows = np.clip(CENTRES[rng.integers(0, 3, n)] + rng.normal(scale=spread, size=(n, 2)), -1, 0.999999)
    cell = ((rows + 1) / 2 * per_axis).astype(int)
    counts = np.bincount(cell[:, 0] * per_axis + cell[:, 1], minlength=per_axis**2) + rng.laplace(
        scale=scale, size=per_axis**2
    )
    axis = (2 * np.arange(per_axis) + 1) / per_axis - 1
    points = np.stack([part.ravel() for part in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    widths = np.full(points.shape, 2 / per_axis)
    return rows, CountedBoxes.of_one_scale(points, widths, counts, scale=scale, strictness=0.65)


def test_the_mixture_says_where_rows_are_where_midpoints_are_far_off():
    rows, boxes = rows_and_boxes()
    places = likely_places(boxes, fit_mixture(boxes, CENTRES))
    true = cost(rows, np.ones(len(rows)), CENTRES)
    middles = cost(boxes.points, boxes.counts, CENTRES)
    found = cost(places.points, places.parts * boxes.counts[places.box], CENTRES)
    assert abs(middles / true - 1) > 0.2
    assert abs(found / true - 1) < 0.05


def test_the_mixture_finds_the_clusters_that_made_the_counts():
    _, boxes = rows_and_boxes()
    found = fit_mixture(boxes, CENTRES + 0.02)
    assert found.means == pytest.approx(CENTRES, abs=0.005)
    assert found.deviations == pytest.approx(np.full((3, 2), 0.05), rel=0.06)
    assert found.shares.sum() + found.background == pytest.approx(1)


def test_one_place_in_each_of_very_many_small_boxes_costs_what_rows_spread_in_them_do():
    """Counts without noise: the middles of boxes of 0.4 deviations cost 1.3% more, their means 1.3% less (k-means)."""
    spread, per_axis, mixture = 0.04, 130, Mixture(np.full(3, 0.33), CENTRES, np.full((3, 2), 0.04), 0.01)
    axis = (2 * np.arange(per_axis) + 1) / per_axis - 1
    points = np.stack([part.ravel() for part in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    widths = np.full(points.shape, 2 / per_axis)
    boxes = CountedBoxes.of_one_scale(points, widths, np.ones(len(points)), scale=1.0, strictness=1.0)
    boxes = boxes.counting(1e6 * box_shares(boxes, Mixture(mixture.shares, CENTRES, mixture.deviations, 0.0)))
    assert len(boxes.counts) > 2 * MOST_BOXES
    places = likely_places(boxes, mixture)
    assert np.bincount(places.box, places.parts, minlength=len(points)) == pytest.approx(np.ones(len(points)))
    weights = places.parts * boxes.counts[places.box]
    for objective, each in (("k-means", 2 * spread**2), ("k-median", spread * np.sqrt(np.pi / 2))):
        assert cost(places.points, weights, CENTRES, objective) == pytest.approx(0.99e6 * each, rel=2e-3)


def test_the_place_of_a_cluster_narrower_than_a_box_is_told_by_the_next_boxes():
    """An eighth of a box wide: from middles of boxes most of the way, and farther than where no width is that small."""
    cell = 1 / 8
    _, boxes = rows_and_boxes(n=6_000, scale=0.5, spread=0.12 * cell)
    start = (np.floor((CENTRES + 1) / cell) + 0.5) * cell - 1
    found, wide = (fit_mixture(boxes, start, rounds=30, narrow=narrow) for narrow in (True, False))
    off, off_wide, off_start = (np.abs(each - CENTRES).max() for each in (found.means, wide.means, start))
    assert off < 0.35 * off_start
    assert off < 0.85 * off_wide
    assert (wide.deviations >= cell / 4).all()
    assert (found.deviations < cell / 4).sum() >= 2


def test_of_a_cluster_in_one_box_nothing_is_made_up():
    """All rows in one box, noise in the others: the place is its middle, and the width what was said before."""
    _, boxes = rows_and_boxes(n=1, scale=0.5)
    counts = boxes.counts.copy()
    counts[5 * 16 + 7] = 2_000.0
    middle = boxes.points[[5 * 16 + 7]]
    found = fit_mixture(boxes.counting(counts), middle, rounds=30, narrow=True)
    assert np.abs(found.means - middle).max() < 0.15 / 8
    assert (found.deviations > 0.05 / 8).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_parts_of_every_box_add_up_to_one_and_its_places_are_inside(d):
    rng = public_rng(d)
    points = rng.uniform(-0.9, 0.9, (40, d))
    boxes = CountedBoxes.of_one_scale(
        points, rng.uniform(0.01, 0.2, (40, d)), rng.uniform(0, 99, 40), scale=1.0, strictness=1.0
    )
    places = likely_places(boxes, fit_mixture(boxes, rng.uniform(-1, 1, (8, d))))
    assert np.bincount(places.box, places.parts, minlength=40) == pytest.approx(np.ones(40))
    off = np.abs(places.points - boxes.points[places.box])
    assert (off <= boxes.widths[places.box] / 2 + 1e-9).all()


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 4), (2, 9), (3, 9)])
def test_rows_of_a_box_are_on_average_where_the_density_puts_them(d, k):
    """Against sums over many points in each box, of the densities of all Gaussians: far ones have nothing there."""
    rng = public_rng(10 * d + k)
    points, widths = rng.uniform(-0.8, 0.8, (30, d)), rng.uniform(0.05, 0.4, (30, d))
    mixture = Mixture(np.full(k, 0.9 / k), rng.uniform(-1, 1, (k, d)), rng.uniform(0.05, 0.12, (k, d)), 0.1)
    boxes = CountedBoxes.of_one_scale(points, widths, np.ones(30), scale=1.0, strictness=1.0)
    axis = (np.arange(60 // d) + 0.5) / (60 // d) - 0.5
    grid = np.stack([part.ravel() for part in np.meshgrid(*[axis] * d, indexing="ij")], axis=1)
    for found, middle, width in zip(mean_places(boxes, mixture), points, widths, strict=True):
        inside = middle + width * grid
        away = (inside[:, None] - mixture.means) / mixture.deviations
        each = np.exp(-0.5 * np.square(away).sum(axis=2)) / mixture.deviations.prod(axis=1) / (2 * np.pi) ** (d / 2)
        density = each @ mixture.shares + mixture.background / 2**d
        assert found == pytest.approx(density @ inside / density.sum(), abs=0.01 * width.max())


def test_of_too_many_boxes_the_heaviest_and_some_others_tell_a_mixture():
    """A quarter of the boxes, half of them drawn from the light ones, which then count for all: nearly the same."""
    _, boxes = rows_and_boxes(per_axis=32)
    all_of_them, some = (fit_mixture(boxes, CENTRES, most=most) for most in (1024, 256))
    assert some.means == pytest.approx(all_of_them.means, abs=0.005)
    assert some.shares == pytest.approx(all_of_them.shares, abs=0.02)


def test_moments_in_a_box_are_those_of_draws_and_hold_far_from_the_mean():
    rng = public_rng(2)
    drawn = rng.normal(0.3, 0.5, 400_000)
    for low, high in ((-1.0, 0.0), (0.2, 0.9), (1.2, 1.6)):
        inside = drawn[(drawn > low) & (drawn < high)]
        ends = (np.array([[each]]) for each in (low, high, 0.3, 0.5))
        mass, mean, variance = (float(each[0, 0]) for each in box_moments(*ends))
        assert mass == pytest.approx(len(inside) / len(drawn), abs=0.003)
        assert mean == pytest.approx(inside.mean(), abs=0.005)
        assert variance == pytest.approx(inside.var(), abs=0.003)
    one = np.ones((1, 1))
    far = box_moments(20 * one, 21 * one, 0 * one, one)
    assert 20 <= far.mean[0, 0] <= 20.1  # at the near end, and not lost in rounding
    assert 0 <= far.variance[0, 0] < 0.01


def test_made_up_rows_are_as_many_as_noise_says_and_where_the_boxes_have_them():
    rows, boxes = rows_and_boxes()
    made = MadeUp.of(boxes, CENTRES)
    assert made.boxes.counts.sum() == pytest.approx(boxes.rows)
    drawn = made.rows(public_rng(1))
    assert len(drawn) == pytest.approx(boxes.rows, abs=5 * np.sqrt(len(made.boxes.counts)))
    per_axis = 16
    cell = np.minimum(((drawn + 1) / 2 * per_axis).astype(int), per_axis - 1)
    counts = np.bincount(cell[:, 0] * per_axis + cell[:, 1], minlength=per_axis**2)
    assert counts[counts > 0] == pytest.approx(made.boxes.counts[made.boxes.counts > 0], abs=1.0)
    assert counts[boxes.stands] == pytest.approx(boxes.counts[boxes.stands], rel=0.01, abs=2.0)
    assert counts[~boxes.stands].sum() < 0.01 * len(rows)
    near, really = (np.abs(each - CENTRES[0]).max(axis=1) < 0.2 for each in (drawn, rows))
    assert drawn[near].std(axis=0) == pytest.approx(rows[really].std(axis=0), rel=0.1)
    assert len(made.rows(public_rng(1), part=0.1)) == pytest.approx(len(drawn) / 10, rel=0.02)


def test_rows_in_boxes_that_do_not_stand_out_are_made_up_where_together_they_exceed_the_noise():
    rows, boxes = rows_and_boxes(per_axis=32, n=3_000, spread=0.2)
    made, light = MadeUp.of(boxes, CENTRES), ~boxes.stands
    cell = np.minimum(((rows + 1) / 2 * 32).astype(int), 31)
    true = np.bincount(cell[:, 0] * 32 + cell[:, 1], minlength=32**2)
    own = np.isin(boxes.points @ [1.0, 1e3], made.boxes.points @ [1.0, 1e3])
    counts = np.zeros(len(own))
    counts[own] = made.boxes.counts
    assert true[light].sum() > 0.3 * len(rows)
    assert counts[light].sum() == pytest.approx(true[light].sum(), rel=0.2)
    assert (counts[light] <= 1.3 * boxes.thresholds[light]).all()


def test_a_cost_is_told_only_where_rows_decide_it():
    _, boxes = rows_and_boxes(scale=1.0, spread=0.15)
    told = cost_interval(boxes, likely_places(boxes, fit_mixture(boxes, CENTRES)), CENTRES, "k-means")
    assert told.why is None
    assert told.low < told.cost < told.high
    for why, wrong in (
        (FEW, {"n": 300, "scale": 5.0}),
        (WIDE, {"n": 2_000, "scale": 10.0, "spread": 0.02}),
    ):
        _, boxes = rows_and_boxes(**wrong)
        found = cost_interval(boxes, likely_places(boxes, fit_mixture(boxes, CENTRES)), CENTRES, "k-means")
        assert found.why == why
        assert np.isnan([found.low, found.high]).all()


def test_a_cost_holds_where_rows_sit_on_the_edge_of_the_domain():
    """As those outside the bounds do; sites across the domain, which are told, and some at the edge, which are not."""
    rows, boxes = rows_and_boxes(scale=1.0, spread=0.15)
    rows[:, 1] = -1.0
    column = np.minimum(((rows[:, 0] + 1) / 2 * 16).astype(int), 15)
    counts = np.zeros((16, 16))
    counts[:, 0] = np.bincount(column, minlength=16)
    edge = boxes.counting(counts.ravel() + public_rng(6).laplace(scale=1.0, size=256))
    across, along = np.add(CENTRES, [0.0, 0.4]), np.stack([CENTRES[:, 0], np.full(3, -0.95)], axis=1)
    places = likely_places(edge, fit_mixture(edge, along))
    told = cost_interval(edge, places, across, "k-median")
    true = cost(rows, np.ones(len(rows)), across, "k-median")
    assert told.low <= true <= told.high < 1.2 * true
    assert abs(told.cost / true - 1) > 0.02
    assert cost_interval(edge, places, along, "k-median").why == COARSE


def test_a_cost_that_boxes_hide_is_not_told():
    """Rows everywhere and a centre in the middle of each box: what they pay is decided within boxes alone."""
    _, boxes = rows_and_boxes(per_axis=8, scale=0.1)
    even, within = boxes.counting(np.full(64, 2000.0)), spots(2)
    points = (boxes.points[:, None] + boxes.widths[:, None] * within).reshape(-1, 2)
    places = Places(points, np.full(len(points), 1 / len(within)), np.repeat(np.arange(64), len(within)))
    assert cost_interval(even, places, boxes.points, "k-means").why == COARSE


@pytest.mark.parametrize("times", [1.0, 1000.0, 0.3])
def test_the_heaviest_boxes_come_first_however_they_are_sorted(times):
    """Whole numbers by their digits; above 2^16 and between them as floats."""
    weights = public_rng(4).integers(0, 200, 3000) * times
    assert np.array_equal(_heaviest_first(weights), np.argsort(-weights, kind="stable"))


def test_of_very_many_boxes_none_need_be_small():
    """All rows in three places: no box is narrow beside its Gaussian, and each has its own places all the same."""
    per_axis = 129  # more than 2^14 boxes
    axis = (2 * np.arange(per_axis) + 1) / per_axis - 1
    points = np.stack([each.ravel() for each in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    counts = np.zeros(len(points))
    counts[[1_000, 8_000, 14_000]] = 10_000.0
    boxes = CountedBoxes.of_one_scale(points, np.full(points.shape, 2 / per_axis), counts, scale=1.0, strictness=0.65)
    narrow = Mixture(np.full(3, 0.3), points[[1_000, 8_000, 14_000]], np.full((3, 2), 1e-4), 0.1)
    places = likely_places(boxes, narrow)
    assert set(places.box.tolist()) == set(range(len(points)))
    np.testing.assert_allclose(np.bincount(places.box, places.parts), 1.0)
