"""The privacy ledger: what was spent on each data set, durably, before any row was read.

Order of work: charge (committed, and anchored, when it returns), then read rows, then `finish`. A crash at any
moment leaves at worst a charge without a release; there is never a release without a charge, and nothing is
ever refunded. Every charge checks the whole ledger first, so a changed or shortened one spends nothing; nor does one
that was replaced since this object saw it.

What a ledger opened anew cannot notice: a file that was replaced by an older copy of itself, or rewritten from its
first entry on. An anchor kept out of reach notices the first. Not the second: the first entry is what names the
anchor, so a new ledger without one has none to ask (`verify().anchored` is False then). Certificates carry the random
receipt of their charge, and `find` says whether the ledger holds it. Someone who may write the ledger and the anchor,
or who holds the rows, is not restrained by either. The file must be on a file system whose locks work; many network
file systems' do not.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import Amount
from covey.budget.accounting.promise import Promise, ZonePromises
from covey.budget.ledger import anchor as anchors
from covey.budget.ledger import rules, views
from covey.budget.ledger.chain import Entry, State
from covey.budget.ledger.inspection import inspected
from covey.budget.ledger.records import Account, Finished, Head, Receipt, Report, cost_of
from covey.budget.ledger.store import Store
from covey.errors import LedgerError, ParameterError

PathLike = str | os.PathLike[str]
View = tuple[sqlite3.Connection, State]


class Ledger:
    """One ledger, in a file (`create`, `open`) or in memory (`memory`); both behave alike.

    Safe for several processes and threads: each call is one transaction. A copy is the same ledger, for a budget that
    could be copied would be no budget.

    Examples
    --------
    >>> from covey import KMeans, Ledger
    >>> ledger = Ledger.memory(dataset="trips", epsilon=3)
    >>> model = KMeans(2, epsilon=1, bounds=(0, 1), ledger=ledger, dataset="trips").fit([[0.2, 0.3], [0.8, 0.9]])
    >>> print(ledger.datasets()["trips"].remaining.epsilon)
    2
    """

    def __init__(self, store: Store, key: str | None = None, *, accepts: bool = False) -> None:
        """Not for callers: use `create`, `open` or `memory`."""
        self._store = store
        self._key = key
        self._accepts = accepts

    @classmethod
    def memory(
        cls,
        *,
        dataset: str = "data",
        epsilon: Amount | None = None,
        delta: Amount = 0,
        neighbours: str = "add-remove",
        person: str | None = None,
    ) -> Ledger:
        """A ledger that ends with this process.

        Parameters
        ----------
        dataset : str, default='data'
            The name of its first data set.
        epsilon : number or None, default=None
            What may be spent on the data set in all, rounded down to 1e-9; None for no limit.
        delta : number, default=0
            The same for delta, rounded down to 1e-18.
        neighbours : {'add-remove', 'replace-one'}, default='add-remove'
            The relation of the data set's promises, for good.
        person : str or None, default=None
            The column whose equal values make one person, for good; None where the promises are for rows.
        """
        total = rules.totals(epsilon=epsilon, delta=delta, unlimited=True)
        kind = rules.kind_of(neighbours, person)
        store = Store(None)
        views.start(store, rules.text("dataset", dataset), total, kind, anchor=None)
        return cls(store)

    @classmethod
    def create(
        cls,
        path: PathLike,
        *,
        dataset: str,
        epsilon: Amount,
        delta: Amount = 0,
        neighbours: str = "add-remove",
        person: str | None = None,
        anchor: PathLike | None = None,
    ) -> Ledger:
        """A new ledger file with one data set; refuses to touch a file that exists.

        Parameters
        ----------
        path : str or path
            The file to make, on a file system whose locks work.
        dataset : str
            The name of its first data set.
        epsilon : number
            What may be spent on the data set in all, rounded down to 1e-9.
        delta : number, default=0
            The same for delta, rounded down to 1e-18.
        neighbours : {'add-remove', 'replace-one'}, default='add-remove'
            The relation of the data set's promises, for good.
        person : str or None, default=None
            The column whose equal values make one person, for good; None where the promises are for rows.
        anchor : str, path or None, default=None
            Where to keep the anchor file, best on another disk or machine; its folder must exist.
        """
        name = rules.text("dataset", dataset)
        total, kind = rules.totals(epsilon=epsilon, delta=delta, unlimited=False), rules.kind_of(neighbours, person)
        store = Store(Path(path))
        store.create()
        try:
            views.start(store, name, total, kind, anchor=None if anchor is None else os.path.abspath(anchor))
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise
        return cls(store)

    @classmethod
    def open(cls, path: PathLike) -> Ledger:
        """The ledger in a file, checked: its chain, its head and its anchor.

        Parameters
        ----------
        path : str or path
            The file, made by `create` or `covey ledger init`.
        """
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
        anchors.start(state)
        return cls.open(path)

    def add(
        self,
        dataset: str,
        *,
        epsilon: Amount | None = None,
        delta: Amount = 0,
        neighbours: str = "add-remove",
        person: str | None = None,
    ) -> None:
        """Add a data set with a total and a type of its own. That it holds other people is for the caller to know."""
        total = rules.totals(epsilon=epsilon, delta=delta, unlimited=self.path is None)
        name, kind = rules.text("dataset", dataset), rules.kind_of(neighbours, person)
        with self._writing() as (connection, state):
            if name in state.totals:
                raise LedgerError(f"{self._store.where}: has a data set '{name}' already; totals cannot be changed")
            views.write_dataset(connection, state, name, total, kind)

    def price(self, dataset: str, promise: Promise, *, zones: ZonePromises | None = None) -> Cost:
        """What a promise would be charged, in the type of the data set; refused as `charge` would refuse it."""
        where = self._store.where
        with self._reading() as (_, state):
            price = rules.priced(state, dataset, promise, zones, converting=self._accepts, where=where)
            rules.affordable(state, dataset, price.units)
            return cost_of(price.units)

    def charge(
        self,
        dataset: str,
        promise: Promise,
        *,
        purpose: str,
        key: str | None = None,
        parameters: str = "",
        zones: ZonePromises | None = None,
    ) -> Receipt:
        """Spend a promise on a data set, rounded up; rows may be read once this has returned, not before.

        Refused, with nothing spent: what exceeds the total (BudgetError), a promise of another type or with other
        zones (ParameterError; see `converting`), a ledger that is not in order, a key that stands for other parameters
        (LedgerError). If only the anchor could not be written, the charge stands and a LedgerError says so.
        A key that was charged before is charged again: ask `stored` first.
        """
        where = self._store.where
        rules.text("purpose", purpose)
        with self._writing() as (connection, state):
            price = rules.priced(state, dataset, promise, zones, converting=self._accepts, where=where)
            hashed = None
            if key is not None:
                hashed = rules.bound_key(state, dataset, key=key, parameters=parameters, where=where)
            rules.affordable(state, dataset, price.units)
            entry = views.write(
                connection,
                state,
                "charge",
                dataset=dataset,
                epsilon=price.units[0],
                delta=price.units[1],
                zones=price.zones_text,
                purpose=purpose,
                key=hashed,
                parameters=rules.parameters_hash(parameters),
                receipt=os.urandom(32).hex(),
            )
        return Receipt(entry.receipt or "", state.ledger, entry.sequence, entry.hash, dataset, cost_of(price.units))

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
                release = views.write(connection, state, "release", charge=number, document=hashed)
                connection.execute("INSERT INTO releases VALUES (?, ?)", (release.sequence, document))
        return Finished(release.sequence, release.hash, document)

    def document(self, entry: int) -> bytes:
        """The stored release of a charge, by the number of its entry: the same bytes again, at no cost."""
        with self._reading() as (connection, state):
            return rules.document_of(connection, state, entry, where=self._store.where)

    def find(self, receipt: str) -> int | None:
        """The entry of the charge that a receipt is of, or None."""
        with self._reading() as (_, state):
            return state.receipts.get(receipt)

    def verify(self) -> Report:
        """Check everything: SQLite's own structures, chain, head, sums, stored releases, anchor.

        Raises a LedgerError that says what is wrong, and at which entry.
        """
        return inspected(self._store)

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
        """The last entry: for whoever keeps the ledger, never for readers of a release."""
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
        return Ledger(self._store, None if key is None else rules.text("key", key), accepts=self._accepts)

    def converting(self) -> Ledger:
        """The same ledger, for fits that may be converted to the type of their data set, at the proven price.

        It also lets a fit leave out, or change, the zones of its data set: their totals are then raised by it.
        `price` says before what a fit would be charged.
        """
        return Ledger(self._store, self._key, accepts=True)

    def _reading(self) -> AbstractContextManager[View]:
        return views.reading(self._store)

    def _writing(self) -> AbstractContextManager[View]:
        return views.writing(self._store)

    def __repr__(self) -> str:
        try:
            names = ", ".join(f"'{name}'" for name in self.datasets())
        except LedgerError:
            names = "not readable"
        return f"<Ledger {'in memory' if self.path is None else str(self.path)}: {names}>"

    def __deepcopy__(self, memo: dict[int, object]) -> Ledger:
        return self

    def __copy__(self) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Callable[[str, str | None, bool], Ledger], tuple[str, str | None, bool]]:
        if self.path is None:
            raise LedgerError("a ledger in memory belongs to the process that made it; use a file for several")
        return _reopened, (str(self.path.absolute()), self._key, self._accepts)


def _reopened(path: str, key: str | None, accepts: bool) -> Ledger:
    opened = Ledger.open(path).with_key(key)
    return opened.converting() if accepts else opened
