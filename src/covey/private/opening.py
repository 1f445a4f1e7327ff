"""The table behind any data that `fit` takes, without reading a row of it; and the cluster, where there is one."""

from __future__ import annotations

from os import PathLike
from typing import Any

from covey.errors import DataError, ParameterError, need
from covey.files import File
from covey.private.tables.base import Table
from covey.private.tables.frames import open_table
from covey.private.tables.late import LateTable
from covey.private.tables.whose import IdTable


def open_data(data: Any, *, engine: str) -> Table:
    """The table behind any data; a path is read by Spark where that is the engine."""
    if engine == "spark" and isinstance(data, str | PathLike):
        if isinstance(data, File) and data.given:
            raise ParameterError(next(iter(data.given)), "says how Covey reads a file; Spark reads it in its own way")
        table: Table = _spark().open_path(data)
        return table
    return open_table(data)


def open_once(data: Any) -> Any:
    """Data that can be opened again and again: of a stream, which can be read once, the table that it is."""
    late = hasattr(data, "__arrow_c_stream__") and isinstance(table := open_table(data), LateTable)
    return table if late else data


def check_names(data: Any) -> None:
    """Refuse a pandas frame whose columns are named by text and by other things: scikit-learn takes all or none."""
    names = getattr(data, "columns", ()) if hasattr(data, "iloc") else ()
    if len({isinstance(name, str) for name in names}) > 1:
        raise DataError("data: some names of columns are text and some are not; scikit-learn takes all or none")


def whose(column: Any, ids: Any) -> Any:
    """The column of a model that says whose a row is, or the ids that came with the rows, which no model keeps."""
    if not (column is None or isinstance(column, str)):
        raise ParameterError("person", "is the name of a column; ids go to fit(X, person=ids), not into the model")
    if column is not None and ids is not None:
        raise ParameterError("person", "is given twice: as the name of a column, and to fit")
    return column if ids is None else ids


def with_ids(data: Any, person: Any) -> tuple[Any, str | None]:
    """Data, and the name of its column of people: where that is an array of ids, it becomes a column of the data."""
    if person is None or isinstance(person, str):
        return data, person
    table = IdTable(open_table(data), person)
    return table, table.name


def start_spark(master: str | None) -> None:
    """Start or find the cluster, before anything is charged."""
    spark = _spark()
    try:
        spark.start_session(master)
    except Exception as error:  # Spark's own errors are long
        what = f"Spark could not be started ({type(error).__name__}); check --master and Java"
        raise ParameterError("engine", what) from None


def _spark() -> Any:
    need("spark", "engine: 'spark'")
    from covey.private.tables import spark

    return spark
