"""What the four questions cost and tell, before any data is touched: by the laws of their noise, not by fits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from covey.checks import whole_number
from covey.events import exactly
from covey.noise.mechanisms import ThresholdedLaplace
from covey.post.ranges import usual_share
from covey.post.shares import Counts
from covey.public import Box, Neighbours
from covey.published.profile.columns import MOST_COLUMNS
from covey.published.score.score import Score, Scored
from covey.queries.counts import one_unit
from covey.queries.scores import MASS, SoftRings
from covey.text import plain
from covey.theory.forecast import Forecast

CELLS = 4  # of the column whose shares are told, all equal
HEADERS = ("epsilon", "private bounds", "share within r", "mean square", "count", "share of a cluster", "category")


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What each further question costs and tells at one epsilon. Halves of 90% intervals.

    bounds : what of epsilon private bounds of all columns take. within : of the share of all rows within a distance,
    where it is a half. square : of the mean squared distance, in parts of the farthest one from the middle. count : of
    a count of a profile. share : of a quarter of a typical cluster's rows. category : how many rows a private category
    needs; None without a delta.
    """

    epsilon: float
    bounds: float
    within: float
    square: float
    count: float
    share: float
    category: int | None

    def line(self) -> list[str]:
        """In words, under HEADERS."""
        return [
            f"{self.epsilon:g}",
            plain(self.bounds),
            _half(self.within),
            _half(self.square),
            f"± {plain(self.count, up=True)}",
            _half(self.share),
            "needs a delta" if self.category is None else f"from {self.category:,} rows",
        ]


def questions(row: Forecast, columns: int) -> Questions:
    """What to expect of further questions at the epsilon of a forecast, with a profile of so many columns."""
    whole_number("questions", columns, least=1, most=MOST_COLUMNS)
    epsilon, relation = exactly(row.epsilon), Neighbours.parse(row.neighbours)
    within, square = _score(row, epsilon, relation)
    scale = float(one_unit(relation).l1 * columns / epsilon)
    cells = Counts(np.full((1, CELLS), row.n / row.k / CELLS), scale)
    category = None
    if row.delta is not None:
        found = ThresholdedLaplace(epsilon / (columns + 1), exactly(row.delta))
        category = found.threshold(one_unit(relation))
    return Questions(
        epsilon=row.epsilon,
        bounds=row.epsilon * float(usual_share(row.d) * row.d),
        within=within,
        square=square,
        count=_width(Counts(np.zeros((1, 1)), scale).sizes()[0]),
        share=_width(cells.shares()[0, 0]),
        category=category,
    )


def _score(row: Forecast, epsilon: Fraction, relation: Neighbours) -> tuple[float, float]:
    """Halves of intervals of a score: half of the rows at the middle of a box, half a quarter of the way beyond."""
    domain = Box(*[(-1.0, 1.0)] * row.d).domain(None, row.d)
    middle, end = np.zeros((1, row.d)), row.d * domain.limit**2
    query = SoftRings([middle, middle], domain, breaks=[end / 16])
    knots = query.told(query.knots[0])
    masses = np.zeros(len(knots), dtype=np.int64)
    masses[[0, int(np.flatnonzero(np.diff(knots) == 0)[0]) + 1]] = int(row.n * MASS / 2)
    [ours, one] = (
        Scored(name=name, centres=middle.tolist(), knots=knots.tolist(), masses=masses.tolist()) for name in ("a", "b")
    )
    scale = float(query.sensitivity(relation).l1 / epsilon)
    asked: dict[str, Any] = {"unit": 1.0, "metres": False, "within": 1.0, "clip": None, "certificate": None}
    score = Score(objective="k-means", sets=[ours], one=one, mass=MASS, noise_scale=scale, **asked)
    _, low, high = score.share_within() or (0.5, 0.0, 1.0)
    cost, _, most = score.cost()
    return (high - low) / 2, (most - cost) / row.n / end


def remark(columns: int, row: Forecast) -> str:
    """What the table of questions means."""
    words = (
        "Further questions, each with the epsilon of its line and a charge of its own; halves of intervals that hold 9 "
        f"times in 10. Private bounds of all {row.d} columns are within the fit's epsilon: so much of it is theirs. A "
        "score tells the share of the rows within a distance, and the mean squared distance, here in parts of the "
        f"farthest one. A profile of {columns} columns tells counts, and shares of a cluster of {row.n / row.k:,.0f} "
        f"rows, here of {CELLS} equal ones. How many clusters there are costs nothing beyond a fit for the largest "
        "number: plan with that one as k."
    )
    return words + (
        "" if row.delta is None else " A private category, of one column more, is shown from about so many rows."
    )


def _width(told: Any) -> float:
    return float(told[2] - told[1]) / 2


def _half(share: float) -> str:
    return "nothing" if share >= 0.5 else f"± {plain(100 * share, up=True)}%"
