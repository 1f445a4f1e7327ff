"""Rows with a missing value are left out, one by one and before everything else; or moved to the middle, as ever."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey import Box, KMeans, ParameterError
from covey.budget.ledger.ledger import Ledger
from covey.errors import CoveyError
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.private.lattice import is_missing, to_block
from covey.private.narrowed.missing import CompleteTable
from covey.private.tables.frames import open_table
from covey.public import Domain
from covey.queries.people import PeopleByRows

BOUNDS = Box(a=(-1, 1), b=(-2, 2))
DOMAIN = Domain(middle=(0.0, 0.0), half=(1.0, 2.0), columns=("a", "b"))
NUMBERS = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.3, 1e308, -7.0])
ROWS = st.lists(st.tuples(st.integers(0, 3), NUMBERS, NUMBERS), max_size=12)


def frame(rows):
    return pd.DataFrame(rows, columns=["who", "a", "b"]).astype({"who": "int64", "a": float, "b": float})


def complete(rows) -> list[tuple]:
    """The rows that stay, as (a, b), in order."""
    table = open_table(frame(rows)).complete(DOMAIN)
    return [tuple(row) for piece in table.pieces(("a", "b")) for row in piece().T.tolist()]


@settings(max_examples=20, deadline=None)
@given(ROWS, st.integers(0, 12), ROWS.filter(lambda rows: len(rows) == 1))
def test_one_row_more_is_one_row_more_or_none(rows, place, more):
    before, after = complete(rows), complete([*rows[:place], *more, *rows[place:]])
    gone = any(math.isnan(each) for each in more[0][1:])
    assert len(after) == len(before) + (not gone)
    others = [i for i in range(len(after)) if after[:i] + after[i + 1 :] == before]
    assert after == before if gone else others


@settings(max_examples=12, deadline=None)
@given(ROWS, ROWS)
@example([(0, 0.3, 0.3)], [(0, math.nan, 0.3)])
def test_a_person_more_changes_nobody_elses_rows_and_one_entry_of_the_tally(rows, own):
    own = [(9, a, b) for _, a, b in own]
    assert sorted(complete(rows + own)) == sorted(complete(rows) + complete(own))
    query = PeopleByRows(DOMAIN, (1, 2, 4))
    tallies = [
        open_table(frame(each)).complete(DOMAIN).people(DOMAIN, "who", key=bytes(32)).total(query)
        for each in (rows, rows + own)
    ]
    assert np.abs(tallies[1] - tallies[0]).sum() == bool(complete(own))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=20))
def test_what_is_missing_is_what_the_map_would_send_to_the_middle(rows):
    values = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    with np.errstate(all="ignore"):
        scaled = (values - np.array(DOMAIN.middle)[:, None]) / np.array(DOMAIN.half)[:, None]
    assert (is_missing(values) == np.isnan(scaled)).all()
    assert (to_block(values.copy(), DOMAIN).rows[is_missing(values)] == 0).all()


@pytest.fixture(scope="module")
def people():
    """Of everybody one row is whole, and others are not: in whatever way a table may miss a number."""
    who = np.repeat(np.arange(300), 3)
    rows = pd.DataFrame({"who": who, "a": np.full(900, 0.25), "b": np.full(900, -0.5)})
    rows.loc[rows.index % 3 == 1, "a"] = np.nan
    rows.loc[rows.index % 3 == 2, "b"] = np.nan
    return rows


def rows_told(data, **more) -> float:
    asked = {"k": 1, "epsilon": 200.0, "bounds": BOUNDS, "algorithm": "grid", "random_state": 3}
    notes = fit(data, **asked | more).certificate.parameters
    return notes["rows_inside"] + notes["rows_outside"]


def test_rows_are_left_out_before_the_cap(people):
    """After it, the one row of a person that counts would mostly be one that is left out."""
    capped = {"person": "who", "rows_per_person": 1}
    assert rows_told(people, missing="drop", **capped) == pytest.approx(300, abs=3)
    assert rows_told(people, **capped) == pytest.approx(300, abs=3)
    assert rows_told(people, missing="drop") == pytest.approx(300, abs=3)
    assert rows_told(people) == pytest.approx(900, abs=3)


def test_every_reader_says_missing_in_its_own_way(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n0.5,1\n,1\n0.5,\nn/a,1\n0.5,oops\nnan,1\n0.5,1,7,8\n\n0.25,-inf\n")
    (tmp_path / "rows.jsonl").write_text('{"a": 0.5, "b": 1}\n{"a": null, "b": 1}\n{"b": 1}\n{"a": "x", "b": 1}\nx\n')
    pq.write_table(pa.table({"a": [0.5, None, math.nan, 0.5], "b": [1, 1, 1, None]}), tmp_path / "rows.parquet")
    masked = np.ma.masked_array([[0.5, 1.0], [0.5, 1.0]], mask=[[False, False], [True, False]])
    tables = {
        tmp_path / "rows.csv": [(0.5, 1.0), (0.25, -math.inf)],
        tmp_path / "rows.jsonl": [(0.5, 1.0)],
        tmp_path / "rows.parquet": [(0.5, 1.0)],
    }
    for path, expected in tables.items():
        table = open_table(path).complete(DOMAIN)
        kept = [tuple(row) for piece in table.pieces(("a", "b")) for row in piece().T.tolist()]
        assert kept == expected
        assert table.rows() == len(expected)
        assert table.streamed
    assert open_table(masked).complete(Domain(middle=(0.0, 0.0), half=(1.0, 1.0))).rows() == 1


def test_a_sample_is_of_the_rows_that_are_left():
    rows = np.arange(40.0).reshape(20, 2)
    rows[::3, 1] = np.nan
    left = rows[~np.isnan(rows).any(axis=1)]
    table = CompleteTable(open_table(rows), None)
    places = [np.array([0, 2]), np.array([5, 11, 400])]
    chosen = np.concatenate([piece() for piece in table.chosen(None, iter(places))], axis=1)
    assert (left[[0, 2, 5, 11]] == chosen.T).all()


def test_under_replace_one_nothing_is_left_out_and_the_reason_is_told_before_the_data_is_opened():
    asked = {"k": 2, "epsilon": 1.0, "bounds": BOUNDS, "neighbours": "replace-one", "missing": "drop"}
    with pytest.raises(ParameterError, match=r"missing: 'drop' changes how many rows there are.*add-remove"):
        fit("no such file.csv", **asked)
    with pytest.raises(ParameterError, match="missing: must be one of 'middle', 'drop'"):
        KMeans(2, bounds=BOUNDS, missing="mean", random_state=0).fit(np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="missing: must be one of"):
        fit_levels(np.zeros((3, 2)), bounds=BOUNDS, missing=None)


def test_the_number_of_rows_that_replace_one_tells_is_that_of_all_rows(people):
    """That number has no noise: with rows left out, it would tell who misses a value."""
    with contextlib.suppress(ParameterError):
        assert rows_told(people, neighbours="replace-one", missing="drop") == 900


def test_the_certificate_says_it_and_a_key_is_bound_to_it(people, tmp_path):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=5).with_key("once")
    asked = {"k": 1, "epsilon": 1.0, "bounds": BOUNDS, "algorithm": "grid", "ledger": book, "dataset": "trips"}
    dropped = fit(people, missing="drop", **asked)
    assert dropped.certificate.parameters["missing"] == "drop"
    assert fit(people, missing="drop", **asked) == dropped
    with pytest.raises(CoveyError, match="parameters"):
        fit(people, **asked)
    levels = fit_levels(people, bounds=BOUNDS, missing="drop", random_state=0)
    assert levels.certificate.parameters["missing"] == "drop"
    assert levels.rows_noisy < 600
