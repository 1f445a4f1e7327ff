"""Rows of people of a zone are placed from all places down: as many as there are, and where noise lets them be seen."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.errors.boxes import laplace_variance
from covey.post.halves import halves, in_halves, inhabited, parted
from covey.post.zones import KeptCounts, Keys

SIDE = 32
GRID = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), axis=-1).reshape(-1, 2) + 0.5
NEAR = np.square(GRID - 8).sum(axis=1) < 9  # where people of the zone are, beside where everybody is
EVERYBODY = np.square(GRID - 20).sum(axis=1) < 40


@pytest.mark.parametrize("places", [0, 1, 2, 7, 64, 100])
def test_halves_hold_all_places_and_are_as_large_as_one_another(places):
    points = np.random.default_rng(places).uniform(size=(places, 2))
    order, ends = halves(points)
    assert sorted(order.tolist()) == list(range(places))
    for each in ends:
        assert each[0] == 0
        assert each[-1] == places
        assert np.ptp(np.diff(each)) <= 1
    assert set(np.diff(ends[-1]).tolist()) <= {0, 1}


def test_without_noise_rows_stay_where_they_are():
    rng = np.random.default_rng(1)
    rows, base = rng.integers(0, 50, (2, len(GRID))).astype(float)
    order, ends = halves(GRID)
    assert parted(rows[order], base[order], ends, variance=0.0) == pytest.approx(rows[order])


def test_where_noise_hides_them_rows_part_as_all_others_do():
    order, ends = halves(GRID)
    rows, base = np.ones(len(GRID)), np.where(EVERYBODY, 30.0, 0.0)
    found = parted(rows[order], base[order], ends, variance=1e12)
    assert found.sum() == pytest.approx(len(GRID))
    assert found[EVERYBODY[order]].sum() > 0.8 * len(GRID)
    assert (found >= 0).all()


def of_people(rng, *, rate: float, scale: float = 1.0, zoned: int = 600) -> KeptCounts:
    """Of the zone half of the rows are where everybody is, and half at a place of its own; kept at this rate."""
    own = np.where(NEAR, zoned / 2 / NEAR.sum(), 0) + np.where(EVERYBODY, zoned / 2 / EVERYBODY.sum(), 0)
    noisy = np.stack([np.where(EVERYBODY, 60.0, 0.0), own * rate / 0.1])
    noisy = np.rint(noisy + rng.laplace(0, scale, noisy.shape))
    return KeptCounts(noisy.ravel(), scale, Keys.of(np.ones(noisy.shape, bool), np.array([1.0, rate]), 5))


def test_rows_are_nearer_to_the_truth_than_divided_place_by_place():
    truth = 60.0 * EVERYBODY + 3000 / NEAR.sum() * NEAR + 3000 / EVERYBODY.sum() * EVERYBODY
    for seed in range(5):
        counted = of_people(np.random.default_rng(seed), rate=0.1)
        found = in_halves(counted, GRID, strictness=0.65)
        assert found.keys is None
        assert found.counts[NEAR].sum() == pytest.approx(3000, rel=0.35)
        assert found.counts.sum() == pytest.approx(truth.sum(), rel=0.15)
        assert np.abs(found.counts - truth).sum() < 0.5 * np.abs(counted.counts - truth).sum()


def test_a_zone_that_noise_hides_is_left_out():
    counted = of_people(np.random.default_rng(1), rate=1e-6)
    found = in_halves(counted, GRID, strictness=0.65)
    assert np.array_equal(found.counts, counted.noisy[: len(GRID)])


def test_noise_alone_inhabits_no_place():
    order, ends = halves(GRID)
    for seed in range(30):
        noise = np.random.default_rng(seed).laplace(0, 2.0, len(GRID))
        assert not inhabited(noise, ends, variance=laplace_variance(2.0)).any()
    rows = noise + 20.0 * NEAR
    assert inhabited(rows[order], ends, variance=laplace_variance(2.0))[NEAR[order]].mean() > 0.8


def test_where_places_tell_their_zones_nothing_is_moved():
    keys = Keys(np.array([0, 1, 1]), np.array([1.0, 1.0, 0.1]), 2)
    counted = KeptCounts(np.array([500.0, 700.0, 300.0]), 2.0, keys)
    assert np.array_equal(in_halves(counted, GRID[:2], strictness=0.6).counts, counted.for_search().counts)
