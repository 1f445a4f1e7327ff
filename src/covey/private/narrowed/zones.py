"""Rows in zones with a stricter promise are kept by coins, before anything else happens. Proof: zones.md.

Piece number i of a table always meets stream number i of one key, so that an engine which reads a file several times
sees the same rows each time. Who was kept is never told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from covey.errors import BudgetError, ParameterError
from covey.geo.areas import Regions
from covey.noise.source import keyed_words
from covey.private.lattice import to_lattice
from covey.private.tables.base import Piece, Places, Table, among
from covey.public import Domain
from covey.queries.base import Numbers

Words = NDArray[np.uint64]
ALWAYS = 2**64  # of 2^64 words, all keep a row


@dataclass(frozen=True, eq=False)
class Coins:
    """How many of 2^64 words keep a row, by the number of its zone (`Regions.index`); 0 stands for no zone.

    A row is kept with probability exactly keeping[number]/2^64.
    """

    regions: Regions
    keeping: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.keeping) != len(self.regions.areas) + 1 or self.keeping[0] != ALWAYS:
            raise ParameterError("zones", "need one rate each, and 1 outside of all")
        if any(not 1 <= each <= ALWAYS for each in self.keeping):
            raise ParameterError("zones", "a rate lies between 2^-64 and 1")

    def keep(self, numbers: Numbers, words: Words) -> NDArray[np.bool_]:
        """Which stay of those whose zones have these numbers, given one uniform word each."""
        last = np.array([each - 1 for each in self.keeping], dtype=np.uint64)  # the largest word that keeps somebody
        return np.asarray(words <= last[numbers])


class ZonedTable(Table):
    """The rows of a table that their zones' coins keep. Any number of passes sees the same ones."""

    no_people = "is capped before zones are looked at"

    def __init__(self, table: Table, coins: Coins, key: bytes, domain: Domain) -> None:
        self._table = table
        self._coins = coins
        self._key = key
        self._domain = domain
        self.names = table.names
        self.width = table.width
        self.streamed = table.streamed

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        self._table.check_numeric(columns)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        if columns is not None and tuple(columns) != self._domain.columns:
            raise BudgetError("zones: are decided from the columns of the domain, so these must be read")
        for number, piece in enumerate(self._table.pieces(columns)):
            yield partial(self._kept, number, piece)

    def _kept(self, number: int, piece: Piece) -> NDArray[np.float64]:
        values = piece()
        words = keyed_words(self._key, number, values.shape[1], purpose="zone")
        return values[:, self._coins.keep(self._coins.regions.index(to_lattice(values, self._domain)), words)]

    def rows(self) -> int:
        return sum(piece().shape[1] for piece in self.pieces(self._columns()))

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        """Pieces of the kept rows at these places among the kept: all rows are read, piece after piece."""
        return among(self.pieces(columns), places)

    def check_unchanged(self) -> None:
        self._table.check_unchanged()

    def _columns(self) -> tuple[str, ...] | None:
        return self._domain.columns if self._table.names is not None else None
