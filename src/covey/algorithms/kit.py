"""What an algorithm hands back, and the questions every algorithm asks first."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.plan import Plan, split
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.public import Neighbours
from covey.published.release import Synopsis
from covey.queries.counts import Count

SIZE_SHARE = (1, 24)  # of epsilon: 4% for the noisy number of rows, the rest for everything else
SMALLEST_SIZE = 16  # a noisy number of rows is never taken to be less


@dataclass(frozen=True)
class LatticeCoreset:
    """A private coreset in lattice units. cells: the width of the cell each point is the middle of, None for points.

    spreads: the mean squared distance of the rows that a point stands for from it, None where that is not known.
    """

    points: NDArray[np.float64]  # m x d
    weights: NDArray[np.float64]  # m
    cells: NDArray[np.float64] | None = None  # m x d
    spreads: NDArray[np.float64] | None = None  # m


@dataclass(frozen=True)
class Outcome:
    """Private centres in lattice units, noisy sizes if counts were paid for, and public notes for the certificate."""

    centres: NDArray[np.float64]
    sizes: NDArray[np.float64] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    synopsis: Synopsis | None = None
    coreset: LatticeCoreset | None = None


def learn_size(curator: Curator, epsilon: Fraction, *, share: tuple[int, int] = SIZE_SHARE) -> tuple[int, Fraction]:
    """The number of rows wherever a paper says n, and what is left of epsilon after it.

    Under replace-one the number is public and costs nothing. Under add/remove it is a noisy one, for a small share
    of epsilon, in a plan of its own, so that everything after may be chosen from it.
    """
    if curator.neighbours is Neighbours.REPLACE_ONE:
        curator.reserve(Plan(()))
        return curator.public_count(), epsilon
    for_size, left = split(epsilon, *share)
    noise = DiscreteLaplace(for_size)
    curator.reserve(Plan((noise.event(),)))
    return noisy_size(curator, noise), left


def after_size(epsilon: Fraction, neighbours: Neighbours, *, share: tuple[int, int] = SIZE_SHARE) -> Fraction:
    """What `learn_size` leaves of epsilon, known before it is asked."""
    return epsilon if neighbours is Neighbours.REPLACE_ONE else split(epsilon, *share)[1]


def noisy_size(curator: Curator, noise: DiscreteLaplace) -> int:
    """The number of rows plus noise, at least 16."""
    return max(SMALLEST_SIZE, int(curator.release(Count(curator.domain), noise)[0]))
