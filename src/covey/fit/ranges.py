"""Ranges for columns whose bounds are "private": found first, by a plan and a charge of their own. Proof: ranges.md.

The magnitude of a column from noisy counts by signed powers of two, then a private tree inside it. What is found is
charged, stored and released under its own receipt, also where it is that no range is supported; the fit itself is a
second plan, with what is left of epsilon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import covey
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amounts import EPSILON_UNITS
from covey.budget.accounting.plan import Plan, Reserve, split
from covey.budget.accounting.promise import Promise
from covey.errors import DataError, LedgerError, ParameterError
from covey.events import exactly, float_at_least
from covey.fit.request import Request
from covey.fit.session import Session, rehearse
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.tree import PrivTree
from covey.post.ranges import around, beside, extended, inner_range, lit, outward, usual_share
from covey.private.curator import Curator
from covey.private.narrowed.held import HeldTable
from covey.private.tables.base import Table
from covey.public import Domain, Neighbours
from covey.published.bounds import FoundBounds
from covey.published.certificate import Certificate
from covey.queries.magnitudes import LEAST, STEPS, Magnitudes, RawDomain
from covey.queries.projection import Projection
from covey.queries.tree import Tree, TreeLeaves

PRIVATE = "private"
LARGEST_SHARE = Fraction(1, 2)  # of epsilon, of all columns together
LEAST_SHARE = Fraction(1, 1000)  # of one
PARTS = (30, 30, 40)  # of a column's share: its magnitude, the splits of its tree, the rows of the tree's leaves
DEEPEST = 20  # halvings of the magnitude
PLACEHOLDER = (-1.0, 1.0)  # the range of such a column, until one is found

Noises = list[tuple[int, DiscreteLaplace, PrivTree, DiscreteLaplace]]


def read_private(bounds: Any) -> tuple[Any, dict[str, Fraction]]:
    """Bounds with a range in the place of every "private", and the share of epsilon of each such column."""
    if not isinstance(bounds, Mapping) or not any(isinstance(ends, str) for ends in bounds.values()):
        return bounds, {}
    asked = {str(name): ends for name, ends in bounds.items() if isinstance(ends, str)}
    usual = usual_share(len(asked))
    shares = {name: _share(name, text, usual) for name, text in asked.items()}
    if sum(shares.values()) > LARGEST_SHARE:
        raise ParameterError("bounds", "private ranges may take at most half of epsilon together; name smaller shares")
    return {name: PLACEHOLDER if str(name) in asked else ends for name, ends in bounds.items()}, shares


def _share(name: str, text: str, usual: Fraction) -> Fraction:
    word, colon, number = text.partition(":")
    try:
        share = exactly(number if len(number) < 12 and "e" not in number.lower() else "0") if colon else usual
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not colon and share < LEAST_SHARE:
        raise ParameterError(
            "bounds", "too many columns are private: they share a quarter of epsilon, at most 250 of them"
        )
    if word != PRIVATE or not LEAST_SHARE <= share <= LARGEST_SHARE:
        raise ParameterError(
            f"bounds of {name}", 'must be a pair of numbers, "private", or "private:" and a share of epsilon to 0.5'
        )
    return share


def settled(bounds: Any, certificate: Certificate) -> Any:
    """The bounds of a fit as they were used: what was private is what was found."""
    found = certificate.parameters.get("bounds", {}).get("ranges", {})
    return bounds if not read_private(bounds)[1] else {**bounds, **{name: tuple(ends) for name, ends in found.items()}}


def amounts_of(shares: Mapping[str, Fraction], request: Request, *, zoned: bool) -> dict[str, Fraction]:
    """What of epsilon each range may cost, in whole units of a ledger, so that two charges are not rounded up twice.

    Refuses, before anything is read or paid, what does not go with private ranges.
    """
    if not shares:
        return {}
    if zoned:
        raise ParameterError("zones", "need public bounds for every column: private ones are found after zones apply")
    if request.person.quantile is not None:
        raise ParameterError("rows_per_person", "must be a number with private bounds, which are found before any row")
    rate = request.sample is None or request.sample.rate is not None
    if not rate or (request.sample is not None and request.neighbours is Neighbours.REPLACE_ONE):
        raise ParameterError("sample", "with private bounds must be a rate such as 0.01, under add-remove")
    if request.algorithm.name == "sites":
        raise ParameterError("bounds", "must be public for 'sites': whether a site lies within them is told by errors")
    return {
        name: Fraction(int(share * request.epsilon * EPSILON_UNITS), EPSILON_UNITS) for name, share in shares.items()
    }


@dataclass(frozen=True)
class Look:
    """The first of two plans: what it may ask, the session that it is charged to, and what becomes of its answer.

    domain : of the fit, with a placeholder for every range that is to be found. redomain : the domain with ranges.
    """

    amounts: Mapping[str, Fraction]
    request: Request
    session: Session
    domain: Domain
    redomain: Callable[[Mapping[str, tuple[float, float]]], Domain]
    dataset: str | None

    @property
    def epsilon(self) -> Fraction:
        """What all ranges together are charged."""
        return sum(self.amounts.values(), Fraction(0))

    def stored(self, fit: Session) -> bytes | None:
        """The finished release of the fit; or None, if there is none and what is left to pay can be paid for."""
        if (found := fit.finished()) is None:
            fit.price(self.request.promise if self.session.finished() is None else None)
        return found

    def settle(
        self, table: Table, reserve: Reserve, *, run: Callable[[Curator, Promise], object]
    ) -> tuple[Table, Reserve, Domain, dict[str, Any]]:
        """The table to fit, what is left for that, its domain, and notes. Ranges of an earlier try are taken again.

        reserve : what may be spent on the rows of the table, on ranges and on the fit together.
        """
        inner = self._in_terms_of_rows()
        own, rest = reserve.part(inner), reserve.rest()
        held = HeldTable(table) if self.request.sample is not None else table
        noises: Noises = []
        for name, amount in self.amounts.items():
            first, splits, counts = split(inner * amount / self.epsilon, *PARTS)
            place = self.domain.names.index(name)
            noises.append((place, DiscreteLaplace(first), PrivTree(splits, 2), DiscreteLaplace(counts)))
        stored = self.session.finished()
        if stored is None:
            rehearse(run, held, self.domain, rest.promise)
            found = _find(self.session, held, self.domain, own, noises, engine=self.request.engine)
            try:
                stored = self.session.finish(self._document(found), made=found)
            except LedgerError as error:
                if error.release is None:  # no charge stands: nothing was paid for
                    raise
                raise LedgerError(f"{error}; the ranges that were found are {found}") from None
        document = FoundBounds.from_json(stored)
        ranges = document.ranges
        if missing := [name for name, ends in ranges.items() if ends is None]:
            raise DataError(
                f"bounds: no range of {missing[0]!r} is supported by the rows at this epsilon; that was charged, and "
                "nothing else: give a public range, or a larger share"
            )
        notes = {"ranges": ranges, "epsilon": float_at_least(self.epsilon)}
        if receipt := document.certificate.receipt:
            notes["receipt"] = receipt
        try:
            domain = self.redomain({name: ends for name, ends in ranges.items() if ends})
        except ParameterError as error:  # by numbers that were released
            raise DataError(
                f"bounds: the ranges that were found are {ranges}; they were charged, and nothing else, and together "
                f"they have no fit ({error}): give public ranges"
            ) from None
        return held, rest, domain, notes

    def _in_terms_of_rows(self) -> Fraction:
        """What the amounts mean for a single row of those that a cap and a sample leave."""
        person, sample = self.request.person, self.request.sample
        whole = Reserve(self.request.promise.with_cost(Cost(self.epsilon)))
        whole = whole if person.column is None else whole.for_rows(cap=person.rows)
        whole = whole if sample is None or sample.rate is None else whole.on_sample(sample.rate)
        return whole.promise.epsilon

    def _document(self, found: Mapping[str, Any]) -> bytes:
        """The ranges as they are stored and released, with a promise of their own."""
        request = self.request
        certificate = Certificate(
            algorithm="bounds",
            parameters={},
            epsilon=float_at_least(self.epsilon),
            delta=0.0,
            neighbours=str(request.neighbours),
            person=str(request.person),
            unit=request.person.column,
            domain={"type": "none"},
            seeded=self.session.source.seeded,
            covey=covey.__version__,
            dataset=self.dataset,
            receipt=self.session.receipt,
        )
        return FoundBounds(found, certificate).to_json()


def _find(
    session: Session, table: Table, domain: Domain, reserve: Reserve, noises: Noises, *, engine: str
) -> dict[str, Any]:
    """The range of every column that is asked for, or None: two plans, the second by what the first has shown."""
    raw, sides = RawDomain.of(domain), 2 if reserve.promise.relation is Neighbours.REPLACE_ONE else 1
    door = session.door(table, raw, reserve, engine=engine)
    for _, noise, _, _ in noises:
        noise.check(Magnitudes(raw, 0).sensitivity(door.neighbours))
    door.reserve(Plan(tuple(noise.event() for _, noise, _, _ in noises)))
    windows: dict[int, tuple[float, float]] = {}
    for i, noise, _, _ in noises:
        counts = door.release(Magnitudes(raw, i), noise).astype(np.float64)
        scale = float(sides / noise.epsilon)
        rows = lit(counts, scale=scale)
        if rows == (STEPS, STEPS):  # about 0, as far as is certain: that has no width
            rows = beside(counts, about_0=STEPS, about_1=1 - LEAST, scale=scale)
        if rows is not None:
            first, last = extended(counts, *rows, scale=scale)
            certain, more = (Magnitudes.ends(max(first - k, 0), min(last + k, len(counts) - 1)) for k in (0, 1))
            windows[i] = around(certain, more)
    found: dict[str, Any] = {domain.names[i]: None for i, *_ in noises}
    if not windows:
        return found
    ends = [windows.get(i, PLACEHOLDER) for i in range(domain.dimension)]
    middle, half = (tuple(b / 2 + sign * a / 2 for a, b in ends) for sign in (1, -1))
    wide = replace(domain, middle=middle, half=half, scale=None, metres=False)
    door = session.door(table, wide, reserve, engine=engine)
    seen = [each for each in noises if each[0] in windows]
    door.reserve(Plan(tuple(event for _, _, a, b in seen for event in (a.event(), b.event()))))
    for i, _, splits, noise in seen:
        line = np.eye(domain.dimension, dtype=np.int64)[[i]]
        one = door.project(Projection(line, np.zeros(domain.dimension), np.array([wide.limit]), wide))
        tree = Tree(one.domain, most_depth=DEEPEST)
        leaves = TreeLeaves(tree, one.grow(tree, splits))
        counts = one.release(leaves, noise).astype(np.float64)
        lower, upper = tree.boxes(leaves.leaves)
        edges = np.append(lower[:, 0], upper[-1, 0]) / (one.domain.limit + 0.5)
        inside = inner_range(edges, counts, scale=float(sides / noise.epsilon))
        found[domain.names[i]] = outward(*(middle[i] + half[i] * end for end in inside))
    return found
