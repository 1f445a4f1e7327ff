"""Queries, lazy frames and streams: their rows are made once, after the charge; nothing is made before."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covey import Box, KMeans, Ledger
from covey.errors import BudgetError, DataError, NotNumericError, ParameterError
from covey.fit.fit import fit
from covey.private.tables.frames import open_table
from covey.private.tables.late import LateTable

SECRET = "Quail-0.123456789"
ROWS = pa.table({"x": [0.5, None, 2.5], "n": [1, 2, 3], "who": ["ann", None, "cat"], "note": [SECRET] * 3})


class Offers:
    """Whatever offers a stream of Arrow's C interface, once, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader(max_chunksize=2)
        self.asked = 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        if self.asked > 1:
            raise ValueError(SECRET)
        return self._reader.__arrow_c_stream__(requested_schema)


def lazy(table: pa.Table) -> pl.LazyFrame:
    return pl.from_arrow(table).lazy().filter(pl.col("n") > 0)


def relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("rows_of", table)
    return connection.sql("select x, n, who, note from rows_of order by n")


WAYS = {
    "lazy frame": lazy,
    "relation": relation,
    "reader": lambda table: table.to_reader(max_chunksize=2),
    "stream": Offers,
}
EACH = pytest.mark.parametrize("way", WAYS)


@EACH
def test_the_rows_are_those_of_the_table(way):
    made = open_table(WAYS[way](ROWS))
    assert isinstance(made, LateTable)
    assert made.names == ("x", "n", "who", "note")
    made.check_numeric(("n", "x"))
    made.check_person("who")
    for _ in range(2):  # as often as is asked
        found = np.concatenate([piece() for piece in made.pieces(("n", "x"))], axis=1)
        assert np.array_equal(found, [[1, 2, 3], [0.5, np.nan, 2.5]], equal_nan=True)
        ids = [who for piece in made.pieces_with_ids(("x",), "who") for who in piece()[1].to_pylist()]
        assert ids == [b"ann", None, b"cat"]
        assert made.rows() == 3
    chosen = np.concatenate([piece() for piece in made.chosen(("n",), iter([np.array([0, 2, 9])]))], axis=1)
    assert chosen.tolist() == [[1, 3]]


@EACH
def test_what_is_refused_is_refused_by_its_type(way):
    made = open_table(WAYS[way](ROWS))
    with pytest.raises(NotNumericError) as refusal:
        made.check_numeric(("note",))
    assert SECRET not in str(refusal.value)
    with pytest.raises(ParameterError, match=r"no column 'Who'.* Is it 'who'"):
        made.check_person("Who")


@EACH
def test_nothing_is_made_before_the_charge_and_then_once(way, monkeypatch):
    book, seen = Ledger.memory(dataset="d", epsilon=1), []
    made, ask = open_table(WAYS[way](ROWS)), {"k": 1, "bounds": Box(x=(0, 3), n=(0, 3)), "algorithm": "lloyd"}
    make = made._make
    monkeypatch.setattr(made, "_make", lambda columns: seen.append((columns, left(book))) or make(columns))
    with pytest.raises(BudgetError):
        fit(made, epsilon=2, ledger=book, dataset="d", **ask)
    with pytest.raises(DataError):
        fit(made, epsilon=1, ledger=book, dataset="d", **{**ask, "bounds": Box(y=(0, 1))})
    assert seen == []
    fit(made, epsilon=1, ledger=book, dataset="d", **ask)
    assert seen == [(["x", "n"], 0)]


def left(book: Ledger) -> float:
    return book.datasets()["d"].remaining.epsilon


@EACH
def test_the_release_is_that_of_the_same_rows_in_memory(way):
    table = pa.table({"x": np.linspace(0, 1, 500), "n": np.arange(1, 501), "who": ["a"] * 500, "note": [SECRET] * 500})
    ask = {"k": 2, "epsilon": 1, "bounds": Box(x=(0, 1), n=(0, 500)), "random_state": 3}
    assert fit(WAYS[way](table), **ask).to_json() == fit(table, **ask).to_json()
    model = KMeans(2, epsilon=1, bounds=Box(x=(0, 1), n=(0, 500)), random_state=3)
    labels = model.fit_predict(WAYS[way](table))
    assert np.array_equal(labels, model.fit_predict(table))
    assert list(model.feature_names_in_) == ["x", "n"]


