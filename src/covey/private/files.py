"""Parquet and CSV files as tables. Opening one reads its schema; the engine reads the rows later, after the charge.

A CSV has no schema. Its chosen columns are read as text, and a cell that is not a number is a missing value: a bad row
never raises, and no message repeats what a cell held.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from covey.errors import DataError
from covey.private.engine import Sealed
from covey.private.tables import Piece, Table, arrow_is_numeric, arrow_numbers, not_numeric, piece_rows

NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
QUOTE, NEWLINE = 34, 10
LONGEST_LINE = 2**16
SNIFF_ROWS = 1000  # how far the schema check of a CSV looks


def open_file(path: str | os.PathLike[str]) -> Table:
    """The table in one Parquet or CSV file."""
    file = Path(path)
    if not file.exists():
        raise DataError(f"data: there is no file {str(file)!r}")
    if file.is_dir():
        raise DataError(f"data: {str(file)!r} is a folder; pass one Parquet or CSV file")
    kinds: dict[str, type[ParquetTable] | type[CsvTable]] = {".parquet": ParquetTable, ".csv": CsvTable}
    kind = kinds.get(file.suffix.lower())
    if kind is None:
        raise DataError(f"data: {str(file)!r} must end in .parquet or .csv")
    try:
        return kind(file)
    except (OSError, pa.ArrowException):
        raise DataError(f"data: {str(file)!r} cannot be read as a {file.suffix[1:]} file; it may be damaged") from None


class ParquetTable(Sealed):
    """A Parquet file: its footer names the columns and their types."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._schema = pq.read_schema(path)
        self.names = tuple(self._schema.names)
        self.width = len(self.names)

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        for name in columns or self.names:
            kind = self._schema.field(name).type
            if not arrow_is_numeric(kind):
                raise not_numeric(name, kind)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        chosen = list(columns or self.names)
        try:
            with pq.ParquetFile(self._path) as file:
                for batch in file.iter_batches(batch_size=piece_rows(len(chosen)), columns=chosen):
                    yield partial(_numbers, [batch.column(name) for name in chosen])
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None


class CsvTable(Sealed):
    """A CSV file with a header line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            if not file.readline(LONGEST_LINE).strip():
                raise DataError(f"data: {str(path)!r} has no header line that names its columns")
        with self._open(None) as reader:
            self.names = tuple(reader.schema.names)
        self.width = len(self.names)

    def _open(self, columns: Sequence[str] | None) -> Any:
        text = None if columns is None else {name: pa.binary() for name in columns}
        return pyarrow.csv.open_csv(
            pa.PythonFile(SeparateLines(self._path), mode="r"),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=None if columns is None else list(columns),
                column_types=text,
                strings_can_be_null=True,
                check_utf8=False,
            ),
            read_options=pyarrow.csv.ReadOptions(block_size=2**22),
            parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip"),  # noqa: ARG005
        )

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        """Refuse a column none of whose first cells is a number: the wrong column, not a bad row."""
        chosen = list(columns or self.names)
        with self._open(chosen) as reader:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        for name in chosen:
            cells = batch.column(name).slice(0, SNIFF_ROWS)
            if cells.null_count < len(cells) and _parse(cells).null_count == len(cells):
                raise not_numeric(name, "text")

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        chosen = list(columns or self.names)
        try:
            with self._open(chosen) as reader:
                for batch in reader:
                    yield partial(_numbers, [batch.column(name) for name in chosen])
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None


class SeparateLines(io.RawIOBase):
    """A text file whose lines cannot affect one another.

    An unbalanced quote would swallow the rows after it, and a line longer than the parser's block would stop it: one
    person could move many rows. So quotes are removed from lines where they do not balance (values never span lines),
    and a line of more than 64 KiB is left out.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("rb")
        self._rest = b""  # an unfinished line
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = self._file.read(2**22)
            if not block and not self._rest:
                return 0
            lines, end, self._rest = (self._rest + block).rpartition(b"\n") if block else (self._rest, b"\n", b"")
            self._rest = self._rest[: LONGEST_LINE + 1]  # an endless line needs no more to be left out
            self._ready = separate(lines + end) if end else b""
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def separate(lines: bytes) -> bytes:
    """Whole lines with unbalanced quotes removed and over-long lines left out."""
    text = np.frombuffer(lines, dtype=np.uint8)
    ends = np.flatnonzero(text == NEWLINE) + 1
    starts = np.concatenate([[0], ends[:-1]])
    odd = np.add.reduceat((text == QUOTE).astype(np.int64), starts) % 2 == 1
    long = ends - starts > LONGEST_LINE
    if not (odd.any() or long.any()):
        return lines
    keep = ~np.repeat(long, ends - starts) & ~(np.repeat(odd, ends - starts) & (text == QUOTE))
    return bytes(text[keep].tobytes())


def _parse(cells: Any) -> Any:
    """Text cells as float64; whatever is not a number is null."""
    number = pc.match_substring_regex(cells, NUMBER)
    text = pc.if_else(number, cells, pa.scalar(None, pa.binary())).cast(pa.string())
    return pc.ascii_trim_whitespace(text).cast(pa.float64())


def _numbers(columns: list[Any]) -> NDArray[np.float64]:
    parsed = (_parse(each) if pa.types.is_binary(each.type) else each for each in columns)
    return np.stack([arrow_numbers(each) for each in parsed])


def _broken(path: Path) -> DataError:
    return DataError(f"data: {str(path)!r} broke off while it was read; nothing is published, the charge stays")
