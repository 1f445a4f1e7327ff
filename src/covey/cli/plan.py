"""`covey plan`: what an epsilon can buy, and the epsilon that a wish needs, before any data is touched."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from covey.errors import ParameterError, need
from covey.text import paragraph, show_table

if TYPE_CHECKING:
    from covey.theory.forecast import Answer, Expected, Forecast
    from covey.theory.limits import Bound

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
METRES = {"m": 1.0, "km": 1000.0}
WORDS = {"cost": "An extra cost", "size": "A size error", "place": "A place error"}


def _whole(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(name, "must be a number, such as 100000 or 1e5") from None


def _amount(name: str, text: str, units: Sequence[str], example: str) -> tuple[float, str]:
    """A positive number and its unit."""
    number, unit = re.fullmatch(r"\s*(.*?)\s*([a-zA-Z]*|%)\s*", text).groups()  # type: ignore[union-attr]
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or unit not in units:
        raise ParameterError(name, f"{text!r} is not of the form {example}")
    return value, unit


def _share(name: str, text: str) -> float:
    """`5%` or `0.05`."""
    value, unit = _amount(name, text, ("%", ""), "5% or 0.05")
    if not unit and value >= 1:
        raise ParameterError(name, f"{text} would be {value:.0%}: for {text}% write {text}%")
    return value / 100 if unit else value


def _width(extent: str | None, bounds: Sequence[str], columns: int) -> float | None:
    """The longest side of the domain in metres, if it was told."""
    if extent is not None:
        value, unit = _amount("extent", extent, tuple(METRES), "30km or 800m")
        return value * METRES[unit]
    if not bounds:
        return None
    from covey.cli.options import read_bounds
    from covey.geo.geojson import find_axes, is_map
    from covey.public import Box
    from covey.published.sentences import METRES as DEGREE

    box = read_bounds(bounds, None)
    names = box.columns or ()
    if not isinstance(box, Box) or not len(names) == columns == 2 or not (is_map(names) or is_map(names[::-1])):
        raise ParameterError(
            "bounds", "tell a width in metres for -d 2 and columns such as lon and lat; else give --extent 30km"
        )
    (west, right), (south, top) = (box.ranges[axis] for axis in find_axes(names))
    nearest = 0.0 if south <= 0 <= top else min(abs(south), abs(top))  # to the equator, where a degree is longest
    return max((right - west) * DEGREE * math.cos(math.radians(min(nearest, 89.0))), (top - south) * DEGREE)


def _place(text: str, width: float | None) -> float:
    """`300m`, `1.5km` or `2%`, as a share of the domain's width."""
    value, unit = _amount("place_error", text, ("m", "km", "%", ""), "300m, 1.5km or 2% (of the domain's width)")
    if unit not in METRES:
        return _share("place_error", text)
    if width is None:
        raise ParameterError(
            "place_error",
            f"{text} needs the size of the domain: add --extent 30km (its longest side) or --bounds lon=LOW:HIGH,"
            "lat=LOW:HIGH, or give a share of its width, such as 2%",
        )
    return value * METRES[unit] / width


def _percent(share: float) -> str:
    """Two digits: 0.034%, 4.7%, 230%."""
    if share > 10:
        return "over 1000%"
    return f"{_least(share)}{float(f'{100 * share:.2g}'):.12g}%"


def _far(share: float, width: float | None) -> str:
    """A distance, in metres if the domain's width is known."""
    if width is None:
        return _percent(share)
    metres = float(f"{min(share, 1) * width:.2g}")
    return _least(share) + (f"{metres:.12g} m" if metres < 1000 else f"{metres / 1000:.12g} km")


def _least(share: float) -> str:
    """A sign before what the forecast does not tell from smaller errors."""
    from covey.theory.forecast import LEAST

    return "<" if share < LEAST * 1.001 else ""


def _floor(row: Forecast) -> Bound | None:
    """The lower bound of AAAI'21 at the first epsilon of the table, for which the theorems hold up to 1."""
    from covey.theory.limits import clustering_floor, pure_clustering_floor

    if row.epsilon >= 1:
        return None
    if row.delta is None:
        return pure_clustering_floor(k=row.k, d=row.d, epsilon=row.epsilon)
    return clustering_floor(k=row.k, epsilon=row.epsilon, delta=row.delta)


