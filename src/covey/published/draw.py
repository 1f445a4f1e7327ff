"""Maps of what is published. matplotlib is imported inside the functions: nothing else needs it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from textwrap import fill, shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.geo.geojson import METRES, find_axes
from covey.published.certificate import in_full
from covey.published.coreset.coreset import Coreset
from covey.published.counted import ROWS, counted_briefly, rows_of, shown_ends, shown_size
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import UNKNOWN, centre_labels, hollow, marks_in_words, nowhere, often
from covey.text import printable

Points = NDArray[np.float64]

LEFT, SIDE, RIGHT = 0.075, 0.80, 0.985  # of the figure: where map and text begin, the map ends at most, and all ends
LAND, WATER, ROAD, INK, QUIET = "#f7f4ec", "#b9d9ea", "#ffffff", "#22303c", "#6b7784"
SEEDED, ALARM = "SEEDED: NOT PRIVATE", "#b00020"
WIDEST = 0.35  # of the figure: the panel of sizes
TICKS = 6  # intervals between them, at most
LINE = 150  # letters of the words below a map
MOST_SIZES = 20  # of centres that have theirs written below them
COLOURS = ("#d1495b", "#2e6f95", "#3f8f5b", "#b7791f", "#7a4e9b", "#c2571a", "#1f8a8a", "#8a5a44", "#5566aa", "#99336b")


def city_map(
    release: Release,
    *,
    letters: Sequence[str],
    made_up_points: Points,
    river: Points,
    river_half_width: float,
    roads: Sequence[Points],
) -> bytes:
    """A PNG of private centres over a made-up city. The points are drawn because they are nobody's."""
    sheet = Sheet(release, Plane.of(release), letters)
    axes = sheet.axes
    axes.fill_between(river[:, 0], river[:, 1] - river_half_width, river[:, 1] + river_half_width, color=WATER, lw=0)
    for road in roads:
        axes.plot(*road.T, color="#e4ddcc", lw=4.2, solid_capstyle="round", zorder=1)
        axes.plot(*road.T, color=ROAD, lw=2.8, solid_capstyle="round", zorder=1.1)
    axes.scatter(
        made_up_points[:, 0], made_up_points[:, 1], s=0.55, c="#4a5763", alpha=0.16, lw=0, zorder=2, rasterized=True
    )
    return sheet.finished(
        f"{len(letters)} centres of a city, and nobody given away",
        unit="people",
        below="Grey dots: made-up people, so that nobody minds. With real data, leave them out.",
    )


def release_map(release: Release, *, lon: str | None = None, lat: str | None = None) -> bytes:
    """A PNG of private centres, what is nearest to each, and their noisy sizes: of the release, and of nothing else."""
    plane = Plane.of(release, lon=lon, lat=lat)
    two_columns(release.columns, lon, lat)
    others = "" if len(plane.columns) == 2 else f"Drawn by {' and '.join(map(drawn_name, plane.names))}."
    many = len(release.centres)
    title = "One private centre" if many == 1 else f"{many:,} private centres"
    name = release.certificate.dataset
    title += f" of {drawn_name(name)}" if name else ""
    sheet = Sheet(release, plane, centre_labels(release))
    return sheet.finished(title, unit=rows_of(release.certificate), below=others)


def plot(published: Release | Coreset, axes: Any = None, *, lon: str | None = None, lat: str | None = None) -> Any:
    """The map of what is published on given axes of matplotlib, or on new ones; the axes."""
    plane = Plane.of(published, lon=lon, lat=lat)
    two_columns(published.columns, lon, lat)
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots(figsize=(8, 6))[1]
    if isinstance(published, Coreset):
        from covey.published.coreset.draw import draw_points

        draw_points(axes, published, plane)
    else:
        paint(axes, published, plane, centre_labels(published))
    return axes


