"""Rows in files, larger than memory: every question is one pass over them, piece by piece, on all cores.

Memory is bounded by the pieces in flight and by the answer. Tables that turn out small are kept as lattice integers
after their first reading, so that later passes cost no reading. A file that changes ends the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from covey.private.engines.rows import RowEngine, Unit
from covey.private.lattice import Block, to_block
from covey.private.tables.base import Piece, Table
from covey.public import Domain
from covey.queries.base import Query
from covey.queries.counts import Count

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
        block = to_block(piece(), self._domain)
        with self._lock:
            if self._kept is not None and number not in self._kept:
                self._kept[number] = block
                self._values += block.rows.size
                if self._values > KEPT_VALUES:
                    self._kept = None
        return block

    def _finish(self) -> None:
        self._table.check_unchanged()
