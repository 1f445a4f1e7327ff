"""A person's own rows and a release: which centre is nearest to each. No charge, for it is no release but private."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.checks import no_column
from covey.errors import DataError
from covey.files import File, whole_file
from covey.geo.clock import source_of
from covey.private.assigned import labels, write_assigned
from covey.private.tables.base import Table
from covey.private.tables.files import open_file
from covey.private.tables.frames import open_table
from covey.public import Domain
from covey.published.certificate import reach_of
from covey.published.release import Release


def domain_of(release: Release) -> Domain:
    """The public domain of a release, with its lattice."""
    known = release.certificate.domain
    middle, unit = release.scale()
    return Domain(
        columns=tuple(release.columns),
        middle=tuple(middle.tolist()),
        half=tuple((unit * reach_of(known)).tolist()),
        ball=known["type"] == "ball",
        scale=tuple(known["scale"]) if "scale" in known else None,
    )


def predict(release: Release, rows: Any) -> NDArray[np.intp]:
    """See `Release.predict`."""
    table = open_table(rows)
    names = columns_of(release, table)
    table.check_numeric(names)
    return labels(table, names, domain_of(release), release.centres)


def assign_file(release: Release, data: File, out: str | os.PathLike[str]) -> None:
    """Write the rows of a file with the number of their centre, whole or not at all, for their owner's eyes alone."""
    table = open_file(data)
    names = columns_of(release, table) or ()
    table.check_numeric(names)
    with whole_file(out, private=True) as file:
        write_assigned(table, names, domain_of(release), release.centres, file)


def columns_of(release: Release, table: Table) -> tuple[str, ...] | None:
    """The columns of the release as the table knows them; None where it knows no names."""
    if table.names is None:
        if table.width != len(release.columns):
            raise DataError(f"data: has {table.width} columns, without names; the release has {len(release.columns)}")
        return None
    for name in map(source_of, release.columns):
        if name not in table.names:
            raise DataError(f"data: {no_column(name, table.names)}")
    return tuple(release.columns)
