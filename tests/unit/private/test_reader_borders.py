"""Borders of tables and of what is written for the owner of the rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from covey.errors import DataError, ParameterError
from covey.noise.source import SeededSource
from covey.private.assigned import _as_text
from covey.private.engines import rows as engine_rows
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.narrowed.cancellable import CancellableTable
from covey.private.narrowed.missing import CompleteTable
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.csv import reader as csv_reader
from covey.private.tables.csv.records import _marks_one_by_one
from covey.private.tables.files import FileTable
from covey.private.tables.frames import ArrayTable, open_table
from covey.public import resolve_bounds
from covey.queries.grid import Grid

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


def test_a_file_that_breaks_off_because_it_was_changed_is_said_to_be_changed():
    def changed():
        raise DataError("data: it was changed")

    file = SimpleNamespace(part=SimpleNamespace(path="rows.parquet"), check=changed)
    with pytest.raises(DataError, match="changed"), FileTable._same_file(SimpleNamespace(), file):
        raise pa.ArrowInvalid("not a Parquet file")
    with pytest.raises(DataError, match="changed"), FileTable._same_file(SimpleNamespace(), file):
        pass
    file.check = lambda: None
    with pytest.raises(DataError, match="broke off"), FileTable._same_file(SimpleNamespace(), file):
        raise pa.ArrowInvalid("not a Parquet file")


@pytest.mark.parametrize(
    ("text", "turns", "stray"),
    [
        (b'a,"b"\n', [2, 4], []),
        (b'a,"b"\r\n', [2, 4], []),
        (b'a,"b","c"\n', [2, 4, 6, 8], []),
        (b'"b"', [0, 2], []),
        (b'a,"b"x\n', [2, 4], [4]),
        (b'a,"b"\rx\n', [2, 4], [4]),
        (b'a,x"b"\n', [], [3, 5]),
        (b'a,"b""c"\n', [2, 7], []),
    ],
)
def test_quotes_open_close_or_stray_by_the_rule_itself(text, turns, stray):
    quotes = [place for place, byte in enumerate(text) if byte == 34]
    found = _marks_one_by_one(text, quotes, b",")
    assert [each.tolist() for each in found] == [turns, stray]


@pytest.mark.parametrize("listed", [True, False])
def test_every_pass_is_finished_before_its_answer_is_used(listed, monkeypatch):
    """A file that changed meanwhile is found out there, also where keys are sorted and not listed."""
    domain = resolve_bounds((0, 20), names=None, width=2)
    engine, finished = MemoryEngine(ROWS, domain), []
    monkeypatch.setattr(MemoryEngine, "_listed", lambda *_: listed)
    monkeypatch.setattr(MemoryEngine, "_finish", lambda _: finished.append("!"))
    _, counts = engine.cells(Grid(domain, 4))
    assert counts.sum() == 10
    assert finished


def test_rows_chosen_from_a_csv_are_counted_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "BLOCK", 64)
    lines = [f"{i},{2 * i}" for i in range(100)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,y", *lines, ""]))
    table = open_table(tmp_path / "rows.csv")
    places = iter([np.array([0, 7, 50]), np.array([99])])
    found = np.concatenate([piece() for piece in table.chosen(("x", "y"), places)], axis=1)
    assert found.tolist() == [[0, 7, 50, 99], [0, 14, 100, 198]]
    assert table.rows() == 100


def test_an_empty_line_of_one_column_is_a_row_when_rows_are_chosen(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n\n3\n")
    table = open_table(tmp_path / "rows.csv")
    found = np.concatenate([piece() for piece in table.chosen(("x",), iter([np.array([0, 2])]))], axis=1)
    assert found.tolist() == [[1, 3]]


def test_keys_of_streamed_rows_are_counted_in_a_list_and_not_sorted(monkeypatch):
    def sort(_):
        raise AssertionError("keys were sorted")

    domain = resolve_bounds((0, 20), names=None, width=2)
    monkeypatch.setattr(engine_rows, "_counted", sort)
    _, counts = StreamEngine(ROWS, domain).cells(Grid(domain, 4))
    assert counts.sum() == 10
