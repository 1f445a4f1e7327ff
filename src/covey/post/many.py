"""The costs of many sets of centres at once. Free: works on public or already noisy data only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, Objective, blocks
from covey.post.spreads import mean_distances, saved
from covey.post.threads import one_blas_thread

MOST_COLUMNS = 4  # in more, spread lies outside the space of the centres: rows save less than in a round cloud
_SETS = 1024  # centres of several sets looked at side by side


@dataclass(frozen=True)
class Costs:
    """What each set costs. Of points without spreads all three are the same."""

    plain: Floats  # all rows at their points
    spread: Floats  # spread about them, and each served by its point's centre: at most so much, but for noise
    likely: Floats  # the same; in few columns, each row served by the nearer of its point's two nearest centres


def costs_of_sets(points: Floats, weights: Floats, sets: Floats, *, objective: Objective) -> Floats:
    """The cost of each of s sets of k centres (s x k x d), as if all rows were at their points."""
    return spread_costs(points, weights, sets, objective=objective, spreads=None).plain


def spread_costs(
    points: Floats, weights: Floats, sets: Floats, *, objective: Objective, spreads: Floats | None
) -> Costs:
    """The cost of each of s sets of k centres (s x k x d), by squared distance or, for "k-median", by distance.

    spreads : the mean squared distance of a point's rows from it. Rows with the mean p and the spread s have a mean
    square of |p - c|² + s about any c (Steiner), so a mean distance of at most √(|p - c|² + s), and of at least |p - c|
    (Jensen, twice). That a row may be nearer to another centre than its point is lowers both; see spreads.py.

    A matrix product finds the nearest centre; the distance to it is then taken from differences, so that nothing
    cancels. Blocks of points and of sets stay in the cache; memory does not grow with s x points.
    """
    s, k, d = sets.shape
    known = np.zeros(0) if spreads is None else spreads
    plain, spread, likely = np.zeros(s), np.zeros(s), np.zeros(s)
    saves = spreads is not None and k > 1 and d <= MOST_COLUMNS
    with one_blas_thread():
        for group in _groups(s, k):
            flat = sets[group].reshape(-1, d)
            count = len(flat) // k
            columns = np.ascontiguousarray(flat.T)
            factors = np.column_stack([-2.0 * flat, np.square(flat).sum(axis=1)])
            first = np.arange(count)[:, None] * k
            apart = _apart(sets[group]) if saves else np.zeros(0)
            for part in blocks(len(points), width=len(flat) + 3 * count):
                x, w = points[part].T, weights[part]
                scores = factors[:, :-1] @ x + factors[:, -1:]  # squared distances, but for what all centres share
                nearest = first + _lowest(scores.reshape(count, k, -1))
                squares = np.zeros(nearest.shape)
                for a in range(d):
                    squares += np.square(x[a] - columns[a].take(nearest))
                plain[group] += (squares if objective == "k-means" else np.sqrt(squares)) @ w
                if spreads is None:
                    continue
                save = np.zeros_like(squares)
                if saves:
                    best = np.take_along_axis(scores, nearest, axis=0)
                    np.put_along_axis(scores, nearest, np.inf, axis=0)
                    second = _lowest(scores.reshape(count, k, -1))
                    ahead = np.maximum(np.take_along_axis(scores, first + second, axis=0) - best, 0.0)
                    save = saved(ahead, apart.take(nearest * k + second), known[part], d=d)
                if objective == "k-means":
                    likely[group] += (squares + known[part] - save) @ w
                else:
                    spread[group] += np.sqrt(squares + known[part]) @ w
                    likely[group] += mean_distances(squares, known[part], save, d=d) @ w
    if spreads is None:
        return Costs(plain, plain, plain)
    return Costs(plain, spread if objective == "k-median" else plain + float(known @ weights), likely)


def _apart(sets: Floats) -> Floats:
    """The distances between the centres of each set, (s, k, k), column by column."""
    squares = np.zeros((*sets.shape[:2], sets.shape[1]))
    for a in range(sets.shape[2]):
        squares += np.square(sets[:, :, None, a] - sets[:, None, :, a])
    return np.sqrt(squares)


def _lowest(scores: Floats) -> NDArray[np.intp]:
    """The place of the minimum along axis 1, by a running minimum over whole rows; of equals the first."""
    best, place = scores[:, 0].copy(), np.zeros((len(scores), scores.shape[2]), dtype=np.intp)
    for j in range(1, scores.shape[1]):
        lower = scores[:, j] < best
        np.copyto(place, j, where=lower)
        np.minimum(best, scores[:, j], out=best)
    return place


def _groups(s: int, k: int) -> list[slice]:
    step = max(1, _SETS // max(1, k))
    return [slice(start, min(start + step, s)) for start in range(0, s, step)]
