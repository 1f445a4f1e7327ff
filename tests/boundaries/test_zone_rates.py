"""What zones let through divides noisy numbers only: where exact numbers are, no rate is known. By the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import covey

PACKAGE = Path(covey.__file__).parent
EXACT = ("queries", "private")  # where rows, and exact numbers of them, are
THINNING = ("private/narrowed", "private/tables")  # where coins are thrown, and samples drawn, before anything is asked
RATES = {"rate", "rates", "keeping"}
FILES = [
    path.relative_to(PACKAGE).as_posix()
    for folder in EXACT
    for path in sorted((PACKAGE / folder).rglob("*.py"))
    if not path.relative_to(PACKAGE).as_posix().startswith(THINNING)
]


def rates_in(source: str) -> list[int]:
    """The lines on which something is called a rate."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = [getattr(node, field, None) for field in ("id", "attr", "arg")]
        found += [getattr(node, "lineno", 0)] * any(name in RATES for name in names if isinstance(name, str))
    return found


@pytest.mark.parametrize("file", FILES)
def test_no_rate_is_known_where_exact_numbers_are(file):
    assert rates_in((PACKAGE / file).read_text()) == []


def test_files_are_found_and_rates_are_noticed():
    assert {"queries/zoned.py", "private/curator.py", "private/engines/rows.py"} <= set(FILES)
    assert rates_in("x = zones.rates[0]") == [1]
    assert rates_in("def f(*, rate): ...") == [1]
    assert rates_in("x = 'rates'") == []
