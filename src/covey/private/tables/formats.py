"""The one table of readers: which endings a format has, who reads it, and what it can be told of a file.

A reader is a class that is made of the path of a file and of what was declared about it (`covey.File`). It is imported
when a file of its format is opened, and so are the libraries that it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from covey.errors import DataError, ParameterError, need
from covey.files import File
from covey.private.tables.one_file import Part

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")  # of text: rows.csv.gz


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of file.

    reader : the class, below covey.private.tables. options : what of a `File` it takes. text : whether it may be
    compressed. beside : endings of the files that belong to each. extra : that of Covey which has to be installed.
    """

    name: str
    endings: tuple[str, ...]
    reader: str
    options: tuple[str, ...] = ()
    text: bool = False
    beside: tuple[str, ...] = ()
    extra: str | None = None

    def has(self, name: str) -> bool:
        endings = self.endings
        if self.text:
            endings += tuple(each + packed for each in self.endings for packed in COMPRESSED)
        return name.lower().endswith(endings)

    def belongs(self, file: Path) -> list[Path]:
        """The files beside one of this format without which it is not whole, as far as they are there."""
        stem = str(file)[: -len(file.suffix)]
        return [place for ending in self.beside if (place := Path(stem + ending)).exists()]

    def open(self) -> Callable[[Path, File], Part]:
        """The reader, or an error that says what to install."""
        if self.extra is not None:
            need(self.extra, f"data: a file of the format {self.name}")
        module, _, name = self.reader.partition(":")
        reader: Any = getattr(import_module(f"covey.private.tables.{module}"), name)
        return reader  # type: ignore[no-any-return]


FORMATS = (
    Format(name="Parquet", endings=(".parquet",), reader="arrow:ParquetPart", options=("geometry",)),
    Format(name="Arrow", endings=(".arrow", ".feather", ".ipc"), reader="arrow:ArrowPart", options=("geometry",)),
    Format(
        name="CSV",
        endings=(".csv", ".tsv", ".tab", ".txt", ".zip"),
        reader="csv.reader:CsvPart",
        options=("delimiter", "decimal", "header_line", "encoding", "geometry"),
        text=True,
    ),
    Format(
        name="JSON lines",
        endings=(".jsonl", ".ndjson"),
        reader="json.reader:LinesPart",
        options=("encoding", "geometry"),
        text=True,
    ),
    Format(
        name="Excel",
        endings=(".xlsx",),
        reader="excel:SheetPart",
        options=("header_line", "sheet", "geometry"),
        extra="excel",
    ),
    Format(name="GeoJSON", endings=(".geojson", ".json"), reader="json.reader:GeoJsonPart", text=True),
    Format(
        name="GeoPackage",
        endings=(".gpkg",),
        reader="geography:LayerPart",
        options=("sheet",),
        extra="geo",
    ),
    Format(
        name="shapefile",
        endings=(".shp",),
        reader="geography:LayerPart",
        beside=(".shx", ".dbf", ".prj", ".cpg", ".qpj", ".sbn", ".sbx", ".shp.xml"),
        extra="geo",
    ),
)
ENDINGS = ", ".join(ending for each in FORMATS for ending in each.endings)


def format_of(file: Path, declared: str | None = None) -> Format:
    """The format of a file, as it was declared or by the ending of its name."""
    name = file.name if declared is None else f".{declared.lower().lstrip('.')}"
    for each in FORMATS:
        if each.has(name):
            return each
    if declared is not None:
        raise ParameterError("format", f"must be one of {ENDINGS}, without the dot; text may be compressed: csv.gz")
    if name.lower().endswith(".gpx"):
        raise DataError(f"data: {str(file)!r} is a GPX track, which only `covey thin` reads; save it as CSV")
    raise DataError(f"data: {str(file)!r} must end in one of {ENDINGS}; text may be compressed, as .csv.gz is")


def check_options(found: Format, source: File) -> None:
    """Refuse what was declared about a file that its format has no use for."""
    for name in source.given:
        if name not in ("format", *found.options):
            raise ParameterError(name, f"is nothing that a {found.name} file can be told; leave it away")


def as_file(path: str | os.PathLike[str]) -> File:
    return path if isinstance(path, File) else File(path)
