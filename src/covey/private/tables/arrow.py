"""Parquet files, by row groups, and Arrow files, by record batches. Their footers name the columns and their types.

Small row groups are read together, ordinary ones each by a thread of its own. One that would take more than 32 MB is
streamed. Arrow files are read by batches; only one whose batches are larger is mapped into memory and sliced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from covey.errors import DataError
from covey.files import File
from covey.private.engines.base import Sealed
from covey.private.tables.base import piece_rows
from covey.private.tables.frames import arrow_is_numeric
from covey.private.tables.one_file import Task, held, some_as_csv
from covey.private.tables.points import geometry_in

MOST_BYTES = 2**25  # that a thread reads at once
BUFFER = 2**20  # of a column that is streamed


class SchemaPart(Sealed, ABC):
    """A file with a schema."""

    typed = True

    def __init__(self, path: Path, schema: Any) -> None:
        self.path = path
        self._schema = schema
        self.names = tuple(schema.names)

    @property
    def geometry(self) -> tuple[str, tuple[str, str]] | None:
        return geometry_in(self._schema)

    def first_cells(self, name: str) -> Any:
        return pa.nulls(0, self.kind(name))

    def kind(self, name: str) -> Any:
        return self._schema.field(self.names.index(name)).type

    def not_numbers(self, columns: Sequence[str]) -> tuple[str, str] | None:
        for name in columns:
            kind = self.kind(name)
            if not (arrow_is_numeric(kind) or pa.types.is_null(kind)):
                return name, str(kind)
        return None

    @abstractmethod
    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        """The file in pieces: see `Part`."""

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """Written anew as CSV, of these rows alone: an Arrow dictionary or a footer would still tell of the others."""
        for name, kind in zip(self.names, self._schema.types, strict=True):
            if pa.types.is_nested(kind):
                raise DataError(f"data: column {name!r} holds lists or structures, which a CSV cannot; leave it out")
        return some_as_csv(self.tasks(self.names), keep, self._schema)


class ParquetPart(SchemaPart):
    tells_rows = True  # in its footer

    def __init__(self, path: Path, source: File) -> None:  # noqa: ARG002
        with pq.ParquetFile(path) as file:
            self._footer = file.metadata
            super().__init__(path, file.schema_arrow)

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        wanted = list(dict.fromkeys([*columns, *texts]))
        enough, leaves = piece_rows(len(wanted)), self._leaves(wanted)
        together: list[int] = []
        held = 0
        for group in range(self._footer.num_row_groups):
            size = self._footer.row_group(group).num_rows
            large = self._bytes(group, leaves) > MOST_BYTES
            if together and (large or held + size > enough):
                yield self._task(together, held, wanted)
                together, held = [], 0
            if large:
                yield from self._stream(group, wanted)
            elif size:
                together.append(group)
                held += size
        if together:
            yield self._task(together, held, wanted)

    def _task(self, groups: list[int], rows: int, wanted: list[str]) -> Task:
        return Task(lambda: rows, partial(self._read, groups, wanted))

    def _read(self, groups: list[int], wanted: list[str]) -> Any:
        with pq.ParquetFile(self.path, metadata=self._footer) as file:
            return file.read_row_groups(groups, columns=wanted, use_threads=False)

    def _stream(self, group: int, wanted: list[str]) -> Iterator[Task]:
        with pq.ParquetFile(self.path, metadata=self._footer, buffer_size=BUFFER, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=piece_rows(len(wanted)), row_groups=[group], columns=wanted):
                yield held(batch)

    def _leaves(self, wanted: Sequence[str]) -> list[int]:
        """The columns of the footer that belong to those of the table; those of a structure are several."""
        paths = (self._footer.schema.column(i).path for i in range(self._footer.num_columns))
        return [i for i, path in enumerate(paths) if any(f"{path}.".startswith(f"{name}.") for name in wanted)]

    def _bytes(self, group: int, leaves: list[int]) -> int:
        """What the wanted columns of a row group take in memory, as far as the footer tells."""
        part = self._footer.row_group(group)
        stored = sum(part.column(i).total_uncompressed_size for i in leaves)
        return max(int(part.num_rows) * 8 * len(leaves), int(stored))

    def rows(self) -> int:
        return int(self._footer.num_rows)


class ArrowPart(SchemaPart):
    """An Arrow IPC file, also called Feather version 2."""

    def __init__(self, path: Path, source: File) -> None:  # noqa: ARG002
        with pa.OSFile(str(path)) as content, pa.ipc.open_file(content) as file:
            self._batches = file.num_record_batches
            super().__init__(path, file.schema)

    def tasks(self, columns: Sequence[str], *, texts: Sequence[str] = ()) -> Iterator[Task]:
        wanted = {*columns, *texts}
        step = piece_rows(len(wanted))
        for batch in self._read([i for i, name in enumerate(self.names) if name in wanted]):
            for start in range(0, batch.num_rows, step):
                yield held(batch.slice(start, step))

    def _read(self, fields: list[int]) -> Iterator[Any]:
        """Ordinary batches are copied: a file that shrinks would end the process if it were mapped."""
        large = self.path.stat().st_size > MOST_BYTES * max(1, self._batches)
        source = pa.memory_map(str(self.path)) if large else pa.OSFile(str(self.path))
        options = pa.ipc.IpcReadOptions(included_fields=[] if large else fields)  # a choice would copy what is mapped
        with source, pa.ipc.open_file(source, options=options) as file:
            for number in range(self._batches):
                yield file.get_batch(number)

    def rows(self) -> int:
        return sum(batch.num_rows for batch in self._read([0]))
