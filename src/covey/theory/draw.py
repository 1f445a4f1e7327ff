"""The expected cost against epsilon, drawn."""

from __future__ import annotations

import io

import numpy as np

from covey.published.draw import COLOURS, INK, QUIET
from covey.theory.forecast import Forecast, forecast


def forecast_plot(shape: Forecast) -> bytes:
    """A PNG of the expected cost against epsilon, with its range, for the shape of a forecast."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    epsilons = np.geomspace(0.03, 5, 60)
    line = [forecast(n=shape.n, d=shape.d, k=shape.k, delta=shape.delta, epsilon=float(e)) for e in epsilons]
    figure = Figure(figsize=(8, 5), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.fill_between(epsilons, [f.low for f in line], [f.high for f in line], color=COLOURS[1], alpha=0.18, lw=0)
    axes.plot(epsilons, [f.ratio for f in line], color=COLOURS[1], lw=2)
    axes.axhline(1, color=QUIET, lw=0.8)
    axes.set_xscale("log")
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"])
    axes.minorticks_off()
    axes.set_ylim(0.97, min(max(f.high for f in line), 4.0))
    axes.set_xlabel("epsilon: more private to the left")
    axes.set_ylabel("cost relative to ordinary k-means")
    axes.set_title(f"What to expect: n = {shape.n:,.0f}, d = {shape.d}, k = {shape.k}", loc="left", color=INK)
    axes.text(0.99, 0.97, "band: 8 of 10 made-up sets", transform=axes.transAxes, ha="right", va="top", color=QUIET)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    image = io.BytesIO()
    canvas.print_png(image)
    return image.getvalue()
