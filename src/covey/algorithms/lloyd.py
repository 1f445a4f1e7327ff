"""`lloyd`: rounds of noisy averaging (DPLloyd; Blum et al. 2005, Su et al. 2016 §4.1.1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import Outcome, counted
from covey.algorithms.zoned import sum_clusters
from covey.budget.accounting.plan import Plan, split
from covey.checks import OneOf, Whole
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.starts import sphere_packing, uniform_starts
from covey.private.curator import Curator
from covey.queries.voronoi import VoronoiSums

LAST_ROUND = "the clusters of the last round, whose means the centres are"
STARTS = {"sphere-packing": sphere_packing, "uniform": uniform_starts}


def lloyd(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    rounds: Annotated[int, Whole(1, 10_000)] = 5,
    start: Annotated[str, OneOf(*STARTS)] = "sphere-packing",
) -> Outcome:
    """k centres by rounds of noisy averaging.

    Guarantee: epsilon-DP under add/remove and replace-one. The start, the rounds and the domain are public; rows are
    met only inside `curator.release`. Each round spends epsilon/rounds on all counts and sums at once.

    As printed (Su et al. 2016) the noise Lap((d+1)t/ε) holds for add/remove only; under replace-one it is doubled here.
    Edge cases: no rows, fewer rows than k and equal rows are noised like any others; an empty cluster keeps its centre
    when its *noisy* count is below one row.
    """
    noises = [DiscreteLaplace(part) for part in split(epsilon, *[1] * rounds)]
    lower, upper = curator.domain.corners
    centres = STARTS[start](k, lower=lower, upper=upper, rng=public_rng)
    noises[0].check(VoronoiSums(centres, curator.domain).sensitivity(curator.neighbours))  # before anything is spent
    curator.reserve(Plan(tuple(noise.event() for noise in noises)))
    sizes = np.zeros(k)
    for noise in noises:
        centres, sizes = one_round(curator, centres, noise)
    notes = {"rounds": rounds, "start": start, "sizes_of": LAST_ROUND}
    scale = count_scale(curator, noises[-1])
    return counted(centres, sizes, scale=scale, notes=notes, counted_up=curator.zones is not None)


def count_scale(curator: Curator, noise: DiscreteLaplace) -> float:
    """Of the noise in the counts of a round, which are released with the sums: (d + 1) shares of its epsilon."""
    one = VoronoiSums(np.zeros((1, curator.domain.dimension)), curator.domain)
    return float(one.sensitivity(curator.neighbours).l1 / (curator.domain.limit * noise.epsilon))


def one_round(
    curator: Curator, centres: NDArray[np.float64], noise: DiscreteLaplace
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """New centres and the noisy sizes of the clusters they are the means of."""
    clusters = VoronoiSums(centres, curator.domain)
    noisy = sum_clusters(curator, clusters, noise)
    return clusters.means(noisy.sums), noisy.counts
