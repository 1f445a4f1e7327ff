"""Person columns: the same people whatever the table and the type, refusals before any charge, no id in a message."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_data_sets import write

from covey.errors import ParameterError
from covey.post.threads import in_order
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import open_table
from covey.private.tables.ids import arrow_ids

SECRET = "Quail 0.123456789"
A = [0.5 * i for i in range(6)]


def people(data, columns=("a",)) -> list:
    table = open_table(data)
    table.check_person("who")
    pieces = in_order(lambda piece: piece(), table.pieces_with_ids(columns, "who"))
    assert all(numbers.shape == (len(columns), len(ids)) for numbers, ids in pieces)
    assert {str(ids.type) for _, ids in pieces} <= {"int64", "large_binary"}
    assert np.concatenate([numbers[columns.index("a")] for numbers, _ in pieces]).tolist() == A
    return [each for _, ids in pieces for each in ids.to_pylist()]


def every_table(ids, kind, folder):
    column = pa.array(ids, kind)
    table = pa.table({"a": A, "who": column})
    yield "arrow", table
    yield "arrow dictionary", pa.table({"a": A, "who": column.dictionary_encode()})
    yield "record batch", table.to_batches()[0]
    yield "pandas", table.to_pandas()
    yield "pandas arrow", table.to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas nullable", table.to_pandas().convert_dtypes()
    yield "pandas category", table.to_pandas().astype({"who": "category"})
    yield "pandas object", table.to_pandas(types_mapper=pd.ArrowDtype).astype({"who": object})
    yield "polars", pl.from_arrow(table)
    for ending in ("parquet", "arrow", "feather"):
        yield ending, write(folder / f"rows.{ending}", a=A, who=column)
    for i in range(2):
        write(folder / "many" / f"{i}.parquet", a=A[3 * i : 3 * i + 3], who=column[3 * i : 3 * i + 3])
    yield "folder", folder / "many"


@pytest.mark.parametrize(
    ("ids", "kind", "expected"),
    [
        (["x", "y", None, "x", "", "ü"], pa.string(), [b"x", b"y", None, b"x", b"", "ü".encode()]),
        ([7, -1, None, 7, 2**62, 0], pa.int64(), [7, -1, None, 7, 2**62, 0]),
        ([7, 1, 7, 7, 2**31, 0], pa.uint64(), [7, 1, 7, 7, 2**31, 0]),
        ([b"\xff", b"", None, b"\xff", b"1", b"1"], pa.binary(), [b"\xff", b"", None, b"\xff", b"1", b"1"]),
    ],
    ids=["text", "whole numbers", "unsigned", "bytes"],
)
def test_every_table_tells_the_same_people(ids, kind, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("covey.private.tables.base.PIECE_VALUES", 2)
    for name, data in every_table(ids, kind, tmp_path):
        assert people(data) == expected, name


def test_the_person_may_be_one_of_the_columns(tmp_path):
    frame = pd.DataFrame({"a": A, "who": [1, 2, 3, 1, 2, 3]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    for data in (frame, pl.DataFrame(frame), tmp_path / "rows.parquet"):
        assert people(data, ("who", "a")) == [1, 2, 3, 1, 2, 3]
    assert people(tmp_path / "rows.csv", ("who", "a")) == [b"1", b"2", b"3", b"1", b"2", b"3"]


def test_numbers_are_the_same_person_in_any_type(tmp_path):
    """A file in which an id is missing often holds its whole numbers as floats."""
    write(tmp_path / "1.parquet", a=A[:3], who=pa.array([7, 0, -3], pa.int32()))
    write(tmp_path / "2.parquet", a=A[3:5], who=pa.array([7.0, float("nan")]))
    write(tmp_path / "3.parquet", a=A[5:], who=pa.array([None], pa.null()))
    assert people(tmp_path) == [7, 0, -3, 7, None, None]


@given(st.lists(st.floats() | st.none(), max_size=20))
def test_floats_are_equal_ids_if_and_only_if_they_are_equal(values):
    ids = arrow_ids(pa.array(values, pa.float64())).to_pylist()
    for value, mine in zip(values, ids, strict=True):
        assert (mine is None) == (value is None or value != value)
        for other, theirs in zip(values, ids, strict=True):
            if mine is not None and theirs is not None:
                assert (mine == theirs) == (value == other)


def test_large_unsigned_numbers_stay_apart():
    values = [2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1, 0]
    assert len(set(arrow_ids(pa.array(values, pa.uint64())).to_pylist())) == 5
    frame = pd.DataFrame({"a": A[:3], "who": pd.Series([2**70, 2**70 + 1, None], dtype=object)})
    ((_, ids),) = [piece() for piece in open_table(frame).pieces_with_ids(("a",), "who")]
    assert len(set(ids.to_pylist())) == 3


UNSUPPORTED = {
    "list": pa.array([["Quail"]]),
    "structure": pa.array([{"name": "Quail"}]),
    "date": pa.array([datetime.date(2024, 1, 1)]),
    "time": pa.array([datetime.datetime(2024, 1, 1)]),
    "null": pa.nulls(1),
}


@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_what_is_no_id_is_refused_by_its_type(kind, tmp_path):
    table = pa.table({"a": [1.0], "who": UNSUPPORTED[kind]})
    pq.write_table(table, tmp_path / "rows.parquet")
    for data in (table, pl.from_arrow(table), tmp_path / "rows.parquet"):
        with pytest.raises(ParameterError, match=r"^person: column 'who'") as refusal:
            open_table(data).check_person("who")
        assert "Quail" not in str(refusal.value)
        assert refusal.value.__cause__ is None
        with pytest.raises(ParameterError, match=r"^person: "):
            list(open_table(data).pieces_with_ids(("a",), "who"))


@pytest.mark.parametrize(
    "ids",
    [[SECRET, 1], [["Quail"], None], [object(), None], [1.5, "x"], [datetime.date(2024, 1, 1), None], [SECRET, b"x"]],
)
@pytest.mark.parametrize("kind", [object, "category"])
def test_objects_of_several_kinds_are_refused_without_their_text(ids, kind):
    if kind == "category" and isinstance(ids[0], list):
        pytest.skip("pandas refuses lists as categories")
    frame = pd.DataFrame({"a": [1.0, 2.0], "who": pd.Series(ids, dtype=object).astype(kind)})
    with pytest.raises(ParameterError, match=r"^person: column 'who' holds") as refusal:
        open_table(frame).check_person("who")
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(pd.period_range("2020", periods=2, freq="D")),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series([1 + 2j, 3]),
        pd.Series(pd.arrays.SparseArray([1, 0])),
        pd.Series(pd.date_range("2020", periods=2)),
        pl.Series([object(), None], dtype=pl.Object),
        pl.Series([1, 2], dtype=pl.Int128),
    ],
    ids=lambda series: str(series.dtype),
)
def test_types_that_arrow_does_not_know_are_refused(series):
    frame = type(series).__module__.startswith("pandas") and pd.DataFrame({"who": series})
    with pytest.raises(ParameterError, match=r"^person: column 'who' holds"):
        open_table(frame if isinstance(frame, pd.DataFrame) else pl.DataFrame({"who": series})).check_person("who")


def test_people_need_names_that_are_there(tmp_path):
    with pytest.raises(ParameterError, match=r"^person: needs columns with names"):
        open_table(np.zeros((2, 2))).check_person("who")
    with pytest.raises(ParameterError, match=r"^person: needs columns with names"):
        open_table([[1.0, 2.0]]).pieces_with_ids(None, "who")
    path = write(tmp_path / "rows.csv", a=A, b=A)
    for data in (pd.DataFrame({"a": A, "b": A}), pl.DataFrame({"a": A, "b": A}), path):
        with pytest.raises(ParameterError, match=r"^person: the data has no column 'who'; it has 'a', 'b'$"):
            open_table(data).check_person("who")
    with pytest.raises(ParameterError, match=r"^person: the data has several columns 'a'"):
        open_table(pd.DataFrame([[1, 2]], columns=["a", "a"])).check_person("a")
    sampled = SampledTable(open_table(path), lambda: iter([]))
    with pytest.raises(ParameterError, match=r"^person: cannot be combined with sample"):
        sampled.check_person("a")


def test_files_must_agree_about_people(tmp_path):
    write(tmp_path / "1.parquet", a=[1.0], who=["7"])
    write(tmp_path / "2.parquet", a=[1.0], who=[7])
    with pytest.raises(ParameterError, match=r"'who' holds text in .*1.parquet' and numbers in .*2.parquet'"):
        open_table(tmp_path).check_person("who")
    for i, digits in enumerate((2, 0)):
        cells = pa.array([decimal.Decimal(7)], pa.decimal128(9, digits))
        write(tmp_path / "decimals" / f"{i}.parquet", a=[1.0], who=cells)
    with pytest.raises(ParameterError, match=r"holds decimals of 2 digits in"):
        open_table(tmp_path / "decimals").check_person("who")
    assert people_of(tmp_path / "decimals" / "0.parquet") == [b"7.00"]


def people_of(path) -> list:
    ((_, ids),) = [piece() for piece in open_table(path).pieces_with_ids(("a",), "who")]
    return ids.to_pylist()


def test_pieces_with_more_values_together_than_their_indices_can_name():
    """One more value, a single person's, must not decide whether an answer comes."""
    small = pa.dictionary(pa.int8(), pa.string())
    pieces = [pa.array([f"{letter}{i}" for i in range(100)]).dictionary_encode().cast(small) for letter in "ab"]
    ids = arrow_ids(pa.chunked_array(pieces))
    assert ids.to_pylist() == [f"{letter}{i}".encode() for letter in "ab" for i in range(100)]
    numbers = [pa.array(range(first, first + 100)).dictionary_encode() for first in (0, 100)]
    few = pa.chunked_array([each.cast(pa.dictionary(pa.int8(), pa.int64())) for each in numbers])
    assert arrow_ids(few).to_pylist() == [*range(200)]
