"""The boxes of a level: what stands out has one of its own; where nothing does, all rows have one with their noise."""

from __future__ import annotations

import numpy as np
import pytest

from covey.levels import fit_levels
from covey.post.errors.mixture import Mixture, fit_mixture, misfit
from covey.published.levels.cells import Layer, boxes_of, closer

LANDS = ((-0.51, -0.8, -0.2), (0.49, 0.2, 0.8))  # a city in both columns, and where the other towns are


def fine(counts: np.ndarray, *, scale: float = 10.0) -> Layer:
    return Layer(counts, np.full(counts.shape, 2 * scale**2), np.full(counts.shape, scale))


def test_where_nothing_stands_out_all_rows_are_one_box_with_the_noise_of_their_number():
    boxes = boxes_of(fine(np.ones((8, 8))), whole=70.0, whole_variance=1250.0)
    assert boxes.counts.tolist() == [70.0]
    assert boxes.variances.tolist() == [1250.0]
    assert boxes.scales == pytest.approx([25.0])
    assert boxes.widths.tolist() == [[2.0, 2.0]]


def test_what_stands_out_has_a_box_of_its_own_and_all_boxes_fill_the_cube():
    counts = np.zeros((8, 8))
    counts[1, 6] = 4000.0
    boxes = boxes_of(fine(counts), whole=4000.0, whole_variance=1.0)
    assert boxes.points[boxes.stands] == pytest.approx(np.array([[-0.625, 0.625]]))
    assert np.prod(boxes.widths, axis=1).sum() == pytest.approx(4.0)
    assert boxes.counts.sum() == 4000.0
    assert boxes.variances.sum() == pytest.approx(64 * 200.0)


def test_a_release_of_a_level_that_shows_nothing_says_how_little_it_knows():
    levels = fit_levels(np.zeros((30, 2)), bounds=(-1, 1), levels=[("most private", 0.01)], random_state=1)
    release = levels.release(0, 1)
    low, high = release.size_intervals[0]
    assert high - low > 2 * 1.6 * np.sqrt(levels.rows_variance(0))
    assert release.doubtful.tolist() == [True]


def test_centres_of_tight_clusters_are_not_drawn_to_boxes_that_noise_made():
    """36 tight clusters in a part of the domain: one box of noise far away would cost more than all rows do."""
    rng = np.random.default_rng(7)
    middles = np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2) * 0.12 - 0.8
    rows = middles[rng.integers(0, 36, 20_000)] + rng.normal(0, 0.012, (20_000, 2))
    least = np.square(rows[:, None] - middles).sum(axis=2).min(axis=1).sum()
    for seed in (5, 6, 15):
        centres, _ = fit_levels(rows, bounds=(-1, 1), random_state=seed).clusters(4, 36)
        assert np.square(rows[:, None] - centres).sum(axis=2).min(axis=1).sum() < 1.01 * least


def test_centres_lie_where_rows_in_their_boxes_are():
    """A cluster at a corner of its cell has rows in four of them, and its centre is not in the middle of any."""
    rng = np.random.default_rng(3)
    middles = np.array([[-0.49, -0.49], [0.5, 0.26], [-0.3, 0.6]])
    rows = np.repeat(middles, 3000, axis=0) + rng.normal(0, 0.03, (9000, 2))
    levels = fit_levels(rows, bounds=(-1, 1), per_axis=16, random_state=1)
    centres, _ = levels.clusters(4, 3)
    off = np.sqrt(np.square(centres[:, None] - middles).sum(axis=2).min(axis=0))
    assert off.max() < 0.006


def test_a_city_at_the_edge_of_its_cell_draws_the_centre_of_its_country_there():
    """Two countries, each a city and twenty towns: one bell for a country says nothing of where its city is."""
    rng = np.random.default_rng(1)
    countries = [np.concatenate([[[at, at]] * 10, rng.uniform(*ends, (20, 2))]) for at, *ends in LANDS]
    rows = np.repeat(np.concatenate(countries), 1000, axis=0) + rng.normal(0, 0.01, (60_000, 2))
    best = np.stack([rows[:30_000].mean(axis=0), rows[30_000:].mean(axis=0)])
    centres, _ = fit_levels(rows, bounds=(-1, 1), per_axis=32, random_state=1).clusters(4, 2)
    off = np.sqrt(np.square(centres[:, None] - best).sum(axis=2).min(axis=0))
    assert off.max() < 0.002  # 0.0056 by one bell for a country


def test_where_a_bell_for_each_centre_explains_the_counts_there_are_no_more():
    rng = np.random.default_rng(2)
    middles = np.array([[-0.5, -0.4], [0.5, 0.3]])
    rows = np.repeat(middles, 10_000, axis=0) + rng.normal(0, 0.08, (20_000, 2))
    levels = fit_levels(rows, bounds=(-1, 1), random_state=1)
    boxes = levels.boxes(4)
    taken, centres = levels.by_middles(4, 2, objective="k-means", edges=True)
    right, wrong = fit_mixture(boxes, centres), Mixture(np.ones(1), np.zeros((1, 2)), np.full((1, 2), 0.1), 0.002)
    assert 0.5 < misfit(boxes, right) < 2
    assert closer(boxes, taken, right) is right
    assert misfit(boxes, wrong) > 1000
    assert misfit(boxes, closer(boxes, taken, wrong)) < 3
