"""Dates as steps around a circle: the minute of the day or the day of the week, by the wall clock as it was written.

Each cell is read by itself, in whole numbers; what is no date is missing (-1), and nothing raises because of a cell.
Text is ISO 8601: 2024-05-01, 2024-05-01T08:15, 2024-05-01 08:15:30.5+02:00, 08:15. Offsets are not followed: 08:15 is
08:15 wherever it was written. Arrow timestamps of a time zone are told by the clock of that zone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from covey.errors import NotNumericError

MINUTE = {"s": 60, "ms": 60_000, "us": 60_000_000, "ns": 60_000_000_000}
DAY = 1440
MILLISECONDS = 86_400_000  # of a day
THURSDAY = 3  # 1970-01-01, where Monday is 0
FARTHEST = 2**33  # seconds from 1970: what time zones are known for
_ZONE = rb"(?:\s*(?:[Zz]|[+-]\d\d(?::?\d\d)?))?"
_TIME = rb"(\d\d):?(\d\d)(?::?\d\d(?:[.,]\d+)?)?" + _ZONE
_TEXT = re.compile(rb"\s*(?:(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ]" + _TIME + rb")?|(\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?)\s*")

Steps = NDArray[np.int64]


def check_dates(column: str, kind: Any) -> None:
    """Refuse a column that holds no dates, by its type; and a time zone that this machine does not know."""
    types = pa.types
    if types.is_timestamp(kind) and kind.tz is not None:
        try:
            pc.local_timestamp(pa.array([0], kind))
        except pa.ArrowException:
            raise NotNumericError(f"bounds: the time zone of column {column!r} is not known here; convert it") from None
    if not (types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind) or _text(kind)):
        raise _no_dates(column, kind)


def _no_dates(column: str, kind: object) -> NotNumericError:
    return NotNumericError(f"bounds: column {column!r} holds no dates or times (it is {kind}); convert it first")


def _text(kind: Any) -> bool:
    types = pa.types
    plain = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_null)
    return any(each(kind) for each in plain) or types.is_string_view(kind) or types.is_binary_view(kind)


def steps(cells: Any, kind: str) -> Steps:
    """Where each cell of an Arrow column is on the circle of this kind, "hour" or "weekday"; -1 for what is missing."""
    if isinstance(cells, pa.ChunkedArray):  # one by one: joined, long texts may be more than an array of Arrow's holds
        return np.concatenate([np.empty(0, np.int64), *(steps(chunk, kind) for chunk in cells.chunks)])
    types = pa.types
    if types.is_null(cells.type):
        return np.full(len(cells), -1)
    if _text(cells.type):
        return _of_texts(cells, kind)
    if types.is_time(cells.type):
        minutes, known = _whole(cells, MINUTE[cells.type.unit])
        return np.where(known & (kind == "hour"), minutes % DAY, -1)
    if types.is_date(cells.type):
        days, known = _whole(cells, 1 if types.is_date32(cells.type) else MILLISECONDS)
        return _around(days * DAY, known, kind)
    if cells.type.tz is not None:
        cells = _local(cells)
    return _around(*_whole(cells, MINUTE[cells.type.unit]), kind)


def _whole(cells: Any, unit: int) -> tuple[Steps, NDArray[np.bool_]]:
    """The whole numbers behind cells, rounded down to multiples of a unit; and which of them are there."""
    known = ~np.asarray(cells.is_null())
    width = pa.int32() if cells.type.bit_width == 32 else pa.int64()
    numbers = cells.view(width).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers // unit, known


def _local(cells: Any) -> Any:
    """Times of a zone by its own clock; those beyond what zones are known for are missing."""
    numbers, known = _whole(cells, MINUTE[cells.type.unit] // 60)
    near = pa.array(known & (numbers > -FARTHEST) & (numbers < FARTHEST))
    return pc.local_timestamp(pc.if_else(near, cells, pa.scalar(None, cells.type)))


def _around(minutes: Steps, known: NDArray[np.bool_], kind: str) -> Steps:
    """Minutes since 1970 on the circle."""
    found = minutes % DAY if kind == "hour" else (minutes // DAY + THURSDAY) % 7
    return np.where(known, found, -1)


def _of_texts(cells: Any, kind: str) -> Steps:
    known = cells.dictionary_encode()
    words = known.dictionary.cast(pa.large_binary()) if not pa.types.is_large_binary(cells.type) else known.dictionary
    table = np.array([*(_of_text(each, kind) for each in words.to_pylist()), -1], dtype=np.int64)
    return np.asarray(table[known.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)])


def _of_text(text: bytes | None, kind: str) -> int:
    """A single cell of text."""
    found = None if text is None or len(text) > 64 else _TEXT.fullmatch(text)
    if found is None:
        return -1
    year, month, day, *clock = found.groups()
    hour, minute = (int(each) for each in ((clock[2], clock[3]) if year is None else (clock[0] or 0, clock[1] or 0)))
    if hour > 23 or minute > 59:
        return -1
    if year is None:
        return 60 * hour + minute if kind == "hour" else -1
    try:
        date = datetime.date(int(year), int(month), int(day))
    except ValueError:
        return -1
    return 60 * hour + minute if kind == "hour" else date.weekday()


def pandas_dates(series: Any, name: str) -> Callable[[Any], Any]:
    """What reads some of a pandas column of dates. Objects and categories are read as they would be written."""
    kind = str(series.dtype)
    if kind in ("object", "category") or getattr(series.dtype, "storage", None) == "python":  # what Arrow may refuse
        return lambda places: pa.array(map(_as_written, series.iloc[places].to_numpy(dtype=object)), pa.large_binary())
    try:
        check_dates(name, pa.array(series.iloc[:0], from_pandas=True).type)
    except pa.ArrowException:  # of a type that Arrow does not have
        raise _no_dates(name, kind.partition("[")[0]) from None
    return lambda places: pa.array(series.iloc[places], from_pandas=True)


def polars_dates(series: Any, name: str) -> Callable[[Any], Any]:
    try:
        kind = series[:0].to_arrow().type
    except pa.ArrowException:
        raise _no_dates(name, str(series.dtype)) from None
    check_dates(name, kind)
    return lambda places: series[places].to_arrow()


def _as_written(cell: Any) -> bytes | None:
    """A date or time in its ISO form, a text as it is; None for all else."""
    try:
        text = cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else cell
        return text.encode(errors="replace") if isinstance(text, str) else None
    except Exception:  # whatever an object's own method raises
        return None
