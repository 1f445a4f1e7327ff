"""How distances are measured: how much each column counts, by public bounds and the request. Proof: metric.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from covey.checks import no_column
from covey.errors import ParameterError
from covey.geo.clock import hand, with_circles
from covey.geo.geojson import HIGHEST, WIDEST, find_axes
from covey.public import Bounds, Domain, Person, resolve_bounds

LEAST = 2.0**-16  # of the column that counts most: one that counts less has too few lattice points to tell rows apart
DIGITS = 6  # of what a side of a map counts: every machine agrees on as many


def measured(bounds: Bounds | None, scale: Any, *, person: Person, names: Sequence[str] | None, width: int) -> Domain:
    """The domain that bounds mean for data with these columns, and how much each of them counts in distances."""
    own, width = person.columns_of(names, width)
    declared, own = with_circles(bounds, own)
    domain = resolve_bounds(declared, names=own, width=width)
    times = _times(scale, domain)
    if domain.ball:
        if times is not None:
            raise ParameterError("scale", "is for a Box; a Ball has one radius for all columns")
        return domain
    sides = _sides_in_metres(domain)
    counts = [a * b for a, b in zip(times or [1.0] * domain.dimension, sides or [1.0] * domain.dimension, strict=True)]
    most = max(counts)
    if all(each == most for each in counts):
        return domain
    if min(counts) < LEAST * most:
        least = domain.names[counts.index(min(counts))]
        raise ParameterError("scale", f"column {least!r} would count less than 1/65,536 of another; leave it out")
    return replace(domain, scale=tuple(each / most for each in counts), metres=sides is not None)


def _times(scale: Any, domain: Domain) -> list[float] | None:
    """How many times each column counts, as a user gives it: by names, or a number for each column."""
    if scale is None:
        return None
    if isinstance(scale, Mapping):
        named = [name if (circle := hand(name)) is None else circle.name for name in domain.names]
        for name in scale:
            if name not in named:
                raise ParameterError("scale", no_column(str(name), tuple(dict.fromkeys(named))))
        given = [scale.get(name, 1.0) for name in named]
    elif isinstance(scale, Sequence) and not isinstance(scale, str) and len(scale) == domain.dimension:
        given = list(scale)
    else:
        raise ParameterError(
            "scale", f'must be a dictionary such as {{"age": 2}}, or {domain.dimension} numbers, one for each column'
        )
    for name, each in zip(domain.names, given, strict=True):
        number = isinstance(each, int | float) and not isinstance(each, bool)
        if not number or not 1e-6 <= each <= 1e6:
            raise ParameterError("scale", f"of {name!r} must be a positive number, from 0.000001 to 1000000")
    return [float(each) for each in given]


def _sides_in_metres(domain: Domain) -> list[float] | None:
    """What each column counts so that longitude and latitude do in equal metres, at the middle of the map: the longer
    side of the map as much as any other column. None where two columns are not degrees on a map, by name and range."""
    try:
        east, north = find_axes(domain.columns or ())
    except ParameterError:
        return None
    ends = [abs(middle) + half for middle, half in zip(domain.middle, domain.half, strict=True)]
    if ends[east] > WIDEST or ends[north] > HIGHEST:
        return None
    across, up = domain.half[east] * math.cos(math.radians(domain.middle[north])), domain.half[north]
    sides = [1.0] * domain.dimension
    sides[east], sides[north] = (float(f"{side / max(across, up):.{DIGITS}g}") for side in (across, up))
    return sides
