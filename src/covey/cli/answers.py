"""What `covey query` answers: as a table for people, and as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from covey.text import how_many, paragraph, show_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from covey.post.distances import Objective
    from covey.published.coreset.compare import Alternative
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release

BRACKET = (
    "The two ends are a bracket: the true number lies between them if rows are spread about the points of the coreset "
    "as is taken, within the noise. How often it does was measured only for the k-means cost of the centres that a "
    "coreset was made with."
)


def answers(
    points: Coreset, objective: str, rows: list[Alternative], found: Release | None, speed: float | None
) -> dict[str, Any]:
    """The answers as plain data."""
    from dataclasses import asdict

    from covey.published.coreset.answers import bracketed

    return {
        "objective": objective,
        "points": len(points),
        "rows_noisy": points.total,
        **dict(zip(("rows_low", "rows_high"), rows_interval(points) or (None, None), strict=True)),
        "bracket": bracketed(points),
        "speed_km_h": speed,
        "alternatives": [asdict(row) for row in rows],
        "release": None if found is None else json.loads(found.to_json()),
        "epsilon": points.certificate.epsilon,
        "delta": points.certificate.delta,
        "statement": points.certificate.statement,
    }


def show_answers(
    points: Coreset,
    objective: str,
    rows: list[Alternative],
    *,
    sets: Mapping[str, Sequence[Any]],
    metres: bool,
    speed: float | None,
    scaled: bool,
) -> None:
    """How far rows are from each set of centres, the best first; what noise keeps from being told, or told apart.

    scaled : what they cost too, as it is measured.
    """
    from covey.published.coreset.answers import bracketed

    limited = any(not row.admissible for row in rows)
    square = objective == "k-means" and not metres
    columns: dict[str, Sequence[object]] = {
        "centres": [row.name for row in rows],
        "sites": [len(sets[row.name]) for row in rows],
        f"{'root mean square' if square else 'mean'} distance (noisy)": [distance(row, metres=metres) for row in rows],
    }
    if speed is not None:
        columns[f"at {speed:g} km/h as the crow flies"] = [minutes(row) for row in rows]
    best = rows[0].cost if is_told(rows[0].why) and rows[0].cost > 0 else math.nan
    share_of, bracket = None if scaled else best, bracketed(points)
    columns["cost above the best"] = [above_the_best(row, share_of, bracket=bracket) for row in rows]
    if scaled:
        columns[f"{objective} cost (noisy)"] = [told_cost(row) for row in rows]
        columns["of a row (noisy)"] = [told_mean(points, sets[row.name], objective) for row in rows]
    right = range(1, len(columns))
    if limited:
        columns["admissible"] = [f"no: {row.reason}" if row.reason else "yes" for row in rows]
    show_table(list(columns), list(zip(*columns.values(), strict=True)), right=right)
    if told := remarks(objective if scaled else None, rows, bracket=bracket):
        click.echo(f"\n{paragraph(' '.join(told))}")
    click.echo(f"\n{units(points, metres=metres, scaled=scaled)}")


def units(points: Coreset, *, metres: bool, scaled: bool) -> str:
    """What distances and costs are told in."""
    if not scaled:
        return f"Distances are {'straight over the map' if metres else 'in the units of the data'}."
    from covey.published.sentences import _which

    domain, any_release = points.certificate.domain, cast("Release", points)  # columns and a certificate are asked for
    if domain["type"] == "ball":
        return "The unit of costs is the radius of the domain, as in the fit."
    how = "columns are scaled to [-1, 1]" if "scale" not in domain else "columns count unequally"
    how = "longitude and latitude count in equal metres" if domain.get("equal_metres") is True else how
    return f"The unit of costs is half of {_which(any_release)} range: {how}, as in the fit."


def rows_interval(points: Coreset) -> tuple[float, float] | None:
    """Between which the number of rows is 9 times in 10; None where that cannot be told."""
    from covey.published.coreset.counting import rows_of

    told = rows_of(points)
    return (told.low, told.high) if told.why is None else None


def rows_in_words(points: Coreset) -> str:
    """The noisy number of rows with its interval: 4,954 rows (noisy; 4,804 to 5,104, 9 times in 10)."""
    from covey.post.errors.quantiles import LEVEL
    from covey.published.counted import rows_of, shown_ends, shown_size
    from covey.published.sentences import often

    whose = rows_of(points.certificate)
    ends, many = rows_interval(points), how_many(shown_size(points.total))
    if ends is None:
        return f"{many} {whose} (noisy; error unknown)"
    low, high = shown_ends(ends)
    return f"{many} {whose} (noisy; {low:,} to {high:,}, {often(LEVEL)})"


def is_told(why: str | None) -> bool:
    """Whether a number is shown: not where noise hides it. One whose error nobody knows is, with that remark."""
    from covey.published.coreset.answers import hidden

    return not hidden(why)


def told_cost(row: Alternative) -> str:
    return told_number(row.cost, (row.low, row.high), row.why)


def told_mean(points: Coreset, centres: ArrayLike, objective: str) -> str:
    """What a row costs on average."""
    from covey.published.coreset.answers import mean_cost

    told = mean_cost(points, centres, cast("Objective", objective))
    return told_number(told.cost, (None, None) if math.isnan(told.low) else (told.low, told.high), told.why)


def told_number(value: float, ends: tuple[float | None, float | None], why: str | None) -> str:
    """A noisy number with its ends, or that its error is not known, or nothing of it where noise hides it."""
    low, high = ends
    from covey.published.sentences import amount

    if low is None or high is None:
        return f"{amount(value)} (error unknown)" if is_told(why) else "cannot be told"
    return f"{amount(value)} ({amount(low)} to {amount(high)})"


def distance(row: Alternative, *, metres: bool) -> str:
    return _far(row, (row.way, row.way_low, row.way_high), metres=metres)


def minutes(row: Alternative) -> str:
    """How long the mean distance takes, with its interval: about 12.31 minutes (12.08 to 12.54)."""
    told = _far(row, (row.minutes, row.minutes_low, row.minutes_high), metres=False, name=" minutes")
    return f"about {told}" if row.minutes is not None and is_told(row.way_why) else told


def as_released(row: Alternative, found: Release, speed: float | None, *, metres: bool) -> Alternative:
    """The row of a release's centres with the distance that the release tells of them, if that is in the same unit."""
    from dataclasses import replace

    from covey.published.ways import METRES, METRES_IN_A_MINUTE

    told = (found.errors.distances if found.errors is not None else None) or {}
    for kind, (far, low, high) in told.items():
        if (kind == METRES) is not metres:  # of columns that --lon and --lat name, a release tells no metres
            continue
        row = replace(row, way=far, way_low=low, way_high=high, way_why=None)
        if speed is not None:
            times = 1 / (speed * METRES_IN_A_MINUTE)
            row = replace(row, minutes=far * times, minutes_low=low * times, minutes_high=high * times)
    return row


