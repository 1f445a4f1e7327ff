"""A CSV is cut into blocks wherever the bytes happen to end; the cut, and how cells are parsed, never show."""

from __future__ import annotations

import csv
import io
import threading
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.private.tables.csv import reader as csv_files
from covey.private.tables.csv import records as csv_records
from covey.private.tables.csv.reader import CsvPart, Dialect, _count, _read, parse, separate
from covey.private.tables.csv.records import blocks, cells, record_ends
from covey.private.tables.files import _as_numbers, open_file

content = st.one_of(
    st.text('"",,1.5 \r\n\n\\x-+einfNA', max_size=60).map(str.encode),
    st.binary(max_size=60),
    st.lists(st.tuples(st.integers(-99, 99), st.floats()), max_size=9).map(
        lambda rows: b"".join(b"%d,%r\n" % (a, b) for a, b in rows)
    ),
)


class Trickle(io.BytesIO):
    """A file whose reads end at given places."""

    def __init__(self, text: bytes, cuts: list[int]) -> None:
        super().__init__(text)
        self._cuts = cuts

    def read(self, size: int = -1) -> bytes:
        return super().read(min(size, self._cuts.pop()) if self._cuts else size)


def rows(lines: list[bytes], width: int) -> list:
    names = [str(i) for i in range(width)]
    tables = [_read(block, names, names, []) for block in lines]
    assert [table.num_rows for table in tables] == [_count(block, width) for block in lines]
    found = [np.stack([_as_numbers(table.column(name)) for name in names], axis=1) for table in tables]
    return np.concatenate([np.empty((0, width)), *found])


@settings(max_examples=200)
@given(content, st.lists(st.integers(1, 20), max_size=8), st.integers(1, 64), st.integers(1, 3))
@example(b'1,2\r\n3,"4\n5"\r\n', [1] * 14, 1, 2)
@example(b"1,2\r\n\r\n3,4", [4, 1, 1], 5, 2)
@example(b"1\n\xef\xbb\xbf2\n\xef\xbb\xbf\n", [2], 4, 1)
def test_any_cut_of_the_bytes_gives_the_same_rows(text, cuts, size, width):
    whole = list(blocks(io.BytesIO(text), len(text) + 1))
    parts = list(blocks(Trickle(text, [*cuts]), size))
    assert b"".join(parts) == b"".join(whole)
    assert all(part.endswith(b"\n") for part in parts)
    assert np.array_equal(rows(parts, width), rows(whole, width), equal_nan=True)


@pytest.mark.parametrize("size", [1, 10, 97, 1000])
@pytest.mark.parametrize(
    "long",
    [
        b"7" * 300,
        b'1,"' + b"x\n1,2\n" * 50 + b'"',
        b'"' + b'""' * 150 + b'",2',
        b'"' + b'""\n' * 150 + b'",2',
        b'x"' * 150 + b',"\n"',
        b"x" * 200 + b',"",' * 40 + b'"\n\n"',
        b'"' + b"x" * 200 + b'"' + b"\r" * 200 + b',"\n"',
    ],
)
def test_a_record_that_is_too_long_is_read_to_its_end_and_is_one_row_in_any_cut(long, size, monkeypatch):
    monkeypatch.setattr(csv_records, "LONGEST_RECORD", 100)
    text = b"1,2\n" + long + b"\n3,4\n" + long
    found = rows(list(blocks(io.BytesIO(text), size)), 2)
    assert np.array_equal(found, [[1, 2], [np.nan] * 2, [3, 4], [np.nan] * 2], equal_nan=True)


def test_the_limit_does_not_depend_on_the_cut(monkeypatch):
    """A record of exactly so many bytes counts as it is; one byte more does not, whatever is in it."""
    monkeypatch.setattr(csv_records, "LONGEST_RECORD", 100)
    for more in (0, 1):
        for quoted in (b"\r\n" * 40, b"\n" * 80, b'""' * 40):
            text = b'5,"' + quoted + b"x" * (100 - 5 - 80 + more) + b'"\n'
            assert len(text) == 100 + more
            for size in (3, 50, 1000):
                for lines in (b"", b"1,2\n"):
                    found = rows(list(blocks(io.BytesIO(lines + text), size)), 2)
                    assert np.array_equal(found[-1], [np.nan if more else 5, np.nan], equal_nan=True)


