"""The cells of a profile that rows fall into, as numbers from 0: total maps of single values. Proof: coded.md.

Whatever a value is (null, NaN, a text of any length, an object of any kind), it has a cell, the last one if it is in no
other; and nothing raises because of it. Where categories are still to be found, a value is the letters of its text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.tables.dates import steps
from covey.private.tables.ids import PLAIN, digits, family
from covey.published.profile.columns import CATEGORY, HOUR, NUMBER, PRIVATE, Column, spelling
from covey.queries.profile import PAIRS, TEXT_BYTES

UNKNOWN = pa.list_(pa.null())  # a type that no category has
BEYOND = 10**400  # no float is: digits of a Decimal with a huge exponent would take for ever
MOST_DIGITS = 400
NO_PLACE = "�"  # for a character that cannot be shown

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Letters:
    """Two of the letters of a column's texts, as a column of numbers: the pair at this place."""

    source: str
    place: int
    kind: str = PRIVATE


Coded = Column | Letters


def codes(column: Column, values: Any) -> Floats:
    """The number of each value's cell. Of numbers, values are float64; else an Arrow column."""
    last = len(column.cells) - 1
    if column.kind == NUMBER:
        found = np.clip(np.searchsorted(np.array(column.edges), values, side="right") - 1, 0, last - 1)
        return np.where(np.isnan(values), last, found).astype(np.float64)
    if column.kind == CATEGORY:
        place = {name: float(number) for number, name in enumerate(column.cells[:-1])}
        return _of_texts(values, lambda text: place.get(text, float(last)), nothing=float(last))
    around = steps(values, column.kind)
    return np.where(around < 0, last, around // 60 if column.kind == HOUR else around).astype(np.float64)


def letters(values: Any) -> Floats:
    """The texts of values, cut to a public length, two bytes a number: (pairs, rows). No text is all zeros."""
    return _of_texts(values, _pairs, nothing=np.zeros(PAIRS)).T


def _pairs(text: str) -> Floats:
    shown = "".join(each if each.isprintable() else NO_PLACE for each in text[:TEXT_BYTES])
    cut = shown.encode()[:TEXT_BYTES].decode(errors="ignore").encode()  # no half of a letter
    return np.frombuffer(cut.ljust(TEXT_BYTES, b"\0"), dtype=">u2").astype(np.float64)


def _of_texts(values: Any, told: Callable[[str], Any], *, nothing: Any) -> Floats:
    """What is told of the text of each value: of every different one once, in a table of them."""
    parts = [np.empty((0, *np.shape(nothing)))]
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        coded = chunk if pa.types.is_dictionary(chunk.type) else _readable(chunk).dictionary_encode()
        texts = map(written, _readable(coded.dictionary).to_pylist())
        table = np.array([*(nothing if text is None else told(text) for text in texts), nothing])
        places = coded.indices.cast(pa.int64()).fill_null(len(table) - 1)  # a place more than narrow indices may know
        parts.append(table[places.to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)


def _readable(values: Any) -> Any:
    """Texts as bytes, which may be no UTF-8, and all floating-point numbers of one width: no value is refused later."""
    if family(values.type) == "text":
        return values.cast(PLAIN)
    if pa.types.is_decimal(values.type):  # Arrow makes no dictionary of those of 32 and 64 bits
        return values.cast(pa.decimal256(values.type.precision, values.type.scale))
    return values.cast(pa.float64()) if pa.types.is_floating(values.type) else values


def written(value: Any) -> str | None:
    """The text of a category, the same from every kind of table (coded.md); None for what is no text and no number."""
    try:
        if isinstance(value, bytes | str):
            text = bytes(value) if isinstance(value, bytes) else str.encode(value, errors="surrogatepass")
            return spelling(bytes.decode(text, errors="replace")) or None
        if isinstance(value, bool | np.bool_):
            return "true" if value else "false"
        if isinstance(value, int | np.integer):
            return digits(int(value)).decode()
        if isinstance(value, Decimal):
            return spelling(f"{value:f}") if value.is_finite() and abs(value.adjusted()) < MOST_DIGITS else None
        if isinstance(value, float | np.floating):
            number = float(value)
            return (
                digits(int(number)).decode() if number.is_integer() else repr(number) if np.isfinite(number) else None
            )
        return digits(int(value)).decode() if -BEYOND < value < BEYOND and value == int(value) else None
    except Exception:  # whatever an object's own methods raise
        return None


def check_categories(name: str, kind: Any) -> None:
    """Refuse a column whose values are neither texts nor numbers, by its type."""
    if family(kind) is None and not pa.types.is_null(kind):
        raise ParameterError("columns", f"column {name!r} holds neither texts nor numbers, as categories are")


def remembered(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A reader that reads the same places once, if it is asked for them again and again: each thread for itself."""
    last = threading.local()

    def again(places: Any) -> Any:
        if getattr(last, "places", None) is not places:
            last.values, last.places = read(places), places
        return last.values

    return again


def pandas_categories(series: Any, name: str) -> Callable[[Any], Any]:
    """What reads some of a pandas column. Of one of Python objects, each is read by itself, whatever the others are."""
    if str(series.dtype) == "category":
        kinds, numbers = series.cat.categories.to_series(), series.cat.codes.to_numpy()
        known = pandas_categories(kinds, name)(slice(0, len(kinds)))
        return lambda places: known.take(pa.array(numbers[places], mask=numbers[places] < 0))
    if str(series.dtype) == "object" or getattr(series.dtype, "storage", None) == "python":  # what Arrow may refuse
        return lambda places: pa.array(map(written, series.iloc[places].to_numpy(dtype=object)), pa.large_string())
    try:
        check_categories(name, pa.Array.from_pandas(series.iloc[:0]).type)
    except (pa.ArrowException, TypeError, ValueError):
        check_categories(name, UNKNOWN)
    return lambda places: pa.Array.from_pandas(series.iloc[places])


def polars_categories(series: Any, name: str) -> Callable[[Any], Any]:
    strange = str(series.dtype) in ("Object", "Int128", "UInt128")
    check_categories(name, UNKNOWN if strange else series[:0].to_arrow().type)
    return lambda places: series[places].to_arrow()
