"""The pictures of docs/guide/four-questions.md, from the examples on the page: python scripts/four_questions.py."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from covey.post.errors.costs import Cost
from covey.published.coreset.choose import Choice
from covey.published.draw import INK, QUIET
from covey.published.elbow import elbow_plot

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
BLUE = "#2e6f95"


def examples() -> dict[str, dict[str, Any]]:
    """What the examples of the page make, by what they are about."""
    page = (GUIDE / "four-questions.md").read_text()
    found: dict[str, dict[str, Any]] = {}
    for example in re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE):
        [name] = [each for each in ("private", "k_range", "mode=bike") if each in example.split("print")[0]][:1]
        found[name] = {}
        exec(example, found[name])
    return found


def how_many(told: dict[str, Any]) -> bytes:
    """The costs of all numbers of clusters, as the release of the example has them."""
    costs = {k: Cost(*(np.nan if each is None else each for each in ends), "") for k, *ends in told["costs"]}
    best = {name: told[name] for name in ("k", "low", "high", "more")}
    return elbow_plot(Choice(likeliest=told["k"], costs=costs, **best), "k-means")


def bounds(incomes: Any, found: tuple[float, float]) -> bytes:
    """Made-up incomes, and the range that was found for them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), dpi=150, facecolor="white", layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    most = max(found[1] * 1.15, float(np.quantile(incomes, 0.9995)))
    axes.axvspan(*found, color=BLUE, alpha=0.12, lw=0)
    axes.hist(incomes, bins=np.linspace(0, most, 120).tolist(), color=QUIET, alpha=0.55, lw=0)
    for end in found:
        axes.axvline(end, color=BLUE, lw=1.6)
    for part in (0.01, 0.99):
        axes.axvline(float(np.quantile(incomes, part)), color=INK, lw=1, ls=(0, (2, 2)))
    axes.set_xlim(min(0.0, 1.05 * found[0]), most)
    axes.set_yticks([])
    axes.set_xlabel("income", color=QUIET)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    title = f"Private range {found[0]:,.0f} to {found[1]:,.0f} (blue); dashed: 1% and 99% of these made-up rows"
    axes.set_title(title, loc="left", fontsize=10.5, color=INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def main() -> None:
    found, images = examples(), GUIDE / "images"
    ranges = found["private"]["model"].release_.certificate.parameters["bounds"]["ranges"]
    (images / "private-bounds.png").write_bytes(bounds(found["private"]["people"]["income"], ranges["income"]))
    told = found["k_range"]["model"].release_.certificate.parameters["how_many"]
    (images / "how-many.png").write_bytes(how_many(told))
    (images / "profile.png").write_bytes(found["mode=bike"]["profile"].plot())


if __name__ == "__main__":
    main()
