"""What a person should hear about a fit although it is allowed: by its request, and by what it released. Never by rows.

Warnings of a request come before the charge: whoever turns `PrivacyWarning` into an error is stopped before paying. A
fit with a known seed is a test, or a rerun on made-up rows, and promises nothing that could be warned of.
Those of a release never stop anything, since it is paid for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from inspect import currentframe
from pathlib import Path

from covey.budget.accounting.promise import Promise
from covey.errors import PrivacyWarning
from covey.public import Person
from covey.published.release import Release
from covey.published.sentences import doubts, not_told_k, without_clusters
from covey.published.show import at_an_end, pointing_nowhere

LARGE_EPSILON, LARGE_DELTA = 10, 1e-5
_WHO = {"user", "person", "people", "driver", "rider", "passenger", "patient", "customer", "client", "member"}
_WHO |= {"subject", "student", "employee", "visitor", "device", "phone", "imei", "uid", "account", "household"}
_PACKAGE = str(Path(__file__).parents[1])


def warn_before(promise: Promise, person: Person, *, columns: Sequence[str] | None, used: Sequence[str] | None) -> None:
    """Warn of a request, if there is reason to. `columns` are those of the data, `used` those of the bounds."""
    warn_at_caller(_of_request(promise, person, set(columns or ()) - set(used or ())))


def warn_without_ledger() -> None:
    """For Python: the command line prints the certificate, which says the same."""
    warn_at_caller(
        [
            "ledger: none, so nothing adds up what all releases of these rows tell together; `Ledger.create` "
            "makes one, to be named here"
        ]
    )


def warn_after(release: Release) -> None:
    """Warn of what a release shows about itself: the fit is paid for, so that not even an error can stop it."""
    told = (*at_an_end(release), *pointing_nowhere(release), *without_clusters(release), *doubts(release))
    for message in (*told, *not_told_k(release)):
        with suppress(Exception):  # a filter's, or that of whoever shows warnings in another way
            warn_at_caller([message])


def _of_request(promise: Promise, person: Person, others: set[str]) -> Iterator[str]:
    epsilon, delta = float(promise.epsilon), float(promise.delta)
    if epsilon > LARGE_EPSILON:
        yield (
            f"epsilon: {epsilon:g} promises next to nothing: what is published may be e^{epsilon:g} times as likely "
            "with somebody's data as without; usual values are 0.1 to 3"
        )
    if delta > LARGE_DELTA:
        yield (
            f"delta: {delta:g} would allow to publish each row with that chance; take one well below 1 in the number "
            "of rows, such as 1e-6"
        )
    if person.column is None and (ids := sorted(name for name in others if _names_people(name))):
        yield (
            f"person: column {ids[0]!r} looks like it says whose a row is; without it each row is protected for "
            "itself, and somebody with many rows is not"
        )


def _names_people(name: str) -> bool:
    """Whether a column's name has a word for people in it: user_id, driverId, "patient no."."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return any(form in _WHO for word in words for form in (word, word.removesuffix("s"), word.removesuffix("id")))


def warn_at_caller(messages: Iterable[str]) -> None:
    """Warnings at the line that called Covey, wherever inside they come up."""
    frame, depth, level = currentframe(), 0, 0
    while frame is not None:
        depth += 1
        level = depth if frame.f_code.co_filename.startswith(_PACKAGE) else level
        frame = frame.f_back
    for message in messages:
        warnings.warn(message, PrivacyWarning, stacklevel=level + 1)
