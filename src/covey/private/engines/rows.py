"""Exact answers over units of lattice rows, wherever the units come from: what all engines of rows share.

A unit is a function that hands over one block of rows. Units are worked on by all cores, each in cache-sized chunks.
Sums are int64, so the cut into units, chunks and threads never shows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.noise.source import Source, keyed_words, new_key
from covey.post.threads import in_order, on_all_cores
from covey.private.engines.base import Sealed
from covey.private.lattice import Block
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query, Rows
from covey.queries.blocks import BlockCentres
from covey.queries.counts import Count, InsideOutside, OccupiedCells
from covey.queries.grid import MOST_CELLS, Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import MOST_NODES, Nodes, Tree, TreeLeaves, TreeNodes
from covey.queries.zoned import ByPersonsZone

CHUNK_VALUES = 2**15  # coordinates of a chunk: a quarter of a megabyte as float64, so that a pass stays in the cache
MOST_CHUNK_ROWS = 2**16  # sums of a chunk stay far below 2^53
BLOCK_VALUES = 2**27  # coordinates of the rows of blocks that are clustered at a time: half a GiB
SHORT = 2**22  # nodes of a tree that are quick to count
SOME = 2**20  # of many rows that are looked at, about, to see whether these nodes will do
MANY = 4  # of them in a node: of all of the rows, many more, so that it splits
WAITING = 2**22  # keys with their counts that wait to be merged

Integers = NDArray[np.int64]
Unit = Callable[[], Block]


class RowEngine(Sealed, ABC):
    """Additive statistics of units of rows. A subclass says where they come from, in an order that never changes."""

    unit: str | None = None  # rows: see `Engine`
    nodes_at_once: int | None = MOST_CELLS  # of a tree, that one pass counts; None: any number

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._leaves: tuple[Tree, Nodes, Integers] | None = None

    @abstractmethod
    def _units(self) -> Iterator[Unit]:
        """The rows, piece by piece."""

    def _finish(self) -> None:
        """Called after every pass, before its answer is used."""

    def _listed(self, keys: int) -> bool:  # noqa: ARG002
        """Whether so many possible keys are counted in a list of all of them, and not by sorting those that occur."""
        return True

    def total(self, query: Query) -> Integers:
        if self._leaves is not None and isinstance(query, TreeLeaves) and query.are(*self._leaves[:2]):
            return self._leaves[2].copy()
        at_least = getattr(query, "rows_at_once", 256)  # a public wish: matrix products of many columns like more rows
        step = chunk_rows(self._domain.dimension, at_least)

        def add(block: Block, out: Integers) -> None:
            for start in range(0, len(block.outside), step):
                add_block(query, block.at(slice(start, start + step)), out)

        return self._add_up(query.size, add)

    def expect(self, what: Tree | SuitedGrid) -> None:
        """Rows that are at hand are counted when they are asked for."""

    def first_nodes(self, tree: Tree) -> TreeNodes | None:  # noqa: ARG002
        """What to count first for a tree, if something is known that will probably do; else `nodes_at_once` says it."""
        return None

    def remember(self, tree: Tree, leaves: Nodes, counts: Integers) -> None:
        """Keep the exact counts of leaves, which growing their tree has found: the same integers as another pass."""
        self._leaves = tree, leaves, counts

    def list_by_key(self, query: KeyedQuery) -> Integers | None:
        """How many rows have each key that there can be, if these are few enough for a list; else None."""
        size = getattr(query, "size", None)
        if size is None or size > MOST_CELLS + 1 or not self._listed(size):
            return None
        return self._add_up(size, partial(self._count_keys, query))

    def totals_by_key(self, query: KeyedQuery) -> tuple[NDArray[Any], Integers]:
        listed = self.list_by_key(query)
        if listed is not None:
            keys = np.flatnonzero(listed)
            return keys, listed[keys]
        step = chunk_rows(self._domain.dimension, 256)

        def count(unit: Unit) -> tuple[NDArray[Any], Integers]:
            rows = unit().rows
            starts = range(0, rows.shape[1], step) or (0,)  # no rows have no keys, of the query's own type
            return _counted(np.concatenate([query.keys(rows[:, start : start + step]) for start in starts]))

        table, held = _Merged(), 0
        for keys, counts in on_all_cores(count, self._units()):
            held = table.add(keys, counts)
        self._finish()
        return table.merged() if held else (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def _count_keys(self, query: KeyedQuery, block: Block, out: Integers) -> None:
        """Add a block's rows to the list of all keys."""
        step = 4 * chunk_rows(self._domain.dimension, 256)  # few steps: threads wait for one another between them
        for start in range(0, len(block.outside), step):
            np.add.at(out, query.keys(block.rows[:, start : start + step]), 1)

    def cells(self, grid: Grid) -> tuple[Integers, Integers]:
        return self.totals_by_key(OccupiedCells(grid))

    def rows(self) -> list[Rows]:
        """All rows, in (d, n) arrays, in order: for whoever works behind the door on all of them at once."""
        found = in_order(lambda unit: unit().rows, self._units())
        self._finish()
        return found

    def block_outputs(self, query: BlockCentres, source: Source) -> Integers:
        """Some blocks at a time, whose rows fit into memory: one pass for each lot. A row's coins stay, 12 bytes.

        A block's answer follows from its own rows and their coins, so how many are made at a time never shows.
        """
        count = int(self.total(Count(self._domain))[0])
        block = (source.words(count, np.uint64) % np.uint64(query.blocks)).astype(np.uint32)
        shuffle = source.words(count, np.uint64)
        lots = min(query.blocks, 1 + count * self._domain.dimension // BLOCK_VALUES)
        tables = []
        for first, beyond in pairwise(query.blocks * lot // lots for lot in range(lots + 1)):
            mine = (block >= first) & (block < beyond)
            some = replace(query, blocks=beyond - first)
            tables.append(some.outputs(self._only(mine), block[mine].astype(np.int64) - first, shuffle[mine]))
        return np.concatenate(tables)

    def _only(self, mine: NDArray[np.bool_]) -> Rows:
        """The rows in these places, one unit after the other. A table that has changed meanwhile ends in `_finish`."""
        found, first = [np.empty((self._domain.dimension, 0), dtype=np.int32)], 0
        for unit in self._units():
            rows = unit().rows
            here = mine[first : first + rows.shape[1]]
            found.append(rows[:, : len(here)][:, here])
            first += rows.shape[1]
        self._finish()
        return np.concatenate(found, axis=1)

    def projected(self, projection: Projection) -> RowEngine:
        """The rows' images under a public projection."""
        return MappedEngine(self, lambda _, block: block.mapped(projection.apply), projection.target)

    def split(self, parts: int, source: Source) -> list[RowEngine]:
        """Every row in one of `parts` engines, by a coin of its own that does not depend on any value.

        Unit number i draws its coins from the stream (key, i): each pass over the same units draws the same.
        """
        key = new_key(source)

        def keep(part: int) -> Callable[[int, Block], Block]:
            def only(unit: int, block: Block) -> Block:
                words = keyed_words(key, unit, len(block.outside), purpose="part")
                return block.at(words % np.uint64(parts) == np.uint64(part))

            return only

        return [MappedEngine(self, keep(part), self._domain) for part in range(parts)]

    def _add_up(self, size: int, add: Callable[[Block, Integers], None]) -> Integers:
        """The sum over all units."""
        tally = Tally(size)

        def work(unit: Unit) -> None:
            block = unit()
            with tally.one() as out:
                add(block, out)

        for _ in on_all_cores(work, self._units()):
            pass
        self._finish()
        return tally.total()


def short_list(tree: Tree, blocks: list[Block]) -> TreeNodes | None:
    """A list of fewer nodes that will do for a tree on these rows and any others: it is quicker to count in.

    With so many nodes that have many rows each, growth ends at the list's depth. That is seen on every few of the rows;
    if it was wrong, the rows are passed over once more.
    """
    every = sum(len(block.outside) for block in blocks) // SOME
    if every < 16:
        return None
    query = TreeNodes.under(tree, nodes=np.zeros(1, dtype=np.int64), depth=0, most=SHORT)
    keys = np.concatenate([query.keys(np.ascontiguousarray(block.rows[:, ::every])) for block in blocks])
    full = np.count_nonzero(np.bincount(keys) >= MANY)
    return query if full * tree.fan_out > MOST_NODES else None


class Tally(Sealed):
    """A vector that several threads add to, each in an array of its own."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._idle: SimpleQueue[Integers] = SimpleQueue()

    @contextmanager
    def one(self) -> Iterator[Integers]:
        """An array that nobody else adds to meanwhile."""
        try:
            out = self._idle.get_nowait()
        except Empty:
            out = np.zeros(self._size, dtype=np.int64)
        yield out
        self._idle.put(out)

    def total(self) -> Integers:
        """The sum of all, which are used up."""
        total = np.zeros(self._size, dtype=np.int64) if self._idle.empty() else self._idle.get()
        while not self._idle.empty():
            total += self._idle.get()
        return total


class MappedEngine(RowEngine):
    """Rows as a map of single units makes them from another engine's: not kept, made again in every pass."""

    def __init__(self, inner: RowEngine, change: Callable[[int, Block], Block], domain: Domain) -> None:
        super().__init__(domain)
        self._inner, self._change = inner, change

    def _units(self) -> Iterator[Unit]:
        for number, unit in enumerate(self._inner._units()):
            yield lambda number=number, unit=unit: self._change(number, unit())  # type: ignore[misc]

    def _finish(self) -> None:
        self._inner._finish()


def add_block(query: Query, block: Block, out: Integers) -> None:
    """Add what a query asks about a block: its rows, with their people's zones, or which were outside the bounds."""
    if isinstance(query, InsideOutside):
        query.tally(block.outside, out)
    elif isinstance(query, ByPersonsZone):
        if block.zone is None:
            raise ParameterError("query", "these rows do not tell by which zones their people were kept")
        query.tally(block.zone, block.rows, out)
    else:
        query.accumulate(block.rows, out)


class _Merged(Sealed):
    """Keys and their counts from many units, merged whenever enough of them wait."""

    def __init__(self) -> None:
        self._keys: list[NDArray[Any]] = []
        self._counts: list[Integers] = []
        self._held = self._most = 0

    def add(self, keys: NDArray[Any], counts: Integers) -> int:
        self._keys.append(keys)
        self._counts.append(counts)
        self._held += len(keys)
        if self._held > max(WAITING, 2 * self._most):
            merged = self.merged()
            self._keys, self._counts = [merged[0]], [merged[1]]
            self._held = self._most = len(merged[0])
        return self._held

    def merged(self) -> tuple[NDArray[Any], Integers]:
        keys = np.concatenate(self._keys)
        order = np.argsort(keys, kind="stable")  # quick on a few sorted runs
        keys = keys[order]
        first = first_of_each(keys)
        return keys[first], np.add.reduceat(np.concatenate(self._counts)[order], first)


def _counted(keys: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    if not len(keys):
        return keys, np.empty(0, dtype=np.int64)
    keys.sort()
    first = first_of_each(keys)
    return keys[first], np.diff(first, append=len(keys))


def first_of_each(ascending: NDArray[Any]) -> NDArray[np.int64]:
    """Where each value of a sorted array, which has any, begins."""
    return np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]]))


def chunk_rows(dimension: int, at_least: int) -> int:
    """Rows that are worked on at once: as many as fit into the cache, or as a query wishes at least."""
    return max(at_least, min(MOST_CHUNK_ROWS, CHUNK_VALUES // dimension))
