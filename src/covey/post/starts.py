"""Starts for clustering: k points spread over a public box, or drawn from a synopsis. Free: none sees rows."""

from collections.abc import Callable
from functools import partial
from itertools import islice
from math import lgamma, log, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.distances import FEW_COLUMNS, Floats, as_box, squares_from
from covey.post.threads import in_order, one_blas_thread

Uniform = Callable[[int], Floats]  # so many random numbers from [0, 1)

MOST_PACKED = 1000
_MANY = 1 << 12  # points, in more places than there are centres: of so many, starts are drawn side by side
_BLOCK = 1 << 8  # steps that are added up before one of them is drawn
_FEW = 10  # up to this many points to be placed, the distances from each are found one by one


def uniform_starts(k: int, *, lower: ArrayLike, upper: ArrayLike, rng: np.random.Generator) -> Floats:
    """k independent uniform points of the box, as a k x d table."""
    low, high = as_box(lower, upper)
    _check_k(k)
    u = rng.random((k, low.size))
    return np.clip((1.0 - u) * low + u * high, low, high)  # this form cannot overflow


def plus_plus(
    points: ArrayLike, weights: ArrayLike, k: int, *, starts: int, rng: np.random.Generator, trials: int = 3
) -> Floats:
    """Sets of k centres drawn from weighted points, starts x k x columns: greedy k-means++ on the positive weights.

    Each centre after the first is the best of `trials` points drawn in proportion to weight x squared distance from the
    centres before it (Arthur and Vassilvitskii 2007). There must be a point of positive weight; with fewer such
    points than k, some centres are equal.
    """
    _check_k(k)
    x, w = np.asarray(points, dtype=np.float64), np.maximum(np.asarray(weights, dtype=np.float64), 0.0)
    x, w = x[w > 0], w[w > 0]
    if len(x) == 0 or starts < 1 or trials < 1:
        raise ParameterError("weights", "must have a positive one, and starts and trials be at least 1")
    one = partial(_one_start, x, np.ascontiguousarray(x.T), w, k=k, trials=trials)
    with one_blas_thread():
        if len(x) < _MANY:
            return np.stack([one(rng.random) for _ in range(starts)])
        ahead = rng.random((starts, 1 + (k - 1) * trials))  # the same numbers, so that starts run side by side
        return np.stack(in_order(lambda numbers: one(_handed_out(numbers)), ahead))


def _one_start(x: Floats, columns: Floats, w: Floats, uniform: Uniform, *, k: int, trials: int) -> Floats:
    chosen = np.empty(k, dtype=np.intp)
    chosen[:] = _draw(w, uniform(1))[0]
    near, chance, gap, nearer = *np.empty((3, len(w))), np.empty((trials, len(w)))  # used again and again
    squares_from(columns, x[chosen[0]], out=near, gap=gap)
    plain = len(x) >= _MANY and len(columns) < FEW_COLUMNS
    norms = np.empty(0) if plain else np.einsum("nd,nd->n", x, x)
    for i in range(1, k):
        if not np.multiply(w, near, out=chance).any():
            break  # every point is a centre
        candidates = _draw(chance, uniform(trials))
        if plain:
            for squares, candidate in zip(nearer, columns[:, candidates].T, strict=True):
                squares_from(columns, candidate, out=squares, gap=gap)
        else:
            np.add(norms, norms[candidates, None], out=nearer)
            nearer += (-2.0 * x[candidates]) @ x.T
            np.maximum(nearer, 0.0, out=nearer)
        best = int((np.minimum(near, nearer, out=nearer) @ w).argmin())
        chosen[i], near[:] = candidates[best], nearer[best]
    return x[chosen]


def _handed_out(numbers: Floats) -> Uniform:
    left = iter(numbers.tolist())
    return lambda size: np.array(list(islice(left, size)))


def _draw(steps: Floats, uniform: Floats) -> NDArray[np.intp]:
    """Indices in proportion to steps, of which none is negative: first of a block of them, and then in it."""
    ends = np.cumsum(np.add.reduceat(steps, np.arange(0, len(steps), _BLOCK)))
    wanted = uniform * ends[-1]
    block = np.minimum(np.searchsorted(ends, wanted, side="right"), len(ends) - 1)
    wanted -= np.where(block > 0, ends[block - 1], 0.0)
    found = np.empty(len(block), dtype=np.intp)
    for i, first in enumerate((block * _BLOCK).tolist()):
        inside = np.cumsum(steps[first : first + _BLOCK])
        found[i] = first + min(int(np.searchsorted(inside, wanted[i], side="right")), len(inside) - 1)
    return found


