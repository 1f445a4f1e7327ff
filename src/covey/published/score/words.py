"""A score as plain lines for a person. From what is published alone."""

from __future__ import annotations

import math
import sys

from covey.post.ratios import Told
from covey.published.counted import counted_words
from covey.published.score.score import Score
from covey.text import outward, paragraph, show_table

NOTE = (
    "Every number with what holds the true one 9 times in 10, each by itself; it is about the noise, and about the "
    "rows that were looked at. The cost has columns scaled by the bounds; explained is what share of the cost of one "
    "centre these centres save."
)

LOST = " A cost that may be 0 is lost in the noise: a larger epsilon, or a clip at a distance, tells more."


def show_score(score: Score) -> None:
    """Everything about a score that a person wants to know, on stdout."""
    sys.stdout.write("How good the centres are\n\n")
    told = {each.name: score.told(each.name) for each in score.sets}
    names = list(dict.fromkeys(what for each in told.values() for what in each))
    asked = [what for what in names if any(each.get(what) is not None for each in told.values()) or what in ALWAYS]
    rows = [
        [_named(score, what), *(_told(what, each[what]) if what in each else "" for each in told.values())]
        for what in asked
    ]
    rows.append(["nearest centres apart" + _unit(score), *(_apart(score, each.separation) for each in score.sets)])
    show_table(["", *told], rows, right=range(1, len(told) + 1))
    for other in score.sets[1:]:
        better = score.is_better(other.name)
        what = "cannot be told apart from" if better is None else "is better than" if better else "is worse than"
        sys.stdout.write(f"\n{paragraph(f'{other.name} {what} {score.sets[0].name}.')}\n")
    note = " ".join([NOTE + _clipped(score), *counted_words(score.certificate)])
    sys.stdout.write(f"\n{paragraph(note)}\n\n{paragraph(score.certificate.statement)}\n\n")


ALWAYS = ("mean distance", "explained")
SHARES = ("share within", "explained")
NARROW = 0.002  # interval of a share: a narrower one is told with two digits more


def _named(score: Score, what: str) -> str:
    if what == "share within":
        return f"share within {score.within or 0.0:,.12g}{_unit(score)}"
    return what + (_unit(score) if what in ("mean distance", "root mean square") else "")


def _unit(score: Score) -> str:
    return " m" if score.metres else "" if score.unit else " half-ranges"


def _told(what: str, told: Told | None) -> str:
    if told is None or (what in SHARES and told[1] <= 0 and told[2] >= 1):  # anything is possible
        return "cannot tell"
    if what in SHARES:
        digits = 1 if told[2] - told[1] >= NARROW else 3
        step = 10.0**digits
        low, high = math.floor(100 * step * told[1] + 1e-6) / step, math.ceil(100 * step * told[2] - 1e-6) / step
        return f"{100 * told[0]:.{digits}f}% ({low:.{digits}f} to {high:.{digits}f})"
    low, high = outward(told[1], told[2], 4)
    return f"{told[0]:.4g} ({low:.4g} to {high:.4g})"


def _apart(score: Score, separation: float | None) -> str:
    return "one centre" if separation is None else f"{separation * (score.unit or 1.0):.4g}"


def _clipped(score: Score) -> str:
    if score.clip is None:
        lost = any(score.cost(each.name)[1] <= 0 for each in score.sets)
        return LOST if lost else ""
    return f" Rows farther than {score.clip:,.12g}{_unit(score)} from all centres count as that far."
