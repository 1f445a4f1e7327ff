"""Swaps of centres: no row changes one by more than is claimed, and the claim is nearly reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

from covey import Ball, Box
from covey.public import Neighbours
from covey.queries.swaps import SwapGains


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("ball", [False, True])
def test_no_row_changes_a_swap_by_more_than_is_claimed(objective, ball):
    """Exact integers against the claim, for rows at corners, on candidates, and between; near and far candidates."""
    rng, closest, relative = np.random.default_rng(5), 0.0, 0
    for _ in range(60):
        d = int(rng.integers(1, 4))
        domain = (Ball(1.0) if ball else Box(*[(-1, 1)] * d)).domain(None, d)
        m = int(rng.integers(2, 9))
        k = int(rng.integers(1, m))
        spread = rng.choice([1.0, 0.3, 1e-3, 1e-6])
        places = np.clip(rng.uniform(-1, 1, d) * rng.integers(2) + spread * rng.uniform(-1, 1, (m, d)), -1, 1)
        query = SwapGains(places * domain.limit, rng.permutation(m)[:k], domain, objective=objective)
        inside = rng.uniform(-1, 1, (d, 30))
        rows = np.concatenate([inside, np.sign(inside), places[rng.integers(0, m, 30)].T + 1e-6 * inside], axis=1)
        rows = np.clip(rows, -1, 1)
        if ball:
            rows /= np.maximum(np.sqrt(np.square(rows).sum(axis=0)), 1)
        rows = np.trunc(rows * domain.limit).astype(np.int32)
        low, high = (query.most if query.relative else 0), (0 if query.relative else -query.most)
        for row in rows.T:
            out = np.zeros(query.size, dtype=np.int64)
            query.accumulate(row[:, None], out)
            squared = [sum((int(x) - int(c)) ** 2 for x, c in zip(row, each, strict=True)) for each in query.candidates]
            costs = [(s if objective == "k-means" else math.isqrt(s)) >> query.shift for s in squared]
            now = min(costs[i] for i in query.current)
            after = [min(costs[i] for i in query.after(swap)) for swap in range(query.size)]
            assert out.tolist() == [query.offset + now - c if query.relative else -c for c in after]
            low, high = min(low, out.min()), max(high, out.max())
        assert (0 <= low <= high <= query.most) if query.relative else (-query.most <= low <= high <= 0)
        relative += query.relative
        closest = max(closest, (high - low) / query.most)
        sensitivity = query.sensitivity(Neighbours.ADD_REMOVE)
        assert (sensitivity.linf, sensitivity.monotone) == (query.most, True)
        assert not query.sensitivity(Neighbours.REPLACE_ONE).monotone
    assert relative > 10
    assert closest > 0.9  # the claim is nearly reached, so a smaller one would be wrong
