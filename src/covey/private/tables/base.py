"""What a table of rows is: what it can be asked, and what it says where it cannot.

Nothing here looks at a value before the charge. `pieces` yields functions, each of which reads one piece of the rows as
an array of shape (columns, rows), with missing values as NaN. Pieces may be read on several threads. An unchanged
table is always cut into the same pieces, in the same order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import NotNumericError, ParameterError
from covey.noise.source import Source, new_key
from covey.private.engines.base import Engine, Sealed
from covey.public import Domain, Neighbours

if TYPE_CHECKING:
    from covey.private.narrowed.zones import Coins
    from covey.private.tables.coded import Coded
    from covey.private.tables.ids import PieceWithIds

Piece = Callable[[], NDArray[np.float64]]
Places = NDArray[np.int64]
PIECE_VALUES = 2**19  # about 4 MB of float64 a piece
ENGINES = ("memory", "files", "spark")


class Table(Sealed, ABC):
    """Rows that nobody has looked at yet. A subclass reads them; here is what every table can become.

    names : of its columns, None for an array. no_people : why its rows are nobody's, where that is so.
    """

    names: tuple[str, ...] | None
    width: int
    streamed = False  # whether it is in files, and can be read again and again, a piece at a time
    local = True  # whether its rows come to this machine
    by_person = False  # whether pieces have a line more: of each row, the zone that its person was kept by
    as_given = True  # whether its columns are those of the object that was given, whose rows are there
    reading: Mapping[str, Any] = {}  # what was declared of how its rows are read, public: part of a request
    no_people = "needs columns with names; pass a pandas, polars or Arrow table, or a file"

    @abstractmethod
    def check_numeric(self, columns: Sequence[str] | None) -> None:
        """Refuse columns that are not of numbers, by their type."""

    @abstractmethod
    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        """Functions that read the rows, piece by piece."""

    @abstractmethod
    def rows(self) -> int:
        """The exact number of rows: private under add/remove."""

    def rows_told(self) -> int | None:
        """The same, if that is known without reading them."""
        return None

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:  # noqa: ARG002
        """Pieces of the rows at these places, which ascend block by block; those beyond the last row are ignored.
        In memory no others are visited."""
        raise ParameterError("sample", "needs rows that have places: give a rate, under add-remove")

    def check_person(self, person: str) -> None:  # noqa: ARG002
        """Refuse a person column that is not there or holds no ids, before any charge."""
        raise ParameterError("person", self.no_people)

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:  # noqa: ARG002
        """Pieces together with the cell of the person column of each row, as covey.private.tables.ids has them."""
        raise ParameterError("person", self.no_people)

    def coded(self, columns: Mapping[str, Coded]) -> Table:  # noqa: ARG002
        """The table with columns more: the number of the cell of a profile that each row is in. Proof: coded.md."""
        raise ParameterError("data", "cells of columns need columns with names; pass a frame, a table or a file")

    def check_unchanged(self) -> None:
        """Refuse a file that is no longer the one that was opened. Rows in memory are the caller's to keep."""

    def check_fit(
        self,
        *,
        engine: str,
        engines: tuple[str, ...],
        what: str,
        sampled: bool = False,  # noqa: ARG002
        zoned: bool = False,  # noqa: ARG002
        relation: Neighbours = Neighbours.ADD_REMOVE,  # noqa: ARG002
    ) -> None:
        """Refuse, before any charge, what cannot be done with this table.

        engine : as it was asked for. engines : those on which `what` can run. sampled : whether only a sample is
        worked on, which comes to memory.
        """
        if engine == "spark":
            raise ParameterError("engine", "'spark' reads Parquet paths and Spark DataFrames; these rows need 'memory'")
        if engine == "files" and not self.streamed:
            raise ParameterError("engine", "'files' reads paths; rows that are in memory already need engine='memory'")
        if engine != "auto" and engine not in engines:
            options = ", ".join(map(repr, ("auto", *engines)))
            raise ParameterError("engine", f"{what!r} runs on {options}")

    def engine(self, wanted: str, domain: Domain, *, engines: tuple[str, ...] = ENGINES) -> Engine:
        """What answers for its rows. Files are streamed where `engines` allow it, and read into memory otherwise."""
        from covey.private.engines.memory import MemoryEngine
        from covey.private.engines.streaming import StreamEngine

        streamed = wanted != "memory" and self.streamed and "files" in engines
        return StreamEngine(self, domain) if streamed else MemoryEngine(self, domain)

    def people(self, domain: Domain, person: str, *, key: bytes) -> Engine:
        """What knows how many people have how many rows."""
        from covey.private.narrowed.cap import PeopleCount

        return PeopleCount(self, domain, person, key=key)

    def complete(self, domain: Domain) -> Table:
        """The rows that have a value in every column of the domain."""
        from covey.private.narrowed.missing import CompleteTable

        return CompleteTable(self, domain.columns if self.names is not None else None)

    def capped(self, domain: Domain, person: str, *, most: int, key: bytes) -> Table:
        """At most `most` rows of every person."""
        from covey.private.narrowed.cap import CappedTable

        return CappedTable(self, domain, person, most=most, key=key)

    def sampled(self, domain: Domain, *, rate: Fraction, source: Source) -> Table:  # noqa: ARG002
        """Every row by a coin of its own, of exactly this rate; in memory once it is read."""
        from covey.private.narrowed.sample import SampledTable

        return self if rate == 1 else SampledTable.poisson(self, rate=rate, source=source)

    def zoned(self, coins: Coins, domain: Domain, source: Source) -> Table:
        """The rows that their zones' coins keep, by a key that is drawn now."""
        from covey.private.narrowed.zones import ZonedTable

        return ZonedTable(self, coins, new_key(source), domain)


def piece_rows(columns: int) -> int:
    return max(256, min(2**17, PIECE_VALUES // max(1, columns)))


def not_numeric(column: object, kind: object) -> NotNumericError:
    dates = f"; if it holds dates, bounds of hour({column}) or weekday({column}) read them"
    return NotNumericError(
        f"bounds: column {column!r} is not numeric (it is {kind}); choose numeric columns or convert it first"
        + (dates if isinstance(column, str) else "")
    )


def among(pieces: Iterator[Piece], places: Iterator[Places]) -> Iterator[Piece]:
    """Pieces of the rows at these places, which ascend block by block, where rows have to be read to be counted."""
    blocks, start = within(places, 2**62, step=2**16), 0
    waiting = next(blocks, None)
    for piece in pieces:
        values = piece()
        end = start + values.shape[1]
        found = []
        while waiting is not None and len(waiting):
            inside = int(np.searchsorted(waiting, end))
            found.append(waiting[:inside] - start)
            if inside < len(waiting):
                waiting = waiting[inside:]
                break
            waiting = next(blocks, None)
        start = end
        if found and sum(map(len, found)):
            yield partial(values.__getitem__, (slice(None), np.concatenate(found)))
        if waiting is None:
            return


def within(places: Iterator[Places], rows: int, *, step: int) -> Iterator[Places]:
    """Blocks of at most `step` places, up to the last row; no block is asked for that would lie beyond it."""
    for block in places:
        inside = block[: int(np.searchsorted(block, rows))]
        for start in range(0, len(inside), step):
            yield inside[start : start + step]
        if len(inside) < len(block):
            return
