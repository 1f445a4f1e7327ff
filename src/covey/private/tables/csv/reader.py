"""CSV files, compressed or not: a stream of bytes, cut into blocks of whole records that threads parse on their own.

A CSV has no schema. A cell that is not a number is a missing value: a bad row never raises, and no message repeats
what a cell held. What a record is, `csv_records` says; records cannot affect one another, and so the cut into blocks
never shows. One record is one row: one that is too long, or has too few or too many cells, is a row of missing values.
"""

from __future__ import annotations

import io
import lzma
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from covey.errors import DataError
from covey.private.engines.base import Sealed
from covey.private.tables.csv import records as csv_records
from covey.private.tables.csv.records import BOM, COMMA, LONGEST_HEADER, NEWLINE, RETURN, Places, blocks
from covey.private.tables.one_file import Task

NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*$"
SPACE = 32
NEARLY = r"[+-]?[\d.]*\d[\d.]*([eE][+-]?\d*)?"  # a number with a slip in it: ".0.5", "1.2.3"
LONGEST_COUNT = 9  # digits of a column name that is a number
BLOCK = 2**22  # bytes that are read at a time
SNIFF_ROWS = 1000  # how far the schema check looks
SNIFF_BLOCK = 2**17
MISSING = pa.array([text.encode() for text in pyarrow.csv.ConvertOptions().null_values])
STREAMS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class CsvPart(Sealed):
    """A CSV file whose first record names the columns. Every record after it is one row.

    An empty line is a record if there is one column, whose value it lacks: that is how polars and Arrow write one. With
    several columns no writer makes one, and it is none. Lines end as that of the header does: where it ends in a
    newline alone, a carriage return before a newline belongs to the value, as pandas writes it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as file:
            header = csv_records.read_header(file)
        if not header.strip() or len(header) > LONGEST_HEADER:
            raise DataError(f"data: {str(path)!r} has no header line that names its columns")
        self._header = header if header.endswith(b"\n") else header + b"\n"
        self._returns = header.endswith(b"\r\n")
        header = header.rstrip(b"\r\n")
        if b"\r" in re.sub(rb'"[^"]*"', b"", header):  # perhaps the whole file, and every row a name to publish
            raise DataError(f"data: lines of {str(path)!r} end in carriage returns; save it with newlines")
        if not csv_records.is_whole(header):  # what follows may be rows
            raise DataError(f"data: in the header line of {str(path)!r} a quote does not enclose a name; mend it")
        try:
            names = [cell.decode() for cell in csv_records.cells(header)]
        except UnicodeDecodeError:
            raise DataError(f"data: the header line of {str(path)!r} is not UTF-8 text") from None
        if _look_like_a_row(names):
            raise DataError(
                f"data: the first line of {str(path)!r} holds numbers, not names of columns; add a header line"
            )
        self.names = tuple(names)

    def kind(self, name: str) -> Any:  # noqa: ARG002
        return pa.binary()

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """A column none of whose first cells is a number: the wrong column, not a bad row."""
        found = []
        for block in self._blocks(SNIFF_BLOCK) if columns else ():
            found.append(_read(block, self.names, [], columns, returns=self._returns))
            if sum(each.num_rows for each in found) >= SNIFF_ROWS:
                break
        for name in columns if found else ():
            cells = pa.chunked_array([chunk for each in found for chunk in each.column(name).chunks], pa.binary())
            cells = cells.slice(0, SNIFF_ROWS)
            given = pc.invert(pc.is_in(cells, value_set=MISSING))
            if pc.any(given).as_py() and parse(cells).null_count == len(cells):
                return name, "text"
        return None

    def tasks(self, columns: Sequence[str], *, person: str | None = None) -> Iterator[Task]:
        texts = [] if person is None else [person]
        numbers = [name for name in columns if name != person]
        for block in self._blocks(BLOCK):
            read = partial(_read, block, self.names, numbers, texts, returns=self._returns)
            yield Task(partial(_count, block, len(self.names)), read)

    def rows(self) -> int:
        return sum(_count(block, len(self.names)) for block in self._blocks(BLOCK))

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """Records to the byte, none of those that are too long to be read whole.

        Refuses a file in which a quote is misplaced or left open: a row could carry others away in one of its cells.
        """
        found, done = [self._header], 0
        for block in self._blocks(BLOCK, mend=False):
            if b'"' in block and not csv_records.is_whole(block):
                raise DataError(
                    "data: a quote in a row is misplaced or never closed, so rows may run together; mend it"
                )
            ends = csv_records.record_ends(block)
            starts = np.concatenate([[0], ends[:-1]])
            if len(self.names) > 1:
                rows = ~_empty(block, ends)
                starts, ends = starts[rows], ends[rows]
            chosen = keep[done : done + len(ends)]
            found += [block[a:b] for a, b in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)]
            done += len(ends)
        return b"".join(found)

    def _blocks(self, size: int, *, mend: bool = True) -> Iterator[bytes]:
        with opened(self.path) as file:
            csv_records.read_header(file)
            yield from blocks(file, size, mend=mend)


def opened(path: Path) -> IO[bytes]:
    """The text of a file, as bytes, decompressed by the ending of its name."""
    ending = path.suffix.lower()
    if ending == ".xz":
        return lzma.open(path)
    if ending in STREAMS:
        return io.BufferedReader(pa.input_stream(str(path), compression=STREAMS[ending]), 2**16)
    return path.open("rb")


def _read(
    records: bytes, names: Sequence[str], numbers: Sequence[str], texts: Sequence[str], *, returns: bool = True
) -> Any:
    """Columns of whole records: of `numbers` as float64 where every cell is one, else as bytes, and `texts` as bytes.

    Texts come to the byte. To numbers a carriage return is a space: without texts it never matters whose it is.
    """
    records, rows = separate(records, cells=len(names), returns=returns or not texts, exact=bool(texts))
    if records.startswith(BOM):  # in the middle of a file it is part of a cell; the parser would drop the first one
        records = BOM + records
    wanted = [*numbers, *texts]
    places = [str(names.index(name)) for name in wanted]
    kinds = dict.fromkeys(places, pa.binary())
    try:
        table = _table(records, len(names), kinds | dict.fromkeys(places[: len(numbers)], pa.float64()))
    except pa.ArrowInvalid:
        table = _table(records, len(names), kinds)
    columns = [*table.columns[: len(numbers)], *(_given(cells) for cells in table.columns[len(numbers) :])]
    table = pa.Table.from_arrays(columns, names=wanted)
    return table if rows is None else table.take(rows)


def _given(cells: Any) -> Any:
    return pc.if_else(pc.equal(cells, b""), pa.scalar(None, pa.binary()), cells)


def _table(records: bytes, width: int, kinds: dict[str, Any]) -> Any:
    """All records as one block of the parser: it does not look for their ends in a way of its own."""
    return _parsed(
        pa.BufferReader(records),
        read_options=pyarrow.csv.ReadOptions(
            column_names=[str(i) for i in range(width)], use_threads=False, block_size=len(records) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            newlines_in_values=True,
            ignore_empty_lines=width > 1,
            invalid_row_handler=lambda row: "skip",  # noqa: ARG005
        ),
        convert_options=pyarrow.csv.ConvertOptions(include_columns=[*kinds], column_types=kinds, check_utf8=False),
    )


def _parsed(source: Any, **options: Any) -> Any:
    """A table, never parsed on the main thread: there pyarrow takes Ctrl-C over, and now and then loses one."""
    if threading.current_thread() is not threading.main_thread():
        return pyarrow.csv.read_csv(source, **options)
    with ThreadPoolExecutor(1) as helper:
        return helper.submit(pyarrow.csv.read_csv, source, **options).result()


def _count(records: bytes, cells: int) -> int:
    """The rows in whole records."""
    ends = csv_records.record_ends(records)
    return len(ends) if cells == 1 else int(np.count_nonzero(~_empty(records, ends)))


def _empty(records: bytes, ends: Places) -> NDArray[np.bool_]:
    """Which records are empty lines."""
    lengths = np.diff(ends, prepend=0)
    empty = lengths == 1
    if b"\r" in records:
        text = np.frombuffer(records, dtype=np.uint8)
        empty |= (lengths == 2) & (text[ends - 2] == RETURN)
    return np.asarray(empty)


def parse(cells: Any) -> Any:
    """Cells of bytes as float64; whatever is not a number is null."""
    number = pc.match_substring_regex(cells, NUMBER)
    text = pc.if_else(number, cells, pa.scalar(None, pa.binary())).cast(pa.string())
    return pc.ascii_trim_whitespace(text).cast(pa.float64())


def separate(records: bytes, *, cells: int, returns: bool = True, exact: bool = False) -> tuple[bytes, Any]:
    """Whole records, mended: the parser sees those with that many cells. And for each row its place among what it sees.

    A record of more than 1 MiB, or with another number of cells, is a row of missing values, whose place is null; it is
    left out, because in a wide file its empty cells could take a thousand times its length. Without such a record the
    places are None. Where a quote is misplaced, all cells are put in quotes. The parser would end a record at a
    carriage return outside quotes: unless it stands before the newline and `returns` says that lines end so, it becomes
    a space, or if values have to be `exact` is put in quotes.
    """
    text = np.frombuffer(records, dtype=np.uint8)
    ends, commas = np.flatnonzero(text == NEWLINE) + 1, np.flatnonzero(text == COMMA)
    lone = _lone(records, text, returns=returns)
    odd = np.empty(0, dtype=np.intp)  # in records that have to be written anew
    if b'"' in records:
        turns, odd = csv_records.marks(records)
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
        parts += [records[done:start], b"" if gone else _anew(records[start:end], returns=returns)]
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


def _anew(record: bytes, *, returns: bool) -> bytes:
    record = record.removesuffix(b"\n")
    return csv_records.written(csv_records.cells(record.removesuffix(b"\r") if returns else record))


def _evenly(commas: NDArray[np.intp], starts: NDArray[np.intp], ends: NDArray[np.intp], each: int) -> bool:
    """Whether every line holds that many commas: the quick look that nearly every block passes."""
    if len(commas) != each * len(ends):
        return False
    table = commas.reshape(len(ends), each)
    return each == 0 or bool((table[:, 0] >= starts).all() and (table[:, -1] < ends).all())


def _nearly(part: str) -> bool:
    return re.fullmatch(NUMBER, part) is not None or re.fullmatch(NEARLY, part) is not None


def _look_like_a_row(names: Sequence[str]) -> bool:
    """Whether a header holds numbers that do not count columns: the file then begins with a person's row.

    Names may count: from 0 or 1, by their own place in the line, or as three or more whole numbers in a row (years).
    Several numbers in one cell ("12.5;47.3") are a row with another separator; so is a number with a slip (".0.5").
    A name of several lines must not have such a line: it may be a row that a quote took in.
    """
    below = [line for name in names for line in name.splitlines()[1:]]
    if any("," in line and _look_like_a_row([line]) for line in below):
        return True
    cells = ([part for part in re.split(r"[\s;|,]+", name) if part] for name in names)
    numbers = [(i, cell) for i, cell in enumerate(cells) if cell and all(map(_nearly, cell))]
    if not numbers:
        return False
    if any(len(cell) > 1 or not cell[0].isdecimal() or len(cell[0]) > LONGEST_COUNT for _, cell in numbers):
        return True
    counted = [int(cell[0]) for _, cell in numbers]
    first, place = counted[0], numbers[0][0]
    plausible = first in (0, 1, place, place + 1) or len(counted) >= 3
    return not (plausible and counted == [*range(first, first + len(counted))])
