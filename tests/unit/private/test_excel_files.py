"""Sheets of workbooks: every row below the header is one, blank or not; names come from the header line."""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from covey import File
from covey.errors import DataError, NotNumericError, ParameterError
from covey.private.tables import excel
from covey.private.tables.files import open_file

NAN = np.nan


@pytest.fixture
def save(tmp_path):
    def write(*rows: list, **others: list) -> str:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for name, more in others.items():
            sheet = book.create_sheet(name)
            for row in more:
                sheet.append(row)
        book.save(tmp_path / "rows.xlsx")
        return str(tmp_path / "rows.xlsx")

    return write


def read(source, columns=None) -> list[list[float]]:
    table = open_file(source)
    table.check_numeric(columns)
    return np.concatenate([piece() for piece in table.pieces(columns)], axis=1).T.tolist()


def same(found, expected) -> bool:
    return np.array_equal(np.array(found, dtype=float), np.array(expected, dtype=float), equal_nan=True)


def test_cells_are_numbers_or_missing(save):
    values = [1.5, 2, True, "3.5", " 4 ", "x", None, datetime.datetime(2020, 1, 1), "", "=1/0", "1,5"]
    path = save(["a", "b"], *([each, 0] for each in values))
    assert same(read(path, ["a"]), [[x] for x in (1.5, 2, 1, 3.5, 4, NAN, NAN, NAN, NAN, NAN, NAN)])
    assert open_file(path).rows() == len(values)


def test_ids_of_a_sheet(save):
    path = save(["a", "who"], [1, "ann"], [2, 7], [3, "7"], [4, None], [5, 7.5], [6, True])
    ids = [who for piece in open_file(path).pieces_with_ids(("a",), "who") for who in piece()[1].to_pylist()]
    assert ids == [b"ann", b"7", b"7", b"", b"7.5", b"true"]


@pytest.mark.parametrize(("value", "style"), [(1e10, "[h]:mm"), (-1e15, "yyyy-mm-dd"), (-1e300, "hh:mm")])
def test_a_date_beyond_all_calendars_is_a_row_and_no_error(tmp_path, value, style):
    """In whichever column: calamine breaks off, or panics, over the whole sheet."""
    for place in (1, 2, 3):
        book = openpyxl.Workbook()
        for row in (["a", "note", "who"], [1, 1, "ann"], [2, 2, "bob"], [3, 3, "eve"]):
            book.active.append(row)
        book.active.cell(3, place, value).number_format = style
        book.save(tmp_path / "rows.xlsx")
        table = open_file(tmp_path / "rows.xlsx")
        table.check_numeric(["a"])
        [(numbers, ids)] = [piece() for piece in table.pieces_with_ids(("a",), "who")]
        assert same(numbers[0], [1, NAN, 3])
        assert ids.to_pylist() == [b"ann", b"", b"eve"]
        assert table.rows() == 3


@pytest.mark.parametrize("blank", [0, 1, 5])
def test_blank_rows_at_the_end_that_the_file_holds_are_rows(tmp_path, blank):
    """pandas writes a record without a value as a row of empty cells; others leave a style behind."""
    values = [1.0, None, 2.0, *[None] * blank]
    pd.DataFrame({"a": values, "b": values}).to_excel(tmp_path / "rows.xlsx", index=False)
    table = open_file(tmp_path / "rows.xlsx")
    assert table.rows() == 3 + blank
    assert same(read(tmp_path / "rows.xlsx"), [[1, 1], [NAN] * 2, [2, 2], *[[NAN] * 2] * blank])


def test_rows_that_do_not_say_their_number_follow_one_another(tmp_path, save):
    path = save(["a"], [1.0], [None], [2.0])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "new.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content = content.replace(b"</sheetData>", b'<row/><row r="9" /><row spans="1:2"></row></sheetData>')
                content += b'<!-- --><rowBreaks count="1"></rowBreaks>'
            new.writestr(name, content)
    assert excel._last_row(tmp_path / "new.xlsx", "xl/worksheets/sheet1.xml") == 10


def test_the_last_row_is_found_in_any_cut(save, monkeypatch):
    path = save(["a"], *([float(i)] for i in range(50)))
    for size in (1, 7, 100, 2**20):
        monkeypatch.setattr(excel, "BLOCK", size)
        assert excel._last_row(path, "xl/worksheets/sheet1.xml") == 51


