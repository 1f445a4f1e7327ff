"""What learns from rows before Covey meets them: a promise holds for the rows that a fit is given, not for what was
done to them before. Looks at estimators and their parameters, never at rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from covey.errors import ParameterError
from covey.fit.caution import warn_at_caller

OWN = "covey"
_PUBLIC = "FunctionTransformer with numbers that are known without the rows"
_EXTREMES = (
    "the smallest and the largest value of each column",
    "leave it away: bounds={...} scale every column to [-1, 1] by limits that are known without the rows",
)
_SPREAD = (
    "the middle and the spread of each column",
    f"leave it away, for bounds={{...}} scale every column; or take a {_PUBLIC}",
)
_SHAPE = ("how the values of each column are distributed", f"take a {_PUBLIC}, such as a logarithm")
_DIRECTIONS = (
    "the directions in which the rows lie",
    "leave it away: beyond four columns algorithm='auto' finds a subspace privately, within epsilon",
)
_FILLING = (
    "what stands in the rows for what is missing",
    f"leave it away: Covey takes missing values as they are; or fill them by a {_PUBLIC}",
)
_CATEGORIES = (
    "which categories there are, rare ones too",
    "name those that there can be, categories=[[...], ...], with a handle_unknown that is no error",
)
_CHOICE = ("which columns to keep", "choose columns without the rows: only those that bounds={...} name are used")
_VOCABULARY = ("which words there are, rare ones too", "take a HashingVectorizer")
_SEARCH = (
    "which parameters are best, by fits that are charged one by one and scores that are exact,",
    "search on one private coreset, which is free (docs/guide/pipelines.md)",
)
_ANYTHING = (
    "something",
    "leave it away; or fit it on public rows alone and wrap it in sklearn.frozen.FrozenEstimator",
)
ADVICE = {
    **dict.fromkeys(("MinMaxScaler", "MaxAbsScaler"), _EXTREMES),
    **dict.fromkeys(("StandardScaler", "RobustScaler"), _SPREAD),
    **dict.fromkeys(("QuantileTransformer", "PowerTransformer", "KBinsDiscretizer", "SplineTransformer"), _SHAPE),
    **dict.fromkeys(("PCA", "IncrementalPCA", "KernelPCA", "SparsePCA", "TruncatedSVD", "FastICA", "NMF"), _DIRECTIONS),
    **dict.fromkeys(("FactorAnalysis", "Isomap", "Nystroem", "LinearDiscriminantAnalysis"), _DIRECTIONS),
    **dict.fromkeys(("SimpleImputer", "KNNImputer", "IterativeImputer"), _FILLING),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "DictVectorizer"), _CATEGORIES),
    **dict.fromkeys(("SelectKBest", "SelectPercentile", "SelectFromModel", "VarianceThreshold", "RFE"), _CHOICE),
    **dict.fromkeys(("BaseSearchCV",), _SEARCH),
    **dict.fromkeys(("CountVectorizer", "TfidfVectorizer", "TfidfTransformer"), _VOCABULARY),
}
UNLEARNED: dict[str, Callable[[Any], bool]] = {  # their fit looks at the number of columns, with these parameters
    "PolynomialFeatures": lambda _: True,
    "PolynomialCountSketch": lambda _: True,
    "RBFSampler": lambda step: step.gamma != "scale",
    "SkewedChi2Sampler": lambda _: True,
    "GaussianRandomProjection": lambda step: step.n_components != "auto",
    "SparseRandomProjection": lambda step: step.n_components != "auto",
    "OneHotEncoder": lambda step: (
        not (
            isinstance(step.categories, str)
            or step.min_frequency
            or step.max_categories
            or step.handle_unknown == "error"
        )
    ),
    "OrdinalEncoder": lambda step: (
        not (
            isinstance(step.categories, str)
            or step.min_frequency
            or step.max_categories
            or step.handle_unknown == "error"
        )
    ),
}


@dataclass(frozen=True)
class Finding:
    """A step before Covey that learns from the rows.

    Parameters
    ----------
    step : str
        Its name in the pipeline, with the names of what it is part of: "columns.scale".
    estimator : str
        What it is: "MinMaxScaler".
    learns : str
        What it reads from the rows.
    instead : str
        How to do the same without the rows.
    """

    step: str
    estimator: str
    learns: str
    instead: str

    def __str__(self) -> str:
        return (
            f"{self.step}: {self.estimator} learns {self.learns} from the rows before Covey, without noise, and no "
            f"certificate covers that; {self.instead}"
        )


def check_pipeline(pipe: Any) -> list[Finding]:
    """Name the steps of a scikit-learn pipeline that learn from rows before Covey does, with a `PrivacyWarning` each.

    The promise of a fit is about the rows that it is given. A scaler before it reads the extremes of the raw rows and
    hands them on without noise: the certificate then promises too much. No row is looked at, and nothing is fitted.

    Parameters
    ----------
    pipe : Pipeline, ColumnTransformer, FeatureUnion, estimator, or list of them
        What comes before Covey's estimator, with it or without; what comes after it is not looked at. Steps of a list
        may be pairs of a name and an estimator.

    Returns
    -------
    list of Finding
        Steps that learn, with what they learn and what to do instead; empty where there are none.

    Examples
    --------
    >>> import warnings
    >>> from covey import KMeans, check_pipeline
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer, MinMaxScaler
    >>> pipe = make_pipeline(FunctionTransformer(), MinMaxScaler(), KMeans(3, bounds=(0, 1)))
    >>> with warnings.catch_warnings(action="ignore"):
    ...     [finding.step for finding in check_pipeline(pipe)]
    ['minmaxscaler']
    """
    found: list[Finding] = []
    _look(pipe, (), found)
    warn_at_caller(map(str, found))
    return found


def _look(step: Any, within: tuple[str, ...], found: list[Finding]) -> bool:
    """Whether this is Covey, or holds it; what learns before that is added to what was found."""
    if isinstance(step, ColumnTransformer | FeatureUnion):  # parts that stand side by side
        parts = step.transformers if isinstance(step, ColumnTransformer) else step.transformer_list
        return sum(_look(each, (*within, name), found) for name, each, *_ in parts) > 0
    if isinstance(step, list | tuple | Pipeline):
        steps = step.steps if isinstance(step, Pipeline) else map(_named, step)
        return any(_look(each, (*within, name), found) for name, each in steps)
    covey = any(each.__module__.partition(".")[0] == OWN for each in type(step).__mro__)
    if not covey and _learns(step):
        kinds = [each.__name__ for each in type(step).__mro__]
        advice = next((ADVICE[kind] for kind in kinds if kind in ADVICE), _ANYTHING)
        found.append(Finding(".".join(within) or kinds[0].lower(), kinds[0], *advice))
    return covey


def _named(step: Any) -> tuple[str, Any]:
    named = isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)
    return step if named else (type(step).__name__.lower(), step)


def _learns(step: Any) -> bool:
    if step is None or isinstance(step, str | FrozenEstimator):  # "passthrough", "drop"
        return False
    if isinstance(step, type) or not hasattr(step, "fit"):
        raise ParameterError("pipe", f"must be estimators: {type(step).__name__} has no fit to be looked at")
    harmless = UNLEARNED.get(type(step).__name__) if type(step).__module__.startswith("sklearn.") else None
    return not (harmless is not None and harmless(step)) and _has_to_be_fitted(step)


def _has_to_be_fitted(step: Any) -> bool:
    """What scikit-learn's tags say; of an estimator that has none, the worst."""
    try:
        return bool(get_tags(step).requires_fit)
    except (AttributeError, TypeError):
        return True
