"""Spark DataFrames as tables: their rows stay on the cluster, and only a sample comes to this machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from covey.errors import DataError, ParameterError
from covey.geo.clock import hand
from covey.noise.source import Source
from covey.private.engines.base import Engine
from covey.private.tables.base import ENGINES, Piece, Table, not_numeric
from covey.private.tables.coded import UNKNOWN, Coded, Letters, check_categories, codes, letters
from covey.private.tables.folders import Stamp, check_distinct, stamp
from covey.private.tables.frames import arrow_is_numeric, arrow_numbers
from covey.private.tables.ids import check_name, family_of
from covey.public import Domain, Neighbours
from covey.published.profile.columns import HOUR, NUMBER, WEEKDAY

Stamps = frozenset[tuple[str, int, int]]
GLOB = re.compile(r"[\\{}\[\]*?]")  # what a path of Spark's readers has for patterns


def start_session(master: str | None) -> None:
    """The Spark session that paths are read with: the one that is there, or a new one of this cluster.

    Workers on this machine run this Python, which has Covey, unless PYSPARK_PYTHON names another.
    """
    if master is not None and master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
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
        session = SparkSession.builder.appName("covey").getOrCreate()
        table = SparkTable(session.read.parquet(name))
    except Exception as error:  # Spark's own errors, whose texts are long and may quote what they read
        what = type(error).__name__
        raise DataError(
            f"data: Spark cannot read {name!r} as Parquet ({what}); check the path, on every node"
        ) from None
    check_distinct(local_files(table.files))
    if "{" in name and counts_twice(session, name):
        raise DataError(
            f"data: several of the choices in {name!r} may stand for the same file, whose rows would count twice; "
            "write a pattern that names each once"
        )
    return table


def list_files(session: SparkSession, *paths: str) -> list[tuple[str, int, int]]:
    """The name, size and time of writing of every file that these paths stand for, as often as Spark would read it.

    Spark says so of the rows that it makes of whole files; no file is opened for it.
    """
    files = session.read.format("binaryFile").load(list(paths))
    written = F.unix_micros("_metadata.file_modification_time")
    return [tuple(row) for row in files.select("_metadata.file_path", "_metadata.file_size", written).collect()]


def counts_twice(session: SparkSession, pattern: str) -> bool:
    """Whether Spark reads a file as often as choices such as {a/*,a/b} name it; yes, where it does not tell."""
    try:
        read = list_files(session, pattern)
    except Exception:
        return True
    return len(set(read)) < len(read)


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
    """The files that a frame is made from, as far as it is and Spark tells."""
    try:
        return list(frame.inputFiles())
    except Exception:
        return []


def stamps(session: SparkSession, files: Sequence[str]) -> Stamps | None:
    """The size of each file and when it was written, as its file system has it; None if one of them is not there."""
    plain = [GLOB.sub(r"\\\g<0>", unquote(name)) for name in files]
    try:
        return frozenset(list_files(session, *plain)) if plain else frozenset()
    except Exception:
        return None


def named(name: str) -> Any:
    """The column of this name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def numbered(names: Sequence[str]) -> list[Any]:
    """These columns as v0, v1, ...: `mapInArrow` cannot take names with dots or backticks."""
    return [named(name).alias(f"v{i}") for i, name in enumerate(names)]


class SparkTable(Table):
    """A Spark DataFrame whose rows nobody has looked at yet. They stay on the cluster, but for a sample."""

    local = False
    names: tuple[str, ...]

    def __init__(self, frame: DataFrame, *, source: SparkTable | None = None) -> None:
        """source : the table whose rows the frame is made of, whose files are watched then."""
        self.frame = frame
        self.names = tuple(frame.columns)
        self.width = len(self.names)
        self.files: list[str] = input_files(frame) if source is None else source.files
        self.stamps: Stamps | None = stamps(frame.sparkSession, self.files) if source is None else source.stamps
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
            if hand(name) is not None:
                raise ParameterError("bounds", "hour() and weekday() are read in memory and from files, not on Spark")
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
        if stamps(self.frame.sparkSession, self.files) != self.stamps:
            raise DataError("data: a file changed while Spark read it; nothing is published, any charge stays")

    def rows(self) -> int:
        count = int(run_job(self.frame.count))
        self.check_unchanged()
        return count

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        raise ParameterError("engine", "rows of a Spark DataFrame stay on the cluster: use engine='spark', or a sample")

    def check_fit(
        self,
        *,
        engine: str,
        engines: tuple[str, ...],
        what: str,
        sampled: bool = False,
        zoned: bool = False,
        relation: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        if engine not in ("auto", "spark"):
            raise ParameterError("engine", "a Spark DataFrame stays on its cluster: use engine='spark' or 'auto'")
        if "spark" not in engines and not sampled:
            raise ParameterError(
                "engine",
                f"{what!r} needs rows in one place: use 'auto', 'grid' or 'lloyd', a path with engine='files', "
                "or sample= to bring some",
            )
        if zoned:
            raise ParameterError(
                "zones", "throw a coin for each place in a table, and rows on Spark have none: use engine='files'"
            )
        if sampled and relation is Neighbours.REPLACE_ONE:
            raise ParameterError("sample", "on Spark a sample is drawn by coins: use add-remove, or engine='files'")
        if sampled and speculates(self.frame):
            raise ParameterError(
                "sample", "with spark.speculation on, which sample is taken may depend on it; switch off one of them"
            )

    def engine(self, wanted: str, domain: Domain, *, engines: tuple[str, ...] = ENGINES) -> Engine:  # noqa: ARG002
        from covey.private.engines.spark import SparkEngine

        return SparkEngine(self.frame, domain, held=self, finish=self.check_unchanged)

    def complete(self, domain: Domain) -> Table:
        """As elsewhere: a null is missing, and so is what a column of floating-point numbers holds as NaN."""
        frame = self.frame
        for name in domain.columns or self.names:
            frame = frame.filter(named(name).isNotNull())
            if isinstance(self.frame.schema[name].dataType, T.FloatType | T.DoubleType):
                frame = frame.filter(~F.isnan(named(name)))
        return SparkTable(frame, source=self)

    def coded(self, columns: Mapping[str, Coded]) -> SparkTable:
        """The columns that may be numbers or ids, and the codes of others, which the executors make of single values.
        What cannot be coded is refused now: by its type."""
        for each in columns.values():
            kind = self._type(each.source)
            if each.kind in (HOUR, WEEKDAY):
                raise ParameterError("columns", "hour() and weekday() are read in memory and from files, not on Spark")
            if each.kind == NUMBER and (kind is None or not arrow_is_numeric(kind)):
                raise not_numeric(each.source, self.frame.schema[each.source].dataType.typeName())
            if each.kind != NUMBER:
                check_categories(each.source, UNKNOWN if kind is None else kind)
        kept = [name for name in self.names if self._type(name) is not None]
        types = [self.frame.schema[name].dataType for name in kept] + [T.DoubleType()] * len(columns)
        fields = [T.StructField(f"v{place}", kind) for place, kind in enumerate(types)]
        wanted = [(kept.index(each.source), each) for each in columns.values()]
        wider = self.frame.select(*numbered(kept)).mapInArrow(partial(with_codes, wanted), T.StructType(fields))
        return SparkTable(wider.toDF(*kept, *columns), source=self)

    def people(self, domain: Domain, person: str, *, key: bytes) -> Engine:
        from covey.private.narrowed.spark import SparkPeople

        return SparkPeople(self, domain, person, key=key)

    def capped(self, domain: Domain, person: str, *, most: int, key: bytes) -> Table:
        from covey.private.narrowed.spark import SparkCapped

        return SparkCapped(self, domain, person, most=most, key=key)

    def sampled(self, domain: Domain, *, rate: Fraction, source: Source) -> Table:
        """As elsewhere, brought to the driver; a sample of everybody too."""
        from covey.private.narrowed.spark import SparkSample

        return SparkSample(self, domain.columns, rate=rate, source=source)


def with_codes(wanted: Sequence[tuple[int, Coded]], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches with the codes of some of their columns behind them. Runs on executors."""
    for batch in batches:
        spelled = {place: letters(batch.column(place)) for place, each in wanted if isinstance(each, Letters)}
        found = [
            spelled[place][each.place]
            if isinstance(each, Letters)
            else codes(each, arrow_numbers(cells) if each.kind == NUMBER else cells)
            for place, each, cells in ((place, each, batch.column(place)) for place, each in wanted)
        ]
        names = [f"v{place}" for place in range(batch.num_columns + len(found))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *map(pa.array, found)], names)


def speculates(frame: DataFrame) -> bool:
    """Whether of two attempts the quicker is taken: what an attempt kept of a sample would have a say (spark.md)."""
    return str(frame.sparkSession.conf.get("spark.speculation", "false")).lower() == "true"


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