@pytest.mark.parametrize("text", ['<row r="500">', "<row>]] <row>", "", ']]]><![CDATA[<row r="9">'])
def test_a_tag_in_the_text_of_the_last_row_is_no_row(save, tmp_path, text, monkeypatch):
    """Some writers do not escape a text but enclose it."""
    path = save(["a", "note"], [1.0, "x"], [2.0, "here"])
    cell = f'<c r="B3" t="inlineStr"><is><t><![CDATA[{text}]]></t></is></c>'.encode()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "new.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("xl/worksheets/"):
                content = re.sub(rb'<c r="B3".*?</c>', cell, content)
            new.writestr(name, content)
    for size in (1, 7, 100, 2**20):
        monkeypatch.setattr(excel, "BLOCK", size)
        assert open_file(tmp_path / "new.xlsx").rows() == 2


def test_the_header_may_stand_below_a_title(save):
    path = save(["Trips of the city"], [], ["a", None, "b", "c"], [1, "x", 2, 3])
    source = File(path, header_line=3)
    assert open_file(source).names == ("a", "b", "c")
    assert read(source, ["b", "a"]) == [[2, 1]]
    with pytest.raises(DataError, match="names no columns; give header_line"):
        open_file(File(path, header_line=2))
    with pytest.raises(DataError, match="names no columns"):
        open_file(File(path, header_line=99))
    assert open_file(save([2019, 2020, 2021], [1, 2, 3])).names == ("2019", "2020", "2021")
    with pytest.raises(DataError, match="holds numbers"):
        open_file(save([1.5, 2.5], [3.5, 4.5]))


def test_a_sheet_is_chosen_by_name_where_there_are_several(save):
    path = save(["a"], [1], Other=[["b"], [2]])
    with pytest.raises(ParameterError, match=r"sheet: .* has several sheets: choose one of 'Sheet', 'Other'"):
        open_file(path)
    with pytest.raises(ParameterError, match="no sheet 'x'"):
        open_file(File(path, sheet="x"))
    assert read(File(path, sheet="Other")) == [[2]]


def test_a_hidden_sheet_does_not_count(save):
    path = save(["a"], [1], Other=[["b"], [2]])
    book = openpyxl.load_workbook(path)
    book["Other"].sheet_state = "hidden"
    book.save(path)
    assert read(path) == [[1]]
    assert read(File(path, sheet="Other")) == [[2]]


def test_a_column_of_text_is_refused_without_it(save):
    with pytest.raises(NotNumericError) as refusal:
        open_file(save(["a"], ["Quail"], ["Quail"])).check_numeric(["a"])
    assert "Quail" not in str(refusal.value)


def test_a_sheet_is_parsed_once_for_all_passes(save, monkeypatch):
    table, asked = open_file(save(["a", "b"], *([i, i] for i in range(9)))), []
    cells = excel._cells
    monkeypatch.setattr(excel, "_cells", lambda *given: asked.append(1) or cells(*given))
    for _ in range(3):
        assert sum(piece().shape[1] for piece in table.pieces(("b", "a"))) == 9
    assert len(asked) == 1


# Hostile files


def test_a_workbook_that_unpacks_to_too_much_is_refused(save, monkeypatch):
    path = save(["a"], [1])
    monkeypatch.setattr(excel, "MOST_UNPACKED", 100)
    with pytest.raises(DataError, match="unpacks to more"):
        open_file(path)


def test_a_workbook_that_lies_about_its_size_is_refused(save, tmp_path):
    path = save(["a"], *([i] for i in range(10_000)))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("xl/worksheets/sheet1.xml")
    true, lie = info.file_size.to_bytes(4, "little"), (50).to_bytes(4, "little")
    content = Path(path).read_bytes()
    assert true in content
    (tmp_path / "lie.xlsx").write_bytes(content.replace(true, lie))
    with pytest.raises(DataError, match="cannot be read as a Excel file"):
        open_file(tmp_path / "lie.xlsx")


def test_entities_mean_nothing(save, tmp_path):
    """calamine expands none and refuses the file; no pattern of ours looks into them."""
    path = save(["a", "b"], [1, "text"], [2, "text"])
    (tmp_path / "secret").write_text("Quail")
    kind = b'<!DOCTYPE x [<!ENTITY e SYSTEM "secret"><!ENTITY l "&e;&e;&e;">]>'
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "new.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("xl/") and name.endswith(".xml"):
                start = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
                content = content[:start] + kind + content[start:].replace(b"text", b"&l;")
            new.writestr(name, content)
    with pytest.raises(DataError, match="cannot be read as a Excel file") as refusal:
        open_file(tmp_path / "new.xlsx")
    assert "Quail" not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"a,b\n1,2\n"])
def test_what_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "rows.xlsx").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as a Excel file"):
        open_file(tmp_path / "rows.xlsx")
    with zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as archive:
        archive.writestr("rows.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="cannot be read as a Excel file"):
        open_file(tmp_path / "rows.xlsx")
