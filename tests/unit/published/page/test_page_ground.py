"""What lies under a published map: cut to the bounds, small, and nothing where nothing is installed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Point, Polygon, box
from shapely.validation import make_valid

from covey.published.page.ground import ASSETS, drawn_ground, ground_of, within

FRAME = (0.0, 0.0, 10.0, 5.0)
installed = pytest.mark.skipif(not (ASSETS / "world").is_dir(), reason="no outlines: make studio-assets")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-20, 20)), min_size=3, max_size=12))
def test_a_ring_is_cut_as_a_library_cuts_it(corners):
    angles = np.sort(np.arctan2(*(np.array(corners) - np.mean(corners, axis=0)).T))
    far = 1 + np.hypot(*np.array(corners).T)
    ring = np.column_stack([5 + far * np.cos(angles), 2 + far * np.sin(angles)])  # a star: it does not cross itself
    cut, whole = within(ring.tolist(), FRAME), make_valid(Polygon(ring)).intersection(box(*FRAME))
    area = make_valid(Polygon(cut)).area if len(cut) > 2 else 0.0
    assert area == pytest.approx(whole.area, abs=1e-6)
    assert all(-1e-9 <= x <= 10 + 1e-9 and -1e-9 <= y <= 5 + 1e-9 for x, y in cut)


def test_without_outlines_there_is_no_ground(tmp_path):
    assert ground_of(FRAME, assets=tmp_path) is None


def wet(ground, place):
    """Whether a place lies in water, and not on an island in it."""
    return sum(make_valid(Polygon(each)).contains(place) for each in ground.water) % 2 == 1


@installed
def test_a_city_has_land_water_and_names_and_the_open_sea_has_nothing():
    found = ground_of((-74.1, 40.55, -73.7, 40.9))
    rivers = [Point(-74.02, 40.76), Point(-73.97, 40.72)]  # the Hudson and the East River, and Central Park beside them
    assert all(wet(found, place) for place in rivers)
    assert not wet(found, Point(-73.965, 40.782))
    assert "Brooklyn" in [name for name, _, _ in found.names[:10]]
    assert "GeoNames" in found.credit
    assert "OpenStreetMap" in found.credit
    lakes = ground_of((29.3, 62.3, 30.2, 62.8))
    assert wet(lakes, Point(29.72, 62.47)), "Pyhäselkä, south of Joensuu"
    assert not wet(lakes, Point(29.76, 62.60))
    assert ground_of((-30.0, 20.0, -29.0, 21.0)) is None


def test_the_made_up_city_is_drawn_by_its_own_map():
    import covey.studio

    file = Path(covey.studio.__file__).parent / "page" / "demo-city.json"
    found = drawn_ground(json.loads(file.read_text()))
    assert (len(found.land), len(found.water), len(found.lines)) == (1, 1, 9)
    assert "Harbour" in [name for name, _, _ in found.names]
