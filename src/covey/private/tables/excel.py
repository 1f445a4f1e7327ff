"""Sheets of Excel workbooks (.xlsx), by calamine. A workbook cannot be streamed: it is unpacked into memory as a whole.

Every row of the sheet below the header line is a row, up to the last that the file holds. Calamine leaves out blank
ones at the end, which are people whose values are missing: how far a sheet goes is looked up in the file. No XML is
parsed here but for the names and numbers that a few patterns find, and so no entity of it means anything.
"""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa
import python_calamine as calamine

from covey.errors import DataError, ParameterError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.base import piece_rows
from covey.private.tables.csv.header import look_like_a_row
from covey.private.tables.csv.reader import parse
from covey.private.tables.json.records import as_id
from covey.private.tables.one_file import Task, held

MOST_UNPACKED = 2**30  # bytes of a workbook, before anything of it is parsed
SNIFF_ROWS = 1000  # how far the schema check looks
BLOCK = 2**20
SHEET = re.compile(rb"""<(?:\w+:)?sheet\s[^>]*?\w+:id=["']([^"']+)""")
RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
ROW = re.compile(rb"""<!\[CDATA\[|<(?:\w+:)?row(?=[\s/>])(?:\s[^>]*?\br=["'](\d{1,7})["'])?[^>]*>""")
TEXT, TEXT_END = b"<![CDATA[", b"]]>"  # around text in which a tag is none
LONGEST_TAG = 2**16
MOST_ROWS = 2**20  # of a sheet: blank ones that a file claims beyond are none


class SheetPart(Sealed):
    """The sheet of a workbook that was declared, or the only one that is shown."""

    typed = False
    geometry = None

    def __init__(self, path: Path, source: File) -> None:
        self.path, self._first = path, source.header_line
        _check_size(path)
        with _opened(path) as book:
            self._sheet = _chosen(path, book, source.sheet)
            header = _header(book, self._sheet, source.header_line)
            self._file = _file_of(path, book.sheet_names.index(self._sheet))
        self._columns = {name: place for place, name in enumerate(header) if name}
        self.names = tuple(name for name in header if name)
        where = f"line {self._first} of the sheet in {str(path)!r}"
        if not self.names:
            raise DataError(f"data: {where} names no columns; give header_line (--header-line)")
        if look_like_a_row(self.names):
            raise DataError(f"data: {where} holds numbers, not names of columns; give header_line (--header-line)")
        self._lock = threading.Lock()
        self._cells: list[list[Any]] | None = None
        self._blank = 0  # rows behind the last one with a cell
        self._held: dict[tuple[str, str], Any] = {}

    def kind(self, name: str) -> Any:  # noqa: ARG002
        return pa.binary()

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """A column none of whose first cells is a number: the wrong column, not a bad row."""
        rows = self._first_rows() if columns else []
        for name in columns:
            cells = [row[self._columns[name]] for row in rows]
            if any(cell != "" for cell in cells) and _numbers(cells).null_count == len(cells):
                return name, "text"
        return None

    def first_cells(self, name: str) -> Any:
        return _ids([row[self._columns[name]] for row in self._first_rows()])

    def _first_rows(self) -> list[list[Any]]:
        with _opened(self.path) as book:
            return _cells(book, self._sheet, self._first + SNIFF_ROWS)[self._first :]

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        found = {name: self._column(name, "number", _numbers) for name in columns}
        found |= {name: self._column(name, "id", _ids) for name in texts}
        table, step = pa.table(found), piece_rows(len(found))
        for start in range(0, table.num_rows, step):
            yield held(table.slice(start, step))

    def rows(self) -> int:
        return len(self._column(self.names[0], "id", _ids))

    def _column(self, name: str, kind: str, convert: Callable[[Sequence[Any]], Any]) -> Any:
        """A column in memory, converted once: of as many cells as the sheet has rows, blank or not."""
        with self._lock:
            if (name, kind) not in self._held:
                if self._cells is None:
                    with _opened(self.path) as book:
                        self._cells = _cells(book, self._sheet, None)[self._first :]
                    last = min(_last_row(self.path, self._file), MOST_ROWS)
                    self._blank = max(0, last - self._first - len(self._cells))
                place = self._columns[name]
                cells = convert([row[place] for row in self._cells])
                self._held[name, kind] = pa.concat_arrays([cells, pa.nulls(self._blank, cells.type)])
            return self._held[name, kind]


