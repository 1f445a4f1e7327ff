"""Dates of every kind of table as minutes of a day and days of a week: cell by cell, in whole numbers."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey import DataError, NotNumericError
from covey.fit.fit import fit
from covey.geo.metric import measured
from covey.private.tables.dates import steps
from covey.private.tables.frames import open_table
from covey.public import Person

ZONE = "Asia/Tokyo"
TEXTS = {
    "2024-05-01": (0, 2),
    "2024-05-01T08:15": (495, 2),
    "2024-05-01 08:15:59.9": (495, 2),
    " 20240501T0815Z ": (495, 2),
    "2024-05-05T23:59:59+14:00": (1439, 6),
    "2024-02-29t00:01-0330": (1, 3),
    "08:15": (495, -1),
    "23:59:59": (1439, -1),
    "2023-02-29": (-1, -1),
    "2024-05-01T24:00": (-1, -1),
    "2024-05-01T08:60": (-1, -1),
    "0000-01-01": (-1, -1),
    "01.05.2024 08:15": (-1, -1),
    "8:15": (-1, -1),
    "": (-1, -1),
    "1714551300": (-1, -1),
    "2024-05-01T08:15" + " " * 99: (-1, -1),
}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_text_is_read_as_iso_8601_by_the_clock_that_it_shows(kind):
    cells = pa.array([*TEXTS, None], kind)
    assert steps(cells, "hour").tolist() == [*(hour for hour, _ in TEXTS.values()), -1]
    assert steps(cells, "weekday").tolist() == [*(day for _, day in TEXTS.values()), -1]


@settings(max_examples=40)
@given(st.binary(max_size=24))
def test_nothing_raises_because_of_a_cell_and_no_other_cell_changes(cell):
    cells = pa.array([b"2024-05-01T08:15", cell, b"2024-05-05"], pa.binary())
    for kind, whole in (("hour", 1440), ("weekday", 7)):
        first, found, last = steps(cells, kind)
        assert (first, last) == ((495, 0) if kind == "hour" else (2, 6))
        assert -1 <= found < whole


@settings(max_examples=30)
@given(
    st.integers(-(2**63), 2**63 - 1), st.sampled_from(["s", "ms", "us", "ns"]), st.sampled_from([None, "Asia/Tokyo"])
)
def test_no_timestamp_is_too_far(number, unit, zone):
    cells = pa.array([number, 0, None], pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
    hour = 540 if zone else 0
    assert steps(cells, "hour").tolist()[1:] == [hour, -1]
    assert steps(cells, "weekday").tolist()[1:] == [3, -1]
    assert -1 <= steps(cells, "hour")[0] < 1440


@settings(max_examples=30)
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from([pa.date64(), pa.timestamp("s", ZONE)]))
@example(-(2**63), pa.date64())  # as much as may stand there, and no whole day
@example(-(2**63), pa.timestamp("s", ZONE))
@example(86_400_001, pa.date64())
def test_no_number_behind_a_date_is_an_error_or_changes_another(number, kind):
    cells = pa.chunked_array([pa.array([number, 0, None], pa.int64()).view(kind), pa.array([1], pa.int64()).view(kind)])
    found = steps(cells, "weekday").tolist()
    assert found[1:] == [3, -1, 3]
    assert found[0] == -1 if abs(number) >= 2**33 and kind != pa.date64() else 0 <= found[0] < 7


@settings(max_examples=30)
@given(st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2250, 1, 1)))
def test_every_kind_of_column_says_the_same(when):
    expected = (60 * when.hour + when.minute, when.weekday())
    columns = [
        pa.array([when], pa.timestamp("us")),
        pa.array([when], pa.timestamp("us")).cast(pa.string()),
        pa.array([when.isoformat().encode()]),
        pl.Series([when]).to_arrow(),
    ]
    for each in columns:
        assert (steps(each, "hour")[0], steps(each, "weekday")[0]) == expected
    assert steps(pa.array([when.date()]), "weekday").tolist() == [expected[1]]
    assert steps(pa.array([when.time()]), "hour").tolist() == [expected[0]]
    assert steps(pa.array([when.time()]), "weekday").tolist() == [-1]


def test_all_readers_give_the_same_numbers(tmp_path):
    when = pd.to_datetime(["2024-05-01T08:15", "2024-05-05T23:59", None, "1969-12-31T00:00"])
    frame = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3], "when": when})
    frame.to_csv(tmp_path / "a.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S+02:00")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.assign(when=when.strftime("%Y-%m-%d %H:%M")).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    tables = [
        frame,
        frame.assign(when=frame["when"].astype(object)),
        frame.assign(when=frame["when"].dt.tz_localize("Asia/Tokyo")),
        frame.assign(when=[None if each is pd.NaT else each.isoformat() for each in frame["when"]]),
        pl.DataFrame(frame),
        pl.DataFrame(frame).lazy(),
        pa.Table.from_pandas(frame),
        *(tmp_path / f"a.{kind}" for kind in ("csv", "xlsx", "jsonl", "parquet")),
    ]
    bounds = {"x": (-1, 1), "hour(when)": (0, 24), "weekday(when)": (0, 7)}
    angles = np.array([[495 / 1440, 1439 / 1440, math.nan, 0], [2 / 7, 6 / 7, math.nan, 2 / 7]]) * 2 * math.pi
    expected = np.stack([turn(each) for each in angles for turn in (np.cos, np.sin)])
    for number, data in enumerate(tables):
        table = open_table(data)
        domain = measured(bounds, None, person=Person(), names=table.names, width=table.width)
        table.check_numeric(domain.columns)
        found = np.concatenate([piece() for piece in table.pieces(domain.columns)], axis=1)
        assert found[1:] == pytest.approx(expected, abs=1e-11, nan_ok=True), number
        if number > 3:
            continue
        assert table.complete(domain).rows() == 3


@pytest.mark.parametrize("kind", [object, "string[python]", "category"])
def test_text_of_pandas_that_is_no_text_is_missing(kind):
    frame = pd.DataFrame({"when": pd.Series(["2024-05-01T08:15", "\ud800", None], dtype=kind)})
    table = open_table(frame)
    [piece] = table.pieces(("cos hour(when)",))
    assert piece()[0] == pytest.approx([math.cos(2 * math.pi * 495 / 1440), math.nan, math.nan], nan_ok=True)


def test_a_column_of_dates_that_is_there_twice_is_refused():
    frame = pd.DataFrame([["2024-05-01", "2024-05-02"]], columns=["when", "when"])
    with pytest.raises(DataError, match="more than one column 'when'"):
        fit(frame, k=1, epsilon=1.0, bounds={"hour(when)": (0, 24)}, random_state=1)


def test_what_holds_no_dates_is_refused_by_its_type():
    for column in ([1, 2], [0.5, 1.5], [True, False], [1j, 2j]):
        with pytest.raises(NotNumericError, match="column 'n' holds no dates"):
            fit(pd.DataFrame({"n": column}), k=1, epsilon=1.0, bounds={"hour(n)": (0, 24)}, random_state=1)
