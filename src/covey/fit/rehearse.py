"""A whole fit on made-up rows: what reruns of it say about a release. Free: only released numbers are used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.post.distances import Objective
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.reruns import Again, Reruns, rerun
from covey.post.random import public_rng
from covey.public import Ball, Bounds
from covey.published.certificate import Certificate
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.levels.levels import Level, LevelSet
from covey.published.release import Release

Floats = NDArray[np.float64]
LEVELS = "levels"  # the algorithm of a slider's certificates


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
    chosen: Objective = "k-median" if objective == "k-median" else "k-means"
    rng = public_rng(public_seed(centres))
    if certificate.algorithm == LEVELS:
        return rerun(boxes, centres, chosen, level_again(certificate, len(centres), chosen), rng=rng)
    people = notes.get("people", {})
    epsilon = people.get("epsilon_per_row", certificate.epsilon)
    delta = people.get("delta_per_row", certificate.delta)
    own = {name: notes[name] for name in parameters_of(certificate.algorithm) if name in notes}

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        found = fit(
            made_up,
            k=len(centres),
            epsilon=epsilon * stronger,
            delta=delta or None,
            bounds=cube_of(certificate),
            algorithm=certificate.algorithm,
            algorithm_params={**own, "keep_synopsis": False} if "keep_synopsis" in own else own,
            objective=objective,
            neighbours=certificate.neighbours,
            random_state=seed,
            errors="none",
        )
        return np.array(found.centres)

    return rerun(boxes, centres, chosen, again, rng=rng)


def rehearse_level(
    found: LevelSet, level: int, k: int, objective: str = "k-means", *, step: Callable[[], None] | None = None
) -> Reruns | None:
    """Reruns of one level of a slider: how far its k centres may be off. None where zones thinned rows out.

    step : called before each rerun; what it raises ends the work.
    """
    if found.zoned:
        return None
    centres, _ = found.clusters(level, k, objective=objective)
    chosen: Objective = "k-median" if objective == "k-median" else "k-means"
    again = level_again(found.release(level, k, objective=objective).certificate, len(centres), chosen, step=step)
    return rerun(found.boxes(level), centres, chosen, again, rng=public_rng(public_seed(centres)))


def level_again(certificate: Certificate, k: int, objective: str, *, step: Callable[[], None] | None = None) -> Again:
    """A fit of the level that a certificate is of, on made-up rows: on the same grid, with noise of the same law.

    The most private level comes along where it is another one: the number of rows is paid from it.
    """
    notes = certificate.parameters
    levels = [Level(*each) for each in notes["levels"]]
    level = next(each for each in levels if each.name == notes["level"])
    share = float(notes.get("rows_per_person", 1))

    def again(made_up: Floats, stronger: float, seed: int) -> Floats:
        if step is not None:
            step()
        found = fit_levels(
            made_up,
            bounds=cube_of(certificate),
            levels=[(each.name, each.epsilon / share * stronger) for each in dict.fromkeys((levels[0], level))],
            per_axis=notes["cells_per_axis"],
            random_state=seed,
        )
        return found.clusters(len(found.levels) - 1, k, objective=objective)[0]

    return again


def cube_of(certificate: Certificate) -> Bounds:
    """The domain of a release with its middle at 0 and columns scaled to [-1, 1]."""
    return Ball(radius=1.0) if certificate.domain["type"] == "ball" else (-1.0, 1.0)


def public_seed(centres: Floats) -> int:
    """A seed that follows from what is released, so that every reader draws the same made-up rows."""
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(centres).tobytes(), digest_size=6).digest())


def parameters_of(algorithm: str) -> dict[str, Any]:
    """The parameters of an algorithm that a certificate may hold beside its notes."""
    from covey.algorithms.registry import find

    return dict(find(algorithm).parameters)
