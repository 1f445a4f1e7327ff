"""`max-cover`: centres that cover many rows, radius after radius (Nguyen, Chaturvedi, Xu, AAAI 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import SMALLEST_SIZE, Outcome, after_size, learn_size
from covey.budget.accounting.accountant import calibrate_gaussian
from covey.budget.accounting.plan import Plan, split
from covey.checks import Between, Flag, OneOf, Whole
from covey.errors import BudgetError, ParameterError
from covey.noise.cover import CoverPicks, printed_cost
from covey.noise.gaussian import LARGEST_VARIANCE
from covey.noise.mechanisms import GAUSSIAN_VARIANCE_PER_NUMBER, DiscreteGaussian, DiscreteLaplace
from covey.noise.noisy_average import FINE, NoisyAverages
from covey.post.leaves import cluster, kept_weights
from covey.post.starts import uniform_starts
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.clipping import Norm
from covey.queries.cover import MOST_OFFSETS, Cover, offsets_in
from covey.queries.intervals import CentreCounts
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 5  # of the projected space, unless more are asked for: a row is covered by 60^(d'/5) grid points
SPLIT = (7, 2, 6, 9)  # of what the number of rows leaves: picks, candidates' counts, averages, the final round
STRICTNESS = 0.5
LEFT = "the numbers of rows were released with averages of clusters that the centres have since left"


@dataclass(frozen=True)
class Means:
    """The noise of one set of averages: a pure number of rows and sums, or the printed NOISY-AVG in one piece."""

    epsilon: Fraction
    delta: Fraction
    sums: DiscreteLaplace | DiscreteGaussian | NoisyAverages
    counts: DiscreteLaplace | None

    @property
    def norm(self) -> Norm:
        return "l1" if isinstance(self.sums, DiscreteLaplace) else "l2"

    def plan(self) -> Plan:
        events = [self.sums.event()] + ([self.counts.event()] if self.counts else [])
        return Plan(tuple(events), self.delta)


def max_cover(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    public_rng: np.random.Generator,
    growth: Annotated[float, Between(0.05, 1, says="must be from 0.05 to 1")] = 1.0,
    dimensions: Annotated[int, Whole(1, 16)] | None = None,
    averages: Annotated[str, OneOf("sums", "noisy-avg", says="must be 'sums' or 'noisy-avg'")] = "sums",
    final_round: Annotated[bool, Flag()] = True,
    bound: Annotated[str, OneOf("stated", "exact", says="must be 'stated' or 'exact'")] = "stated",
) -> Outcome:
    """k centres: project, pick grid points that cover many rows, cluster them, average in the full space.

    Guarantee: (epsilon, delta)-DP under add/remove and replace-one. Under add/remove epsilon = ε_n + max(ε_E/2,
    (e^(ε_E/2) - 1)·ln(1/δ_E)) + ε_L + ε_G + ε_Lloyd: the number of rows, all picks, one count per candidate, the
    averages, a round of averages in the full space; delta = δ_E + δ_G + δ_Lloyd. What the picks cost where a row is
    replaced, and the proof of both: noise/cover.md. The projection, the scale (the domain's own diameter), radii and
    grids are public or follow from the number of rows, noisy or public.

    As printed, n is exact. Edge cases: exactly k' points are picked for every radius, also when no row is left; rows
    are moved into the unit ball after the projection; a cluster with a noisy count below one row keeps its centre.
    """
    domain, neighbours = curator.domain, curator.neighbours
    if not delta:
        raise ParameterError("delta", "max-cover is proven with a delta above 0")
    if averages == "noisy-avg" and neighbours is not Neighbours.ADD_REMOVE:
        raise ParameterError("averages", "'noisy-avg' is proven for add-remove only: use 'sums'")
    most = min(domain.dimension, dimensions or MOST_DIMENSIONS)
    if offsets_in(most, reach_of(most, growth)) > MOST_OFFSETS:  # before anything is paid
        raise ParameterError("growth", f"more than 2^22 grid points would cover a row in {most} dimensions: raise it")
    left = after_size(epsilon, neighbours)
    shares = share_out(
        left,
        delta,
        k=k,
        domain=domain,
        neighbours=neighbours,
        averages=averages,
        final_round=final_round,
        bound=bound,
    )
    size, _, told = learn_size(curator, epsilon)
    size = max(SMALLEST_SIZE, size)  # a public number may be less
    for plan in shares.plans():
        curator.reserve(plan)

    projection = _projection(domain, size=size, growth=growth, dimensions=dimensions, rng=public_rng)
    narrow = curator.project(projection)
    query = cover_of(narrow.domain, size=size, growth=growth, k=k)
    candidates = narrow.cover(query, shares.picks).astype(np.float64)
    near = CentreCounts(candidates, narrow.domain)
    counts = narrow.release(near, shares.counts).astype(np.float64)
    scale = float(near.sensitivity(neighbours).l1 / shares.counts.epsilon)
    weights = kept_weights(counts, scale=scale, strictness=STRICTNESS)
    low, high = narrow.domain.corners
    stand = weights > 0
    points = np.clip(candidates[stand], low, high)
    found = cluster(points, weights[stand], k=k, lower=low, upper=high, objective="k-means", rng=public_rng)

    lifted = _inside(projection.lift(found.centres), domain)
    lower_centres = None if len(projection.matrix) == domain.dimension else found.centres
    centres, sizes = averages_of(
        curator, lifted, shares.means[0], rng=public_rng, within=(projection, narrow, lower_centres)
    )
    for means in shares.means[1:]:
        centres, sizes = averages_of(curator, centres, means, rng=public_rng)
    notes = {
        "dimensions": len(projection.matrix),
        "growth": growth,
        "radii": len(query.sides),
        "picks": len(candidates),
        "averages": averages,
        "final_round": final_round,
        **shares.notes(epsilon - left),
        **told,
    }
    return Outcome(centres, sizes, notes, not_told=LEFT)


@dataclass(frozen=True)
class Shares:
    """Every part's noise. Each part is a plan of its own, so that their costs add up to the stated formula."""

    picks: CoverPicks
    counts: DiscreteLaplace
    means: tuple[Means, ...]

    def plans(self) -> tuple[Plan, ...]:
        first = Plan((self.picks.event(),), self.picks.delta), Plan((self.counts.event(),))
        return (*first, *(each.plan() for each in self.means))

    def notes(self, for_size: Fraction) -> dict[str, Any]:
        """The parts of epsilon and delta; where a row is added, also what the printed theorem would say of the same
        noise. Of a row that is replaced its argument says nothing."""
        others = float(for_size + self.counts.epsilon + sum(each.epsilon for each in self.means))
        printed = {"epsilon_as_printed": others + printed_cost(self.picks.epsilon, self.picks.delta)}
        last = self.means[1] if len(self.means) > 1 else None
        return {
            "bound": self.picks.bound,
            "epsilon_n": float(for_size),
            "epsilon_E": float(self.picks.epsilon),
            "epsilon_picks": float(self.picks.event().epsilon),
            "epsilon_L": float(self.counts.epsilon),
            "epsilon_G": float(self.means[0].epsilon),
            "epsilon_Lloyd": float(last.epsilon) if last else 0.0,
            "delta_E": float(self.picks.delta),
            "delta_G": float(self.means[0].delta),
            "delta_Lloyd": float(last.delta) if last else 0.0,
            **(printed if self.picks.neighbours is Neighbours.ADD_REMOVE else {}),
        }


def share_out(
    epsilon: Fraction,
    delta: Fraction,
    *,
    k: int,
    domain: Domain,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    averages: str,
    final_round: bool,
    bound: str,
) -> Shares:
    """All parts of the budget after the number of rows: epsilon by `SPLIT`; half of delta for the picks, the rest for
    the averages. Averages that are better off with Laplace noise take no delta, and the picks get theirs."""
    parts = split(epsilon, *(SPLIT if final_round else (*SPLIT[:2], sum(SPLIT[2:]))))
    each = delta / 2 / (len(parts) - 2)
    means = tuple(
        means_of(part, each, k=k, domain=domain, neighbours=neighbours, averages=averages) for part in parts[2:]
    )
    rest = delta - sum((mean.delta for mean in means), Fraction(0))
    picks = CoverPicks.within(epsilon=parts[0], delta=rest, bound=bound, neighbours=neighbours)
    counts = DiscreteLaplace(parts[1] + parts[0] - picks.event().epsilon)  # what rounding left of the picks' part
    return Shares(picks, counts, means)


def means_of(
    epsilon: Fraction, delta: Fraction, *, k: int, domain: Domain, neighbours: Neighbours, averages: str
) -> Means:
    """A fifth of epsilon for the numbers of rows, the rest for the sums, with Gaussian or Laplace noise: the lesser."""
    if averages == "noisy-avg":
        return Means(epsilon, delta, NoisyAverages(epsilon, delta, k), None)
    counts, sums = split(epsilon, 1, 4)
    origin = np.zeros((k, domain.dimension))
    laplace = DiscreteLaplace(sums)
    rough = ResidualSums(domain, origin, _radius(domain, "l1"), norm="l1")
    laplace.check(rough.sensitivity(neighbours))
    if not delta:
        return Means(epsilon, delta, laplace, DiscreteLaplace(counts))
    try:
        (multiplier,) = calibrate_gaussian(
            others=(DiscreteLaplace(counts).event(),), shares=(Fraction(1),), epsilon=epsilon, delta=delta
        )
    except BudgetError:
        return Means(epsilon, Fraction(0), laplace, DiscreteLaplace(counts))
    fine = ResidualSums(domain, origin, _radius(domain, "l2"))
    squares = multiplier**2 * fine.sensitivity(neighbours).l2_squared
    gaussian = math.sqrt(squares) * fine.clip.units[0]
    other = math.sqrt(2) * rough.sensitivity(neighbours).l1 / float(sums) * rough.clip.units[0]
    drawable = GAUSSIAN_VARIANCE_PER_NUMBER * fine.size <= squares <= LARGEST_VARIANCE
    if gaussian < other and drawable:
        return Means(epsilon, delta, DiscreteGaussian(multiplier), DiscreteLaplace(counts))
    return Means(epsilon, Fraction(0), laplace, DiscreteLaplace(counts))


def _radius(domain: Domain, norm: Norm) -> float:
    """The domain's own radius in lattice units: public."""
    return float(domain.row_l1) if norm == "l1" else math.sqrt(domain.row_l2_squared)


def cover_of(domain: Domain, *, size: int, growth: float, k: int) -> Cover:
    """Radii from 1/size to 2, growing by 1 + growth, and their grids; k' picks for each radius."""
    d = domain.dimension
    radii = [(1 + growth) ** i / size for i in range(math.ceil(math.log(2 * size) / math.log1p(growth)))]
    sides = tuple(max(1, round(growth * radius / math.sqrt(d) * domain.limit)) for radius in radii)
    return Cover(domain, sides, reach_of(d, growth), k * max(1, math.ceil(math.log(1 / growth))))


def reach_of(d: int, growth: float) -> int:
    """The largest squared distance, in sides, that is less than (radius + side·√d)²: the same for every radius."""
    return math.ceil(d * (1 + 1 / growth) ** 2 - 1e-9) - 1


def _projection(
    domain: Domain, *, size: int, growth: float, dimensions: int | None, rng: np.random.Generator
) -> Projection:
    """A random map to about ln(size)/2 dimensions (Johnson-Lindenstrauss), scaled so that a unit ball holds nearly all.

    The lines are orthogonal and of whole numbers. A space that is small enough is only scaled.
    """
    d = domain.dimension
    wanted = dimensions or min(MOST_DIMENSIONS, max(1, int(math.log(size) / 2)))
    unit, radius = Projection.unit(domain), math.sqrt(domain.row_l2_squared)
    if wanted >= d:
        matrix, half = np.eye(d), radius
    else:
        matrix = np.linalg.qr(rng.normal(size=(d, wanted)))[0].T
        half = (1 + growth) * radius * math.sqrt(wanted / d)
    whole = np.rint(matrix * unit).astype(np.int64)
    halves = np.full(len(whole), max(1, round(half * unit)), dtype=np.int64)
    return Projection(whole, np.zeros(d), halves, domain)


def averages_of(
    curator: Curator,
    centres: Floats,
    means: Means,
    *,
    rng: np.random.Generator,
    within: tuple[Projection, Curator, Floats | None] | None = None,
) -> tuple[Floats, Floats]:
    """The noisy averages of the rows nearest to each centre, and their noisy numbers.

    within : judge "nearest" in the projected space, where the clusters were found.
    """
    domain = curator.domain
    projection, narrow, lower = within if within is not None and within[2] is not None else (None, curator, None)
    printed = isinstance(means.sums, NoisyAverages)
    reach = _radius(domain, means.norm)
    sums = ResidualSums(domain, centres, reach, projection=projection, norm=means.norm, with_counts=printed)
    if printed:
        table = curator.release(sums, means.sums).reshape(len(centres), -1)
        sizes = table[:, -1].astype(np.float64)
        moved = sums.centres + table[:, :-1] / FINE * sums.clip.units[:, None]
        anywhere = np.stack([_anywhere(domain, rng) for _ in centres])
        return _inside(np.where(sizes[:, None] > 0, moved, anywhere), domain), np.maximum(sizes, 0.0)
    assert means.counts is not None
    counts = CentreCounts(centres if lower is None else lower, narrow.domain)
    sizes = narrow.release(counts, means.counts).astype(np.float64)
    steps = sums.shifts(curator.release(sums, means.sums)) / np.maximum(sizes, 1.0)[:, None]
    return _inside(np.where(sizes[:, None] >= 1, sums.centres + steps, centres), domain), sizes


def _anywhere(domain: Domain, rng: np.random.Generator) -> Floats:
    """A uniform point of the domain."""
    if not domain.ball:
        low, high = domain.corners
        return uniform_starts(1, lower=low, upper=high, rng=rng)[0]
    way = rng.normal(size=domain.dimension)
    return np.asarray(way / np.linalg.norm(way) * domain.limit * rng.uniform() ** (1 / domain.dimension))


def _inside(points: Floats, domain: Domain) -> Floats:
    """Points moved into the domain."""
    clipped = np.clip(points, -domain.limit, domain.limit)
    if domain.ball:
        norms = np.sqrt(np.square(clipped).sum(axis=1, keepdims=True))
        clipped *= domain.limit / np.maximum(norms, domain.limit)
    return np.asarray(clipped)
