"""Tests stand where the code is that they are about, and are named after it; the rules are tried on names that break
each of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path, PurePosixPath

import pytest

import covey

PACKAGE = Path(covey.__file__).parent
TESTS = Path(__file__).parents[1]
FOLDERS = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.py"))
OCCASION = re.compile(r"test_(review|issue|bug)(_\w+)?|\w+_(more|again|misc)")


def violations(files: Collection[str], folders: Collection[str]) -> list[str]:
    """Every broken rule, as text. Files are named from tests/ on, folders from src/covey on.

    tests/unit itself is the package's root: tests of its own files, and of what holds for the package as a whole.
    """
    found, paths = [], [PurePosixPath(file) for file in files]
    for path in paths:
        folder = PurePosixPath(*path.parts[1:-1]).as_posix()
        if path.parts[0] == "unit" and folder not in folders:
            found.append(f"{path}: src/covey has no folder {folder}")
        if OCCASION.fullmatch(path.stem):
            found.append(f"{path}: is named after an occasion, not after what it tests")
    names = Counter(path.stem for path in paths if path.stem.startswith("test_"))  # pytest imports them by these alone
    return found + [f"{name}: the name of {many} files" for name, many in names.items() if many > 1]


def test_tests_stand_where_the_code_is():
    assert len(FILES) > 100
    assert violations(FILES, FOLDERS) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["unit/people/test_caps.py"], "no folder people"),
        (["unit/budget/books/test_ledger.py"], "no folder budget/books"),
        (["unit/people/helper.py"], "no folder people"),
        (["unit/noise/test_review_noise.py"], "an occasion"),
        (["unit/noise/test_review.py"], "an occasion"),
        (["property/test_estimators_more.py"], "an occasion"),
        (["unit/noise/test_tree.py", "property/test_tree.py"], "the name of 2 files"),
    ],
)
def test_what_breaks_a_rule_is_found(files, words):
    [found] = violations(files, {".", "noise", "budget", "budget/ledger"})
    assert words in found


def test_what_keeps_the_rules_is_taken():
    files = ["unit/test_errors.py", "unit/noise/test_tree.py", "unit/budget/ledger/test_chain.py", "fuzz/test_fuzz.py"]
    assert violations([*files, "fuzz/full.py", "faults/full.py"], {".", "noise", "budget", "budget/ledger"}) == []
