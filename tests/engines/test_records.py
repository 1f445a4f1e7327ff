"""One record, one row: whatever a person's values are, written by whichever writer and read by whichever reader.

Inserting a record adds exactly one row and moves no other; replacing one keeps their number; no value reaches another
person's rows.
"""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest
from openpyxl.utils.exceptions import IllegalCharacterError

import writers
from covey import Box
from covey.errors import DataError
from covey.private.narrowed.cap import CappedTable
from covey.private.tables.csv import reader as csv_files
from covey.private.tables.csv import records as csv_records
from covey.private.tables.frames import open_table
from covey.private.tables.ids import has_id
from covey.public import resolve_bounds
from writers import BYTES, CSV, EVERY, LOSSY, write_csv, write_dialect

HOSTILE = [
    "\n" * 100,
    "x\n1.5,y,ann\n2.5,y,bob\n",
    "\r\n",
    "\r",
    "ann\r",
    "a\rb",
    '"',
    '""',
    '",\n"',
    '"ann"',
    'x"\n',
    ",",
    ",,,\n,,,",
    "",
    " ",
    None,
    "\0",
    "\ufeff",
    "\ufeffann",
    '\ufeff"ann',
    "x" * 70_000,
    '"\n' * 40_000,
    "NA",
    "nan",
    "7",
    "7.0",
    "\\",
    '\\"\n',
    "'\n'",
    "\x85\u2028\x0b\x0c",
    "é",
    "#",
]
BINARY = ["\udcff\udcfe", "\udcff\n\udc80"]
PEOPLE = ["ann", "bob", "7", "ann\nbob", 'a"b']


def table(values: list[tuple[float | None, str | None, str | None]]) -> writers.Columns:
    """A number that is clustered, a text that is not, and whose row it is."""
    return {name: [each[i] for each in values] for i, name in enumerate(("x", "note", "who"))}


BASE = [(float(i), f"note {i}", who) for i, who in enumerate(PEOPLE)]


def rows(data: object) -> list[tuple[float, bytes | None]]:
    """All rows of a table, in order: their number, and their id as bytes if they have one."""
    opened, found = open_table(data), []
    for piece in opened.pieces_with_ids(("x",), "who"):
        numbers, ids = piece()
        told = [who if there else None for who, there in zip(ids.to_pylist(), has_id(ids), strict=True)]
        found += list(zip(numbers[0].tolist(), told, strict=True))
    alone = [number for piece in opened.pieces(("x",)) for number in piece()[0].tolist()]
    assert str(alone) == str([number for number, _ in found]), "the same rows with ids and without"
    assert opened.rows() == len(found)
    return [(None if math.isnan(number) else number, who) for number, who in found]


def told(record: tuple[float | None, str | None, str | None]) -> tuple[float | None, bytes | None]:
    number, _, who = record
    return number, None if not who else who.encode(errors="surrogateescape")


@pytest.mark.parametrize(
    ("way", "block"),
    [*((way, 2**22) for way in EVERY), *((way, 11) for way in ("csv-all", "pandas", "polars", "gzip"))],
)
def test_one_record_is_one_row(way, block, tmp_path, monkeypatch):
    """Each hostile value, as a text that nobody asks for and as an id, is in exactly one row and changes no other."""
    monkeypatch.setattr(csv_files, "BLOCK", block)
    hostile = HOSTILE + (BINARY if way in BYTES else [])
    if block < 2**22:
        hostile = [each for each in hostile if len(each or "") < 1000]
    for number, value in enumerate(hostile):
        place = number % (len(BASE) + 1)
        for record in ((0.5, value, "new"), (None, "text", value)):
            inserted = [*BASE[:place], record, *BASE[place:]]
            assert rows(EVERY[way](table(inserted), tmp_path)) == [told(each) for each in inserted]
        replaced = [*BASE[:-1], (0.5, value, value)]
        assert rows(EVERY[way](table(replaced), tmp_path)) == [told(each) for each in replaced]


@pytest.mark.parametrize("way", LOSSY)
def test_one_record_is_one_row_whatever_becomes_of_its_text(way, tmp_path):
    """Formats that cannot hold every text: a record is a row, blank or not, also the last one, and moves no other."""
    for number, value in enumerate(HOSTILE):
        place = number % (len(BASE) + 1)
        empty = [(None, None, None)] if number <= len(BASE) else []  # once in each place
        for record in ((0.5, value, "new"), (0.5, "text", value), (None, value, value), *empty):
            inserted = [*BASE[:place], record, *BASE[place:]]
            try:
                path = write_dialect(way, table(inserted), tmp_path)
            except IllegalCharacterError:
                continue
            found = rows(path)
            assert [number for number, _ in found] == [number for number, _, _ in inserted]
            assert [*found[:place], *found[place + 1 :]] == [told(each) for each in BASE]