class Sheet:
    """A figure with a map at its left and the sizes at its right; words come last."""

    def __init__(self, release: Release, plane: Plane, letters: Sequence[str]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.release = release
        self.figure = Figure(figsize=(14, 8.75), dpi=150, facecolor="white")
        self.canvas = FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((LEFT, 0.105, SIDE - LEFT, 0.775))
        self.axes.set_anchor("W")
        paint(self.axes, release, plane, letters)
        self.axes.apply_aspect()
        side = self.axes.get_position().x1 + 0.045  # beside the map, however narrow it is
        draw_sizes(self.figure.add_axes((side, 0.145, min(RIGHT - 0.015 - side, WIDEST), 0.69)), release, letters)

    def finished(self, title: str, *, unit: str, below: str) -> bytes:
        """The PNG, with its words."""
        certificate, release = self.release.certificate, self.release
        promise = f"ε = {in_full(certificate.epsilon)}"
        promise += f", δ = {in_full(certificate.delta)}" if certificate.delta else ""
        discs = "" if release.sizes is None else f", their area the noisy number of {unit}"
        dashed = " Dashed: what is nearest to which." if len(release.columns) == 2 else ""
        words = f"Differentially private, {promise}. Discs: private centres{discs}.{dashed}"
        self.figure.text(LEFT, 0.945, title, size=21, weight="bold", color=INK)
        self.figure.text(LEFT, 0.905, words, size=11, color=QUIET)
        marks = fill(" ".join([*marks_in_words(release), *counted_briefly(certificate), below]), LINE)
        self.figure.text(LEFT, 0.012, marks, size=11 if marks.count("\n") < 2 else 8.5, color=QUIET, va="bottom")
        if certificate.seeded:
            self.figure.text(RIGHT, 0.945, SEEDED, size=13, weight="bold", color=ALARM, ha="right")
        return png_of(self.canvas)


def paint(axes: Any, release: Release, plane: Plane, letters: Sequence[str]) -> None:
    """The map itself: the public bounds, regions, places and centres."""
    frame(axes, plane)
    draw_borders(axes, release, plane)
    draw_places(axes, release, plane)
    draw_centres(axes, release, plane, letters)
    if plane.geographic:
        scale_bar(axes, plane)
    left, bottom, right, top = plane.frame
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)


def png_of(canvas: Any) -> bytes:
    content = io.BytesIO()
    canvas.print_png(content, metadata={"Software": "Covey"})
    return content.getvalue()


def drawn_name(name: str) -> str:
    """A name that anybody may have written, as a line on a picture: no formula, and not too long."""
    return shorten(printable(name), 40, placeholder=" …").replace("$", r"\$")


def frame(axes: Any, plane: Plane) -> None:
    """The public bounds, as the frame of the map; degrees are as long as at its middle."""
    from matplotlib.ticker import MaxNLocator

    left, bottom, right, top = plane.frame
    axes.set_facecolor(LAND)
    axes.xaxis.set_major_locator(MaxNLocator(TICKS))
    axes.yaxis.set_major_locator(MaxNLocator(TICKS))
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    if plane.geographic:
        axes.set_aspect(1 / max(0.1, np.cos(np.radians((bottom + top) / 2))))
        axes.xaxis.set_major_formatter(_degrees("E", "W", left, right))
        axes.yaxis.set_major_formatter(_degrees("N", "S", bottom, top))
    else:
        across, *up = plane.names
        axes.set_xlabel(drawn_name(across), color=QUIET)
        axes.set_ylabel(drawn_name(" ".join(up)), color=QUIET)
        axes.ticklabel_format(useOffset=False, scilimits=(-5, 9))
    for spine in axes.spines.values():
        spine.set_color(QUIET)
        spine.set_linewidth(1.0)


