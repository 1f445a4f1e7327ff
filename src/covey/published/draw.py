"""Maps of what is published. matplotlib is imported inside the functions: nothing else needs it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.geo.geojson import find_axes
from covey.published.certificate import in_full, reach_of
from covey.published.coreset.coreset import Coreset
from covey.published.release import Release
from covey.published.sentences import NOISE, often
from covey.published.show import corners

Points = NDArray[np.float64]

LEFT, SIDE, RIGHT = 0.05, 0.80, 0.985  # of the figure: where map and text begin, the sizes begin, and all ends
LAND, WATER, ROAD, INK, QUIET = "#f7f4ec", "#b9d9ea", "#ffffff", "#22303c", "#6b7784"
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 8.75), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((LEFT, 0.105, SIDE - LEFT, 0.775))
    west, south, east, north = frame(axes, release)

    axes.fill_between(river[:, 0], river[:, 1] - river_half_width, river[:, 1] + river_half_width, color=WATER, lw=0)
    for road in roads:
        axes.plot(*road.T, color="#e4ddcc", lw=4.2, solid_capstyle="round", zorder=1)
        axes.plot(*road.T, color=ROAD, lw=2.8, solid_capstyle="round", zorder=1.1)
    axes.scatter(
        made_up_points[:, 0], made_up_points[:, 1], s=0.55, c="#4a5763", alpha=0.16, lw=0, zorder=2, rasterized=True
    )
    draw_borders(axes, release, (west, south, east, north))
    draw_places(axes, release)
    draw_centres(axes, release, letters)
    draw_sizes(figure.add_axes((SIDE + 0.045, 0.145, RIGHT - SIDE - 0.06, 0.69)), release, letters)
    scale_bar(axes, east, north)
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)

    certificate = release.certificate
    figure.text(
        LEFT, 0.945, f"{len(letters)} centres of a city, and nobody given away", size=21, weight="bold", color=INK
    )
    figure.text(
        LEFT,
        0.905,
        f"Differentially private, ε = {in_full(certificate.epsilon)}. Discs: private centres, their area the noisy "
        "number of people. Dashed: who is nearest to which.",
        size=11,
        color=QUIET,
    )
    figure.text(
        LEFT,
        0.018,
        f"{marks(release)}Grey dots: made-up people, so that nobody minds. With real data, leave them out.",
        size=11,
        color=QUIET,
    )
    if certificate.seeded:
        figure.text(RIGHT, 0.945, "SEEDED: NOT PRIVATE", size=13, weight="bold", color="#b00020", ha="right")
    content = io.BytesIO()
    canvas.print_png(content, metadata={"Software": "Covey"})
    return content.getvalue()


def frame(axes: Any, release: Release) -> tuple[float, float, float, float]:
    """The public box, as the frame of the map."""
    from matplotlib.ticker import MultipleLocator

    (west, south), (east, north) = release.certificate.domain["lower"], release.certificate.domain["upper"]
    axes.set_facecolor(LAND)
    axes.set_aspect("equal")
    axes.xaxis.set_major_locator(MultipleLocator(0.05))
    axes.yaxis.set_major_locator(MultipleLocator(0.05))
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    axes.xaxis.set_major_formatter(
        lambda value, _: f"{abs(value):.2f}°{'' if value == 0 else 'E' if value > 0 else 'W'}"
    )
    axes.yaxis.set_major_formatter(
        lambda value, _: f"{abs(value):.2f}°{'' if value == 0 else 'N' if value > 0 else 'S'}"
    )
    for spine in axes.spines.values():
        spine.set_color(QUIET)
        spine.set_linewidth(1.0)
    return west, south, east, north


def draw_borders(axes: Any, release: Release, box: tuple[float, float, float, float]) -> None:
    """Tint what is nearest to each centre, with columns scaled as the clustering scales them, and dash the borders."""
    west, south, east, north = box
    lon, lat = np.meshgrid(np.linspace(west, east, 640), np.linspace(south, north, 400))
    across, up = release.scale()[1]
    squares = np.stack([((lon - x) / across) ** 2 + ((lat - y) / up) ** 2 for x, y in release.centres])
    for i in range(len(squares)):
        others = np.concatenate([squares[:i], squares[i + 1 :], np.full_like(squares[:1], np.inf)])
        lead = others.min(axis=0) - squares[i]
        axes.contourf(lon, lat, lead, levels=[0, np.inf], colors=[COLOURS[i % len(COLOURS)]], alpha=0.09, zorder=1.5)
        once = np.ma.masked_where(others.argmin(axis=0) < i, lead)  # else both neighbours dash their border
        if (once < 0).any():
            axes.contour(lon, lat, once, levels=[0], colors=[INK], linewidths=1.0, linestyles=[(0, (6, 4))], zorder=3)


def marks(release: Release) -> str:
    """What else is drawn: rings and hollow discs, where there are any."""
    known = release.errors
    if known is None:
        return ""
    rings = any(radius is not None for radius in known.radii or ())
    words = (
        f"Rings: where a centre probably is, {often(known.level)}; small ones lie under their disc. " if rings else ""
    )
    return words + (f"Hollow: {NOISE}. " if any(known.doubtful or ()) else "")


def draw_places(axes: Any, release: Release, *, columns: tuple[int, int] = (0, 1)) -> None:
    """An ellipse about each centre whose place is known: the stored radius in both columns. Nothing is computed."""
    from matplotlib.patches import Ellipse

    radii = None if release.errors is None else release.errors.radii
    widths = [2 * float(release.scale()[1][column]) for column in columns]
    for i, (centre, radius) in enumerate(zip(release.centres, radii or (), strict=False)):
        if radius is not None:
            place, (across, up) = (centre[columns[0]], centre[columns[1]]), (radius * width for width in widths)
            colour = COLOURS[i % len(COLOURS)]
            axes.add_patch(Ellipse(place, across, up, fc=colour, alpha=0.15, lw=0, zorder=4))
            axes.add_patch(Ellipse(place, across, up, fc="none", ec=INK, lw=1.3, zorder=4.5))


def hollow(release: Release, i: int) -> bool:
    """Whether a centre may be only noise."""
    return release.errors is not None and release.errors.doubtful is not None and release.errors.doubtful[i]


def draw_sizes(axes: Any, release: Release, letters: Sequence[str]) -> None:
    """A panel of noisy sizes with their intervals as whiskers; without sizes it stays empty."""
    axes.set_facecolor("white")
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(QUIET)
    axes.set_yticks(range(len(letters)), list(letters), size=11, weight="bold", color=INK)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(letters) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_major_locator(_few_ticks())
    known = None if release.errors is None else release.errors.sizes
    for i, size in enumerate(release.sizes or ()):
        colour = COLOURS[i % len(COLOURS)]
        if known is not None:
            axes.plot(known[i], [i, i], color=colour, lw=2.4, solid_capstyle="butt", zorder=2)
            axes.scatter(known[i], [i, i], marker="|", s=110, color=colour, lw=2, zorder=2)
        axes.scatter([size], [i], s=34, color="white" if hollow(release, i) else colour, ec=colour, lw=1.6, zorder=3)
    words = "" if known is None or release.errors is None else f"; whiskers\nhold {often(release.errors.level)}"
    axes.set_title(f"Noisy sizes{words}", size=10.5, color=QUIET, loc="left", pad=10)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)


def draw_centres(axes: Any, release: Release, letters: Sequence[str]) -> None:
    from matplotlib.patheffects import withStroke

    sizes = np.maximum(release.sizes or [1.0] * len(letters), 0.0)
    areas = np.maximum(220.0, 1450 * sizes / max(sizes.max(), 1.0))
    halo = [withStroke(linewidth=3.2, foreground="white")]
    for i, ((x, y), letter) in enumerate(zip(release.centres, letters, strict=True)):
        colour, doubt = COLOURS[i % len(COLOURS)], hollow(release, i)
        look = {"color": "white", "ec": colour} if doubt else {"color": colour, "ec": "white"}
        axes.scatter([x], [y], s=areas[i], alpha=0.92, lw=2.2, zorder=5, **look)
        ink = colour if doubt else "white"
        axes.annotate(letter, (x, y), ha="center", va="center", color=ink, size=13, weight="bold", zorder=6)
        if release.sizes is not None:
            axes.annotate(
                f"{round(release.sizes[i]):,}",
                (x, y),
                xytext=(0, -np.sqrt(areas[i]) / 2 - 5),
                textcoords="offset points",
                ha="center",
                va="top",
                size=11.5,
                weight="bold",
                color=INK,
                path_effects=halo,
                zorder=6,
            )


def scale_bar(axes: Any, east: float, north: float, *, km: float = 5.0) -> None:
    """A bar in the north-east corner; a degree is 111.2 km in both directions at the equator."""
    end, y = east - 0.008, north - 0.012
    start = end - km / 111.2
    axes.plot([start, start, end, end], [y + 0.002, y, y, y + 0.002], color=INK, lw=1.4, zorder=6)
    axes.annotate(f"{km:g} km", ((start + end) / 2, y + 0.0012), ha="center", size=9.5, color=INK, zorder=6)


def coreset_plot(coreset: Coreset, *, lon: str | None = None, lat: str | None = None) -> bytes:
    """A PNG of a coreset: discs whose area is the weight, and crosses where the weight is negative."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, up = two_columns(coreset.columns, lon, lat)
    x, y = coreset.points[:, across], coreset.points[:, up]
    lower, upper = (np.array(end) for end in corners(coreset.certificate.domain))
    width, height = upper[across] - lower[across], upper[up] - lower[up]
    reach = reach_of(coreset.certificate.domain)

    figure = Figure(figsize=(9.6, 9.4), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.09, 0.085, 0.885, 0.78))
    axes.set_facecolor(LAND)
    axes.set_box_aspect(reach[up] / reach[across])  # as distances are measured
    heaviest = float(np.abs(coreset.weights).max()) or 1.0
    largest = float(np.clip(60_000 / len(coreset), 6.0, 420.0))
    areas = largest * np.abs(coreset.weights) / heaviest
    for negative in (False, True):
        shown = (coreset.weights < 0) == negative if negative else coreset.weights > 0
        if not shown.any():
            continue
        look: dict[str, Any] = (
            {"marker": "x", "c": "#b00020", "lw": 0.9, "alpha": 0.75, "zorder": 3}
            if negative
            else {"marker": "o", "c": "#2e6f95", "lw": 0, "alpha": 0.72, "zorder": 2}
        )
        least = float(np.clip(20_000 / len(coreset), 1.0, 14.0)) if negative else 1.0
        axes.scatter(x[shown], y[shown], s=np.maximum(areas[shown], least), rasterized=True, **look)
    axes.set_xlim(lower[across] - 0.01 * width, upper[across] + 0.01 * width)
    axes.set_ylim(lower[up] - 0.01 * height, upper[up] + 0.01 * height)
    axes.set_xlabel(coreset.columns[across], color=QUIET)
    axes.set_ylabel(coreset.columns[up], color=QUIET)
    axes.ticklabel_format(useOffset=False)
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    for spine in axes.spines.values():
        spine.set_color(QUIET)

    certificate = coreset.certificate
    promise = f"ε = {in_full(certificate.epsilon)}"
    promise += f", δ = {in_full(certificate.delta)}" if certificate.delta else ""
    positive, below = int((coreset.weights > 0).sum()), int((coreset.weights < 0).sum())
    crosses = f"\nCrosses ({below:,}): negative weights, where noise went below zero; in sums they cancel noise."
    crosses = crosses if below else "\nNo weight is negative."
    figure.text(0.09, 0.945, f"A private coreset of {len(coreset):,} points", size=19, weight="bold", color=INK)
    figure.text(
        0.09,
        0.89,
        f"Differentially private, {promise}. Discs ({positive:,}): their area is the noisy number of rows." + crosses,
        size=10.5,
        color=QUIET,
        linespacing=1.45,
    )
    if certificate.seeded:
        figure.text(0.975, 0.945, "SEEDED: NOT PRIVATE", size=13, weight="bold", color="#b00020", ha="right")
    content = io.BytesIO()
    canvas.print_png(content, metadata={"Software": "Covey"})
    return content.getvalue()


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
