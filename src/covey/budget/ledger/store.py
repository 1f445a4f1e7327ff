"""The SQLite database under a ledger: identity, transactions, and errors in one line.

A file is opened anew for every transaction, so that forks, threads and other processes are all safe; a database in
memory is one connection behind a lock. journal_mode=DELETE and synchronous=EXTRA make a commit durable before
`transaction` returns; a transaction that fails, in whatever way, leaves nothing behind.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from covey.budget.ledger.chain import Entry, State, replay
from covey.errors import LedgerError

APPLICATION = 0x436F7679  # "Covy": what `file` and SQLite show as the application id
FORMAT = 2
_BUSY_SECONDS = 60.0

_COLUMNS = ", ".join(f'"{name}"' for name in Entry._fields)
_SCHEMA = {
    "entries": """CREATE TABLE entries (
  "sequence" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "time" TEXT NOT NULL, "ledger" TEXT, "anchor" TEXT,
  "dataset" TEXT, "relation" TEXT, "unit" TEXT, "epsilon" INTEGER, "delta" INTEGER, "zones" TEXT, "purpose" TEXT,
  "key" TEXT, "parameters" TEXT, "receipt" TEXT, "charge" INTEGER, "document" TEXT, "previous" TEXT NOT NULL,
  "hash" TEXT NOT NULL
)""",
    "head": """CREATE TABLE head ("one" INTEGER PRIMARY KEY, "sequence" INTEGER NOT NULL, "hash" TEXT NOT NULL)""",
    "releases": """CREATE TABLE releases ("sequence" INTEGER PRIMARY KEY, "document" BLOB NOT NULL)""",
}

_REASONS = {
    "SQLITE_BUSY": "another process has held the ledger for more than a minute; try again",
    "SQLITE_LOCKED": "another process has held the ledger for more than a minute; try again",
    "SQLITE_CANTOPEN": "there is no ledger here, or it may not be opened; `Ledger.create` makes one",
    "SQLITE_CORRUPT": "the file is damaged or was cut off; restore the newest copy",
    "SQLITE_FULL": "the disk is full; nothing was written",
    "SQLITE_IOERR": "the disk reports an error; nothing can be relied on before that is solved",
    "SQLITE_NOTADB": "is not a Covey ledger, or is damaged",
    "SQLITE_PERM": "the ledger may not be written",
    "SQLITE_READONLY": "the ledger may not be written",
    "SQLITE_TOOBIG": "the release is too large for the ledger",
}


def disk_failed(error: LedgerError) -> bool:
    """Whether the disk is why: SQLite must undo half a transaction before it can read what was committed earlier."""
    name, code = (getattr(error.__cause__, each, None) for each in ("sqlite_errorname", "errno"))
    return str(name).startswith(("SQLITE_FULL", "SQLITE_IOERR")) or code in (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class Store:
    """One database: a file, or memory where `path` is None."""

    def __init__(self, path: Path | None) -> None:
        self.path = None if path is None else path.absolute()  # the same file wherever the process goes
        self.where = "the ledger in memory" if path is None else str(path)
        self._lock = threading.RLock()
        self._noting = threading.Lock()  # of its own: whoever notes an entry may hold the anchor, for which others wait
        self._process = os.getpid()
        self._memory: sqlite3.Connection | None = None
        self._seen: tuple[int, str] | None = None  # the last entry that this object knows to be in the ledger
        if path is None:
            self._memory = _connect(":memory:")
            weakref.finalize(self, self._memory.close)

    def create(self) -> None:
        """Claim the file and nothing else; its content is written by the first transaction."""
        if self.path is None:
            return
        for rest in ("-journal", "-wal", "-shm"):
            # SQLite would take it for the unfinished work of the new file, and undo it into the new file.
            if os.path.lexists(f"{self.path}{rest}"):
                raise LedgerError(f"{self.path}{rest}: is left over from another ledger; move it away first")
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise LedgerError(f"{self.path}: exists already; `Ledger.add` adds a data set to it") from None
        except OSError as error:
            raise LedgerError(f"{self.path}: cannot be created: {error.strerror}") from None

    @contextmanager
    def transaction(self, *, write: bool, fresh: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction on a database that is a ledger of this format, or becomes one (`fresh`)."""
        with self._lock, self._explained(), self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                if fresh:
                    _make(connection)
                else:
                    self._identify(connection)
                yield connection
                if write:
                    commit(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            if os.getpid() != self._process:
                raise LedgerError("a ledger in memory belongs to the process that made it; use a file for several")
            yield self._memory
            return
        assert self.path is not None
        connection = _connect(self.path.absolute().as_uri() + "?mode=rw")  # never creates a file
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            # No name: the module could not make sense of a value. Its own text may quote the value, so it is left out.
            name = getattr(error, "sqlite_errorname", None) or "SQLITE_CORRUPT"
            reason = next((text for code, text in _REASONS.items() if name.startswith(code)), None)
            reason = reason or f"is damaged or was changed ({name})"
            raise LedgerError(f"{self.where}: {reason}") from error
        except OSError as error:
            raise LedgerError(f"{self.where}: {error.strerror}") from error

    def _identify(self, connection: sqlite3.Connection) -> None:
        """Refuse, by name, what is not a ledger of this format. Part of every transaction."""
        if self.path is not None and _one(connection, "PRAGMA journal_mode") != "delete":
            raise LedgerError(f"{self.where}: its journal mode was changed; a ledger uses journal_mode=DELETE")
        application = _one(connection, "PRAGMA application_id")
        if application == 0 and _one(connection, "SELECT count(*) FROM sqlite_master") == 0:
            raise LedgerError(f"{self.where}: is empty: it was cut off, or its creation was interrupted")
        if application != APPLICATION:
            raise LedgerError(f"{self.where}: is an SQLite file, but not a Covey ledger")
        version = _one(connection, "PRAGMA user_version")
        if version != FORMAT:
            raise LedgerError(f"{self.where}: is a ledger of format {version}; this Covey reads format {FORMAT}")
        # Nothing else may be in the file: a trigger could undo charges. (A trigger may have the name of a table.)
        found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        if sorted(found, key=repr) != sorted((("table", *known) for known in _SCHEMA.items()), key=repr):
            raise LedgerError(f"{self.where}: its tables were changed")
        # SQLite reads a last page that was cut off as if it ended in zeros.
        pages, size = _one(connection, "PRAGMA page_count"), _one(connection, "PRAGMA page_size")
        if self.path is None:
            return
        file = os.stat(self.path)
        if (pages, 0) != divmod(file.st_size, cast(int, size)):
            raise LedgerError(f"{self.where}: the file was cut off; restore the newest copy")
        # What a killed process leaves to be undone lies beside the name that it used. Under another name the ledger
        # would go on without it, and be undone, charges and all, when the first name is used again.
        if file.st_nlink > 1:
            raise LedgerError(f"{self.where}: the file has several names (hard links); remove all but one of them")

    def state(self, connection: sqlite3.Connection) -> State:
        """The checked chain: every entry, and the head. Anchors are checked by the ledger."""
        state = replay(connection.execute(f"SELECT {_COLUMNS} FROM entries ORDER BY sequence"), where=self.where)
        heads = connection.execute("SELECT one, sequence, hash FROM head").fetchall()
        if heads != [(1, *state.head)]:
            raise LedgerError(
                f"{self.where}: the last entry is {state.head[0]}, but the head names another: the ledger was changed"
            )
        if self._seen is not None:
            sequence, last = self._seen
            if len(state.entries) < sequence or state.entries[sequence - 1].hash != last:
                raise LedgerError(
                    f"{self.where}: entry {sequence} was here before and is gone: this is another file, or an old copy"
                )
        self.remember(state.head)
        return state

    def remember(self, head: tuple[int, str]) -> None:
        """Note an entry that is committed; from now on this object refuses a file that does not hold it."""
        with self._noting:
            if self._seen is None or self._seen[0] < head[0]:
                self._seen = head


def append(connection: sqlite3.Connection, entry: Entry) -> None:
    """Add an entry and move the head to it, inside the caller's transaction."""
    connection.execute(f"INSERT INTO entries ({_COLUMNS}) VALUES ({', '.join('?' * len(entry))})", entry)
    connection.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?)", (entry.sequence, entry.hash))


def commit(connection: sqlite3.Connection) -> None:
    """Make the transaction durable: after this the charge is spent, whatever happens next."""
    connection.execute("COMMIT")


def _connect(target: str) -> sqlite3.Connection:
    # isolation_level=None: the module starts no transaction of its own.
    connection = sqlite3.connect(target, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    try:
        connection.execute("PRAGMA synchronous=EXTRA")
        connection.execute("PRAGMA fullfsync=ON")  # macOS: fsync alone leaves a commit in the cache of the drive
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    # `create` claimed an empty file; a CREATE TABLE fails should anyone have written to it since.
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={FORMAT}")
    for sql in _SCHEMA.values():
        connection.execute(sql)


def _one(connection: sqlite3.Connection, sql: str) -> object:
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]
