"""Who a row belongs to: a person column of any table, as Arrow arrays of one of two types.

Whole numbers and booleans become int64; text, bytes and decimals become large_binary, and so do pieces with numbers
that int64 does not hold, told as text: 2^63 by its digits, 0.5 as no whole number is. Cells are equal ids if and only
if they are equal, in whichever piece or file they stand, whatever its type; a number without a fraction is the same id
as the whole number. Missing values, NaN among them, are null. A row whose id is null or an empty text is nobody's, and
never counts. No message repeats an id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from covey.checks import no_column
from covey.errors import ParameterError

Ids = Any  # a pyarrow.Array of int64 or large_binary
PieceWithIds = Callable[[], tuple[NDArray[np.float64], Ids]]
WHOLE = 2.0**63
LARGEST = pa.scalar(2**63 - 1, pa.uint64())
PLAIN = pa.large_binary()


def check_name(person: str, names: Sequence[str]) -> None:
    """Refuse a column that is not there, or is there twice."""
    if names.count(person) == 0:
        raise ParameterError("person", no_column(person, names))
    if names.count(person) > 1:
        raise ParameterError("person", f"the data has several columns {person!r}; give each a name of its own")


def unsupported(person: str, kind: str) -> ParameterError:
    return ParameterError("person", f"column {person!r} holds {kind}; it must hold one number or one text for each row")


def family(kind: Any) -> str | None:
    """Columns of one family have ids that can be compared; None if they are no ids at all."""
    types = pa.types
    if types.is_dictionary(kind):
        return family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return "numbers"
    if types.is_decimal(kind):
        return f"decimals of {kind.scale} digits"  # 7 and 7.00 would be two people
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if any(each(kind) for each in texts) or types.is_string_view(kind) or types.is_binary_view(kind):
        return "text"
    return None


def family_of(person: str, kind: Any) -> str:
    """The family of a column, or a refusal that names what it holds in general terms."""
    found = family(kind)
    if found is None:
        types = pa.types
        what = "lists or structures" if types.is_nested(kind) else "dates or times" if types.is_temporal(kind) else ""
        raise unsupported(person, what or "values of a type that cannot be compared")
    return found


def arrow_ids(column: Any) -> Ids:
    """An Arrow column of a supported type, chunked or not, as ids."""
    if isinstance(column, pa.ChunkedArray) and column.num_chunks > 1 and pa.types.is_dictionary(column.type):
        column = pa.chunked_array([_decoded(each) for each in column.chunks])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column, pa.ChunkedArray):  # no chunk, or too many bytes for one
        column = pa.concat_arrays([arrow_ids(each) for each in column.chunks] or [pa.array([], column.type)])
    if pa.types.is_dictionary(column.type):
        return arrow_ids(column.dictionary).take(column.indices)
    if pa.types.is_floating(column.type):
        return _of_floats(column.cast(pa.float64()))
    if family(column.type) == "text":
        return column.cast(pa.large_binary())
    if pa.types.is_decimal(column.type):
        return column.cast(pa.large_string()).cast(pa.large_binary())
    if pa.types.is_uint64(column.type) and pc.any(pc.greater(column, LARGEST)).as_py():
        return column.cast(pa.large_string()).cast(PLAIN)
    return column.cast(pa.int64())


def _decoded(chunk: Any) -> Any:
    """A chunk without its dictionary: those of all chunks together may have more values than their indices can name."""
    values = chunk.dictionary
    return (values.cast(PLAIN) if family(values.type) == "text" else values).take(chunk.indices)


def has_id(ids: Ids) -> NDArray[np.bool_]:
    """Which rows have an id: it is not null, and no empty text."""
    there = ids.is_valid() if pa.types.is_integer(ids.type) else pc.greater(pc.binary_length(ids), 0).fill_null(False)
    return np.asarray(there.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _of_floats(column: Any) -> Ids:
    values = column.to_numpy(zero_copy_only=False)
    missing = np.isnan(values)
    whole = (np.trunc(values) == values) & (values >= -WHOLE) & (values < WHOLE)
    if (whole | missing).all():
        return pa.array(np.where(whole, values, 0).astype(np.int64), mask=missing)
    known, place = np.unique(values, return_inverse=True)
    return pa.array([_told(each) for each in known.tolist()], PLAIN).take(pa.array(place.ravel(), mask=missing))


def _told(number: float) -> bytes:
    return b"%d" % int(number) if number.is_integer() else number.hex().encode()


def object_ids(values: Any, person: str) -> Ids:
    """A column of Python objects. As with numbers, every object's type is its schema: one kind for the whole column."""
    kinds = {type(value) for value in values if not _missing(value)}
    cells = [None if _missing(value) else value for value in values]
    if all(issubclass(kind, str) for kind in kinds):  # numpy's own, too
        return pa.array([None if cell is None else cell.encode(errors="surrogatepass") for cell in cells], PLAIN)
    if all(issubclass(kind, bytes) for kind in kinds):
        return pa.array(cells, PLAIN)
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        try:
            return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
        except OverflowError:
            return pa.array([None if cell is None else digits(int(cell)) for cell in cells], PLAIN)
    raise unsupported(person, "Python objects of several kinds, or of a kind that is neither text nor a whole number")


def digits(number: int) -> bytes:
    """A whole number as text; of very many digits, which Python refuses to print, to another base."""
    return b"%d" % number if number.bit_length() < 2**10 else hex(number).encode()


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (type(value) is float and value != value)


def pandas_ids(series: Any, person: str) -> Callable[[slice], Ids]:
    """A reader of a pandas column, or a refusal by its type."""
    if str(series.dtype) == "category":
        kinds, codes = series.cat.categories.to_series(), series.cat.codes.to_numpy()
        known = pandas_ids(kinds, person)(slice(0, len(kinds)))
        return lambda places: known.take(pa.array(codes[places], mask=codes[places] < 0))
    if str(series.dtype) == "object" or getattr(series.dtype, "storage", None) == "python":  # what Arrow may refuse
        ids = object_ids(series.to_numpy(dtype=object), person)
        return lambda places: ids[places]
    try:
        kind = pa.Array.from_pandas(series.iloc[:0]).type
    except (pa.ArrowException, TypeError, ValueError):
        raise unsupported(person, "values of a type that cannot be compared") from None
    family_of(person, kind)
    return lambda places: arrow_ids(pa.Array.from_pandas(series.iloc[places]))


def polars_ids(series: Any, person: str) -> Callable[[slice], Ids]:
    """A reader of a polars column, or a refusal by its type."""
    if str(series.dtype) in ("Object", "Int128", "UInt128", "Null"):
        raise unsupported(person, "values of a type that cannot be compared")
    family_of(person, series[:0].to_arrow().type)
    return lambda places: arrow_ids(series[places].to_arrow())
