"""What a plan costs: the composition of events that were fixed before any row was read (proof: accountant.md).

An event already knows nothing of neighbours: the same statistic has a larger sensitivity under replace-one than
under add-or-remove, so its mechanism draws more noise for the same event. The cost of a plan therefore holds for
whichever relation the queries stated their sensitivities for, and nothing here depends on it.

Every number is an upper bound. Two bounds are computed and the smaller is taken: the sum of the pure and
approximate events next to the closed form of the Gaussian ones, and dp-accounting's privacy loss distribution of
them all (pessimistic estimates). The second wins when many small events are mixed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from covey.budget.accounting.amounts import EPSILON_UNITS
from covey.budget.accounting.gaussian import Mixture, epsilon_bound, float_down, float_up, mu_bound, root_up
from covey.errors import BudgetError, ParameterError
from covey.events import Approximate, Event, Gaussian, Pure

# What discrete Gaussian noise may cost beyond the continuous noise that is accounted for, per event, and up to which
# epsilon of the plan that is proven: a copy of noise/mechanisms.py, whose gaussian.md holds the proof.
GAUSSIAN_EPSILON = Fraction(1, 2**20)
GAUSSIAN_DELTA_FACTOR = Fraction(1, 2**29)
GAUSSIAN_DELTA = Fraction(1, 2**150)
GAUSSIAN_LARGEST_EPSILON = 100

# What the Fourier transforms of a privacy loss distribution may lose to rounding, per part.
_ROUNDING_DELTA = Fraction(1, 2**36)
_GRID_POINTS = 2**18
_USUAL_STEP, _FINEST_STEP = 1e-4, 1e-9
_MULTIPLIER_UNITS = 2**20


@dataclass(frozen=True)
class Cost:
    """A differential privacy guarantee (epsilon, delta). Costs of separate plans add up (basic composition)."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)

    def within(self, other: Cost) -> bool:
        """Whether both amounts are at most those of `other`."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta


def compose(events: Sequence[Event], *, delta: Fraction) -> Cost:
    """The cost of releasing all `events`, each of which may depend on the outcomes of the earlier ones.

    Guarantee: if the kinds and parameters of the events were fixed before any row was read, everything released
    under them together is (cost.epsilon, cost.delta)-DP, and cost.delta <= delta.

    Edge cases:
      no events                       cost nothing
      pure events only, delta 0       epsilon is their exact sum
      pure events only, a delta       the same, unless composition that uses the delta gives a smaller epsilon
      approximate events, no Gaussian delta is their exact sum where plain addition is the smaller bound
      a Gaussian event and delta 0    refused: Gaussian noise always needs a delta
      Gaussian, and epsilon above 100 refused: there the proof for discrete noise ends
      deltas that exceed `delta`      refused
      an unknown kind of event        refused; no event is ever free
    """
    if not 0 <= delta < 1:
        raise ParameterError("delta", "must be at least 0 and below 1")
    return _compose(_tally(events), Fraction(delta))


@dataclass(frozen=True)
class _Tally:
    """Events regardless of their order. pairs: how often each (epsilon, delta); mu_squared: all Gaussians as one."""

    pairs: tuple[tuple[Fraction, Fraction, int], ...]
    mu_squared: Fraction
    gaussians: int

    def sums(self) -> Cost:
        """Plain addition of all events that are not Gaussian."""
        return Cost(
            sum((e * times for e, _, times in self.pairs), Fraction(0)),
            sum((d * times for _, d, times in self.pairs), Fraction(0)),
        )

    def distributions(self) -> int:
        """How many distributions are composed: every event that is not Gaussian, and all Gaussian ones as one."""
        return sum(times for _, _, times in self.pairs) + (self.gaussians > 0)


def _tally(events: Sequence[Event]) -> _Tally:
    pairs: Counter[tuple[Fraction, Fraction]] = Counter()
    mu_squared, gaussians = Fraction(0), 0
    for event in events:
        # The exact class: a subclass may mean something that costs more.
        if type(event) is Pure:
            pairs[_exact(event.epsilon), Fraction(0)] += 1
        elif type(event) is Approximate:
            pairs[_exact(event.epsilon), _exact(event.delta)] += 1
        elif type(event) is Gaussian and _exact(event.multiplier) > 0:
            mu_squared += 1 / Fraction(event.multiplier) ** 2
            gaussians += 1
        elif type(event) is Gaussian:
            raise ParameterError("events", "a Gaussian event needs a multiplier above 0")
        else:
            raise ParameterError("events", f"{type(event).__name__} is not a kind of event the accountant knows")
    return _Tally(tuple(sorted((e, d, times) for (e, d), times in pairs.items())), mu_squared, gaussians)


def _exact(value: Fraction) -> Fraction:
    if not isinstance(value, Fraction | int) or value < 0:
        raise ParameterError("events", "amounts are exact fractions of at least 0")
    return Fraction(value)


@lru_cache(maxsize=4096)
def _compose(tally: _Tally, delta: Fraction) -> Cost:
    sums = tally.sums()
    if tally.gaussians == 0 and (delta == 0 or tally.distributions() <= 1) and sums.delta == 0:
        return sums
    target = _continuous_delta(delta, tally.gaussians)
    if sums.delta > target or (tally.gaussians and sums.delta == target):
        raise ParameterError("delta", "is too small: these events need more delta than that")
    if tally.gaussians == 0:
        if tally.distributions() > 1:
            found = _distribution_epsilon(tally, target)
            if found < sums.epsilon and _round_up(Fraction(found)) < sums.epsilon:
                return Cost(_round_up(Fraction(found)), delta)
        return sums
    # Only the share of delta that the approximate events leave is there for the Gaussian ones.
    rest = float_down(target - sums.delta)
    alone = epsilon_bound(mu=root_up(tally.mu_squared), delta=rest) if rest > 0 else math.inf
    if alone == math.inf:
        raise ParameterError("delta", "is too small: these events need more delta than that")
    epsilon = sums.epsilon + Fraction(alone)
    if tally.pairs:
        found = _distribution_epsilon(tally, target)
        epsilon = Fraction(found) if found < epsilon else epsilon
    if epsilon > GAUSSIAN_LARGEST_EPSILON:
        raise ParameterError(
            "events", f"a plan with Gaussian noise may cost at most epsilon {GAUSSIAN_LARGEST_EPSILON}: add more noise"
        )
    return Cost(_round_up(epsilon + tally.gaussians * GAUSSIAN_EPSILON), delta)


def _continuous_delta(delta: Fraction, gaussians: int) -> Fraction:
    """What remains of delta for continuous noise, after what discrete noise may differ from it."""
    return max(Fraction(0), delta - gaussians * GAUSSIAN_DELTA) / (1 + gaussians * GAUSSIAN_DELTA_FACTOR)


def _round_up(epsilon: Fraction) -> Fraction:
    return Fraction(math.ceil(epsilon * EPSILON_UNITS), EPSILON_UNITS)


def _distribution_epsilon(tally: _Tally, delta: Fraction) -> float:
    """Epsilon at `delta` by dp-accounting's privacy loss distributions; infinity where they cannot help.

    They are floats under Fourier transforms, so a small part of delta is kept for their rounding errors; where
    delta is no larger than that part, this bound does not exist.
    """
    sums = tally.sums()
    target = float_down(delta - tally.distributions() * _ROUNDING_DELTA)
    mu = root_up(tally.mu_squared)
    if target <= 0 or sums.delta >= target or max(e for e, _, _ in tally.pairs) > 500 or mu > 30:
        return math.inf

    from dp_accounting.pld import common, privacy_loss_distribution  # slow to import

    interval = _interval(tally, mu)
    parts = [
        privacy_loss_distribution.from_privacy_parameters(
            # Nudged up, so that no rounding of the library's can place a loss below the true one.
            common.DifferentialPrivacyParameters(float_up(e) * (1 + 2.0**-40), float_up(d)),
            value_discretization_interval=interval,
        ).self_compose(times)
        for e, d, times in tally.pairs
    ]
    if mu > 0:
        parts.append(
            privacy_loss_distribution.from_gaussian_mechanism(
                standard_deviation=math.nextafter(1 / mu, 0),
                sensitivity=1,
                pessimistic_estimate=True,
                value_discretization_interval=interval,
            )
        )
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    # The library's inverse adds up grid steps; a nudge and its own forward function make sure of the answer.
    epsilon = float(whole.get_epsilon_for_delta(target)) * (1 + 2.0**-40)
    while epsilon < math.inf and float(whole.get_delta_for_epsilon(epsilon)) > target:
        epsilon += interval
    return epsilon


def _interval(tally: _Tally, mu: float) -> float:
    """The grid of losses: every event is rounded up to it, so it is fine beside the sum, yet bounded in size."""
    total = float(tally.sums().epsilon) + mu * mu / 2 + 10 * mu
    return max(_FINEST_STEP, 2 * total / _GRID_POINTS, min(_USUAL_STEP, total / (2000 * tally.distributions())))


def calibrate_gaussian(
    *, others: Sequence[Event], shares: Sequence[Fraction], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, ...]:
    """Multipliers for Gaussian events, one per share, as small as the budget allows.

    A share says how much of the Gaussian budget (of mu squared) an event gets: its multiplier is sigma/sqrt(share)
    for the smallest common sigma found. Multipliers are multiples of 2^-20, rounded up.

    Guarantee: compose(others + the Gaussian events, delta=delta) is within (epsilon, delta); checked before returning.
    The search starts from the closed form and evaluates at most five privacy loss distributions.
    Edge cases: shares need not add up to 1. Of an epsilon above 99 only 99 is used. A BudgetError says that `others`
    leave nothing for Gaussian noise.
    """
    if not shares or any(not isinstance(s, Fraction | int) or s <= 0 for s in shares):
        raise ParameterError("shares", "must be exact fractions above 0, at least one")
    if not 0 < delta < 1:
        raise ParameterError("delta", "Gaussian noise needs a delta above 0 and below 1")
    if epsilon <= 0:
        raise ParameterError("epsilon", "must be above 0")
    return _calibrate(tuple(others), tuple(Fraction(s) for s in shares), Fraction(epsilon), Fraction(delta))


@lru_cache(maxsize=1024)
def _calibrate(
    others: tuple[Event, ...], shares: tuple[Fraction, ...], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, ...]:
    fixed = _tally(others)
    sums, gaussians = fixed.sums(), fixed.gaussians + len(shares)
    target = _continuous_delta(delta, gaussians)
    # The cost is rounded up to a whole unit, so a unit is kept in hand.
    left = (
        min(epsilon, Fraction(GAUSSIAN_LARGEST_EPSILON - 1)) - gaussians * GAUSSIAN_EPSILON - Fraction(2, EPSILON_UNITS)
    )
    if left <= 0 or sums.delta >= target:
        raise BudgetError(_NOTHING_LEFT)

    def attempt(mu: float) -> tuple[Fraction, ...] | Fraction:
        """Multipliers whose mu, with that of the others, is at most `mu`; or by how much epsilon is exceeded."""
        multipliers = _multipliers(shares, mu_squared=Fraction(mu) ** 2 - fixed.mu_squared)
        over = compose([*others, *map(Gaussian, multipliers)], delta=delta).epsilon - epsilon
        return multipliers if over <= 0 else over

    # Beside plain addition the closed form is exact (safe); no plan can beat Gaussian noise on its own (most).
    safe = mu_bound(epsilon=float_down(left - sums.epsilon), delta=float_down(target - sums.delta))
    most = mu_bound(epsilon=float_down(left), delta=float_down(target))
    curve, goal = Mixture(fixed.pairs), float(left)
    for _ in range(5 if fixed.pairs else 0):
        mu = curve.mu(epsilon=goal, delta=float(target), most=most)
        if mu <= safe or Fraction(mu) ** 2 <= fixed.mu_squared:
            break
        found = attempt(mu)
        if isinstance(found, tuple):
            return found
        goal -= 1.05 * float(found)  # what the grid of losses adds to the closed form hardly changes with mu
    for shrink in (2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20, 2.0**-12):
        mu = safe * (1 - shrink)
        found = attempt(mu) if Fraction(mu) ** 2 > fixed.mu_squared else Fraction(1)
        if isinstance(found, tuple):
            return found
    raise BudgetError(_NOTHING_LEFT)


def calibrate_pure(*, weights: Sequence[Fraction], epsilon: Fraction, delta: Fraction) -> tuple[Fraction, ...]:
    """The epsilons of pure events, in proportion to `weights`, as large as the budget allows.

    Guarantee: compose(the pure events, delta=delta) is within (epsilon, delta); checked before returning. With delta 0
    they add up to epsilon exactly. With a delta, many small events get more than that: up to about
    sqrt(n/ln(1/delta)) times as much each.
    """
    if not weights or any(not isinstance(w, Fraction | int) or w <= 0 for w in weights):
        raise ParameterError("weights", "must be exact fractions above 0, at least one")
    if epsilon <= 0 or not 0 <= delta < 1:
        raise ParameterError("epsilon, delta", "must be above 0, and at least 0 and below 1")
    return _calibrate_pure(tuple(Fraction(w) for w in weights), Fraction(epsilon), Fraction(delta))


@lru_cache(maxsize=1024)
def _calibrate_pure(weights: tuple[Fraction, ...], epsilon: Fraction, delta: Fraction) -> tuple[Fraction, ...]:
    unit = epsilon / sum(weights, Fraction(0))
    if delta == 0 or len(weights) == 1:
        return tuple(unit * w for w in weights)

    def fits(times: Fraction) -> bool:
        return compose([Pure(unit * times * w) for w in weights], delta=delta).within(Cost(epsilon, delta))

    low, high = Fraction(1), Fraction(2)  # as multiples of plain addition, which always fits
    while fits(high):
        low, high = high, high * 2
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return tuple(unit * low * w for w in weights)


_NOTHING_LEFT = (
    "the other events of the plan leave no budget for Gaussian noise: raise epsilon or delta, or give them less"
)


def _multipliers(shares: tuple[Fraction, ...], *, mu_squared: Fraction) -> tuple[Fraction, ...]:
    """sigma/sqrt(share) for each share, where the squares of 1/multiplier add up to mu_squared; rounded up."""
    whole = sum(shares, Fraction(0))
    roots = []
    for share in shares:
        square = math.ceil(whole / share / mu_squared * _MULTIPLIER_UNITS**2)
        root = math.isqrt(square)
        roots.append(Fraction(root if root * root == square else root + 1, _MULTIPLIER_UNITS))
    return tuple(roots)
