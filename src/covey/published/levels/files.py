"""A set of levels as one JSON document, readable without Covey: docs/guide/slider.md describes it."""

from __future__ import annotations

import math
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from covey.errors import FormatError
from covey.events import exactly
from covey.files import write_whole
from covey.public import MOST_ROWS_PER_PERSON, Domain, Person
from covey.published.certificate import Certificate, is_possible, reach_of
from covey.published.levels.levels import Level, LevelSet

FORMAT, VERSION = "covey-levels", 1
MOST_KEYS = 2**24
_FRACTION = re.compile(r"[0-9]{1,60}(/[0-9]{1,60})?")  # no exponents, which may be astronomic


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document. Without zones `cells` and `rates` are left out: one key for each cell, all rows kept."""

    format: str
    version: int
    columns: list[str]
    named: bool
    ball: bool
    middle: list[float]
    half: list[float]
    levels: list[tuple[str, float]]
    cells_per_axis: int
    rows_noisy: int
    rows_epsilon: str
    counts: list[list[int]]
    certificate: Certificate
    statement: str
    cells: list[int] | None = None
    scale: list[float] | None = None
    rates: list[float] | None = None


def to_json(found: LevelSet) -> bytes:
    """The document of a set of levels."""
    domain = found.domain
    zoned = bool((found.rates != 1).any()) or len(found.cells) != found.per_axis**domain.dimension
    document = Document(
        format=FORMAT,
        version=VERSION,
        columns=list(found.columns),
        named=domain.columns is not None,
        ball=domain.ball,
        middle=list(domain.middle),
        half=list(domain.half),
        scale=domain.reach.tolist(),
        levels=[(each.name, each.epsilon) for each in found.levels],
        cells_per_axis=found.per_axis,
        rows_noisy=found.rows_noisy,
        rows_epsilon=str(found.rows_epsilon),
        counts=[each.tolist() for each in found.counts],
        certificate=found.certificate,
        statement=found.certificate.statement,
        cells=found.cells.tolist() if zoned else None,
        rates=found.rates.tolist() if zoned else None,
    )
    return msgspec.json.encode(document) + b"\n"


def from_json(content: bytes) -> LevelSet:
    """The levels in a JSON document; anything else is refused with what is wrong."""
    try:
        head: dict[str, Any] = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormatError("levels: not a JSON document of Covey") from None
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise FormatError(f"levels: not a set of levels that this Covey reads ({FORMAT!r}, version {VERSION})")
    try:
        given = msgspec.convert(head, type=Document)
        return _levels(given)
    except (msgspec.ValidationError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise FormatError(f"levels: the document is damaged: {error}") from None


def _levels(given: Document) -> LevelSet:
    d = len(given.columns)
    domain = Domain(
        columns=tuple(given.columns) if given.named else None,
        middle=tuple(given.middle),
        half=tuple(given.half),
        ball=given.ball,
        scale=tuple(given.scale) if given.scale and set(given.scale) != {1.0} else None,
        metres=bool(given.certificate.domain.get("equal_metres", False)),
    )
    side = given.cells_per_axis
    if domain.scale is not None and (len(domain.scale) != d or not 0 < min(domain.scale) < max(domain.scale) == 1):
        raise ValueError("the scale does not match the columns")
    if not (1 <= d <= 4 and len(given.middle) == len(given.half) == d and min(given.half) > 0):
        raise ValueError("the domain does not match the columns")
    if side < 1 or side & (side - 1) or side**d > MOST_KEYS:
        raise ValueError("the grid is no power of two")
    cells = np.arange(side**d) if given.cells is None else np.array(given.cells, dtype=np.int64)
    rates = np.ones(len(cells)) if given.rates is None else np.array(given.rates)
    counts = tuple(np.array(each, dtype=np.int64) for each in given.counts)
    levels = tuple(Level(*each) for each in given.levels)
    if not counts or len(counts) != len(levels) or any(each.shape != cells.shape for each in (*counts, rates)):
        raise ValueError("the counts do not match the levels and cells")
    if len(cells) and not (
        cells.min() >= 0 and cells.max() < side**d and (rates >= 2.0**-64).all() and (rates <= 1).all()
    ):
        raise ValueError("a key has no cell or no rate")
    if abs(given.rows_noisy) >= 2**63:
        raise ValueError("the number of rows is beyond 64 bits")
    if not _FRACTION.fullmatch(given.rows_epsilon):
        raise ValueError("the epsilon of the number of rows is no fraction")
    for_rows = exactly(given.rows_epsilon)
    of_a_person = _rows_per_person(given.certificate)
    rising = [for_rows, *(exactly(each.epsilon) / of_a_person for each in levels)]
    if for_rows <= 0 or any(a >= b for a, b in pairwise(rising)):
        raise ValueError("the levels do not ascend")
    if not is_possible(given.certificate, d) or not math.isclose(given.certificate.epsilon, levels[-1].epsilon):
        raise ValueError("the certificate holds no possible promise")
    if not np.array_equal(domain.reach, reach_of(given.certificate.domain)):
        raise ValueError("the scale is not that of the promise")
    return LevelSet(
        levels, tuple(given.columns), domain, side, given.rows_noisy, for_rows, counts, cells, rates, given.certificate
    )


def _rows_per_person(promise: Certificate) -> int:
    """How many rows the noise is for: the number that the promise itself names."""
    if promise.person == str(Person()) and "rows_per_person" not in promise.parameters:
        return 1
    rows = promise.parameters.get("rows_per_person")
    if type(rows) is not int or not 1 <= rows <= MOST_ROWS_PER_PERSON:
        raise ValueError("the rows per person are no such number")
    if not promise.person.endswith(f", of which at most {rows} count"):
        raise ValueError("the rows per person are not those of the promise")
    return rows


def save(found: LevelSet, path: str | os.PathLike[str]) -> None:
    """Write the levels as JSON, whole or not at all."""
    write_whole(path, to_json(found))


def load(path: str | os.PathLike[str]) -> LevelSet:
    """Read levels that were saved."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"levels: cannot read {str(path)!r}: {error.strerror}") from None
    return from_json(content)
