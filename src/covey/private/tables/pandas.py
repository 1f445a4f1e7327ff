"""Frames of pandas, and of GeoPandas, as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.private.tables.base import not_numeric
from covey.private.tables.frames import FrameTable, IdReader, Reader, numbers_of


def pandas_table(frame: Any) -> FrameTable:
    """A pandas DataFrame, or a GeoDataFrame, whose column of points is two of numbers."""
    names = [str(name) for name in frame.columns]
    shape, axes = _geometry(frame, names)

    def reader(name: str) -> Reader:
        if name in axes:
            return _coordinate(frame.iloc[:, names.index(shape)], axes.index(name))
        series = frame.iloc[:, names.index(name)]
        if str(series.dtype) == "object":
            numbers = numbers_of(series.to_numpy(), name)
            return lambda places: numbers[places]
        if getattr(series.dtype, "kind", "O") not in "fiub":
            raise not_numeric(name, str(series.dtype).partition("[")[0])  # a sparse type's brackets hold a value
        return lambda places: series.iloc[places].to_numpy(dtype=np.float64, na_value=np.nan)

    def ids(name: str) -> IdReader:
        from covey.private.tables.ids import pandas_ids

        return pandas_ids(frame.iloc[:, names.index(name)], name)

    def dates(name: str) -> Reader:
        from covey.private.tables.dates import pandas_dates

        return pandas_dates(frame.iloc[:, names.index(name)], name)

    def categories(name: str) -> Reader:
        from covey.private.tables.coded import pandas_categories

        return pandas_categories(frame.iloc[:, names.index(name)], name)

    own = [*(name for name in names if name not in (shape, *axes)), *axes] if axes else names
    table = FrameTable(own, len(frame), reader, ids, dates, categories)
    table.as_given = not axes
    return table


def _geometry(frame: Any, names: list[str]) -> tuple[str, tuple[str, ...]]:
    """The column of shapes of a GeoDataFrame, and what its points' coordinates are called; by its types alone."""
    kinds = [str(kind) for kind in frame.dtypes]
    active = getattr(frame, "active_geometry_name", None)
    if "geometry" not in kinds or (active is None and kinds.count("geometry") > 1):
        return "", ()
    shape = names[kinds.index("geometry")] if active is None else str(active)
    system = getattr(frame.iloc[:, names.index(shape)], "crs", None)
    return shape, ("lon", "lat") if system is None or system.is_geographic else ("x", "y")


def _coordinate(shapes: Any, axis: int) -> Reader:
    from covey.private.tables.points import shape_points

    return lambda places: shape_points(shapes.iloc[places])[axis]
