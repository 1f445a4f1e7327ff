"""The map of what is published, as SVG: it needs no script, which only moves it. From what is released alone.

What lies in the group `moving` is scaled as the reader zooms; what is in `pinned` keeps its size and follows its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.geo.geojson import METRES
from covey.published.coreset.coreset import Coreset
from covey.published.counted import rows_of, sizes_in_words
from covey.published.page.ground import Ground
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import NOISE, NOWHERE, UNKNOWN, amount, centre_labels, hollow, length, nowhere
from covey.text import number

WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 760.0, 240.0, 900.0
MOST_POINTS = 2_500
MOST_BOXES = 10_000
LARGEST_DOT = 9.0
DECADES, SHADES = 4, 8  # of the scale of densities: what is thinner has its lightest colour
BUSY = 0.98  # of the rows: few are in boxes denser than the end of the scale
LEAST_STEP = 0.2  # of the picture: outlines have no finer corners
ZOOMS = (0.5, 1, 2, 4)  # at which names of places are chosen that do not lie on one another; half for a phone
NAME = (6.6, 22.0)  # the width of a letter and the height of a line of names
LONGEST_BAR = 130.0
UNPLACED = f'<text class="unplaced" x="-12" y="-12">{UNKNOWN}</text>'


class Frame:
    """From the units of the data to those of the picture; y upwards. A map is stretched as at its middle latitude."""

    def __init__(self, plane: Plane) -> None:
        self.left, self.bottom, self.right, self.top = plane.frame
        shape = (self.top - self.bottom) / (self.right - self.left) if plane.geographic else 0.7
        if plane.geographic:
            shape /= max(0.1, math.cos(math.radians((self.top + self.bottom) / 2)))
        self.height = min(MOST_HEIGHT, max(LEAST_HEIGHT, WIDTH * shape))

    def __call__(self, points: Any, *, digits: int = 1) -> list[tuple[float, float]]:
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        across = (x - self.left) / (self.right - self.left) * WIDTH
        down = (self.top - y) / (self.top - self.bottom) * self.height
        return list(zip(np.round(across, digits).tolist(), np.round(down, digits).tolist(), strict=True))

    @property
    def metres(self) -> float:
        """Of a unit of the picture, across a map at its middle."""
        share = (self.right - self.left) / WIDTH
        return METRES * share * max(0.1, math.cos(math.radians((self.top + self.bottom) / 2)))


def picture(
    release: Release | None,
    points: Coreset | None,
    plane: Plane,
    labels: Sequence[str] | None = None,
    *,
    ground: Ground | None = None,
    zones: Sequence[dict[str, Any]] = (),
) -> str:
    """The whole map. zones : GeoJSON features, which are public."""
    frame = Frame(plane)
    names = None if release is None else list(labels or centre_labels(release))
    moving = [] if ground is None else _ground(ground, frame)
    moving += [] if points is None else _weights(points, frame, plane)
    for feature in [] if release is None else plane.regions(release.centres):
        corners = " ".join(f"{x:g},{y:g}" for x, y in frame(feature["geometry"]["coordinates"][0]))
        moving.append(f'<polygon class="region" points="{corners}" data-centre="{feature["properties"]["centre"]}"/>')
    moving += [_zone(each, frame) for each in zones]
    moving += [] if release is None else _rings(release, frame, plane)
    pinned = [] if ground is None else _names(ground, frame)
    pinned += [] if release is None or names is None else _marks(release, frame, plane, names)
    what = [] if release is None else [f"{len(release.centres)} private centres"]
    what += [] if points is None else ["the private summary"]
    size = f'width="{WIDTH:g}" height="{frame.height:.0f}"'
    ends = " ".join(map(repr, map(float, plane.frame)))
    return (
        f'<svg class="map" viewBox="0 0 {WIDTH:g} {frame.height:.0f}" data-frame="{ends}" role="img" '
        f'aria-label="Map of {" and ".join(what)}"><rect class="ground {"land" if ground is None else "sea"}" {size}/>'
        f'<g class="moving">{"".join(moving)}</g><g class="pinned">{"".join(pinned)}</g>'
        f"{_bar(frame) if plane.geographic else ''}{''.join(_edges(frame, plane))}</svg>"
    )


def heaviest_first(weights: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of the heaviest weights, in their own order; all of them if there are few."""
    if len(weights) <= most:
        return np.arange(len(weights))
    return np.sort(np.argpartition(-weights, most)[:most])


# --- what was counted -------------------------------------------------------------------------------------------------


def _weights(points: Coreset, frame: Frame, plane: Plane) -> list[str]:
    """The boxes that were counted, by density; points that stand for themselves as dots."""
    found = densities(points, plane)
    return _dots(points, frame, plane) if found is None else _boxes(points, frame, plane, *found)


