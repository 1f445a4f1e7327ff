"""Regions of centres: every place lies in that of its nearest centre."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.geo.borders import region_features, voronoi

coordinates = st.floats(-1, 1).map(lambda x: round(x, 3))
places = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=50)


def area(corners: list[tuple[float, float]]) -> float:
    x, y = np.array(corners if len(corners) else [(0, 0)]).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def inside(corners: list[tuple[float, float]], point: np.ndarray) -> bool:
    """Left of every edge of a convex polygon that runs counter-clockwise, with room for rounding."""
    c = np.array(corners)
    along, to = np.roll(c, -1, axis=0) - c, point - c
    return bool((along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0] > -1e-9).all())


@given(places, st.integers(0, 2**32))
def test_every_place_lies_in_the_region_of_its_nearest_centre(centres, seed):
    found = voronoi(centres)
    assert sum(map(area, found)) == pytest.approx(4.0, abs=1e-6)
    table = np.array(centres)
    for point in np.random.default_rng(seed).uniform(-1, 1, (20, 2)):
        nearest = int(np.square(table - point).sum(axis=1).argmin())
        assert inside(found[nearest], point)


def test_of_equal_centres_the_first_has_the_region():
    assert [bool(each) for each in voronoi([(0.2, 0.1), (0.2, 0.1), (-0.5, 0.0)])] == [True, False, True]


def test_regions_are_measured_with_scaled_columns():
    """A box twice as wide as high: the border between centres at its quarters is its middle."""
    features = region_features([[2.5, 1.0], [7.5, 1.0]], [0, 0], [10, 2], [5, 1])
    xs = [{x for x, _ in each["geometry"]["coordinates"][0]} for each in features]
    assert xs == [{0.0, 5.0}, {5.0, 10.0}]
    assert [each["properties"]["centre"] for each in features] == [0, 1]
    ring = features[0]["geometry"]["coordinates"][0]
    assert ring[0] == ring[-1]


def test_regions_are_within_the_bounds_whatever_distances_are_measured_in():
    """Measured in equal units, a box that is wider than high is cut where both centres are equally far."""
    features = region_features([[1.0, 0.5], [2.0, 1.5]], [0, 0], [10, 2], [1, 1])
    rings = [np.array(each["geometry"]["coordinates"][0]) for each in features]
    assert sum(map(area, rings)) == pytest.approx(20.0)
    assert all((ring >= 0).all() and (ring <= [10, 2]).all() for ring in rings)
    [(x, y)] = {tuple(each) for each in rings[0].round(9).tolist()} & {(2.5, 0.0)}
    assert np.hypot(x - 1, y - 0.5) == pytest.approx(np.hypot(x - 2, y - 1.5))


def test_a_centre_beyond_the_bounds_has_what_is_nearest_to_it():
    features = region_features([[-3.0, 1.0], [9.0, 1.0]], [0, 0], [10, 2], [5, 1])
    assert max(x for x, _ in features[0]["geometry"]["coordinates"][0]) == pytest.approx(3.0)
