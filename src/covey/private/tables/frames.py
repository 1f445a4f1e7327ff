"""Tables in memory: numpy arrays, pandas and polars frames, Arrow tables; and which table any data is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError, NotNumericError
from covey.geo.clock import Hand, hand
from covey.private.tables.base import Piece, Places, Table, not_numeric, piece_rows, within

if TYPE_CHECKING:
    from covey.private.tables.coded import Coded
    from covey.private.tables.ids import Ids, PieceWithIds

Reader = Callable[[slice | Places], Any]
IdReader = Callable[[slice], Any]


class ArrayTable(Table):
    """A two-dimensional numpy array, or anything numpy turns into one."""

    names = None

    def __init__(self, data: Any) -> None:
        if hasattr(data, "toarray") and hasattr(data, "nnz"):
            raise NotNumericError("data: sparse matrices are not supported; pass data.toarray()")
        try:
            array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
        except ValueError:
            raise DataError("data: is not a table; rows have different lengths") from None
        if array.dtype.kind == "c":
            raise NotNumericError("data: Complex data not supported; pass real numbers")
        if array.ndim != 2:
            raise DataError(
                f"data: Expected 2D array, got {array.ndim}D array instead: pass rows x columns. "
                "Reshape your data with array.reshape(-1, 1) for one column, array.reshape(1, -1) for one row."
            )
        if array.shape[1] < 1:
            raise DataError("data: 0 feature(s) while a minimum of 1 is required.")  # the shape would tell the rows
        self._array = array
        self.width = array.shape[1]

    def check_numeric(self, columns: Sequence[str] | None) -> None:  # noqa: ARG002
        if self._array.dtype.kind == "O":
            self._array = np.stack([numbers_of(column, i) for i, column in enumerate(self._array.T)], axis=1)
        if self._array.dtype.kind not in "fiub":
            raise not_numeric("0", "text or dates")  # the type itself would tell the length of the longest text

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        array, step = self._array, piece_rows(self.width)
        for start in range(0, len(array), step):
            yield partial(_read_array, array, slice(start, start + step))

    def rows(self) -> int:
        return len(self._array)

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:  # noqa: ARG002
        for block in within(places, len(self._array), step=piece_rows(self.width)):
            yield partial(_read_array, self._array, block)


def _read_array(array: NDArray[Any], places: slice | Places) -> NDArray[np.float64]:
    part = array[places]
    with np.errstate(all="ignore"):  # a long double too large becomes an infinity, silently
        numbers = np.array(part.T, dtype=np.float64, order="C")
    if isinstance(part, np.ma.MaskedArray):
        numbers[np.ma.getmaskarray(part.T)] = np.nan  # a masked value is a missing one, whatever is beneath the mask
    return numbers


class FrameTable(Table):
    """A pandas or polars frame, or an Arrow table: named columns, converted piece by piece.

    `reader(name)` refuses a column whose type is not numeric, and otherwise returns read(slice or places);
    `ids(name)` does the same for people, by slices; `dates(name)` for dates; `categories(name)` for categories.
    """

    names: tuple[str, ...]

    def __init__(
        self,
        names: Sequence[Any],
        rows: int,
        reader: Callable[[str], Reader],
        ids: Callable[[str], IdReader],
        dates: Callable[[str], Reader],
        categories: Callable[[str], Reader],
    ) -> None:
        if not names:
            raise DataError("data: 0 feature(s): the table has no columns while a minimum of 1 is required.")
        self.names = tuple(str(name) for name in names)
        self.width = len(self.names)
        self._rows = rows
        self._reader = cache(lambda name: reader(name) if (circle := hand(name)) is None else on_circle(circle, dates))
        self._ids = cache(ids)
        self._ways = reader, ids, dates, categories

    def coded(self, columns: Mapping[str, Coded]) -> FrameTable:
        from covey.private.tables.coded import Letters, codes, letters, remembered

        reader, ids, dates, categories = self._ways
        ways = {"number": reader, "category": categories}

        @cache
        def texts(source: str) -> Reader:
            cells = categories(source)
            return remembered(lambda places: letters(cells(places)))

        def coder(name: str) -> Reader:
            if name not in columns:
                return reader(name)
            column = columns[name]
            if isinstance(column, Letters):
                pairs, place = texts(column.source), column.place
                return lambda places: pairs(places)[place]
            read = ways.get(column.kind, dates)(column.source)
            return lambda places: codes(column, read(places))

        return FrameTable([*self.names, *columns], self._rows, coder, ids, dates, categories)

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        for name in columns or self.names:
            self._reader(name)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        readers = [self._reader(name) for name in columns or self.names]
        step = piece_rows(len(readers))
        for start in range(0, self._rows, step):
            stop = min(start + step, self._rows)
            yield partial(_read_columns, readers, slice(start, stop), stop - start)

    def rows(self) -> int:
        return self._rows

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        readers = [self._reader(name) for name in columns or self.names]
        for block in within(places, self._rows, step=piece_rows(len(readers))):
            yield partial(_read_columns, readers, block, len(block))

    def check_person(self, person: str) -> None:
        from covey.private.tables.ids import check_name

        check_name(person, self.names)
        self._ids(person)

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        self.check_person(person)
        readers, ids = [self._reader(name) for name in columns or self.names], self._ids(person)
        step = piece_rows(len(readers))
        for start in range(0, self._rows, step):
            places = slice(start, min(start + step, self._rows))
            yield partial(_read_with_ids, partial(_read_columns, readers, places, places.stop - start), ids, places)


def _read_columns(readers: list[Reader], places: slice | Places, count: int) -> NDArray[np.float64]:
    piece = np.empty((len(readers), count))
    with np.errstate(all="ignore"):  # pandas holds long doubles too
        for row, read in zip(piece, readers, strict=True):
            row[:] = read(places)
    return piece


def _read_with_ids(piece: Piece, ids: IdReader, places: slice) -> tuple[NDArray[np.float64], Ids]:
    return piece(), ids(places)


def on_circle(circle: Hand, dates: Callable[[str], Reader]) -> Reader:
    from covey.private.tables.dates import steps

    cells = dates(circle.source)
    return lambda places: circle.numbers(steps(cells(places), circle.kind))


def numbers_of(values: Any, column: object) -> NDArray[np.float64]:
    """A column of Python objects as numbers. It has no declared type, so every object's *type* is its schema."""
    numbers = np.empty(len(values))
    for i, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "MaskedConstant"):
            numbers[i] = np.nan
        elif isinstance(value, str | bytes | complex | np.complexfloating) or not hasattr(value, "__float__"):
            raise NotNumericError(
                f"bounds: column {column!r} is not numeric: it holds text or other Python objects, and each "
                "argument must be neither a string nor another object but a number; convert the column first, or read "
                "the file so that it is one (numbers written 12,5 with `decimal=','` of pandas.read_csv)"
            )
        else:
            try:
                numbers[i] = float(value)
            except Exception:  # whatever an object's own __float__ raises, with whatever value in its message
                numbers[i] = np.nan
    return numbers


