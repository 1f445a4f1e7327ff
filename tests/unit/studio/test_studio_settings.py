"""The parts of the studio that need no web server: regions, buckets, settings, batches, the owner's view, base maps."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import DataError, FormatError, ParameterError
from covey.geo.borders import region_features, voronoi
from covey.private.owner import OwnersView
from covey.private.tables.batches import Batches
from covey.private.tables.frames import open_table
from covey.private.tables.geojson import points_to_csv
from covey.public import resolve_bounds
from covey.studio.guard import Bucket, content_policy
from covey.studio.serve import listen, read_basemap
from covey.studio.settings import Settings, new_token
from covey.studio.uploads import shown_name, sniff
from studio_client import BOUNDS, csv_of, town

DOMAIN = resolve_bounds(BOUNDS, names=("lon", "lat"), width=2)
coordinates = st.floats(-1, 1).map(lambda x: round(x, 3))
places = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=50)


# --- regions ----------------------------------------------------------------------------------------------------------


def area(corners: list[tuple[float, float]]) -> float:
    x, y = np.array(corners or [(0, 0)]).T
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
    features = region_features([[2.5, 1.0], [7.5, 1.0]], [0, 0], [10, 2])
    xs = [{x for x, _ in each["geometry"]["coordinates"][0]} for each in features]
    assert xs == [{0.0, 5.0}, {5.0, 10.0}]
    assert [each["properties"]["centre"] for each in features] == [0, 1]
    ring = features[0]["geometry"]["coordinates"][0]
    assert ring[0] == ring[-1]


# --- guard and settings -----------------------------------------------------------------------------------------------


def test_a_bucket_lets_a_burst_through_and_then_its_rate():
    now = [0.0]
    bucket = Bucket(2.0, 3.0, clock=lambda: now[0])
    assert [bucket.wait() for _ in range(3)] == [0.0] * 3
    assert bucket.wait() == pytest.approx(0.5)
    now[0] = 0.5
    assert bucket.wait() == 0.0
    assert bucket.wait() > 0


def test_the_content_policy_names_another_origin_only_if_given():
    assert "http" not in content_policy(None)
    policy = content_policy("https://tiles.example")
    assert "connect-src 'self' https://tiles.example" in policy
    assert "script-src 'self';" in policy


def test_tokens_are_long_and_different():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) == 32


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_listening_on_every_address_is_not_offered(host):
    with pytest.raises(ParameterError, match="one address"):
        Settings(host=host)


def test_hosts_are_loopback_names_or_the_given_one_alone():
    assert Settings(port=8000).hosts == {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"}
    assert Settings(host="192.0.2.7", port=8000).hosts == {"192.0.2.7:8000"}
    assert not Settings(host="192.0.2.7").is_loopback
    assert Settings(host="::1", port=1).address.startswith("http://[::1]:1/")


def test_settings_do_not_print_the_token_or_the_data():
    settings = Settings(data=[[0.123456789]])
    assert settings.token not in repr(settings)
    assert "0.1234" not in repr(settings)


def test_a_port_in_use_is_refused_in_words():
    with listen("127.0.0.1", 0) as first:
        first.listen(1)
        with pytest.raises(ParameterError, match=r"^port: cannot listen .*; choose another one"):
            listen("127.0.0.1", first.getsockname()[1])


# --- base maps --------------------------------------------------------------------------------------------------------


def test_base_maps(tmp_path):
    assert read_basemap(None).kind == "bundled"
    assert read_basemap("none").kind == "none"
    style = read_basemap("https://Maps.example:8443/style.json?key=1")
    assert (style.kind, style.origin) == ("style", "https://maps.example:8443")
    assert read_basemap("http://maps.example/city.geojson").kind == "geojson"
    file = tmp_path / "streets.json"
    file.write_text(json.dumps({"version": 8, "sources": {}, "layers": []}))
    assert (read_basemap(str(file)).kind, read_basemap(str(file)).url) == ("style", "api/basemap")
    file.write_text(json.dumps({"type": "FeatureCollection", "features": []}))
    assert read_basemap(str(file)).kind == "geojson"


@pytest.mark.parametrize("bad", ["javascript://x", "https://a b/", "https://a;script-src *", "https://u:p@a/"])
def test_an_address_that_could_change_the_policy_is_refused(bad):
    with pytest.raises(ParameterError, match="basemap"):
        read_basemap(bad)


def test_a_file_that_is_no_base_map_is_refused(tmp_path):
    file = tmp_path / "x.json"
    for content in ("[1]", "{}", "nonsense"):
        file.write_text(content)
        with pytest.raises(FormatError, match="basemap"):
            read_basemap(str(file))
    with pytest.raises(DataError, match="cannot read"):
        read_basemap(str(tmp_path / "none.json"))


# --- rows, behind the door --------------------------------------------------------------------------------------------


def test_batches_become_one_table_and_tell_nothing():
    batches = Batches(most_bytes=10**6)
    batches.add([[1.0, 2.0], [3.0, None]])
    batches.add([[5.0, 6.0]])
    assert batches.width == 2
    assert repr(batches) == "<Batches>"
    with pytest.raises(TypeError, match="private rows"):
        pickle.dumps(batches)
    rows = batches.close()
    assert rows.shape == (3, 2)
    assert np.isnan(rows[1, 1])
    with pytest.raises(DataError, match="no batch"):
        batches.close()


@pytest.mark.parametrize("bad", [[[1.0], [1.0, 2.0]], [], [[]], [["a"]], [[10**400]], [[1.0, 2.0, 3.0]]])
def test_a_bad_batch_is_refused_whole(bad):
    batches = Batches(most_bytes=10**6)
    batches.add([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="points"):
        batches.add(bad)
    assert batches.close().shape == (1, 2)


def test_a_full_collection_takes_no_more():
    batches = Batches(most_bytes=64)
    batches.add([[0.0, 0.0]] * 4)
    with pytest.raises(DataError, match="full"):
        batches.add([[0.0, 0.0]])


@pytest.mark.parametrize("kind", ["array", "csv"])
def test_the_owners_view_finds_the_true_centres(tmp_path, kind):
    rows = town(20_000)
    data = rows if kind == "array" else csv_of(rows, tmp_path / "rows.csv")
    view = OwnersView(data, DOMAIN, most=3000)
    assert 1500 <= len(view._rows) <= 3000
    centres = np.array(view.nonprivate_centres(3))
    for middle in ([-74.05, 40.75], [-73.95, 40.74], [-74.0, 40.85]):
        assert np.abs(centres - middle).max(axis=1).min() < 0.001
    assert repr(view) == "<OwnersView>"


def test_the_owners_sample_is_evenly_spaced():
    """Rows whose number is a multiple of a power of two, across the borders of pieces."""
    count = 300_001
    rows = np.stack([np.linspace(-74.1, -73.9, count), np.full(count, 40.8)], axis=1)
    kept = OwnersView(rows, DOMAIN, most=1000)._rows[:, 0]
    steps = np.diff(kept)
    assert 500 <= len(kept) <= 1000
    assert steps.max() - steps.min() < 1e-6


def test_the_owners_view_of_no_rows_is_the_middle():
    assert OwnersView(np.empty((0, 2)), DOMAIN).nonprivate_centres(2) == pytest.approx(np.array([[-74.0, 40.8]] * 2))


def test_geojson_points_become_rows_and_a_bad_feature_a_missing_one(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b.csv"
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1.5, 2.5, 9.0]}}
    bad = [None, {}, {"geometry": {"coordinates": ["x", 1]}}, {"geometry": {"coordinates": [[1, 2]]}}]
    source.write_text(json.dumps({"type": "FeatureCollection", "features": [point, *bad]}))
    points_to_csv(source, target)
    table = open_table(target)
    assert table.names == ("lon", "lat")
    rows = np.concatenate([piece() for piece in table.pieces(None)], axis=1).T
    assert rows[0].tolist() == [1.5, 2.5]
    assert len(rows) == 5
    assert np.isnan(rows[1:]).all()


@pytest.mark.parametrize("content", ["{", "[]", '{"type": "Point"}', '{"type": "FeatureCollection"}', "[" * 10**5])
def test_what_is_not_geojson_is_refused(tmp_path, content):
    source = tmp_path / "a"
    source.write_text(content)
    with pytest.raises(DataError, match="data:"):
        points_to_csv(source, tmp_path / "b.csv")


def test_kinds_are_found_by_content(tmp_path):
    file = tmp_path / "x"
    for content, kind in ((b"PAR1....", "parquet"), (b' {"type"', "geojson"), (b"lon,lat\n1,2\n", "csv")):
        file.write_bytes(content)
        assert sniff(file) == kind
    for content in (pickle.dumps({"a": 1}), b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"  "):
        file.write_bytes(content)
        with pytest.raises(DataError, match="data:"):
            sniff(file)


def test_a_clients_name_is_text_only():
    assert shown_name("../../etc/passwd") == "passwd"
    assert shown_name("C:\\x\\trips.csv") == "trips.csv"
    assert shown_name("\x00\n") == "upload"
    assert len(shown_name("a" * 1000)) == 120
