"""Rows in files, larger than memory: every question is one pass over them, piece by piece, on all cores.

Memory is bounded by the pieces in flight and by the answer. Tables that turn out small are kept as lattice integers
after their first reading, so that later passes cost no reading; in those that do not, the first reading also counts
what is expected: the nodes of a tree, or the cells of the grid that suits the exact number of rows, where that is
known. If the noisy number asks for another grid, rows are read again: the answer is the same. A file that changes ends
the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from covey.private.engines.rows import RowEngine, Tally, Unit, short_list
from covey.private.lattice import Block, to_block
from covey.private.tables.base import Piece, Table
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query
from covey.queries.counts import CellCounts, Count, OccupiedCells
from covey.queries.grid import SuitedGrid
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
        self._expected: Tree | SuitedGrid | None = None  # which will probably be grown, or whose cells be counted
        self._asked: TreeNodes | OccupiedCells | None = None  # what is counted of it, once rows are too many to keep
        self._tally: Tally | None = None  # of that, while the first pass lasts
        self._tallied: set[int] = set()  # the pieces that are in it, each once
        self._totals: NDArray[np.int64] | None = None  # of that, once it is over

    def expect(self, what: Tree | SuitedGrid) -> None:
        if self._pieces is None and self._expected is None:
            self._expected = what

    def first_nodes(self, tree: Tree) -> TreeNodes | None:
        known = self._asked if self._totals is not None and tree == self._expected else None
        return known if isinstance(known, TreeNodes) else None

    def list_by_key(self, query: KeyedQuery) -> NDArray[np.int64] | None:
        nodes = self._asked if isinstance(self._asked, TreeNodes) else None
        if self._totals is not None and isinstance(query, TreeNodes) and query.same(nodes):
            return self._totals
        return super().list_by_key(query)

    def total(self, query: Query) -> NDArray[np.int64]:
        if self._totals is not None and isinstance(query, CellCounts) and OccupiedCells(query.grid) == self._asked:
            return self._totals.copy()
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
                if new and (asked := self._first(list(new.values()))) is not None:
                    self._asked, self._tally = asked, Tally(asked.size)
            tally = self._tally
            new = {} if tally is None else {each: new[each] for each in new.keys() - self._tallied}
            self._tallied.update(new)
        if tally is not None and self._asked is not None and new:
            try:
                with tally.one() as out:
                    for each in new.values():
                        self._count_keys(self._asked, each, out)
            except BaseException:
                self._tally = None  # what was marked may be half counted: no answer comes from it
                raise
        return block

    def _first(self, blocks: list[Block]) -> TreeNodes | OccupiedCells | None:
        """What to count in the first reading, which has come as far as these rows."""
        if isinstance(self._expected, Tree):
            root = np.zeros(1, dtype=np.int64)
            every = TreeNodes.under(self._expected, nodes=root, depth=0, most=self.nodes_at_once)
            return short_list(self._expected, blocks) or every
        rows = None if self._expected is None else self._table.rows_told()
        return None if self._expected is None or rows is None else OccupiedCells(self._expected.of(rows))

    def _finish(self) -> None:
        if self._tally is not None and self._pieces is not None:
            self._totals = self._tally.total() if len(self._tallied) == self._pieces else None
            self._tally = None
        self._table.check_unchanged()
