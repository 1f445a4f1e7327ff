"""What an algorithm hands back, and the questions every algorithm asks first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.plan import Plan, split
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.errors.boxes import CountedBoxes, cropped
from covey.post.errors.sizes import Sizes
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.published.outside import ROWS_BY_BOUNDS
from covey.published.release import Synopsis
from covey.queries.counts import InsideOutside, Outside

SIZE_SHARE = (1, 24)  # of epsilon: 4% for the noisy numbers of rows inside and outside the bounds
OUTSIDE_SHARE = (1, 49)  # of epsilon, where the number of rows is public: 2% for those outside the bounds
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
    boxes: CountedBoxes | None = None  # in lattice units: what sizes and their errors come from
    size_law: Sizes | None = None  # `sizes` with the law of their noise, where they are not of boxes
    not_told: str = ""  # why no error can be told, where neither is known
    counted_up: bool = False  # whether sizes and weights count all rows of zones, not those that were kept

    def within(self, domain: Domain) -> Outcome:
        """The same within the bounds: where a column counts less than others, they are a part of the lattice's cube,
        and cells may go beyond, or be where no row is. Cells reach half a lattice step beyond the outermost rows."""
        if domain.scale is None:
            return self
        lower, upper = domain.corners
        coreset = self.coreset
        if coreset is not None and coreset.cells is None:
            coreset = replace(coreset, points=np.clip(coreset.points, lower, upper))
        elif coreset is not None and coreset.cells is not None:
            points, cells = cropped(coreset.points, coreset.cells, upper + 0.5)
            coreset = replace(coreset, points=points, cells=cells)
        boxes = None if self.boxes is None else self.boxes.within(upper + 0.5)
        return replace(self, centres=np.clip(self.centres, lower, upper), coreset=coreset, boxes=boxes)


def counted(centres: NDArray[np.float64], sizes: NDArray[np.float64], *, scale: float, **rest: Any) -> Outcome:
    """The outcome of an algorithm that counted each cluster's rows, with Laplace noise of one scale."""
    return Outcome(centres, sizes, size_law=Sizes.counted(sizes, scale=scale), **rest)


class Size(NamedTuple):
    """The number of rows wherever a paper says n, what is left of epsilon after it, and notes for the certificate."""

    rows: int
    left: Fraction
    notes: dict[str, Any]


def learn_size(curator: Curator, epsilon: Fraction, *, share: tuple[int, int] = SIZE_SHARE) -> Size:
    """The number of rows, and how many of them were outside the bounds, for a small share of epsilon.

    In a plan of its own, so that everything after may be chosen from it. Under add/remove a person is in one of two
    counts, inside and outside, whose noisy sum is the number of rows. Under replace-one that number is public, and
    only the rows outside are counted, with 2% of epsilon. Proof: queries/counts.md.
    """
    for_size, left = _shares(epsilon, curator.neighbours, share)
    noise = DiscreteLaplace(for_size)
    curator.reserve(Plan((noise.event(),)))
    rows, notes = noisy_size(curator, noise)
    return Size(rows, left, notes)


def after_size(epsilon: Fraction, neighbours: Neighbours, *, share: tuple[int, int] = SIZE_SHARE) -> Fraction:
    """What `learn_size` leaves of epsilon, known before it is asked."""
    return _shares(epsilon, neighbours, share)[1]


def noisy_size(curator: Curator, noise: DiscreteLaplace) -> tuple[int, dict[str, Any]]:
    """The number of rows, noisy (at least 16) or public, and notes: the noisy numbers of rows inside and outside."""
    if curator.neighbours is Neighbours.REPLACE_ONE:
        size = curator.public_count()
        outside = int(curator.release(Outside(curator.domain), noise)[0])
        inside = size - outside
    else:
        inside, outside = curator.release(InsideOutside(curator.domain), noise).tolist()
        size = max(SMALLEST_SIZE, inside + outside)
    return size, dict(zip(ROWS_BY_BOUNDS, (inside, outside, float(1 / noise.epsilon)), strict=True))


def _shares(epsilon: Fraction, neighbours: Neighbours, share: tuple[int, int]) -> tuple[Fraction, ...]:
    return split(epsilon, *(OUTSIDE_SHARE if neighbours is Neighbours.REPLACE_ONE else share))
