"""Files: rows that cannot affect one another, damage that is named, and no cell's text in any message."""

from __future__ import annotations

import csv
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.errors import DataError, NotNumericError
from covey.private.tables.csv.header import NUMBER
from covey.private.tables.csv.reader import separate
from covey.private.tables.csv.records import LONGEST_HEADER, LONGEST_RECORD, marks, record_ends
from covey.private.tables.files import open_file

SECRET = "0.123456789"


@pytest.fixture
def save(tmp_path):
    def write(content: bytes | str, name: str = "rows.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def read_array(path, columns=None) -> np.ndarray:
    """All rows of a file."""
    table = open_file(path)
    pieces = [piece() for piece in table.pieces(columns)]
    return np.concatenate(pieces, axis=1).T if pieces else np.empty((0, table.width))


def read(path, columns=None) -> list[list[float]]:
    """All rows of a file, as lists."""
    return read_array(path, columns).tolist()


def same(a: list, b: list) -> bool:
    return np.array_equal(np.array(a, dtype=float), np.array(b, dtype=float), equal_nan=True)


NAN = np.nan


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("a,b\n1,2\n3,4", [[1, 2], [3, 4]]),  # no last newline
        ("a,b\r\n1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
        ("\ufeffa,b\n1,2\n", [[1, 2]]),
        ('\ufeff"a","b"\n"1","2"\n', [[1, 2]]),
        ("a,b\n", []),
        ("a,b", []),
        ("a,b\n\n1,2\n\n\n3,4\n\n", [[1, 2], [3, 4]]),  # empty lines are not rows
        ("a,b\n1,\n,2\n,\n", [[1, NAN], [NAN, 2], [NAN, NAN]]),
        ("a,b\nx,2\n3,four\n", [[NAN, 2], [3, NAN]]),
        ("a,b\nNA,null\nnan,-\n", [[NAN, NAN], [NAN, NAN]]),
        ("a,b\ninf,-Infinity\n+INF,1e999\n", [[np.inf, -np.inf], [np.inf, np.inf]]),
        ("a,b\n 1 ,\t2\n+3,-.5\n4.,1e3\n", [[1, 2], [3, -0.5], [4, 1000]]),
        ("a,b\n1e-999,-0\n", [[0, 0]]),
        ("a,b\n0x10,1_000\n١,1,5\n", [[NAN, NAN], [NAN, NAN]]),
        ('a,b\n"1","2"\n"3",4\n', [[1, 2], [3, 4]]),
        ('a,b\n"1,5",2\n"say ""hi""",2\n', [[NAN, 2], [NAN, 2]]),
        ('a,b\n"1\n",2\n"x\n5,6\ny",3\n4,"\r\n"\n', [[1, 2], [NAN, 3], [4, NAN]]),  # line breaks in values
        ('"a\nb","c,""d"""\n1,2\n', [[1, 2]]),  # and in names
        ('a,b\r\n"x\r\ny",3\r\n4,5\r\n', [[NAN, 3], [4, 5]]),
        ('a,b\n1,2"\n3,4\n', [[1, NAN], [3, 4]]),  # a quote inside a cell is text
        ('a,b\n1,2\n"3"x,"4"\n5,6\n', [[1, 2], [NAN, 4], [5, 6]]),  # so is what follows a closing one
        ('a,b\n1,2\n3,"4\n5,6\n7,8', [[1, 2], [3, NAN]]),  # one that is never closed takes in the rest
        ('a,b\n3,"4\n5,6\n7,"8"\n9,0\n', [[3, NAN], [9, 0]]),  # or what comes before the next that can close it
        ('a,b\n3,"4\n5,6\n"7",8\n9,0\n', [[NAN, NAN], [9, 0]]),
        ('a,b\nx"y,"z\n3,4\n', [[NAN, NAN]]),
        ('a,b\n""\n1"5,2\n   \n3,4\n', [[NAN, NAN], [NAN, 2], [NAN, NAN], [3, 4]]),
        ("a,b\n1\n1,2,3\n3,4\n", [[NAN, NAN], [NAN, NAN], [3, 4]]),  # too few, too many: a row all the same
        ("a,b\n1,2\r3,4\n5,6\n", [[NAN, NAN], [5, 6]]),  # a lone carriage return does not end a row
        ("a\n1\n\n2\nx\n1,2\n", [[1], [NAN], [2], [NAN], [NAN]]),  # one column: an empty line is a row
        ("a\r\n1\r\n\r\n2\r\n", [[1], [NAN], [2]]),
        (b"a,b\n\xff\xfe,2\n\x00,4\n", [[NAN, 2], [NAN, 4]]),
        ("a,b\n" + "9" * 400 + ",1\n", [[np.inf, 1]]),
        ("a,b\n" + "x" * (LONGEST_RECORD + 1) + ",1\n3,4\n", [[NAN, NAN], [3, 4]]),
        ("a,b\n3,4\n" + "1" * (5 * LONGEST_RECORD), [[3, 4], [NAN, NAN]]),
    ],
)
def test_records_are_rows(save, text, rows):
    assert same(read(save(text)), rows)


