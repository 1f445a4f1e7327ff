"""scikit-learn estimators: thin adaptors around `covey.fit.fit.fit`."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from covey.algorithms.coreset_methods import coreset_algorithm
from covey.errors import DataError, LedgerError
from covey.fit.fit import fit
from covey.private.lattice import to_lattice
from covey.private.opening import on_spark, open_data
from covey.private.tables.frames import open_table
from covey.public import Person, check_columns, resolve_bounds
from covey.published.coreset.coreset import Coreset
from covey.queries.voronoi import exact_scores, nearest
from covey.terminal import progress_bar, say

SHARED = """bounds : public limits of each column, required: a `Box`, a `Ball`, a pair (lower, upper) of arrays, or a
        pair of numbers for every column. Never computed from the rows.
    neighbours : "add-remove" (one person more or less; the number of people is private) or "replace-one".
    person, rows_per_person : None when each row is a person; or the column that says whose a row is, and how many rows
        of a person count at most: a number, "auto" (chosen privately, so that all rows of 90% of the people count) or
        "auto:0.8". Which of them count is drawn at random.
    zones : None, or regions whose rows are promised more: GeoJSON (a document or the path of a file) with a property
        epsilon for each polygon, or pairs of a `Box` and an epsilon. Rows in them count in part: docs/guide/zones.md.
    sample : None, or fit a random sample, in time that does not grow with the number of rows: a rate such as 0.01, a
        whole number of rows, "auto" (as many as an error of 5% allows) or "auto:0.02". Epsilon holds for all rows;
        sizes and weights are scaled to all rows.
    ledger, dataset : a ledger (or its path) that the fit is charged to, and the name of the data set in it.
    engine : "auto", or where the rows are worked on: "memory", "files" (streamed, larger than memory), "spark".
    random_state : None draws all noise from the operating system. A seed makes the fit reproducible and **not
        private**; the certificate says so.
    progress : show a progress bar on a terminal. verbose : 1 prints the certificate after the fit."""
CLUSTERING = f"""

    Parameters
    ----------
    n_clusters : number of centres.
    epsilon : the privacy budget of this fit; smaller is more private. Usual values: 0.1 to 3.
    delta : None for pure epsilon, or the exceptional chance, well below 1/n, for algorithms that make use of one.
    algorithm, algorithm_params : see `covey algorithms`; "auto" chooses.
    {SHARED}

    Attributes
    ----------
    cluster_centers_ : the private centres, in the units of the data. release_ : centres, noisy sizes and certificate.
    n_features_in_, feature_names_in_ : the columns that were clustered.

    There is no labels_, inertia_ or number of rows: anything derived from the rows without noise would leak. `predict`
    is ordinary computation on rows that the caller has.
    """


class _Private(BaseEstimator):
    """What all estimators share: one private fit, and what it leaves behind."""

    n_clusters: int
    bounds: Any
    person: str | None
    rows_per_person: int | str
    engine: str
    progress: bool
    verbose: int

    def _store(self, parameters: dict[str, Any]) -> None:
        """scikit-learn's rule for __init__: keep every parameter as it is, under its own name, and do nothing else."""
        self.__dict__.update({name: value for name, value in parameters.items() if name != "self"})

    def _fit(self, X: Any, *, objective: str, algorithm: str, algorithm_params: dict[str, Any] | None) -> None:
        if self._all_columns() and len({isinstance(name, str) for name in getattr(X, "columns", ())}) > 1:
            raise DataError("data: some names of columns are text and some are not; scikit-learn takes all or none")
        own = (
            "n_clusters",
            "progress",
            "verbose",
            "objective",
            "algorithm",
            "algorithm_params",
            "method",
            "method_params",
        )
        shared = {name: value for name, value in self.get_params(deep=False).items() if name not in own}
        try:
            with progress_bar(show=bool(self.progress)) as report:
                self.release_ = fit(
                    X,
                    k=self.n_clusters,
                    objective=objective,
                    algorithm=algorithm,
                    algorithm_params=algorithm_params,
                    progress=report,
                    **shared,
                )
        except LedgerError as error:
            if error.release is not None:
                self.release_ = error.release
            raise
        table = open_data(X, engine=self.engine)
        names, width = Person(self.person, self.rows_per_person).columns_of(table.names, table.width)
        self._domain = resolve_bounds(self.bounds, names=names, width=width)
        plain = self.person is None and not isinstance(X, str | PathLike) and not on_spark(table)
        if self._all_columns() and plain:
            validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        else:
            self.n_features_in_ = self._domain.dimension
            self.feature_names_in_ = np.array(self._domain.columns, dtype=object)
        if self.verbose:
            say(self.release_.certificate.statement)

    def _all_columns(self) -> bool:
        """Whether the bounds are by position, for all columns of the data, and not for columns chosen by name."""
        return getattr(self.bounds, "columns", None) is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, _Private):
    """Private centres, and ordinary computation with them."""

    _objective: str
    algorithm: str
    algorithm_params: dict[str, Any] | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        bounds: Any = None,
        algorithm: str = "auto",
        algorithm_params: dict[str, Any] | None = None,
        neighbours: str = "add-remove",
        person: str | None = None,
        rows_per_person: int | str = 1,
        zones: Any = None,
        sample: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        engine: str = "auto",
        random_state: Any = None,
        progress: bool = False,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Cluster private rows: a numpy array, a pandas or polars frame, an Arrow table, or the path of a file."""
        self._fit(X, objective=self._objective, algorithm=self.algorithm, algorithm_params=self.algorithm_params)
        self.cluster_centers_ = np.array(self.release_.centres)
        self._n_features_out = len(self.cluster_centers_)
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:  # noqa: ARG002
        """Fit, then assign the caller's own rows. The assignment is exact and not private: do not publish it."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest centre of each of the caller's own rows: ordinary computation, no privacy needed or given."""
        check_is_fitted(self)
        labels = [nearest(rows, self._lattice_centres()) for rows in self._lattice_rows(X)]
        return np.concatenate(labels) if labels else np.empty(0, dtype=np.intp)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Distances from the caller's own rows to every centre, with each column scaled to [-1, 1] by the bounds."""
        check_is_fitted(self)
        blocks = []
        for rows in self._lattice_rows(X):
            squares = np.square(rows.astype(np.float64)).sum(axis=0)
            distances = exact_scores(rows, self._lattice_centres()) + squares
            blocks.append(np.sqrt(np.maximum(distances, 0)).T / self._domain.limit)
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.cluster_centers_)))

    def _lattice_centres(self) -> NDArray[np.int64]:
        scaled = (self.cluster_centers_ - np.array(self._domain.middle)) / np.array(self._domain.half)
        return self._domain.snap(scaled * self._domain.limit)

    def _lattice_rows(self, X: Any) -> list[NDArray[np.int32]]:
        table = open_table(X)
        names = self._domain.columns if table.names is not None else None
        if names is not None and not self._all_columns():
            check_columns(names, table.names or ())
        elif isinstance(X, str | PathLike) or table.width != self.n_features_in_:
            if table.width != self.n_features_in_:
                raise DataError(
                    f"X has {table.width} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        table.check_numeric(names)
        return [to_lattice(read(), self._domain) for read in table.pieces(names)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class KMeans(_Clusterer):
    __doc__ = "Differentially private k-means with the interface of scikit-learn." + CLUSTERING
    _objective = "k-means"


class KMedian(_Clusterer):
    __doc__ = (
        "Differentially private k-median, the sum of distances and not of their squares, in the form of `KMeans`."
        + CLUSTERING
    )
    _objective = "k-median"


class PrivateCoreset(_Private):
    __doc__ = f"""A private coreset: weighted points that answer for the rows for ever. One fit pays for all questions.

    Parameters
    ----------
    n_clusters : how many centres it should serve well; any number may be asked for later.
    epsilon, delta : as in `KMeans`.
    method, method_params : "grid", "net", "ball", "exact" or "auto", and parameters of the algorithm behind it.
    objective : "k-means" or "k-median": what it is made for. Both may be asked of it.
    {SHARED}

    Attributes
    ----------
    coreset_ : the `Coreset`. release_ : the release that it is part of, with k centres and the certificate.
    n_features_in_, feature_names_in_ : the columns that were used.
    """

    method: str
    method_params: dict[str, Any] | None
    objective: str

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        bounds: Any = None,
        method: str = "auto",
        method_params: dict[str, Any] | None = None,
        objective: str = "k-means",
        neighbours: str = "add-remove",
        person: str | None = None,
        rows_per_person: int | str = 1,
        zones: Any = None,
        sample: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        engine: str = "auto",
        random_state: Any = None,
        progress: bool = False,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None) -> PrivateCoreset:  # noqa: ARG002
        """Make the coreset of private rows: arrays, frames and files as for `KMeans`."""
        algorithm, parameters = coreset_algorithm(self.method, self.method_params)
        self._fit(X, objective=self.objective, algorithm=algorithm, algorithm_params=parameters)
        self.coreset_ = Coreset.of(self.release_)
        return self
