"""People with several rows: what `person=` and `rows_per_person=` mean, and what they cost. Guide: docs/people.md.

At most m rows of a person count, and each row costs so little that m of them together cost what the user named
(budget/people.md). With "auto", m is a noisy quantile of the rows per person, paid for from the same epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.budget.accountant import Cost
from covey.budget.people import row_cost
from covey.budget.plan import Plan, Reserve, split
from covey.errors import ParameterError
from covey.events import float_at_least
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource, Source, new_key
from covey.private.curator import Curator
from covey.private.opening import cap_rows, people_engine
from covey.private.sampling import RowCount
from covey.private.tables import Table
from covey.public import Domain, Neighbours, Person
from covey.queries.people import PeopleByRows

CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
LEAST_EPSILON = Fraction(1, 10**6)  # as for a whole fit
CHOICE_SHARE = (1, 19)  # of epsilon: 5% for the choice of m, where that is asked for


@dataclass(frozen=True)
class Capped:
    """A table to fit, what each of its rows may cost, the privacy unit, and notes for the reader."""

    table: Table
    cost: Cost
    person: Person
    notes: dict[str, Any] = field(default_factory=dict)


def cap(
    table: Table,
    person: Person,
    *,
    domain: Domain,
    cost: Cost,
    source: Source,
    charge: Callable[[], None],
    rehearse: Callable[[Curator, Cost], object],
) -> Capped:
    """At most m rows of every person, not yet read: that happens after the charge.

    Guarantee: what is released here, and from the table at (the answer's) cost for each row under add/remove, is
    (cost.epsilon, cost.delta)-DP for adding or removing a person with all their rows. Where m has to be chosen, that
    is paid for first; before, `rehearse` runs the algorithm up to its first payment: what it refuses costs nothing.
    """
    if person.column is None:
        return Capped(table, cost, person)
    column = person.column
    table.check_person(column)
    notes: dict[str, Any] = {}
    if person.quantile is not None:
        for_choice, rest = split(cost.epsilon, *CHOICE_SHARE)
        cost = Cost(rest, cost.delta)
        for most in (1, CAPS[-1]):  # what each row may cost is between these
            with suppress(Enough):
                rehearse(stopping_curator(table, domain, each_row(cost, most)), each_row(cost, most))
        notes = {"quantile": float_at_least(person.quantile), "epsilon_of_choice": float_at_least(for_choice)}
        people = _noisy_people(table, column, domain, for_choice, source, charge)
        person = person.with_rows(choose_cap(people, float(person.quantile), scale=float(1 / for_choice)))
    each = each_row(cost, person.rows)
    notes |= {"rows_per_person": person.rows, "epsilon_per_row": float_at_least(each.epsilon)}
    kept = cap_rows(table, domain, column, most=person.rows, key=new_key(source))
    return Capped(kept, each, person, notes)


def each_row(cost: Cost, rows: int) -> Cost:
    """What each of a person's rows may cost; refused if that is less than anybody may ask for."""
    each = row_cost(cost, rows=rows)
    if each.epsilon < LEAST_EPSILON:
        raise ParameterError(
            "rows_per_person", f"of {rows:,} leaves less than 0.000001 of epsilon for each row; choose fewer"
        )
    return each


def _noisy_people(
    table: Table, column: str, domain: Domain, epsilon: Fraction, source: Source, charge: Callable[[], None]
) -> NDArray[np.int64]:
    """How many people have at most CAPS[0] rows, at most CAPS[1], ...: noisy."""
    noise, query = DiscreteLaplace(epsilon), PeopleByRows(domain, CAPS)
    curator = Curator(
        people_engine(table, domain, column, key=new_key(source)),
        domain=domain,
        neighbours=Neighbours.ADD_REMOVE,
        source=source,
        reserve=Reserve(Cost(epsilon)),
        charge=charge,
    )
    curator.reserve(Plan((noise.event(),)))
    return curator.release(query, noise)


def choose_cap(people: NDArray[np.int64], quantile: float, *, scale: float) -> int:
    """The smallest cap that leaves the rows of this share of the people whole, by noisy counts. Free.

    scale : of the noise. Counts that it can explain are left out, or it would add up; where nothing is left, 1.
    """
    counts = np.where(people > scale * math.log(4 * len(people)), people, 0)
    reached = np.cumsum(counts)[: len(CAPS)] >= quantile * counts.sum()
    return CAPS[int(np.argmax(reached))] if reached.any() else CAPS[-1]


class Enough(Exception):
    """An algorithm has found nothing wrong and would now pay."""


def stopping_curator(table: Table, domain: Domain, budget: Cost) -> Curator:
    """A curator without rows that stops an algorithm where it would pay."""

    def stop() -> None:
        raise Enough

    return Curator(
        RowCount(table, domain),
        domain=domain,
        neighbours=Neighbours.ADD_REMOVE,
        source=SeededSource(0),
        reserve=Reserve(budget),
        charge=stop,
    )


def check_people(person: Person, neighbours: Neighbours) -> None:
    """Refuse what has no proof."""
    if person.column is not None and neighbours is Neighbours.REPLACE_ONE:
        raise ParameterError("person", "with replace-one a person is one row: use add-remove, or leave person=None")
