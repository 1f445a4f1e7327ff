"""Rows of a Spark DataFrame: integer statistics on the executors, summed; noise is added once, on the driver.

Each partition is turned into exact integers by `mapInArrow`, and the integers are added up. A task that fails, is
retried or runs twice changes nothing: Spark takes one result of each partition, and every attempt computes the same
one. There are no accumulators, and no row leaves an executor, except those of a sample that was asked for, of which
each attempt draws its own. Proof: spark.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from covey.errors import DataError, ParameterError
from covey.noise.source import Source, new_key
from covey.private.engines.base import Sealed
from covey.private.engines.rows import chunk_rows
from covey.private.lattice import to_lattice
from covey.private.tables.folders import Stamp, check_distinct, stamp
from covey.private.tables.frames import Piece, Places, arrow_is_numeric, arrow_numbers, not_numeric
from covey.private.tables.ids import check_name, family_of
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query, Rows
from covey.queries.blocks import BlockCentres
from covey.queries.counts import OccupiedCells
from covey.queries.grid import Grid
from covey.queries.projection import Projection
from covey.queries.tree import TreeLeaves

DENSE = 2**16  # numbers of a statistic that every partition sends as they are; of more, those that are not 0
NODES = 2**22  # of a tree that one pass counts
SENT = 2**16  # pairs of a key and a number in a batch
PAIRS = "key long, number long"
VECTOR = "numbers binary"

Integers = NDArray[np.int64]
RowMap = Callable[[Rows], Rows]
Batches = Iterable[pa.RecordBatch]


def start_session(master: str | None) -> None:
    """The Spark session that paths are read with: the one that is there, or a new one of this cluster."""
    builder = SparkSession.builder.appName("covey")
    (builder if master is None else builder.master(master)).getOrCreate()


def open_path(path: str | os.PathLike[str]) -> SparkTable:
    """Parquet files, a folder or a glob of them, read by Spark."""
    name = os.fspath(path)
    if ".csv" in name.lower():
        raise DataError(
            "data: Spark reads a CSV in its own way; pass the DataFrame of spark.read.csv, or use engine='files'"
        )
    try:
        table = SparkTable(SparkSession.builder.appName("covey").getOrCreate().read.parquet(name))
    except Exception as error:  # Spark's own errors, whose texts are long and may quote what they read
        what = type(error).__name__
        raise DataError(
            f"data: Spark cannot read {name!r} as Parquet ({what}); check the path, on every node"
        ) from None
    check_distinct(local_files(table.stamps))
    return table


def local_files(names: Iterable[str]) -> Iterator[tuple[Path, Stamp]]:
    """Those of the files that are on this machine's own disks: only there does a file tell that it is a link."""
    for name in names:
        where = urlsplit(name)
        if where.scheme == "file":
            with suppress(OSError):
                path = Path(unquote(where.path))
                yield path, stamp(path)


def run_job(job: Callable[[], Any]) -> Any:
    """The answer of a Spark job. Its own errors are long, and may quote what a task was working on."""
    try:
        return job()
    except Exception as error:
        what = f"data: a Spark job failed ({type(error).__name__}); look into the cluster's logs"
        raise DataError(f"{what}. Nothing is published, any charge stays") from None


def input_files(frame: DataFrame) -> list[str]:
    """The files that a frame is made from, as far as it is and Spark tells: Spark Connect does not."""
    return list(frame.inputFiles()) if hasattr(frame.sparkSession, "_jsc") else []


