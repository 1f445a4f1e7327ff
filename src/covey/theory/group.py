"""Group privacy of sampling (Blocki et al. 2021): what a release of a random sample promises to a group of people.

A sample holds few of a group's members, so the group is far better hidden than "epsilon times its size" says. Every
number here is an upper bound, computed with 80 digits and rounded up; docs/guide/group-privacy.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

from covey.checks import whole_number
from covey.errors import ParameterError
from covey.events import exactly
from covey.text import upward

__all__ = ["GroupPrivacy", "Promise", "Step", "group_privacy"]

DIGITS = 80
SLACK = Decimal("1e-40")  # relative; far more than all roundings at 80 digits can add up to
LEAST_EPSILON, LEAST_RATE = Fraction(1, 10**9), Fraction(1, 10**15)  # below, 1 + rate·(e^ε - 1) would lose its digits
MOST_GROUP = 100_000
# Not the caller's context, whatever that is; and no chance is so small that it would vanish, and with it the others.
_EXACT = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)
_UP = Context(prec=17, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class Promise:
    """(epsilon, delta) for the whole group."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Step:
    """The promise that counts at most `threshold` members of the group in the sample."""

    threshold: int
    epsilon: float
    delta: float


@dataclass(frozen=True)
class GroupPrivacy:
    """What a release from a sample promises to a group. Each line is true; use whichever suits."""

    group: int
    curve: tuple[Step, ...]  # threshold T = 0 .. group: (T·epsilon, chance of more than T members, and what delta adds)
    naive: Promise  # group times the mechanism's epsilon, as if there were no sampling
    amplified: Promise  # group times the epsilon of one person after amplification by sampling
    _chances: tuple[Decimal, ...]
    _epsilon: Decimal
    _delta: Decimal

    def best_threshold(self, delta: float) -> Step:
        """The step of smallest epsilon whose delta is at most the given one."""
        for step in self.curve:
            if step.delta <= delta:
                return step
        raise ParameterError(
            "delta", f"must be at least {upward(self.curve[-1].delta, 3):.3g}: no threshold promises less"
        )

    def delta_at(self, epsilon: float) -> float:
        """The smallest delta proven here for the group at an epsilon: over all numbers of members, or amplified."""
        if not 0 <= epsilon < math.inf:
            raise ParameterError("epsilon", "must be a number of at least 0")
        with localcontext(_EXACT):
            goal = min(Decimal(epsilon), self.group * self._epsilon).exp()  # beyond, nothing is left to lose
            total = Decimal(0)
            for members, chance in enumerate(self._chances):
                total += chance * _hockey_stick(members, self._epsilon, self._delta, goal)
            mixed = _float_up(min(Decimal(1), total * (1 + SLACK)))
        return min(mixed, self.amplified.delta) if epsilon >= self.amplified.epsilon else mixed

    def epsilon_at(self, delta: float) -> float:
        """The smallest epsilon at which `delta_at` is at most the given delta (found by halving, rounded up)."""
        if not 0 <= delta < 1:
            raise ParameterError("delta", "must be at least 0 and below 1")
        low, high = 0.0, self.naive.epsilon
        if self.delta_at(high) > delta:
            raise ParameterError(
                "delta", f"must be at least {upward(self.delta_at(high), 3):.3g} for this mechanism and group"
            )
        if self.delta_at(0.0) <= delta:
            return 0.0
        while high - low > 1e-9 * max(1.0, high):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta_at(middle) <= delta else (middle, high)
        return high


def group_privacy(
    epsilon: float,
    *,
    group: int,
    rate: float | None = None,
    sample: int | None = None,
    n: int | None = None,
    delta: float = 0.0,
) -> GroupPrivacy:
    """The privacy of a group of people in a release of an (epsilon, delta)-private mechanism that ran on a sample.

    Give `rate` for Poisson sampling (each person is in the sample by a coin of their own; the mechanism's epsilon is
    for add/remove), or `sample` and `n` for a fixed number of people out of n without replacement (its epsilon is for
    replace-one). `epsilon` and `delta` are those of the mechanism on the sample, before amplification.

    Formal guarantees, in both directions between data with the group and data without (or with other rows in their
    place). With K the random number of members in the sample (binomial, or hypergeometric)::

      curve        (T·ε, P[K > T] + Σ_{j<=T} P[K = j]·δ_j), with δ_j = δ(e^{jε} - 1)/(e^ε - 1) from j steps of (ε, δ)
      naive        (g·ε, δ_g)
      amplified    g steps of (ln(1 + ξ(e^ε - 1)), ξδ), with ξ the rate or sample/n; no delta for a pure mechanism
      delta_at(ε') Σ_j P[K = j]·max(0, (e^{jε} - e^{ε'})/(1 + e^{jε})) for a pure mechanism: at most any step's;
                   from the amplified epsilon on, what that promises, if it is less
    """
    members = whole_number("group", group, least=1, most=MOST_GROUP)
    with localcontext(_EXACT):
        strength = _decimal("epsilon", epsilon, least=LEAST_EPSILON, most=100)
        slip = _decimal("delta", delta, least=Fraction(0), most=1, open_end=True)
        if rate is not None:
            if sample is not None or n is not None:
                raise ParameterError("rate", "and a sample of fixed size exclude each other: give one of them")
            share = _decimal("rate", rate, least=LEAST_RATE, most=1)
            chances = _binomial(members, share)
        else:
            if sample is None or n is None:
                raise ParameterError("rate", "must be given, or else both sample and n")
            people = whole_number("n", n, least=1, most=10**15)
            drawn = whole_number("sample", sample, least=1, most=people)
            if members > people:
                raise ParameterError("group", f"must be at most n, {people}")
            share = Decimal(drawn) / Decimal(people)
            chances = _hypergeometric(members, people, drawn)
        one = (1 + share * (strength.exp() - 1)).ln() * (1 + SLACK)
        curve, spent = [], Decimal(0)
        for threshold, (chance, tail) in enumerate(zip(chances, _tails(chances), strict=True)):
            spent += chance * _steps_delta(threshold, strength, slip)
            lost = min(Decimal(1), (tail + spent) * (1 + SLACK))
            curve.append(Step(threshold, _float_up(threshold * strength), _float_up(lost)))
        return GroupPrivacy(
            group=members,
            curve=tuple(curve),
            naive=Promise(_float_up(members * strength), _steps_up(members, strength, slip)),
            amplified=Promise(_float_up(members * one), _steps_up(members, one, share * slip)),
            _chances=tuple(chances),
            _epsilon=strength,
            _delta=slip,
        )


