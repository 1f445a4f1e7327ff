"""Alternatives side by side: what each set of sites would cost, and whether every site may stand where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.geo.geojson import Region, find_axes
from covey.post.distances import Objective
from covey.published.coreset.answers import check_centres
from covey.published.coreset.coreset import Coreset


@dataclass(frozen=True)
class Alternative:
    """One row of a comparison. `difference` is to the best admissible row; None if no row is admissible."""

    name: str
    cost: float
    difference: float | None
    admissible: bool
    reason: str  # why it is not admissible; empty if it is


def compare(
    coreset: Coreset,
    alternatives: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    *,
    allowed: Any,
    forbidden: Any,
    objective: Objective,
    lon: str | None,
    lat: str | None,
) -> list[Alternative]:
    """The rows, admissible ones first, then by cost. See Coreset.compare."""
    named = _named(alternatives)
    sets = {name: _one_set(name, centres, coreset) for name, centres in named.items()}
    costs = _costs(coreset, sets, objective)
    reasons = dict.fromkeys(sets, "")
    if allowed is not None or forbidden is not None:
        axes = list(find_axes(coreset.columns, lon, lat))
        inside = None if allowed is None else Region.read(allowed, name="allowed")
        outside = None if forbidden is None else Region.read(forbidden, name="forbidden")
        reasons = {name: _reason(sites[:, axes], inside, outside) for name, sites in sets.items()}
    best = min((costs[name] for name in sets if not reasons[name]), default=None)
    rows = [
        Alternative(
            name=name,
            cost=costs[name],
            difference=None if best is None else costs[name] - best,
            admissible=not reasons[name],
            reason=reasons[name],
        )
        for name in sets
    ]
    return sorted(rows, key=lambda row: (not row.admissible, row.cost))


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


def _costs(coreset: Coreset, sets: dict[str, NDArray[np.float64]], objective: Objective) -> dict[str, float]:
    """Sets of the same size are asked about together."""
    costs: dict[str, float] = {}
    for k in sorted({len(sites) for sites in sets.values()}):
        group = [name for name, sites in sets.items() if len(sites) == k]
        found = coreset.cost(np.stack([sets[name] for name in group]), objective=objective)
        costs |= dict(zip(group, np.asarray(found).tolist(), strict=True))
    return costs


def _reason(places: NDArray[np.float64], allowed: Region | None, forbidden: Region | None) -> str:
    """Why not every place may be built on, or nothing."""
    reasons = []
    for bad, what in (
        (None if allowed is None else ~allowed.contains(places), "outside the allowed region"),
        (None if forbidden is None else forbidden.contains(places), "inside the forbidden region"),
    ):
        if bad is not None and bad.any():
            numbers = ", ".join(map(str, np.flatnonzero(bad)))
            reasons.append(f"site{'s' if bad.sum() > 1 else ''} {numbers} {what}")
    return "; ".join(reasons)
