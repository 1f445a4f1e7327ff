"""CSV files, compressed or not: a stream of bytes, cut into blocks of whole records that threads parse on their own.

A CSV has no schema. A cell that is not a number is a missing value: a bad row never raises, and no message repeats
what a cell held. What a record is, `csv_records` says; records cannot affect one another, and so the cut into blocks
never shows. One record is one row: one that is too long, or has too few or too many cells, is a row of missing values.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from covey.errors import DataError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.csv import records as csv_records
from covey.private.tables.csv.header import NUMBER, Dialect, read_names
from covey.private.tables.csv.records import BOM, NEWLINE, RETURN, Places, blocks
from covey.private.tables.one_file import Task
from covey.private.tables.text import opened

SPACE = 32
BLOCK = 2**22  # bytes that are read at a time
SNIFF_ROWS = 1000  # how far the schema check looks
SNIFF_BLOCK = 2**17
MISSING = pa.array([text.encode() for text in pyarrow.csv.ConvertOptions().null_values])


USUAL = Dialect()
UNSURE = "text; if its numbers are written 12,5 or 12.5, say so: `decimal=','` or `decimal='.'`"


class CsvPart(Sealed):
    """A CSV file whose first record names the columns. Every record after it is one row.

    An empty line is a record if there is one column, whose value it lacks: that is how polars and Arrow write one. With
    several columns no writer makes one, and it is none. Lines end as that of the header does: where it ends in a
    newline alone, a carriage return before a newline belongs to the value, as pandas writes it.
    """

    typed = False
    geometry = None

    def __init__(self, path: Path, source: File | None = None) -> None:
        self.path = path
        self._source = source or File(path)
        self.names, self._dialect = read_names(path, self._source)

    def kind(self, name: str) -> Any:  # noqa: ARG002
        return pa.binary()

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """A column none of whose first cells is a number: the wrong column, not a bad row."""
        found = self._first_cells(columns)
        for name in columns if found else ():
            cells = _joined(found, name)
            given = pc.invert(pc.is_in(cells.drop_null(), value_set=MISSING))
            if pc.any(given).as_py() and parse(cells, self._dialect.decimal).null_count == len(cells):
                return name, "text" if self._dialect[:2] in ((b",", "."), (b";", ",")) else UNSURE
        return None

    def first_cells(self, name: str) -> Any:
        return _joined(self._first_cells([name]), name)

    def _first_cells(self, columns: Sequence[str]) -> list[Any]:
        found = []
        for block in self._blocks(SNIFF_BLOCK) if columns else ():
            found.append(_read(block, self.names, [], columns, self._dialect))
            if sum(each.num_rows for each in found) >= SNIFF_ROWS:
                break
        return found

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        numbers = [name for name in columns if name not in texts]
        for block in self._blocks(BLOCK):
            read = partial(_read, block, self.names, numbers, texts, self._dialect)
            yield Task(partial(_count, block, len(self.names), self._dialect.comma), read)

    def rows(self) -> int:
        return sum(_count(block, len(self.names), self._dialect.comma) for block in self._blocks(BLOCK))

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """Records to the byte, none of those that are too long to be read whole.

        Refuses a file in which a quote is misplaced or left open: a row could carry others away in one of its cells,
        and a header, which always leaves, in a name of several lines.
        """
        if any(len(name.splitlines()) > 1 for name in self.names):
            raise DataError("data: a name in the header line has several lines, which may be rows; mend it")
        comma = self._dialect.comma
        found, done = [self._header()], 0
        for block in self._blocks(BLOCK, mend=False):
            if b'"' in block and not csv_records.is_whole(block, comma):
                raise DataError(
                    "data: a quote in a row is misplaced or never closed, so rows may run together; mend it"
                )
            ends = csv_records.record_ends(block, comma)
            starts = np.concatenate([[0], ends[:-1]])
            if len(self.names) > 1:
                rows = ~_empty(block, ends)
                starts, ends = starts[rows], ends[rows]
            chosen = keep[done : done + len(ends)]
            found += [block[a:b] for a, b in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)]
            done += len(ends)
        return b"".join(found)

    def _header(self) -> bytes:
        with opened(self.path, self._source) as file:
            csv_records.skip_lines(file, self._source.header_line - 1)
            header = csv_records.read_header(file, self._dialect.comma)
        return header if header.endswith(b"\n") else header + b"\n"

    def _blocks(self, size: int, *, mend: bool = True) -> Iterator[bytes]:
        with opened(self.path, self._source) as file:
            csv_records.skip_lines(file, self._source.header_line - 1)
            csv_records.read_header(file, self._dialect.comma)
            yield from blocks(file, size, self._dialect.comma, mend=mend)


def _read(
    records: bytes, names: Sequence[str], numbers: Sequence[str], texts: Sequence[str], dialect: Dialect = USUAL
) -> Any:
    """Columns of whole records: of `numbers` as float64 where every cell is one, else as bytes, and `texts` as bytes.

    Texts come to the byte. To numbers a carriage return is a space: without texts it never matters whose it is.
    """
    returns = dialect.returns or not texts
    records, rows = separate(records, cells=len(names), returns=returns, exact=bool(texts), comma=dialect.comma)
    if records.startswith(BOM):  # in the middle of a file it is part of a cell; the parser would drop the first one
        records = BOM + records
    wanted = [*numbers, *texts]
    places = [str(names.index(name)) for name in wanted]
    kinds = dict.fromkeys(places, pa.binary())
    try:
        table = _table(records, len(names), kinds | dict.fromkeys(places[: len(numbers)], pa.float64()), dialect)
    except pa.ArrowInvalid:
        table = _table(records, len(names), kinds, dialect)
    first = table.columns[: len(numbers)]
    columns = [
        *(with_points(cells, dialect.decimal) for cells in first),
        *(_given(cells) for cells in table.columns[len(numbers) :]),
    ]
    table = pa.Table.from_arrays(columns, names=wanted)
    return table if rows is None else table.take(rows)


def _joined(tables: Sequence[Any], name: str) -> Any:
    """The first cells of a column that was read in several blocks."""
    chunks = [chunk for each in tables for chunk in each.column(name).chunks]
    return pa.chunked_array(chunks, pa.binary()).slice(0, SNIFF_ROWS)


def _given(cells: Any) -> Any:
    return pc.if_else(pc.equal(cells, b""), pa.scalar(None, pa.binary()), cells)


def _table(records: bytes, width: int, kinds: dict[str, Any], dialect: Dialect) -> Any:
    """All records as one block of the parser: it does not look for their ends in a way of its own."""
    return _parsed(
        pa.BufferReader(records),
        read_options=pyarrow.csv.ReadOptions(
            column_names=[str(i) for i in range(width)], use_threads=False, block_size=len(records) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=dialect.comma.decode(),
            newlines_in_values=True,
            ignore_empty_lines=width > 1,
            invalid_row_handler=lambda row: "skip",  # noqa: ARG005
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=[*kinds], column_types=kinds, check_utf8=False, decimal_point=dialect.decimal
        ),
    )


def _parsed(source: Any, **options: Any) -> Any:
    """A table, never parsed on the main thread: there pyarrow takes Ctrl-C over, and now and then loses one."""
    if threading.current_thread() is not threading.main_thread():
        return pyarrow.csv.read_csv(source, **options)
    with ThreadPoolExecutor(1) as helper:
        return helper.submit(pyarrow.csv.read_csv, source, **options).result()


def _count(records: bytes, cells: int, comma: bytes = b",") -> int:
    """The rows in whole records."""
    ends = csv_records.record_ends(records, comma)
    return len(ends) if cells == 1 else int(np.count_nonzero(~_empty(records, ends)))


def _empty(records: bytes, ends: Places) -> NDArray[np.bool_]:
    """Which records are empty lines."""
    lengths = np.diff(ends, prepend=0)
    empty = lengths == 1
    if b"\r" in records:
        text = np.frombuffer(records, dtype=np.uint8)
        empty |= (lengths == 2) & (text[ends - 2] == RETURN)
    return np.asarray(empty)


def with_points(cells: Any, decimal: str) -> Any:
    """Cells of bytes whose numbers have this decimal sign, with points instead; a cell with a point is then none."""
    if decimal == "." or not pa.types.is_binary(cells.type):
        return cells
    known = pc.if_else(pc.match_substring(cells, "."), pa.scalar(None, pa.binary()), cells)
    return pc.replace_substring(known, decimal, ".")


def parse(cells: Any, decimal: str = ".") -> Any:
    """Cells of bytes as float64; whatever is not a number is null."""
    cells = with_points(cells, decimal)
    number = pc.match_substring_regex(cells, NUMBER)
    text = pc.if_else(number, cells, pa.scalar(None, pa.binary())).cast(pa.string())
    return pc.ascii_trim_whitespace(text).cast(pa.float64())


def separate(
    records: bytes, *, cells: int, returns: bool = True, exact: bool = False, comma: bytes = b","
) -> tuple[bytes, Any]:
    """Whole records, mended: the parser sees those with that many cells. And for each row its place among what it sees.

    A record of more than 1 MiB, or with another number of cells, is a row of missing values, whose place is null; it is
    left out, because in a wide file its empty cells could take a thousand times its length. Without such a record the
    places are None. Where a quote is misplaced, all cells are put in quotes. The parser would end a record at a
    carriage return outside quotes: unless it stands before the newline and `returns` says that lines end so, it becomes
    a space, or if values have to be `exact` is put in quotes.
    """
    text = np.frombuffer(records, dtype=np.uint8)
    ends, commas = np.flatnonzero(text == NEWLINE) + 1, np.flatnonzero(text == comma[0])
    lone = _lone(records, text, returns=returns)
    odd = np.empty(0, dtype=np.intp)  # in records that have to be written anew
    if b'"' in records:
        turns, odd = csv_records.marks(records, comma)
        inside = csv_records.quoted(len(text), turns)
        ends, commas, lone = ends[~inside[ends - 1]], commas[~inside[commas]], lone[~inside[lone]]
    if exact:
        odd = np.concatenate([odd, lone])
    elif lone.size:
        mended = text.copy()
        mended[lone] = SPACE
        records = mended.tobytes()
    starts = np.concatenate([[0], ends[:-1]])
    bad = ends - starts > csv_records.LONGEST_RECORD
    if not _evenly(commas, starts, ends, cells - 1):
        many = np.bincount(ends.searchsorted(commas, "right"), minlength=len(ends))
        bad |= many != cells - 1
    anew = bad.copy()
    anew[ends.searchsorted(odd, "right")] = True
    if cells > 1 and anew.any():
        anew &= ~_empty(records, ends)
    if not anew.any():
        return records, None
    parts, done = [], 0
    for start, end, gone in zip(starts[anew].tolist(), ends[anew].tolist(), bad[anew].tolist(), strict=True):
        parts += [records[done:start], b"" if gone else _anew(records[start:end], comma, returns=returns)]
        done = end
    whole = b"".join([*parts, records[done:]])
    lost = (bad & anew)[~_empty(records, ends)] if cells > 1 else bad
    if not lost.any():
        return whole, None
    return whole or b"\n", pa.array(np.cumsum(~lost) - 1, mask=lost)


def _lone(records: bytes, text: NDArray[np.uint8], *, returns: bool) -> Places:
    """The carriage returns that do not end a line, if those outside quotes are looked at."""
    if b"\r" not in records:
        return np.empty(0, dtype=np.intp)
    found = np.flatnonzero(text == RETURN)
    return found[text[found + 1] != NEWLINE] if returns else found


def _anew(record: bytes, comma: bytes, *, returns: bool) -> bytes:
    record = record.removesuffix(b"\n")
    record = record.removesuffix(b"\r") if returns else record
    return csv_records.written(csv_records.cells(record, comma), comma)


def _evenly(commas: NDArray[np.intp], starts: NDArray[np.intp], ends: NDArray[np.intp], each: int) -> bool:
    """Whether every line holds that many commas: the quick look that nearly every block passes."""
    if len(commas) != each * len(ends):
        return False
    table = commas.reshape(len(ends), each)
    return each == 0 or bool((table[:, 0] >= starts).all() and (table[:, -1] < ends).all())
