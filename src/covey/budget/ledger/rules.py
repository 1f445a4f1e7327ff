"""What a ledger accepts and what it refuses, and in which words."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import NoReturn

import msgspec

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import DELTA_UNITS, EPSILON_UNITS, Amount, shown, units_down, units_up
from covey.budget.accounting.promise import Kind, Promise, ZonePromises
from covey.budget.ledger.chain import Entry, State, Zoned, digest
from covey.budget.ledger.records import Account, cost_of
from covey.checks import not_negative
from covey.errors import BudgetError, LedgerError, ParameterError
from covey.events import Neighbours

_LONGEST_TEXT = 1000

Units = tuple[int, int]


def text(name: str, value: str) -> str:
    """One line of printable text: data sets and purposes appear in messages and tables."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise ParameterError(name, f"must be one line of text, 1 to {_LONGEST_TEXT} characters")
    return value


def totals(*, epsilon: Amount | None, delta: Amount, unlimited: bool) -> Units | None:
    """A data set's total in units, rounded down; None for no limit, which only ledgers in memory may have."""
    allowed = not_negative("delta", delta)
    if epsilon is None:
        if not unlimited:
            raise ParameterError("epsilon", "a ledger file needs a total, such as epsilon=3")
        if allowed:
            raise ParameterError("epsilon", "a total delta needs a total epsilon beside it")
        return None
    if allowed > 1:
        raise ParameterError("delta", "must be at most 1")
    return (
        units_down(not_negative("epsilon", epsilon), EPSILON_UNITS, name="epsilon"),
        units_down(allowed, DELTA_UNITS, name="delta"),
    )


@dataclass(frozen=True)
class Price:
    """What a charge comes to on its data set: amounts in units, rounded up, in the type of its promises."""

    units: Units
    zones: Zoned | None = None

    @property
    def zones_text(self) -> str | None:
        return None if self.zones is None else msgspec.json.encode(self.zones).decode()


def priced(
    state: State, dataset: str, promise: Promise, zones: ZonePromises | None, *, converting: bool, where: str
) -> Price:
    """What a promise costs a data set, refused if it is of another type or has other zones, unless that is accepted."""
    known(state, dataset, where=where)
    kind = state.kinds[dataset]
    meant = promise.to(kind)
    if promise.kind != kind and not converting:
        parameter = "person" if promise.unit != kind.unit else "neighbours"
        raise ParameterError(
            parameter,
            f"data set '{dataset}' counts promises for {kind}, and this one is for {promise.kind}. It would be charged "
            f"as {words(meant.cost)}: accept that with `Ledger.converting`, or change the fit",
        )
    bound = state.zones.get(dataset)
    if bound is not None and bound.of != (None if zones is None else zones.of) and not converting:
        raise ParameterError(
            "zones",
            f"data set '{dataset}' was charged with other zones, or none, before, or in other columns or bounds, or "
            "with people of another missing=: what was promised there would no longer be the sum of its releases. "
            "Give the same, or accept it with `Ledger.converting`; `Ledger.datasets` then tells the raised totals",
        )
    if zones is None:
        return Price(_units(meant))
    of_zones: dict[str, Units] = {}
    for name, of_zone in zones.promises:  # of zones with one name, the weakest promise
        if not of_zone.within(promise):
            raise ParameterError("zones", f"the promise of {name!r} is not that of all rows or a stricter one")
        # In another type a step may lead out of the zone, where no more is promised than to all others (promise.md).
        units, before = _units(of_zone if promise.kind == kind else meant), of_zones.get(name, (0, 0))
        of_zones[name] = (max(units[0], before[0]), max(units[1], before[1]))
    return Price(_units(meant), Zoned(zones.of, tuple((name, *units) for name, units in of_zones.items())))


def _units(promise: Promise) -> Units:
    """Amounts in units, rounded up; nothing at all is refused, for no release is free."""
    units = (
        units_up(promise.epsilon, EPSILON_UNITS, name="epsilon"),
        units_up(promise.delta, DELTA_UNITS, name="delta"),
    )
    if units == (0, 0):
        raise ParameterError("epsilon", "a charge must be above 0")
    return units


def kind_of(neighbours: str, person: str | None) -> Kind:
    """The type of promises that a data set is made for."""
    return Kind(Neighbours.parse(neighbours), None if person is None else text("person", person))


def known(state: State, dataset: str, *, where: str) -> None:
    """Refuse a data set that was never added."""
    if dataset not in state.totals:
        names = ", ".join(f"'{name}'" for name in state.totals)
        raise LedgerError(f"{where}: has no data set '{dataset}', only {names}; `Ledger.add` adds one")


def affordable(state: State, dataset: str, units: Units) -> None:
    """Refuse what would exceed a data set's total."""
    total, spent = state.totals[dataset], state.spent[dataset]
    if total is not None and (spent[0] + units[0] > total[0] or spent[1] + units[1] > total[1]):
        _too_much(dataset, units, left=(total[0] - spent[0], total[1] - spent[1]), total=total)


def _too_much(dataset: str, units: Units, *, left: Units, total: Units) -> NoReturn:
    raise BudgetError(
        f"data set '{dataset}': {words(cost_of(units))} asked for, but only {words(cost_of(left))} of "
        f"{words(cost_of(total))} is left; ask for less, or use an earlier release, which is free"
    )


def words(cost: Cost) -> str:
    return f"epsilon {shown(cost.epsilon)} and delta {shown(cost.delta)}"


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


def document_of(connection: sqlite3.Connection, state: State, entry: int, *, where: str) -> bytes:
    """The stored release of the charge with this number."""
    release = state.released.get(entry)
    if release is None:
        charged = 0 < entry <= len(state.entries) and state.entries[entry - 1].kind == "charge"
        what = "was charged, but never finished" if charged else "is no charge; `Ledger.entries` lists them"
        raise LedgerError(f"{where}: entry {entry} {what}")
    return document(connection, release, where=where)


def accounts(state: State) -> tuple[Account, ...]:
    """Every data set with its total and what is spent."""
    return tuple(
        Account(
            name,
            None if total is None else cost_of(total),
            cost_of(state.spent[name]),
            state.kinds[name],
            {zone: cost_of(spent) for zone, spent in state.zones[name].spent.items()} if name in state.zones else {},
        )
        for name, total in state.totals.items()
    )
