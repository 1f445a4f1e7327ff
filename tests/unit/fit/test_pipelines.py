"""What learns from rows before Covey is named, by estimators alone; what does not is left in peace."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.utils import get_tags
from sklearn.utils.discovery import all_estimators

from covey import KMeans, KMedian, ParameterError, PrivacyWarning, PrivateCoreset, check_pipeline
from covey.fit.pipelines import ADVICE, UNLEARNED

END = KMeans(2, bounds=(0, 1))


class Untagged:
    def fit(self, rows):
        self.seen_ = rows


class Refuses(BaseEstimator):
    """Stands before Covey and must never be fitted, nor asked for anything."""

    def fit(self, *_):
        raise AssertionError("was fitted")


def steps(pipe) -> list[str]:
    with warnings.catch_warnings(action="ignore"):
        return [finding.step for finding in check_pipeline(pipe)]


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(),
        Normalizer(),
        Binarizer(),
        PolynomialFeatures(),
        RBFSampler(gamma=2.0),
        OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore"),
        FrozenEstimator(StandardScaler()),
        "passthrough",
        None,
    ],
)
def test_what_learns_nothing_is_left_in_peace(step):
    with warnings.catch_warnings(action="error"):
        assert check_pipeline(Pipeline([("it", step), ("end", END)])) == []


@pytest.mark.parametrize(
    ("step", "learns", "instead"),
    [
        (MinMaxScaler(), "smallest and the largest", "bounds="),
        (StandardScaler(), "the spread", "FunctionTransformer"),
        (PCA(2), "directions", "algorithm='auto'"),
        (SimpleImputer(), "missing", "takes missing values"),
        (OneHotEncoder(), "categories", "categories="),
        (OneHotEncoder(categories=[["a", "b"]]), "categories", "handle_unknown"),  # an unknown one would be an error
        (KBinsDiscretizer(), "distributed", "FunctionTransformer"),
        (VarianceThreshold(), "which columns", "bounds="),
        (RBFSampler(gamma="scale"), "something", "FrozenEstimator"),
        (GridSearchCV(PCA(), {"n_components": [1, 2]}), "charged one by one", "coreset"),
        (Untagged(), "something", "public rows"),
        (Refuses(), "something", "public rows"),
    ],
)
def test_what_learns_is_named_with_the_way_to_do_without(step, learns, instead):
    with pytest.warns(PrivacyWarning) as said:
        (found,) = check_pipeline(Pipeline([("it", step), ("end", END)]))
    assert (found.step, found.estimator) == ("it", type(step).__name__)
    assert learns in found.learns
    assert instead in found.instead
    (warning,) = said
    assert str(warning.message) == str(found)
    assert warning.filename == __file__, "it is shown at the line of the caller"


def test_parts_of_parts_are_looked_at_and_what_comes_after_is_not():
    columns = ColumnTransformer([("scale", MinMaxScaler(), ["a"]), ("keep", "passthrough", ["b"])])
    union = FeatureUnion([("plain", FunctionTransformer()), ("turned", make_pipeline(StandardScaler(), PCA(1)))])
    pipe = Pipeline([("columns", columns), ("union", union), ("end", END), ("later", StandardScaler())])
    assert steps(pipe) == ["columns.scale", "union.turned.standardscaler", "union.turned.pca"]
    assert steps(Pipeline([("inner", make_pipeline(Normalizer(), KMedian(2))), ("later", PCA())])) == []
    side_by_side = ColumnTransformer([("clusters", END, ["a"]), ("scale", MinMaxScaler(), ["b"])])
    assert steps(side_by_side) == ["scale"]


def test_lists_and_single_estimators_are_taken():
    assert steps([MinMaxScaler(), ("own", PCA()), PrivateCoreset(2)]) == ["minmaxscaler", "own"]
    assert steps(StandardScaler()) == ["standardscaler"]
    assert steps(END) == steps([]) == []


@pytest.mark.parametrize("wrong", [7, np.zeros((3, 2)), MinMaxScaler, [object()]])
def test_what_is_no_estimator_is_refused(wrong):
    with pytest.raises(ParameterError, match="pipe: "):
        check_pipeline(wrong)


def test_the_tables_name_estimators_of_scikit_learn_and_agree_with_its_tags():
    known = dict(all_estimators())
    assert set(UNLEARNED) <= set(known)
    assert set(ADVICE) - set(known) == {"IterativeImputer", "BaseSearchCV"}  # experimental; the root of all searches
    for name, harmless in UNLEARNED.items():
        assert get_tags(known[name]()).requires_fit, "the tag alone would do"
        assert callable(harmless)


@pytest.mark.parametrize("model", [END, KMedian(2), PrivateCoreset(2)])
def test_no_estimator_has_a_score_and_asking_for_one_shows_the_way(model):
    assert not hasattr(model, "score")
    with pytest.raises(AttributeError, match="PrivateCoreset tells costs"):
        model.score  # noqa: B018
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(model, {"n_clusters": [2, 3]}).fit(np.random.default_rng(0).random((20, 2)))
