"""Privacy levels to slide between, for the price of the least private one. Proofs: slider.md and noise/chain.md.

One noisy number of rows, inside the bounds and outside, sets a grid; one chained histogram on it has every level.
Whatever is then shown of a level (boxes, coreset, centres) is computed from that level's counts alone: choosing k, the
objective and the level is free.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import covey
from covey.algorithms.kit import noisy_size
from covey.budget.accounting.plan import Plan, Reserve
from covey.budget.accounting.promise import Promise
from covey.budget.ledger.ledger import Ledger
from covey.checks import amount, whole_number
from covey.errors import CoveyError, ParameterError
from covey.events import float_at_least
from covey.fit.cap import each_row
from covey.fit.caution import warn_before
from covey.fit.session import Progress, Session, open_ledger, seed_of
from covey.fit.zones import Thinning, read_zones
from covey.geo.metric import measured
from covey.noise.chain import ChainedLaplace
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import new_key
from covey.private.narrowed.cancellable import CancellableTable
from covey.private.narrowed.missing import MIDDLE, check_missing
from covey.private.opening import with_ids
from covey.private.tables.base import Table
from covey.private.tables.frames import open_table
from covey.public import Bounds, Domain, Neighbours, Person
from covey.published.certificate import Certificate
from covey.published.levels.files import from_json, to_json
from covey.published.levels.levels import USUAL_LEVELS, Level, LevelSet, check_levels, price
from covey.published.levels.words import CHOICES
from covey.queries.zoned import ZonedCells, check_size

__all__ = ["CHOICES", "USUAL_LEVELS", "Cancelled", "Level", "LevelSet", "check_levels", "fit_levels", "price"]

MOST_PER_AXIS = {1: 4096, 2: 256, 3: 32, 4: 16}  # by dimension, if the user does not say: at most 2^16 cells
MOST_CELLS = 2**20
ROWS_SHARE = Fraction(1, 20)  # of the most private level: what the noisy number of rows takes from every level
THETA = 10.0  # rows x epsilon for each cell: the fine grid is the one that suits the least private level
STEPS = 3
ENGINES = ("memory", "files")


class Cancelled(CoveyError):
    """The caller asked to stop. What was charged stays charged."""


@np.errstate(all="ignore")  # as in `fit`
def fit_levels(
    data: Any,
    *,
    bounds: Bounds | None,
    levels: Sequence[Any] = USUAL_LEVELS,
    per_axis: int | None = None,
    person: Any = None,
    rows_per_person: int = 1,
    zones: Any = None,
    missing: str = MIDDLE,
    scale: Any = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    engine: str = "auto",
    random_state: Any = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LevelSet:
    """All privacy levels of the rows, for the epsilon of the least private one, charged before a row is read.

    Guarantee: all levels together are epsilon-DP under add/remove of a person (of a row, without one) with the last
    level's epsilon; a single level, and everything computed from it here, with its own.

    Parameters
    ----------
    data : array, frame, Arrow table, or path
        The private rows, as for `KMeans.fit`; not on Spark.
    bounds : Box, Ball, dict, list of pairs, pair of arrays, or pair of numbers
        Public limits of 1 to 4 columns, as in `KMeans`.
    levels : sequence of Level or of pairs of a name and an epsilon, default=USUAL_LEVELS
        The most private one first.
    per_axis : int or None, default=None
        Cells of the grid along each axis, a power of two; None to choose by the noisy number of rows.
    person : str, array or None, default=None
        The column that says whose a row is, or an id for each row in memory; None when each row is a person.
    rows_per_person : int, default=1
        How many rows of a person count at most.
    zones : GeoJSON, path, pairs, Zones, or None, default=None
        Regions with a stricter promise, as in `KMeans`; not together with person.
    missing : {'middle', 'drop'}, default='middle'
        What becomes of rows with a missing value, as in `KMeans`.
    scale : dict, sequence of numbers, or None, default=None
        How many times a column's distance counts, as in `KMeans`.
    ledger : Ledger, path, or None, default=None
        What the levels are charged to.
    dataset : str or None, default=None
        The name of the data set in the ledger.
    engine : {'auto', 'memory', 'files'}, default='auto'
        Where the rows are worked on.
    random_state : int or None, default=None
        None draws all noise from the operating system. A seed makes levels reproducible and **not private**.
    progress : callable or None, default=None
        Called with (done, of, what) during long work.
    cancelled : callable or None, default=None
        Asked during long work; once it says yes, `Cancelled` is raised, and a charge stays.

    Returns
    -------
    LevelSet
        All levels, to slide between at no further cost.
    """
    checked = check_levels(levels)
    data, person = with_ids(data, person)
    who = check_person(Person(person, rows_per_person), checked, zones)
    check_missing(missing, Neighbours.ADD_REMOVE)
    book, name = open_ledger(ledger, dataset)
    table = open_table(data)
    domain = measured(bounds, scale, person=who, names=table.names, width=table.width)
    if domain.dimension not in MOST_PER_AXIS:
        raise ParameterError("bounds", "levels need 1 to 4 columns, because they are a histogram; choose some of them")
    table.check_fit(engine=engine, engines=ENGINES, what="levels")
    side = _check_side(per_axis, domain.dimension)
    promise = _promise(checked[-1], who)
    thinning = read_zones(zones, epsilon=promise.epsilon, domain=domain)
    if thinning is not None:
        check_size((side or MOST_PER_AXIS[domain.dimension]) ** domain.dimension, len(thinning.regions.areas))
    seed = seed_of(random_state)
    session = Session(
        book,
        name,
        promise=promise,
        zones=None if thinning is None else thinning.promises(promise),
        purpose=f"{'one privacy level' if len(checked) == 1 else f'all {len(checked)} privacy levels'} of a histogram",
        fingerprint=_fingerprint(
            checked, domain, who, side=side, thinning=thinning, missing=missing, seed=seed, reading=table.reading
        ),
        numbers=len(checked) * (side or MOST_PER_AXIS[domain.dimension]) ** domain.dimension,
        seed=seed,
    )
    stored = session.stored()
    if stored is not None:
        return from_json(stored)
    if seed is None:
        warn_before(promise, who, columns=table.names, used=domain.columns)
    table.check_numeric(domain.columns if table.names is not None else None)
    try:
        return _run(
            checked,
            table,
            domain,
            who,
            session,
            side=side,
            thinning=thinning,
            missing=missing,
            dataset=name,
            engine=engine,
            watch=_Watch(progress, cancelled),
        )
    except MemoryError:
        raise MemoryError("the rows do not fit into memory; what was charged stays charged") from None


def check_person(person: Person, levels: Sequence[Level], zones: Any) -> Person:
    """The people whom levels can protect, or an error that says why not; nothing has been read or paid."""
    if person.quantile is not None:
        raise ParameterError("rows_per_person", "must be a number for levels: its choice would cost each of them")
    if person.column is not None and zones is not None:
        raise ParameterError("zones", "are not for levels with person=; leave one of them out, or fit one release")
    if person.column is not None:
        each_row(Reserve(_promise(levels[0], person)), person.rows)
    return person


def _check_side(per_axis: int | None, d: int) -> int | None:
    if per_axis is None:
        return None
    side = whole_number("per_axis", per_axis, least=1, most=MOST_CELLS)
    if side & (side - 1) or side**d > MOST_CELLS:
        most = 1 << (20 // d)
        raise ParameterError("per_axis", f"must be a power of two, at most {most} for {d} columns")
    return side


@dataclass(frozen=True)
class _Watch:
    """Whom to tell how far the work is, and whom to ask whether to go on."""

    progress: Progress | None
    cancelled: Callable[[], bool] | None

    def step(self, done: int, what: str) -> None:
        self.ask()
        if self.progress is not None:
            with np.errstate():  # the caller's code may change numpy's settings: not behind the door
                self.progress(done, STEPS, what)

    def ask(self) -> None:
        with np.errstate():
            stop = self.cancelled is not None and self.cancelled()
        if stop:
            raise Cancelled("levels: cancelled; what was charged stays charged")

    def table(self, table: Table) -> Table:
        return table if self.cancelled is None else CancellableTable(table, self.ask)


def fine_side(domain: Domain, *, rows: int, epsilon: float) -> int:
    """Cells per axis that suit so many rows at the least private level, the next power of two; from public numbers."""
    d = domain.dimension
    wanted = max(2.0, rows * epsilon / THETA) ** (2 / (2 + d))
    return int(min(MOST_PER_AXIS[d], 1 << math.ceil(math.log2(wanted) - 1e-9)))


def _run(
    levels: tuple[Level, ...],
    table: Table,
    domain: Domain,
    person: Person,
    session: Session,
    *,
    side: int | None,
    thinning: Thinning | None,
    missing: str,
    dataset: str | None,
    engine: str,
    watch: _Watch,
) -> LevelSet:
    promises = [_promise(level, person) for level in levels]
    kept, reserve = watch.table(table), session.reserve
    kept = kept if missing == MIDDLE else kept.complete(domain)
    each = [promise.epsilon for promise in promises]
    if person.column is not None:  # what a level may cost a row
        reserve, each = reserve.for_rows(cap=person.rows), [epsilon / person.rows for epsilon in each]
        kept = kept.capped(domain, person.column, most=person.rows, key=new_key(session.source))
    if thinning is not None:
        kept = thinning.table(kept, session.source)
    for_rows = each[0] * ROWS_SHARE
    chain, rows_noise = ChainedLaplace(tuple(own - for_rows for own in each)), DiscreteLaplace(for_rows)
    curator = session.door(kept, domain, reserve, engine=engine)
    watch.step(0, "paying and reading rows")
    curator.reserve(Plan((rows_noise.event(),)))
    rows, sides = noisy_size(curator, rows_noise)
    watch.step(1, "counting rows per cell")
    parts = fine_side(domain, rows=rows, epsilon=float(each[-1])) if side is None else side
    query = ZonedCells.of(domain, parts, None if thinning is None else thinning.regions)
    curator.reserve(Plan((chain.event(),)))
    counts = curator.release_chain(query, chain)
    watch.step(2, "writing down the levels")
    notes = {"levels": [list(level) for level in levels], "cells_per_axis": parts, "rows_noisy": rows, **sides}
    notes |= {} if person.column is None else {"rows_per_person": person.rows}
    notes |= {} if missing == MIDDLE else {"missing": missing}
    certificate = Certificate(
        algorithm="levels",
        parameters=notes | ({} if thinning is None else thinning.notes(counted_up=True)),
        epsilon=float_at_least(promises[-1].epsilon),
        delta=0.0,
        neighbours=str(Neighbours.ADD_REMOVE),
        person=str(person),
        unit=person.column,
        domain=domain.describe(),
        seeded=session.source.seeded,
        covey=covey.__version__,
        dataset=dataset,
        receipt=session.receipt,
    )
    rates = np.ones(query.size) if thinning is None else thinning.rates[query.zone_of]
    found = LevelSet(
        levels, domain.names, domain, parts, rows, for_rows, tuple(counts), query.cell_of, rates, certificate
    )
    return from_json(session.finish(to_json(found), made=found))


def _promise(level: Level, person: Person) -> Promise:
    return Promise(Neighbours.ADD_REMOVE, person.column, amount("epsilon", level.epsilon))


def _fingerprint(
    levels: tuple[Level, ...],
    domain: Domain,
    person: Person,
    *,
    side: int | None,
    thinning: Thinning | None,
    missing: str,
    seed: int | None,
    reading: Mapping[str, Any],
) -> str:
    fields = {
        "levels": [[each.name, str(amount("epsilon", each.epsilon))] for each in levels],
        "per_axis": side,
        "columns": domain.columns,
        "domain": [domain.ball, *zip(domain.middle, domain.half, strict=True)],
        "zones": None if thinning is None else thinning.fingerprint,
        "seed": seed,
        **({} if domain.scale is None else {"scale": domain.scale}),
        **({} if person.column is None else {"person": [person.column, person.rows]}),
        **({} if missing == MIDDLE else {"missing": missing}),
        **({} if not reading else {"reading": dict(reading)}),
    }
    return json.dumps(fields, sort_keys=True)
