"""Categories that nobody declared: found by a threshold, the same from every table, and charged with their delta."""

from __future__ import annotations

import json
from decimal import Decimal

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import covey
from covey import KMeans, Ledger, ParameterError
from covey.errors import BudgetError, CoveyError
from covey.published.profile.profile import Profile
from covey.published.profile.words import show_profile
from unread import Unread

BOX = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
PRIVATE = {"columns": ["shop=private", "x"], "delta": 1e-6}
CLEAR = {**PRIVATE, "epsilon": 30, "random_state": 1}  # a threshold of a few rows, and hardly any noise


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    made = pd.DataFrame(rng.choice([0.2, 0.8], (600, 2)) + rng.normal(0, 0.02, (600, 2)), columns=["x", "y"])
    made["shop"] = np.where(made.x > 0.5, "bakery", rng.choice(["bank", "café", "7"], 600))
    made["who"] = np.arange(600) // 3
    made.loc[0, "shop"], made.loc[1:40, "shop"], made.loc[41:60, "shop"] = "Zenobia Quux", None, "other"
    return made


@pytest.fixture(scope="module")
def release(rows):
    return KMeans(2, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_


@pytest.fixture(scope="module")
def public(rows):
    """A release that is not seeded, so that profiles of it may be charged."""
    with pytest.warns(UserWarning, match="ledger"):
        return KMeans(2, epsilon=5.0, bounds=BOX).fit(rows[["x", "y"]]).release_


def cells(found: Profile) -> list[str]:
    return found.columns[0].cells


def test_texts_of_many_rows_are_found_and_all_else_is_other(rows, release):
    found = release.profile(rows, **CLEAR)
    assert cells(found) == ["bakery", *cells(found)[1:-1], "other"]  # of the most rows first
    assert sorted(cells(found)) == ["7", "bakery", "bank", "café", "other"]
    assert dict(zip(cells(found), found.counts[0].sum(axis=0).tolist(), strict=True)) == {
        name: int((rows["shop"] == name).sum()) for name in ("7", "bakery", "bank", "café")
    } | {"other": 61}
    assert found.columns[0].kind == "category"
    assert "Zenobia" not in found.to_json().decode()
    assert Profile.from_json(found.to_json()).to_json() == found.to_json()
    assert found.plot().startswith(b"\x89PNG")


def test_the_certificate_and_the_words_say_how(rows, release, capsys):
    found = release.profile(rows, columns=["shop=private", "x"], epsilon=3, delta=1e-6, random_state=1)
    assert (found.certificate.epsilon, found.certificate.delta) == (3.0, 1e-6)
    assert found.noise_scale == 1.0  # three parts: one to find, one for each column that is counted
    assert found.certificate.parameters["private"] == {"shop": {"threshold": 15, "bytes": 48}}
    assert "delta = 1e-06" in found.certificate.statement
    show_profile(found)
    assert "Categories of shop were found in the rows: only texts that about 15 rows or more have" in " ".join(
        capsys.readouterr().out.split()
    )


def test_delta_is_shared_by_private_columns(rows, release):
    two = {"columns": {"shop": "private", "who": "private"}, "epsilon": 4, "random_state": 1}
    told = [release.profile(rows, delta=each, **two).certificate for each in (1e-6, 2e-6)]
    one = release.profile(rows, columns=["shop=private"], epsilon=2, delta=1e-6, random_state=1).certificate
    assert [each.delta for each in told] == [1e-6, 2e-6]
    assert told[1].parameters["private"]["who"] == one.parameters["private"]["shop"]  # a part of 1, and 1e-6
    assert told[0].parameters["private"]["who"]["threshold"] > one.parameters["private"]["shop"]["threshold"]


def test_a_profile_of_declared_columns_is_what_it_was(rows, release):
    found = release.profile(rows, columns=["shop=bank", "x"], epsilon=2, random_state=1)
    assert (found.noise_scale, found.certificate.delta) == (1.0, 0.0)
    assert "private" not in found.certificate.parameters


@pytest.mark.parametrize("asked", [{}, {"person": "who", "rows_per_person": 2}, {"neighbours": "replace-one"}])
def test_all_tables_and_files_in_any_order_give_the_same_to_the_byte(rows, release, tmp_path, asked):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    arrow = pa.Table.from_pandas(rows, preserve_index=False)
    ways = [
        rows,
        rows.sample(frac=1, random_state=3),
        rows.astype({"shop": "category"}),
        pl.from_pandas(rows).lazy(),
        arrow.to_reader(max_chunksize=70),
        tmp_path / "rows.csv",
        tmp_path / "rows.parquet",
    ]
    ask = {**PRIVATE, "epsilon": 3, "random_state": 2, **asked}
    found = [covey.profile(release, way, **ask).to_json() for way in ways]
    assert len(set(found)) == 1
    assert len(json.loads(found[0])["columns"][0]["cells"]) > 2


def test_no_rows_and_no_text_are_an_answer(rows, release, capsys):
    for some in (rows[:0], rows.assign(shop=None), rows.assign(shop=[f"n{each}" for each in range(600)])):
        found = release.profile(some, **{**CLEAR, "epsilon": 3})
        assert cells(found) == ["other"]
        assert found.counts[0].shape == (2, 1)
        assert Profile.from_json(found.to_json()).shares("shop").tolist() == [[[1.0] * 3]] * 2
        show_profile(found)
        assert found.plot()
    assert "other" in capsys.readouterr().out


def test_texts_are_cut_to_a_public_length_and_can_be_shown(release):
    texts = ["a" * 47 + "ü", "a" * 47 + "ö", "\x1b[31mred\n", "\u202eright", "ü" * 40, "<b>&'", "=1+1"]
    some = pd.DataFrame({"x": 0.5, "y": 0.5, "shop": np.repeat(texts, 50)})
    found = release.profile(some, **CLEAR)
    assert set(cells(found)) == {"a" * 47, "�[31mred�", "�right", "ü" * 24, "<b>&'", "=1+1", "other"}
    assert found.counts[0].sum(axis=0)[cells(found).index("a" * 47)] == 100


def test_no_more_are_told_than_a_profile_may_have(release):
    some = pd.DataFrame({"x": 0.5, "y": 0.5, "shop": np.repeat([f"n{each:04d}" for each in range(1100)], 9)})
    found = release.profile(some, **CLEAR)
    assert len(cells(found)) == 1000
    assert found.counts[0].sum() == 9900


def test_people_are_capped_before_anything_is_looked_for(rows, release):
    """Somebody with very many rows of their own text counts as the rows that count of anybody."""
    mine = pd.DataFrame({"x": 0.5, "y": 0.5, "shop": "mine", "who": [10**6] * 500})
    found = release.profile(pd.concat([rows, mine]), person="who", rows_per_person=2, **CLEAR)
    assert "mine" not in cells(found)
    assert found.counts[0].sum() == 2 * 200 + 2
    assert "mine" in cells(release.profile(pd.concat([rows, mine]), **CLEAR))


def test_epsilon_and_delta_are_charged_before_a_row_is_read(public, rows, tmp_path):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=2, delta=1e-5)
    ask = {**PRIVATE, "epsilon": 0.5, "ledger": book, "dataset": "trips"}
    with pytest.raises(AssertionError, match="rows were read"):
        public.profile(Unread("x", "y", "shop"), **ask)
    spent = book.datasets()["trips"].spent
    assert (float(spent.epsilon), float(spent.delta)) == (0.5, 1e-6)
    with pytest.raises(BudgetError):
        public.profile(Unread("x", "y", "shop"), **{**ask, "delta": 1e-4})
    keyed = {**ask, "ledger": book.with_key("monday")}
    first = public.profile(rows, **keyed)
    assert public.profile(rows, **keyed).to_json() == first.to_json()
    with pytest.raises(CoveyError, match="key"):
        public.profile(rows, **{**keyed, "delta": 2e-6})
    assert float(book.datasets()["trips"].spent.delta) == 2e-6


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"delta": None}, "delta: categories of 'shop' are private"),
        ({"columns": ["shop=bank"]}, "delta: only private categories need one"),
        ({"delta": 0.2}, "delta: must be at most 0.01"),
        ({"delta": -1}, "delta"),
        ({"columns": {"shop": "secret"}}, "columns: 'shop' needs its categories"),
        ({"columns": {"x": "private"}}, "'x' is read as numbers already"),
        ({"columns": {f"c{each}": "private" for each in range(9)}}, "at most 8 may have private categories"),
        ({"columns": {"when": "private"}}, "neither texts nor numbers"),
        ({"epsilon": 1e-300}, "epsilon"),
        ({"person": "who", "rows_per_person": 10**6}, "rows_per_person"),
    ],
)
def test_what_is_wrong_is_refused_by_name_before_the_charge(public, rows, tmp_path, asked, words):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=9, delta=0.5, person=asked.get("person"))
    wide = rows.assign(when=pd.Timestamp("2024-05-01"), **{f"c{each}": "a" for each in range(9)})
    with pytest.raises(CoveyError) as error:
        public.profile(wide, **{**PRIVATE, "epsilon": 0.5, "ledger": book, "dataset": "trips", **asked})
    assert words in str(error.value)
    assert book.datasets()["trips"].spent.epsilon == 0


