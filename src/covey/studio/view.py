"""What the page draws of a level: points, centres, regions, and what to expect of them. Post-processing: free."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.fit.slider import LevelSet
from covey.published.levels.words import anyone
from covey.published.release import Release
from covey.published.report import heaviest_first
from covey.published.sentences import not_told, words_of
from covey.studio.data import Opened
from covey.studio.places import Places

KEPT = 128  # answers kept, as JSON
MOST_POINTS = 20_000  # drawn; the heaviest of more
DIGITS = 7  # of a coordinate, in units of its range


def promise(epsilon: float, person: str) -> str:
    """What a level promises, before anybody has looked: from its epsilon alone."""
    factor = math.ceil(math.exp(epsilon) * 100) / 100
    return (
        f"Whether {anyone(person)} is in the data changes the chance of any result by a factor of at most {factor:g}."
    )


class Views:
    """The levels of one look as JSON documents; each is computed once and the last ones are kept."""

    def __init__(self, levels: LevelSet, data: Opened) -> None:
        self.levels, self.data = levels, data
        self.places = Places(levels)
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[int, int, str], bytes] = OrderedDict()
        self._points: dict[int, dict[str, Any]] = {}

    def document(self, level: int, k: int, objective: str) -> bytes:
        key = (level, k, objective)
        with self._lock:  # one at a time: whoever asks for the same meanwhile finds it made
            if key not in self._answers:
                self._answers[key] = msgspec.json.encode(self._draw(level, k, objective))
                while len(self._answers) > KEPT:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(key)
            return self._answers[key]

    def draw_all(self, k: int) -> None:
        """Make every level ready for the first look."""
        for level in range(len(self.levels.levels)):
            self.document(level, k, "k-means")

    def _draw(self, level: int, k: int, objective: str) -> dict[str, Any]:
        chosen = self.levels.levels[level]
        release = self.levels.release(level, k, objective=objective, chosen="on the slider")
        if level not in self._points:
            self._points[level] = self._drawn_points(level)
        return {
            "level": level,
            "name": chosen.name,
            "epsilon": chosen.epsilon,
            **self._points[level],
            "centres": rounded(self.data.flat(release.centres), self.data).tolist(),
            "full_centres": release.centres,
            "sizes": release.sizes,
            "regions": regions(release, self.data),
            "errors": release.errors,
            "not_told": not_told(release),
            "words": words_of(release, [str(i + 1) for i in range(k)]),
            "expected": self.levels.expected(level),
            "meaning": self.levels.meaning(level),
        }

    def _drawn_points(self, level: int) -> dict[str, Any]:
        coreset = self.levels.coreset(level)
        heaviest = heaviest_first(coreset.weights, MOST_POINTS)
        points = rounded(self.data.flat(coreset.points)[heaviest], self.data)
        return {
            "points": msgspec.Raw(msgspec.json.encode(points.tolist())),
            "weights": msgspec.Raw(msgspec.json.encode(np.round(coreset.weights[heaviest], 2).tolist())),
            "size": len(coreset),
        }


def rounded(points: NDArray[np.float64], data: Opened) -> NDArray[np.float64]:
    """Coordinates to a ten-millionth of their range: what a screen can show, in half the bytes."""
    table = points.copy()
    for column, axis in enumerate(data.axes):
        if axis is not None:
            digits = DIGITS - math.floor(math.log10(2 * data.domain.half[axis]))
            if -15 < digits < 20:
                table[:, column] = np.round(table[:, column], digits)
    return table


def regions(release: Release, data: Opened) -> dict[str, Any]:
    """Voronoi regions as GeoJSON. Of more or fewer than two columns there are none to draw: the list is empty."""
    return {"type": "FeatureCollection", "features": data.plane.regions(release.centres)}
