"""One fit from the charge to the document: what is stored already, what is paid, the door, what is handed out.

The order is the promise: all that can be refused is refused first, from the request and the ledger alone; then the
charge is committed; then rows are read; then the release is stored and handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.plan import Reserve
from covey.budget.accounting.promise import Promise, ZonePromises
from covey.budget.ledger.ledger import Ledger
from covey.budget.ledger.records import Receipt
from covey.budget.ledger.store import disk_failed
from covey.errors import LedgerError, ParameterError
from covey.files import check_room
from covey.geo.rates import ZoneRates
from covey.noise.source import OsSource, SeededSource, Source, new_key
from covey.private.curator import Curator
from covey.private.engines.base import Engine
from covey.private.narrowed.sample import RowCount
from covey.private.tables.base import ENGINES, Table
from covey.public import Domain

Progress = Callable[[int, int, str], None]
_LISTENER: ContextVar[Callable[[Curator], Curator] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[Curator], Curator]) -> Iterator[None]:
    """While it lasts, fits work with the curator that `listener` makes of theirs: how the audit listens."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


class Enough(Exception):
    """An algorithm has found nothing wrong and would now pay."""


def rehearse(run: Callable[[Curator, Promise], object], table: Table, domain: Domain, promise: Promise) -> None:
    """Run an algorithm up to its first payment, without rows: what it refuses is refused now, and costs nothing."""

    def stop() -> None:
        raise Enough

    engine, source = RowCount(table, domain), SeededSource(0)
    with suppress(Enough):
        run(Curator(engine, domain=domain, source=source, reserve=Reserve(promise), charge=stop), promise)


