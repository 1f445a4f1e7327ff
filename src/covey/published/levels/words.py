"""What a level means, what to expect of it, and what its certificate promises. Free: from public and released numbers.

Nothing here looks at another level than the one that is asked about.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from covey.errors import ParameterError
from covey.events import float_at_least
from covey.geo.geojson import find_axes
from covey.post.distances import add_up, nearest
from covey.post.tails import tail, tail_of_two
from covey.public import Person
from covey.published.certificate import UNCOVERED, Certificate, in_full

if TYPE_CHECKING:
    from covey.published.levels.levels import LevelSet

ALONE, SLIDER, RAW = CHOICES = ("in advance", "on the slider", "with sight of raw data")
NOT_COVERED = f"level chosen with sight of raw data: {UNCOVERED}"
HIDDEN_FACTOR = 0.03  # of the square of what may be hidden: calibrated, docs/guide/slider.md says how
METRES = 111_320.0  # of a degree of latitude
_UP, _SHORT = (Context(prec=digits, rounding=ROUND_CEILING) for digits in (60, 3))


def choice(found: LevelSet, level: int, chosen: str, notes: dict[str, Any]) -> Certificate:
    """The promise of a level, which depends on how it was chosen."""
    if chosen not in CHOICES:
        raise ParameterError("chosen", f"must be one of {', '.join(map(repr, CHOICES))}")
    whole, own = found.certificate, found.levels[level]
    epsilon = own.epsilon if chosen == ALONE else whole.epsilon
    told = {"level": own.name, "chosen": chosen, "choice": _sentence(chosen, own.epsilon, whole.epsilon)}
    parameters = {**whole.parameters, **notes, **told, "epsilon_of_all_levels": whole.epsilon}
    if "zones" in parameters:
        parameters["zones"] = [
            {**zone, "epsilon": min(zone["epsilon"], weaker(zone["rate"], epsilon))} for zone in parameters["zones"]
        ]
    return msgspec.structs.replace(whole, epsilon=epsilon, parameters=parameters)


def _sentence(chosen: str, own: float, whole: float) -> str:
    if chosen == ALONE:
        return (
            f"level chosen without looking at the data: its own epsilon, {in_full(own)}, holds for everyone who sees "
            f"this level alone; whoever saw all levels saw epsilon = {in_full(whole)}"
        )
    if chosen == SLIDER:
        return "level chosen by looking at the slider: the promise is that of the least private level shown"
    return NOT_COVERED


def weaker(rate: float, epsilon: float) -> float:
    """ln(1 + q(e^ε - 1)): what a row that is kept at the rate q is promised, rounded up."""
    odds = _UP.subtract(_UP.next_plus(_UP.exp(Decimal(str(epsilon)))), Decimal(1))
    inside = _UP.add(_UP.multiply(Decimal(str(rate)), odds), Decimal(1))
    return float_at_least(Fraction(_UP.next_plus(_UP.ln(inside))))


def expected(found: LevelSet, level: int, k: int | None) -> dict[str, Any]:
    """Plain numbers. Errors are what noise alone exceeds in one case of twenty, or standard deviations where said."""
    boxes, strength = found.boxes(level), float(found.strength(level))
    stand = boxes.stands
    sides, weights = boxes.widths[stand, 0], np.maximum(boxes.counts[stand], 0)
    order = np.argsort(sides)
    middle = sides[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]  # of the rows that stand out
    finest = 2 / found.per_axis
    numbers: dict[str, Any] = {
        "rows_noisy": round(found.rows(level)),
        "rows_error": _rows_error(found, level),
        "count_error": tail(strength, 0.05),
        "cell_size": [float(middle * half) for half in found.domain.half],
        "finest_cell": [float(finest * half) for half in found.domain.half],
        "points": int(stand.sum()),
        "rows_standing_out": float(boxes.counts[stand].sum()),
        "smallest_that_stands_out": smallest(found.per_axis**found.domain.dimension, strength),
    }
    return numbers if k is None else numbers | _errors_of_clusters(found, level, k)


def _rows_error(found: LevelSet, level: int) -> int:
    """Of rows inside and outside the bounds together, two draws; in zones, of the level's counts by their rates."""
    if not found.zoned:
        return tail_of_two(float(found.rows_epsilon), 0.05)
    return math.ceil(1.96 * math.sqrt(found.rows_variance(level)))


