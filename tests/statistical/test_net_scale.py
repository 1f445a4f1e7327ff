"""The noise of `net-coreset` has the promised scale, and a scale that is 10% off is refused by this very test."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from covey.algorithms import net_coreset as module
from covey.noise.source import SeededSource
from covey.post.cost_error import CostError
from covey.post.kmeans import Clustering
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.base import exact
from covey.public import Neighbours
from covey.queries.intervals import CentreCounts, IntervalCounts
from covey.queries.net import NetSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
OFF = [(1.0, True), (0.9, False), (1.1, False), (0.5, False), (2.0, False)]


def fits(noise: np.ndarray, scale: float, *, significance: float = 1e-4) -> bool:
    """Whether the mean of |noise| is that of discrete Laplace noise of this scale, by its own standard error."""
    q = math.exp(-1 / scale)
    mean = 2 * q / (1 - q * q)
    second = 2 * q / (1 - q) ** 2
    error = math.sqrt((second - mean**2) / noise.size)
    near = abs(np.abs(noise).mean() - mean) < stats.norm.isf(significance / 2) * error
    centred = abs(noise.mean()) < stats.norm.isf(significance / 2) * math.sqrt(second / noise.size)
    return bool(near and centred)


@pytest.fixture
def noises(monkeypatch, curator_of):
    """Run without what is free after the releases, and keep released minus exact, by kind of query."""
    middle = np.zeros((1, 2))
    monkeypatch.setattr(module, "sphere_packing", lambda *_, **__: middle)
    monkeypatch.setattr(module, "cost_error", lambda *_, **__: CostError(0.0, 0.0))
    monkeypatch.setattr(module, "cost_error_at", lambda *_, **__: 0.0)
    monkeypatch.setattr(module, "weighted_kmeans", lambda *_, **__: Clustering(middle, np.zeros(1), 0.0))
    found: dict[type, list[np.ndarray]] = {}
    release = Curator.release

    def noted(door, query, mechanism):
        noisy = release(door, query, mechanism)
        found.setdefault(type(query), []).append((noisy - exact(door._engine, query)).astype(np.float64))
        return noisy

    monkeypatch.setattr(Curator, "release", noted)

    def run(relation: Neighbours, runs: int, **own) -> dict[type, np.ndarray]:
        rows = np.random.default_rng(1).uniform(-1, 1, (3000, 2))
        source, public = SeededSource(11), public_rng(1)
        for _ in range(runs):
            curator = curator_of(rows, neighbours=relation, source=source)
            module.net_coreset(curator, k=1, epsilon=Fraction(1), public_rng=public, starts=1, share=0.5, **own)
        return {kind: np.concatenate(parts) for kind, parts in found.items()}

    return run


@pytest.mark.parametrize("relation", [ADD, pytest.param(REPLACE, marks=pytest.mark.slow)])
def test_net_slots_and_totals_have_the_promised_noise(noises, relation):
    """ε = 1, half of it for a net of 3 x 3 boxes in one round, a quarter each for slots and totals."""
    found = noises(relation, 900, base="net", c=3, rounds=1)
    limit = 2**24 - 1
    left = 24 / 25 if relation is ADD else 49 / 50
    moves = 2 * 2 * 3 + (2 if relation is ADD else 0)  # 2dc^(d-1), and a row more under add/remove
    rows = 1 if relation is ADD else 2
    scales = {NetSums: moves * limit / (left / 2), IntervalCounts: rows / (left / 4), CentreCounts: rows / (left / 4)}
    for kind, scale in scales.items():
        assert found[kind].size > 8000
        for off, accepted in OFF:
            assert fits(found[kind], scale * off) == accepted, (kind, off)


@pytest.mark.slow
def test_rounds_share_what_the_net_may_spend(noises):
    found = noises(REPLACE, 600, base="net", c=2, rounds=2)
    scale = 8 * (2**24 - 1) / (0.25 * 0.98)
    for off, accepted in OFF:
        assert fits(found[NetSums], scale * off) == accepted
