"""The errors of a release in plain words, for people and for maps. From what is stored in the release alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from covey.errors import ParameterError
from covey.geo.geojson import find_axes
from covey.text import how_many, listing, plain

if TYPE_CHECKING:
    from covey.published.errors import Errors
    from covey.published.release import Release

METRES = 111_320.0  # of a degree of latitude
WIDEST, HIGHEST = 360.0, 90.0  # degrees: columns that go beyond are no longitude or latitude
FEW_COLUMNS = 3  # that a place is told in one by one
NOISE = "may be only noise"
NOWHERE = "place not determined"


def words_of(release: Release, names: Sequence[str] | None = None) -> list[str]:
    """Plain sentences on how far off a release may be. `names` are those of its centres, if not their numbers."""
    share = release.rows_outside
    outside = [str(share)] if share is not None and share.matters else []
    if release.errors is None:
        why = not_told(release).get("errors")
        return ([] if why is None else [f"How far off these numbers are cannot be told: {why}."]) + outside
    labels = names or [str(i) for i in range(len(release.centres))]
    errors = release.errors
    return [*_intervals(errors), *_doubts(errors, labels), *_places(errors), *of_costs(release), *outside]


def not_told(release: Release) -> dict[str, str]:
    """What a release cannot say, and why, by its certificate."""
    found = release.certificate.parameters.get("not_told")
    return {str(what): str(why) for what, why in found.items()} if isinstance(found, dict) else {}


def _intervals(errors: Errors) -> list[str]:
    if errors.sizes is None:
        return []
    return [f"Each interval holds {often(errors.level)}; those that hold all at once are wider (joint)."]


def often(level: float) -> str:
    """How often an interval holds: "9 times in 10" for 0.9."""
    return f"{plain(10 * level)} times in 10"


def _doubts(errors: Errors, names: Sequence[str]) -> list[str]:
    doubted = [name for name, doubt in zip(names, errors.doubtful or (), strict=False) if doubt]
    if not doubted:
        return []
    return [f"{'Centres' if len(doubted) > 1 else 'Centre'} {listing(doubted)} {NOISE}."]


def _places(errors: Errors) -> list[str]:
    if errors.radii is None:
        return []
    return [f"A centre is probably ({often(errors.level)}) as near as is said to where it would be without noise."]


def of_costs(release: Release) -> list[str]:
    """By how much the centres may be worse than without privacy, and what they cost, for their own objective.

    They were found on the same counts, which has to be said. Reruns cannot see what was missed: that too.
    """
    errors, objective = release.errors, release.objective
    if errors is None:
        return []
    lines = [] if errors.excess is None else [f"{excess_words(errors.excess)}."]
    known, why = (errors.costs or {}).get(objective), not_told(release).get(f"{objective} cost")
    if known is not None:
        cost, low, high = known
        lines.append(
            f"The {objective} cost is about {amount(cost)} ({amount(low)} to {amount(high)}; {often(errors.level)}), "
            "with half of each column's range as the unit. Centres that were found on the same counts look a little "
            "better than they are."
        )
    elif why is not None:
        lines.append(cost_untold(objective, why))
    return lines


def excess_words(excess: float) -> str:
    return f"Up to {plain(max(100 * excess, 0.1), up=True)}% worse than without privacy, if no cluster was missed"


def cost_untold(objective: str, why: str) -> str:
    return f"The {objective} cost cannot be told: {why}."


def amount(value: float) -> str:
    """Four digits, without an exponent where it is not needed."""
    return f"{round(value):,}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


def size_words(size: float | None, interval: Sequence[float] | None) -> str:
    """A noisy size and its interval: 4,120 (3,990 to 4,250). There are no fewer rows than none."""
    if size is None or interval is None:
        return how_many(size)
    low, high = max(0, math.floor(interval[0])), max(0, math.ceil(interval[1]))
    return f"{how_many(size)} ({low:,} to {high:,})"


def sizes_in_words(release: Release) -> list[str]:
    """Of each centre, with its interval where there is one."""
    sizes: Sequence[float | None] = release.sizes or [None] * len(release.centres)
    known = None if release.errors is None else release.errors.sizes
    return [size_words(size, None if known is None else known[i]) for i, size in enumerate(sizes)]


def places_in_words(release: Release) -> list[str] | None:
    """How near to its place each centre is: in metres on a map, else in the columns' units. None if unknown."""
    radii = None if release.errors is None else release.errors.radii
    if radii is None:
        return None
    metres = radii_in_metres(release) or [None] * len(radii)
    half = release.scale()[1].tolist()
    return [
        NOWHERE if radius is None else f"probably within {_reach(release.columns, half, radius, on_map)}"
        for radius, on_map in zip(radii, metres, strict=True)
    ]


def _reach(columns: Sequence[str], half: Sequence[float], radius: float, metres: float | None) -> str:
    axes = () if metres is None else find_axes(columns)
    others = [i for i in range(len(columns)) if i not in axes]
    if len(others) > FEW_COLUMNS:
        return f"{plain(50 * radius, up=True)}% of each column's range"
    parts = [] if metres is None else [length(metres, up=True)]
    alone = len(columns) == 1
    widths = [plain(radius * half[i], up=True) for i in others]
    parts += widths if alone else [f"{width} in {columns[i]}" for i, width in zip(others, widths, strict=True)]
    return listing(parts)


def length(metres: float, *, up: bool = False) -> str:
    """A length in metres or kilometres, to two digits."""
    return f"{plain(metres, up=up)} m" if metres < 1000 else f"{plain(metres / 1000, up=up)} km"


def radii_in_metres(release: Release, lon: str | None = None, lat: str | None = None) -> list[float | None] | None:
    """The longer half-axis about each centre, where two columns are degrees on a map; None where nothing is known."""
    radii = None if release.errors is None else release.errors.radii
    try:
        axes = find_axes(release.columns, lon, lat)
    except ParameterError:
        return None
    middle, half = release.scale()
    beyond = any(abs(middle[i]) + half[i] > most for i, most in zip(axes, (WIDEST, HIGHEST), strict=True))
    if radii is None or beyond:
        return None
    across, up = (float(half[i]) * METRES for i in axes)
    return [
        None if radius is None else radius * max(across * math.cos(math.radians(centre[axes[1]])), up)
        for radius, centre in zip(radii, release.centres, strict=True)
    ]


def centre_properties(release: Release, lon: str | None = None, lat: str | None = None) -> list[dict[str, Any]]:
    """What a map says of each centre; what is not known is left out."""
    errors, metres = release.errors, radii_in_metres(release, lon, lat)
    found = []
    for i, centre in enumerate(release.centres):
        each: dict[str, Any] = {**dict(zip(release.columns, centre, strict=True)), "cluster": i}
        if release.sizes is not None:
            each["size"] = round(release.sizes[i])
        if errors is not None and errors.sizes is not None:
            each |= {"size_low": math.floor(errors.sizes[i][0]), "size_high": math.ceil(errors.sizes[i][1])}
        if errors is not None and errors.doubtful is not None:
            each["doubtful"] = errors.doubtful[i]
        radius = None if metres is None else metres[i]
        if radius is not None:
            each["radius_m"] = math.ceil(radius)
        found.append(each)
    return found
