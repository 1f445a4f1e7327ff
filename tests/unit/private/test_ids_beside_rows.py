"""`person=` as an array of ids: the same as a column of them, and never kept by a model."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covey import Box, KMeans, Ledger, PrivateCoreset
from covey.errors import DataError, ParameterError
from covey.fit.fit import fit
from covey.levels import fit_levels
from covey.private.tables.frames import open_table
from covey.private.tables.whose import IdTable

RNG = np.random.default_rng(0)
ROWS = RNG.random((400, 2))
IDS = RNG.integers(0, 60, 400)
ASK = {"k": 2, "epsilon": 1, "rows_per_person": 2, "random_state": 3}
BOUNDS = Box(a=(0, 1), b=(0, 1))
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])
SECRET = "Quail"


def with_column(ids, name="person") -> bytes:
    return fit(FRAME.assign(**{name: ids}), bounds=BOUNDS, person=name, **ASK).to_json()


@pytest.mark.parametrize(
    "make",
    [
        *(np.array, list, tuple, pd.Series, pl.Series, pa.array, lambda ids: pa.chunked_array([ids[:9], ids[9:]])),
        *(lambda ids: ids.astype(float), lambda ids: ids.astype(object), lambda ids: pd.Series(ids).astype("category")),
        lambda ids: pd.Series(ids, index=RNG.permutation(400)),
    ],
)
def test_ids_beside_the_rows_are_as_a_column_of_them(make):
    expected = with_column(IDS)
    for data in (FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
        assert fit(data, bounds=BOUNDS, person=make(IDS), **ASK).to_json() == expected
    assert fit(FRAME, bounds=(0, 1), person=make(IDS), **ASK).to_json() == expected


@pytest.mark.parametrize(
    "make", [np.array, list, pd.Series, pl.Series, pa.array, lambda ids: np.array(ids, dtype=object)]
)
def test_texts_are_ids_too_and_a_missing_one_is_nobody(make):
    names = [f"p{each}" for each in IDS]
    assert fit(FRAME, bounds=BOUNDS, person=make(names), **ASK).to_json() == with_column(names)
    if make is not np.array:
        names[0] = None
        assert fit(FRAME, bounds=BOUNDS, person=make(names), **ASK).to_json() == with_column(names)


def cells(ids) -> list:
    table = IdTable(open_table(np.zeros((len(ids), 1))), ids)
    return [who for piece in table.pieces_with_ids(None, table.name) for who in piece()[1].to_pylist()]


LARGE = [2**53, 2**53 + 1, -(2**53) - 1]


@pytest.mark.parametrize("other", [float("nan"), None, 2**63 + 1, -1, True])
def test_no_id_of_a_list_changes_another(other):
    """numpy's common type of all would: whole numbers beside a fraction, or signed beside unsigned, lose digits."""
    assert [int(each) for each in cells([*LARGE, other])[:3]] == LARGE
    assert len(set(cells([2**63 + 1, 2**63 + 2, other])[:2])) == 2


def test_whole_numbers_and_fractions_in_a_list_are_not_mixed():
    assert cells([7.0, None, 2.5, float("nan")]) == [b"7", None, (2.5).hex().encode(), None]
    assert cells([np.float32(7), np.float64(8)]) == [7, 8]
    assert cells(list(np.array(["ann", "bob"]))) == [b"ann", b"bob"]
    with pytest.raises(ParameterError, match="several kinds"):
        cells([7, 2.5])


