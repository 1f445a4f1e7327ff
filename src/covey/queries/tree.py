"""Public trees of boxes, each split in halves along its longest axes, and the rows in their nodes. Proof: tree.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import one_unit

MOST_KEY_BITS = 62
MOST_NODES = 2**18  # of a level: if the next one would be wider, a tree stops growing
PREFIX_BITS = 18  # of a key, at most: rows are told apart by a table of prefixes first
PLACE_BITS = 20  # the same where the table says which of some nodes a prefix is
WANTED_BITS = 22  # the same where the table only says whether a prefix is wanted
_PIECE_BITS = 13  # of an axis' cell: its bits are spread over a key by tables of this size

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Tree:
    """All boxes that a domain's cube can be split into, one halving of `axes_per_split` axes after another.

    widths : how long each axis is, in any unit (all alike by default); public. A split halves the longest axes of
        the box, ties the lower axis, so all boxes of one depth are split along the same axes.
    most_depth : the depth at which no box is split any more; as deep as the lattice and 62-bit keys allow, by default.

    A node is its depth and a key: the halves it lies in, one bit for each halving, 0 for the lower half, the first
    halving first. The parent's key is key >> axes_per_split. The root is (0, 0).
    """

    domain: Domain
    widths: tuple[float, ...] | None = None
    axes_per_split: int = 1
    most_depth: int | None = None
    name: str = "tree"

    def __post_init__(self) -> None:
        d = self.domain.dimension
        if not isinstance(self.axes_per_split, int) or not 1 <= self.axes_per_split <= min(d, 16):
            raise ParameterError("axes_per_split", "must be from 1 to the number of columns, at most 16")
        if self.widths is not None:
            widths = tuple(float(width) for width in self.widths)
            if len(widths) != d or not all(math.isfinite(width) and width > 0 for width in widths):
                raise ParameterError("widths", f"must be {d} positive numbers, one for each column")
            object.__setattr__(self, "widths", widths)
        deepest = len(self._halvings()) // self.axes_per_split
        if self.most_depth is None:
            object.__setattr__(self, "most_depth", deepest)
        elif not isinstance(self.most_depth, int) or not 0 <= self.most_depth <= deepest:
            raise ParameterError("most_depth", f"must be a whole number from 0 to {deepest} for this tree")

    @property
    def fan_out(self) -> int:
        """How many children a node has."""
        return 1 << self.axes_per_split

    @property
    def deepest(self) -> int:
        """most_depth, as the number it is."""
        assert self.most_depth is not None
        return self.most_depth

    def _halvings(self) -> tuple[int, ...]:
        widths = self.widths or (1.0,) * self.domain.dimension
        return _halvings(widths, self.axes_per_split, self.domain.bits - 1)

    def axes(self, depth: int) -> tuple[int, ...]:
        """The axis of every halving down to this depth, in order: one for each bit of a key."""
        return self._halvings()[: depth * self.axes_per_split]

    def keys(self, rows: Rows, depth: int) -> Integers:
        """The key of the node of this depth that each lattice row lies in."""
        key: Integers | None = None
        limit, bits = np.int32(self.domain.limit), self.domain.bits
        for coordinate, (halvings, pieces) in zip(rows, _spread(self.axes(depth), self.domain.dimension), strict=True):
            if not pieces:
                continue
            cell = coordinate + limit
            cell >>= np.int32(bits - halvings)  # 2^halvings parts of 2^bits - 1 places: tree.md
            for low, table in pieces:
                found = table.take(cell if len(pieces) == 1 else cell >> low & len(table) - 1)
                key = found if key is None else np.add(key, found, out=key)
        return np.zeros(rows.shape[1], dtype=np.int64) if key is None else key

    def in_order(self, depths: Integers, keys: Integers) -> Nodes:
        """Nodes sorted by the first place that each covers."""
        if depths.shape != keys.shape or depths.ndim != 1 or (depths < 0).any() or (depths > self.deepest).any():
            raise ParameterError("nodes", f"need a depth from 0 to {self.deepest} for each key")
        if (keys < 0).any() or (keys >> depths * self.axes_per_split).any():
            raise ParameterError("nodes", "must have keys of their depth")
        order = self.order(depths, keys)
        return Nodes(depths[order], keys[order])

    def order(self, depths: Integers, keys: Integers) -> Integers:
        """What sorts nodes by the first place that each covers, and of the same by depth."""
        first = keys << (self.deepest - depths) * self.axes_per_split
        return np.arange(len(first)) if (first[1:] > first[:-1]).all() else np.lexsort((depths, first))

    def starts(self, nodes: Nodes, depth: int) -> Integers:
        """The first key that each node covers at a depth none of them exceeds."""
        return np.asarray(nodes.keys << (depth - nodes.depths) * self.axes_per_split)

    def boxes(self, nodes: Nodes) -> tuple[Numbers, Numbers]:
        """The lower and upper corners of nodes, in lattice units: two arrays (nodes, d). Leaves fill the cube."""
        d, deepest = self.domain.dimension, int(nodes.depths.max(initial=0))
        axes, keys = np.array(self.axes(deepest), dtype=np.int64), self.starts(nodes, deepest)
        halved = np.cumsum(axes == np.arange(d)[:, None], axis=1)[:, self.axes_per_split - 1 :: self.axes_per_split]
        halved = np.concatenate([np.zeros((d, 1), dtype=np.int64), halved], axis=1)  # axes x depths: how often
        cell = np.zeros((d, len(nodes)), dtype=np.int64)  # the first that a node covers, of the deepest ones
        for low, tables in _gathered(self.axes(deepest), d):
            piece = keys >> low & len(tables[0]) - 1
            for own, table in zip(cell, tables, strict=True):
                own += table.take(piece)
        beyond = cell + (1 << halved[:, -1:] - halved.take(nodes.depths, axis=1))
        parts, span, edge = 1 << halved[:, -1:], 2 * self.domain.limit + 1, self.domain.limit + 0.5
        return (cell / parts * span - edge).T, (beyond / parts * span - edge).T  # powers of two divide exactly

    def midpoints(self, nodes: Nodes) -> Numbers:
        """The middle of each node's box, in lattice units: shape (nodes, d)."""
        lower, upper = self.boxes(nodes)
        return np.asarray((lower + upper) / 2)


