"""Rows by the size of their numbers, where no bounds are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.private.lattice import to_block
from covey.public import Domain
from covey.queries.magnitudes import LEAST, MOST, STEPS, Magnitudes, RawDomain, raw_numbers

STRANGE = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, -1e-300, 2.0**LEAST, 1.0, -1.0, 1.5, 2.0, 1e300, -1e300]
STRANGE += [-74.1, np.nextafter(2.0, 0), -(2.0 ** (MOST - 1)), np.nextafter(2.0**LEAST, 0)]
RAW = RawDomain.of(Domain((5.0, 0.0), (1.0, 9.0), ("a", "b")))


def place(number: float) -> int | None:
    """By definition, one by one."""
    if math.isnan(number):
        return None
    size = abs(number)
    steps = sum(size >= 2.0**exponent for exponent in range(LEAST, MOST)) if size < math.inf else STEPS
    return STEPS + (steps if number > 0 else -steps)


def counted(numbers: list[float]) -> np.ndarray:
    block = to_block(np.array([np.zeros(len(numbers)), numbers]), RAW)
    assert not block.outside.any()
    out = np.zeros(Magnitudes(RAW, 1).size, dtype=np.int64)
    Magnitudes(RAW, 1).accumulate(block.rows, out)
    return out


def test_every_number_has_the_place_that_it_should_have():
    expected = [place(number) for number in STRANGE]
    counts = np.bincount([each for each in expected if each is not None], minlength=2 * STEPS + 1)
    assert counted(STRANGE).tolist() == counts.tolist()


def test_places_and_ranges_agree():
    for number in (each for each in STRANGE if not math.isnan(each) and abs(each) < 2.0 ** (MOST - 1)):
        low, high = Magnitudes.ends(*[int(counted([number]).argmax())] * 2)
        assert low <= number <= high
    assert Magnitudes.ends(STEPS, STEPS) == (-(2.0**LEAST), 2.0**LEAST)
    assert Magnitudes.ends(STEPS - 1, STEPS + 2) == (-(2.0 ** (LEAST + 1)), 2.0 ** (LEAST + 2))


def test_bits_are_the_row_itself_but_for_nan_and_minus_zero():
    values = np.array([STRANGE, STRANGE[::-1]])
    rows = to_block(values, RAW).rows
    assert rows.dtype == np.int32
    for column in range(2):
        np.testing.assert_array_equal(raw_numbers(rows, column), values[column])
    other = np.array([[-0.0, np.frombuffer(b"\x01\0\0\0\0\0\xf0\x7f")[0]]] * 2)  # and another NaN
    assert to_block(other, RAW).rows.tolist() == to_block(np.array([[0.0, np.nan]] * 2), RAW).rows.tolist()


def test_every_column_can_be_asked_for():
    block = to_block(np.array([[3.0, 3.0], [-1.0, 100.0]]), RAW)
    for column, expected in enumerate(([place(3.0)] * 2, [place(-1.0), place(100.0)])):
        out = np.zeros(2 * STEPS + 1, dtype=np.int64)
        Magnitudes(RAW, column).accumulate(block.rows, out)
        assert np.repeat(np.arange(len(out)), out).tolist() == expected


def test_it_is_asked_of_rows_without_bounds_alone():
    for domain, column in ((Domain((0.0,), (1.0,)), 0), (RAW, 2), (RAW, -1)):
        with pytest.raises(ParameterError, match="without bounds"):
            Magnitudes(domain, column)  # type: ignore[arg-type]
