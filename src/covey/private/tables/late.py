"""Rows that are made when they are asked for: lazy frames, queries, streams. Their schema is known; no row is.

They are made once, after the charge, and kept in memory: a query that is run again may give other rows, or the same in
another order, and a stream can be read once only; but all answers of a fit must be about the same rows.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from covey.errors import DataError
from covey.geo.clock import source_of
from covey.private.tables.base import Piece, Places, Table
from covey.private.tables.coded import Coded
from covey.private.tables.frames import FrameTable, arrow_table, polars_table
from covey.private.tables.ids import PieceWithIds

USED: weakref.WeakSet[Any] = weakref.WeakSet()  # streams that were read


class LateTable(Table):
    """A table of which only the schema is there, until rows are asked for.

    empty : a table without rows, of the same schema, which says what is refused. make : the rows of some columns.
    """

    names: tuple[str, ...]
    as_given = False

    def __init__(self, empty: FrameTable, make: Callable[[list[str]], FrameTable]) -> None:
        self.names, self.width = empty.names, empty.width
        self._empty, self._make = empty, make
        self._asked: dict[str, None] = {}
        self._lock = threading.Lock()
        self._made: FrameTable | None = None

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._empty.check_numeric(columns)
        self._asked |= dict.fromkeys(map(source_of, columns or self.names))

    def check_person(self, person: str) -> None:
        self._empty.check_person(person)
        self._asked[person] = None

    def coded(self, columns: Mapping[str, Coded]) -> LateTable:
        def make(names: list[str]) -> FrameTable:
            read = dict.fromkeys(columns[name].source if name in columns else name for name in names)
            return self._make([*read]).coded(columns)

        return LateTable(self._empty.coded(columns), make)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        return self._rows(columns).pieces(columns)

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        return self._rows([*(columns or self.names), person]).pieces_with_ids(columns, person)

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        return self._rows(columns).chosen(columns, places)

    def rows(self) -> int:
        return self._rows(()).rows()

    def _rows(self, columns: Sequence[str] | None) -> FrameTable:
        """The rows, of the columns that were asked about before the charge; of all, if others are wanted now."""
        with self._lock:
            if self._made is None:
                wanted = {*map(source_of, self.names if columns is None else columns)}
                announced = bool(self._asked) and wanted <= {*self._asked}
                try:
                    self._made = self._make([*(self._asked if announced else self.names)])
                except (MemoryError, DataError):
                    raise
                except Exception:  # of whatever library, with whatever value in its message
                    what = "data: the query or stream broke off; nothing is published, any charge stays"
                    raise DataError(what) from None
            return self._made


def lazy_frame(frame: Any) -> LateTable:
    """A polars LazyFrame. Its schema is resolved; nothing is collected."""
    try:
        empty = polars_table(frame.clear().collect())
    except Exception:  # polars: a file that is not there, a column that is not
        raise DataError("data: polars cannot tell the columns of this LazyFrame; ask its collect_schema()") from None
    return LateTable(empty, lambda columns: polars_table(frame.select(columns).collect()))


def relation(query: Any) -> LateTable:
    """A DuckDB relation."""

    def part(columns: list[str], rows: Any) -> FrameTable:
        quoted = ('"' + name.replace('"', '""') + '"' for name in columns)
        return arrow_table(rows.project(", ".join(quoted)).to_arrow_table())

    try:
        empty = part(list(query.columns), query.limit(0))
    except Exception:
        raise DataError("data: DuckDB cannot tell the columns of this relation; is its connection open?") from None
    return LateTable(empty, lambda columns: part(columns, query))


def stream(source: Any) -> LateTable:
    """A pyarrow RecordBatchReader, or anything else that offers a stream of Arrow's C interface. It is read once."""
    _check_unread(source)
    try:
        reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
        schema = reader.schema
    except Exception:
        raise DataError("data: the stream cannot be opened; it may have been read before") from None

    def make(columns: list[str]) -> FrameTable:
        _check_unread(source)  # somebody else may have been faster
        with suppress(TypeError):  # of what cannot be kept in a set, its own reader says that it was read
            USED.add(source)
        return arrow_table(pa.Table.from_batches((batch.select(columns) for batch in reader), _chosen(schema, columns)))

    return LateTable(arrow_table(schema.empty_table()), make)


def _check_unread(source: Any) -> None:
    """Refuse a stream that was read: its rows are gone, and none would be taken for all."""
    with suppress(TypeError):
        if source in USED:
            raise DataError("data: this stream was read before, and has no rows left; pass a table, or make a new one")


def _chosen(schema: Any, columns: list[str]) -> Any:
    return pa.schema([schema.field(name) for name in columns])
