"""Points as columns of numbers: longitude and latitude, or x and y where the coordinates are no degrees.

A column of points is well-known binary (WKB, as GeoParquet and GeoPackage have it), well-known text (WKT), WKB in
hexadecimal digits, or Arrow's structure of x and y. What is no point, or empty, or missing, is a row of missing values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from covey.checks import no_column
from covey.errors import ParameterError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.frames import arrow_is_numeric
from covey.private.tables.one_file import Part, Task

Floats = NDArray[np.float64]
DEGREES = ("4326", "CRS84", "4258", "4269", "4267", "4283", "7844")  # of a coordinate reference system, how it ends
USUAL = ("lon", "lat")
HAS_Z, HAS_M, HAS_SRID = 0x80000000, 0x40000000, 0x20000000  # flags of PostGIS; others add 1000, 2000 or 3000
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
WKT = rf"(?i)^\s*(?:SRID=\d+;)?\s*POINT\s*(?:ZM|Z|M)?\s*\(\s*(?P<x>{NUMBER})\s+(?P<y>{NUMBER})(?:\s+{NUMBER})*\s*\)\s*$"
HEX = r"^\s*[0-9A-Fa-f]{42,90}\s*$"


def axes_of(system: str | None) -> tuple[str, str]:
    """What the coordinates of points are called. A system that is not named is that of GeoJSON: degrees."""
    return USUAL if system is None or system.endswith(DEGREES) else ("x", "y")


class PointsPart(Sealed):
    """A file with a column of points, read as two columns of numbers; they take the place of others so called."""

    def __init__(self, part: Part, column: str, axes: tuple[str, str]) -> None:
        self.path, self.typed = part.path, part.typed
        self._part, self._column, self._axes = part, column, axes
        self.geometry = None
        self.names = (*(name for name in part.names if name not in (column, *axes)), *axes)

    def kind(self, name: str) -> Any:
        return pa.float64() if name in self._axes else self._part.kind(name)

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        found = self._part.not_numbers([name for name in columns if name not in self._axes])
        if found is None and not self.typed and {*columns} & {*self._axes}:
            cells = self._part.first_cells(self._column)
            if cells.null_count < len(cells) and np.isnan(points_of(cells)[0]).all():
                return self._axes[0], f"to come from {self._column!r}, which holds no points"
        return found

    def first_cells(self, name: str) -> Any:
        return self._part.first_cells(name)

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        own, other = ([name for name in some if name not in self._axes] for some in (columns, texts))
        placed = len(own) + len(other) < len(columns) + len(texts)
        for task in self._part.tasks(own, texts=[*other, *([self._column] if placed else [])]):
            yield Task(task.rows, lambda task=task: self._placed(task.read())) if placed else task  # type: ignore[misc]

    def _placed(self, batch: Any) -> Any:
        columns = {name: batch.column(name) for name in batch.schema.names if name != self._column}
        found = points_of(batch.column(self._column))
        return pa.table(columns | {name: pa.array(each) for name, each in zip(self._axes, found, strict=True)})

    def rows(self) -> int:
        return self._part.rows()


def with_points(part: Part, source: File) -> Part:
    """A file whose column of points, as declared or by its schema, is read as two columns of numbers."""
    if source.geometry is None:
        known = part.geometry
        return part if known is None else PointsPart(part, *known)
    if source.geometry not in part.names:
        raise ParameterError("geometry", no_column(source.geometry, part.names))
    kind = part.kind(source.geometry)
    if not _may_hold_points(kind):
        raise ParameterError("geometry", f"column {source.geometry!r} holds {kind}; points are WKT or WKB")
    declared = part.geometry
    return PointsPart(part, source.geometry, USUAL if declared is None else declared[1])


def _may_hold_points(kind: Any) -> bool:
    """Whether a column of this Arrow type can be read without an error, whatever its cells are."""
    types, kind = pa.types, getattr(kind, "storage_type", kind)
    if types.is_struct(kind):
        known = {field.name: field.type for field in kind}
        return {"x", "y"} <= {*known} and all(arrow_is_numeric(known[axis]) for axis in ("x", "y"))
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(each(kind) for each in texts) or types.is_string_view(kind) or types.is_binary_view(kind)


def geometry_in(schema: Any) -> tuple[str, tuple[str, str]] | None:
    """The column of points that an Arrow schema tells of, as GeoParquet and GeoArrow do; and what its axes are."""
    try:
        known = json.loads((schema.metadata or {}).get(b"geo", b"{}"))
        name = known.get("primary_column")
        column = known.get("columns", {}).get(name)
        if column is not None and name in schema.names and column.get("encoding") in ("WKB", "point"):
            kinds = column.get("geometry_types") or ["Point"]
            points = any(each.startswith("Point") for each in kinds) and _may_hold_points(schema.field(name).type)
            return (name, _axes(column.get("crs"))) if points else None
        for field in schema:
            told = field.metadata or {}
            points = told.get(b"ARROW:extension:name") in (b"geoarrow.wkb", b"geoarrow.wkt", b"geoarrow.point")
            if points and _may_hold_points(field.type):
                return field.name, _axes(json.loads(told.get(b"ARROW:extension:metadata") or b"{}").get("crs"))
    except (ValueError, AttributeError, TypeError):  # notes of somebody else, under the same name
        pass
    return None


def _axes(system: Any) -> tuple[str, str]:
    if isinstance(system, dict):  # PROJJSON
        return USUAL if system.get("type") == "GeographicCRS" else ("x", "y")
    return axes_of(system if isinstance(system, str) else None)


def points_of(column: Any) -> tuple[Floats, Floats]:
    """The two coordinates of every cell of an Arrow column; NaN where it holds no point."""
    if isinstance(column, pa.ChunkedArray):
        parts = [points_of(chunk) for chunk in column.chunks] or [(_nothing(0), _nothing(0))]
        x, y = map(np.concatenate, zip(*parts, strict=True))
        return x, y
    column = getattr(column, "storage", column)
    if pa.types.is_struct(column.type):
        return _of_structure(column)
    cells = column.cast(pa.large_binary())
    x, y = _of_wkb(cells)
    others = np.flatnonzero(np.isnan(x))  # each by itself: what a cell is, no other decides
    if others.size:
        x[others], y[others] = _of_text(cells.take(pa.array(others)))
    return x, y


def shape_points(shapes: Any) -> tuple[Floats, Floats]:
    """The same of some rows of a GeoSeries, or of any other column of shapely's shapes."""
    if hasattr(shapes, "to_wkb"):
        return _of_wkb(pa.array(shapes.to_wkb().to_list(), pa.large_binary()))
    return _of_wkb(pa.array([getattr(each, "wkb", None) for each in shapes], pa.large_binary()))


