"""The header line of a CSV: its names, and how the file writes its cells. It is all that is known before a charge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from covey.errors import DataError
from covey.files import File
from covey.private.tables.csv.records import LONGEST_HEADER, cells, is_whole, read_header, skip_lines
from covey.private.tables.text import opened

NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*$"
NEARLY = r"[+-]?[\d.]*\d[\d.]*([eE][+-]?\d*)?"  # a number with a slip in it: ".0.5", "1.2.3"
MEASURED = r"\d[.,]\d{4}"  # nobody names a column so: digits of a row that damage brought into a name
LONGEST_COUNT = 9  # digits of a column name that is a number
COMMAS = (b",", b";", b"\t", b"|")  # the first that splits the header line is between all cells
OTHER_TEXT = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins
LOST = "\ufffd"  # what stands for a letter that the encoding does not have


class Dialect(NamedTuple):
    """How a file writes its cells: what stands between them, the decimal sign, and whether lines end in two bytes."""

    comma: bytes = b","
    decimal: str = "."
    returns: bool = True


def read_names(path: Path, source: File) -> tuple[tuple[str, ...], Dialect]:
    """The names of the columns, and the dialect: as it was declared, or by the header line alone."""
    comma, header = _first_record(path, source)
    if header.startswith(OTHER_TEXT):
        raise DataError(f"data: {str(path)!r} begins as UTF-16 text does; give encoding='utf-16' (--encoding utf-16)")
    if not header.strip() or len(header) > LONGEST_HEADER:
        raise DataError(f"data: {str(path)!r} has no header line that names its columns")
    dialect = Dialect(comma, source.decimal, header.endswith(b"\r\n"))
    header = header.rstrip(b"\r\n")
    if b"\r" in re.sub(rb'"[^"]*"', b"", header):  # perhaps the whole file, and every row a name to publish
        raise DataError(f"data: lines of {str(path)!r} end in carriage returns; save it with newlines")
    if not is_whole(header, comma):  # what follows may be rows
        raise DataError(f"data: in the header line of {str(path)!r} a quote does not enclose a name; mend it")
    names = _decoded(cells(header, comma), source.encoding)
    if names is None:
        raise DataError(
            f"data: the header line of {str(path)!r} is not {source.encoding.upper()} text; "
            "give its encoding, such as encoding='cp1252' (--encoding cp1252)"
        )
    if any(ord(letter) < ord(" ") and letter not in "\t\r\n" for name in names for letter in name):
        raise DataError(f"data: {str(path)!r} is no text: its first line has letters that cannot be printed")
    if look_like_a_row(names):
        raise DataError(f"data: the first line of {str(path)!r} holds numbers, not names of columns; add a header line")
    return tuple(names), dialect


def _commas(name: Path) -> tuple[bytes, ...]:
    """What may stand between the cells of a file that is called so; in a .tsv it is a tab."""
    return (b"\t",) if {".tsv", ".tab", "tsv", "tab"} & {*name.suffixes, name.name} else COMMAS


def _decoded(header: list[bytes], encoding: str) -> list[str] | None:
    """Names as text, or None where they are not of that encoding."""
    try:
        names = [cell.decode() for cell in header]
    except UnicodeDecodeError:
        return None
    return None if encoding != "utf-8" and any(LOST in name for name in names) else names


def _first_record(path: Path, source: File) -> tuple[bytes, bytes]:
    """What stands between cells, and the header line."""
    told = Path((source.format or path.name).lower())
    choices = _commas(told) if source.delimiter is None else (source.delimiter.encode(),)
    headers = {}
    for comma in choices:
        with opened(path, source) as file:
            skip_lines(file, source.header_line - 1)
            headers[comma] = read_header(file, comma)
        header = headers[comma].rstrip(b"\r\n")
        if is_whole(header, comma) and len(cells(header, comma)) > 1:
            return comma, headers[comma]
    alone = next(comma for comma in choices if len(choices) == 1 or comma.decode() != source.decimal)
    return alone, headers[alone]


def _nearly(part: str) -> bool:
    return re.fullmatch(NUMBER, part) is not None or re.fullmatch(NEARLY, part) is not None


def look_like_a_row(names: Sequence[str]) -> bool:
    """Whether a header holds numbers that do not count columns: the file then begins with a person's row.

    Names may count: from 0 or 1, by their own place in the line, or as three or more whole numbers in a row (years).
    Several numbers in one cell ("12.5;47.3") are a row with another separator, and so is one beside words ("12.5;Ann");
    a number with a slip (".0.5") is one too, and so are the digits of a measurement inside a word ("0.12345x").
    A name of several lines must not have such a line: it may be a row that a quote took in.
    """
    if any(re.search(MEASURED, name) for name in names):
        return True
    below = [line for name in names for line in name.splitlines()[1:]]
    if any(re.search(r"[,;|\t]", line) and look_like_a_row([line]) for line in below):
        return True
    parts = [part.strip() for name in names if re.search(r"[;|,\t]", name) for part in re.split(r"[;|,\t]", name)]
    if any(_nearly(part) and not part.isdecimal() for part in parts):
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
