"""What an epsilon can buy, and the epsilon that a wish needs, before any data is touched: `covey plan` and its twin."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from covey.checks import positive
from covey.errors import ParameterError
from covey.geo.geojson import METRES as DEGREE
from covey.geo.geojson import find_axes, is_map
from covey.public import Box
from covey.text import aligned, paragraph
from covey.theory.forecast import LEAST, WISHES, Answer, Expected, Forecast, forecast, smallest_epsilon, smallest_n
from covey.theory.limits import Bound, clustering_floor, pure_clustering_floor
from covey.theory.questions import HEADERS as MORE
from covey.theory.questions import Questions, remark
from covey.theory.questions import questions as ask

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
SHARE = "5% or 0.05"
METRES = {"m": 1.0, "km": 1000.0}
WORDS = {"cost": "An extra cost", "size": "A size error", "place": "A place error"}
HEADERS = ("epsilon", "expected extra cost", "size error", "place error", "found")


@dataclass(frozen=True, kw_only=True)
class Need:
    """What a wish needs by the forecast: `epsilon` for these rows and, where an epsilon was given, rows `n` for it."""

    most: float  # the wish, as a share
    epsilon: Answer
    n: Answer | None = None


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What to expect of a fit that was not made. `print(outlook)` says it as `covey plan` does.

    Parameters
    ----------
    forecasts : tuple of Forecast
        The errors to expect at each epsilon: `cost`, `size` and `place`, each with `low`, `middle` and `high`.
    needs : dict of str to Need
        What the wishes need: of "cost", "size" and "place" those that were given.
    epsilon : float or None
        The epsilon that was given, if one was.
    width : float or None
        The longest side of the domain in metres, if it was told; places are shares of it.
    limit : Bound or None
        What nobody can beat, at the first epsilon.
    questions : tuple of Questions
        What private bounds, scores and a profile cost and tell at each epsilon, if that was asked.
    columns : int or None
        Of how many columns the profile is.
    """

    forecasts: tuple[Forecast, ...]
    needs: Mapping[str, Need]
    epsilon: float | None
    width: float | None
    limit: Bound | None
    questions: tuple[Questions, ...] = ()
    columns: int | None = None

    def document(self) -> dict[str, Any]:
        """All of it as plain data: what `covey plan --json` prints."""
        return {
            "forecast": [
                {**asdict(row), **{what: getattr(row, what)._asdict() for what in WORDS}, "width": self.width}
                for row in self.forecasts
            ],
            "limit": None if self.limit is None else asdict(self.limit),
            "answers": {
                what: {name: value for name, value in asdict(need).items() if value is not None}
                for what, need in self.needs.items()
            },
            **({"questions": [asdict(each) for each in self.questions]} if self.questions else {}),
        }

    def table(self) -> list[list[str]]:
        """The forecasts in words, one line for each epsilon, under HEADERS."""
        return [
            [f"{row.epsilon:g}", *(self._cell(what, getattr(row, what)) for what in WORDS), f"{row.found:.0%}"]
            for row in self.forecasts
        ]

    def further(self) -> list[list[str]]:
        """What further questions cost and tell, one line for each epsilon, under `theory.questions.HEADERS`."""
        return [each.line() for each in self.questions]

    def meaning(self) -> str:
        """What that table means."""
        return paragraph(remark(self.columns or 1, self.forecasts[0]))

    def opening(self) -> str:
        first = self.forecasts[0]
        return f"auto would take: {first.route}. Why: {first.why}."

    def remarks(self) -> list[str]:
        """What the table means, what nobody can beat, and what the wishes need: a paragraph each."""
        first = self.forecasts[0]
        share = "" if self.width is not None else " (a share of the domain's width)"
        said = [
            paragraph(
                "Extra cost: beyond ordinary k-means. Nine of ten sizes are within the size error, a share of n/k = "
                f"{first.n / first.k:,.0f} rows. Nine of ten centres are within the place error{share} of where "
                "ordinary k-means puts them, of those clusters that are found at all. From fits of made-up data; in "
                "brackets, 8 of 10 of them."
            )
        ]
        if (floor := self.limit) is not None:
            where = "What nobody can beat, however many rows there are"
            said.append(paragraph(f"{where}: {floor.statement}, with Δ the domain's diameter ({floor.source})."))
        shape = {name: getattr(first, name) for name in ("n", "d", "k", "delta", "neighbours")}
        asked = [forecast(**shape, epsilon=need.epsilon.usual) for need in self.needs.values()]
        if not all(row.measured for row in (*self.forecasts, *asked)):
            said.append("Some of this lies beyond what was measured: take it with caution.")
        for what, need in self.needs.items():
            wish = _say(what, need.most, self.width)
            said.append(paragraph(f"{WORDS[what]} of at most {wish} should need {self._needed(need)}"))
        return said

    def _cell(self, what: str, found: Expected) -> str:
        low, middle, high = (_say(what, each, self.width) for each in found)
        return f"{middle} ({low} to {high})"

    def _needed(self, need: Need) -> str:
        sure = need.epsilon.nearly_sure
        nearly = "no usual epsilon is enough" if sure is None else f"{sure:g}"
        words = f"epsilon {need.epsilon.usual:g}; to be nearly sure, {nearly}."
        if need.n is None:
            return words
        sure = need.n.nearly_sure
        nearly = "no usual number is enough" if sure is None else f"{sure:,.0f}"
        return (
            f"{words} At epsilon {self.epsilon:g} it should need {need.n.usual:,.0f} rows; to be nearly sure, {nearly}."
        )

    def __str__(self) -> str:
        further = [] if self.columns is None else [*aligned(MORE, self.further()), self.meaning()]
        return "\n".join([self.opening(), *aligned(HEADERS, self.table()), *self.remarks(), *further])


