"""Samples and random parts of a Spark DataFrame, and at most m rows of every person in one.

Proofs: spark.md, noise/gaps.md, budget/accounting/amplify.md, cap.md.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from covey.errors import BudgetError, ParameterError
from covey.noise.gaps import kept
from covey.noise.source import OsSource, SeededSource, Source, keyed_words, new_key
from covey.private.engines.base import Engine
from covey.private.engines.rows import RowEngine
from covey.private.engines.spark import Batches
from covey.private.lattice import to_block
from covey.private.narrowed.names import Names
from covey.private.tables.base import ENGINES, Piece, Table
from covey.private.tables.frames import arrow_numbers, open_table
from covey.private.tables.ids import arrow_ids, has_id
from covey.private.tables.spark import SparkTable, named, numbered, run_job
from covey.public import Domain
from covey.queries.base import Query
from covey.queries.people import PeopleByRows

SIGN = np.uint64(1 << 63)  # turns the order of unsigned words into that of signed ones, which Spark has
WHO = "low long, high long"


class SparkSample(SparkTable):
    """The rows that a Poisson sample keeps, brought to the driver once. Every row has a coin of exactly the rate.

    A partition draws its coins where its rows are, from the operating system; a task that runs again draws others, and
    Spark takes one of them. So the sample is drawn once, at the first reading. That which one is taken does not depend
    on what it drew is taken on trust (spark.md); with spark.speculation, where it may, sampling is refused.
    """

    local = True

    def __init__(self, table: SparkTable, columns: Sequence[str] | None, *, rate: Fraction, source: Source) -> None:
        super().__init__(table.frame, source=table)
        self._columns = list(columns or table.names)
        key = new_key(source) if source.seeded else None
        self._draw: Any = partial(keep_rows, rate, key)

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        if self._draw is None:
            raise BudgetError("sample: it was drawn and read; another one would have to be paid for")
        draw, self._draw = self._draw, None
        names = [f"v{i}" for i in range(len(self._columns))]
        frame = self.frame.select(*numbered(self._columns))
        sample = frame.mapInArrow(draw, ", ".join(f"{name} double" for name in names))
        drawn = run_job(sample.toArrow).rename_columns(self._columns)
        self.check_unchanged()
        return open_table(drawn).pieces(columns)

    def rows(self) -> NoReturn:
        raise BudgetError("sample: its number of rows is not known before it is read")

    def engine(self, wanted: str, domain: Domain, *, engines: tuple[str, ...] = ENGINES) -> Engine:
        return Table.engine(self, wanted, domain, engines=engines)


def keep_rows(rate: Fraction, key: bytes | None, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The rows of one partition that its coins keep. Runs on executors; `key` is for seeded runs only."""
    if rate == 1:
        yield from (_as_sample(batch.columns) for batch in batches)
        return
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    source: Source = (
        OsSource() if key is None else SeededSource(int(keyed_words(key, partition, 1, purpose="sample")[0]))
    )
    places = kept(rate=rate, source=source)
    block, first = np.empty(0, dtype=np.int64), 0
    for batch in batches:
        end = first + batch.num_rows
        while not block.size or block[-1] < end:
            block = np.concatenate([block, next(places)])
        inside = block[: np.searchsorted(block, end)]
        block = block[len(inside) :]
        if inside.size:
            places_here = pa.array(inside - first)
            yield _as_sample([column.take(places_here) for column in batch.columns])
        first = end


