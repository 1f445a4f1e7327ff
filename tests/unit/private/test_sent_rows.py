"""Rows that are sent: batches become one table or are refused whole."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from covey.errors import DataError, ParameterError
from covey.private.tables.batches import Batches


def test_batches_become_one_table_and_tell_nothing():
    batches = Batches(most_bytes=10**6)
    batches.add([[1.0, 2.0], [3.0, None]])
    batches.add([[5.0, 6.0]])
    assert batches.width == 2
    assert repr(batches) == "<Batches>"
    with pytest.raises(TypeError, match="private rows"):
        pickle.dumps(batches)
    rows = batches.close()
    assert rows.shape == (3, 2)
    assert np.isnan(rows[1, 1])
    with pytest.raises(DataError, match="no batch"):
        batches.close()


@pytest.mark.parametrize("bad", [[[1.0], [1.0, 2.0]], [], [[]], [["a"]], [[10**400]], [[1.0, 2.0, 3.0]]])
def test_a_bad_batch_is_refused_whole(bad):
    batches = Batches(most_bytes=10**6)
    batches.add([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="points"):
        batches.add(bad)
    assert batches.close().shape == (1, 2)


def test_a_full_collection_takes_no_more():
    batches = Batches(most_bytes=64)
    batches.add([[0.0, 0.0]] * 4)
    with pytest.raises(DataError, match="full"):
        batches.add([[0.0, 0.0]])
