"""The noise of a score has the promised scale, and its intervals hold the truth as often as they say.

Seeded, so that the outcome is the same every time; scales that are off by 10% are refused.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from laws import WRONG, fits_law, laplace_below

from covey.fit.fit import fit
from covey.noise.laplace import discrete_laplace
from covey.noise.source import SeededSource
from covey.post.ratios import Noisy
from covey.queries.scores import MASS


@pytest.mark.parametrize(("neighbours", "times"), [("add-remove", 1), ("replace-one", 2)])
def test_every_mass_has_the_noise_of_all_sets_and_this_test_can_tell(neighbours, times):
    release = fit(np.full((10, 1), 0.5), k=1, epsilon=1.0, bounds=(0, 1), random_state=1)
    sets = {f"set {place}": [[place / 19]] for place in range(17)}
    noise = []
    for seed in range(25):
        found = release.score(
            np.empty((0, 1)), public_centres=sets, epsilon=2.0, neighbours=neighbours, random_state=seed
        )
        noise += [each for scored in (*found.sets, found.one) for each in scored.masses]
    scale = times * 19 * MASS / 2.0  # 17 sets, that of the release, and a single centre
    assert found.noise_scale == scale
    drawn = np.array(noise) // 2**12  # whole numbers of a scale that can be listed
    coarse = scale / 2**12
    assert fits_law(drawn, laplace_below(coarse), coarse, most=60) > WRONG
    for off in (0.9, 1.1):
        assert fits_law(drawn, laplace_below(off * coarse), off * coarse, most=60) < WRONG


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_intervals_of_sums_and_ratios_hold_the_truth_as_often_as_they_say(level):
    rng = np.random.default_rng(2)
    truth, scale, draws = rng.uniform(0, 400, 24), 5, 3000
    weights, below = np.geomspace(0.01, 1.0, 24), np.ones(24)
    noise = discrete_laplace((draws, 24), inverse_scale=Fraction(1, scale), source=SeededSource(4))
    exact = {"sum": weights @ truth, "ratio": weights @ truth / truth.sum()}
    held = {"sum": 0, "ratio": 0}
    for each in noise:
        noisy = Noisy(truth + each, scale)
        for name, told in (("sum", noisy.sum(weights, level)), ("ratio", noisy.ratio(weights, below, level))):
            held[name] += told[1] <= exact[name] <= told[2]
    for name, many in held.items():
        assert abs(many / draws - level) < 0.025 * (1 - level) ** 0.5 + 0.01, name


def test_a_ratio_whose_lower_sum_may_be_nothing_is_not_told():
    assert Noisy(np.array([5.0, 3.0]), 10.0).ratio(np.array([1.0, 0.0]), np.ones(2)) is None
    assert Noisy(np.array([-5.0, 3.0]), 1.0).ratio(np.array([1.0, 0.0]), np.ones(2)) is None


def test_what_cannot_be_below_nothing_keeps_its_intervals_where_noise_is_far_below():
    """Few rows and much noise: cut at 0 afterwards, such intervals were points that held nothing."""
    truth, scale, draws, level = np.r_[np.zeros(20), 9.0, 3.0, 1.0, 2.0], 5, 2000, 0.9
    weights, below = np.geomspace(0.01, 1.0, 24), np.r_[np.zeros(23), 1000.0]
    bottom = np.r_[truth[:23], 400.0]
    noise = discrete_laplace((draws, 24), inverse_scale=Fraction(1, scale), source=SeededSource(5))
    held = np.zeros(2)
    for each in noise:
        total = Noisy(truth + each, scale).sum(weights, level, least=0.0)
        share = Noisy(bottom + each, scale).ratio(weights * (below == 0), below, level, least=0.0, most=1.0)
        assert share is not None
        for told in (total, share):
            assert 0 <= told[1] <= told[0] <= told[2]
            assert told[2] - told[1] > 1e-6
        held += total[1] <= weights @ truth <= total[2], share[1] <= (weights[:23] @ truth[:23]) / 4e5 <= share[2]
    assert (held / draws > level - 0.02).all()


def test_a_ratio_beyond_all_possible_ones_has_an_interval_with_a_width_at_the_possible_end():
    numbers = Noisy(np.array([900.0, -150.0]), 5.0)
    share, low, high = numbers.ratio(np.array([1.0, 0.0]), np.ones(2), least=0.0, most=1.0)
    assert (share, high) == (1.0, 1.0)
    assert low < 0.99
    none, low, high = Noisy(np.array([-150.0, 900.0]), 5.0).ratio(np.array([1.0, 0.0]), np.ones(2), least=0.0, most=1.0)
    assert (none, low) == (0.0, 0.0)
    assert high > 0.01
