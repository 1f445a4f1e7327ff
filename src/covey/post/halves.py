"""Where the rows of people are whom zones let through in part: from all places down to single ones. Proof: zones.md.

Everything here is free: it is told noisy numbers and public rates, and never sees rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats
from covey.post.errors.boxes import laplace_variance
from covey.post.leaves import kept_weights
from covey.post.zones import HARMLESS, STANDS_OUT, KeptCounts

LEVEL = 0.02  # of how rows are expected to part: by the number of places; the rest as all kept rows do
FEW = 64  # neighbouring places, which are told to have rows together
APART = 0.5  # of the largest variance that a share can have: how far people of a zone are from where all others are


def in_halves(counted: KeptCounts, points: Floats, *, strictness: float) -> KeptCounts:
    """Numbers of all rows of each place, for a search; as released where places tell which zones they have.

    People of a zone may be anywhere, and noise divided by a small rate would be in every place. So their rows are
    counted where kept rows stand out, and not place by place: in all of these, and then in either half, and halves of
    halves, each time as far from the share of all kept rows as the noise leaves it likely.
    """
    if counted.keys is None or counted.keys.together is None:
        return counted.for_search()
    keys, variance = counted.keys, laplace_variance(counted.scale)
    noisy, rate = (each.reshape(-1, keys.places) for each in (counted.noisy, keys.rate))
    stand = np.where(counted.certain, counted.noisy, 0.0).reshape(noisy.shape)
    stand[0] = kept_weights(noisy[0], scale=counted.scale, strictness=strictness)
    near = np.asarray(stand.any(axis=0))
    order, ends = halves(points)
    for own in noisy[1:]:
        near[order] |= inhabited(own[order], ends, variance=variance)
    places, numbers = np.flatnonzero(near), noisy[0].copy()
    order, ends = halves(points[places])
    mine = places[order]
    base = stand.sum(axis=0)[mine]
    for own, share in zip(noisy[1:], rate[1:, 0], strict=True):
        rows, doubt = own[mine].sum(), np.sqrt(variance * len(mine))
        if rows > STANDS_OUT * doubt or doubt / share < HARMLESS * base.sum():
            numbers[mine] += parted(own[mine], base, ends, variance=variance) / share
    return KeptCounts(numbers, counted.scale)


def inhabited(noisy: Floats, ends: list[NDArray[np.int64]], *, variance: float) -> NDArray[np.bool_]:
    """Which places, in the order of `halves`, are among few that have more rows together than noise makes."""
    sums, found = np.concatenate([[0.0], np.cumsum(noisy)]), np.zeros(len(noisy), dtype=np.bool_)
    odds = np.log(max(len(noisy), 4))
    for each in ends:
        many = np.diff(each)
        if many.max() <= FEW:
            least = np.sqrt(2 * odds * variance * many) + odds * np.sqrt(variance / 2)  # Bernstein's bound
            found |= np.repeat(np.diff(sums[each]) > least, many)
    return found


def halves(points: Floats) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Places in an order in which halves follow one another, of halves of halves, and where each of them ends.

    Halves along one axis after the other; a single place has an empty second half.
    """
    order, ends = np.arange(len(points)), [np.array([0, len(points)])]
    while (np.diff(ends[-1]) > 1).any():
        part = np.repeat(np.arange(len(ends[-1]) - 1), np.diff(ends[-1]))
        axis = (len(ends) - 1) % points.shape[1]
        order = order[np.lexsort((points[order, axis], part))]
        finer = np.empty(2 * len(ends[-1]) - 1, dtype=np.int64)
        finer[::2], finer[1::2] = ends[-1], (ends[-1][:-1] + ends[-1][1:] + 1) // 2
        ends.append(finer)
    return order, ends


def parted(noisy: Floats, base: Floats, ends: list[NDArray[np.int64]], *, variance: float) -> Floats:
    """The rows behind noisy numbers of places, none negative: those of all, parted again and again.

    A half of n of m places with T rows in all has n·variance of noise; with what the other half leaves of T it is told
    with n(m - n)/m. It is expected to have the share that it has of `base`, give or take; by the two variances either
    counts.
    """
    rows = np.array([max(float(noisy.sum()), 0.0)])
    sums, bases = (np.concatenate([[0.0], np.cumsum(each)]) for each in (noisy, base))
    for finer in ends[1:]:
        (first, second), (one, other), (n, m) = (
            np.diff(each).reshape(-1, 2).T for each in (sums[finer], bases[finer], finer.astype(np.float64))
        )
        many, weight = np.maximum(n + m, 1.0), one + other
        level = np.where(n + m > 0, n / many, 1.0)
        share = np.where(weight > 0, (1 - LEVEL) * one / np.maximum(weight, 1e-300) + LEVEL * level, level)
        seen = (first * m + (rows - second) * n) / many
        doubt = variance * n * m / many
        spread = APART * share * (1 - share) * rows**2
        trust = spread / np.maximum(spread + doubt, 1e-300)
        mine = np.clip(trust * seen + (1 - trust) * share * rows, 0.0, rows)
        mine = np.where(m > 0, mine, rows)
        rows = np.stack([mine, rows - mine], axis=1).ravel()
    return rows[np.diff(ends[-1]) > 0]
