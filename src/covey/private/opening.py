"""The table behind any data that `fit` takes, without reading a row of it; and the cluster, where there is one."""

from __future__ import annotations

from os import PathLike
from typing import Any

from covey.errors import ParameterError
from covey.files import File
from covey.private.tables.base import Table
from covey.private.tables.frames import open_table


def open_data(data: Any, *, engine: str) -> Table:
    """The table behind any data; a path is read by Spark where that is the engine."""
    if engine == "spark" and isinstance(data, str | PathLike):
        if isinstance(data, File) and data.given:
            raise ParameterError(next(iter(data.given)), "says how Covey reads a file; Spark reads it in its own way")
        table: Table = _spark().open_path(data)
        return table
    return open_table(data)


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
        from covey.private.tables import spark
    except ImportError:
        raise ParameterError("engine", "'spark' needs pyspark: pip install 'covey[spark]', and Java 17") from None
    return spark
