"""Sites that somebody thinks of, compared on the private coreset: free, as often as wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from covey.errors import ParameterError
from covey.geo.geojson import Region
from covey.post.distances import Objective
from covey.published.coreset.answers import hidden
from covey.published.coreset.coreset import Coreset
from covey.studio.data import Opened

MOST_SETS, MOST_SITES = 12, 100
SEED = 0  # the same question has the same answer
NOTE = (
    "Costs are estimates from the private summary of the level: the sum over rows of the {what} to the nearest site, "
    "with each column scaled by its bounds. Each interval holds 9 times in 10. Noise moves all costs alike: "
    "differences are known better than costs, and sets whose difference may be 0 cannot be told apart. Comparing is "
    "free and may be repeated; centres that were found on the same summary look a little better than they are."
)


def compare_sites(
    coreset: Coreset,
    data: Opened,
    sets: Mapping[str, Sequence[Sequence[float]]],
    *,
    objective: str,
    forbidden: dict[str, Any] | None,
) -> dict[str, Any]:
    """What each set costs, for each row on average too, and how many of its sites lie where none may be built."""
    if not 1 <= len(sets) <= MOST_SETS:
        raise ParameterError("sets", f"must be 1 to {MOST_SETS} sets of sites by name")
    if any(not 1 <= len(sites) <= MOST_SITES for sites in sets.values()):
        raise ParameterError("sets", f"every set must have 1 to {MOST_SITES} sites")
    places = {name: data.full(sites, name="sets") for name, sites in sets.items()}
    region = None if forbidden is None else Region.read(forbidden, name="forbidden")
    total = max(1.0, coreset.total)
    limits = _on_the_map(data, region)
    try:
        rows = {row.name: row for row in coreset.compare(places, objective=objective, **limits)}  # type: ignore[arg-type]
    except ParameterError as error:
        raise ParameterError("sets", str(error).removeprefix("alternatives: ")) from None
    answers: dict[str, dict[str, Any]] = {}
    for name, sites in places.items():
        row = rows[name]
        inside = 0 if region is None else int(region.contains(data.flat(sites)).sum())
        answers[name] = {"cost": row.cost, "low": row.low, "high": row.high, "why": row.why, "tied": row.tied}
        answers[name] |= {"per_row": row.cost / total, "inside_forbidden": inside}
        if data.geographic and row.way is not None and not hidden(row.way_why):
            ends = zip(("mean_km", "km_low", "km_high"), (row.way, row.way_low, row.way_high), strict=True)
            answers[name] |= {key: None if end is None else end / 1000 for key, end in ends}
    allowed = [name for name, answer in answers.items() if not answer["inside_forbidden"]]
    best = min(allowed, key=lambda name: answers[name]["cost"], default=None)
    for answer in answers.values():
        lowest = None if best is None else answers[best]["cost"]
        share = best is not None and not any(hidden(each["why"]) for each in (answer, answers[best]))
        answer["against_best"] = answer["cost"] / lowest if share and lowest is not None and lowest > 0 else None
    what = "squared distance" if objective == "k-means" else "distance"
    return {"sets": answers, "best": best, "note": NOTE.format(what=what)}


def find_sites(
    coreset: Coreset,
    data: Opened,
    *,
    more: int,
    fixed: Sequence[Sequence[float]],
    candidates: Sequence[Sequence[float]] | None,
    objective: Objective,
    forbidden: dict[str, Any] | None,
) -> dict[str, Any]:
    """Where so many more sites serve best beside those that stand: anywhere that is not forbidden, or of a list."""
    stand = data.full(fixed, name="fixed") if fixed else None
    listed = None if candidates is None else data.full(candidates, name="candidates")
    region = None if forbidden is None else Region.read(forbidden, name="forbidden")
    search = coreset.kmeans if objective == "k-means" else coreset.kmedian
    limits = _on_the_map(data, region)
    found = search(len(fixed) + more, random_state=SEED, fixed=stand, candidates=listed, **limits)
    return {"sites": data.flat(found.centres[len(fixed) :]).tolist()}


def _on_the_map(data: Opened, forbidden: Region | None) -> dict[str, Any]:
    """What is forbidden, and which columns are the map; of one column alone there is none."""
    lon, lat = (None if axis is None else data.columns[axis] for axis in data.axes)
    return {} if lat is None else {"forbidden": forbidden, "lon": lon, "lat": lat}
