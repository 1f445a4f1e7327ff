"""Parquet and CSV files as tables. Opening one reads its schema; the engine reads the rows later, after the charge.

A CSV has no schema. Its chosen columns are read as text, and a cell that is not a number is a missing value: a bad row
never raises, and no message repeats what a cell held.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
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
from covey.private.tables import Piece, Places, Table, arrow_is_numeric, arrow_numbers, not_numeric, piece_rows

NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*$"
BOM, QUOTE = b"\xef\xbb\xbf", b'"'
COMMA, NEWLINE, SPACE = 44, 10, 32
LONGEST_LINE = 2**16
LONGEST_COUNT = 9  # digits of a column name that is a number
READ_VALUES = 2**21  # values of a batch that is thinned
SNIFF_ROWS = 1000  # how far the schema check of a CSV looks


def open_file(path: str | os.PathLike[str]) -> Table:
    """The table in one Parquet or CSV file."""
    if set("\r\n") & set(str(path)):  # the content of a file instead of its path: rows, not to be repeated
        raise DataError("data: is a text of several lines, not the path of a file; save it as a file first")
    file = Path(path)
    try:
        found = file.exists()
    except OSError:  # too long for a path, and so perhaps a row
        raise DataError("data: is not a path that can be looked up; pass that of a Parquet or CSV file") from None
    if not found:
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

    def rows(self) -> int:
        try:
            with pq.ParquetFile(self._path) as file:
                return int(file.metadata.num_rows)
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        wanted = list(columns or self.names)
        try:
            with pq.ParquetFile(self._path) as file:
                batches = file.iter_batches(batch_size=READ_VALUES // len(wanted) + 1, columns=wanted)
                yield from _thinned(batches, wanted, places)
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None


class CsvTable(Sealed):
    """A CSV file with a header line. Every line after it that is not empty is one row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            header = file.readline(LONGEST_LINE + 1).removeprefix(BOM)
        if not header.strip() or len(header) > LONGEST_LINE:
            raise DataError(f"data: {str(path)!r} has no header line that names its columns")
        if b"\r" in header.rstrip(b"\r\n"):  # the whole file would be its header, and every row a name to publish
            raise DataError(f"data: lines of {str(path)!r} end in carriage returns; save it with newlines")
        try:
            names = pyarrow.csv.read_csv(io.BytesIO(separate(header.rstrip(b"\r\n") + b"\n"))).column_names
        except UnicodeDecodeError:
            raise DataError(f"data: the header line of {str(path)!r} is not UTF-8 text") from None
        if _look_like_a_row(names):
            raise DataError(
                f"data: the first line of {str(path)!r} holds numbers, not names of columns; add a header line"
            )
        self.names = tuple(names)
        self.width = len(self.names)

    def _open(self, columns: Sequence[str]) -> Any:
        return pyarrow.csv.open_csv(
            pa.PythonFile(SeparateLines(self._path, cells=self.width), mode="r"),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=list(columns),
                column_types={name: pa.binary() for name in columns},
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

    def rows(self) -> int:
        try:
            with self._open(self.names[:1]) as reader:
                return sum(batch.num_rows for batch in reader)
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        wanted = list(columns or self.names)
        try:
            with self._open(wanted) as reader:
                yield from _thinned(reader, wanted, places)
        except (OSError, pa.ArrowException):
            raise _broken(self._path) from None


def _thinned(batches: Iterable[Any], columns: list[str], places: Iterator[Places]) -> Iterator[Piece]:
    """The rows at the given places, which ascend, of batches that are read once; several batches make a piece."""
    enough = piece_rows(len(columns))
    block, first = np.empty(0, dtype=np.int64), 0
    waiting: list[Any] = []
    held = 0
    for batch in batches:
        end, parts = first + batch.num_rows, []
        while block.size == 0 or block[-1] < end:
            parts.append(block)
            following = next(places, None)
            if following is None:
                block = np.empty(0, dtype=np.int64)
                break
            block = following
        inside = int(np.searchsorted(block, end))
        parts.append(block[:inside])
        block = block[inside:]
        chosen = np.concatenate(parts) - first
        first = end
        if chosen.size:
            waiting.append(batch.take(pa.array(chosen)))
            held += chosen.size
        if held >= enough:
            yield partial(_numbers, [pa.chunked_array([each.column(name) for each in waiting]) for name in columns])
            waiting, held = [], 0
    if held:
        yield partial(_numbers, [pa.chunked_array([each.column(name) for each in waiting]) for name in columns])


class SeparateLines(io.RawIOBase):
    """A text file whose lines cannot affect one another, each of which is one row unless it is empty.

    A quote that is never closed would swallow the rows after it, and a line longer than the parser's block would stop
    it: one person could move many rows. A lone carriage return would make two rows of one, and a line with too few or
    too many cells none: under replace-one the number of rows would not be public. `separate` mends all four.
    """

    def __init__(self, path: Path, *, cells: int) -> None:
        super().__init__()
        self._file = path.open("rb")
        self._cells = cells
        self._ready = b""
        self._rest = self._file.read(len(BOM)).removeprefix(BOM)  # an unfinished line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = self._file.read(2**22)
            if not block and not self._rest:
                return 0
            lines, end, self._rest = (self._rest + block).rpartition(b"\n") if block else (self._rest, b"\n", b"")
            self._rest = self._rest[: 2 * LONGEST_LINE]  # an endless line needs no more to be found too long
            self._ready = separate(lines + end, cells=self._cells) if end else b""
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def separate(lines: bytes, *, cells: int | None = None) -> bytes:
    """Whole lines, mended: each stands for itself and, given the number of `cells`, has that many or is empty.

    Quotes count only where they enclose a whole cell (or stand doubled inside one); in a line with any other quote
    all of them become spaces. A carriage return that does not end a line is a space. A line of more than 64 KiB, or
    with another number of cells, becomes a row of missing values.
    """
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b" ")
    text = np.frombuffer(lines, dtype=np.uint8)
    ends = np.flatnonzero(text == NEWLINE) + 1
    starts = np.concatenate([[0], ends[:-1]])
    commas = np.flatnonzero(text == COMMA)
    if QUOTE in lines:
        quotes = np.flatnonzero(text == ord(QUOTE))
        stray = _stray(text, quotes, ends)
        if stray.size:
            mended = text.copy()
            mended[stray] = SPACE
            return separate(mended.tobytes(), cells=cells)
        commas = commas[np.searchsorted(quotes, commas) % 2 == 0]  # those outside quotes, which balance in every line
    bad = ends - starts > LONGEST_LINE
    if cells is not None and not _evenly(commas, starts, ends, cells - 1):
        bad |= (ends - starts > 1) & (np.bincount(ends.searchsorted(commas, "right"), minlength=len(ends)) != cells - 1)
    if not bad.any():
        return lines
    missing = b"," * (cells - 1) + b"\n" if cells is not None and cells > 1 else b'""\n'
    parts, done = [], 0
    for start, end in zip(starts[bad].tolist(), ends[bad].tolist(), strict=True):
        parts += [lines[done:start], missing]
        done = end
    return b"".join([*parts, lines[done:]])


