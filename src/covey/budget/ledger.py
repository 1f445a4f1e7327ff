"""The privacy ledger: what was spent on each data set, durably, before any row was read.

Order of work: charge (committed, and anchored, when it returns), then read rows, then `finish`. A crash at any
moment leaves at worst a charge without a release; there is never a release without a charge, and nothing is
ever refunded. Every charge checks the whole ledger first, so a changed, shortened or replaced one spends nothing.

What it cannot notice: a file that was rewritten from its first entry on, or replaced by an older copy of itself.
An anchor kept out of reach notices the second, and certificates, which carry the head, notice both. Someone who
may write the ledger and the anchor, or who holds the rows, is not restrained by either.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from covey.budget import anchor as anchors
from covey.budget.amounts import DELTA_UNITS, EPSILON_UNITS, Amount, amount, shown, units_down, units_up
from covey.budget.chain import Entry, State, digest, linked
from covey.budget.records import Account, Finished, Head, Receipt, Report, cost_of
from covey.budget.store import Store, append
from covey.errors import BudgetError, LedgerError, ParameterError


class Ledger:
    """One ledger, in a file (`create`, `open`) or in memory (`memory`); both behave alike.

    Safe for several processes and threads: each call is one transaction. A copy of a Ledger object is the same
    ledger, for a budget that could be copied would be no budget.
    """

    def __init__(self, store: Store) -> None:
        """Use `create`, `open` or `memory`."""
        self._store = store

    @classmethod
    def memory(cls, *, dataset: str = "data", epsilon: Amount | None = None, delta: Amount = 0) -> Ledger:
        """A ledger that ends with this process. Without `epsilon` its data set has no limit."""
        return cls._started(Store(None), dataset, epsilon, delta, anchor=None)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        dataset: str,
        epsilon: Amount,
        delta: Amount = 0,
        anchor: str | os.PathLike[str] | None = None,
    ) -> Ledger:
        """A new ledger file with one data set; refuses to touch a file that exists.

        anchor: where to keep the anchor file, best on another disk or machine; its folder must exist.
        Totals are rounded down to 1e-9 (epsilon) and 1e-18 (delta).
        """
        _refuse_unlimited(epsilon)
        store = Store(Path(path))
        store.create()
        try:
            return cls._started(store, dataset, epsilon, delta, anchor=os.path.abspath(anchor) if anchor else None)
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise

    @classmethod
    def _started(
        cls, store: Store, dataset: str, epsilon: Amount | None, delta: Amount, *, anchor: str | None
    ) -> Ledger:
        name, totals = _name(dataset), _totals(epsilon, delta)
        state = State()
        with store.transaction(write=True, fresh=True) as connection:
            for entry in (
                linked(state, "open", ledger=os.urandom(16).hex(), anchor=anchor),
            ):
                append(connection, entry)
        del name, totals
        raise NotImplementedError
