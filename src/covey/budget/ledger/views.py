"""Checked views of a ledger, to read and to add to, and the entries that are added.

A view holds one transaction of the store. Whoever adds does so durably and anchored, or not at all.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from covey.budget.accounting.promise import Kind
from covey.budget.ledger import anchor as anchors
from covey.budget.ledger import rules
from covey.budget.ledger.chain import Entry, State, linked
from covey.budget.ledger.store import Store, append
from covey.errors import LedgerError


@contextmanager
def reading(store: Store) -> Iterator[tuple[sqlite3.Connection, State]]:
    """A checked, unchanging view. While it lasts no charge can be committed, so the anchor cannot overtake it."""
    with store.transaction(write=False) as connection:
        state = store.state(connection)
        anchors.check(state, where=store.where)
        yield connection, state


@contextmanager
def writing(store: Store) -> Iterator[tuple[sqlite3.Connection, State]]:
    """A checked view that may be added to: all or nothing, durable and anchored afterwards."""
    with ExitStack() as until_anchored:
        with store.transaction(write=True) as connection:
            state = store.state(connection)
            until_anchored.enter_context(anchors.held(state.anchor))
            anchors.check(state, where=store.where)
            before = state.head
            yield connection, state
        store.remember(state.head)
        if state.anchor is not None and state.head != before:
            try:
                anchors.advance(state)
            except LedgerError as error:
                raise LedgerError(f"entry {state.head[0]} is in the ledger, but its anchor is not: {error}") from error


def start(store: Store, name: str, total: rules.Units | None, kind: Kind, *, anchor: str | None) -> None:
    """Write the first entries of a new ledger, and its anchor where it has one."""
    state, ledger, salt = State(), os.urandom(16).hex(), os.urandom(32).hex()
    with store.transaction(write=True, fresh=True) as connection:
        write(connection, state, "open", ledger=ledger, anchor=anchor, receipt=salt)
        write_dataset(connection, state, name, total, kind)
    state.ledger, state.anchor, state.salt = ledger, anchor, salt
    if anchor is not None:
        anchors.start(state)


def write(connection: sqlite3.Connection, state: State, kind: str, **fields: str | int | None) -> Entry:
    """Write the next entry of the chain, inside the caller's transaction."""
    entry = linked(state, kind, **fields)
    append(connection, entry)
    state.entries.append(entry)
    return entry


def write_dataset(
    connection: sqlite3.Connection, state: State, dataset: str, total: rules.Units | None, kind: Kind
) -> None:
    """Write a data set with its total and the type of its promises."""
    epsilon, delta = total or (None, None)
    fields = {"dataset": dataset, "relation": str(kind.relation), "unit": kind.unit}
    write(connection, state, "dataset", **fields, epsilon=epsilon, delta=delta)
