"""Rows that arrive in batches, from a sensor network's base station: kept in memory until the collection is closed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError, ParameterError
from covey.private.engines.base import Sealed


class Batches(Sealed):
    """A growing collection of rows of one width. Nothing about it is told but that a batch was taken."""

    def __init__(self, *, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._parts: list[NDArray[np.float64]] = []

    def add(self, points: Sequence[Sequence[float | None]]) -> None:
        """Append rows; a missing number (None) is NaN. All or nothing: a batch that does not fit is refused whole."""
        try:
            rows = np.array(points, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError("points", "must be rows of numbers, as many in every row") from None
        if rows.ndim != 2 or rows.shape[1] < 1:
            raise ParameterError("points", "must be at least one row of at least one number")
        with self._lock:
            if self._parts and self._parts[0].shape[1] != rows.shape[1]:
                raise ParameterError("points", f"must have {self._parts[0].shape[1]} numbers a row, like those before")
            if sum(part.nbytes for part in self._parts) + rows.nbytes > self._most:
                raise DataError("points: the collection is full; close it, or start the studio with a larger limit")
            self._parts.append(rows)

    @property
    def width(self) -> int | None:
        """The number of columns, or None before the first batch."""
        with self._lock:
            return self._parts[0].shape[1] if self._parts else None

    def close(self) -> NDArray[np.float64]:
        """All rows as one table; the collection is empty afterwards."""
        with self.closing() as rows:
            return rows

    @contextmanager
    def closing(self) -> Iterator[NDArray[np.float64]]:
        """All rows as one table; the collection is empty afterwards, unless what is done with them here fails."""
        with self._lock:
            if not self._parts:
                raise DataError("points: no batch was sent yet; POST api/batches first")
            yield np.concatenate(self._parts)
            self._parts = []
