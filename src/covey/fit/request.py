"""What a fit is asked for, checked: all of it public. Nothing has been read or paid."""

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
from covey.checks import amount
from covey.errors import ParameterError
from covey.fit.cap import each_row
from covey.fit.chosen import read_k
from covey.fit.sample import SampleRequest, read_sample
from covey.fit.zones import Thinning
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.narrowed.missing import MIDDLE, check_missing
from covey.private.tables.base import ENGINES
from covey.public import Domain, Neighbours, Person

MOST_DELTA = Fraction(1, 100)
ERRORS = ("quick", "full", "none")  # of a release: of sizes and costs; of places too, by reruns; nothing


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
        self,
        domain: Domain,
        *,
        seed: int | None,
        zones: Thinning | None = None,
        reading: Mapping[str, Any] = {},
        private: Mapping[str, Fraction] = {},
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
            **({} if not private else {"private": {name: str(each) for name, each in private.items()}}),
        }
        return json.dumps(fields, sort_keys=True)


def check_delta(delta: float | None) -> Fraction:
    """A delta as a user gives it; None for none."""
    asked = Fraction(0) if delta is None else amount("delta", delta, below=1)
    if asked > MOST_DELTA:
        raise ParameterError("delta", "must be at most 0.01, and should be well below 1 in the number of rows")
    return asked


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
    asked = check_delta(delta)
    most, asked_range = read_k(k, k_range, row)
    return Request(
        k=most,
        k_range=asked_range,
        epsilon=amount("epsilon", epsilon),
        delta=Fraction(0) if row.guarantee == "pure" else asked,  # a pure algorithm spends none
        asked_delta=asked,
        algorithm=row,
        parameters=parameters,
        objective=str(objective),  # a text of numpy is no JSON
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
