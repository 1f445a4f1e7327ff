"""A profile as small multiples: a line of panels for each cluster, a panel for each column. From a profile alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.published.certificate import in_full
from covey.published.draw import ALARM, COLOURS, INK, QUIET, SEEDED, drawn_name
from covey.published.profile.columns import CATEGORY, WEEKDAY, Column, edges_in_words

if TYPE_CHECKING:
    from covey.published.profile.profile import Profile

MOST_CLUSTERS, MOST_BARS, LONGEST = 20, 30, 12


def small_multiples(profile: Profile) -> bytes:
    """A PNG: shares of cells in each cluster as bars with their intervals, those of all rows as a line of steps.

    Of more than 20 clusters the largest are drawn, and of more than 30 categories the first.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = profile.of(profile.columns[0].name)[1].sizes()[:, 0]
    clusters = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS]).tolist()
    wide = [max(2.6, min(6.0, 0.16 * min(len(each.cells), MOST_BARS) + 1.2)) for each in profile.columns]
    figure = Figure(
        figsize=(sum(wide) + 0.9, 1.25 * len(clusters) + 1.4), dpi=130, facecolor="white", layout="constrained"
    )
    canvas = FigureCanvasAgg(figure)
    grid = figure.subplots(len(clusters), len(profile.columns), squeeze=False, width_ratios=wide)
    for place, column in enumerate(profile.columns):
        _, counts = profile.of(column.name)
        shown = slice(0, MOST_BARS) if column.kind == CATEGORY else slice(0, len(column.cells) - 1)
        shares, overall = counts.shares()[:, shown], counts.whole.shares()[0, shown, 0]
        few = profile.cannot_tell(column.name)
        top = 1.05 * max(overall.max(), *(shares[each, :, 2].max() for each in clusters if not few[each]), 0.05)
        for line, cluster in enumerate(clusters):
            axes = grid[line, place]
            colour = COLOURS[cluster % len(COLOURS)]
            _panel(axes, column, shares[cluster], overall, colour=colour, few=bool(few[cluster]))
            axes.set_ylim(0, min(top, 1.05))
            if line == 0:
                axes.set_title(_heading(column), fontsize=10, color=INK, loc="left")
            if line < len(clusters) - 1:
                axes.set_xticklabels([])
            if place == 0:
                axes.set_ylabel(f"cluster {cluster}", fontsize=9, color=colour)
    seeded = profile.certificate.seeded
    figure.suptitle(
        SEEDED if seeded else title_of(profile), fontsize=10, color=ALARM if seeded else QUIET, x=0.01, ha="left"
    )
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def _panel(axes: Any, column: Column, shares: Any, overall: Any, *, colour: str, few: bool) -> None:
    places = np.arange(len(overall))
    if few:
        axes.text(0.5, 0.55, "too few rows to tell", transform=axes.transAxes, ha="center", color=QUIET, fontsize=8)
    else:
        axes.bar(places, shares[:, 0], width=0.86, color=colour, alpha=0.75, lw=0)
        axes.vlines(places, shares[:, 1], shares[:, 2], color=INK, lw=0.9)
    axes.stairs(overall, np.arange(len(overall) + 1) - 0.5, color=INK, lw=0.9, alpha=0.65, ls=(0, (2, 1.5)))
    ticks, labels = _ticks(column, len(overall))
    axes.set_xticks(ticks, [drawn_name(_cut(each)) for each in labels], fontsize=7.5)
    if column.kind == CATEGORY and len(overall) > 5:
        axes.tick_params("x", rotation=60)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    axes.tick_params(colors=QUIET, labelsize=7.5, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def title_of(profile: Profile) -> str:
    """What the picture shows and promises, and what it leaves out."""
    certificate, many = profile.certificate, len(profile.centres)
    promise = f"ε = {in_full(certificate.epsilon)}"
    promise += f", δ = {in_full(certificate.delta)}" if certificate.delta else ""
    left = f" The largest {MOST_CLUSTERS} of {many:,} clusters." if many > MOST_CLUSTERS else ""
    return f"Shares of each cluster's rows with 90% intervals; dashed: of all rows. {promise}.{left}"


def _heading(column: Column) -> str:
    left = (
        f" ({MOST_BARS} of {len(column.cells):,})" if column.kind == CATEGORY and len(column.cells) > MOST_BARS else ""
    )
    return f"{drawn_name(column.name)}{left}"


def _ticks(column: Column, many: int) -> tuple[list[float], list[str]]:
    """Where a panel's axis says what a bar is: every category and day, some edges of bins, every sixth hour."""
    if column.edges is not None:
        some = np.unique(np.linspace(0, many, min(5, many + 1)).round().astype(int)).tolist()
        told = edges_in_words(np.array(column.edges))
        return [each - 0.5 for each in some], [told[each] for each in some]
    step = 1 if column.kind in (CATEGORY, WEEKDAY) else 6
    return [float(each) for each in range(0, many, step)], column.cells[:many:step]
