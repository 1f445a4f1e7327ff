"""Where the records of JSON text end: lines, or the values of an array, found without understanding any of them.

So whatever a record holds, it is one record, and what it holds cannot reach another: a value that cannot be decoded is
a row of missing values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.private.tables.csv.records import LONGEST_RECORD
from covey.private.tables.ids import digits

ESCAPED = re.compile(rb"\\.", re.DOTALL)
QUOTE, COMMA = b'",'
MOST_DEPTH = 100  # brackets in one another; a value beyond is none, however much of the stack others have taken
Depths = NDArray[np.int64]
Flags = NDArray[np.bool_]


def lines(file: IO[bytes], size: int) -> Iterator[list[bytes]]:
    """The lines of a text, about `size` bytes at a time, blank ones left out. One that is too long is no JSON."""
    rest = b""
    while block := file.read(size):
        text = rest + block
        end = text.rfind(b"\n") + 1
        yield _lines(text[:end])
        rest = text[end:]
        if len(rest) > LONGEST_RECORD:
            rest = b"?" * (LONGEST_RECORD + 1)
    yield _lines(rest)


def _lines(text: bytes) -> list[bytes]:
    given = (line for line in text.split(b"\n") if len(line) > LONGEST_RECORD or (line and not line.isspace()))
    return [_known(line) for line in given]


def _known(record: bytes) -> bytes:
    """A record, or where it is too long something that is no JSON."""
    return b"?" if len(record) > LONGEST_RECORD else record


def items(file: IO[bytes], size: int) -> Iterator[list[bytes]]:
    """The values of an array, whose opening bracket has been read. A text that ends before the array is broken off.

    A value that is too long is read to the same end as any other, and is no JSON.
    """
    rest = b""
    while block := file.read(size):
        text = rest + block
        inside, depth = nesting(text)
        codes = np.frombuffer(text, dtype=np.uint8)
        closing = np.flatnonzero(depth < 0)[:1]
        commas = np.flatnonzero((codes == COMMA) & ~inside & (depth == 0))
        ends = [*commas[commas < closing[0]].tolist(), int(closing[0])] if closing.size else commas.tolist()
        starts = [0, *(end + 1 for end in ends)]
        found = [_known(text[start:end].lstrip()) for start, end in zip(starts, ends, strict=False)]
        if closing.size:
            yield found if found[-1] else found[:-1]
            return
        yield found
        rest = text[starts[-1] :].lstrip()
        if len(rest) > LONGEST_RECORD:
            rest = _shortened(rest)
    raise EOFError


def _shortened(rest: bytes) -> bytes:
    """The beginning of a value that is too long, as another one that is as well, and goes on in the same way."""
    inside, depth = nesting(rest)
    escape = b"\\" if ESCAPED.sub(b"", rest).endswith(b"\\") else b""
    return b"[" * int(depth[-1]) + b"?" * (LONGEST_RECORD + 1) + (b'"' + escape if inside[-1] else b"")


def nesting(text: bytes) -> tuple[Flags, Depths]:
    """Of each byte whether it stands in a string, and how many brackets are open behind it."""
    codes = np.frombuffer(ESCAPED.sub(b"__", text) if b"\\" in text else text, dtype=np.uint8)
    inside: Flags = np.cumsum(codes == QUOTE, dtype=np.uint8) & 1 == 1
    steps = np.isin(codes, [*b"[{"]).astype(np.int64) - np.isin(codes, [*b"]}"])
    return inside, np.cumsum(np.where(inside, 0, steps))


def decoded(text: bytes) -> Any:
    """A JSON value, also with Python's NaN and Infinity; None if it is none, or nested beyond reason."""
    if text.count(b"[") + text.count(b"{") > MOST_DEPTH and nesting(text)[1].max() > MOST_DEPTH:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_number(value: Any) -> float:
    """A value as a number; NaN unless it is a number, or true or false."""
    try:
        return float(value) if isinstance(value, int | float) else np.nan
    except OverflowError:
        return np.nan


def as_id(value: Any) -> bytes | None:
    """A value as an id: text as it is, numbers as they are written. What is a list or an object is nobody's."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float) and not value.is_integer():
        return None if value != value else repr(value).encode()
    return digits(int(value)) if isinstance(value, int | float) else None
