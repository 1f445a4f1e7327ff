"""One row moves the counts by magnitude by at most what they declare, whatever it holds; and by that much at worst."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Neighbours
from covey.queries.magnitudes import Magnitudes, RawDomain

RAW = RawDomain((0.0, 0.0), (1.0, 1.0))
QUERY = Magnitudes(RAW, 1)
row = st.tuples(*[st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)] * 2)


def counts(rows: list[tuple[float, float]]) -> np.ndarray:
    return MemoryEngine(ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), 2)), RAW).total(QUERY)


@given(st.lists(row, max_size=6), row, row)
@settings(max_examples=60, deadline=None, report_multiple_bugs=False)
def test_one_row_moves_the_counts_by_at_most_the_sensitivity(others, one, instead):
    with np.errstate(all="raise"):  # and nothing depends on how the caller has numpy complain
        added = counts([*others, one]) - counts(others)
        replaced = counts([*others, one]) - counts([*others, instead])
    for moved, neighbours in ((added, Neighbours.ADD_REMOVE), (replaced, Neighbours.REPLACE_ONE)):
        declared = QUERY.sensitivity(neighbours)
        assert np.abs(moved).sum() <= declared.l1
        assert np.square(moved).sum() <= declared.l2_squared
        assert np.abs(moved).max() <= declared.linf
        assert np.count_nonzero(moved) <= declared.coordinates


def test_the_declared_sensitivity_is_reached():
    assert np.abs(counts([(0, 1.0)]) - counts([])).sum() == QUERY.sensitivity(Neighbours.ADD_REMOVE).l1
    assert np.abs(counts([(0, 1.0)]) - counts([(0, -3.0)])).sum() == QUERY.sensitivity(Neighbours.REPLACE_ONE).l1
