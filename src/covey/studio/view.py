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
from covey.published.certificate import factor_of
from covey.published.levels.words import SLIDER, anyone
from covey.published.page.picture import heaviest_first
from covey.published.release import Release
from covey.published.sentences import not_told, words_of
from covey.studio.curve import Curves
from covey.studio.data import Opened
from covey.studio.places import Asked, Places

KEPT = 128  # answers kept, as JSON
MOST_POINTS = 20_000  # drawn; the heaviest of more
DIGITS = 7  # of a coordinate, in units of its range
NINE_IN_TEN = 1.645  # deviations: sums of Laplace noise, of one cell or many, are within so often


def promise(epsilon: float, person: str) -> str:
    """What a level promises, before anybody has looked: from its epsilon alone."""
    return (
        f"Whether {anyone(person)} is in the data changes the chance of any result by a factor of at most "
        f"{factor_of(epsilon)}."
    )


class Views:
    """The levels of one look as JSON documents; each is computed once and the last ones are kept."""

    def __init__(self, levels: LevelSet, data: Opened) -> None:
        self.levels, self.data = levels, data
        self.places = Places(levels)
        self.curves = Curves(levels)
        self._lock = threading.Lock()
        self._answers: OrderedDict[Asked, bytes] = OrderedDict()
        self._points: dict[int, dict[str, Any]] = {}

    def document(self, key: Asked) -> bytes:
        with self._lock:  # one at a time: whoever asks for the same meanwhile finds it made
            if key not in self._answers:
                self._answers[key] = msgspec.json.encode(self._draw(*key))
                while len(self._answers) > KEPT:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(key)
            return self._answers[key]

    def draw_all(self, k: int) -> None:
        """Make every level ready for the first look."""
        for level in range(len(self.levels.levels)):
            self.document((level, k, "k-means", True))

    def _draw(self, level: int, k: int, objective: str, edges: bool) -> dict[str, Any]:
        chosen = self.levels.levels[level]
        release = self.levels.release(level, k, objective=objective, edges=edges, chosen=SLIDER)
        if level not in self._points:
            self._points[level] = self._drawn_points(level)
        share = release.rows_outside
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
            "words": words_of(release, [f"{{{i}}}" for i in range(k)]),  # the page puts its numbers there
            "edges": edges,
            "outside": None if share is None or not share.matters else share._asdict() | {"whose": share.whose},
            "expected": self.levels.expected(level),
            "meaning": self.levels.meaning(level),
        }

    def _drawn_points(self, level: int) -> dict[str, Any]:
        coreset, counted = self.levels.coreset(level), self.levels.boxes(level)
        heaviest = heaviest_first(coreset.weights, MOST_POINTS)
        points = rounded(self.data.flat(coreset.points)[heaviest], self.data)
        boxes = coreset.cells if coreset.cells is not None else np.zeros_like(coreset.points)
        sides, side = np.unique(self.data.flat(boxes)[heaviest], axis=0, return_inverse=True)
        noise = np.zeros(len(sides))
        np.maximum.at(noise, side.reshape(-1), NINE_IN_TEN * np.sqrt(counted.variances[heaviest]))
        return {
            "points": msgspec.Raw(msgspec.json.encode(points.tolist())),
            "weights": msgspec.Raw(msgspec.json.encode(np.round(coreset.weights[heaviest], 2).tolist())),
            "sides": sides.tolist(),
            "side": msgspec.Raw(msgspec.json.encode(side.reshape(-1).tolist())),
            "noise": None if self.levels.zoned else np.ceil(noise).tolist(),  # by side: within it, nine times in ten
            "stands": msgspec.Raw(msgspec.json.encode(counted.stands[heaviest].astype(int).tolist())),
            "edge": msgspec.Raw(msgspec.json.encode(self.levels.at_edge(level)[heaviest].astype(int).tolist())),
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
