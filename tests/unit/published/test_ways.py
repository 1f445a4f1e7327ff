"""What distances are told in, whatever the bounds are."""

from __future__ import annotations

import numpy as np
import pytest

from covey import Ball, Box, Coreset
from covey.fit.fit import fit
from covey.geo.geojson import METRES
from covey.published.ways import Unit

ROWS = np.clip(np.random.default_rng(1).normal([0.3, -0.3], 0.15, (4000, 2)), -1, 1)


def fitted(half: float, **asked: object):
    return fit(ROWS * half, k=2, epsilon=2.0, bounds=Box((-half, half), (-half, half)), random_state=1, **asked)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_distances_grow_with_the_units_of_the_data(objective):
    one, large = (fitted(half, objective=objective).errors.distances for half in (1.0, 1000.0))
    assert set(one) == {"rms" if objective == "k-means" else "mean"}
    for kind, told in one.items():
        assert np.allclose(np.array(told) * 1000, large[kind])


@pytest.mark.parametrize("half", [1e300, 1e-290])
def test_no_bounds_overflow(half):
    for told in fitted(half).errors.distances.values():
        assert np.isfinite(told).all()
        assert 0.01 * half < told[0] < half


def test_an_interval_of_a_release_holds_the_true_distance():
    found = fitted(1.0)
    true = np.sqrt(np.square(ROWS[:, None] - found.centres).sum(axis=2).min(axis=1).mean())
    estimate, low, high = found.errors.distances["rms"]
    assert low <= true <= high
    assert low < estimate < high


def test_a_map_is_told_by_its_columns_and_by_no_other_names():
    assert Unit.of(["lon", "lat"], [0, 60], [1, 1], [1, 1]).metres
    assert not Unit.of(["lon", "lat"], [0, 60], [400, 1], [1, 1]).metres
    assert Unit.of(["a", "b"], [0, 60], [1, 1], [1, 1], lon="a", lat="b").metres
    over = Unit.of(["age", "lon", "lat"], [50, 0, 60], [50, 1, 1], [1, 1, 1])
    assert np.allclose(over.size * over.stretch, [0, METRES / 2, METRES])


def test_columns_that_count_less_are_told_as_long_as_they_are():
    """The unit of a column that counts half is twice as wide; a world that reaches its ends is a map all the same."""
    half = Unit.of(["x", "y"], [0, 0], [1, 2], [1, 0.5])
    assert np.allclose(half.size * half.stretch, [1, 2])
    world = Unit.of(["lon", "lat"], [0, 0], [180, 180], [1, 0.5])
    assert world.metres
    assert np.allclose(world.size * world.stretch, 180 * METRES)


def test_points_without_cells_tell_a_distance_with_their_spread():
    """Beyond four columns rows are about their points: without the spread, they would look nearer than they are."""
    rng = np.random.default_rng(2)
    rows = np.clip(rng.normal(0, 0.1, (6000, 6)) + rng.choice([-0.4, 0.4], (6000, 1)), -1, 1)
    kept = {"algorithm_params": {"keep_synopsis": True}, "random_state": 1}
    coreset = Coreset.of(fit(rows, k=2, epsilon=4.0, bounds=Ball(3.0), delta=1e-6, **kept))
    sites = [[-0.4] * 6, [0.4] * 6]
    true = np.sqrt(np.square(rows[:, None] - sites).sum(axis=2).min(axis=1).mean())
    told = coreset.mean_way(sites)
    assert told.cost == pytest.approx(true, rel=0.25)
    assert told.why is not None or told.low <= true <= told.high
