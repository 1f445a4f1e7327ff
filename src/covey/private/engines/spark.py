"""Rows of a Spark DataFrame: integer statistics on the executors, summed; noise is added once, on the driver.

Each partition is turned into exact integers by `mapInArrow`, and the integers are added up. A task that fails, is
retried or runs twice changes nothing: Spark takes one result of each partition, and every attempt computes the same
one. There are no accumulators, and no row leaves an executor, except those of a sample that was asked for, of which
each attempt draws its own, and the different texts of a column whose categories are to be found, with how many rows
have each: on the driver they get their noise. Proof: spark.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from covey.errors import ParameterError
from covey.noise.source import Source, new_key
from covey.private.engines.base import Sealed
from covey.private.engines.rows import add_block, chunk_rows
from covey.private.lattice import Block, to_block
from covey.private.tables.frames import arrow_numbers
from covey.private.tables.spark import numbered, run_job
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query, Rows
from covey.queries.blocks import BlockCentres
from covey.queries.counts import OccupiedCells
from covey.queries.grid import Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree

DENSE = 2**16  # numbers of a statistic that every partition sends as they are; of more, those that are not 0
NODES = 2**22  # of a tree that one pass counts
SENT = 2**16  # pairs of a key and a number in a batch
PAIRS, TEXT_PAIRS = "key long, number long", "key binary, number long"
VECTOR = "numbers binary"
INTEGER = np.dtype(np.int64)

Integers = NDArray[np.int64]
RowMap = Callable[[Rows], Rows]
Batches = Iterable[pa.RecordBatch]


class SparkEngine(Sealed):
    """Answers by jobs on the cluster. The same frame gives the same integers, whatever its partitions."""

    unit: str | None = None
    nodes_at_once = NODES

    def __init__(
        self,
        frame: DataFrame,
        domain: Domain,
        *,
        read: Domain | None = None,
        maps: tuple[RowMap, ...] = (),
        held: object = None,  # what Spark keeps for this engine, while somebody holds it
        finish: Callable[[], None] | None = None,  # called after every job, before its answer is used
    ) -> None:
        self._finish = finish
        self._frame, self._domain, self._held = frame, domain, held
        self._reading = partial(read_rows, read or domain, maps)
        self._read, self._maps = read or domain, maps

    def _names(self) -> Sequence[str]:
        return self._read.columns or self._frame.columns

    def _numbers(self) -> DataFrame:
        return self._frame.select(*numbered(self._names()))

    def _run(self, job: Callable[[], Any]) -> Any:
        answer = run_job(job)
        if self._finish is not None:
            self._finish()
        return answer

    def total(self, query: Query) -> Integers:
        if query.size > DENSE:
            return self._by_key(partial(send_pairs, self._reading, query), query.size)
        sent = self._numbers().mapInArrow(partial(send_totals, self._reading, query), VECTOR)
        total = np.zeros(query.size, dtype=np.int64)
        for row in self._run(sent.collect):
            total += np.frombuffer(row[0], dtype="<i8")
        return total

    def _by_key(self, send: Callable[[Batches], Iterator[pa.RecordBatch]], size: int) -> Integers:
        keys, numbers = self._pairs(send)
        total = np.zeros(size, dtype=np.int64)
        total[keys] = numbers
        return total

    def _pairs(
        self, send: Callable[[Batches], Iterator[pa.RecordBatch]], kind: np.dtype[Any] = INTEGER
    ) -> tuple[NDArray[Any], Integers]:
        pairs = PAIRS if kind == INTEGER else TEXT_PAIRS
        sums = self._numbers().mapInArrow(send, pairs).groupBy("key").agg(F.sum("number").alias("number"))
        table = self._run(sums.toArrow)
        keys, numbers = table.column("key").to_numpy().astype(kind), table.column("number").to_numpy().astype(np.int64)
        order = np.argsort(keys)
        return keys[order], numbers[order]

    def totals_by_key(self, query: KeyedQuery) -> tuple[NDArray[Any], Integers]:
        none = query.keys(np.empty((self._domain.dimension, 0), dtype=np.int32))
        return self._pairs(partial(send_keys, self._reading, query), none.dtype)

    def cells(self, grid: Grid) -> tuple[Integers, Integers]:
        return self.totals_by_key(OccupiedCells(grid))

    def expect(self, what: Tree | SuitedGrid) -> None:
        """A pass counts what is asked for."""

    def remember(self, tree: Tree, leaves: Nodes, counts: Integers) -> None:
        """Counts again: a job more, and nothing to keep."""

    def projected(self, projection: Projection) -> SparkEngine:
        return self._narrower(self._frame, projection.target, (*self._maps, projection.apply), self._held)

    def split(self, parts: int, source: Source) -> list[SparkEngine]:
        """Every row in one of `parts` engines, by a coin of its own: a keyed hash of the row and its copy number."""
        from covey.private.narrowed.spark import parted

        frames, held = parted(self._numbers(), self._names(), self._read, parts, key=new_key(source))
        return [self._narrower(frame, self._domain, self._maps, (held, self._held)) for frame in frames]

    def _narrower(self, frame: DataFrame, domain: Domain, maps: tuple[RowMap, ...], held: object) -> SparkEngine:
        return SparkEngine(frame, domain, read=self._read, maps=maps, held=held, finish=self._finish)

    def block_outputs(self, query: BlockCentres, source: Source) -> NoReturn:  # noqa: ARG002
        raise ParameterError("engine", "blocks of rows are clustered in memory: use engine='memory', or a sample")


def read_rows(domain: Domain, maps: tuple[RowMap, ...], batch: pa.RecordBatch) -> Iterator[Block]:
    """The lattice rows of a batch, in chunks. Runs on executors."""
    numbers = np.stack([arrow_numbers(column) for column in batch.columns])
    block = to_block(numbers, domain)
    step = chunk_rows(domain.dimension, 256)
    for start in range(0, len(block.outside), step):
        chunk = block.at(slice(start, start + step))
        for change in maps:
            chunk = chunk.mapped(change)
        yield chunk


def send_totals(read: Callable[[Any], Iterator[Block]], query: Query, batches: Batches) -> Iterator[pa.RecordBatch]:
    """One partition's exact statistic. Runs on executors."""
    out = _added(read, query, batches)
    yield pa.RecordBatch.from_arrays([pa.array([out.astype("<i8").tobytes()], pa.binary())], ["numbers"])


