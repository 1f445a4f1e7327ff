"""The figures of `covey bench blocki21` as PNG files: excess cost, time, and what groups are promised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from covey.bench.harness import Results, Row
from covey.bench.plots import INK, PALE, log_axis, panels_of, png_of

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")
LEAST = 1e-12  # the smallest δ that is drawn: brute force in floats knows no smaller one


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """Every figure: its name and its PNG."""
    tables = results["figures"]
    yield "samples", excess(tables["samples"], x="size", by=("objective", "k"), axis="rows in the sample")
    fixed = [row for row in tables["rows"] if isinstance(row["sample"], int)]
    yield "rows", excess(fixed, x="n", by=("objective", "relation"), axis="number of rows n, sample of a fixed size")
    yield "times", times(tables["times"])
    yield "groups", groups(tables["group"], tables["promises"])


def excess(rows: Sequence[Row], *, x: str, by: tuple[str, str], axis: str) -> bytes:
    """A panel for each set: excess cost in per cent, with standard errors."""
    names = list(dict.fromkeys(row["which"] for row in rows))
    figure, panels = panels_of(1, len(names), size=(5.4 * len(names), 4.2))
    lines: dict[str, Any] = {}
    for panel, name in zip(panels, names, strict=True):
        keys = dict.fromkeys(tuple(row[each] for each in by) for row in rows)
        for key, colour, marker in zip(keys, COLOURS, MARKERS, strict=False):
            own = [row for row in rows if row["which"] == name and tuple(row[each] for each in by) == key]
            own.sort(key=lambda row: row[x])
            label = f"{key[0]}, k = {key[1]}" if by[1] == "k" else ", ".join(key)
            lines[label] = panel.errorbar(
                [row[x] for row in own],
                [100 * row["excess"] for row in own],
                yerr=[100 * row["se"] for row in own],
                color=colour,
                marker=marker,
                markersize=4.5,
                linewidth=1.5,
                capsize=2,
            )
        panel.set(xscale="log", xlabel=axis, title=name)
        whole_ticks(panel, sorted({row["n"] if x == "n" else row["sample"] or row["n"] for row in rows}))
        panel.axhline(0, color=PALE, linewidth=0.8)
    panels[0].set_ylabel("cost beyond the best, %")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
    return png_of(figure)


def whole_ticks(panel: Any, places: Sequence[int]) -> None:
    panel.set_xticks(places, [f"{place:,}" for place in places])
    panel.minorticks_off()


def times(rows: Sequence[Row]) -> bytes:
    """CPU seconds against n, of a sample and of all rows."""
    figure, (panel,) = panels_of(1, 1, size=(5.4, 3.8))
    for name, label, colour, marker in (
        ("all_cpu", "all rows", COLOURS[1], "s"),
        ("sample_cpu", f"a sample of {rows[0]['sample']:,}", COLOURS[0], "o"),
    ):
        panel.plot([row["n"] for row in rows], [row[name] for row in rows], color=colour, marker=marker, label=label)
    panel.set(xscale="log", xlabel="number of rows n", ylabel="CPU seconds of a fit")
    log_axis(panel, few=6, digits=3)
    whole_ticks(panel, [row["n"] for row in rows])
    panel.legend(frameon=False)
    return png_of(figure)


def groups(rows: Sequence[Row], promises: Sequence[Row]) -> bytes:
    """A panel for each ε and rate, for the second group: δ against ε as promised, and as a mechanism loses it."""
    size = sorted({row["group"] for row in rows})[1]
    shown = [promise for promise in promises if promise["group"] == size]
    columns = len({promise["rate"] for promise in shown})
    figure, panels = panels_of(len(shown) // columns, columns, size=(4.2 * columns, 3.4 * len(shown) // columns + 0.4))
    for panel, promise in zip(panels, shown, strict=True):
        own = [row for row in rows if all(row[name] == promise[name] for name in ("epsilon", "rate", "group"))]
        for name, label, colour, dash in (
            ("printed", "threshold (printed)", COLOURS[1], "s-"),
            ("finer", "the finer δ", COLOURS[2], "--"),
            ("truth", "lost, by brute force", COLOURS[0], "-"),
        ):
            points = [(row["at"], row[name]) for row in own if (row[name] or 0) > LEAST]
            steps = "steps-post" if name == "printed" else "default"  # a threshold's δ holds up to the next
            panel.plot(*zip(*points, strict=True), dash, color=colour, markersize=3.5, label=label, drawstyle=steps)
        panel.axvline(promise["amplified"], color=INK, linestyle=":", linewidth=1.2, label="amplified: nothing beyond")
        title = f"ε = {promise['epsilon']:g}, ξ = {promise['rate']:g}, {size} people"
        panel.set(yscale="log", ylim=(LEAST, 2), xlim=(0, 1.6 * promise["amplified"]), title=title)
        panel.set_xlabel("ε for the group")
    panels[0].set_ylabel("δ for the group")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return png_of(figure)
