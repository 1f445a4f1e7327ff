"""Pictures of coresets. matplotlib is imported inside the functions: nothing else needs it."""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.published.certificate import in_full
from covey.published.coreset.coreset import Coreset
from covey.published.counted import rows_of
from covey.published.draw import ALARM, INK, QUIET, SEEDED, frame, png_of, two_columns
from covey.published.plane import Plane


def coreset_plot(coreset: Coreset, *, lon: str | None = None, lat: str | None = None) -> bytes:
    """A PNG of a coreset: discs whose area is the weight, and crosses where the weight is negative."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    two_columns(coreset.columns, lon, lat)
    figure = Figure(figsize=(9.6, 9.4), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    draw_points(figure.add_axes((0.09, 0.085, 0.885, 0.78)), coreset, Plane.of(coreset, lon=lon, lat=lat))

    certificate = coreset.certificate
    rows = rows_of(certificate)
    promise = f"ε = {in_full(certificate.epsilon)}"
    promise += f", δ = {in_full(certificate.delta)}" if certificate.delta else ""
    positive, below = int((coreset.weights > 0).sum()), int((coreset.weights < 0).sum())
    crosses = f"\nCrosses ({below:,}): negative weights, where noise went below zero; in sums they cancel noise."
    crosses = crosses if below else "\nNo weight is negative."
    figure.text(0.09, 0.945, f"A private coreset of {len(coreset):,} points", size=19, weight="bold", color=INK)
    figure.text(
        0.09,
        0.89,
        f"Differentially private, {promise}. Discs ({positive:,}): their area is the noisy number of {rows}." + crosses,
        size=10.5,
        color=QUIET,
        linespacing=1.45,
    )
    if certificate.seeded:
        figure.text(0.975, 0.945, SEEDED, size=13, weight="bold", color=ALARM, ha="right")
    return png_of(canvas)


def draw_points(axes: Any, coreset: Coreset, plane: Plane) -> None:
    """Discs by weight, and crosses where it is negative."""
    x, y = plane.flat(coreset.points).T
    frame(axes, plane)
    left, bottom, right, top = plane.frame
    width, height = right - left, top - bottom
    if not plane.geographic:
        across, up = (plane.half[axis] for axis in plane.axes if axis is not None)
        axes.set_box_aspect(height / up / (width / across))  # as distances are measured
    heaviest = float(np.abs(coreset.weights).max()) or 1.0
    largest = float(np.clip(60_000 / len(coreset), 6.0, 420.0))
    areas = largest * np.abs(coreset.weights) / heaviest
    positive = {"marker": "o", "c": "#2e6f95", "lw": 0, "alpha": 0.72, "zorder": 2}
    negative = {"marker": "x", "c": ALARM, "lw": 0.9, "alpha": 0.75, "zorder": 3}
    small = float(np.clip(20_000 / len(coreset), 1.0, 14.0))
    for shown, look, least in ((coreset.weights > 0, positive, 1.0), (coreset.weights < 0, negative, small)):
        if shown.any():
            axes.scatter(x[shown], y[shown], s=np.maximum(areas[shown], least), rasterized=True, **look)
    axes.set_xlim(left - 0.01 * width, right + 0.01 * width)
    axes.set_ylim(bottom - 0.01 * height, top + 0.01 * height)
