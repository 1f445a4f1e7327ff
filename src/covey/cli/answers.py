"""What `covey query` answers: as a table for people, and as plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from covey.text import paragraph, show_table

if TYPE_CHECKING:
    from covey.published.coreset.compare import Alternative
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release


def answers(
    points: Coreset, objective: str, rows: list[Alternative], found: Release | None, speed: float | None
) -> dict[str, Any]:
    """The answers as plain data."""
    from dataclasses import asdict

    return {
        "objective": objective,
        "points": len(points),
        "rows_noisy": points.total,
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
    sizes: dict[str, int],
    metres: bool,
    speed: float | None,
    scaled: bool,
) -> None:
    """How far rows are from each set of centres, the best first; what noise keeps from being told, or told apart.

    scaled : what they cost too, as it is measured.
    """
    total, limited = points.total, any(not row.admissible for row in rows)
    square = objective == "k-means" and not metres
    columns: dict[str, Sequence[object]] = {
        "centres": [row.name for row in rows],
        "sites": [sizes[row.name] for row in rows],
        f"{'root mean square' if square else 'mean'} distance (noisy)": [distance(row, metres=metres) for row in rows],
    }
    if speed is not None:
        columns[f"at {speed:g} km/h as the crow flies"] = [minutes(row) for row in rows]
    columns["cost above the best"] = [above_the_best(row, None if scaled else rows[0].cost) for row in rows]
    if scaled:
        columns[f"{objective} cost (noisy)"] = [told_cost(row) for row in rows]
        columns["of a row (noisy)"] = [
            f"{row.cost / total:.5g}" if total > 0 and is_told(row.why) else "" for row in rows
        ]
    right = range(1, len(columns))
    if limited:
        columns["admissible"] = [f"no: {row.reason}" if row.reason else "yes" for row in rows]
    show_table(list(columns), list(zip(*columns.values(), strict=True)), right=right)
    if told := remarks(objective if scaled else None, rows):
        click.echo(f"\n{paragraph(' '.join(told))}")
    click.echo(f"\n{units(points, metres=metres, scaled=scaled)}")


def units(points: Coreset, *, metres: bool, scaled: bool) -> str:
    """What distances and costs are told in."""
    if not scaled:
        return f"Distances are {'straight over the map' if metres else 'in the units of the data'}."
    ball = points.certificate.domain["type"] == "ball"
    unit = "radius of the domain" if ball else "half-width of each column's range"
    return f"The unit of costs is the {unit}: columns are scaled to [-1, 1], as in the fit."


def is_told(why: str | None) -> bool:
    """Whether a number is shown: not where noise hides it. One whose error nobody knows is, with that remark."""
    from covey.published.coreset.answers import UNKNOWN

    return why in (None, UNKNOWN)


def told_cost(row: Alternative) -> str:
    from covey.published.sentences import amount

    if row.low is None or row.high is None:
        return f"{amount(row.cost)} (error unknown)" if is_told(row.why) else "cannot be told"
    return f"{amount(row.cost)} ({amount(row.low)} to {amount(row.high)})"


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


def above_the_best(row: Alternative, best: float | None) -> str:
    """By how much a set costs more than the best one; best : what that costs, for a share of it."""
    from covey.published.sentences import amount

    def told(value: float) -> str:
        return amount(value) if best is None or best <= 0 else f"{amount(float(f'{100 * value / best:.3g}'))}%"

    if row.difference is None or row.tied:
        return "cannot be told apart" if row.tied else ""
    if row.difference_low is None or row.difference_high is None:
        return told(row.difference) if is_told(row.why) else "cannot be told"
    return f"{told(row.difference)} ({told(row.difference_low)} to {told(row.difference_high)})"


def remarks(objective: str | None, rows: list[Alternative]) -> list[str]:
    """What intervals mean, and why some are missing: of costs, where these are told, or of distances alone."""
    from covey.post.errors.quantiles import LEVEL
    from covey.published.sentences import cost_untold, often

    whys = dict.fromkeys(row.way_why if objective is None else row.why for row in rows)
    what = "How far rows are" if objective is None else f"The {objective} cost"
    lines = [cost_untold(what, why) for why in whys if why is not None]
    if any(row.low is not None or row.tied is not None for row in rows):
        lines.append(
            f"Each interval holds {often(LEVEL)}. Noise moves all costs alike: differences are known better than "
            "costs, and two costs whose difference may be 0 cannot be told apart. Centres that were found on this "
            "coreset look a little better than they are."
        )
    return lines
