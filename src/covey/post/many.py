"""The costs of many sets of centres at once. Free: works on public or already noisy data only."""

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, Objective, blocks, one_blas_thread

_SETS = 1024  # centres of several sets looked at side by side


def costs_of_sets(points: Floats, weights: Floats, sets: Floats, *, objective: Objective) -> Floats:
    """The cost of each of s sets of k centres (s x k x d), by squared distance or, for "k-median", by distance.

    A matrix product finds the nearest centre; the distance to it is then taken from differences, so that nothing
    cancels. Blocks of points and of sets stay in the cache; memory does not grow with s x points.
    """
    s, k, d = sets.shape
    total = np.zeros(s)
    with one_blas_thread():
        for group in _groups(s, k):
            flat = sets[group].reshape(-1, d)
            count = len(flat) // k
            columns = np.ascontiguousarray(flat.T)
            factors = np.column_stack([-2.0 * flat, np.square(flat).sum(axis=1)])
            first = np.arange(count)[:, None] * k
            for part in blocks(len(points), width=len(flat) + 3 * count):
                x = points[part].T
                scores = factors[:, :-1] @ x + factors[:, -1:]  # squared distances, but for what all centres share
                nearest = first + _lowest(scores.reshape(count, k, -1))
                squares = np.zeros(nearest.shape)
                for a in range(d):
                    squares += np.square(x[a] - columns[a].take(nearest))
                total[group] += (squares if objective == "k-means" else np.sqrt(squares)) @ weights[part]
    return total


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
