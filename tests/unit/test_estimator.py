"""KMeans as a scikit-learn estimator: its contract, what it never sets, and that no data is too small."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from conftest import settings_of
from covey import Ball, Box, DataError, KMeans, Ledger, NotNumericError, ParameterError, PrivateCoreset, Release
from covey.algorithms.registry import ALGORITHMS, Algorithm
from covey.fit.fit import fit

EXPECTED_TO_FAIL = {
    "check_clustering": "there is no labels_: an exact assignment of the rows would leak",
    "check_estimators_empty_data_messages": "zero rows are a normal release: a refusal would tell",
}


def takes_any_data(row: Algorithm) -> bool:
    """Whether it takes what scikit-learn's checks use: up to ten columns, and no parameters that suit their number."""
    needs = row.needs(np.zeros(2), np.ones(2), 3, np.random.default_rng(0))
    return (row.most_columns is None or row.most_columns >= 10) and not needs


ANY_DATA = [name for name, row in ALGORITHMS.items() if takes_any_data(row)]


def quick(algorithm: str, **shape: object) -> dict[str, object]:
    """`settings_of` with few starts of the search, where there are many: what they find does not matter here."""
    made = settings_of(algorithm, **shape)
    if "starts" in ALGORITHMS[algorithm].parameters:
        made["algorithm_params"] = {**(made["algorithm_params"] or {}), "starts": 2}
    return made


@pytest.mark.parametrize("algorithm", ANY_DATA)
def test_the_contract_of_scikit_learn(algorithm):
    model = KMeans(n_clusters=3, bounds=(-100, 100), random_state=0, **quick(algorithm))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    assert set(failed) == set(EXPECTED_TO_FAIL), failed
    assert sum(each["status"] == "passed" for each in results) > 40


WAYS = [
    (row.name, str(relation), objective)
    for row in ALGORITHMS.values()
    for relation in row.neighbours
    for objective in row.objectives
]
SMALL = {
    "no rows": np.empty((0, 2)),
    "one row": np.array([[0.5, -0.5]]),
    "fewer rows than k": np.array([[0.5, -0.5], [0.1, 0.2]]),
    "all rows equal": np.full((40, 2), 0.25),
    "all missing": np.full((5, 2), np.nan),
    "all infinite": np.full((5, 2), np.inf),
}


