"""From a request to a release: check everything public, pay, run the algorithm behind the door, certify.

The order is the promise: nothing about the rows is read before the request was found good and its charge committed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from covey.algorithms.kit import Outcome
from covey.algorithms.registry import Algorithm, find
from covey.budget.accounting.amplify import SMALLEST_RATE
from covey.budget.accounting.plan import Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.budget.ledger.ledger import Ledger
from covey.checks import amount
from covey.errors import ParameterError
from covey.fit.cap import cap, each_row
from covey.fit.caution import warn_before
from covey.fit.certify import certify
from covey.fit.chosen import read_k, settle_k
from covey.fit.sample import SampleRequest, draw_sample, read_sample
from covey.fit.session import Progress, Session, open_ledger, seed_of
from covey.fit.zones import Thinning, read_zones
from covey.geo.metric import measured
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.narrowed.missing import MIDDLE, check_missing
from covey.private.opening import open_data, with_ids
from covey.private.tables.base import ENGINES, Table
from covey.public import Bounds, Domain, Neighbours, Person
from covey.published.release import Release

MOST_DELTA = Fraction(1, 100)
ERRORS = ("quick", "full", "none")  # of a release: of sizes and costs; of places too, by reruns; nothing


def fit(
    data: Any,
    *,
    k: int | str,
    epsilon: float,
    bounds: Bounds | None,
    delta: float | None = None,
    k_range: Any = None,
    algorithm: str = "auto",
    algorithm_params: Mapping[str, Any] | None = None,
    objective: str = "k-means",
    neighbours: str = "add-remove",
    person: Any = None,
    rows_per_person: int | str = 1,
    zones: Any = None,
    sample: Any = None,
    missing: str = MIDDLE,
    scale: Any = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    engine: str = "auto",
    random_state: Any = None,
    progress: Progress | None = None,
    errors: str = "quick",
    choice: str | None = None,
) -> Release:
    """Cluster private rows and return what may be published. The parameters are those of `KMeans`.

    person : the name of a column, or an array of ids, one for each row in memory.
    choice : how this release came to be asked for, where the certificate has to say that.
    """
    data, person = with_ids(data, person)
    request = check_request(
        k=k,
        k_range=k_range,
        epsilon=epsilon,
        delta=delta,
        algorithm=algorithm,
        algorithm_params=algorithm_params,
        objective=objective,
        neighbours=neighbours,
        person=Person(person, rows_per_person),
        engine=engine,
        sample=sample,
        missing=missing,
        errors=errors,
        choice=choice,
    )
    book, dataset = open_ledger(ledger, dataset)
    try:
        with np.errstate(all="ignore"):  # with the caller's settings, rows could decide between an answer and an error
            return _fit(
                request, data, bounds, scale, zones, book, dataset, seed=seed_of(random_state), progress=progress
            )
    except MemoryError:  # numpy's own message tells the shape of the array, and so the exact number of rows
        raise MemoryError("the rows do not fit into memory; what was charged stays charged") from None


def _fit(
    request: Request,
    data: Any,
    bounds: Bounds | None,
    scale: Any,
    zones: Any,
    book: Ledger | None,
    dataset: str | None,
    *,
    seed: int | None,
    progress: Progress | None,
) -> Release:
    """Refuse all that can be refused by what is public; then run."""
    table = open_data(data, engine=request.engine)
    domain = measured(bounds, scale, person=request.person, names=table.names, width=table.width)
    row, sampled, relation = request.algorithm, request.sample is not None, request.neighbours
    table.check_fit(
        engine=request.engine,
        engines=row.engines,
        what=row.name,
        sampled=sampled,
        zoned=zones is not None,
        relation=relation,
    )
    request = request.without_idle_delta(domain)
    zoned = read_zones(zones, epsilon=request.epsilon, domain=domain, neighbours=relation, person=request.person)
    session = Session(
        book,
        dataset,
        promise=request.promise,
        zones=None if zoned is None else zoned.promises(request.promise, missing=request.missing),
        purpose=f"{request.objective} with {request.algorithm.name}, k = {request.how_many}",
        fingerprint=request.fingerprint(domain, seed=seed, zones=zoned, reading=table.reading),
        numbers=(request.k + 2) * domain.dimension,
        seed=seed,
    )
    stored = session.stored()
    if stored is not None:
        return Release.from_json(stored)
    if seed is None:
        warn_before(request.promise, request.person, columns=table.names, used=domain.columns)
    table.check_numeric(domain.columns if table.names is not None else None)
    return run(request, table, domain, session, zoned, dataset=dataset, seed=seed, progress=progress)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A checked request: all of it public. delta is what is charged, which may be none of what was asked for."""

    k: int
    k_range: tuple[int, int] | None = None  # to choose k from, which is its end until then
    epsilon: Fraction
    delta: Fraction
    asked_delta: Fraction
    algorithm: Algorithm
    parameters: dict[str, Any]
    objective: str
    neighbours: Neighbours
    person: Person
    engine: str = "auto"
    sample: SampleRequest | None = None
    missing: str = MIDDLE
    errors: str = "quick"
    choice: str | None = None

    @property
    def promise(self) -> Promise:
        """What the whole fit promises, and is charged for."""
        return Promise(self.neighbours, self.person.column, self.epsilon, self.delta)

    def run(self, curator: Curator, promise: Promise, seed: int | None) -> Outcome:
        """The algorithm at work. `promise` is what it may spend on the rows that it meets."""
        values = {"k": self.k, "epsilon": promise.epsilon, "delta": promise.delta, "objective": self.objective}
        own = self.parameters if self.k_range is None else {**self.parameters, "keep_synopsis": True}
        return self.algorithm.outcome(curator, {**values, "public_rng": public_rng(seed)}, own)

    @property
    def how_many(self) -> str:
        """The number of centres in words."""
        return str(self.k) if self.k_range is None else "{} to {}".format(*self.k_range)

    def without_idle_delta(self, domain: Domain) -> Request:
        """The request without a delta that no plan could use: such a delta is neither charged nor certified.

        A plan may follow from a released number of rows, or from a cap or a sample that does. The largest amounts that
        an algorithm may be left with are tried, and those of the smallest sample.
        """
        uses = self.algorithm.uses_delta
        if uses is None or self.delta == 0:
            return self
        most = self.promise
        if self.person.column is not None:
            most = each_row(Reserve(most), 1 if self.person.quantile is not None else self.person.rows).promise
        left = [most]
        if self.sample is not None:
            left.append(Reserve(most).on_sample(self.sample.rate or SMALLEST_RATE).promise)
        public = {"domain": domain, "neighbours": self.neighbours, "k": self.k}
        own = {**self.algorithm.parameters, **self.algorithm.check_parameters(self.parameters)}
        if any(uses(**public, epsilon=each.epsilon, delta=each.delta, **own) for each in left if each.delta):
            return self
        return replace(self, delta=Fraction(0))

    def fingerprint(
        self, domain: Domain, *, seed: int | None, zones: Thinning | None = None, reading: Mapping[str, Any] = {}
    ) -> str:
        """Every parameter in one canonical text: what an idempotency key is bound to."""
        fields = {
            "k": self.how_many if self.k_range else self.k,
            "epsilon": str(self.epsilon),
            "delta": str(self.asked_delta),
            "algorithm": self.algorithm.name,
            "parameters": {name: repr(value) for name, value in self.parameters.items()},
            "objective": self.objective,
            "neighbours": str(self.neighbours),
            "person": [self.person.column, self.person.rows],  # the engine is not part of it: all give the same
            "columns": domain.columns,
            "domain": [domain.ball, *zip(domain.middle, domain.half, strict=True)],
            "seed": seed,
            **({} if domain.scale is None else {"scale": domain.scale}),
            **({} if self.sample is None else {"sample": str(self.sample)}),
            **({} if self.missing == MIDDLE else {"missing": self.missing}),
            **({} if self.errors == "quick" else {"errors": self.errors}),
            **({} if self.choice is None else {"choice": self.choice}),
            **({} if zones is None else {"zones": zones.fingerprint}),
            **({} if not reading else {"reading": dict(reading)}),
        }
        return json.dumps(fields, sort_keys=True)


