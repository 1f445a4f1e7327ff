"""`ball-coreset`: small balls found one after the other, counted and clustered (PRIVATE-K-MEAN; IPSN'17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import LatticeCoreset, Outcome, after_size, learn_size
from covey.algorithms.recount import Counted, Counting, cost_notes, recount, union
from covey.budget.accounting.accountant import calibrate_pure
from covey.budget.accounting.plan import Plan
from covey.checks import OneOf, Positive, Whole
from covey.errors import ParameterError
from covey.events import Pure, exactly
from covey.noise.mechanisms import DiscreteLaplace, Exponential
from covey.post.ball_rounds import (
    BETA,
    FEW,
    Demand,
    ball_sizes,
    needed,
    recconcave_rows,
    shares,
    smallest,
    unit,
)
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import sphere_packing
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.ballcounts import BallScores, BoxCounts, BoxSums
from covey.queries.grid import MOST_CELLS, Grid
from covey.queries.radius import RadiusQuality

Floats = NDArray[np.float64]

MOST_ROWS = 2**40  # a noisy number of rows that is larger is taken to be this
MOST_PARTS = 1000  # a very noisy number of rows must not take for ever
MOST_PLACES = 2**16  # of a grid that Covey chooses: 256 x 256 in two dimensions, 16 per axis in four
MOST_COLUMNS = 16  # with more, that grid would have a single cell along each axis
COUNT_SHARE = 0.3  # of epsilon, for the counts and means of the balls' neighbourhoods
SQUARE_SHARE = 0.1  # of epsilon, for how far all rows are from their balls' centres, squared
UNCOUNTED = "balls were counted, and some of a ball's rows may be nearer to another centre"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of `ball_coreset`, and the domain and relation they are for: all public."""

    domain: Domain
    neighbours: Neighbours
    k: int
    radius_method: str
    weights: str
    fraction: float
    margin: float
    side: int | None
    rows_per_part: int | None
    too_few: str

    def __post_init__(self) -> None:
        d = self.domain.dimension
        if self.side is None and d > MOST_COLUMNS:
            raise ParameterError("bounds", f"'ball-coreset' searches a grid: at most {MOST_COLUMNS} columns")
        if self.side is not None and self.side**d > MOST_CELLS:
            raise ParameterError("side", f"{self.side} cells along each of {d} axes are more than 2^24 in all")

    def grid(self, size: int) -> Grid:
        """As printed, the smallest power of two per axis with more cells than rows; but at most 2^16 cells."""
        if self.side is not None:
            return Grid(self.domain, self.side)
        d, side = self.domain.dimension, 2
        while side**d <= size:
            side *= 2
        return Grid(self.domain, min(side, int(MOST_PLACES ** (1 / d) + 1e-9)))

    @property
    def counted(self) -> bool:
        return self.weights == "counted"

    @property
    def least(self) -> int:
        """Rounds that there are, whether there are rows enough for them or not."""
        return self.k if self.too_few == "run" else 1

    def parts(self, size: int) -> int:
        """How many parts so many rows are split into."""
        return 1 if self.rows_per_part is None else max(1, min(MOST_PARTS, round(size / self.rows_per_part)))

    def rounds(
        self, size: int, *, epsilon: Fraction, delta: Fraction, least: int = 0
    ) -> tuple[Grid, Demand, list[int]]:
        """The grid, what the picks need, and the rows of each ball, of a part of so many rows."""
        grid = self.grid(size)
        demand = self.demand(grid, epsilon=epsilon, delta=delta)
        return grid, demand, ball_sizes(size, demand, least=least)

    def demand(self, grid: Grid, *, epsilon: Fraction, delta: Fraction) -> Demand:
        """What the picks need. A replaced row can move two scores apart by twice as much as one that comes or goes."""
        apart = 1 if self.neighbours is Neighbours.ADD_REMOVE else 2
        if self.radius_method == "joint":
            picks, error = 1, apart * log(BallScores(grid, 1).size)
        else:
            picks, error = 3, slack(grid, 1.0) + apart * log(grid.cells)
        return Demand(
            k=self.k,
            fraction=exactly(self.fraction),
            epsilon=float(epsilon) * (1 - COUNT_SHARE - SQUARE_SHARE if self.counted else 1),
            delta=float(delta),
            picks=picks,
            error=error,
            margin=self.margin,
        )


