"""Zones as a client draws them: checked by the library, and kept as a document of our own making."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from covey.checks import amount
from covey.errors import FormatError, ParameterError
from covey.fit import slider
from covey.fit.zones import Zones, read_zones
from covey.geo.buffers import buffered, metres_of
from covey.studio.data import Opened
from covey.text import printable

MOST_ZONES, MOST_CORNERS = 200, 20_000


class Drawn(NamedTuple):
    """Zones as they are shown, and as the library takes them."""

    document: dict[str, Any]
    zones: Zones


def drawn_zones(document: dict[str, Any], data: Opened) -> Drawn:
    """Zones, each with an `epsilon`, found good for the levels; or an error that says why not.

    What has the property `buffer_metres` is kept as the polygons that it stands for, and so is shown as it is meant.
    """
    if data.person.column is not None:
        raise ParameterError("zones", "are not for levels of people: start the studio without --person, or draw none")
    features = document.get("features")
    if document.get("type") != "FeatureCollection" or not isinstance(features, list) or not features:
        raise FormatError("zones: must be a GeoJSON FeatureCollection with at least one polygon")
    if len(features) > MOST_ZONES:
        raise FormatError(f"zones: at most {MOST_ZONES} are taken")
    if not data.geographic and any(_metres(each) is not None for each in features):
        raise ParameterError("zones", "buffer_metres needs longitude and latitude; give polygons instead")
    kept = {"type": "FeatureCollection", "features": [_feature(each) for each in features]}
    east, north = data.axes
    if north is None:
        raise ParameterError("zones", "need two columns: they are drawn on a map")
    zones = Zones.read(kept, lon=data.columns[east], lat=data.columns[north])
    read_zones(zones, epsilon=amount("epsilon", slider.price()), domain=data.domain)
    return Drawn(kept, zones)


def _feature(feature: Any) -> dict[str, Any]:
    """The geometry and the promise of one zone; nothing else that a client wrote is kept."""
    try:
        geometry, properties, metres = feature["geometry"], feature.get("properties") or {}, _metres(feature)
        geometry = geometry if metres is None else buffered(geometry, metres, name="zones")
        kind, corners = geometry["type"], _positions(geometry["coordinates"])
        promised = {name: properties[name] for name in ("epsilon", "level") if properties.get(name) is not None}
        title = printable(properties.get("name") or "")[:100]
    except (TypeError, KeyError, AttributeError, ValueError, OverflowError, RecursionError):
        raise FormatError("zones: a feature must be a polygon of [x, y] positions with the property epsilon") from None
    if kind not in ("Polygon", "MultiPolygon"):
        raise FormatError("zones: only Polygon and MultiPolygon are taken, or what has the property buffer_metres")
    if not promised:
        raise ParameterError("zones", "every zone needs the property epsilon, its own and stricter one")
    if "epsilon" in promised and not _is_number(promised["epsilon"]):
        raise ParameterError("zones", "the property epsilon must be a number above 0")
    if "level" in promised and not isinstance(promised["level"], str):
        raise ParameterError("zones", "the property level must be the name of a level")
    named = {"name": title} if title else {}
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": corners}, "properties": promised | named}


def _metres(feature: Any) -> Any:
    """How far a zone reaches beyond its shape, if that is said."""
    properties = feature.get("properties") if isinstance(feature, dict) else None
    return metres_of(properties, name="zones") if isinstance(properties, dict) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 10**4


def _positions(coordinates: Any, depth: int = 0) -> Any:
    """Nested lists of finite numbers, as in GeoJSON, with two numbers a position."""
    if not isinstance(coordinates, list) or not coordinates or depth > 4:
        raise ValueError
    if len(coordinates) > MOST_CORNERS:
        raise ValueError
    if isinstance(coordinates[0], list):
        return [_positions(each, depth + 1) for each in coordinates]
    position = [float(each) for each in coordinates[:2] if not isinstance(each, bool)]
    if len(position) != 2 or not all(math.isfinite(each) for each in position):
        raise ValueError
    return position