def test_bounds_may_be_for_all_columns():
    table = pa.table({"x": [0.5] * 50, "n": [1] * 50})
    for source in (table.to_reader(), Offers(table), pl.from_arrow(table).lazy()):
        model = KMeans(1, epsilon=1, bounds=(0, 9)).fit(source)
        assert (model.n_features_in_, list(model.feature_names_in_)) == (2, ["x", "n"])
        assert len(model.predict(table)) == 50


@pytest.mark.parametrize("way", ["reader", "stream"])
def test_a_stream_that_was_read_is_not_taken_for_one_without_rows(way):
    source, book = WAYS[way](ROWS), Ledger.memory(dataset="d", epsilon=2)
    ask = {"k": 1, "epsilon": 1, "bounds": Box(x=(0, 3)), "ledger": book, "dataset": "d"}
    fit(source, **ask)
    with pytest.raises(DataError, match="read before"):
        fit(source, **ask)
    assert left(book) == 1


def test_a_stream_that_was_opened_twice_is_read_once():
    source = WAYS["reader"](ROWS)
    first, second = open_table(source), open_table(source)
    assert first.rows() == ROWS.num_rows
    with pytest.raises(DataError, match="read before"):
        second.rows()


def broken() -> pa.RecordBatchReader:
    def batches():
        yield from ROWS.to_batches()
        raise ValueError(SECRET)

    return pa.RecordBatchReader.from_batches(ROWS.schema, batches())


@pytest.mark.parametrize(
    "source",
    [
        broken,
        lambda: lazy(ROWS).with_columns(x=pl.col("note").cast(pl.Float64)),
        lambda: relation(ROWS).project("cast(note as double) as x, n"),
    ],
)
def test_what_breaks_off_ends_the_fit_without_a_value_and_the_charge_stays(source):
    book = Ledger.memory(dataset="d", epsilon=1)
    with pytest.raises(DataError, match="broke off") as refusal:
        fit(source(), k=1, epsilon=1, bounds=Box(x=(0, 3)), ledger=book, dataset="d")
    assert "Quail" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert left(book) == 0


def test_what_has_no_schema_is_refused_before_a_charge(tmp_path):
    for source in (pl.scan_csv(tmp_path / "absent.csv"), pl.LazyFrame({"a": [1]}).select("b")):
        with pytest.raises(DataError, match="polars cannot tell"):
            open_table(source)
    closed = duckdb.connect()
    rows = closed.sql("select 1 as x")
    closed.close()
    with pytest.raises(DataError, match="DuckDB cannot tell"):
        open_table(rows)


def test_strange_names_are_quoted():
    names = ['a"b', "select", "x y", "é;--"]
    columns = (f'1.5 as "{name.replace(chr(34), chr(34) * 2)}"' for name in names)
    query = duckdb.connect().sql(f"select {', '.join(columns)}")
    made = open_table(query)
    assert made.names == tuple(names)
    made.check_numeric(names)
    assert np.concatenate([piece() for piece in made.pieces(names)]).tolist() == [[1.5]] * 4


def test_other_frames_are_still_read_as_themselves():
    for data in (ROWS, pl.from_arrow(ROWS), ROWS.to_pandas(), ROWS.combine_chunks().to_batches()[0]):
        assert not isinstance(open_table(data), LateTable)
        assert open_table(data).rows() == 3
    assert isinstance(open_table(pd.DataFrame({"a": [1.0]})).names, tuple)


def test_a_stream_that_no_set_can_remember_is_read_all_the_same():
    class Plain:
        __slots__ = ("table",)

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    source = Plain()
    source.table = pa.table({"a": [0.1, 0.9], "b": [0.2, 0.8]})
    assert open_table(source).rows() == 2
