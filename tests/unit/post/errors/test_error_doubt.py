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
