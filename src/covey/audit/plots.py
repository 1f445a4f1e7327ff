"""The pictures of an audit's report, as PNG. They show bounds as parts of what was claimed: beyond 1 is a leak."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from covey.audit.summary import MARGIN, Pairs

INK, PURE, GAUSSIAN, LEAK, QUIET = "#22303c", "#1f77b4", "#7b5ea7", "#c0392b", "#9aa7b1"
COLOURS = {"drawn": "#a9c7e0", "chosen": "#1f77b4", "possible": "#22303c"}


def pictures(done: Pairs) -> dict[str, bytes]:
    """Titles and PNG files: of mechanisms, fits and transcripts, as far as there are any."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    makers = {"Single mechanisms": _mechanisms, "Whole fits": _fits, "Transcripts": _transcripts}
    found = {}
    for title, draw in makers.items():
        figure = Figure(figsize=(8.2, 1.0), layout="constrained")
        FigureCanvasAgg(figure)
        if draw(figure, done):
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=110)
            found[title] = file.getvalue()
    return found


def _axes(figure: Any, names: Sequence[str], label: str, *, most: float = 1.12) -> Any:
    figure.set_size_inches(8.2, 1.3 + 0.27 * len(names))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, most)
    axes.axvspan(1.0, most, color=LEAK, alpha=0.08, lw=0)
    axes.axvline(1.0, color=LEAK, lw=1.2)
    axes.set_xlabel(label, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", color="#e6eaed", lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes


def _mechanisms(figure: Any, done: Pairs) -> bool:
    some = [(cell, answer) for cell, answer in done if cell.kind == "mechanism" and "lower" in answer]
    some = [each for each in some if each[1]["single"] or each[1]["lower"] > 0]
    if not some:
        return False
    axes = _axes(figure, [cell.label for cell, _ in some], "lower bound / claimed (ε, or μ for Gaussian noise)")
    for i, (_, answer) in enumerate(some):
        part = answer["lower"] / answer["claimed"]
        colour = LEAK if answer["failed"] else GAUSSIAN if answer["kind"] == "mu" else PURE
        axes.barh(i, part, height=0.62, color=colour)
        axes.text(part - 0.01, i, f"{part:.3f}", va="center", ha="right", fontsize=7, color="white")
    axes.axvline(MARGIN, color=INK, lw=0.8, ls=":")
    return True


def _fits(figure: Any, done: Pairs) -> bool:
    some = [(cell, answer) for cell, answer in done if cell.kind == "fit" and "lower" in answer]
    if not some:
        return False
    names = list(dict.fromkeys(_who(cell.parameters) for cell, _ in some))
    axes = _axes(figure, names, "lower bound / claimed ε; one dot for each relation, pair, ε and δ")
    for cell, answer in some:
        part, colour = answer["lower"] / answer["claimed"], LEAK if answer["failed"] else PURE
        axes.plot(part, names.index(_who(cell.parameters)), "o", ms=5, color=colour, alpha=0.55, mew=0, clip_on=False)
    return True


def _who(asked: dict[str, Any]) -> str:
    return ", ".join(each for each in (asked["algorithm"], asked["front"]) if each)


def _transcripts(figure: Any, done: Pairs) -> bool:
    some = [(cell, answer) for cell, answer in done if cell.kind == "transcript" and answer["status"] == "done"]
    names = list(dict.fromkeys(cell.parameters["algorithm"] for cell, _ in some))
    if not names:
        return False
    axes = _axes(figure, names, "worst log-likelihood ratio of a transcript / ε")
    for row, name in enumerate(names):
        own = [answer for cell, answer in some if cell.parameters["algorithm"] == name]
        for place, kind in enumerate(COLOURS):
            seen = [answer[kind] for answer in own if answer[kind] is not None]
            if seen:
                axes.barh(row + 0.24 * (place - 1), max(seen), height=0.22, color=COLOURS[kind])
            elif place == 1:
                axes.text(
                    0.01, row, "(ε, δ) only: its events are checked one by one", va="center", fontsize=7, color=QUIET
                )
    words = {"drawn": "drawn answers", "chosen": "ugly answers", "possible": "every event's worst"}
    for kind, colour in COLOURS.items():
        axes.barh(0, 0, color=colour, label=words[kind])
    figure.legend(fontsize=7, loc="outside upper center", ncols=3, frameon=False)
    return True
