"""The costs of many numbers of clusters as a picture. From a release alone."""

from __future__ import annotations

import io
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey.published.coreset.choose import Choice

BLUE, RED = "#2e6f95", "#b00020"
_WIDE = 112  # letters of a line of notes
_LINE = 0.16  # inches from one to the next


def elbow_plot(found: Choice, objective: str, *, seeded: bool = False) -> bytes:
    """A PNG: the cost of each number of clusters with its interval, and those that fit about equally well.

    seeded : whether the coreset is, and so not private, which is said.

    Where a cost cannot be told a dotted line stands instead of a point; one whose error nobody knows is hollow.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from covey.published.draw import ALARM, INK, QUIET, SEEDED

    notes = "\n".join(fill(each, _WIDE) for each in notes_of(found, objective))
    below = _LINE * (notes.count("\n") + 2) if notes else 0.0
    high = 4.8 + below
    figure = Figure(figsize=(8, high), dpi=150, facecolor="white")
    figure.set_layout_engine("constrained", rect=(0, below / high, 1, 4.8 / high))
    figure.text(0.015, 0.5 * _LINE / high, notes, fontsize=8.5, color=QUIET, linespacing=1.3)
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    if found.low is not None and found.high is not None:
        axes.axvspan(found.low - 0.4, found.high + 0.4, color=BLUE, alpha=0.12, lw=0)
    _draw_costs(axes, found)
    axes.set_xlabel("clusters", color=QUIET)
    axes.set_ylabel(f"{objective} cost (noisy)", color=QUIET)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    axes.set_title(fill(found.words, 90), loc="left", fontsize=10.5, color=INK)
    if seeded:
        figure.text(0.99, 0.5 * _LINE / high, SEEDED, fontsize=10, weight="bold", color=ALARM, ha="right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def _draw_costs(axes: Any, found: Choice) -> None:
    """Points that are told, joined where nothing between them is missing, and lines for what is not."""
    told = [k for k in found.costs if not found.hides(k)]
    costs = {k: found.costs[k].cost for k in told}
    for k in told:
        if k + 1 in costs:
            axes.plot([k, k + 1], [costs[k], costs[k + 1]], color=BLUE, lw=1.4, zorder=3)
        ends, ink = found.ends(k), RED if k == found.k else BLUE
        if ends is not None:
            axes.errorbar(k, costs[k], [[costs[k] - ends[0]], [ends[1] - costs[k]]], color=BLUE, lw=1.2, capsize=3)
        size = 9 if k == found.k else 5
        axes.plot([k], [costs[k]], "o", color=ink, mfc="white" if ends is None else ink, ms=size, zorder=4)
    for k in found.costs:
        if found.hides(k):
            axes.axvline(k, color="#8a8f98", lw=1.2, ls=":")
    heights = [height for k in told for height in (costs[k], *(found.ends(k) or ()))]
    if heights:
        axes.set_ylim(bottom=min(0.0, *heights))
    else:
        axes.set_yticks([])
    first, last = found.asked or (min(found.costs, default=1), max(found.costs, default=2))
    axes.set_xlim(first - 0.5, last + 0.5)


def notes_of(found: Choice, objective: str) -> list[str]:
    """What the marks mean, and why something is missing."""
    from covey.post.errors.quantiles import LEVEL
    from covey.published.sentences import often

    ends = [k for k in found.costs if found.ends(k) is not None]
    bare = any(found.ends(k) is None and not found.hides(k) for k in found.costs)
    bars = "a bracket, if rows are spread about their points as is taken" if found.bracket else often(LEVEL)
    marks = [f"bar: {bars}"] if ends else []
    marks += ["hollow: error unknown"] if bare else []
    marks += ["dotted: the cost cannot be told"] if any(map(found.hides, found.costs)) else []
    legend = "; ".join(marks)
    return ([f"{legend[0].upper()}{legend[1:]}."] if legend else []) + found.remarks(objective)
