"""What a query is: a frozen, public description of a statistic that knows its own sensitivity."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.grid import Grid

Rows = NDArray[np.int32]  # lattice rows behind the door, one *column* per row: shape (d, n)
Flags = NDArray[np.bool_]  # one for each row: whether it was outside the bounds before it was moved to the lattice
Numbers = NDArray[np.uint8]  # one for each row: of a zone, 0 for none (`Regions.index`)


class Query(Protocol):
    """An additive statistic: integers that are summed over chunks of rows, so their order and batching never matter.

    `accumulate` is called behind the door only. It must be a sum over rows of a function of the single row, computed
    exactly, and must never raise because of a row.
    """

    @property
    def name(self) -> str: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def size(self) -> int: ...
    def sensitivity(self, neighbours: Neighbours) -> Sensitivity: ...
    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None: ...


@runtime_checkable
class WholeQuery(Protocol):
    """A statistic that is not a sum over rows: a function of the table of weighted cells of a public grid.

    `evaluate` is called behind the door only, with the occupied cells' numbers, ascending, and how many rows each has.
    It must be exact, and must never raise because of what the table holds; an empty table is a normal one.
    """

    @property
    def name(self) -> str: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def grid(self) -> Grid: ...
    @property
    def size(self) -> int: ...
    def sensitivity(self, neighbours: Neighbours) -> Sensitivity: ...
    def evaluate(self, cells: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]: ...


class KeyedQuery(Protocol):
    """A count for each of too many possible keys to list: only keys that occur are counted, and then thresholded.

    Keys are int64, or bytes of a fixed length.
    """

    @property
    def name(self) -> str: ...
    @property
    def domain(self) -> Domain: ...
    def sensitivity(self, neighbours: Neighbours) -> Sensitivity: ...
    def keys(self, rows: Rows) -> NDArray[Any]: ...
