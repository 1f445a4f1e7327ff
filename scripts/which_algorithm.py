"""Draw docs/guide/images/which-algorithm.png: the questions that lead to an algorithm.

python scripts/which_algorithm.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TARGET = Path(__file__).resolve().parent.parent / "docs" / "guide" / "images" / "which-algorithm.png"
QUESTIONS = (
    ("Will you ask the same rows\nmore than once?", "coreset", "PrivateCoreset, covey coreset", "#2f7d5b"),
    ("Compare privacy levels\nbefore you publish?", "levels", "covey.levels, covey studio", "#7a4fa3"),
    ("Must centres be places\nof a public list?", "sites", 'algorithm="sites"', "#b35a1f"),
    ("Repeat a paper's experiment?", "its name", "lloyd, grid, hybrid, max-cover, …", "#666666"),
)
LAST = ("auto", "KMeans, KMedian, covey fit", "#1f5f8b")


def box(axes: plt.Axes, x: float, y: float, words: str, colour: str, *, filled: bool) -> None:
    style = {
        "boxstyle": "round,pad=0.5",
        "edgecolor": colour,
        "facecolor": colour if filled else "white",
        "linewidth": 1.6,
    }
    axes.text(x, y, words, ha="center", va="center", fontsize=11, color="white" if filled else "#222222", bbox=style)


def arrow(axes: plt.Axes, start: tuple[float, float], end: tuple[float, float], word: str) -> None:
    axes.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.4})
    across = start[1] == end[1]
    place = ((start[0] + end[0]) / 2, start[1] + 0.13) if across else (start[0] + 0.12, (start[1] + end[1]) / 2)
    axes.text(*place, word, ha="center" if across else "left", va="center", fontsize=10, color="#444444")


def draw() -> None:
    figure, axes = plt.subplots(figsize=(9, 6.2))
    for step, (question, name, call, colour) in enumerate(QUESTIONS):
        y = -1.25 * step
        box(axes, 0, y, question, "#444444", filled=False)
        box(axes, 4.6, y, f"{name}\n{call}", colour, filled=True)
        arrow(axes, (1.55, y), (3.0, y), "yes")
        arrow(axes, (0, y - 0.34), (0, y - 0.93), "no")
    name, call, colour = LAST
    box(axes, 0, -1.25 * len(QUESTIONS), f"{name}\n{call}", colour, filled=True)
    axes.set(xlim=(-1.8, 6.4), ylim=(-1.25 * len(QUESTIONS) - 0.5, 0.5))
    axes.axis("off")
    figure.savefig(TARGET, dpi=110, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    draw()