def _opened(path: Path) -> Any:
    try:
        return calamine.load_workbook(str(path))
    except calamine.PasswordError:
        raise DataError(f"data: {str(path)!r} is encrypted; save it without a password") from None
    except calamine.CalamineError:
        raise OSError from None


def _check_size(path: Path) -> None:
    """Refuse a workbook that unpacks to more than memory may hold, or to something else than it says."""
    with ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > MOST_UNPACKED:
            raise DataError(f"data: {str(path)!r} unpacks to more than 1 GiB; save it as CSV or Parquet")
        if archive.testzip() is not None:
            raise BadZipFile


def _chosen(path: Path, book: Any, wanted: str | None) -> str:
    sheets = [each for each in book.sheets_metadata if each.typ == calamine.SheetTypeEnum.WorkSheet]
    shown = [each.name for each in sheets if each.visible == calamine.SheetVisibleEnum.Visible]
    options = ", ".join(repr(each.name) for each in sheets)
    if wanted is None and len(shown) != 1:
        raise ParameterError("sheet", f"{str(path)!r} has several sheets: choose one of {options}")
    if wanted is not None and wanted not in [each.name for each in sheets]:
        raise ParameterError("sheet", f"{str(path)!r} has no sheet {wanted!r}; it has {options}")
    return shown[0] if wanted is None else wanted


def _header(book: Any, sheet: str, line: int) -> list[str]:
    rows = _cells(book, sheet, line)
    return [_name(cell) for cell in rows[line - 1]] if len(rows) >= line else []


def _name(cell: Any) -> str:
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _cells(book: Any, sheet: str, most: int | None) -> list[list[Any]]:
    """The cells of a sheet, from its first line on."""
    try:
        found = book.get_sheet_by_name(sheet)
    except calamine.CalamineError:
        raise OSError from None
    return [*islice(_rows(found.iter_rows(), [""] * found.width), most)]


def _rows(rows: Iterator[list[Any]], blank: list[Any]) -> Iterator[list[Any]]:
    """Rows one by one: where calamine stumbles over a date beyond all calendars, one of missing values."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except BaseException as error:  # a panic of Rust is no Exception, and cannot be imported
            if not (isinstance(error, OverflowError) or type(error).__name__ == "PanicException"):
                raise
            row = blank
        yield row


def _file_of(path: Path, number: int) -> str:
    """The file in a workbook that holds a sheet."""
    with ZipFile(path) as archive:
        ids = SHEET.findall(archive.read("xl/workbook.xml"))
        for found in RELATION.findall(archive.read("xl/_rels/workbook.xml.rels")):
            if _attribute(found, b"Id") == ids[number]:
                target = PurePosixPath("/xl") / _attribute(found, b"Target").decode()
                return str(target).lstrip("/")
    raise BadZipFile


def _attribute(tag: bytes, name: bytes) -> bytes:
    found = re.search(rb"\s" + name + rb"""=["']([^"']*)""", tag)
    return b"" if found is None else found[1]


def _last_row(path: Path, member: str) -> int:
    """The number of the last row of a sheet, blank or not: rows say their number, or follow the one before."""
    last, rest = 0, b""
    with ZipFile(path) as archive, archive.open(member) as file:
        while block := file.read(BLOCK):
            text = rest + block
            done = 0
            while found := ROW.search(text, done):
                done = found.end()
                if found[0] != TEXT:
                    last = int(found[1] or last + 1)
                elif (done := text.find(TEXT_END, done)) < 0:
                    break
            rest = text[max(done, len(text) - LONGEST_TAG) :] if done >= 0 else TEXT + text[1 - len(TEXT_END) :]
    return last


def _numbers(cells: Sequence[Any]) -> Any:
    """Cells as float64: numbers, true and false, and text that is a number, as in a CSV."""
    texts = [cell.encode(errors="replace") if isinstance(cell, str) else None for cell in cells]
    found = parse(pa.array(texts, pa.binary())).to_pylist()
    plain = [float(cell) if isinstance(cell, int | float) else text for cell, text in zip(cells, found, strict=True)]
    return pa.array(plain, pa.float64())


def _ids(cells: Sequence[Any]) -> Any:
    dates = datetime.date | datetime.time  # told as text, in their ISO form
    return pa.array([as_id(cell.isoformat() if isinstance(cell, dates) else cell) for cell in cells], pa.binary())
