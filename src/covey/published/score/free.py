"""What a release tells of how good its centres are, for nothing: from its synopsis, or from its stored errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from covey.published.release import Release

Known = tuple[float, float | None, float | None]
UNASKED = "the release does not say"
ALONE = "what a single centre would cost is known only where a release keeps its synopsis or is a coreset"
ONE = "there is one centre"
NO_ROWS = "noise leaves open whether there are any rows"


def free_scores(release: Release) -> dict[str, Known | None]:
    """Scores by name, each a number and its interval, as far as the release tells them. All of it is post-processing.

    The cost has columns scaled by the bounds; the distance is in metres on a map, and in the units of the data
    elsewhere, for k-means the root mean square; the separation is between the two nearest centres, in halves of the
    widest range.
    """
    return with_reasons(release)[0]


def with_reasons(release: Release) -> tuple[dict[str, Known | None], dict[str, str]]:
    """The same, and of each score that is not told, or is without an interval that its noise should have, why."""
    middle, unit = release.scale()
    places = (np.array(release.centres) - middle) / unit
    apart = np.sqrt(np.square(places[:, None] - places).sum(axis=2)) + np.diag([np.inf] * len(places))
    found: dict[str, Known | None] = {"cost": None, "distance": None, "explained": None}
    if release.synopsis is not None or release.coreset is not None:
        told, why = _of_coreset(release)
        found |= told
    else:
        why = _reasons(release)
        if release.errors is not None:
            found["cost"] = (release.errors.costs or {}).get(release.objective)
            found["distance"] = next(iter((release.errors.distances or {}).values()), None)
    found["separation"] = (float(apart.min()), None, None) if len(places) > 1 else None
    lost = {name for name, told in found.items() if told is None or (None in told and name != "separation")}
    return found, {name: reason for name, reason in {**why, "separation": ONE}.items() if name in lost}


def of_points(release: Release) -> bool:
    """Whether scores come from a coreset whose points have no cells: the ends of their costs are a bracket."""
    from covey.published.coreset.answers import bracketed
    from covey.published.coreset.coreset import Coreset

    return (release.synopsis is not None or release.coreset is not None) and bracketed(Coreset.of(release))


def _reasons(release: Release) -> dict[str, str]:
    """Why a release that keeps no synopsis does not tell its scores, as its certificate says."""
    given = release.certificate.parameters.get("not_told")
    given = given if isinstance(given, dict) else {}
    why = str(given.get("errors") or given.get(f"{release.objective} cost") or UNASKED)
    return {"cost": why, "distance": why, "explained": ALONE if why == UNASKED else why}


def _of_coreset(release: Release) -> tuple[dict[str, Known | None], dict[str, str]]:
    from covey.published.coreset.coreset import Coreset

    coreset = Coreset.of(release)
    sizes = np.maximum(np.array(release.sizes or [1.0] * len(release.centres)), 0.0)
    one = np.average(np.array(release.centres), axis=0, weights=sizes if sizes.sum() > 0 else None)[None]
    ours, alone = (coreset.cost(each, interval=True) for each in (release.centres, one))
    way, share = coreset.mean_way(release.centres), _saved(_known(ours), _known(alone))
    found = {"cost": _known(ours), "distance": None if way is None else _known(way), "explained": share}
    reasons = (ours[3], NO_ROWS if way is None else way[3], ours[3] or alone[3])
    return found, dict(zip(found, (str(each or UNASKED) for each in reasons), strict=True))


def _known(cost: Any) -> Known:
    low, high = (None if math.isnan(each) else float(each) for each in cost[1:3])
    return float(cost[0]), low, high


def _saved(cost: Known, single: Known) -> Known | None:
    """The share of the cost of one centre that is saved: if both intervals hold, this one does."""
    if single[0] <= 0:
        return None
    share = 1 - cost[0] / single[0]
    if cost[1] is None or cost[2] is None or single[1] is None or single[2] is None or single[1] <= 0:
        return share, None, None
    return share, 1 - cost[2] / single[1], min(1 - max(cost[1], 0.0) / single[2], 1.0)