def sphere_packing(
    k: int,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    rng: np.random.Generator,
    tries: int = 100,
    steps: int = 14,
) -> Floats:
    """k random points of the box, far from each other and from the walls (Su et al. 2016, section 4.1.1).

    Bisects for the largest radius a for which random points could be placed one by one at least a from every
    wall and 2a from each other; a radius counts as too large when `tries` draws in a row find no room.
    Distances are those of the given coordinates: normalise the columns first. A column without width has no
    walls and takes its one value. Always returns k points: if no radius works, uniform ones. More than 1,000
    points are uniform too: packing them takes time k².
    """
    low, high = as_box(lower, upper)
    _check_k(k)
    if tries < 1 or steps < 0:
        raise ParameterError("tries, steps", "tries must be at least 1, steps not negative")
    points = uniform_starts(k, lower=low, upper=high, rng=rng)
    half = high / 2 - low / 2
    scale = half.max()
    if scale == 0 or k > MOST_PACKED:
        return points
    half = half / scale
    free = half > 0
    with one_blas_thread():
        placed = _largest_packing(k, half=half[free], rng=rng, tries=tries, steps=steps)
    if placed is not None:
        points[:, free] = (low / 2 + high / 2)[free] + placed * scale
    return np.clip(points, low, high)


def _largest_packing(
    k: int, *, half: Floats, rng: np.random.Generator, tries: int, steps: int
) -> NDArray[np.float64] | None:
    """The packing of the largest radius found, in the box [-half, half]; None if every radius failed."""
    possible, too_large = 0.0, _radius_bound(k, half)
    found = _pack(k, radius=too_large, half=half, rng=rng, tries=tries) if k == 1 else None
    for _ in range(steps if found is None else 0):
        radius = (possible + too_large) / 2
        packing = _pack(k, radius=radius, half=half, rng=rng, tries=tries)
        if packing is None:
            too_large = radius
        else:
            possible, found = radius, packing
    return found


def _radius_bound(k: int, half: Floats) -> float:
    """No larger radius works: a ball touches two walls, or k disjoint balls outgrow the box."""
    d = half.size
    log_unit_ball = d / 2 * log(pi) - lgamma(d / 2 + 1)
    by_volume = np.exp((np.log(2 * half).sum() - log(k) - log_unit_ball) / d)
    return float(min(half.min(), by_volume))


def _pack(k: int, *, radius: float, half: Floats, rng: np.random.Generator, tries: int) -> NDArray[np.float64] | None:
    """k points at least `radius` from the walls and twice that from each other, or None."""
    room = np.maximum(half - radius, 0.0)
    gap = 4 * radius**2
    placed = np.empty((0, half.size))
    while len(placed) < k:
        drawn = (2 * rng.random((tries, half.size)) - 1) * room
        if len(placed):
            drawn = drawn[_squared_distances(drawn, placed).min(axis=1) >= gap]
        if len(drawn) == 0:
            return None
        placed = np.concatenate([placed, _apart(drawn, gap, most=k - len(placed))])
    return placed


def _apart(drawn: Floats, gap: float, *, most: int) -> Floats:
    """Each draw in turn, until there are `most`: if it fits it stays, and those too near it are refused."""
    squares = np.square(drawn).sum(axis=1)
    clash = _squared_distances(drawn, drawn) < gap if most > _FEW else None
    refused = np.zeros(len(drawn), dtype=bool)
    kept: list[int] = []
    for i in range(len(drawn)):
        if not refused[i]:
            kept.append(i)
            if len(kept) == most:
                break
            refused |= squares + squares[i] - 2.0 * (drawn @ drawn[i]) < gap if clash is None else clash[i]
    return drawn[kept]


def _squared_distances(a: Floats, b: Floats) -> Floats:
    squares = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1)
    return squares - 2.0 * (a @ b.T)


def _check_k(k: int) -> None:
    if k < 1:
        raise ParameterError("k", "must be at least 1")
