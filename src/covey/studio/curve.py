"""How many clusters a level shows, with what each number costs: a curve for the page. Post-processing: free."""

from __future__ import annotations

import math
import threading
from typing import Any

from covey.fit.slider import LevelSet
from covey.post.distances import Objective
from covey.published.coreset.choose import Choice

RANGE = (2, 20)  # numbers of centres that are looked at


class Curves:
    """What the coreset of each level says about the number of clusters; each is found once."""

    def __init__(self, levels: LevelSet) -> None:
        self._levels = levels
        self._lock = threading.Lock()
        self._known: dict[tuple[int, Objective], dict[str, Any]] = {}

    def document(self, level: int, objective: Objective) -> dict[str, Any]:
        with self._lock:  # one at a time: whoever asks for the same meanwhile finds it made
            if (level, objective) not in self._known:
                choice = self._levels.coreset(level).choose_k(RANGE, objective=objective)
                self._known[level, objective] = drawn(choice)
            return self._known[level, objective]


def drawn(choice: Choice) -> dict[str, Any]:
    """A choice as the page draws it: costs with their intervals in parts of what the fewest clusters cost.

    A cost that noise hides is null. Where that of the fewest is, or is not above 0, there are none: of it others are no
    parts.
    """
    known = {k: each.cost for k, each in choice.costs.items() if math.isfinite(each.cost) and not choice.hides(k)}
    whole = known.get(min(choice.costs, default=0), 0.0)
    return {
        "k": choice.k,
        "likeliest": choice.likeliest,
        "low": choice.low,
        "high": choice.high,
        "words": choice.words,
        "costs": [_point(choice, k, known.get(k), whole) for k in choice.costs] if whole > 0 else [],
    }


def _point(choice: Choice, k: int, cost: float | None, whole: float) -> list[float | None]:
    if cost is None:
        return [k, None, None, None]
    ends = choice.ends(k)
    return [k, max(cost, 0.0) / whole, *((None, None) if ends is None else (max(end, 0.0) / whole for end in ends))]
