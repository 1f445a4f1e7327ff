"""Files of JSON records: lines (.jsonl), and GeoJSON. The first record names the columns; it has no schema.

As in a CSV, a value that is not a number is a missing value, and no message repeats one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import DataError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.csv.records import LONGEST_RECORD
from covey.private.tables.json import records as json_records
from covey.private.tables.json.records import as_id, as_number, decoded, nesting
from covey.private.tables.one_file import Task, some_as_csv
from covey.private.tables.points import axes_of
from covey.private.tables.text import opened

BLOCK = 2**22  # bytes that are read at a time
HEAD = 2**16
SNIFF_ROWS = 1000  # how far the schema check looks
MEMBER = re.compile(rb'"(features|coordinates|crs|type)"\s*:\s*')
CRS_NAME = re.compile(rb'"name"\s*:\s*"([^"]*)"')


class JsonPart(Sealed, ABC):
    """A file of JSON records, each of which is one row."""

    typed = False
    geometry = None
    names: tuple[str, ...]

    def __init__(self, path: Path, source: File) -> None:
        self.path, self._source = path, source

    @abstractmethod
    def _records(self, size: int) -> Iterator[list[bytes]]:
        """The records, about `size` bytes at a time."""

    @abstractmethod
    def _values(self, record: Any) -> Mapping[str, Any]:
        """The values of a decoded record by name, whatever it is."""

    def kind(self, name: str) -> Any:  # noqa: ARG002
        return pa.binary()

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """A column none of whose first values is a number: the wrong column, not a bad row."""
        found = self._first() if columns else []
        for name in columns:
            given = [each[name] for each in found if each.get(name) is not None]
            if given and all(np.isnan(as_number(value)) for value in given):
                return name, self._other(name)
        return None

    def first_cells(self, name: str) -> Any:
        return _ids(self._first(), name)

    def _first(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for block in self._records(HEAD):
            found += [self._values(decoded(each)) for each in block]
            if len(found) >= SNIFF_ROWS:
                break
        return found[:SNIFF_ROWS]

    def _other(self, name: str) -> str:  # noqa: ARG002
        """What a column holds that is not of numbers."""
        return "text"

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        for block in self._records(BLOCK):
            if block:
                yield Task(partial(len, block), partial(self._read, block, columns, texts))

    def _read(self, block: list[bytes], columns: Sequence[str], texts: Sequence[str]) -> Any:
        rows = [self._values(decoded(each)) for each in block]
        numbers = {name: pa.array([as_number(row.get(name)) for row in rows], pa.float64()) for name in columns}
        return pa.table(numbers | {name: _ids(rows, name) for name in texts})

    def rows(self) -> int:
        return sum(map(len, self._records(BLOCK)))


class LinesPart(JsonPart):
    """A JSON object on each line. A line that is none, or longer than 1 MiB, is a row of missing values."""

    def __init__(self, path: Path, source: File) -> None:
        super().__init__(path, source)
        first = next((block[0] for block in self._records(HEAD) if block), b"")
        names = decoded(first)
        if not isinstance(names, dict) or not names:
            raise DataError(f"data: the first line of {str(path)!r} is no JSON object, which would name the columns")
        self.names = tuple(names)

    def _records(self, size: int) -> Iterator[list[bytes]]:
        with opened(self.path, self._source) as file:
            yield from json_records.lines(file, size)

    def _values(self, record: Any) -> Mapping[str, Any]:
        return record if isinstance(record, dict) else {}


class GeoJsonPart(JsonPart):
    """The features of a GeoJSON document, or the points of a MultiPoint. A feature without a point has no place.

    One that is no JSON, or longer than 1 MiB, is a row of missing values.
    """

    def __init__(self, path: Path, source: File) -> None:
        super().__init__(path, source)
        with opened(path, source) as file:
            head = file.read(LONGEST_RECORD)
        self._start, self._bare, system = _members(path, head)
        self._axes = axes_of(system)
        first = next((block[0] for block in self._records(HEAD) if block), b"")
        for _ in self._records(BLOCK):  # to the end of the array: that it breaks off is known before a charge
            pass
        self.names = tuple(dict.fromkeys([*self._axes, *self._properties(decoded(first))]))

    def _records(self, size: int) -> Iterator[list[bytes]]:
        with opened(self.path, self._source) as file:
            file.read(self._start)
            yield from json_records.items(file, size)

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """The places of these points as CSV, and nothing else of them."""
        schema = pa.schema([(name, pa.float64()) for name in self._axes])
        header = ",".join(self._axes).encode() + b"\n"
        return header + some_as_csv(self.tasks(self._axes), keep, schema, include_header=False)

    def _properties(self, feature: Any) -> Mapping[str, Any]:
        found = feature.get("properties") if isinstance(feature, dict) else None
        return found if isinstance(found, dict) else {}

    def _other(self, name: str) -> str:
        return "of shapes that are no points" if name in self._axes else "text"

    def _values(self, record: Any) -> Mapping[str, Any]:
        x, y = _place(record if self._bare else record.get("geometry") if isinstance(record, dict) else None)
        return {**self._properties(record), self._axes[0]: x, self._axes[1]: y}


def _place(shape: Any) -> tuple[Any, Any]:
    """The two coordinates of a point, whatever they are: text if it is another shape, None if there is none."""
    if shape is None:
        return None, None
    try:
        x, y = (shape["coordinates"] if isinstance(shape, dict) else shape)[:2]
    except (KeyError, TypeError, ValueError):
        return "", ""
    return x, y


def _ids(rows: Sequence[Mapping[str, Any]], name: str) -> Any:
    return pa.array([as_id(row.get(name)) for row in rows], pa.binary())


def _members(path: Path, head: bytes) -> tuple[int, bool, str | None]:
    """Where the array of a document begins, whether it is of bare points, and the system of its coordinates."""
    inside, depth = nesting(head)
    kind = system = None
    for found in MEMBER.finditer(head):
        place, end = found.start(), found.end()
        if place == 0 or inside[place - 1] or depth[place - 1] != 1:
            continue
        name, rest = found[1], head[end : end + HEAD]
        if name == b"type":
            kind = rest
        elif name == b"crs":
            system = CRS_NAME.search(head, end, end + int(np.argmax(depth[end:] < 2)))  # in its own brackets
        elif rest[:1] == b"[" and (name == b"features" or (kind or b"").startswith(b'"MultiPoint"')):
            return end + 1, name == b"coordinates", None if system is None else system[1].decode(errors="replace")
    raise DataError(f"data: {str(path)!r} is not a GeoJSON FeatureCollection of points")
