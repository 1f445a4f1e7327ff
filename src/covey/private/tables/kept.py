"""Some rows of a table in memory, as a table of the same kind: for a node, which sends rows of its own on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError


def some_rows(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Some rows of data in memory, as data of its kind. Of categories only theirs: all of them would tell of others."""
    if hasattr(data, "loc"):
        return _some_of_pandas(data, keep)
    if not hasattr(data, "filter"):
        return (data if isinstance(data, np.ndarray) else np.asarray(data))[keep]
    some = data.filter(keep)
    return _plain_values(some) if type(data).__module__.startswith("pyarrow") else _plain_texts(some)


def _plain_values(table: Any) -> Any:
    """An Arrow table without dictionaries."""
    for place, field in enumerate(table.schema):
        table = table.set_column(place, field.name, table.column(place).cast(_plain(field.name, field.type)))
    return table


def _plain(name: str, kind: Any) -> Any:
    """An Arrow type without a dictionary."""
    import pyarrow as pa

    _refuse_inner(name, inner=pa.types.is_nested(kind) and "dictionary<" in str(kind))
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _refuse_inner(name: object, *, inner: bool) -> None:
    if inner:
        raise DataError(f"points: column {name!r} holds categories in lists or structures; leave it out")


def _plain_texts(frame: Any) -> Any:
    """A polars frame without a type that lists its values."""
    for name, kind in frame.schema.items():
        _refuse_inner(name, inner=kind.is_nested() and any(each in str(kind) for each in ("Categorical", "Enum")))
    return frame.cast({name: str for name, kind in frame.schema.items() if str(kind.base_type()) == "Enum"})


def _some_of_pandas(frame: Any, keep: NDArray[np.bool_]) -> Any:
    some = frame[keep].copy()
    for place, kind in enumerate(some.dtypes):
        column = some.iloc[:, place]
        if str(kind) == "category":
            some.isetitem(place, column.cat.remove_unused_categories())
        elif hasattr(kind, "pyarrow_dtype"):
            some.isetitem(place, column.astype(type(kind)(_plain(some.columns[place], kind.pyarrow_dtype))))
    for name in ("remove_unused_categories", "remove_unused_levels"):
        if hasattr(some.index, name):
            some.index = getattr(some.index, name)()
    return some
