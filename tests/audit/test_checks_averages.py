"""Averages of `jl-candidates` that take a delta: heard by replay and transcript where noise is Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from covey.audit import targets
from covey.audit.families import Pair
from covey.audit.replay import moved, replayed
from covey.audit.transcript import events_of
from covey.noise.mechanisms import DiscreteGaussian
from covey.noise.noisy_average import NoisyAverages
from covey.public import Neighbours

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
COLUMNS = 24


def tapes(relation, seed, **own):
    """A corner that is there or not, or turns into the opposite one, beside two clusters of rows."""
    rng = np.random.default_rng(seed)
    rows = np.repeat([[-0.5], [0.4]], 60, axis=0) + rng.normal(0, 0.1, (120, COLUMNS))
    pair = Pair(rows, np.ones(COLUMNS), -np.ones(COLUMNS))
    settings = {"k": 2, "epsilon": 3.0, "delta": 1e-4, "bounds": (-1, 1), "neighbours": str(relation)}
    settings |= {"algorithm_params": own, "random_state": seed, "engine": "memory"}
    return replayed(targets.find("jl-candidates"), relation, pair, settings, swap=bool(seed % 2))


@pytest.mark.parametrize("final_round", [True, False])
@pytest.mark.parametrize(
    ("relation", "averages", "kind"),
    [(ADD, "sums", DiscreteGaussian), (REPLACE, "sums", DiscreteGaussian), (ADD, "noisy-avg", NoisyAverages)],
)
def test_averages_ask_the_same_of_neighbours_and_move_no_further_than_they_say(relation, averages, kind, final_round):
    reached = []
    for seed in range(2):
        first, second = tapes(relation, seed, averages=averages, final_round=final_round)
        steps = [each for each in zip(first.steps, second.steps, strict=True) if isinstance(each[0].mechanism, kind)]
        assert len(steps) == 1 + final_round
        for ours, theirs in steps:
            used, what = moved(ours, theirs, relation)
            assert what == ""
            reached.append(used)
        ratios, shifts, _ = events_of(first, second, relation)
        assert max(shifts, default=0) <= 1 + 1e-9
        assert max(max(ratio.most, -ratio.least) / paid for ratio, paid in ratios) <= 1 + 1e-9
    assert max(reached) > 0.9
