"""A whole ledger checked: more than every charge checks, for whoever asks whether all of it is in order."""

from __future__ import annotations

from covey.budget.ledger import anchor as anchors
from covey.budget.ledger import rules
from covey.budget.ledger.records import Head, Report
from covey.budget.ledger.store import Store
from covey.errors import LedgerError


def inspected(store: Store) -> Report:
    """SQLite's own structures, chain, head, sums, stored releases, anchor; a LedgerError says what is wrong."""
    where = store.where
    with store.transaction(write=False) as connection:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise LedgerError(f"{where}: the file is damaged; restore the newest copy")
        state = store.state(connection)
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
