"""Points in polygons with holes, and alternatives under constraints."""

import json

import numpy as np
import pytest

from covey import Certificate, Coreset, FormatError, ParameterError
from covey.geo.geojson import Region

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]
HOLED = {"type": "Polygon", "coordinates": [SQUARE, HOLE]}
FAR = {"type": "Polygon", "coordinates": [[[10, 10], [12, 10], [11, 12]]]}  # not closed


def test_a_square_with_a_hole_and_all_its_borders():
    region = Region.read(HOLED)
    inside = [(0.5, 0.5), (3, 3), (1.5, 3)]
    border = [(0, 0), (4, 4), (2, 0), (0, 3.3), (1, 1), (1.5, 1), (2, 1.7), (4, 2)]
    outside = [(1.5, 1.5), (-1, 2), (5, 2), (2, 5), (2, -1), (-1, 0), (5, 0), (-1, 4), (5, 1)]
    assert region.contains(inside).all()
    assert region.contains(border).all()
    assert not region.contains(outside).any()
    assert not region.contains([[np.nan, 1.0]]).any()
    assert region.contains(np.empty((0, 2))).shape == (0,)


def plain(point, rings):
    """Crossing number and borders, one edge at a time."""
    x, y = point
    odd = False
    for ring in rings:
        for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1], strict=True):
            cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
            if cross == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
                return True
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
                odd = not odd
    return odd


@pytest.mark.parametrize("seed", range(6))
def test_against_brute_force_on_stars(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 24))

    def star(radius):
        r = radius * rng.uniform(0.5, 1.0, len(angles))
        return np.round(np.stack([r * np.cos(angles), r * np.sin(angles)], axis=1) * 64).tolist()  # whole numbers

    rings = [star(3.0), star(1.2)]
    region = Region.read({"type": "Polygon", "coordinates": rings})
    points = np.concatenate([rng.uniform(-208, 208, (500, 2)), rng.integers(-208, 208, (1500, 2)), np.array(rings[0])])
    expected = [plain(point, rings) for point in points.tolist()]
    assert region.contains(points).tolist() == expected
    assert 100 < sum(expected) < 1900


def test_every_kind_of_document_and_a_path(tmp_path):
    collection = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": {}, "geometry": HOLED},
            {"type": "Feature", "properties": None, "geometry": {"type": "GeometryCollection", "geometries": [FAR]}},
        ],
    }
    multi = {"type": "MultiPolygon", "coordinates": [HOLED["coordinates"], FAR["coordinates"]]}
    (tmp_path / "region.geojson").write_text(json.dumps(collection))
    points = [(0.5, 0.5), (1.5, 1.5), (11, 11), (11, 13)]
    for source in (collection, multi, tmp_path / "region.geojson", str(tmp_path / "region.geojson")):
        assert Region.read(source).contains(points).tolist() == [True, False, True, False]
    region = Region.read(multi)
    assert Region.read(region) is region


def test_heights_are_ignored():
    cube = {"type": "Polygon", "coordinates": [[[*corner, 7.0] for corner in SQUARE]]}
    assert Region.read(cube).contains([(2, 2)]).all()


@pytest.mark.parametrize(
    "source",
    [
        {},
        3,
        None,
        [],
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "Polygon"},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, "a"], [2, 2], [0, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, float("nan")], [2, 2], [0, 1]]]},
        {"type": "Polygon", "coordinates": [[0, 1, 2]]},
        {"type": "FeatureCollection", "features": []},
        {"type": "FeatureCollection"},
        {"type": "Feature", "geometry": None},
    ],
)
def test_what_is_no_area_is_refused_by_name(source):
    with pytest.raises(FormatError, match="forbidden: "):
        Region.read(source, name="forbidden")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FormatError, match=r"allowed: cannot read .*none"):
        Region.read(tmp_path / "none", name="allowed")
    (tmp_path / "x.geojson").write_text("{")
    with pytest.raises(FormatError, match="not a JSON"):
        Region.read(tmp_path / "x.geojson")


# --- alternatives -----------------------------------------------------------------------------------------------------


