"""How `auto` shares its budget in more than 4 dimensions: from d, k, epsilon, delta and the released number of rows."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from covey.budget.accounting.accountant import calibrate_gaussian
from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError
from covey.events import Event, Gaussian, Sensitivity
from covey.noise.gaussian import LARGEST_VARIANCE
from covey.noise.laplace import LARGEST_SCALE
from covey.noise.mechanisms import GAUSSIAN_VARIANCE_PER_NUMBER, DiscreteGaussian, DiscreteLaplace, RadialLaplace
from covey.noise.radial import LARGEST_SCALE as LARGEST_LENGTH
from covey.noise.radial import LARGEST_SIZE
from covey.noise.tree import PrivTree
from covey.public import Neighbours
from covey.queries.clipping import FINEST

Vector = DiscreteGaussian | DiscreteLaplace | RadialLaplace  # noise for a vector of sums

AXES_PER_SPLIT = 2
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.98
TWO_ROUNDS = 0.2  # squared noise of one round with all that is left, in the pure form: above, one is better than two
TOLD_APART = {  # by that noise: where few clusters are told apart, the tree gets less
    1: {"tree": 16, "counts": 12},
    2: {"tree": 10, "counts": 8},
}
BY_MEAN = 0.03  # that noise: above, the means get what their own noise asks for, and the rounds the rest
MEAN_NOISE = 0.3  # of the domain's radius: the length of the noise that the mean may have then
SPARE = 0.35  # of k: centres that a fit with Gaussian noise starts with beyond k
SPARE_NOISE = (1e-5, 1.25e-4)  # rho above the first and below k times the second: less, and the start is good as it is
LEAST_RADIAL = Fraction(1, 2**11)  # epsilon: below, vectors in their finest units need more noise than can be drawn
MOST_EPSILON = 99  # that a plan with Gaussian noise can make use of (accountant.md)
MOST_MULTIPLIER = 2**18  # beyond, sums in their finest units could not be noised: the variance ends at 2^90


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The noise of every release, and the few constants that depend on how noisy the fit will be."""

    plan: Plan
    mean: Vector
    norms: DiscreteLaplace
    recentre: Vector
    moments: Vector
    tree: PrivTree
    counts: DiscreteLaplace
    rounds: tuple[Vector, ...]
    full_moments: bool
    coverage: float  # the part of the rows that the outer radius holds
    width: float  # of the box in the subspace, in standard deviations to each side
    reach: float  # of the clipped residuals, in root mean squares
    spare: int  # centres beyond k that the rounds start with, to be merged when their rows have been counted

    @property
    def gaussian(self) -> bool:
        return isinstance(self.mean, DiscreteGaussian)


def deviation(noise: Vector, sensitivity: Sensitivity) -> float:
    """The standard deviation of the noise on each number of a statistic."""
    if isinstance(noise, DiscreteGaussian):
        return float(noise.multiplier) * math.sqrt(sensitivity.l2_squared)
    if isinstance(noise, RadialLaplace):
        return math.sqrt(sensitivity.block + 1.0) / float(noise.rate(sensitivity))
    return math.sqrt(2.0) * float(sensitivity.l1 / noise.epsilon)


def drawable(noise: Vector, sensitivity: Sensitivity) -> bool:
    """Whether the noise is small enough, in the units of a statistic, for the samplers."""
    if isinstance(noise, DiscreteGaussian):
        return noise.multiplier**2 * sensitivity.l2_squared <= LARGEST_VARIANCE
    if isinstance(noise, RadialLaplace):
        return sensitivity.l2_by_block <= noise.epsilon * LARGEST_LENGTH
    return sensitivity.l1 <= noise.epsilon * LARGEST_SCALE


def choose_shares(
    *, d: int, k: int, size: float, epsilon: Fraction, delta: Fraction, neighbours: Neighbours, zones: int = 1
) -> Shares:
    """Shares that every fit can be drawn with. It was charged before, so nothing public may make this fail.

    zones : how many times as many numbers the rounds have, which are asked by zone.
    Without a delta, or where epsilon or delta are too small for any Gaussian noise, the shares of a pure epsilon.
    """
    if delta:
        part = min(epsilon, Fraction(MOST_EPSILON))
        with suppress(BudgetError):
            return approximate_shares(
                d=d, k=k, size=size, epsilon=part, delta=delta, neighbours=neighbours, zones=zones
            )
    return pure_shares(d=d, k=k, size=size, epsilon=epsilon, delta=Fraction(0), neighbours=neighbours)


def delta_helps(*, d: int, k: int, least: int, epsilon: Fraction, delta: Fraction, neighbours: Neighbours) -> bool:
    """Whether some number of rows, from `least` on, gives shares that use the delta: one for each of the settings."""
    part = min(epsilon, Fraction(MOST_EPSILON))
    middle = k * math.sqrt(1000 * d) / _strength(part, neighbours)  # rho is 1/1000
    for size in (2.0**60, middle, float(least)):
        with suppress(BudgetError):
            approximate_shares(d=d, k=k, size=max(size, least), epsilon=part, delta=delta, neighbours=neighbours)
            return True
    return False


def _strength(epsilon: Fraction, neighbours: Neighbours) -> float:
    return float(epsilon) / (2 if neighbours is Neighbours.REPLACE_ONE else 1)