def plan(
    n: float,
    d: int,
    k: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    error: float | str | None = None,
    size_error: float | str | None = None,
    place_error: float | str | None = None,
    extent: float | str | None = None,
    bounds: Box | Mapping[str, Sequence[float]] | None = None,
    neighbours: str = "add-remove",
    questions: int | None = None,
) -> Outlook:
    """What to expect of the default algorithm, and the epsilon that a wish needs: `covey plan` from Python.

    Reads no data and costs nothing: a forecast from fits of made-up data (docs/guide/choosing.md).

    Parameters
    ----------
    n : float
        About how many rows there are.
    d : int
        How many columns are clustered.
    k : int
        How many centres are wanted.
    epsilon : float or None, default=None
        The privacy that you have in mind: then also a half and a tenth of it are forecast, and wishes are answered with
        a number of rows too. None forecasts five usual ones.
    delta : float or None, default=None
        That of the promise; it helps in more than 4 columns.
    error : float, str or None, default=None
        A wish: the extra cost that you accept over ordinary k-means, 0.05 or "5%".
    size_error : float, str or None, default=None
        A wish: how wrong nine of ten sizes may be, as a share of n/k rows.
    place_error : float, str or None, default=None
        A wish: how far off nine of ten centres may be: "300m", "1.5km", or 0.02 or "2%" of the domain's longest side.
    extent : float, str or None, default=None
        The longest side of the domain, "30km", or in metres: places are then told in metres.
    bounds : Box, dict or None, default=None
        Instead of `extent`, the bounds of a map: {"lon": (-74.1, -73.9), "lat": (40.7, 40.9)}.
    neighbours : {'add-remove', 'replace-one'}, default='add-remove'
        What is hidden, as for `KMeans`.
    questions : int or None, default=None
        Also what private bounds, scores and a profile of so many columns cost and tell.

    Returns
    -------
    Outlook
        Forecasts and answers; `print` shows them in words.

    Examples
    --------
    >>> import covey
    >>> outlook = covey.plan(1e5, 2, 10, error="5%", place_error="300m", extent="30km")
    >>> 0 < outlook.needs["cost"].epsilon.usual < 1
    True
    >>> outlook.forecasts[-1].cost.middle < outlook.forecasts[0].cost.middle  # a larger epsilon, a smaller error
    True
    """
    if epsilon is not None:
        positive("epsilon", epsilon)
    shape: dict[str, Any] = {"n": n, "d": d, "k": k, "delta": delta, "neighbours": neighbours}
    wanted = EPSILONS if epsilon is None else tuple(sorted({epsilon, epsilon / 2, epsilon / 10}, reverse=True))
    table = tuple(forecast(**shape, epsilon=each) for each in wanted)
    width = _width(extent, bounds, d)
    given = {"cost": error, "size": size_error, "place": place_error}
    wishes = {what: _wish(what, value, width) for what, value in given.items() if value is not None}
    needs = {what: _needs(what, most, shape, epsilon, width) for what, most in wishes.items()}
    return Outlook(
        forecasts=table,
        needs=needs,
        epsilon=epsilon,
        width=width,
        limit=_floor(table[0]),
        questions=() if questions is None else tuple(ask(row, questions) for row in table),
        columns=questions,
    )