@pytest.fixture
def coreset():
    rng = np.random.default_rng(0)
    certificate = Certificate(
        algorithm="made-up",
        parameters={},
        epsilon=1.0,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain={"type": "box", "lower": [0.0, 0.0, 0.0], "upper": [4.0, 4.0, 1.0]},
        seeded=False,
        covey="0.1.0",
    )
    return Coreset(
        rng.uniform(0, [4, 4, 1], (300, 3)),
        rng.laplace(2, 2, 300),
        columns=["lat", "lon", "hour"],  # in an order of their own
        certificate=certificate,
    )


def test_rows_are_sorted_and_say_why_not(coreset):
    sites = {
        "corner": [[0.5, 0.5, 0.5]],
        "middle": [[2.5, 3.0, 0.5]],
        "hole": [[1.5, 1.5, 0.5], [2.5, 3.0, 0.5], [3.0, 1.0, 0.5]],
    }
    rows = coreset.compare(sites, allowed=HOLED)
    assert [row.name for row in rows] == ["middle", "corner", "hole"]
    assert [row.admissible for row in rows] == [True, True, False]
    assert rows[2].reason == "site 0 outside the allowed region"
    assert rows[0].difference == 0
    assert rows[2].difference < 0  # it would be the best
    for row in rows:
        assert row.cost == pytest.approx(coreset.cost(sites[row.name], objective="k-median"))
        assert row.cost - rows[0].cost == pytest.approx(row.difference)
    free = coreset.compare(sites)
    assert [row.name for row in free] == ["hole", "middle", "corner"]
    assert all(row.admissible and not row.reason for row in free)


def test_forbidden_borders_count_and_axes_follow_the_names(coreset):
    west = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 4], [0, 4]]]}  # longitude 0 to 2
    rows = coreset.compare(
        {"east": [[1.0, 3.0, 0]], "west": [[3.0, 1.0, 0]], "border": [[3.0, 2.0, 0]]}, forbidden=west
    )
    assert {row.name: row.admissible for row in rows} == {"east": True, "west": False, "border": False}
    assert rows[-1].reason == "site 0 inside the forbidden region"


def test_both_regions_lists_and_other_objectives(coreset):
    rows = coreset.compare(
        [[[9.0, 9.0, 0.0], [1.0, 1.0, 0.0]], [[2.0, 2.0, 0.0]]],
        allowed=HOLED,
        forbidden={"type": "Polygon", "coordinates": [[[0, 0], [3, 0], [3, 3], [0, 3]]]},
        objective="k-means",
    )
    assert {row.name for row in rows} == {"0", "1"}
    first = next(row for row in rows if row.name == "0")
    assert first.reason == "site 0 outside the allowed region; site 1 inside the forbidden region"
    assert first.cost == pytest.approx(coreset.cost([[9.0, 9.0, 0.0], [1.0, 1.0, 0.0]], objective="k-means"))
    assert all(row.difference is None for row in rows)  # nothing is admissible


@pytest.mark.parametrize(
    ("alternatives", "what"),
    [
        ({}, "by name"),
        ([], "by name"),
        (3, "by name"),
        ("sites", "by name"),
        ({"a": [[1.0]]}, "'a': the centres must be points with 3"),
        ({"a": [[np.nan, 0, 0]]}, "'a': the centres must be finite"),
        ({"a": np.zeros((2, 2, 3))}, "'a': must be one set"),
    ],
)
def test_bad_alternatives_are_named(coreset, alternatives, what):
    with pytest.raises(ParameterError, match=f"alternatives: .*{what}"):
        coreset.compare(alternatives)


def test_regions_need_longitude_and_latitude(coreset):
    with pytest.raises(ParameterError, match="lon"):
        coreset.compare({"a": [[1.0, 1.0, 0.0]]}, allowed=HOLED, lon="east")
    with pytest.raises(FormatError, match="forbidden"):
        coreset.compare({"a": [[1.0, 1.0, 0.0]]}, forbidden={})
    with pytest.raises(ParameterError, match="objective"):
        coreset.compare({"a": [[1.0, 1.0, 0.0]]}, objective="k-center")
