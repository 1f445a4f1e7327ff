"""Ids are one person if and only if they are equal, in whatever type and beside whatever other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.private.narrowed.names import Names
from covey.private.tables.ids import arrow_ids, has_id, pandas_ids

NAMES = Names(bytes(range(32)))


def names_of(ids: pa.Array) -> list[tuple[int, int]]:
    return list(zip(*(each.tolist() for each in NAMES.people(arrow_ids(ids))), strict=True))


NUMBERS = [0, 1, -1, 7, 2**53, 2**62, 10**18, -(10**18), 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64 - 2**11]
FRACTIONS = [0.5, -0.5, 1e-300, float("inf"), float("-inf"), 2.0**64, -(2.0**70), 1e300]
BITS = [int(np.array([each]).view(np.int64)[0]) for each in FRACTIONS]  # whole numbers with the same bits


def every_way(number: float) -> list[pa.Array]:
    """Arrow arrays of one cell that hold exactly this number."""
    found = []
    for kind in (pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), pa.float32(), pa.float64()):
        try:
            cell = pa.array([number], kind)
        except (pa.ArrowInvalid, OverflowError, TypeError):
            continue
        if cell[0].as_py() == number:
            found.append(cell)
    return found


def test_numbers_are_one_person_if_and_only_if_they_are_equal_in_whatever_type_a_file_holds_them():
    numbers = [*NUMBERS, *FRACTIONS, *BITS, *(float(each) for each in BITS)]
    told = {}
    for number in numbers:
        ways = {name for cell in every_way(number) for name in names_of(cell)}
        assert len(ways) == 1
        told.setdefault(ways.pop(), set()).add(number)
    assert len(told) == len(set(numbers))


@given(st.lists(st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False), min_size=1, max_size=6))
def test_a_cell_has_the_same_name_beside_any_other(numbers):
    alone = [names_of(cell)[0] for number in numbers for cell in every_way(number)[:1]]
    floats = [float(each) for each in numbers]
    assert names_of(pa.array(floats)) == [names_of(pa.array([each]))[0] for each in floats]
    for one, number in zip(alone, numbers, strict=True):
        for other, value in zip(alone, numbers, strict=True):
            assert (one == other) == (number == value)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 1234567890123456789, 10**18, -(10**18), 999, 0])
def test_long_texts_are_the_whole_numbers_that_they_say(number):
    assert names_of(pa.array([str(number)])) == names_of(pa.array([number]))


def test_texts_just_beyond_are_themselves_alone():
    texts = [str(2**63), str(-(2**63) - 1), "9" * 19, "-" + "9" * 19, "007", "7.0", "-0", "+7", "7\n", " 7", "٧"]
    assert len(set(names_of(pa.array([*texts, "7", "0"])))) == len(texts) + 2


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series(["\ud800x", "a", None], dtype="string[python]"),
        pd.Series(["\ud800x", "a", None], dtype=object),
        pd.Series(["\ud800x", "a", None], dtype="string[python]").astype("category"),
        pd.Series([10**5000, 10**5000 + 1, None], dtype=object),
        pd.Series([2**64, -(2**63) - 1, None], dtype=object),
    ],
)
def test_no_id_raises(ids):
    found = pandas_ids(ids, "who")(slice(0, 3))
    assert has_id(found).tolist() == [True, True, False]
    assert len(set(NAMES.people(found[:2])[0].tolist())) == 2
