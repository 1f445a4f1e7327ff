"""KMedian and PrivateCoreset: the same contract as KMeans, and what is their own."""

import inspect
import json
import pickle
import re
import struct
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import covey
from covey import Box, Coreset, KMeans, KMedian, Ledger, ParameterError, PrivateCoreset
from covey.algorithms.coreset_methods import METHODS
from covey.algorithms.registry import ALGORITHMS

EXPECTED_TO_FAIL = {
    KMedian: {"check_clustering", "check_estimators_empty_data_messages"},  # as KMeans, for the same reasons
    PrivateCoreset: {"check_estimators_empty_data_messages"},
}


@pytest.mark.parametrize("kind", EXPECTED_TO_FAIL)
def test_the_contract_of_scikit_learn(kind):
    own = {"method": "grid", "method_params": {"starts": 2}} if kind is PrivateCoreset else {}
    model = kind(n_clusters=3, bounds=(-100, 100), random_state=0, **own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    assert set(failed) == EXPECTED_TO_FAIL[kind], failed
    assert sum(each["status"] == "passed" for each in results) > 35


@pytest.mark.parametrize("kind", [KMeans, KMedian, PrivateCoreset])
def test_every_parameter_is_stored_and_documented(kind):
    parameters = inspect.signature(kind).parameters
    words = kind.__doc__
    assert [name for name in parameters if not re.search(rf"\b{name}\b[\w, ]* : ", words)] == []
    odd = object()
    model = kind(**dict.fromkeys(parameters, odd))
    assert all(value is odd for value in model.get_params().values())
    assert set(vars(model)) == set(parameters)


def test_kmeans_and_kmedian_have_the_same_form():
    assert inspect.signature(KMeans) == inspect.signature(KMedian)
    shared = set(inspect.signature(KMeans).parameters) - {"algorithm", "algorithm_params", "k_range"}
    assert set(inspect.signature(PrivateCoreset).parameters) == shared | {"method", "method_params", "objective"}


# --- KMedian ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["auto", "grid"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_medians_are_found(blobs, algorithm, neighbours):
    model = KMedian(3, epsilon=100, bounds=(-1, 1), algorithm=algorithm, neighbours=neighbours, random_state=0)
    model.fit(blobs)
    assert model.release_.objective == "k-median"
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    assert np.linalg.norm(model.cluster_centers_[:, None] - middles, axis=2).min(axis=0).max() < 0.15
    assert model.predict(blobs).shape == (600,)
    assert model.transform(blobs).shape == (600, 3)


def test_an_algorithm_of_means_only_is_refused(blobs):
    with pytest.raises(ParameterError, match="objective"):
        KMedian(3, bounds=(-1, 1), algorithm="lloyd").fit(blobs)


def test_far_rows_pull_medians_less_than_means():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-0.5, 0.05, (9_000, 2)), rng.normal(0.9, 0.02, (1_500, 2))])
    options = {"epsilon": 20, "bounds": (-1, 1), "algorithm": "grid", "random_state": 1}
    mean, median = (kind(1, **options).fit(rows).cluster_centers_[0] for kind in (KMeans, KMedian))
    assert np.abs(median + 0.5).max() < 0.05
    assert np.abs(mean + 0.5).max() > 0.15


# --- PrivateCoreset ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "grid"])
@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_a_fit_gives_a_coreset_that_answers(blobs, method, objective):
    model = PrivateCoreset(3, epsilon=50, bounds=(-1, 1), method=method, objective=objective, random_state=2).fit(blobs)
    coreset = model.coreset_
    assert isinstance(coreset, Coreset)
    assert coreset.objective == objective
    assert coreset.total == pytest.approx(600, abs=60)
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    exact = np.linalg.norm(blobs[:, None] - middles, axis=2).min(axis=1).sum()
    assert coreset.cost(middles, objective="k-median") == pytest.approx(exact, rel=0.6)
    assert len(model.release_.centres) == 3
    assert Coreset.of(model.release_) == coreset


def test_the_rows_are_nowhere_and_clones_start_anew(blobs):
    model = PrivateCoreset(2, bounds=(-1, 1), method="grid").fit(blobs)
    fitted = {name for name in vars(model) if name not in model.get_params()}
    assert fitted == {"release_", "coreset_", "_domain", "n_features_in_"}
    assert pickle.loads(pickle.dumps(model)).coreset_ == model.coreset_
    assert not hasattr(clone(model), "coreset_")


