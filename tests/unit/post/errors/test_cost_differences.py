"""By how much one set of centres costs more than another: what noise does to both costs cancels."""

from __future__ import annotations

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.post.errors.costs import FEW
from covey.published.coreset.answers import UNKNOWN
from covey.published.coreset.coreset import Coreset

MIDDLES = np.array([[-0.5, -0.5], [0.4, -0.3], [0.0, 0.6]])
PAIRS = (
    ([[-0.5, -0.4], [0.3, 0.1]], [[-0.4, -0.5], [0.1, 0.4]]),
    (MIDDLES, np.add(MIDDLES, [[0.05, 0.0], [0.0, 0.0], [0.0, -0.05]])),
    ([[0.0, 0.0]], [[0.05, -0.05]]),
)
ALIKE = MIDDLES - [[0.02, 0], [0, 0], [0, 0]], np.add(MIDDLES, [[0.02, 0], [0, 0], [0, 0]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.clip(MIDDLES[rng.choice(3, 6000, p=[0.5, 0.3, 0.2])] + rng.normal(0, 0.08, (6000, 2)), -1, 1)


@pytest.fixture(scope="module")
def coresets(rows):
    kept = {"keep_synopsis": True}
    asked = {"k": 3, "epsilon": 1.0, "bounds": (-1, 1), "algorithm_params": kept}
    return [Coreset.of(fit(rows, **asked, random_state=seed, errors="none")) for seed in range(12)]


def paid(rows, centres) -> float:
    return float(np.square(rows[:, None] - np.asarray(centres)).sum(axis=2).min(axis=1).sum())


def held(rows, coresets, *, width: float) -> float:
    """How often intervals of some part of their width hold the true difference."""
    found = []
    for one, other in PAIRS:
        true = paid(rows, one) - paid(rows, other)
        for coreset in coresets:
            told = coreset.cost_difference(one, other)
            found.append(abs(true - told.cost) <= width * (told.high - told.low) / 2)
    return float(np.mean(found))


def test_differences_lie_in_their_intervals_and_narrower_ones_would_not_hold(rows, coresets):
    assert held(rows, coresets, width=1.0) >= 0.85
    assert held(rows, coresets, width=0.4) < 0.85


def test_a_difference_is_known_better_than_the_costs(coresets):
    one, other = PAIRS[2]
    costs = [coresets[0].cost(each, interval=True) for each in (one, other)]
    told = coresets[0].cost_difference(one, other)
    assert told.cost == pytest.approx(costs[0].cost - costs[1].cost)
    assert told.high - told.low < 0.3 * min(each.high - each.low for each in costs)
    back = coresets[0].cost_difference(other, one)
    assert (back.cost, back.low, back.high) == pytest.approx((-told.cost, -told.high, -told.low))


def test_alternatives_that_noise_decides_are_tied_and_others_are_not(coresets):
    ties = 0
    for coreset in coresets:
        best, second, far = coreset.compare({"a": ALIKE[0], "b": ALIKE[1], "far": [[0.9, 0.9]]}, objective="k-means")
        assert far.name == "far"
        assert far.tied is False
        assert 0 < far.difference_low < far.difference < far.difference_high
        assert best.low < best.cost < best.high
        assert (best.difference, best.tied, best.why) == (0.0, None, None)
        ties += bool(second.tied)
    assert ties >= 10


def test_with_too_few_rows_no_difference_is_told(rows):
    asked = {"k": 3, "epsilon": 0.05, "bounds": (-1, 1), "algorithm_params": {"keep_synopsis": True}}
    coreset = Coreset.of(fit(rows[:400], **asked, random_state=1))
    told = coreset.cost_difference(*PAIRS[0])
    assert told.why == FEW
    assert np.isnan(told.low)
    row = coreset.compare({"a": PAIRS[0][0], "b": PAIRS[0][1]})[1]
    assert (row.low, row.high, row.difference_low, row.tied) == (None, None, None, None)
    assert row.why is not None


def test_a_coreset_without_cells_says_that_its_errors_are_unknown(coresets):
    plain = coresets[0].reduce(50, random_state=1)
    told = plain.cost_difference(*PAIRS[0])
    assert told.why == UNKNOWN
    assert told.cost == pytest.approx(plain.cost(PAIRS[0][0]) - plain.cost(PAIRS[0][1]))


def test_one_set_on_either_side(coresets):
    with pytest.raises(ParameterError, match="one set of centres"):
        coresets[0].cost_difference(np.zeros((2, 3, 2)), PAIRS[0][0])
