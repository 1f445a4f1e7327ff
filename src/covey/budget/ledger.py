"""The privacy ledger: what was spent on each data set, durably, before any row was read.

Order of work: charge (committed, and anchored, when it returns), then read rows, then `finish`. A crash at any
moment leaves at worst a charge without a release; there is never a release without a charge, and nothing is
ever refunded. Every charge checks the whole ledger first, so a changed or shortened one spends nothing; nor does one
that was replaced since this object saw it.

What a ledger opened anew cannot notice: a file that was replaced by an older copy of itself, or rewritten from its
first entry on. An anchor kept out of reach notices the first. Not the second: the first entry is what names the
anchor, so a new ledger without one has none to ask (`verify().anchored` is False then). Certificates, which carry the
head, notice both. Someone who may write the ledger and the anchor, or who holds the rows, is not restrained by either.
The file must be on a file system whose locks work; many network file systems' do not.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from covey.budget import anchor as anchors
from covey.budget import rules
from covey.budget.amounts import Amount
from covey.budget.chain import Entry, State, linked
from covey.budget.records import Account, Finished, Head, Receipt, Report, cost_of
from covey.budget.store import Store, append
from covey.errors import LedgerError, ParameterError

PathLike = str | os.PathLike[str]


class Ledger:
    """One ledger, in a file (`create`, `open`) or in memory (`memory`); both behave alike.

    Safe for several processes and threads: each call is one transaction. A copy of a Ledger object is the same
    ledger, for a budget that could be copied would be no budget.
    """

    def __init__(self, store: Store, key: str | None = None) -> None:
        """Not for callers: use `create`, `open` or `memory`."""
        self._store = store
        self._key = key

    @classmethod
    def memory(cls, *, dataset: str = "data", epsilon: Amount | None = None, delta: Amount = 0) -> Ledger:
        """A ledger that ends with this process. Without `epsilon` its data set has no limit."""
        total = rules.totals(epsilon=epsilon, delta=delta, unlimited=True)
        return cls._started(Store(None), rules.text("dataset", dataset), total, anchor=None)

    @classmethod
    def create(
        cls, path: PathLike, *, dataset: str, epsilon: Amount, delta: Amount = 0, anchor: PathLike | None = None
    ) -> Ledger:
        """A new ledger file with one data set; refuses to touch a file that exists.

        anchor: where to keep the anchor file, best on another disk or machine; its folder must exist.
        Totals are rounded down to 1e-9 (epsilon) and 1e-18 (delta).
        """
        name = rules.text("dataset", dataset)
        total = rules.totals(epsilon=epsilon, delta=delta, unlimited=False)
        store = Store(Path(path))
        store.create()
        try:
            return cls._started(store, name, total, anchor=None if anchor is None else os.path.abspath(anchor))
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise

    @classmethod
    def open(cls, path: PathLike) -> Ledger:
        """The ledger in a file, checked: its chain, its head and its anchor."""
        ledger = cls(Store(Path(path)))
        with ledger._reading():
            return ledger

    @classmethod
    def renew_anchor(cls, path: PathLike) -> Ledger:
        """Write the anchor of a ledger anew where it was lost. Refuses to replace an anchor that is there.

        Only the caller can know that this file is not an old copy: afterwards nobody can tell.
        """
        store = Store(Path(path))
        with store.transaction(write=False) as connection:
            state = store.state(connection)
        if state.anchor is None:
            raise LedgerError(f"{store.where}: was created without an anchor")
        anchors.start(state.anchor, ledger=state.ledger, sequence=state.head[0], hash=state.head[1])
        return cls.open(path)

    @classmethod
    def _started(cls, store: Store, dataset: str, total: rules.Units | None, *, anchor: str | None) -> Ledger:
        state, ledger = State(), os.urandom(16).hex()
        epsilon, delta = total or (None, None)
        with store.transaction(write=True, fresh=True) as connection:
            _append(connection, state, "open", ledger=ledger, anchor=anchor)
            last = _append(connection, state, "dataset", dataset=dataset, epsilon=epsilon, delta=delta)
        if anchor is not None:
            anchors.start(anchor, ledger=ledger, sequence=last.sequence, hash=last.hash)
        return cls(store)

    def add(self, dataset: str, *, epsilon: Amount | None = None, delta: Amount = 0) -> None:
        """Add a data set with a total of its own. That it holds other people is for the caller to know."""
        total = rules.totals(epsilon=epsilon, delta=delta, unlimited=self.path is None)
        total_epsilon, total_delta = total or (None, None)
        name = rules.text("dataset", dataset)
        with self._writing() as (connection, state):
            if name in state.totals:
                raise LedgerError(f"{self._store.where}: has a data set '{name}' already; totals cannot be changed")
            _append(connection, state, "dataset", dataset=name, epsilon=total_epsilon, delta=total_delta)

    def charge(
        self,
        dataset: str,
        *,
        epsilon: Amount,
        delta: Amount,
        purpose: str,
        key: str | None = None,
        parameters: str = "",
    ) -> Receipt:
        """Spend (epsilon, delta) on a data set, rounded up; rows may be read once this has returned, not before.

        Raises a BudgetError if the total would be exceeded and a LedgerError if the ledger is not in order or the
        key stands for other parameters; nothing is spent then. If only the anchor could not be written, the charge
        stands and a LedgerError says so. A key that was charged before is charged again: ask `stored` first.
        """
        units, where = rules.asked(epsilon=epsilon, delta=delta), self._store.where
        rules.text("purpose", purpose)
        with self._writing() as (connection, state):
            rules.known(state, dataset, where=where)
            hashed = None
            if key is not None:
                hashed = rules.bound_key(state, dataset, key=key, parameters=parameters, where=where)
            rules.affordable(state, dataset, units)
            entry = _append(
                connection,
                state,
                "charge",
                dataset=dataset,
                epsilon=units[0],
                delta=units[1],
                purpose=purpose,
                key=hashed,
                parameters=rules.parameters_hash(parameters),
            )
        return Receipt(state.ledger, entry.sequence, entry.hash, dataset, cost_of(units))

    def stored(self, dataset: str, *, key: str, parameters: str) -> bytes | None:
        """The finished release under this key, which costs nothing; None if there is none.

        A key stands for one set of parameters of one data set: with others it raises a LedgerError. A key whose
        charge was never finished gives None; charging it again costs again, for rows may have been read.
        """
        where = self._store.where
        with self._reading() as (connection, state):
            rules.known(state, dataset, where=where)
            hashed = rules.bound_key(state, dataset, key=key, parameters=parameters, where=where)
            release = state.finished.get(hashed)
            return None if release is None else rules.document(connection, release, where=where)

    def finish(self, receipt: Receipt, document: bytes) -> Finished:
        """Store the release that a charge paid for. Hand out the result's `document`, not the argument.

        The two differ when another process charged the same key and finished first: both have paid, the first
        release is the one stored under the key, and the second is never shown.
        Finishing a charge twice, or one that this ledger does not hold, raises a LedgerError.
        """
        if not isinstance(document, bytes):
            raise ParameterError("document", "must be bytes")
        where, number = self._store.where, receipt.sequence
        with self._writing() as (connection, state):
            charge = state.entries[number - 1] if 0 < number <= len(state.entries) else None
            if charge is None or charge.kind != "charge" or charge.hash != receipt.hash:
                raise LedgerError(f"{where}: holds no charge {number} like the one on this receipt")
            if number in state.released:
                raise LedgerError(f"{where}: charge {number} is already finished")
            release = None if charge.key is None else state.finished.get(charge.key)
            if release is not None:
                document = rules.document(connection, release, where=where)
            else:
                hashed = rules.document_hash(document)
                release = _append(connection, state, "release", charge=number, document=hashed)
                connection.execute("INSERT INTO releases VALUES (?, ?)", (release.sequence, document))
        return Finished(release.sequence, release.hash, document)

    def verify(self) -> Report:
        """Check everything: SQLite's own structures, chain, head, sums, stored releases, anchor.

        Raises a LedgerError that says what is wrong, and at which entry.
        """
        where = self._store.where
        with self._store.transaction(write=False) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise LedgerError(f"{where}: the file is damaged; restore the newest copy")
            state = self._store.state(connection)
            anchors.check(state, where=where)
            for release in state.released.values():
                rules.document(connection, release, where=where)
            if connection.execute("SELECT count(*) FROM releases").fetchone() != (len(state.released),):
                raise LedgerError(f"{where}: holds a release that no entry records")
        charges = sum(entry.kind == "charge" for entry in state.entries)
        return Report(
            ledger=state.ledger,
            head=Head(*state.head),
            anchored=state.anchor is not None,
            entries=len(state.entries),
            charges=charges,
            releases=len(state.released),
            unfinished=charges - len(state.released),
            datasets=rules.accounts(state),
        )

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first; keys appear as hashes only."""
        with self._reading() as (_, state):
            return tuple(state.entries)

    def datasets(self) -> dict[str, Account]:
        """For each data set: its total, what is spent and what remains."""
        with self._reading() as (_, state):
            return {account.dataset: account for account in rules.accounts(state)}

    @property
    def head(self) -> Head:
        """The last entry, for certificates."""
        with self._reading() as (_, state):
            return Head(*state.head)

    @property
    def path(self) -> Path | None:
        """The file, or None in memory."""
        return self._store.path

    @property
    def key(self) -> str | None:
        """The idempotency key that fits with this object use, or None; see `with_key`."""
        return self._key

    def with_key(self, key: str | None) -> Ledger:
        """The same ledger, with an idempotency key for the fit it is handed to: repeating that fit costs nothing."""
        return Ledger(self._store, None if key is None else rules.text("key", key))

    @contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, State]]:
        """A checked, unchanging view. While it lasts no charge can be committed, so the anchor cannot overtake it."""
        with self._store.transaction(write=False) as connection:
            state = self._store.state(connection)
            anchors.check(state, where=self._store.where)
            yield connection, state

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, State]]:
        """A checked view that may be added to: all or nothing, durable and anchored afterwards."""
        with ExitStack() as until_anchored:
            with self._store.transaction(write=True) as connection:
                state = self._store.state(connection)
                until_anchored.enter_context(anchors.held(state.anchor))
                anchors.check(state, where=self._store.where)
                before = state.head
                yield connection, state
            sequence, last = state.head
            self._store.remember(state.head)
            if state.anchor is not None and state.head != before:
                try:
                    anchors.advance(state.anchor, ledger=state.ledger, sequence=sequence, hash=last)
                except LedgerError as error:
                    raise LedgerError(f"entry {sequence} is in the ledger, but its anchor is not: {error}") from error

    def __repr__(self) -> str:
        try:
            names = ", ".join(f"'{name}'" for name in self.datasets())
        except LedgerError:
            names = "not readable"
        return f"<Ledger {'in memory' if self.path is None else str(self.path)}: {names}>"

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Callable[[str, str | None], Ledger], tuple[str, str | None]]:
        if self.path is None:
            raise LedgerError("a ledger in memory belongs to the process that made it; use a file for several")
        return _reopened, (str(self.path.absolute()), self._key)


def _reopened(path: str, key: str | None) -> Ledger:
    return Ledger.open(path).with_key(key)


def _append(connection: sqlite3.Connection, state: State, kind: str, **fields: str | int | None) -> Entry:
    """Write the next entry of the chain, inside the caller's transaction."""
    entry = linked(state, kind, **fields)
    append(connection, entry)
    state.entries.append(entry)
    return entry
