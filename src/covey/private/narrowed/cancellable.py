"""A table whose reading can be stopped: before each piece somebody is asked. Says nothing about what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from covey.private.tables.base import Piece, Places, Table

if TYPE_CHECKING:
    from covey.private.tables.ids import PieceWithIds

T = TypeVar("T")


class CancellableTable(Table):
    """The same rows in the same pieces. `ask` raises to stop; a charge stays all the same."""

    def __init__(self, table: Table, ask: Callable[[], None]) -> None:
        self._table, self._ask = table, ask
        self.names, self.width, self.streamed = table.names, table.width, table.streamed
        self.by_person = table.by_person

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        return (partial(self._read, piece) for piece in self._table.pieces(columns))

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        return (partial(self._read, piece) for piece in self._table.pieces_with_ids(columns, person))

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        return (partial(self._read, piece) for piece in self._table.chosen(columns, places))

    def _read(self, piece: Callable[[], T]) -> T:
        self._ask()
        return piece()

    def rows(self) -> int:
        return self._table.rows()

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def check_person(self, person: str) -> None:
        self._table.check_person(person)

    def check_unchanged(self) -> None:
        self._table.check_unchanged()