@click.command()
@click.option("--n", "size", required=True, metavar="N", help="How many rows there are, about: 1e6.")
@click.option("-d", "columns", required=True, type=int, metavar="D", help="How many columns are clustered.")
@click.option("-k", "clusters", required=True, type=int, metavar="K", help="How many centres are wanted.")
@click.option(
    "--epsilon", type=float, metavar="E", help="The privacy you have in mind; without it, a table of several."
)
@click.option("--delta", type=float, metavar="D", help="The exceptional chance; helps in more than 4 columns.")
@click.option("--error", metavar="SHARE", help="The extra cost you accept: 5% above ordinary k-means.")
@click.option("--size-error", metavar="SHARE", help="How wrong sizes may be: 5% of a typical cluster's rows.")
@click.option("--place-error", metavar="LENGTH", help="How far off centres may be: 300m, 2km, or 2% of the width.")
@click.option("--extent", metavar="LENGTH", help="The longest side of the domain, for metres: 30km.")
@click.option("--bounds", multiple=True, metavar="RANGES", help="Instead: lon=-74.1:-73.9,lat=40.7:40.9.")
@click.option("--neighbours", default="add-remove", show_default=True, metavar="NAME", help="Or replace-one.")
@click.option("--json", "as_json", is_flag=True, help="Print the forecast as JSON.")
@click.option("--plot", metavar="FILE", help="Draw the expected errors against epsilon, as PNG.")
def plan(
    *,
    size: str,
    columns: int,
    clusters: int,
    epsilon: float | None,
    delta: float | None,
    error: str | None,
    size_error: str | None,
    place_error: str | None,
    extent: str | None,
    bounds: Sequence[str],
    neighbours: str,
    as_json: bool,
    plot: str | None,
) -> None:
    """What to expect of `auto` for N rows, D columns and K centres, and the epsilon that a wish needs.

    Reads no data and costs nothing.

    \b
    Examples:
      covey plan --n 1e5 -d 2 -k 10 --error 5%
      covey plan --n 1e5 -d 2 -k 10 --size-error 5% --place-error 300m --extent 30km
    """
    from covey.theory.forecast import forecast

    shape: dict[str, Any] = {"n": _whole("n", size), "d": columns, "k": clusters}
    shape |= {"delta": delta, "neighbours": neighbours}
    wanted = EPSILONS if epsilon is None else tuple(sorted({epsilon, epsilon / 2, epsilon / 10}, reverse=True))
    table = [forecast(**shape, epsilon=each) for each in wanted]
    width = _width(extent, bounds, columns)
    wishes: dict[str, float] = {}
    if error is not None:
        wishes["cost"] = _share("error", error)
    if size_error is not None:
        wishes["size"] = _share("size_error", size_error)
    if place_error is not None:
        wishes["place"] = _place(place_error, width)
    answers = {what: _needs(what, most, shape, epsilon, width) for what, most in wishes.items()}
    if plot is not None:
        need("plot", "--plot: a picture")
        from covey.files import write_whole
        from covey.theory.draw import forecast_plot

        write_whole(plot, forecast_plot(table[0], wishes=wishes, width=width))
    if as_json:
        click.echo(json.dumps(_document(table, wishes, answers, width), indent=2))
        return
    asked = [forecast(**shape, epsilon=each["epsilon"].usual) for each in answers.values()]
    _tell(table, width)
    if not all(row.measured for row in (*table, *asked)):
        click.echo("Some of this lies beyond what was measured: take it with caution.")
    for what, most in wishes.items():
        wish = _far(most, width) if what == "place" else _percent(most)
        click.echo(paragraph(f"{WORDS[what]} of at most {wish} should need {_in_words(answers[what], epsilon)}"))


def _needs(
    what: str, most: float, shape: dict[str, Any], epsilon: float | None, width: float | None
) -> dict[str, Answer]:
    """The epsilon for these rows and, where an epsilon is given, the rows for it."""
    from covey.theory.forecast import smallest_epsilon, smallest_n

    def say(share: float) -> str:
        return _far(share, width) if what == "place" else _percent(share)

    found = {"epsilon": smallest_epsilon(what=what, most=most, say=say, **shape)}
    if epsilon is not None:
        others = {name: value for name, value in shape.items() if name != "n"}
        found["n"] = smallest_n(what=what, most=most, say=say, epsilon=epsilon, **others)
    return found


def _document(
    table: list[Forecast], wishes: dict[str, float], answers: dict[str, dict[str, Answer]], width: float | None
) -> dict[str, Any]:
    floor = _floor(table[0])
    return {
        "forecast": [
            {**asdict(row), **{what: getattr(row, what)._asdict() for what in WORDS}, "width": width} for row in table
        ],
        "limit": None if floor is None else asdict(floor),
        "answers": {
            what: {"most": most, **{name: asdict(each) for name, each in answers[what].items()}}
            for what, most in wishes.items()
        },
    }


def _tell(table: list[Forecast], width: float | None) -> None:
    first = table[0]
    click.echo(f"auto would take: {first.route}. Why: {first.why}.")

    def cell(found: Expected, *, place: bool = False) -> str:
        low, middle, high = (_far(each, width) if place else _percent(each) for each in found)
        return f"{middle} ({low} to {high})"

    show_table(
        ["epsilon", "expected extra cost", "size error", "place error", "found"],
        [
            [f"{row.epsilon:g}", cell(row.cost), cell(row.size), cell(row.place, place=True), f"{row.found:.0%}"]
            for row in table
        ],
    )
    share = "" if width is not None else " (a share of the domain's width)"
    click.echo(
        paragraph(
            "Extra cost: beyond ordinary k-means. Nine of ten sizes are within the size error, a share of n/k = "
            f"{first.n / first.k:,.0f} rows. Nine of ten centres are within the place error{share} of where ordinary "
            "k-means puts them, of those clusters that are found at all. From fits of made-up data; in brackets, "
            "8 of 10 of them."
        )
    )
    if (floor := _floor(first)) is not None:
        click.echo(f"What nobody can beat: {floor.statement} ({floor.source}; here about {floor.value:,.0f}·Δ²).")


def _in_words(found: dict[str, Answer], epsilon: float | None) -> str:
    needed = found["epsilon"]
    sure = "no usual epsilon is enough" if needed.nearly_sure is None else f"{needed.nearly_sure:g}"
    words = f"epsilon {needed.usual:g}; to be nearly sure, {sure}."
    if (rows := found.get("n")) is None:
        return words
    sure = "no usual number is enough" if rows.nearly_sure is None else f"{rows.nearly_sure:,.0f}"
    return f"{words} At epsilon {epsilon:g} it should need {rows.usual:,.0f} rows; to be nearly sure, {sure}."
