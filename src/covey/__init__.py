"""Covey: differentially private clustering. See the covey, never the quail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.errors import (
    BudgetError,
    CoveyError,
    DataError,
    FormatError,
    LedgerError,
    NotNumericError,
    ParameterError,
)

if TYPE_CHECKING:
    from covey.budget.ledger import Ledger
    from covey.coreset import Coreset
    from covey.coreset_merge import CoresetStream
    from covey.estimators import KMeans, KMedian, PrivateCoreset
    from covey.public import Ball, Box, Neighbours, Person
    from covey.release import Certificate, Release
    from covey.truthful import truthful_bound

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "Box",
    "BudgetError",
    "Certificate",
    "Coreset",
    "CoresetStream",
    "CoveyError",
    "DataError",
    "FormatError",
    "KMeans",
    "KMedian",
    "Ledger",
    "LedgerError",
    "Neighbours",
    "NotNumericError",
    "ParameterError",
    "Person",
    "PrivateCoreset",
    "Release",
    "truthful_bound",
]

_HOMES = {  # imported when first used, so that `covey --help` does not wait for scikit-learn
    "Ball": "covey.public",
    "Box": "covey.public",
    "Certificate": "covey.release",
    "Coreset": "covey.coreset",
    "CoresetStream": "covey.coreset_merge",
    "KMeans": "covey.estimators",
    "KMedian": "covey.estimators",
    "Ledger": "covey.budget.ledger",
    "Neighbours": "covey.public",
    "Person": "covey.public",
    "PrivateCoreset": "covey.estimators",
    "Release": "covey.release",
    "truthful_bound": "covey.truthful",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'covey' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