def densities(points: Coreset, plane: Plane) -> tuple[NDArray[np.intp], NDArray[np.float64], float] | None:
    """Boxes that stand out of the noise, their rows per unit of area, and the end of the scale; None without boxes.

    The unit is a square kilometre on a map, else a ten-thousandth of the area within the bounds.
    """
    if points.cells is None or len(plane.columns) != 2:
        return None
    least = 0.0 if points.noise is None else np.maximum(points.noise.thresholds, 0.0)
    shown = np.flatnonzero((points.weights > least) & (points.cells > 0).all(axis=1))
    shown = shown[heaviest_first(points.weights[shown], MOST_BOXES)]
    if not len(shown):
        return None
    left, bottom, right, top = plane.frame
    if plane.geographic:
        area = (
            points.cells[shown].prod(axis=1)
            * (METRES / 1000) ** 2
            * np.maximum(np.cos(np.radians(plane.flat(points.points[shown])[:, 1])), 0.1)
        )
    else:
        sides = plane.flat(points.cells[shown]) / (right - left, top - bottom)  # of any bounds, a number
        area = 1e4 * sides.prod(axis=1)
    found, weights = points.weights[shown] / area, points.weights[shown]
    order = np.argsort(found)
    usual = found[order][np.searchsorted(np.cumsum(weights[order]), BUSY * weights.sum())]
    return shown, found, 10.0 ** math.ceil(math.log10(max(usual, 1e-9)) - 1e-9)


def _boxes(
    points: Coreset, frame: Frame, plane: Plane, shown: NDArray[np.intp], density: NDArray[np.float64], most: float
) -> list[str]:
    middle, half = plane.flat(points.points[shown]), plane.flat(points.cells)[shown] / 2
    low, high = frame(middle - half, digits=2), frame(middle + half, digits=2)
    shades = np.clip((1 + np.log10(density / most) / DECADES) * SHADES, 0, SHADES - 1).astype(int)
    paths: list[list[str]] = [[] for _ in range(SHADES)]
    for shade, (x0, y0), (x1, y1) in zip(shades.tolist(), low, high, strict=True):
        paths[shade].append(f"M{x0:g} {y1:g}h{x1 - x0:.4g}v{y0 - y1:.4g}h{x0 - x1:.4g}z")
    return [f'<path class="box b{i}" d="{"".join(path)}"/>' for i, path in enumerate(paths) if path]


def legend(points: Coreset | None, plane: Plane) -> str:
    """The scale of densities, with a number at each power of ten."""
    found = None if points is None else densities(points, plane)
    if points is None or found is None:
        return ""
    step = 40
    parts = [f'<rect class="shade b{i}" x="{20 + i * step}" y="2" width="{step}" height="12"/>' for i in range(SHADES)]
    for i in range(DECADES + 1):
        at, value = 20 + i * step * SHADES // DECADES, found[2] / 10 ** (DECADES - i)
        parts.append(f'<text class="tick" x="{at}" y="28">{amount(value)}</text>')
    unit = f"{rows_of(points.certificate)} per {'km²' if plane.geographic else '1/10,000 of the area'}"
    width = 40 + SHADES * step
    return (
        f'<p class="legend"><span>{unit}, noisy</span><svg class="ramp" viewBox="0 0 {width} 32" role="img" '
        f'aria-label="Lightest: {amount(found[2] / 10**DECADES)} or fewer; darkest: {amount(found[2])} or more">'
        f"{''.join(parts)}</svg></p>"
    )


def _dots(points: Coreset, frame: Frame, plane: Plane) -> list[str]:
    """The heaviest points of a coreset."""
    heavy = [i for i in heaviest_first(points.weights, MOST_POINTS).tolist() if points.weights[i] > 0]
    if not heavy:
        return []
    sizes = LARGEST_DOT * np.sqrt(points.weights[heavy] / points.weights[heavy].max())
    return [
        f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{size:.1f}"/>'
        for (x, y), size in zip(frame(plane.flat(points.points[heavy])), sizes.tolist(), strict=True)
        if size >= 0.3
    ]


# --- centres ----------------------------------------------------------------------------------------------------------


def _marks(release: Release, frame: Frame, plane: Plane, names: Sequence[str]) -> list[str]:
    """A disc with its name at each centre; hollow and dashed where it may be only noise, and whether it has a place."""
    parts = []
    told = zip(frame(plane.flat(release.centres)), names, sizes_in_words(release), strict=True)
    for i, ((x, y), name, size) in enumerate(told):
        doubt, lost = hollow(release, i), nowhere(release, i)
        counted = "" if release.sizes is None else f": {size} {rows_of(release.certificate)}, noisy"
        words = f"Centre {name}{counted}{f'; {NOISE}' if doubt else ''}{f'; {NOWHERE}' if lost else ''}"
        parts.append(
            f'<g class="centre" transform="translate({x:g} {y:g})" data-centre="{i}">'
            f'<title class="told">{escape(words)}</title>'
            f'<circle class="{"mark hollow" if doubt else "mark"}" r="11"/>'
            f'<text class="letter">{escape(name)}</text>'
            f"{UNPLACED if lost else ''}</g>"
        )
    return parts


