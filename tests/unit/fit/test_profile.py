"""What is in the clusters of a release: counted rightly on every table, charged before rows are read."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import covey
from covey import BudgetError, File, KMeans, Ledger, ParameterError
from covey.budget.accounting.promise import Kind
from covey.errors import CoveyError
from covey.fit.profile import make_profile
from covey.public import Neighbours
from covey.published.profile.profile import Profile
from unread import Unread

BOX = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
ASKED = ["mode=bike|car|7", "age=0:120:6", "hour(when)", "weekday(when)", "x"]
NOT_SAID = {**dict.fromkeys(("neighbours", "person", "rows_per_person", "ledger", "dataset")), "engine": "auto"}
EXACT = {"epsilon": 10_000, "random_state": 1}  # of such noise hardly a number is not 0


def made_rows(count: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    where = rng.choice([[0.2, 0.2], [0.8, 0.3], [0.5, 0.9]], count) + rng.normal(0, 0.05, (count, 2))
    when = pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 10 * 1440, count), unit="m")
    rows = pd.DataFrame({"x": where[:, 0], "y": where[:, 1], "mode": rng.choice(["bike", "car", "7", "tram"], count)})
    rows["age"] = rng.uniform(-10, 140, count).round(1)
    rows["when"], rows["who"] = when, rng.integers(0, 100, count)
    rows.loc[:3, "mode"] = None
    rows.loc[2:5, "age"] = np.nan
    rows.loc[5:9, "when"] = pd.NaT
    return rows


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return made_rows()


@pytest.fixture(scope="module")
def release(rows):
    return KMeans(3, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_


@pytest.fixture(scope="module")
def public(rows):
    """A release that is not seeded, so that profiles of it may be charged."""
    with pytest.warns(UserWarning, match="ledger"):
        return KMeans(2, epsilon=5.0, bounds=BOX).fit(rows[["x", "y"]]).release_


def by_hand(rows: pd.DataFrame, release) -> list[np.ndarray]:
    """The counts, cell by cell, in plain Python."""
    label = release.predict(rows[["x", "y"]])
    counts = [np.zeros((3, cells), dtype=int) for cells in (4, 7, 25, 8, 21)]
    for at, (x, mode, age, when) in zip(label, rows[["x", "mode", "age", "when"]].itertuples(index=False), strict=True):
        counts[0][at, ["bike", "car", "7"].index(mode) if mode in ("bike", "car", "7") else 3] += 1
        counts[1][at, 6 if math.isnan(age) else min(5, max(0, int(age // 20)))] += 1
        counts[2][at, 24 if when is pd.NaT else when.hour] += 1
        counts[3][at, 7 if when is pd.NaT else when.weekday()] += 1
        counts[4][at, min(19, max(0, math.floor(x * 20)))] += 1
    return counts


def test_every_kind_of_column_is_counted_as_by_hand(rows, release):
    found = release.profile(rows, columns=ASKED, **EXACT)
    assert [each.tolist() for each in found.counts] == [each.tolist() for each in by_hand(rows, release)]
    assert [each.name for each in found.columns] == ["mode", "age", "hour(when)", "weekday(when)", "x"]
    assert found.noise_scale == 5 / 10_000
    assert found.certificate.algorithm == "profile"
    assert found.certificate.seeded
    assert (found.certificate.epsilon, found.certificate.delta) == (10_000, 0)


def test_all_tables_and_files_give_the_same_profile_to_the_byte(rows, release, tmp_path):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True, date_format="iso")
    arrow = pa.Table.from_pandas(rows, preserve_index=False)
    ways = [
        rows,
        rows.astype({"mode": "category"}),
        pl.from_pandas(rows),
        pl.from_pandas(rows).lazy(),
        arrow,
        arrow.to_reader(max_chunksize=70),
        *(tmp_path / f"rows.{ending}" for ending in ("csv", "parquet", "jsonl")),
        File(tmp_path / "rows.csv", delimiter=","),
    ]
    asked = {"columns": ASKED, "epsilon": 1.0, "random_state": 3}
    found = [covey.profile(release, way, **asked).to_json() for way in ways]
    found.append(covey.profile(release, tmp_path / "rows.csv", engine="memory", **asked).to_json())
    assert len(set(found)) == 1


def test_a_release_of_hours_in_a_ball_and_without_some_rows_can_be_profiled(rows):
    bounds = {"x": (0, 1), "hour(when)": (0, 24)}
    clock = KMeans(2, epsilon=5.0, bounds=bounds, missing="drop", random_state=1).fit(rows).release_
    found = clock.profile(rows, columns=["hour(when)", "age=0:120"], **EXACT)
    assert found.counts[0].sum() == len(rows) - 5  # rows without a date were left out of the fit, and are here
    assert found.certificate.parameters["missing"] == "drop"
    ball = KMeans(2, epsilon=5.0, bounds=covey.Ball(2.0, columns=("x", "y")), random_state=1).fit(rows).release_
    assert ball.profile(rows, columns=["mode=bike"], **EXACT).counts[0].sum() == len(rows)


ODD = [
    None,
    math.nan,
    math.inf,
    "bike",
    "Bike",
    "",
    "x" * 100_000,
    "\udcff",
    b"bike",
    b"\xff",
    7,
    7.0,
    7.5,
    True,
    2**99,
]
ODD += [[1], {"a": 1}, np.float64("nan"), np.int8(7), datetime.date(2024, 5, 1), object()]


def test_no_cell_of_any_kind_raises_and_each_falls_in_one_place(release):
    frame = pd.DataFrame({"x": 0.5, "y": 0.5, "mode": pd.Series(ODD, dtype=object)})
    frame["age"] = pd.Series([*ODD[:3], 1e308, -1e308, *[5] * (len(ODD) - 5)], dtype=object)
    frame["when"] = pd.Series(ODD, dtype=object)
    found = release.profile(frame, columns=ASKED[:4], **EXACT)
    assert [each.sum() for each in found.counts] == [len(ODD)] * 4
    assert found.counts[0].sum(axis=0)[:3].tolist() == [2, 0, 3]  # a text and bytes; 7, 7.0 and numpy's 7
    assert found.counts[1].sum(axis=0).tolist() == [17, 0, 0, 0, 0, 2, 2]


def test_no_value_that_was_not_declared_is_in_what_leaves(release):
    canary = "Zenobia Quux"
    frame = pd.DataFrame({"x": [0.5], "y": [0.5], "mode": [canary], "age": [99.123]})
    found = release.profile(frame, columns=["mode=bike", "age=0:120"], **EXACT)
    assert canary not in found.to_json().decode()
    assert "99.123" not in found.to_json().decode()
    for wrong in (["mod=bike"], ["mode"], ["age=120:0"], ["hour(age)"], [f"hour({'mode'})", "mode=bike"]):
        with pytest.raises(CoveyError) as error:
            release.profile(frame, columns=wrong, **EXACT)
        assert canary not in str(error.value)


def test_people_are_capped_and_pay_for_all_their_rows(rows):
    who = KMeans(2, epsilon=5.0, bounds=BOX, person="who", rows_per_person=2, random_state=1).fit(rows).release_
    found = who.profile(rows, columns=["mode=bike|car"], **EXACT)
    people = rows.groupby("who").size().clip(upper=2).sum()
    assert found.counts[0].sum() == people
    assert found.noise_scale == 2 / 10_000  # two rows of a person
    assert found.certificate.unit == "who"
    assert "at most 2 count" in found.certificate.person
    assert who.profile(rows, columns=["mode=bike"], rows_per_person=1, **EXACT).noise_scale == 1 / 10_000
    chosen = who.profile(rows, columns=["mode=bike"], rows_per_person="auto", epsilon=5, random_state=1)
    assert chosen.certificate.parameters["people"]["epsilon_of_choice"] == 0.25
    with pytest.raises(ParameterError, match="person"):
        who.profile(rows, columns=["mode=bike"], neighbours="replace-one", person="who", **EXACT)


def test_where_a_row_is_replaced_the_noise_is_twice_as_large(release, rows):
    scales = [
        release.profile(
            rows, columns=["mode=bike", "age=0:120"], neighbours=each, epsilon=0.5, random_state=1
        ).noise_scale
        for each in ("add-remove", "replace-one")
    ]
    assert scales == [4.0, 8.0]


@pytest.fixture
def book(tmp_path):
    return Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=1)


def test_a_profile_is_charged_once_and_its_key_returns_it_for_nothing(public, rows, book):
    ask = {"columns": ASKED, "epsilon": 0.4, "ledger": book.with_key("monday"), "dataset": "trips"}
    first = public.profile(rows, **ask)
    assert public.profile(rows, **ask).to_json() == first.to_json()
    spent = book.datasets()["trips"].spent
    assert float(spent.epsilon) == 0.4
    assert first.certificate.receipt is not None
    with pytest.raises(CoveyError, match="key"):
        public.profile(rows, **{**ask, "columns": ["mode=bike|car|8", *ASKED[1:]]})
    with pytest.raises(BudgetError):
        public.profile(rows, **{**ask, "epsilon": 0.7, "ledger": book})


def test_nothing_is_read_where_the_ledger_refuses(public, book):
    with pytest.raises(BudgetError):
        public.profile(Unread("x", "y", "mode"), columns=["mode=bike"], epsilon=2, ledger=book, dataset="trips")
    with pytest.raises(AssertionError, match="rows were read"):
        public.profile(Unread("x", "y", "mode"), columns=["mode=bike"], epsilon=0.5, ledger=book, dataset="trips")
    assert float(book.datasets()["trips"].spent.epsilon) == 0.5  # charged before the reading that failed


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"columns": "mode=bike"}, "columns: must be a list"),
        ({"columns": []}, "columns: must be 1 to 64"),
        ({"columns": ["mode"]}, "columns: 'mode' needs its categories or its public range"),
        ({"columns": ["mod=bike"]}, "columns: the data has no column 'mod'"),
        ({"columns": ["mode=bike|bike"]}, "different categories"),
        ({"columns": ["mode=bike|other"]}, "different categories"),
        ({"columns": ["mode=|bike"]}, "one line of text"),
        ({"columns": ["mode=bike", "mode=car"]}, "names 'mode' twice"),
        ({"columns": ["mode=bike", "hour(mode)"]}, "is read as categories already"),
        ({"columns": ["x=1|2"]}, "'x' is read as numbers already"),
        ({"columns": ["age=120:0"]}, "the lower one first"),
        ({"columns": ["age=0:120:0"]}, "bins of 'age': must be a whole number"),
        ({"columns": ["hour(age)"]}, "columns: column 'age' holds no dates"),
        ({"columns": ["mode=0:1"]}, "columns: column 'mode' is not numeric"),
        ({"columns": {"when": ["a"]}}, "neither texts nor numbers"),
        ({"columns": {"hour(when)": (0, 24)}}, "declared by its name"),
        ({"columns": {"mode": 3}}, "needs its categories"),
        ({"columns": [f"mode={'|'.join(map(str, range(1200)))}"]}, "999 different categories"),
        ({"epsilon": 0}, "epsilon"),
        ({"engine": "spark"}, "engine: 'spark' reads Parquet paths"),
        ({"person": 3}, "person"),
        ({"ledger": "city.ledger"}, "city.ledger"),
        ({"random_state": None}, "release: is seeded"),
    ],
)
def test_what_is_wrong_is_refused_by_name(rows, release, asked, words):
    given = {"columns": ["mode=bike"], "epsilon": 1.0, "random_state": 1, **asked}
    with pytest.raises(CoveyError) as error:
        make_profile(release, rows, **{**NOT_SAID, **given})
    assert words in str(error.value)


def test_rows_without_names_and_centres_without_a_certificate_are_refused(rows, release):
    with pytest.raises(ParameterError, match="columns: have names"):
        release.profile(rows[["x", "y"]].to_numpy(), columns=["x"], epsilon=1, random_state=1)
    with pytest.raises(ParameterError, match="centres with a certificate"):
        covey.profile(release.centres, rows, columns=["x"], epsilon=1, random_state=1)


def test_a_release_with_zones_is_refused(rows):
    trips = rows.rename(columns={"x": "lon", "y": "lat"})
    box = {"lon": (0.0, 1.0), "lat": (0.0, 1.0)}
    zones = [(covey.Box(lon=(0, 0.5), lat=(0, 0.5)), 0.5)]
    strict = KMeans(2, epsilon=1.0, bounds=box, zones=zones, random_state=1).fit(trips).release_
    with pytest.raises(ParameterError, match="rows in zones"):
        strict.profile(trips, columns=["mode=bike"], epsilon=1, random_state=1)


def test_the_promise_has_a_type_of_its_own(public, rows, tmp_path):
    book = Ledger.create(tmp_path / "other.ledger", dataset="trips", epsilon=1, person="who")
    with pytest.raises(ParameterError, match=r"give person=.who."):
        public.profile(rows, columns=["mode=bike"], epsilon=0.1, ledger=book, dataset="trips")
    found = public.profile(rows, columns=["mode=bike"], epsilon=0.1, person="who", ledger=book, dataset="trips")
    assert found.certificate.promise.kind == Kind(Neighbours.ADD_REMOVE, "who")


def test_a_profile_survives_its_file(release, rows, tmp_path):
    found = release.profile(rows, columns=ASKED, epsilon=1, random_state=1)
    found.save(tmp_path / "profile.json")
    again = Profile.load(tmp_path / "profile.json")
    assert again.to_json() == found.to_json()
    document = json.loads(found.to_json())
    assert document["counts"][0] == found.counts[0].tolist()
    assert document["statement"] == found.certificate.statement


def test_the_certificate_says_what_the_centres_cost_and_every_choice(rows, release):
    first = release.certificate
    chosen = msgspec.structs.replace(
        release, certificate=msgspec.structs.replace(first, parameters={**first.parameters, "choice": "level 2 of 5"})
    )
    told = chosen.profile(rows, columns=["mode=bike"], **EXACT).certificate
    assert told.parameters["centres_of"] == [{"epsilon": 5.0, "delta": first.delta, "receipt": None}]
    assert "released before, with epsilon = 5, and that adds to this" in told.statement
    assert told.parameters["choice"] == "level 2 of 5"


def test_a_release_that_no_file_holds_is_refused_before_the_charge(rows, release):
    for centres in ([[1e308, 0.5]], [[math.nan, 0.5]]):
        absurd = msgspec.structs.replace(release, centres=centres, sizes=None, errors=None)
        with pytest.raises(ParameterError, match="release: holds what no fit releases"):
            absurd.profile(rows, columns=["mode=bike"], **EXACT)


def test_a_number_with_a_huge_exponent_costs_no_time(release):
    cells = [Decimal("1E+100000000"), Decimal("7"), "7"]
    rows = pd.DataFrame({"x": [0.2] * 3, "y": [0.2] * 3, "c": pd.Series(cells, dtype=object)})
    assert release.profile(rows, columns=["c=7"], **EXACT).counts[0].sum() == 3


def test_dollars_in_a_category_are_no_formula(rows, release):
    assert release.profile(rows, columns=["mode=$0_$10|a"], **EXACT).plot()


def test_texts_of_numpy_are_written_too_once_they_are_paid_for():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.uniform(0, 1, (300, 2)), columns=["x", "y"]).assign(
        mode=rng.choice(["a", "b"], 300), who=range(300)
    )
    release = KMeans(2, epsilon=1.0, bounds={"x": (0, 1), "y": (0, 1)}, random_state=1).fit(rows).release_
    asked = {"columns": {np.str_("mode"): list(np.array(["a", "b"]))}, "person": np.str_("who")}
    found = release.profile(rows, epsilon=1, random_state=1, **asked)
    assert found.columns[0].cells == ["a", "b", "other"]