def _as_sample(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    numbers = [pa.array(arrow_numbers(column)) for column in columns]
    return pa.RecordBatch.from_arrays(numbers, [f"v{i}" for i in range(len(numbers))])


class SparkCapped(SparkTable):
    """At most `most` rows of every person. Spark keeps them while this does; what it loses is made again, alike."""

    def __init__(self, table: SparkTable, domain: Domain, person: str, *, most: int, key: bytes) -> None:
        table.check_person(person)
        columns = list(domain.columns or [name for name in table.names if name != person])
        names = Names(key)
        told = whose(table.frame, columns, person)
        values = ", ".join(f"v{i} double" for i in range(len(columns)))
        hashed = told.mapInArrow(partial(name_rows, names, domain), f"{values}, {WHO}, row long")
        copies = Window.partitionBy("low", "high", "row").orderBy("row")
        counted = hashed.withColumn("copy", F.row_number().over(copies).cast("long") - 1)
        ranked = counted.mapInArrow(partial(rank_rows, names), f"{values}, {WHO}, row long, copy long, rank long")
        order = Window.partitionBy("low", "high").orderBy("rank", "row", "copy")
        first = ranked.withColumn("place", F.row_number().over(order)).filter(F.col("place") <= most)
        frame = first.select(*(F.col(f"v{i}").alias(name) for i, name in enumerate(columns)))
        super().__init__(frame, source=table)
        self._kept = Kept(frame)


class Kept:
    """Spark keeps the rows of a frame, once it has made them, for as long as somebody holds this."""

    def __init__(self, frame: DataFrame) -> None:
        frame.persist(StorageLevel.MEMORY_AND_DISK)
        weakref.finalize(self, _forget, frame).atexit = False


def _forget(frame: DataFrame) -> None:
    with suppress(Exception):  # Spark may have ended in the meantime
        frame.unpersist()


def whose(frame: DataFrame, columns: Sequence[str], person: str) -> DataFrame:
    """The columns that count, by number, and the person's: a column may be both."""
    return frame.select(*numbered(columns), named(person).alias("who"))


def name_rows(names: Names, domain: Domain, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Rows with an id as numbers, with the names of their person and of their lattice point. Runs on executors."""
    for batch in batches:
        ids = arrow_ids(batch.columns[-1])
        mine = has_id(ids)
        values = np.stack([arrow_numbers(column) for column in batch.columns[:-1]])[:, mine]
        low, high = names.people(ids.filter(pa.array(mine)))
        row = names.rows(to_block(values, domain))
        arrays = [*(pa.array(each) for each in values), *(pa.array(signed(each)) for each in (low, high, row))]
        yield pa.RecordBatch.from_arrays(arrays, [*(f"v{i}" for i in range(len(values))), "low", "high", "row"])


def rank_rows(names: Names, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same rows with their place in their person's order, as a hash. Runs on executors."""
    for batch in batches:
        low, high, row = (unsigned(batch.column(name)) for name in ("low", "high", "row"))
        copy = batch.column("copy").to_numpy(zero_copy_only=False).astype(np.uint64)
        rank = pa.array(signed(names.ranks(low, high, row, copy)))
        yield pa.RecordBatch.from_arrays([*batch.columns, rank], [*batch.schema.names, "rank"])


def parted(
    frame: DataFrame, called: Sequence[str], domain: Domain, parts: int, *, key: bytes
) -> tuple[list[DataFrame], object]:
    """Frames that share out the rows: each by a coin that depends on its lattice point, its copy number and the key."""
    values = ", ".join(f"v{i} double" for i in range(len(frame.columns)))
    hashed = frame.mapInArrow(partial(name_points, Names(key), domain), f"{values}, row long")
    copies = Window.partitionBy("row").orderBy("row")
    counted = hashed.withColumn("copy", F.row_number().over(copies).cast("long") - 1)
    drawn = counted.mapInArrow(partial(draw_parts, Names(key), parts), f"{values}, part long")
    columns = [F.col(f"v{i}").alias(name) for i, name in enumerate(called)]
    return [drawn.filter(F.col("part") == part).select(*columns) for part in range(parts)], Kept(drawn)


def name_points(names: Names, domain: Domain, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Rows as numbers, with the names of their lattice points. Runs on executors."""
    for batch in batches:
        values = np.stack([arrow_numbers(column) for column in batch.columns])
        row = pa.array(signed(names.rows(to_block(values, domain))))
        yield pa.RecordBatch.from_arrays(
            [*(pa.array(each) for each in values), row], [*(f"v{i}" for i in range(len(values))), "row"]
        )


def draw_parts(names: Names, parts: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same rows with the part that each is in. Runs on executors."""
    for batch in batches:
        row = unsigned(batch.column("row"))
        copy = batch.column("copy").to_numpy(zero_copy_only=False).astype(np.uint64)
        part = (names.parts(row, copy) % np.uint64(parts)).astype(np.int64)
        values = batch.columns[:-2]
        yield pa.RecordBatch.from_arrays([*values, pa.array(part)], [*batch.schema.names[:-2], "part"])


def signed(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.asarray((words ^ SIGN).view(np.int64))


def unsigned(column: pa.Array) -> NDArray[np.uint64]:
    return np.asarray(column.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64) ^ SIGN)


class SparkPeople(RowEngine):
    """How many people have how many rows, counted on the cluster."""

    def __init__(self, table: SparkTable, domain: Domain, person: str, *, key: bytes) -> None:
        super().__init__(domain)
        table.check_person(person)
        self._table, self.unit = table, person
        told = table.frame.select(named(person).alias("who"))
        self._people = told.mapInArrow(partial(name_people, Names(key)), WHO).groupBy("low", "high").count()

    def total(self, query: Query) -> NDArray[np.int64]:
        if not isinstance(query, PeopleByRows):
            return super().total(query)
        sent = self._people.select("count").mapInArrow(partial(send_tally, query), "numbers binary")
        tallies = [np.frombuffer(row[0], dtype="<i8") for row in run_job(sent.collect)]
        self._table.check_unchanged()
        return np.asarray(np.sum([np.zeros(query.size, dtype=np.int64), *tallies], axis=0))

    def _units(self) -> NoReturn:
        raise ParameterError("query", "only the number of people by their rows is known here")


def name_people(names: Names, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The names of the people whose rows these are, if anybody's. Runs on executors."""
    for batch in batches:
        ids = arrow_ids(batch.columns[0])
        low, high = names.people(ids.filter(pa.array(has_id(ids))))
        yield pa.RecordBatch.from_arrays([pa.array(signed(low)), pa.array(signed(high))], ["low", "high"])


def send_tally(query: PeopleByRows, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many people of a partition have how many rows. Runs on executors."""
    total = np.zeros(query.size, dtype=np.int64)
    for batch in batches:
        total += query.tally(batch.columns[0].to_numpy(zero_copy_only=False))
    yield pa.RecordBatch.from_arrays([pa.array([total.astype("<i8").tobytes()], pa.binary())], ["numbers"])