@pytest.mark.parametrize("rows", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize(("algorithm", "neighbours", "objective"), WAYS)
def test_no_data_is_too_small(algorithm, neighbours, objective, rows):
    for seed in (None, 0):  # whatever the noise says
        made = fit(
            rows,
            k=3,
            epsilon=1.0,
            bounds=(-1, 1),
            neighbours=neighbours,
            objective=objective,
            random_state=seed,
            **{**quick(algorithm), "delta": 1e-6},
        )
        centres = np.array(made.centres)
        assert centres.shape == (3, 2)
        assert np.isfinite(centres).all()
        assert np.abs(centres).max() <= 1
        assert made.sizes is None or np.isfinite(made.sizes).all()
        assert made.certificate.neighbours == neighbours


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("epsilon", [1e-6, 1e4])
@pytest.mark.parametrize("bounds", [(-1, 1), Ball(1.0)], ids=["box", "ball"])
def test_every_epsilon_that_is_accepted_works(blobs, algorithm, epsilon, bounds):
    model = KMeans(2, epsilon=epsilon, bounds=bounds, **quick(algorithm, k=2, edge=0.6)).fit(blobs[::6])
    assert np.isfinite(model.cluster_centers_).all()
    assert Release.from_json(model.release_.to_json()) == model.release_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("d", [1, 3, 30])
def test_every_dimension_works(algorithm, d):
    rows = np.random.default_rng(d).normal(0, 0.3, (200, d))
    model = KMeans(4, bounds=Box(*[(-1, 1)] * d), **quick(algorithm, d=d, k=4)).fit(rows)
    assert model.cluster_centers_.shape == (4, d)
    assert model.transform(rows).shape == (200, 4)


def test_centres_are_near_the_groups_when_there_is_budget(blobs):
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    for algorithm in ("lloyd", "hybrid", "auto"):
        model = KMeans(3, epsilon=300, bounds=(-1, 1), algorithm=algorithm, random_state=0).fit(blobs)
        gaps = np.linalg.norm(model.cluster_centers_[:, None] - middles, axis=2)
        assert gaps.min(axis=1).max() < 0.2
        assert sum(model.release_.sizes) == pytest.approx(600, abs=30)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nothing_derived_from_rows_without_noise_is_kept(blobs, algorithm):
    model = KMeans(3, bounds=(-1, 1), **settings_of(algorithm)).fit(blobs)
    fitted = {name for name in vars(model) if name not in model.get_params()}
    assert fitted == {"release_", "_domain", "cluster_centers_", "n_clusters_", "n_features_in_", "_n_features_out"}
    for name in ("labels_", "inertia_", "n_samples_seen_", "n_iter_"):
        assert not hasattr(model, name)
    model.predict(blobs)
    model.fit_predict(blobs)
    assert {name for name in vars(model) if name not in model.get_params()} == fitted
    assert (model.release_.sizes is not None) == ALGORITHMS[algorithm].sizes  # None: no counts were paid for


def test_init_only_stores():
    odd = object()
    model = KMeans(odd, epsilon=odd, bounds=odd, algorithm=odd, ledger=odd, random_state=odd)
    assert all(
        value is odd for name, value in model.get_params().items() if name in ("n_clusters", "epsilon", "bounds")
    )


def test_clones_share_parameters_and_nothing_else(blobs):
    model = KMeans(3, bounds=Box(x=(-1, 1), y=(-1, 1)), algorithm_params={"rounds": 2}, algorithm="lloyd").fit(blobs)
    other = clone(model)
    assert other.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        other.predict(blobs)


def test_a_clone_charges_the_same_ledger(blobs):
    ledger = Ledger.memory(dataset="d", epsilon=2)
    model = KMeans(2, epsilon=1, bounds=(-1, 1), ledger=ledger, dataset="d")
    clone(model).fit(blobs)
    clone(model).fit(blobs)
    assert ledger.datasets()["d"].remaining.epsilon == 0


def test_predict_is_the_nearest_centre_in_scaled_columns():
    rng = np.random.default_rng(2)
    rows = rng.uniform(0, 1, (300, 2)) * [1, 1000]
    model = KMeans(4, bounds=([0, 0], [1, 1000]), random_state=1).fit(rows)
    scaled = (rows - [0.5, 500]) / [0.5, 500]
    centres = (model.cluster_centers_ - [0.5, 500]) / [0.5, 500]
    distances = np.linalg.norm(scaled[:, None] - centres, axis=2)
    assert (model.predict(rows) == distances.argmin(axis=1)).mean() > 0.99
    assert model.predict(rows[:0]).shape == (0,)


def test_transform_is_the_distance_in_the_units_of_the_data():
    rows = np.random.default_rng(2).uniform(0, 1, (300, 2)) * [1, 1000]
    model = KMeans(4, bounds=[(0, 1), (0, 1000)], random_state=1).fit(rows)
    distances = np.linalg.norm(rows[:, None] - model.cluster_centers_, axis=2)
    assert np.allclose(model.transform(rows), distances, atol=1e-3)
    assert np.allclose(model.transform([[2, 1000], [np.nan, 0]]), model.transform([[1, 1000], [0.5, 0]]), atol=1e-3)
    assert model.transform(rows[:0]).shape == (0, 4)


def test_a_prediction_does_not_depend_on_its_batch(blobs):
    model = KMeans(5, bounds=(-1, 1)).fit(blobs)
    whole = model.predict(blobs)
    assert [int(model.predict(blobs[i : i + 1])[0]) for i in range(0, 600, 50)] == whole[::50].tolist()


def test_fit_predict_and_fit_transform(blobs):
    model = KMeans(3, bounds=(-1, 1), random_state=5)
    assert np.array_equal(model.fit_predict(blobs), model.predict(blobs))
    assert np.array_equal(model.fit_transform(blobs), model.transform(blobs))


def test_feature_names_out_and_pandas_output(blobs):
    frame = pd.DataFrame(blobs, columns=["a", "b"])
    model = KMeans(3, bounds=(-1, 1)).fit(frame)
    assert model.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]
    assert model.feature_names_in_.tolist() == ["a", "b"]
    out = model.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == ["kmeans0", "kmeans1", "kmeans2"]
    assert out.index.equals(frame.index)


