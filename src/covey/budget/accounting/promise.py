"""A promise has a type: under which relation, and for whom. Only what is proven changes it (promise.md).

Amounts of different types do not add up to anything: with an epsilon for each row and one for each person, somebody
with a hundred rows has a hundred and one. So ledgers, reserves and certificates hold promises, never bare numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import Amount
from covey.budget.accounting.amplify import amplified
from covey.budget.accounting.groups import group_cost
from covey.checks import not_negative
from covey.errors import ParameterError
from covey.events import Neighbours


@dataclass(frozen=True)
class Kind:
    """The type of a promise. unit: None for a row, else the column whose equal values make one person."""

    relation: Neighbours = Neighbours.ADD_REMOVE
    unit: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Neighbours.parse(self.relation))  # text too: no rule may pass it by
        if self.relation is Neighbours.REPLACE_ONE and self.unit is not None:
            raise ParameterError("person", "with replace-one a person is one row: use add-remove, or leave it out")

    def __str__(self) -> str:
        who = "one row" if self.unit is None else f"all rows with the same {self.unit!r}"
        return f"{'adding or removing' if self.relation is Neighbours.ADD_REMOVE else 'replacing'} {who}"


@dataclass(frozen=True)
class Disjoint:
    """Witness that nobody of a unit is in two groups of data sets, and that values do not decide who is in which.

    Only the caller can know that; Covey checks that all data sets are named, and no name is on both sides.
    """

    unit: str | None

    @classmethod
    def declared(cls, ours: Iterable[str | None], theirs: Iterable[str | None], *, unit: str | None) -> Disjoint | None:
        """The witness, or None where the names contradict it."""
        here, there = set(ours), set(theirs)
        return None if None in here | there or here & there else cls(unit)


@dataclass(frozen=True)
class ZonePromises:
    """What is promised to rows in zones: a hash of where these are, and the promise of each by name."""

    of: str
    promises: tuple[tuple[str, Promise], ...]


@dataclass(frozen=True)
class Promise:
    """(epsilon, delta)-differential privacy for one relation and one unit."""

    relation: Neighbours
    unit: str | None
    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Kind(self.relation, self.unit).relation)
        for name in ("epsilon", "delta"):  # below 0 it would be a refund
            object.__setattr__(self, name, not_negative(name, getattr(self, name)))

    @classmethod
    def of(cls, epsilon: Amount, delta: Amount = 0, *, kind: Kind | None = None) -> Promise:
        """A promise from amounts as users write them; for adding or removing one row, if nothing else is said."""
        kind = kind or Kind()
        return cls(kind.relation, kind.unit, not_negative("epsilon", epsilon), not_negative("delta", delta))

    @property
    def kind(self) -> Kind:
        return Kind(self.relation, self.unit)

    @property
    def cost(self) -> Cost:
        """The amounts alone, for arithmetic within one type."""
        return Cost(self.epsilon, self.delta)

    def with_cost(self, cost: Cost) -> Promise:
        """The same type with other amounts."""
        return replace(self, epsilon=cost.epsilon, delta=cost.delta)

    def __add__(self, other: Promise) -> Promise:
        """Both together (basic composition); refused for promises of different types, which have no sum."""
        self._same(other)
        return self.with_cost(self.cost + other.cost)

    def largest(self, other: Promise, witness: Disjoint) -> Promise:
        """Both together where nobody is in both (parallel composition): the larger of each amount."""
        self._same(other)
        if witness.unit != self.unit:
            raise ParameterError("disjoint", "was declared for another unit than the promises are for")
        return self.with_cost(Cost(max(self.epsilon, other.epsilon), max(self.delta, other.delta)))

    def within(self, other: Promise) -> bool:
        """Whether it is of the same type, and promises at least as much."""
        return self.kind == other.kind and self.cost.within(other.cost)

    def on_sample(self, rate: Fraction) -> Promise:
        """What a mechanism with this promise for the sampled rows promises for all rows (amplify.md)."""
        return self.with_cost(amplified(self.cost, rate=rate))

    def to(self, kind: Kind) -> Promise:
        """The same releases in terms of another type, at the proven price; refused where nothing is proven."""
        if kind == self.kind:
            return self
        if self.relation is Neighbours.REPLACE_ONE:
            raise ParameterError(
                "neighbours", "a promise for replacing a row says nothing of adding or removing one: use add-remove"
            )
        if self.unit is None and kind.unit is not None:
            raise ParameterError(
                "person", f"a promise for each row is none for people: give person={kind.unit!r}, which caps their rows"
            )
        if self.unit is not None and kind.unit not in (None, self.unit):
            raise ParameterError("person", f"must be {kind.unit!r}: other people are protected by another column")
        steps = 2 ** ((self.unit is not None) + (kind.relation is Neighbours.REPLACE_ONE))
        return Promise(kind.relation, kind.unit, *_amounts(group_cost(self.cost, rows=steps)))

    def for_people(self, column: str, *, cap: int) -> Promise:
        """For people of whom at most `cap` rows are kept, of a promise for each row. The cap must be enforced."""
        if self.kind != Kind():
            raise ParameterError("person", "only a promise for adding or removing one row extends to people")
        return Promise(self.relation, column, *_amounts(group_cost(self.cost, rows=cap)))

    def _same(self, other: Promise) -> None:
        if self.kind != other.kind:
            raise ParameterError("promise", f"one is for {self.kind}, one for {other.kind}: they do not add up")


def _amounts(cost: Cost) -> tuple[Fraction, Fraction]:
    return cost.epsilon, cost.delta
