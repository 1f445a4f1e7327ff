"""The rows that have a value in every column, for whoever would not have the others moved. Proof: missing.md.

A filter of single rows, before everything else: which row stays is decided by its own numbers, after they were read,
by the one rule that sends a missing number to the middle elsewhere (`is_missing`). Who was left out is never told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.lattice import is_missing
from covey.private.tables.base import Piece, Places, Table, among
from covey.private.tables.ids import Ids, PieceWithIds
from covey.public import Neighbours

MIDDLE, DROP = MISSING = ("middle", "drop")  # what becomes of a row with a missing value


def check_missing(missing: Any, neighbours: Neighbours) -> str:
    """What becomes of rows with a missing value, as a user gives it. Proof: missing.md."""
    if missing not in MISSING or not isinstance(missing, str):
        raise ParameterError("missing", f"must be one of {', '.join(map(repr, MISSING))}")
    if missing == DROP and neighbours is Neighbours.REPLACE_ONE:
        raise ParameterError(
            "missing",
            "'drop' changes how many rows there are, and replace-one takes that number to be public, whatever the "
            "values of a row are; use neighbours='add-remove', or missing='middle'",
        )
    return str(missing)


class CompleteTable(Table):
    """A table without the rows that miss a value in one of these columns. Any number of passes sees the same ones."""

    def __init__(self, table: Table, columns: Sequence[str] | None) -> None:
        self._table, self._columns = table, columns
        self.names, self.width, self.streamed = table.names, table.width, table.streamed
        self.no_people = table.no_people

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def check_person(self, person: str) -> None:
        self._table.check_person(person)

    def check_unchanged(self) -> None:
        self._table.check_unchanged()

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        return (partial(_complete, piece) for piece in self._table.pieces(columns))

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        return (partial(_complete_with_ids, piece) for piece in self._table.pieces_with_ids(columns, person))

    def rows(self) -> int:
        return sum(piece().shape[1] for piece in self.pieces(self._columns))

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        """Pieces of the rows at these places among the complete ones: all rows are read, piece after piece."""
        return among(self.pieces(columns), places)


def _complete(piece: Piece) -> NDArray[np.float64]:
    values = piece()
    stays = ~is_missing(values).any(axis=0)
    return values if stays.all() else values[:, stays]


def _complete_with_ids(piece: PieceWithIds) -> tuple[NDArray[np.float64], Ids]:
    values, ids = piece()
    stays = ~is_missing(values).any(axis=0)
    return values[:, stays], ids.filter(stays)
