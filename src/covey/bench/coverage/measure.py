"""One release against the rows that it was made of: what it says about its own errors, and whether that is so."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from covey.bench.sets import Floats
from covey.post.distances import Objective, cost, cost_of_labels, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import Cost, cost_interval
from covey.post.errors.mixture import fit_mixture, likely_places
from covey.post.errors.reruns import LEAST_EXCESS, Reruns
from covey.post.errors.sizes import cluster_sizes
from covey.public import resolve_bounds
from covey.published.coreset.coreset import Coreset
from covey.published.errors import OBJECTIVES
from covey.published.release import Release

Numbers = dict[str, Any]
SiteCosts = dict[Objective, tuple[float, ...]]
PHANTOM, REAL = 0.2, 0.5  # of the noisy rows in a centre's boxes that are truly there: at most, at least
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd: tells the numbers of cells along several axes apart


def of_sizes(release: Release, label: NDArray[np.intp]) -> Numbers:
    """How many of the k intervals hold, whether all joint ones do, and how wide the middle one is."""
    single, joint = release.size_intervals, release.joint_size_intervals
    if single is None or joint is None:
        return {}
    true = np.bincount(label, minlength=len(single))
    wide = (single[:, 1] - single[:, 0]) / 2 / np.maximum(true, 1)
    return {
        "sizes_held": int(_holds(single, true).sum()),
        "joint_held": int(_holds(joint, true).all()),
        "size_width": float(np.median(wide)),
    }


def _holds(intervals: Floats, true: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray((intervals[:, 0] <= true) & (true <= intervals[:, 1]))


def of_costs(release: Release, coreset: Coreset, sites: Floats, rows: Floats, label: NDArray[np.intp]) -> Numbers:
    """Of the released centres, and of other sites, by both objectives."""
    centres, ones = np.array(release.centres), np.ones(len(rows))
    found: Numbers = {}
    served = nearest(rows, sites)
    for objective in OBJECTIVES:
        short = objective.removeprefix("k-")
        if release.errors is not None:
            given = (release.errors.costs or {}).get(objective)
            told = Cost(*given) if given is not None else Cost(np.nan, np.nan, np.nan, "gate")
            found |= _told(f"own_{short}", told, cost_of_labels(rows, ones, centres, label, objective))
        about = coreset.cost(sites, objective=objective, interval=True)
        assert isinstance(about, Cost)
        found |= _told(f"sites_{short}", about, cost_of_labels(rows, ones, sites, served, objective))
    return found


def of_differences(coreset: Coreset, sites: Floats, others: Floats, true: SiteCosts) -> Numbers:
    """By how much some sites cost more than others, by both objectives: whether it holds, and how wide it is.

    true : what both cost. Half-widths are parts of what the sites cost.
    """
    found: Numbers = {}
    for objective, (one, other) in true.items():
        told = coreset.cost_difference(sites, others, objective=objective)
        if told.why is None:
            wide = (told.high - told.low) / 2 / max(one, 1e-300)
            name = f"difference_{objective.removeprefix('k-')}"
            found[name] = [
                int(told.low <= one - other <= told.high),
                (told.cost - one + other) / max(one, 1e-300),
                wide,
            ]
    return found


def of_ways(coreset: Coreset, sites: Floats, true: SiteCosts, n: int) -> Numbers:
    """How far rows are from their sites on average, by both objectives, like costs. true : what the sites cost."""
    found: Numbers = {}
    for objective, (one, *_) in true.items():
        told = coreset.mean_way(sites, objective=objective)
        if told is not None:
            way = (one / n) ** 0.5 if objective == "k-means" else one / n
            found |= _told(f"way_{objective.removeprefix('k-')}", told, way)
    return found


def _told(name: str, told: Cost, true: float) -> Numbers:
    """Nothing where the gate keeps the number back."""
    if told.why is not None or true <= 0:
        return {}
    wide = (told.high - told.low) / 2 / true
    return {name: [int(told.low <= true <= told.high), told.cost / true, wide]}


def of_doubt(release: Release, boxes: CountedBoxes, rows: Floats) -> Numbers:
    """Centres whose boxes are nearly empty and that are called real; centres with rows that are doubted."""
    doubtful = release.doubtful
    if doubtful is None:
        return {}
    k, stands = len(doubtful), np.flatnonzero(boxes.stands)
    inside = np.bincount(locate(boxes, rows) + 1, minlength=len(boxes.counts) + 1)[1:]
    label = nearest(boxes.points[stands], np.array(release.centres))
    true = np.bincount(label, inside[stands], minlength=k)
    noisy = np.bincount(label, boxes.counts[stands], minlength=k)
    phantom, real = true <= PHANTOM * noisy, (true >= REAL * noisy) & (true > 0)
    return {
        "phantoms": int(phantom.sum()),
        "phantoms_called_real": int((phantom & ~doubtful).sum()),
        "real": int(real.sum()),
        "real_doubted": int((real & doubtful).sum()),
    }


def locate(boxes: CountedBoxes, rows: Floats) -> NDArray[np.intp]:
    """The box of each row; -1 where it is in none. Boxes of one shape lie on a grid of that shape.

    In whole numbers of the lattice, as a fit: of rows with equal values boxes may be as narrow as two of its steps.
    """
    found = np.full(len(rows), -1, dtype=np.intp)
    limit = resolve_bounds((-1, 1), names=None, width=boxes.dimension).limit
    span = 2 * limit + 1
    parts = np.maximum(np.round(span / limit / boxes.widths), 1).astype(np.int64)
    points = np.rint(rows * limit).astype(np.int64) + limit
    middles = (boxes.points * limit + limit + 0.5) / span
    for per_axis in np.unique(parts, axis=0):
        same = np.flatnonzero((parts == per_axis).all(axis=1))
        left = np.flatnonzero(found < 0)
        of_box = _number(np.floor(middles[same] * per_axis), per_axis)
        of_row = _number(points[left] * per_axis // span, per_axis)
        order = np.argsort(of_box)
        place = order[np.minimum(np.searchsorted(of_box[order], of_row), len(order) - 1)]
        hit = of_box[place] == of_row
        found[left[hit]] = same[place[hit]]
    return found


def _number(cells: NDArray[Any], per_axis: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each cell of a grid, from its places along the axes."""
    number = np.zeros(len(cells), dtype=np.uint64)
    for axis in np.clip(cells, 0, per_axis - 1).astype(np.uint64).T:
        number = number * _MIX + axis
    return number


