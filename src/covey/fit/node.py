"""What a node does at home: it thins its own rows by its own zones, before anything is sent (docs/guide/zones.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.checks import amount
from covey.errors import ParameterError
from covey.fit.zones import read_zones
from covey.geo.geojson import find_axes
from covey.noise.source import OsSource
from covey.private.tables.frames import open_table
from covey.public import Box, resolve_bounds


def thin(points: Any, zones: Any, *, epsilon: float, bounds: Any = None) -> Any:
    """The rows that a node may send on: those in its own zones are kept by coins, all others always.

    points : rows x (longitude, latitude) as an array, or a table with such columns. zones : as in `KMeans`; they are
    the node's own secret, and are neither sent nor written anywhere. epsilon : that of the release which the rows are
    sent for. bounds : the limits of longitude and latitude, all of the world by default; for other columns or units,
    a Box.

    Guarantee: if what is later published from rows of all nodes is (epsilon, delta)-DP under add/remove, a row in a
    zone of epsilon_zone enjoys (epsilon_zone, q·delta), q = (e^epsilon_zone - 1)/(e^epsilon - 1). Whoever receives the
    kept rows sees them as they are. Coins come from the operating system, anew for every call: thin each row once.
    """
    table = open_table(points)
    if bounds is None:
        names = table.names
        east, north = (0, 1) if names is None else find_axes(names)
        whole = ((-180.0, 180.0), (-90.0, 90.0))
        bounds = Box(*whole) if names is None else Box.of({names[east]: whole[0], names[north]: whole[1]})
    domain = resolve_bounds(bounds, names=table.names, width=table.width)
    table.check_numeric(domain.columns if table.names is not None else None)
    thinning = read_zones(zones, epsilon=amount("epsilon", epsilon), domain=domain, everywhere=True)
    if thinning is None:
        raise ParameterError("zones", "must be given; without zones there is nothing to thin")
    keep = thinning.rows(table, OsSource()).mask()
    if hasattr(points, "filter") and not hasattr(points, "loc"):  # polars and Arrow tables
        return points.filter(keep)
    return points[keep] if hasattr(points, "loc") or isinstance(points, np.ndarray) else np.asarray(points)[keep]
