"""What is counted up is right on average, with noise as much larger as it was divided by; and these tests can tell.

Odds of a false alarm: a mean of so many draws is within 6 of its deviations but one time in 10^8, and a mean square
within 10 of its own (the fourth moment of Laplace noise is 6 times the square of its second).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from covey.fit.fit import fit
from covey.post.errors import sizes
from covey.post.errors.boxes import laplace_variance
from covey.post.zones import KeptCounts, Keys
from covey.public import Box

BOX = Box(lon=(-1, 1), lat=(-1, 1))
ZONES = [(Box(lon=(-1, 0), lat=(-1, 1)), 0.2)]
Q = float(np.expm1(0.2) / np.expm1(1))
SETTINGS = {"k": 1, "epsilon": 1.0, "bounds": BOX, "algorithm": "grid", "errors": "none"}
STRENGTH = 0.96  # of the noise in the cells: 4% are for the number of rows
FITS = 100


def weights(rows):
    """Of the cells that lie in the zone, and of those that do not, fit by fit; cells are narrower than 0.2."""
    for seed in range(FITS):
        own = {"keep_synopsis": True, "starts": 1}
        coreset = fit(rows, zones=ZONES, random_state=seed, algorithm_params=own, **SETTINGS).coreset
        assert coreset is not None
        assert max(map(max, coreset.cells)) < 0.2
        east, weight = np.array(coreset.points)[:, 0], np.array(coreset.weights)
        yield weight[east < -0.2], weight[east > 0.2]


def rows_in(*parts):
    """(rows, first longitude, last longitude) each."""
    rng = np.random.default_rng(1)
    return np.concatenate([rng.uniform((low, -1), (high, 1), (many, 2)) for many, low, high in parts])


@pytest.fixture(scope="module")
def of_nobody():
    """Noise alone: the cells of a zone in which there is nobody."""
    return np.concatenate([inside for inside, _ in weights(rows_in((2_000, 0.4, 0.9)))])


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (Q, False), (1.2, False), (0.8, False)])
def test_the_noise_in_a_zone_was_divided_by_its_rate(of_nobody, off, accepted):
    """Weighted before the noise, it would be as small as elsewhere: off by the factor q."""
    found, expected = np.square(of_nobody), laplace_variance(1 / STRENGTH) / Q**2 * off**2
    assert (abs(found.mean() - expected) < 10 * np.sqrt(5 / len(found)) * expected) == accepted


@pytest.fixture(scope="module")
def of_many():
    return np.array([(a.sum(), b.sum()) for a, b in weights(rows_in((3_000, -0.9, -0.4), (2_000, 0.4, 0.9)))])


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (Q, False), (0.9, False), (1.1, False)])
@pytest.mark.parametrize(("side", "rows"), [(0, 3_000), (1, 2_000)])
def test_numbers_of_rows_are_right_on_average_in_a_zone_and_beside_it(of_many, side, rows, off, accepted):
    found = of_many[:, side] * off
    assert (abs(found.mean() - rows) < 6 * found.std() / np.sqrt(len(found))) == accepted


@pytest.mark.parametrize(("forgotten", "accepted"), [(False, True), (True, False)])
def test_the_variance_is_that_of_the_noise_and_of_the_coins(forgotten, accepted):
    """K of N rows stay, each by a coin, and noise is added: 4,000 times over."""
    rng, many, rate, scale = np.random.default_rng(2), 4_000, 0.1, 3.0
    kept = rng.binomial(900, rate, many) + np.rint(rng.laplace(0, scale, many))
    counted = KeptCounts(kept, scale, Keys(np.arange(many), np.full(many, rate), many))
    told = counted.variances.mean()
    if forgotten:
        told = replace(counted, noisy=0 * kept).variances.mean()  # without anybody no coin was thrown
    assert (abs(counted.counts.var() / told - 1) < 0.25) == accepted
    assert counted.counts.mean() == pytest.approx(900, rel=0.05)


@pytest.mark.parametrize(("fewest", "accepted"), [(sizes.FEWEST, True), (0.0, False)])
def test_intervals_hold_where_hardly_anybody_is_kept_and_noise_is_small(monkeypatch, fewest, accepted):
    """The noise of epsilon 8, and a rate at which about one row is kept: that nobody was does not mean nobody is."""
    monkeypatch.setattr(sizes, "FEWEST", fewest)
    rng, rate, scale, fits = np.random.default_rng(3), 1e-4, 1 / 8, 400
    places = np.linspace(-0.9, 0.9, 10)[:, None]
    keys, widths = Keys(np.arange(10), np.full(10, rate), 10), np.full((10, 1), 0.2)
    held = []
    for rows in (5_000, 10_000, 20_000, 40_000):
        for _ in range(fits):
            kept = np.zeros(10)
            kept[4] = rng.binomial(rows, rate)
            kept += np.rint(rng.laplace(0, scale, 10))
            boxes = KeptCounts(kept, scale, keys).boxes(places, widths, strictness=0.5)
            ((low, high),) = sizes.cluster_sizes(boxes, np.zeros((1, 1))).intervals()
            held.append(low <= rows <= high)
    lowest = np.reshape(held, (4, fits)).mean(axis=1).min()
    assert (lowest > 0.86) == accepted, lowest
