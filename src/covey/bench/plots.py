"""What the figures of all benchmarks share. matplotlib is imported inside the functions: it is an extra."""

from __future__ import annotations

import io
from typing import Any

INK, PALE = "#333333", "#999999"


def panels_of(rows: int, columns: int, *, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(visible=True, color="#E5E5E5", linewidth=0.7)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=8, colors=INK)
    return figure, panels


def log_axis(panel: Any, *, few: int, digits: int) -> None:
    """The y axis in log scale with plain numbers; about `few` even steps where it spans less than a factor of 4."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    panel.set_yscale("log")
    low, high = panel.get_ylim()
    panel.yaxis.set_major_locator(MaxNLocator(few) if high < 4 * low else LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.{digits}g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())


def png_of(figure: Any) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120, metadata={"Software": None})
    return content.getvalue()
