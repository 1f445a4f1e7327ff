"""Centres that somebody wants the price of: CSV, JSON, GeoJSON, or a release. All of it public."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from covey.errors import FormatError
from covey.geo.geojson import find_axes

Sites = list[list[float]]
FORMS = "a CSV file with the columns, a JSON list of points, or GeoJSON points"
MOST_NAMED = 8  # columns of a file in one message


def read_centres(
    path: str, columns: Sequence[str], *, lon: str | None = None, lat: str | None = None
) -> dict[str, Sites]:
    """Sets of centres by name. A column or property `set` says which set a site belongs to; without it, one set."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FormatError(f"centers: cannot read {path!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FormatError(f"centers: {path!r} is not a text file; give {FORMS}") from None
    name = Path(path).stem
    try:
        is_json = text.lstrip()[:1] in ("{", "[")
        sets = _from_json(text, columns, name, lon, lat) if is_json else _from_csv(text, columns, name)
    except csv.Error:
        raise FormatError(f"centers: {path!r} is not a CSV file; give {FORMS}") from None
    if not sets or not all(sets.values()):
        raise FormatError(f"centers: {path!r} holds no centres; give {FORMS}")
    return sets


def read_places(
    path: str,
    columns: Sequence[str],
    *,
    name: str,
    whose: str = "the coreset's",
    lon: str | None = None,
    lat: str | None = None,
) -> Sites:
    """One list of places in such a file. name : what errors call it. whose : the columns are."""
    try:
        sets = read_centres(path, columns, lon=lon, lat=lat)
    except FormatError as error:
        words = str(error).replace("centers:", f"{name}:", 1).replace("the coreset's", whose)
        raise FormatError(words.replace("no centres", "no places")) from None
    if len(sets) != 1:
        raise FormatError(f"{name}: {path!r} holds {len(sets)} sets, but must be one list of places")
    return next(iter(sets.values()))


def _from_csv(text: str, columns: Sequence[str], name: str) -> dict[str, Sites]:
    first = text.partition("\n")[0]
    semicolons = ";" in first and "," not in first  # as spreadsheets write where decimals have commas
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True, delimiter=";" if semicolons else ",")
    header = [each.strip() for each in rows.fieldnames or ()]
    for each in columns:  # Lat is lat, where nothing else is
        alike = [i for i, one in enumerate(header) if one.casefold() == each.casefold()]
        if each not in header and len(alike) == 1 and header[alike[0]] not in columns:
            header[alike[0]] = each
    rows.fieldnames = header
    missing = [each for each in columns if each not in header]
    if missing:
        raise FormatError(
            f"centers: the file has no column {missing[0]!r}; the coreset's columns are {', '.join(columns)}, "
            f"and the file's {', '.join(map(repr, header[:MOST_NAMED])) or 'none'}"
        )
    sets: dict[str, Sites] = {}
    for row in rows:
        if any(row.get(None, ())):
            why = "" if semicolons else "; decimals with commas need semicolons between the columns"
            raise FormatError(f"centers: line {rows.line_num} has more values than the file has columns{why}")
        try:
            site = [float(row[each].replace(",", ".") if semicolons else row[each]) for each in columns]
        except (AttributeError, TypeError, ValueError):
            raise FormatError(f"centers: line {rows.line_num} has a place that is not a number") from None
        group = name if "set" in columns else (row.get("set") or name)
        sets.setdefault(group, []).append(site)
    return sets


def _from_json(text: str, columns: Sequence[str], name: str, lon: str | None, lat: str | None) -> dict[str, Sites]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(f"centers: the file is not a JSON document; give {FORMS}") from None
    if isinstance(document, dict) and document.get("format") == "covey-release":
        if document.get("columns") != list(columns):
            raise FormatError(f"centers: that release has other columns; the coreset's are {', '.join(columns)}")
        return {name: document.get("centres") or []}
    if isinstance(document, dict) and document.get("type") in ("FeatureCollection", "Feature"):
        return _from_features(document, columns, name, lon, lat)
    if isinstance(document, dict) and isinstance(document.get("type"), str):
        raise FormatError("centers: the GeoJSON is no FeatureCollection of points")
    if isinstance(document, dict):
        return document
    first = document[0] if document else None
    nested = isinstance(first, list) and first and isinstance(first[0], list)
    return {str(i): each for i, each in enumerate(document)} if nested else {name: document}


def _from_features(
    document: dict[str, Any], columns: Sequence[str], name: str, lon: str | None, lat: str | None
) -> dict[str, Sites]:
    """Coordinates are the longitude and latitude; other columns come from the properties by name."""
    features = document.get("features", []) if document["type"] == "FeatureCollection" else [document]
    if not isinstance(features, list):
        raise FormatError("centers: the GeoJSON is damaged: its features are no list")
    east, north = find_axes(columns, lon, lat)
    sets: dict[str, Sites] = {}
    for i, feature in enumerate(features):
        try:
            properties = feature.get("properties") or {}
            if feature["geometry"]["type"] != "Point":
                raise TypeError
            known = dict(zip((east, north), feature["geometry"]["coordinates"][:2], strict=True))
            site = [float(known[j] if j in known else properties[each]) for j, each in enumerate(columns)]
            group = str(properties.get("set", name))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            wanted = ", ".join(each for j, each in enumerate(columns) if j not in (east, north))
            extra = f" with the properties {wanted}" if wanted else ""
            raise FormatError(f"centers: feature {i} is not a Point{extra}") from None
        sets.setdefault(group, []).append(site)
    return sets
