"""A value that is in the rows and must turn up nowhere else, and the search for it."""

from __future__ import annotations

import re
import struct

import numpy as np

from covey.private.lattice import to_lattice
from covey.public import resolve_bounds

CANARY = 0.123456789
TEXT = "Covert-Quail-7391"
ROWS = 1237  # an exact count is a canary too
COUNTED = "the exact number of rows"


def traces(blob: bytes) -> list[str]:
    """Every form of the canary that occurs in a piece of memory or text."""
    domain = resolve_bounds((-1, 1), names=None, width=2)
    cell = int(to_lattice(np.full((2, 1), CANARY), domain)[0, 0])
    forms = {
        "as text": b"0.1234567",
        "as exponent": b"1.234567",
        "as float64": struct.pack("<d", CANARY),
        "as float64, big end first": struct.pack(">d", CANARY),
        "as float32": struct.pack("<f", CANARY),
        "as two lattice integers": struct.pack("<ii", cell, cell),
        "the text": TEXT.encode(),
        "the text, wide": TEXT.encode("utf-16-le"),
    }
    found = [name for name, form in forms.items() if form in blob]
    for name, number in ((COUNTED, ROWS), ("as lattice text", cell)):
        alone = rb"(?<![0-9a-f.])%d(?![0-9a-f])" % number  # as a number of its own, not inside a longer one or a hash
        found += [name] * bool(re.search(alone, blob))
    return found
