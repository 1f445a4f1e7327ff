"""`blocks`: plain k-means in random blocks, averaged with noise (GkM and GkM-3K; Mohan et al. 2012, Su et al. 2016)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from covey.algorithms.kit import Outcome, learn_size
from covey.budget.accounting.plan import Plan
from covey.checks import OneOf, Whole
from covey.noise.averages import ClampedAverages
from covey.private.curator import Curator
from covey.queries.blocks import BlockCentres

MOST_VALUES = 2**22  # of all blocks together: a very noisy number of rows must not fill the memory


def blocks(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,  # noqa: ARG001 - all coins of this algorithm are private
    rule: Annotated[str, OneOf("gkm", "gkm-3k")] = "gkm-3k",
    rounds: Annotated[int, Whole(0, 1_000)] = 10,
) -> Outcome:
    """k centres as noisy averages of the k-means centres of many random blocks of rows.

    Guarantee: epsilon-DP under add/remove (4% of it for the noisy number of rows that sets how many blocks) and
    replace-one (n is public). Half of the rest finds a range for each of the k·d outputs, half pays for the noise
    2(max - min)kd/(ℓε) on the averages. `rule` is "gkm" (ℓ = n^0.4) or "gkm-3k" (ℓ = n/3k, far better).

    Rows draw their blocks at random: blocks of consecutive rows, as first implemented, break add/remove. A block's
    centres come in the order of their coordinates. No counts are released, so there are no sizes.
    Edge cases: empty and small blocks answer like any others (queries/blocks.md).
    """
    size, left, told = learn_size(curator, epsilon)
    averages = ClampedAverages(left)
    curator.reserve(Plan((averages.event(),)))
    many = size**0.4 if rule == "gkm" else size / (3 * k)
    most = MOST_VALUES // (k * curator.domain.dimension)
    query = BlockCentres(domain=curator.domain, k=k, blocks=max(1, min(int(many), most)), rounds=rounds)
    centres = curator.average_blocks(query, averages).reshape(k, curator.domain.dimension)
    return Outcome(centres, None, {"rule": rule, "blocks": query.blocks, **told})