def _of_structure(column: Any) -> tuple[Floats, Floats]:
    x, y = (pc.struct_field(column, name).cast(pa.float64(), safe=False) for name in ("x", "y"))
    return np.array(x.to_numpy(zero_copy_only=False)), np.array(y.to_numpy(zero_copy_only=False))


def _of_text(cells: Any) -> tuple[Floats, Floats]:
    found = pc.extract_regex(cells, WKT)
    x, y = (pc.struct_field(found, name).cast(pa.string()).cast(pa.float64()) for name in ("x", "y"))
    columns = np.array(x.to_numpy(zero_copy_only=False)), np.array(y.to_numpy(zero_copy_only=False))
    digits = np.flatnonzero(pc.match_substring_regex(cells, HEX).fill_null(False).to_numpy(zero_copy_only=False))
    if digits.size:
        packed = [cell.strip() for cell in cells.take(pa.array(digits)).to_pylist()]
        even = [bytes.fromhex(cell.decode()) if len(cell) % 2 == 0 else None for cell in packed]
        for column, inner in zip(columns, _of_wkb(pa.array(even, pa.large_binary())), strict=True):
            column[digits] = inner
    return columns


def _of_wkb(cells: Any) -> tuple[Floats, Floats]:
    """Well-known binary, of either byte order, with or without further coordinates and PostGIS's reference."""
    x, y = _nothing(len(cells)), _nothing(len(cells))
    _, places, content = cells.buffers()
    if not len(cells) or content is None:
        return x, y
    ends = np.frombuffer(places, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    text, sizes = np.frombuffer(content, dtype=np.uint8), np.diff(ends)
    rows = np.flatnonzero(cells.is_valid().to_numpy(zero_copy_only=False) & (sizes >= 21))
    starts, sizes = ends[rows], sizes[rows]
    little = text[starts] == 1
    code = _gathered(text, starts + 1, little, "u4").astype(np.int64)
    plain = code & 0x0FFFFFFF
    more = np.array([0, 1, 1, 2])[np.minimum(plain // 1000, 3)] + (code & HAS_Z > 0) + (code & HAS_M > 0)
    begin = 5 + 4 * (code & HAS_SRID > 0)
    good = (text[starts] <= 1) & (plain % 1000 == 1) & (plain < 4000) & (sizes == begin + 8 * (2 + more))
    rows, starts, little = rows[good], (starts + begin)[good], little[good]
    x[rows], y[rows] = _gathered(text, starts, little, "f8"), _gathered(text, starts + 8, little, "f8")
    return x, y


def _gathered(text: NDArray[np.uint8], places: NDArray[np.int64], little: NDArray[np.bool_], kind: str) -> NDArray[Any]:
    """Numbers of some places, each in its own byte order."""
    cut = np.ascontiguousarray(text[places[:, None] + np.arange(np.dtype(kind).itemsize)])
    return np.where(little, cut.view(f"<{kind}")[:, 0], cut.view(f">{kind}")[:, 0])


def _nothing(rows: int) -> Floats:
    return np.full(rows, np.nan)
