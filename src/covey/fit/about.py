"""One question about centres that were released: checked, charged, asked once, certified.

The centres are fixed before: those of a release, whose own certificate says what they cost, or public ones. So the
question's sensitivity is all that matters here; its promise adds to that of the release.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

import covey
from covey.budget.accounting.plan import Plan
from covey.budget.accounting.promise import Kind, Promise
from covey.budget.ledger.ledger import Ledger
from covey.checks import amount
from covey.errors import FormatError, ParameterError
from covey.events import float_at_least
from covey.fit.cap import cap
from covey.fit.caution import warn_before
from covey.fit.request import check_delta
from covey.fit.session import Progress, Session, open_ledger, seed_of
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.private.narrowed.missing import MIDDLE, check_missing
from covey.private.tables.base import ENGINES, Table
from covey.public import Domain, Neighbours, Person
from covey.published.certificate import Certificate
from covey.published.reading import near
from covey.published.release import Release
from covey.queries.base import Query

ZONED = (
    "promises more to rows in zones, and further questions have no zones yet. A score without data costs nothing and "
    "tells what this release knows; to ask rows, make a release that is fitted without zones, if those in zones need "
    "no more than its promise"
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was released: numbers, the scale of their noise, and what the certificate notes of how it was asked."""

    numbers: Any
    scale: float
    notes: Mapping[str, Any] = field(default_factory=dict)


class Published(Protocol):
    """What is made of the answer."""

    def to_json(self) -> bytes: ...


