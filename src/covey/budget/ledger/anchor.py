"""The anchor: a small file, kept away from the ledger, that says how far the ledger had come.

A ledger restored from an old copy is a valid chain, so nothing inside it can tell that charges are missing. The
anchor can: the entry that it marks must be in the chain. The mark is salted with a secret of the ledger, so that the
file tells how many entries there are and nothing else. It only moves forward, whichever process writes it last, and
is on disk before rows are read. A ledger may be ahead of its anchor: a process died between the two.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from covey.budget.ledger.chain import State, digest
from covey.errors import LedgerError

_BUSY_SECONDS = 60.0  # as for the ledger itself


class Anchor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag="covey-anchor-2"):
    """What an anchor file holds, as JSON."""

    ledger: str
    sequence: int
    mark: str

    @classmethod
    def of(cls, state: State) -> Anchor:
        """The newest entry of a chain, salted: who reads an anchor learns nothing of what the entries hold."""
        return cls(state.ledger, state.head[0], _mark(state, state.head[0]))


def _mark(state: State, sequence: int) -> str:
    return digest("covey-anchor-2", state.salt, state.entries[sequence - 1].hash)


def read(path: str) -> Anchor:
    """The anchor at `path`. Raises a LedgerError if it is missing or is not an anchor."""
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise LedgerError(
            f"{path}: the anchor of this ledger is missing. Put it back; if it is lost and this ledger is certainly "
            "the newest copy, `Ledger.renew_anchor` writes a new one"
        ) from None
    except OSError as error:
        raise LedgerError(f"{path}: the anchor cannot be read: {error.strerror}") from None
    try:
        return msgspec.json.decode(raw, type=Anchor)
    except msgspec.MsgspecError:
        raise LedgerError(f"{path}: is not the anchor of a Covey ledger, or was changed") from None


def check(state: State, *, where: str) -> None:
    """Refuse a chain that does not hold what its anchor says. A ledger without an anchor passes."""
    if state.anchor is None:
        return
    anchor = read(state.anchor)
    if anchor.ledger != state.ledger:
        raise LedgerError(f"{where}: its anchor {state.anchor} belongs to another ledger")
    last = len(state.entries)
    if anchor.sequence > last:
        raise LedgerError(
            f"{where}: the ledger ends at entry {last}, but its anchor {state.anchor} has seen entry "
            f"{anchor.sequence}: this is an old copy. Restore the newest ledger"
        )
    if anchor.sequence < 1 or _mark(state, anchor.sequence) != anchor.mark:
        raise LedgerError(f"{where}: entry {anchor.sequence} is not the one its anchor {state.anchor} has seen")


def start(state: State) -> None:
    """Write the first anchor of a ledger; refuses to replace a file."""
    assert state.anchor is not None
    path = state.anchor
    with held(path), _explained(path):
        if os.path.lexists(path):
            raise LedgerError(f"{path}: exists already; an anchor serves one ledger")
        try:
            _write(path, Anchor.of(state))
        except BaseException:
            with suppress(OSError):
                os.unlink(path)  # the ledger it was for is given up: left behind, it would stand in the next one's way
            raise


def advance(state: State) -> None:
    """Move the anchor forward to the newest entry, durably. One that is further already stays as it is.

    The caller has `held` it since before it checked the ledger: the anchor is still the one that was checked.
    """
    assert state.anchor is not None
    path = state.anchor
    with _explained(path):
        current = read(path)
        if current.ledger != state.ledger:
            raise LedgerError(f"{path}: the anchor belongs to another ledger")
        if current.sequence < state.head[0]:
            _write(path, Anchor.of(state))


@contextmanager
def held(path: str | None) -> Iterator[None]:
    """Hold an anchor (or none) from the check against it until it has moved on, so that nobody else moves it between.

    Two copies of a ledger lock two files. They share only the anchor: without this, both could pass the check, both
    commit an entry of the same number, and both be told that the anchor is far enough.
    """
    if path is None:
        yield
        return
    try:
        import fcntl
    except ImportError:  # pragma: no cover
        raise LedgerError("anchors need a system with fcntl locks (Linux, macOS)") from None
    with _explained(path):
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with _explained(path):
            _lock(lock, path)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing alone would not do if the process was forked meanwhile
        os.close(lock)


def _lock(file: int, path: str) -> None:
    """Wait for the lock, but not for ever: a process that was stopped while it held the lock would stop all others."""
    import fcntl

    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                reason = "another process has held the anchor for more than a minute; try again"
                raise LedgerError(f"{path}: {reason}") from None
            time.sleep(0.002)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turn errors of the file system into one line."""
    try:
        yield
    except OSError as error:
        raise LedgerError(f"{path}: the anchor cannot be written: {error.strerror}") from None


def _write(path: str, anchor: Anchor) -> None:
    """Replace the file in one step: a crash leaves the old anchor or the new one. Only called under the lock."""
    unfinished = f"{path}.new"
    with suppress(FileNotFoundError):
        os.unlink(unfinished)  # of a crash; or somebody else's, a link even: the anchor must be a file of our own
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(file, "wb") as out:
        out.write(msgspec.json.encode(anchor) + b"\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(unfinished, path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
