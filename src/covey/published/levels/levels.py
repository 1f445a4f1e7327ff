"""A set of privacy levels: what was released, and everything that can be had of it for nothing. Proof: levels.md."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.accountant import Cost
from covey.checks import amount, is_text, whole_number
from covey.errors import ParameterError
from covey.post.distances import add_up
from covey.post.errors.boxes import CountedBoxes, laplace_variance
from covey.post.errors.mixture import ROUNDS, Mixture, fit_mixture, likely_places
from covey.post.errors.sizes import cluster_sizes
from covey.post.phantoms import without_phantoms
from covey.post.random import public_rng
from covey.public import Domain
from covey.published.certificate import Certificate
from covey.published.coreset.coreset import Coreset
from covey.published.errors import BoxNoise, Known, from_boxes
from covey.published.levels.cells import Layer, at_edge, boxes_of, closer, most_boxes, quick_clusters, refined
from covey.published.levels.words import SLIDER, choice, expected, meaning
from covey.published.release import Release
from covey.published.ways import Unit

Floats = NDArray[np.float64]
MOST_LEVELS = 20
ZONED = "rows in zones were counted up again, and how far off a level is by that is not told"


class Level(NamedTuple):
    """A position of the slider."""

    name: str
    epsilon: float


USUAL_LEVELS = (
    Level("most private", 0.1),
    Level("very private", 0.25),
    Level("balanced", 0.5),
    Level("detailed", 1.0),
    Level("most detailed", 2.0),
)


def check_levels(levels: Sequence[Any]) -> tuple[Level, ...]:
    """Levels as a user gives them (names with epsilons), most private first, or an error that names what is wrong."""
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not 1 <= len(levels) <= MOST_LEVELS:
        raise ParameterError("levels", f"must be a list of 1 to {MOST_LEVELS} pairs of a name and an epsilon")
    found = []
    for each in levels:
        if isinstance(each, str) or not isinstance(each, Sequence) or len(each) != 2 or not isinstance(each[0], str):
            raise ParameterError("levels", 'must be pairs of a name and an epsilon, such as ("detailed", 1.0)')
        if not is_text(each[0]):
            raise ParameterError("levels", f"have a name that is no valid text: {each[0]!r}")
        found.append(Level(str(each[0]), float(amount("epsilon", each[1]))))
    exact = [amount("epsilon", each.epsilon) for each in found]
    if any(a >= b for a, b in pairwise(exact)) or len({each.name for each in found}) < len(found):
        raise ParameterError("levels", "must ascend, from the most private to the least, with different names")
    return tuple(found)


def price(levels: Sequence[Any] = USUAL_LEVELS) -> float:
    """What a look at all levels costs: the epsilon of the least private one."""
    return check_levels(levels)[-1].epsilon


class _Clusters(NamedTuple):
    """Found in a level's boxes: centres, the noisy number of rows of each, and the mixture that says where rows are."""

    centres: Floats
    sizes: Floats
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class LevelSet:
    """Every privacy level of one data set. All of it is released: it may be kept, sent and queried for ever.

    levels : most private first. columns, domain : as declared. per_axis : cells of the grid along each axis.
    rows_noisy : the number of (kept) rows plus noise. counts : for each level, one noisy number for each key.
    cells, rates : of each key, its cell and how many of its rows a zone let through. certificate : of all together.
    """

    levels: tuple[Level, ...]
    columns: tuple[str, ...]
    domain: Domain
    per_axis: int
    rows_noisy: int
    rows_epsilon: Fraction
    counts: tuple[NDArray[np.int64], ...]
    cells: NDArray[np.int64]
    rates: Floats
    certificate: Certificate
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def epsilon(self) -> float:
        """What was paid: the epsilon of the least private level."""
        return self.certificate.epsilon

    @property
    def rows_per_person(self) -> int:
        """How many rows of a person count at most: all levels cost a row this many times less than a person."""
        return int(self.certificate.parameters.get("rows_per_person", 1))

    def strength(self, level: int) -> Fraction:
        """The epsilon of the noise on this level's counts: what it costs a row, less that of the number of rows."""
        own = amount("epsilon", self.levels[self._index(level)].epsilon)
        return own / self.rows_per_person - self.rows_epsilon

    def boxes(self, level: int) -> CountedBoxes:
        """What stands out of a level's noise, in boxes of the cube [-1, 1]^d. From this level's counts alone."""
        return self._once(("boxes", self._index(level)), lambda: self._boxes(self._index(level)))

    def _boxes(self, level: int) -> CountedBoxes:
        shape = (self.per_axis,) * self.domain.dimension
        cells, strength = math.prod(shape), float(self.strength(level))
        scale = 1 / strength
        widest = np.zeros(cells)
        np.maximum.at(widest, self.cells, scale / self.rates)
        fine = Layer(
            add_up(self.cells, self.counts[level] / self.rates, cells).reshape(shape),
            add_up(self.cells, laplace_variance(scale) / self.rates**2, cells).reshape(shape),
            widest.reshape(shape),
        )
        whole, variance = self.rows(level), self.rows_variance(level)
        found = boxes_of(fine, whole=whole, whole_variance=variance, most=most_boxes(strength))
        return found if self.domain.scale is None else found.within(self.domain.reach)

    @property
    def zoned(self) -> bool:
        """Whether some rows were thinned by zones."""
        return bool((self.rates != 1).any())

    def rows(self, level: int) -> float:
        """The noisy number of all rows; where zones let some through only, from this level's counts by their rates."""
        return float((self.counts[level] / self.rates).sum()) if self.zoned else float(self.rows_noisy)

    def rows_variance(self, level: int) -> float:
        """Of the noise in `rows`."""
        if self.zoned:
            return float((self.rates**-2.0).sum()) * laplace_variance(1 / float(self.strength(level)))
        return 2 * laplace_variance(1 / float(self.rows_epsilon))  # rows inside and outside the bounds

    def coreset(self, level: int, *, chosen: str = SLIDER, together: Cost | None = None) -> Coreset:
        """The boxes of a level as weighted points in the units of the data, with the noise of their counts.

        chosen, together : as for `release`.
        """
        boxes, half = self.boxes(level), self.domain.unit
        return Coreset(
            boxes.points * half + np.array(self.domain.middle),
            boxes.counts,
            cells=boxes.widths * half,
            noise=None if self.zoned else BoxNoise.of(boxes),
            columns=self.columns,
            certificate=self._certificate(level, chosen, together),
        )

    def release(
        self,
        level: int,
        k: int,
        *,
        objective: str = "k-means",
        edges: bool = True,
        chosen: str = SLIDER,
        together: Cost | None = None,
    ) -> Release:
        """k centres of a level with their noisy sizes. Free, for every level, k and objective.

        edges : whether narrow boxes at the edge of the bounds, to which rows outside were moved, help to find the
        centres. Sizes count their rows in any case.
        chosen : how you came to this level; the certificate says so and promises accordingly. "in advance": without
        looking at any level, so the level's own epsilon holds. "on the slider": the least private level's holds.
        "with sight of raw data": that too, and the choice itself is not covered. "after other releases" of the same
        data: the sum of all of them, `together`, which the ledger knows (`datasets()[name].spent`).
        """
        centres, _ = self.clusters(level, k, objective=objective, edges=edges)
        known = self.known(level, k, objective=objective, edges=edges)
        notes: dict[str, Any] = {"not_told": known.not_told} if known.not_told else {}
        notes |= {} if edges else {"edges": False}
        return Release(
            objective=str(objective),
            columns=list(self.columns),
            centres=(centres * self.domain.unit + np.array(self.domain.middle)).tolist(),
            sizes=known.sizes.tolist(),
            certificate=self._certificate(level, chosen, together, k=len(centres), **notes),
            errors=known.errors,
        )

    def clusters(self, level: int, k: int, *, objective: str = "k-means", edges: bool = True) -> tuple[Floats, Floats]:
        """Centres in the cube [-1, 1]^d and the noisy number of rows nearest to each."""
        number = whole_number("k", k, least=1, most=1_000)
        if objective not in ("k-means", "k-median"):
            raise ParameterError("objective", "must be 'k-means' or 'k-median'")
        key = (self._index(level), number, objective, edges)
        found = self._once(key, lambda: self._clusters(*key))
        return found.centres, found.sizes

    def _clusters(self, level: int, k: int, objective: str, edges: bool) -> _Clusters:
        boxes = self.boxes(level)
        taken, centres = self.by_middles(level, k, objective=objective, edges=edges)
        mixture = fit_mixture(boxes, centres, rounds=2 * ROUNDS, narrow=True)
        if objective == "k-means":
            centres = refined(boxes, taken, likely_places(boxes, closer(boxes, taken, mixture)), centres)
        return _Clusters(centres, cluster_sizes(boxes, centres).sizes, mixture)

    def by_middles(self, level: int, k: int, *, objective: str, edges: bool) -> tuple[NDArray[np.bool_], Floats]:
        """The boxes that centres are looked for in, and k centres as if all rows sat in the middles of their boxes."""
        boxes = self.boxes(level)
        inner = boxes.stands & ~self.at_edge(level)
        taken = without_phantoms(boxes, boxes.stands if edges or not inner.any() else inner, k, public_rng(0))
        return taken, quick_clusters(boxes.points[taken], boxes.counts[taken], k, objective)

    def at_edge(self, level: int) -> NDArray[np.bool_]:
        """Which boxes of a level are narrow and lie at the edge of the bounds."""
        return at_edge(self.boxes(level), self.domain.reach)

    def known(self, level: int, k: int, *, objective: str = "k-means", edges: bool = True) -> Known:
        """The sizes of a level's clusters with their errors, and what cannot be told."""
        centres, sizes = self.clusters(level, k, objective=objective, edges=edges)
        if self.zoned:
            return Known(sizes, None, {"errors": ZONED})
        key = (self._index(level), len(centres), objective, edges)
        unit = Unit.of(self.columns, self.domain.middle, self.domain.unit, self.domain.reach)
        mixture = self._known[key].mixture  # that was made for these centres
        return self._once(("known", *key), lambda: from_boxes(self.boxes(level), centres, unit, objective, mixture))

    def expected(self, level: int) -> dict[str, Any]:
        """What to expect of a level, as plain numbers: from formulas and from what the level itself releases."""
        return expected(self, self._index(level))

    def meaning(self, level: int) -> str:
        """What a level means, in one or two plain sentences."""
        return meaning(self, self._index(level))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all levels as one JSON document, whole or not at all. The file costs what all levels do."""
        from covey.published.levels.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LevelSet:
        """Read levels that were saved."""
        from covey.published.levels.files import load

        return load(path)

    def _index(self, level: int) -> int:
        return whole_number("level", level, least=0, most=len(self.levels) - 1)

    def _once(self, key: Any, work: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = work()
        return self._known[key]

    def _certificate(self, level: int, chosen: str, together: Cost | None, **notes: Any) -> Certificate:
        return choice(self, self._index(level), chosen, notes, together)
