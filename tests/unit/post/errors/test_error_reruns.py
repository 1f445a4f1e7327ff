"""What reruns say, with fits in their place whose errors are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import LEAST_EXCESS, inside_matters
from covey.post.errors.reruns import FINEST, rerun
from covey.post.random import public_rng

WIDTH = 0.125
CENTRES = np.array([[-0.5, 0.0], [0.5, 0.0]])


@pytest.fixture(scope="module")
def boxes() -> CountedBoxes:
    """A grid on two round clusters of 5,000 rows."""
    axis = np.arange(-1 + WIDTH / 2, 1, WIDTH)
    points = np.stack([part.ravel() for part in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    near = np.square(points[:, None] - CENTRES).sum(axis=2).min(axis=1)
    counts = np.exp(-near / (2 * 0.15**2))
    counts = np.round(10_000 * counts / counts.sum())
    return CountedBoxes.of_one_scale(points, np.full(points.shape, WIDTH), counts, scale=1.0, strictness=1.0)


def off_by(step: float):
    """A fit whose first centre is off, in one direction or the other."""

    def again(made_up, stronger, seed):
        return CENTRES + np.array([[step * (-1) ** seed, 0.0], [0.0, 0.0]])

    return again


def said(boxes, step):
    return rerun(boxes, CENTRES, "k-means", off_by(step), rng=public_rng(1))


def test_where_reruns_are_all_alike_half_a_box_and_half_a_percent_are_said(boxes):
    found = said(boxes, 0.0)
    assert found.radii == pytest.approx([FINEST * WIDTH] * 2, rel=1e-6)
    assert LEAST_EXCESS <= found.excess < 3 * LEAST_EXCESS


def test_a_centre_that_moves_has_a_wider_radius_than_the_other_and_the_bound_grows(boxes):
    found = said(boxes, 0.07)
    assert found.radii[0] > 0.1 > found.radii[1]
    assert found.excess > 0.05


def test_a_place_anywhere_is_none_and_more_than_twice_the_cost_is_no_bound(boxes):
    found = said(boxes, 0.5)
    assert np.isnan(found.radii[0])
    assert found.excess is None


def test_noise_that_may_hide_rows_widens_radii_and_where_it_hides_too_much_no_bound_is_told(boxes):
    """Reruns are all alike here: what light boxes have on one side, they cannot see."""
    plain, noisy, drowned = (said(replace(boxes, variances=each * boxes.variances), 0.0) for each in (1, 2000, 50_000))
    assert (noisy.radii > 1.2 * plain.radii).all()
    assert noisy.excess == pytest.approx(plain.excess, rel=0.1)
    assert drowned.excess is None


def test_rows_that_may_all_sit_in_one_place_of_their_box_are_part_of_the_bound(boxes):
    """Of as many rows, in a few boxes where they sit decides more than in many: here four of them for each cluster."""
    far = np.abs(np.abs(boxes.points) - np.array([0.5, 0.0])).max(axis=1)
    few = replace(boxes, counts=np.where(far < 0.07, 1250.0, 0.0))
    assert (few.counts > 0).sum() == 8
    one_place = 2 * WIDTH**2 / 12 / 4  # a row pays more on average: two columns, four boxes
    spread = 2 * WIDTH**2 / 4  # and pays at most in all, at the far corners
    assert said(few, 0.0).excess > one_place / spread
    assert said(few, 0.0).excess > 3 * said(boxes, 0.0).excess


def test_where_rows_are_inside_boxes_matters_unless_boxes_are_narrow(boxes):
    assert inside_matters(boxes, CENTRES)
    narrow = replace(boxes, widths=boxes.widths / 8)
    assert not inside_matters(narrow, CENTRES)
