"""How uncertain a release is: intervals that hold nine times in ten, and what cannot be told. Free.

docs/guide/errors.md says what each number means, docs/reference/release-format.md how it is stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, Objective, squares_to_nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import TOWARDS, Cost, Paid, intervals, squares_in_boxes, squares_paid
from covey.post.errors.doubt import doubtful
from covey.post.errors.mixture import Mixture, Places, fit_mixture, likely_places
from covey.post.errors.quantiles import LEVEL
from covey.post.errors.sizes import Sizes, cluster_sizes
from covey.post.threads import side_by_side
from covey.published.ways import KINDS, Unit, as_objective, distance_of

Interval = tuple[float, float]
OBJECTIVES: tuple[Objective, ...] = ("k-means", "k-median")
MOST_NOISE = 1e80  # of a weight, or its square: squares of more overflow
NO_BOXES = "only the rows of each cluster were counted, not where they are"
_MANY = 2**13  # boxes: of more, two threads are worth while
THINNED = "rows in zones were thinned out and are not counted up again"


class Errors(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a release says about the uncertainty of its own numbers. The certificate says why one is missing.

    level : how often an interval holds. count_scale : of the Laplace noise on the counts that sizes come from, in rows.
    sizes, joint_sizes : an interval for each centre; the joint ones hold all at once. doubtful : whether a centre may
    be only noise. costs : of the released centres, by objective: the estimate and its interval, with columns scaled by
    the bounds. distances : how far a row is from its centre, the estimate and its interval: "mean_m" in metres on a
    map; else "mean", or "rms" for k-means, the root mean square, in the units of the data. radii : how far a centre
    may be from where it would be without noise, in half-widths of the domain; null where its place is not determined.
    excess : by what part the centres may cost more than those without privacy, if no cluster was missed.
    """

    level: float = LEVEL
    count_scale: float | None = None
    sizes: list[Interval] | None = None
    joint_sizes: list[Interval] | None = None
    doubtful: list[bool] | None = None
    costs: dict[str, tuple[float, float, float]] | None = None
    distances: dict[str, tuple[float, float, float]] | None = None
    radii: list[float | None] | None = None
    excess: float | None = None

    def in_order(self, order: Sequence[int]) -> Errors:
        """The errors of the same centres in another order."""
        lists = {name: getattr(self, name) for name in ("sizes", "joint_sizes", "doubtful", "radii")}
        moved = {name: [each[i] for i in order] for name, each in lists.items() if each is not None}
        return msgspec.structs.replace(self, **moved)

    def fits(self, centres: int) -> bool:
        """Whether every list has an entry for each centre, every interval its ends in order, and all are possible."""
        lists: Sequence[Sequence[object] | None] = (self.sizes, self.joint_sizes, self.doubtful, self.radii)
        intervals = [*(self.sizes or ()), *(self.joint_sizes or ())]
        costs, distances = self.costs or {}, self.distances or {}
        return (
            0 < self.level < 1
            and min(self.count_scale or 0, self.excess or 0) >= 0
            and all(each is None or len(each) == centres for each in lists)
            and all(low <= high for low, high in intervals)
            and all(name in OBJECTIVES and low <= cost <= high for name, (cost, low, high) in costs.items())
            and all(name in KINDS and 0 <= low <= far <= high for name, (far, low, high) in distances.items())
            and all(each is None or 0 <= each <= 1 for each in self.radii or ())
        )


class BoxNoise(msgspec.Struct, frozen=True):
    """The law of the noise in a coreset's weights: one number for all of them, or one for each.

    variances : of the noise. thresholds : a weight above stands out of the noise of all. scales : by how much the
    weight of an empty box that stands out exceeds its threshold, on average.
    """

    variances: float | list[float]
    thresholds: float | list[float]
    scales: float | list[float]

    @classmethod
    def of(cls, boxes: CountedBoxes) -> BoxNoise:
        return cls(**{name: _short(getattr(boxes, name)) for name in ("variances", "thresholds", "scales")})

    def fits(self, many: int) -> bool:
        numbers = self._numbers()
        lists = [each if isinstance(each, list) else [each] for each in numbers]
        same = all(len(each) == many for each, number in zip(lists, numbers, strict=True) if isinstance(number, list))
        known = all(abs(each) <= MOST_NOISE for each in (*lists[0], *lists[1], *lists[2]))  # a nan is not
        return same and known and min(lists[0], default=0) >= 0 and min(lists[2], default=1) > 0

    def boxes(self, points: Floats, widths: Floats, counts: Floats) -> CountedBoxes:
        """Boxes in [-1, 1]^d with this noise in their counts."""
        ones = np.ones(len(counts))
        return CountedBoxes(points, widths, counts, *(np.multiply(each, ones) for each in self._numbers()))

    def _numbers(self) -> tuple[float | list[float], ...]:
        return self.variances, self.thresholds, self.scales

    def joined(self, other: BoxNoise, *, lengths: tuple[int, int]) -> BoxNoise:
        """Of two coresets side by side."""
        both = zip(self._numbers(), other._numbers(), strict=True)
        return BoxNoise(*[_long(a, lengths[0]) + _long(b, lengths[1]) for a, b in both])


