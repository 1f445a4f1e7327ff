"""Alternatives side by side: what each set of sites would cost, and whether every site may stand where it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.geo.geojson import Region, find_axes
from covey.post.distances import Objective
from covey.post.errors.costs import FEW, Cost
from covey.published.coreset.answers import check_centres
from covey.published.coreset.coreset import Coreset

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Alternative:
    """One row of a comparison. `difference` is to the best admissible row; None if no row is admissible.

    low, high : between which the cost is nine times in ten (of a coreset without cells a bracket: see `Coreset.cost`),
    None where that cannot be told, for the reason `why`.
    difference_low, difference_high : the same of the difference. tied : whether the row cannot be told apart from the
    best one, None where that is not known either. way, way_low, way_high : the mean distance to the nearest site in
    metres on a map, else in the units of the data (for k-means, the root mean square), or why it is not known: way_why.
    minutes, minutes_low, minutes_high : the same at the speed that was stated, as the crow flies; None without one.
    Centres that were found on the coreset look better than they are.
    """

    name: str
    cost: float
    difference: float | None
    admissible: bool
    reason: str  # why it is not admissible; empty if it is
    low: float | None = None
    high: float | None = None
    why: str | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    tied: bool | None = None
    way: float | None = None
    way_low: float | None = None
    way_high: float | None = None
    way_why: str | None = None
    minutes: float | None = None
    minutes_low: float | None = None
    minutes_high: float | None = None


def compare(
    coreset: Coreset,
    alternatives: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    *,
    allowed: Any,
    forbidden: Any,
    fixed: Any,
    objective: Objective,
    lon: str | None,
    lat: str | None,
    speed: float | None,
) -> list[Alternative]:
    """The rows, admissible ones first, then by cost. See Coreset.compare."""
    metres = coreset.unit(lon, lat)
    minutes = metres.at(speed)  # or a refusal, before anything is compared
    named = _named(alternatives)
    sets = {name: _one_set(name, centres, coreset) for name, centres in named.items()}
    costs = {name: _cost(coreset, sites, objective) for name, sites in sets.items()}
    reasons = dict.fromkeys(sets, "")
    if allowed is not None or forbidden is not None:
        axes = list(find_axes(coreset.columns, lon, lat))
        inside = None if allowed is None else Region.read(allowed, name="allowed")
        outside = None if forbidden is None else Region.read(forbidden, name="forbidden")
        stands = np.empty((0, len(coreset.columns))) if fixed is None else _one_set("fixed", fixed, coreset)
        known = {tuple(site) for site in stands.tolist()}
        new = {name: np.array([tuple(site) not in known for site in each.tolist()]) for name, each in sets.items()}
        reasons = {name: _reason(sites[:, axes], new[name], inside, outside) for name, sites in sets.items()}
    best = min((name for name in sets if not reasons[name]), key=lambda name: costs[name].cost, default=None)
    rows = [
        Alternative(
            name=name,
            cost=costs[name].cost,
            admissible=not reasons[name],
            reason=reasons[name],
            low=_or_none(costs[name].low),
            high=_or_none(costs[name].high),
            why=costs[name].why,
            **_way(coreset, sites, objective, lon, lat, None if speed is None else minutes.size / metres.size),
            **_against(coreset, sites, None if best is None or best == name else sets[best], objective, best),
        )
        for name, sites in sets.items()
    ]
    return sorted(rows, key=lambda row: (not row.admissible, row.cost))


def _cost(coreset: Coreset, sites: Floats, objective: Objective) -> Cost:
    found = coreset.cost(sites, objective=objective, interval=True)
    assert isinstance(found, Cost), "one set of centres has one cost"
    return found


def _against(
    coreset: Coreset, sites: Floats, others: Floats | None, objective: Objective, best: str | None
) -> dict[str, Any]:
    """By how much sites cost more than the best ones, and whether that is more than noise."""
    if others is None:
        return {"difference": None if best is None else 0.0}
    found = coreset.cost_difference(sites, others, objective=objective)
    low, high = _or_none(found.low), _or_none(found.high)
    tied = None if low is None or high is None else low <= 0 <= high
    return {"difference": found.cost, "difference_low": low, "difference_high": high, "tied": tied}


def _way(
    coreset: Coreset, sites: Floats, objective: Objective, lon: str | None, lat: str | None, metre: float | None
) -> dict[str, Any]:
    """The mean distance with its interval. metre : how many minutes it takes, if a speed was stated."""
    found = coreset.mean_way(sites, objective=objective, lon=lon, lat=lat)
    if found is None:
        return {"way_why": FEW}
    told: dict[str, Any] = {"way_why": found.why}
    for name, each in (("way", 1.0), ("minutes", metre)):
        if each is not None:
            ends = zip((name, f"{name}_low", f"{name}_high"), found[:3], strict=True)
            told |= {end: _or_none(value * each) for end, value in ends}
    return told


def _or_none(end: float) -> float | None:
    return None if math.isnan(end) else end


def _named(alternatives: Any) -> dict[str, Any]:
    if isinstance(alternatives, Mapping):
        named = {str(name): centres for name, centres in alternatives.items()}
    elif isinstance(alternatives, Sequence | np.ndarray) and not isinstance(alternatives, str | bytes):
        named = {str(i): centres for i, centres in enumerate(alternatives)}
    else:
        named = {}
    if not named:
        raise ParameterError("alternatives", 'must be sets of centres by name, such as {"north": [[-74.0, 40.8]]}')
    return named


def _one_set(name: str, centres: Any, coreset: Coreset) -> NDArray[np.float64]:
    try:
        sites = check_centres(centres, coreset)
    except ParameterError as error:
        problem = str(error).removeprefix("centres: ")
        raise ParameterError("alternatives", f"{name!r}: the centres {problem}") from None
    if sites.ndim != 2:
        raise ParameterError("alternatives", f"{name!r}: must be one set of centres (k, d)")
    return sites


def _reason(places: Floats, new: NDArray[np.bool_], allowed: Region | None, forbidden: Region | None) -> str:
    """Why not every new place may be built on, or nothing."""
    reasons = []
    for bad, what in (
        (None if allowed is None else ~allowed.contains(places), "outside the allowed region"),
        (None if forbidden is None else forbidden.contains(places), "inside the forbidden region"),
    ):
        bad = None if bad is None else bad & new
        if bad is not None and bad.any():
            numbers = ", ".join(map(str, np.flatnonzero(bad)))
            reasons.append(f"site{'s' if bad.sum() > 1 else ''} {numbers} {what}")
    return "; ".join(reasons)
