"""From a request to a release: check everything public, pay, run the algorithm behind the door, certify.

The order is the promise: nothing about the rows is read before the request was found good and its charge committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from covey.algorithms.kit import Outcome
from covey.budget.accounting.promise import Promise
from covey.budget.ledger.ledger import Ledger
from covey.fit.cap import cap
from covey.fit.caution import warn_before
from covey.fit.certify import certify
from covey.fit.chosen import settle_k
from covey.fit.ranges import Look, amounts_of, read_private
from covey.fit.request import Request, check_request
from covey.fit.sample import draw_sample
from covey.fit.session import Progress, Session, open_ledger, seed_of
from covey.fit.zones import Thinning, read_zones
from covey.geo.metric import measured
from covey.post.threads import one_blas_thread
from covey.private.curator import Curator
from covey.private.narrowed.missing import MIDDLE
from covey.private.opening import open_data, with_ids
from covey.private.tables.base import Table
from covey.public import Bounds, Domain, Person
from covey.published.release import Release
from covey.queries.magnitudes import RawDomain


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
        # With the caller's settings of numpy, rows could decide between an answer and an error.
        with np.errstate(all="ignore"), one_blas_thread():
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

    def domain_of(bounds: Any) -> Domain:
        return measured(bounds, scale, person=request.person, names=table.names, width=table.width)

    declared, shares = read_private(bounds)
    private, domain = amounts_of(shares, request, zoned=zones is not None), domain_of(declared)
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
        fingerprint=request.fingerprint(domain, seed=seed, zones=zoned, reading=table.reading, private=private),
        numbers=(request.k + 2) * domain.dimension,
        seed=seed,
        paid=sum(private.values(), Fraction(0)),
    )
    look = None
    if private:
        own = session.before(purpose=f"private ranges of {', '.join(private)}")
        look = Look(private, request, own, domain, lambda found: domain_of({**declared, **found}), dataset)
    stored = session.stored() if look is None else look.stored(session)
    if stored is not None:
        return Release.from_json(stored)
    if seed is None:
        warn_before(request.promise, request.person, columns=table.names, used=domain.columns)
    table.check_numeric(domain.columns if table.names is not None else None)
    return run(request, table, domain, session, zoned, look, dataset=dataset, seed=seed, progress=progress)


def run(
    request: Request,
    table: Table,
    domain: Domain,
    session: Session,
    zones: Thinning | None = None,
    look: Look | None = None,
    *,
    dataset: str | None,
    seed: int | None,
    progress: Progress | None,
) -> Release:
    """Pay, run behind the door, certify, and store the release with its charge.

    Where ranges have to be found first, rows are capped and sampled before, whatever their bounds will be.
    """
    known = None if zones is None else zones.known(request.person)

    def first(curator: Curator, promise: Promise) -> Outcome:
        curator.zones = known
        return request.run(curator, promise, 0)

    domain = domain if look is None else RawDomain.of(domain)
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
    found: dict[str, Any] = {}
    if look is not None:
        table, reserve, domain, found = look.settle(sampled.table, sampled.reserve, run=first)
        sampled = replace(sampled, table=table, reserve=reserve)
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
    outcome = replace(outcome, notes={**outcome.notes, "bounds": found}) if found else outcome
    seeded = session.source.seeded

    def certified(request: Request, outcome: Outcome) -> Release:
        paid = session.receipt
        return certify(request, domain, outcome, capped, sampled, dataset=dataset, receipt=paid, seeded=seeded)

    release = certified(*settle_k(request, outcome, domain, certified))
    return Release.from_json(session.finish(release.to_json(), made=release))
