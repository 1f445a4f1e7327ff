"""Nearest centres and costs of weighted points. Free: works on public or already noisy data only."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from covey.errors import ParameterError

Floats = NDArray[np.float64]
Objective = Literal["k-means", "k-median"]

_BLOCK = 1 << 17  # numbers per block of scores: 1 MB, which stays in the cache
_FEW = 64  # coordinates of all centres: up to so many, plain differences are quicker than a matrix product
FEW_COLUMNS = 8  # numpy adds up fewer numbers one after the other, as is done here
MANY_ROWS = 1 << 13  # of fewer, the sums of each column on its own are quicker
_NEAR = 1e-11  # scores this close, relative to the largest norms, are compared again without cancellation


def nearest(points: ArrayLike, centres: ArrayLike) -> NDArray[np.intp]:
    """The index of the nearest centre (Euclidean) of each point; ties go to the lowest index.

    A row's label depends on that row and the centres alone, not on the rows beside it: labels that a matrix
    product leaves in doubt are settled by plain differences.
    """
    x, c = as_rows("points", points), as_rows("centres", centres)
    if len(c) == 0 or x.shape[1] != c.shape[1]:
        raise ParameterError("centres", "must be at least one, with as many columns as the points")
    labels = np.zeros(len(x), dtype=np.intp)
    kept = np.flatnonzero(~repeated(c))  # a repeated centre never wins a tie
    if len(kept) == 1 or len(x) == 0:
        return labels
    c = c[kept]
    if _are_few(c):
        return np.asarray(kept[_by_columns(x, c)[0]])
    middle = c.mean(axis=0)  # distances do not change, and small numbers cancel less
    centred = c - middle
    norms = np.einsum("kd,kd->k", centred, centred)
    for rows in blocks(len(x), width=len(c) + x.shape[1]):
        y = x[rows] - middle
        scores = norms - 2.0 * (y @ centred.T)
        best = scores.argmin(axis=1)
        margin = _NEAR * (norms.max() + np.einsum("nd,nd->n", y, y))
        close = scores <= (np.take_along_axis(scores, best[:, None], axis=1)[:, 0] + margin)[:, None]
        doubtful = np.flatnonzero(np.count_nonzero(close, axis=1) > 1)
        if doubtful.size:
            best[doubtful] = _by_differences(x[rows][doubtful], c)
        labels[rows] = kept[best]
    return labels


def squares_to_nearest(points: Floats, centres: Floats) -> Floats:
    """The squared distance of each point to its nearest centre."""
    return nearest_with_squares(points, centres)[1]


def nearest_with_squares(points: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each point, and the squared distance to it."""
    if _are_few(centres):
        return _by_columns(points, centres)
    label = nearest(points, centres)
    return label, squared_lengths(points - centres[label])


