"""Sizes from boxes of a subspace, in many columns: in parts, so that memory does not grow with the boxes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from covey.post.errors import flat
from covey.post.errors.boxes import laplace_variance
from covey.post.errors.flat import FlatBoxes, flat_sizes
from covey.post.random import public_rng


def boxes(m: int, d: int) -> FlatBoxes:
    rng = public_rng(m)
    axes = np.linalg.qr(rng.normal(size=(d, 3)))[0]
    points = rng.uniform(-1, 1, (m, 3))
    return FlatBoxes(
        points,
        np.full((m, 3), 0.1),
        counts=rng.poisson(5.0, m) * 1.0,
        variances=np.full(m, laplace_variance(1.0)),
        scale=1.0,
        coins=None,
        middle=np.zeros(d),
        axes=axes,
        outside=0.01,
    )


def test_many_boxes_in_many_columns_fit_into_memory():
    made, centres = boxes(8_000, 60), public_rng(1).uniform(-1, 1, (5, 60))
    tracemalloc.start()
    try:
        flat_sizes(made, centres, rng=public_rng(2))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 250e6  # places of all boxes at once are 92 MB, several times


def test_parts_add_up_to_the_whole(monkeypatch):
    made, centres = boxes(400, 8), public_rng(1).uniform(-1, 1, (3, 8))
    whole = flat_sizes(made, centres, rng=public_rng(2))
    monkeypatch.setattr(flat, "_VALUES", 24 * 11 * 30)
    parts = flat_sizes(made, centres, rng=public_rng(2))
    assert parts.sizes.sum() == pytest.approx(made.counts.sum())
    np.testing.assert_allclose(parts.sizes, whole.sizes, rtol=0.05)
    np.testing.assert_allclose(parts.noise, whole.noise, rtol=0.1)