def _short(numbers: Floats) -> float | list[float]:
    return float(numbers[0]) if (numbers == numbers[0]).all() else numbers.tolist()


def _long(numbers: float | list[float], many: int) -> list[float]:
    return numbers if isinstance(numbers, list) else [numbers] * many


class Known(NamedTuple):
    """Sizes, what is known of their errors and others, and why something is not."""

    sizes: Floats
    errors: Errors | None
    not_told: dict[str, str]


def from_boxes(
    boxes: CountedBoxes,
    centres: Floats,
    unit: Unit,
    objective: str,
    mixture: Mixture | None = None,
    *,
    most: float = math.inf,
) -> Known:
    """The sizes of clusters and every error that the counts tell about, of centres that were chosen on these counts.

    Centres and boxes in [-1, 1]^d. objective : that of the centres, which says what distance is told. mixture : that
    says where in its boxes the rows are, if it was fitted already. most : the number of all rows, if that is public.
    """
    many = len(boxes.counts) > _MANY

    def counted() -> tuple[Sizes, NDArray[np.bool_], Paid]:
        near = boxes.near(centres)
        sizes = cluster_sizes(boxes, centres, near)
        known = squares_in_boxes(boxes, centres, near)
        return sizes, doubtful(boxes, centres, sizes, near.label), squares_paid(boxes, None, centres, known)

    def placed() -> tuple[Places, Floats]:
        found = likely_places(boxes, fit_mixture(boxes, centres) if mixture is None else mixture)
        return found, squares_to_nearest(found.points, centres)

    def told(paid: Paid) -> tuple[Cost, Cost]:
        return intervals(boxes, places, paid, len(centres), towards=TOWARDS)

    (sizes, in_doubt, squares), (places, at_places) = side_by_side(counted, placed, worth=many)
    squares = squares._replace(places=at_places)
    both = side_by_side(lambda: told(squares), lambda: told(squares.roots()), worth=many)
    found = dict(zip(OBJECTIVES, both, strict=True))
    costs = {name: tuple(cost[:3]) for name, (cost, _) in found.items() if cost.why is None}
    reasons = {f"{name} cost": cost.why for name, (cost, _) in found.items() if cost.why is not None}
    kind = unit.kind(objective)
    if (unit.stretch == 1).all():
        far = unit.told(found[as_objective(kind)][1], kind)
    else:
        far = distance_of(boxes, places, centres, unit, kind, towards=TOWARDS)
    distances = {kind: (far.cost, far.low, far.high)} if far.why is None and math.isfinite(far.high) else {}
    errors = _of_sizes(sizes, in_doubt, most)
    errors = msgspec.structs.replace(errors, costs=costs or None, distances=distances or None)
    return Known(np.minimum(sizes.sizes, most), errors, reasons)


def from_sizes(sizes: Sizes, *, most: float = math.inf) -> Known:
    """What is known where the rows of clusters were counted, but not where they are."""
    errors = _of_sizes(sizes, sizes.small(), most)
    return Known(np.minimum(sizes.sizes, most), errors, {f"{each} cost": NO_BOXES for each in OBJECTIVES})


def _of_sizes(sizes: Sizes, doubtful: NDArray[np.bool_], most: float) -> Errors:
    return Errors(
        count_scale=sizes.scale,
        sizes=_pairs(sizes.intervals(most=most)),
        joint_sizes=_pairs(sizes.joint(most=most)),
        doubtful=doubtful.tolist(),
    )


def _pairs(intervals: Floats) -> list[Interval]:
    return [(low, high) for low, high in intervals.tolist()]
