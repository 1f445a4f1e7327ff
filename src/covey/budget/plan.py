"""Plans: what an algorithm will release, fixed before any row is read; and the reserve it may draw on."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from covey.budget.accountant import Cost, compose
from covey.budget.amounts import Amount, amount, shown
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
    exact = [amount(weight, name="weights") for weight in weights]
    if not exact or min(exact) == 0:
        raise ParameterError("weights", "must be above 0, at least one")
    whole = sum(exact, Fraction(0))
    return tuple(total * weight / whole for weight in exact)


class Reserve:
    """What one fit may still draw: plans are opened against a budget, events are drawn from open plans.

    Guarantee: all events ever drawn belong to plans whose costs add up to at most the budget. Opening a plan that
    does not fit, and drawing an event that no open plan holds, raise a BudgetError and change nothing.
    Events are drawn in any order; each only as often as plans hold an exactly equal one. Threads may share it.
    """

    def __init__(self, budget: Cost) -> None:
        self._budget = budget
        self._opened = Cost(Fraction(0))
        self._undrawn: Counter[Event] = Counter()
        self._lock = threading.Lock()

    def open(self, plan: Plan) -> Cost:
        """Make the plan's events drawable; returns what the plan costs."""
        cost = plan.cost()
        with self._lock:
            opened = self._opened + cost
            if not opened.within(self._budget):
                raise BudgetError(
                    f"a plan of {_words(cost)} does not fit: {_words(self._opened)} of {_words(self._budget)} "
                    "is already planned"
                )
            self._opened = opened
            self._undrawn.update(plan.events)
        return cost

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
