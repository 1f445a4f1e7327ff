"""From what an algorithm found to what is published: a release, and the certificate that says what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import covey
from covey.algorithms.kit import Outcome
from covey.events import float_at_least
from covey.fit.cap import Capped
from covey.fit.sample import Sampled
from covey.post.errors.sizes import cluster_sizes
from covey.private.narrowed.missing import MIDDLE
from covey.public import Domain
from covey.published.certificate import Certificate
from covey.published.errors import NO_BOXES, OBJECTIVES, THINNED, BoxNoise, Errors, from_boxes, from_sizes
from covey.published.outside import ROWS_BY_BOUNDS, public_rows
from covey.published.release import Release, Synopsis, WeightedPoints
from covey.published.ways import Unit

NO_COUNTS = "no numbers of rows were released that errors could be computed from"
SAMPLED = "a fit of a sample is not run again on made-up rows"
ZONED = "a fit with zones is not run again on made-up rows"
ZONED_COSTS = "centres were chosen by the same noise of zones that their cost would be told by"
BOUNDS = ("_error", "_error_one_query", "_error_of_centres", "beyond_the_best")  # how notes of bounds on costs end
NO_RERUNS = "there are too many centres for reruns, or no counts that stand for rows"
OTHER = "a fit by this algorithm is not run again on made-up rows"
NO_BOUND = "noise leaves open by how much the centres cost more than the best ones, or it may be twice as much"

if TYPE_CHECKING:
    from covey.fit.request import Request


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
    """What is published, with its errors. Sizes and weights are of the sample, and so are scaled to all rows: free."""
    thinned = "zones" in outcome.notes and not outcome.counted_up
    notes = of_kept(outcome.notes) if thinned else outcome.notes
    notes = notes if sampled.scale == 1 else of_sample(notes, sampled.scale)
    notes = {**notes, "sample": sampled.notes} if sampled.notes else notes
    notes = {**notes, "people": capped.notes} if capped.notes else notes
    rows = public_rows(str(request.neighbours), notes)
    sizes, errors, not_told = known_errors(request, outcome, domain, scale=sampled.scale, rows=rows)
    notes = notes if request.missing == MIDDLE else {**notes, "missing": request.missing}
    notes = {**notes, "choice": request.choice} if request.choice is not None else notes
    notes = {**notes, "not_told": not_told} if not_told else notes
    notes = {**notes, "algorithm_by": request.algorithm.origin} if request.algorithm.origin else notes
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
    if request.errors == "full" and errors is not None:
        certificate, errors = _rerun(errors, outcome, request.objective, certificate, domain, scale=sampled.scale)
    return Release(
        objective=request.objective,
        columns=list(domain.names),
        centres=domain.from_lattice(outcome.centres).tolist(),
        sizes=None if sizes is None else sizes.tolist(),
        certificate=certificate,
        errors=errors,
        synopsis=None if outcome.synopsis is None else _scaled(outcome, sampled.scale),
        coreset=None if outcome.coreset is None else in_user_units(outcome, domain, sampled.scale),
    )


def known_errors(
    request: Request, outcome: Outcome, domain: Domain, *, scale: float, rows: float | None = None
) -> tuple[NDArray[np.float64] | None, Errors | None, dict[str, str]]:
    """Sizes in all rows, what is known of the errors of a release, and why something is not. From released numbers.

    rows : how many there are, where that is public; no size is more.
    """
    most = np.inf if rows is None else rows
    if outcome.boxes is not None:
        boxes = outcome.boxes.scaled(domain.limit).of_all(scale)
        if request.errors == "none":
            return np.minimum(cluster_sizes(boxes, outcome.centres / domain.limit).sizes, most), None, {}
        unit = Unit.of(domain.names, domain.middle, domain.unit, domain.reach)
        known = from_boxes(boxes, outcome.centres / domain.limit, unit, request.objective, most=most)
    elif outcome.size_law is not None:
        known = from_sizes(outcome.size_law.of_all(scale), most=most)
    else:
        sizes = None if outcome.sizes is None else np.minimum(outcome.sizes * scale, most)
        return sizes, None, {"errors": outcome.not_told or NO_COUNTS}
    if "zones" not in outcome.notes:
        return known
    if not outcome.counted_up or known.errors is None:
        return known.sizes, None, {"errors": THINNED}
    costs = {f"{each} cost": ZONED_COSTS for each in OBJECTIVES}
    return known.sizes, msgspec.structs.replace(known.errors, costs=None, distances=None), costs


def _rerun(
    errors: Errors, outcome: Outcome, objective: str, certificate: Certificate, domain: Domain, *, scale: float
) -> tuple[Certificate, Errors]:
    """The errors with those of places and of the extra cost, by reruns on made-up rows; or the reason why not."""
    from covey.fit.rehearse import reruns, with_reruns

    found = None
    if outcome.boxes is not None:
        boxes = outcome.boxes.scaled(domain.limit).of_all(scale)
        found = reruns(boxes, outcome.centres / domain.limit, objective, certificate)
    if found is None:
        why = dict.fromkeys(("places", "excess"), _no_reruns(outcome, certificate))
    else:
        errors, why = with_reruns(errors, found), {} if found.excess is not None else {"excess": NO_BOUND}
    notes = certificate.parameters
    if why:
        notes = {**notes, "not_told": {**notes.get("not_told", {}), **why}}
    return msgspec.structs.replace(certificate, parameters=notes), errors


def _no_reruns(outcome: Outcome, certificate: Certificate) -> str:
    """Why a fit was not run again on made-up rows."""
    from covey.fit.rehearse import COUNT_BOXES

    if "sample" in certificate.parameters:
        return SAMPLED
    if "zones" in certificate.parameters:
        return ZONED
    if outcome.boxes is None:
        return NO_BOXES
    return NO_RERUNS if certificate.algorithm in COUNT_BOXES else OTHER


def of_kept(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Where rows that zones did not keep are not counted up, nothing bounds the costs of all rows."""
    found = {name: value for name, value in notes.items() if not name.endswith(BOUNDS)}
    if "cost_trusted" in found:
        doubts = [found["cost_doubt"]] if "cost_doubt" in found else []
        found |= {"cost_trusted": False, "cost_doubt": "; ".join([*doubts, THINNED])}
    return found