class Nodes:
    """Nodes of a tree, in the order that `Tree.in_order` gives them: their depths and keys."""

    def __init__(self, depths: Integers, keys: Integers) -> None:
        self.depths, self.keys = depths.astype(np.int64), keys.astype(np.int64)  # copies
        self.depths.setflags(write=False)
        self.keys.setflags(write=False)

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"Nodes(depths={self.depths.tolist()}, keys={self.keys.tolist()})"


class TreeLeaves:
    """The number of rows in each leaf of a tree: nodes that cover the domain without overlap, in order."""

    name = "rows per leaf"

    def __init__(self, tree: Tree, leaves: Nodes) -> None:
        self.tree, self.leaves = tree, tree.in_order(leaves.depths, leaves.keys)
        self._depth = int(leaves.depths.max(initial=0))
        self._starts = tree.starts(self.leaves, self._depth)
        ends = self._starts + (1 << (self._depth - self.leaves.depths) * tree.axes_per_split)
        border = 1 << self._depth * tree.axes_per_split
        if not np.array_equal(np.append(self._starts, border), np.insert(ends, 0, 0)):
            raise ParameterError("leaves", "must cover the domain without overlap")
        self._top = min(self._depth, _prefix(tree, len(self.leaves)))

    @cached_property
    def _leaf(self) -> NDArray[np.int32]:
        """The leaf of each prefix of a key; -1 where several share it. Needed only if rows are passed over."""
        bits = self.tree.axes_per_split
        shift = (self._depth - self._top) * bits
        prefix = np.arange(1 << self._top * bits, dtype=np.int64) << shift
        leaf = np.searchsorted(self._starts, prefix, side="right") - 1
        ends = np.append(self._starts[1:], 1 << self._depth * bits)
        return np.where(ends[leaf] >= prefix + (1 << shift), leaf, -1).astype(np.int32)

    @property
    def domain(self) -> Domain:
        return self.tree.domain

    @property
    def size(self) -> int:
        return len(self.leaves)

    def are(self, tree: Tree, leaves: Nodes) -> bool:
        """Whether these, in order, are the leaves that are counted."""
        same = np.array_equal(self.leaves.depths, leaves.depths) and np.array_equal(self.leaves.keys, leaves.keys)
        return self.tree == tree and same

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: Integers) -> None:
        leaf = self._leaf.take(self.tree.keys(rows, self._top))
        open_ = np.flatnonzero(leaf < 0)
        if open_.size:
            keys = self.tree.keys(rows[:, open_], self._depth)
            keys.sort()  # neighbours in the search stay in the cache; who is who does not matter
            leaf[open_] = np.searchsorted(self._starts, keys, side="right") - 1
        np.add.at(out, leaf, 1)

    def places(self, rows: Rows) -> Integers:
        """The leaf of each row, in the order of the rows."""
        leaf = self._leaf.take(self.tree.keys(rows, self._top)).astype(np.int64)
        open_ = np.flatnonzero(leaf < 0)
        leaf[open_] = np.searchsorted(self._starts, self.tree.keys(rows[:, open_], self._depth), side="right") - 1
        return leaf


