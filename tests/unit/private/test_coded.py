"""Cells of a profile: every value has one place, by itself alone, as a plain look-up says."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import ParameterError
from covey.private.tables.coded import check_categories, codes, pandas_categories, polars_categories
from covey.published.profile.columns import read_columns

[MODE] = read_columns({"m": ["7", "-3", "bike", "9223372036854775807", "18446744073709551615", "07"]}, ("m",), {})
[AGE] = read_columns(["a=0:120:4"], ("a",), {})
OTHER = 6


def place(values) -> list[int]:
    return codes(MODE, values).astype(int).tolist()


@pytest.mark.parametrize(
    ("beside", "kind"),
    [([], pa.int64()), ([1.5], pa.float64()), ([math.nan], pa.float64()), ([2**64 - 1], pa.uint64())],
)
def test_a_cell_has_the_same_place_whatever_stands_beside_it(beside, kind):
    assert place(pa.array([7, *beside], kind))[0] == 0
    assert place(pa.array([8, *beside], kind))[0] == OTHER


def test_large_numbers_have_the_same_place_in_pieces_of_either_kind():
    assert place(pa.array([2**63 - 1], pa.int64())) == [3]
    assert place(pa.array([2**63 - 1, 2**64 - 1], pa.uint64())) == [3, 4]


def test_texts_and_numbers_that_say_the_same_have_the_same_place():
    assert place(pa.array(["7", "-3", "bike", "07", "bike ", "", None])) == [0, 1, 2, 5, OTHER, OTHER, OTHER]
    assert place(pa.array([b"7", b"\xff", b"bike"])) == [0, OTHER, 2]
    assert place(pa.chunked_array([pa.array(["bike"]), pa.array(["7"])]).dictionary_encode()) == [2, 0]
    assert place(pa.array([7, None, 9], pa.int8())) == [0, OTHER, OTHER]
    assert place(pa.array([True, False])) == [OTHER, OTHER]
    assert place(pa.nulls(2)) == [OTHER, OTHER]
    assert place(pa.array([], pa.string())) == []


def test_no_dictionary_and_no_broken_text_is_too_much():
    """As many values as narrow indices can name, texts that are no UTF-8, and every width of numbers."""
    names = [f"n{each}" for each in range(127)]
    for many in (126, 127):
        values = pa.DictionaryArray.from_arrays(pa.array([0, None, many], pa.int8()), [*names[:many], "bike"])
        assert place(values) == [OTHER, OTHER, 2]
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff\xfe", b"bike"], pa.binary()).buffers())
    assert place(broken) == [OTHER, 2]
    assert place(pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), broken)) == [OTHER, 2, 2]
    for kind in (pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint64(), pa.decimal128(5, 2)):
        whole = np.float16(7) if kind == pa.float16() else 7
        assert place(pa.array([whole, None], kind)) == [0, OTHER]
    for kind in (pa.large_string(), pa.string_view(), pa.binary(4), pa.large_binary(), pa.binary_view()):
        assert place(pa.array([b"bike"], kind)) == [2]


@settings(max_examples=60)
@given(st.lists(st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 30.0, 120.0, math.nan])), max_size=20))
def test_numbers_are_in_the_bin_that_comparisons_find(values):
    def by_hand(value: float) -> int:
        return 4 if math.isnan(value) else sum(value >= edge for edge in (30.0, 60.0, 90.0))

    assert codes(AGE, np.array(values, dtype=np.float64)).tolist() == list(map(by_hand, values))


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.timestamp("s"), pa.struct([("a", pa.int64())])])
def test_types_that_have_no_categories_are_refused(kind):
    with pytest.raises(ParameterError, match="column 'm' holds neither texts nor numbers"):
        check_categories("m", kind)


def test_frames_of_other_types_are_refused_before_a_value_is_read():
    with pytest.raises(ParameterError, match="neither texts"):
        pandas_categories(pd.Series(pd.to_datetime(["2024-05-01"])), "m")
    with pytest.raises(ParameterError, match="neither texts"):
        pandas_categories(pd.Series([1j]), "m")
    with pytest.raises(ParameterError, match="neither texts"):
        polars_categories(pl.Series("m", [object()], dtype=pl.Object), "m")


def test_categories_of_pandas_are_read_by_their_values():
    read = pandas_categories(pd.Series(["bike", None, 7, "tram"], dtype="category"), "m")
    assert place(read(slice(0, 4))) == [2, OTHER, 0, OTHER]
