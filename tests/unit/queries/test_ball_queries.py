"""The queries behind ball-coreset, and dropping rows: fast code against its brute-force twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from covey.private.cells import dropped_rows, squared_distances
from covey.public import Domain
from covey.queries.ballcounts import (
    COARSER,
    FINEST,
    WORTH,
    BallScores,
    BoxCounts,
    BoxSums,
    box_counts,
    dense,
    halved,
    wide_box_counts,
)
from covey.queries.grid import Grid
from covey.queries.radius import RadiusQuality, sum_of_largest


def domain(d: int) -> Domain:
    return Domain(middle=(0.0,) * d, half=(1.0,) * d)


def table_of(grid: Grid, rng: np.random.Generator, *, rows: int) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(rng.integers(0, grid.cells, rows), return_counts=True)


@pytest.mark.parametrize(("d", "side"), [(1, 1), (1, 9), (2, 2), (2, 7), (2, 16), (3, 5), (4, 4)])
def test_box_counts_equal_their_definition(d, side):
    rng = np.random.default_rng(side)
    grid = Grid(domain(d), side)
    table = dense(grid, *table_of(grid, rng, rows=40))
    places = np.stack(np.meshgrid(*[np.arange(side)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    for half in (0, 1, 2, 3, side, 2 * side):
        near = np.abs(places[:, None] - places).max(axis=2) <= half
        slow = (near @ table.ravel()).reshape(table.shape)
        assert np.array_equal(box_counts(table, half), slow)
        assert np.array_equal(wide_box_counts(table, half), slow)


@pytest.mark.parametrize(("d", "side"), [(1, 1), (1, 13), (2, 4), (2, 11), (3, 6)])
def test_scores_equal_their_definition(d, side):
    """Every candidate by hand: boxes of coarser cells, capped, weighed."""
    rng = np.random.default_rng(side)
    grid = Grid(domain(d), side)
    cells, counts = table_of(grid, rng, rows=60)
    query = BallScores(grid, 7)
    rows = np.repeat(np.stack(np.unravel_index(cells, (side,) * d), axis=1), counts, axis=0)
    expected = []
    for level, width in enumerate(query.sides):
        for where in np.ndindex(*(width,) * d):
            away = np.abs(rows // 2**level - where).max(axis=1)
            halves = COARSER if level else FINEST
            expected.append(max(query.worth(level, h) * min(int((away <= h).sum()), 7) for h in halves))
    assert query.evaluate(cells, counts).tolist() == expected
    assert len(expected) == query.size
    limit = grid.domain.limit
    for index in range(query.size):
        assert np.abs(query.place(index)).max() <= limit
    finest = grid.midpoints()[rng.integers(0, grid.cells, 5)]
    for middle in finest:
        index = int(np.square(grid.midpoints() - middle).sum(axis=1).argmin())
        assert np.allclose(query.place(index), middle)
        assert np.allclose(BoxCounts(grid, 1).place(index), middle)
    with pytest.raises(IndexError):
        query.place(query.size)


def test_a_row_is_worth_64_in_the_smallest_ball_and_half_in_the_largest():
    query = BallScores(Grid(domain(2), 256), 10)
    last = len(query.sides) - 1
    worths = [query.worth(level, half) for level in range(last + 1) for half in (COARSER if level else FINEST)]
    assert worths[0] == WORTH
    assert worths[-1] == WORTH // 2
    assert worths == sorted(worths, reverse=True)


def test_halving_keeps_every_row():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 9, (5, 7, 2))
    small = halved(table)
    assert small.shape == (3, 4, 1)
    assert small.sum() == table.sum()
    assert small[0, 0, 0] == table[:2, :2].sum()


@pytest.mark.parametrize("d", [1, 2])
def test_radius_quality_equals_the_quadratic_definition(d):
    rng = np.random.default_rng(d)
    grid = Grid(domain(d), 12)
    for rows, t in ((0, 3), (1, 1), (15, 4), (60, 20), (60, 100)):
        cells, counts = table_of(grid, rng, rows=rows)
        query = RadiusQuality(grid, t, slack=5)
        points = np.repeat(np.stack(np.unravel_index(cells, (12,) * d), axis=1), counts, axis=0)
        before, expected = 0, []
        for radius in query.radii:
            around = [min(int((np.abs(points - p).max(axis=1) <= radius).sum()), t) for p in points]
            total = sum(sorted(around, reverse=True)[:t])
            expected.append(min(t * t - before, total - t * t + 5 * t))
            before = total
        assert query.evaluate(cells, counts).tolist() == expected


def test_radii_are_geometric_and_reach_everything():
    radii = RadiusQuality(Grid(domain(2), 256), 1, 0).radii
    assert radii[0] == 0
    assert radii[-1] >= 256
    assert all(b <= max(a + 1, a * 2**0.25 + 1) for a, b in pairwise(radii))


def test_the_sum_of_the_largest_counts_multiplicities():
    values, times = np.array([5, 9, 1]), np.array([2, 3, 10])
    everything = sorted(np.repeat(values, times), reverse=True)
    for t in (0, 1, 3, 4, 5, 9, 15, 40):
        assert sum_of_largest(values, times, t) == sum(everything[:t])


@pytest.mark.parametrize("seed", range(20))
def test_dropping_by_bins_drops_what_sorting_drops(seed):
    """Ties included: distances from few values."""
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(1, 300))
    distances = np.sort(rng.choice([0.0, 1.0, 2.0, 5e11, 5e11 + 1, 2.0**51], cells)) if seed % 2 else rng.random(cells)
    rng.shuffle(distances)
    counts = rng.integers(1, 9, cells)
    for how_many in (0, 1, int(counts.sum()) // 3, int(counts.sum()) - 1, int(counts.sum()), 10**9):
        order = np.argsort(distances, kind="stable")
        slow = np.zeros_like(counts)
        left = how_many
        for cell in order:
            slow[cell] = min(left, counts[cell])
            left -= slow[cell]
        assert np.array_equal(dropped_rows(distances, counts, how_many), slow)
    assert dropped_rows(np.empty(0), np.empty(0, dtype=np.int64), 3).size == 0


def test_distances_are_exact_at_the_corners():
    limit = domain(2).limit
    points = np.array([[-limit, limit, 0], [-limit, limit, 1]], dtype=np.int32)
    found = squared_distances(points, np.array([[limit, limit], [0, 0]]))
    assert found.tolist() == [2 * limit**2, 0, 1]


def test_box_sums_and_their_mean():
    grid = Grid(domain(2), 8)
    cells, counts = np.array([0, 9, 63]), np.array([2, 3, 4])
    points = grid.lattice_points(cells).T
    box = BoxSums(grid, points[1].astype(float), reach=int(np.abs(points[0] - points[1]).max()))
    exact = box.evaluate(cells, counts)
    assert exact[:2].tolist() == (2 * (points[0] - points[1])).tolist()
    assert exact[2] == box.reach * 5
    assert np.allclose(box.mean(exact), (2 * points[0] + 3 * points[1]) / 5)
    assert box.mean(np.zeros(3, dtype=np.int64)).tolist() == points[1].tolist()
    assert np.abs(box.mean(np.array([10**12, -(10**12), box.reach]))).max() <= grid.domain.limit