def test_in_a_pipeline(blobs):
    steps = make_pipeline(FunctionTransformer(np.tanh), KMeans(2, bounds=(-1, 1), random_state=0))
    assert steps.fit(blobs).predict(blobs).shape == (600,)


WIDE = {"name": ["x", "y"] * 300, "b": None, "a": None, "other": [0.5] * 600}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_a_box_by_name_chooses_its_columns(blobs, make, tmp_path):
    wide = {**WIDE, "a": blobs[:, 0], "b": blobs[:, 1]}
    bounds = Box(a=(-1, 1), b=(-1, 1))
    model = KMeans(3, bounds=bounds, random_state=7).fit(make(wide))
    plain = KMeans(3, bounds=(-1, 1), random_state=7).fit(blobs)
    assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(model.predict(make(wide)), plain.predict(blobs))
    assert model.release_.columns == ["a", "b"]
    with pytest.raises(DataError, match="no column 'b'"):
        model.predict(make({"a": [0.5], "c": [1.0]}))
    with pytest.raises(NotNumericError):
        model.predict(make({"a": [0.5], "b": ["x"]}))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("bounds", [(-1, 1), Box(a=(-1, 1), b=(-1, 1))], ids=["by position", "by name"])
def test_a_file_is_fitted_and_predicted(blobs, tmp_path, kind, bounds):
    frame = pd.DataFrame(blobs, columns=["a", "b"])
    path = tmp_path / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    model = KMeans(3, bounds=bounds).fit(path)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(model.predict(str(path)), model.predict(frame))
    assert model.transform(path).shape == (600, 3)


def test_a_seed_repeats_and_says_so(blobs):
    seeded = KMeans(3, bounds=(-1, 1), random_state=3)
    assert np.array_equal(seeded.fit(blobs).cluster_centers_, seeded.fit(blobs).cluster_centers_)
    assert seeded.release_.certificate.seeded
    assert seeded.release_.certificate.statement.startswith("SEEDED")
    assert b"SEEDED" in seeded.release_.to_json()
    for state in (np.random.RandomState(0), np.random.default_rng(0), np.int64(4)):
        assert KMeans(3, bounds=(-1, 1), random_state=state).fit(blobs).release_.certificate.seeded
    free = KMeans(3, bounds=(-1, 1), algorithm="lloyd")  # means of noisy sums: six equal ones by chance, never
    first = free.fit(blobs).cluster_centers_
    assert not free.release_.certificate.seeded
    assert "SEEDED" not in free.release_.certificate.statement
    assert not np.array_equal(free.fit(blobs).cluster_centers_, first)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", [None, 5])
def test_numpys_global_generator_is_neither_read_nor_changed(blobs, algorithm, seed):
    import random

    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    before = pickle.dumps(np.random.get_state()), random.getstate()  # noqa: NPY002
    KMeans(3, bounds=(-1, 1), random_state=seed, **settings_of(algorithm)).fit(blobs).predict(blobs)
    assert (pickle.dumps(np.random.get_state()), random.getstate()) == before  # noqa: NPY002


def test_the_callers_array_is_not_changed(blobs):
    rows = blobs.copy()
    rows[0] = [np.nan, 99.0]
    before = rows.copy()
    KMeans(2, bounds=(-1, 1)).fit(rows).predict(rows)
    assert np.array_equal(rows, before, equal_nan=True)