def ball_coreset(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    delta: Fraction = Fraction(0),
    objective: str = "k-means",
    radius_method: Annotated[str, OneOf("joint", "exponential", "recconcave")] = "joint",
    weights: Annotated[str, OneOf("counted", "printed")] = "counted",
    fraction: Annotated[float, Positive()] = 1.0,
    margin: Annotated[float, Positive()] = 0.75,
    side: Annotated[int, Whole(2, MOST_CELLS)] | None = None,
    rows_per_part: Annotated[int, Whole(1)] | None = None,
    too_few: Annotated[str, OneOf("stop", "run")] = "stop",
    starts: Annotated[int, Whole(1, 10_000)] = 30,
) -> Outcome:
    """A coreset of small balls, and k centres from it.

    In each round one small ball of about w = ceil(fraction · rows left / k) rows (at most 3/8 of them) is picked, and
    the w rows nearest to its centre are dropped. The rounds end when w is no longer `margin` times the error of a
    pick. Then all rows are counted and averaged by the nearest ball, in one release, and one more number says how far
    they are from their balls in all: what the costs of points alone would miss.

    Guarantee: (epsilon, delta)-DP, or epsilon-DP without a delta, under add/remove (4% of epsilon for the noisy number
    of rows that all sizes come from) and replace-one (n is public; picks and counts have twice the noise). All picks,
    the counts (30%) and the squares (10%) are one plan; dropping rows is stable under both relations
    (private/cells.md).

    radius_method: "joint" picks centre and radius at once. "exponential" is the paper's GOOD-RADIUS with the
    exponential mechanism, then GOOD-CENTER and a noisy mean: three events a round. "recconcave", which the paper
    prints, is always refused, before anything is paid, with the number of rows that it would need: no machine holds
    them, so it is not implemented. weights="printed": a ball weighs w, the rows that no ball took are left out, and
    nobody asks for squares. rows_per_part: rows are split at random into parts of about that many (at most 1,000
    parts), each with balls of its own (parallel composition); the coreset is their union.

    Edge cases: how many rounds are possible is known from the noisy (or public) number of rows, after the charge, so it
    is never refused. The rounds stop as above, but there is always one; if they are fewer than k, the certificate says
    `too_few_rows`, and `rows_needed`. With too_few="run" there are k rounds all the same, mostly of noise.
    """
    settings = Settings(
        domain=curator.domain,
        neighbours=curator.neighbours,
        k=k,
        radius_method=radius_method,
        weights=weights,
        fraction=fraction,
        margin=margin,
        side=side,
        rows_per_part=rows_per_part,
        too_few=too_few,
    )
    if radius_method == "recconcave":
        refuse_recconcave(settings, epsilon=epsilon, delta=delta)
    size, left, told = learn_size(curator, epsilon)
    size = min(size, MOST_ROWS)
    parts = settings.parts(size)
    grid, demand, sizes = settings.rounds(size // parts, epsilon=left, delta=delta, least=settings.least)
    plan, picks, counting = make_plan(sizes, demand, epsilon=left, delta=delta, counted=settings.counted)
    counted = union([one_part(door, grid, sizes, picks, counting, settings) for door in doors(curator, parts, plan)])
    coreset = counted.coreset

    lower, upper = curator.domain.corners
    cluster = weighted_kmedian if objective == "k-median" else weighted_kmeans
    packings = np.stack([sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(starts)])
    found = cluster(coreset.points, coreset.weights, k=k, lower=lower, upper=upper, starts=packings)
    last = shares(sizes)[-1]
    notes: dict[str, Any] = {
        **told,
        "rounds": len(sizes),
        "cells_per_axis": grid.per_axis,
        "parts": parts,
        "largest_ball": sizes[0],
        "smallest_ball": sizes[-1],
        "too_few_rows": len(sizes) < k or sizes[-1] < needed(Counter(shares(sizes)), last, demand),
    }
    if notes["too_few_rows"]:
        notes["rows_needed"] = rows_needed(settings, epsilon=left, delta=delta)
    notes |= cost_notes(counted, found.centres, grid, few=bool(notes["too_few_rows"]))
    by_zone = counted.by_zone
    return Outcome(found.centres, found.sizes, notes, coreset=coreset, not_told=UNCOUNTED, counted_up=by_zone)


def uses_delta(
    *, domain: Domain, neighbours: Neighbours, k: int, epsilon: Fraction, delta: Fraction, **own: Any
) -> bool:
    """Whether a delta makes picks sharper, if there are as many rows as can be: few events gain nothing from one."""
    own.pop("starts")
    settings = Settings(domain=domain, neighbours=neighbours, k=k, **own)
    left = after_size(epsilon, neighbours)
    most = MOST_ROWS // settings.parts(MOST_ROWS)  # of a part
    _, demand, sizes = settings.rounds(most, epsilon=left, delta=delta, least=settings.least)
    plan, _, _ = make_plan(sizes, demand, epsilon=left, delta=delta, counted=settings.counted)
    return plan.cost().delta > 0


def rows_needed(settings: Settings, *, epsilon: Fraction, delta: Fraction) -> int:
    """About how many rows (of a part, where rows are split) have k balls that are large enough."""

    def enough(rows: float) -> bool:
        return len(settings.rounds(int(rows), epsilon=epsilon, delta=delta)[2]) >= settings.k

    return ceil(smallest(enough, 16.0))


def make_plan(
    sizes: Sequence[int], demand: Demand, *, epsilon: Fraction, delta: Fraction, counted: bool
) -> tuple[Plan, tuple[Fraction, ...], Counting | None]:
    """All events as one plan; the epsilon of each round's picks; the noise of the counts and of the squares, if any."""
    parts = shares(sizes)
    events = [part for part in parts for _ in range(demand.picks)]
    if counted:
        one = float(epsilon) / unit(Counter(parts), demand)
        events += [exactly(float(f"{share * one:.3g}")) for share in (COUNT_SHARE, SQUARE_SHARE)]
    helps = delta if len(events) >= FEW else Fraction(0)  # few events gain nothing from a delta
    amounts = calibrate_pure(weights=events, epsilon=epsilon, delta=helps)
    picks = amounts[: len(parts) * demand.picks : demand.picks]
    counting = Counting(DiscreteLaplace(amounts[-2]), DiscreteLaplace(amounts[-1])) if counted else None
    return Plan(tuple(map(Pure, amounts)), helps), picks, counting


def doors(curator: Curator, parts: int, plan: Plan) -> list[Curator]:
    """The curator of each part; the plan is paid for once."""
    if parts > 1:
        return curator.split(parts, plan)
    curator.reserve(plan)
    return [curator]


def one_part(
    curator: Curator,
    grid: Grid,
    sizes: Sequence[int],
    picks: Sequence[Fraction],
    counting: Counting | None,
    settings: Settings,
) -> Counted:
    """The balls of one part of the rows and their weights."""
    cells, centres = curator.on_cells(grid), []
    find = joint_pick if settings.radius_method == "joint" else good_radius_and_centre
    for rows, epsilon in zip(sizes, picks, strict=True):
        centre = find(cells, grid, rows, epsilon)
        cells = cells.drop_nearest(centre, rows)
        centres.append(centre)
    if counting is None:
        weights = np.array(sizes, dtype=np.float64)
        return Counted(LatticeCoreset(np.array(centres), weights), np.zeros(len(weights)))
    return recount(curator, np.array(centres), counting)


def joint_pick(cells: Curator, grid: Grid, rows: int, epsilon: Fraction) -> Floats:
    """The centre of a small ball of about so many rows: one pick of place and radius together."""
    scores = BallScores(grid, rows)
    return scores.place(cells.select(scores, Exponential(epsilon)))


def good_radius_and_centre(cells: Curator, grid: Grid, rows: int, epsilon: Fraction) -> Floats:
    """The same as the paper has it: a radius, then the box of that radius with the most rows, then their noisy mean."""
    allowed = ceil(slack(grid, float(epsilon)))
    quality = RadiusQuality(grid, rows + allowed, allowed)
    radius = quality.radii[cells.select(quality, Exponential(epsilon))]
    boxes = BoxCounts(grid, radius)
    middle = boxes.place(cells.select(boxes, Exponential(epsilon)))
    reach = ceil((radius + 0.5) * (2 * grid.domain.limit + 1) / grid.per_axis)
    box = BoxSums(grid, middle, reach)
    return box.mean(cells.release(box, DiscreteLaplace(epsilon)))


def slack(grid: Grid, epsilon: float) -> float:
    """Δ of GOOD-RADIUS with the exponential mechanism: (8/ε) ln(#radii/β) rows."""
    return 8 / epsilon * log(RadiusQuality(grid, 1, 0).size / BETA)


def refuse_recconcave(settings: Settings, *, epsilon: Fraction, delta: Fraction) -> None:
    if delta == 0:
        raise ParameterError("radius_method", "'recconcave' promises (epsilon, delta) only: give a delta")
    side = settings.side or 2
    rows = recconcave_rows(
        k=settings.k, epsilon=float(epsilon), delta=float(delta), side=side, dimension=settings.domain.dimension
    )
    raise ParameterError(
        "radius_method",
        f"'recconcave' would need at least {rows:.1g} rows at this k, epsilon and delta, more than any table "
        "here can hold; use 'joint' or 'exponential'",
    )
