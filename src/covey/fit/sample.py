"""Sampling in front of any algorithm: what `sample=` means, what it costs, and how large "auto" makes it.

The epsilon that the user names holds for the whole. The algorithm runs on the sample with a larger one, solved for so
that amplify(compose(everything on the sample)) is what was named (budget/accounting/amplify.md). Guide:
docs/guide/sampling.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from covey.algorithms.kit import SMALLEST_SIZE
from covey.budget.accounting.amplify import SMALLEST_RATE
from covey.budget.accounting.plan import Plan, Reserve, split
from covey.budget.accounting.promise import Promise
from covey.errors import ParameterError
from covey.events import exactly, float_at_least
from covey.fit.session import Session, rehearse
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.base import Table
from covey.public import Domain, Neighbours
from covey.queries.counts import Count

USUAL_TARGET = Fraction(1, 20)
LARGEST_SIZE = 10**12
SIZE_SHARE = (1, 49)  # of epsilon: 2% for the noisy number of rows, where a size needs it
SAMPLING, NOISE = 0.1, 25.0  # calibrated on made-up data: docs/guide/sampling.md says how
MEANING = (
    'must be None, a rate such as 0.01, a whole number of rows, "auto", or "auto:" and a target error ("auto:0.02")'
)


@dataclass(frozen=True)
class SampleRequest:
    """What `sample=` asks for: one of a rate, a size, and a target error that the size is derived from."""

    rate: Fraction | None = None
    size: int | None = None
    target: Fraction | None = None

    def __str__(self) -> str:
        return f"auto:{self.target}" if self.target is not None else str(self.size or f"rate {self.rate}")


def read_sample(value: Any) -> SampleRequest | None:
    """What a user passed as `sample`, checked; None for everybody."""
    if value is None:
        return None
    if isinstance(value, str):
        return SampleRequest(target=_target(value))
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | Fraction | np.integer | np.floating):
        raise ParameterError("sample", MEANING)
    if isinstance(value, int | np.integer):
        if not 1 <= value <= LARGEST_SIZE:
            raise ParameterError("sample", "a whole number of rows must be at least 1; for a rate, write 0.01 or 1.0")
        return SampleRequest(size=int(value))
    if not SMALLEST_RATE <= value <= 1:
        raise ParameterError("sample", "a rate must be above 0 (at least 2^-40) and at most 1")
    rate = exactly(value.item() if isinstance(value, np.generic) else value)
    rate = max(SMALLEST_RATE, rate)  # the shortest decimal that stands for the float 2^-40 lies just below it
    return None if rate == 1 else SampleRequest(rate=rate)


def _target(text: str) -> Fraction:
    word, colon, number = text.partition(":")
    try:
        target = exactly(number) if colon else USUAL_TARGET
    except (ValueError, ZeroDivisionError):
        target = Fraction(0)
    if word != "auto" or not Fraction(1, 1000) <= target <= 1:
        raise ParameterError("sample", f"{MEANING}, from 0.001 to 1")
    return target


def auto_size(*, k: int, d: int, n: int, epsilon: float, target: float) -> int:
    """How many of n rows keep the cost within about `target` of that of a fit to all of them.

    The larger of two demands. Of sampling: k·d·ln(n)/target² rows, the dependence of Blocki et al. 2021 (and of Mishra,
    Oblinger and Pitt 2001, whom they build on), times a calibrated constant. Of noise: the size s at which
    s·(inner epsilon) reaches a demand of k·d/target. More than half of all rows is all of them.
    """
    seen = SAMPLING * k * d * math.log(n) / target**2
    odds = math.expm1(min(epsilon, 700.0))
    low, high = 1.0, float(n)
    for _ in range(60):  # s·ln(1 + n(e^ε - 1)/s) grows with s
        middle = (low + high) / 2
        strong = middle * math.log1p(n / middle * odds) >= NOISE * k * d / target
        low, high = (low, middle) if strong else (middle, high)
    size = math.ceil(max(seen, high, 16))
    return size if 2 * size <= n else n


@dataclass(frozen=True)
class Sampled:
    """A table to fit, what may be spent on it, how many rows each of its rows stands for, and notes for the reader."""

    table: Table
    reserve: Reserve
    scale: float = 1.0
    notes: dict[str, Any] = field(default_factory=dict)


def draw_sample(
    table: Table,
    wish: SampleRequest | None,
    session: Session,
    *,
    reserve: Reserve,
    k: int,
    domain: Domain,
    run: Callable[[Curator, Promise], object],
) -> Sampled:
    """The sample that was asked for, not yet drawn: that happens when it is first read, after the charge.

    Guarantee: what is released here, and from the sample within the answer's reserve, keeps the reserve's promise.
    Under add/remove a rate needs nothing; a size or "auto" needs the number of rows, of which a noisy one is paid for
    first, and becomes a rate. Under replace-one that number is public and the size is exact; of fewer rows than that,
    all are taken. It is read after the charge. Before a charge here, the algorithm is `run` up to its first
    payment: what it refuses costs nothing.
    """
    if wish is None:
        return Sampled(table, reserve)
    if reserve.promise.relation is Neighbours.REPLACE_ONE:
        rehearse(run, table, domain, reserve.left)
        session.charge()
        return _exact_size(table, wish, session, k=k, d=domain.dimension, reserve=reserve)
    notes: dict[str, Any] = {"kind": "poisson"}
    rate = wish.rate
    if rate is None:
        counting = reserve.part(split(reserve.promise.epsilon, *SIZE_SHARE)[0])
        left, noise = reserve.left, DiscreteLaplace(counting.promise.epsilon)
        rehearse(run, table, domain, left)
        counter = session.counter(table, domain, counting)
        counter.reserve(Plan((noise.event(),)))
        n = max(SMALLEST_SIZE, int(counter.release(Count(domain), noise)[0]))
        notes |= {"rows_noisy": n, "epsilon_of_rows": float_at_least(counting.promise.epsilon)}
        rate = max(SMALLEST_RATE, Fraction(min(n, _size(wish, k=k, d=domain.dimension, n=n, epsilon=left.epsilon)), n))
    notes |= _target_note(wish) | {"rate": float_at_least(rate)}
    inner = reserve.on_sample(rate)
    kept = table.sampled(domain, rate=rate, source=session.source)
    return Sampled(kept, inner, float(1 / rate), notes | _spent(inner))


def _exact_size(table: Table, wish: SampleRequest, session: Session, *, k: int, d: int, reserve: Reserve) -> Sampled:
    n = table.rows()  # public under replace-one
    wanted = max(1, math.floor(wish.rate * n)) if wish.rate is not None else None
    size = min(n, wanted or _size(wish, k=k, d=d, n=max(n, 16), epsilon=reserve.promise.epsilon))
    notes = {"kind": "without replacement", "size": size, "of": n} | _target_note(wish)
    if size == n:
        return Sampled(table, reserve, 1.0, notes | _spent(reserve))
    inner = reserve.on_sample(Fraction(size, n))
    kept = SampledTable.without_replacement(table, size=size, rows=n, source=session.source)
    return Sampled(kept, inner, n / size, notes | _spent(inner))


def _size(wish: SampleRequest, *, k: int, d: int, n: int, epsilon: Fraction) -> int:
    if wish.size is not None:
        return wish.size
    assert wish.target is not None
    return auto_size(k=k, d=d, n=n, epsilon=float(epsilon), target=float(wish.target))


def _target_note(wish: SampleRequest) -> dict[str, Any]:
    return {} if wish.target is None else {"target": float(wish.target)}


def _spent(inner: Reserve) -> dict[str, Any]:
    promise = inner.promise
    return {"inner_epsilon": float_at_least(promise.epsilon), "inner_delta": float_at_least(promise.delta)}
