"""The figures of `covey bench ipsn17` as PNG files, laid out as in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from covey.bench.harness import Results, Row
from covey.bench.ipsn17.rules import PAPER_TIMES
from covey.bench.ipsn17.tasks import MANHATTAN
from covey.bench.plots import INK, PALE, panels_of, png_of

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # told apart by the colour-blind
MARKERS = "osX^D"


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """Every figure: its name and its PNG."""
    tables = results["figures"]
    yield "figure3", times(tables["figure3"], paper=PAPER_TIMES)
    yield "figure4", times(tables["figure4"], paper={})
    yield "figure5", errors_and_sizes(tables["figure5"])
    yield "figure6", by_centres(tables["figure6"])
    yield "figure7", compared(tables["figure7"])
    yield "figure8", city(results["map"])


def times(rows: Sequence[Row], *, paper: dict[int, float]) -> bytes:
    """Seconds against the number of rows."""
    figure, (panel,) = panels_of(1, 1, size=(7.0, 4.6))
    for i, (variant, k) in enumerate(dict.fromkeys((row["variant"], row["k"]) for row in rows)):
        own = sorted((row["n"], row["cpu"]) for row in rows if (row["variant"], row["k"]) == (variant, k))
        _line(panel, own, i, f"{variant}, k = {k}")
    if paper and max(row["n"] for row in rows) >= min(paper):
        panel.plot(*zip(*paper.items(), strict=True), "*", color=INK, markersize=10, label="the paper, k = 5, 12 cores")
    panel.set(xscale="log", yscale="log", xlabel="number of rows n", ylabel="CPU seconds (one core)")
    panel.legend(frameon=False, fontsize=8)
    return png_of(figure)


def errors_and_sizes(rows: Sequence[Row]) -> bytes:
    """Above: error against epsilon. Below: coreset size. A column for each k, a line for each number of rows."""
    kept = [
        row for row in rows if row["set"] == "cabs" and row["variant"] == "ball" and row["relation"] == "replace-one"
    ]
    ks = list(dict.fromkeys(row["k"] for row in kept))
    figure, panels = panels_of(2, len(ks), size=(4.0 * len(ks), 7.0))
    for column, k in enumerate(ks):
        for i, n in enumerate(dict.fromkeys(row["n"] for row in kept)):
            own = [row for row in kept if (row["k"], row["n"]) == (k, n) and not row["refused"]]
            for panel, what in ((panels[column], "error"), (panels[len(ks) + column], "size")):
                _line(panel, sorted((row["epsilon"], row[what]) for row in own), i, f"n = {n:,}")
        panels[column].axhline(1.0, color=PALE, linestyle="--", linewidth=1)
        panels[column].set(xscale="log", yscale="log", title=f"k = {k}", ylabel="error" if column == 0 else "")
        panels[len(ks) + column].set(xscale="log", xlabel="ε", ylabel="coreset size" if column == 0 else "")
    panels[0].legend(frameon=False, fontsize=8)
    return png_of(figure)


def by_centres(rows: Sequence[Row]) -> bytes:
    """Error against k, a line for each epsilon: Covey's form left, the printed one right."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    figure, panels = panels_of(1, len(variants), size=(10.0, 4.6))
    for panel, variant in zip(panels, variants, strict=True):
        for i, epsilon in enumerate(dict.fromkeys(row["epsilon"] for row in rows)):
            own = [r for r in rows if r["epsilon"] == epsilon and r["variant"] == variant and not r["refused"]]
            _line(panel, sorted((row["k"], row["error"]) for row in own), i, f"ε = {epsilon:g}")
        panel.set(xlabel="number of centres k", ylabel="error", title=variant)
    panels[0].legend(frameon=False, fontsize=8)
    return png_of(figure)


def compared(rows: Sequence[Row]) -> bytes:
    """Balls against nets, as printed and as Covey has them: error and coreset size against the number of rows."""
    figure, panels = panels_of(1, 2, size=(10.0, 4.4))
    for i, variant in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        own = [row for row in rows if row["variant"] == variant and not row["refused"]]
        for panel, what in zip(panels, ("error", "size"), strict=True):
            _line(panel, sorted((row["n"], row[what]) for row in own), i, variant)
            panel.set(xscale="log", yscale="log", xlabel="number of rows n", ylabel=what)
    panels[0].legend(frameon=False, fontsize=8)
    return png_of(figure)


def city(drawn: dict[str, Any]) -> bytes:
    """Points of the coreset and centres on the map, a panel for each level, the least private first."""
    ground, levels = drawn["ground"], drawn["levels"]
    figure, panels = panels_of(1, len(levels), size=(3.5 * len(levels), 4.8))
    heaviest = max(max(level["weights"]) for level in levels)
    for panel, level in zip(panels, levels, strict=True):
        panel.grid(visible=False)
        panel.plot(*zip(*ground["rows"], strict=True), ",", color="#ABABAB", zorder=1)
        panel.plot(*zip(*(*MANHATTAN, MANHATTAN[0]), strict=True), color=PALE, linewidth=1, zorder=2)
        area = 20 + 400 * np.maximum(level["weights"], 0) / heaviest
        own = {"color": COLOURS[0], "alpha": 0.45, "linewidths": 0}
        panel.scatter(*zip(*level["points"], strict=True), s=area, **own, label="point of the coreset", zorder=3)
        plain = {"color": INK, "marker": "x", "s": 45, "linewidths": 1.6}
        panel.scatter(*zip(*ground["centres"], strict=True), **plain, label="centre without privacy", zorder=4)
        private = {"color": COLOURS[1], "marker": "^", "s": 50, "edgecolors": "white", "linewidths": 0.8}
        panel.scatter(*zip(*level["centres"], strict=True), **private, label="private centre", zorder=5)
        panel.set_title(f"ε = {level['epsilon']:g}: {len(level['points'])} points", fontsize=10)
        panel.set(xlim=(-74.1, -73.9), ylim=(40.7, 40.9), aspect=1.32)  # a degree of longitude is shorter here
        panel.set(xticks=(-74.05, -74.0, -73.95), yticks=(40.7, 40.75, 40.8, 40.85, 40.9))
    panels[0].legend(fontsize=7, loc="upper left", framealpha=0.9)
    return png_of(figure)


def _line(panel: Any, points: Sequence[tuple[float, float]], i: int, label: str) -> None:
    if points:
        x, y = zip(*points, strict=True)
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5}
        panel.plot(x, np.maximum(y, 1e-6), linewidth=1.5, label=label, **style)
