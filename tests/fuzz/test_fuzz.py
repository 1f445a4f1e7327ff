"""About 2,000 inputs that nobody would give: only clean errors, no canary, bounded time and memory.

The same inputs every time; `full.py` draws 100,000 fresh ones.
"""

from __future__ import annotations

import logging

import pytest
from clean import clean
from targets import TARGETS, run_target, share

from canary import CANARY, TEXT
from covey import DataError

INPUTS = 2_000


@pytest.mark.parametrize("name", TARGETS)
def test_only_clean_errors(name):
    found = run_target(name, share(name, INPUTS), repeatable=True)
    assert found["inputs"] >= share(name, INPUTS) // 2
    assert found["refused"] > 0
    assert found.get("accepted", 0) > 0 or name == "GeoJSON values"


def test_every_way_to_be_unclean_is_noticed(monkeypatch):
    with pytest.raises(KeyError), clean():
        raise KeyError("x")
    with pytest.raises(AssertionError, match="canary"), clean():
        raise DataError(f"row {CANARY}")
    with pytest.raises(AssertionError, match="canary"), clean():
        logging.getLogger("covey").debug("a row: %s", TEXT)
    monkeypatch.setattr("clean.MOST_SECONDS", 0.01)
    with pytest.raises((AssertionError, TimeoutError)), clean():
        sum(range(3_000_000))
    with clean():
        raise DataError("a clean one")
