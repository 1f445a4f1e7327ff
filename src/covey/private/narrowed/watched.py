"""A table whose reading can be stopped: before each piece somebody is asked. Says nothing about what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from covey.private.engines.base import Sealed
from covey.private.tables.frames import Piece, Table

if TYPE_CHECKING:
    from covey.private.tables.ids import PieceWithIds

T = TypeVar("T")


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

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        for piece in self._table.pieces_with_ids(columns, person):
            yield partial(self._read, piece)

    def _read(self, piece: Callable[[], T]) -> T:
        self._ask()
        return piece()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._table, name)
