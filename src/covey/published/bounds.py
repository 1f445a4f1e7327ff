"""Ranges that were found privately, as the ledger stores them: with a certificate of their own."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from covey.errors import FormatError
from covey.published.certificate import Certificate, is_possible
from covey.text import listing, number, paragraph, show_table

FORMAT, VERSION = "covey-bounds", 1
LARGEST = 2.0**63  # the last magnitude that rows are counted by
ANY_DOMAIN = {"type": "box", "lower": [0.0], "upper": [1.0]}  # ranges are found before there is any


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Private ranges as they are stored: readable without Covey. Of a column for which none was found, null."""

    format: str
    version: int
    ranges: dict[str, tuple[float, float] | None]
    certificate: Certificate
    statement: str


@dataclass(frozen=True)
class FoundBounds:
    """The range of each column that asked for one; None where the rows support none at its share of epsilon."""

    ranges: Mapping[str, tuple[float, float] | None]
    certificate: Certificate

    def to_json(self) -> bytes:
        """The ranges as JSON."""
        document = Document(
            format=FORMAT,
            version=VERSION,
            ranges=dict(self.ranges),
            certificate=self.certificate,
            statement=self.certificate.statement,
        )
        return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> FoundBounds:
        """The ranges in a JSON document; anything else is refused with what is wrong."""
        try:
            found = msgspec.json.decode(content, type=Document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FormatError("bounds: not bounds of Covey, or damaged ones") from None
        if (found.format, found.version) != (FORMAT, VERSION):
            raise FormatError(f"bounds: this Covey reads {FORMAT!r} of version {VERSION}")
        ends = [each for each in found.ranges.values() if each is not None]
        if not found.ranges or not all(math.isfinite(a) and math.isfinite(b) and a < b for a, b in ends):
            raise FormatError("bounds: the document is damaged: ranges are two numbers, the lower one first")
        if not is_possible(msgspec.structs.replace(found.certificate, domain=ANY_DOMAIN), 1):
            raise FormatError("bounds: the document is damaged: nothing like this can be promised")
        return cls(found.ranges, found.certificate)


def show_bounds(found: FoundBounds) -> None:
    """The ranges and what was promised, on stdout."""
    sys.stdout.write("Ranges that were found privately\n\n")
    rows = [
        [name, *(("no range", "") if ends is None else (number(end, ends[1] - ends[0]) for end in ends))]
        for name, ends in found.ranges.items()
    ]
    show_table(["column", "from", "to"], rows, right=(1, 2))
    if any(ends is None for ends in found.ranges.values()):
        sys.stdout.write(f"\n{paragraph(NONE)}\n")
    beyond = [name for name, ends in found.ranges.items() if ends is not None and max(map(abs, ends)) >= LARGEST]
    note = f"{NOTE} {BEYOND.format(columns=listing(beyond))}" if beyond else NOTE
    sys.stdout.write(f"\n{paragraph(note)}\n\n{paragraph(found.certificate.statement)}\n\n")


NOTE = (
    "Nearly all rows seem to lie within, by noisy counts; those beyond are moved to the ends. A fit within these "
    "ranges was charged apart."
)
BEYOND = "Sizes of 9.2e18 and more are not told apart: rows of {columns} may lie far beyond what was found."
NONE = "No range: too few rows for the share of epsilon that it had, or numbers that are nearly all 0."
