"""How many rows there are: in all, inside and outside the bounds, in each cell of a public grid. Proof: counts.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Flags, Rows
from covey.queries.grid import MOST_CELLS, OnGrid


def one_unit(neighbours: Neighbours) -> Sensitivity:
    """One person adds 1 to one count; a replaced person may leave one count and enter another."""
    if neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1, monotone=True)
    return Sensitivity(l1=2, l2_squared=2, linf=1, coordinates=2)


def all_move(most: int, size: int, *, monotone: bool = False) -> Sensitivity:
    """One person moves each of `size` numbers by at most `most`; monotone: all of them in the same direction."""
    return Sensitivity(l1=most * size, l2_squared=most**2 * size, linf=most, coordinates=size, monotone=monotone)


def count_into(out: NDArray[np.int64], places: NDArray[np.int64]) -> None:
    """Add 1 at each of these places of `out`, once for every time that it is there."""
    if len(out) <= 4 * len(places):
        out += np.bincount(places, minlength=len(out))
    else:
        np.add.at(out, places, 1)


@dataclass(frozen=True)
class Count:
    """The number of rows."""

    domain: Domain
    name: str = "number of rows"
    size: int = 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)  # under replace-one it does not move at all; nobody needs that there

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        out[0] += rows.shape[1]


@dataclass(frozen=True)
class InsideOutside:
    """The number of rows inside the bounds, and of those that the lattice's map had to move there."""

    domain: Domain
    name: str = "rows inside and outside the bounds"
    size: int = 2

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def tally(self, outside: Flags, out: NDArray[np.int64]) -> None:
        """Add the counts of rows with these flags. Behind the door only."""
        moved = np.count_nonzero(outside)
        out += (len(outside) - moved, moved)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:  # noqa: ARG002
        raise ParameterError("query", "lattice rows do not tell which were outside: it is counted by their flags")


@dataclass(frozen=True)
class Outside(InsideOutside):
    """The number of rows that the lattice's map had to move into the bounds, where that of all rows is public."""

    name: str = "rows outside the bounds"
    size: int = 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        monotone = neighbours is Neighbours.ADD_REMOVE
        return Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1, monotone=monotone)

    def tally(self, outside: Flags, out: NDArray[np.int64]) -> None:
        out[0] += np.count_nonzero(outside)


@dataclass(frozen=True)
class CellCounts(OnGrid):
    """The number of rows in every cell of a grid."""

    name: str = "rows per cell"

    def __post_init__(self) -> None:
        if self.grid.cells > MOST_CELLS:
            raise ParameterError("grid", f"has {self.grid.cells} cells; the most is 2^24")

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        count_into(out, self.grid.index(rows))


@dataclass(frozen=True)
class OccupiedCells(OnGrid):
    """The number of rows in each cell that has any, for grids too fine to list. Release with a threshold only."""

    name: str = "rows per occupied cell"

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def keys(self, rows: Rows) -> NDArray[np.int64]:
        return self.grid.index(rows)
