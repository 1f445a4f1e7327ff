"""How good released centres are: one query for all scores, and all sets that are compared. Proof: queries/scores.md."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.budget.ledger.ledger import Ledger
from covey.checks import numbers
from covey.errors import ParameterError
from covey.fit.about import answer, asked_once, check_terms
from covey.fit.assign import columns_of, domain_of
from covey.fit.caution import warn_without_ledger
from covey.fit.session import Progress
from covey.private.opening import open_data
from covey.public import Domain
from covey.published.certificate import MOST_COORDINATE
from covey.published.release import Release
from covey.published.score.score import Score, Scored
from covey.published.ways import Unit
from covey.queries.scores import MASS, SoftRings

FARTHEST = 1e9  # half-widths of the bounds: centres beyond are in other units
RELEASE, ONE = "release", "one centre"


def score(
    release: Release,
    data: Any,
    *,
    epsilon: float,
    against: Mapping[str, Release] | Sequence[Release] = (),
    public_centres: Mapping[str, Any] | None = None,
    within: float | None = None,
    clip: float | None = None,
    neighbours: str | None = None,
    person: str | None = None,
    rows_per_person: int | str | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    engine: str = "auto",
    random_state: Any = None,
    progress: Progress | None = None,
) -> Score:
    """How good the centres of a release are on some rows: cost, distances and shares, for an epsilon of its own.

    All that is told comes from one histogram of distances for each set of centres, and one of a single centre. Sets
    that are compared are asked about on the same rows, in one query. What a release tells of itself for nothing,
    `release.score()` has.

    Parameters
    ----------
    release : Release
        The centres, and how distances are measured.
    data : array, table or path
        The rows.
    epsilon : float
        The privacy budget of all scores together.
    against : dict or sequence of Release, default=()
        Other releases of the same columns, to be compared on the same rows.
    public_centres : dict or None, default=None
        Sets of centres by name, in the units of the data, that you declare to be public: made without these rows.
    within : float or None, default=None
        A distance: what share of the rows is not farther from a centre. In the units of the data, in metres on a map,
        or in halves of the widest range where columns are in different units.
    clip : float or None, default=None
        A distance: rows that are farther from all centres of a set count as that far, which makes the noise of its
        cost smaller. The single centre, against which costs are told, is not cut.
    neighbours : {'add-remove', 'replace-one'} or None, default=None
        What is hidden; None as in the release.
    person : str or None, default=None
        The column that says whose a row is; None as in the release.
    rows_per_person : int, str or None, default=None
        How many rows of a person count at most; None as in the release.
    ledger : Ledger, path, or None, default=None
        What the scores are charged to.
    dataset : str or None, default=None
        The name of the data set in the ledger.
    engine : {'auto', 'memory', 'files', 'spark'}, default='auto'
        Where the rows are worked on.
    random_state : int or None, default=None
        None draws all noise from the operating system. A seed makes scores reproducible and **not private**.
    progress : callable or None, default=None
        Called with (done, of, what) during long work.

    Returns
    -------
    Score
        Every number with its interval, and a certificate.
    """
    if ledger is None and random_state is None:
        warn_without_ledger()
    return make_score(
        release,
        data,
        against=against,
        public_centres=public_centres,
        within=within,
        clip=clip,
        progress=progress,
        epsilon=epsilon,
        neighbours=neighbours,
        person=person,
        rows_per_person=rows_per_person,
        ledger=ledger,
        dataset=dataset,
        engine=engine,
        random_state=random_state,
    )


def make_score(
    release: Release,
    data: Any,
    *,
    against: Mapping[str, Release] | Sequence[Release] = (),
    public_centres: Mapping[str, Any] | None = None,
    within: float | None = None,
    clip: float | None = None,
    progress: Progress | None = None,
    **asked: Any,
) -> Score:
    """See `score`; the command line, which prints the certificate, needs no warning besides."""
    releases = _releases(release, against)
    terms = check_terms(list(releases.values()), **asked)
    table = open_data(data, engine=terms.engine)
    columns_of(release, table)
    domain = domain_of(release)
    places = {name: np.array(each.centres, dtype=np.float64) for name, each in releases.items()}
    declared = _public(public_centres or {}, domain, places)
    places |= declared
    unit = told_in(release)
    within, clip = _positive("within", within), _positive("clip", clip)
    far = {"within": _distance(within, unit), "clip": _distance(clip, unit)}
    if within is not None and clip is not None and clip <= within:
        raise ParameterError("clip", "must be farther than within: rows beyond it are not told apart")
    lattice = {name: domain.to_lattice(each) for name, each in places.items()}
    middle = np.average(lattice[RELEASE], axis=0, weights=_weights(release), keepdims=True)
    query = SoftRings(
        [*lattice.values(), middle],
        domain,
        objective=release.objective,
        breaks=[] if far["within"] is None else [(far["within"] * domain.limit) ** 2],
        most=[*[None if far["clip"] is None else (far["clip"] * domain.limit) ** 2] * len(lattice), None],
    )
    names = [*places, ONE]
    points = [*places.values(), domain.from_lattice(middle)]

    def made(noisy: NDArray[np.int64], scale: float, certificate: Any) -> Score:
        width = domain.limit ** (2 if release.objective == "k-means" else 1)
        sets = [
            Scored(
                name=name,
                centres=centres.tolist(),
                knots=(query.told(knots) / width).tolist(),
                masses=masses.tolist(),
                separation=_separation(domain.to_lattice(centres) / domain.limit),
            )
            for name, centres, knots, masses in zip(names, points, query.knots, query.parts(noisy), strict=True)
        ]
        return Score(
            objective=release.objective,
            sets=sets[:-1],
            one=sets[-1],
            mass=MASS,
            noise_scale=scale,
            unit=0.0 if unit is None else unit.size,
            metres=unit is not None and unit.metres,
            within=within,
            clip=clip,
            certificate=certificate,
        )

    return answer(
        terms,
        partial(asked_once, query),
        table,
        domain,
        what="score",
        bounds=release.certificate.domain,
        notes={
            "k": len(release.centres),
            "sets": list(places),
            "declared_public": [name in declared for name in places],
        },
        asked={
            "sets": [[name, name in declared, each.tolist()] for name, each in places.items()],
            "middle": middle.tolist(),
            "objective": release.objective,
            "within": within,
            "clip": clip,
        },
        numbers=query.size,
        make=made,
        read=Score.from_json,
        progress=progress,
    )


def told_in(release: Release) -> Unit | None:
    """What distances are told in: the units of the data, or metres; None where columns are in different ones."""
    domain = domain_of(release)
    unit = Unit.of(domain.names, domain.middle, domain.unit, domain.reach)
    return unit if np.allclose(unit.stretch, 1.0, rtol=1e-3) else None


def _releases(release: Release, against: Any) -> dict[str, Release]:
    if not isinstance(against, Mapping | Sequence) or isinstance(against, str):
        raise ParameterError("against", "must be releases, in a list or by name")
    others = (
        against if isinstance(against, Mapping) else {f"other {i}": each for i, each in enumerate(against, start=1)}
    )
    found = {RELEASE: release, **{str(name): each for name, each in others.items()}}  # a text of numpy is no JSON
    for name in others:
        _check_name("against", name, (RELEASE,))
    for each in found.values():
        if not isinstance(each, Release):
            raise ParameterError("release", "must be a Release: centres with a certificate; see public_centres")
        if each.columns != release.columns:
            raise ParameterError("against", "must have the columns of the release, in their order")
    return found


def _public(given: Mapping[str, Any], domain: Domain, taken: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    found: dict[str, NDArray[np.float64]] = {}
    if not isinstance(given, Mapping):
        raise ParameterError("public_centres", "must be sets of points by name")
    for name, points in given.items():
        centres = numbers(points)
        _check_name("public_centres", name, taken)
        if centres is None or centres.ndim != 2 or centres.shape[1:] != (domain.dimension,) or not len(centres):
            raise ParameterError("public_centres", f"must be points with {domain.dimension} coordinates")
        if not (np.abs(centres - np.array(domain.middle)) < FARTHEST * np.array(domain.half)).all():
            raise ParameterError("public_centres", "lie absurdly far from the bounds of the release, or are no numbers")
        found[str(name)] = centres
    return found


def _check_name(parameter: str, name: Any, taken: Container[str]) -> None:
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= 200) or name in taken or name == ONE:
        raise ParameterError(parameter, "needs names of their own for the sets of centres, of printable text")


def _positive(name: str, given: Any) -> float | None:
    """A distance as a plain number, as a document holds it."""
    if given is None:
        return None
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    value = given.item() if isinstance(given, np.generic) else given
    if not number or not 0 < value < MOST_COORDINATE:
        raise ParameterError(name, "must be a positive distance")
    return float(value)


def _distance(given: float | None, unit: Unit | None) -> float | None:
    """A distance as a part of half of the widest range: what the lattice measures in."""
    if given is None:
        return None
    return min(given / (1.0 if unit is None else unit.size), 10 * FARTHEST)  # beyond, no row is


def _weights(release: Release) -> NDArray[np.float64] | None:
    """Noisy sizes, for the middle of the released centres; None where they do not say where that is."""
    sizes = np.maximum(np.array(release.sizes or [0.0] * len(release.centres), dtype=np.float64), 0.0)
    return sizes if sizes.sum() > 0 else None


def _separation(centres: NDArray[np.float64]) -> float | None:
    if len(centres) < 2:
        return None
    apart = np.sqrt(np.square(centres[:, None] - centres).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())