class Session:
    """What one fit shares: its promise, the ledger it is charged to, its noise, and the reserve that it hands on.

    Without a ledger it is charged to one in memory, of its own. fingerprint : every public parameter in one text.
    numbers : how many the release will hold, for which the disk must have room. paid : what of the promise another
    session is charged for.
    """

    def __init__(
        self,
        ledger: Ledger | None,
        dataset: str | None,
        *,
        promise: Promise,
        zones: ZonePromises | None,
        purpose: str,
        fingerprint: str,
        seed: int | None,
        numbers: int = 0,
        paid: Fraction = Fraction(0),
    ) -> None:
        if ledger is not None and ledger.path is not None and seed is not None:
            raise ParameterError(
                "random_state", "seeded noise is not private, so a ledger file pays for none; leave out one of them"
            )
        self._book = ledger or Ledger.memory(neighbours=promise.relation, person=promise.unit)
        self._name = dataset if ledger is not None and dataset is not None else "data"
        self._zones, self._purpose, self._fingerprint = zones, purpose, fingerprint
        self._receipt: Receipt | None = None
        self._numbers = numbers
        self._owed = promise.with_cost(Cost(promise.epsilon - paid, promise.delta))
        self.reserve = Reserve(promise)
        self.source: Source = OsSource() if seed is None else SeededSource(seed)

    def before(self, *, purpose: str) -> Session:
        """The session of what comes first, and is paid on its own: with the same noise, and a key of its own."""
        book, paid = self._book, Cost(self.reserve.promise.epsilon - self._owed.epsilon)
        first = Session(
            book if book.key is None else book.with_key(f"{book.key}, before"),
            self._name,
            promise=self.reserve.promise.with_cost(paid),
            zones=None,
            purpose=purpose,
            fingerprint=f"before {self._fingerprint}",
            seed=None,
        )
        first.source = self.source
        return first

    def stored(self) -> bytes | None:
        """The finished release under the ledger's key, at no cost; or None, if there is none and one can be paid for.

        What could not be charged is refused here, before anything is known of the rows.
        """
        found = self.finished()
        if found is None:
            self.price(self.reserve.promise)
        return found

    def finished(self) -> bytes | None:
        """The finished release under the ledger's key, at no cost; None if there is none."""
        if self._book.key is None:
            return None
        return self._book.stored(self._name, key=self._book.key, parameters=self._fingerprint)

    def price(self, promise: Promise | None = None) -> None:
        """Refuse a promise that could not be charged; if none is given, what this session will be charged."""
        self._book.price(self._name, promise or self._owed, zones=self._zones)

    def charge(self) -> None:
        """Charge the ledger for the whole fit; once, however many steps ask for it.

        Behind it numpy is silent: with the caller's settings, rows could decide between an answer and an error.
        """
        if set(np.geterr().values()) != {"ignore"}:
            raise RuntimeError("a way to the rows must silence numpy first: np.errstate(all='ignore')")
        if self._receipt is None:
            check_room(self._book.path, numbers=self._numbers)
            self._receipt = self._book.charge(
                self._name,
                self._owed,
                purpose=self._purpose,
                key=self._book.key,
                parameters=self._fingerprint,
                zones=self._zones,
            )

    def door(
        self,
        table: Table,
        domain: Domain,
        reserve: Reserve,
        *,
        engine: str = "auto",
        engines: tuple[str, ...] = ENGINES,
        progress: Progress | None = None,
        zones: ZoneRates | None = None,
    ) -> Curator:
        """The door to a table's rows, within a part of this fit's reserve; whoever listens hears it."""
        curator = self._curator(table.engine(engine, domain, engines=engines), domain, reserve, progress, zones)
        listener = _LISTENER.get()
        return curator if listener is None else listener(curator)

    def people(self, table: Table, domain: Domain, person: str, reserve: Reserve) -> Curator:
        """The door to how many people have how many rows."""
        return self._curator(table.people(domain, person, key=new_key(self.source)), domain, reserve)

    def counter(self, table: Table, domain: Domain, reserve: Reserve) -> Curator:
        """The door to the number of rows alone."""
        return self._curator(RowCount(table, domain), domain, reserve)

    def _curator(
        self,
        engine: Engine,
        domain: Domain,
        reserve: Reserve,
        progress: Progress | None = None,
        zones: ZoneRates | None = None,
    ) -> Curator:
        return Curator(
            engine,
            domain=domain,
            source=self.source,
            reserve=reserve,
            charge=self.charge,
            progress=progress,
            zones=zones,
        )

    @property
    def receipt(self) -> str | None:
        """What a certificate shows of the charge: random, so it tells nothing else of the ledger. None in memory."""
        durable = self._book.path is not None  # one in memory ends with the process: nobody could look it up
        return self._receipt.receipt if durable and self._receipt is not None else None

    def finish(self, document: bytes, *, made: object) -> bytes:
        """Store the release with its charge; hand out what is answered: with a key, the first to finish.

        Where it cannot be stored, the LedgerError carries what was `made`, if its charge still stands: it is paid for.
        """
        assert self._receipt is not None, "a release without a charge"
        try:
            return self._book.finish(self._receipt, document).document
        except LedgerError as error:
            error.release = made if self._stands(self._receipt) else None
            raise

    def _stands(self, receipt: Receipt) -> bool:
        """Whether the ledger holds the charge, which it did; a disk that fails to say so does not undo that."""
        try:
            return self._book.find(receipt.receipt) is not None
        except LedgerError as error:
            return disk_failed(error)


def open_ledger(ledger: Ledger | str | None, dataset: str | None) -> tuple[Ledger | None, str | None]:
    """The ledger to charge, and the name of the data set in it."""
    if dataset is not None and (not isinstance(dataset, str) or not dataset):
        raise ParameterError("dataset", "must be a name, or None without a ledger")
    dataset = None if dataset is None else str(dataset)  # a text of numpy is no JSON, as a release is written
    if ledger is None:
        return None, dataset
    if not isinstance(ledger, Ledger | str | PathLike):
        raise ParameterError("ledger", "must be a Ledger, the path of one, or None")
    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    if dataset is None:
        raise ParameterError("dataset", "a ledger counts per data set: say which one this is, such as dataset='trips'")
    return book, dataset


def seed_of(random_state: Any) -> int | None:
    """The seed that scikit-learn's random_state stands for. None is fresh operating-system randomness."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(0, 2**63 - 1))
    raise ParameterError("random_state", "must be None, a whole number from 0, or a numpy random generator")