def test_a_table_without_room_for_categories_is_refused(rows):
    many = KMeans(3, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_
    columns = {"shop": "private", **{f"c{each}": [str(name) for name in range(990)] for each in range(60)}}
    wide = pd.concat([rows, pd.DataFrame(dict.fromkeys(columns, "a"), index=rows.index)[[*columns][1:]]], axis=1)
    found = many.profile(wide, columns=columns, epsilon=500, delta=1e-6, random_state=1)
    assert len(found.counts) == 61
    larger = msgspec.structs.replace(many, centres=[[0.5, 0.5]] * 18, sizes=None, errors=None)
    with pytest.raises(ParameterError, match="cells in all clusters"):
        larger.profile(wide, columns=columns, epsilon=500, delta=1e-6, random_state=1)


SAME = {  # what programs write of the same value
    "7": ["7", "7.0", "7.00", b"7", 7, 7.0, np.int8(7), np.float32(7), Decimal("7.000")],
    "2.5": ["2.5", "2.50", 2.5, np.float64(2.5), Decimal("2.50")],
    "true": ["true", "True", "TRUE", True, np.True_],
    "0": ["0", "0.0", "-0.0", 0, -0.0, Decimal("-0.0")],
    "007": ["007", b"007"],
    "1e-05": ["1e-05", 1e-05],
}


def test_a_value_is_the_same_category_however_it_is_written(release, tmp_path):
    """In texts, numbers and booleans, in memory and in files: one rule for all (private/tables/coded.md)."""
    values = [(name, value) for name, ways in SAME.items() for value in ways]
    some = pd.DataFrame({"x": 0.5, "y": 0.5, "v": pd.Series([value for _, value in values], dtype=object)})
    columns = {"v": ["7.0", "2.5", "TRUE", "0", "007", "1e-05"]}
    found = release.profile(some, columns=columns, epsilon=10_000, random_state=1)
    assert found.columns[0].cells == [*SAME, "other"]
    assert found.counts[0].sum(axis=0).tolist() == [*map(len, SAME.values()), 0]

    typed = {
        "whole": pd.array([7, 8, None, 7], "Int64"),
        "real": np.array([7.0, 2.5, np.nan, 7.0]),
        "flag": pd.array([True, False, None, True], "boolean"),
        "text": ["7.0", "True", "", "bike"],
    }
    frame = pd.DataFrame({"x": 0.5, "y": 0.5, **typed})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    frame.to_excel(tmp_path / "rows.xlsx", index=False)
    asked = {"whole": ["7", "8"], "real": ["7", "2.5"], "flag": ["true", "false"], "text": ["7", "true", "bike"]}
    for way in (
        frame,
        frame.astype(object),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        *(tmp_path / f"rows.{ending}" for ending in ("csv", "parquet", "jsonl", "xlsx")),
    ):
        found = covey.profile(release, way, columns=asked, epsilon=10_000, random_state=1)
        assert [each.sum(axis=0).tolist() for each in found.counts] == [[2, 1, 1], [2, 1, 1], [2, 1, 1], [1, 1, 1, 1]]
