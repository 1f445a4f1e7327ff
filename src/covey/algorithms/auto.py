"""`auto`: the algorithm that suits the public dimension."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from covey.algorithms.hybrid import hybrid
from covey.algorithms.lloyd import lloyd
from covey.algorithms.outcome import Outcome
from covey.private.curator import Curator

MOST_GRID_DIMENSIONS = 16  # in more, even two cells per axis are too many to be counted well


def auto(curator: Curator, *, k: int, epsilon: Fraction, public_rng: np.random.Generator) -> Outcome:
    """`hybrid` up to 16 dimensions, `lloyd` beyond: a choice from the public dimension alone.

    Guarantee: epsilon-DP, as the chosen algorithm. The certificate names it.
    """
    choice = hybrid if curator.domain.dimension <= MOST_GRID_DIMENSIONS else lloyd
    outcome = choice(curator, k=k, epsilon=epsilon, public_rng=public_rng)
    return replace(outcome, notes={"chosen": choice.__name__, **outcome.notes})
