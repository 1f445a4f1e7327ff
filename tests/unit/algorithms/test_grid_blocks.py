"""Very many cells are clustered as blocks: sums over blocks are sums over cells."""

from __future__ import annotations

import numpy as np
import pytest

from covey.algorithms import grid as grid_algorithm
from covey.algorithms.grid import blocks_of_cells
from covey.public import resolve_bounds
from covey.queries.grid import Grid


@pytest.mark.parametrize(("d", "side", "most"), [(1, 1000, 64), (2, 37, 100), (2, 64, 64), (3, 11, 50)])
def test_blocks_keep_weights_and_first_moments(monkeypatch, d, side, most):
    monkeypatch.setattr(grid_algorithm, "CLUSTERED_CELLS", most)
    cells = Grid(resolve_bounds((-1, 1), names=None, width=d), side)
    counts = np.random.default_rng(d).integers(0, 50, cells.cells)
    points, weights = blocks_of_cells(cells, counts)
    assert len(points) == len(weights) <= max(most, 64)
    assert weights.sum() == counts.sum()
    assert weights @ points == pytest.approx(counts @ cells.midpoints(), rel=1e-9, abs=1e-3)


def test_a_block_whose_noise_cancels_stands_at_its_middle(monkeypatch):
    monkeypatch.setattr(grid_algorithm, "CLUSTERED_CELLS", 2)
    cells = Grid(resolve_bounds((-1, 1), names=None, width=1), 4)
    points, weights = blocks_of_cells(cells, np.array([5, -5, 3, -2]))
    middles = cells.midpoints()[:, 0]
    assert weights.tolist() == [0, 1]
    assert points[0, 0] == pytest.approx((middles[0] + middles[1]) / 2)
    assert points[1, 0] == pytest.approx((middles[2] + middles[3]) / 2)  # 3a - 2b lies outside


def test_few_cells_are_clustered_as_they_are():
    cells = Grid(resolve_bounds((-1, 1), names=None, width=2), 8)
    points, weights = blocks_of_cells(cells, np.arange(64))
    assert np.array_equal(points, cells.midpoints())
    assert weights.tolist() == list(range(64))
