"""The costs of many numbers of clusters as a picture. From a release alone."""

from __future__ import annotations

import io
import math
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.published.coreset.choose import Choice


def elbow_plot(found: Choice, objective: str) -> bytes:
    """A PNG: the cost of each number of clusters with its interval, and those that fit about equally well."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from covey.published.draw import INK, QUIET

    figure = Figure(figsize=(8, 4.8), dpi=150, facecolor="white", layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    ks, costs = list(found.costs), [each.cost for each in found.costs.values()]
    if found.low is not None and found.high is not None:
        axes.axvspan(found.low - 0.4, found.high + 0.4, color="#2e6f95", alpha=0.12, lw=0)
    axes.plot(ks, costs, "-o", color="#2e6f95", ms=5, lw=1.4, zorder=3)
    for k in ks:
        if (ends := found.ends(k)) is not None:
            axes.plot([k, k], ends, color="#2e6f95", lw=1.2, alpha=0.7)
    if found.k is not None and math.isfinite(found.costs[found.k].cost):
        axes.plot([found.k], [found.costs[found.k].cost], "o", color="#b00020", ms=9, zorder=4)
    axes.set_xlabel("clusters", color=QUIET)
    axes.set_ylabel(f"{objective} cost (noisy)", color=QUIET)
    axes.set_ylim(bottom=min(0.0, *costs) if costs else 0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    axes.set_title(fill(found.words, 90), loc="left", fontsize=10.5, color=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()
