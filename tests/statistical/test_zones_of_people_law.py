"""What is counted up of people is right on average, with the variance of coins that rows share; and tests can tell.

Odds of a false alarm: a mean of so many draws is within 6 of its deviations but one time in 10^8. All is seeded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from covey.fit.fit import fit
from covey.post.errors import sizes
from covey.post.errors.boxes import laplace_variance
from covey.post.zones import KeptCounts, Keys
from covey.public import Box

BOX = Box(lon=(-1, 1), lat=(-1, 1))
ZONES = [(Box(lon=(-1, 0), lat=(-1, 1)), 0.5)]
Q = float(np.expm1(0.5) / np.expm1(2))
PEOPLE, OTHERS, FITS = 600, 400, 100  # with a row in the zone, with none, and fits


def rows_of(each: int) -> pd.DataFrame:
    """People with so many rows; of one in the zone a single row lies there, and counts as often as any other."""
    rng = np.random.default_rng(1)
    zoned = np.concatenate(
        [rng.uniform((-0.9, -1), (-0.4, 1), (PEOPLE, 2)), rng.uniform((0.4, -1), (0.9, 1), (5 * PEOPLE, 2))]
    )
    who = np.concatenate([np.arange(PEOPLE), np.repeat(np.arange(PEOPLE), 5)])
    rest = rng.uniform((0.4, -1), (0.9, 1), (each * OTHERS, 2))
    ids = np.concatenate([who, PEOPLE + np.repeat(np.arange(OTHERS), each)])
    return pd.DataFrame(np.concatenate([zoned, rest]), columns=["lon", "lat"]).assign(who=ids)


def fits(each: int, algorithm: str):
    """Sizes of one cluster, which is all rows, and their intervals."""
    asked = {"k": 1, "epsilon": 2.0, "bounds": BOX, "algorithm": algorithm, "person": "who", "rows_per_person": each}
    rows = rows_of(each)
    for seed in range(FITS):
        release = fit(rows, zones=ZONES, random_state=seed, **asked)
        yield release.sizes[0], *(release.size_intervals[0] if release.errors else (np.nan, np.nan))


@pytest.fixture(scope="module", params=[(1, "grid"), (5, "grid"), (5, "auto"), (5, "lloyd")], ids=str)
def made(request):
    each, algorithm = request.param
    return algorithm, each * (PEOPLE + OTHERS), np.array(list(fits(each, algorithm)))


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (Q, False), (0.8, False), (1.2, False)])
def test_numbers_of_rows_of_people_are_right_on_average(made, off, accepted):
    _, rows, found = made
    sizes_of = found[:, 0] * off
    assert (abs(sizes_of.mean() - rows) < 6 * sizes_of.std() / np.sqrt(FITS)) == accepted


def test_intervals_of_people_hold_nine_times_in_ten(made):
    """Of 100 that hold nine times in ten, fewer than 72 one time in 10^8."""
    algorithm, rows, found = made
    if algorithm == "lloyd":  # which tells no error with zones
        assert np.isnan(found[:, 1]).all()
    else:
        assert np.mean((found[:, 1] <= rows) & (rows <= found[:, 2])) >= 0.72


@pytest.mark.parametrize(("together", "accepted"), [(5, True), (1, False), (None, False)])
def test_the_variance_counts_the_rows_that_share_a_coin(together, accepted):
    """The rows of 180 people, five each at one place: 4,000 times over."""
    rng, many, rate, scale = np.random.default_rng(2), 4_000, 0.1, 3.0
    kept = 5 * rng.binomial(180, rate, many) + np.rint(rng.laplace(0, scale, many))
    counted = KeptCounts(kept, scale, Keys(np.arange(many), np.full(many, rate), many, together))
    assert (abs(counted.counts.var() / counted.variances.mean() - 1) < 0.25) == accepted
    assert counted.counts.mean() == pytest.approx(900, rel=0.05)


@pytest.mark.parametrize("spread", [1, 2, 5])
def test_the_variance_is_at_least_that_of_rows_of_a_person_in_several_places(spread):
    """A person's five rows in as many places of one cluster, whose variances are added up though they share a coin."""
    rng, many, rate, scale = np.random.default_rng(3), 2_000, 0.1, 0.5
    people = rng.binomial(300, rate, many)
    share = np.bincount(np.arange(5) % spread, minlength=5)
    kept = people[:, None] * share + np.rint(rng.laplace(0, scale, (many, 5)))
    keys = Keys(np.arange(5), np.full(5, rate), 5, 5)
    told = np.mean([KeptCounts(each, scale, keys).variances.sum() for each in kept])
    found = kept.sum(axis=1).var() / rate**2
    assert 0.9 * found < told
    noise = 5 * laplace_variance(scale) / rate**2
    assert (told - noise) / (found - noise) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(("together", "accepted"), [(5, True), (1, False)])
def test_intervals_hold_where_hardly_anybody_is_kept_with_all_rows(together, accepted):
    """About one person of five rows: that nobody was kept does not mean nobody is."""
    rng, rate, scale, times = np.random.default_rng(4), 1e-3, 1 / 8, 400
    places, widths = np.linspace(-0.9, 0.9, 10)[:, None], np.full((10, 1), 0.2)
    keys = Keys(np.arange(10), np.full(10, rate), 10, 5)
    held = []
    for people in (500, 1_000, 2_000, 4_000):
        for _ in range(times):
            kept = np.rint(rng.laplace(0, scale, 10))
            kept[4] += 5 * rng.binomial(people, rate)
            counted = KeptCounts(kept, scale, replace(keys, together=together))
            boxes = counted.boxes(places, widths, strictness=0.5)
            ((low, high),) = sizes.cluster_sizes(boxes, np.zeros((1, 1))).intervals()
            held.append(low <= 5 * people <= high)
    lowest = np.reshape(held, (4, times)).mean(axis=1).min()
    assert (lowest > 0.86) == accepted, lowest