def stamps(frame: DataFrame, files: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """The size of each file and when it was written, as its file system has it; None for one that is not there."""
    found: dict[str, tuple[int, int] | None] = {}
    for name in files:
        session: Any = frame.sparkSession
        try:
            path = session._jvm.org.apache.hadoop.fs.Path(session._jvm.java.net.URI(name))
            status = path.getFileSystem(session._jsc.hadoopConfiguration()).getFileStatus(path)
            found[name] = int(status.getLen()), int(status.getModificationTime())
        except Exception:
            found[name] = None
    return found


def check_sampling(frame: DataFrame) -> None:
    """Refuse to sample where of two attempts the quicker is taken: what an attempt kept would have a say (spark.md)."""
    if str(frame.sparkSession.conf.get("spark.speculation", "false")).lower() == "true":
        raise ParameterError(
            "sample", "with spark.speculation on, which sample is taken may depend on it; switch that off, or sample="
        )


def named(name: str) -> Any:
    """The column of this name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def numbered(names: Sequence[str]) -> list[Any]:
    """These columns as v0, v1, ...: `mapInArrow` cannot take names with dots or backticks."""
    return [named(name).alias(f"v{i}") for i, name in enumerate(names)]


class SparkTable(Sealed):
    """A Spark DataFrame whose rows nobody has looked at yet."""

    on_spark = True

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self.names = tuple(frame.columns)
        self.width = len(self.names)
        self.stamps = stamps(frame, input_files(frame))
        if not self.names:
            raise DataError("data: 0 feature(s): the frame has no columns while a minimum of 1 is required.")
        if len(set(self.names)) < self.width:
            raise DataError("data: several columns of the frame share a name; give each a name of its own")

    def _type(self, name: str) -> Any:
        """The Arrow type of a column, None if it has none that could be a number or an id."""
        try:
            self.frame.select(named(name))
        except Exception:  # by default Spark does not tell x and X apart
            raise DataError(f"data: Spark cannot tell column {name!r} from the others; rename it") from None
        field = self.frame.schema[name].dataType
        plain = (T.NumericType, T.BooleanType, T.StringType, T.BinaryType, T.DateType, T.TimestampType)
        return arrow_type(field) if isinstance(field, plain) else None

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        for name in columns or self.names:
            kind = self._type(name)
            if kind is None or not arrow_is_numeric(kind):
                raise not_numeric(name, self.frame.schema[name].dataType.typeName())

    def check_person(self, person: str) -> None:
        check_name(person, self.names)
        kind = self._type(person)
        family_of(person, pa.null() if kind is None else kind)

    def check_unchanged(self) -> None:
        """Refuse files that are no longer those that were opened: Spark itself would read the new rows in its next job,
        and proofs of several passes are about one set of rows. Rows that do not come from files are not watched."""
        if stamps(self.frame, self.stamps) != self.stamps:
            raise DataError("data: a file changed while Spark read it; nothing is published, any charge stays")

    def rows(self) -> int:
        count = int(run_job(self.frame.count))
        self.check_unchanged()
        return count

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        raise ParameterError("engine", "rows of a Spark DataFrame stay on the cluster: use engine='spark', or a sample")

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> NoReturn:  # noqa: ARG002
        raise ParameterError("sample", "on Spark every row has a coin of its own: give a rate, under add-remove")

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> NoReturn:  # noqa: ARG002
        raise ParameterError("engine", "rows of a Spark DataFrame stay on the cluster: use engine='spark'")


def arrow_type(kind: Any) -> Any:
    """The Arrow type in which Spark hands a column of this type to Python."""
    simple = {
        T.ByteType: pa.int8(),
        T.ShortType: pa.int16(),
        T.IntegerType: pa.int32(),
        T.LongType: pa.int64(),
        T.FloatType: pa.float32(),
        T.DoubleType: pa.float64(),
        T.BooleanType: pa.bool_(),
        T.BinaryType: pa.binary(),
        T.DateType: pa.date32(),
        T.TimestampType: pa.timestamp("us"),
    }
    if isinstance(kind, T.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return pa.string() if isinstance(kind, T.StringType) else simple.get(type(kind))


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

    def _pairs(self, send: Callable[[Batches], Iterator[pa.RecordBatch]]) -> tuple[Integers, Integers]:
        sums = self._numbers().mapInArrow(send, PAIRS).groupBy("key").agg(F.sum("number").alias("number"))
        table = self._run(sums.toArrow)
        keys, numbers = (table.column(name).to_numpy().astype(np.int64) for name in ("key", "number"))
        order = np.argsort(keys)
        return keys[order], numbers[order]

    def totals_by_key(self, query: KeyedQuery) -> tuple[Integers, Integers]:
        return self._pairs(partial(send_keys, self._reading, query))

    def cells(self, grid: Grid) -> tuple[Integers, Integers]:
        return self.totals_by_key(OccupiedCells(grid))

    def remember(self, query: TreeLeaves, counts: Integers) -> None:
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


def read_rows(domain: Domain, maps: tuple[RowMap, ...], batch: pa.RecordBatch) -> Iterator[Rows]:
    """The lattice rows of a batch, in chunks. Runs on executors."""
    numbers = np.stack([arrow_numbers(column) for column in batch.columns])
    rows = to_lattice(numbers, domain)
    step = chunk_rows(domain.dimension, 256)
    for start in range(0, rows.shape[1], step):
        chunk = rows[:, start : start + step]
        for change in maps:
            chunk = change(chunk)
        yield chunk


def send_totals(read: Callable[[Any], Iterator[Rows]], query: Query, batches: Batches) -> Iterator[pa.RecordBatch]:
    """One partition's exact statistic. Runs on executors."""
    out = _added(read, query, batches)
    yield pa.RecordBatch.from_arrays([pa.array([out.astype("<i8").tobytes()], pa.binary())], ["numbers"])


def send_pairs(read: Callable[[Any], Iterator[Rows]], query: Query, batches: Batches) -> Iterator[pa.RecordBatch]:
    """One partition's exact statistic, without its zeros. Runs on executors."""
    out = _added(read, query, batches)
    keys = np.flatnonzero(out)
    yield from _in_pairs(keys, out[keys])


def send_keys(read: Callable[[Any], Iterator[Rows]], query: KeyedQuery, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Keys and how many rows have them, batch by batch. Runs on executors."""
    for batch in batches:
        for rows in read(batch):
            yield from _in_pairs(*np.unique(query.keys(rows), return_counts=True))


def _added(read: Callable[[Any], Iterator[Rows]], query: Query, batches: Batches) -> Integers:
    out = np.zeros(query.size, dtype=np.int64)
    for batch in batches:
        for rows in read(batch):
            query.accumulate(rows, out)
    return out


def _in_pairs(keys: Integers, numbers: Integers) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(keys), SENT):
        some = slice(start, start + SENT)
        arrays = [pa.array(each[some].astype(np.int64)) for each in (keys, numbers)]
        yield pa.RecordBatch.from_arrays(arrays, ["key", "number"])
