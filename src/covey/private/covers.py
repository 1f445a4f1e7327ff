"""The picks of max cover behind the door: exact coverage counts in, grid points out. Proof: noise/cover.md.

Rows that share their nearest grid point are one cell. Counts are kept for the grid points that may weigh anything,
those that cover more rows than the mechanism's ceiling, in dense blocks of the grid. They are made by enumerating
occupied cells and offsets, as runs along the last axis, and lowered when rows leave. All other points are drawn by
proposing a row and an offset, and counting what the proposed point covers.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Event, Neighbours
from covey.noise.cover import ANYWHERE, PROPOSED, below
from covey.noise.source import Source
from covey.private.engines.base import Engine, Sealed
from covey.private.engines.rows import RowEngine
from covey.queries.cover import Cover

DENSE = 2**23  # grid points whose counts are made at once
TILES = 2**22  # tiles of 3^d grid points that are looked at together

Integers = NDArray[np.int64]


class Covers(Protocol):
    """A mechanism that picks grid points by the rows they cover, private for all picks together."""

    @property
    def neighbours(self) -> Neighbours: ...
    def event(self) -> Event: ...
    def ceiling(self, *, points: int, proposals: int, most: int) -> int: ...
    def choose(
        self, *, points: int, proposals: int, ceiling: int, levels: Integers, many: Integers, source: Source
    ) -> int: ...
    def accepts(self, count: int, *, ceiling: int, source: Source) -> bool: ...


def cover(engine: Engine, query: Cover, mechanism: Covers, *, source: Source) -> Integers:
    """The picked points of all grids, in lattice units, in the order of the picks: (grids x picks, d).

    The number of picks is public: when no row is left, the rest are picked all the same. A row leaves with the first
    pick that covers it, for that grid and all later ones. All rows are needed at once; those of a file are projected
    as they are read, so that few of their columns are kept.
    """
    if not isinstance(engine, RowEngine):
        raise ParameterError("curator", "cover rows before they are moved to cells")
    blocks = [query.inside(block) for block in engine.rows()]
    left = np.concatenate([np.empty((query.domain.dimension, 0), dtype=np.int64), *blocks], axis=1)
    found = []
    for grid, side in enumerate(query.sides):
        state = Coverage(query.nearest(left, grid), query, grid, mechanism)
        for _ in range(query.picks):
            place = state.pick(source)
            found.append(place * side)
            state.remove(place)
        left = left[:, state.stay()]
    return np.array(found, dtype=np.int64)


class Coverage(Sealed):
    """One grid: the cells that are occupied, how many rows each has, and exact counts of the points that may matter."""

    def __init__(self, nearest: Integers, query: Cover, grid: int, mechanism: Covers) -> None:
        self._cells, self._member, self.weights = as_cells(nearest)
        self._query, self._mechanism = query, mechanism
        self._half, self._points = query.half(grid), query.points(grid)
        self._offsets = query.offsets()
        self._ball = Runs(query.domain.dimension, query.reach)
        self._ends = np.cumsum(self.weights)
        self.rows = int(self.weights.sum())
        proposals = self.rows * len(self._offsets)
        self.ceiling = mechanism.ceiling(points=self._points, proposals=proposals, most=self.rows)
        self.blocks = [] if self.ceiling >= self.rows else self._find_blocks()

    def pick(self, source: Source) -> Integers:
        """A grid point, with probability proportional to its weight, in units of the side."""
        counts, many = added_up([(block.levels, block.many) for block in self.blocks])
        while True:
            proposals = self.rows * len(self._offsets)
            choice = self._mechanism.choose(
                points=self._points,
                proposals=proposals,
                ceiling=self.ceiling,
                levels=counts,
                many=many,
                source=source,
            )
            if choice == ANYWHERE:
                width = 2 * self._half + 1
                return np.array([below(width, source) - self._half for _ in self._cells], dtype=np.int64)
            if choice != PROPOSED:
                return self._point_of(int(counts[choice]), below(int(many[choice]), source))
            place = self._proposed(below(proposals, source))
            if np.abs(place).max() > self._half:
                continue  # not a point of the grid
            count = int(self.weights[self._covered(place)].sum())
            if self._mechanism.accepts(count, ceiling=self.ceiling, source=source):
                return place

    def remove(self, place: Integers) -> None:
        """Take out all rows that a point covers."""
        gone = self._covered(place)
        if not gone.size:
            return
        for block in self.blocks:
            block.lower(self._cells[:, gone], self.weights[gone], around=place)
        self.rows -= int(self.weights[gone].sum())
        self.weights[gone] = 0
        self._ends = np.cumsum(self.weights)

    def stay(self) -> NDArray[np.bool_]:
        """Which of the rows that were there at first are left."""
        return np.asarray(self.weights[self._member] > 0)

    def _covered(self, place: Integers) -> Integers:
        """The cells that a point covers, of those that have rows left. They are sorted by their first coordinate."""
        root = self._ball.root
        first, beyond = np.searchsorted(self._cells[0], [place[0] - root, place[0] + root + 1])
        near = squared(self._cells[:, first:beyond], place) <= self._query.reach
        return np.asarray(first + np.flatnonzero(near & (self.weights[first:beyond] > 0)))

    def _proposed(self, number: int) -> Integers:
        """One of the pairs of a row and an offset."""
        row, offset = divmod(number, len(self._offsets))
        cell = int(np.searchsorted(self._ends, row, side="right"))
        return np.asarray(self._cells[:, cell] + self._offsets[offset])

    def _point_of(self, level: int, number: int) -> Integers:
        for block in self.blocks:
            here = int(block.many[block.levels == level].sum())
            if number < here:
                return block.point(level, number)
            number -= here
        raise AssertionError("levels count the points of the blocks")

    def _find_blocks(self) -> list[Block]:
        """Blocks that hold every grid point that covers more rows than the ceiling."""
        floor, root = self.ceiling + 1, self._ball.root
        side = 2 * root + 1  # a ball meets at most 2^d tiles of this side, so one of them holds its share
        tiles, _, heavy = as_cells(self._cells // side, self.weights)
        tiles = tiles[:, heavy >= -(-floor >> len(tiles))] * side  # the share, rounded up
        low, high = tiles - root, tiles + side - 1 + root  # every point near a heavy tile
        edge = np.full(len(tiles), self._half)
        found: list[Block] = []
        nodes = [(-edge, edge, np.arange(tiles.shape[1]), np.arange(len(self.weights)), False)]
        while nodes:
            lower, upper, near, cells, seen = nodes.pop()
            meet = ((low[:, near] <= upper[:, None]) & (high[:, near] >= lower[:, None])).all(axis=0)
            near = near[meet]
            if not near.size:
                continue
            lower = np.maximum(lower, low[:, near].min(axis=1))
            upper = np.minimum(upper, high[:, near].max(axis=1))
            here = self._cells[:, cells]
            reached = ((here >= (lower - root)[:, None]) & (here <= (upper + root)[:, None])).all(axis=0)
            cells = cells[reached]
            if int(self.weights[cells].sum()) < floor:
                continue
            size = upper - lower + 1
            if not seen and math.prod((size // 3 + 2).tolist()) <= TILES:
                shrunk = self._ball.hopeful(self._cells[:, cells], self.weights[cells], lower, upper, floor)
                if shrunk is not None:
                    nodes.append((*shrunk, near, cells, True))
            elif math.prod(size.tolist()) <= DENSE:
                block = Block(self._ball, lower, upper, self._cells[:, cells], self.weights[cells], floor)
                if block.counts.size:
                    found.append(block)
            else:
                axis = int(size.argmax())
                middle = int(lower[axis] + size[axis] // 2)
                left, right = upper.copy(), lower.copy()
                left[axis], right[axis] = middle - 1, middle
                nodes += [(lower, left, near, cells, False), (right, upper, near, cells, False)]
        return found


class Block(Sealed):
    """Exact counts of the points of a box of the grid, and how many points have each count from `floor` on.

    levels : the different counts, ascending. many : how many points have each.
    """

    def __init__(
        self, ball: Runs, lower: Integers, upper: Integers, cells: Integers, weights: Integers, floor: int
    ) -> None:
        counts = ball.counts(lower, upper, cells, weights)
        hot = counts >= floor
        axes = [np.flatnonzero(hot.any(axis=tuple(j for j in range(hot.ndim) if j != i))) for i in range(hot.ndim)]
        some = all(axis.size for axis in axes)
        cut = tuple(slice(int(axis[0]), int(axis[-1]) + 1) if some else slice(0) for axis in axes)
        self.counts = counts[cut].copy()
        self._lower = lower + np.array([part.start or 0 for part in cut])
        self._ball, self._floor = ball, floor
        self.levels, self.many = tallied(self.counts[self.counts >= floor])

    def point(self, level: int, number: int) -> Integers:
        """One of the points that have this count."""
        flat = int(np.flatnonzero(self.counts.ravel() == level)[number])
        return np.asarray(self._lower + np.array(np.unravel_index(flat, self.counts.shape)))

    def lower(self, cells: Integers, weights: Integers, *, around: Integers) -> None:
        """Rows of these cells, all covered by the point `around`, leave."""
        reach = 2 * self._ball.root
        lower = np.maximum(self._lower, around - reach)
        upper = np.minimum(self._lower + np.array(self.counts.shape) - 1, around + reach)
        if (lower > upper).any():
            return
        start = lower - self._lower
        place = tuple(slice(int(a), int(a + b)) for a, b in zip(start, upper - lower + 1, strict=True))
        less, view = self._ball.counts(lower, upper, cells, weights), self.counts[place]
        changed = np.flatnonzero((less > 0) & (view >= self._floor))
        old = view.ravel()[changed]
        new = old - less.ravel()[changed]
        view -= less
        (gone, less_of), come = tallied(old), tallied(new[new >= self._floor])
        self.levels, self.many = added_up([(self.levels, self.many), (gone, -less_of), come])


class Runs:
    """A ball of the whole-number lattice as runs along the last axis: what one occupied cell adds to the counts."""

    def __init__(self, dimension: int, reach: int) -> None:
        self.dimension, self.reach, self.root = dimension, reach, math.isqrt(reach)

    def counts(self, lower: Integers, upper: Integers, cells: Integers, weights: Integers) -> Integers:
        """How many rows each point of a box covers, exactly; (d, m) different cells with any number of rows each.

        Every run adds its rows where it begins and takes them off behind its end; adding up along the last axis gives
        the counts.
        """
        size = upper - lower + 1
        near = ((cells >= (lower - self.root)[:, None]) & (cells <= (upper + self.root)[:, None])).all(axis=0)
        place, rows = cells[:, near] - lower[:, None], weights[near]
        shape = [int(each) for each in size]
        margin = 2 * self.root  # what runs of cells beside the box may reach beyond it, along the last two axes
        for axis in range(max(0, self.dimension - 2), self.dimension):
            shape[axis] += 2 * margin + 2
            place[axis] += margin
        change = np.zeros(math.prod(shape), dtype=np.int64)
        strides = np.cumprod([1, *shape[:0:-1]])[::-1].tolist()

        def add(axis: int, base: Integers, place: Integers, rows: Integers, left: int) -> None:
            root = math.isqrt(left)
            if axis == self.dimension - 1:
                np.add.at(change, base - root, rows)
                np.subtract.at(change, base + (root + 1), rows)
                return
            for step in range(-root, root + 1):
                if axis == self.dimension - 2:
                    add(axis + 1, base + step * strides[axis], place, rows, left - step * step)
                    continue
                inside = (place[axis] >= -step) & (place[axis] < shape[axis] - step)
                if inside.any():
                    moved = base[inside] + step * strides[axis]
                    add(axis + 1, moved, place[:, inside], rows[inside], left - step * step)

        if rows.size:
            add(0, np.tensordot(np.array(strides), place, axes=1), place, rows, self.reach)
        table = change.reshape(shape)
        if self.dimension > 1:
            table = np.moveaxis(np.moveaxis(table, -2, 0)[margin : margin + int(size[-2])], 0, -2)
        return np.asarray(np.cumsum(table, axis=-1)[..., margin : margin + int(size[-1])])

    def hopeful(
        self, cells: Integers, weights: Integers, lower: Integers, upper: Integers, floor: int
    ) -> tuple[Integers, Integers] | None:
        """A part of a box outside which no point covers `floor` rows.

        The box is cut into tiles of three points along each axis. A tile's bound is the number of rows that any place
        of its cube, were it a point, would cover; as runs along the last axis, like the counts.
        """
        shape = ((upper - lower) // 3 + 1).tolist()
        strides = np.cumprod([1, shape[-1] + 1, *shape[-2:0:-1]])[::-1].tolist()
        change = np.zeros(math.prod([*shape[:-1], shape[-1] + 1]), dtype=np.int64)
        far = (self.root + 2) // 3

        def add(axis: int, base: Integers, place: Integers, rows: Integers, left: Integers) -> None:
            here = place[axis]
            if axis == self.dimension - 1:
                wide = np.sqrt(left).astype(np.int64) + 1  # exact: small whole numbers
                begin = np.clip(-((wide - here) // 3), 0, shape[axis])
                end = np.clip((here + wide) // 3 + 1, begin, shape[axis])
                np.add.at(change, base + begin, rows)
                np.subtract.at(change, base + end, rows)
                return
            middle = (here + 1) // 3
            for step in range(-far, far + 1):
                tile = middle + step
                rest = left - np.square(np.maximum(np.abs(here - 3 * tile) - 1, 0))
                some = np.flatnonzero((tile >= 0) & (tile < shape[axis]) & (rest >= 0))
                if some.size:
                    add(axis + 1, base[some] + tile[some] * strides[axis], place[:, some], rows[some], rest[some])

        start, left = np.zeros(cells.shape[1], dtype=np.int64), np.full(cells.shape[1], self.reach)
        add(0, start, cells - lower[:, None] - 1, weights, left)
        table = np.cumsum(change.reshape([*shape[:-1], shape[-1] + 1]), axis=-1)[..., :-1]
        hot = np.argwhere(table >= floor)
        if not len(hot):
            return None
        return lower + 3 * hot.min(axis=0), np.minimum(upper, lower + 3 * hot.max(axis=0) + 2)


def tallied(counts: Integers) -> tuple[Integers, Integers]:
    """Different numbers, ascending, and how often each occurs."""
    if counts.max(initial=0) >= DENSE:  # a place for each number would take too much
        return np.unique(counts, return_counts=True)
    many = np.bincount(counts)
    return np.flatnonzero(many), many[many > 0]


def added_up(parts: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Different keys, ascending, and the sums of what is told of each; those of 0 are left out."""
    keys = np.concatenate([np.empty(0, dtype=np.int64), *(key for key, _ in parts)])
    found, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(found), dtype=np.int64)
    np.add.at(sums, place, np.concatenate([np.empty(0, dtype=np.int64), *(number for _, number in parts)]))
    return found[sums != 0], sums[sums != 0]


def squared(cells: Integers, place: Integers) -> Integers:
    """Squared distances of (d, m) cells from a point."""
    total = np.zeros(cells.shape[1], dtype=np.int64)
    for coordinate, here in zip(cells, place.tolist(), strict=True):
        total += np.square(coordinate - here)
    return total


def as_cells(points: Integers, rows: Integers | None = None) -> tuple[Integers, Integers, Integers]:
    """Different points (d, m) in lexicographic order, which of them each given point is, and how many rows each has."""
    weights = np.ones(points.shape[1], dtype=np.int64) if rows is None else rows
    order = np.lexsort(points[::-1])
    ordered = points[:, order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    member = np.empty(len(order), dtype=np.int64)
    member[order] = np.cumsum(fresh) - 1
    starts = np.flatnonzero(fresh)
    totals = np.add.reduceat(weights[order], starts) if len(starts) else np.empty(0, dtype=np.int64)
    return ordered[:, fresh], member, totals