def _needs(what: str, most: float, shape: dict[str, Any], epsilon: float | None, width: float | None) -> Need:
    def say(share: float) -> str:
        return _say(what, share, width)

    least = smallest_epsilon(what=what, most=most, say=say, **shape)
    if epsilon is None:
        return Need(most=most, epsilon=least)
    others = {name: value for name, value in shape.items() if name != "n"}
    return Need(most=most, epsilon=least, n=smallest_n(what=what, most=most, say=say, epsilon=epsilon, **others))


def _amount(name: str, given: float | str, units: Sequence[str], example: str) -> tuple[float, str]:
    """A positive number and its unit."""
    number, unit = re.fullmatch(r"\s*(.*?)\s*([a-zA-Z]*|%)\s*", str(given)).groups()  # type: ignore[union-attr]
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or unit not in units:
        raise ParameterError(name, f"{str(given)!r} is not of the form {example}")
    return value, unit


def _wish(what: str, given: float | str, width: float | None) -> float:
    """`5%` or 0.05; of a place also `300m` or `1.5km`, as a share of the domain's width."""
    name = WISHES[what]
    units, example = (tuple(METRES), "300m, 1.5km or 2% (of the domain's width)") if what == "place" else ((), SHARE)
    value, unit = _amount(name, given, (*units, "%", ""), example)
    if not unit and value >= 1:
        raise ParameterError(name, f"{given} would be {value:.0%}: for {given}% write {given}%")
    if unit in METRES and width is None:
        raise ParameterError(
            name,
            f"{given} needs the size of the domain: add `extent='30km'` (its longest side) or "
            "`bounds={'lon': (LOW, HIGH), 'lat': (LOW, HIGH)}`, or give a share of its width, such as 2%",
        )
    return value * METRES[unit] / width if unit in METRES and width is not None else value / (100 if unit else 1)


def _width(extent: float | str | None, bounds: Any, columns: int) -> float | None:
    """The longest side of the domain in metres, if it was told."""
    if extent is not None:
        metres = f"{extent}m" if isinstance(extent, int | float) else extent
        value, unit = _amount("extent", metres, tuple(METRES), "30km or 800m")
        return value * METRES[unit]
    if bounds is None:
        return None
    box = Box.of(bounds) if isinstance(bounds, Mapping) else bounds
    names = getattr(box, "columns", None) or ()
    if not isinstance(box, Box) or not len(names) == columns == 2 or not (is_map(names) or is_map(names[::-1])):
        what = "tell a width in metres for 2 columns with names such as lon and lat; else give `extent='30km'`"
        raise ParameterError("bounds", what)
    (west, right), (south, top) = (box.ranges[axis] for axis in find_axes(names))
    nearest = 0.0 if south <= 0 <= top else min(abs(south), abs(top))  # to the equator, where a degree is longest
    return max((right - west) * DEGREE * math.cos(math.radians(min(nearest, 89.0))), (top - south) * DEGREE)


def _say(what: str, share: float, width: float | None) -> str:
    """Two digits: 0.034%, 4.7%, 230%; a distance in metres if the domain's width is known."""
    least = "<" if share < LEAST * 1.001 else ""  # before what the forecast does not tell from smaller errors
    share = min(share, 1.0) if what == "place" else share  # of the width: no centre is farther off
    if what == "place" and width is not None:
        metres = float(f"{share * width:.2g}")
        return least + (f"{metres:.12g} m" if metres < 1000 else f"{metres / 1000:.12g} km")
    return "over 1000%" if share > 10 else f"{least}{float(f'{100 * share:.2g}'):.12g}%"


def _floor(row: Forecast) -> Bound | None:
    """The lower bound of AAAI'21 at the first epsilon of the table, for which the theorems hold up to 1."""
    if row.epsilon >= 1:
        return None
    if row.delta is None:
        return pure_clustering_floor(k=row.k, d=row.d, epsilon=row.epsilon)
    return clustering_floor(k=row.k, epsilon=row.epsilon, delta=row.delta)