def way_of(row: Alternative, speed: float) -> str:
    """How long the distance takes."""
    return f"The way to a centre: {minutes(row)} at {speed:g} km/h as the crow flies."


def _far(row: Alternative, way: tuple[float | None, ...], *, metres: bool, name: str = "") -> str:
    from covey.published.sentences import way_words

    far, low, high = way
    if far is None or not is_told(row.way_why):
        return "cannot be told"
    unknown = " (error unknown)" if low is None or high is None else ""
    return way_words(far, low, high, metres=metres, name=name) + unknown


def above_the_best(row: Alternative, best: float | None, *, bracket: bool = True) -> str:
    """By how much a set costs more than the best one.

    best : what that costs, for a share of it; nan where noise hides it, None for what is measured. bracket : whether no
    difference has an interval; if others have, noise hides one that has none, be it by the cost of the best.
    """
    from covey.published.sentences import amount

    def told(value: float) -> str:
        return amount(value) if best is None else f"{amount(float(f'{100 * value / best:.3g}'))}%"

    if row.difference is None or row.tied:
        return "cannot be told apart" if row.tied else ""
    if row.difference_low is None or row.difference_high is None:
        if not is_told(row.why) or (best is not None and math.isnan(best)):
            return "cannot be told"
        if row.difference == 0:
            return told(0.0)
        return f"{told(row.difference)} (error unknown)" if bracket else "cannot be told"
    if best is not None and math.isnan(best):
        return f"{'more' if row.difference > 0 else 'less'}, by what share cannot be told"
    return f"{told(row.difference)} ({told(row.difference_low)} to {told(row.difference_high)})"


def remarks(objective: str | None, rows: list[Alternative], *, bracket: bool) -> list[str]:
    """What ends mean, and why some are missing: of distances, and of costs where these are told (objective).

    bracket : the ends of a coreset without cells, of which nobody has measured how often they hold for any centres.
    """
    from covey.post.errors.quantiles import LEVEL
    from covey.published.sentences import often

    lines = reasons(objective, rows)
    compared = any(row.tied is not None for row in rows)
    ends = any(row.way_low is not None or (objective is not None and row.low is not None) for row in rows)
    if ends or compared:
        lines.append(BRACKET if bracket else f"Each interval holds {often(LEVEL)}.")
    if compared:
        lines.append(
            "Noise moves all costs alike: differences are known better than costs, and two costs whose difference may "
            "be 0 cannot be told apart."
        )
    return lines + (["Centres that were found on this coreset look a little better than they are."] if ends else [])


def reasons(objective: str | None, rows: list[Alternative]) -> list[str]:
    """Why a distance or a cost, or how far off it is, cannot be told: each reason once.

    Where costs are not shown, what hides one is said only if that is why a difference is missing.
    """
    from covey.published.sentences import cost_untold

    ways, costs = (dict.fromkeys(each for each in whys if each is not None) for whys in _whys(rows))
    if objective is None:
        costs = {why: None for why in costs if not is_told(why) and why not in ways}
    lines = []
    for why in {**ways, **costs}:
        names = (["distance"] if why in ways else []) + ([f"{objective or ''} cost".strip()] if why in costs else [])
        what = " and the ".join(names)
        lines.append(cost_untold(f"How far off the {what} may be" if is_told(why) else f"The {what}", why))
    return lines


def _whys(rows: list[Alternative]) -> tuple[list[str | None], list[str | None]]:
    return [row.way_why for row in rows], [row.why for row in rows]
