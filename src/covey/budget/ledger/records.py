"""What a ledger hands out: frozen descriptions, amounts as exact fractions, no keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import DELTA_UNITS, EPSILON_UNITS
from covey.budget.accounting.promise import Kind


@dataclass(frozen=True)
class Head:
    """The last entry of a ledger: who knows it can tell later that the ledger has not lost what came before."""

    sequence: int
    hash: str


@dataclass(frozen=True)
class Receipt:
    """A charge that is committed and anchored: rows may be read now. `cost` is the amount as written, rounded up.

    receipt : 256 random bits, the only part that may be published: it tells nothing of what else the ledger holds.
    """

    receipt: str
    ledger: str
    sequence: int
    hash: str
    dataset: str
    cost: Cost


@dataclass(frozen=True)
class Finished:
    """A release that is stored: `document` is what to hand out, and the entry that records it."""

    sequence: int
    hash: str
    document: bytes


@dataclass(frozen=True)
class Account:
    """One data set's budget. total and remaining are None where the total is unlimited (ledgers in memory).

    kind : the type of its promises. zones : what rows in its zones have been charged, by name.
    """

    dataset: str
    total: Cost | None
    spent: Cost
    kind: Kind
    zones: Mapping[str, Cost]

    @property
    def remaining(self) -> Cost | None:
        if self.total is None:
            return None
        return Cost(self.total.epsilon - self.spent.epsilon, self.total.delta - self.spent.delta)


@dataclass(frozen=True)
class Report:
    """What `verify` found, all of it in order. unfinished: charges without a stored release."""

    ledger: str
    head: Head
    anchored: bool
    entries: int
    charges: int
    releases: int
    unfinished: int
    datasets: tuple[Account, ...]


def cost_of(units: tuple[int, int]) -> Cost:
    """A cost from whole units of epsilon and delta."""
    return Cost(Fraction(units[0], EPSILON_UNITS), Fraction(units[1], DELTA_UNITS))
