"""A table that can be read once, such as a sample, kept as it was read: all passes see the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.tables.base import Piece, Table


class HeldTable(Table):
    """The rows of another table, which is read when they are first needed, and never again."""

    no_people = "has been dealt with"

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kept: tuple[tuple[str, ...] | None, list[NDArray[np.float64]]] | None = None
        self.names, self.width, self.by_person = table.names, table.width, table.by_person

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        asked = None if columns is None else tuple(columns)
        if self._kept is None:
            self._kept = asked, [piece() for piece in self._table.pieces(columns)]
            self._table.check_unchanged()
        if asked != self._kept[0]:
            raise ParameterError("columns", "must be those that were read")
        return (partial(np.ndarray.__getitem__, values, ...) for values in self._kept[1])

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def rows(self) -> NoReturn:
        raise ParameterError("rows", "of a sample are not counted")
