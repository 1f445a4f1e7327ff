"""Getting a set: download, read, compare with the checksum of the rows that results come from, write. Or nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from functools import cache
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np

from covey.bench.data.sources import SOURCES, Reader, Source
from covey.bench.sets import UTILITY, DataSet, Floats, Ranges, table_of, write_table
from covey.errors import DataError, ParameterError
from covey.files import write_whole

MOST_BYTES = 2**28
TIMEOUT = 60  # seconds without an answer
LOCAL = ("127.0.0.1", "localhost", "::1")


def find(names: tuple[str, ...]) -> list[Source]:
    """The sources of these names, or of all; an error that lists them if there is no such set."""
    known = {each.file: each for each in SOURCES}
    for name in names:
        if name not in known:
            raise ParameterError("sets", f"{name!r} is none of {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] or list(SOURCES)


@cache
def bounds_of(file: str) -> Ranges:
    """The public bounds of all columns of a file that any benchmark uses."""
    from covey.bench.coverage.suite import OTHERS
    from covey.bench.ipsn17.tasks import SETS

    own: list[DataSet] = [each for each in (*UTILITY, *OTHERS, *SETS.values()) if each.file == file]
    return max(own, key=lambda each: each.dimension).bounds


def in_words(bounds: Ranges) -> str:
    """Bounds as the command line takes them; columns that share a range are told once if they are many."""
    if len({(low, high) for _, low, high in bounds}) == 1 and len(bounds) > 3:
        (first, low, high), (last, _, _) = bounds[0], bounds[-1]
        return f"{first} to {last}: {low:g}:{high:g} each"
    return ",".join(f"{name}={low:.10g}:{high:.10g}" for name, low, high in bounds)


def state(source: Source, folder: Path | None) -> str:
    """Whether the file is in the folder: the one used, the same rows in another file, another file, or none."""
    path = None if folder is None else folder / f"{source.file}.parquet"
    if path is None or not path.is_file():
        return "not here"
    if hashlib.sha256(path.read_bytes()).hexdigest() == source.sha256:
        return "here"
    try:
        same = bool(source.rows) and checksum(table_of(path, _names(source))) == source.rows
    except DataError:
        same = False
    return "here, the same rows" if same else "another file is here"


def get(source: Source, folder: Path) -> str:
    """Put the set into the folder, whole, if it can be got and is what it should be; what was done, in words."""
    if (before := state(source, folder)).startswith("here"):
        return f"is {before}"
    if before == "another file is here":
        raise DataError(f"data: {source.file}.parquet is another file than the one used; move it away to get the set")
    if source.reader is None:
        raise DataError(f"data: {source.file} cannot be got: it was made from {source.source} ({source.made})")
    lines = [line for address in source.addresses for line in download(address).splitlines()]
    rows = read_lines(lines, source.reader)
    if (found := checksum(rows)) != source.rows:
        what = f"{len(rows):,} rows of checksum {found[:12]}, not {source.count:,} of {source.rows[:12]}"
        raise DataError(f"data: what was sent for {source.file} is another set ({what}); nothing was written")
    content = io.BytesIO()
    write_table(content, rows, _names(source))
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{source.file}.parquet", content.getvalue())
    return f"was written: {len(rows):,} rows, checksum {found[:12]}"


def _names(source: Source) -> list[str]:
    return [name for name, _, _ in bounds_of(source.file)]


def download(address: str) -> str:
    """The text at an address, unpacked if it is packed; over https, or from this machine."""
    _check_address(address)
    try:
        with urlopen(address, timeout=TIMEOUT) as answer:
            sent, content = answer.url, answer.read(MOST_BYTES + 1)
            wanted = int(answer.headers.get("Content-Length", len(content)))
    except (URLError, OSError, ValueError, HTTPException) as error:
        raise DataError(f"data: cannot get {address}: {getattr(error, 'reason', None) or error}") from None
    _check_address(sent)  # where the address led to
    if len(content) > MOST_BYTES or len(content) != wanted:
        raise DataError(f"data: {address} was not sent whole")
    try:
        return (_unpacked(content) if urlsplit(address).path.endswith(".gz") else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise DataError(f"data: what was sent by {address} is not a text of rows") from None


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL):
        raise DataError(f"data: {address} is not an https address")


def _unpacked(content: bytes) -> bytes:
    """What is packed, unless it is too much: little can be packed that unpacks to more than memory holds."""
    with gzip.open(io.BytesIO(content)) as file:
        found = file.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise EOFError
    return found


def read_lines(lines: list[str], reader: Reader) -> Floats:
    """The rows of a text. Lines whose cells are not numbers are headers or comments; the checksum sees to the rest."""
    found = []
    wanted = reader.columns if reader.sorted_by is None else (reader.sorted_by, *reader.columns)
    for line in lines:
        cells = line.split(reader.between)
        try:
            found.append([float(cells[i]) for i in wanted])
        except (ValueError, IndexError):
            continue
    rows = np.array(found, dtype=np.float64).reshape(-1, len(wanted))
    return rows if reader.sorted_by is None else rows[np.argsort(rows[:, 0], kind="stable")][:, 1:]


def checksum(rows: Floats) -> str:
    """By which the rows of a set are known, however they are stored."""
    return hashlib.sha256(np.ascontiguousarray(rows, dtype="<f8").tobytes()).hexdigest()
