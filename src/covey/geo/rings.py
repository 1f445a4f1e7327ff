"""Rings of polygons that say plainly what they enclose: none crosses, touches or runs over itself. Exact, from corners.

A ring that meets itself has no inside that everybody agrees on: the middle of a ring that is wound twice is outside
when crossings are counted and inside when turns are. Whoever lives there could be left without what a zone promises,
so such a ring is refused. The inside of any other is the same by every rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
MOST_CORNERS = 1_000_000
MOST_PAIRS, MOST_MEETING = 30_000_000, 4_000_000  # of edges that are near, and whose boxes meet: a second or two
_TANGLE = "a polygon has too many corners, or too many long edges side by side; simplify it"
_AT_ONCE = 1 << 20
_FEW = 1_500  # edges whose pairs are all looked at
_SURE = 2.0**-50  # of the two products: more than a determinant in floats can be wrong by


def check_rings(rings: Sequence[Floats], name: str) -> None:
    """Refuse rings of one polygon that have no plain inside; each is its corners in order, none twice in a row.

    A ring may not meet itself anywhere but at the corner that two neighbours share. Rings of one polygon may touch in
    points, as a hole may touch the border, but neither cross nor run along one another; and a hole lies in the first.
    """
    sizes = np.array([len(each) for each in rings])
    if sizes.sum() > MOST_CORNERS:
        raise FormatError(f"{name}: {_TANGLE}")
    edges = np.concatenate([np.hstack([each, np.roll(each, -1, axis=0)]) for each in rings])
    ring = np.repeat(np.arange(len(rings)), sizes)
    after = np.arange(len(edges)) + 1
    ends = np.cumsum(sizes)
    after[ends - 1] = ends - sizes
    back = np.flatnonzero(_overlap(edges, edges[after], _turns(edges[:, :2], edges[:, 2:], edges[after, 2:]) == 0))
    if back.size:
        raise _refused(name, "a ring runs back over itself", edges[back[0]])
    if len(edges) == 3:
        return
    for i, j in _near_pairs(edges, name):
        other = (after[i] != j) & (after[j] != i)  # neighbours were looked at above
        i, j = i[other], j[other]
        crosses, touches, along = _meetings(edges[i], edges[j])
        same = ring[i] == ring[j]
        for bad, words in (
            (same & (crosses | touches), "a ring crosses or touches itself"),
            (~same & (crosses | along), "a hole crosses or runs along another ring"),
        ):
            if bad.any():
                raise _refused(name, words, edges[i[np.argmax(bad)]])


def _refused(name: str, words: str, edge: Floats) -> FormatError:
    x, y = edge[:2].tolist()
    return FormatError(
        f"{name}: {words} near [{x:g}, {y:g}], so it is not clear what it encloses; "
        "draw it without crossings, as several polygons if need be"
    )


def area(ring: Floats) -> float:
    """What a ring encloses, up to rounding."""
    x, y = (ring - ring[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _near_pairs(edges: Floats, name: str) -> Iterator[tuple[Places, Places]]:
    """All pairs of edges whose boxes meet, some more than once, in blocks.

    Two boxes that meet have a cell of any grid in common, because a coordinate's cell is a monotone function of it.
    """
    low, high = np.minimum(edges[:, :2], edges[:, 2:]), np.maximum(edges[:, :2], edges[:, 2:])
    first, last, across = _grid(low, high)
    span = last - first + 1
    many = span.prod(axis=1)
    who = np.repeat(np.arange(len(edges)), many)
    nth = np.arange(len(who)) - np.repeat(np.cumsum(many) - many, many)
    cell = (first[who, 0] + nth // span[who, 1]) * across + first[who, 1] + nth % span[who, 1]
    order = np.argsort(cell, kind="stable")
    who, cell = who[order], cell[order]
    later = np.searchsorted(cell, cell, side="right") - np.arange(len(cell)) - 1  # in the same cell
    total, left = np.cumsum(later), MOST_MEETING
    if total[-1] > MOST_PAIRS:
        raise FormatError(f"{name}: {_TANGLE}")
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, total[-1] + _AT_ONCE, _AT_ONCE), side="left") + 1
    for begin, stop in zip((0, *cuts[:-1].tolist()), cuts.tolist(), strict=True):
        steps = later[begin:stop]
        one = np.repeat(np.arange(begin, begin + len(steps)), steps)
        two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(steps) - steps, steps)
        i, j = who[one], who[two]
        for axis in (0, 1):
            meet = (low[i, axis] <= high[j, axis]) & (low[j, axis] <= high[i, axis])
            i, j = i[meet], j[meet]
        left -= len(i)
        if left < 0:
            raise FormatError(f"{name}: {_TANGLE}")
        yield i, j


def _grid(low: Floats, high: Floats) -> tuple[Places, Places, int]:
    """The first and the last cell of each box on both axes, and the cells along the second one.

    Of a few shapes, the grid in which boxes fill few cells and few middles of boxes share one.
    """
    first, last = np.zeros((2, len(low), 2), dtype=np.int64)
    best, across = float(len(low)) ** 2, 1
    base = low.min(axis=0)
    width = np.maximum(high.max(axis=0) - base, 1e-300)
    sides = (1, 8, 64, 512, 4096) if len(low) > _FEW else ()
    for shape in ((a, b) for a in sides for b in sides if a * b <= 4096 * 512):
        most = np.array(shape) - 1
        start, end, middle = (
            np.minimum((each - base) / width * shape, most).astype(np.int64) for each in (low, high, low / 2 + high / 2)
        )
        filled = int((end - start + 1).prod(axis=1).sum())
        if filled <= 8 * len(low):
            alike = np.bincount(middle[:, 0] * shape[1] + middle[:, 1])
            cost = float(alike @ alike) * (filled / len(low)) ** 2
            if cost < best:
                best, first, last, across = cost, start, end, shape[1]
    return first, last, across


def _meetings(one: Floats, two: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Of pairs of edges: which cross, which have an end of one on the other, which share more than a point."""
    a, b, c, d = one[:, :2], one[:, 2:], two[:, :2], two[:, 2:]
    turns = [_turns(*each) for each in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
    crosses = (turns[0] * turns[1] < 0) & (turns[2] * turns[3] < 0)
    touches = np.zeros(len(one), dtype=np.bool_)
    for turn, end, edge in zip(turns, (c, d, a, b), (one, one, two, two), strict=True):
        low, high = np.minimum(edge[:, :2], edge[:, 2:]), np.maximum(edge[:, :2], edge[:, 2:])
        touches |= (turn == 0) & ((low <= end) & (end <= high)).all(axis=1)
    return crosses, touches, _overlap(one, two, (turns[0] == 0) & (turns[1] == 0))


def _overlap(one: Floats, two: Floats, on_one_line: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which edges on one line share more than a point."""
    start = np.maximum(*(np.minimum(each[:, :2], each[:, 2:]) for each in (one, two)))
    end = np.minimum(*(np.maximum(each[:, :2], each[:, 2:]) for each in (one, two)))
    return on_one_line & (start <= end).all(axis=1) & (start < end).any(axis=1)


def _turns(a: Floats, b: Floats, c: Floats) -> NDArray[np.int8]:
    """Whether c lies to the left (1) or the right (-1) of the line from a to b, or on it (0). Exact."""
    left = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    right = (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    found = np.sign(left - right).astype(np.int8)
    unsure = np.flatnonzero(~(np.abs(left - right) > _SURE * (np.abs(left) + np.abs(right)) + 1e-280))
    if unsure.size:
        (ax, ay), (bx, by), (cx, cy) = _whole(*(each[unsure].T for each in (a, b, c)))
        exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        found[unsure] = (exact > 0).astype(np.int8) - (exact < 0).astype(np.int8)
    return found


def _whole(*points: Floats) -> list[NDArray[np.object_]]:
    """Floats as whole numbers of one common, small enough unit."""
    ratios = [[value.as_integer_ratio() for value in each.ravel().tolist()] for each in points]
    unit = max(below for each in ratios for _, below in each)  # all are powers of two
    return [
        np.array([above * (unit // below) for above, below in each], dtype=object).reshape(points[0].shape)
        for each in ratios
    ]
