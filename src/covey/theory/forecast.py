"""What `auto` can be expected to reach for a given n, d, k and ε, before any row is read, and the ε that a wish needs.

The forecast is a regression on fits of made-up data (benchmarks/plan.py; results/plan.json), not a promise: how hard
data is to cluster depends on the data, and the range says by how much. Never reads rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from covey.algorithms.auto.auto import MOST_TREE_DIMENSIONS
from covey.checks import whole_number
from covey.errors import ParameterError
from covey.public import Neighbours

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-4, 10.0  # of an answer: beyond 10 a promise is hardly one
LARGEST_SIZE = 1e12
WISHES = {"cost": "error", "size": "size_error", "place": "place_error"}  # what is forecast, and a wish for it
MEASURES = tuple(WISHES)
QUANTILES = ("0.1", "0.5", "0.9")
BEND = 100  # n·epsilon/k where lines may bend: below, whole clusters drown in noise
LEAST, MOST = 1e-4, 400.0  # of any error: smaller and larger ones are not told apart
Say = Callable[[float], str]  # a share in the words of whoever asked


class Expected(NamedTuple):
    """An error, as a share."""

    low: float  # a tenth of the made-up fits were better than this
    middle: float  # half of them were better
    high: float  # a tenth were worse


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The errors to expect of the centres of `auto`."""

    n: float
    d: int
    k: int
    epsilon: float
    delta: float | None
    neighbours: str
    route: str  # what `auto` does there
    why: str
    cost: Expected  # what the centres cost beyond ordinary k-means: 0.05 is 5% more
    size: Expected  # nine of ten noisy sizes are within this share of n/k rows
    place: Expected  # nine of ten centres are within this share of the domain's width of where k-means puts them
    found: float  # the share of the clusters of ordinary k-means that have a centre; places are of those
    measured: bool  # whether sets of this kind were measured, or the forecast goes beyond them


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The least epsilon, or number of rows, by the forecast; three digits, rounded up."""

    usual: float  # at which half of the made-up fits kept the wish
    nearly_sure: float | None  # at which nine of ten did; None: at no usual one


def forecast(
    *, n: float, d: int, k: int, epsilon: float, delta: float | None = None, neighbours: str = "add-remove"
) -> Forecast:
    """What to expect of `auto` for n rows in d columns and k centres."""
    d, k = _check(n=n, d=d, k=k, epsilon=epsilon, delta=delta)
    relation = Neighbours.parse(neighbours)
    strength = epsilon / (2 if relation is Neighbours.REPLACE_ONE else 1)  # replacing doubles the noise of most parts
    route, why = _route(d, delta)
    model = _model()[route]
    seen = features(n=n, d=d, k=k, epsilon=strength)
    cost, size, place = (_expected(model[what], seen, model["ranges"]) for what in MEASURES)
    return Forecast(
        n=n,
        d=d,
        k=k,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        route=route,
        why=why,
        cost=cost,
        size=size,
        place=place,
        found=(1 + math.tanh(_line(model["found"], seen, model["ranges"]) / 2)) / 2,  # the logistic curve
        measured=all(start <= x <= end for x, (start, end) in zip(seen, model["ranges"], strict=True)),
    )


def smallest_epsilon(*, what: str, most: float, say: Say = "{:.2%}".format, **shape: Any) -> Answer:
    """The smallest epsilon at which an error, "cost", "size" or "place", is forecast to be at most this share."""

    def errors(epsilon: float) -> Expected:
        found: Expected = getattr(forecast(epsilon=epsilon, **shape), what)
        return found

    where = f"with {shape['n']:,.0f} rows at any usual epsilon; the best is {{}} at epsilon {LARGEST_EPSILON:g}"
    return _answer(errors, what, most, (SMALLEST_EPSILON, LARGEST_EPSILON), where, say)


def smallest_n(*, what: str, most: float, say: Say = "{:.2%}".format, **shape: Any) -> Answer:
    """The smallest number of rows at which an error is forecast to be at most this share."""

    def errors(n: float) -> Expected:
        found: Expected = getattr(forecast(n=n, **shape), what)
        return found

    where = f"at epsilon {shape['epsilon']:g} with any usual number of rows; the best is {{}} with {LARGEST_SIZE:g}"
    return _answer(errors, what, most, (float(shape["k"]), LARGEST_SIZE), where, say)


def features(*, n: float, d: int, k: int, epsilon: float) -> list[float]:
    """What the forecast looks at: logarithms of the budget per cluster, up to a bend and beyond it, of k and of d."""
    budget, bend = math.log(n * epsilon / k), math.log(BEND)
    return [min(budget, bend), max(0.0, budget - bend), math.log(k), math.log(d)]


def _route(d: int, delta: float | None) -> tuple[str, str]:
    if d <= MOST_TREE_DIMENSIONS:
        return (
            "tree",
            f"with up to {MOST_TREE_DIMENSIONS} columns, a private tree of boxes in the whole space; no delta",
        )
    if delta is None:
        return "subspace, pure", "with more columns, a private tree in a subspace of columns; no delta was given"
    return "subspace", "with more columns, a private tree in a private subspace, then rounds of noisy averages"


@cache
def _model() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("covey.theory").joinpath("forecast.json").read_text())
    return found


def _expected(lines: dict[str, list[float]], seen: list[float], ranges: list[list[float]]) -> Expected:
    logs = (_line(lines[which], seen, ranges) for which in QUANTILES)
    low, middle, high = (math.exp(min(max(each, math.log(LEAST)), math.log(MOST))) for each in logs)
    return Expected(min(low, middle), middle, max(middle, high))


def _line(line: list[float], seen: list[float], ranges: list[list[float]]) -> float:
    """What a line gives; k and d are kept within what was measured, the budget is not."""
    kept = [min(max(x, start), end) for x, (start, end) in zip(seen[2:], ranges[2:], strict=True)]
    return sum(a * b for a, b in zip(line, [1.0, *seen[:2], *kept], strict=True))


def _answer(
    errors: Callable[[float], Expected], what: str, most: float, ends: tuple[float, float], where: str, say: Say
) -> Answer:
    """By halving: what is forecast falls from the first end to the second."""
    if not isinstance(most, int | float) or not 0 < most < math.inf:
        raise ParameterError(WISHES[what], "must be a share above 0, such as 5% or 0.05")
    best = errors(ends[1])
    if best.middle > most:
        raise ParameterError(WISHES[what], f"cannot be reached {where.format(say(best.middle))}")
    return Answer(
        usual=_least(lambda x: errors(x).middle <= most, *ends),
        nearly_sure=_least(lambda x: errors(x).high <= most, *ends) if best.high <= most else None,
    )


def _least(reached: Callable[[float], bool], low: float, high: float) -> float:
    if reached(low):
        return low
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    digits = 2 - math.floor(math.log10(high))
    return math.ceil(high * 10**digits) / 10**digits


def _check(*, n: float, d: int, k: int, epsilon: float, delta: float | None) -> tuple[int, int]:
    """d and k as plain whole numbers, or an error that names what is wrong."""
    if not isinstance(n, int | float) or not 1 <= n <= LARGEST_SIZE * 1000:
        raise ParameterError("n", "must be a number of rows, at least 1")
    d, k = (whole_number(name, value, least=1, most=100_000) for name, value in (("d", d), ("k", k)))
    if k > n:
        raise ParameterError("k", "must be at most n: there are not as many rows as clusters")
    if not isinstance(epsilon, int | float) or not 0 < epsilon <= 10_000:
        raise ParameterError("epsilon", "must be a positive number, at most 10000")
    if delta is not None and not 0 < delta < 1:
        raise ParameterError("delta", "must be above 0 and below 1, or left out")
    return d, k