def test_memory_is_bounded_whatever_the_length_of_a_record():
    class Endless(io.RawIOBase):
        """A quoted cell of 200 MB, never held as a whole."""

        left = 200

        def read(self, _: int = -1) -> bytes:
            self.left -= 1
            return b"" if self.left < 0 else b'1,"' if self.left == 199 else b'\n2,3\n""' * (2**20 // 7)

    tracemalloc.start()
    found = list(blocks(Endless(), 2**20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [_count(each, 2) for each in found] == [1]
    assert peak < 80 * 2**20


values = st.one_of(
    st.text('"",\n\r\x00 x1.5\ufeff', max_size=9), st.sampled_from(['"', '""', "\n", "\r\n", "\r", "", " "])
)


@settings(max_examples=300)
@given(st.lists(st.lists(values, min_size=2, max_size=3), min_size=1, max_size=5), st.booleans(), st.integers(1, 40))
def test_records_are_those_of_python(table, every, size):
    """Whatever the values: as many records, each with the same cells, wherever the bytes are cut."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL).writerows(table)
    found = []
    for block in blocks(io.BytesIO(out.getvalue().encode()), size):
        ends = record_ends(block).tolist()
        found += [block[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert [[cell.decode() for cell in cells(each.removesuffix(b"\r\n"))] for each in found] == table


@settings(max_examples=300)
@given(st.text('"",\nx1', max_size=40), st.integers(1, 9))
@example('a"b,"c\nd"e,"f"\n', 3)
def test_records_are_those_of_python_also_where_no_correct_writer_was(text, size):
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    found = []
    for block in blocks(io.BytesIO(text.encode()), size):
        ends = record_ends(block).tolist()
        found += [block[start : end - 1] for start, end in zip([0, *ends], ends, strict=False)]
    assert [[cell.decode() for cell in cells(each)] for each in found if each] == expected


def plain_twin(text: bytes, width: int, *, returns: bool) -> list[tuple[bytes | None, ...]]:
    """The cells of every row, a byte at a time, as docs/guide/files.md has it."""
    found, values, value, raw, state, doubled = [], [], b"", b"", "start", False
    for at, byte in enumerate(text[i : i + 1] for i in range(len(text))):
        if state != "quoted" and byte == b"\n":
            found.append((raw, [*values, value]))
            values, value, raw, state = [], b"", b"", "start"
            continue
        raw += byte
        if state == "quoted" and not doubled and byte == b'"':
            doubled = text[at + 1 : at + 2] == b'"'
            state = "quoted" if doubled else "plain"
        elif state != "quoted" and byte == b",":
            values, value, state = [*values, value], b"", "start"
        elif state == "start" and byte == b'"':
            state = "quoted"
        else:
            value, doubled, state = value + byte, False, state if state == "quoted" else "plain"
    if raw:
        found.append((raw + (b'"' if state == "quoted" else b""), [*values, value]))
    rows = []
    for raw, values in found:
        last = values[-1].removesuffix(b"\r") if returns and raw.endswith(b"\r") else values[-1]
        lost = len(values) != width or len(raw) + 1 > csv_records.LONGEST_RECORD
        if width == 1 or raw not in (b"", b"\r"):
            rows.append((None,) * width if lost else tuple(each or None for each in (*values[:-1], last)))
    return rows


pieces = st.sampled_from(
    ['"', '"', ",", ",", "\n", "\n", "\r", "\r\n", "x", "1", " ", "\ufeff", '""', '","', '"\n', "\0"]
)


@settings(max_examples=400)
@given(
    st.lists(pieces, max_size=30), st.integers(1, 3), st.integers(1, 20), st.booleans(), st.sampled_from([8, 40, 2**20])
)
def test_any_bytes_are_read_as_the_rule_says(parts, width, size, returns, limit):
    """Also what no correct writer made, in any cut, and at the limit."""
    text, names = "".join(parts).encode(), [str(i) for i in range(width)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_records, "LONGEST_RECORD", limit)
        cut = list(blocks(io.BytesIO(text), size))
        expected = plain_twin(text, width, returns=returns)
        found = [_read(block, names, [], names, Dialect(returns=returns)) for block in cut]
        assert [row for each in found for row in zip(*(c.to_pylist() for c in each.columns), strict=True)] == expected
        assert len(rows(cut, width)) == sum(_count(block, width) for block in cut) == len(expected)


cell = st.one_of(
    st.text("0123456789.eE+-_ \tinfatyINFxX()", max_size=12),
    st.floats().map(repr),
    st.sampled_from(["NA", "null", "nan", "-nan", "#N/A", "", " ", "1 ", "\x0b1", "+1", "1.", ".5", "1e999", "true"]),
).filter(lambda text: text.isascii())


@settings(max_examples=300)
@given(st.lists(cell, min_size=1, max_size=4))
@example(["1", "x"])
@example(["nan(1)"])
@example(["infinity", "-inf", "+Infinity"])
def test_the_quick_way_to_parse_numbers_gives_the_same_as_the_careful_one(cells):
    lines = b"".join(b"%s,1\n" % text.encode() for text in cells)
    table = _read(lines, ["a", "b"], ["a", "b"], [])
    careful = parse(pa.chunked_array([[text.encode() for text in cells]]))
    expected = careful.to_numpy(zero_copy_only=False)
    assert np.array_equal(_as_numbers(table.column("a")), expected, equal_nan=True)
    assert (np.signbit(_as_numbers(table.column("a"))) == np.signbit(expected))[~np.isnan(expected)].all()


def test_the_quick_way_is_taken_when_every_cell_is_a_number():
    assert str(_read(b"1,2\nNA,\n3,1e5\n", ["a", "b"], ["a", "b"], []).schema.types) == str([pa.float64()] * 2)
    assert pa.binary() in _read(b"1,2\nx,3\n", ["a", "b"], ["a", "b"], []).schema.types


def test_ids_are_the_cells_as_they_stand(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(
        b'who,a\n007,1\n7,2\nNA,3\n,4\n"x, y",5\n"say ""hi""",x\n\xff\xfe,7\n 7,8\n"""",9\n1,2,3\n'
        b'"x\ny",10\n"x\r\ny",11\nx\ry,12\nx y,13\n"x\r"z"q",14\n"",15\n'
    )
    table = open_file(path)
    table.check_person("who")
    ((numbers, ids),) = [piece() for piece in table.pieces_with_ids(("a",), "who")]
    known = [b"007", b"7", b"NA", None, b"x, y", b'say "hi"', b"\xff\xfe", b" 7", b'"', None]
    known += [b"x\ny", b"x\r\ny", b"x\ry", b"x y", b'x\rz"q"', None]
    assert ids.type == pa.large_binary()
    assert ids.to_pylist() == known
    assert np.array_equal(numbers[0], [1, 2, 3, 4, 5, np.nan, 7, 8, 9, np.nan, *range(10, 16)], equal_nan=True)
    ((numbers, ids),) = [piece() for piece in table.pieces_with_ids(("who", "a"), "who")]
    assert ids.to_pylist() == known, "also when it is one of the columns with bounds"
    assert np.array_equal(numbers[0][:4], [7, 7, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(("end", "ids"), [(b"\n", [b"x", b"x\r"]), (b"\r\n", [b"x", b"x"])])
def test_lines_end_as_that_of_the_header_does(tmp_path, end, ids):
    """pandas writes a carriage return at the end of a value as it is: no other person's id."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,who" + end + b"1,x" + end + b"2,x\r\n")
    table = open_file(path)
    ((numbers, found),) = [piece() for piece in table.pieces_with_ids(("a",), "who")]
    assert found.to_pylist() == ids
    assert numbers.tolist() == [[1, 2]]


def test_short_records_of_a_wide_file_are_rows_that_take_no_more_memory_than_their_text():
    names, whole = [str(i) for i in range(10_000)], b"7" + b",1" * 9_999 + b"\n"
    records = b"x\n" * 1_000 + whole + b"x,y\n\n"
    text, places = separate(records, cells=len(names))
    assert len(text) <= len(records)
    assert len(places) == _count(records, len(names)) == 1_002
    assert _read(records, names, ["0"], []).column("0").to_pylist() == [None] * 1_000 + [7, None]
    assert _read(b"x\n" * 3, names, ["0"], ["1"]).column("1").to_pylist() == [None] * 3


def test_rows_are_parsed_by_whoever_wants_them(tmp_path, monkeypatch):
    """`pieces` itself reads bytes and nothing else, so that threads share the work."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    asked = []
    monkeypatch.setattr(csv_files, "BLOCK", 1000)
    monkeypatch.setattr(csv_files, "separate", lambda *a, **o: asked.append(1) or separate(*a, **o))
    table = open_file(path)
    asked.clear()
    pieces = list(table.pieces(None))
    assert len(pieces) == 4
    assert not asked
    assert sum(piece().shape[1] for piece in pieces) == 1000
    assert len(asked) == 4
    assert sum(piece().shape[1] for piece in table.chosen(None, iter([np.array([3, 700, 999])]))) == 3
    assert len(asked) == 7, "blocks without a chosen row are not parsed"


def test_pyarrow_never_parses_on_the_main_thread(tmp_path, monkeypatch):
    """There it installs a handler of its own for Ctrl-C, and a signal that comes as it ends is lost."""
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,oops\n")
    read, threads = pyarrow.csv.read_csv, []

    def watched(*given, **options):
        threads.append(threading.current_thread())
        return read(*given, **options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", watched)
    part = CsvPart(path)
    assert part.not_numbers(["x", "y"]) is None
    assert [task.read().num_rows for task in part.tasks(["x", "y"])] == [2]
    assert len(threads) >= 3
    assert threading.main_thread() not in threads
