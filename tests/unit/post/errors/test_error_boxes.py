"""Boxes and the planes that cut them: against chance, against exact polygons, and what a sample does to their noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from covey.noise.laplace import discrete_laplace
from covey.noise.source import SeededSource
from covey.post.distances import nearest
from covey.post.errors.boxes import CountedBoxes, laplace_variance, part_beyond, spots
from covey.post.random import public_rng


def area_beyond(least: float, widths: tuple[float, float]) -> float:
    """The part of the rectangle |x| <= a, |y| <= b with x + y > least, by cutting its polygon."""
    (a, b) = widths
    corners = [(-a, -b), (a, -b), (a, b), (-a, b)]
    kept = []
    for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True):
        here, there = x + y - least, u + v - least
        if here > 0:
            kept.append((x, y))
        if here * there < 0:
            share = here / (here - there)
            kept.append((x + share * (u - x), y + share * (v - y)))
    shifted = kept[1:] + kept[:1]
    twice = sum(x * v - u * y for (x, y), (u, v) in zip(kept, shifted, strict=True))
    return abs(twice) / 2 / (4 * a * b)


@pytest.mark.parametrize("widths", [(1.0, 1.0), (1.0, 0.3), (0.01, 0.7), (1.0, 0.002)])
def test_the_part_beyond_a_plane_is_that_of_the_cut_polygon(widths):
    for least in np.linspace(-1.2, 1.2, 10) * sum(widths):
        found = part_beyond(np.array([least]), np.array([widths]))[0]
        assert found == pytest.approx(area_beyond(float(least), widths), abs=1e-9)


@pytest.mark.parametrize("d", [1, 3, 4])
def test_the_part_beyond_a_plane_is_what_chance_says(d):
    rng = public_rng(d)
    widths, drawn = rng.uniform(0.1, 1, d), 200_000
    sums = (rng.uniform(-1, 1, (drawn, d)) * widths).sum(axis=1)
    for least in (-0.5, 0.0, 0.2, 0.7):
        found = part_beyond(np.array([least * widths.sum()]), widths[None])[0]
        assert found == pytest.approx((sums > least * widths.sum()).mean(), abs=0.006)


def test_a_box_on_one_side_of_a_plane_is_all_or_nothing():
    far = part_beyond(np.array([-5.0, 5.0, 0.0]), np.array([[1.0, 1.0]] * 3))
    assert far.tolist() == [1.0, 0.0, pytest.approx(0.5)]


def test_cuts_name_the_boxes_that_reach_over_a_border_and_how_far():
    boxes = CountedBoxes.of_one_scale(
        np.array([[-0.5, 0.0], [0.25, 0.0], [0.75, 0.0]]), np.full((3, 2), 0.5), np.ones(3), scale=1.0, strictness=1.0
    )
    cut = boxes.cut_by(np.array([[-0.5, 0.0], [0.7, 0.0]]))  # the border is at 0.1, inside the second box
    assert cut.label.tolist() == [0, 1, 1]
    assert (cut.box.tolist(), cut.other.tolist()) == ([1], [0])
    assert cut.part == pytest.approx([0.1 / 0.5])


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 1), (2, 9), (3, 5)])
def test_no_box_that_a_border_cuts_is_passed_over(d, k):
    """By corners: a box is cut where they do not all have the same nearest centre."""
    rng = public_rng(d + k)
    points, widths, centres = rng.uniform(-1, 1, (400, d)), rng.uniform(0, 0.6, (400, d)), rng.uniform(-1, 1, (k, d))
    boxes = CountedBoxes.of_one_scale(points, widths, np.ones(400), scale=1.0, strictness=1.0)
    corners = points[:, None] + widths[:, None] / 2 * np.array(list(product((-1.0, 1.0), repeat=d)))
    labels = nearest(corners.reshape(-1, d), centres).reshape(400, -1)
    pairs = {(box, label) for box, own in enumerate(labels) for label in own}
    cut = boxes.cut_by(centres)
    told = set(zip(cut.box.tolist(), cut.other.tolist(), strict=True)) | set(enumerate(cut.label.tolist()))
    assert pairs <= told
    assert len(set(cut.box.tolist())) < 400  # and those far from any are


def test_the_variance_is_that_of_the_noise_that_is_drawn():
    for scale in (Fraction(1, 3), Fraction(2), Fraction(30)):
        drawn = discrete_laplace(200_000, inverse_scale=1 / scale, source=SeededSource(1)).astype(float)
        assert laplace_variance(float(scale)) == pytest.approx(drawn.var(), rel=0.03)


def test_the_boxes_of_a_sample_stand_for_all_rows_with_all_of_their_noise():
    """Counts of a tenth of the rows, times ten: noise of ten times the scale, and that of who was drawn."""
    rng, rows, runs, rate = public_rng(5), 1000, 20_000, 0.1
    counts = rng.binomial(rows, rate, runs) + rng.laplace(scale=3.0, size=runs)
    one = np.zeros((runs, 1))
    sampled = CountedBoxes.of_one_scale(one, one + 0.1, counts, scale=3.0, strictness=1.0)
    all_rows = sampled.of_all(1 / rate)
    assert all_rows.counts.mean() == pytest.approx(rows, rel=0.01)
    assert all_rows.variances.mean() == pytest.approx(all_rows.counts.var(), rel=0.05)
    assert all_rows.scales[0] == 30.0
    assert np.array_equal(all_rows.stands, sampled.stands)


def test_where_nothing_stands_out_the_nearest_to_it_does():
    boxes = CountedBoxes.of_one_scale(
        np.zeros((3, 1)), np.ones((3, 1)), np.array([1.0, 2.0, -1.0]), scale=9.0, strictness=1.0
    )
    assert boxes.stands.tolist() == [False, True, False]


@pytest.mark.parametrize(("d", "many"), [(1, 25), (2, 25), (3, 27), (4, 81)])
def test_spots_are_spread_evenly(d, many):
    found = spots(d)
    assert found.shape == (many, d)
    assert found.mean(axis=0) == pytest.approx(np.zeros(d), abs=1e-12)
    assert np.abs(found).max() < 0.5
