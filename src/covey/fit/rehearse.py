"""A whole fit on made-up rows: what reruns of it say about a release. Free: only released numbers are used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.checks import whole_number
from covey.errors import FormatError, ParameterError
from covey.fit.fit import fit
from covey.fit.session import heard_by
from covey.fit.slider import fit_levels
from covey.post.distances import Objective
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import inside_matters
from covey.post.errors.reruns import Again, Reruns, rerun
from covey.post.random import public_rng
from covey.public import Ball, Box
from covey.published.certificate import Certificate, reach_of
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.levels.levels import LevelSet, check_levels
from covey.published.release import Release

Floats = NDArray[np.float64]
LEVELS = "levels"  # the algorithm of a slider's certificates
COUNT_BOXES = ("auto", "grid", "hybrid")  # the algorithms whose releases tell where rows are
MOST_CENTRES = 100  # of a fit that is run again: more take minutes
MOST_STRENGTH = 10**6  # rows times epsilon of a rerun: with more, its noise says nothing and its boxes are millions
LEAST_EPSILON = 1e-6  # that a fit takes
MOST_SIDE = 2**20  # cells along an axis of a slider's grid
EDGE = 1 + 1e-6  # of the domain, by rounding


def rehearsed(release: Release) -> Errors | None:
    """The errors of a release that kept its synopsis, with those that need reruns: the same for every reader."""
    return _rehearsed(release.to_json())


@lru_cache(maxsize=16)
def _rehearsed(content: bytes) -> Errors | None:
    release = Release.from_json(content)
    boxes = Coreset.of(release).boxes
    if boxes is None or release.errors is None:
        return release.errors
    middle, half = release.scale()
    centres = (np.array(release.centres) - middle) / half
    try:
        with np.errstate(all="ignore"):
            found = reruns(boxes, centres, release.objective, release.certificate)
    except ParameterError as error:  # a document may say anything of its own fit
        raise FormatError(f"release: the certificate describes no fit that can be run again: {error}") from None
    return release.errors if found is None else with_reruns(release.errors, found)


def with_reruns(errors: Errors, found: Reruns) -> Errors:
    radii = [None if np.isnan(radius) else float(radius) for radius in found.radii]
    return msgspec.structs.replace(errors, radii=radii, excess=found.excess)


def reruns(
    boxes: CountedBoxes,
    centres: Floats,
    objective: str,
    certificate: Certificate,
    *,
    step: Callable[[], None] | None = None,
) -> Reruns | None:
    """Reruns of a fit, by what its certificate says of it; None for one that cannot be run again.

    That is one on a sample or in zones, of very many centres, or whose noise left no rows to make up. Nobody listens to
    a rerun: it meets no rows of anybody. step : called before each; what it raises ends the work.
    """
    notes = certificate.parameters
    if "sample" in notes or "zones" in notes or certificate.parts or len(centres) > MOST_CENTRES:
        return None
    if certificate.algorithm not in (*COUNT_BOXES, LEVELS):
        return None
    if not (np.abs(centres) <= EDGE).all():
        raise ParameterError("centres", "must lie in the domain")
    chosen: Objective = "k-median" if objective == "k-median" else "k-means"
    if certificate.algorithm == LEVELS:
        fine = chosen == "k-means" and inside_matters(boxes, centres)
        run = level_again(certificate, len(centres), chosen, fine=fine)
    else:
        run = fit_again(certificate, len(centres), chosen)

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        if step is not None:
            step()
        return run(made_up, stronger, seed)

    with heard_by(lambda curator: curator):
        return rerun(boxes, centres, chosen, again, rng=public_rng(public_seed(centres)))


def rehearse_level(
    found: LevelSet,
    level: int,
    k: int,
    objective: str = "k-means",
    *,
    edges: bool = True,
    step: Callable[[], None] | None = None,
) -> Reruns | None:
    """Reruns of one level of a slider: how far its k centres may be off. None where zones thinned rows out."""
    if found.zoned:
        return None
    centres, _ = found.clusters(level, k, objective=objective, edges=edges)
    certificate = found.release(level, k, objective=objective, edges=edges).certificate
    return reruns(found.boxes(level), centres, objective, certificate, step=step)


def fit_again(certificate: Certificate, k: int, objective: str) -> Again:
    """The fit that a certificate is of, on made-up rows."""
    epsilon, own = epsilon_of(certificate), parameters_of(certificate)

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        found = fit(
            made_up,
            k=k,
            epsilon=max(min(epsilon * stronger, MOST_STRENGTH / max(len(made_up), 100)), LEAST_EPSILON),
            **cube_of(certificate),
            algorithm=certificate.algorithm,
            algorithm_params=own,
            objective=objective,
            neighbours=certificate.neighbours,
            random_state=seed,
            errors="none",
        )
        return np.array(found.centres)

    return again


def level_again(certificate: Certificate, k: int, objective: str, *, fine: bool = True) -> Again:
    """A fit of the level that a certificate is of, on made-up rows: on the same grid, with noise of the same law.

    The most private level comes along where it is another one: the number of rows is paid from it. fine : whether to
    look for where rows are inside their boxes, which takes most of the time.
    """
    notes = certificate.parameters
    levels = check_levels(notes.get("levels", ()))
    own = [each for each in levels if each.name == notes.get("level")]
    side = whole_number("per_axis", notes.get("cells_per_axis", 0), least=1, most=MOST_SIDE)
    share = whole_number("rows_per_person", notes.get("rows_per_person", 1), least=1, most=10**9)
    if not own:
        raise ParameterError("level", "must be one of the levels")

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        found = fit_levels(
            made_up,
            **cube_of(certificate),
            levels=[(each.name, each.epsilon / share * stronger) for each in dict.fromkeys((levels[0], *own))],
            per_axis=side,
            random_state=seed,
        )
        last, edges = len(found.levels) - 1, notes.get("edges") is not False
        if fine:
            return found.clusters(last, k, objective=objective, edges=edges)[0]
        return found.by_middles(last, k, objective=objective, edges=edges)[1]

    return again


def cube_of(certificate: Certificate) -> dict[str, Any]:
    """The bounds and scale of a release with its middle at 0, in the units of its distances."""
    if certificate.domain["type"] == "ball":
        return {"bounds": Ball(radius=1.0)}
    reach = reach_of(certificate.domain).tolist()
    return {"bounds": Box(*((-each, each) for each in reach)), "scale": reach}


def public_seed(centres: Floats) -> int:
    """A seed that follows from what is released, so that every reader draws the same made-up rows."""
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(centres).tobytes(), digest_size=6).digest())


def epsilon_of(certificate: Certificate) -> float:
    """What the fit spent on each row, without what the ranges of its columns cost."""
    people, ranges = (certificate.parameters.get(name) for name in ("people", "bounds"))
    found = people.get("epsilon_per_row") if isinstance(people, dict) else certificate.epsilon
    if not isinstance(found, int | float) or not 0 < found <= certificate.epsilon:
        raise ParameterError("epsilon", "of each row must be a positive number, at most that of a person")
    before = ranges.get("epsilon") if isinstance(ranges, dict) else 0
    if not isinstance(before, int | float) or not 0 <= before < certificate.epsilon:
        raise ParameterError("bounds", "cannot have cost all of epsilon")
    return float(found) * (1 - before / certificate.epsilon)


def parameters_of(certificate: Certificate) -> dict[str, Any]:
    """The parameters of the fit that decide on its boxes, out of all that a certificate holds."""
    return {name: certificate.parameters[name] for name in ("theta", "rho") if name in certificate.parameters}
