"""What is in the clusters of a release: one query, with all columns sharing one epsilon. Proof: queries/profile.md.

A column whose categories are private is asked about twice: which texts many rows have, then how many rows of each
cluster have those. So it counts as two columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.plan import Plan
from covey.budget.accounting.promise import Promise
from covey.budget.ledger.ledger import Ledger
from covey.errors import NotNumericError, ParameterError
from covey.fit.about import Answer, answer, check_terms
from covey.fit.assign import columns_of, domain_of
from covey.fit.caution import warn_without_ledger
from covey.fit.session import Progress
from covey.geo.clock import hand, source_of
from covey.noise.mechanisms import DiscreteLaplace, ThresholdedLaplace
from covey.private.curator import Curator
from covey.private.opening import open_data
from covey.private.tables.coded import Coded, Letters
from covey.public import Domain
from covey.published.profile.columns import CATEGORY, MOST_CELLS, OTHER, PRIVATE, Column, read_columns
from covey.published.profile.profile import Profile
from covey.published.release import Release
from covey.published.show import corners
from covey.queries.profile import MOST_SIZE, PAIR_VALUES, PAIRS, TEXT_BYTES, CategoryTexts, ProfileCounts
from covey.text import free_name


def profile(
    release: Release,
    data: Any,
    *,
    columns: Sequence[str] | Mapping[str, Any],
    epsilon: float,
    delta: float | None = None,
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
    that count of a person. Declared cells need no delta; all else is counted as "other" or "missing". Categories that
    are not known are found in the rows if they are "private": only those that many rows have, by a threshold that
    somebody's own ones pass with probability delta at most. Such a column counts as two.

    Parameters
    ----------
    release : Release
        The centres. What they cost was charged with them; this is charged apart, and adds to it.
    data : table or path
        The rows, with named columns: those of the release, and those that are asked for. A table in memory, or files.
    columns : sequence of str or dict
        Texts such as 'mode=bike|car|walk', 'mode=private', 'age=0:120', 'age=0:120:12' (12 bins), 'hour(when)',
        'weekday(when)', or the name of a column of the release alone; or a dictionary such as {'mode': ['bike', 'car'],
        'shop': 'private', 'age': (0, 120)}. Categories and ranges are public: known without looking at the rows.
    epsilon : float
        The privacy budget of the whole profile.
    delta : float or None, default=None
        For private categories only: the most by which texts of a person's own may be found after all, a probability
        well below 1 in the number of rows.
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
    engine : {'auto', 'memory', 'files', 'spark'}, default='auto'
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
        delta=delta,
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
    terms = check_terms([release], **asked)
    table = open_data(data, engine=terms.engine)
    if columns_of(release, table) is None or table.names is None:
        raise ParameterError("columns", "have names: pass a frame, a table or a file")
    ends = zip(release.columns, *corners(release.certificate.domain), strict=True)
    known = {name: (low, high) for name, low, high in ends if hand(name) is None}
    clocks = [source_of(name) for name in release.columns if hand(name) is not None]
    wanted = read_columns(columns, table.names, known, clocks)
    check_private(wanted, terms.delta)
    taken = (*table.names, *release.columns)
    coded = [code for each in wanted for code in codes_of(each)]
    names = {free_name(f"cell {place} of {each.source}", taken): each for place, each in enumerate(coded)}
    domain = with_cells(domain_of(release), names)
    question = Question(wanted, domain.to_lattice(_padded(release, len(names)))[:, : len(release.columns)], domain)
    try:
        return answer(
            terms,
            question.ask,
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
            numbers=question.numbers,
            make=lambda found, scale, certificate: Profile(
                centres=release.centres,
                columns=found[0],
                counts=found[1],
                noise_scale=scale,
                certificate=certificate,
            ),
            read=Profile.from_json,
            progress=progress,
        )
    except NotNumericError as error:
        raise NotNumericError(str(error).replace("bounds: ", "columns: ", 1)) from None


def check_private(columns: Sequence[Column], delta: Fraction) -> None:
    """Refuse private categories without a delta, and a delta without private categories."""
    private = [each.name for each in columns if each.kind == PRIVATE]
    if private and not delta:
        raise ParameterError(
            "delta",
            f"categories of {private[0]!r} are private, and are found with (epsilon, delta): give a delta, well below "
            "1/n, or declare them",
        )
    if delta and not private:
        raise ParameterError("delta", "only private categories need one, such as 'mode=private'; leave it out")


def codes_of(column: Column) -> list[Coded]:
    """The coordinates that a column has: one for the number of a declared cell, or the letters of a text."""
    return [Letters(column.source, place) for place in range(PAIRS)] if column.kind == PRIVATE else [column]


class Question:
    """What a profile asks the curator: which texts private columns have, then the counts of all cells."""

    def __init__(self, columns: Sequence[Column], centres: NDArray[np.float64], domain: Domain) -> None:
        self._columns, self._centres, self._domain = columns, centres, domain
        self._private = [each for each in columns if each.kind == PRIVATE]
        declared = sum(len(each.cells) for each in columns)
        room = MOST_SIZE // len(centres) - declared
        self._most = min(MOST_CELLS - 1, room // max(1, len(self._private)))  # categories of each that are told
        if self._most < 1:
            raise ParameterError("columns", f"have more than {MOST_SIZE:,} cells in all clusters; ask for fewer")
        self.numbers = len(centres) * (declared + self._most * len(self._private))
        self._counts({})  # what it refuses is refused now

    def ask(self, curator: Curator, promise: Promise) -> Answer:
        """The columns with the cells that they have, and the noisy counts of these: within what each row is promised.

        Every private column is a part of epsilon, and so is every column that is counted; all counts are one release.
        """
        many, private = len(self._columns), self._private
        if private and not promise.delta:
            raise ParameterError(
                "delta", "leaves nothing for each of so many rows of a person; raise it, or count fewer"
            )
        part = promise.epsilon / (many + len(private))
        count, counted = DiscreteLaplace(part * many), self._counts({}).sensitivity(curator.neighbours)
        count.check(counted)
        find = {each.name: ThresholdedLaplace(part, promise.delta / len(private)) for each in private}
        notes = {
            each.name: {
                "threshold": find[each.name].threshold(self._texts(each).sensitivity(curator.neighbours)),
                "bytes": TEXT_BYTES,
            }
            for each in private
        }
        curator.reserve(Plan((*(each.event() for each in find.values()), count.event()), delta=promise.delta))
        found = {each.name: self._told(*curator.release_by_key(self._texts(each), find[each.name])) for each in private}
        query = self._counts(found)
        numbers = query.tables(curator.release(query, count))
        return Answer(
            numbers=([_with_categories(each, found) for each in self._columns], numbers),
            scale=float(counted.l1 / count.epsilon),
            notes={"private": notes} if private else {},
        )

    def _texts(self, column: Column) -> CategoryTexts:
        before = self._columns[: self._columns.index(column)]
        return CategoryTexts(self._domain, self._centres.shape[1] + sum(len(codes_of(each)) for each in before))

    def _counts(self, found: Mapping[str, Sequence[bytes]]) -> ProfileCounts:
        cells = [found.get(each.name, ()) if each.kind == PRIVATE else len(each.cells) for each in self._columns]
        return ProfileCounts(self._centres, cells, self._domain)

    def _told(self, texts: NDArray[Any], rows: NDArray[np.int64]) -> list[bytes]:
        """The released texts that become categories: by their noisy counts, the largest first. No text is none."""
        order = np.lexsort((texts, -rows)).tolist()
        named = (bytes(texts[each]) for each in order)
        return [each for each in named if each not in (b"", OTHER.encode())][: self._most]


def _with_categories(column: Column, found: Mapping[str, Sequence[bytes]]) -> Column:
    if column.kind != PRIVATE:
        return column
    names = [each.decode(errors="replace") for each in found[column.name]]
    return msgspec.structs.replace(column, kind=CATEGORY, cells=[*names, OTHER])


def with_cells(domain: Domain, columns: Mapping[str, Coded]) -> Domain:
    """The domain of a release, of a ball its cube, with columns more: numbers of cells, and pairs of letters."""
    ends = [PAIR_VALUES if isinstance(each, Letters) else len(each.cells) for each in columns.values()]
    last = [(end - 1) / 2 for end in ends]
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
