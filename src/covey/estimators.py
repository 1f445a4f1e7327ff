"""scikit-learn estimators: thin adaptors around `covey.fitting.fit`."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from covey.errors import DataError
from covey.fitting import fit
from covey.private.lattice import to_lattice
from covey.private.tables import open_table
from covey.public import check_columns, resolve_bounds
from covey.queries.voronoi import exact_scores, nearest
from covey.terminal import progress_bar


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Differentially private k-means with the interface of scikit-learn.

    Parameters
    ----------
    n_clusters : number of centres.
    epsilon : the privacy budget of this fit; smaller is more private. Usual values: 0.1 to 3.
    delta : None for pure epsilon (all that the present algorithms need), or the exceptional chance, well below 1/n.
    bounds : public limits of each column, required: a `Box`, a `Ball`, a pair (lower, upper) of arrays, or a pair of
        numbers for every column. Never computed from the rows.
    algorithm, algorithm_params : see `covey algorithms`; "auto" chooses.
    neighbours : "add-remove" (one person more or less; the number of people is private) or "replace-one".
    person, rows_per_person, zones, sample : None and 1 in this version.
    ledger, dataset : a ledger (or its path) that the fit is charged to, and the name of the data set in it.
    engine : "auto" or "memory".
    random_state : None draws all noise from the operating system. A seed makes the fit reproducible and **not
        private**; the certificate says so.
    progress : show a progress bar on a terminal. verbose : 1 prints the certificate after the fit.

    Attributes
    ----------
    cluster_centers_ : the private centres, in the units of the data. release_ : centres, noisy sizes and certificate.
    n_features_in_, feature_names_in_ : the columns that were clustered.

    There is no labels_, inertia_ or number of rows: anything derived from the rows without noise would leak. `predict`
    is ordinary computation on rows that the caller has.
    """

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
        rows_per_person: int = 1,
        zones: Any = None,
        sample: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        engine: str = "auto",
        random_state: Any = None,
        progress: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.algorithm = algorithm
        self.algorithm_params = algorithm_params
        self.neighbours = neighbours
        self.person = person
        self.rows_per_person = rows_per_person
        self.zones = zones
        self.sample = sample
        self.ledger = ledger
        self.dataset = dataset
        self.engine = engine
        self.random_state = random_state
        self.progress = progress
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KMeans:  # noqa: ARG002
        """Cluster private rows: a numpy array, a pandas or polars frame, an Arrow table, or the path of a file."""
        if self._all_columns() and len({isinstance(name, str) for name in getattr(X, "columns", ())}) > 1:
            raise DataError("data: some names of columns are text and some are not; scikit-learn takes all or none")
        with progress_bar(show=bool(self.progress)) as report:
            self.release_ = fit(
                X,
                k=self.n_clusters,
                epsilon=self.epsilon,
                delta=self.delta,
                bounds=self.bounds,
                algorithm=self.algorithm,
                algorithm_params=self.algorithm_params,
                neighbours=self.neighbours,
                person=self.person,
                rows_per_person=self.rows_per_person,
                zones=self.zones,
                sample=self.sample,
                ledger=self.ledger,
                dataset=self.dataset,
                engine=self.engine,
                random_state=self.random_state,
                progress=report,
            )
        table = open_table(X)
        self._domain = resolve_bounds(self.bounds, names=table.names, width=table.width)
        self.cluster_centers_ = np.array(self.release_.centres)
        if self._all_columns() and not isinstance(X, str | PathLike):
            validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        else:
            self.n_features_in_ = self._domain.dimension
            self.feature_names_in_ = np.array(self._domain.columns, dtype=object)
        self._n_features_out = len(self.cluster_centers_)
        if self.verbose:
            from covey.terminal import say

            say(self.release_.certificate.statement)
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

    def _all_columns(self) -> bool:
        """Whether the bounds are by position, for all columns of the data, and not for columns chosen by name."""
        return getattr(self.bounds, "columns", None) is None

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
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
