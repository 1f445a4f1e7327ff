"""What share of the rows was outside the bounds or lacked a number, with its interval: from noisy counts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.post.tails import tail

if TYPE_CHECKING:
    from covey.published.certificate import Certificate

ROWS_BY_BOUNDS = ("rows_inside", "rows_outside", "rows_outside_scale")  # the notes of a certificate
SURE = 0.9
WORTH = 0.01  # of the rows: a share below that may be none is not worth a sentence
MOST = 1e15  # rows, scale of noise, and rows that one of a sample stands for: no fit has more


class Share(NamedTuple):
    """A share of the rows, and the interval that holds it 9 times in 10."""

    share: float
    low: float
    high: float

    @property
    def matters(self) -> bool:
        """Whether it belongs to what is said of a release's errors: rows outside are at the edge in all its numbers."""
        return self.low > 0 or self.share >= WORTH or self.unknown

    @property
    def unknown(self) -> bool:
        """Whether the noise leaves every share possible."""
        return self.low <= 0 and self.high >= 1

    @property
    def whose(self) -> str:
        """What it is a share of."""
        return "rows"

    def __str__(self) -> str:
        about, low, high = (percent(each) for each in self)
        whose, often = self.whose, "9 times in 10"
        if self.unknown:
            return (
                f"What share of {whose} was outside the bounds or lacked a number is not known: noise leaves all open."
            )
        return f"About {about} of {whose} were outside the bounds or lacked a number ({low} to {high}; {often})."


class ShareOfKept(Share):
    """The same of rows that zones kept: of all rows it may be any other, since zones are not everywhere."""

    @property
    def whose(self) -> str:
        return "rows that zones kept"


def percent(share: float) -> str:
    """One digit behind the point, and two digits in all where there are any."""
    digits = 1 if share >= 0.01 or share <= 0 else min(6, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + "%"


def share_outside(certificate: Certificate) -> Share | None:
    """The share of the rows that was outside the bounds, or lacked a number; None if they were not counted.

    Let c and i be the noisy counts outside and inside. Under add/remove each has noise of its own, beyond t in one case
    of twenty, so both are within t in nine of ten; then the true counts are from max(c - t, 0) to c + t and from
    max(i - t, 0) to i + t, and the share is at its ends where one is largest and the other smallest. Under replace-one
    i is the public number of rows n less c: one noise, beyond t in one case of ten, and a share of what is known.
    A noisy count below 0 counts as 0, and one above a public n as n: nearer to every possible one, so that the interval
    holds no less often. Cut afterwards, an interval of very low noise would be a point at 0.
    Of a sample, of people's capped rows or of rows that zones kept, it is the share among these; the last it says.
    """
    counted = _counted(certificate.parameters)
    if counted is None:
        return None
    inside, outside, scale = counted
    each_row = _stands_for(certificate.parameters.get("sample"))
    every = public_rows(certificate.neighbours, certificate.parameters)
    kind = ShareOfKept if "zones" in certificate.parameters else Share
    if every is not None:
        t = each_row * tail(each_row / scale, 1 - SURE)
        outside = min(max(outside, 0.0), every)
        share, low, high = (each / every for each in (outside, max(outside - t, 0.0), min(outside + t, every)))
        return kind(share, low, high)
    t = each_row * tail(each_row / scale, (1 - SURE) / 2)
    outside, inside = max(outside, 0.0), max(inside, 0.0)
    low = _part(max(outside - t, 0.0), inside + t, otherwise=0.0)
    high = _part(outside + t, max(inside - t, 0.0), otherwise=1.0)
    return kind(_part(outside, inside, otherwise=low), low, high)


def public_rows(neighbours: str, notes: Mapping[str, Any]) -> float | None:
    """The number of rows, where a certificate tells it: under replace-one it is public. None where it does not.

    There, rows are counted inside and outside so that both add up to it, and a sample says of how many it was drawn.
    """
    if neighbours != "replace-one":
        return None
    counted = _counted(notes)
    if counted is not None:
        every: float | None = counted[0] + counted[1]
    else:
        sample = notes.get("sample")
        of = sample.get("of") if isinstance(sample, dict) else None
        every = float(of) if isinstance(of, int) and of < MOST else None
    return every if every is not None and every > 0 else None


def noise_of_rows(certificate: Certificate) -> float | None:
    """The deviation of the noise in the number of rows inside and outside, two draws; None if they were not counted."""
    counted = _counted(certificate.parameters)
    return None if counted is None else 2 * counted[2]


def _counted(notes: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """The noisy numbers of rows inside and outside, and the scale of their noise."""
    found = [notes.get(name) for name in ROWS_BY_BOUNDS]
    numbers = [float(each) for each in found if isinstance(each, int | float) and abs(each) < MOST]
    return None if len(numbers) < len(found) or numbers[2] <= 0 else (numbers[0], numbers[1], numbers[2])


def _part(one: float, other: float, *, otherwise: float) -> float:
    """One as a share of both, from 0 to 1; `otherwise` where there are none."""
    return min(max(one / (one + other), 0.0), 1.0) if one + other > 0 else otherwise


def _stands_for(sample: Any) -> float:
    """How many rows each row of a sample stands for: what its counts were multiplied with."""
    match sample:
        case {"rate": int() | float() as rate} if 1 / MOST < rate <= 1:
            return 1 / rate
        case {"size": int() as size, "of": int() as of} if 0 < size <= of < MOST:
            return of / size
    return 1.0
