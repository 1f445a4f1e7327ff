"""A CSV is cut into blocks wherever the bytes happen to end; the cut, and how cells are parsed, never show."""

from __future__ import annotations

import io
import threading

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.private import csv_files
from covey.private.csv_files import LONGEST_LINE, CsvPart, _count, _read, blocks, parse, separate
from covey.private.files import _as_numbers, open_file

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
    assert [table.num_rows for table in tables] == [_count(block) for block in lines]
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


@pytest.mark.parametrize("size", [10, 1000, LONGEST_LINE, 2**22])
def test_a_line_that_is_too_long_is_one_row_in_any_cut(size):
    text = b"1,2\n" + b"7" * (3 * LONGEST_LINE) + b"\n3,4\n" + b'"' * (2 * LONGEST_LINE + 3)
    found = rows(list(blocks(io.BytesIO(text), size)), 2)
    assert np.array_equal(found, [[1, 2], [np.nan] * 2, [3, 4], [np.nan] * 2], equal_nan=True)


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
    path.write_bytes(b'who,a\n007,1\n7,2\nNA,3\n,4\n"x, y",5\n"say ""hi""",x\n\xff\xfe,7\n 7,8\n"""",9\n1,2,3\n')
    table = open_file(path)
    table.check_person("who")
    ((numbers, ids),) = [piece() for piece in table.pieces_with_ids(("a",), "who")]
    known = [b"007", b"7", b"NA", None, b"x, y", b'say "hi"', b"\xff\xfe", b" 7", b'"', None]
    assert ids.type == pa.large_binary()
    assert ids.to_pylist() == known
    assert np.array_equal(numbers[0], [1, 2, 3, 4, 5, np.nan, 7, 8, 9, np.nan], equal_nan=True)
    ((numbers, ids),) = [piece() for piece in table.pieces_with_ids(("who", "a"), "who")]
    assert ids.to_pylist() == known, "also when it is one of the columns with bounds"
    assert np.array_equal(numbers[0][:4], [7, 7, np.nan, np.nan], equal_nan=True)


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
