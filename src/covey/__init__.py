"""Covey: differentially private clustering. See the covey, never the quail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.errors import (
    BudgetError,
    CoveyError,
    DataError,
    FormatError,
    LedgerError,
    MissingError,
    NotNumericError,
    ParameterError,
    PrivacyWarning,
)

if TYPE_CHECKING:
    from covey.budget.ledger.ledger import Ledger
    from covey.estimators import KMeans, KMedian, PrivateCoreset
    from covey.files import File
    from covey.fit.pipelines import check_pipeline
    from covey.fit.profile import profile
    from covey.fit.score import score
    from covey.fit.zones import Zones
    from covey.public import Ball, Box, Neighbours, Person
    from covey.published.certificate import Certificate
    from covey.published.coreset.coreset import Coreset
    from covey.published.coreset.merge import CoresetStream
    from covey.published.release import Release
    from covey.theory.plan import plan
    from covey.theory.truthful import truthful_bound

__version__ = "0.2.0.dev0"

__all__ = [
    "Ball",
    "Box",
    "BudgetError",
    "Certificate",
    "Coreset",
    "CoresetStream",
    "CoveyError",
    "DataError",
    "File",
    "FormatError",
    "KMeans",
    "KMedian",
    "Ledger",
    "LedgerError",
    "MissingError",
    "Neighbours",
    "NotNumericError",
    "ParameterError",
    "Person",
    "PrivacyWarning",
    "PrivateCoreset",
    "Release",
    "Zones",
    "check_pipeline",
    "plan",
    "profile",
    "score",
    "truthful_bound",
]

_HOMES = {  # imported when first used, so that `covey --help` does not wait for scikit-learn
    "Ball": "covey.public",
    "Box": "covey.public",
    "Certificate": "covey.published.certificate",
    "Coreset": "covey.published.coreset.coreset",
    "CoresetStream": "covey.published.coreset.merge",
    "File": "covey.files",
    "KMeans": "covey.estimators",
    "KMedian": "covey.estimators",
    "Ledger": "covey.budget.ledger.ledger",
    "Neighbours": "covey.public",
    "Person": "covey.public",
    "PrivateCoreset": "covey.estimators",
    "Release": "covey.published.release",
    "Zones": "covey.fit.zones",
    "check_pipeline": "covey.fit.pipelines",
    "plan": "covey.theory.plan",
    "profile": "covey.fit.profile",
    "score": "covey.fit.score",
    "truthful_bound": "covey.theory.truthful",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'covey' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