def _rings(release: Release, frame: Frame, plane: Plane) -> list[str]:
    """Where each centre probably is, where that is determined."""
    radii = release.errors.radii if release.errors is not None and release.errors.radii else ()
    half, (east, north) = plane.half, plane.axes
    across = WIDTH / (frame.right - frame.left) * half[east]
    up = 0.0 if north is None else frame.height / (frame.top - frame.bottom) * half[north]
    places = zip(frame(plane.flat(release.centres)), radii, strict=False)
    return [
        f'<ellipse class="ring" cx="{x:g}" cy="{y:g}" rx="{radius * across:.1f}" ry="{radius * up:.1f}"/>'
        for (x, y), radius in places
        if radius is not None
    ]


# --- what lies under it and around it ---------------------------------------------------------------------------------


def _ground(ground: Ground, frame: Frame) -> list[str]:
    parts = []
    for kind, shapes in (("land", ground.land), ("water", ground.water), ("line", ground.lines)):
        path = "".join(_path(each, frame, closed=kind != "line") for each in shapes)
        parts += [f'<path class="ground {kind}" d="{path}"/>'] if path else []
    return parts


def _path(corners: Iterable[Sequence[float]], frame: Frame, *, closed: bool) -> str:
    """Straight lines, without corners that nobody could see."""
    kept: list[tuple[float, float]] = []
    for place in frame([tuple(each[:2]) for each in corners], digits=2):
        if not kept or abs(place[0] - kept[-1][0]) + abs(place[1] - kept[-1][1]) > LEAST_STEP:
            kept.append(place)
    if len(kept) < (3 if closed else 2):
        return ""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in kept) + ("z" if closed else "")


def _zone(feature: dict[str, Any], frame: Frame) -> str:
    """A polygon, or several, with what is promised there."""
    shape, properties = feature["geometry"], feature.get("properties") or {}
    polygons = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    path = "".join(_path(ring, frame, closed=True) for polygon in polygons for ring in polygon)
    name = escape(str(properties.get("name") or "zone"))
    return f'<path class="zone" d="{path}"><title class="zoned">{name}</title></path>'


def _names(ground: Ground, frame: Frame) -> list[str]:
    """Names that do not lie on one another, more of them the nearer one looks."""
    parts: list[str] = []
    places = frame([(x, y) for _, x, y in ground.names])
    taken: list[tuple[float, float, float]] = []
    left = list(zip(places, (name for name, _, _ in ground.names), strict=True))
    for zoom in ZOOMS:
        waiting = []
        for (x, y), name in left:
            half = NAME[0] * len(name) / 2
            cut_off = min(x, WIDTH - x) * zoom < half or min(y, frame.height - y) * zoom < NAME[1]
            if cut_off or any(
                abs(y - v) * zoom < NAME[1] and abs(x - u) * zoom < half + other for u, v, other in taken
            ):
                waiting.append(((x, y), name))
                continue
            taken.append((x, y, half))
            parts.append(
                f'<text class="ground name z{int(zoom)}" transform="translate({x:g} {y:g})">{escape(name)}</text>'
            )
        left = waiting
    return parts


def _bar(frame: Frame) -> str:
    """A round length, as long as it is on the map; the page's script keeps it so."""
    most = LONGEST_BAR * frame.metres
    power = 10 ** math.floor(math.log10(most))
    round_length = power * next(each for each in (5, 2, 1) if each * power <= most)
    long, down = round_length / frame.metres, frame.height - 26
    return (
        f'<g class="scale" data-metres="{frame.metres:.6g}"><path class="bar" d="M{WIDTH - 14:g} {down - 6:.0f}v6'
        f'h{-long:.1f}v-6"/><text class="length" x="{WIDTH - 18:g}" y="{down - 6:.0f}">{length(round_length)}'
        "</text></g>"
    )


def _edges(frame: Frame, plane: Plane) -> list[str]:
    """The ends of both axes, so that the picture can be placed."""
    east, north = plane.axes
    across = frame.right - frame.left
    name = escape(plane.columns[east])
    low = f'<text class="edge" x="6" y="{frame.height - 6:.0f}">{name} {number(frame.left, across)}</text>'
    right = f'<text class="edge" x="{WIDTH - 6:g}" y="{frame.height - 6:.0f}" text-anchor="end">'
    parts = [low, f"{right}{name} {number(frame.right, across)}</text>"]
    if north is not None:
        up, name = frame.top - frame.bottom, escape(plane.columns[north])
        parts.append(f'<text class="edge" x="6" y="14">{name} {number(frame.top, up)}</text>')
        parts.append(f'<text class="edge" x="6" y="{frame.height - 22:.0f}">{name} {number(frame.bottom, up)}</text>')
    return parts