def _degrees(positive: str, negative: str, low: float, high: float) -> Callable[[float, Any], str]:
    """Degrees with as many digits as the ticks between low and high have."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(TICKS).tick_values(low, high)
    digits = next((i for i in range(12) if np.abs(np.round(ticks, i) - ticks).max() <= 1e-6 * (high - low)), 12)
    return lambda value, _: f"{abs(value):.{digits}f}°{'' if value == 0 else positive if value > 0 else negative}"


def draw_borders(axes: Any, release: Release, plane: Plane) -> None:
    """Tint what is nearest to each centre, as the fit measures, and dash the borders, each once."""
    from matplotlib.collections import LineCollection

    borders: dict[Any, Any] = {}
    left, bottom, right, top = plane.frame
    for feature in plane.regions(release.centres):
        i, ring = feature["properties"]["centre"], np.array(feature["geometry"]["coordinates"][0])
        axes.fill(*ring.T, color=COLOURS[i % len(COLOURS)], alpha=0.09, lw=0, zorder=1.5)
        for ends in pairwise(ring):
            x, y = np.mean(ends, axis=0)
            key = round((x - left) / (right - left), 9), round((y - bottom) / (top - bottom), 9)
            if not {0.0, 1.0} & {*key}:
                borders[key] = ends
    dashes = LineCollection(list(borders.values()), colors=INK, linewidths=1.0, linestyles=[(0, (6, 4))], zorder=3)
    axes.add_collection(dashes)


def draw_places(axes: Any, release: Release, plane: Plane) -> None:
    """An ellipse about each centre whose place is known: the stored radius in both columns. Nothing is computed."""
    from matplotlib.patches import Ellipse

    radii = None if release.errors is None else release.errors.radii
    widths = [2 * plane.half[axis] for axis in plane.axes if axis is not None]
    places = plane.flat(release.centres).tolist()
    for i, (place, radius) in enumerate(zip(places, radii or (), strict=False)):
        if radius is not None:
            across, up = (radius * width for width in widths)
            colour = COLOURS[i % len(COLOURS)]
            axes.add_patch(Ellipse(place, across, up, fc=colour, alpha=0.15, lw=0, zorder=4))
            axes.add_patch(Ellipse(place, across, up, fc="none", ec=INK, lw=1.3, zorder=4.5))


def draw_sizes(axes: Any, release: Release, letters: Sequence[str]) -> None:
    """A panel of noisy sizes with their intervals as whiskers; without sizes it stays empty."""
    axes.set_facecolor("white")
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(QUIET)
    axes.set_yticks(range(len(letters)), list(letters), size=min(11, 360 / len(letters)), weight="bold", color=INK)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(letters) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_major_locator(_few_ticks())
    known = None if release.errors is None else release.errors.sizes
    for i, size in enumerate(release.sizes or ()):
        colour = COLOURS[i % len(COLOURS)]
        if known is not None:
            ends = shown_ends(known[i])
            axes.plot(ends, [i, i], color=colour, lw=2.4, solid_capstyle="butt", zorder=2)
            axes.scatter(ends, [i, i], marker="|", s=110, color=colour, lw=2, zorder=2)
        face = "white" if hollow(release, i) else colour
        axes.scatter([shown_size(size)], [i], s=34, color=face, ec=colour, lw=1.6, zorder=3)
    words = "" if known is None or release.errors is None else f";\nwhiskers hold {often(release.errors.level)}"
    what = "Noisy sizes" if rows_of(release.certificate) == ROWS else "Rows that count (noisy)"
    axes.set_title(f"{what}{words}", size=10.5, color=QUIET, loc="left", pad=10)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)


def draw_centres(axes: Any, release: Release, plane: Plane, letters: Sequence[str]) -> None:
    """Discs with letters, and sizes below; smaller where they are many. A mark where a place is not determined."""
    from matplotlib.patheffects import withStroke

    sizes, room = np.maximum(release.sizes or [1.0] * len(letters), 0.0), min(1.0, 12 / len(letters))
    areas = np.maximum(max(220 * room, 150.0), room * 1450 * sizes / max(sizes.max(), 1.0))
    above = {"path_effects": [withStroke(linewidth=3.2, foreground="white")], "zorder": 6}
    for i, ((x, y), letter) in enumerate(zip(plane.flat(release.centres).tolist(), letters, strict=True)):
        colour, doubt = COLOURS[i % len(COLOURS)], hollow(release, i)
        look = {"color": "white", "ec": colour} if doubt else {"color": colour, "ec": "white"}
        axes.scatter([x], [y], s=areas[i], alpha=0.92, lw=2.2 * room**0.5, zorder=5, **look)
        ink, size = colour if doubt else "white", 13 * room**0.5
        axes.annotate(letter, (x, y), ha="center", va="center", color=ink, size=size, weight="bold", zorder=6)
        if nowhere(release, i):
            off = np.sqrt(areas[i]) / 2 * 0.75 + 2
            font = {"ha": "right", "va": "bottom", "size": 15 * room**0.5, "weight": "bold", "color": INK}
            axes.annotate(UNKNOWN, (x, y), xytext=(-off, off), textcoords="offset points", **font, **above)
        if release.sizes is not None and len(letters) <= MOST_SIZES:
            axes.annotate(
                f"{shown_size(release.sizes[i]):,}",
                (x, y),
                xytext=(0, -np.sqrt(areas[i]) / 2 - 5),
                textcoords="offset points",
                ha="center",
                va="top",
                size=11.5 * room**0.25,
                weight="bold",
                color=INK,
                **above,
            )


def scale_bar(axes: Any, plane: Plane) -> None:
    """A bar of a round length in the north-east corner, as long as at the middle of the map."""
    west, south, east, north = plane.frame
    degree = METRES * max(0.1, np.cos(np.radians((south + north) / 2)))
    wanted = (east - west) * degree / 6
    metres = max(m for m in (n * 10.0**e for e in range(-3, 8) for n in (1, 2, 5)) if m <= max(wanted, 1e-3))
    end, y, tick = east - 0.025 * (east - west), north - 0.06 * (north - south), 0.01 * (north - south)
    start = end - metres / degree
    axes.plot([start, start, end, end], [y + tick, y, y, y + tick], color=INK, lw=1.4, zorder=6)
    words = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    axes.annotate(words, ((start + end) / 2, y + 0.6 * tick), ha="center", size=9.5, color=INK, zorder=6)


def two_columns(columns: Sequence[str], lon: str | None, lat: str | None) -> tuple[int, int]:
    """Longitude and latitude if they can be told, else the first two columns."""
    if len(columns) < 2:
        raise ParameterError("plot", "needs at least two columns")
    try:
        return find_axes(columns, lon, lat)
    except ParameterError:
        if lon is not None or lat is not None:
            raise
        return 0, 1
