"""Rows in memory, and beside them an array that says whose each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.tables.base import Piece, Places, Table, piece_rows
from covey.private.tables.frames import ArrayTable, FrameTable
from covey.private.tables.ids import Ids, PieceWithIds, arrow_ids, family_of, object_ids, pandas_ids, polars_ids

USUAL_NAME = "person"  # what the column is called in certificates, where the array has no name


class IdTable(Table):
    """A table in memory with the ids of its rows as one more column, or in place of the one that is called so."""

    as_given = False

    def __init__(self, table: Table, ids: Any) -> None:
        if not isinstance(table, ArrayTable | FrameTable):
            raise ParameterError("person", "an array of ids needs rows in memory; for files, name a column of theirs")
        self.name = _name(ids)
        self._ids, count = _reader(ids, self.name)
        if count != table.rows():  # how many of either is not told
            raise ParameterError("person", "must hold one id for each row of the data")
        self._table = table
        self.names = table.names if table.names is None or self.name in table.names else (*table.names, self.name)
        self.width = table.width if self.names is None else len(self.names)

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        return self._table.pieces(columns)

    def rows(self) -> int:
        return self._table.rows()

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        return self._table.chosen(columns, places)

    def check_person(self, person: str) -> None:
        """Its type was looked at when the ids were given."""

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:  # noqa: ARG002
        step = piece_rows(len(columns) if columns is not None and self.names is not None else self._table.width)
        for number, piece in enumerate(self._table.pieces(columns)):
            yield partial(_both, piece, self._ids, number * step)


def _both(piece: Piece, ids: Callable[[slice], Ids], start: int) -> tuple[Any, Ids]:
    numbers = piece()
    return numbers, ids(slice(start, start + numbers.shape[1]))


def _name(ids: Any) -> str:
    name = getattr(ids, "name", None)
    return name if isinstance(name, str) and name else USUAL_NAME


def _reader(ids: Any, name: str) -> tuple[Callable[[slice], Ids], int]:
    """What reads some of the ids, and how many there are; or a refusal by their type."""
    library = type(ids).__module__.partition(".")[0]
    if library == "pandas" and hasattr(ids, "iloc") and getattr(ids, "ndim", 0) == 1:
        return pandas_ids(ids, name), len(ids)
    if library == "polars" and hasattr(ids, "dtype"):
        return polars_ids(ids, name), len(ids)
    if library == "pyarrow" and hasattr(ids, "type"):
        family_of(name, ids.type)
        return lambda places: arrow_ids(ids.slice(places.start, places.stop - places.start)), len(ids)
    try:
        array = _array(ids)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise ParameterError("person", "must be the name of a column, or an array of one id for each row")
    if array.dtype.kind in "OUS":
        known = object_ids(array.astype(object), name)
        return lambda places: known[places], len(array)
    try:
        family_of(name, pa.array(array[:0]).type)
    except pa.ArrowException:
        raise ParameterError("person", "must hold numbers or texts, one for each row") from None
    return lambda places: arrow_ids(pa.array(array[places])), len(array)


def _array(ids: Any) -> NDArray[Any]:
    """Ids as an array. A list has no type of its own, and each of its ids is what it is by itself.

    The common type that numpy finds would make texts of numbers, and where one id is missing or a fraction it would
    round all others: above 2^53 people would be one because of somebody else.
    """
    if isinstance(ids, np.ma.MaskedArray):
        ids = ids.tolist()
    elif hasattr(ids, "dtype"):
        return np.asarray(ids)
    objects = np.array(ids, dtype=object)
    fractions = all(isinstance(each, float | np.float32 | None) for each in objects.flat)
    return objects.astype(np.float64) if fractions else objects
