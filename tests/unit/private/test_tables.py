"""Tables in memory: what is refused by its type, what is read as missing, and what messages never say."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covey.errors import DataError, NotNumericError
from covey.private.tables.base import piece_rows
from covey.private.tables.frames import ArrayTable, FrameTable, open_table

SECRET = "Quail-0.123456789"


def read(data, columns=None) -> np.ndarray:
    table = open_table(data)
    table.check_numeric(columns)
    pieces = [piece() for piece in table.pieces(columns)]
    return np.concatenate(pieces, axis=1) if pieces else np.empty((len(columns or table.names or ()), 0))


@pytest.mark.parametrize(
    "data",
    [
        [[SECRET, 1.0]],
        np.array([[SECRET]]),
        np.array([[SECRET, 1.0]], dtype=object),
        np.array([[{SECRET: 1}]], dtype=object),
        np.array([[SECRET.encode()]]),
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        np.array([[1 + 2j]]),
        pd.DataFrame({"a": [SECRET]}),
        pd.DataFrame({"a": pd.array([SECRET], dtype="string")}),
        pd.DataFrame({"a": pd.Categorical([SECRET])}),
        pd.DataFrame({"a": [1, SECRET]}),
        pd.DataFrame({"a": [pd.Timestamp("2020-01-01")]}),
        pd.DataFrame({"a": [1j]}),
        pl.DataFrame({"a": [SECRET]}),
        pl.DataFrame({"a": pl.Series([SECRET], dtype=pl.Enum([SECRET]))}),
        pl.DataFrame({"a": pl.Series([SECRET], dtype=pl.Categorical)}),
        pl.DataFrame({"a": [datetime.date(2020, 1, 1)]}),
        pl.DataFrame({"a": [[1.0]]}),
        pl.DataFrame({"a": [{SECRET: 1.0}]}),
        pl.DataFrame({"a": [None]}),
        pl.DataFrame({"a": pl.Series([2**100], dtype=pl.Int128)}),
        pa.table({"a": [SECRET]}),
        pa.table({"a": pa.array([SECRET]).dictionary_encode()}),
        pa.table({"a": [[1.0]]}),
        pa.table({"a": [datetime.datetime(2020, 1, 1)]}),
        pa.table({"a": pa.nulls(2)}),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_not_numeric_is_refused_by_type_without_its_text(data):
    with pytest.raises(NotNumericError) as refusal:
        read(data)
    text = str(refusal.value)
    assert isinstance(refusal.value, TypeError)
    assert "Quail" not in text
    assert "0.123456789" not in text
    assert "numeric" in text or "Complex" in text
    assert refusal.value.__cause__ is None


def test_the_length_of_the_longest_text_is_not_told():
    messages = set()
    for text in ("x", "x" * 40):
        with pytest.raises(NotNumericError) as refusal:
            read(np.array([[text]]))
        messages.add(str(refusal.value))
    assert len(messages) == 1


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ([1.0, 2.0], "2D array"),
        (np.zeros((2, 2, 2)), "2D array"),
        (None, "2D array"),
        (7.0, "2D array"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        (np.empty((3, 0)), "0 feature"),
        (pd.DataFrame(index=[1, 2]), "0 feature"),
        (pl.DataFrame(), "0 feature"),
        (pa.table({}), "0 feature"),
        (pd.Series([1.0]), "2D array"),
        (pl.Series([1.0]), "to_frame"),
    ],
)
def test_what_is_not_a_table_is_refused(data, word):
    with pytest.raises(DataError, match=word):
        open_table(data)


def test_sparse_matrices_are_refused():
    from scipy import sparse

    for make in (sparse.csr_array, sparse.coo_matrix):
        with pytest.raises(NotNumericError, match="toarray"):
            open_table(make(np.eye(2)))


def test_python_objects_that_are_numbers_are_read():
    from decimal import Decimal
    from fractions import Fraction

    values = [1, 2.5, Decimal("0.5"), Fraction(1, 4), True, None, pd.NA, 10**400, np.float32(3)]
    expected = [1, 2.5, 0.5, 0.25, 1, np.nan, np.nan, np.nan, 3]
    assert np.array_equal(read(np.array(values, dtype=object)[:, None])[0], expected, equal_nan=True)
    assert np.array_equal(read(pd.DataFrame({"a": pd.Series(values, dtype=object)}))[0], expected, equal_nan=True)


def test_zero_rows_are_a_table():
    for data in (
        np.empty((0, 2)),
        pd.DataFrame({"a": np.empty(0), "b": np.empty(0)}),
        pa.table({"a": pa.array([], pa.float64())}),
    ):
        table = open_table(data)
        table.check_numeric(None)
        assert list(table.pieces(None)) == []


def test_only_the_chosen_columns_must_be_numeric():
    frame = pd.DataFrame({"name": [SECRET], "b": [2.0], "a": [1.0]})
    for data in (frame, pl.DataFrame(frame.to_dict("list")), pa.Table.from_pandas(frame)):
        assert read(data, ("a", "b")).tolist() == [[1.0], [2.0]]


def test_opening_and_checking_read_no_piece():
    asked = []

    def reader(name):
        return lambda places: asked.append((name, places)) or np.zeros(10)

    table = FrameTable(["a", "b"], 10, reader, reader, reader, reader)
    table.check_numeric(None)
    pieces = list(table.pieces(None))
    assert asked == []
    pieces[0]()
    assert asked == [("a", slice(0, 10)), ("b", slice(0, 10))]


def test_names_that_are_not_text_become_text():
    table = open_table(pd.DataFrame(np.zeros((1, 2)), columns=[0, ("x", 1)]))
    assert table.names == ("0", "('x', 1)")


@pytest.mark.parametrize("columns", [0, 1, 2, 784, 10**7])
def test_pieces_have_a_bounded_public_size(columns):
    assert 256 <= piece_rows(columns) <= 2**17


def test_an_array_is_not_changed_by_reading():
    rows = np.array([[np.nan, 5.0], [-9.0, np.inf]])
    before = rows.copy()
    piece = next(ArrayTable(rows).pieces(None))()
    piece[:] = 0
    assert np.array_equal(rows, before, equal_nan=True)