def two_nearest(points: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """The nearest centre of each point, the squared distance to it, and that to the second nearest, if there is one.

    By plain differences, which pays in few columns.
    """
    second = np.full(len(points), np.inf)
    return *_by_columns(points, centres, second), second


def squared_lengths(rows: Floats) -> Floats:
    """Of each row, to the bit as a sum along it; of few columns, which are much quicker to add up one after another."""
    if rows.shape[1] >= FEW_COLUMNS:
        return np.square(rows).sum(axis=1)
    total = np.square(rows[:, 0])
    for column in rows.T[1:]:
        total += np.square(column)
    return total


def squares_from(columns: Floats, centre: Floats, *, out: Floats, gap: Floats) -> None:
    """The squared distances of points, given as columns x points, from a centre. gap : as long, to work in."""
    np.square(np.subtract(columns[0], centre[0], out=out), out=out)
    for column, place in zip(columns[1:], centre[1:], strict=True):
        out += np.square(np.subtract(column, place, out=gap), out=gap)


def repeated(rows: Floats) -> NDArray[np.bool_]:
    """Which rows equal an earlier one. For tens or hundreds of rows this is several times faster than np.unique."""
    seen: set[bytes] = set()
    found = np.empty(len(rows), dtype=bool)
    for i, row in enumerate(np.ascontiguousarray(rows) + 0.0):  # -0.0 is 0.0
        found[i] = (key := row.tobytes()) in seen
        seen.add(key)
    return found


def cost(points: ArrayLike, weights: ArrayLike, centres: ArrayLike, objective: Objective = "k-means") -> float:
    """Sum of weight x squared distance to the nearest centre; plain distance for "k-median".

    Weights may be negative, and so may the cost.
    """
    x = as_rows("points", points)
    w = as_weights(weights, len(x))
    return cost_of_labels(x, w, as_rows("centres", centres), nearest(x, centres), objective)


def cost_of_labels(
    points: Floats, weights: Floats, centres: Floats, labels: NDArray[np.intp], objective: Objective = "k-means"
) -> float:
    """The cost when each point is served by the centre that its label names."""
    if objective not in ("k-means", "k-median"):
        raise ParameterError("objective", 'must be "k-means" or "k-median"')
    total = 0.0
    for rows in blocks(len(points), width=points.shape[1]):
        gap = points[rows] - centres[labels[rows]]
        squares = np.einsum("nd,nd->n", gap, gap)
        total += float(weights[rows] @ (squares if objective == "k-means" else np.sqrt(squares)))
    return total


def blocks(n: int, *, width: int) -> Iterator[slice]:
    """Slices of n rows such that a block of rows x width numbers stays in the cache."""
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def add_up(labels: NDArray[np.intp], values: Floats, count: int) -> Floats:
    """The sum of the values under each of the labels 0 .. count - 1."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)  # integers if there are no values


def add_up_each(labels: NDArray[np.integer], columns: Floats | Sequence[Floats], count: int) -> Floats:
    """The sums of several columns under each of the labels: columns x count, to the bit as `add_up` has each.

    Of many numbers, all columns take the time of one: what takes long is to wait for the sum before, where neighbours
    have one label.
    """
    if len(labels) < MANY_ROWS:
        own = labels.astype(np.intp, copy=False)
        return np.stack([add_up(own, column, count) for column in columns])
    n, own = len(labels), labels.astype(np.int32, copy=False)
    table = np.ascontiguousarray(columns.T) if isinstance(columns, np.ndarray) else np.stack(columns, axis=1)
    which = csc_array((np.ones(n), own, np.arange(n + 1, dtype=np.int32)), shape=(count, n))
    return np.asarray(which @ table).T


def as_rows(name: str, values: ArrayLike) -> Floats:
    """A float table (rows x columns) without NaN or infinity."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ParameterError(name, "must be a table of rows and at least one column")
    if not np.isfinite(table).all():
        raise ParameterError(name, "must be finite")
    return table


def as_weights(weights: ArrayLike, count: int) -> Floats:
    """One finite weight of either sign per point."""
    w = np.ascontiguousarray(weights, dtype=np.float64)
    if w.shape != (count,):
        raise ParameterError("weights", "must be one number per point")
    if not np.isfinite(w).all():
        raise ParameterError("weights", "must be finite")
    return w


def as_box(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """The two corners of a box; a column may have no width."""
    low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
    if low.ndim != 1 or low.shape != high.shape or low.size == 0:
        raise ParameterError("lower, upper", "must be two lists of equal length, one number per column")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ParameterError("lower, upper", "must be finite, and lower at most upper in every column")
    return low, high


def _by_differences(points: Floats, centres: Floats) -> NDArray[np.intp]:
    labels = np.empty(len(points), dtype=np.intp)
    for rows in blocks(len(points), width=centres.size):
        gaps = points[rows][:, None, :] - centres
        labels[rows] = np.square(gaps).sum(axis=2).argmin(axis=1)
    return labels


def _are_few(centres: Floats) -> bool:
    return centres.size <= _FEW and centres.shape[1] < FEW_COLUMNS


def _by_columns(points: Floats, centres: Floats, second: Floats | None = None) -> tuple[NDArray[np.intp], Floats]:
    """The nearest of few centres and the squared distance to it, to the bit as `_by_differences` has them.

    second : filled with the squared distance to the second nearest, if it is given.
    """
    labels, best = np.zeros(len(points), dtype=np.intp), np.empty(len(points))
    for rows in blocks(len(points), width=16):
        x, label, least = points[rows].T, labels[rows], best[rows]
        x = x if x.strides[1] == x.itemsize else np.ascontiguousarray(x)  # long rows, which columns may be already
        squares, gap = np.empty((2, len(least)))
        for i, centre in enumerate(centres):
            squares_from(x, centre, out=squares, gap=gap)
            if i == 0:
                least[:] = squares
                continue
            if second is not None:
                np.minimum(second[rows], np.maximum(least, squares, out=gap), out=second[rows])
            np.copyto(label, i, where=squares < least)  # ties stay with the lowest index
            np.minimum(least, squares, out=least)
    return labels, best
