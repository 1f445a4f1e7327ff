"""Every error Covey raises on purpose. No message ever holds a value taken from a row.

    CoveyError
    ├── ParameterError      (ValueError)   an argument is wrong; the message names it and says what to do
    ├── DataError           (ValueError)   the data cannot be read as declared: shape, columns, file
    │   └── NotNumericError (TypeError)    a column is not a column of numbers
    ├── BudgetError                        not enough privacy budget, or more drawn than was reserved
    ├── LedgerError                        a ledger is missing, foreign, changed, truncated or behind its anchor
    ├── FormatError         (ValueError)   a file is not a Covey document, or of another version
    └── MissingError        (ImportError)  a library of an extra is not installed

    PrivacyWarning          (UserWarning)  allowed, but probably not meant; turn it into an error to be stopped

The command line turns each of them into one line on stderr and exit code 2.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

EXTRAS = {  # the libraries that each extra of Covey brings: pip install 'covey[plot]'
    "excel": ("python_calamine",),
    "geo": ("pyogrio",),
    "plot": ("matplotlib",),
    "spark": ("pyspark", "pandas"),
    "studio": ("fastapi", "uvicorn"),
}


class CoveyError(Exception):
    """The root of all errors that Covey raises on purpose."""


class ParameterError(CoveyError, ValueError):
    """An argument is wrong. Raised before any budget is spent and any row is read."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}")
        self.parameter = parameter
        self._problem = problem

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, self._problem)  # so that it comes back whole from a worker process


class DataError(CoveyError, ValueError):
    """The data cannot be read as declared: wrong shape, a missing column, an unreadable file."""


class NotNumericError(DataError, TypeError):
    """A column is not a column of numbers."""


class BudgetError(CoveyError):
    """Not enough privacy budget is left, or an algorithm drew more than it had reserved."""


class LedgerError(CoveyError):
    """A ledger is missing, foreign, changed, truncated, or behind its anchor.

    release : where a fit was charged but its release could not be stored, that release: it is paid for.
    """

    release: Any = None


class FormatError(CoveyError, ValueError):
    """A file is not a Covey document, or one of another version."""


class MissingError(CoveyError, ImportError):
    """A library that an extra of Covey brings is not installed; the message says how to install it."""


class PrivacyWarning(UserWarning):
    """What was asked for, or released, is allowed but protects less, or tells less, than people expect."""


def need(extra: str, what: str) -> None:
    """Refuse what needs an extra that is not installed, by its name: before a charge, and before long work."""
    for library in EXTRAS[extra]:
        if find_spec(library) is None:
            package = library.replace("_", "-")
            raise MissingError(f"{what} needs {package}, which is not installed: pip install 'covey[{extra}]'")


def place_of(error: BaseException, *, otherwise: str) -> str:
    """The file and line of Covey where an error came up: public, unlike what its message may say."""
    package, place = Path(__file__).parent, otherwise
    trace = error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if package in file.parents:
            place = f"{file.relative_to(package).as_posix()}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
