"""Where the records of a CSV end (RFC 4180), in a stream of bytes that is read a block at a time.

A record ends at a newline outside quotes. A quote opens a quoted cell where it is the first byte of the cell; inside,
two quotes are one that belongs to the value, and a single one closes. Every other quote is text, and so is what stands
between a closing quote and the next comma or newline: Python's csv module reads it alike. So whatever a correct writer
puts into a cell, its record is one record. A quote that nobody closed takes in what follows, up to the next quote that
can close it or to the end of the file: one record, and no error. `comma` is what stands between cells.

A record of more than `LONGEST_RECORD` bytes is read to the same end as any other. Of what went before, only as much is
remembered as that takes: the limit bounds memory, not parsing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]
BOM = b"\xef\xbb\xbf"
QUOTE, NEWLINE, RETURN = b'"\n\r'
LONGEST_RECORD = 2**20  # bytes; a longer one is a row of missing values
LONGEST_HEADER = 2**16
QUOTED = re.compile(rb'[^"]*(?:""[^"]*)*')


def marks(text: bytes, comma: bytes = b",") -> tuple[Places, Places]:
    """The quotes of a text that begins with a record: where cells open and close in turn, and where one is misplaced.

    Two quotes that stand for one may be told as a closing and an opening one; nothing lies between them.
    """
    codes = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(codes == QUOTE)
    first, last = quotes[::2], quotes[1::2]
    before, after, later = codes[first - 1], _at(codes, last + 1), _at(codes, last + 2)
    opens = (before == comma[0]) | (before == NEWLINE) | (before == QUOTE) | (first == 0)
    closes = (after == comma[0]) | (after == NEWLINE) | (after == QUOTE) | ((after == RETURN) & (later == NEWLINE))
    if opens.all() and closes.all():
        return quotes, quotes[:0]
    return _marks_one_by_one(text, quotes.tolist(), comma)


def _at(codes: NDArray[np.uint8], places: Places) -> NDArray[np.uint8]:
    """The bytes there; behind the end there is a newline."""
    return np.asarray(np.where(places < len(codes), codes[np.minimum(places, len(codes) - 1)], NEWLINE))


def _marks_one_by_one(text: bytes, quotes: list[int], comma: bytes) -> tuple[Places, Places]:
    """The same for any text, by the rule itself: for files that no correct writer made."""
    turns: list[int] = []
    stray: list[int] = []
    doubled, following = -1, [*quotes[1:], -1]
    for place, next_place in zip(quotes, following, strict=True):
        if place == doubled:
            continue
        if len(turns) % 2 == 0:
            opens = place == 0 or text[place - 1] in comma + b"\n"
            (turns if opens else stray).append(place)
        elif next_place == place + 1:
            doubled = next_place
        else:
            turns.append(place)
            if text[place + 1 : place + 2] not in (b"", comma, b"\n") and text[place + 1 : place + 3] != b"\r\n":
                stray.append(place)
    return np.array(turns, dtype=np.intp), np.array(stray, dtype=np.intp)


def quoted(size: int, turns: Places) -> NDArray[np.bool_]:
    """Which bytes of a text stand in quotes."""
    flips = np.zeros(size, dtype=np.uint8)
    flips[turns] = 1
    return np.asarray(np.cumsum(flips, dtype=np.uint8) & 1 == 1)  # modulo 2^8, which is even


def record_ends(text: bytes, comma: bytes = b",") -> Places:
    """The places behind the newlines that end a record, in a text that begins with one."""
    codes = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(codes == NEWLINE)
    if b'"' in text:
        ends = ends[np.searchsorted(marks(text, comma)[0], ends) % 2 == 0]
    return np.asarray(ends + 1)


def blocks(file: IO[bytes], size: int, comma: bytes = b",", *, mend: bool = True) -> Iterator[bytes]:
    """Whole records, about `size` bytes at a time. Of one that is too long, enough is kept to find it so.

    mend : whether a quote that is open at the end is closed there.
    """
    rest = b""
    while block := file.read(size):
        text = rest + block
        end = _last_end(text, comma)
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > LONGEST_RECORD:
            rest = _shortened(rest, comma)
    if rest:
        yield rest + (b'"\n' if mend and _open(rest, comma) else b"\n")


def _last_end(text: bytes, comma: bytes) -> int:
    """The place behind the last newline that ends a record, or 0."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    ends = record_ends(text, comma)
    return int(ends[-1]) if len(ends) else 0


def _open(text: bytes, comma: bytes) -> bool:
    return b'"' in text and len(marks(text, comma)[0]) % 2 == 1


def _shortened(rest: bytes, comma: bytes) -> bytes:
    """The beginning of a record that is too long, as another one that is as well, and goes on in the same way."""
    turns = marks(rest, comma)[0]
    inside, tail = len(turns) % 2 == 1, b""
    if not inside and len(turns) and turns[-1] == len(rest) - 1:  # closes, or is the first of two that stand for one
        inside, tail = True, b'"'
    elif not inside:
        tail = rest[-1:]
    return (b'"' if inside else b"") + b" " * (LONGEST_RECORD + 1) + tail


def skip_lines(file: IO[bytes], count: int) -> None:
    """Leave a title out: so many lines, however long."""
    for _ in range(count):
        while (part := file.readline(LONGEST_HEADER)) and not part.endswith(b"\n"):
            pass


def read_header(file: IO[bytes], comma: bytes = b",") -> bytes:
    """The first record of a file, without a byte order mark; or more than `LONGEST_HEADER` bytes, or an open quote."""
    header, inside = b"", False
    while True:
        line = file.readline(LONGEST_HEADER + 4 - len(header))
        header = header + line if header else line.removeprefix(BOM)
        if b'"' in line:
            inside = _open(header, comma)
        if not inside or not line.endswith(b"\n"):
            return header


def is_whole(text: bytes, comma: bytes) -> bool:
    """Whether every quote of a text that begins with a record encloses a cell, and is closed."""
    turns, stray = marks(text, comma)
    return len(turns) % 2 == 0 and not len(stray)


def cells(record: bytes, comma: bytes = b",") -> list[bytes]:
    """The values of one record, given without its end."""
    found, place = [], 0
    while True:
        value = b""
        if record.startswith(b'"', place):
            inner = QUOTED.match(record, place + 1)
            assert inner is not None
            value, place = inner.group().replace(b'""', b'"'), inner.end() + 1
        end = record.find(comma, place)
        found.append(value + (record[place:] if end < 0 else record[place:end]))
        if end < 0:
            return found
        place = end + 1


def written(values: list[bytes], comma: bytes) -> bytes:
    """A record with all its values in quotes."""
    return comma.join(b'"' + value.replace(b'"', b'""') + b'"' for value in values) + b"\n"
