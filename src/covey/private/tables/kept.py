"""Some rows of a table in memory, as a table of the same kind: for a node, which sends rows of its own on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def some_rows(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Some rows of data in memory, as data of its kind. Of categories only theirs: all of them would tell of others."""
    if hasattr(data, "loc"):
        return _some_of_pandas(data, keep)
    if not hasattr(data, "filter"):
        return (data if isinstance(data, np.ndarray) else np.asarray(data))[keep]
    some = data.filter(keep)
    return _plain_values(some) if type(data).__module__.startswith("pyarrow") else some


def _plain_values(table: Any) -> Any:
    """An Arrow table without dictionaries."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table


def _some_of_pandas(frame: Any, keep: NDArray[np.bool_]) -> Any:
    some = frame[keep].copy()
    for place, kind in enumerate(some.dtypes):
        if str(kind) == "category":
            some.isetitem(place, some.iloc[:, place].cat.remove_unused_categories())
    for name in ("remove_unused_categories", "remove_unused_levels"):
        if hasattr(some.index, name):
            some.index = getattr(some.index, name)()
    return some
