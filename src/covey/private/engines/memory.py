"""Rows in memory, as lattice integers: numpy arrays, pandas and polars frames, Arrow tables, files that fit.

The first question reads the table once and keeps it as 32-bit lattice coordinates; each later question is one pass
over those, in cache-sized chunks, on all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from covey.noise.source import Source
from covey.post.threads import cores, in_order
from covey.private.engines.rows import RowEngine, Unit, chunk_rows, short_list
from covey.private.lattice import Block, to_block
from covey.private.tables.base import Table
from covey.public import Domain
from covey.queries.base import Rows
from covey.queries.grid import MOST_CELLS
from covey.queries.projection import Projection
from covey.queries.tree import Tree, TreeNodes

SORTED_ROWS = 2**17  # whose keys in a tree are sorted at once; of more rows, its nodes are first counted in lists
LISTED = 2**20  # nodes of such a list, at least


class MemoryEngine(RowEngine):
    """Holds rows as lattice integers, read when they are first needed, and answers exactly."""

    def __init__(self, table: Table, domain: Domain) -> None:
        super().__init__(domain)

        def read() -> list[Block]:
            pieces = table.pieces(domain.columns if table.names is not None else None)
            blocks = in_order(lambda piece: to_block(piece(), domain, by_person=table.by_person), pieces)
            table.check_unchanged()
            return blocks

        self._read: Callable[[], list[Block]] | None = read
        self._blocks: list[Block] = []

    @classmethod
    def of_blocks(cls, read: Callable[[], list[Block]], domain: Domain) -> MemoryEngine:
        """An engine of lattice rows that `read` will hand over."""
        engine = cls.__new__(cls)
        RowEngine.__init__(engine, domain)
        engine._read, engine._blocks = read, []
        return engine

    def rows(self) -> list[Rows]:
        """All rows, as they are held: nothing is copied."""
        return [block.rows for block in self._load()]

    def _load(self) -> list[Block]:
        if self._read is not None:
            self._blocks = self._read()
            self._read = None  # the raw values are not needed again
        return self._blocks

    def _count(self) -> int:
        return sum(len(block.outside) for block in self._load())

    def _units(self) -> Iterator[Unit]:
        step = chunk_rows(self._domain.dimension, 64)
        step *= max(1, self._count() // (8 * step * cores()))  # a few for each core, but no smaller than a chunk
        for block in self._load():
            for start in range(0, len(block.outside), step):
                yield partial(block.at, slice(start, start + step))

    def _listed(self, keys: int) -> bool:
        return keys <= max(2**16, self._count(), min(LISTED + 1, 8 * self._count()))

    @property
    def nodes_at_once(self) -> int | None:  # type: ignore[override]
        count = self._count()
        return None if count <= SORTED_ROWS else max(LISTED, min(MOST_CELLS, count))

    def first_nodes(self, tree: Tree) -> TreeNodes | None:
        return short_list(tree, self._load())

    def sorted_keys(self, query: TreeNodes) -> NDArray[np.int64]:
        """The key of every row below the query's nodes, ascending: quicker than totals where few rows share a key."""

        below = in_order(lambda unit: query.descending(unit().rows)[1], self._units())
        keys = np.concatenate([np.empty(0, dtype=np.int64), *below])
        keys.sort()
        return keys

    def projected(self, projection: Projection) -> MemoryEngine:
        """The rows' images under a public projection, which are kept."""

        def read() -> list[Block]:
            return in_order(lambda unit: unit().mapped(projection.apply), self._units())

        return MemoryEngine.of_blocks(read, projection.target)

    def split(self, parts: int, source: Source) -> list[RowEngine]:
        """Every row in one of `parts` engines, by a coin of its own that does not depend on any value."""
        parted: list[list[Block]] = [[] for _ in range(parts)]
        for block in self._load():
            part = (source.words(len(block.outside), np.uint64) % np.uint64(parts)).astype(np.int64)
            order = np.argsort(part, kind="stable")
            ends = np.cumsum(np.bincount(part, minlength=parts))
            for i, places in enumerate(np.split(order, ends[:-1])):
                parted[i].append(block.at(places))
        return [MemoryEngine.of_blocks(lambda mine=mine: mine, self._domain) for mine in parted]  # type: ignore[misc]
