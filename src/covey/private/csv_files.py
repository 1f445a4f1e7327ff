"""CSV files, compressed or not: a stream of bytes, cut into blocks of whole lines that threads parse on their own.

A CSV has no schema. A cell that is not a number is a missing value: a bad row never raises, and no message repeats
what a cell held. Lines cannot affect one another, and so the cut into blocks never shows.

A quote that is never closed would swallow the rows after it, and a line longer than the parser's block would stop it:
one person could move many rows. A lone carriage return would make two rows of one, and a line with too few or too
many cells none: under replace-one the number of rows would not be public. `separate` mends all four.
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
from covey.private.engine import Sealed
from covey.private.parts import Task

NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*$"
BOM, QUOTE = b"\xef\xbb\xbf", b'"'
COMMA, NEWLINE, SPACE = 44, 10, 32
LONGEST_LINE = 2**16
NEARLY = r"[+-]?[\d.]*\d[\d.]*([eE][+-]?\d*)?"  # a number with a slip in it: ".0.5", "1.2.3"
LONGEST_COUNT = 9  # digits of a column name that is a number
BLOCK = 2**22  # bytes that are read at a time
SNIFF_ROWS = 1000  # how far the schema check looks
SNIFF_BLOCK = 2**17
MISSING = pa.array([text.encode() for text in pyarrow.csv.ConvertOptions().null_values])
STREAMS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class CsvPart(Sealed):
    """A CSV file with a header line. Every line after it that is not empty is one row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as file:
            header = file.readline(LONGEST_LINE + 1).removeprefix(BOM)
        if not header.strip() or len(header) > LONGEST_LINE:
            raise DataError(f"data: {str(path)!r} has no header line that names its columns")
        if b"\r" in header.rstrip(b"\r\n"):  # the whole file would be its header, and every row a name to publish
            raise DataError(f"data: lines of {str(path)!r} end in carriage returns; save it with newlines")
        try:
            names = _parsed(io.BytesIO(separate(header.rstrip(b"\r\n") + b"\n"))).column_names
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
            found.append(_read(block, self.names, [], columns))
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
            yield Task(partial(_count, block), partial(_read, block, self.names, numbers, texts))

    def rows(self) -> int:
        return sum(_count(block) for block in self._blocks(BLOCK))

    def _blocks(self, size: int) -> Iterator[bytes]:
        with opened(self.path) as file:
            file.readline(LONGEST_LINE + 1)
            yield from blocks(file, size)


def opened(path: Path) -> IO[bytes]:
    """The text of a file, as bytes, decompressed by the ending of its name."""
    ending = path.suffix.lower()
    if ending == ".xz":
        return lzma.open(path)
    if ending in STREAMS:
        return io.BufferedReader(pa.input_stream(str(path), compression=STREAMS[ending]), 2**16)
    return path.open("rb")


def blocks(file: IO[bytes], size: int) -> Iterator[bytes]:
    """Whole lines, about `size` bytes at a time. Of a line that is too long, enough is kept to find it so."""
    rest = b""
    while block := file.read(size):
        lines, end, rest = (rest + block).rpartition(b"\n")
        rest = rest[: 2 * LONGEST_LINE]
        if end:
            yield lines + end
    if rest:
        yield rest + b"\n"


def _read(lines: bytes, names: Sequence[str], numbers: Sequence[str], texts: Sequence[str]) -> Any:
    """Columns of whole lines: of `numbers` as float64 where every cell is one, else as bytes, and `texts` as bytes."""
    lines = separate(lines, cells=len(names))
    if lines.startswith(BOM):  # in the middle of a file it is part of a cell, but the parser would drop the first one
        lines = BOM + lines
    wanted = [*numbers, *texts]
    places = [str(names.index(name)) for name in wanted]
    kinds = dict.fromkeys(places, pa.binary())
    try:
        table = _table(lines, len(names), kinds | dict.fromkeys(places[: len(numbers)], pa.float64()))
    except pa.ArrowInvalid:
        table = _table(lines, len(names), kinds)
    columns = [*table.columns[: len(numbers)], *(_given(cells) for cells in table.columns[len(numbers) :])]
    return pa.Table.from_arrays(columns, names=wanted)


def _given(cells: Any) -> Any:
    return pc.if_else(pc.equal(cells, b""), pa.scalar(None, pa.binary()), cells)


def _table(lines: bytes, width: int, kinds: dict[str, Any]) -> Any:
    return _parsed(
        pa.BufferReader(lines),
        read_options=pyarrow.csv.ReadOptions(
            column_names=[str(i) for i in range(width)], use_threads=False, block_size=BLOCK
        ),
        parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip"),  # noqa: ARG005
        convert_options=pyarrow.csv.ConvertOptions(include_columns=[*kinds], column_types=kinds, check_utf8=False),
    )


def _parsed(source: Any, **options: Any) -> Any:
    """A table, never parsed on the main thread: there pyarrow takes Ctrl-C over, and now and then loses one."""
    if threading.current_thread() is not threading.main_thread():
        return pyarrow.csv.read_csv(source, **options)
    with ThreadPoolExecutor(1) as helper:
        return helper.submit(pyarrow.csv.read_csv, source, **options).result()


def _count(lines: bytes) -> int:
    """The rows in whole lines: those that are not empty."""
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n")
    ends = np.flatnonzero(np.frombuffer(lines, dtype=np.uint8) == NEWLINE)
    return int(np.count_nonzero(np.diff(ends, prepend=-1) > 1))


def parse(cells: Any) -> Any:
    """Cells of bytes as float64; whatever is not a number is null."""
    number = pc.match_substring_regex(cells, NUMBER)
    text = pc.if_else(number, cells, pa.scalar(None, pa.binary())).cast(pa.string())
    return pc.ascii_trim_whitespace(text).cast(pa.float64())


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


def _nearly(part: str) -> bool:
    return re.fullmatch(NUMBER, part) is not None or re.fullmatch(NEARLY, part) is not None


def _look_like_a_row(names: Sequence[str]) -> bool:
    """Whether a header holds numbers that do not count columns: the file then begins with a person's row.

    Names may count: from 0 or 1, by their own place in the line, or as three or more whole numbers in a row (years).
    Several numbers in one cell ("12.5;47.3") are a row with another separator; so is a number with a slip (".0.5").
    """
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