P = TypeVar("P", bound=Published)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is promised about an answer, and to what it is charged: checked, and all of it public."""

    epsilon: Fraction
    delta: Fraction
    relation: Neighbours
    person: Person
    missing: str
    engine: str
    seed: int | None
    book: Ledger | None
    dataset: str | None
    choice: str | None
    centres_of: list[dict[str, Any]]  # what the centres asked about cost when they were released

    @property
    def promise(self) -> Promise:
        return Promise(self.relation, self.person.column, self.epsilon, self.delta)


def check_terms(
    releases: Sequence[Release],
    *,
    epsilon: float,
    neighbours: str | None,
    person: str | None,
    rows_per_person: int | str | None,
    ledger: Ledger | str | None,
    dataset: str | None,
    engine: str,
    random_state: Any,
    delta: float | None = None,
    engines: tuple[str, ...] = ENGINES,
) -> Terms:
    """Refuse what is wrong about a question, by what is public. What is not said is as in the first release."""
    seed, first = seed_of(random_state), releases[0].certificate
    for each in releases:
        check_written(each)
    parts = [part for each in releases for part in (each.certificate, *each.certificate.leaves())]
    for part in parts:
        if part.seeded and seed is None:
            raise ParameterError("release", "is seeded, and so not private: what is asked about its centres is neither")
        if "zones" in part.parameters:
            raise ParameterError("release", ZONED)
    if engine not in ("auto", *engines):
        options = ", ".join(map(repr, ("auto", *engines)))
        raise ParameterError("engine", f"must be one of {options}: elsewhere this question is not asked")
    relation = Neighbours.parse(first.neighbours if neighbours is None else neighbours)
    column = person if person is not None or relation is Neighbours.REPLACE_ONE else first.unit
    if not (column is None or isinstance(column, str)):
        raise ParameterError("person", "must be the name of a column of the data")
    if column is None and first.unit is not None:
        raise ParameterError("neighbours", "of this release is add-remove of people: ask the same, or give person")
    people = first.parameters.get("people")
    same = people.get("rows_per_person", 1) if isinstance(people, dict) and column == first.unit else 1
    Kind(relation, column)  # refuses people where rows are replaced
    book, dataset = open_ledger(ledger, dataset)
    choices = dict.fromkeys(
        part.parameters["choice"] for part in parts if isinstance(part.parameters.get("choice"), str)
    )
    return Terms(
        epsilon=amount("epsilon", epsilon),
        delta=check_delta(delta),
        relation=relation,
        person=Person(column, same if rows_per_person is None else rows_per_person),
        missing=check_missing(first.parameters.get("missing", MIDDLE), relation),
        engine=engine,
        seed=seed,
        book=book,
        dataset=dataset,
        choice="; ".join(choices) or None,
        centres_of=[
            {"epsilon": each.certificate.epsilon, "delta": each.certificate.delta, "receipt": each.certificate.receipt}
            for each in releases
        ],
    )


def check_written(release: Release) -> None:
    """Refuse a release that no file could hold: what is made of it could not be written either."""
    try:
        near(Release.from_json(release.to_json()))
    except (FormatError, UnicodeEncodeError, ValueError):
        raise ParameterError("release", "holds what no fit releases: numbers or texts that are absurd") from None


def answer(
    terms: Terms,
    run: Callable[[Curator, Promise], Answer],
    table: Table,
    domain: Domain,
    *,
    what: str,
    bounds: dict[str, Any],
    notes: Mapping[str, Any],
    asked: Mapping[str, Any],
    numbers: int,
    make: Callable[[Any, float, Certificate], P],
    read: Callable[[bytes], P],
    engines: tuple[str, ...] = ENGINES,
    progress: Progress | None = None,
) -> P:
    """Pay, ask behind the door, certify, and store what is made of the answer with its charge.

    run : asks the curator, within what each row is promised. what : what it is called. bounds : the clustered columns,
    as certificates have them. notes : for the certificate. asked : all that the answer depends on, and the terms do not
    say. numbers : how many it has at most. make : of the noisy numbers, their noise's scale and the certificate. read :
    a document that was stored.
    """
    table.check_fit(engine=terms.engine, engines=engines, what=what, relation=terms.relation)
    session = Session(
        terms.book,
        terms.dataset,
        promise=terms.promise,
        zones=None,
        purpose=f"{what} of released centres",
        fingerprint=_fingerprint(terms, domain, {**asked, "what": what, "reading": dict(table.reading)}),
        seed=terms.seed,
        numbers=numbers,
    )
    stored = session.stored()
    if stored is not None:
        return read(stored)
    if terms.seed is None:
        warn_before(terms.promise, terms.person, columns=table.names, used=domain.columns)
    columns = domain.columns if table.names is not None else None
    table.check_numeric(columns)
    try:
        with np.errstate(all="ignore"):
            complete = table if terms.missing == MIDDLE else table.complete(domain)
            capped = cap(complete, terms.person, session, domain=domain, run=run)
            curator = session.door(
                capped.table, domain, capped.reserve, engine=terms.engine, engines=engines, progress=progress
            )
            found = run(curator, capped.reserve.promise)
    except MemoryError:  # numpy's own message tells the shape of the array, and so the exact number of rows
        raise MemoryError("the rows do not fit into memory; what was charged stays charged") from None
    certificate = Certificate(
        algorithm=what,
        parameters={
            **notes,
            **found.notes,
            "centres_of": terms.centres_of,
            **({"people": capped.notes} if capped.notes else {}),
            **({} if terms.missing == MIDDLE else {"missing": terms.missing}),
            **({} if terms.choice is None else {"choice": terms.choice}),
        },
        epsilon=float_at_least(terms.epsilon),
        delta=float_at_least(terms.delta),
        neighbours=str(terms.relation),
        person=str(capped.person),
        unit=capped.person.column,
        domain=bounds,
        seeded=session.source.seeded,
        covey=covey.__version__,
        dataset=terms.dataset,
        receipt=session.receipt,
    )
    made = make(found.numbers, found.scale, certificate)
    return read(session.finish(made.to_json(), made=made))


def asked_once(query: Query, curator: Curator, promise: Promise) -> Answer:
    """The answer with all of what was promised; noise too large to draw is refused before it is paid for."""
    noise, sensitivity = DiscreteLaplace(promise.epsilon), query.sensitivity(curator.neighbours)
    noise.check(sensitivity)
    curator.reserve(Plan((noise.event(),)))
    return Answer(numbers=curator.release(query, noise), scale=float(sensitivity.l1 / promise.epsilon))


def _fingerprint(terms: Terms, domain: Domain, asked: Mapping[str, Any]) -> str:
    """Every parameter in one canonical text: what an idempotency key is bound to. All engines give the same."""
    fields = {
        "epsilon": str(terms.epsilon),
        **({"delta": str(terms.delta)} if terms.delta else {}),
        "neighbours": str(terms.relation),
        "person": [terms.person.column, terms.person.rows],
        "missing": terms.missing,
        "choice": terms.choice,
        "centres_of": terms.centres_of,
        "columns": domain.columns,
        "domain": [domain.ball, domain.scale, *zip(domain.middle, domain.half, strict=True)],
        "seed": terms.seed,
        **asked,
    }
    return json.dumps(fields, sort_keys=True)
