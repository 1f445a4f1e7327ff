"""What tables never tell: rows as names of columns, in messages, and in warnings."""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

from covey import Ledger
from covey.errors import DataError, NotNumericError
from covey.fit.fit import fit
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.files import open_file
from covey.private.tables.frames import open_table

SECRET = "0.123456789"
ROWS = np.random.default_rng(0).random((60, 2))


def read(data) -> np.ndarray:
    table = open_table(data)
    table.check_numeric(None)
    return np.concatenate([piece() for piece in table.pieces(None)], axis=1)


# Rows that became names of columns, which are published


@pytest.mark.parametrize(
    "content",
    [
        b"age,height\r30,170\r41,180",  # one line for `readline`: every row would be a published name
        b"age,height\r30,170\r41,180\r",
        b"age,height\r30,170\n41,180\n",
        b"42\n17\n33\n",  # without a header: the first person's age
        b"42,43\n17,3\n",
        b"nan,47\n1,2\n",
        b"12.5;47.3\n17;3\n",  # another separator
        b"12\t47\n17\t3\n",
        b'"12,5"\n"17,3"\n',
        b"9" * 5000 + b"\n17\n",  # more digits than Python turns into an integer
    ],
    ids=lambda content: repr(content[:20]),
)
def test_no_row_becomes_the_name_of_a_column(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as refusal:
        fit(path, k=2, epsilon=1, bounds=(0, 250))
    assert "header line" in str(refusal.value) or "carriage returns" in str(refusal.value)
    assert not {"30", "42", "47", "12"} & set(str(refusal.value).replace(str(path), "").split("'"))


@pytest.mark.parametrize("header", ["0", "1", ",0,1", "id,0,1,2", "1,2", "a,2", "2019,2020,2021", "lap 1,lap 2"])
def test_names_that_count_are_still_names(tmp_path, header):
    path = tmp_path / "rows.csv"
    path.write_bytes(header.encode() + b"\r\n")
    assert open_file(path).names == tuple(header.split(","))


# Rows in messages


@pytest.mark.parametrize("text", [f"lon,lat\n{SECRET},2\n", f"{SECRET},2\n" * 1000, f"{SECRET}," * 400])
def test_the_content_of_a_file_instead_of_its_path_is_not_repeated(text):
    with pytest.raises(DataError) as refusal:
        fit(text, k=2, epsilon=1, bounds=(0, 1))
    assert SECRET not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_a_table_without_columns_does_not_tell_its_rows():
    with pytest.raises(DataError, match="0 feature") as refusal:
        open_table(np.empty((1237, 0)))
    assert "1237" not in str(refusal.value)


def test_a_lack_of_memory_does_not_tell_the_number_of_rows(monkeypatch):
    def full(*_arguments, **_options):
        raise MemoryError("Unable to allocate 94.2 MiB for an array with shape (2, 60) and data type int32")

    ledger = Ledger.memory(dataset="d", epsilon=1)
    monkeypatch.setattr(MemoryEngine, "_load", full)  # in numpy's own words
    with pytest.raises(MemoryError) as refusal:
        fit(ROWS, k=2, epsilon=1, bounds=(0, 1), algorithm="blocks", ledger=ledger, dataset="d")
    assert "shape" not in str(refusal.value)
    assert "MemoryError: Unable" not in "".join(traceback.format_exception(refusal.value))
    assert ledger.datasets()["d"].remaining.epsilon == 0


def test_the_fill_value_of_a_sparse_column_is_not_told():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray(["Quail", "Quail"], fill_value="Quail", dtype=object)})
    with pytest.raises(NotNumericError) as refusal:
        read(frame)
    assert "Quail" not in str(refusal.value)


class Odd:
    """A number whose conversion fails in a way of its own."""

    def __float__(self) -> float:
        raise RuntimeError(SECRET)


def test_an_object_that_fails_to_be_a_number_is_missing():
    column = np.array([Odd(), 2.0], dtype=object)[:, None]
    assert np.array_equal(read(column), [[np.nan, 2.0]], equal_nan=True)
    assert np.array_equal(read(pd.DataFrame(column, columns=["a"])), [[np.nan, 2.0]], equal_nan=True)


# Warnings because of a row


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="no wider floats here")
@pytest.mark.parametrize("raising", [False, True])
def test_a_long_double_beyond_all_floats_is_an_infinity_without_a_word(raising):
    frame = pd.DataFrame({"a": np.array(["1e400", "1"], dtype=np.longdouble)})
    with warnings.catch_warnings(), np.errstate(all="raise" if raising else "warn"):
        warnings.simplefilter("error")
        assert read(frame).tolist() == [[np.inf, 1.0]]


@pytest.mark.parametrize("value", [np.complex128(1 + 2j), np.complex64(1j)])
def test_a_complex_number_among_objects_is_refused_by_its_type(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotNumericError):
            read(np.array([[value], [1.0]], dtype=object))


@pytest.mark.parametrize("kind", [np.float64, np.int32, np.bool_, object])
def test_a_masked_value_is_missing_whatever_is_beneath_the_mask(kind):
    rows = np.ma.array(np.ones((3, 2), dtype=kind), mask=[[True, False], [False, False], [False, True]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(read(rows), [[np.nan, 1, 1], [1, 1, np.nan]], equal_nan=True)