def approximate_shares(
    *, d: int, k: int, size: float, epsilon: Fraction, delta: Fraction, neighbours: Neighbours, zones: int = 1
) -> Shares:
    """Shares of (epsilon, delta). The noisier the rounds will be, the more of the budget they get: three settings.

    rho is the squared noise of a round, relative to the domain: d·(k/(n·epsilon))², up to constants. A BudgetError
    says that epsilon or delta are too small for Gaussian noise. epsilon is at most 99.
    """
    strength = _strength(epsilon, neighbours)
    rho = d * (k / (size * strength)) ** 2
    noisy = Fraction(round(2 * min(max(math.log10(rho) + 3.5, 0.0), 1.0)), 2)  # 0, 1/2 or 1
    rounds = 6 if noisy == 1 else 8
    norms = epsilon * Fraction(4, 98)
    tree, counts = (epsilon * (part / 98) for part in (20 - 6 * noisy, 17 - 8 * noisy))
    for_norms, for_tree, for_counts = DiscreteLaplace(norms), PrivTree(tree, 2**AXES_PER_SPLIT), DiscreteLaplace(counts)
    pure: list[Event] = [for_norms.event(), for_tree.event(), for_counts.event()]
    shares = (Fraction(4, 100), Fraction(4, 100), Fraction(14, 100), *(Fraction(78, 100) / rounds,) * rounds)
    multipliers = calibrate_gaussian(others=pure, shares=shares, epsilon=epsilon, delta=delta)
    # Very many numbers need more noise than a large epsilon asks for: gaussian.md, for so many in units of 2^-24.
    spare = int(SPARE * k)
    least = Fraction(math.isqrt(GAUSSIAN_VARIANCE_PER_NUMBER * zones * (k + spare) * (d + 1)) + 1, FINEST)
    if multipliers[-1] < least:
        fixed = (least,) * rounds
        others = [*pure, *map(Gaussian, fixed)]
        multipliers = calibrate_gaussian(others=others, shares=shares[:3], epsilon=epsilon, delta=delta) + fixed
    if max(multipliers) > MOST_MULTIPLIER:
        raise BudgetError("epsilon or delta is too small for Gaussian noise")
    gaussians = tuple(map(DiscreteGaussian, multipliers))
    relative = float(multipliers[2]) * math.sqrt(2 * d) / size  # noise of the moments, relative to the radius squared
    coverage = min(max(1 - 4 * relative, LEAST_COVERAGE), MOST_COVERAGE)
    return Shares(
        plan=Plan((*pure, *(each.event() for each in gaussians)), delta),
        mean=gaussians[0],
        recentre=gaussians[1],
        moments=gaussians[2],
        rounds=gaussians[3:],
        norms=for_norms,
        tree=for_tree,
        counts=for_counts,
        full_moments=True,
        coverage=coverage,
        width=3.5 if noisy < 1 else 3.0 if coverage >= 0.95 else 2.5,
        reach=1.2 if noisy < 1 else 1.0,
        spare=spare if SPARE_NOISE[0] < rho < SPARE_NOISE[1] * k else 0,
    )


def pure_shares(*, d: int, k: int, size: float, epsilon: Fraction, delta: Fraction, neighbours: Neighbours) -> Shares:
    """Shares of a pure epsilon: they add up to it. Second moments in full only where their noise is small.

    And only for few centres: few axes hold many clusters no better than as many columns do. Where the rounds are
    noisy, they get what the means can spare: these get what keeps their own noise within a part of the domain.
    """
    strength = _strength(epsilon, neighbours)
    full = math.sqrt(2 * d) * (d + 1) / (0.15 * strength * size) < min(0.15, 1.5 / k)
    parts = {"mean": 8, "norms": 3, "recentre": 8, "moments": 15 if full else 4, "tree": 18, "counts": 14}  # of 98
    rest = 98 - sum(parts.values())
    noise = 2 * (d * k / (rest / 98 * strength * size)) ** 2  # squared, of one round with all of the rest
    if noise > BY_MEAN:
        wanted = min(max(round(98 * d / (MEAN_NOISE * strength * size)), 4), 20 if noise < 5 else 40)
        parts |= {"mean": wanted, "recentre": min(max(wanted // 2, 4), 16)}
    for limit, instead in TOLD_APART.items():
        parts |= instead if noise > limit else {}
    rest = 98 - sum(parts.values())
    rounds = 3 if noise < 0.002 else 2 if noise < TWO_ROUNDS else 1
    amounts = {name: epsilon * Fraction(part, 98) for name, part in parts.items()}
    tree = PrivTree(amounts.pop("tree"), 2**AXES_PER_SPLIT)
    mean, recentre = (_by_length(amounts.pop(name), d) for name in ("mean", "recentre"))
    each_round = (_by_length(epsilon * Fraction(rest, 98 * rounds), d),) * rounds
    others = {name: DiscreteLaplace(amount) for name, amount in amounts.items()}
    events = [each.event() for each in (tree, mean, recentre, *others.values(), *each_round)]
    return Shares(
        plan=Plan(tuple(events), delta),
        tree=tree,
        mean=mean,
        recentre=recentre,
        rounds=each_round,
        full_moments=full,
        coverage=0.95 if strength >= 0.3 else 0.9,
        width=2.5,
        reach=1.4 if rounds == 3 else 1.0,
        spare=0,
        **others,
    )


def _by_length(epsilon: Fraction, d: int) -> Vector:
    """Noise for sums of clipped vectors: by their length, half as much of it, wherever that can be drawn."""
    return RadialLaplace(epsilon) if epsilon >= LEAST_RADIAL and d <= LARGEST_SIZE else DiscreteLaplace(epsilon)
