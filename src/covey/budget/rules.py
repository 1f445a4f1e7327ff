"""What a ledger accepts and what it refuses, and in which words."""

from __future__ import annotations

import sqlite3
from typing import NoReturn

from covey.budget.amounts import DELTA_UNITS, EPSILON_UNITS, Amount, amount, shown, units_down, units_up
from covey.budget.chain import Entry, State, digest
from covey.budget.records import Account, cost_of
from covey.errors import BudgetError, LedgerError, ParameterError

_LONGEST_TEXT = 1000

Units = tuple[int, int]


def text(name: str, value: str) -> str:
    """One line of printable text: data sets and purposes appear in messages and tables."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise ParameterError(name, f"must be one line of text, 1 to {_LONGEST_TEXT} characters")
    return value


def totals(*, epsilon: Amount | None, delta: Amount, unlimited: bool) -> Units | None:
    """A data set's total in units, rounded down; None for no limit, which only ledgers in memory may have."""
    allowed = amount(delta, name="delta")
    if epsilon is None:
        if not unlimited:
            raise ParameterError("epsilon", "a ledger file needs a total, such as epsilon=3")
        if allowed:
            raise ParameterError("epsilon", "a total delta needs a total epsilon beside it")
        return None
    if allowed > 1:
        raise ParameterError("delta", "must be at most 1")
    return (
        units_down(amount(epsilon, name="epsilon"), EPSILON_UNITS, name="epsilon"),
        units_down(allowed, DELTA_UNITS, name="delta"),
    )


def asked(*, epsilon: Amount, delta: Amount) -> Units:
    """What a charge asks for, in units, rounded up; nothing at all is refused, for no release is free."""
    units = (
        units_up(amount(epsilon, name="epsilon"), EPSILON_UNITS, name="epsilon"),
        units_up(amount(delta, name="delta"), DELTA_UNITS, name="delta"),
    )
    if units == (0, 0):
        raise ParameterError("epsilon", "a charge must be above 0")
    return units


def known(state: State, dataset: str, *, where: str) -> None:
    """Refuse a data set that was never added."""
    if dataset not in state.totals:
        names = ", ".join(f"'{name}'" for name in state.totals)
        raise LedgerError(f"{where}: has no data set '{dataset}', only {names}; add it with Ledger.add")


def affordable(state: State, dataset: str, units: Units) -> None:
    """Refuse what would exceed a data set's total."""
    total, spent = state.totals[dataset], state.spent[dataset]
    if total is not None and (spent[0] + units[0] > total[0] or spent[1] + units[1] > total[1]):
        _too_much(dataset, units, left=(total[0] - spent[0], total[1] - spent[1]), total=total)


def _too_much(dataset: str, units: Units, *, left: Units, total: Units) -> NoReturn:
    def words(amounts: Units) -> str:
        cost = cost_of(amounts)
        return f"epsilon {shown(cost.epsilon)} and delta {shown(cost.delta)}"

    raise BudgetError(
        f"data set '{dataset}': {words(units)} asked for, but only {words(left)} of {words(total)} is left; "
        "ask for less, or use an earlier release, which is free"
    )


def bound_key(state: State, dataset: str, *, key: str, parameters: str, where: str) -> str:
    """The hash under which a key is kept. Refuses a key that already stands for other parameters."""
    hashed = digest("covey-key", state.ledger, dataset, text("key", key))
    if state.bound.get(hashed, parameters_hash(parameters)) != parameters_hash(parameters):
        raise LedgerError(f"{where}: this key already stands for other parameters; choose another key")
    return hashed


def parameters_hash(parameters: str) -> str:
    """What the ledger keeps of the parameters that a key stands for."""
    return digest("covey-parameters", parameters)


def document_hash(document: bytes) -> str:
    """What the chain keeps of a stored release."""
    return digest("covey-document", document)


def document(connection: sqlite3.Connection, release: Entry, *, where: str) -> bytes:
    """The stored release that an entry records, checked against it."""
    row = connection.execute("SELECT document FROM releases WHERE sequence = ?", (release.sequence,)).fetchone()
    if row is None or not isinstance(row[0], bytes) or document_hash(row[0]) != release.document:
        raise LedgerError(f"{where}: the release stored by entry {release.sequence} is missing or was changed")
    return row[0]


def accounts(state: State) -> tuple[Account, ...]:
    """Every data set with its total and what is spent."""
    return tuple(
        Account(name, None if total is None else cost_of(total), cost_of(state.spent[name]))
        for name, total in state.totals.items()
    )
