"""People with several rows: what `person=` and `rows_per_person=` mean, and what they cost (docs/guide/people.md).

At most m rows of a person count, and each row costs so little that m of them together cost what the user named
(budget/accounting/groups.md). With "auto", m is a noisy quantile of rows per person, paid for from the same epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.plan import Plan, Reserve, split
from covey.budget.accounting.promise import Promise
from covey.errors import ParameterError
from covey.events import float_at_least
from covey.fit.session import Session, rehearse
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import new_key
from covey.private.curator import Curator
from covey.private.tables.base import Table
from covey.public import Domain, Person
from covey.queries.people import PeopleByRows

CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
LEAST_EPSILON = Fraction(1, 10**6)  # as for a whole fit
CHOICE_SHARE = (1, 19)  # of epsilon: 5% for the choice of m, where that is asked for


@dataclass(frozen=True)
class Capped:
    """A table to fit, what may be spent on each of its rows, the privacy unit, and notes for the reader."""

    table: Table
    reserve: Reserve
    person: Person
    notes: dict[str, Any] = field(default_factory=dict)


def cap(
    table: Table,
    person: Person,
    session: Session,
    *,
    domain: Domain,
    run: Callable[[Curator, Promise], object],
) -> Capped:
    """At most m rows of every person, not yet read: that happens after the charge.

    Guarantee: what is released here, and from the table within the answer's reserve, which is for rows, keeps the
    session's promise, which is for people with all their rows. Where m has to be chosen, that is paid for first;
    before, the algorithm is `run` up to its first payment: what it refuses costs nothing.
    """
    whole = session.reserve
    if person.column is None:
        return Capped(table, whole, person)
    column = person.column
    table.check_person(column)
    notes: dict[str, Any] = {}
    if person.quantile is not None:
        choosing = whole.part(split(whole.promise.epsilon, *CHOICE_SHARE)[0])
        for most in (1, CAPS[-1]):  # what each row may cost is between these
            each = each_row(Reserve(whole.left), most).promise
            rehearse(run, table, domain, each)
        spent = choosing.promise.epsilon
        notes = {"quantile": float_at_least(person.quantile), "epsilon_of_choice": float_at_least(spent)}
        people = _noisy_people(table, column, domain, choosing, session)
        person = person.with_rows(choose_cap(people, float(person.quantile), scale=float(1 / spent)))
    of_rows = each_row(whole, person.rows)
    notes |= {"rows_per_person": person.rows, "epsilon_per_row": float_at_least(of_rows.promise.epsilon)}
    kept = table.capped(domain, column, most=person.rows, key=new_key(session.source))
    return Capped(kept, of_rows, person, notes)


def each_row(reserve: Reserve, rows: int) -> Reserve:
    """All that is left of a reserve for people, for their single rows; refused if nobody may ask for so little."""
    if reserve.left.epsilon / rows < LEAST_EPSILON:
        raise ParameterError(
            "rows_per_person", f"of {rows:,} leaves less than 0.000001 of epsilon for each row; choose fewer"
        )
    return reserve.for_rows(cap=rows)


def _noisy_people(table: Table, column: str, domain: Domain, reserve: Reserve, session: Session) -> NDArray[np.int64]:
    """How many people have at most CAPS[0] rows, at most CAPS[1], ...: noisy."""
    noise, query = DiscreteLaplace(reserve.promise.epsilon), PeopleByRows(domain, CAPS)
    curator = session.people(table, domain, column, reserve)
    curator.reserve(Plan((noise.event(),)))
    return curator.release(query, noise)


def choose_cap(people: NDArray[np.int64], quantile: float, *, scale: float) -> int:
    """The smallest cap that leaves the rows of this share of the people whole, by noisy counts. Free.

    scale : of the noise. Counts that it can explain are left out, or it would add up; where nothing is left, 1.
    """
    counts = np.where(people > scale * math.log(4 * len(people)), people, 0)
    reached = np.cumsum(counts)[: len(CAPS)] >= quantile * counts.sum()
    return CAPS[int(np.argmax(reached))] if reached.any() else CAPS[-1]
