"""The cells of a profile that rows fall into, as numbers from 0: total maps of single values. Proof: coded.md.

Whatever a value is (null, NaN, a text of any length, an object of any kind), it has a cell, the last one if it is in no
other; and nothing raises because of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.tables.dates import steps
from covey.private.tables.ids import PLAIN, arrow_ids, digits, family, pandas_ids
from covey.published.profile.columns import CATEGORY, HOUR, NUMBER, Column

UNKNOWN = pa.list_(pa.null())  # a type that no category has
BEYOND = 10**400  # no float is: digits of a Decimal with a huge exponent would take for ever
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


def codes(column: Column, values: Any) -> NDArray[np.float64]:
    """The number of each value's cell. Of numbers, values are float64; else an Arrow column."""
    last = len(column.cells) - 1
    if column.kind == NUMBER:
        found = np.clip(np.searchsorted(np.array(column.edges), values, side="right") - 1, 0, last - 1)
        return np.where(np.isnan(values), last, found).astype(np.float64)
    if column.kind == CATEGORY:
        return _places(column.cells[:-1], values, last)
    around = steps(values, column.kind)
    return np.where(around < 0, last, around // 60 if column.kind == HOUR else around).astype(np.float64)


def _places(names: list[str], values: Any, last: int) -> NDArray[np.float64]:
    ids = pa.nulls(len(values), PLAIN) if pa.types.is_null(values.type) else arrow_ids(values)
    whole = pa.types.is_integer(ids.type)
    known = [_whole(each) if whole else each.encode() for each in names]
    place = {each: number for number, each in enumerate(known) if each is not None}
    found = pc.index_in(ids, value_set=pa.array(list(place), ids.type))
    where = np.array([*place.values(), last], dtype=np.float64)
    return np.asarray(where[found.fill_null(len(place)).to_numpy(zero_copy_only=False)])


def _whole(name: str) -> int | None:
    """The whole number of 64 bits that a text is, as it is written."""
    number = int(name) if _WHOLE.fullmatch(name) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def check_categories(name: str, kind: Any) -> None:
    """Refuse a column whose values are neither texts nor numbers, by its type."""
    if family(kind) is None and not pa.types.is_null(kind):
        raise ParameterError("columns", f"column {name!r} holds neither texts nor whole numbers, as categories are")


def pandas_categories(series: Any, name: str) -> Callable[[Any], Any]:
    """What reads some of a pandas column. Of one of Python objects, each is read by itself, whatever the others are."""
    if str(series.dtype) == "category":
        kinds, numbers = series.cat.categories.to_series(), series.cat.codes.to_numpy()
        known = pandas_categories(kinds, name)(slice(0, len(kinds)))
        return lambda places: known.take(pa.array(numbers[places], mask=numbers[places] < 0))
    if str(series.dtype) == "object" or getattr(series.dtype, "storage", None) == "python":  # what Arrow may refuse
        return lambda places: pa.array(map(_as_bytes, series.iloc[places].to_numpy(dtype=object)), PLAIN)
    try:
        check_categories(name, pa.Array.from_pandas(series.iloc[:0]).type)
    except (pa.ArrowException, TypeError, ValueError):
        check_categories(name, UNKNOWN)
    return pandas_ids(series, name)


def polars_categories(series: Any, name: str) -> Callable[[Any], Any]:
    strange = str(series.dtype) in ("Object", "Int128", "UInt128")
    check_categories(name, UNKNOWN if strange else series[:0].to_arrow().type)
    return lambda places: series[places].to_arrow()


def _as_bytes(cell: Any) -> bytes | None:
    """A text or a whole number of Python's, as it is written; None for all else."""
    try:
        if isinstance(cell, str):
            return cell.encode(errors="replace")
        if isinstance(cell, bytes):
            return bytes(cell)
        if isinstance(cell, int | np.integer):
            return digits(int(cell))
        return digits(int(cell)) if -BEYOND < cell < BEYOND and cell == int(cell) else None
    except Exception:  # whatever an object's own methods raise
        return None
