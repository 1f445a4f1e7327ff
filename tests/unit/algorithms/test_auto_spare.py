"""Centres to spare in `auto`: when there are some, what is asked about them, and that they find what a start misses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from test_auto import ADD, DELTA, PURE, groups, ratios, run

from covey.algorithms.auto import high as auto_high
from covey.algorithms.auto.shares import approximate_shares, pure_shares
from covey.post.errors.boxes import laplace_variance
from covey.post.errors.flat import FlatBoxes, flat_sizes
from covey.post.random import public_rng
from covey.public import resolve_bounds


def test_centres_to_spare_are_for_gaussian_noise_that_is_neither_small_nor_large():
    settings = {"d": 20, "k": 10, "epsilon": Fraction(1), "neighbours": ADD}
    spare = [approximate_shares(size=size, delta=DELTA, **settings).spare for size in (300, 2000, 10**4, 10**5)]
    assert spare == [0, 3, 3, 0]
    assert not pure_shares(size=2000, delta=PURE, **settings).spare
    assert not approximate_shares(size=2000, delta=DELTA, **{**settings, "k": 2}).spare


def test_spare_centres_are_counted_once_in_the_second_round_and_then_merged(curator_of, monkeypatch):
    asked = []

    class Noted(auto_high.ResidualSums):
        def __init__(self, domain, centres, *args, **kind):
            super().__init__(domain, centres, *args, **kind)
            asked.append((len(centres), self.with_counts))

    monkeypatch.setattr(auto_high, "ResidualSums", Noted)
    _, outcome = run(curator_of, groups(4000, 8, 6), k=6, delta=DELTA, keep_synopsis=True)
    assert asked[:2] == [(8, False), (8, True)]
    assert set(asked[2:]) == {(6, False)}
    assert outcome.centres.shape == (6, 8)
    assert outcome.sizes.shape == (6,)


def test_merged_centres_are_those_with_rows_wherever_the_others_are():
    """Three centres near each of two places, and far away some that nobody is near: two are left, at the places."""
    domain = resolve_bounds((-1, 1), names=None, width=5)
    places = np.array([[0.4] * 5, [-0.4] * 5]) * domain.limit
    centres = np.concatenate(
        [places + step * domain.limit for step in (-0.01, 0.0, 0.01)] + [places * [1, -1, 1, -1, 1]]
    )
    rows = np.array([900.0, 900, 1000, 1000, 1100, 1100, -40, 30])
    how = {"k": 2, "domain": domain, "objective": "k-means", "rng": public_rng(1)}
    merged, weights, part_of = auto_high._merged(centres, rows, doubt=50.0, **how)
    order = np.argsort(-merged[:, 0])
    assert np.abs(merged[order] - places).max() < 0.01 * domain.limit
    assert weights.tolist() == [3000, 3000]
    assert (part_of[:6].reshape(3, 2) == order).all()
    found = auto_high._merged(centres, np.full(8, -5.0), doubt=50.0, **how)  # nothing is known: k centres all the same
    assert np.isfinite(found[0]).all()
    assert found[1].min() >= 100


def test_clusters_that_the_start_misses_are_found_by_centres_to_spare(monkeypatch):
    """40 clusters of 300 rows in 30 columns: a start with 40 centres misses some, which no round finds."""
    rows = groups(12_000, 30, 40, spread=0.03, seed=5)
    how = {"k": 40, "runs": 3, "epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
    with_spare = ratios(rows, **how)
    monkeypatch.setattr("covey.algorithms.auto.shares.SPARE_NOISE", (1.0, 0.0))
    assert np.log(with_spare).mean() < np.log(ratios(rows, **how)).mean() - 0.2


def test_sizes_in_the_span_of_axes_and_centres_have_the_law_of_those_in_all_columns():
    rng = public_rng(3)
    axes = np.linalg.qr(rng.normal(size=(60, 3)))[0]
    boxes = FlatBoxes(
        points=rng.uniform(-1, 1, (6_000, 3)),
        widths=np.full((6_000, 3), 0.3),
        counts=rng.poisson(5.0, 6_000) * 1.0,
        variances=np.full(6_000, laplace_variance(1.0)),
        scale=1.0,
        coins=None,
        middle=rng.normal(size=60),
        axes=axes,
        outside=60.0,
    )
    centres = boxes.middle + rng.uniform(-1, 1, (4, 3)) @ axes.T + 0.2 * rng.normal(size=(4, 60))
    near, seen = auto_high.in_span(boxes, centres)
    assert near.axes.shape == (7, 3)
    np.testing.assert_allclose(np.linalg.norm(seen[0] - seen, axis=1), np.linalg.norm(centres[0] - centres, axis=1))
    whole, narrow = (flat_sizes(each, c, rng=public_rng(1)) for each, c in ((boxes, centres), (near, seen)))
    np.testing.assert_allclose(narrow.sizes, whole.sizes, rtol=0.03)
    np.testing.assert_allclose(narrow.noise, whole.noise, rtol=0.03)
    still = flat_sizes(auto_high.replace(near, outside=0.0), seen, rng=public_rng(1)).noise
    assert (np.abs(still / whole.noise - 1) > 0.1).any()  # rows beside the subspace do matter here
