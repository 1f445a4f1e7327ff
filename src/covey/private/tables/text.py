"""The text of a file as UTF-8 bytes, streamed: decompressed by the ending of its name, and decoded as it was declared.

What is compressed is never held whole, however much comes out of it.

Letters that the encoding does not have are replaced: no row is an error. Each is read by itself, so that none changes
how the rest is read.
"""

from __future__ import annotations

import codecs
import io
import lzma
import zipfile
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from covey.errors import DataError
from covey.files import File

MEMBERS = (".csv", ".tsv", ".tab", ".txt")
ENCRYPTED = 1  # the bit of a member's flags
STREAMS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
BUFFER = 2**16


def opened(path: Path, source: File) -> Any:
    """The text of a file, as bytes in UTF-8."""
    text = _unpacked(path, Path(f"-.{source.format or path.name}").suffix.lower())
    return text if source.encoding == "utf-8" else io.BufferedReader(Transcoded(text, source.encoding), BUFFER)


def _unpacked(path: Path, ending: str) -> Any:
    if ending == ".xz":
        return lzma.open(path)
    if ending == ".zip":
        return _only_member(path)
    if ending in STREAMS:
        return io.BufferedReader(pa.input_stream(str(path), compression=STREAMS[ending]), BUFFER)
    return path.open("rb")


def _only_member(path: Path) -> Any:
    """The text of the one file in a zip; folders, and what macOS adds, do not count."""
    with zipfile.ZipFile(path) as archive:  # closed with the member
        listed = [each for each in archive.infolist() if not _beside(each.filename)]
        if len(listed) != 1:
            raise DataError(f"data: {str(path)!r} must hold one file, a CSV; it holds {len(listed)}")
        if Path(listed[0].filename).suffix.lower() not in ("", *MEMBERS):  # pandas gives it no ending
            raise DataError(f"data: the file in {str(path)!r} must end in {' or '.join(MEMBERS)}")
        if listed[0].flag_bits & ENCRYPTED:
            raise DataError(f"data: {str(path)!r} is encrypted; unpack it first")
        try:
            return archive.open(listed[0])
        except NotImplementedError:
            raise DataError(f"data: {str(path)!r} is packed in a way that Python does not know; unpack it") from None


def _beside(name: str) -> bool:
    """Whether a member is no file of its own. A damaged zip may have one without a name, at which `is_dir` fails."""
    return name.endswith("/") or name.startswith("__MACOSX/")


class Transcoded(io.RawIOBase):
    """Bytes of another encoding, read as UTF-8."""

    def __init__(self, source: IO[bytes], encoding: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._left = b""
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and not self._over:
            block = self._source.read(BUFFER)
            self._over = not block
            self._left = self._decoder.decode(block, final=self._over).encode()
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        self._source.close()
        super().close()