def _binomial(group: int, rate: Decimal) -> list[Decimal]:
    """P[K = j] for j = 0 .. group: each person by a coin of their own."""
    if rate == 1:
        return [Decimal(0)] * group + [Decimal(1)]
    odds = rate / (1 - rate)
    chance = (1 - rate) ** group
    chances = [chance]
    for j in range(group):
        chance = chance * (group - j) / (j + 1) * odds
        chances.append(chance)
    return chances


def _hypergeometric(group: int, people: int, drawn: int) -> list[Decimal]:
    """P[K = j] for j = 0 .. group: `drawn` of `people`, of whom `group` belong to the group."""
    fewest = max(0, drawn - (people - group))
    chances = [Decimal(0)] * (group + 1)
    # C(people - group, drawn - j)·C(group, j) / C(people, drawn) at the fewest members, then by ratios.
    chance = Decimal(1)
    if fewest == 0:
        for i in range(group):  # the chance that none of the group is drawn: the group misses all drawn places
            chance = chance * (people - drawn - i) / (people - i)
    else:
        for i in range(people - drawn):  # all who are not drawn, fewer than the group, are of the group
            chance = chance * (group - i) / (people - i)
    j = fewest
    chances[j] = chance
    while j < min(group, drawn):
        chance = chance * (group - j) * (drawn - j) / ((j + 1) * (people - group - drawn + j + 1))
        j += 1
        chances[j] = chance
    return chances


def _tails(chances: list[Decimal]) -> list[Decimal]:
    """P[K > T] for each T, summed from the small end so that tiny tails keep their digits."""
    tails = [Decimal(0)] * len(chances)
    total = Decimal(0)
    for j in range(len(chances) - 1, 0, -1):
        total += chances[j]
        tails[j - 1] = total
    return tails


def _steps_delta(steps: int, epsilon: Decimal, delta: Decimal) -> Decimal:
    """The delta of so many steps of (epsilon, delta): delta·(1 + e^ε + ... + e^((steps-1)ε)), or 1 where it is more."""
    if delta == 0 or steps == 0:
        return Decimal(0)
    if (steps - 1) * epsilon >= -delta.ln():  # the last term alone is 1 or more, and may be too long to write down
        return Decimal(1)
    return delta * ((steps * epsilon).exp() - 1) / (epsilon.exp() - 1)


def _steps_up(steps: int, epsilon: Decimal, delta: Decimal) -> float:
    return _float_up(min(Decimal(1), _steps_delta(steps, epsilon, delta) * (1 + SLACK)))


def _hockey_stick(steps: int, epsilon: Decimal, delta: Decimal, goal: Decimal) -> Decimal:
    """The delta at ln(goal) of a mechanism that is (steps·ε, δ_steps)-DP: mixtures of a bad coin and a pure part."""
    grown = (steps * epsilon).exp()
    slip = min(Decimal(1), _steps_delta(steps, epsilon, delta))
    return slip + (1 - slip) * max(Decimal(0), (grown - goal) / (1 + grown))


def _float_up(value: Decimal) -> float:
    """The float nearest to a number that is not below it: a promise is never rounded down."""
    number = float(_UP.plus(value))
    while Decimal(number) < value:
        number = math.nextafter(number, math.inf)
    return number


def _decimal(name: str, value: object, *, least: Fraction, most: int, open_end: bool = False) -> Decimal:
    number = isinstance(value, int | float | str | Fraction) and not isinstance(value, bool)
    try:
        exact = exactly(value) if number else None  # type: ignore[arg-type]
    except (ValueError, ZeroDivisionError):
        exact = None
    low_enough = exact is not None and (exact < most if open_end else exact <= most)
    if exact is None or not (low_enough and exact >= least):
        high = "below" if open_end else "at most"
        raise ParameterError(name, f"must be a number, at least {float(least):g} and {high} {most}")
    return Decimal(exact.numerator) / Decimal(exact.denominator)
