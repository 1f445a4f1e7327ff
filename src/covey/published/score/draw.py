"""How far rows are from their centres as a picture: the share within every distance. From a score alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from covey.published.certificate import in_full
from covey.published.draw import ALARM, COLOURS, INK, QUIET, SEEDED, drawn_name

if TYPE_CHECKING:
    from covey.published.score.score import Score


NOTHING = "cannot tell: the noise leaves open whether there are any rows"


def curves(score: Score) -> bytes:
    """A PNG: for each set, the share of rows within every distance, and its interval."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.4), dpi=140, facecolor="white", layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    farthest, blind = 0.0, 0
    for place, each in enumerate(score.sets):
        far, shares = score.within_knots(each.name)
        known = np.array([(np.nan,) * 3 if share is None else share for share in shares])
        lost = bool(np.isnan(known).all())
        farthest, blind = max(farthest, float(far[-1])), blind + lost
        colour, name = COLOURS[place % len(COLOURS)], drawn_name(each.name)
        axes.plot(far, known[:, 0], color=colour, lw=1.6, label=f"{name}: cannot tell" if lost else name)
        axes.fill_between(far, known[:, 1], known[:, 2], color=colour, alpha=0.2, lw=0)
    axes.set_ylim(0, 1.03)
    axes.set_xlim(0, 1.05 * farthest if farthest > 0 else 1.0)
    if blind == len(score.sets):
        axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", va="center", color=INK)
    unit = "metres" if score.metres else "units of the data" if score.unit else "half of the widest range"
    axes.set_xlabel(f"distance from the nearest centre, in {unit}", color=QUIET)
    axes.set_ylabel("share of the rows (noisy)", color=QUIET)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    axes.tick_params(colors=QUIET, labelsize=9, length=3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="lower right", labelcolor=INK, fontsize=9)
    certificate = score.certificate
    title = f"Rows within a distance of their centre, with 90% intervals. ε = {in_full(certificate.epsilon)}"
    axes.set_title(
        SEEDED if certificate.seeded else title, fontsize=10, loc="left", color=ALARM if certificate.seeded else INK
    )
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()
