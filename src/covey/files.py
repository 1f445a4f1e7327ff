"""Files: how one with data is to be read, as its owner declares it; and those that are written, whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

from covey.errors import DataError, LedgerError, ParameterError

MOST_TITLE_LINES = 10_000
UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")
LETTERS = bytes(range(256)) + b"\x1b$B0!~{0!~}\\x41\\u0041+AGE-"  # and what begins or means more in some encodings
ROOM = 2**15  # for the entries of a charge and its release, and what undoes them


@dataclass(frozen=True)
class File:
    """A file of data together with what its ending and header do not say. Wherever Covey takes a path, it takes this.

    Nothing of it is ever guessed from rows: what is not given here has the default, or follows from the header line.

    Parameters
    ----------
    path : str or path
        The path of a file, of a folder, or a pattern.
    format : str or None, default=None
        What it is, as an ending: "csv", "tsv", "jsonl", "parquet"; None to go by the ending of its name.
    delimiter : str or None, default=None
        Of a CSV: the character between cells, or "tab". None takes the first of comma, semicolon, tab and bar that
        splits the header line.
    decimal : {'.', ','}, default='.'
        Of a CSV: the decimal sign of its numbers.
    header_line : int, default=1
        Of a CSV or a sheet: the line that names the columns. Those above it are a title, and are skipped.
    encoding : str, default='utf-8'
        Of text: "utf-16", "cp1252", "latin-1".
    sheet : str or None, default=None
        The sheet of a workbook, or the layer of a GeoPackage, where there are several.
    geometry : str or None, default=None
        A column of points, as WKT or WKB, that becomes the columns lon and lat, where no schema says that it is one.

    Examples
    --------
    >>> from covey import File
    >>> File("trips.csv", delimiter=";", decimal=",", header_line=3, encoding="utf-16").given
    {'decimal': ',', 'delimiter': ';', 'encoding': 'utf-16', 'header_line': 3}
    """

    path: str | os.PathLike[str]
    format: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    header_line: int = 1
    encoding: str = "utf-8"
    sheet: str | None = None
    geometry: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise ParameterError("path", "must be the path of a file, of a folder, or a pattern")
        for name in ("format", "sheet", "geometry"):
            if not (getattr(self, name) is None or (isinstance(getattr(self, name), str) and getattr(self, name))):
                raise ParameterError(name, "must be a text, or None")
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.decimal not in (".", ","):
            raise ParameterError("decimal", "must be '.' or ','")
        whole = isinstance(self.header_line, int) and not isinstance(self.header_line, bool)
        if not whole or not 1 <= self.header_line <= MOST_TITLE_LINES:
            raise ParameterError("header_line", f"must be a whole number from 1 to {MOST_TITLE_LINES:,}")
        object.__setattr__(self, "encoding", _encoding(self.encoding))

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @property
    def given(self) -> dict[str, Any]:
        """What of all this is not the default, by name: how the file is read, wherever it lies."""
        usual = {each.name: each.default for each in fields(self) if each.name != "path"}
        return {name: getattr(self, name) for name in sorted(usual) if getattr(self, name) != usual[name]}


def _delimiter(text: Any) -> str:
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text) if isinstance(text, str) else ""
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\r\n\0.+-_':
        raise ParameterError("delimiter", "must be one character between cells, such as ';' or '|', or the word tab")
    return sign


def _encoding(name: Any) -> str:
    """The name that Python has for an encoding of which every letter can be read by itself."""
    try:
        known = codecs.lookup(name).name.removesuffix("-sig")
        if "escape" in known:  # for Python's own texts, in which a letter may be written with several bytes
            raise LookupError
        apart = "".join(bytes([each]).decode(known, "replace") for each in LETTERS)
        single = known in UNICODE or LETTERS.decode(known, "replace") == apart
    except (LookupError, TypeError, ValueError, UnicodeError):
        single = False
    if not single:
        raise ParameterError("encoding", "must be utf-8, utf-16, or one with a byte for each letter, such as cp1252")
    return known


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the file by this content in one step that survives a crash: afterwards it is the old file or the new."""
    with whole_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of another when all is written, in one step, and never if that fails.

    private : only its owner may read it.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o600 if private else 0o666 & ~umask)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"out: cannot write {str(target)!r}: {error.strerror or 'input/output error'}") from None


def check_room(ledger: Path | None, *, numbers: int) -> None:
    """Refuse, before a charge, a disk that has no room for a release of so many numbers beside it."""
    if ledger is None or not hasattr(os, "statvfs"):
        return
    try:
        disk = os.statvfs(ledger.parent)
    except OSError:  # the ledger will say what is wrong with it
        return
    if disk.f_bavail * disk.f_frsize < ROOM + 64 * numbers:
        raise LedgerError(f"{ledger}: the disk has no room for a release; make some, nothing was charged")


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
