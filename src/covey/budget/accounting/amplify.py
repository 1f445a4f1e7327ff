"""What a mechanism costs that only meets a random sample of the people (proof: amplify.md).

The rule is amplify(compose(everything that meets the sample)), never a composition of amplified events: a person who
is in the sample is in it for all releases at once.

Proven for two ways to sample, each with its own relation, and claimed for nothing else:
  add/remove    every person by an independent coin of the given rate (Poisson)
  replace-one   a set of fixed size, all equally likely, of a public number of people; the rate is size/number
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import EPSILON_UNITS
from covey.errors import ParameterError

DIGITS = 100
SLACK = Decimal("1e-50")  # relative; far more than the roundings of a few operations on 100 digits
EXACT = Context(prec=DIGITS)  # not the caller's, whatever that is
MOST_EPSILON = 10**4
MOST_DELTA = Fraction(1, 100)
SMALLEST_RATE = Fraction(1, 2**40)


def amplified(inner: Cost, *, rate: Fraction) -> Cost:
    """The cost of a mechanism of cost `inner` on a sample of that rate: (ln(1 + rate(e^ε - 1)), rate·δ), rounded up.

    Edge cases: a rate of 1 changes nothing. Rates from 2^-40 to 1 and epsilons up to 10^4 are accepted.
    """
    _check(inner, rate)
    if rate == 1 or inner.epsilon == 0:
        return Cost(inner.epsilon, inner.delta * rate)
    with localcontext(EXACT):
        whole = Fraction(_amplified(inner.epsilon, rate) * (1 + SLACK))
    return Cost(whole, inner.delta * rate)


def inner_cost(whole: Cost, *, rate: Fraction) -> Cost:
    """What a mechanism may cost on a sample of that rate, if the whole is to cost at most `whole`.

    Guarantee: amplified(answer, rate) is within `whole`, checked with 100 digits. Epsilon is the largest multiple of
    1e-9 for which that is so (or one less), at most 10^4; delta is whole.delta/rate, at most 0.01.
    """
    _check(whole, rate)
    if rate == 1:
        return whole
    with localcontext(EXACT):
        grown = 1 + (_decimal(whole.epsilon).exp() - 1) / _decimal(rate)
        steps = int((grown.ln() * EPSILON_UNITS).to_integral_value(rounding=ROUND_FLOOR))
        goal = _decimal(whole.epsilon) * (1 - SLACK)
        steps = min(steps, MOST_EPSILON * EPSILON_UNITS)
        while steps > 0 and _amplified(Fraction(steps, EPSILON_UNITS), rate) * (1 + SLACK) > goal:
            steps -= 1
    delta = min(whole.delta / rate, max(MOST_DELTA, whole.delta))
    return Cost(Fraction(steps, EPSILON_UNITS), delta)


def _amplified(epsilon: Fraction, rate: Fraction) -> Decimal:
    with localcontext(EXACT):
        return (1 + _decimal(rate) * (_decimal(epsilon).exp() - 1)).ln()


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _check(cost: Cost, rate: Fraction) -> None:
    if not isinstance(rate, Fraction | int) or not SMALLEST_RATE <= rate <= 1:
        raise ParameterError("rate", "must be an exact fraction, from 2^-40 to 1")
    if not 0 <= cost.epsilon <= MOST_EPSILON or not 0 <= cost.delta < 1:
        raise ParameterError("cost", f"must have an epsilon from 0 to {MOST_EPSILON} and a delta from 0 to below 1")
