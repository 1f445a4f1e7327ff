"""What a row pays on average: the noise of the number of rows is carried, and intervals hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import FEW, Paid, cost_interval, mean_interval, squares_paid, what_is_paid
from covey.post.errors.mixture import Places
from covey.post.random import public_rng

SIDE, SCALE, TIMES = 16, 20.0, 400
AXIS = (2 * np.arange(SIDE) + 1) / SIDE - 1
POINTS = np.stack([each.ravel() for each in np.meshgrid(AXIS, AXIS)], axis=1)
WIDTHS = np.full(POINTS.shape, 1e-9)  # rows sit at the middles of boxes: what is left is the noise of the counts
CENTRES = np.array([[-0.5, -0.4], [0.6, 0.5]])
TRUE = 40_000 * np.exp(-8 * np.square(POINTS - [-0.4, -0.4]).sum(axis=1)) / SIDE


def pay(points):
    return what_is_paid(points, CENTRES, "k-median")


def counted(counts):
    return CountedBoxes.of_one_scale(POINTS, WIDTHS, counts, scale=SCALE, strictness=1.0)


PLACES = Places(POINTS, np.ones(len(POINTS)), np.arange(len(POINTS)))
MEAN = float(TRUE @ pay(POINTS) / TRUE.sum())


@pytest.fixture(scope="module")
def told():
    rng = np.random.default_rng(5)
    return [mean_interval(counted(TRUE + rng.laplace(0, SCALE, len(TRUE))), PLACES, pay, 2) for _ in range(TIMES)]


def test_intervals_of_a_mean_hold_nine_times_in_ten(told):
    """Of 400, 360 on average with deviation 6; the seed is fixed, so that nothing is left to chance."""
    held = sum(each.low <= MEAN <= each.high for each in told)
    assert 0.86 * TIMES < held < 0.95 * TIMES


def test_this_test_can_tell_whether_the_noise_of_the_number_of_rows_is_carried(told):
    """With the number of rows taken for exact, the interval would be that of the cost over it."""
    rng = np.random.default_rng(5)
    costs = [
        cost_interval(counted(TRUE + rng.laplace(0, SCALE, len(TRUE))), PLACES, CENTRES, "k-median")
        for _ in range(TIMES)
    ]
    rows = [each.cost / mean.cost for each, mean in zip(costs, told, strict=True)]
    exact = [(each.low / n, each.high / n) for each, n in zip(costs, rows, strict=True)]
    held = sum(low <= MEAN <= high for low, high in exact)
    assert not 0.86 * TIMES < held < 0.95 * TIMES


def test_where_all_rows_pay_the_same_noise_moves_nothing():
    boxes = counted(TRUE + np.random.default_rng(1).laplace(0, SCALE, len(TRUE)))
    found = mean_interval(boxes, PLACES, lambda points: np.full(len(points), 3.0), 2)
    assert found.cost == pytest.approx(3.0)
    assert found.high - found.low < 1e-9


@pytest.mark.parametrize("rows", [0.0, 1e-4, -1.0])
def test_with_few_rows_nothing_is_told(rows):
    found = mean_interval(counted(rows * TRUE), PLACES, pay, 2)
    assert found.why == FEW
    assert np.isnan([found.low, found.high]).all()


def test_where_many_rows_are_the_same_the_others_may_all_be_on_one_side_of_their_boxes(monkeypatch):
    """Whole numbers, all below the middles of their boxes: that some boxes are cut down to points tells of them."""
    far, narrow = np.array([[0.9, 0.9]]), np.sort(TRUE)[-60] < TRUE
    widths = np.where(narrow[:, None], 1e-9, 2 / SIDE) * np.ones(POINTS.shape)
    boxes = CountedBoxes.of_one_scale(POINTS, widths, TRUE, scale=0.01, strictness=1.0)
    rows = POINTS - np.where(narrow[:, None], 0.0, 0.3 * widths)
    true = float(TRUE @ what_is_paid(rows, far, "k-median") / TRUE.sum())

    def holds():
        found = mean_interval(boxes, PLACES, lambda points: what_is_paid(points, far, "k-median"), 1)
        return found.low <= true <= found.high

    assert holds()
    monkeypatch.setattr("covey.post.errors.costs.POINT", 0.0)
    assert not holds()


@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 7), (3, 4)])
def test_what_is_paid_in_boxes_that_no_border_cuts_is_found_without_the_other_centres(d, k):
    """Against every centre for every place: to the bit, whatever borders cut."""
    rng = public_rng(10 * d + k)
    points, widths, centres = rng.uniform(-1, 1, (600, d)), rng.uniform(0, 0.4, (600, d)), rng.uniform(-1, 1, (k, d))
    boxes = CountedBoxes.of_one_scale(points, widths, np.full(600, 50.0), scale=1.0, strictness=1.0)
    places = Places(points, np.ones(600), np.arange(600))
    plain = Paid.of(boxes, places, lambda some: what_is_paid(some, centres, "k-means"))
    quick = squares_paid(boxes, places, centres)
    assert all(np.array_equal(one, other) for one, other in zip(quick, plain, strict=True))
    cut = len(boxes.near(centres).border)
    assert cut == 0 if k == 1 else 0 < cut < 600
