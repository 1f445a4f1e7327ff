"""Zones keep the promised share of their rows: the right rate is accepted, one ten per cent larger is not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from covey.fit.zones import read_zones
from covey.noise.source import SeededSource
from covey.private.tables.frames import ArrayTable
from covey.public import Box, resolve_bounds

ROWS, WRONG = 200_000, 1e-9
DOMAIN = resolve_bounds(Box((-1, 1), (-1, 1)), names=None, width=2)
ZONES = [(Box((-1, 0), (-1, 0)), 0.2), (Box((0, 1), (-1, 0)), 0.6), (Box((-0.5, 0.5), (-0.5, 0)), 0.1)]


@pytest.fixture(scope="module")
def counts():
    """(rows, kept rows) by the zone that counts."""
    rows = np.random.default_rng(1).uniform(-1, 1, (4 * ROWS, 2))
    thinning = read_zones(ZONES, epsilon=Fraction(1), domain=DOMAIN)
    kept = np.concatenate([p() for p in thinning.table(ArrayTable(rows), SeededSource(2)).pieces(None)], axis=1)

    def per_zone(x, y):
        middle = (np.abs(x) < 0.5) & (y > -0.5) & (y < 0)
        return {
            0.1: middle.sum(),
            0.2: ((x < 0) & (y < 0) & ~middle).sum(),
            0.6: ((x > 0) & (y < 0) & ~middle).sum(),
            None: (y > 0).sum(),
        }

    return per_zone(*rows.T), per_zone(*kept)


@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize("zone", [0.1, 0.2, 0.6])
def test_the_rate_is_that_of_the_strictest_zone_and_this_test_can_tell(counts, zone, off, accepted):
    rate = np.expm1(zone) / np.expm1(1) * off
    before, after = counts
    assert (binomtest(int(after[zone]), int(before[zone]), rate).pvalue > WRONG) == accepted


def test_rows_outside_all_zones_stay(counts):
    assert counts[0][None] == counts[1][None]
