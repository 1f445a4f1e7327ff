"""What `n_clusters="auto"` means: the number of clusters is chosen from what the fit released, before that is stored.

The algorithm runs with the largest number of the range and keeps its synopsis; the choice, and the centres for it, are
computed from that and cost nothing (post/how_many.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from covey.algorithms.auto.synopsis import inside
from covey.algorithms.kit import Outcome
from covey.algorithms.registry import Algorithm
from covey.checks import whole_number
from covey.errors import ParameterError
from covey.post.distances import add_up, nearest
from covey.public import Domain
from covey.published.coreset.choose import Choice, read_range
from covey.published.coreset.coreset import Coreset
from covey.published.release import Release

if TYPE_CHECKING:
    from covey.fit.request import Request

USUAL_RANGE = (2, 20)
NO_LAW = "sizes of a number that was chosen add up points whose noise is not known; a fit for that number tells"
RULE = "the highest jump of the cost to the power -d/2, if it stands out and stays under noise that is drawn again"


def read_k(k: Any, k_range: Any, algorithm: Algorithm) -> tuple[int, tuple[int, int] | None]:
    """The number of centres to fit, and the range to choose from where it is "auto"."""
    if isinstance(k, str) and k != "auto":
        raise ParameterError("n_clusters", "must be a whole number, or 'auto'")
    if k != "auto":
        if k_range is not None:
            raise ParameterError("k_range", "is for n_clusters='auto'; leave out one of them")
        return whole_number("n_clusters", k, least=1, most=1_000), None
    if algorithm.name != "auto":
        raise ParameterError("n_clusters", "'auto' needs algorithm='auto', whose synopsis tells how many there are")
    found = read_range(USUAL_RANGE if k_range is None else k_range)
    return found[1], found


def settle_k(
    request: Request, outcome: Outcome, domain: Domain, certified: Callable[[Request, Outcome], Release]
) -> tuple[Request, Outcome]:
    """The request and the outcome with the number of clusters that what was released shows. Free.

    certified : what is published of an outcome. Where none stands out, the likeliest is taken, and the notes say so.
    """
    if request.k_range is None:
        return request, outcome
    coreset = Coreset.of(certified(replace(request, errors="none"), outcome))
    found = coreset.choose_k(request.k_range)
    ask = coreset.kmeans if request.objective == "k-means" else coreset.kmedian
    centres = inside(domain.to_lattice(ask(found.likeliest, random_state=0).centres), domain)
    points, sizes, not_told = outcome.coreset, None, outcome.not_told
    assert points is not None, "a synopsis was to be kept"
    if outcome.boxes is None:
        not_told, sizes = NO_LAW, add_up(nearest(points.points, centres), points.weights, len(centres))
    kept = points if request.parameters.get("keep_synopsis") else None
    notes = {**outcome.notes, "how_many": _told(found, request.k_range)}
    chosen = replace(outcome, centres=centres, sizes=sizes, size_law=None, not_told=not_told)
    return replace(request, k=found.likeliest), replace(chosen, notes=notes, coreset=kept)


def _told(found: Choice, asked: tuple[int, int]) -> dict[str, Any]:
    words = found.words
    if found.k is None:
        words += f" The likeliest number, {found.likeliest}, was used, and may well be noise."
    costs = []
    for k, each in found.costs.items():
        ends = found.ends(k)  # None where a cost cannot be told
        costs.append([k, None, None, None] if ends is None else [k, each.cost, *ends])
    return {
        "range": list(asked),
        "rule": RULE,
        "k": found.k,
        "low": found.low,
        "high": found.high,
        "more": found.more,
        "words": words,
        "costs": costs,
    }
