"""Borders of tables and of what is written for the owner of the rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from covey.errors import ParameterError
from covey.noise.source import SeededSource
from covey.private.assigned import _as_text
from covey.private.narrowed.cancellable import CancellableTable
from covey.private.narrowed.missing import CompleteTable
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import ArrayTable

ROWS = ArrayTable(np.arange(20.0).reshape(10, 2))


@pytest.mark.parametrize("size", [1, 10])
def test_a_sample_of_one_row_and_of_all_is_one(size):
    sample = SampledTable.without_replacement(ROWS, size=size, rows=10, source=SeededSource(1))
    assert sum(piece().shape[1] for piece in sample.pieces(None)) == size


@pytest.mark.parametrize("size", [0, 11])
def test_a_sample_of_none_or_of_more_than_there_are_is_refused(size):
    with pytest.raises(ParameterError, match="sample"):
        SampledTable.without_replacement(ROWS, size=size, rows=10, source=SeededSource(1))


def test_cells_of_any_type_become_text_and_missing_ones_stay_missing():
    assert _as_text(pa.array([1, None])).to_pylist() == ["1", None]
    assert _as_text(pa.array([b"a", b"\xff", None])).to_pylist() == ["a", "\ufffd", None]
    assert _as_text(pa.array([[1, 2], None, []])).to_pylist() == ["[1, 2]", None, "[]"]


def test_whoever_reads_is_asked_before_every_piece():
    asked = []
    table = CancellableTable(ROWS, lambda: asked.append("?"))
    for reading in (table.pieces(None), table.chosen(None, iter([np.array([1, 3])]))):
        pieces = list(reading)
        before = len(asked)
        for piece in pieces:
            piece()
        assert len(asked) == before + len(pieces) > 0


def test_a_column_of_people_is_looked_at_behind_missing_rows_too():
    asked = []

    class Watched(ArrayTable):
        def check_person(self, person):
            asked.append(person)

    CompleteTable(Watched(np.zeros((3, 2))), None).check_person("who")
    assert asked == ["who"]
