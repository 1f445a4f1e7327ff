"""Rows in files, larger than memory: every question is one pass over them, piece by piece, on all cores.

Memory is bounded by the pieces in flight and by the answer. Tables that turn out small are kept as lattice integers
after their first reading, so that later passes cost no reading; in those that do not, the first reading also counts the
nodes of the tree that is expected. A file that changes ends the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.private.engines.rows import RowEngine, Tally, Unit, occurring, short_list
from covey.private.lattice import Block, to_block
from covey.private.tables.base import Piece, Table
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query
from covey.queries.counts import Count
from covey.queries.tree import Tree, TreeNodes

KEPT_VALUES = 2**25  # lattice coordinates that are kept: an eighth of a GiB


class StreamEngine(RowEngine):
    """Reads the table again for every statistic. The pieces of an unchanged table are always the same."""

    def __init__(self, table: Table, domain: Domain) -> None:
        super().__init__(domain)
        self._table = table
        self._kept: dict[int, Block] | None = {}  # None: too many to keep
        self._values = 0
        self._pieces: int | None = None  # how many there are, once all were asked for
        self._lock = Lock()
        self._tree: Tree | None = None  # which will probably be grown
        self._nodes: TreeNodes | None = None  # of which these are counted, once there are too many rows to keep
        self._tally: Tally | None = None  # of these, while the first pass lasts
        self._tallied: set[int] = set()  # the pieces that are in it, each once
        self._totals: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None  # of these, once it is over

    def expect(self, tree: Tree) -> None:
        if self._pieces is None and self._tree is None:
            self._tree = tree

    def first_nodes(self, tree: Tree) -> TreeNodes | None:
        return self._nodes if self._totals is not None and tree == self._tree else None

    def totals_by_key(self, query: KeyedQuery) -> tuple[NDArray[Any], NDArray[np.int64]]:
        if self._totals is not None and isinstance(query, TreeNodes) and query.same(self._nodes):
            return self._totals
        return super().totals_by_key(query)

    def total(self, query: Query) -> NDArray[np.int64]:
        if type(query) is not Count:
            return super().total(query)
        count = self._table.rows()  # files often tell without being read
        self._finish()
        return np.array([count], dtype=np.int64)

    def _units(self) -> Iterator[Unit]:
        if self._kept is not None and len(self._kept) == self._pieces:
            for number in range(self._pieces):
                yield partial(self._kept.__getitem__, number)
            return
        number = -1
        for number, piece in enumerate(self._table.pieces(self._domain.columns if self._table.names else None)):
            yield partial(self._read, number, piece)
        self._pieces = number + 1

    def _read(self, number: int, piece: Piece) -> Block:
        block = to_block(piece(), self._domain, by_person=self._table.by_person)
        with self._lock:
            new = {number: block}
            if self._kept is not None:
                self._values += 0 if number in self._kept else block.rows.size
                self._kept[number] = block
                new, self._kept = (self._kept, None) if self._values > KEPT_VALUES else ({}, self._kept)
                if new and self._tree is not None:
                    self._nodes = short_list(self._tree, list(new.values())) or self._all_nodes(self._tree)
                    self._tally = Tally(self._nodes.size)
            tally = self._tally
            new = {} if tally is None else {each: new[each] for each in new.keys() - self._tallied}
            self._tallied.update(new)
        if tally is not None and self._nodes is not None and new:
            try:
                with tally.one() as out:
                    for each in new.values():
                        self._count_keys(self._nodes, each, out)
            except BaseException:
                self._tally = None  # what was marked may be half counted: no answer comes from it
                raise
        return block

    def _all_nodes(self, tree: Tree) -> TreeNodes:
        root = np.zeros(1, dtype=np.int64)
        return TreeNodes.under(tree, nodes=root, depth=0, most=self.nodes_at_once)

    def _finish(self) -> None:
        if self._tally is not None and self._pieces is not None:
            self._totals = occurring(self._tally.total()) if len(self._tallied) == self._pieces else None
            self._tally = None
        self._table.check_unchanged()
