"""Noisy numbers of rows as they are shown: which rows count, and that there are no fewer than none.

The document keeps every number as noise left it; what is shown of it is the same everywhere: in words, tables, files of
other programs, pictures and pages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from covey.text import how_many, listing

if TYPE_CHECKING:
    from covey.published.certificate import Certificate
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release

ROWS, COUNTED = "rows", "rows that count"  # the second where not every row of a person does
MOST = 1e9  # rows of a person that anybody may have written


def rows_of(certificate: Certificate) -> str:
    """What numbers of rows are numbers of."""
    return ROWS if certificate.unit is None else COUNTED


def counted_words(certificate: Certificate) -> list[str]:
    """Which rows are counted, where not all are: at most some of each person, or those of a sample."""
    words = []
    if certificate.unit is not None:
        most = _of_a_person(certificate)
        which = "at most so many of each person" if most is None else f"at most {most:,} of each person"
        words.append(f"All numbers here are of the rows that count, {which}: the data may have more rows.")
    if sampled := _sampled(certificate):
        words.append(f"{sampled} was looked at: numbers of {rows_of(certificate)} are scaled up from it to all.")
    return words


def counted_briefly(certificate: Certificate) -> list[str]:
    """The same for a picture, where there is little room."""
    words, most = [], _of_a_person(certificate)
    if certificate.unit is not None:
        words.append(f"Rows that count: {'some' if most is None else f'at most {most:,}'} of each person.")
    if _sampled(certificate):
        words.append("Numbers are scaled up from a random sample.")
    return words


def _sampled(certificate: Certificate) -> str:
    """What was looked at, if not all rows; of a coreset that was added up each part may have been drawn from."""
    drawn = [_is_part(each.parameters.get("sample")) for each in certificate.leaves()]
    if not any(drawn):
        return ""
    return f"Of {'every part' if all(drawn) else 'some parts'} a random sample" if drawn[1:] else "A random sample"


def _of_a_person(certificate: Certificate) -> int | None:
    """How many rows of a person count at most; levels note it beside what a fit notes of people."""
    notes = certificate.parameters.get("people", certificate.parameters)
    most = notes.get("rows_per_person") if isinstance(notes, dict) else None
    return most if isinstance(most, int) and 1 <= most <= MOST else None


def _is_part(sample: object) -> bool:
    """Whether a sample was asked for, and is not all rows."""
    if not isinstance(sample, dict):
        return False
    return sample.get("rate") != 1 and ("size" not in sample or sample["size"] != sample.get("of"))


def shown_size(size: float) -> int:
    """A noisy number of rows that is shown: there are no fewer than none."""
    return max(0, round(size))


def shown_ends(interval: Sequence[float]) -> tuple[int, int]:
    """The ends of its interval, in whole rows."""
    return max(0, math.floor(interval[0])), max(0, math.ceil(interval[1]))


def size_words(size: float | None, interval: Sequence[float] | None) -> str:
    """A noisy size and its interval: 4,120 (3,990 to 4,250)."""
    told = how_many(None if size is None else shown_size(size))
    if size is None or interval is None:
        return told
    low, high = shown_ends(interval)
    return f"{told} ({low:,} to {high:,})"


def sizes_in_words(release: Release) -> list[str]:
    """Of each centre, with its interval where there is one."""
    sizes: Sequence[float | None] = release.sizes or [None] * len(release.centres)
    known = None if release.errors is None else release.errors.sizes
    return [size_words(size, None if known is None else known[i]) for i, size in enumerate(sizes)]


def below_none(release: Release, labels: Sequence[str]) -> list[str]:
    """One sentence on sizes that noise made negative, if there are any."""
    below = [name for name, size in zip(labels, release.sizes or (), strict=False) if round(size) < 0]
    if not below:
        return []
    many = len(below) > 1
    whose = f"{'numbers' if many else 'number'} of {rows_of(release.certificate)} of centre{'s' if many else ''}"
    return [f"Noise took the {whose} {listing(below)} below 0: {'they are' if many else 'it is'} told as 0."]


def below_none_in_all(points: Coreset) -> list[str]:
    """The same of all rows of a coreset."""
    whose = rows_of(points.certificate)
    return [f"Noise took the number of {whose} below 0: it is told as 0."] if round(points.total) < 0 else []
