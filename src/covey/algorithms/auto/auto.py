"""`auto`: Covey's default. Every choice is made from public or already released numbers.

docs/guide/auto.md has the table of them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from covey.algorithms.auto.high import SIZE_SHARE, from_subspace
from covey.algorithms.auto.low import from_boxes
from covey.algorithms.auto.shares import delta_helps
from covey.algorithms.kit import SMALLEST_SIZE, Outcome, after_size
from covey.checks import Flag
from covey.private.curator import Curator
from covey.public import Domain, Neighbours

MOST_TREE_DIMENSIONS = 4  # in more, boxes that fill the whole space are too many to be counted well


def auto(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    delta: Fraction,
    objective: str,
    public_rng: np.random.Generator,
    keep_synopsis: Annotated[bool, Flag()] = False,
) -> Outcome:
    """k centres from a private tree of boxes: in the whole space up to 4 dimensions, in a private subspace beyond.

    Guarantee: (epsilon, delta)-DP, or epsilon-DP without a delta, under add/remove (n is private) and replace-one.
    Up to 4 dimensions no delta is used. Edge cases: no rows, equal rows, rows in a sliver of the domain and fewer rows
    than k are normal releases. With `keep_synopsis` all boxes and their noisy counts come with the release as a coreset
    (covey.Coreset).
    """
    if curator.domain.dimension <= MOST_TREE_DIMENSIONS:
        return from_boxes(
            curator, k=k, epsilon=epsilon, objective=objective, public_rng=public_rng, keep_synopsis=keep_synopsis
        )
    return from_subspace(
        curator,
        k=k,
        epsilon=epsilon,
        delta=delta,
        objective=objective,
        public_rng=public_rng,
        keep_synopsis=keep_synopsis,
    )


def uses_delta(
    *, domain: Domain, neighbours: Neighbours, k: int, epsilon: Fraction, delta: Fraction, **_own: Any
) -> bool:
    """Whether some number of rows leads to noise that needs the delta: never up to 4 dimensions."""
    return domain.dimension > MOST_TREE_DIMENSIONS and delta_helps(
        d=domain.dimension,
        k=k,
        least=1 if neighbours is Neighbours.REPLACE_ONE else SMALLEST_SIZE,
        epsilon=after_size(epsilon, neighbours, share=SIZE_SHARE),
        delta=delta,
        neighbours=neighbours,
    )