@pytest.mark.parametrize("ids", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"]])
def test_a_masked_id_is_missing_whatever_lies_beneath(ids):
    found = cells(np.ma.array(ids, mask=[False, True, False]))
    assert [each is None for each in found] == [False, True, False]


def test_a_column_that_is_there_twice_is_refused_beside_ids_as_well():
    twice = pd.DataFrame(np.ones((4, 3)), columns=["a", "a", "b"])
    for data in (twice, pa.table([[1.0] * 4] * 3, names=["a", "a", "b"])):
        with pytest.raises(DataError, match="more than one column 'a'"):
            fit(data, bounds=BOUNDS, person=[1, 2, 3, 4], **ASK)


def test_rows_of_an_array_have_ids_too():
    release = fit(ROWS, bounds=(0, 1), person=IDS, **ASK)
    assert release.certificate.unit == "person"
    assert np.array_equal(release.centres, fit(FRAME, bounds=BOUNDS, person=IDS, **ASK).centres)


def test_the_name_of_the_ids_is_that_of_the_people():
    expected = with_column(IDS, "driver")
    assert fit(FRAME, bounds=BOUNDS, person=pd.Series(IDS, name="driver"), **ASK).to_json() == expected
    own = FRAME.assign(driver=IDS)
    assert fit(own, bounds=BOUNDS, person=own["driver"], **ASK).to_json() == expected
    assert fit(own, bounds=(0, 1), person=own["driver"], **ASK).to_json() == expected


def test_models_and_levels_take_them():
    model = KMeans(2, epsilon=1, bounds=BOUNDS, rows_per_person=2, random_state=3).fit(FRAME, person=IDS)
    assert model.release_.to_json() == with_column(IDS)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert len(model.predict(FRAME)) == 400
    assert len(KMeans(2, epsilon=1, bounds=BOUNDS, rows_per_person=2).fit_predict(FRAME, person=IDS)) == 400
    made = PrivateCoreset(2, epsilon=1, bounds=BOUNDS, rows_per_person=2, random_state=3).fit(FRAME, person=IDS)
    assert made.coreset_.certificate.unit == "person"
    levels = fit_levels(FRAME, bounds=BOUNDS, person=IDS, rows_per_person=2, random_state=3)
    named = fit_levels(FRAME.assign(person=IDS), bounds=BOUNDS, person="person", rows_per_person=2, random_state=3)
    assert str(levels) == str(named)


def test_no_model_keeps_them():
    names = [f"{SECRET}{each}" for each in IDS]
    model = KMeans(2, epsilon=1, bounds=BOUNDS).fit(FRAME, person=names)
    assert SECRET not in repr(model)
    assert SECRET.encode() not in pickle.dumps(model)
    with pytest.raises(ParameterError, match=r"fit\(X, person=ids\)"):
        KMeans(2, epsilon=1, bounds=BOUNDS, person=names).fit(FRAME)
    with pytest.raises(ParameterError, match="twice"):
        KMeans(2, epsilon=1, bounds=BOUNDS, person="a").fit(FRAME, person=names)


@pytest.mark.parametrize("ids", [IDS[:-1], [], np.append(IDS, 1), IDS[:, None], np.array(5), [[1]] * 400, {1: 2}])
def test_ids_that_are_not_one_for_each_row_are_refused_and_nothing_is_counted_out(ids):
    book = Ledger.memory(dataset="d", epsilon=1, person="person")
    with pytest.raises(ParameterError, match="person") as refusal:
        fit(FRAME, bounds=BOUNDS, person=ids, ledger=book, dataset="d", k=2, epsilon=1)
    assert not any(str(number) in str(refusal.value) for number in (399, 400, 401))
    assert book.datasets()["d"].remaining.epsilon == 1


@pytest.mark.parametrize(
    "ids", [np.array(["2020-01-01"] * 400, dtype="datetime64[D]"), [1, "a"] * 200, pd.Series([[1]] * 400), IDS * 1j]
)
def test_ids_that_cannot_be_compared_are_refused(ids):
    with pytest.raises(ParameterError, match="person"):
        fit(FRAME, bounds=BOUNDS, person=ids, k=2, epsilon=1)


def test_files_and_queries_name_a_column(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    for data in (tmp_path / "rows.csv", pl.from_pandas(FRAME).lazy()):
        with pytest.raises(ParameterError, match="name a column"):
            fit(data, bounds=BOUNDS, person=IDS, k=2, epsilon=1)


@pytest.mark.parametrize("model", [KMeans, PrivateCoreset])
def test_weights_are_refused_with_the_reason(model):
    book = Ledger.memory(dataset="d", epsilon=1)
    made = model(2, epsilon=1, bounds=BOUNDS, ledger=book, dataset="d")
    with pytest.raises(ParameterError, match="sample_weight: is not taken: every proof is for rows that count once"):
        made.fit(FRAME, sample_weight=np.ones(400))
    with pytest.raises(TypeError, match="unexpected keyword argument 'groups'"):
        made.fit(FRAME, groups=IDS)
    if model is KMeans:
        with pytest.raises(ParameterError, match="sample_weight"):
            made.fit_predict(FRAME, sample_weight=np.ones(400))
    assert book.datasets()["d"].remaining.epsilon == 1


def test_what_is_no_table_stays_none():
    with pytest.raises(DataError):
        fit([1.0, 2.0], bounds=(0, 1), person=[1, 2], k=1, epsilon=1)
