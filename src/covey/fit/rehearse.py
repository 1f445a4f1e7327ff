"""A whole fit on made-up rows: what reruns of it say about a release. Free: only released numbers are used."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError, ParameterError
from covey.fit.fit import fit
from covey.fit.session import heard_by
from covey.post.distances import Objective
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.reruns import Reruns, rerun
from covey.post.random import public_rng
from covey.public import Ball, Bounds
from covey.published.certificate import Certificate
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.release import Release

Floats = NDArray[np.float64]

COUNT_BOXES = ("auto", "grid", "hybrid")  # the algorithms whose releases tell where rows are
MOST_CENTRES = 100  # of a fit that is run again: more take minutes
MOST_STRENGTH = 10**6  # rows times epsilon of a rerun: with more, its noise says nothing and its boxes are millions
LEAST_EPSILON = 1e-6  # that a fit takes
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


def reruns(boxes: CountedBoxes, centres: Floats, objective: str, certificate: Certificate) -> Reruns | None:
    """Reruns of a fit, by what its certificate says of it; None for one that cannot be run again.

    That is one on a sample or in zones, of very many centres, or whose noise left no rows to make up. Nobody listens to
    a rerun: it meets no rows of anybody.
    """
    notes = certificate.parameters
    if "sample" in notes or "zones" in notes or certificate.parts or len(centres) > MOST_CENTRES:
        return None
    if certificate.algorithm not in COUNT_BOXES:
        return None
    if not (np.abs(centres) <= EDGE).all():
        raise ParameterError("centres", "must lie in the domain")
    epsilon, own = epsilon_of(certificate), parameters_of(certificate)
    bounds: Bounds = Ball(radius=1.0) if certificate.domain["type"] == "ball" else (-1.0, 1.0)

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        found = fit(
            made_up,
            k=len(centres),
            epsilon=max(min(epsilon * stronger, MOST_STRENGTH / max(len(made_up), 100)), LEAST_EPSILON),
            bounds=bounds,
            algorithm=certificate.algorithm,
            algorithm_params=own,
            objective=objective,
            neighbours=certificate.neighbours,
            random_state=seed,
            errors="none",
        )
        return np.array(found.centres)

    chosen: Objective = "k-median" if objective == "k-median" else "k-means"
    with heard_by(lambda curator: curator):
        return rerun(boxes, centres, chosen, again, rng=public_rng(public_seed(centres)))


def public_seed(centres: Floats) -> int:
    """A seed that follows from what is released, so that every reader draws the same made-up rows."""
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(centres).tobytes(), digest_size=6).digest())


def epsilon_of(certificate: Certificate) -> float:
    """What the fit spent on each row."""
    people = certificate.parameters.get("people")
    found = people.get("epsilon_per_row") if isinstance(people, dict) else certificate.epsilon
    if not isinstance(found, int | float) or not 0 < found <= certificate.epsilon:
        raise ParameterError("epsilon", "of each row must be a positive number, at most that of a person")
    return float(found)


def parameters_of(certificate: Certificate) -> dict[str, Any]:
    """The parameters of the fit that decide on its boxes, out of all that a certificate holds."""
    return {name: certificate.parameters[name] for name in ("theta", "rho") if name in certificate.parameters}