@pytest.mark.parametrize("way", CSV)
def test_a_text_among_numbers_is_a_missing_value_of_its_own_row(way, tmp_path):
    for value in (
        each for each in HOSTILE if each is not None and not each.strip(" \r\n").replace(".", "").isdecimal()
    ):
        values = [*BASE[:2], (value, "note", "new"), *BASE[2:]]
        columns = table(values) | {"x": [str(each) if isinstance(each, float) else each for each, _, _ in values]}
        assert rows(write_csv(way, columns, tmp_path)) == [
            told((None, *each[1:]) if each[2] == "new" else each) for each in values
        ]


@pytest.mark.parametrize("way", [*EVERY, *LOSSY])
def test_a_missing_value_in_a_single_column_is_a_row(way, tmp_path):
    """csv and pandas write two quotes, polars and Arrow an empty line."""
    write = EVERY.get(way, partial(write_dialect, way))
    for values in ([1.0, None, 2.0], [None, 1.0], [1.0, None], [None, None, 1.0, None]):
        opened = open_table(write({"x": values}, tmp_path))
        found = [number for piece in opened.pieces(("x",)) for number in piece()[0].tolist()]
        assert str(found) == str([math.nan if each is None else each for each in values])
        assert opened.rows() == len(values)


@pytest.mark.parametrize("way", CSV)
def test_a_single_column_of_hostile_texts_has_a_row_for_each(way, tmp_path):
    """Numbers before them: a column without any is refused."""
    hostile = [*HOSTILE, *(BINARY if way in BYTES else [])]
    values = ["1.5", *hostile, "2.5"]
    opened = open_table(write_csv(way, {"x": values}, tmp_path))
    found = [number for piece in opened.pieces(("x",)) for number in piece()[0].tolist()]
    assert found[0] == 1.5
    assert found[-1] == 2.5
    assert len(found) == len(values) == opened.rows()
    assert sum(not math.isnan(number) for number in found) == 4  # "7" and "7.0" are numbers as well


@pytest.mark.parametrize("way", CSV)
def test_a_record_beyond_the_limit_is_one_row_of_missing_values_that_nobody_owns(way, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_records, "LONGEST_RECORD", 200)
    monkeypatch.setattr(csv_files, "BLOCK", 64)
    for value in ("x" * 300, "\n" * 300, '"' * 300, '",\n' * 100, "\n1.5,note,ann" * 30):
        for long in ((0.5, value, "new"), (0.5, "text", value)):
            inserted = [*BASE[:3], long, *BASE[3:]]
            expected = [(None, None) if each is long else told(each) for each in inserted]
            assert rows(write_csv(way, table(inserted), tmp_path)) == expected


@pytest.mark.parametrize("way", CSV)
def test_names_of_columns_may_be_anything_as_well(way, tmp_path):
    for name in ("a\nb", 'say "hi"', "a,b", "\r\n", "  ", "é\n\n", "a\\"):
        columns = {"x": [1.0, 2.0], name: ["a", "b"], "who": ["ann", "bob"]}
        path = write_csv(way, columns, tmp_path)
        assert open_table(path).names == ("x", name, "who")
        assert rows(path) == [(1.0, b"ann"), (2.0, b"bob")]


@pytest.mark.parametrize("way", CSV)
def test_a_file_without_rows_has_none(way, tmp_path):
    path = write_csv(way, {"x": [], "who": []}, tmp_path)
    assert rows(path) == []
    path.write_bytes(b"" if path.suffix == ".csv" else path.read_bytes()[:0])
    with pytest.raises(DataError):
        open_table(path)


@pytest.mark.parametrize("way", EVERY)
def test_no_value_moves_the_rows_of_others_that_count(way, tmp_path):
    """At most one row of each person: whoever joins, with whatever values, the others keep theirs."""
    domain = resolve_bounds(Box(x=(0, 16)), names=("x", "note", "who"), width=3)

    def kept(values: list) -> list[float]:
        data = open_table(EVERY[way](table(values), tmp_path))
        found = CappedTable(data, domain, "who", most=1, key=bytes(32))
        return sorted(number for piece in found.pieces(("x",)) for number in piece()[0].tolist())

    twice = [*BASE, *((number + 8, note, who) for number, note, who in BASE)]
    before = kept(twice)
    assert len(before) == len(BASE)
    for value in [each for each in HOSTILE if each not in PEOPLE]:
        more = [*twice[:4], (0.25, value, value), *twice[4:], (0.25, value, "new\nperson")]
        assert kept(more) == sorted([*before, *[0.25] * (2 if value else 1)])


