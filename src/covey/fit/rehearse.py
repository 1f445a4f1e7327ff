"""A whole fit on made-up rows: what reruns of it say about a release. Free: only released numbers are used."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.fit.fit import fit
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
    found = reruns(boxes, centres, release.objective, release.certificate)
    return release.errors if found is None else with_reruns(release.errors, found)


def with_reruns(errors: Errors, found: Reruns) -> Errors:
    radii = [None if np.isnan(radius) else float(radius) for radius in found.radii]
    return msgspec.structs.replace(errors, radii=radii, excess=found.excess)


def reruns(boxes: CountedBoxes, centres: Floats, objective: str, certificate: Certificate) -> Reruns | None:
    """Reruns of a fit, by what its certificate says of it; None for one on a sample or in zones."""
    notes = certificate.parameters
    if "sample" in notes or "zones" in notes or certificate.parts:
        return None
    people = notes.get("people", {})
    epsilon = people.get("epsilon_per_row", certificate.epsilon)
    delta = people.get("delta_per_row", certificate.delta)
    own = {name: notes[name] for name in parameters_of(certificate.algorithm) if name in notes}
    bounds: Bounds = Ball(radius=1.0) if certificate.domain["type"] == "ball" else (-1.0, 1.0)

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        found = fit(
            made_up,
            k=len(centres),
            epsilon=epsilon * stronger,
            delta=delta or None,
            bounds=bounds,
            algorithm=certificate.algorithm,
            algorithm_params={**own, "keep_synopsis": False} if "keep_synopsis" in own else own,
            objective=objective,
            neighbours=certificate.neighbours,
            random_state=seed,
            errors="none",
        )
        return np.array(found.centres)

    chosen: Objective = "k-median" if objective == "k-median" else "k-means"
    return rerun(boxes, centres, chosen, again, rng=public_rng(public_seed(centres)))


def public_seed(centres: Floats) -> int:
    """A seed that follows from what is released, so that every reader draws the same made-up rows."""
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(centres).tobytes(), digest_size=6).digest())


def parameters_of(algorithm: str) -> dict[str, Any]:
    """The parameters of an algorithm that a certificate may hold beside its notes."""
    from covey.algorithms.registry import find

    return dict(find(algorithm).parameters)
