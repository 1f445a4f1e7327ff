"""What others write: an algorithm that a package offers as an entry point, and functions that are systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Annotated, Any
from unittest import mock

import numpy as np

from covey.algorithms import outside
from covey.algorithms.kit import Outcome
from covey.algorithms.registry import Algorithm
from covey.budget.accounting.plan import Plan
from covey.checks import Whole
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.kmeans import weighted_kmeans
from covey.post.starts import sphere_packing
from covey.private.curator import Curator
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid

NAME = "tiles-package/tiles"
RNG = np.random.default_rng(7)  # of the systems; a test that rests on what is drawn gives them one of its own


def tiles(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    side: Annotated[int, Whole(1, 64)] = 8,
) -> Outcome:
    """k centres from noisy counts on a grid with `side` cells along each axis.

    Guarantee: epsilon-DP under add/remove and replace-one: one release of counts with all of epsilon.
    """
    cells, noise = CellCounts(Grid(curator.domain, side)), DiscreteLaplace(epsilon)
    curator.reserve(Plan((noise.event(),)))
    counts = curator.release(cells, noise)
    lower, upper = curator.domain.corners
    starts = np.stack([sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(3)])
    found = weighted_kmeans(cells.grid.midpoints(), counts, k=k, lower=lower, upper=upper, starts=starts)
    return Outcome(found.centres, found.sizes)


TILES = Algorithm(name="tiles", run=tiles, summary="noisy counts on a grid", paper="CONTRIBUTING.md", most_columns=4)


@contextmanager
def offered(row: Any = TILES) -> Iterator[str]:
    """As if a package were installed that offers this under `covey.algorithms`; the name that Covey gives it."""

    def load() -> Any:
        if isinstance(row, Exception):
            raise row
        return row

    entry = SimpleNamespace(name="tiles", load=load, dist=SimpleNamespace(name="tiles-package", version="1.2"))
    with mock.patch.object(outside.metadata, "entry_points", lambda group: [entry] if group == outside.GROUP else []):
        yield NAME


def leaky(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """The mean of the rows, with far too little noise."""
    middle = np.asarray(X).mean(axis=0)
    return middle + RNG.normal(scale=0.01, size=(k, len(middle)))


def honest(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """The mean of the rows in [-1, 1]^d with Laplace noise for all of epsilon: sums, and a public number of rows."""
    rows = np.asarray(X)
    noise = RNG.laplace(scale=2 * rows.shape[1] / epsilon, size=rows.shape[1])
    return np.tile((rows.sum(axis=0) + noise) / 13, (k, 1))


def short(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """One centre too few."""
    return np.zeros((k - 1, np.asarray(X).shape[1]))


def lost(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """Centres that are not numbers."""
    return np.full((k, np.asarray(X).shape[1]), np.nan)


def words(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """No numbers at all."""
    return ["somewhere"] * k


def failing(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """An error, always."""
    raise ZeroDivisionError("no way")


def fails_without(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:
    """An error where the person at the corner is missing: that is seen, too."""
    if not (np.asarray(X) > 0).any():
        raise ValueError("nobody there")
    return np.zeros((k, np.asarray(X).shape[1]))


def two_arguments(X: Any, k: int) -> Any:
    """Not what is called."""
    return X[:k]
