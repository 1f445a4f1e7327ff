"""A table whose reading can be stopped: before each piece somebody is asked. Says nothing about what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from covey.private.engine import Sealed
from covey.private.tables import Piece, Table


class WatchedTable(Sealed):
    """The same rows in the same pieces. `ask` raises to stop; a charge stays all the same."""

    def __init__(self, table: Table, ask: Callable[[], None]) -> None:
        self._table = table
        self._ask = ask

    @classmethod
    def of(cls, table: Table, ask: Callable[[], None]) -> Table:
        """The table, watched."""
        return cast(Table, cls(table, ask))

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        for piece in self._table.pieces(columns):
            yield partial(self._read, piece)

    def _read(self, piece: Piece) -> NDArray[np.float64]:
        self._ask()
        return piece()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._table, name)