def of_sample(notes: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Bounds on costs hold for the rows that an algorithm met, in their number: of a sample, that must be said.

    Rows inside and outside the bounds are scaled to all rows, as sizes are.
    """
    found = {f"{name}_of_sample" if name.endswith(BOUNDS) else name: value for name, value in notes.items()}
    return found | {name: found[name] * scale for name in ROWS_BY_BOUNDS if name in found}


def _scaled(outcome: Outcome, scale: float) -> Synopsis:
    """A synopsis of a sample as one of all rows, with the noise of its cells."""
    boxes, synopsis = outcome.boxes, outcome.synopsis
    assert synopsis is not None
    known = boxes is not None and "zones" not in outcome.notes
    noise = BoxNoise.of(boxes.of_all(scale)) if known and boxes is not None else None
    return msgspec.structs.replace(synopsis, rows_per_count=synopsis.rows_per_count * scale, noise=noise)


def in_user_units(outcome: Outcome, domain: Domain, scale: float) -> WeightedPoints:
    """A coreset as it is published: in the units of the data, with weights that count all rows, and their noise."""
    coreset, width = outcome.coreset, domain.unit / domain.limit
    assert coreset is not None
    counted = coreset.cells is not None and outcome.boxes is not None and "zones" not in outcome.notes
    return WeightedPoints(
        points=domain.from_lattice(coreset.points).tolist(),
        weights=(coreset.weights * scale).tolist(),
        cells=None if coreset.cells is None else (coreset.cells * width).tolist(),
        noise=BoxNoise.of(outcome.boxes.of_all(scale)) if counted and outcome.boxes is not None else None,
        spreads=None if coreset.spreads is None else (coreset.spreads / domain.limit**2).tolist(),
    )
