"""Which centres may be only noise: the odds are exact for boxes without rows, and rows are not doubted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaincc
from scipy.stats import kstest

from covey.post.errors import doubt
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.doubt import doubtful
from covey.post.errors.sizes import Sizes
from covey.post.random import public_rng

CENTRE = np.zeros((1, 2))
LARGE = Sizes(np.array([1e9]), np.ones(1), np.zeros(1), np.ones(1))  # no doubt by its size


def empty_boxes(rng: np.random.Generator, many: int = 200, *, scale: float = 7.0) -> CountedBoxes:
    counts = rng.laplace(scale=scale, size=many)
    return CountedBoxes.of_one_scale(np.zeros((many, 2)), np.ones((many, 2)), counts, scale=scale, strictness=0.65)


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (0.8, False), (1.25, False)])
def test_the_odds_of_boxes_without_rows_are_even_and_this_test_can_tell(off, accepted):
    """P(Gamma(m) beyond the excess) is uniform if the noise has the scale that is said, and only then."""
    rng, chances = public_rng(11), []
    while len(chances) < 1500:
        boxes = empty_boxes(rng)
        kept = boxes.counts > boxes.thresholds
        if kept.any():
            excess = (boxes.counts - boxes.thresholds)[kept].sum() / (boxes.scales[0] * off)
            chances.append(gammaincc(int(kept.sum()), excess))
    assert bool(kstest(chances, "uniform").pvalue > 1e-3) is accepted


def test_so_many_centres_of_nothing_are_called_real_as_the_chance_says(monkeypatch):
    monkeypatch.setattr(doubt, "CHANCE", 0.2)  # often enough to count
    rng = public_rng(12)
    called = [not doubtful(boxes, CENTRE, LARGE)[0] for boxes in (empty_boxes(rng) for _ in range(2000))]
    stood = sum((boxes.counts > boxes.thresholds).any() for boxes in (empty_boxes(public_rng(i)) for i in range(200)))
    assert stood > 190
    assert np.mean(called) == pytest.approx(0.2, abs=0.035)


def test_few_empty_boxes_that_stand_out_are_doubted_however_large_together():
    """By size alone the three would be a cluster: noise alone explains them."""
    counts = np.concatenate([np.zeros(400), [95.0, 90.0, 88.0]])
    boxes = CountedBoxes.of_one_scale(np.zeros((403, 2)), np.ones((403, 2)), counts, scale=20.0, strictness=0.65)
    sizes = Sizes(np.array([273.0]), np.array([3 * boxes.variances[0]]), np.zeros(1), np.array([3.0]))
    assert sizes.sizes[0] > doubt.DEVIATIONS * np.sqrt(sizes.noise[0])
    assert doubtful(boxes, CENTRE, sizes)[0]


def standing(counts: list[float]) -> CountedBoxes:
    """Boxes of a 16 x 16 grid with noise of scale 10, the first of which have these counts and all others none."""
    axis = (2 * np.arange(16) + 1) / 16 - 1
    points = np.stack([part.ravel() for part in np.meshgrid(axis, axis)], axis=1)
    all_counts = np.zeros(256)
    all_counts[: len(counts)] = counts
    return CountedBoxes.of_one_scale(points, np.full((256, 2), 2 / 16), all_counts, scale=10.0, strictness=0.65)


def test_rows_are_not_doubted_and_a_size_within_its_noise_is():
    small = Sizes(np.array([30.0]), np.array([400.0]), np.zeros(1), np.ones(1))
    assert not doubtful(standing([60.0] * 6), CENTRE, LARGE)[0]
    assert doubtful(standing([60.0] * 6), CENTRE, small)[0]


def test_boxes_that_no_noise_explains_are_rows_whatever_wide_boxes_around_them_say_of_the_size():
    small = Sizes(np.array([30.0]), np.array([400.0]), np.zeros(1), np.ones(1))
    assert not doubtful(standing([300.0, 250.0]), CENTRE, small)[0]


def beyond(boxes: CountedBoxes) -> float:
    """The least of E e^(tY) e^(-tS) over t, looked for one by one, times the number of boxes: Y the noise of all boxes
    as Laplace's, S what they count."""
    steps = np.linspace(0, 1, 20_001)[:-1] * np.sqrt(2 / boxes.variances.max())
    logs = -np.log1p(-np.square(steps)[:, None] * boxes.variances / 2).sum(axis=1) - steps * boxes.counts.sum()
    return len(boxes.counts) * float(np.exp(logs.min()))


@pytest.mark.parametrize("rows", [0.0, 3.0, 40.0])
def test_the_chance_of_all_boxes_together_is_that_of_the_best_t(rows):
    alike = standing([rows] * 12)
    only = np.zeros(256, dtype=np.intp)
    assert doubt._together(alike, only, 1)[0] == pytest.approx(beyond(alike), rel=1e-6)
    mixed = alike.counting(alike.counts, np.linspace(50.0, 400.0, 256))
    told = doubt._together(mixed, only, 1)[0]
    assert beyond(mixed) * (1 - 1e-6) <= told <= beyond(mixed) ** 0.5 * 256**0.5 + 1e-6


def test_noise_alone_has_so_many_rows_together_no_oftener_than_is_said():
    rng = public_rng(13)
    for many in (1, 5, 40):
        draws = [empty_boxes(rng, many) for _ in range(1500)]
        told = np.array([doubt._together(each, np.zeros(many, dtype=np.intp), 1)[0] / many for each in draws])
        for level in (0.3, 0.1, 0.03):
            assert level / 30 <= np.mean(told <= level) <= level + 3 * np.sqrt(level / 1500)


def test_rows_in_many_light_boxes_are_rows_although_none_stands_out_by_much():
    """Each of 60 boxes has 14 rows, and one 40, which noise often has: together noise never has so many."""
    small = np.array([900.0, 30.0])
    sizes = Sizes(small, np.full(2, 1e6), np.zeros(2), np.ones(2))  # of wide boxes around, say
    light = standing([40.0] + [14.0] * 59)
    far = np.array([[0.0, -0.9], [0.0, 0.9]])
    assert list(doubtful(light, far, sizes)) == [False, True]
    assert list(doubtful(standing([40.0]), far, sizes)) == [True, True]


def test_a_centre_without_boxes_is_doubted():
    sizes = Sizes(np.zeros(2), np.ones(2), np.zeros(2), np.ones(2))
    assert doubtful(standing([300.0]), np.array([[0.0, 0.0], [9.0, 9.0]]), sizes)[1]
