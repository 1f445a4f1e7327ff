"""The door. The curator is the only object that meets rows: it pays, touches them exactly, adds noise, hands out.

    pay (or refuse)  ->  touch the rows, exactly  ->  add noise, once  ->  hand out

Formal guarantee: let a fit open plans whose costs add up to (ε, δ). Everything the curator hands out in that fit is
(ε, δ)-differentially private for the curator's neighbour relation, provided that each query's sensitivity and each
mechanism's event are right (their proof notes), because a release is refused unless its event is part of a plan
that was reserved, and the ledger was charged, before any row was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.budget.accounting.plan import Plan, Reserve
from covey.errors import BudgetError, ParameterError
from covey.events import Event, Sensitivity
from covey.geo.rates import ZoneRates
from covey.noise.source import Source
from covey.private.cells import CellEngine
from covey.private.covers import Covers, cover
from covey.private.engines.base import Engine, Sealed, exact
from covey.private.trees import Grows, grow
from covey.public import Domain, Neighbours
from covey.queries.base import KeyedQuery, Query, WholeQuery
from covey.queries.blocks import BlockCentres
from covey.queries.counts import Count
from covey.queries.cover import Cover
from covey.queries.grid import Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree

Integers = NDArray[np.int64]


class Adds(Protocol):
    """A mechanism that adds noise to a vector of integers."""

    def event(self) -> Event: ...
    def add(self, exact: Integers, sensitivity: Sensitivity, source: Source) -> Integers: ...


class AddsChain(Protocol):
    """A mechanism that adds noise at several privacy levels, each made from the next less private one."""

    def event(self) -> Event: ...
    def add_chain(self, exact: Integers, sensitivity: Sensitivity, source: Source) -> list[Integers]: ...


class AddsByKey(Protocol):
    """A mechanism that adds noise to counts of unknown keys and drops the small ones."""

    def event(self) -> Event: ...
    def add_by_key(
        self, keys: NDArray[Any], counts: Integers, sensitivity: Sensitivity, source: Source
    ) -> tuple[NDArray[Any], Integers]: ...


class Picks(Protocol):
    """A mechanism that picks one of several candidates by their integer utilities."""

    def event(self) -> Event: ...
    def pick(self, utilities: Integers, sensitivity: Sensitivity, source: Source) -> int: ...


class Averages(Protocol):
    """A mechanism that averages the lines of a table, private for replacing one line."""

    def event(self) -> Event: ...
    def average(self, table: Integers, limit: int, source: Source) -> NDArray[np.float64]: ...


class Curator(Sealed):
    """Hands out noisy statistics of rows that nobody else can reach, within a budget that is charged first."""

    def __init__(
        self,
        engine: Engine,
        *,
        domain: Domain,
        source: Source,
        reserve: Reserve,
        charge: Callable[[], None],
        progress: Callable[[int, int, str], None] | None = None,
        zones: ZoneRates | None = None,
    ) -> None:
        if engine.unit != reserve.promise.unit:
            raise BudgetError("the promise that pays is for another unit than the statistics are of")
        self.domain = domain
        self.neighbours = reserve.promise.relation
        self.zones = zones  # public: what was kept of rows by their zones; None where all were, or it is not known
        self._engine = engine
        self._source = source
        self._reserve = reserve
        self._desk = _Desk(charge, progress)

    def reserve(self, plan: Plan) -> None:
        """Reserve all that the plan will release. The first plan charges the ledger for the budget of the whole fit."""
        self._reserve.open(plan)
        self._desk.pay()
        self._desk.steps += len(plan.events)

    def release(self, query: Query | WholeQuery, mechanism: Adds) -> Integers:
        """The statistic plus noise."""
        sensitivity = self._pay(query, mechanism.event())
        return mechanism.add(exact(self._engine, query), sensitivity, self._source)

    def release_chain(self, query: Query | WholeQuery, mechanism: AddsChain) -> list[Integers]:
        """The statistic at every level of a chain, most private first: one event for all. Proof: noise/chain.md."""
        sensitivity = self._pay(query, mechanism.event())
        return mechanism.add_chain(exact(self._engine, query), sensitivity, self._source)

    def release_by_key(self, query: KeyedQuery, mechanism: AddsByKey) -> tuple[NDArray[Any], Integers]:
        """Keys whose noisy count passes the mechanism's threshold, ascending, and those counts."""
        sensitivity = self._pay(query, mechanism.event())
        keys, counts = self._engine.totals_by_key(query)
        return mechanism.add_by_key(keys, counts, sensitivity, self._source)

    def select(self, query: Query | WholeQuery, mechanism: Picks) -> int:
        """The index of one of the query's candidates, picked at random with a preference for large utilities."""
        return self.select_several(query, mechanism, times=1)[0]

    def select_several(self, query: Query | WholeQuery, mechanism: Picks, *, times: int) -> list[int]:
        """Different candidates, picked one after the other, each pick an event of its own; one pass over the rows."""
        if not 1 <= times <= query.size:
            raise ParameterError("times", f"must be from 1 to the number of candidates, {query.size}")
        for _ in range(times):
            self._draw(query, mechanism.event())
        sensitivity = query.sensitivity(self.neighbours)
        utilities = exact(self._engine, query)
        left = np.arange(query.size)
        picked: list[int] = []
        for _ in range(times):
            place = mechanism.pick(utilities[left], sensitivity, self._source)
            picked.append(int(left[place]))
            left = np.delete(left, place)
        return picked

    def average_blocks(self, query: BlockCentres, mechanism: Averages) -> NDArray[np.float64]:
        """Noisy averages over random blocks of rows of each block's answer. Proof: queries/blocks.md.

        Each row draws its block independently of its value and of other rows, so one person touches one block, under
        either relation; the mechanism is private for replacing one block's answer by any other.
        """
        self._draw(query, mechanism.event())
        outputs = self._engine.block_outputs(query, self._source)
        return mechanism.average(outputs, self.domain.limit, self._source)

    def expect(self, what: Tree | SuitedGrid) -> None:
        """Say which tree will probably be grown, or which grid's cells be counted, whatever the number of rows, so that
        files are read less often. It tells nothing."""
        self._same_domain(what.domain)
        self._engine.expect(what)

    def grow(self, tree: Tree, mechanism: Grows, *, fine: int | None = None) -> Nodes:
        """The leaves of a tree whose nodes split by noisy decisions: one event however deep. Proof: noise/tree.md.

        fine : a depth; what grows below it is cut off if it is like noise alone. Public.
        """
        if mechanism.fan_out != tree.fan_out:
            raise ParameterError("fan_out", f"of the mechanism must be the tree's, {tree.fan_out}")
        self._draw(tree, mechanism.event())
        return grow(self._engine, tree, mechanism, neighbours=self.neighbours, source=self._source, fine=fine)

    def cover(self, query: Cover, mechanism: Covers) -> Integers:
        """Grid points that cover many rows, picked one after the other: one event for all. Proof: noise/cover.md."""
        if mechanism.neighbours is not self.neighbours:
            raise ParameterError("neighbours", "the picks of a cover are charged for another relation")
        self._draw(query, mechanism.event())
        return cover(self._engine, query, mechanism, source=self._source)

    def public_count(self) -> int:
        """The number of rows, where the relation makes it public: replace-one. Free, but only once charged."""
        if self.neighbours is not Neighbours.REPLACE_ONE:
            raise ParameterError("neighbours", "the number of rows is private under add-remove; release a noisy count")
        self._desk.check("number of rows")
        return int(self._engine.total(Count(self.domain))[0])

    def on_cells(self, grid: Grid) -> Curator:
        """The same rows, each moved to the middle of its cell of a public grid. Neighbours stay neighbours."""
        self._same_domain(grid.domain)
        return self._narrowed(CellEngine(grid, lambda: self._engine.cells(grid)), self.domain)

    def drop_nearest(self, centres: ArrayLike, how_many: int) -> Curator:
        """The rows without the `how_many` nearest to any centre; needs `on_cells`. Proof: cells.md.

        The order of rows is total and the number is public, so neighbours stay neighbours under both relations.
        """
        self._desk.check("dropping rows")
        if not isinstance(self._engine, CellEngine):
            raise ParameterError("curator", "rows are dropped from a table of cells: call on_cells first")
        places = self.domain.snap(np.atleast_2d(np.asarray(centres, dtype=np.float64)))
        if places.shape[1] != self.domain.dimension or len(places) == 0:
            raise ParameterError("centres", f"must be points with {self.domain.dimension} coordinates")
        return self._narrowed(self._engine.drop_nearest(places, max(0, int(how_many))), self.domain)

    def project(self, projection: Projection) -> Curator:
        """The rows' images under a public linear map. Neighbours stay neighbours."""
        self._same_domain(projection.domain)
        return self._narrowed(self._engine.projected(projection), projection.target)

    def split(self, parts: int, plan: Plan) -> list[Curator]:
        """Every row in one of `parts` curators, by a coin of its own; each may draw all of `plan`, which is paid once.

        One person is in one part, under either relation: the coins belong to places in the table, or on Spark to
        values and their copies (spark.md). So all parts together cost what one does (parallel composition; cells.md).
        """
        if isinstance(self._engine, CellEngine):
            raise ParameterError("curator", "split rows before they are moved to cells")
        if parts < 1:
            raise ParameterError("parts", "must be at least 1")
        self.reserve(plan)
        for event in plan.events:
            self._reserve.draw(event, why="parts of the rows")
        engines = self._engine.split(parts, self._source)
        curators = []
        for engine in engines:
            part = self._narrowed(engine, self.domain)
            part.zones = self.zones
            part._reserve = Reserve(self._reserve.promise.with_cost(plan.cost()))
            part._reserve.open(plan)
            curators.append(part)
        self._desk.steps += (parts - 1) * len(plan.events)
        return curators

    def _narrowed(self, engine: Engine, domain: Domain) -> Curator:
        """The curator of other rows. Where they were moved, they are in other zones than those they were kept by."""
        narrower = object.__new__(type(self))
        narrower.__dict__.update(self.__dict__)
        narrower._engine, narrower.domain, narrower.zones = engine, domain, None
        return narrower

    def _same_domain(self, domain: Domain) -> None:
        if domain != self.domain:
            raise ParameterError("query", "was made for another domain, so its sensitivity would be wrong")

    def _pay(self, query: Query | WholeQuery | KeyedQuery, event: Event) -> Sensitivity:
        self._draw(query, event)
        return query.sensitivity(self.neighbours)

    def _draw(self, query: Query | WholeQuery | KeyedQuery | BlockCentres | Tree | Cover, event: Event) -> None:
        self._same_domain(query.domain)
        self._desk.check(query.name)
        self._reserve.draw(event, why=query.name)
        self._desk.step(query.name)


class _Desk(Sealed):
    """What a curator and all narrower ones made from it share: whether the fit was charged, and its progress."""

    def __init__(self, charge: Callable[[], None], progress: Callable[[int, int, str], None] | None) -> None:
        self._charge = charge
        self._charged = False
        self._progress = progress
        self.steps = 0
        self._done = 0

    def pay(self) -> None:
        """Charge the ledger for the whole fit, once."""
        if not self._charged:
            self._charge()
            self._charged = True

    def check(self, why: str) -> None:
        """Refuse to touch rows before the charge: a plan may be open although its charge was refused."""
        if not self._charged:
            raise BudgetError(f"{why}: reserve a plan before the rows are read")

    def step(self, name: str) -> None:
        if self._progress is not None:
            with np.errstate():  # the caller's code may change numpy's settings: not behind the door
                self._progress(self._done, self.steps, name)
        self._done += 1
