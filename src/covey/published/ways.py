"""How far rows are from their centres, in metres on a map and in the units of the data elsewhere. Free.

A cost is a sum over rows with columns scaled by the bounds: right for comparing, and nothing that a person can picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import positive
from covey.errors import ParameterError
from covey.geo.geojson import metres_of_half
from covey.post.distances import Objective, nearest, squares_to_nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import Cost, Pay, mean_interval
from covey.post.errors.mixture import Places

Floats = NDArray[np.float64]
METRES_IN_A_MINUTE = 1000 / 60  # at 1 km/h
METRES, MEAN, ROOT = KINDS = ("mean_m", "mean", "rms")  # the mean in metres; elsewhere it, or the root mean square


@dataclass(frozen=True, eq=False)
class Unit:
    """What distances are told in. size : how much of it the unit of distances is, in the column where it is most;
    stretch : the part of that which it is in each column, so that squares stay finite whatever the bounds are.

    On a map (metres) columns other than longitude and latitude count 0: what is told is the way over the map.
    """

    size: float
    stretch: Floats
    metres: bool

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        middle: ArrayLike,
        unit: ArrayLike,
        reach: ArrayLike,
        *,
        lon: str | None = None,
        lat: str | None = None,
    ) -> Unit:
        """unit : what distances are measured in, of each column. reach : how many of them half of its range is."""
        metres = metres_of_half(columns, middle, np.multiply(unit, reach), lon, lat)
        widths = np.asarray(unit, dtype=np.float64) if metres is None else metres / np.asarray(reach)
        return cls(float(widths.max()), widths / widths.max(), metres is not None)

    def at(self, speed: float | None) -> Unit:
        """Minutes straight over the map at so many km/h, a public number that whoever asks states; None : as it is."""
        if speed is None:
            return self
        if not self.metres:
            raise ParameterError(
                "speed", "needs a map: two columns in degrees, named like lon and lat or by lon= and lat="
            )
        return replace(self, size=self.size / (positive("speed", speed) * METRES_IN_A_MINUTE))

    def kind(self, objective: str) -> str:
        """The distance that is told for an objective."""
        return METRES if self.metres else ROOT if objective == "k-means" else MEAN

    def pay(self, centres: Floats, kind: str) -> Pay:
        """The distance of points of [-1, 1]^d from their centre in `size`, or its square for the root mean square.

        On a map of two columns that is the nearest in metres, elsewhere the nearest as the fit measures.
        """
        by = self.stretch if self.metres and (self.stretch > 0).all() else np.ones(len(self.stretch))

        def paid(points: Floats) -> Floats:
            if np.array_equal(by, self.stretch):
                squares = squares_to_nearest(points * by, centres * by)
            else:
                gaps = (points - centres[nearest(points * by, centres * by)]) * self.stretch
                squares = np.square(gaps).sum(axis=1)
            return squares if kind == ROOT else np.sqrt(squares)

        return paid

    def told(self, mean: Cost, kind: str) -> Cost:
        """What rows pay on average as a distance: of squares the root, and in the unit itself."""
        roots = (np.sqrt(np.maximum(each, 0.0)) if kind == ROOT else each for each in mean[:3])
        cost, low, high = (float(each * self.size) for each in roots)
        return Cost(cost, low, high, mean.why)


def distance_of(
    boxes: CountedBoxes, places: Places, centres: Floats, unit: Unit, kind: str, *, towards: float = 0.0
) -> Cost:
    """How far a row is from its centre on average, with its interval, or why that cannot be told."""
    return unit.told(mean_interval(boxes, places, unit.pay(centres, kind), len(centres), towards=towards), kind)


def as_objective(kind: str) -> Objective:
    """The cost that such a distance is the mean of."""
    return "k-means" if kind == ROOT else "k-median"
