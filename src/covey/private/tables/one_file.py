"""What the files of a data set have in common, of whichever kind they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Task(NamedTuple):
    """A piece of a file that is still to be read: how many rows it has, and its columns by name, as Arrow has them."""

    rows: Callable[[], int]
    read: Callable[[], Any]


class Part(Protocol):
    """One file. Opening it reads its footer or its header."""

    @property
    def path(self) -> Path: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    def kind(self, name: str) -> Any:
        """The Arrow type of a column."""
        ...

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """The first of these columns that does not hold numbers, and what it holds."""
        ...

    def tasks(self, columns: Sequence[str], *, person: str | None = None) -> Iterator[Task]:
        """The file in pieces, always the same ones. The cells of `person` come as they stand."""
        ...

    def rows(self) -> int: ...
    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """The rows that are to be kept, whole, as a CSV file."""
        ...
