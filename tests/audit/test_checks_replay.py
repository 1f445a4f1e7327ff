"""A short replay of some algorithms (src/covey/audit/replay.py), quick enough to be tried on every planted bug."""

from __future__ import annotations

import pytest

from covey.algorithms.registry import ALGORITHMS
from covey.audit.families import FAMILIES
from covey.audit.replay import run

PLANTED = ("auto", "ball-coreset", "genetic", "grid", "lloyd", "max-cover")  # test_replay.py has all of them
SHORT = ("a corner into an empty cluster", "the last row of a cluster", "n at a rounding threshold")
SEEDS = (1, 6)


@pytest.mark.parametrize("algorithm", PLANTED)
def test_released_values_decide_everything(algorithm):
    """On neighbours, with the released values of one: the same questions, the same document, no answer too far."""
    chosen = [family for family in FAMILIES if family.name in SHORT]
    assert len(chosen) == len(SHORT)
    results = run([algorithm], seeds=SEEDS, families=chosen)
    assert len(results) == len(SHORT) * len(SEEDS) * len(ALGORITHMS[algorithm].neighbours)
    assert [(each.relation, each.family, each.what) for each in results if not each.ok] == []
