"""The figures of `covey bench su16` as PNG files, laid out as in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from covey.bench.harness import Results, Row
from covey.bench.plots import INK, log_axis, panels_of, png_of
from covey.bench.su16.cells import SUFFIX

STYLES: dict[str, tuple[str, str, str]] = {  # colour (told apart by the colour-blind), marker, name in the legend
    "lloyd": ("#0072B2", "o", "lloyd (DPLloyd)"),
    "gkm": ("#7F7F7F", "v", "blocks, gkm (GkM)"),
    "gkm-3k": ("#E69F00", "^", "blocks, gkm-3k (GkM-3K)"),
    "genetic": ("#CC79A7", "D", "genetic (PGkM)"),
    "grid": ("#009E73", "s", "grid (EUGkM, with swaps)"),
    "hybrid": ("#D55E00", "X", "hybrid (Hybrid, own rule)"),
    "genetic, printed": ("#CC79A7", "", "genetic as printed"),
    "grid, printed": ("#009E73", "", "grid as printed (no swaps)"),
    "hybrid, printed": ("#D55E00", "", "hybrid as printed (no swaps, inequality 15)"),
    "genetic search": ("#CC79A7", "", "genetic search, no noise (Gene)"),
    "aggregation": ("#009E73", "s", "averages without noise (SAG)"),
    "noise": ("#D55E00", "X", "noise on the best centres (Noise)"),
}
TITLES = {
    **{name: title for name, (_, _, title) in STYLES.items()},
    "grid": "grid, θ = 10 (EUGkM, with swaps)",
    "grid, theta 2": "grid, θ = 2",
    "grid, theta 50": "grid, θ = 50",
}


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """Every figure of Su et al. 2016: its name and its PNG."""
    tables, sets = results["figures"], results["sets"]
    fast = {"lloyd": "ordinary k-means (Lloyd)"}
    yield "figure1", curves(tables["figure1"], sets, x="epsilon", by="algorithm", label="privacy budget ε")
    yield "figure2", heat_maps(tables["figure2"], columns=4)
    block = "block size, as exponent of n"
    whole = {"gkm": "blocks with noise (GkM)"}
    yield "figure3", curves(tables["figure3"], sets, x="exponent", by="what", label=block, names=whole, log_x=False)
    yield "figure4", curves(tables["figure4"], sets, x="round", by="what", label="rounds", names=fast, marks=False)
    yield "figure5", curves(tables["figure5"], sets, x="epsilon", by="algorithm", label="privacy budget ε")
    yield "figure6", heat_maps(tables["figure6"], columns=2)
    yield "figure7", bars(tables["figure7"], sets)


def curves(
    rows: Sequence[Row],
    sets: Sequence[Row],
    *,
    x: str,
    by: str,
    label: str,
    names: dict[str, str] | None = None,
    log_x: bool = True,
    marks: bool = True,
) -> bytes:
    """One panel per set, NICV in log scale: a line for each algorithm and a dashed one for the baseline."""
    from matplotlib.ticker import NullFormatter

    figure, panels = panels_of(2, 3, size=(11.5, 7.0))
    lines: dict[str, Any] = {}
    for panel, which in zip(panels, sets, strict=True):
        own = [row for row in rows if row["set"] == which["name"]]
        for what in dict.fromkeys(row[by] for row in own):
            points = sorted((row[x], row["nicv"]) for row in own if row[by] == what)
            colour, marker, title = STYLES[what]
            (lines[(names or {}).get(what, title)],) = panel.plot(
                *zip(*points, strict=True),
                color=colour,
                marker=marker if marks else "",
                markersize=4.5,
                linewidth=1.5,
                linestyle=":" if what.endswith(SUFFIX) else "-",
            )
        lines["baseline: best k-means"] = panel.axhline(which["baseline"], color=INK, linestyle="--", linewidth=1)
        log_axis(panel, few=5, digits=4)
        values = sorted({row[x] for row in own})
        if log_x:
            panel.set_xscale("log")
            panel.set_xticks(_few(values), [f"{value:g}" for value in _few(values)])
            panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_title(_title(which), fontsize=9.5, color=INK)
    for panel in panels[3:]:
        panel.set_xlabel(label)
    for panel in panels[::3]:
        panel.set_ylabel("NICV")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
    return png_of(figure)


def heat_maps(rows: Sequence[Row], *, columns: int) -> bytes:
    """Differences of NICV to the baseline over d and k, one map per algorithm, all with the same colours."""
    from matplotlib.colors import SymLogNorm

    kinds = list(dict.fromkeys(row["algorithm"] for row in rows))
    figure, panels = panels_of(
        -(-len(kinds) // columns), columns, size=(3.7 * columns, 3.6 * -(-len(kinds) // columns))
    )
    top = max(row["difference"] for row in rows)
    norm = SymLogNorm(linthresh=1e-3, vmin=0, vmax=top)
    image = None
    for panel, kind in zip(panels, kinds, strict=False):
        own = {(row["d"], row["k"]): row["difference"] for row in rows if row["algorithm"] == kind}
        ds, ks = (sorted({cell[axis] for cell in own}) for axis in (0, 1))
        table = np.array([[own[d, k] for d in ds] for k in ks])
        image = panel.imshow(table, origin="lower", norm=norm, cmap="viridis", aspect="auto")
        panel.set_xticks(range(len(ds)), map(str, ds))
        panel.set_yticks(range(len(ks)), map(str, ks))
        for (row, column), value in np.ndenumerate(table):
            colour = "white" if norm(value) < 0.6 else "black"
            panel.text(column, row, _short(value), ha="center", va="center", fontsize=6, color=colour)
        panel.set_title(TITLES[kind], fontsize=9.5, color=INK)
        panel.set_xlabel("dimension d")
        panel.grid(visible=False)
    for panel in panels[len(kinds) :]:
        panel.set_axis_off()
    for panel in panels[::columns]:
        panel.set_ylabel("clusters k")
    figure.colorbar(image, ax=panels, label="NICV above the baseline", fraction=0.03, pad=0.01)
    return png_of(figure)


def bars(rows: Sequence[Row], sets: Sequence[Row]) -> bytes:
    """Seconds of a single run on each set, in log scale, written above the bars."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure, (panel,) = panels_of(1, 1, size=(11.5, 4.4))
    kinds = list(dict.fromkeys(row["algorithm"] for row in rows))
    for i, kind in enumerate(kinds):
        seconds = [next(r["cpu"] for r in rows if (r["algorithm"], r["set"]) == (kind, s["name"])) for s in sets]
        room = 0.84 / len(kinds)
        places = np.arange(len(sets)) + (i - (len(kinds) - 1) / 2) * room
        colour, _, title = STYLES[kind]
        faint = {"alpha": 0.5, "hatch": "//"} if kind.endswith(SUFFIX) else {}
        drawn = panel.bar(places, np.array(seconds) * 1e3, width=0.93 * room, color=colour, label=title, **faint)
        panel.bar_label(drawn, fmt="%.3g", fontsize=6.5, padding=2, color=INK)
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_ylabel("milliseconds of CPU time for one run")
    panel.set_xticks(range(len(sets)), [_title(each) for each in sets], fontsize=8)
    panel.grid(visible=False, axis="x")
    panel.margins(y=0.15)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return png_of(figure)


def _title(which: Row) -> str:
    star = " (stand-in)" if which["stands_in"] else ""
    return f"{which['name']}{star}\nn = {which['rows']:,}, d = {which['d']}, k = {which['k']}"


def _few(values: Sequence[float]) -> list[float]:
    """The round ones of many values."""
    return [value for value in values if value in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)] or list(values)


def _short(value: float) -> str:
    if abs(value) < 5e-4:
        return "0"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}".replace("0.", ".", 1)
