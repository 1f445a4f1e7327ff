"""A tree grown level by level behind the door: exact counts in, decisions with noise, leaves out. Proof: noise/tree.md.

The rows are passed over once for many levels: they are counted in the nodes that hold any of them some levels down, and
the counts of the nodes above are sums of these. Of few rows in memory one pass serves all levels; otherwise a pass
counts as many nodes as the engine says, and another one what is below the nodes that still split: of rows in memory,
all of it, if they are not very many. Nothing is passed over for nodes without rows, nor for those whose rows are so few
that they decide nothing, if what grows below them will probably be cut off.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covey.events import Event
from covey.noise.source import Source
from covey.private.engines.base import Engine, Sealed
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.rows import RowEngine
from covey.public import Neighbours
from covey.queries.tree import MOST_NODES, Nodes, Tree, TreeNodes

SORTED_ROWS = 2**23  # in memory, whose keys below nodes that still split are sorted
LISTED = 2**22 + 1  # nodes that are looked up in a list of all of them; of more, those that have rows are searched
TWIGS, TALL = 80, 13  # leaves below a node, levels to the lowest: by noise alone it hardly ever has so many
RARE = 1000  # nodes: of more, one that has

Integers = NDArray[np.int64]
Leaves = list[tuple[int, Integers, Integers | None]]  # of each depth: keys, and rows if they are known
NO_ROWS: Integers = np.empty(0, dtype=np.int64)


class Grows(Protocol):
    """A mechanism that decides which nodes of a tree split, private for all levels together."""

    @property
    def fan_out(self) -> int: ...
    def event(self) -> Event: ...
    def splits(self, counts: Integers, *, depth: int, neighbours: Neighbours, source: Source) -> NDArray[np.bool_]: ...
    def blind(self, most: int, *, depth: int, neighbours: Neighbours) -> bool: ...


def grow(
    engine: Engine, tree: Tree, mechanism: Grows, *, neighbours: Neighbours, source: Source, fine: int | None = None
) -> Nodes:
    """The leaves of a tree whose nodes split as the mechanism decides.

    Besides the decisions, only public numbers end the growth: `tree.most_depth`, and `MOST_NODES`, which is compared
    with the number of nodes that the decisions made.

    fine : a depth. What grows below the nodes there is cut off, all of it, unless one in `RARE` of those that split has
        `TWIGS` leaves below it or more, or all that there can be, or some `TALL` levels down, as heaps of equal rows
        have: then rows are there, which nodes of this depth may be too wide for, and which must be passed over.
    """
    bits, children = tree.axes_per_split, np.arange(tree.fan_out)
    nodes = local = np.zeros(1, dtype=np.int64)  # keys in the tree, and in the table of the last pass
    depth, table, left, most, told = 0, _Table(), max(SORTED_ROWS, 0) + 1, 0, True
    leaves: Leaves = []
    forks: tuple[int, Integers, Integers] | None = None  # the depth `fine`, the nodes that split there, and their rows
    while len(nodes) and depth < tree.deepest:
        if depth > table.bottom:
            blind = forks is not None and mechanism.blind(most, depth=depth, neighbours=neighbours)
            told = told and not blind
            table = _count(engine, tree, nodes, depth, left) if told and left else _Table(NO_ROWS, bottom=tree.deepest)
            local = np.arange(len(nodes))
        counts = table.rows(local, shift=(table.bottom - depth) * bits)
        split = mechanism.splits(counts, depth=depth, neighbours=neighbours, source=source)
        leaves.append((depth, nodes[~split], counts[~split] if told else None))
        nodes, local, counts = nodes[split], local[split], counts[split]
        left, most = int(counts.sum()), int(counts.max(initial=0))
        forks = (depth, nodes, counts) if depth == fine else forks
        if len(nodes) * tree.fan_out > MOST_NODES:
            break
        nodes, local = (((each << bits)[:, None] + children).ravel() for each in (nodes, local))
        depth += 1
    known = table.rows(local, shift=(table.bottom - depth) * bits) if told and depth <= table.bottom else None
    leaves.append((depth, nodes, known if len(nodes) else nodes))
    if forks is not None:
        leaves = _without_twigs(tree, leaves, forks)
    depths = np.concatenate([np.full(len(keys), depth, dtype=np.int64) for depth, keys, _ in leaves])
    keys = np.concatenate([keys for _, keys, _ in leaves])
    found, order = [rows for _, _, rows in leaves if rows is not None], tree.order(depths, keys)
    grown = Nodes(depths[order], keys[order])
    if len(found) == len(leaves):
        engine.remember(tree, grown, np.concatenate(found)[order])
    return grown


def _without_twigs(tree: Tree, leaves: Leaves, forks: tuple[int, Integers, Integers]) -> Leaves:
    """The leaves of a tree: its forks at their depth, if what grows below them is like noise alone."""
    depth, nodes, rows = forks
    below, lowest = np.zeros_like(rows), np.zeros_like(rows)
    for at, keys, _ in leaves:
        if at > depth:
            own = np.searchsorted(nodes, keys >> (at - depth) * tree.axes_per_split)
            below += np.bincount(own, minlength=len(nodes))
            lowest[own] = at - depth
    many = min(TWIGS, tree.fan_out ** (tree.deepest - depth))
    large = np.count_nonzero((below >= many) | (lowest >= TALL))
    if not below.any() or large * RARE > len(nodes):
        return leaves
    return [each for each in leaves if each[0] <= depth] + [(depth, nodes, rows)]


class _Table(Sealed):
    """Rows by node, exact: ascending keys (None: all), and how many rows come before each (None: a key is a row)."""

    def __init__(self, keys: Integers | None = None, counts: Integers | None = None, *, bottom: int = -1) -> None:
        self._keys = keys
        self._before: Integers | None = None
        if counts is not None:
            self._before = np.zeros(len(counts) + 1, dtype=np.int64)
            np.cumsum(counts, out=self._before[1:])
        self.bottom = bottom  # the depth of the nodes that are counted

    def rows(self, local: Integers, *, shift: int) -> Integers:
        """The rows of nodes, each of which covers a range of 2^shift keys."""
        if self._keys is None:
            assert self._before is not None
            return self._before.take((local + 1) << shift) - self._before.take(local << shift)
        first = np.searchsorted(self._keys, local << shift)
        alone, beyond = np.ones(len(local), dtype=np.bool_), np.empty_like(first)
        np.not_equal(local[1:], local[:-1] + 1, out=alone[:-1])
        beyond[:-1] = first[1:]  # most nodes end where the next one begins
        beyond[alone] = np.searchsorted(self._keys, (local[alone] + 1) << shift)
        if self._before is not None:
            first, beyond = self._before[first], self._before[beyond]
        return np.asarray(beyond - first, dtype=np.int64)


def _count(engine: Engine, tree: Tree, nodes: Integers, depth: int, left: int) -> _Table:
    """One pass over the rows: how many are in each node below these, as far down as the engine may go at once.

    left : how many rows are below these nodes.
    """
    at_once = engine.nodes_at_once
    if isinstance(engine, MemoryEngine) and (at_once is None or left <= SORTED_ROWS):
        query = TreeNodes.under(tree, nodes=nodes, depth=depth, most=None)
        return _Table(engine.sorted_keys(query), bottom=depth + query.levels)
    known = engine.first_nodes(tree) if depth == 0 and isinstance(engine, RowEngine) else None
    query = known or TreeNodes.under(tree, nodes=nodes, depth=depth, most=at_once)
    listed = engine.list_by_key(query) if isinstance(engine, RowEngine) and query.size <= LISTED else None
    keys, counts = (None, listed) if listed is not None else engine.totals_by_key(query)
    return _Table(keys, counts, bottom=depth + query.levels)
