"""`hybrid`: a noisy grid, then one round of noisy averaging where that pays (Su et al. 2016 §6.3)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np

from covey.algorithms.grid import from_cells
from covey.algorithms.kit import Outcome, counted, learn_size
from covey.algorithms.lloyd import LAST_ROUND, count_scale, one_round
from covey.budget.accounting.plan import Plan, split
from covey.checks import Positive, Whole
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.public import Neighbours

RHO = 0.225  # the mean |coordinate| of a centre, as a fraction of the domain's width 2r; the journal version's value


def hybrid_threshold(*, n: float, d: int, k: int, theta: float = 10.0, r: float = 1.0, rho: float = RHO) -> float:
    """Inequality (15): the smallest epsilon at which a round of `lloyd` after `grid` is expected to pay."""
    x = 8 * d * (1 + (2 * rho * r) ** 2) * (k * (d * r + 1) / n) ** 2
    y = 2 * d * r**2 * k ** ((d - 2) / d) / (3 * theta ** (2 * d / (2 + d)) * n ** (4 / (2 + d)))
    return (x / y) ** ((2 + d) / (2 * d))


def hybrid(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    theta: Annotated[float, Positive()] = 10.0,
    starts: Annotated[int, Whole(1, 10_000)] = 30,
    rho: Annotated[float, Positive()] = RHO,
) -> Outcome:
    """k centres from a grid with half of epsilon, refined by one round of `lloyd` with the other half, if that pays.

    Guarantee: epsilon-DP under add/remove and replace-one. Whether a round pays is inequality (15) of the paper for
    public quantities; under add/remove n is a noisy number (4% of epsilon), and the branch, a choice made from a
    released value, starts a plan of its own. As printed the branch uses the exact number of rows: it leaks.
    Edge cases: as `grid` and `lloyd`.
    """
    replace_one = curator.neighbours is Neighbours.REPLACE_ONE
    size, left, told = learn_size(curator, epsilon)
    strength = float(left) / (2 if replace_one else 1)  # replace-one doubles every noise of both parts
    pays = strength >= hybrid_threshold(n=max(1, size), d=curator.domain.dimension, k=k, theta=theta, rho=rho)
    noises = [DiscreteLaplace(part) for part in (split(left, 1, 1) if pays else (left,))]
    curator.reserve(Plan(tuple(noise.event() for noise in noises)))
    found = from_cells(curator, k=k, size=size, noise=noises[0], theta=theta, starts=starts, public_rng=public_rng)
    notes = {**found.notes, "rho": rho, "refined": pays, **told}
    if not pays:
        return replace(found, notes=notes)
    centres, sizes = one_round(curator, found.centres, noises[1])
    notes["sizes_of"] = LAST_ROUND
    scale = count_scale(curator, noises[1])
    return counted(centres, sizes, scale=scale, notes=notes, counted_up=found.counted_up)
