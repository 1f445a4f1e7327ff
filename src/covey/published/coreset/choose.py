"""How many clusters a coreset shows, with the costs of every number that was asked for. Free, like all its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.checks import whole_number
from covey.errors import ParameterError
from covey.post.distances import Objective
from covey.post.errors.costs import Cost
from covey.post.how_many import POINTS, Evidence, how_many
from covey.post.random import public_rng
from covey.published.coreset.answers import MOST_CENTRES, bracketed, cost_with_interval, hidden
from covey.text import counted, listing

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset

MOST = 100  # clusters that are looked for
_STANDS = 2.0  # deviations of the noise above 0
_DIMENSIONS = 2.0  # that rows fill beyond four columns, where points lie in a subspace and about few centres


@dataclass(frozen=True)
class Choice:
    """What a coreset says about the number of clusters; `words` say it in a sentence or two.

    Attributes
    ----------
    k : int or None
        The number that fits best; None where the coreset does not tell.
    likeliest : int
        The same, or where that is None the number that comes nearest to standing out, which may well be noise.
    low, high : int or None
        From `low` to `high` clusters fit about equally well.
    costs : dict of int to Cost
        For each k that was asked for: (cost, low, high, why) of the centres found for it, as `Coreset.cost` tells it.
    more : bool
        Whether more clusters than were asked for fit better still.
    bracket : bool
        Whether ends are those of a bracket, as of a coreset without cells, and no interval that was judged.
    asked : tuple of int or None
        The range that was asked for; `costs` may end earlier, as `remarks` then say.
    """

    k: int | None
    likeliest: int
    low: int | None
    high: int | None
    costs: dict[int, Cost]
    more: bool
    bracket: bool = False
    asked: tuple[int, int] | None = None

    def ends(self, k: int) -> tuple[float, float] | None:
        """Between which the cost of k clusters lies nine times in ten, where that can be told."""
        told = self.costs[k]
        return None if math.isnan(told.low) or math.isnan(told.high) else (told.low, told.high)

    @property
    def words(self) -> str:
        of = f"of {_ks_in_words(list(self.costs))}, " if self.costs else ""
        if self.k is None:
            told = f"How many clusters there are cannot be told: {of}none stands out of the noise."
        elif self.low == self.high:
            told = f"{self.k} clusters fit best, and no other number nearly as well."
        else:
            told = f"{self.k} clusters fit best; {self.low} to {self.high} fit about equally well."
        return told + (" More clusters may fit better still: ask for a wider range." if self.more else "")

    def hides(self, k: int) -> bool:
        """Whether the cost of k clusters cannot be told, so that no number is to be shown for it."""
        return hidden(self.costs[k].why)

    def remarks(self, objective: str) -> list[str]:
        """Why some costs, or their errors, cannot be told, and why the list of numbers ends where it does."""
        lines = []
        for why in dict.fromkeys(each.why for each in self.costs.values() if each.why is not None):
            ks = [k for k, each in self.costs.items() if each.why == why]
            of = "" if len(ks) == len(self.costs) else f" of {_ks_in_words(ks)} clusters"
            what = f"The {objective} cost{of}" if hidden(why) else f"How far off the {objective} cost{of} may be"
            lines.append(f"{what} cannot be told: {why}.")
        return lines + self._end()

    def _end(self) -> list[str]:
        last = max(self.costs, default=None)
        if self.asked is None or last == self.asked[1]:
            return []
        if last is None:
            return ["No costs are shown: too few points of this coreset stand out of the noise."]
        few = f"that takes {POINTS} points that stand out of the noise for each, and this coreset has fewer"
        return [f"More than {counted(last, 'cluster')} are not looked for: {few}."]


def _ks_in_words(ks: list[int]) -> str:
    """3 to 9; or 3, 4 and 7."""
    run = len(ks) > 2 and ks[-1] - ks[0] == len(ks) - 1
    return f"{ks[0]} to {ks[-1]}" if run else listing([str(k) for k in ks])


def choose_k(coreset: Coreset, k_range: Any, objective: Objective) -> Choice:
    """The number of clusters that fits best, of those in a range."""
    least, most = read_range(k_range)
    found = how_many(evidence_of(coreset), least, most, public_rng(0))
    costs = {k: cost_with_interval(coreset, centres, objective) for k, centres in found.centres.items()}
    ends = (least, most)
    return Choice(found.k, found.likeliest, found.low, found.high, costs, found.more, bracketed(coreset), ends)


def read_range(given: Any) -> tuple[int, int]:
    """The ends of a range of numbers of clusters, or an error that says what would do."""
    ends = tuple(given) if isinstance(given, tuple | list) else ()
    if len(ends) != 2:
        raise ParameterError("k_range", "must be two whole numbers, the least and the most clusters, such as (2, 20)")
    least, most = (whole_number("k_range", each, least=2, most=min(MOST, MOST_CENTRES)) for each in ends)
    if least > most:
        raise ParameterError("k_range", f"must be from the least to the most, not {least} to {most}")
    return least, most


def evidence_of(coreset: Coreset) -> Evidence:
    """The points of a coreset with their noise: known from its cells, or as large as negative weights show it."""
    if (boxes := coreset.boxes) is not None:
        spreads, deviations = np.square(boxes.widths).sum(axis=1) / 12, np.sqrt(boxes.variances)
        return Evidence(boxes.points, boxes.counts, spreads, deviations, boxes.thresholds, boxes.dimension)
    weights, alike = coreset.weights, np.ones(len(coreset))
    below = weights[weights < 0]
    deviation = float(np.sqrt(np.square(below).mean())) if len(below) else 0.0
    dimension = min(_DIMENSIONS, len(coreset.columns))
    noise = (deviation * alike, _STANDS * deviation * alike)
    return Evidence(coreset.scaled(coreset.points), weights, 0 * alike, *noise, dimension)
