"""What is published in the files of other programs, each read back by a library that reads such files."""

from __future__ import annotations

import csv
import inspect
import io
import json

import geopandas as gpd
import msgspec
import numpy as np
import pyogrio
import pytest
from PIL import Image
from shapely import from_wkt

from covey import Box, Coreset, Release
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.published.coreset.draw import coreset_plot
from covey.published.draw import TICKS, Sheet, _degrees, plot, release_map
from covey.published.export import contents, kind_of
from covey.published.plane import Plane
from covey.published.report import fragment
from covey.queries.voronoi import nearest

pytestmark = pytest.mark.filterwarnings("ignore:Geometry is in a geographic CRS")
BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
PLACES = np.array([[-74.05, 40.75], [-74.0, 40.8], [-73.95, 40.85]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    return np.clip(PLACES[rng.integers(3, size=4000)] + rng.normal(0, 0.006, (4000, 2)), [-74.1, 40.7], [-73.9, 40.9])


@pytest.fixture(scope="module")
def release(rows):
    given = {"algorithm_params": {"keep_synopsis": True}, "dataset": "trips"}
    return fit(rows, k=3, epsilon=2.0, bounds=BOX, random_state=1, **given)


@pytest.fixture(scope="module")
def coreset(release):
    return Coreset.of(release)


def named(release: Release, *columns: str) -> Release:
    return msgspec.structs.replace(release, columns=list(columns))


# --- files ------------------------------------------------------------------------------------------------------------


def test_geojson_holds_centres_and_regions_that_tile_the_bounds(release):
    frame = gpd.read_file(io.BytesIO(contents(release, "geojson", name="")))
    centres, regions = frame[frame.kind == "centre"], frame[frame.kind == "region"]
    assert np.allclose(np.stack([centres.geometry.x, centres.geometry.y], axis=1), release.centres)
    assert centres["size"].tolist() == [round(each) for each in release.sizes]
    assert regions.geometry.is_valid.all()
    assert regions.geometry.area.sum() == pytest.approx(0.2 * 0.2)
    assert np.allclose(regions.union_all().bounds, [-74.1, 40.7, -73.9, 40.9])
    for region, i in zip(regions.geometry, regions.cluster, strict=True):
        assert region.contains(centres.geometry.iloc[int(i)])


def test_geojson_of_a_coreset_has_its_cells(coreset):
    frame = gpd.read_file(io.BytesIO(contents(coreset, "geojson", name="")))
    points, cells = frame[frame.kind == "point"], frame[frame.kind == "region"]
    assert np.allclose(points.weight, coreset.weights)
    assert cells.geometry.area.sum() == pytest.approx(0.2 * 0.2)


def test_a_geopackage_has_a_layer_of_centres_and_one_of_regions(release, tmp_path):
    content = contents(release, "gpkg", name="")
    file = tmp_path / "release.gpkg"
    file.write_bytes(content)
    assert pyogrio.list_layers(file).tolist() == [["centres", "Point"], ["regions", "Polygon"]]
    centres, regions = (gpd.read_file(file, layer=layer) for layer in ("centres", "regions"))
    assert centres.crs.to_epsg() == 4326
    assert np.allclose(centres[["lon", "lat"]], release.centres)
    assert np.allclose(np.stack([centres.geometry.x, centres.geometry.y], axis=1), release.centres)
    assert regions.geometry.area.sum() == pytest.approx(0.04)
    assert release.certificate.statement.encode() in content
    assert contents(release, "gpkg", name="") == content, "neither a time nor a name of a file"


def test_a_geopackage_takes_any_names_of_columns(release, coreset, tmp_path):
    file = tmp_path / "odd.gpkg"
    file.write_bytes(contents(named(release, "FID", "size"), "gpkg", name=""))
    centres = gpd.read_file(file, layer="centres")
    assert np.allclose(centres[["FID_", "size_"]], release.centres)
    assert centres["size"].tolist() == [round(each) for each in release.sizes]
    assert centres.crs is None or centres.crs.to_epsg() != 4326
    file.write_bytes(contents(coreset, "gpkg", name=""))
    assert pyogrio.list_layers(file).tolist() == [["points", "Point"], ["regions", "Polygon"]]


def test_csv_has_a_row_for_each_centre_and_its_region(release):
    rows = list(csv.DictReader(io.StringIO(contents(release, "csv", name="").decode())))
    assert [[float(row["lon"]), float(row["lat"])] for row in rows] == release.centres
    assert sum(from_wkt(row["region"]).area for row in rows) == pytest.approx(0.04)
    assert [int(row["size_low"]) <= float(row["size"]) <= int(row["size_high"]) for row in rows] == [True] * 3


def test_a_column_is_not_lost_to_one_that_is_said_of_centres(release, coreset):
    frame = named(release, "size", "size_").to_frame()
    assert frame[["size__", "size_"]].to_numpy().tolist() == release.centres
    assert frame["size"].tolist() == [round(each) for each in release.sizes]
    points = Coreset.of(named(release, "weight", "weight_")).to_frame()
    assert points[["weight__", "weight_"]].to_numpy().tolist() == coreset.points.tolist()


def test_a_spreadsheet_computes_no_name_of_a_column(release):
    strange = named(release, "=1+1", "@x")
    for published in (strange, Coreset.of(strange)):
        text = contents(published, "csv", name="").decode()
        assert next(csv.reader(io.StringIO(text)))[:2] == ["'=1+1", "'@x"]


def test_csv_of_one_column_and_of_a_coreset(coreset):
    one = fit(np.linspace(0, 1, 500)[:, None], k=2, epsilon=1.0, bounds=Box(size=(0, 1)), random_state=1)
    rows = list(csv.DictReader(io.StringIO(contents(one, "csv", name="").decode())))
    assert [float(row["x0"] if "x0" in row else row["size_"]) for row in rows] == [x for [x] in one.centres]
    points = list(csv.DictReader(io.StringIO(contents(coreset, "csv", name="").decode())))
    assert [float(each["weight"]) for each in points] == coreset.weights.tolist()
    assert float(points[0]["lon cell width"]) == coreset.cells[0, 0]


@pytest.mark.parametrize("kind", ["release", "coreset"])
def test_a_picture_is_a_png_of_more_than_one_colour(kind, request):
    picture = Image.open(io.BytesIO(contents(request.getfixturevalue(kind), "png", name="")))
    assert picture.format == "PNG"
    assert picture.info == {"Software": "Covey", "dpi": picture.info["dpi"]}
    assert len(picture.convert("RGB").resize((200, 120)).getcolors(10**6)) > 50


def test_a_page_stands_alone_and_says_the_promise(release, coreset):
    page = contents(release, "html", name="<trips> & more").decode()
    assert "&lt;trips&gt; &amp; more" in page
    assert "<trips>" not in page
    assert page.count("<script") == 2
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert page.count('class="mark') >= 3
    assert page.count("h") > 100, "the synopsis that was kept"
    assert "NOT PRIVATE" in page
    assert "Rings:" not in page
    assert "Hollow:" not in page
    assert "A private coreset" in contents(coreset, "html", name="x").decode()


@pytest.mark.parametrize("kind", ["geojson"])
def test_a_map_needs_degrees(release, kind):
    with pytest.raises(ParameterError, match="longitude and latitude, in degrees"):
        contents(named(release, "x", "y"), kind, name="")
    assert json.loads(contents(named(release, "x", "y"), kind, name="", lon="x", lat="y"))["features"]


def test_kinds_go_by_the_option_or_the_ending():
    assert kind_of(None, "a/B.GPKG") == "gpkg"
    assert kind_of("csv", "a.txt") == "csv"
    with pytest.raises(ParameterError, match="geojson, csv"):
        kind_of(None, "a.docx")


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [release_map, coreset_plot, contents, fragment])
def test_what_draws_takes_no_table(draw):
    """A map of rows would be a leak: what draws is given what was published, how columns are called, and words."""
    taken = inspect.signature(draw).parameters
    assert set(taken) <= {"release", "coreset", "published", "kind", "name", "lon", "lat"}
    first = next(iter(taken.values()))
    assert str(first.annotation) in ("Release", "Coreset", "Published", "Release | Coreset")


def test_a_release_draws_itself_on_given_axes(release, coreset):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert release.plot(axes) is axes
    assert axes.get_xlim() == (-74.1, -73.9)
    assert {text.get_text() for text in axes.texts} >= {"0", "1", "2"}
    assert coreset.plot(Figure().add_subplot()).collections


@pytest.mark.parametrize("columns", [("$x", "a\\frac$"), ("\x1b[31m", "y" * 300)])
def test_names_of_columns_are_no_formulas(release, columns):
    from matplotlib.figure import Figure

    figure = Figure(dpi=20)
    plot(named(release, *columns), figure.add_subplot())
    figure.savefig(io.BytesIO())


@pytest.mark.parametrize(("low", "high"), [(47.32, 47.45), (8.45, 8.6), (-73.9, -73.8999), (-180.0, 180.0)])
def test_degrees_are_written_as_exactly_as_the_ticks_stand(low, high):
    from matplotlib.ticker import MaxNLocator

    write = _degrees("E", "W", low, high)
    for tick in MaxNLocator(TICKS).tick_values(low, high):
        assert float(write(tick, None).rstrip("°EW")) == pytest.approx(abs(tick), abs=1e-5 * (high - low))


def test_half_a_clock_in_a_file_of_others_is_a_number(release):
    page = contents(named(release, "cos hour(a)", "sin hour(b)"), "html", name="").decode()
    assert page.count("cos hour(a)</th>") == page.count("sin hour(b)</th>") == 1


def test_sizes_stand_beside_a_narrow_map(release):
    sheet = Sheet(release, Plane.of(release), ["0", "1", "2"])
    map_axes, sizes = (each.get_position() for each in sheet.figure.axes)
    assert 0.03 < sizes.x0 - map_axes.x1 < 0.06
    assert sizes.x1 < 1


def test_one_column_has_no_picture(rows):
    one = fit(rows[:300, :1], k=2, epsilon=1.0, bounds=Box((-74.1, -73.9)), random_state=1)
    with pytest.raises(ParameterError, match="two columns"):
        contents(one, "png", name="")
    assert Plane.of(one).regions(one.centres) == []


def test_three_columns_are_drawn_by_two_and_have_no_regions(rows):
    wide = np.column_stack([rows[:500], np.linspace(0, 1, 500)])
    found = fit(wide, k=2, epsilon=1.0, bounds=Box(lon=(-74.1, -73.9), lat=(40.7, 40.9), hour=(0, 1)), random_state=1)
    document = json.loads(contents(found, "geojson", name=""))
    assert {each["properties"]["kind"] for each in document["features"]} == {"centre"}
    assert "Drawn by lon and lat" in contents(found, "html", name="").decode()


# --- in Python --------------------------------------------------------------------------------------------------------


def test_a_frame_has_what_is_known_of_each_centre(release, coreset):
    frame = release.to_frame()
    assert frame[["lon", "lat"]].to_numpy().tolist() == release.centres
    assert frame.doubtful.tolist() == release.doubtful.tolist()
    again = coreset.kmeans(2, random_state=1).to_frame()
    assert list(again.columns[:3]) == ["lon", "lat", "cluster"]
    assert np.array_equal(coreset.to_frame().weight, coreset.weights)


def test_a_notebook_shows_the_map_the_table_and_the_promise(release, coreset):
    shown = release._repr_html_()
    assert shown.count("<svg") == 1
    assert "differentially private" in shown
    assert '<tr data-centre="2"><td>2</td>' in shown
    assert "<body" not in shown
    assert 'class="box b' in coreset._repr_html_()


def test_predict_is_the_nearest_centre_as_the_fit_measures(rows):
    """A column that is a thousand times as wide as the other decides no more than it does in the fit."""
    box = Box(lon=(-74.1, -73.9), far=(0, 1000))
    wide = np.column_stack([rows[:, 0], (rows[:, 1] - 40.7) * 5000])
    found = fit(wide, k=3, epsilon=2.0, bounds=box, random_state=1)
    middle, half = found.scale()
    scaled = (np.array(found.centres) - middle) / half
    assert np.array_equal(found.predict(wide), nearest(((wide - middle) / half).T * 2**20, scaled * 2**20))


@pytest.mark.parametrize("half", [1e-200, 1e300])
def test_a_page_draws_boxes_within_bounds_of_any_size(half):
    """The area of a box was no number there, and a coreset that was paid for had no page."""
    from covey import PrivateCoreset

    rows = half * np.random.default_rng(1).uniform(-1, 1, (500, 2))
    found = PrivateCoreset(epsilon=1.0, bounds=[(-half, half)] * 2, random_state=1).fit(rows).coreset_
    assert b'class="box' in contents(found, "html", name="a page")


def test_a_map_across_the_180th_meridian_is_told_why_it_has_no_geojson():
    """Columns called so were asked to be named, which they were."""
    rows = np.random.default_rng(1).uniform((176, -20), (184, -16), (300, 2))
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["lon", "lat"])
    release = fit(frame, k=2, epsilon=1.0, bounds=Box(lon=(170, 190), lat=(-25, -10)), random_state=1)
    with pytest.raises(ParameterError, match="to: the bounds of 'lon' or 'lat' go beyond 180 or 90 degrees"):
        contents(release, "geojson", name="")
    assert contents(release, "csv", name="").startswith(b"lon,lat,cluster")


def test_points_without_a_cell_have_no_region_among_those_that_have_one():
    """Of coresets that were added up; their polygons were single points, which no program takes."""
    from covey import PrivateCoreset

    rows = np.random.default_rng(1).uniform(0, 1, (500, 2))
    asked = {"bounds": [(0, 1), (0, 1)], "epsilon": 1.0}
    boxes = PrivateCoreset(random_state=1, **asked).fit(rows).coreset_
    bare = PrivateCoreset(method="net", delta=1e-6, random_state=2, **asked).fit(rows).coreset_
    lines = list(csv.DictReader(io.StringIO(contents(bare + boxes, "csv", name="").decode())))
    assert len(lines) == len(bare) + len(boxes)
    for place, line in enumerate(lines):
        has_cell = place >= len(bare)
        assert bool(line["region"]) == bool(line["x0 cell width"]) == has_cell
        assert not has_cell or from_wkt(line["region"]).is_valid
