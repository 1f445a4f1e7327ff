"""A private coreset with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

from covey.estimators.base import Private
from covey.estimators.clusterers import shared


class PrivateCoreset(Private):
    __doc__ = f"""A private coreset: weighted points that answer for the rows for ever. One fit pays for all questions.

    Parameters
    ----------
    n_clusters : int, default=8
        How many centres it should serve well; any number may be asked for later.
{shared("epsilon : ", "algorithm : ")}
    method : {{'auto', 'grid', 'net', 'ball', 'exact'}}, default='auto'
        How it is made.
    method_params : dict or None, default=None
        Parameters of the algorithm behind the method, by name.
    objective : {{'k-means', 'k-median'}}, default='k-means'
        What it is made for. Both may be asked of it.
{shared("neighbours : ", "Attributes")}

    Attributes
    ----------
    coreset_ : Coreset
        Points and weights, to be asked.
{shared("release_ : ", "Notes")}

    Examples
    --------
    >>> import numpy as np
    >>> from covey import PrivateCoreset
    >>> rows = np.random.default_rng().normal(size=(10_000, 2))  # yours go here
    >>> coreset = PrivateCoreset(epsilon=1.0, bounds=(-4, 4)).fit(rows).coreset_
    >>> len(coreset.kmeans(5).centres), coreset.cost([[0, 0]]) > coreset.cost([[0, 0], [1, 1]])
    (5, True)
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

    def fit(self, X: Any, y: Any = None, *, person: Any = None, **more: Any) -> PrivateCoreset:  # noqa: ARG002
        """Make the coreset of private rows: data and ids as for `KMeans`."""
        from covey.algorithms.coreset_methods import coreset_algorithm
        from covey.published.coreset.coreset import Coreset

        algorithm, parameters = coreset_algorithm(self.method, self.method_params)
        self._fit(X, person, more, objective=self.objective, algorithm=algorithm, algorithm_params=parameters)
        self.coreset_ = Coreset.of(self.release_)
        return self
