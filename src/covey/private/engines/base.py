"""What the curator asks of the place where rows live. Answers are exact and never leave this folder un-noised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from covey.noise.source import Source
from covey.queries.base import KeyedQuery, Query, WholeQuery
from covey.queries.blocks import BlockCentres
from covey.queries.grid import Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree


class Engine(Protocol):
    """A place where rows live. All answers are exact integers, independent of the order and batching of rows."""

    @property
    def unit(self) -> str | None:
        """What its statistics count one by one: None for rows, else the column whose equal values make one person."""
        ...

    @property
    def nodes_at_once(self) -> int | None:
        """How many nodes of a tree one pass may count; None: any number."""
        ...

    def total(self, query: Query) -> NDArray[np.int64]:
        """The statistic, summed over all rows."""
        ...

    def totals_by_key(self, query: KeyedQuery) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The keys that occur, ascending, and how many rows have each."""
        ...

    def cells(self, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The table of weighted lattice cells that whole queries work on: occupied cells, ascending, and their rows."""
        ...

    def block_outputs(self, query: BlockCentres, source: Source) -> NDArray[np.int64]:
        """The query's answer for each of its blocks; every row draws its block from `source`, by coins of its own."""
        ...

    def expect(self, what: Tree | SuitedGrid) -> None:
        """A tree that will probably be grown, or a grid whose cells will be counted for about all the rows: the engine
        may count for it in another pass, or ignore it."""
        ...

    def remember(self, tree: Tree, leaves: Nodes, counts: NDArray[np.int64]) -> None:
        """Exact counts of leaves that growing their tree has found; the engine may answer with them, or count again."""
        ...

    def projected(self, projection: Projection) -> Engine:
        """The rows' images under a public projection."""
        ...

    def split(self, parts: int, source: Source) -> Sequence[Engine]:
        """Every row in one of `parts` engines, by a coin of its own that does not depend on any value."""
        ...


def exact(engine: Engine, query: Query | WholeQuery) -> NDArray[np.int64]:
    """The exact statistic of either kind of query."""
    if isinstance(query, WholeQuery):
        return query.evaluate(*engine.cells(query.grid))
    return engine.total(query)


class Sealed:
    """Things that hold rows or raw randomness: never pickled, never copied into another process, silent in repr."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds private rows and cannot be pickled")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
