"""The figures of `covey bench aaai21` as PNG files: cost against k, and how the picks' time grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from covey.bench.harness import Results, Row
from covey.bench.plots import INK, log_axis, panels_of, png_of

STYLES: dict[str, tuple[str, str, str]] = {  # colour (told apart by the colour-blind), marker, line
    "max-cover": ("#0072B2", "o", "-"),
    "max-cover, exact bound": ("#0072B2", "", ":"),
    "max-cover, NOISY-AVG": ("#56B4E9", "^", "--"),
    "jl-candidates": ("#D55E00", "s", "-"),
    "jl-candidates, NOISY-AVG": ("#E69F00", "P", "--"),
    "jl-candidates, pure ε": ("#CC79A7", "x", ":"),
    "lloyd": ("#7F7F7F", "v", "-"),
    "auto": ("#009E73", "D", "-"),
    "k-means (not private)": (INK, "", "--"),
}
AXES = {"n": "number of rows n", "dimensions": "projected dimensions d'", "growth": "1/ϵ"}


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """Every figure: its name and its PNG."""
    made_up = " (made-up rows)" if results["settings"]["made_up_rows"] else ""
    yield "figure1", curves(results["figures"]["figure1"], note=made_up)
    yield "growth", growth(results["figures"]["growth"])


def curves(rows: Sequence[Row], *, note: str) -> bytes:
    """A panel for each set: mean squared distance against k, with the deviation of the runs as bars."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    figure, panels = panels_of(1, len(names), size=(5.8 * len(names), 4.8))
    lines: dict[str, Any] = {}
    for panel, name in zip(panels, names, strict=True):
        for system, (colour, marker, dash) in STYLES.items():
            own = [row for row in rows if (row["set"], row["algorithm"]) == (name, system)]
            if own:
                own.sort(key=lambda row: row["k"])
                lines[system] = panel.errorbar(
                    [row["k"] for row in own],
                    [row["cost"] for row in own],
                    yerr=[row["deviation"] for row in own],
                    color=colour,
                    marker=marker,
                    linestyle=dash,
                    markersize=4.5,
                    linewidth=1.5,
                    capsize=2,
                )
        ks = sorted({row["k"] for row in rows})
        panel.set(xscale="log", xlabel="number of centres k", title=name + note)
        panel.set_xticks(ks, map(str, ks))
        log_axis(panel, few=6, digits=3)
        panel.minorticks_off()
    panels[0].set_ylabel("mean squared distance to the nearest centre")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
    return png_of(figure)


def growth(rows: Sequence[Row]) -> bytes:
    """CPU seconds of all picks against n, d' and 1/ϵ, one at a time."""
    figure, panels = panels_of(1, len(AXES), size=(11.5, 3.8))
    for panel, (what, title) in zip(panels, AXES.items(), strict=True):
        own = sorted(
            (1 / row[what] if what == "growth" else row[what], row["cpu"]) for row in rows if row["what"] == what
        )
        panel.plot(*zip(*own, strict=True), color="#0072B2", marker="o", linewidth=1.5)
        panel.set(xscale="linear" if what == "dimensions" else "log", xlabel=title)
        log_axis(panel, few=6, digits=2)
        panel.set_xticks([x for x, _ in own], [f"{x:,.3g}" if x < 1000 else f"{x:,.0f}" for x, _ in own])
        panel.minorticks_off()
    panels[0].set_ylabel("CPU seconds (one core)")
    return png_of(figure)
