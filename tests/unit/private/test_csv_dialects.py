"""CSV files of real life: other signs between cells, decimal commas, titles, UTF-16. Rows decide nothing of it."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey import Box, File, Ledger
from covey.errors import DataError, NotNumericError, ParameterError
from covey.fit.fit import fit
from covey.private.tables.csv import reader as csv_files
from covey.private.tables.csv.header import Dialect
from covey.private.tables.csv.reader import _read, parse
from covey.private.tables.csv.records import blocks, cells, record_ends
from covey.private.tables.files import _as_numbers, open_file
from covey.text import in_commands

COMMAS = [b";", b"\t", b"|"]
SECRET = "0.123456789"


def read(source) -> list[list[float]]:
    table = open_file(source)
    table.check_numeric(None)
    pieces = [piece() for piece in table.pieces(None)]
    return np.concatenate(pieces, axis=1).T.tolist() if pieces else []


@pytest.fixture
def save(tmp_path):
    def write(content: bytes | str, name: str = "rows.csv"):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return write


# What stands between cells


@pytest.mark.parametrize("comma", [",", ";", "\t", "|"])
def test_the_header_line_tells_what_stands_between_cells(save, comma):
    assert read(save(f"lon{comma}lat\n1{comma}2\n3{comma}4\n")) == [[1, 2], [3, 4]]
    assert read(save(f'"lon, x"{comma}"l;a|t\t"\n1{comma}2\n')) == [[1, 2]]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,b;c", ("a", "b;c")),  # a comma comes first, whatever else is there
        ("a;b|c", ("a", "b|c")),
        ("a\tb|c", ("a", "b|c")),
        ('"a,b";c', ("a,b", "c")),
        ('"a;b"', ("a;b",)),
        ('"a;b",c', ("a;b", "c")),
        ('"a\nb";c', ("a\nb", "c")),
        ("0;1", ("0", "1")),
    ],
)
def test_names_are_those_of_the_first_sign_that_splits_the_header(save, header, names):
    assert open_file(save(header + "\n")).names == names


def test_rows_never_decide_what_stands_between_cells(save):
    path = save("a\n1;2\n3;4\n")
    assert open_file(path).names == ("a",)
    assert np.isnan(np.concatenate([piece() for piece in open_file(path).pieces(None)], axis=1)).all()


def test_what_was_declared_is_stronger_than_the_header(save):
    path = save("a,b;c\n1;2\n")
    assert open_file(File(path, delimiter=";")).names == ("a,b", "c")
    assert read(File(path, delimiter=";")) == [[1, 2]]
    assert open_file(File(save("a;b\n1\n"), delimiter=",")).names == ("a;b",)


def test_no_cell_of_a_file_that_is_no_text_becomes_a_name(save):
    with pytest.raises(DataError, match="is no text") as refusal:
        open_file(save(b"PAR1\x15,\x00\x00\x00Ann Smith\n1,2\n"))
    assert "Ann" not in str(refusal.value)


@pytest.mark.parametrize("first", ["12.5;47.3", "12,5;47,3", "12\t47", "12.5|47.3", '"12,5";"47,3"'])
def test_a_first_row_is_not_taken_for_names_whatever_stands_between_cells(save, first):
    for told in ({}, {"delimiter": ";"}, {"delimiter": "tab"}, {"decimal": ","}):
        with pytest.raises(DataError, match="header line") as refusal:
            open_file(File(save(first + "\n"), **told))
        assert "12" not in str(refusal.value).replace(str(save("")), "")


values = st.one_of(st.text('"";|\t,\n\r\x00 x1.5', max_size=9), st.sampled_from(['"', '""', "\n", "\r\n", "\r", ""]))


@settings(max_examples=200)
@given(
    st.lists(st.lists(values, min_size=2, max_size=3), min_size=1, max_size=5),
    st.booleans(),
    st.integers(1, 40),
    st.sampled_from(COMMAS),
)
def test_records_are_those_of_python_with_any_sign(table, every, size, comma):
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL, delimiter=comma.decode()).writerows(table)
    found = []
    for block in blocks(io.BytesIO(out.getvalue().encode()), size, comma):
        ends = record_ends(block, comma).tolist()
        found += [block[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert [[cell.decode() for cell in cells(each.removesuffix(b"\r\n"), comma)] for each in found] == table


@settings(max_examples=200)
@given(st.lists(st.sampled_from(['"', ",", ";", "\n", "\r", "x", "1", '";"', '"\n']), max_size=25), st.integers(1, 3))
def test_signs_can_be_exchanged(parts, width):
    """A file with semicolons is the file with commas in which the two have changed places: the twin is tested."""
    text, names = "".join(parts).encode(), [str(i) for i in range(width)]
    swap = bytes.maketrans(b",;", b";,")
    found = []
    for each, comma in ((text, b","), (text.translate(swap), b";")):
        tables = [_read(block, names, [], names, Dialect(comma)) for block in blocks(io.BytesIO(each), 7, comma)]
        rows = [row for table in tables for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]
        found.append([[c and (c if comma == b"," else c.translate(swap)) for c in row] for row in rows])
    assert found[0] == found[1]


# The decimal sign

cell = st.one_of(
    st.text("0123456789.,eE+-_ \tinfatyINFxX()", max_size=12),
    st.floats().map(lambda number: repr(number).replace(".", ",")),
    st.sampled_from(["NA", "nan", "", " ", "1 ", "+1", "1,", ",5", "1.5", "1.000,5", "1,000,5", "true", "-inf"]),
).filter(lambda text: text.isascii())


@settings(max_examples=300)
@given(st.lists(cell, min_size=1, max_size=4))
@example(["1,5", "x"])
@example(["1.5", "1,5"])
def test_the_quick_way_to_parse_decimal_commas_gives_the_same_as_the_careful_one(texts):
    lines = b"".join(b"%s;1\n" % text.encode() for text in texts)
    table = _read(lines, ["a", "b"], ["a", "b"], [], Dialect(b";", ","))
    careful = parse(pa.chunked_array([[text.encode() for text in texts]]), ",").to_numpy(zero_copy_only=False)
    assert np.array_equal(_as_numbers(table.column("a")), careful, equal_nan=True)
    for text, number in zip(texts, careful, strict=True):  # and the same as of the text with a point
        alone = parse(pa.chunked_array([[text.replace(",", ".").encode()]])).to_numpy(zero_copy_only=False)[0]
        assert np.isnan(number) if "." in text else np.array_equal(number, alone, equal_nan=True)


def test_decimal_commas_are_declared_and_never_guessed(save):
    path = save("a;b\n1,5;2\nx;3,25\n1.5;4\n")
    assert np.array_equal(read(File(path, decimal=",")), [[1.5, 2], [np.nan, 3.25], [np.nan, 4]], equal_nan=True)
    assert np.array_equal(read(path), [[np.nan, 2], [np.nan] * 2, [1.5, 4]], equal_nan=True)
    assert read(File(save('a,b\n"1,5","2"\n'), decimal=",")) == [[1.5, 2]]
    assert read(File(save("a\n1,5\n2\n"), decimal=",")) == [[1.5], [2]]


def test_a_column_of_decimal_commas_is_refused_with_what_may_help(save):
    with pytest.raises(NotNumericError, match="decimal=','") as refusal:
        open_file(save("a;b\n1,5;2\n2,5;3\n")).check_numeric(["a"])
    assert "1,5" not in str(refusal.value)
    assert "say so: --decimal , or" in in_commands(str(refusal.value))
    assert "hour(a)" in str(refusal.value)


# Titles and encodings


def test_a_title_is_skipped_by_lines_and_not_looked_at(save):
    path = save(b'Trips "of the city\n\n\xff\xfe' + b"x" * 300_000 + b"\nlon,lat\n1,2\n")
    assert read(File(path, header_line=4)) == [[1, 2]]
    with pytest.raises(DataError, match="no header line"):
        open_file(File(path, header_line=9))


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "utf-8-sig", "mac-roman"]
)
def test_text_of_a_declared_encoding_is_read_in_any_cut(save, encoding, monkeypatch):
    text = 'länge;who;note\r\n1,5;é;"a\r\n;b"\r\n2;ö;x\r\n' * 1
    for size in (1, 3, 2**16):
        monkeypatch.setattr("covey.private.tables.text.BUFFER", size)
        monkeypatch.setattr(csv_files, "BLOCK", 5)
        table = open_file(File(save(text.encode(encoding)), encoding=encoding, decimal=","))
        assert table.names == ("länge", "who", "note")
        found = [piece() for piece in table.pieces_with_ids(("länge",), "who")]
        assert np.concatenate([numbers[0] for numbers, _ in found]).tolist() == [1.5, 2]
        assert [who.decode() for _, ids in found for who in ids.to_pylist()] == ["é", "ö"]
        assert table.rows() == 2


def test_half_letters_of_utf16_are_replaced_in_their_own_row_alone(save):
    def units(text: str) -> bytes:
        return text.encode("utf-16-le", "surrogatepass")

    for value in ("\ud800", "\udc00", "\ud800\ud800", "x\udfff"):
        path = save(b"\xff\xfe" + units(f"a,who\n1,ann\n2,{value}\n3,bob\n") + b"x")
        table = open_file(File(path, encoding="utf-16"))
        numbers, ids = next(table.pieces_with_ids(("a",), "who"))()
        assert numbers[0].tolist() == [1, 2, 3]
        assert [ids.to_pylist()[i] for i in (0, 2)] == [b"ann", b"bob"]


def test_what_begins_as_utf16_is_refused_with_the_option_to_give(save):
    for encoding in ("utf-16-le", "utf-16-be"):
        path = save("\ufeffa,b\n1,2\n".encode(encoding))
        with pytest.raises(DataError, match="encoding='utf-16'"):
            open_file(path)
        assert read(File(path, encoding="utf-16")) == [[1, 2]]
    with pytest.raises(DataError, match="not UTF-8 text; give its encoding"):
        open_file(save("länge,b\n1,2\n".encode("cp1252")))
    with pytest.raises(DataError, match="not UTF-16 text"):
        open_file(File(save(b"\xff\xfe\x00\xd8,\0b\0\n\0"), encoding="utf-16"))


# What is declared


@pytest.mark.parametrize(
    ("told", "name"),
    [
        *(({"delimiter": each}, "delimiter") for each in ("", ";;", '"', "\n", "x", "1", ".", "é", 7, "-")),
        *(({"decimal": each}, "decimal") for each in ("", ";", None)),
        *(({"header_line": each}, "header_line") for each in (0, -1, "2", True, 1.0, 10**9)),
        *(({"encoding": each}, "encoding") for each in ("nonsense", "shift_jis", "utf-7", "base64", None, "x\0")),
        *(({"encoding": each}, "encoding") for each in ("iso2022_jp", "hz", "unicode_escape", "raw_unicode_escape")),
        ({"sheet": ""}, "sheet"),
        ({"geometry": 7}, "geometry"),
        ({"format": "doc"}, "format"),
        ({"sheet": "x"}, "sheet"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(save, told, name):
    with pytest.raises(ParameterError, match=f"^{name}: "):
        open_file(File(save("a,b\n1,2\n"), **told))


def test_a_format_refuses_what_it_has_no_use_for(tmp_path):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "rows.parquet")
    for told in ({"delimiter": ";"}, {"decimal": ","}, {"header_line": 2}, {"encoding": "cp1252"}, {"sheet": "x"}):
        with pytest.raises(ParameterError, match="Parquet file"):
            open_file(File(tmp_path / "rows.parquet", **told))


def test_a_format_may_be_declared(save):
    assert read(File(save("a,b\n1,2\n", "rows.dat"), format="csv")) == [[1, 2]]
    with pytest.raises(DataError, match="must end in"):
        open_file(save("a,b\n1,2\n", "rows.dat"))


def test_how_a_file_is_read_is_part_of_the_request(save):
    """A key is bound to it: the same key with another reading is another request."""
    path, bounds = save("a;b\n" + "1,5;2\n" * 50), Box(a=(0, 9), b=(0, 9))
    book = Ledger.memory(dataset="d", epsilon=3).with_key("monday")
    ask = {"k": 2, "epsilon": 1, "bounds": bounds, "ledger": book, "dataset": "d", "algorithm": "lloyd"}
    first = fit(File(path, decimal=",", delimiter=";"), **ask)
    assert fit(File(path, decimal=",", delimiter=";"), **ask).to_json() == first.to_json()
    with pytest.raises(Exception, match="key"):
        fit(File(path, decimal=","), **ask)


# Names that are nearly there


@pytest.mark.parametrize("name", [" Lon ", "LONGITUDE", "Longitude (deg)", "lng", "Long.", "longitude_[°]", "Lon"])
def test_names_that_may_be_meant_are_suggested(save, name):
    path = save(f"id,{name},lat\n")
    with pytest.raises(DataError, match="Is it") as refusal:
        fit(path, k=1, epsilon=1, bounds=Box(lon=(0, 1), lat=(0, 1)))
    assert repr(name) in str(refusal.value).partition("Is it")[2]
    with pytest.raises(ParameterError, match="Is it 'id'"):
        fit(path, k=1, epsilon=1, bounds=Box(lat=(0, 1)), person="ID")


@pytest.mark.parametrize(("header", "sign"), [("lon;lat;Temp, max", "';'"), ("lon\tlat\tTemp, max", "'tab'")])
def test_a_header_with_another_sign_says_which_option_to_give(save, header, sign):
    path = save(header + "\n1;2;3\n")
    with pytest.raises(DataError, match="delimiter=") as refusal:
        fit(path, k=1, epsilon=1, bounds=Box(lon=(0, 1), lat=(0, 1)))
    assert f"delimiter={sign} (--delimiter {sign})" in str(refusal.value)


def test_names_that_are_not_meant_are_not_suggested(save):
    with pytest.raises(DataError) as refusal:
        fit(save("height,weight\n"), k=1, epsilon=1, bounds=Box(lon=(0, 1)))
    assert "Is it" not in str(refusal.value)
    assert "delimiter" not in str(refusal.value)


def test_a_number_beside_words_in_one_cell_of_a_header_is_a_row():
    from covey.private.tables.csv.header import look_like_a_row

    assert look_like_a_row(["", "0.25;0.5;Ann"])
    assert look_like_a_row(["0.1234567x", "y"])
    assert not look_like_a_row(["lon;lat;2020", "v1.2|b", "pm2.5", "share_0,125"])
