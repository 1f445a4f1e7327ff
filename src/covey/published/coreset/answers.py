"""What a coreset answers: costs with their intervals, and centres. Free: from released numbers alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import numbers, whole_number
from covey.errors import ParameterError
from covey.post.distances import Objective
from covey.post.errors.boxes import cropped
from covey.post.errors.costs import FEW, Cost, cost_interval, difference_interval, mean_interval, what_is_paid
from covey.post.errors.mixture import Places, fit_mixture, likely_places
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.leaves import standing_clusters
from covey.post.many import costs_of_sets, spread_costs
from covey.post.random import public_rng
from covey.post.spreads import QUANTILE
from covey.post.starts import sphere_packing
from covey.published.certificate import reach_of, scale_of
from covey.published.errors import MOST_NOISE, Known, from_boxes
from covey.published.outside import noise_of_rows, public_rows
from covey.published.release import Release, Synopsis
from covey.published.ways import Unit, as_objective, distance_of

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset

Floats = NDArray[np.float64]
USUAL_K = 8  # clusters of the mixture that says where rows are, where none were asked for
MOST_CENTRES = 1_000
UNKNOWN = "the noise of this coreset's weights, or where the rows of a point are, is not known"
ZONED = "with zones, the noise of this coreset's weights is not known"
FARTHEST = 1e9  # half-widths of the domain: centres beyond are in other units
LIFTED = (0.9, 1.15)  # of the true cost: what `auto` tells beyond four columns, where it is to be trusted


def hidden(why: str | None) -> bool:
    """Whether noise hides a number, so that it is not shown. One whose error nobody knows is, with that remark."""
    return why not in (None, UNKNOWN, ZONED)


def bracketed(coreset: Coreset) -> bool:
    """Whether the ends of its costs are a bracket: it has no cells whose noise is known, that intervals come from."""
    return coreset.boxes is None


def why_unknown(coreset: Coreset) -> str:
    """Why nobody knows how far off its costs are."""
    zoned = any("zones" in each.parameters for each in coreset.certificate.leaves())
    return ZONED if zoned and coreset.noise is None and coreset.cells is not None else UNKNOWN


def grid_of(synopsis: Synopsis, domain: dict[str, Any]) -> tuple[Floats, Floats]:
    """The middles of the cells of a noisy histogram, in the order of its counts, and their widths."""
    middle, half = scale_of(domain)
    axis = (2 * np.arange(synopsis.cells_per_axis) + 1) / synopsis.cells_per_axis - 1
    numbers, points = np.arange(len(synopsis.counts)), np.empty((len(synopsis.counts), len(middle)))
    for j in reversed(range(len(middle))):  # the last column's cells come fastest; numpy's own grids end at 32 axes
        numbers, place = np.divmod(numbers, synopsis.cells_per_axis)
        points[:, j] = axis[place] * half[j] + middle[j]
    cells = np.broadcast_to(2 * half / synopsis.cells_per_axis, points.shape)
    if "scale" not in domain:
        return points, cells
    found, widths = cropped((points - middle) / half, cells / half, reach_of(domain))
    return found * half + middle, widths * half


def places_of(coreset: Coreset) -> Places | None:
    """Where in its cells the rows probably are: by a mixture of as many clusters as the coreset was made for."""
    if coreset.boxes is None:
        return None
    k = coreset.certificate.parameters.get("k")
    many = k if isinstance(k, int) and k is not True and 1 <= k <= MOST_CENTRES else USUAL_K
    centres = standing_clusters(coreset.boxes, many, "k-means", public_rng(0))
    return likely_places(coreset.boxes, fit_mixture(coreset.boxes, centres))


def likely_costs(coreset: Coreset, sets: Floats, objective: Objective) -> Floats:
    """The estimated cost of each of many sets of centres, in [-1, 1]^d."""
    places = coreset.places
    if places is not None:
        weights = places.parts * coreset.weights[places.box]
        return costs_of_sets(places.points, weights, sets, objective=objective)
    points = coreset.scaled(coreset.points)
    return spread_costs(points, coreset.weights, sets, objective=objective, spreads=coreset.spreads).likely


def cost_with_interval(coreset: Coreset, centres: Floats, objective: Objective) -> Cost:
    """The cost of one set of centres with its interval, or why there is none."""
    if coreset.boxes is not None and coreset.places is not None:
        return cost_interval(coreset.boxes, coreset.places, centres, objective)
    return _bracket(coreset, centres, objective)


def difference_with_interval(coreset: Coreset, centres: ArrayLike, others: ArrayLike, objective: Objective) -> Cost:
    """What one set of centres costs more than another; without cells it has no interval."""
    one, other = (coreset.scaled(check_centres(each, coreset)) for each in (centres, others))
    if one.ndim != 2 or other.ndim != 2:
        raise ParameterError("centres", "must be one set of centres (k, d) on either side")
    if coreset.boxes is not None and coreset.places is not None:
        return difference_interval(coreset.boxes, coreset.places, one, other, objective)
    told, than = (_bracket(coreset, each, objective) for each in (one, other))
    doubt = next((each.why for each in (told, than) if hidden(each.why)), None)
    return Cost(told.cost - than.cost, math.nan, math.nan, doubt or why_unknown(coreset))


def mean_cost(coreset: Coreset, centres: ArrayLike, objective: Objective) -> Cost:
    """What a row costs on average, as costs are measured, or why that cannot be told."""
    scaled, boxes, places = coreset.scaled(check_centres(centres, coreset)), coreset.boxes, coreset.places
    if boxes is not None and places is not None:
        return mean_interval(boxes, places, lambda x: what_is_paid(x, scaled, objective), len(scaled))
    told = _bracket(coreset, scaled, objective)
    mean = told.cost / coreset.total if coreset.total > 0 else math.nan
    return Cost(mean, math.nan, math.nan, (told.why or why_unknown(coreset)) if coreset.total > 0 else FEW)


def mean_way(coreset: Coreset, centres: ArrayLike, objective: Objective, unit: Unit) -> Cost | None:
    """How far a row is from its centre on average: see `Coreset.mean_way`."""
    sites = check_centres(centres, coreset)
    if sites.ndim != 2:
        raise ParameterError("centres", "must be one set of centres (k, d)")
    if coreset.total <= 0:
        return None
    kind, scaled = unit.kind(objective), coreset.scaled(sites)
    if coreset.boxes is not None and coreset.places is not None:
        return distance_of(coreset.boxes, coreset.places, scaled, unit, kind)
    return unit.told(_mean_bracket(coreset, scaled, unit, kind), kind)


def _mean_bracket(coreset: Coreset, centres: Floats, unit: Unit, kind: str) -> Cost:
    """Of points without cells: their bracket and the noise of the number of rows, where that is known.

    What hides a cost hides the distance too, which is told from the same numbers.

    Where columns are stretched unequally, rows are taken to be spread about their points alike in all of them, and how
    far off that is nobody knows.
    """
    objective, noise = as_objective(kind), noise_of_rows(coreset.certificate)
    told = _bracket(coreset, centres, objective)
    if not np.allclose(unit.stretch, 1.0):
        spreads = np.zeros(len(coreset)) if coreset.spreads is None else coreset.spreads
        paid, wide = unit.pay(centres, kind)(coreset.scaled(coreset.points)), spreads * np.mean(np.square(unit.stretch))
        far = paid + wide if objective == "k-means" else np.sqrt(np.square(paid) + wide)
        mean = float(coreset.weights @ far) / coreset.total
        return Cost(mean, math.nan, math.nan, told.why or why_unknown(coreset))
    mean, low, high = (each / coreset.total for each in told[:3])
    if told.why is not None or noise is None or coreset.certificate.algorithm != "auto":
        return Cost(mean, math.nan, math.nan, told.why or why_unknown(coreset))
    off = QUANTILE * noise / coreset.total * mean
    return Cost(mean, max(low - off, 0.0), high + off)


def _bracket(coreset: Coreset, centres: Floats, objective: Objective) -> Cost:
    """Of points without cells: from all rows at their points to all of them spread about them, and the noise.

    Rows that are spread may be nearer to another centre than their point, and then pay less than at their points.
    `auto` beyond four columns knows the spread from moments, not from the rows of each point: there the bracket is what
    its costs were off by where they are to be trusted.
    """
    notes, points = coreset.certificate.parameters, coreset.scaled(coreset.points)
    squares, found = (
        spread_costs(points, coreset.weights, centres[None], objective=each, spreads=coreset.spreads)
        for each in ("k-means", objective)
    )
    likely, noise = float(found.likely[0]), notes.get("cost_noise")
    if coreset.spreads is None or not isinstance(noise, int | float) or not 0 <= noise <= MOST_NOISE:
        return Cost(likely, math.nan, math.nan, why_unknown(coreset))
    if notes.get("cost_trusted") is not True:
        return Cost(likely, math.nan, math.nan, str(notes.get("cost_doubt", UNKNOWN)))
    low, high = min(float(found.plain[0]), likely), max(float(found.spread[0]), likely)
    if coreset.certificate.algorithm == "auto":
        low, high = min(low, likely / LIFTED[1]), max(high, likely / LIFTED[0])
    half = QUANTILE * float(noise) / max(float(squares.likely[0]), 1e-300) * abs(likely)  # in proportion, for k-median
    return Cost(likely, low - half, high + half)


class Limits(TypedDict, total=False):
    """Where centres may be: the keywords of `Coreset.kmeans` and `Coreset.kmedian`. lon, lat : columns of the map."""

    allowed: Any
    forbidden: Any
    candidates: ArrayLike | None
    fixed: ArrayLike | None
    lon: str | None
    lat: str | None


def found(
    coreset: Coreset, objective: Objective, k: int, *, starts: int, random_state: int | None, limits: Limits
) -> Release:
    """k centres of a coreset, anywhere or within limits."""
    if unknown := sorted(set(limits) - set(Limits.__annotations__)):
        raise TypeError(f"{unknown[0]!r} is no keyword here; there are {', '.join(Limits.__annotations__)}")
    if all(limits.get(name) is None for name in ("allowed", "forbidden", "candidates", "fixed")):
        return clustered(coreset, objective, k, starts=starts, random_state=random_state)
    from covey.published.coreset.sites import read_task, sited

    return sited(coreset, objective, read_task(coreset, k, limits), starts=starts, random_state=random_state)


def clustered(coreset: Coreset, objective: Objective, k: int, *, starts: int, random_state: int | None) -> Release:
    """k centres of a coreset, with the errors of their sizes and costs where its noise is known."""
    number, tries = (
        whole_number("k", k, least=1, most=MOST_CENTRES),
        whole_number("starts", starts, least=1, most=10_000),
    )
    rng = public_rng(random_state)
    if coreset.boxes is not None:
        found_centres = standing_clusters(coreset.boxes, number, objective, rng, starts=tries)
        known = from_boxes(coreset.boxes, found_centres, coreset.unit(), objective, most=most_rows(coreset))
        return released(coreset, objective, unscaled(coreset, found_centres), known)
    edge = reach_of(coreset.certificate.domain)
    cluster = weighted_kmeans if objective == "k-means" else weighted_kmedian
    found = cluster(
        coreset.scaled(coreset.points),
        coreset.weights,
        k=number,
        lower=-edge,
        upper=edge,
        starts=np.stack([sphere_packing(number, lower=-edge, upper=edge, rng=rng) for _ in range(tries)]),
    )
    known = Known(np.minimum(found.sizes, most_rows(coreset)), None, {"errors": why_unknown(coreset)})
    return released(coreset, objective, unscaled(coreset, found.centres), known)


def most_rows(coreset: Coreset) -> float:
    """How many rows there are at most: their number, where that is public."""
    rows = public_rows(coreset.certificate.neighbours, coreset.certificate.parameters)
    return math.inf if rows is None else rows


def unscaled(coreset: Coreset, points: Floats) -> Floats:
    """Points of [-1, 1]^d in the units of the data."""
    return points * coreset._half + coreset._middle


def released(coreset: Coreset, objective: Objective, centres: Floats, known: Known, **more: Any) -> Release:
    """Centres of a coreset, in the units of the data, under its certificate, with more notes."""
    notes = {name: each for name, each in coreset.certificate.parameters.items() if name != "not_told"}
    notes |= {
        "k": len(centres),
        "clustered_again": True,
        **({"not_told": known.not_told} if known.not_told else {}),
    } | more
    return Release(
        objective=objective,
        columns=coreset.columns,
        centres=centres.tolist(),
        sizes=known.sizes.tolist(),
        certificate=msgspec.structs.replace(coreset.certificate, parameters=notes),
        errors=known.errors,
    )


def made_up_rows(coreset: Coreset, many: int, rng: np.random.Generator) -> Floats:
    """Rows at points in proportion to positive weights, anywhere in their cells."""
    positive = np.maximum(coreset.weights, 0)
    chance = positive / positive.sum() if positive.any() else np.full(len(coreset), 1 / len(coreset))
    chosen = rng.choice(len(coreset), size=many, p=chance)
    if coreset.cells is None:
        return coreset.points[chosen]
    return coreset.points[chosen] + coreset.cells[chosen] * (rng.random((many, len(coreset.columns))) - 0.5)


def check_centres(centres: ArrayLike, coreset: Coreset) -> Floats:
    """Centres in the units of the data, (k, d) or (s, k, d), or an error that says what would work."""
    d, names = len(coreset.columns), ", ".join(coreset.columns)
    sets = numbers(centres)
    if sets is None:
        raise ParameterError("centres", f"must be points of {d} numbers ({names}), as many in every set")
    if sets.ndim not in (2, 3) or sets.shape[-1] != d:
        got = f"; these have {sets.shape[-1]}" if sets.ndim in (2, 3) else ""
        raise ParameterError("centres", f"must be points with {d} coordinates ({names}): (k, d) or (s, k, d){got}")
    if 0 in sets.shape:
        raise ParameterError("centres", "must be at least one")
    if not np.isfinite(sets).all():
        raise ParameterError("centres", "must be finite numbers; leave out what is missing")
    if np.abs(coreset.scaled(sets)).max() > FARTHEST:
        raise ParameterError("centres", f"lie absurdly far from the domain; are they in the units of {names}?")
    return sets
