"""`auto` where rows are too few for the budget to tell clusters apart: one noisy mean, with all that is left of it."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.auto.shares import LEAST_RADIAL, MOST_EPSILON, Vector, deviation, drawable
from covey.algorithms.auto.synopsis import inside
from covey.algorithms.kit import LatticeCoreset, Outcome
from covey.budget.accounting.accountant import calibrate_gaussian
from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError
from covey.noise.mechanisms import DiscreteGaussian, RadialLaplace
from covey.noise.radial import LARGEST_SIZE
from covey.post.errors.boxes import MOST_COLUMNS
from covey.post.errors.sizes import Sizes
from covey.post.leaves import cluster
from covey.post.subspace import shrunk, smooth_columns
from covey.post.zones import KeptCounts
from covey.private.curator import Curator
from covey.public import Neighbours
from covey.published.outside import ROWS_BY_BOUNDS
from covey.published.sentences import ONE_MEAN
from covey.queries.moments import MeanAndCount, MeanSums

Floats = NDArray[np.float64]
FEW, FEW_FOR_A_COLUMN = 100, 2  # rows x epsilon, 100 + 2d: with fewer, clusters are not told apart without a delta
FEW_WITH_DELTA, FEW_BY_COLUMNS = 60, 350  # the same with one: 60 + 350/d
FEW_IN_BOXES = 5  # the same up to 4 columns, where the number of rows is public
OUTSIDE = 4  # scales of its noise: fewer rows outside the bounds are taken for none
SMOOTH = 8  # columns: of more, a mean is smoothed over them
COARSE = 4  # numbers of a mean that smoothing leaves as they are
DRAWS = 50  # for each centre: places where the mean may be
MOST_NUMBERS, MOST_SEARCHED = 2**18, 64  # in all draws, and centres that are searched for: the rest are draws


def too_few(curator: Curator, *, size: float, epsilon: Fraction, delta: Fraction, told: dict[str, Any]) -> bool:
    """Whether clusters cannot be told apart: by public numbers and the released numbers of rows.

    Up to 4 columns so few rows that a noisy number says nothing about them; there it is decided where that is public.
    """
    d, rows = curator.domain.dimension, size / 2
    border = FEW_WITH_DELTA + FEW_BY_COLUMNS / d if delta else FEW + FEW_FOR_A_COLUMN * d
    if curator.neighbours is Neighbours.ADD_REMOVE:  # the noise of rows outside is as large as that of all others
        inside, outside, scale = (told[name] for name in ROWS_BY_BOUNDS)
        rows = inside + (outside if outside > OUTSIDE * scale else 0)
        border = border if d > MOST_COLUMNS else -math.inf
    elif d <= MOST_COLUMNS:
        border = FEW_IN_BOXES
    return rows * float(epsilon) < border and drawable_mean(curator, epsilon)


def drawable_mean(curator: Curator, epsilon: Fraction) -> bool:
    """Whether a mean can be asked for with so much: by zone it is not, and the noise of very little is too large."""
    return curator.zones is None and epsilon >= LEAST_RADIAL and curator.domain.dimension < LARGEST_SIZE


def one_mean(
    curator: Curator,
    *,
    k: int,
    size: float,
    epsilon: Fraction,
    delta: Fraction,
    objective: str,
    public_rng: np.random.Generator,
    told: dict[str, Any],
    keep_synopsis: bool = False,
) -> Outcome:
    """k centres from one noisy mean: the domain's middle, the mean drawn to it, and places where it may be as well.

    Guarantee: (epsilon, delta)-DP, or epsilon-DP without a delta: one release, in a plan of its own, of the rows' sum
    and, under add/remove, their number in the same vector (queries/moments.md). All that follows is free.
    With `keep_synopsis`, which is for up to 4 columns, the whole domain is one box with the noisy number of rows.
    Edge cases: no rows are a normal release; a noisy number of rows below its own noise is taken to be that.
    """
    domain = curator.domain
    limit, d = domain.limit, domain.dimension
    public = curator.neighbours is Neighbours.REPLACE_ONE
    kind = MeanSums if public else MeanAndCount
    query = kind(domain, np.zeros(d), math.sqrt(domain.row_l2_squared))
    noise, plan = _least_noise(query, curator.neighbours, epsilon=epsilon, delta=delta)
    curator.reserve(plan)
    noisy = curator.release(query, noise)
    spread = deviation(noise, query.sensitivity(curator.neighbours))
    rows, doubt = float(size), 0.0
    if isinstance(query, MeanAndCount):
        rows, doubt = query.count(noisy), spread / query.row
    sums, spread = query.shift(noisy), spread * float(query.clip.units[0])
    centres = _where_it_may_be(
        sums,
        spread,
        rows,
        doubt,
        k=k,
        reach=float(query.clip.radii[0]),
        edge=limit,
        objective=objective,
        rng=public_rng,
    )
    centres = inside(centres, domain)
    notes = {"synopsis": ONE_MEAN, "leaves": 1, "leaves_kept": 1, **told}
    # Where the rows are is not told: the whole domain is one box.
    one = {"points": np.zeros((1, d)), "widths": np.full((1, d), 2.0 * limit + 1)}
    counted = KeptCounts(np.array([rows]), max(doubt / math.sqrt(2), 1.0))
    if d <= MOST_COLUMNS:
        coreset = LatticeCoreset(one["points"], counted.counts, one["widths"]) if keep_synopsis else None
        return Outcome(centres, None, notes, coreset=coreset, boxes=counted.boxes(**one, strictness=1.0))
    unknown = np.full(k, doubt**2 + rows**2)  # whose rows they are: all may be nearest to any of the centres
    sizes = Sizes(np.full(k, rows / k), unknown, 0 * unknown, np.ones(k), counted.scale)
    return Outcome(centres, sizes.sizes, notes, size_law=sizes)


def _least_noise(query: MeanSums, neighbours: Neighbours, *, epsilon: Fraction, delta: Fraction) -> tuple[Vector, Plan]:
    """Noise by length, or Gaussian noise where a delta makes that smaller; and its plan."""
    sensitivity, length = query.sensitivity(neighbours), RadialLaplace(epsilon)
    if delta:
        part = min(epsilon, Fraction(MOST_EPSILON))
        with suppress(BudgetError):
            (multiplier,) = calibrate_gaussian(others=(), shares=(Fraction(1),), epsilon=part, delta=delta)
            normal = DiscreteGaussian(multiplier)
            if drawable(normal, sensitivity) and deviation(normal, sensitivity) < deviation(length, sensitivity):
                return normal, Plan((normal.event(),), delta)
    return length, Plan((length.event(),))


def _where_it_may_be(
    sums: Floats,
    spread: float,
    rows: float,
    doubt: float,
    *,
    k: int,
    reach: float,
    edge: float,
    objective: str,
    rng: np.random.Generator,
) -> Floats:
    """k centres: the mean drawn to the middle, the middle, and centres of draws of what the mean may have been."""
    d, least = len(sums), max(doubt, 1.0)
    some = max(rows, least)
    best, noise = sums / some, spread / some
    if d > SMOOTH:
        best = shrunk(smooth_columns(best, deviation=noise), noise, reach=reach, count=COARSE)
    elif k == 1:
        best = shrunk(best, noise, reach=reach)
    else:  # the middle stands beside it, so only what noise leaves to be known of a place in the domain is taken off
        best = best / (1 + 3 * d * (noise / reach) ** 2)
    if k <= 2:
        return np.stack([best, np.zeros(d)])[:k]
    scale = np.sqrt(0.5)
    many, searched = max(2 * k, min(DRAWS * k, MOST_NUMBERS // d)), min(k - 2, MOST_SEARCHED)
    number = np.maximum(rows - doubt * rng.laplace(0, scale, many), least / 2)
    draws = np.clip((sums - spread * rng.laplace(0, scale, (many, d))) / number[:, None], -edge, edge)
    ends = np.full(d, float(edge))
    found = cluster(draws, np.ones(many), k=searched, lower=-ends, upper=ends, objective=objective, rng=rng)
    return np.concatenate([best[None], np.zeros((1, d)), found.centres, draws[: k - 2 - searched]])
