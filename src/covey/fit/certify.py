"""From what an algorithm found to what is published: a release, and the certificate that says what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import covey
from covey.algorithms.kit import LatticeCoreset, Outcome
from covey.events import float_at_least
from covey.fit.cap import Capped
from covey.fit.sample import Sampled
from covey.public import Domain
from covey.published.release import Certificate, Release, WeightedPoints

if TYPE_CHECKING:
    from covey.fit.fit import Request


def certify(
    request: Request,
    domain: Domain,
    outcome: Outcome,
    capped: Capped,
    sampled: Sampled,
    *,
    dataset: str | None,
    receipt: str | None,
    seeded: bool,
) -> Release:
    """What is published. Sizes and weights are of the sample, and so are scaled to all rows: free."""
    notes = outcome.notes if sampled.scale == 1 else of_sample(outcome.notes)
    notes = {**notes, "sample": sampled.notes} if sampled.notes else notes
    notes = {**notes, "people": capped.notes} if capped.notes else notes
    notes = {**notes, "choice": request.choice} if request.choice is not None else notes
    certificate = Certificate(
        algorithm=request.algorithm.name,
        parameters={"k": request.k, **request.parameters, **notes},
        epsilon=float_at_least(request.epsilon),
        delta=float_at_least(request.delta),
        neighbours=str(request.neighbours),
        person=str(capped.person),
        unit=capped.person.column,
        domain=domain.describe(),
        seeded=seeded,
        covey=covey.__version__,
        dataset=dataset,
        receipt=receipt,
    )
    return Release(
        objective=request.objective,
        columns=list(domain.names),
        centres=domain.from_lattice(outcome.centres).tolist(),
        sizes=None if outcome.sizes is None else (outcome.sizes * sampled.scale).tolist(),
        certificate=certificate,
        synopsis=None if outcome.synopsis is None else outcome.synopsis.scaled(sampled.scale),
        coreset=None if outcome.coreset is None else in_user_units(outcome.coreset, domain, sampled.scale),
    )


def of_sample(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds on costs hold for the rows that an algorithm met, in their number: of a sample, that must be said."""
    bounds = ("_error", "_error_one_query", "_error_of_centres", "beyond_the_best")
    return {f"{name}_of_sample" if name.endswith(bounds) else name: value for name, value in notes.items()}


def in_user_units(coreset: LatticeCoreset, domain: Domain, scale: float) -> WeightedPoints:
    """A coreset as it is published: in the units of the data, with weights that count all rows."""
    width = np.array(domain.half) / domain.limit
    return WeightedPoints(
        points=domain.from_lattice(coreset.points).tolist(),
        weights=(coreset.weights * scale).tolist(),
        cells=None if coreset.cells is None else (coreset.cells * width).tolist(),
        spreads=None if coreset.spreads is None else (coreset.spreads / domain.limit**2).tolist(),
    )
