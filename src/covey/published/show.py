"""A release as plain lines for a person. From what is released alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from covey.text import counted, in_commands, listing, number, own_names, paragraph, printable, show_table

if TYPE_CHECKING:
    from covey.published.release import Release

MOST_NAMED = 8  # columns in one sentence
AT_AN_END = 0.02  # of a column's range: a centre this near to its end is taken to be there


def show_release(release: Release, *, scaled: bool = False) -> None:
    """Everything about a release that a person wants to know, on stdout. scaled : costs as they are measured."""
    from covey.published.sentences import constraint_words, how_many_words, units_in_words

    certificate = release.certificate
    chosen = certificate.parameters.get("chosen")
    algorithm = certificate.algorithm + (f" ({chosen})" if chosen else "")
    what = printable(f"{release.objective} by {algorithm}: {counted(len(release.centres), 'centre')} to publish")
    sys.stdout.write(f"{what}\n\n")
    show_centres(release, scaled=scaled)
    for words in (*how_many_words(release), " ".join(constraint_words(release))):
        sys.stdout.write(f"\n{paragraph(words)}\n" if words else "")
    outside = release.rows_outside
    if outside is not None and not outside.matters:  # else it was said with the centres
        sys.stdout.write(f"\n{paragraph(str(outside))}\n")
    sys.stdout.write(
        f"\n{paragraph(in_commands(units_in_words(certificate)))}\n\n{paragraph(certificate.statement)}\n\n"
    )
    for sentence in (*at_an_end(release), *pointing_nowhere(release)):
        sys.stdout.write(f"{paragraph(sentence)}\n\n")


def at_an_end(release: Release) -> list[str]:
    """One sentence on columns with most rows at an end of their range, if there are any."""
    if not (crowded := _columns_at_an_end(release)):
        return []
    more = f" and {len(crowded) - MOST_NAMED} more" if len(crowded) > MOST_NAMED else ""
    named = ", ".join(crowded[:MOST_NAMED]) + more
    where = f"Most rows seem to lie at an end of the range of {named}, where rows outside are moved"
    return [f"{where}: are the bounds in other units, or columns exchanged?"]


def pointing_nowhere(release: Release) -> list[str]:
    """One sentence on clocks to no hour or day of which any centre of rows points, as if no date had been read."""
    from covey.geo.clock import NOWHERE, hand

    if not any(map(hand, release.columns)):
        return []
    doubt = [False] * len(release.centres) if release.doubtful is None else list(release.doubtful)
    told = {
        name: {each for each, noise in zip(words, doubt, strict=True) if not noise}
        for name, words in coordinates_in_words(release).items()
    }
    clocks = [name for name in told if hand(f"cos {name}") is not None and told[name] <= {*NOWHERE.values()}]
    if not clocks:
        return []
    why = "rows are spread all around the clock, or its dates are not written as 2024-05-01 08:15"
    return [f"No centre points anywhere in {listing(clocks)}: {why}."]


def _columns_at_an_end(release: Release) -> list[str]:
    """Columns in which centres of more than half of the rows are at an end of the range. Of what is released alone.

    A centre beyond the bounds was given or listed, and says nothing of where rows are.
    """
    from covey.geo.clock import hand

    sizes = [max(size, 0.0) for size in release.sizes or [1.0] * len(release.centres)]
    ends = zip(release.columns, *corners(release.certificate.domain), strict=True)
    return [
        name
        for i, (name, low, high) in enumerate(ends)
        if hand(name) is None  # a circle is all edge
        and sum(
            size
            for centre, size in zip(release.centres, sizes, strict=True)
            if 0 <= min(centre[i] - low, high - centre[i]) <= AT_AN_END * (high - low)
        )
        > sum(sizes) / 2
    ]


def show_centres(
    release: Release, *, unit: str | None = None, names: Sequence[str] | None = None, scaled: bool = False
) -> None:
    """The centres of a release and their noisy sizes, as a table, and how far off they may be. unit : not rows."""
    from covey.published.counted import rows_of, sizes_in_words
    from covey.published.places import places_in_words
    from covey.published.sentences import NOISE, centre_labels, words_of

    labels = names or centre_labels(release)
    rows, coordinates = f"{unit or rows_of(release.certificate)} (noisy)", coordinates_in_words(release)
    given = own_names([*coordinates], ("centre", rows, "place", "remark"))  # no column of the data is written over
    columns: dict[str, Sequence[str]] = {"centre": labels, **dict(zip(given, coordinates.values(), strict=True))}
    columns[rows] = sizes_in_words(release)
    right = range(1, len(columns))
    if (places := places_in_words(release)) is not None:
        columns["place"] = places
    if release.doubtful is not None and release.doubtful.any():
        columns["remark"] = [NOISE if doubt else "" for doubt in release.doubtful]
    show_table(list(columns), list(zip(*columns.values(), strict=True)), right=right)
    if words := words_of(release, names, scaled=scaled):
        sys.stdout.write(f"\n{paragraph(' '.join(words))}\n")


def coordinates_in_words(release: Release) -> dict[str, list[str]]:
    """Every column of the centres, as a table shows it: numbers, and hours and days instead of the clock's hands."""
    from covey.geo.clock import AXES, hand, told

    columns = {}
    clocks = [told(release.columns, centre) for centre in release.centres]
    paired = clocks[0] if clocks else {}
    ends = zip(release.columns, *corners(release.certificate.domain), strict=True)
    for i, (name, low, high) in enumerate(ends):
        circle = hand(name)
        if circle is not None and name in paired:
            columns[circle.name] = [each[name] for each in clocks]
        elif circle is None or f"{AXES[0]} {circle.name}" not in paired:
            columns[name] = [number(centre[i], high - low) for centre in release.centres]
    return columns


def corners(domain: dict[str, Any]) -> tuple[list[float], list[float]]:
    """The lower and upper ends of every column's public range."""
    if domain["type"] == "ball":
        radius = domain["radius"]
        return [c - radius for c in domain["center"]], [c + radius for c in domain["center"]]
    return domain["lower"], domain["upper"]
