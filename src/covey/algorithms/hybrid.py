"""`hybrid`: a noisy grid, then one round of noisy averaging where that pays (Su et al. 2016 §6.3)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np

from covey.algorithms.grid import cells_per_axis, from_cells
from covey.algorithms.kit import Outcome, learn_size
from covey.algorithms.lloyd import LAST_ROUND, of_last_round, one_round
from covey.algorithms.zoned import check_sums
from covey.budget.accounting.plan import Plan, split
from covey.checks import OneOf, Positive, Whole
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.public import Domain, Neighbours

RHO = 0.225  # the mean |coordinate| of a centre, as a fraction of the domain's width 2r; the journal version's value
WIDTH = 3.0  # cells along an axis at which clusters begin to be wider than a cell


def errors_at_one(
    *, n: float, d: int, k: int, theta: float = 10.0, r: float = 1.0, rho: float = RHO
) -> tuple[float, float]:
    """The paper's X and Y: the errors of a round with half of epsilon (13), and of the noise of a grid (12), at 1."""
    x = 8 * d * (1 + (2 * rho * r) ** 2) * (k * (d * r + 1) / n) ** 2
    y = 2 * d * r**2 * k ** ((d - 2) / d) / (3 * theta ** (2 * d / (2 + d)) * n ** (4 / (2 + d)))
    return x, y


def hybrid_threshold(*, n: float, d: int, k: int, theta: float = 10.0, r: float = 1.0, rho: float = RHO) -> float:
    """Inequality (15): the smallest epsilon at which a round of `lloyd` after `grid` is expected to pay."""
    x, y = errors_at_one(n=n, d=d, k=k, theta=theta, r=r, rho=rho)
    return (x / y) ** ((2 + d) / (2 * d))


def round_pays(domain: Domain, *, n: float, k: int, epsilon: float, theta: float, rho: float) -> bool:
    """Whether a round (13) errs less than a grid with all of epsilon, by its noise (12) *and* its cells (10).

    The paper leaves out what cells do, and falls back too often where they are few along an axis. Rows that all lie in
    the corners of their cells make it d/m², m cells along an axis: the bound (10). Where a cluster is wider than a
    cell, errors cancel; `WIDTH` says how soon. It was chosen on made-up rows (docs/decisions/0023).
    """
    d, side = domain.dimension, cells_per_axis(domain, size=int(n), epsilon=epsilon, theta=theta)
    x, y = errors_at_one(n=n, d=d, k=k, theta=theta, rho=rho)
    cells = d / side**2 * math.exp(-((side / WIDTH) ** 2))
    return x / epsilon**2 <= y / epsilon ** (4 / (2 + d)) + cells


def hybrid(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    theta: Annotated[float, Positive()] = 10.0,
    starts: Annotated[int, Whole(1, 10_000)] = 30,
    rho: Annotated[float, Positive()] = RHO,
    rule: Annotated[str, OneOf("expected", "printed")] = "expected",
) -> Outcome:
    """k centres from a grid with half of epsilon, refined by one round of `lloyd` with the other half, if that pays.

    Guarantee: epsilon-DP under add/remove and replace-one. Whether a round pays follows from the number of rows, k, d
    and epsilon: by the expected errors of both ways (`round_pays`), or by inequality (15) of the paper with
    rule="printed". Under add/remove n is a noisy number (4% of epsilon), and the branch, a choice made from a released
    value, starts a plan of its own. As printed the branch uses the exact number of rows: it leaks.
    Edge cases: as `grid` and `lloyd`.
    """
    check_sums(curator, k)
    replace_one = curator.neighbours is Neighbours.REPLACE_ONE
    size, left, told = learn_size(curator, epsilon)
    strength = float(left) / (2 if replace_one else 1)  # replace-one doubles every noise of both parts
    rows = max(1, size)
    if rule == "printed":
        pays = strength >= hybrid_threshold(n=rows, d=curator.domain.dimension, k=k, theta=theta, rho=rho)
    else:
        pays = round_pays(curator.domain, n=rows, k=k, epsilon=strength, theta=theta, rho=rho)
    noises = [DiscreteLaplace(part) for part in (split(left, 1, 1) if pays else (left,))]
    curator.reserve(Plan(tuple(noise.event() for noise in noises)))
    found = from_cells(curator, k=k, size=size, noise=noises[0], theta=theta, starts=starts, public_rng=public_rng)
    notes = {**found.notes, "rho": rho, "rule": rule, "refined": pays, **told}
    if not pays:
        return replace(found, notes=notes)
    centres, sizes = one_round(curator, found.centres, noises[1])
    notes["sizes_of"] = LAST_ROUND
    return of_last_round(curator, centres, sizes, noises[1], notes)
