"""Rows that are sent: batches become one table or are refused whole; GeoJSON's points become rows."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from covey.errors import DataError, ParameterError
from covey.private.tables.batches import Batches
from covey.private.tables.frames import open_table
from covey.private.tables.geojson import points_to_csv


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
