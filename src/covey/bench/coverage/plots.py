"""The picture of `covey bench coverage`: a dot with its standard error for each cell, on the band asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from covey.bench.harness import Results, Row
from covey.bench.plots import INK, PALE, panels_of, png_of

COLOURS = {"auto": "#D55E00", "levels": "#0072B2", "grid": "#009E73"}  # told apart by the colour-blind
SHIFTS = {"auto": 0.0, "levels": -0.25, "grid": 0.25}
PANELS = (  # table, title, band, centres and objective of the costs that are shown
    ("sizes", "sizes", (0.87, 0.96), None),
    ("costs", "costs of the centres, k-means", (0.85, 0.99), ("own", "k-means")),
    ("costs", "costs of the centres, k-median", (0.85, 0.99), ("own", "k-median")),
    ("costs", "costs of other sites, k-means", (0.85, 0.99), ("sites", "k-means")),
    ("places", "places, of found clusters", (0.87, 1.0), None),
    ("excess", "excess bound", (0.88, 1.0), None),
)


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    yield "coverage", coverage(results)


def coverage(results: Results) -> bytes:
    """A panel for each kind of interval; a line for each set and epsilon, the most rows for a centre on top."""
    tables = results["figures"]
    lines = sorted({(row["gate"], row["set"], row["epsilon"]) for row in tables["sizes"]})
    place = {(name, epsilon): i for i, (_, name, epsilon) in enumerate(lines)}
    figure, panels = panels_of(1, len(PANELS), size=(2.5 * len(PANELS) + 2, 0.17 * len(lines) + 1.8))
    for panel, (table, title, band, which) in zip(panels, PANELS, strict=True):
        rows = [row for row in tables[table] if row["held"] is not None and _is(row, which)]
        panel.axvspan(*band, color="#DDEEDD", zorder=0)
        panel.axvline(0.9, color=PALE, linewidth=0.8, linestyle="--")
        for method, colour in COLOURS.items():
            _dots(panel, [row for row in rows if row["method"] == method], place, method, colour)
        panel.set_title(title, fontsize=9, color=INK)
        panel.set(xlim=(0.45, 1.02), ylim=(-1, len(lines)))
        panel.set_xlabel("part that holds", fontsize=8.5, color=INK)
        panel.set_yticks(range(len(lines)), [])
    names = [f"{name}, ε = {epsilon:g} ({gate:,.0f})" for gate, name, epsilon in lines]
    panels[0].set_yticks(range(len(lines)), names, fontsize=7)
    for limit in (100, 200):
        below = sum(gate < limit for gate, _, _ in lines)
        for panel in panels:
            panel.axhline(below - 0.5, color=INK, linewidth=0.6, linestyle=":")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(
        "90% intervals: how often they hold. In brackets: rows x ε for each centre; dotted at 100 and 200; at the left "
        "edge: below .45; hollow: fewer than 20 numbers shown",
        fontsize=9,
        color=INK,
    )
    return png_of(figure)


def _is(row: Row, which: tuple[str, str] | None) -> bool:
    return which is None or (row["centres"], row["objective"]) == which


def _dots(panel: Any, rows: Sequence[Row], place: dict[Any, int], method: str, colour: str) -> None:
    for few in (False, True):
        own = [row for row in rows if (row["of"] < 20) is few]
        panel.errorbar(
            [max(row["held"], 0.46) for row in own],
            [place[row["set"], row["epsilon"]] + SHIFTS[method] for row in own],
            xerr=[row["se"] for row in own],
            fmt="o",
            markersize=3.2,
            linewidth=0.8,
            color=colour,
            markerfacecolor="white" if few else colour,
            label=None if few else method,
        )
