"""`lloyd`: rounds of noisy averaging (DPLloyd; Blum et al. 2005, Su et al. 2016 §4.1.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import Outcome, counted
from covey.algorithms.zoned import check_sums, sum_clusters
from covey.budget.accounting.accountant import calibrate_gaussian
from covey.budget.accounting.plan import Plan, split
from covey.checks import OneOf, Whole
from covey.errors import BudgetError, ParameterError
from covey.noise.mechanisms import GAUSSIAN_VARIANCE_PER_NUMBER, DiscreteGaussian, DiscreteLaplace
from covey.post.errors.sizes import Sizes
from covey.post.starts import sphere_packing, uniform_starts
from covey.private.curator import Curator
from covey.queries.voronoi import VoronoiSums

LAST_ROUND = "the clusters of the last round, whose means the centres are"
BY_CLUSTER = "clusters were counted by zone, and the noise of a zone's numbers was multiplied as they were"
STARTS = {"sphere-packing": sphere_packing, "uniform": uniform_starts}
FINE = 2**20  # multipliers are whole multiples of 1/FINE


def lloyd(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    public_rng: np.random.Generator,
    rounds: Annotated[int, Whole(1, 10_000)] = 5,
    start: Annotated[str, OneOf(*STARTS)] = "sphere-packing",
    shares: Annotated[str, OneOf("even", "increasing")] = "even",
    noise: Annotated[str, OneOf("laplace", "gaussian")] = "laplace",
) -> Outcome:
    """k centres by rounds of noisy averaging.

    Guarantee: epsilon-DP under add/remove and replace-one; with noise="gaussian", (epsilon, delta)-DP. The start, the
    rounds, their shares and the domain are public; rows are met only inside `curator.release`. A round spends its share
    on all counts and sums at once: of epsilon, or of the squared 1/multiplier that all Gaussian rounds have together.
    The rounds are one plan, fixed before any row is read (accounting/accountant.md; sensitivities: queries/voronoi.md).

    As printed (Su et al. 2016) the noise Lap((d+1)t/ε) holds for add/remove only; under replace-one it is doubled here.
    The paper says that it uses "an increasing sequence" and prints none, nor its formulas one: `shares="increasing"`
    gives the i-th of t rounds i of 1 + … + t parts.
    Edge cases: no rows, fewer rows than k and equal rows are noised like any others; an empty cluster keeps its centre
    when its *noisy* count is below one row. Noise too large to be drawn is refused before anything is spent.
    """
    parts = split(Fraction(1), *(range(1, rounds + 1) if shares == "increasing" else [1] * rounds))
    lower, upper = curator.domain.corners
    centres = STARTS[start](k, lower=lower, upper=upper, rng=public_rng)
    first = VoronoiSums(centres, curator.domain)
    drawn: Sequence[DiscreteLaplace | DiscreteGaussian]
    if noise == "gaussian":
        drawn = gaussian_rounds(curator, first, parts=parts, epsilon=epsilon, delta=delta)
        plan = Plan(tuple(each.event() for each in drawn), delta)
    else:
        check_sums(curator, k)
        drawn = [DiscreteLaplace(epsilon * part) for part in parts]
        plan = Plan(tuple(each.event() for each in drawn))
    drawn[0].check(first.sensitivity(curator.neighbours))  # the largest noise of all, before anything is spent
    curator.reserve(plan)
    sizes = np.zeros(k)
    for each in drawn:
        centres, sizes = one_round(curator, centres, each)
    notes = {"rounds": rounds, "start": start, "shares": shares, "noise": noise, "sizes_of": LAST_ROUND}
    return of_last_round(curator, centres, sizes, drawn[-1], notes)


def gaussian_rounds(
    curator: Curator, question: VoronoiSums, *, parts: Sequence[Fraction], epsilon: Fraction, delta: Fraction
) -> list[DiscreteGaussian]:
    """The noise of every round, as small as (epsilon, delta) allows all of them together, and as can be drawn."""
    units = question.sensitivity(curator.neighbours).l2_squared
    coarse = GAUSSIAN_VARIANCE_PER_NUMBER * question.size * FINE**2 // units
    least = Fraction(math.isqrt(coarse) + 1, FINE)
    try:
        found = calibrate_gaussian(others=(), shares=parts, epsilon=epsilon, delta=delta)
    except BudgetError:
        raise ParameterError("noise", "epsilon or delta is too small for Gaussian rounds: take 'laplace'") from None
    return [DiscreteGaussian(max(least, multiplier)) for multiplier in found]


def of_last_round(
    curator: Curator,
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    noise: DiscreteLaplace | DiscreteGaussian,
    notes: dict[str, Any],
) -> Outcome:
    """Centres with the sizes of the clusters that they are the means of, and the law of the noise in those."""
    one = VoronoiSums(np.zeros((1, curator.domain.dimension)), curator.domain)
    sensitivity, limit = one.sensitivity(curator.neighbours), curator.domain.limit
    if isinstance(noise, DiscreteLaplace):
        if curator.zones is not None:
            return Outcome(centres, sizes, notes, not_told=BY_CLUSTER, counted_up=True)
        return counted(centres, sizes, scale=float(sensitivity.l1 / (limit * noise.epsilon)), notes=notes)
    deviation = float(noise.multiplier) * math.sqrt(sensitivity.l2_squared) / limit
    return Outcome(centres, sizes, notes, size_law=Sizes.normal(sizes, deviation=deviation))


def one_round(
    curator: Curator, centres: NDArray[np.float64], noise: DiscreteLaplace | DiscreteGaussian
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """New centres and the noisy sizes of the clusters they are the means of: of kept rows, where noise is Gaussian."""
    clusters = VoronoiSums(centres, curator.domain)
    if isinstance(noise, DiscreteGaussian):
        kept = curator.release(clusters, noise)
        return clusters.means(kept), clusters.counts(kept)
    noisy = sum_clusters(curator, clusters, noise)
    return clusters.means(noisy.sums), noisy.counts


def uses_delta(*, noise: str, **_public: Any) -> bool:
    """Gaussian rounds need the delta, Laplace ones never do."""
    return noise == "gaussian"
