"""Put neighbouring points into buckets, small where the mass is."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, add_up_each

_AXES = 16  # only the widest axes are looked at for a split
_LEVELS = 48  # no chain of splits is longer
_LEFT_TO_LEVELS = 4  # the grid has 2^4 times fewer buckets than allowed: the levels put the others where they help


def coarsen(points: Floats, mass: Floats, *, limit: int) -> NDArray[np.intp]:
    """The bucket of each point: at most `limit` buckets, numbered from 0.

    Starts with a uniform grid of few buckets; each level halves, at the mean of its widest axis, every bucket
    whose scatter (mass x variance along that axis) is at least half the average, the largest first if
    not all fit. Masses must be positive. Nothing is sorted: each level is a few sums over the points it moves.
    """
    columns = _widest_axes(points, mass)
    halvings = max(0, limit.bit_length() - 1 - _LEFT_TO_LEVELS)
    bucket = _grid(columns, halvings=halvings)
    moments = [(mass * x, mass * x * x) for x in columns]
    table = np.stack([mass, *chain.from_iterable(moments)], axis=1)
    scatter, axis, cut = _split_plan(table, bucket, count=1 << halvings)
    for _ in range(_LEVELS):
        chosen = _worth_splitting(scatter, room=limit - len(scatter))
        if chosen.size == 0:
            break
        number = np.full(len(scatter), -1)
        number[chosen] = np.arange(chosen.size)
        place = number.take(bucket)
        moving = np.flatnonzero(place >= 0)
        place = place.take(moving)
        own = columns.ravel().take((axis[chosen] * len(mass)).take(place) + moving)  # along the axis of the split
        right = own > cut[chosen].take(place)
        far = np.flatnonzero(right)
        bucket[moving.take(far)] = len(scatter) + place.take(far)
        halves = _split_plan(table.take(moving, axis=0), place + chosen.size * right, count=2 * chosen.size)
        for old, new in zip((scatter, axis, cut), halves, strict=True):
            old[chosen] = new[: chosen.size]
        scatter, axis, cut = (
            np.concatenate([old, new[chosen.size :]]) for old, new in zip((scatter, axis, cut), halves, strict=True)
        )
    return bucket


def _widest_axes(points: Floats, mass: Floats) -> Floats:
    """The columns of largest variance, one per row, in their original order."""
    mean = mass @ points / mass.sum()
    variance = mass @ np.square(points - mean)
    widest = np.sort(np.argsort(-variance, kind="stable")[:_AXES])
    return np.ascontiguousarray((points[:, widest] - mean[widest]).T)


def _grid(columns: Floats, *, halvings: int) -> NDArray[np.intp]:
    """The cell of each point when the widest side of the bounding box is halved, again and again."""
    low = columns.min(axis=1)
    width = columns.max(axis=1) - low
    parts = np.ones(len(columns), dtype=np.intp)
    for _ in range(halvings):
        parts[np.argmax(width / parts)] *= 2
    cell = np.zeros(columns.shape[1], dtype=np.intp)
    for x, start, whole, count in zip(columns, low, width, parts, strict=True):
        if whole > 0 and count > 1:
            cell = cell * count + np.minimum(((x - start) * (count / whole)).astype(np.intp), count - 1)
    return cell


def _split_plan(table: Floats, bucket: NDArray[np.intp], *, count: int) -> tuple[Floats, NDArray[np.intp], Floats]:
    """For each bucket: its largest scatter along an axis, that axis, and the mean along it.

    table : points x their mass and, for each axis, its first and second moment.
    """
    sums = add_up_each(bucket, table.T, count)
    mean = sums[1::2] / np.where(sums[0] > 0, sums[0], 1.0)
    scatter = sums[2::2] - sums[0] * mean**2
    axis = scatter.argmax(axis=0)
    each = np.arange(count)
    return scatter[axis, each], axis, mean[axis, each]


def _worth_splitting(scatter: Floats, *, room: int) -> NDArray[np.intp]:
    chosen = np.flatnonzero((scatter > 0) & (scatter >= scatter.mean() / 2))
    if chosen.size <= room:
        return chosen
    return np.sort(chosen[np.argsort(-scatter[chosen], kind="stable")[:room]])