def test_a_release_survives_save_load_and_pickle(blobs, tmp_path):
    model = KMeans(3, bounds=Box(lon=(-1, 1), lat=(-1, 1))).fit(pd.DataFrame(blobs, columns=["lon", "lat"]))
    model.release_.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == model.release_
    other = pickle.loads(pickle.dumps(model))
    frame = pd.DataFrame(blobs, columns=["lon", "lat"])
    assert np.array_equal(other.predict(frame), model.predict(frame))
    geojson = json.loads(json.dumps(model.release_.to_geojson()))
    points = [feature["geometry"]["coordinates"] for feature in geojson["features"]]
    assert np.allclose(points, model.cluster_centers_)


def test_the_certificate_tells_what_was_done(blobs):
    model = KMeans(3, epsilon=0.1, bounds=Box((-1, 1), (-2, 2)), neighbours="replace-one", delta=1e-5).fit(blobs)
    certificate = model.release_.certificate
    assert (certificate.epsilon, certificate.neighbours, certificate.person) == (0.1, "replace-one", "one row")
    assert certificate.delta == 0  # in two columns nothing could use it
    assert certificate.domain == {"type": "box", "lower": [-1.0, -2.0], "upper": [1.0, 2.0]}
    assert certificate.parameters["k"] == 3
    assert certificate.parameters["synopsis"] == "tree"
    assert certificate.receipt is None
    pure = KMeans(3, bounds=(-1, 1), delta=1e-5, algorithm="grid").fit(blobs).release_.certificate
    assert pure.delta == 0  # a pure algorithm spends none of the delta that was offered


def test_numpy_numbers_are_parameters_too(blobs):
    for algorithm, params in (
        ("grid", {"starts": np.int64(2), "theta": np.float32(5)}),
        ("hybrid", {"starts": np.int8(2), "rho": np.float64(0.2)}),
        ("lloyd", {"rounds": np.int64(2)}),
        ("genetic", {"rate": np.float64(1e-3), "most_rounds": np.int64(9)}),
        ("blocks", {"rounds": np.int64(2)}),
    ):
        model = KMeans(np.int64(2), bounds=(-1, 1), algorithm=algorithm, algorithm_params=params).fit(blobs)
        json.loads(model.release_.to_json())


def test_verbose_prints_the_certificate_and_progress_needs_a_terminal(blobs, capsys):
    KMeans(2, bounds=(-1, 1), verbose=1, progress=True).fit(blobs)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("This release is differentially private")
    KMeans(2, bounds=(-1, 1), progress=True).fit(blobs)
    assert capsys.readouterr() == ("", "")


def test_an_unfitted_model_says_so(blobs):
    for act in (KMeans.predict, KMeans.transform):
        with pytest.raises(NotFittedError):
            act(KMeans(2, bounds=(-1, 1)), blobs)


def test_the_same_key_gives_the_same_release_for_nothing(blobs, tmp_path):
    ledger = Ledger.create(tmp_path / "x.ledger", dataset="d", epsilon=1).with_key("monday")
    model = KMeans(2, epsilon=1, bounds=(-1, 1), ledger=ledger, dataset="d")
    first = model.fit(blobs).cluster_centers_
    assert np.array_equal(model.fit(blobs).cluster_centers_, first)
    assert model.release_.certificate.receipt is not None
    assert ledger.datasets()["d"].remaining.epsilon == 0


def test_k_is_a_parameter_error_before_all_else():
    with pytest.raises(ParameterError, match="n_clusters"):
        KMeans(0, bounds=(-1, 1)).fit(np.zeros((2, 2)))


def test_texts_of_numpy_are_written_too_once_they_are_paid_for():
    """A text of numpy is no JSON: the fit was charged, and its release could not be stored."""
    rows = pd.DataFrame(np.random.default_rng(1).uniform(0, 1, (300, 2)), columns=["x", "y"]).assign(who=range(300))
    asked = {"bounds": {np.str_("x"): (0, 1), "y": (0, 1)}, "person": np.str_("who"), "dataset": np.str_("trips")}
    release = KMeans(2, epsilon=1.0, random_state=1, **asked).fit(rows).release_
    assert Release.from_json(release.to_json()) == release
    made = PrivateCoreset(objective=np.str_("k-median"), epsilon=1.0, random_state=1, **asked).fit(rows)
    assert made.release_.objective == "k-median"
    assert b"trips" in made.release_.to_json()
