"""A random sample of a table's rows, drawn once, at the first reading. Proofs: noise/gaps.md, amplify.md.

Who is kept depends on coins only, one for each place in the table, never on a value; who was kept is never told. In
memory and memory-mapped, rows that are not kept are not visited; a file is read in one pass and thinned by batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from covey.errors import BudgetError, ParameterError
from covey.noise.gaps import choose, kept
from covey.noise.source import Source
from covey.private.engines.rows import RowEngine
from covey.private.tables.base import Piece, Places, Table
from covey.public import Domain
from covey.queries.base import Query
from covey.queries.counts import Count


class SampledTable(Table):
    """The rows of a table that a sample keeps. It can be read once: a second sample would need a second payment."""

    no_people = "cannot be combined with sample, which draws rows and not people"

    def __init__(self, table: Table, draw: Callable[[], Iterator[Places]]) -> None:
        self._table = table
        self._draw: Callable[[], Iterator[Places]] | None = draw
        self.names = table.names
        self.width = table.width
        self.by_person = table.by_person

    @classmethod
    def poisson(cls, table: Table, *, rate: Fraction, source: Source) -> SampledTable:
        """Every row by a coin of its own, of exactly this rate."""
        return cls(table, lambda: kept(rate=rate, source=source))

    @classmethod
    def without_replacement(cls, table: Table, *, size: int, rows: int, source: Source) -> SampledTable:
        """`size` of the public number of `rows`, every set of them with the same probability."""
        if not 1 <= size <= rows:
            raise ParameterError("sample", "must be at least 1 and at most the number of rows")
        return cls(table, lambda: iter([choose(size, of=rows, source=source)]))

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        if self._draw is None:
            raise BudgetError("sample: it was drawn and read; another one would have to be paid for")
        places, self._draw = self._draw(), None
        return self._table.chosen(columns, places)

    def rows(self) -> NoReturn:
        raise BudgetError("sample: its number of rows is not known before it is read")

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> NoReturn:  # noqa: ARG002
        raise BudgetError("sample: is not sampled again")

    def check_unchanged(self) -> None:
        self._table.check_unchanged()


class RowCount(RowEngine):
    """An engine that knows the number of rows of a table, and nothing else: what a rate is derived from."""

    def __init__(self, table: Table, domain: Domain) -> None:
        super().__init__(domain)
        self._table = table

    def total(self, query: Query) -> NDArray[np.int64]:
        if type(query) is not Count:
            return super().total(query)
        return np.array([self._table.rows()], dtype=np.int64)

    def _units(self) -> NoReturn:
        raise ParameterError("query", "only the number of rows is known here")
