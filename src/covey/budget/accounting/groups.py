"""Group privacy: what several rows cost together, and what each may cost if a person is protected. Proof: groups.md."""

from __future__ import annotations

from decimal import MAX_EMAX, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from covey.budget.accounting.accountant import Cost
from covey.errors import ParameterError

DIGITS = 100
SLACK = Decimal("1e-50")  # relative; far more than the roundings of a few operations on 100 digits
DELTA_STEPS = 10**30
MOST_ROWS = 10**6
MOST_EPSILON, LEAST_EPSILON = 10**12, Fraction(1, 10**30)


def row_cost(person: Cost, *, rows: int) -> Cost:
    """The cost of single rows such that all `rows` of a person together cost at most `person`.

    Guarantee: a mechanism of this cost for adding or removing one row has cost `person` for adding or removing up to
    `rows` of them. Epsilon is divided, exactly; delta becomes delta·(e^(ε/m) - 1)/(e^ε - 1), rounded down.
    """
    _check(rows)
    if rows == 1:
        return person
    each = person.epsilon / rows
    if person.delta == 0:
        return Cost(each)
    with localcontext(Context(prec=DIGITS)):
        part, whole = (Decimal(e.numerator) / Decimal(e.denominator) for e in (each, person.epsilon))
        share = (part.exp() - 1) / (whole.exp() - 1) * (1 - SLACK)
        steps = Decimal(person.delta.numerator) / Decimal(person.delta.denominator) * share * DELTA_STEPS
        delta = Fraction(int((steps * (1 - SLACK)).to_integral_value(rounding=ROUND_FLOOR)), DELTA_STEPS)
    return Cost(each, delta)


def group_cost(each: Cost, *, rows: int) -> Cost:
    """What `rows` steps to a neighbour cost together, if one costs `each`: (mε, δ(e^{mε} - 1)/(e^ε - 1)), rounded up.

    Edge cases: an epsilon of 0 has the limit, m·δ. A delta that reaches 1 stays 1: nothing is promised then. Amounts
    that 100 digits cannot hold: an epsilon beyond 10^12 leaves a delta of 1, one below 10^-30 counts as that for delta.
    """
    _check(rows)
    if rows == 1:
        return each
    epsilon = each.epsilon * rows
    if each.delta == 0 or each.epsilon == 0:
        return Cost(epsilon, min(Fraction(1), each.delta * rows))
    if epsilon > MOST_EPSILON:
        return Cost(epsilon, Fraction(1))
    with localcontext(Context(prec=DIGITS, Emax=MAX_EMAX)):
        step = max(each.epsilon, LEAST_EPSILON)
        part, whole = (Decimal(e.numerator) / Decimal(e.denominator) for e in (step, step * rows))
        share = (whole.exp() - 1) / (part.exp() - 1) * (1 + SLACK)
        delta = min(Decimal(1), Decimal(each.delta.numerator) / Decimal(each.delta.denominator) * share * (1 + SLACK))
    return Cost(epsilon, Fraction(delta))


def _check(rows: int) -> None:
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
        raise ParameterError("rows_per_person", f"must be a whole number from 1 to {MOST_ROWS:,}")