def send_pairs(read: Callable[[Any], Iterator[Block]], query: Query, batches: Batches) -> Iterator[pa.RecordBatch]:
    """One partition's exact statistic, without its zeros. Runs on executors."""
    out = _added(read, query, batches)
    keys = np.flatnonzero(out)
    yield from _in_pairs(keys, out[keys])


def send_keys(read: Callable[[Any], Iterator[Block]], query: KeyedQuery, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Keys and how many rows have them, batch by batch. Runs on executors."""
    for batch in batches:
        for block in read(batch):
            yield from _in_pairs(*np.unique(query.keys(block.rows), return_counts=True))


def _added(read: Callable[[Any], Iterator[Block]], query: Query, batches: Batches) -> Integers:
    out = np.zeros(query.size, dtype=np.int64)
    for batch in batches:
        for block in read(batch):
            add_block(query, block, out)
    return out


def _in_pairs(keys: NDArray[Any], numbers: Integers) -> Iterator[pa.RecordBatch]:
    kind = pa.int64() if keys.dtype == INTEGER else pa.binary()
    for start in range(0, len(keys), SENT):
        some = slice(start, start + SENT)
        arrays = [pa.array(keys[some], kind), pa.array(numbers[some].astype(np.int64))]
        yield pa.RecordBatch.from_arrays(arrays, ["key", "number"])
