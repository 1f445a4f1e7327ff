"""Fewer weighted points that answer like many: an ordinary coreset on top of a private one. Free."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.coarsen import coarsen
from covey.post.distances import Floats, add_up, as_rows, as_weights


def reduce_points(
    points: ArrayLike, weights: ArrayLike, *, m: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
    """At most m of the points, as their indices, and new weights for them.

    The points of positive and of negative weight are reduced apart, so that signs are kept; each sign gets places in
    proportion to its absolute weight, at least one. Its points are put into that many buckets of neighbours, small
    where the weight is and far points by themselves (coarsen.py); from each bucket one point is drawn in proportion
    to its weight and given the weight of the whole bucket.

    So the weight of each sign is kept exactly, every cost is right on average over the draws, whatever the centres,
    and it varies only by how much distances differ within a bucket. Points of weight 0 are left out.
    """
    x = as_rows("points", points)
    w = as_weights(weights, len(x))
    signs = [np.flatnonzero(w > 0), np.flatnonzero(w < 0)]
    signs = [each for each in signs if each.size]
    if m < max(1, len(signs)):
        raise ParameterError("m", f"must be at least {max(1, len(signs))}: each sign of weight needs a point")
    if not signs:
        return np.zeros(min(1, len(x)), dtype=np.intp), np.zeros(min(1, len(x)))
    chosen, heavier = [], []
    masses, sizes = [float(np.abs(w[each]).sum()) for each in signs], [each.size for each in signs]
    for each, places in zip(signs, _shares(masses, sizes, m), strict=True):
        mass = np.abs(w[each])
        if each.size <= places:
            bucket = np.arange(each.size)
        else:
            bucket = coarsen(x[each], mass / mass.max(), limit=places)
        count = int(bucket.max()) + 1
        total = add_up(bucket, mass, count)
        winner = _draw(bucket, mass, count, rng)
        used = winner >= 0
        chosen.append(each[winner[used]])
        heavier.append(np.sign(w[each[0]]) * total[used])
    return np.concatenate(chosen), np.concatenate(heavier)


def _shares(masses: list[float], sizes: list[int], m: int) -> list[int]:
    """m places in proportion to the masses, each at least one and no more than there are points."""
    if len(masses) == 1:
        return [m]
    wanted = min(m - 1, max(1, round(m * masses[0] / (masses[0] + masses[1]))))
    first = min(sizes[0], max(wanted, m - sizes[1]))
    return [first, m - first]


def _draw(bucket: NDArray[np.intp], mass: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """One point of each bucket, in proportion to its mass; -1 for a bucket without points.

    Every point waits for an exponential time at the rate of its mass, and the first of a bucket is drawn.
    """
    times = rng.standard_exponential(len(bucket)) / mass
    order = np.lexsort((times, bucket))
    label = bucket[order]
    first = np.flatnonzero(np.diff(label, prepend=-1))
    winner = np.full(count, -1, dtype=np.intp)
    winner[label[first]] = order[first]
    return winner
