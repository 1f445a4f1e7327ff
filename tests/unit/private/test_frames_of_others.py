"""Frames of other libraries: subclasses of pandas, and GeoDataFrames, whose points are lon and lat."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

from covey import Box, KMeans
from covey.errors import NotNumericError
from covey.fit.fit import fit
from covey.private.tables.frames import open_table

LINE = shapely.LineString([(0, 0), (1, 1)])
PLACES = [shapely.Point(-74.5, 40.25), None, shapely.Point(), shapely.Point(3, 4, 5), LINE]
EXPECTED = [[-74.5, 40.25], [np.nan] * 2, [np.nan] * 2, [3, 4], [np.nan] * 2]


class Trips(pd.DataFrame):
    """A frame with a class of its own, as many libraries make them."""

    @property
    def _constructor(self) -> type:
        return Trips


def read(data, columns) -> np.ndarray:
    table = open_table(data)
    table.check_numeric(columns)
    return np.concatenate([piece() for piece in table.pieces(columns)], axis=1).T


def places(crs=4326, **columns) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({"n": range(5), **columns}, geometry=PLACES, crs=crs)


def test_a_subclass_of_a_frame_is_a_frame():
    made = Trips({"lon": [1.0, 2.0], "lat": [3.0, 4.0], "who": ["a", "b"]})
    assert open_table(made).names == ("lon", "lat", "who")
    assert read(made, ("lat", "lon")).tolist() == [[3, 1], [4, 2]]
    ids = [who for piece in open_table(made).pieces_with_ids(("lon",), "who") for who in piece()[1].to_pylist()]
    assert ids == [b"a", b"b"]


def test_the_points_of_a_geodataframe_are_lon_and_lat():
    for made in (places(), pd.DataFrame(places()), places().set_index("n", drop=False), places(crs=None)):
        assert open_table(made).names == ("n", "lon", "lat")
        assert np.array_equal(read(made, ("lon", "lat")), EXPECTED, equal_nan=True)
        assert read(made, ("n",)).ravel().tolist() == [0, 1, 2, 3, 4]
    assert read(places().iloc[[3, 0]], ("lat",)).ravel().tolist() == [4, 40.25]
    chosen = open_table(places()).chosen(("lon", "n"), iter([np.array([0, 3])]))
    assert np.concatenate([piece() for piece in chosen], axis=1).tolist() == [[-74.5, 3], [0, 3]]


def test_coordinates_that_are_no_degrees_are_x_and_y():
    assert open_table(places(crs=3857)).names == ("n", "x", "y")


def test_the_place_comes_in_place_of_columns_that_are_called_so():
    made = places(lon="text", lat=0.0)
    assert open_table(made).names == ("n", "lon", "lat")
    assert np.array_equal(read(made, ("lon", "lat")), EXPECTED, equal_nan=True)


def test_of_several_geometries_the_active_one_is_read():
    made = places()
    made["other"] = gpd.GeoSeries([shapely.Point(9, 9)] * 5, crs=4326)
    assert np.array_equal(read(made, ("lon", "lat")), EXPECTED, equal_nan=True)
    assert read(made.set_geometry("other"), ("lon",)).ravel().tolist() == [9] * 5
    with pytest.raises(NotNumericError, match="geometry"):
        read(made, ("other",))


def test_a_geodataframe_is_fitted_like_its_columns():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((300, 2)), columns=["lon", "lat"])
    made = gpd.GeoDataFrame(geometry=gpd.points_from_xy(rows.lon, rows.lat), crs=4326)
    for bounds in (Box(lon=(0, 1), lat=(0, 1)), (0, 1)):
        ask = {"k": 2, "epsilon": 1, "bounds": bounds, "random_state": 3}
        assert fit(made, **ask).to_json() == fit(rows, **ask).to_json()
        model = KMeans(2, epsilon=1, bounds=bounds, random_state=3).fit(made)
        assert model.n_features_in_ == 2
        assert list(model.feature_names_in_) == ["lon", "lat"]
        assert np.array_equal(model.predict(made), model.predict(rows))


def test_a_record_batch_is_a_table():
    batch = pa.record_batch({"a": [1.0, 2.0, 3.0]})
    assert read(batch, ("a",)).tolist() == [[1], [2], [3]]
    chosen = open_table(batch).chosen(("a",), iter([np.array([0, 2])]))
    assert np.concatenate([piece() for piece in chosen], axis=1).tolist() == [[1, 3]]