def check_request(
    *,
    k: int | str,
    epsilon: float,
    delta: float | None,
    algorithm: str,
    algorithm_params: Mapping[str, Any] | None,
    objective: str,
    neighbours: str,
    person: Person,
    engine: str,
    k_range: Any = None,
    sample: Any = None,
    missing: str = MIDDLE,
    errors: str = "quick",
    choice: str | None = None,
) -> Request:
    """Refuse what is wrong about a request, in words that name the parameter; nothing has been read or paid."""
    row = find(algorithm)
    if algorithm_params is not None and not isinstance(algorithm_params, Mapping):
        raise ParameterError("algorithm_params", "must be a dictionary of the algorithm's own parameters, or None")
    parameters = {name: _plain(value) for name, value in (algorithm_params or {}).items()}
    row.check_parameters(parameters)
    relation = Neighbours.parse(neighbours)
    if relation not in row.neighbours:
        options = " or ".join(repr(str(each)) for each in row.neighbours)
        raise ParameterError("neighbours", f"{algorithm!r} is proven for {options} only")
    if objective not in row.objectives:
        options = " or ".join(map(repr, row.objectives))
        raise ParameterError("objective", f"{algorithm!r} works for {options} only")
    Kind(relation, person.column)  # refuses people where rows are replaced
    if engine not in ("auto", *ENGINES):
        raise ParameterError("engine", f"must be one of {', '.join(map(repr, ('auto', *ENGINES)))}")
    if errors not in ERRORS:
        raise ParameterError("errors", f"must be one of {', '.join(map(repr, ERRORS))}")
    if delta is None and row.needs_delta(parameters):
        raise ParameterError("delta", f"{algorithm!r} promises (epsilon, delta): give a delta, well below 1/n")
    asked = Fraction(0) if delta is None else amount("delta", delta, below=1)
    if asked > MOST_DELTA:
        raise ParameterError("delta", "must be at most 0.01, and should be well below 1 in the number of rows")
    most, asked_range = read_k(k, k_range, row)
    return Request(
        k=most,
        k_range=asked_range,
        epsilon=amount("epsilon", epsilon),
        delta=Fraction(0) if row.guarantee == "pure" else asked,  # a pure algorithm spends none
        asked_delta=asked,
        algorithm=row,
        parameters=parameters,
        objective=objective,
        neighbours=relation,
        person=person,
        engine=engine,
        sample=read_sample(sample),
        missing=check_missing(missing, relation),
        errors=errors,
        choice=choice,
    )


