"""`genetic`: a private genetic search over sets of centres (PGkM; Zhang et al. 2013, Su et al. 2016 §4.1.3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from covey.algorithms.kit import Outcome, learn_size
from covey.budget.accounting.plan import Plan
from covey.checks import Later, Positive, Whole, whole_number
from covey.noise.mechanisms import Exponential
from covey.post.evolution import next_generation
from covey.post.starts import uniform_starts
from covey.private.curator import Curator
from covey.queries.costs import NegativeCosts


def genetic(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    candidates: Annotated[int, Whole(2, 10_000)] = 200,
    parents: Annotated[int, Whole(2, 1_000)] = 10,
    least_rounds: Annotated[int, Whole(1, 10_000)] = 8,
    most_rounds: Annotated[int, Later("at least least_rounds")] = 200,
    rate: Annotated[float, Positive()] = 1.25e-3,
) -> Outcome:
    """k centres by a genetic search whose survivors are picked privately by their cost.

    Guarantee: epsilon-DP under add/remove (4% of it for the noisy number of rows that sets how many rounds) and
    replace-one. Each of max(8, rate·nε/parents) rounds (at most 200) picks `parents` of the candidate sets with the
    exponential mechanism on the un-normalised cost (one row moves it by at most 4d), epsilon/(rounds·parents) each;
    the last round picks the one set that is released. Crossover and mutation are free.

    As printed, the number of rounds comes from the exact number of rows: it leaks. The number of rounds is a choice
    from a released value, so the picks are a plan of their own. No counts are released, so there are no sizes.
    """
    parents = min(parents, candidates)
    most_rounds = whole_number("most_rounds", most_rounds, least=least_rounds, most=10_000)
    size, left, told = learn_size(curator, epsilon)
    rounds = min(most_rounds, max(least_rounds, int(rate * size * float(left) / parents)))
    pick = Exponential(left / (rounds * parents))
    final = Exponential(left / rounds)  # the last round's share pays for a single, surer pick
    curator.reserve(Plan((pick.event(),) * ((rounds - 1) * parents) + (final.event(),)))
    lower, upper = curator.domain.corners
    pool = np.stack([uniform_starts(k, lower=lower, upper=upper, rng=public_rng) for _ in range(candidates)])
    for done in range(rounds - 1):
        chosen = curator.select_several(NegativeCosts(pool, curator.domain), pick, times=parents)
        pool = next_generation(
            pool[chosen], size=candidates, spread=1 - done / rounds, lower=lower, upper=upper, rng=public_rng
        )
    best = curator.select(NegativeCosts(pool, curator.domain), final)
    return Outcome(pool[best], None, {"rounds": rounds, "candidates": candidates, "parents": parents, **told})
