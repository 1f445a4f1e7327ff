"""The door. The curator is the only object that meets rows: it pays, touches them exactly, adds noise, hands out.

    pay (or refuse)  ->  touch the rows, exactly  ->  add noise, once  ->  hand out

Formal guarantee: let a fit open plans whose costs add up to (ε, δ). Everything the curator hands out in that fit is
(ε, δ)-differentially private for the curator's neighbour relation, provided that each query's sensitivity and each
mechanism's event are right (their proof notes), because a release is refused unless its event is part of a plan
that was reserved, and the ledger was charged, before any row was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covey.budget.plan import Plan, Reserve
from covey.errors import BudgetError, ParameterError
from covey.events import Event, Sensitivity
from covey.noise.source import Source
from covey.private.engine import Engine, Sealed
from covey.public import Domain, Neighbours
from covey.queries.base import KeyedQuery, Query
from covey.queries.blocks import BlockCentres
from covey.queries.counts import Count

Integers = NDArray[np.int64]


class Adds(Protocol):
    """A mechanism that adds noise to a vector of integers."""

    def event(self) -> Event: ...
    def add(self, exact: Integers, sensitivity: Sensitivity, source: Source) -> Integers: ...


class AddsByKey(Protocol):
    """A mechanism that adds noise to counts of unknown keys and drops the small ones."""

    def event(self) -> Event: ...
    def add_by_key(
        self, keys: Integers, counts: Integers, sensitivity: Sensitivity, source: Source
    ) -> tuple[Integers, Integers]: ...


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
        neighbours: Neighbours,
        source: Source,
        reserve: Reserve,
        charge: Callable[[], None],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> None:
        self.domain = domain
        self.neighbours = neighbours
        self._engine = engine
        self._source = source
        self._reserve = reserve
        self._charge = charge
        self._charged = False
        self._progress = progress
        self._steps = 0
        self._done = 0

    def reserve(self, plan: Plan) -> None:
        """Reserve all that the plan will release. The first plan charges the ledger for the budget of the whole fit."""
        self._reserve.open(plan)
        if not self._charged:
            self._charge()
            self._charged = True
        self._steps += len(plan.events)

    def release(self, query: Query, mechanism: Adds) -> Integers:
        """The statistic plus noise."""
        sensitivity = self._pay(query, mechanism.event())
        return mechanism.add(self._engine.total(query), sensitivity, self._source)

    def release_by_key(self, query: KeyedQuery, mechanism: AddsByKey) -> tuple[Integers, Integers]:
        """Keys whose noisy count passes the mechanism's threshold, ascending, and those counts."""
        sensitivity = self._pay(query, mechanism.event())
        keys, counts = self._engine.totals_by_key(query)
        return mechanism.add_by_key(keys, counts, sensitivity, self._source)

    def select(self, query: Query, mechanism: Picks) -> int:
        """The index of one of the query's candidates, picked at random with a preference for large utilities."""
        return self.select_several(query, mechanism, times=1)[0]

    def select_several(self, query: Query, mechanism: Picks, *, times: int) -> list[int]:
        """Different candidates, picked one after the other, each pick an event of its own; one pass over the rows."""
        if not 1 <= times <= query.size:
            raise ParameterError("times", f"must be from 1 to the number of candidates, {query.size}")
        for _ in range(times):
            self._draw(query, mechanism.event())
        sensitivity = query.sensitivity(self.neighbours)
        utilities = self._engine.total(query)
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

    def public_count(self) -> int:
        """The number of rows, where the relation makes it public: replace-one. Free, but only once charged."""
        if self.neighbours is not Neighbours.REPLACE_ONE:
            raise ParameterError("neighbours", "the number of rows is private under add-remove; release a noisy count")
        if not self._charged:
            raise BudgetError("number of rows: reserve a plan before the rows are read")
        return int(self._engine.total(Count(self.domain))[0])

    def _pay(self, query: Query | KeyedQuery, event: Event) -> Sensitivity:
        self._draw(query, event)
        return query.sensitivity(self.neighbours)

    def _draw(self, query: Query | KeyedQuery | BlockCentres, event: Event) -> None:
        if query.domain != self.domain:
            raise ParameterError("query", "was made for another domain, so its sensitivity would be wrong")
        if not self._charged:  # a plan may be open although its charge was refused
            raise BudgetError(f"{query.name}: reserve a plan before the rows are read")
        self._reserve.draw(event, why=query.name)
        if self._progress is not None:
            self._progress(self._done, self._steps, query.name)
        self._done += 1
