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

from covey.budget.accounting.accountant import Cost
from covey.errors import ParameterError
from covey.events import exactly, float_at_least
from covey.geo.geojson import METRES, find_axes, metres_of_half
from covey.post.tails import tail_of_two
from covey.public import Person
from covey.published.certificate import UNCOVERED, Certificate, factor_of, in_full
from covey.published.sentences import length
from covey.text import counted, plain

if TYPE_CHECKING:
    from covey.published.levels.levels import LevelSet

ALONE, SLIDER, RAW, LATER = CHOICES = (
    "in advance",
    "on the slider",
    "with sight of raw data",
    "after other releases",
)
NOT_COVERED = f"level chosen with sight of raw data: {UNCOVERED}"
SURE = 1.5  # times the largest noise of all boxes of a size, which noise exceeds in one case of two
_UP = Context(prec=60, rounding=ROUND_CEILING)


def choice(
    found: LevelSet, level: int, chosen: str, notes: dict[str, Any], together: Cost | None = None
) -> Certificate:
    """The promise of a level, which depends on how it was chosen.

    together : what this and all other releases of the same data cost, where there were others to choose by.
    """
    if chosen not in CHOICES:
        raise ParameterError("chosen", f"must be one of {', '.join(map(repr, CHOICES))}")
    if (chosen == LATER) > (together is not None) or (chosen == ALONE) > (together is None):
        raise ParameterError("together", f"what all releases cost is told for {LATER!r}, and never for {ALONE!r}")
    whole, own = found.certificate, found.levels[level]
    epsilon = own.epsilon if chosen == ALONE else whole.epsilon
    others = Fraction(0) if together is None else max(Fraction(0), together.epsilon - exactly(whole.epsilon))
    amounts = {"epsilon": float_at_least(exactly(epsilon) + others)}
    amounts |= {} if together is None else {"delta": float_at_least(together.delta)}
    sentence = _sentence(chosen, own.epsilon, whole.epsilon, alone=len(found.levels) == 1)
    told = {"level": own.name, "chosen": str(chosen), "choice": sentence}
    parameters = {**whole.parameters, **notes, **told, "epsilon_of_all_levels": whole.epsilon}
    if "zones" in parameters:  # other releases cost rows in zones at most what they cost all rows
        parameters["zones"] = [
            {**zone, "epsilon": float_at_least(exactly(min(zone["epsilon"], weaker(zone["rate"], epsilon))) + others)}
            for zone in parameters["zones"]
        ]
    return msgspec.structs.replace(whole, **amounts, parameters=parameters)


def _sentence(chosen: str, own: float, whole: float, *, alone: bool) -> str:
    if chosen == ALONE and alone:
        return "level chosen and paid for before anything of the data was seen: no other level was made of it"
    if chosen == ALONE:
        return (
            f"level chosen without looking at the data: its own epsilon, {in_full(own)}, holds for everyone who sees "
            f"this level alone; whoever saw all levels saw epsilon = {in_full(whole)}"
        )
    if chosen == SLIDER:
        return "level chosen by looking at the slider: the promise is that of the least private level shown"
    if chosen == LATER:
        return "level chosen after other releases of the same data: the promise is the sum of all of them"
    return NOT_COVERED


def weaker(rate: float, epsilon: float) -> float:
    """ln(1 + q(e^ε - 1)): what a row that is kept at the rate q is promised, rounded up."""
    odds = _UP.subtract(_UP.next_plus(_UP.exp(Decimal(str(epsilon)))), Decimal(1))
    inside = _UP.add(_UP.multiply(Decimal(str(rate)), odds), Decimal(1))
    return float_at_least(Fraction(_UP.next_plus(_UP.ln(inside))))


def expected(found: LevelSet, level: int) -> dict[str, Any]:
    """Plain numbers. `rows_error` is what noise exceeds in one case of twenty; None with zones, for their coins."""
    boxes, strength = found.boxes(level), float(found.strength(level))
    stand = boxes.stands
    sides, weights = boxes.widths[stand].max(axis=1), np.maximum(boxes.counts[stand], 0)
    order = np.argsort(sides)
    middle = sides[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]  # of the rows that stand out
    finest, whole = 2 / found.per_axis, 2 * found.domain.reach  # a column that counts less is no wider than its range
    return {
        "rows_noisy": max(0, round(found.rows(level))),
        "rows_error": None if found.zoned else tail_of_two(float(found.rows_epsilon), 0.05),  # inside and outside
        "cell_size": (np.minimum(middle, whole) * found.domain.unit).tolist(),
        "finest_cell": (np.minimum(finest, whole) * found.domain.unit).tolist(),
        "points": int(stand.sum()),
        "rows_standing_out": float(boxes.counts[stand].sum()),
        "smallest_that_stands_out": smallest(found.per_axis**found.domain.dimension, strength),
    }


def smallest(cells: int, strength: float) -> int:
    """About how many rows one cell of the finest size needs to stand out of the noise of all cells."""
    return math.ceil(math.log(max(4, cells)) / strength)


def _in_words(found: LevelSet, widths: list[float]) -> str:
    """The size of a cell: in metres on a map, else in the units of the columns."""
    names, middle = found.domain.columns or (), found.domain.middle
    if metres_of_half(names, middle, found.domain.half) is None:  # no map, or called so without being one
        return " by ".join(plain(width) for width in widths)
    east, north = find_axes(names)
    across = widths[east] * METRES * math.cos(math.radians(min(89.0, abs(middle[north]))))
    return " by ".join(map(length, (across, widths[north] * METRES)))


def meaning(found: LevelSet, level: int) -> str:
    """One or two plain sentences. Whoever has seen several levels has not seen this one alone: both are told."""
    own, alone = found.levels[level], len(found.levels) == 1
    numbers = expected(found, level)
    size = _in_words(found, numbers["cell_size"])
    least = f"a smallest cell shows up from about {counted(numbers['smallest_that_stands_out'], 'row')}"
    least += ", more in zones" if found.zoned else ""
    if numbers["points"] > 1:
        seen = f"Places about {size} in size are told apart, and {least}."
    elif len(found.boxes(level).counts) > 1:
        noise = ", and noise alone may have made it" if _may_be_noise(found, level) else ""
        seen = f"Only one place stands out, about {size} in size{noise}; {least}."
    else:
        seen = "Nothing stands out of the noise: all that is told is about how many rows there are."
    what = "is shown by a factor of" if alone else f"all levels show by a factor of at most {factor_of(found.epsilon)}"
    rest = "" if alone else ", and of what this one alone shows by"
    return (
        f"{seen} Whether {anyone(found.certificate.person)} is in the data changes the chance of what {what}{rest} "
        f"at most {factor_of(own.epsilon)}."
    )


def _may_be_noise(found: LevelSet, level: int) -> bool:
    """Whether the only box that stands out has a count that noise may well reach in some box of its size."""
    boxes = found.boxes(level)
    [one] = np.flatnonzero(boxes.stands)
    log = math.log(max(4.0, float((2 / boxes.widths[one]).prod())))
    single = log / float(found.strength(level)) / float(found.rates.min())
    return bool(boxes.counts[one] < SURE * max(math.sqrt(2 * log * boxes.variances[one]), single))


def anyone(person: str) -> str:
    """Whose presence is hidden, in a sentence."""
    return "any one row" if person == str(Person()) else f"any one person ({person})"
