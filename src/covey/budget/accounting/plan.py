"""Plans: what an algorithm will release, fixed before any row is read; and the reserve it may draw on."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from covey.budget.accounting.accountant import Cost, compose
from covey.budget.accounting.amounts import Amount, shown
from covey.budget.accounting.amplify import inner_cost
from covey.budget.accounting.groups import row_cost
from covey.budget.accounting.promise import Promise
from covey.checks import not_negative
from covey.errors import BudgetError, ParameterError
from covey.events import Event


@dataclass(frozen=True)
class Plan:
    """Events whose kinds and parameters are fixed before any row is read, and the delta they share.

    A choice made from a released value starts a new plan; plans add their costs (accountant.md says why).
    delta is what composition may use for Gaussian and approximate events; a plan of pure events needs none.
    """

    events: tuple[Event, ...]
    delta: Fraction = Fraction(0)

    def cost(self) -> Cost:
        """What the whole plan costs, however its releases depend on one another."""
        return compose(self.events, delta=self.delta)


def split(total: Fraction, *weights: Amount) -> tuple[Fraction, ...]:
    """Parts of `total` in proportion to `weights`: exact, so that they add up to `total` exactly.

    Weights are whole numbers, fractions or decimals ("0.3", or 0.3, which means 3/10), all above 0.
    """
    exact = [not_negative("weights", weight) for weight in weights]
    if not exact or min(exact) == 0:
        raise ParameterError("weights", "must be above 0, at least one")
    whole = sum(exact, Fraction(0))
    return tuple(total * weight / whole for weight in exact)


class Reserve:
    """What one fit, or a step of it, may still draw: plans are opened against a promise, events drawn from open plans.

    Guarantee: all events ever drawn here, and from reserves handed on, belong to plans whose costs add up to at most
    the promise; a reserve that is handed on holds a promise of its own type, and what was taken off this one is what
    that promise means in this type. Opening or handing on what does not fit, and drawing an event that no open plan
    holds, raise a BudgetError and change nothing.
    Events are drawn in any order; each only as often as plans hold an exactly equal one. Threads may share it.
    """

    def __init__(self, promise: Promise) -> None:
        self.promise = promise
        self._opened = Cost(Fraction(0))
        self._undrawn: Counter[Event] = Counter()
        self._lock = threading.Lock()

    def open(self, plan: Plan) -> Cost:
        """Make the plan's events drawable; returns what the plan costs."""
        cost = plan.cost()
        with self._lock:
            self._take(cost)
            self._undrawn.update(plan.events)
        return cost

    @property
    def left(self) -> Promise:
        """What is neither planned nor handed on."""
        promised, opened = self.promise, self._opened
        return promised.with_cost(Cost(promised.epsilon - opened.epsilon, promised.delta - opened.delta))

    def part(self, epsilon: Fraction) -> Reserve:
        """A reserve of the same type for so much of epsilon, taken off this one."""
        with self._lock:
            self._take(Cost(epsilon))
        return Reserve(self.promise.with_cost(Cost(epsilon)))

    def rest(self) -> Reserve:
        """All that is left, as a reserve of its own, of the same type."""
        with self._lock:
            whole = self.left
            self._take(whole.cost)
        return Reserve(whole)

    def for_rows(self, *, cap: int) -> Reserve:
        """All that is left, for the single rows of people of whom at most `cap` rows are kept (groups.md)."""
        with self._lock:
            whole = self.left
            if whole.unit is None:
                raise BudgetError("only what is for people is handed on to their rows; this is for rows")
            kept = row_cost(whole.cost, rows=cap)
            rows = Promise(whole.relation, None, kept.epsilon, kept.delta)
            self._take_rest(rows.for_people(whole.unit, cap=cap))
        return Reserve(rows)

    def on_sample(self, rate: Fraction) -> Reserve:
        """All that is left, for what is done with a sample of that rate (amplify.md)."""
        with self._lock:
            inner = self.left.with_cost(inner_cost(self.left.cost, rate=rate))
            self._take_rest(inner.on_sample(rate))
        return Reserve(inner)

    def _take_rest(self, meant: Promise) -> None:
        """Take off all that is left, if what is handed on means no more than that here. Called under the lock."""
        if not meant.within(self.left):
            raise BudgetError(f"{_words(meant.cost)} does not fit into {_words(self.left.cost)}, which is left")
        self._opened = self.promise.cost

    def _take(self, cost: Cost) -> None:
        opened = self._opened + cost
        if min(cost.epsilon, cost.delta) < 0 or not opened.within(self.promise.cost):
            raise BudgetError(
                f"a plan of {_words(cost)} does not fit: {_words(self._opened)} of {_words(self.promise.cost)} "
                "is already planned"
            )
        self._opened = opened

    def draw(self, event: Event, why: str) -> None:
        """Take one event out of the open plans; `why` names the release it pays for, in messages only."""
        with self._lock:
            if self._undrawn[event] <= 0:
                raise BudgetError(f"{why}: {_described(event)} was not planned, or has already been drawn")
            self._undrawn[event] -= 1

    @property
    def opened(self) -> Cost:
        """What all plans opened so far cost together."""
        return self._opened

    @property
    def remaining(self) -> tuple[Event, ...]:
        """The events that are planned and not yet drawn."""
        return tuple(self._undrawn.elements())


def _words(cost: Cost) -> str:
    return f"epsilon {shown(cost.epsilon)} and delta {shown(cost.delta)}"


def _described(event: Event) -> str:
    known = vars(event) if isinstance(event, Event) else {}
    fields = [f"{name} {shown(value)}" for name, value in known.items()]
    return f"{type(event).__name__}({', '.join(fields)})"
