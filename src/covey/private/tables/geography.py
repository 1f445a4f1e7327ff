"""Layers of GeoPackages and shapefiles, by GDAL (pyogrio): opening reads what they declare; features are streamed."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyogrio

from covey.errors import DataError, ParameterError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.base import piece_rows
from covey.private.tables.frames import arrow_is_numeric
from covey.private.tables.one_file import Task, held
from covey.private.tables.points import axes_of

SQLITE, SHAPES = b"SQLite format 3\0", b"\x00\x00\x27\x0a"  # how a GeoPackage begins, and a shapefile
UNFINISHED = ("-wal", "-journal")  # what SQLite keeps beside a file that is written to
GEOMETRY = "geometry"
LOCK = threading.Lock()
POINTS = ("Point", "2.5D Point", "3D Point", "Unknown")  # what may hold points

pyogrio.set_gdal_config_options({"CPL_LOG": os.devnull})  # or GDAL writes to stderr what it dislikes, values and all


class LayerPart(Sealed):
    """The layer that was declared, or the only one."""

    typed = True

    def __init__(self, path: Path, source: File) -> None:
        self.path = path
        with path.open("rb") as file:
            begins = file.read(len(SQLITE))
        if not begins.startswith((SQLITE, SHAPES)):  # GDAL would read whatever it is, and what that leads to
            raise OSError
        self._options = _alone(path) if begins == SQLITE else {}
        with _quietly():
            layers = [str(each[0]) for each in pyogrio.list_layers(path)]
        self._layer = _chosen(path, layers, source.sheet)
        with _quietly():
            known = pyogrio.read_info(path, layer=self._layer, **self._options)
        self._kinds = dict(zip(map(str, known["fields"]), map(_kind, known["dtypes"]), strict=True))
        self.geometry = None
        shape = known["geometry_type"]
        if shape is not None:
            self._kinds[GEOMETRY] = pa.binary()
        if shape is not None and shape.startswith(POINTS):
            self.geometry = GEOMETRY, axes_of(known["crs"])
        self.names = tuple(self._kinds)
        if not self.names:
            raise DataError(f"data: 0 feature(s): {str(path)!r} has no columns; a minimum of 1 is required.")

    def kind(self, name: str) -> Any:
        return self._kinds[name]

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        return next(((name, str(self.kind(name))) for name in columns if not arrow_is_numeric(self.kind(name))), None)

    def first_cells(self, name: str) -> Any:
        return pa.nulls(0, self.kind(name))

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        wanted = {*columns, *texts}
        fields = [name for name in self.names if name in wanted and name != GEOMETRY]
        shape = [GEOMETRY] * (GEOMETRY in wanted)
        step = piece_rows(len(wanted))
        options = {"columns": fields, "read_geometry": bool(shape), "batch_size": step, "use_pyarrow": True}
        opened = pyogrio.open_arrow(self.path, layer=self._layer, **options, **self._options)
        with ExitStack() as stack:
            with _quietly():
                _, reader = stack.enter_context(opened)
            while (batch := _next(reader)) is not None:
                yield held(batch.rename_columns([*fields, *shape]))

    def rows(self) -> int:
        return sum(task.rows() for task in self.tasks(self.names[:1]))


def _alone(path: Path) -> dict[str, str]:
    """How GDAL reads a GeoPackage and nothing beside it: there rows may change while the file itself does not."""
    for ending in UNFINISHED:
        beside = Path(f"{path}{ending}")
        if beside.exists() and beside.stat().st_size:
            raise DataError(f"data: {str(path)!r} is open in another program, with {beside.name!r}; close it there")
    return {"IMMUTABLE": "YES"}


def _chosen(path: Path, layers: list[str], wanted: str | None) -> str:
    options = ", ".join(map(repr, layers))
    if wanted is None and len(layers) != 1:
        raise ParameterError("sheet", f"{str(path)!r} has {len(layers)} layers: choose one of {options}")
    if wanted is not None and wanted not in layers:
        raise ParameterError("sheet", f"{str(path)!r} has no layer {wanted!r}; it has {options}")
    return layers[0] if wanted is None else wanted


def _kind(name: str) -> Any:
    """The Arrow type of a field, by numpy's name for it."""
    return pa.string() if name == "object" else pa.from_numpy_dtype(np.dtype(name))


def _next(reader: Any) -> Any:
    with _quietly():
        return next(reader, None)


@contextmanager
def _quietly() -> Iterator[None]:
    """What GDAL says of a file may quote it: its errors become our own, and its warnings nothing."""
    with LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (RuntimeError, ValueError):
            raise OSError from None
