"""Sizes of clusters from noisy counts of boxes, against brute force with many points in each box."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.distances import nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.sizes import Sizes, cluster_sizes
from covey.post.random import public_rng


def grid(per_axis: int, counts: np.ndarray, *, scale: float = 2.0) -> CountedBoxes:
    axis = (2 * np.arange(per_axis) + 1) / per_axis - 1
    points = np.stack([part.ravel() for part in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    return CountedBoxes.of_one_scale(
        points, np.full(points.shape, 2 / per_axis), counts.ravel(), scale=scale, strictness=0.65
    )


def test_shares_are_those_of_many_points_in_each_box():
    rng = public_rng(1)
    counts = rng.uniform(0, 100, 64)
    boxes, centres = grid(8, counts), rng.uniform(-0.9, 0.9, (5, 2))
    fine = (np.arange(60) + 0.5) / 60 - 0.5
    within = np.stack([part.ravel() for part in np.meshgrid(fine, fine)], axis=1)
    true, noise = np.zeros(5), np.zeros(5)
    for point, width, count, variance in zip(boxes.points, boxes.widths, counts, boxes.variances, strict=True):
        share = np.bincount(nearest(point + width * within, centres), minlength=5) / len(within)
        true += share * count
        noise += share**2 * variance
    found = cluster_sizes(boxes, centres)
    assert found.sizes == pytest.approx(true, rel=0.02)
    assert found.sizes.sum() == pytest.approx(counts.sum())
    assert found.noise == pytest.approx(noise, rel=0.02)


def test_a_cut_box_is_half_as_uneven_as_it_can_be():
    """Five boxes of 1,000 rows, cut in half: how many are on one side has the variance of all being there, by half."""
    boxes = grid(5, np.full(25, 1000.0))
    found = cluster_sizes(boxes, np.array([[-0.5, 0.02], [0.5, 0.02]]))
    assert found.sizes == pytest.approx([12_500, 12_500])
    assert found.uneven == pytest.approx(0.5 * 5 * 0.25 * (1000.0**2 - boxes.variances[0]))


@pytest.mark.parametrize("off", [0.0, 0.17, -0.17])
def test_one_heavy_box_may_have_all_its_rows_on_either_side(off):
    """Whole numbers can all lie in the thinnest slice of a box, and a single box has no others to make up for it."""
    counts = np.full((5, 5), 100.0)
    counts[2, 2] = 1000.0
    low, high = cluster_sizes(grid(5, counts), np.array([[-0.5 + off, 0.02], [0.5 + off, 0.02]])).intervals().T
    assert ((high - low) / 2 > 550).all()


def test_boxes_that_no_border_cuts_have_noise_only():
    counts = np.zeros((8, 8))
    counts[:, :4], counts[:, 4:] = 10.0, 30.0
    found = cluster_sizes(grid(8, counts), np.array([[0.0, -0.5], [0.0, 0.5]]))
    assert found.sizes.tolist() == [320.0, 960.0]
    assert found.uneven.tolist() == [0.0, 0.0]
    assert found.draws == pytest.approx([32.0, 32.0])


def test_slices_too_thin_for_the_places_looked_at_are_uneven_all_the_same():
    boxes = grid(2, np.array([[0.0, 0.0], [0.0, 4000.0]]))
    found = cluster_sizes(boxes, np.array([[-0.5, -0.5], [0.52, 0.5], [0.5, -0.46]]))  # a sliver of the last box
    assert (found.uneven > 0).all() or found.uneven[1] > 0


def test_joint_intervals_are_wider_and_hold_all_at_once():
    """Of noise that is drawn: single ones hold one by one in .9 of the cases, joint ones together."""
    rng, k, runs = public_rng(8), 12, 4000
    alike = np.ones(k)
    off = rng.normal(size=(runs, k)) * 5
    sizes = Sizes(0 * alike, 25 * alike, 0 * alike, 1e6 * alike)
    single, joint = sizes.intervals()[0, 1], sizes.joint()[0, 1]
    assert (np.abs(off) <= single).mean() == pytest.approx(0.9, abs=0.01)
    assert (np.abs(off) <= single).all(axis=1).mean() < 0.35
    assert (np.abs(off) <= joint).all(axis=1).mean() == pytest.approx(0.9, abs=0.015)


def test_no_box_is_cut_by_a_border_between_a_centre_and_itself():
    rng = np.random.default_rng(4)
    points, centres = rng.uniform(-1, 1, (3000, 2)), rng.uniform(-1, 1, (5, 2))
    ones = np.ones(len(points))
    boxes = CountedBoxes(points, np.full((3000, 2), 1e-3), 10 * ones, ones, ones, ones)
    cut = boxes.cut_by(np.concatenate([centres, centres[:1]]))  # and none between equal centres
    assert (cut.other % 5 != cut.label[cut.box]).all()
    assert 0 < len(cut.box) < 100


def test_intervals_of_impossible_sizes_hold_what_is_possible_as_often_as_they_say():
    """No rows, or all of a public number: noise takes half of the sizes beyond, and a cut interval would be empty."""
    rng, runs, rows = public_rng(9), 4000, 40.0
    for truth in (0.0, 3.0, 38.0, rows):
        noisy = truth + rng.laplace(0, 5, runs)
        found = Sizes.counted(noisy, scale=5.0)
        low, high = found.intervals(most=rows).T
        assert (np.maximum(low, 0) < high).all()
        assert (high <= rows).all()
        assert ((low <= truth) & (truth <= high)).mean() > 0.89
        plain_low, plain_high = found.intervals().T
        inside = (noisy >= 0) & (noisy <= rows)
        assert (low[inside] == plain_low[inside]).all()
        assert (high[inside] == np.minimum(plain_high[inside], rows)).all()


@pytest.mark.parametrize("scale", [0.2, 0.4, 0.5, 1.0, 2.0, 20.0])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_counts_with_noise_of_whole_rows_hold_as_often_as_they_say(scale, level):
    """Of scale 0.5 every fourth count was beyond its interval, which ended before the next whole number."""
    rng, p = public_rng(9), np.exp(-1 / scale)
    noise = rng.geometric(1 - p, 20_000) - rng.geometric(1 - p, 20_000)
    low, high = Sizes.counted(100.0 + noise, scale=scale).intervals(level).T
    assert ((low <= 100) & (high >= 100)).mean() > level - 0.03 * (1 - level) ** 0.5