def smallest(cells: int, strength: float) -> int:
    """About how many rows one cell of the finest size needs to stand out of the noise of all cells."""
    return math.ceil(math.log(max(4, cells)) / strength)


def _errors_of_clusters(found: LevelSet, level: int, k: int) -> dict[str, Any]:
    """About what noise adds to the cost of k-means, relative to it; and a cluster's size (a deviation).

    A centre is the mean of its boxes: noise of variance v in a box at distance r moves it by v·r²/n² (squared, on
    average), and n rows then pay that much each. Rows in boxes that do not stand out are not clustered at all: they may
    cost what those boxes' counts say and a standard deviation more, h times the cost of the boxes that stand out
    (`cost_hidden`). Centres that miss such a mass are off in proportion to it and pay for the square: c·h², at most 1.
    The factor is calibrated on public sets (docs/guide/slider.md).
    """
    centres, sizes = found.clusters(level, k)
    boxes = found.boxes(level)
    stand = boxes.stands
    label = nearest(boxes.points, centres)
    away = np.square(boxes.points - centres[label]).sum(axis=1)
    counts = np.where(stand, np.maximum(boxes.counts, 0), 0.0)
    rows = np.maximum(add_up(label, counts, k), 1.0)
    moved = float((add_up(label, np.where(stand, boxes.variances * away, 0.0), k) / rows).sum())
    within = np.square(boxes.widths).sum(axis=1) / 12
    hidden = max(0.0, float(boxes.counts[~stand] @ away[~stand]))
    hidden += float(np.sqrt(boxes.variances[~stand] @ np.square(away[~stand])))
    cost = max(float(counts @ (away + within)), 1e-300)
    noise = add_up(label, boxes.variances, k)
    square = HIDDEN_FACTOR * (hidden / cost) ** 2
    return {
        "cost_error": min(1.0, moved / cost + square / (1 + square)),
        "cost_hidden": hidden / cost,
        "within_cells": float(counts @ within) / cost,
        "size_error": float(np.sqrt(noise.mean())),
        "smallest_size": float(sizes.min()),
    }


def _in_words(found: LevelSet, widths: list[float]) -> str:
    """The size of a cell: in metres on a map, else in the units of the columns."""
    names, middle = found.domain.columns or (), found.domain.middle
    try:
        east, north = find_axes(names)
    except ParameterError:
        return " by ".join(plain(width) for width in widths)
    across = widths[east] * METRES * math.cos(math.radians(min(89.0, abs(middle[north]))))
    metres = (across, widths[north] * METRES)
    return " by ".join(f"{plain(each)} m" if each < 1000 else f"{plain(each / 1000)} km" for each in metres)


def plain(number: float) -> str:
    """Two digits, without an exponent."""
    text = f"{float(f'{number:.2g}'):,.12f}"
    return text.rstrip("0").rstrip(".")


def meaning(found: LevelSet, level: int) -> str:
    """One or two plain sentences."""
    own = found.levels[level]
    factor = _SHORT.create_decimal(_UP.next_plus(_UP.exp(Decimal(str(own.epsilon)))))  # exp rounds to the nearest
    numbers = expected(found, level, None)
    size = _in_words(found, numbers["cell_size"])
    seen = (
        f"Places about {size} in size are told apart, and a smallest cell shows up from about "
        f"{numbers['smallest_that_stands_out']:,} rows."
        if numbers["points"] > 1
        else "Nothing stands out of the noise: all that is told is about how many rows there are."
    )
    return (
        f"{seen} Whether {anyone(found.certificate.person)} is in the data changes the chance of what is shown by a "
        f"factor of at most {factor:.3g}."
    )


def anyone(person: str) -> str:
    """Whose presence is hidden, in a sentence."""
    return "any one row" if person == str(Person()) else f"any one person ({person})"