class TreeNodes:
    """The number of rows in each node `levels` below given nodes of one depth, which ascend by key.

    Key r·fan_out^levels + i stands for the i-th of those below the r-th given node; rows elsewhere share the last
    key. Only for decisions that hide the counts, such as PrivTree's.
    """

    name = "rows per node"

    def __init__(self, tree: Tree, *, nodes: Integers, depth: int, levels: int) -> None:
        self.tree, self.nodes, self.depth, self.levels = tree, nodes, depth, levels
        bits = tree.axes_per_split
        parents = nodes[:: tree.fan_out] >> bits
        whole = (parents << bits)[:, None] + np.arange(tree.fan_out)
        self._parent: NDArray[np.int32] | None = None  # the number of each prefix among them; -1: none of them
        if depth > 0 and (depth - 1) * bits <= PLACE_BITS and np.array_equal(whole.ravel(), nodes):
            self._parent = np.full(1 << (depth - 1) * bits, -1, dtype=np.int32)
            self._parent[parents] = np.arange(len(parents))
            return
        self._top = min(depth, WANTED_BITS // bits)
        self._wanted = np.zeros(1 << self._top * bits, dtype=np.bool_)
        self._wanted[nodes >> (depth - self._top) * bits] = True

    @classmethod
    def under(cls, tree: Tree, *, nodes: Integers, depth: int, most: int | None) -> TreeNodes:
        """As far below given nodes as there are any, and as `most` nodes allow; None: any number."""
        levels = tree.deepest - depth
        if most is not None:
            room = max(most // len(nodes), 1).bit_length() - 1
            levels = min(levels, room // tree.axes_per_split)
        return cls(tree, nodes=nodes, depth=depth, levels=levels)

    @property
    def domain(self) -> Domain:
        return self.tree.domain

    @property
    def size(self) -> int:
        return (len(self.nodes) << self.levels * self.tree.axes_per_split) + 1

    def same(self, other: TreeNodes | None) -> bool:
        """Whether two queries ask for the same counts."""
        return (
            other is not None
            and (self.tree, self.depth, self.levels) == (other.tree, other.depth, other.levels)
            and np.array_equal(self.nodes, other.nodes)
        )

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def keys(self, rows: Rows) -> Integers:
        """The key of each row, in the order of the rows: a table of cells adds their weights up by it."""
        if self.depth == 0:  # the root: every row is below it
            return self.tree.keys(rows, self.levels)
        found = np.full(rows.shape[1], self.size - 1, dtype=np.int64)
        which, keys = self.descending(rows)
        found[which] = keys
        return found

    def descending(self, rows: Rows) -> tuple[Integers, Integers]:
        """Which rows are below the nodes, and their keys.

        Where the nodes are all children of some parents, as in a tree that grows, a table says which parent it is.
        """
        if self.depth == 0:
            return np.arange(rows.shape[1]), self.tree.keys(rows, self.levels)
        bits = self.levels * self.tree.axes_per_split
        if self._parent is not None:
            parent = self._parent.take(self.tree.keys(rows, self.depth - 1))
            perhaps = np.flatnonzero(parent >= 0)
            keys = self.tree.keys(rows.take(perhaps, axis=1), self.depth + self.levels)
            bits += self.tree.axes_per_split
            return perhaps, (parent.take(perhaps).astype(np.int64) << bits) + (keys & (1 << bits) - 1)
        perhaps = np.flatnonzero(self._wanted.take(self.tree.keys(rows, self._top)))
        keys = self.tree.keys(rows.take(perhaps, axis=1), self.depth + self.levels)
        place = np.searchsorted(self.nodes, keys >> bits)
        inside = np.flatnonzero(self.nodes.take(place, mode="clip") == keys >> bits)
        return perhaps[inside], (place[inside] << bits) + (keys[inside] & (1 << bits) - 1)


def _prefix(tree: Tree, nodes: int) -> int:
    """The depth of a table of prefixes for so many nodes: a few times as large as their number."""
    return min(PREFIX_BITS, nodes.bit_length() + 2) // tree.axes_per_split


@lru_cache(maxsize=64)
def _halvings(widths: tuple[float, ...], axes_per_split: int, most: int) -> tuple[int, ...]:
    """The axis of every halving, as deep as `most` of each axis and 62-bit keys allow."""
    left = np.array(widths)
    times = np.zeros(len(widths), dtype=np.int64)
    order: list[int] = []
    while len(order) + axes_per_split <= MOST_KEY_BITS and (times < most).sum() >= axes_per_split:
        longest = np.argsort(-np.where(times < most, left, -np.inf), kind="stable")[:axes_per_split]
        left[longest] /= 2
        times[longest] += 1
        order += longest.tolist()
    return tuple(order)


@lru_cache(maxsize=64)
def _spread(axes: tuple[int, ...], dimension: int) -> list[tuple[int, list[tuple[int, Integers]]]]:
    """For each axis: how often it is halved, and tables that put pieces of its cell's bits where a key has them.

    A piece is (how many lower bits of the cell to skip, table).
    """
    spread = []
    for axis in range(dimension):
        weights = [1 << (len(axes) - 1 - place) for place, each in enumerate(axes) if each == axis][::-1]  # low first
        pieces = []
        for low in range(0, len(weights), _PIECE_BITS):
            table = np.zeros(1, dtype=np.int64)
            for weight in weights[low : low + _PIECE_BITS]:
                table = np.concatenate([table, table + weight])
            pieces.append((low, table))
        spread.append((len(weights), pieces))
    return spread


@lru_cache(maxsize=64)
def _gathered(axes: tuple[int, ...], dimension: int) -> list[tuple[int, list[Integers]]]:
    """The way back: for each piece of a key how many lower bits to skip, and for each axis a table of what the piece
    adds to the cell."""
    found, used = [], np.zeros(dimension, dtype=np.int64)
    for low in range(0, len(axes), _PIECE_BITS):
        tables = np.zeros((dimension, 1), dtype=np.int64)
        for axis in axes[::-1][low : low + _PIECE_BITS]:
            more = (np.arange(dimension) == axis) << used[axis]
            tables = np.concatenate([tables, tables + more[:, None]], axis=1)
            used[axis] += 1
        found.append((low, list(tables)))
    return found
