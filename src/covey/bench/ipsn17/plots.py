"""The figures of `covey bench ipsn17` as PNG files, laid out as in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from covey.bench.harness import Results, Row
from covey.bench.plots import INK, PALE, panels_of, png_of

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # told apart by the colour-blind
MARKERS = "osX^D"
PAPER_TIMES = {1_000_000: 40.0, 10_000_000: 3600.0}  # seconds that the paper's text reports, on 12 cores


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """Every figure: its name and its PNG."""
    tables = results["figures"]
    yield "figure3", times(tables["figure3"], paper=PAPER_TIMES)
    yield "figure4", times(tables["figure4"], paper={})
    yield "figure5", errors_and_sizes(tables["figure5"])
    yield "figure6", by_centres(tables["figure6"])
    yield "figure7", compared(tables["figure7"])


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
    figure, (panel,) = panels_of(1, 1, size=(7.0, 4.6))
    for i, epsilon in enumerate(dict.fromkeys(row["epsilon"] for row in rows)):
        own = [row for row in rows if row["epsilon"] == epsilon and not row["refused"]]
        _line(panel, sorted((row["k"], row["error"]) for row in own), i, f"ε = {epsilon:g}")
    panel.set(xlabel="number of centres k", ylabel="error")
    panel.legend(frameon=False, fontsize=8)
    return png_of(figure)


def compared(rows: Sequence[Row]) -> bytes:
    """`ball-coreset` against `net-coreset`: error and coreset size against the number of rows."""
    figure, panels = panels_of(1, 2, size=(10.0, 4.4))
    for i, variant in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        own = [row for row in rows if row["variant"] == variant and not row["refused"]]
        for panel, what in zip(panels, ("error", "size"), strict=True):
            _line(panel, sorted((row["n"], row[what]) for row in own), i, f"{variant}-coreset")
            panel.set(xscale="log", yscale="log", xlabel="number of rows n", ylabel=what)
    panels[0].legend(frameon=False, fontsize=8)
    return png_of(figure)


def _line(panel: Any, points: Sequence[tuple[float, float]], i: int, label: str) -> None:
    if points:
        x, y = zip(*points, strict=True)
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5}
        panel.plot(x, np.maximum(y, 1e-6), linewidth=1.5, label=label, **style)
