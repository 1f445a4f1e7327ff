"""k-means and k-median with the interface of scikit-learn."""

from __future__ import annotations

from inspect import cleandoc
from os import PathLike
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from covey.checks import check_columns
from covey.errors import DataError
from covey.estimators.base import Private


class _Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Private):
    """Private centres, and ordinary computation with them."""

    _objective: str
    algorithm: str
    algorithm_params: dict[str, Any] | None

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        k_range: Any = None,
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
        missing: str = "middle",
        scale: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        engine: str = "auto",
        errors: str = "quick",
        random_state: Any = None,
        progress: bool = False,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None, *, person: Any = None, **more: Any) -> Any:  # noqa: ARG002
        """Cluster private rows: an array, a pandas, polars or Arrow table, a query, a path or a `File`.

        person : an id for each row in memory, instead of the name of a column.
        """
        own = {"algorithm": self.algorithm, "algorithm_params": self.algorithm_params}
        self._fit(X, person, more, objective=self._objective, **own)
        self.cluster_centers_ = np.array(self.release_.centres)
        self._n_features_out = self.n_clusters_ = len(self.cluster_centers_)
        return self

    def fit_predict(self, X: Any, y: Any = None, **more: Any) -> NDArray[np.intp]:  # noqa: ARG002
        """Fit, then assign the caller's own rows. The assignment is exact and not private: do not publish it."""
        from covey.private.opening import open_once

        source = open_once(X)
        return self.fit(source, **more).predict(source)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest centre of each of the caller's own rows: ordinary computation, no privacy needed or given."""
        from covey.queries.voronoi import nearest

        check_is_fitted(self)
        centres = self._domain.snap(self._domain.to_lattice(self.cluster_centers_))
        labels = [nearest(rows, centres) for rows in self._lattice_rows(X)]
        return np.concatenate(labels) if labels else np.empty(0, dtype=np.intp)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Distances from the caller's own rows (moved into the bounds) to every centre, in the units of the data.

        `predict` scales every column to [-1, 1] by the bounds first, so the nearest centre may be another there.
        """
        from scipy.spatial.distance import cdist

        check_is_fitted(self)
        blocks = [cdist(self._domain.from_lattice(rows.T), self.cluster_centers_) for rows in self._lattice_rows(X)]
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.cluster_centers_)))

    def _lattice_rows(self, X: Any) -> list[NDArray[np.int32]]:
        from covey.geo.clock import source_of
        from covey.private.lattice import to_lattice
        from covey.private.tables.frames import open_table

        table = open_table(X)
        names = self._domain.columns if table.names is not None else None
        if names is not None and not self._all_columns():
            check_columns([*map(source_of, names)], table.names or ())
        elif isinstance(X, str | PathLike) or not table.as_given or table.width != self.n_features_in_:
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
    """Differentially private k-means with the interface of scikit-learn.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        Number of centres; "auto" chooses one from what the fit releases, at no further cost (algorithm 'auto' alone).
    k_range : pair of int or None, default=None
        The least and the most clusters that "auto" may choose; None for (2, 20).
    epsilon : float, default=1.0
        The privacy budget of this fit; smaller is more private. Usual values: 0.1 to 3.
    delta : float or None, default=None
        None for pure epsilon, or the delta of the promise, well below 1/n, for algorithms that make use of one.
    bounds : Box, Ball, dict, list of pairs, pair of arrays, or pair of numbers, default=None
        Public limits of each column, required: a `Box`, a `Ball`, {"lon": (low, high), ...}, a list with (low, high)
        for each column, a tuple (lower, upper) of arrays, or of two numbers. Never computed from the rows; but
        "private" in the place of a range in a dictionary finds one within epsilon, for an eighth of it or a named share
        ("private:0.1"): docs/guide/four-questions.md.
    algorithm : str, default='auto'
        One of those that `covey algorithms` lists; "auto" is the default of docs/guide/auto.md.
    algorithm_params : dict or None, default=None
        Parameters of the algorithm, by name.
    neighbours : {'add-remove', 'replace-one'}, default='add-remove'
        One person more or less, where the number of people is private; or one person exchanged for another.
    person : str or None, default=None
        The column that says whose a row is; None when each row is a person, or when `fit` is given ids.
    rows_per_person : int or str, default=1
        How many rows of a person count at most: a number, "auto" (privately: all of 90% of the people) or "auto:0.8".
    zones : GeoJSON, path, pairs of a Box and an epsilon, Zones, or None, default=None
        Regions whose rows are promised more: GeoJSON (a document or the path of a file) with a property epsilon for
        each polygon, or pairs of a `Box` and an epsilon. Rows in them are kept in part: docs/guide/zones.md.
    sample : float, int, str or None, default=None
        Fit a random sample: a rate such as 0.01, a whole number of rows, "auto" (as many as an error of 5% allows) or
        "auto:0.02". Epsilon holds for all rows; sizes and weights are scaled to all rows.
    missing : {'middle', 'drop'}, default='middle'
        Move a missing value to the middle of its column's range, or leave its row out (not under replace-one).
    scale : dict, sequence of numbers, or None, default=None
        How many times a column's distance counts, {"age": 2} or a number for each column: docs/guide/columns.md.
    ledger : Ledger, path, or None, default=None
        What the fit is charged to, before a row is read; None for a ledger that ends with the fit.
    dataset : str or None, default=None
        The name of the data set in the ledger.
    engine : {'auto', 'memory', 'files', 'spark'}, default='auto'
        Where the rows are worked on; "files" streams them, for files larger than memory.
    errors : {'quick', 'full', 'none'}, default='quick'
        What the release says of its own errors, all of it free: "quick" of sizes and costs; "full" of places and of the
        extra cost too, by reruns on made-up rows, a second or two; "none" nothing.
    random_state : int, numpy random generator, or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible, and **not private**.
    progress : bool, default=False
        Show a progress bar on a terminal.
    verbose : int, default=0
        1 prints the certificate after the fit.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The private centres, in the units of the data.
    n_clusters_ : int
        How many there are.
    release_ : Release
        Centres, noisy sizes and the certificate.
    n_features_in_ : int
        The number of columns that were used.
    feature_names_in_ : array of str
        Their names, where they have some.

    Notes
    -----
    There is no `labels_`, `inertia_` or number of rows: anything derived from the rows without noise would leak.

    Examples
    --------
    >>> import numpy as np
    >>> from covey import Box, KMeans
    >>> rows = np.random.default_rng().normal(size=(10_000, 2))  # yours go here
    >>> KMeans(n_clusters=3, epsilon=1.0, bounds=Box((-4, 4), (-4, 4))).fit(rows).cluster_centers_.shape
    (3, 2)
    """

    _objective = "k-means"


def shared(first: str, end: str) -> str:
    """What the docstring of `KMeans` says from one line on up to another, for the estimators that share it."""
    text = cleandoc(KMeans.__doc__ or "")  # there is none under python -OO
    return indent(first + text.partition(f"\n{first}")[2].partition(f"\n{end}")[0].rstrip(), "    ")


class KMedian(_Clusterer):
    __doc__ = f"""Differentially private k-median, the sum of distances and not of their squares; else like `KMeans`.

{shared("Parameters", "Examples")}

    Examples
    --------
    >>> import numpy as np
    >>> from covey import KMedian
    >>> rows = np.random.default_rng().normal(size=(10_000, 2))  # yours go here
    >>> KMedian(n_clusters=3, epsilon=1.0, bounds=(-4, 4)).fit(rows).cluster_centers_.shape
    (3, 2)
    """
    _objective = "k-median"