def of_places(told: Reruns, centres: Floats, best: Floats, settled: Floats, rows: Floats) -> Numbers:
    """How many of the centres that stand for a cluster are within their radius of it, and whether the bound holds.

    best : centres without privacy. settled : where the released ones end on the rows themselves. The cheaper of the two
    is the best that is known. k-means has many optima: where the settled ones cost as little as matters, they say where
    a centre belongs, and else the best. A cluster is found if the centre that it is matched with is nearer than half of
    the way to its nearest neighbour.
    """
    ones = np.ones(len(rows))
    own, other, paid = (cost(rows, ones, each) for each in (settled, best, centres))
    goal = settled if own <= (1 + LEAST_EXCESS) * min(own, other) else best
    away = np.sqrt(np.square(goal[:, None] - centres).sum(axis=2))
    which = linear_sum_assignment(away**2)[1]
    between = np.sqrt(np.square(goal[:, None] - goal).sum(axis=2)) + np.diag(np.full(len(goal), np.inf))
    off, radius = away[np.arange(len(goal)), which], np.asarray(told.radii)[which]
    found = off < between.min(axis=1) / 2
    known = found & ~np.isnan(radius)
    return {
        "found": int(found.sum()),
        "places": int(known.sum()),
        "places_held": int((off[known] <= radius[known]).sum()),
        "radius": float(np.median(radius[known])) if known.any() else None,
        "excess": paid / min(own, other) - 1,
        "excess_bound": told.excess,
        "alike": int(goal is settled),
    }


def spent(boxes: CountedBoxes, centres: Floats) -> Numbers:
    """CPU seconds of the sizes, and of both costs with the mixture that they need."""
    sizes = seconds(lambda: cluster_sizes(boxes, centres))

    def costs() -> None:
        places = likely_places(boxes, fit_mixture(boxes, centres))
        for objective in OBJECTIVES:
            cost_interval(boxes, places, centres, objective)

    return {"seconds_sizes": sizes, "seconds_costs": seconds(costs)}


def seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def of_bracket(coreset: Coreset, centres: Floats, rows: Floats, objective: Objective) -> Numbers:
    """Of a coreset without cells: the cost's ratio to the true one, and whether what it says it lies between holds.

    Between the cost of rows that are all at their points and that of rows spread about them, where spreads are known.
    """
    true = cost(rows, np.ones(len(rows)), centres, objective)
    told = coreset.cost(centres, objective=objective, interval=True)
    assert isinstance(told, Cost)
    low, high = told.low, told.high
    if np.isnan(low):
        plain = cost(coreset.points, coreset.weights, centres, objective)
        spreads = getattr(coreset, "spreads", None)
        low, high = plain, plain if spreads is None else plain + float(coreset.weights @ spreads)
    ratio = told.cost / true
    return {"ratio": ratio, "held": int(low <= true <= high), "low": low / true, "high": high / true}
