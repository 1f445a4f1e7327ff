"""What is published as a GeoPackage, by GDAL (pyogrio): a layer of centres or points, and one of regions."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from covey.errors import need
from covey.text import free_name

GEOMETRY = "geom"
DEGREES = "EPSG:4326"  # longitude and latitude
TIMELESS = {"OGR_CURRENT_DATE": "2000-01-01T00:00:00.000Z"}  # or the file would say when it was written


def geopackage(document: dict[str, Any], *, points: str, geographic: bool) -> bytes:
    """The file of a GeoJSON document: a layer of its points, called so, and one of its polygons, the regions.

    The promise is what describes each.
    """
    need("geo", "to: a GeoPackage")
    import pyogrio

    kinds: dict[str, list[dict[str, Any]]] = {}
    for feature in document["features"]:
        kinds.setdefault(feature["geometry"]["type"], []).append(feature)
    pyogrio.set_gdal_config_options(TIMELESS)
    with TemporaryDirectory(prefix="covey-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are no degrees it says that they have no system
        path = Path(folder, "published.gpkg")
        for kind, features in kinds.items():
            pyogrio.write_arrow(
                _table(features),
                path,
                layer=points if kind == "Point" else "regions",
                driver="GPKG",
                geometry_name=GEOMETRY,
                geometry_type=kind,
                crs=DEGREES if geographic else None,
                append=path.exists(),
                layer_options={"DESCRIPTION": document["covey"]["statement"]},
            )
        return path.read_bytes()


def _table(features: Sequence[dict[str, Any]]) -> Any:
    """Properties and shapes. GDAL tells names apart by more than their case, and has some of its own."""
    taken = ["fid", GEOMETRY]
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in features for name in each["properties"]):
        column = free_name(name, taken, key=str.lower)
        taken.append(column.lower())
        columns[column] = [each["properties"].get(name) for each in features]
    return pa.table(columns | {GEOMETRY: pa.array([_binary(each["geometry"]) for each in features], pa.binary())})


def _binary(shape: dict[str, Any]) -> bytes:
    """Well-known binary of a point, or of a polygon without holes."""
    if shape["type"] == "Point":
        return struct.pack("<BIdd", 1, 1, *shape["coordinates"])
    [ring] = shape["coordinates"]
    flat = [number for corner in ring for number in corner]
    return struct.pack(f"<BIII{len(flat)}d", 1, 3, 1, len(ring), *flat)
