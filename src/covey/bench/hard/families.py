"""Twelve families of made-up rows in [-1, 1]^d: what is not a few round clusters of one size.

Each drawing of a family is another set, from a seed that depends on its name and number alone. None of them was looked
at while a constant of an algorithm was chosen; whoever does so takes other numbers afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.bench.sets import Floats, seed_of
from covey.post.random import public_rng

Label = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Family:
    """A way to draw rows: draw(rng, n, d, k). Rows beyond the domain are clipped, as a fit would."""

    name: str
    d: int
    k: int
    draw: Callable[[np.random.Generator, int, int, int], Floats]
    n: int = 20_000

    def rows(self, number: int, n: int | None = None) -> Floats:
        rng = public_rng(seed_of("hard", self.name, number))
        return np.clip(self.draw(rng, n or self.n, self.d, self.k), -1.0, 1.0)


def middles(rng: np.random.Generator, k: int, d: int) -> Floats:
    return rng.uniform(-0.8, 0.8, (k, d))


def even(rng: np.random.Generator, n: int, k: int) -> Label:
    return rng.integers(0, k, n)


def blobs(rng: np.random.Generator, n: int, d: int, k: int, *, width: float = 0.05) -> Floats:
    return middles(rng, k, d)[even(rng, n, k)] + width * rng.standard_normal((n, d))


def unequal_sizes(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    shares = 1.0 / np.arange(1, k + 1) ** 1.5
    label = rng.choice(k, n, p=shares / shares.sum())
    return middles(rng, k, d)[label] + 0.04 * rng.standard_normal((n, d))


def unequal_widths(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    label, widths = even(rng, n, k), np.geomspace(0.01, 0.15, k)
    return middles(rng, k, d)[label] + widths[label, None] * rng.standard_normal((n, d))


def rings(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """Circles, and half circles, each about a place of its own."""
    label = even(rng, n, k)
    turn = rng.uniform(0, 2 * np.pi, n) / np.where(label % 2 == 0, 1.0, 2.0)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(0.1, 0.3, k)[label, None]
    return middles(rng, k, d)[label] + around + 0.01 * rng.standard_normal((n, d))


def needles(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """Twenty times as long as wide."""
    label, ways = even(rng, n, k), rng.standard_normal((k, d))
    ways /= np.sqrt(np.square(ways).sum(axis=1, keepdims=True))
    along = 0.2 * rng.standard_normal((n, 1)) * ways[label]
    return middles(rng, k, d)[label] + along + 0.01 * rng.standard_normal((n, d))


def background(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """Three rows in ten are anywhere."""
    rows = blobs(rng, n, d, k, width=0.03)
    stray = rng.uniform(size=n) < 0.3
    rows[stray] = rng.uniform(-1, 1, (int(stray.sum()), d))
    return rows


def heavy_tails(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    return middles(rng, k, d)[even(rng, n, k)] + 0.03 * rng.standard_t(2, (n, d))


def sliver(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """All rows in a thousandth of the domain's width, at a place that nobody knows."""
    return rng.uniform(-0.9, 0.9, d) + 1e-3 * blobs(rng, n, d, k, width=0.1)


def places(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """Rows at few places, some of them at very many rows, in k towns."""
    towns = middles(rng, k, d)
    found = towns[even(rng, 400, k)] + 0.05 * rng.standard_normal((400, d))
    visits = rng.pareto(1.2, 400) + 0.01
    return found[rng.choice(400, n, p=visits / visits.sum())]


def few_factors(rng: np.random.Generator, n: int, d: int, k: int) -> Floats:
    """Clusters in three directions of many columns, and a little of everything."""
    ways = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
    return blobs(rng, n, 3, k, width=0.08) @ ways + 0.02 * rng.standard_normal((n, d))


FAMILIES = (
    Family(name="unequal sizes", d=2, k=12, draw=unequal_sizes),
    Family(name="unequal widths", d=2, k=10, draw=unequal_widths),
    Family(name="rings", d=2, k=6, draw=rings),
    Family(name="needles", d=2, k=8, draw=needles),
    Family(name="background", d=2, k=10, draw=background),
    Family(name="heavy tails", d=3, k=8, draw=heavy_tails),
    Family(name="a sliver", d=2, k=5, draw=sliver),
    Family(name="a sliver, six columns", d=6, k=5, draw=sliver),
    Family(name="places", d=2, k=10, draw=places),
    Family(name="few factors", d=20, k=10, draw=few_factors),
    Family(name="64 clusters, 20 columns", d=20, k=64, draw=blobs, n=50_000),
    Family(name="64 clusters, 100 columns", d=100, k=64, draw=blobs, n=50_000),
)


def family(name: str) -> Family:
    return next(each for each in FAMILIES if each.name == name)