def _plain(value: Any) -> Any:
    """A parameter as an ordinary Python value, which certificates can hold."""
    return float(value) if isinstance(value, Fraction) else value.item() if isinstance(value, np.generic) else value


def run(
    request: Request,
    table: Table,
    domain: Domain,
    session: Session,
    zones: Thinning | None = None,
    *,
    dataset: str | None,
    seed: int | None,
    progress: Progress | None,
) -> Release:
    """Pay, run behind the door, certify, and store the release with its charge."""
    known = None if zones is None else zones.known(request.person)

    def first(curator: Curator, promise: Promise) -> Outcome:
        curator.zones = known
        return request.run(curator, promise, 0)

    table = table if request.missing == MIDDLE else table.complete(domain)
    capped = cap(table, request.person, session, domain=domain, run=first)
    sampled = draw_sample(
        capped.table if zones is None else zones.table(capped.table, session.source),
        request.sample,
        session,
        reserve=capped.reserve,
        k=request.k,
        domain=domain,
        run=first,
    )
    engine, engines = request.engine, request.algorithm.engines
    curator = session.door(
        sampled.table,
        domain,
        sampled.reserve,
        engine=engine,
        engines=engines,
        progress=progress,
        zones=known,
    )
    outcome = request.run(curator, sampled.reserve.promise, seed).within(domain)
    if zones is not None:
        told = zones.notes(request.delta, counted_up=outcome.counted_up)
        outcome = replace(outcome, notes={**outcome.notes, **told})

    def certified(request: Request, outcome: Outcome) -> Release:
        paid, seeded = session.receipt, session.source.seeded
        return certify(request, domain, outcome, capped, sampled, dataset=dataset, receipt=paid, seeded=seeded)

    release = certified(*settle_k(request, outcome, domain, certified))
    return Release.from_json(session.finish(release.to_json(), made=release))
