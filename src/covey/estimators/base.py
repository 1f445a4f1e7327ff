"""What all estimators share: one private fit, and what it leaves behind.

What a fit works with is imported by the first one: a program that only names an estimator does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from covey.checks import refuse_arguments
from covey.errors import LedgerError
from covey.public import Person
from covey.terminal import progress_bar, say

OWN = ("n_clusters", "progress", "verbose", "objective", "algorithm", "algorithm_params", "method", "method_params")


class Private(BaseEstimator):
    """What all estimators share: one private fit, and what it leaves behind."""

    n_clusters: int | str
    bounds: Any
    person: str | None
    rows_per_person: int | str
    scale: Any
    engine: str
    progress: bool
    verbose: int

    @property
    def score(self) -> NoReturn:
        """There is no score: the cost of exact rows is not private, and neither is what is chosen by it."""
        raise AttributeError(
            f"{type(self).__name__} has no score: the cost of rows is exact, and so is not private, nor is a search by "
            "it; a PrivateCoreset tells costs for any number of questions at no further price (docs/guide/pipelines.md)"
        )

    def __new__(cls, *given: Any, **named: Any) -> Self:  # noqa: ARG004
        if "neighbors" in named:
            raise TypeError("neighbors: did you mean neighbours?")
        return super().__new__(cls)

    def _store(self, parameters: dict[str, Any]) -> None:
        """scikit-learn's rule for __init__: keep every parameter as it is, under its own name, and do nothing else."""
        self.__dict__.update({name: value for name, value in parameters.items() if name != "self"})

    def _fit(self, X: Any, person: Any, more: dict[str, Any], **own: Any) -> None:
        refuse_arguments(f"{type(self).__name__}.fit()", more)
        from covey.fit.caution import warn_after, warn_without_ledger
        from covey.fit.fit import fit
        from covey.fit.ranges import settled
        from covey.geo.metric import measured
        from covey.private.opening import check_names, open_data, open_once, whose, with_ids

        if self._all_columns():
            check_names(X)
        shared = {name: value for name, value in self.get_params(deep=False).items() if name not in OWN}
        if shared["ledger"] is None and shared["random_state"] is None:
            warn_without_ledger()
        source, shared["person"] = with_ids(open_once(X), whose(self.person, person))
        try:
            with progress_bar(show=bool(self.progress)) as report:
                self.release_ = fit(source, k=self.n_clusters, progress=report, **own, **shared)
        except LedgerError as error:
            if error.release is not None:
                self.release_ = error.release
            raise
        warn_after(self.release_)
        table, who = open_data(source, engine=self.engine), Person(shared["person"], self.rows_per_person)
        bounds = settled(self.bounds, self.release_.certificate)
        self._domain = measured(bounds, self.scale, person=who, names=table.names, width=table.width)
        plain = shared["person"] is None and not isinstance(X, str | PathLike) and table.local and table.as_given
        if self._all_columns() and plain:
            validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        else:
            self.n_features_in_ = self._domain.dimension
            self.feature_names_in_ = np.array(self._domain.columns, dtype=object)
        if self.verbose:
            say(self.release_.certificate.statement)

    def _all_columns(self) -> bool:
        """Whether the bounds are by position, for all columns of the data, and not for columns chosen by name."""
        return not isinstance(self.bounds, Mapping) and getattr(self.bounds, "columns", None) is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
