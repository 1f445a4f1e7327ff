"""Files that a client sends: streamed into a private folder under names of our own, never opened by theirs."""

from __future__ import annotations

import shutil
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.errors import DataError, ParameterError
from covey.files import File
from covey.private.tables.formats import FORMATS
from covey.private.tables.frames import open_table
from covey.studio.refusals import Refusal
from covey.studio.settings import Limits, new_id

FORMS = "send CSV with a header line, JSON lines or GeoJSON points (compressed or not), Parquet, Excel or GeoPackage"
BINARY = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"SQLite format 3\0": ".gpkg"}  # by how they begin
COMPRESSED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"(\xb5/\xfd": ".zst", b'\x04"M\x18': ".lz4"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
PACKED = b"PK\x03\x04"
SNIFF = 4096  # an even number, for letters of two bytes
LONGEST_NAME = 120


@dataclass(frozen=True)
class Upload:
    """A file that was taken, and how it is read. `name` is what the client called it: text to show, nothing else."""

    id: str
    name: str
    source: File
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        return Path(self.source)


class Uploads:
    """The files of one run. The folder is private to this user and ends with the process."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self._kept: dict[str, Upload] = {}
        self._lock = threading.Lock()
        self._arriving = 0  # files that are being sent: each may be as large as the limit

    def find(self, upload: str) -> Upload:
        with self._lock:
            found = self._kept.get(upload)
        if found is None:
            raise Refusal(404, "there is no such upload; POST api/uploads gives its id", parameter="upload")
        return found

    async def receive(self, name: str, stream: AsyncIterator[bytes], how: Mapping[str, Any]) -> Path:
        """Write the body as it comes. Whatever goes wrong, the limit included, nothing of it stays."""
        check_ending(name)
        File(name, **how)  # refuses what cannot be meant before all of it has come
        with self._lock:
            if self._arriving >= self._limits.uploads_kept:
                raise Refusal(429, "too many files are being sent at once; wait for one of them", retry=1)
            self._arriving += 1
        part = self._folder / f"{new_id()}.part"
        try:
            with part.open("xb") as file:
                async for chunk in stream:
                    file.write(chunk)
        except BaseException as error:
            part.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise DataError("data: the upload could not be stored; the disk may be full") from None
            raise
        finally:
            with self._lock:
                self._arriving -= 1
        return part

    def keep(self, name: str, part: Path, how: Mapping[str, Any], *, in_use: Callable[[], Path | None]) -> Upload:
        """Find out what was sent, by its content, and keep it under an opaque id; the oldest of too many goes."""
        key = new_id()
        try:
            ending = sniff(part, name, encoding=File(part, **how).encoding)
            source = File(part.rename(self._folder / f"{key}{ending}"), **how)
            columns = open_table(source).names
        except BaseException as error:
            for left in self._folder.glob(f"{key}.*"):
                left.unlink()
            if isinstance(error, DataError):
                raise DataError(plain(str(error), self._folder)) from None
            if isinstance(error, ParameterError):
                words = str(error).removeprefix(f"{error.parameter}: ")
                raise ParameterError(error.parameter, plain(words, self._folder)) from None
            raise
        finally:
            part.unlink(missing_ok=True)
        upload = Upload(key, shown_name(name), source, tuple(columns or ()))
        with self._lock:
            self._kept[key] = upload
            spare = [each for each in self._kept.values() if each.path not in (upload.path, in_use())]
            for old in spare[: max(0, len(self._kept) - self._limits.uploads_kept)]:
                self._kept.pop(old.id).path.unlink(missing_ok=True)
        return upload

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def check_ending(name: str) -> None:
    """Refuse, by its name, what no reader reads; a shapefile is several files."""
    known = "." not in name or any(each.has(name) and not each.beside for each in FORMATS)
    if not known:
        raise Refusal(415, f"this kind of file is not taken; {FORMS}", parameter="name")


def shown_name(name: str) -> str:
    """The client's name as one short line of text."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(char for char in last if char.isprintable())[:LONGEST_NAME] or "upload"


def sniff(path: Path, name: str, *, encoding: str = "utf-8") -> str:
    """The ending under which a file is kept: by its first bytes, and by its name where several formats begin so."""
    with path.open("rb") as file:
        head = file.read(SNIFF)
    for beginning, ending in BINARY.items():
        if head.startswith(beginning):
            return ending
    named = Path(name).suffix.lower()
    if head.startswith(PACKED):
        return ".xlsx" if named == ".xlsx" else ".zip"
    for beginning, ending in COMPRESSED.items():
        if head.startswith(beginning):  # of a text, whose kind only its name tells
            inner = Path(name.lower().removesuffix(ending)).suffix
            return next((inner for each in FORMATS if each.text and inner in each.endings), ".csv") + ending
    text = head.decode(encoding, "replace").removeprefix("\ufeff").lstrip()
    if not text:
        raise DataError(f"data: the upload is empty; {FORMS}")
    if text[0] in "{[":
        return ".jsonl" if named in (".jsonl", ".ndjson") else ".geojson"
    told_by_its_reader = head.startswith(UTF_16) and encoding == "utf-8"
    if not told_by_its_reader and any(char < "\t" or "\r" < char < " " for char in text):
        raise DataError(f"data: the upload is not a table that Covey reads; {FORMS}")
    return ".tsv" if named in (".tsv", ".tab") else ".csv"


def plain(message: str, folder: Path) -> str:
    """A message about an upload without the place where it is kept."""
    words = message.replace(str(folder) + "/", "")
    parts = words.split("'")
    kept = tuple(ending for each in FORMATS for ending in each.endings) + tuple(COMPRESSED.values())
    return "'".join("the upload" if part.endswith(kept) else part for part in parts)