def _stray(text: NDArray[np.uint8], quotes: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """The quotes of every line in which one does not stand at the edge of a cell, or is never closed."""
    line = ends.searchsorted(quotes, "right")
    many = np.bincount(line, minlength=len(ends))
    opens = (np.arange(len(quotes)) - (np.cumsum(many) - many)[line]) % 2 == 0
    beside = text[np.where(opens, quotes - 1, quotes + 1)]  # the byte before the first line is the last: a newline
    misplaced = (beside != ord(QUOTE)) & (beside != COMMA) & (beside != NEWLINE)
    wrong = (many % 2 == 1) | (np.bincount(line[misplaced], minlength=len(ends)) > 0)
    stray: NDArray[np.intp] = quotes[wrong[line]]
    return stray


def _evenly(commas: NDArray[np.intp], starts: NDArray[np.intp], ends: NDArray[np.intp], each: int) -> bool:
    """Whether every line holds that many commas: the quick look that nearly every block passes."""
    if len(commas) != each * len(ends):
        return False
    table = commas.reshape(len(ends), each)
    return each == 0 or bool((table[:, 0] >= starts).all() and (table[:, -1] < ends).all())


def _look_like_a_row(names: Sequence[str]) -> bool:
    """Whether a header holds numbers that do not count columns: the file then begins with a person's row.

    Names may count: from 0 or 1, by their own place in the line, or as three or more whole numbers in a row (years).
    Several numbers in one cell ("12.5;47.3") are a row with another separator.
    """
    cells = ([part for part in re.split(r"[\s;|,]+", name) if part] for name in names)
    numbers = [(i, cell) for i, cell in enumerate(cells) if cell and all(re.fullmatch(NUMBER, part) for part in cell)]
    if not numbers:
        return False
    if any(len(cell) > 1 or not cell[0].isdecimal() or len(cell[0]) > LONGEST_COUNT for _, cell in numbers):
        return True
    counted = [int(cell[0]) for _, cell in numbers]
    first, place = counted[0], numbers[0][0]
    plausible = first in (0, 1, place, place + 1) or len(counted) >= 3
    return not (plausible and counted == [*range(first, first + len(counted))])


def _parse(cells: Any) -> Any:
    """Text cells as float64; whatever is not a number is null."""
    number = pc.match_substring_regex(cells, NUMBER)
    text = pc.if_else(number, cells, pa.scalar(None, pa.binary())).cast(pa.string())
    return pc.ascii_trim_whitespace(text).cast(pa.float64())


def _numbers(columns: list[Any]) -> NDArray[np.float64]:
    parsed = (_parse(each) if pa.types.is_binary(each.type) else each for each in columns)
    return np.stack([arrow_numbers(each) for each in parsed])


def _broken(path: Path) -> DataError:
    return DataError(f"data: {str(path)!r} broke off while it was read; nothing is published, any charge stays")
