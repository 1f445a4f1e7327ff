"""What the files of a data set have in common, of whichever kind they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Task(NamedTuple):
    """A piece of a file that is still to be read: how many rows it has, and its columns by name, as Arrow has them."""

    rows: Callable[[], int]
    read: Callable[[], Any]


def held(batch: Any) -> Task:
    """A piece whose bytes are there already."""
    return Task(lambda: batch.num_rows, lambda: batch)


class Part(Protocol):
    """One file. Opening it reads its footer or its header."""

    @property
    def path(self) -> Path: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def typed(self) -> bool:
        """Whether a schema says what the columns hold."""
        ...

    @property
    def geometry(self) -> tuple[str, tuple[str, str]] | None:
        """The column that a schema says to be of points, and what its two coordinates are called."""
        ...

    def kind(self, name: str) -> Any:
        """The Arrow type of a column."""
        ...

    def first_cells(self, name: str) -> Any:
        """The first cells of a column as they stand, where no schema says what they are: an Arrow column."""
        ...

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """The first of these columns that does not hold numbers, and what it holds."""
        ...

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        """The file in pieces, always the same ones. The cells of `texts` come as they stand."""
        ...

    def rows(self) -> int: ...


@runtime_checkable
class Keeps(Protocol):
    """A file of which some rows can be sent on as they are."""

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """The rows that are to be kept, whole, as a CSV file."""
        ...


def some_as_csv(tasks: Iterator[Task], keep: NDArray[np.bool_], schema: Any, **style: Any) -> bytes:
    """These rows of a file, written anew as CSV."""
    import pyarrow as pa
    from pyarrow import csv

    sink, start = pa.BufferOutputStream(), 0
    with csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(**style)) as writer:
        for task in tasks:
            piece = task.read()
            writer.write(piece.filter(pa.array(keep[start : start + piece.num_rows])))
            start += piece.num_rows
    return bytes(sink.getvalue())
