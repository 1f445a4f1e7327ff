"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from covey.errors import DataError, LedgerError

ROOM = 2**15  # for the entries of a charge and its release, and what undoes them


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the file by this content in one step that survives a crash: afterwards it is the old file or the new."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
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
