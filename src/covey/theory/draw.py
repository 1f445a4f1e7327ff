"""The expected errors against epsilon, drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from covey.published.draw import COLOURS, INK, QUIET
from covey.theory.forecast import Forecast, forecast

TICKS = (0.03, 0.1, 0.3, 1, 3)


def forecast_plot(shape: Forecast, *, wishes: Mapping[str, float], width: float | None) -> bytes:
    """A PNG of the three errors against epsilon, with their ranges and the wishes, for the shape of a forecast.

    width : of the domain in metres, or None: then places are in shares of it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    epsilons = np.geomspace(0.03, 5, 60)
    same = {name: getattr(shape, name) for name in ("n", "d", "k", "delta", "neighbours")}
    line = [forecast(**same, epsilon=float(epsilon)) for epsilon in epsilons]
    figure = Figure(figsize=(12, 4.6), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    titles = {
        "cost": "Extra cost, %",
        "size": "Size error, % of n/k rows",
        "place": "Place error, % of the width" if width is None else "Place error, metres",
    }
    for axes, (what, title), colour in zip(figure.subplots(1, 3), titles.items(), COLOURS[1:4], strict=True):
        unit = 100.0 if width is None or what != "place" else width
        low, middle, high = np.array([getattr(each, what) for each in line]).T * unit
        axes.fill_between(epsilons, low, high, color=colour, alpha=0.18, lw=0)
        axes.plot(epsilons, middle, color=colour, lw=2)
        if what in wishes:
            axes.axhline(wishes[what] * unit, color=INK, lw=1, ls="--")
            axes.text(5, wishes[what] * unit, "your wish", color=INK, ha="right", va="bottom", fontsize=9)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(TICKS, [f"{each:g}" for each in TICKS])
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axes.minorticks_off()
        axes.set_xlabel("epsilon: more private to the left")
        axes.set_title(title, loc="left", color=INK)
        axes.grid(color=QUIET, alpha=0.2, lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    head = f"What to expect: n = {shape.n:,.0f}, d = {shape.d}, k = {shape.k}"
    figure.suptitle(f"{head}   (line: the middle; band: 8 of 10 made-up sets)", x=0.01, ha="left", color=INK)
    figure.tight_layout()
    image = io.BytesIO()
    canvas.print_png(image)
    return image.getvalue()
