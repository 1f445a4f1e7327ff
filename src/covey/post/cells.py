"""The weighted points, or buckets of them, that Lloyd's algorithm runs on, with several starts side by side."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from covey.post.coarsen import coarsen
from covey.post.distances import MANY_ROWS, Floats, add_up_each, blocks, repeated

_FEW = 16  # up to this many centres in at least as many columns, sums by a matrix product beat sums by label
_LONG_ROW = 48  # from this many centres on, argmin along a row beats a running minimum over centres

_EXACT = 1e-13  # of a cost, for each unit of absolute weight
_NEVER = 1e300  # a score that no cell prefers


@dataclass(frozen=True, eq=False)
class Cells:
    """Where each cell is, and what it adds to the sums of the cluster that it falls in."""

    at: Floats  # (d + 1) x n: position, and a row of ones
    adds: Floats  # (d + 1) x n: weight x position, and weight
    mass: Floats  # n: absolute weight
    squares: float  # the sum of weight x squared norm over all points

    @staticmethod
    def of_points(x: Floats, w: Floats) -> "Cells":
        """Each point (n x d) is a cell."""
        at = np.ones((x.shape[1] + 1, len(w)))
        at[:-1] = x.T
        return Cells(at, at * w, np.abs(w), float(w @ np.einsum("nd,nd->n", x, x)))

    def merged(self, limit: int) -> "Cells":
        """Neighbours in at most `limit` buckets, each a cell: it moves as one, but what it adds is exact.

        It lies at the mean of its points by absolute weight, which is never outside of them.
        """
        bucket = coarsen(self.positions.T, self.mass, limit=limit)
        count = int(bucket.max(initial=-1)) + 1
        sums = add_up_each(bucket, [self.mass, *(self.mass * x for x in self.at), *self.adds], count)
        mass, moments, adds = sums[0], sums[1 : len(self.at) + 1], sums[len(self.at) + 1 :]
        used = mass > 0
        return Cells(moments[:, used] / mass[used], adds[:, used], mass[used], self.squares)

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def positions(self) -> Floats:
        """d x n."""
        return self.at[:-1]

    @property
    def weights(self) -> Floats:
        return self.adds[-1]

    @cached_property
    def _rows(self) -> Floats:
        """`adds`, a row for each cell."""
        return np.ascontiguousarray(self.adds.T)

    @cached_property
    def _norms(self) -> Floats:
        """The squared norm of each position."""
        return np.asarray(np.square(self.positions).sum(axis=0))

    @cached_property
    def heavy(self) -> NDArray[np.intp]:
        """The cells of positive weight."""
        return np.flatnonzero(self.weights > 0)

    @cached_property
    def scatter(self) -> float:
        """The sum of absolute weight x squared distance from the mean."""
        if len(self) == 0:
            return 0.0
        middle = self.positions @ self.mass / self.mass.sum()
        return float((np.square(self.positions - middle[:, None]) @ self.mass).sum())

    @cached_property
    def rounding(self) -> float:
        """How exact a cost is; positions and centres are assumed to be within [-2, 2]."""
        return _EXACT * float(self.mass.sum())

    def sums(self, centres: Floats) -> Floats:
        """What the cells nearest to each centre add up to: starts x k x (d + 1), for starts x k x d centres."""
        s, k, d = centres.shape
        labels = self._labels(centres)
        out = np.empty((s, d + 1, k))
        for i in range(s):
            if k <= _FEW and d >= _FEW:
                np.matmul(self.adds, (labels[i][:, None] == np.arange(k)).astype(np.float64), out=out[i])
                continue
            out[i] = add_up_each(labels[i], self.adds if len(self) < MANY_ROWS else self._rows.T, k)
        return out.transpose(0, 2, 1)

    def costs(self, centres: Floats, sums: Floats) -> Floats:
        """The cost of each start's centres, given their sums."""
        norms = np.square(centres).sum(axis=2)
        pull = (centres * sums[:, :, :-1]).sum(axis=(1, 2))
        return self.squares + (norms * sums[:, :, -1]).sum(axis=1) - 2.0 * pull

    def two_nearest(self, centres: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
        """The nearest of k x d centres, the squared distance to it, and that to the second nearest."""
        n = len(self)
        factors = _factors(centres)
        label, near, next_near = np.empty(n, dtype=np.intp), np.empty(n), np.empty(n)
        for cells in blocks(n, width=len(centres)):
            x = self.at[:, cells]
            scores = x.T @ factors.T + self._norms[cells, None]
            each = np.arange(len(scores))
            label[cells] = first = scores.argmin(axis=1)
            near[cells] = scores[each, first]
            scores[each, first] = np.inf
            next_near[cells] = scores.min(axis=1)
        return label, near, next_near

    def nearest(self, centres: Floats) -> NDArray[np.intp]:
        """The nearest of k x d centres, to the bit as `two_nearest` finds it."""
        if len(centres) >= _LONG_ROW:
            return self.two_nearest(centres)[0]
        factors, label = _factors(centres), np.empty(len(self), dtype=np.intp)
        for cells in blocks(len(self), width=len(centres)):
            scores = factors @ self.at[:, cells]
            scores += self._norms[cells]
            label[cells] = _lowest(scores[None])[0]
        return label

    def _labels(self, centres: Floats) -> NDArray[np.integer]:
        """The nearest centre of each cell for each start: starts x n; ties go to the lowest index."""
        s, k, d = centres.shape
        n = len(self)
        factors = _factors(centres.reshape(s * k, d))
        factors[_repeated(centres).ravel(), -1] = _NEVER
        labels = np.empty((s, n), dtype=np.uint8 if k < _LONG_ROW else np.intp)
        scratch = np.empty(0)
        for cells in blocks(n, width=s * k):
            size = s * k * (cells.stop - cells.start)
            scratch = scratch if scratch.size >= size else np.empty(size)  # one piece of memory, used again
            if k < _LONG_ROW:
                scores = scratch[:size].reshape(s * k, -1)
                np.matmul(factors, self.at[:, cells], out=scores)
                labels[:, cells] = _lowest(scores.reshape(s, k, -1))
            else:
                scores = scratch[:size].reshape(-1, s * k)
                np.matmul(self.at[:, cells].T, factors.T, out=scores)
                labels[:, cells] = scores.reshape(-1, s, k).argmin(axis=2).T
        return labels


def _factors(centres: Floats) -> Floats:
    """Times (position, 1) they give the squared distance less the cell's squared norm, the same for all centres."""
    return np.column_stack([-2.0 * centres, np.square(centres).sum(axis=1)])


def _repeated(centres: Floats) -> NDArray[np.bool_]:
    """Which centres equal an earlier one of their start: rounding must not share out the cells between the two."""
    norms = np.square(centres).sum(axis=2)
    found = np.zeros(norms.shape, dtype=bool)
    norms.sort(axis=1)
    for i in np.flatnonzero((norms[:, 1:] == norms[:, :-1]).any(axis=1)):  # suspects
        found[i] = repeated(centres[i])
    return found


def _lowest(scores: Floats) -> NDArray[np.uint8]:
    """The place of the minimum along axis 1, the first of equals. Overwrites the scores of centre 0.

    A running minimum over whole rows; for few centres it is several times faster than argmin.
    """
    best = scores[:, 0]
    label = np.zeros(best.shape, dtype=np.uint8)
    lower = np.empty(best.shape, dtype=bool)
    raised = lower.view(np.uint8)
    for j in range(1, scores.shape[1]):
        np.less(scores[:, j], best, out=lower)
        np.minimum(scores[:, j], best, out=best)
        np.multiply(raised, np.uint8(j), out=raised)  # j where centre j is nearer than all before it, else 0
        np.maximum(raised, label, out=label)
    return label
