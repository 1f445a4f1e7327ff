"""What `auto` can be expected to reach for a given n, d, k and ε, before any row is read.

The forecast is a regression on fits of made-up data (benchmarks/plan.py; results/plan.json), not a promise: how hard
data is to cluster depends on the data, and the range says by how much. Never reads rows.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from covey.algorithms.auto.auto import MOST_TREE_DIMENSIONS
from covey.checks import whole_number
from covey.errors import ParameterError
from covey.public import Neighbours

LARGEST_EPSILON = 100.0
LARGEST_SIZE = 1e12
_LOW, _MIDDLE, _HIGH = "0.1", "0.5", "0.9"


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The cost of private centres over that of ordinary k-means: 1.05 is 5% more."""

    n: float
    d: int
    k: int
    epsilon: float
    delta: float | None
    route: str  # what `auto` does there
    why: str
    ratio: float  # half of the made-up sets were better
    low: float  # a tenth were better than this
    high: float  # a tenth were worse than this
    measured: bool  # whether sets of this kind were measured, or the forecast goes beyond them


def forecast(
    *, n: float, d: int, k: int, epsilon: float, delta: float | None = None, neighbours: str = "add-remove"
) -> Forecast:
    """What `auto` will cost, relative to ordinary k-means, for n rows in d columns."""
    _check(n=n, d=d, k=k, epsilon=epsilon, delta=delta)
    relation = Neighbours.parse(neighbours)
    strength = epsilon / (2 if relation is Neighbours.REPLACE_ONE else 1)  # replacing doubles the noise of most parts
    route, why = _route(d, delta)
    lines, ranges = _model()[route]["quantiles"], _model()[route]["ranges"]
    seen = features(n=n, d=d, k=k, epsilon=strength)
    low, middle, high = (_value(lines[which], seen, ranges) for which in (_LOW, _MIDDLE, _HIGH))
    inside = all(start <= x <= end for x, (start, end) in zip(seen, ranges, strict=True))
    return Forecast(
        n=n,
        d=d,
        k=k,
        epsilon=epsilon,
        delta=delta,
        route=route,
        why=why,
        ratio=1 + middle,
        low=1 + min(low, middle),
        high=1 + max(high, middle),
        measured=inside,
    )


def smallest_epsilon(*, target: float, n: float, d: int, k: int, **rest: Any) -> float:
    """The smallest epsilon at which the forecast is a ratio of at most `target`, to three digits, rounded up."""
    _check_target(target)

    def ratio(epsilon: float) -> float:
        return forecast(n=n, d=d, k=k, epsilon=epsilon, **rest).ratio

    if ratio(LARGEST_EPSILON) > target:
        raise ParameterError("target", f"cannot be reached with {n:g} rows at any usual epsilon: take more rows")
    return _least(ratio, target, 1e-6, LARGEST_EPSILON)


def smallest_n(*, target: float, epsilon: float, d: int, k: int, **rest: Any) -> float:
    """The smallest number of rows at which the forecast is a ratio of at most `target`, to three digits, rounded up."""
    _check_target(target)

    def ratio(n: float) -> float:
        return forecast(n=n, d=d, k=k, epsilon=epsilon, **rest).ratio

    if ratio(LARGEST_SIZE) > target:
        raise ParameterError("target", "cannot be reached with any usual number of rows: raise epsilon")
    return _least(ratio, target, float(k), LARGEST_SIZE)


def features(*, n: float, d: int, k: int, epsilon: float) -> list[float]:
    """What the forecast looks at: logarithms of the budget per cluster, of k and of d."""
    budget = math.log(n * epsilon / k)
    return [budget, math.log(k), math.log(d)]


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


def _value(line: list[float], seen: list[float], ranges: list[list[float]]) -> float:
    """The excess over 1 that a line gives; k and d are kept within what was measured, the budget is not."""
    kept = [seen[0], *(min(max(x, start), end) for x, (start, end) in zip(seen[1:], ranges[1:], strict=True))]
    return math.exp(min(line[0] + sum(a * b for a, b in zip(line[1:], kept, strict=True)), 6.0))


def _least(ratio: Any, target: float, low: float, high: float) -> float:
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if ratio(middle) <= target else (middle, high)
    digits = 2 - math.floor(math.log10(high))
    return math.ceil(high * 10**digits) / 10**digits


def _check_target(target: float) -> None:
    if not isinstance(target, int | float) or not 1 < target < math.inf:
        raise ParameterError("target", "must be a ratio above 1: 1.05 means 5% more cost than ordinary k-means")


def _check(*, n: float, d: int, k: int, epsilon: float, delta: float | None) -> None:
    if not isinstance(n, int | float) or not 1 <= n <= LARGEST_SIZE * 1000:
        raise ParameterError("n", "must be a number of rows, at least 1")
    for name, value in (("d", d), ("k", k)):
        whole_number(name, value, least=1, most=100_000)
    if k > n:
        raise ParameterError("k", "must be at most n: there are not as many rows as clusters")
    if not isinstance(epsilon, int | float) or not 0 < epsilon <= 10_000:
        raise ParameterError("epsilon", "must be a positive number")
    if delta is not None and not 0 < delta < 1:
        raise ParameterError("delta", "must be above 0 and below 1, or left out")
