"""What is published in the files of other programs: GeoJSON, CSV, GeoPackage, a page, a picture. Free."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import ParameterError
from covey.geo.geojson import feature_collection
from covey.published.coreset.coreset import Coreset
from covey.published.places import centre_properties
from covey.published.plane import Plane
from covey.published.release import Release
from covey.text import free_name, own_names

Published = Release | Coreset
OWN = ("point", "weight", "negative", "spread", "kind", "region")  # said of a point; a column that is called so: point_

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet computes


def contents(published: Published, kind: str, *, name: str, lon: str | None = None, lat: str | None = None) -> bytes:
    """The whole file of a kind. name : what the data is called, for a page."""
    return KINDS[kind](published, plane_of(published, kind, lon=lon, lat=lat), name)


def plane_of(published: Published, kind: str, *, lon: str | None, lat: str | None) -> Plane:
    """The columns that are drawn, or an error where a file of this kind needs other ones."""
    plane = Plane.of(published, lon=lon, lat=lat)
    if kind == "geojson" and not plane.geographic:
        if plane.beyond or lon is not None or lat is not None:
            wide = f"the bounds of {' or '.join(map(repr, plane.names))} go beyond 180 or 90 degrees"
            raise ParameterError("to", f"{wide}, where GeoJSON ends; a gpkg takes any columns")
        find = "name the columns that are longitude and latitude, in degrees: GeoJSON is for a map"
        there = f"there are {', '.join(map(repr, plane.columns))}"
        raise ParameterError("lon", f"{find}; {there}; a gpkg takes any columns")
    if kind in ("gpkg", "png") and plane.axes[1] is None:
        raise ParameterError("to", f"{kind} needs at least two columns; csv and html take one")
    return plane


def shapes(published: Published, plane: Plane) -> dict[str, Any]:
    """Centres or points as GeoJSON points, and regions as polygons: what is nearest to a centre, or a point's cell."""
    certificate = published.certificate
    if isinstance(published, Release):
        lon, lat = plane.names if plane.geographic else (None, None)
        properties, kind, places = centre_properties(published, lon, lat), "centre", published.centres
        regions = [(each["geometry"], each["properties"]["centre"]) for each in plane.regions(places)]
    else:
        properties, kind, places = point_properties(published), "point", published.points.tolist()
        regions = _cells(published, plane)
    flat = [(x, y) for x, y in plane.flat(places).tolist()]
    document = feature_collection(flat, [{**each, "kind": kind} for each in properties])
    number = "cluster" if kind == "centre" else "point"
    document["features"] += [
        {"type": "Feature", "geometry": geometry, "properties": {"kind": "region", number: i}}
        for geometry, i in regions
    ]
    notes = {"epsilon": certificate.epsilon, "statement": certificate.statement, "geographic": plane.geographic}
    return document | {"covey": notes}


def point_properties(coreset: Coreset) -> list[dict[str, Any]]:
    """What a map says of each point of a coreset."""
    names = own_names(coreset.columns, OWN)
    rows = zip(coreset.points.tolist(), coreset.weights.tolist(), strict=True)
    return [
        {
            **dict(zip(names, point, strict=True)),
            "point": i,
            "weight": weight,
            "negative": weight < 0,
        }
        for i, (point, weight) in enumerate(rows)
    ]


def _cells(coreset: Coreset, plane: Plane) -> list[tuple[dict[str, Any], int]]:
    """The cells that points are the middles of, as polygons, with the number of the point.

    Of more or fewer than two columns there are none; nor of points that have no cell, as some of coresets that were
    added up.
    """
    if coreset.cells is None or len(coreset.columns) != 2 or plane.axes[1] is None:
        return []
    found = []
    for i in np.flatnonzero((coreset.cells > 0).all(axis=1)).tolist():
        [(x, y)], [(width, height)] = plane.flat(coreset.points[i]), plane.flat(coreset.cells[i])
        west, east, south, north = x - width / 2, x + width / 2, y - height / 2, y + height / 2
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        found.append(({"type": "Polygon", "coordinates": [[[float(a), float(b)] for a, b in ring]]}, i))
    return found


def records(published: Published) -> list[dict[str, Any]]:
    """A row for each centre, or each point of a coreset: all that is published about it, by name."""
    if isinstance(published, Release):
        return centre_properties(published)
    rows = point_properties(published)
    for i, row in enumerate(rows):
        if published.cells is not None and published.cells[i].any():
            widths = zip(published.columns, published.cells[i].tolist(), strict=True)
            row |= {free_name(f"{name} cell width", row): width for name, width in widths}
        if published.spreads is not None:
            row["spread"] = float(published.spreads[i])
    return rows


def as_geojson(published: Published, plane: Plane, _name: str) -> bytes:
    return (json.dumps(shapes(published, plane), indent=2) + "\n").encode()


def as_csv(published: Published, plane: Plane, _name: str) -> bytes:
    """A row for each centre or point, and its region as well-known text, where there are two columns.

    A column whose name a spreadsheet would compute is told with a quote before it: names may be anybody's.
    """
    rows = records(published)
    for feature in shapes(published, plane)["features"][len(rows) :]:
        place = feature["properties"].get("cluster", feature["properties"].get("point"))
        rows[place]["region"] = _as_text(feature["geometry"]["coordinates"][0])
    names = list(dict.fromkeys(name for row in rows for name in row))
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, names, lineterminator="\n")
    writer.writerow({name: f"'{name}" if name.startswith(FORMULA) else name for name in names})
    writer.writerows(rows)
    return sheet.getvalue().encode(errors="replace")


def _as_text(ring: list[list[float]]) -> str:
    return f"POLYGON (({', '.join(f'{x!r} {y!r}' for x, y in ring)}))"


def as_geopackage(published: Published, plane: Plane, _name: str) -> bytes:
    from covey.published.geopackage import geopackage

    points = "centres" if isinstance(published, Release) else "points"
    return geopackage(shapes(published, plane), points=points, geographic=plane.geographic)


def as_page(published: Published, plane: Plane, name: str) -> bytes:
    from covey.published.report import report

    if isinstance(published, Coreset):
        return report(published, plane, name=name, about="A private coreset")
    points = None if published.coreset is None and published.synopsis is None else Coreset.of(published)
    about = f"{len(published.centres)} centres ({published.objective}) by {published.certificate.algorithm}"
    return report(published, plane, name=name, about=about, coreset=points)


def as_picture(published: Published, plane: Plane, _name: str) -> bytes:
    from covey.published.coreset.draw import coreset_plot
    from covey.published.draw import release_map

    lon, lat = plane.names if plane.geographic else (None, None)
    draw = coreset_plot if isinstance(published, Coreset) else release_map
    return draw(published, lon=lon, lat=lat)  # type: ignore[arg-type]


KINDS: dict[str, Callable[[Published, Plane, str], bytes]] = {
    "geojson": as_geojson,
    "csv": as_csv,
    "gpkg": as_geopackage,
    "html": as_page,
    "png": as_picture,
}


def kind_of(to: str | None, path: str) -> str:
    """The kind of file that was asked for, or that the ending of its name says."""
    kind = to or Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ParameterError("to", f"must be one of {', '.join(KINDS)}; or let the name of --out end so")
    return kind
