"""The plot of `covey bench utility`: a panel for each set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covey.bench.peers.figures import PEERS
from covey.bench.plots import INK, panels_of, png_of
from covey.bench.sets import UTILITY
from covey.bench.utility.report import Document, cells_of, levels, published

OURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by the colour-blind
OTHERS = {"Google": ("#4D4D4D", "s"), "IBM": ("#8C8C8C", "^"), "recipe": ("#B3A369", "D")}
NAMES = {
    "Google": "Google (published)",
    "IBM": "diffprivlib (published)",
    "recipe": "prototype of the recipe (published)",
}
COLUMNS = 5


def small_multiples(documents: Sequence[Document]) -> bytes:
    """A panel per set: ratio against ε, both in log scale; measured systems drawn through, published ones dashed."""
    shown = [each for each in UTILITY if any(row["set"] == each.name for d in documents for row in d["cells"])]
    columns = min(COLUMNS, len(shown)) or 1
    down = max(1, -(-len(shown) // columns))
    figure, panels = panels_of(down, columns, size=(max(2.9 * columns, 7.5), 2.5 * down + 1.0))
    colours = dict(zip(dict.fromkeys(base(each) for each in documents), OURS * len(documents), strict=False))
    lines: dict[str, Any] = {}
    ticks = levels(documents)
    for panel, which in zip(panels, shown, strict=False):
        for peer, (colour, marker) in OTHERS.items():
            points = [(e, v) for e in (0.1, 0.5, 1.0) if (v := published(documents[0], which.name, e, peer))]
            if points:
                (lines[NAMES[peer]],) = panel.plot(
                    *zip(*points, strict=True), color=colour, marker=marker, markersize=3.5, linewidth=1, linestyle="--"
                )
        for document in documents:
            found = [cells_of(document, epsilon).get(which.name) for epsilon in ticks]
            rows = [row for row in found if row is not None and "ratio" in row]
            if rows:
                lines[document["label"]] = panel.errorbar(
                    [row["epsilon"] for row in rows],
                    [row["ratio"] for row in rows],
                    yerr=[row["se"] or 0.0 for row in rows],
                    color=colours[base(document)],
                    marker="o",
                    markersize=4,
                    linewidth=1.6,
                    linestyle=":" if document["pure"] and paired(document, documents) else "-",
                    capsize=2,
                )
        _axes(panel, ticks)
        panel.set_title(f"{which.name}, k = {which.k}", fontsize=9, color=INK)
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    for panel in panels[max(0, len(shown) - columns) : len(shown)]:
        panel.set_xlabel("privacy budget ε", fontsize=8.5, color=INK)
    for panel in panels[::columns]:
        panel.set_ylabel("cost / best non-private", fontsize=8.5, color=INK)
    order = [name for name in lines if name not in NAMES.values()]
    order += [NAMES[peer] for peer in PEERS if NAMES[peer] in lines]
    across = min(len(order), 2 if columns < 3 else 4) or 1
    handles = [lines[name] for name in order]
    figure.legend(handles, order, loc="outside lower center", ncols=across, frameon=False, fontsize=8.5)
    return png_of(figure)


def base(document: Document) -> str:
    return str(document["label"].removesuffix(", pure"))


def paired(document: Document, documents: Sequence[Document]) -> bool:
    """Whether the same system was measured with a δ too."""
    return any(base(each) == base(document) and not each["pure"] for each in documents)


def _axes(panel: Any, ticks: Sequence[float]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.axhline(1.0, color=INK, linewidth=0.8)
    low, high = panel.get_ylim()
    if high < 1.05 * max(low, 0.9):
        panel.set_ylim(min(low, 0.98), 1.05)
    low, high = panel.get_ylim()
    narrow = high < 6 * low
    panel.yaxis.set_major_locator(
        MaxNLocator(4) if narrow else LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * low else (1.0,))
    )
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    panel.yaxis.set_minor_locator(NullLocator())
    wide = sorted({*ticks, 0.1, 0.5, 1.0})  # with those of the published figures
    panel.set_xticks(wide, [f"{value:g}" for value in wide])
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.xaxis.set_minor_locator(NullLocator())
