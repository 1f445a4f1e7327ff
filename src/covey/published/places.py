"""Where the centres of a release probably are: in words, in metres on a map, and as properties of other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from covey.errors import ParameterError
from covey.geo import clock
from covey.geo.geojson import HIGHEST, WIDEST, find_axes
from covey.geo.geojson import METRES as DEGREE
from covey.published.certificate import reach_of
from covey.published.counted import shown_ends, shown_size
from covey.published.sentences import NOWHERE, length
from covey.text import free_name, listing, own_names, plain

if TYPE_CHECKING:
    from covey.published.release import Release

FEW_COLUMNS = 3  # that a place is told in one by one
FOUND, NOT_FOUND = "probably within its radius", "not determined"  # the property `place`
OWN = ("cluster", "size", "size_low", "size_high", "doubtful", "place", "radius_m", "kind", "region")  # of a centre


def places_in_words(release: Release) -> list[str] | None:
    """How near to its place each centre is: in metres on a map, else in the columns' units. None if unknown."""
    radii = None if release.errors is None else release.errors.radii
    if radii is None:
        return None
    metres = radii_in_metres(release) or [None] * len(radii)
    half, reach = release.scale()[1].tolist(), reach_of(release.certificate.domain)
    return [
        NOWHERE
        if radius is None
        else f"probably within {_reach(release.columns, half, radius, on_map, most=1 / reach.min())}"
        for radius, on_map in zip(radii, metres, strict=True)
    ]


def _reach(columns: Sequence[str], half: Sequence[float], radius: float, metres: float | None, *, most: float) -> str:
    """most : how many half-widths of a column's range the unit of distance is at most."""
    axes = () if metres is None else find_axes(columns)
    others = [i for i in range(len(columns)) if i not in axes]
    if len(others) > FEW_COLUMNS:
        return f"{plain(50 * radius * most, up=True)}% of each column's range"
    parts = [] if metres is None else [length(metres, up=True)]
    alone = len(columns) == 1
    widths = [plain(radius * half[i], up=True) for i in others]
    parts += widths if alone else [f"{width} in {columns[i]}" for i, width in zip(others, widths, strict=True)]
    return listing(parts)


def radii_in_metres(release: Release, lon: str | None = None, lat: str | None = None) -> list[float | None] | None:
    """The longer half-axis about each centre, where two columns are degrees on a map; None where nothing is known."""
    radii = None if release.errors is None else release.errors.radii
    try:
        axes = find_axes(release.columns, lon, lat)
    except ParameterError:
        return None
    middle, half = release.scale()
    ends = abs(middle) + half * reach_of(release.certificate.domain)
    beyond = any(ends[i] > most for i, most in zip(axes, (WIDEST, HIGHEST), strict=True))
    if radii is None or beyond:
        return None
    across, up = (float(half[i]) * DEGREE for i in axes)
    return [
        None if radius is None else radius * max(across * math.cos(math.radians(centre[axes[1]])), up)
        for radius, centre in zip(radii, release.centres, strict=True)
    ]


def centre_properties(release: Release, lon: str | None = None, lat: str | None = None) -> list[dict[str, Any]]:
    """What a map says of each centre; what is not known is left out. A column that is called so gets an underscore.

    Numbers of rows are as they are shown everywhere, not below 0. `place` says whether a radius is known.
    """
    errors, metres = release.errors, radii_in_metres(release, lon, lat)
    axes = () if metres is None else find_axes(release.columns, lon, lat)
    names, found = own_names(release.columns, OWN), []
    for i, centre in enumerate(release.centres):
        own: dict[str, Any] = {"cluster": i}
        own |= {column.partition(" ")[2]: words for column, words in clock.told(release.columns, centre).items()}
        if release.sizes is not None:
            own["size"] = shown_size(release.sizes[i])
        if errors is not None and errors.sizes is not None:
            own |= dict(zip(("size_low", "size_high"), shown_ends(errors.sizes[i]), strict=True))
        if errors is not None and errors.doubtful is not None:
            own["doubtful"] = errors.doubtful[i]
        own |= _place(release, i, None if metres is None else metres[i])
        row = {**dict(zip(names, centre, strict=True)), **own}
        found.append(row | {free_name(name, row): radius for name, radius in _radii(release, i, axes).items()})
    return found


def _place(release: Release, i: int, metres: float | None) -> dict[str, Any]:
    """Whether a centre's place is determined, where that was asked for, and its radius on a map."""
    radii = None if release.errors is None else release.errors.radii
    if radii is None:
        return {}
    if radii[i] is None:
        return {"place": NOT_FOUND}
    return {"place": FOUND} | ({} if metres is None else {"radius_m": math.ceil(metres)})


def _radii(release: Release, i: int, axes: Sequence[int]) -> dict[str, float]:
    """How far a centre may be off in each column that is not on the map, in the column's units."""
    radii = None if release.errors is None else release.errors.radii
    radius = None if radii is None else radii[i]
    if radius is None:
        return {}
    half = release.scale()[1].tolist()
    return {f"{name} radius": radius * half[j] for j, name in enumerate(release.columns) if j not in axes}