def test_the_ledger_is_charged_once_and_questions_are_free(blobs):
    book = Ledger.memory(dataset="d", epsilon=1)
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    model = PrivateCoreset(2, epsilon=1, bounds=Box(x=(-1, 1), y=(-1, 1)), method="grid", ledger=book, dataset="d")
    coreset = model.fit(frame).coreset_
    assert coreset.columns == ["x", "y"]
    for k in (1, 2, 3):
        coreset.kmeans(k, starts=3)
    coreset.cost(np.zeros((50, 2, 2)))
    assert float(book.datasets()["d"].spent.epsilon) == 1
    with pytest.raises(covey.BudgetError):
        model.fit(frame)


def test_what_a_method_cannot_do_is_refused_before_the_charge():
    rows = np.zeros((10, 5))
    book = Ledger.memory(dataset="d", epsilon=1)
    options = {"bounds": (-1, 1), "ledger": book, "dataset": "d"}
    for bad in ("magic", 3, None, "grid-coreset"):
        with pytest.raises(ParameterError, match=r"method: must be one of 'auto'.*'grid'"):
            PrivateCoreset(2, method=bad, **options).fit(rows)
    with pytest.raises(ParameterError, match="params"):
        PrivateCoreset(2, method="grid", method_params={"magic": 1}, **options).fit(rows)
    with pytest.raises(ParameterError, match="params"):
        PrivateCoreset(2, method="grid", method_params=[1], **options).fit(rows)
    with pytest.raises(ParameterError, match="bounds"):
        PrivateCoreset(2).fit(rows)
    assert book.datasets()["d"].spent.epsilon == 0


@pytest.mark.parametrize("method", METHODS)
def test_every_method_that_is_there_makes_a_coreset(blobs, method):
    row = ALGORITHMS[METHODS[method]]
    for objective in row.objectives:
        options = {} if row.guarantee == "pure" else {"delta": 1e-6}
        relation = str(row.neighbours[0])
        model = PrivateCoreset(
            2,
            epsilon=2,
            bounds=(-1, 1),
            method=method,
            objective=objective,
            neighbours=relation,
            random_state=1,
            **options,
        )
        coreset = model.fit(blobs).coreset_
        assert len(coreset) > 0
        assert np.isfinite(coreset.cost([[0.0, 0.0], [0.5, 0.5]]))


def test_no_value_of_a_row_is_left_behind(tmp_path):
    canary = 0.123456789
    rows = np.random.default_rng(4).normal(0, 0.4, (1237, 2))
    rows[::3] = canary
    model = PrivateCoreset(2, bounds=Box(lon=(-1, 1), lat=(-1, 1)), method="grid", random_state=3).fit(rows)
    coreset = model.coreset_
    coreset.save(tmp_path / "a.json")
    coreset.save(tmp_path / "a.parquet")
    small = coreset.reduce(50, random_state=1)
    left = [
        pickle.dumps(model),
        pickle.dumps(small),
        repr(model).encode() + repr(coreset).encode() + repr(vars(coreset)).encode(),
        (tmp_path / "a.json").read_bytes(),
        (tmp_path / "a.parquet").read_bytes(),
        json.dumps(coreset.to_geojson()).encode(),
        coreset.sample(100, random_state=1).tobytes(),
    ]
    for blob in left:
        assert b"0.1234567" not in blob
        assert struct.pack("<d", canary) not in blob
        assert not re.search(rb"(?<![0-9a-f.])1237(?![0-9a-f])", blob)
    assert b"0.1234567" in repr(rows.tolist()).encode()  # the search can find


def test_no_method_is_paid_for_and_then_gives_nothing():
    rows, charged = np.random.default_rng(0).uniform(-1, 1, (300, 2)), Ledger.memory()
    shared = {"epsilon": 1.0, "bounds": (-1, 1), "ledger": charged, "dataset": "data", "random_state": 1}
    assert len(PrivateCoreset(2, **shared).fit(rows).coreset_) >= 1  # the default method
    before = charged.head
    for method in ("auto", "grid"):
        with pytest.raises(ParameterError, match="keep_synopsis"):
            PrivateCoreset(2, method=method, method_params={"keep_synopsis": False}, **shared).fit(rows)
    assert charged.head == before