def test_a_record_longer_than_any_block_is_one_row(save):
    text = b'7,"' + b"x\n1,2\n" * 2**20 + b'"'
    path = save(b"a,b\n1,2\n" + text + b"\n3,4\n" + b'"' * (2**22 + 6) + b"\n5,6\n")
    assert same(read(path), [[1, 2], [NAN, NAN], [3, 4], [NAN, NAN], [5, 6]])


def test_block_borders_do_not_show(save):
    """Records of every length around the 4 MB border, with quotes, line breaks and carriage returns."""
    lines = [b'1,"2"\r\n', b"3,4\n", b'"x\r\n"",\ny",5\n', b'"6"," 7"\n']
    expected = [[1, 2], [3, 4], [NAN, 5], [6, 7]]
    count = (2**22 + 2**16) // sum(map(len, lines)) + 1
    for shift in range(3):
        rows = read_array(save(b"a,b\n" + b"0" * shift + b"0,0\n" + b"".join(lines) * count))
        assert len(rows) == 1 + 4 * count
        assert same(rows[1:5], expected)
        assert same(np.nansum(rows, axis=0), count * np.nansum(expected, axis=0))


def whole(text: bytes) -> bytes:
    """A record, whatever is in it: what nobody closed is closed."""
    if b'"' in text and len(marks(text)[0]) % 2 == 1:
        text += b'"'
    return text if record_ends(text + b"\n").tolist() == [len(text) + 1] else text.replace(b"\n", b"")


line = st.one_of(
    st.binary(max_size=12),
    st.text('"",,1.5 \r\n\\x-+e', max_size=12).map(str.encode),
    st.tuples(st.integers(-99, 99), st.integers(-99, 99)).map(lambda pair: b"%d,%d" % pair),
).map(whole)


@settings(max_examples=150)
@given(st.lists(line, max_size=6), line, st.integers(0, 6), st.integers(1, 3))
@example([b"1,2", b"3,4"], b'x"y,"\nz"', 0, 2)
@example([b"1,2", b"3,4"], b'"\n\n\n1,2\n",1', 0, 2)
@example([b"1", b"3"], b"", 0, 1)
@example([b"1", b"3"], b'""""', 0, 1)
@example([b"1", b"3"], b"\xef\xbb\xbf", 0, 1)
@example([b"1", b"3"], b"\xef\xbb\xbf2", 0, 1)
@example([b"1", b"3"], b"\xef\xbb", 0, 1)
def test_every_record_is_read_as_if_it_stood_alone(tmp_path_factory, lines, extra, place, width):
    """So one record more is one row more, and no other row moves: also of files that no correct writer made."""
    path = tmp_path_factory.getbasetemp() / "alone.csv"
    header = b",".join([b"a", b"b", b"c"][:width]) + b"\n"

    def rows(some: list[bytes]) -> list:
        path.write_bytes(header + b"".join(each + b"\n" for each in some))
        return read(path)

    more = [*lines[:place], extra, *lines[place:]]
    alone = [rows([each]) for each in more]
    for each, text in zip(alone, more, strict=True):
        assert len(each) == (width == 1 or text not in (b"", b"\r"))
    assert same(rows(more), [row for each in alone for row in each] or rows([]))


number = st.from_regex(re.compile(NUMBER, re.ASCII), fullmatch=True).filter(lambda t: not set("\r\n") & set(t))


@given(st.lists(number, min_size=1, max_size=6))
@settings(max_examples=35)
def test_whatever_looks_like_a_number_is_read_like_python_reads_it(tmp_path_factory, texts):
    path = tmp_path_factory.getbasetemp() / "number.csv"
    path.write_text("a,b\n" + "".join(f"{text},1\n" for text in texts))
    for (value, _), text in zip(read(path), texts, strict=True):
        assert value == float(text) or np.isnan(value)
        if text == text.strip():
            assert value == float(text)


def test_mending_leaves_good_lines_alone():
    good = b'1,2\n"a,b",3\n"say ""hi""",4\n\n'
    assert separate(good, cells=2) == (good, None)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "header"),
        ("\n1,2\n", "header"),
        ("   \n1,2\n", "header"),
        ("x" * (LONGEST_HEADER + 5) + f"\n{SECRET}\n", "header"),
        (f"{SECRET},2.5\n1,2\n", "header"),  # no header: the first person's row must not become names
        (f"17,{SECRET}\n", "header"),
        ("17,4\n18,5\n", "header"),
        ("name,-3.5\n", "header"),
        (b"a,\xff\xfe\n1,2\n", "UTF-8"),
        (f'a,"b\n{SECRET},2\n', "quote"),  # rows that a quote took in must not become names either
        (f'a,"b\n{SECRET},"x"\n1,2\n', "quote"),
        (f'"a\n{SECRET},2\n",b\n1,2\n', "header"),
        (f'"a"\r"{SECRET}"\r', "carriage"),
    ],
)
def test_a_csv_needs_a_header_that_names_columns(save, content, word):
    with pytest.raises(DataError, match=word) as refusal:
        open_file(save(content))
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("header", ["0,1,2", "2019,2020,2021", "a,1", "x0,x1", "pm2.5,lat", "inflow,nano"])
def test_names_may_look_like_counting(save, header):
    assert open_file(save(header + "\n")).names == tuple(header.split(","))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 50 + b"PAR1", SECRET.encode() * 40])
