"""Points in files: GeoPackage, shapefile, GeoParquet, GeoJSON, WKB and WKT in a column, all as lon and lat."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import File
from covey.errors import DataError, NotNumericError, ParameterError
from covey.private.tables.files import open_file
from covey.private.tables.points import points_of

PLACES = [shapely.Point(-74.5, 40.25), None, shapely.Point(), shapely.Point(3, 4, 5), shapely.Point(-0.0, 1e300)]
EXPECTED = [[-74.5, 40.25], [np.nan] * 2, [np.nan] * 2, [3, 4], [0, 1e300]]
OTHERS = [shapely.LineString([(0, 0), (1, 1)]), shapely.MultiPoint([(1, 2)]), shapely.Polygon([(0, 0), (1, 1), (1, 0)])]


def read(source, columns=("lon", "lat")) -> np.ndarray:
    table = open_file(source)
    table.check_numeric(columns)
    return np.concatenate([piece() for piece in table.pieces(columns)], axis=1).T


def frame(places=PLACES, crs=4326, **columns) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({"n": range(len(places)), **columns}, geometry=places, crs=crs)


# Cells

numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(numbers, numbers, st.none() | numbers), min_size=1, max_size=5),
    st.sampled_from([0, 1]),
    st.booleans(),
    st.sampled_from(["iso", "extended"]),
)
def test_well_known_binary_is_read_as_shapely_writes_it(places, order, srid, flavor):
    made = [shapely.Point(*(each[:2] if each[2] is None else each)) for each in places]
    if srid:
        made = shapely.set_srid(made, 4326)
    cells = shapely.to_wkb(made, byte_order=order, include_srid=srid and flavor == "extended", flavor=flavor)
    expected = np.array([[each.x, each.y] for each in made])
    for column in (pa.array(cells, pa.binary()), pa.chunked_array([pa.array(cells, pa.large_binary())])):
        assert np.array_equal(np.stack(points_of(column), axis=1), expected, equal_nan=True)
    digits = [cell.hex() for cell in cells]
    assert np.array_equal(np.stack(points_of(pa.array(digits)), axis=1), expected, equal_nan=True)
    shifted = pa.array([b"x" * 7, *cells, b"y"], pa.binary()).slice(1, len(cells))
    assert np.array_equal(np.stack(points_of(shifted), axis=1), expected, equal_nan=True)


HOSTILE = [
    *(None, b"", b"\x01", b"\x01\x01\0\0\0", b"\x02\x01\0\0\0" + bytes(16), b"\x01\x02\0\0\0" + bytes(16), bytes(21)),
    *(b"\x01\x01\0\0\0" + bytes(15), b"\x01\x01\0\0\0" + bytes(17), b"\x01\xa1\x0f\0\0" + bytes(16), b"\xff" * 40),
    *(
        b"POINT",
        b"POINT ()",
        b"POINT EMPTY",
        b"POINT (1)",
        b"POINT (1 x)",
        b"POINT (nan nan)",
        b"LINESTRING (0 0, 1 1)",
    ),
    *(b"POINT (1 2) POINT (1 2)", b"00" * 21, b"01" * 30, b"0" * 43, b"POINT (1,5 2)", b"\xff\xfe POINT (1 2)"),
]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_what_is_no_point_is_missing_and_moves_no_other(value):
    """WKB and WKT in one column, too: what a cell is, no other cell decides."""
    good = [shapely.to_wkb(shapely.Point(1, 2)), b"POINT (3 4)", shapely.to_wkb(shapely.Point(5, 6)).hex().encode()]
    for place in range(4):
        cells = [*good[:place], value, *good[place:]]
        x, y = points_of(pa.array(cells, pa.binary()))
        assert np.isnan([x[place], y[place]]).all()
        assert [*x[:place], *x[place + 1 :]] == [1, 3, 5]
        assert [*y[:place], *y[place + 1 :]] == [2, 4, 6]


@pytest.mark.parametrize(
    "text",
    ["POINT (1.5 -2)", "point(1.5 -2)", " POINT Z (1.5 -2 9)", "SRID=4326;POINT(1.5 -2)", "POINT ZM ( 15e-1 -2. 3 4 )"],
)
def test_well_known_text_in_its_spellings(text):
    assert [each.tolist() for each in points_of(pa.array([text]))] == [[1.5], [-2.0]]
    assert [each.tolist() for each in points_of(pa.array([text], pa.large_string()))] == [[1.5], [-2.0]]


# Files


def test_geopackage_shapefile_geoparquet_and_geojson_have_the_same_rows(tmp_path):
    made = frame(who=["ann", None, "cat", "dan", "eve"])
    made.to_file(tmp_path / "a.gpkg", layer="trips")
    made.to_file(tmp_path / "a.shp")
    made.to_file(tmp_path / "a.geojson")
    made.to_parquet(tmp_path / "wkb.parquet")
    made.to_parquet(tmp_path / "struct.parquet", geometry_encoding="geoarrow")
    pyarrow.feather.write_feather(pq.read_table(tmp_path / "wkb.parquet"), tmp_path / "a.arrow")
    for name in ("a.gpkg", "a.shp", "a.geojson", "wkb.parquet", "struct.parquet", "a.arrow"):
        table = open_file(tmp_path / name)
        assert {"n", "who", "lon", "lat"} == {*table.names}, name
        assert table.rows() == 5
        found = read(tmp_path / name)
        assert np.array_equal(found, EXPECTED, equal_nan=True), name
        assert read(tmp_path / name, ("n",)).ravel().tolist() == [0, 1, 2, 3, 4]
        assert np.array_equal(read(tmp_path / name, ("lat", "n", "lon"))[:, 1], range(5))
        ids = [who for piece in table.pieces_with_ids(("lon",), "who") for who in piece()[1].to_pylist()]
        assert ids == [b"ann", None, b"cat", b"dan", b"eve"], name


def test_types_are_those_of_the_schema(tmp_path):
    frame(who=["x"] * 5, when=pd.Timestamp("2020-01-01")).to_file(tmp_path / "a.gpkg")
    kinds = dict(open_file(tmp_path / "a.gpkg").schema())
    assert (kinds["n"], kinds["who"], kinds["lon"], kinds["lat"]) == ("int64", "string", "double", "double")
    for name in ("who", "when"):
        with pytest.raises(NotNumericError, match=name):
            open_file(tmp_path / "a.gpkg").check_numeric([name])


@pytest.mark.parametrize("ending", ["gpkg", "shp", "parquet", "geojson"])
def test_coordinates_that_are_no_degrees_are_called_x_and_y(tmp_path, ending):
    made = frame([shapely.Point(-8238310, 4970071)], crs=3857)
    path = tmp_path / f"a.{ending}"
    made.to_parquet(path) if ending == "parquet" else made.to_file(path)
    assert {"x", "y"} <= {*open_file(path).names}
    assert read(path, ("x", "y")).tolist() == [[-8238310, 4970071]]
    with pytest.raises(DataError, match="lon"):
        read(path)


@pytest.mark.parametrize("ending", ["gpkg", "parquet", "geojson"])
def test_what_is_no_point_among_points_is_a_row_of_missing_values(tmp_path, ending):
    made, path = frame([PLACES[0], *OTHERS, PLACES[0]]), tmp_path / f"a.{ending}"
    made.to_parquet(path) if ending == "parquet" else made.to_file(path)
    found = read(path)
    assert found[[0, 4]].tolist() == [[-74.5, 40.25]] * 2
    assert np.isnan(found[1:4]).all()


@pytest.mark.parametrize("ending", ["gpkg", "shp", "parquet"])
def test_a_layer_of_areas_has_its_numbers_and_no_places(tmp_path, ending):
    made, path = frame(OTHERS[2:]), tmp_path / f"a.{ending}"
    made.to_parquet(path) if ending == "parquet" else made.to_file(path)
    assert read(path, ("n",)).tolist() == [[0]]
    assert "lon" not in open_file(path).names


def test_areas_in_geojson_are_refused_as_what_they_are(tmp_path):
    frame(OTHERS[2:]).to_file(tmp_path / "a.geojson")
    with pytest.raises(NotNumericError, match="no points"):
        read(tmp_path / "a.geojson")


def test_a_layer_is_chosen_by_name(tmp_path):
    frame().to_file(tmp_path / "a.gpkg", layer="trips")
    frame([shapely.Point(7, 8)]).to_file(tmp_path / "a.gpkg", layer="homes")
    with pytest.raises(ParameterError, match="2 layers: choose one of 'trips', 'homes'"):
        open_file(tmp_path / "a.gpkg")
    with pytest.raises(ParameterError, match="no layer 'x'"):
        open_file(File(tmp_path / "a.gpkg", sheet="x"))
    assert read(File(tmp_path / "a.gpkg", sheet="homes")).tolist() == [[7, 8]]


def test_a_layer_of_lines_has_a_column_that_holds_no_numbers(tmp_path):
    frame([shapely.LineString([(0, 0), (1, 1)])], speed=[3.0]).to_file(tmp_path / "a.gpkg")
    layer = open_file(tmp_path / "a.gpkg")
    assert {"speed", "geometry"} <= set(layer.names)
    with pytest.raises(NotNumericError, match="geometry"):
        layer.check_numeric(["geometry"])


def test_a_shapefile_in_a_folder_is_one_file_and_changes_with_all_of_its_parts(tmp_path):
    frame().to_file(tmp_path / "a.shp")
    frame().to_file(tmp_path / "b.shp")
    table = open_file(tmp_path)
    assert table.rows() == 10
    with (tmp_path / "b.dbf").open("ab") as file:
        file.write(b" ")
    with pytest.raises(DataError, match=r"b\.dbf' changed"):
        table.rows()


def test_rows_that_another_program_writes_beside_a_geopackage_are_not_read(tmp_path):
    """QGIS opens them so: what is written goes to another file first, and the one that is watched stays the same."""
    path, twin, beside = tmp_path / "a.gpkg", tmp_path / "twin", tmp_path / "a.gpkg-wal"
    shapes = gpd.GeoDataFrame({"n": [1.0, 2.0]}, geometry=[shapely.Point(1, 2)] * 2, crs=4326)
    shapes.to_file(path, SPATIAL_INDEX="NO")
    with closing(sqlite3.connect(path)) as other:
        other.execute("pragma journal_mode = wal")
    shutil.copy(path, twin)
    with closing(sqlite3.connect(twin)) as other:
        other.execute("update a set n = 9")
        other.commit()
        written = Path(f"{twin}-wal").read_bytes()
    table = open_file(path)
    beside.write_bytes(written)
    assert next(table.pieces(("n",)))().tolist() == [[1, 2]]
    beside.write_bytes(written)
    with pytest.raises(DataError, match=r"open in another program, with 'a.gpkg-wal'"):
        open_file(path)


def test_only_what_is_a_geopackage_or_a_shapefile_is_given_to_gdal(tmp_path):
    """GDAL goes by what a file holds: a .gpkg that is a list of other files, or of addresses, would be followed."""
    frame().to_file(tmp_path / "good.gpkg")
    listed = '<OGRVRTDataSource><OGRVRTLayer name="good"><SrcDataSource>good.gpkg</SrcDataSource></OGRVRTLayer>'
    for name in ("a.gpkg", "a.shp"):
        for content in (listed + "</OGRVRTDataSource>", "", '{"type": "FeatureCollection", "features": []}'):
            (tmp_path / name).write_text(content)
            with pytest.raises(DataError, match="cannot be read as a"):
                open_file(tmp_path / name)


@pytest.mark.parametrize("cut", [0.01, 0.3, 0.7])
def test_damage_is_named_without_what_gdal_says(tmp_path, cut):
    frame(note=["Quail"] * 5).to_file(tmp_path / "a.gpkg")
    content = (tmp_path / "a.gpkg").read_bytes()
    (tmp_path / "a.gpkg").write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(DataError) as refusal:
        open_file(tmp_path / "a.gpkg").rows()
    assert "Quail" not in str(refusal.value)
    assert refusal.value.__cause__ is None


# Columns that are declared to be of points


def save_text(tmp_path, cells: list) -> dict[str, File]:
    made = pd.DataFrame({"n": range(len(cells)), "wkt": cells})
    made.to_csv(tmp_path / "a.csv", index=False)
    made.to_csv(tmp_path / "semi.csv", index=False, sep=";", decimal=",")
    made.to_parquet(tmp_path / "a.parquet")
    made.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    made.to_excel(tmp_path / "a.xlsx", index=False)
    names = ("a.csv", "semi.csv", "a.parquet", "a.jsonl", "a.xlsx")
    return {name: File(tmp_path / name, geometry="wkt") for name in names}


def test_text_of_points_is_read_where_it_is_declared(tmp_path):
    cells = ["POINT (1.5 2)", None, "nonsense", shapely.to_wkb(shapely.Point(3, 4), hex=True), "POINT (5 6)"]
    for name, source in save_text(tmp_path, cells).items():
        table = open_file(source)
        assert table.names == ("n", "lon", "lat"), name
        expected = [[1.5, 2], [np.nan] * 2, [np.nan] * 2, [3, 4], [5, 6]]
        assert np.array_equal(read(source), expected, equal_nan=True), name
        assert read(source, ("lat", "n"))[:, 1].tolist() == [0, 1, 2, 3, 4]
        ids = [who for piece in table.pieces_with_ids(("lon",), "n") for who in piece()[1].to_pylist()]
        assert [int(who) for who in ids] == [0, 1, 2, 3, 4]
        assert table.rows() == 5
        assert "wkt" in open_file(source.path).names


def test_a_column_that_holds_no_points_is_refused_before_a_charge(tmp_path):
    sources = save_text(tmp_path, ["Quail street", "Covey road"])
    for name in ("a.csv", "semi.csv", "a.jsonl", "a.xlsx"):
        with pytest.raises(NotNumericError, match="holds no points") as refusal:
            open_file(sources[name]).check_numeric(["lon"])
        assert "Quail" not in str(refusal.value)
    with pytest.raises(ParameterError, match="geometry: the data has no column 'wkb'"):
        open_file(File(tmp_path / "a.csv", geometry="wkb"))
    with pytest.raises(ParameterError, match="geometry: column 'n' holds int64"):
        open_file(File(tmp_path / "a.parquet", geometry="n"))


def test_strange_notes_on_geometry_are_ignored(tmp_path):
    cells = pa.array([struct.pack("<BIdd", 1, 1, 3, 4)], pa.binary())
    for note in ("[", "[]", "7", '{"primary_column": "g"}', '{"primary_column": "x", "columns": {"x": 7}}', "null"):
        pq.write_table(pa.table({"g": cells}).replace_schema_metadata({"geo": note}), tmp_path / "a.parquet")
        assert open_file(tmp_path / "a.parquet").names == ("g",)
    pq.write_table(pa.table({"g": cells}), tmp_path / "a.parquet")
    assert read(File(tmp_path / "a.parquet", geometry="g")).tolist() == [[3, 4]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.struct([("x", pa.string()), ("y", pa.float64())]),
        pa.struct([("x", pa.float64())]),
        pa.list_(pa.float64(), 2),
        pa.int64(),
    ],
)
def test_a_type_whose_cells_could_be_errors_is_no_column_of_points(tmp_path, kind):
    """A text that is no number, among texts that are, would end the fit after the charge."""
    told = {"primary_column": "g", "columns": {"g": {"encoding": "point", "geometry_types": ["Point"]}}}
    field = pa.field("g", kind, metadata={"ARROW:extension:name": "geoarrow.point"})
    table = pa.table([pa.nulls(1, kind), pa.array([1.0])], schema=pa.schema([field, ("n", pa.float64())]))
    for note in ({}, {"geo": json.dumps(told)}):
        pq.write_table(table.replace_schema_metadata(note), tmp_path / "a.parquet")
        assert open_file(tmp_path / "a.parquet").names == ("g", "n")
        with pytest.raises(ParameterError, match="geometry: column 'g' holds"):
            open_file(File(tmp_path / "a.parquet", geometry="g"))


def test_a_coordinate_may_say_whose_a_row_is(tmp_path):
    shapes = gpd.GeoDataFrame({"n": [1.0, 2.0]}, geometry=[shapely.Point(1, 2), shapely.Point(3, 4)], crs=4326)
    shapes.to_parquet(tmp_path / "a.parquet")
    table = open_file(tmp_path / "a.parquet")
    table.check_person("lon")
    [(numbers, ids)] = [piece() for piece in table.pieces_with_ids(("n",), "lon")]
    assert numbers.tolist() == [[1, 2]]
    assert ids.to_pylist() == [1, 3]


def test_points_in_several_chunks_are_one_after_the_other():
    cells = pa.chunked_array([["POINT(1 2)"], [], ["x", "POINT(3 4)"]], pa.string())
    assert np.array_equal(points_of(cells), [[1, np.nan, 3], [2, np.nan, 4]], equal_nan=True)
    assert [each.tolist() for each in points_of(cells.slice(3))] == [[], []]


# GeoJSON


def save_json(tmp_path, document) -> str:
    (tmp_path / "a.geojson").write_text(document if isinstance(document, str) else json.dumps(document))
    return str(tmp_path / "a.geojson")


POINT = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1.5, 2.5, 9.0]}, "properties": {"who": "ann"}}


def test_members_of_a_document_may_stand_in_any_order(tmp_path):
    for document in (
        {"features": [POINT], "type": "FeatureCollection"},
        {"type": "FeatureCollection", "note": 'x "features": [{', "features": [POINT], "more": [1, {"features": []}]},
        {"type": "FeatureCollection", "inner": {"features": [7]}, "features": [POINT], "crs": None},
        {"type": "MultiPoint", "coordinates": [[1.5, 2.5]]},
    ):
        assert read(save_json(tmp_path, document)).tolist() == [[1.5, 2.5]]
        assert read(save_json(tmp_path, json.dumps(document, indent=3))).tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize("system", [None, {"type": "link", "properties": {"href": "x"}}, {"name": "EPSG:4326"}, []])
@pytest.mark.parametrize("name", ["EPSG:3857", "Ann"])
def test_no_value_of_a_feature_is_taken_for_the_system_of_coordinates(tmp_path, system, name):
    named = {**POINT, "properties": {"name": name}}
    document = {"type": "FeatureCollection", "crs": system, "features": [named, POINT]}
    assert open_file(save_json(tmp_path, document)).names == ("lon", "lat", "name")


def test_properties_are_columns_and_the_place_comes_first(tmp_path):
    strange = {**POINT, "properties": {"lon": "no", "n": 7, 'a"\\': 1}}
    path = save_json(tmp_path, {"type": "FeatureCollection", "features": [strange, POINT]})
    assert open_file(path).names == ("lon", "lat", "n", 'a"\\')
    assert read(path).tolist() == [[1.5, 2.5]] * 2
    assert np.array_equal(read(path, ("n",)), [[7], [np.nan]], equal_nan=True)


@pytest.mark.parametrize("content", ["{", "[]", '{"type": "Point"}', '{"type": "FeatureCollection"}', "[" * 10**5, ""])
def test_what_is_not_geojson_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="data:"):
        open_file(save_json(tmp_path, content))


def test_a_document_that_breaks_off_is_refused_before_a_charge(tmp_path):
    whole = json.dumps({"type": "FeatureCollection", "features": [POINT] * 3})
    for cut in (len(whole) - 2, len(whole) - 40):
        with pytest.raises(DataError, match="cannot be read as a GeoJSON file"):
            open_file(save_json(tmp_path, whole[:cut]))
    path = save_json(tmp_path, whole[:-1])  # the array is closed: all features are there
    assert open_file(path).rows() == 3


def test_a_feature_longer_than_any_block_is_one_row(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.private.tables.json.reader.BLOCK", 50)
    long = {**POINT, "properties": {"note": '\\",]}[{' * 500, "deep": [[[[{"a": "}"}]]]] * 50}}
    path = save_json(tmp_path, {"type": "FeatureCollection", "features": [POINT, long, POINT]})
    assert read(path).tolist() == [[1.5, 2.5]] * 3


def test_a_feature_of_more_than_a_mebibyte_is_a_row_of_missing_values(tmp_path):
    """Held whole it would take forty times its length, and time by the square of it."""
    long = {**POINT, "properties": {"note": "x" * 2**20}}
    found = read(save_json(tmp_path, {"type": "FeatureCollection", "features": [POINT, long, POINT]}))
    assert np.array_equal(found, [[1.5, 2.5], [np.nan] * 2, [1.5, 2.5]], equal_nan=True)


@pytest.mark.parametrize("note", ["[", "{", "]}", "[[{", '"]', '\\"}', "},{", "]"])
def test_brackets_in_a_text_open_and_close_nothing(tmp_path, note):
    strange = {**POINT, "properties": {"note": note}}
    path = save_json(tmp_path, {"type": "FeatureCollection", "features": [strange, POINT, POINT]})
    try:
        found = open_file(path).rows()
    except DataError:
        found = None
    assert found == 3


def test_a_value_nested_beyond_reason_is_a_missing_one(tmp_path):
    deep = '{"type": "Feature", "properties": ' + "[" * 10**5 + "]" * 10**5 + "}"
    text = json.dumps({"type": "FeatureCollection", "features": [POINT, "deep", POINT]}).replace('"deep"', deep)
    found = read(save_json(tmp_path, text))
    assert found[[0, 2]].tolist() == [[1.5, 2.5]] * 2
    assert np.isnan(found[1]).all()
