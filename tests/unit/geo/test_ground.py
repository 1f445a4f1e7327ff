"""Where something may be built, and the nearest such place."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.geo.geojson import Region
from covey.geo.ground import MARGINS, Ground

MIDDLE, HALF = np.array([-74.0, 40.8]), np.array([0.1, 0.2])


def square(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north]]


def region(*outer, holes=()):
    return Region.read({"type": "MultiPolygon", "coordinates": [[each, *holes] for each in outer]})


def ground(allowed=None, forbidden=None):
    return Ground(allowed, forbidden, MIDDLE, HALF)


PARK = region(square(-74.02, 40.78, -73.98, 40.83))
CITY = region(square(-74.05, 40.7, -73.95, 40.9))


def test_borders_belong_to_their_regions():
    edge, outside = np.array([[-74.02, 40.8]]), np.array([[-74.021, 40.8]])
    assert ground(allowed=PARK).holds(edge).all()
    assert not ground(forbidden=PARK).holds(edge).any()
    assert ground(forbidden=PARK).holds(outside).all()
    assert not ground(allowed=PARK).holds(outside).any()


def test_what_may_be_built_on_stays_where_it_is():
    places = np.array([[-74.04, 40.75], [-73.96, 40.88]])
    assert np.array_equal(ground(CITY, PARK).nearest(places), places)


def test_out_of_the_park_by_the_shortest_way():
    found = ground(forbidden=PARK).nearest(np.array([[-74.001, 40.82]]))
    assert found[0] == pytest.approx([-74.001, 40.83 + MARGINS[0] * HALF[1]], abs=1e-9)  # half as far as it looks
    assert ground(forbidden=PARK).holds(np.round(found, 4 + 1)).all()  # as it is printed


def test_into_the_city_by_the_shortest_way():
    found = ground(allowed=CITY).nearest(np.array([[-74.2, 40.8], [-73.0, 50.0]]))
    assert found[:, 0] == pytest.approx([-74.05, -73.95], abs=2e-5)
    assert ground(allowed=CITY).holds(found).all()
    assert found[1, 1] <= 40.9 + 1e-12


def test_a_place_on_the_border_of_the_park_steps_over_it():
    found = ground(forbidden=PARK).nearest(np.array([[-74.02, 40.8]]))
    assert found[0] == pytest.approx([-74.02 - MARGINS[0] * HALF[0], 40.8], abs=1e-9)


def test_a_narrow_strip_between_two_parks_is_found():
    two = region(square(-74.2, 40.5, -74.0, 41.1), square(-73.9999999, 40.5, -73.8, 41.1))
    narrow = ground(forbidden=two)
    assert len(narrow.some)
    found = narrow.nearest(np.array([[-74.05, 40.8]]))
    assert narrow.holds(found).all()
    assert -74.0 < found[0, 0] < -73.9999999


def test_parks_side_by_side_and_holes():
    side = region(square(-74.02, 40.78, -74.0, 40.83), square(-74.0, 40.78, -73.98, 40.83))
    found = ground(forbidden=side).nearest(np.array([[-74.0, 40.8]]))
    assert ground(forbidden=side).holds(found).all()
    ring = region(square(-74.08, 40.7, -73.92, 40.9), holes=[square(-74.01, 40.79, -73.99, 40.81)])
    inner = ground(forbidden=ring).nearest(np.array([[-74.015, 40.8]]))
    assert inner[0, 0] == pytest.approx(-74.01, abs=2e-5)


def test_where_nothing_is_left_nothing_is_found():
    everything = ground(forbidden=region(square(-75, 40, -73, 42)))
    assert len(everything.some) == 0
    assert np.isnan(everything.nearest(MIDDLE[None])).all()
    assert len(ground(allowed=region(square(10, 10, 11, 11))).some) == 0
    assert len(ground(CITY, CITY).some) == 0


def test_a_coast_of_very_many_corners_takes_no_time():
    turn = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    radius = 0.6 + 0.05 * np.sin(400 * turn)
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    coast = Region.read({"type": "Polygon", "coordinates": [ring.tolist()]})
    here = Ground(None, coast, np.zeros(2), np.ones(2))
    before = time.process_time()
    assert here.holds(here.some).all()
    assert here.holds(here.nearest(np.random.default_rng(0).uniform(-1, 1, (100, 2)))).all()
    assert time.process_time() - before < 60  # about 1 s


corner = st.floats(-1.5, 1.5)


@st.composite
def boxes(draw):
    (west, east), (south, north) = (sorted((draw(corner), draw(corner))) for _ in range(2))
    return square(west, south, east + 0.02, north + 0.02)


@settings(max_examples=40)
@given(st.lists(boxes(), min_size=1, max_size=4), st.lists(boxes(), max_size=2), st.integers(0, 10**6))
def test_the_nearest_place_may_be_built_on_and_lies_in_the_bounds(forbidden, allowed, seed):
    here = Ground(region(*allowed) if allowed else None, region(*forbidden), np.zeros(2), np.ones(2))
    places = np.random.default_rng(seed).uniform(-2, 2, (20, 2))
    found = here.nearest(places)
    assert here.holds(here.some).all()
    left = np.isfinite(found).all(axis=1)
    assert left.all() or not len(here.some)
    assert here.holds(found[left]).all()
    assert (np.abs(found[left]) <= 1).all()
    clipped = places.clip(-1, 1)
    same = here.holds(clipped)
    assert np.array_equal(found[same], clipped[same])
