"""The noise of a profile has the promised scale, and its intervals hold the truth as often as they say.

Seeded, so that the outcome is the same every time; scales that are off by 10% are refused.
"""

from __future__ import annotations

import numpy as np
import pytest
from laws import WRONG, fits_law, laplace_below

from covey import Box
from covey.fit.fit import fit
from covey.noise.laplace import discrete_laplace
from covey.noise.source import SeededSource
from covey.post.shares import Counts

EDGES = np.linspace(0.0, 10.0, 11)


@pytest.fixture(scope="module")
def release():
    import pandas as pd

    rows = pd.DataFrame({"x": [0.1, 0.9] * 20, "y": 0.5})
    return fit(rows, k=50, epsilon=1.0, bounds=Box(x=(0, 1), y=(0, 1)), random_state=1), rows


@pytest.mark.parametrize(
    ("neighbours", "people", "scale"), [("add-remove", 1, 40), ("add-remove", 3, 120), ("replace-one", 1, 80)]
)
def test_every_count_has_the_noise_of_all_columns_and_this_test_can_tell(release, neighbours, people, scale):
    found, rows = release
    who = {} if people == 1 else {"person": "who", "rows_per_person": people}
    columns = {"x": (0.0, 1.0, 900), "y": (0.0, 1.0, 60)}
    empty = rows.assign(who=range(len(rows)))[:0]
    told = found.profile(empty, columns=columns, epsilon=0.05, neighbours=neighbours, random_state=7, **who)
    noise = np.concatenate([each.ravel() for each in told.counts])
    assert told.noise_scale == scale
    assert fits_law(noise, laplace_below(scale), scale) > WRONG
    for off in (0.9, 1.1):
        assert fits_law(noise, laplace_below(off * scale), off * scale) < WRONG


def noisy(truth: np.ndarray, scale: int, times: int, seed: int) -> np.ndarray:
    from fractions import Fraction

    noise = discrete_laplace((times, *truth.shape), inverse_scale=Fraction(1, scale), source=SeededSource(seed))
    return truth + noise


@pytest.mark.parametrize("level", [0.9, 0.999])
@pytest.mark.parametrize("truth", [[610, 220, 90, 80, 0], [60, 22, 9, 8, 0], [5000, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
def test_intervals_of_shares_hold_the_truth_as_often_as_they_say(truth, level):
    exact, scale = np.array(truth, dtype=np.float64), 6
    lines = Counts(noisy(exact, scale, 4000, 3).reshape(-1, len(exact)), scale)
    found = lines.shares(level)
    share = exact / max(exact.sum(), 1)
    holds = ((found[..., 1] <= share + 1e-12) & (share - 1e-12 <= found[..., 2])).mean(axis=0)
    assert (holds > level - 0.02 * (1 - level) ** 0.5).all()
    assert (found[..., 1] <= found[..., 0]).all()
    assert (found[..., 0] <= found[..., 2]).all()
    if exact.sum() == 0:  # an empty cluster tells next to nothing, and does not pretend to
        assert ((found[..., 2] - found[..., 1]).max(axis=1) > 0.5).mean() > 0.97


@pytest.mark.parametrize("scale", [0.2, 0.3, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("cells", [1, 3, 20])
def test_noise_of_less_than_a_row_leaves_no_interval_more_often_than_said(scale, cells):
    rng, p = np.random.default_rng(1), np.exp(-1 / scale)
    exact = np.arange(cells) * 50.0 + 100
    noise = rng.geometric(1 - p, (4000, cells)) - rng.geometric(1 - p, (4000, cells))
    lines = Counts(exact + noise, scale)
    total, share = exact.sum(), exact / exact.sum()
    _, low, high = lines.sizes().T
    assert ((low <= total) & (total <= high)).mean() > 0.88
    _, low, high = np.moveaxis(lines.shares(), 2, 0)
    assert ((low <= share) & (share <= high)).mean(axis=0).min() > 0.88


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_intervals_of_medians_hold_the_truth_and_are_not_idle(level):
    exact = np.array([0, 5, 20, 80, 200, 150, 60, 30, 10, 0], dtype=np.float64)
    found = Counts(noisy(exact, 4, 4000, 9).reshape(-1, 10), 4).medians(EDGES, level)
    median = 4 + (exact.sum() / 2 - exact[:4].sum()) / exact[4]
    assert ((found[:, 1] <= median) & (median <= found[:, 2])).mean() > level
    assert (found[:, 2] - found[:, 1]).mean() < 2.5
    assert np.abs(found[:, 0] - median).mean() < 0.1


def test_intervals_of_sums_of_clusters_are_those_of_their_own_noise():
    exact = np.full((8, 4), 100.0)
    draws = noisy(exact, 10, 2000, 11)
    found = np.array([Counts(each, 10).whole.sizes()[0] for each in draws])
    inside = ((found[:, 1] <= exact.sum()) & (exact.sum() <= found[:, 2])).mean()
    assert 0.88 < inside < 0.92


def test_what_stands_out_of_nothing_is_rare(release):
    """Clusters that are all alike: that any is said to differ happens in at most a tenth of all profiles."""
    from covey.published.profile.columns import read_columns
    from covey.published.profile.profile import Profile

    columns = list(read_columns(["x=0:1:8", "mode=a|b|c"], ("x", "mode"), {}))
    exact = [np.full((6, 9), 40), np.tile([300, 40, 20, 1], (6, 1))]
    false = 0
    for seed in range(200):
        counts = [noisy(each, 8, 1, 1000 * place + seed)[0] for place, each in enumerate(exact)]
        told = Profile(centres=[[0.0]] * 6, columns=columns, counts=counts, noise_scale=8.0, certificate=None)
        false += bool(told.standing_out)
    assert false <= 20


@pytest.mark.parametrize(
    ("asked", "each", "rows", "epsilon"),
    [
        ({}, 1, 40_000, 0.2),
        ({"neighbours": "replace-one"}, 1, 40_000, 0.2),
        ({"person": "who", "rows_per_person": 2}, 2, 80_000, 0.4),
    ],
)
def test_a_text_of_one_person_is_shown_as_rarely_as_delta_says_and_this_test_can_tell(
    release, asked, each, rows, epsilon
):
    """Everybody has a text of their own, with all their rows: how many are shown tells the noise and the threshold."""
    import pandas as pd
    from scipy.stats import binom

    delta, whose = 0.01, np.arange(rows) // each
    frame = pd.DataFrame({"x": 0.5, "y": 0.5, "who": whose, "name": np.char.add("n", whose.astype(str))})
    told = release[0].profile(frame, columns=["name=private"], epsilon=epsilon, delta=delta, random_state=3, **asked)
    shown, people = len(told.columns[0].cells) - 1, rows // each
    threshold = told.certificate.parameters["private"]["name"]["threshold"]
    sides = 2 if asked.get("neighbours") else 1
    scale = sides * each * 2 / epsilon  # half of epsilon is for this

    def chance(holders: int, off: float = 1.0) -> float:
        q = np.exp(-1 / (off * scale))
        return float(q ** (threshold - holders) / (1 + q))

    assert sides * chance(each) <= delta  # under replace-one two texts may be somebody's
    assert each > 1 or sides * chance(each + 1) > delta  # no larger than needed
    assert binom.cdf(shown, people, chance(each)) > WRONG
    assert binom.sf(shown - 1, people, chance(each)) > WRONG
    assert binom.sf(shown - 1, people, chance(each, 0.9)) < WRONG  # noise that is a tenth smaller
    assert binom.cdf(shown, people, chance(each + int(0.5 * scale))) < WRONG  # a threshold that is lower