def test_one_feature_is_one_row(tmp_path):
    good = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [float(i), 0.5]}} for i in range(3)]
    hostile = [
        *(None, {}, [], "x\n1,2\n", 7, {"geometry": None}, {"geometry": {"coordinates": ["1\n2", '"']}}),
        *({"geometry": {"coordinates": each}} for each in ([], [1], "x\n", [[1, 2]], [10**400, 1], ["\n", "\n"])),
        {"properties": {"note": "\n" * 50 + '"'}, "geometry": {"coordinates": [9.0, 9.0, 1.0]}},
    ]
    for extra in hostile:
        (tmp_path / "a.json").write_text(json.dumps({"type": "FeatureCollection", "features": [*good, extra, *good]}))
        opened = open_table(tmp_path / "a.json")
        found = np.concatenate([piece() for piece in opened.pieces(("lon", "lat"))], axis=1).T
        assert len(found) == opened.rows() == 7
        assert found[:3].tolist() == found[4:].tolist() == [[float(i), 0.5] for i in range(3)]


def test_rows_of_an_array_are_its_rows():
    for value in (math.nan, math.inf, -math.inf, -0.0, 1e308):
        array = np.array([[1.0, 2.0], [value, value], [3.0, 4.0]])
        opened = open_table(array)
        assert opened.rows() == 3
        assert [piece()[:, [0, 2]].T.tolist() for piece in opened.pieces(None)] == [[[1, 2], [3, 4]]]


@pytest.mark.timeout(900)
def test_spark_has_a_row_for_each_record_and_drops_those_without_an_id(spark, tmp_path):
    from covey.private.narrowed.spark import SparkCapped, SparkPeople
    from covey.queries.people import PeopleByRows

    values = [*BASE, *((0.5, each, each) for each in HOSTILE if each != "7"), (0.5, "x", None), (0.5, "x", "")]
    path = writers.parquet_file(table(values), tmp_path)
    frame = spark.read.parquet(str(path))
    domain = resolve_bounds(Box(x=(0, 16)), names=("x", "note", "who"), width=3)
    opened = open_table(frame)
    assert opened.rows() == len(values)
    people = {who for _, _, who in values if who}
    kept = SparkCapped(opened, domain, "who", most=1, key=bytes(32)).frame.collect()
    in_memory = CappedTable(open_table(path), domain, "who", most=1, key=bytes(32))
    assert sorted(row[0] for row in kept) == sorted(
        x for piece in in_memory.pieces(("x",)) for x in piece()[0].tolist()
    )
    assert len(kept) == len(people)
    counted = SparkPeople(opened, domain, "who", key=bytes(32)).total(PeopleByRows(domain, (1, 2, 4)))
    assert counted.sum() == len(people)


@pytest.mark.timeout(900)
def test_spark_refuses_a_file_that_is_there_twice(spark, tmp_path):
    from covey.private.tables.spark import open_path

    (tmp_path / "data set").mkdir()
    path = writers.parquet_file(table(BASE), tmp_path / "data set")
    assert open_path(tmp_path / "data set").rows() == len(BASE)
    (tmp_path / "data set" / "again.parquet").symlink_to(path)
    with pytest.raises(DataError, match=r"again.parquet' and '.*rows.parquet' are the same file"):
        open_path(tmp_path / "data set")


@pytest.mark.timeout(900)
def test_spark_refuses_a_pattern_that_names_a_file_twice(spark, tmp_path):
    """Spark reads a file as often as the choices of a pattern name it, and tells its name once."""
    from covey.private.tables.spark import open_path

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        writers.parquet_file(table(BASE), tmp_path / name)
    assert open_path(f"{tmp_path}/{{a/rows,b/*}}.parquet").rows() == 2 * len(BASE)
    for choices in ("{a/rows,a/rows}.parquet", "{a/rows,a/*}.parquet", "{a,a/rows.parquet}"):
        with pytest.raises(DataError, match="may stand for the same file"):
            open_path(f"{tmp_path}/{choices}")
