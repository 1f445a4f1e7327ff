"""Maps in plain characters, for a terminal: of a release or a coreset alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import nearest
from covey.published.coreset.coreset import Coreset
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import centre_labels, hollow
from covey.text import number, printable

Floats = NDArray[np.float64]
WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 64, 12, 32
TALL = 2.0  # a character is about twice as high as it is wide
SHADES = " .:-=+*#%@"


def character_map(published: Release | Coreset, *, lon: str | None = None, lat: str | None = None) -> list[str]:
    """The lines of a map: centres by their numbers between dotted borders, or points darker where more rows are.

    A question mark behind a number says that the centre may be only noise. Of more or fewer than two columns there is
    none.
    """
    plane = Plane.of(published, lon=lon, lat=lat)
    if len(plane.columns) != 2:
        return []
    height = _height(plane)
    table = _centres(published, plane, height) if isinstance(published, Release) else _shades(published, plane, height)
    left, bottom, right, top = plane.frame
    across, up = plane.names
    ends = [f"{printable(across)} {number(left, right - left)}", number(right, right - left)]
    lines = ["|" + "".join(row) + "|" for row in table]
    edge = "+" + "-" * WIDTH + "+"
    below = f"{ends[0]}{ends[1]:>{max(1, WIDTH + 2 - len(ends[0]))}}"
    lowest, highest = (f"{printable(up)} {number(end, top - bottom)}" for end in (bottom, top))
    return [highest, edge, *lines, edge, lowest, below]


def _height(plane: Plane) -> int:
    left, bottom, right, top = plane.frame
    shape = 0.7
    if plane.geographic:
        shape = (top - bottom) / (right - left) / max(0.1, math.cos(math.radians((top + bottom) / 2)))
    return int(min(MOST_HEIGHT, max(LEAST_HEIGHT, round(WIDTH * shape / TALL))))


def _centres(release: Release, plane: Plane, height: int) -> list[list[str]]:
    """Borders where the nearest centre changes from one character to the next, as the fit measures."""
    left, bottom, right, top = plane.frame
    half = np.array([plane.half[axis] for axis in plane.axes if axis is not None])
    x = left + (np.arange(WIDTH) + 0.5) / WIDTH * (right - left)
    y = top - (np.arange(height) + 0.5) / height * (top - bottom)
    spots = np.stack([each.ravel() for each in np.meshgrid(x, y)], axis=1)
    places = plane.flat(release.centres)
    label = nearest(spots / half, places / half).reshape(height, WIDTH)
    border = np.zeros(label.shape, dtype=np.bool_)
    border[:, 1:] |= label[:, 1:] != label[:, :-1]
    border[1:] |= label[1:] != label[:-1]
    table = [["." if each else " " for each in row] for row in border.tolist()]
    for i, ((a, b), name) in enumerate(zip(places.tolist(), centre_labels(release), strict=True)):
        row = min(height - 1, max(0, int((top - b) / (top - bottom) * height)))
        word = name + ("?" if hollow(release, i) else "")
        start = min(WIDTH - len(word), max(0, int((a - left) / (right - left) * WIDTH) - len(word) // 2))
        table[row][start : start + len(word)] = word
    return table


def _shades(coreset: Coreset, plane: Plane, height: int) -> list[list[str]]:
    """Characters by the net weight that lies in each; a cell that is cut counts by its share."""
    left, bottom, right, top = plane.frame
    points = plane.flat(coreset.points)
    widths = np.zeros(points.shape) if coreset.cells is None else plane.flat(coreset.cells)
    across = _shares(points[:, 0], widths[:, 0], np.linspace(left, right, WIDTH + 1))
    down = _shares(-points[:, 1], widths[:, 1], -np.linspace(top, bottom, height + 1))
    weight = np.maximum(down.T @ (coreset.weights[:, None] * across), 0.0)
    most = float(weight.max()) or 1.0
    shade = np.ceil(np.sqrt(weight / most) * (len(SHADES) - 1) - 0.5).astype(np.int64)
    return [[SHADES[each] for each in row] for row in shade.tolist()]


def _shares(middles: Floats, widths: Floats, edges: Floats) -> Floats:
    """Points x steps: which part of each point's cell lies between two edges; a point without a cell is in one step."""
    low, high = edges[:-1], edges[1:]
    wide = np.maximum(widths, 1e-9 * (edges[-1] - edges[0]))[:, None]
    begin, end = middles[:, None] - wide / 2, middles[:, None] + wide / 2
    return np.asarray(np.clip(np.minimum(end, high) - np.maximum(begin, low), 0, None) / wide)
