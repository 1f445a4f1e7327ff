"""A release as plain lines for a person. From what is released alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from covey.text import how_many, number, paragraph, show_table

if TYPE_CHECKING:
    from covey.published.release import Release

AT_AN_END = 0.02  # of a column's range: a centre this near to its end is taken to be there


def show_release(release: Release) -> None:
    """Everything about a release that a person wants to know, on stdout."""
    certificate = release.certificate
    chosen = certificate.parameters.get("chosen")
    algorithm = certificate.algorithm + (f" ({chosen})" if chosen else "")
    sys.stdout.write(f"{release.objective} by {algorithm}: {len(release.centres)} centres to publish\n\n")
    show_centres(release)
    outside = release.rows_outside
    if outside is not None:
        sys.stdout.write(f"\n{paragraph(str(outside))}\n")
    sys.stdout.write(f"\n{paragraph(certificate.statement)}\n\n")
    if crowded := columns_at_an_end(release):
        where = f"Most rows seem to lie at an end of the range of {', '.join(crowded)}, where rows outside are moved"
        sys.stdout.write(paragraph(f"{where}: are the bounds in other units, or columns exchanged?") + "\n\n")


def columns_at_an_end(release: Release) -> list[str]:
    """Columns in which centres of more than half of the rows are at an end of the range. Of what is released alone."""
    sizes = [max(size, 0.0) for size in release.sizes or [1.0] * len(release.centres)]
    ends = zip(release.columns, *corners(release.certificate.domain), strict=True)
    return [
        name
        for i, (name, low, high) in enumerate(ends)
        if sum(
            size
            for centre, size in zip(release.centres, sizes, strict=True)
            if min(centre[i] - low, high - centre[i]) <= AT_AN_END * (high - low)
        )
        > sum(sizes) / 2
    ]


def show_centres(release: Release, *, unit: str = "rows", names: Sequence[str] | None = None) -> None:
    """The centres of a release and their noisy sizes, as a table."""
    domain = release.certificate.domain
    lower, upper = corners(domain)
    headers = ["centre", *release.columns, f"{unit} (noisy)"]
    sizes: Sequence[float | None] = release.sizes or [None] * len(release.centres)
    labels = names or [str(i) for i in range(len(release.centres))]
    rows = [
        [label, *(number(x, high - low) for x, low, high in zip(centre, lower, upper, strict=True)), how_many(size)]
        for label, centre, size in zip(labels, release.centres, sizes, strict=True)
    ]
    show_table(headers, rows, right=range(1, len(headers)))


def corners(domain: dict[str, Any]) -> tuple[list[float], list[float]]:
    """The lower and upper ends of every column's public range."""
    if domain["type"] == "ball":
        radius = domain["radius"]
        return [c - radius for c in domain["center"]], [c + radius for c in domain["center"]]
    return domain["lower"], domain["upper"]
