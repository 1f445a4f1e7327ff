"""GeoJSON points as rows: one feature, one row. Written as a table that the engines read like any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from covey.errors import DataError

HEADER = b"lon,lat\n"


def points_to_csv(source: Path, target: Path) -> None:
    """Write the points of a GeoJSON document as CSV with the columns lon and lat.

    A feature without a point becomes a row of missing values, so that no row can raise; a document that is not GeoJSON
    at all is refused, in words that repeat nothing of it.
    """
    try:
        document = json.loads(source.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError):
        raise DataError("data: the file is not a JSON document; send CSV, Parquet or GeoJSON points") from None
    kind = document.get("type") if isinstance(document, dict) else None
    features = document.get("features") if kind == "FeatureCollection" else None
    if kind == "MultiPoint":
        points = document.get("coordinates")
        features = [{"geometry": {"coordinates": each}} for each in points] if isinstance(points, list) else None
    if not isinstance(features, list):
        raise DataError("data: the JSON document is not a GeoJSON FeatureCollection of points")
    with target.open("wb") as file:
        file.write(HEADER)
        file.writelines(_lines(features))


def _lines(features: list[Any]) -> Iterator[bytes]:
    for feature in features:
        try:
            lon, lat = (float(each) for each in feature["geometry"]["coordinates"][:2])
        except (KeyError, TypeError, ValueError, OverflowError, IndexError):
            yield b",\n"
        else:
            yield f"{lon!r},{lat!r}\n".encode()