def polars_table(frame: Any) -> FrameTable:
    """A polars DataFrame."""

    def reader(name: str) -> Reader:
        series = frame.get_column(name)
        kind = str(series.dtype)
        if not (series.dtype.is_numeric() or kind == "Boolean") or kind in ("Int128", "UInt128"):  # Arrow has no such
            raise not_numeric(name, series.dtype.base_type())  # an Enum's full name lists its values
        return lambda places: arrow_numbers(series[places].to_arrow())

    def ids(name: str) -> IdReader:
        from covey.private.tables.ids import polars_ids

        return polars_ids(frame.get_column(name), name)

    def dates(name: str) -> Reader:
        from covey.private.tables.dates import polars_dates

        return polars_dates(frame.get_column(name), name)

    def categories(name: str) -> Reader:
        from covey.private.tables.coded import polars_categories

        return polars_categories(frame.get_column(name), name)

    return FrameTable(frame.columns, frame.height, reader, ids, dates, categories)


def arrow_numbers(column: Any) -> NDArray[np.float64]:
    """An Arrow column (chunked or not) as float64, nulls as NaN; large integers are rounded, never refused."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)


def arrow_rows(column: Any, places: slice | Places) -> Any:
    """Some rows of a chunked Arrow column, ascending. (`take` of the whole would first join its chunks: all rows.)"""
    import pyarrow as pa

    if isinstance(places, slice):
        return column.slice(places.start, places.stop - places.start)
    ends = np.cumsum([len(chunk) for chunk in column.chunks], dtype=np.int64)
    cuts = np.searchsorted(places, ends)
    taken, first = [], 0
    for i in np.flatnonzero(np.diff(cuts, prepend=0)).tolist():
        inside = places[first : cuts[i]] - (ends[i - 1] if i else 0)
        taken.append(column.chunk(i).take(pa.array(inside)))
        first = int(cuts[i])
    return pa.chunked_array(taken, type=column.type)


def arrow_is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def arrow_table(table: Any) -> FrameTable:
    """An Arrow table."""

    def reader(name: str) -> Reader:
        values = table.column(name)
        if not arrow_is_numeric(values.type):
            raise not_numeric(name, values.type)
        return lambda places: arrow_numbers(arrow_rows(values, places))

    def ids(name: str) -> IdReader:
        from covey.private.tables.ids import arrow_ids, family_of

        values = table.column(name)
        family_of(name, values.type)
        return lambda places: arrow_ids(arrow_rows(values, places))

    def dates(name: str) -> Reader:
        from covey.private.tables.dates import check_dates

        values = table.column(name)
        check_dates(name, values.type)
        return lambda places: arrow_rows(values, places)

    def categories(name: str) -> Reader:
        from covey.private.tables.coded import check_categories

        values = table.column(name)
        check_categories(name, values.type)
        return lambda places: arrow_rows(values, places)

    return FrameTable(table.column_names, table.num_rows, reader, ids, dates, categories)


def open_table(data: Any) -> Table:
    """The table behind any data that `fit` takes, without reading a row of it."""
    if isinstance(data, str | PathLike):
        from covey.private.tables.files import open_file

        return open_file(data)
    if isinstance(data, Table):
        return data
    libraries = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}  # of subclasses, too
    if "pandas" in libraries and hasattr(data, "columns"):
        from covey.private.tables.pandas import pandas_table

        return pandas_table(data)
    if "pyspark" in libraries and hasattr(data, "mapInArrow"):
        from covey.private.tables.spark import SparkTable

        return SparkTable(data)
    if "polars" in libraries and hasattr(data, "height"):
        return polars_table(data)
    if "pyarrow" in libraries and hasattr(data, "column_names"):
        return arrow_table(data if hasattr(data, "to_batches") else _whole(data))
    return _late(data, libraries) or ArrayTable(data)


def _whole(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _late(data: Any, libraries: set[str]) -> Table | None:
    """The table of what makes its rows when it is asked for them, if it is such a thing."""
    if "polars" in libraries and hasattr(data, "collect_schema"):
        from covey.private.tables.late import lazy_frame

        return lazy_frame(data)
    if "polars" in libraries:
        raise DataError("data: a polars Series is not supported; pass series.to_frame()")
    if libraries & {"duckdb", "_duckdb"} and hasattr(data, "project"):
        from covey.private.tables.late import relation

        return relation(data)
    if hasattr(data, "__arrow_c_stream__") and "pandas" not in libraries:
        from covey.private.tables.late import stream

        return stream(data)
    return None
