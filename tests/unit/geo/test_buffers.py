"""Everything within some metres of public places: nobody near is left out, and nobody far is taken in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import FormatError
from covey.geo.buffers import SIDES, buffered, metres_of
from covey.geo.geojson import Region

WGS84 = 6_378_137.0, 1 / 298.257223563  # the Earth: its radius at the equator, and how flat it is


def metres_east_north(lat: float) -> tuple[float, float]:
    """What a degree of longitude and of latitude measures on the Earth itself."""
    radius, flat = WGS84
    square = flat * (2 - flat)
    part = 1 - square * np.sin(np.radians(lat)) ** 2
    east = radius / np.sqrt(part) * np.cos(np.radians(lat))
    north = radius * (1 - square) / part**1.5
    return np.radians(1) * east, np.radians(1) * north


def around(place: tuple[float, float], metres: float, *, many: int = 360) -> np.ndarray:
    """Places so far from one, on the Earth, in all directions."""
    angle = 2 * np.pi * np.arange(many) / many
    east, north = metres_east_north(place[1])
    return np.array(place) + metres * np.stack([np.cos(angle) / east, np.sin(angle) / north], axis=1)


def region(shape: dict[str, object], metres: float) -> Region:
    return Region.read(buffered(shape, metres, name="zones"))


@settings(max_examples=40, deadline=None)
@given(st.floats(-170, 170), st.floats(-79, 79), st.floats(1, 2_000))
def test_a_disc_holds_everybody_within_the_distance_and_nobody_two_per_cent_farther(lon, lat, metres):
    disc = region({"type": "Point", "coordinates": [lon, lat, 12.0]}, metres)
    assert disc.contains(around((lon, lat), 0.9999 * metres)).all()
    assert disc.contains([(lon, lat)]).all()
    assert not disc.contains(around((lon, lat), 1.025 * metres)).any()
    assert len(disc.polygons[0]) == SIDES


@pytest.mark.parametrize("lat", [0.0, 60.0, -80.0])
def test_large_discs_hold_the_circle_on_the_sphere(lat):
    disc = region({"type": "Point", "coordinates": [10.0, lat]}, 100_000)
    angle = np.radians(np.arange(720) / 2)
    far, up = 100_000 / 6_335_439.0, np.radians(lat)
    north = np.arcsin(np.sin(up) * np.cos(far) + np.cos(up) * np.sin(far) * np.cos(angle))
    east = np.arctan2(np.sin(angle) * np.sin(far) * np.cos(up), np.cos(far) - np.sin(up) * np.sin(north))
    assert disc.contains(np.stack([10 + np.degrees(east), np.degrees(north)], axis=1)).all()


def test_a_band_runs_along_a_line_and_around_a_polygon_and_its_inside_stays():
    line = {"type": "LineString", "coordinates": [[7.0, 50.0], [7.1, 50.05], [7.1, 50.2]]}
    band = region(line, 300)
    assert len(band.polygons) == 2
    along = np.linspace([7.0, 50.0], [7.1, 50.05], 40)
    assert all(band.contains(around(tuple(each), 299)).all() for each in along)
    square = {"type": "Polygon", "coordinates": [[[7, 50], [7.1, 50], [7.1, 50.1], [7, 50.1], [7, 50]]]}
    wide = region(square, 500)
    assert wide.contains([[7.05, 50.05], [6.994, 50.05], [7.106, 50.05], [7.05, 49.996]]).all()
    assert not wide.contains([[6.992, 50.05], [7.05, 49.995]]).any()


def test_points_of_a_file_become_one_region():
    places = [[7.0, 50.0], [7.001, 50.0], [7.5, 50.5]]
    points = {"type": "MultiPoint", "coordinates": places}
    features = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": each}} for each in places]
    both = [buffered(each, 200, name="zones") for each in (points, {"type": "FeatureCollection", "features": features})]
    assert both[0] == both[1]
    assert len(both[0]["coordinates"]) == 3
    assert Region.read(both[0]).contains(np.array(places)).all(), "discs that overlap add up"


@pytest.mark.parametrize(
    ("shape", "metres", "words"),
    [
        ({"type": "Point", "coordinates": [7, 50]}, 0, "from 0.01"),
        ({"type": "Point", "coordinates": [7, 50]}, True, "from 0.01"),
        ({"type": "Point", "coordinates": [7, 50]}, float("nan"), "from 0.01"),
        ({"type": "Point", "coordinates": [7, 50]}, "200", "from 0.01"),
        ({"type": "Point", "coordinates": [7, 50]}, 1e6, "to 100,000"),
        ({"type": "Point", "coordinates": [179.999, 50]}, 500, "180th meridian"),
        ({"type": "Point", "coordinates": [7, 89]}, 500, "latitude 80"),
        ({"type": "Point", "coordinates": [7, float("nan")]}, 500, "latitude 80"),
        ({"type": "Point", "coordinates": [7]}, 500, "positions"),
        ({"type": "Point", "coordinates": None}, 500, "positions"),
        ({"type": "MultiPoint", "coordinates": []}, 500, "positions"),
        ({"type": "Polygon", "coordinates": [[["x", 1]]]}, 500, "positions"),
        ({"type": "Point"}, 500, "damaged"),
        ({"type": "Feature", "geometry": None}, 500, "made of points"),
        ("nonsense", 500, "made of points"),
    ],
)
def test_what_is_no_shape_or_no_distance_is_refused_in_words(shape, metres, words):
    with pytest.raises(FormatError, match=f"zones: .*{words}"):
        buffered(shape, metres, name="zones")


def test_a_ring_that_its_file_did_not_close_has_a_band_along_its_last_side_too():
    corners = [[10.0, 50.0], [10.2, 50.0], [10.2, 50.1], [10.0, 50.1]]
    for ring in (corners, [*corners, corners[0]]):
        shape = {"type": "Polygon", "coordinates": [ring]}
        assert Region.read(buffered(shape, 2_000, name="zones")).contains(np.array([[9.99, 50.05]])).all()


def test_a_property_that_is_nearly_the_right_one_is_refused():
    assert metres_of({"buffer_metres": 5, "name": "a"}, name="zones") == 5
    with pytest.raises(FormatError, match="must be 'buffer_metres'"):
        metres_of({"buffer_meters": 5}, name="zones")