def test_a_damaged_parquet_file_is_named(save, content):
    with pytest.raises(DataError, match="damaged") as refusal:
        open_file(save(content, "rows.parquet"))
    assert SECRET not in str(refusal.value)


def test_a_parquet_file_that_breaks_in_the_middle_is_named(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(0).random(100_000)}), path, compression="snappy")
    content = bytearray(path.read_bytes())
    content[1000:300_000] = b"\xff" * 299_000
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match="broke off"):
        read(path)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("rows.doc", "must end in"),
        ("rows", "must end in"),
        ("rows.csv.rar", "must end in"),
        ("rows.gz", "must end in"),
        ("rows.parquet.gz", "must end in"),
        ("rows.XLS", "must end in"),
    ],
)
def test_other_files_are_refused(save, name, word):
    with pytest.raises(DataError, match=word):
        open_file(save("a\n1\n", name))


def test_missing_files_are_refused(tmp_path):
    for name in ("absent.csv", "absent/rows.parquet", "absent"):
        with pytest.raises(DataError, match="no file"):
            open_file(tmp_path / name)


def test_a_suffix_may_be_in_capitals(save):
    assert read(save("a\n1\n", "ROWS.CSV")) == [[1.0]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_text_is_refused_without_its_text(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    table = pa.table({"a": [1.0, 2.0], "name": [f"Quail {SECRET}", "Quail"]})
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        path.write_text("a,name\n1," + f"Quail {SECRET}\n2,Quail\n")
    file = open_file(path)
    with pytest.raises(NotNumericError, match="'name' is not numeric") as refusal:
        file.check_numeric(None)
    assert SECRET not in str(refusal.value)
    assert "Quail" not in str(refusal.value)
    file.check_numeric(("a",))
    assert read(path, ("a",)) == [[1.0], [2.0]]


@pytest.mark.parametrize("text", ["a,b\n1,\n", "a,b\n1,\n2,NA\n", "b\n\n", "a,b\n1,2,3\n"])
def test_a_column_without_a_value_among_the_first_is_not_taken_for_text(save, text):
    """That nobody has a value is no reason to refuse; only that somebody has one which is no number."""
    file = open_file(save(text))
    file.check_numeric(("b",))
    assert np.isnan(read_array(save(text), ("b",))).all()


def test_columns_come_in_the_order_that_was_asked_for(save, tmp_path):
    path = save("a,b,c\n1,2,3\n")
    assert read(path, ("c", "a")) == [[3.0, 1.0]]
    pq.write_table(pa.table({"a": [1.0], "b": [2.0], "c": [3.0]}), tmp_path / "rows.parquet")
    assert read(tmp_path / "rows.parquet", ("c", "a")) == [[3.0, 1.0]]


def test_opening_a_csv_reads_no_row(save, monkeypatch):
    """A row of any content cannot make `open_file` fail: only the header is looked at."""
    import covey.private.tables.csv.reader as files

    def refuse(*_args, **_options):
        raise AssertionError("rows were read")

    monkeypatch.setattr(files, "blocks", refuse)
    assert open_file(save(b'a,b\n"\xff\n\r\n,,,,\n')).names == ("a", "b")


ROWS = np.random.default_rng(3).normal(0, 0.4, (1_500, 2))


def test_every_record_is_one_row_whatever_it_holds(tmp_path):
    """Under replace-one the number of rows is read before the charge: no value may change it."""
    rng, path = np.random.default_rng(1), tmp_path / "x.csv"
    parts = ["1", "2.5", ",", ",", '"', '"', " ", "\r", "\n", "\r\n", "\0", "\t", "a", "\xff", "\\", "\u2028", "\x0b"]
    for _ in range(150):
        width, many = int(rng.integers(1, 4)), int(rng.integers(0, 8))
        records = [["".join(rng.choice(parts, rng.integers(0, 9))) for _ in range(width)] for _ in range(many)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([[f"c{i}" for i in range(width)], *records])
        table = open_file(path)
        assert table.rows() == many == sum(piece().shape[1] for piece in table.pieces(None))


def test_a_file_that_is_damaged_when_it_is_counted_says_so_in_our_words(tmp_path):
    pd.DataFrame(ROWS, columns=["a", "b"]).to_parquet(tmp_path / "x.parquet")
    table = open_file(tmp_path / "x.parquet")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="changed while it was read"):  # was pyarrow's own error
        table.rows()
