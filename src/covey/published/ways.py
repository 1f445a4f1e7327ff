"""How far rows are from their centres, in metres on a map and in the units of the data elsewhere. Free.

A cost is a sum over rows with columns scaled by the bounds: right for comparing, and nothing that a person can picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.geo.geojson import metres_of_half
from covey.post.distances import Objective, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import Cost, Pay, mean_interval
from covey.post.errors.mixture import Places

Floats = NDArray[np.float64]
METRES, MEAN, ROOT = KINDS = ("mean_m", "mean", "rms")  # the mean in metres; elsewhere it, and the root mean square


@dataclass(frozen=True, eq=False)
class Unit:
    """What distances are told in. stretch : of each column, how much of it a half-width of its range is.

    On a map (metres) columns other than longitude and latitude count 0: what is told is the way over the map.
    """

    stretch: Floats
    metres: bool

    @classmethod
    def of(
        cls, columns: Sequence[str], middle: ArrayLike, half: ArrayLike, lon: str | None = None, lat: str | None = None
    ) -> Unit:
        metres = metres_of_half(columns, middle, half, lon, lat)
        return cls(np.asarray(half, dtype=np.float64), False) if metres is None else cls(metres, True)

    def kind(self, objective: str) -> str:
        """The distance that is told for an objective."""
        return METRES if self.metres else ROOT if objective == "k-means" else MEAN

    @property
    def kinds(self) -> tuple[str, ...]:
        return (METRES,) if self.metres else (MEAN, ROOT)

    def pay(self, centres: Floats, kind: str) -> Pay:
        """The distance of points of [-1, 1]^d from their centre, or its square for the root mean square.

        On a map of two columns that is the nearest in metres, elsewhere the nearest as the fit measures.
        """
        by = self.stretch if self.metres and (self.stretch > 0).all() else np.ones(len(self.stretch))

        def paid(points: Floats) -> Floats:
            gaps = (points - centres[nearest(points * by, centres * by)]) * self.stretch
            squares = np.square(gaps).sum(axis=1)
            return squares if kind == ROOT else np.sqrt(squares)

        return paid


def distance_of(boxes: CountedBoxes, places: Places, centres: Floats, unit: Unit, kind: str) -> Cost:
    """How far a row is from its centre on average, with its interval, or why that cannot be told."""
    return rooted(mean_interval(boxes, places, unit.pay(centres, kind), len(centres)), kind)


def rooted(found: Cost, kind: str) -> Cost:
    """The root of a mean square."""
    if kind != ROOT:
        return found
    cost, low, high = (float(np.sqrt(max(each, 0.0))) if each == each else each for each in found[:3])
    return Cost(cost, low, high, found.why)


def as_objective(kind: str) -> Objective:
    """The cost that such a distance is the mean of."""
    return "k-means" if kind == ROOT else "k-median"
