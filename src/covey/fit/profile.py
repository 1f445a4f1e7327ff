"""What is in the clusters of a release: one query, with all columns sharing one epsilon. Proof: queries/profile.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from covey.budget.ledger.ledger import Ledger
from covey.errors import NotNumericError, ParameterError
from covey.fit.about import answer, check_terms
from covey.fit.assign import columns_of, domain_of
from covey.fit.caution import warn_without_ledger
from covey.fit.session import Progress
from covey.geo.clock import hand, source_of
from covey.private.opening import open_data
from covey.public import Domain
from covey.published.profile.columns import Column, read_columns
from covey.published.profile.profile import Profile
from covey.published.release import Release
from covey.published.show import corners
from covey.queries.profile import ProfileCounts
from covey.text import free_name

ENGINES = ("memory", "files")


def profile(
    release: Release,
    data: Any,
    *,
    columns: Sequence[str] | Mapping[str, Any],
    epsilon: float,
    neighbours: str | None = None,
    person: str | None = None,
    rows_per_person: int | str | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    engine: str = "auto",
    random_state: Any = None,
    progress: Progress | None = None,
) -> Profile:
    """What is in the clusters of a release: noisy counts of declared cells of other columns, for an epsilon of its own.

    All columns share epsilon: with p of them, every count has discrete Laplace noise of scale p/epsilon, times the rows
    that count of a person. Declared cells need no delta; all else is counted as "other" or "missing".

    Parameters
    ----------
    release : Release
        The centres. What they cost was charged with them; this is charged apart, and adds to it.
    data : table or path
        The rows, with named columns: those of the release, and those that are asked for. A table in memory, or files.
    columns : sequence of str or dict
        Texts such as 'mode=bike|car|walk', 'age=0:120', 'age=0:120:12' (12 bins), 'hour(when)', 'weekday(when)', or
        the name of a column of the release alone; or a dictionary such as {'mode': ['bike', 'car'], 'age': (0, 120)}.
        Categories and ranges are public: known without looking at the rows.
    epsilon : float
        The privacy budget of the whole profile.
    neighbours : {'add-remove', 'replace-one'} or None, default=None
        What is hidden; None as in the release.
    person : str or None, default=None
        The column that says whose a row is; None as in the release.
    rows_per_person : int, str or None, default=None
        How many rows of a person count at most; None as in the release.
    ledger : Ledger, path, or None, default=None
        What the profile is charged to.
    dataset : str or None, default=None
        The name of the data set in the ledger.
    engine : {'auto', 'memory', 'files'}, default='auto'
        Where the rows are worked on.
    random_state : int or None, default=None
        None draws all noise from the operating system. A seed makes a profile reproducible and **not private**.
    progress : callable or None, default=None
        Called with (done, of, what) during long work.

    Returns
    -------
    Profile
        Noisy counts with their certificate, and what they tell: shares and medians with intervals, what stands out.
    """
    if ledger is None and random_state is None:
        warn_without_ledger()
    return make_profile(
        release,
        data,
        columns=columns,
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


def make_profile(
    release: Release, data: Any, *, columns: Any, progress: Progress | None = None, **asked: Any
) -> Profile:
    """See `profile`; the command line, which prints the certificate, needs no warning besides."""
    if not isinstance(release, Release):
        raise ParameterError("release", "must be a Release: centres with a certificate")
    terms = check_terms([release], engines=ENGINES, **asked)
    table = open_data(data, engine=terms.engine)
    if columns_of(release, table) is None or table.names is None:
        raise ParameterError("columns", "have names: pass a frame, a table or a file")
    ends = zip(release.columns, *corners(release.certificate.domain), strict=True)
    known = {name: (low, high) for name, low, high in ends if hand(name) is None}
    clocks = [source_of(name) for name in release.columns if hand(name) is not None]
    wanted = read_columns(columns, table.names, known, clocks)
    taken = (*table.names, *release.columns)
    names = {free_name(f"cell {place} of {each.name}", taken): each for place, each in enumerate(wanted)}
    domain = with_cells(domain_of(release), names)
    places = domain.to_lattice(_padded(release, len(names)))[:, : len(release.columns)]
    query = ProfileCounts(places, [len(each.cells) for each in wanted], domain)
    try:
        return answer(
            terms,
            query,
            table.coded(names),
            domain,
            what="profile",
            bounds=release.certificate.domain,
            notes={"k": len(release.centres), "columns": [each.name for each in wanted]},
            asked={
                "centres": release.centres,
                "bounds": release.certificate.domain,
                "cells": msgspec.to_builtins(wanted),
            },
            make=lambda noisy, scale, certificate: Profile(
                centres=release.centres,
                columns=list(wanted),
                counts=query.tables(noisy),
                noise_scale=scale,
                certificate=certificate,
            ),
            read=Profile.from_json,
            engines=ENGINES,
            progress=progress,
        )
    except NotNumericError as error:
        raise NotNumericError(str(error).replace("bounds: ", "columns: ", 1)) from None


def with_cells(domain: Domain, columns: Mapping[str, Column]) -> Domain:
    """The domain of a release, of a ball its cube, with a column more for each profiled one: the number of its cell."""
    last = [(len(each.cells) - 1) / 2 for each in columns.values()]
    return replace(
        domain,
        columns=(*domain.names, *columns),
        middle=(*domain.middle, *last),
        half=(*domain.half, *last),
        ball=False,
        scale=None if domain.scale is None else (*domain.scale, *(1.0 for _ in last)),
    )


def _padded(release: Release, more: int) -> list[list[float]]:
    """Centres as points of the wider domain, whose further coordinates nobody asks for."""
    return [[*centre, *[0.0] * more] for centre in release.centres]
