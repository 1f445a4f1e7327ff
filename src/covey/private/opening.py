"""Which engine answers for a table: rows in memory, streamed from files, or on a Spark cluster."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from os import PathLike
from typing import Any

from covey.errors import ParameterError
from covey.noise.source import Source
from covey.private.engines.base import Engine
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.narrowed.cap import CappedTable, PeopleCount
from covey.private.narrowed.thin import SampledTable
from covey.private.tables.frames import Table, open_table
from covey.public import Domain

ENGINES = ("memory", "files", "spark")


def open_data(data: Any, *, engine: str) -> Table:
    """The table behind any data that `fit` takes, without reading a row of it."""
    if engine == "spark" and isinstance(data, str | PathLike):
        table: Table = _spark().open_path(data)
        return table
    return open_table(data)


def check_engine(wanted: str, table: Table, *, what: str, engines: tuple[str, ...], sampled: bool = False) -> None:
    """Refuse an engine that cannot read this table, or on which `what` cannot run, before any charge.

    sampled : whether only a sample is worked on. That is brought into memory, so that everything can run.
    """
    if on_spark(table):
        if wanted not in ("auto", "spark"):
            raise ParameterError("engine", "a Spark DataFrame stays on its cluster: use engine='spark' or 'auto'")
        if "spark" not in engines and not sampled:
            raise ParameterError(
                "engine", f"{what!r} needs all rows in memory: use 'auto', 'grid' or 'lloyd', or sample= to bring some"
            )
        return
    if wanted == "spark":
        raise ParameterError("engine", "'spark' reads Parquet paths and Spark DataFrames; these rows need 'memory'")
    if wanted == "files" and not _streamed(table):
        raise ParameterError("engine", "'files' reads paths; rows that are in memory already need engine='memory'")
    if wanted != "auto" and wanted not in engines:
        options = ", ".join(map(repr, ("auto", *engines)))
        raise ParameterError("engine", f"{what!r} runs on {options}")


def open_engine(wanted: str, table: Table, domain: Domain, *, engines: tuple[str, ...] = ENGINES) -> Engine:
    """The engine of a table. Files are streamed where `engines` allow it, and read into memory otherwise."""
    if on_spark(table):
        engine: Engine = _spark().SparkEngine(
            table.frame,  # type: ignore[attr-defined]
            domain,
            held=table,
            finish=table.check_unchanged,
        )
        return engine
    if wanted != "memory" and _streamed(table) and "files" in engines:
        return StreamEngine(table, domain)
    return MemoryEngine(table, domain)


def poisson_sample(table: Table, columns: Sequence[str] | None, *, rate: Fraction, source: Source) -> Table:
    """Every row by a coin of its own, of exactly this rate; in memory once it is read."""
    if on_spark(table):
        sample: Table = _spark_people().SparkSample(table, columns, rate=rate, source=source)
        return sample
    return SampledTable.poisson(table, rate=rate, source=source)


def check_sampling(table: Table) -> None:
    """Refuse to sample where that is not private, before any charge."""
    if on_spark(table):
        _spark().check_sampling(table.frame)  # type: ignore[attr-defined]


def cap_rows(table: Table, domain: Domain, person: str, *, most: int, key: bytes) -> Table:
    """At most `most` rows of every person."""
    if on_spark(table):
        kept: Table = _spark_people().SparkCapped(table, domain, person, most=most, key=key)
        return kept
    return CappedTable(table, domain, person, most=most, key=key)


def people_engine(table: Table, domain: Domain, person: str, *, key: bytes) -> Engine:
    """What knows how many people have how many rows."""
    if on_spark(table):
        engine: Engine = _spark_people().SparkPeople(table, domain, person, key=key)
        return engine
    return PeopleCount(table, domain, person, key=key)


def on_spark(table: Table) -> bool:
    """Whether the rows are on a cluster."""
    return bool(getattr(table, "on_spark", False))


def _streamed(table: Table) -> bool:
    """Whether the table is in files, and can be read again and again."""
    return bool(getattr(table, "streamed", False))


def start_spark(master: str | None) -> None:
    """Start or find the cluster, before anything is charged."""
    spark = _spark()
    try:
        spark.start_session(master)
    except Exception as error:  # Spark's own errors are long
        what = f"Spark could not be started ({type(error).__name__}); check --master and Java"
        raise ParameterError("engine", what) from None


def _spark() -> Any:
    try:
        from covey.private.engines import spark
    except ImportError:
        raise ParameterError("engine", "'spark' needs pyspark: pip install 'covey[spark]', and Java 17") from None
    return spark


def _spark_people() -> Any:
    from covey.private.narrowed import spark as spark_people

    return spark_people
