"""Rows on the cells of a grid: a ball's norms hold, neighbours stay neighbours, the nearest are dropped."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from covey.private.cells import CellEngine, dropped_rows
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Ball, Domain, resolve_bounds
from covey.queries.grid import Grid
from covey.queries.tree import Tree, TreeNodes

# --- rows on cells ----------------------------------------------------------------------------------------------------


def test_nodes_of_a_tree_counted_on_cells_move_by_one_row():
    """Keys out of the order of the rows gave a cell's rows to another node: neighbours differed by up to 21."""
    rng = np.random.default_rng(0)
    domain = resolve_bounds((0, 1), names=None, width=2)
    grid, tree = Grid(domain, 16), Tree(domain, axes_per_split=1)
    query = TreeNodes(tree, nodes=np.array([0, 2, 3]), depth=2, levels=3)
    rows = np.concatenate([rng.random((300, 2)), np.full((100, 2), 0.9)])

    def histogram(rows: np.ndarray) -> np.ndarray:
        memory = MemoryEngine(ArrayTable(rows), domain)
        keys, counts = CellEngine(grid, lambda: memory.cells(grid)).totals_by_key(query)
        out = np.zeros(query.size, dtype=np.int64)
        out[keys] = counts
        return out

    whole = histogram(rows)
    points = grid.lattice_points(np.arange(grid.cells))
    assert query.keys(points).tolist() == [int(query.keys(points[:, [i]])[0]) for i in range(grid.cells)]
    for i in range(0, len(rows), 9):
        moved = whole - histogram(np.delete(rows, i, axis=0))
        assert moved.sum() == np.abs(moved).sum() == 1


@pytest.mark.parametrize(("d", "per_axis"), [(2, 4), (2, 4095), (3, 10), (5, 2), (7, 8), (20, 2)])
def test_rows_on_cells_of_a_ball_keep_the_balls_norms(d, per_axis):
    domain = Ball(1.0).domain(None, d)
    grid = Grid(domain, per_axis)
    some = np.unique(np.random.default_rng(d).integers(0, grid.cells, 50_000))
    points = grid.lattice_points(np.append(some, grid.cells - 1)).astype(np.int64)
    assert np.square(points).sum(axis=0).max() <= domain.row_l2_squared
    assert np.abs(points).sum(axis=0).max() <= domain.row_l1


@pytest.mark.parametrize("how_many", [2**53, 2**63, 2**70])
def test_more_rows_than_there_can_be_leave_and_nothing_raises(how_many):
    counts = np.array([5, 6, 7])
    assert dropped_rows(np.array([1.0, 2.0, 3.0]), counts, how_many).tolist() == counts.tolist()
    assert dropped_rows(np.empty(0), np.empty(0, dtype=np.int64), how_many).size == 0


# --- cells at the edge of a ball --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 7, 12])
def test_rows_on_the_cells_of_a_ball_stay_in_the_ball(d):
    """The middle of a cell at the edge lies outside, where the norms that a net's sensitivity uses do not hold."""
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=True)
    grid = Grid(domain, min(2**12, int(2 ** (24 / d) + 1e-9)))
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(d, 4000)) * np.sign(rng.normal(size=(d, 4000))) ** 2
    rows = np.concatenate([rows, np.ones((d, 1)), np.sign(rng.normal(size=(d, 400)))], axis=1)
    rows = np.trunc(rows / np.sqrt(np.square(rows).sum(axis=0)) * (domain.limit - 1)).astype(np.int32)
    moved = grid.lattice_points(grid.index(rows)).astype(np.int64)
    assert np.square(moved).sum(axis=0).max() <= domain.row_l2_squared
    assert np.abs(moved).sum(axis=0).max() <= domain.row_l1
    inner = grid.lattice_points(grid.index(rows // 4))
    assert (inner == np.rint(grid.midpoints(grid.index(rows // 4))).T).all()  # others are not moved


# --- drop_nearest -----------------------------------------------------------------------------------------------------


def dropped(grid: Grid, rows: Counter, centres: np.ndarray, how_many: int) -> Counter:
    cells = np.array(sorted(rows), dtype=np.int64)
    counts = np.array([rows[each] for each in cells.tolist()], dtype=np.int64)
    left = CellEngine(grid, lambda: (cells, counts)).drop_nearest(centres, how_many)
    return Counter(dict(zip(*(each.tolist() for each in left.cells(grid)), strict=True)))


@pytest.mark.parametrize("d", [1, 2])
def test_dropping_keeps_every_pair_of_neighbours_neighbours(d):
    """All data sets of up to four rows on nine cells, with ties everywhere; and it is what sorting drops."""
    grid = Grid(Domain(middle=(0.0,) * d, half=(1.0,) * d), 9 if d == 1 else 3)
    points = grid.lattice_points(np.arange(grid.cells)).T.astype(object)
    for centres in (points[[4]], points[[0, grid.cells - 1]], points[[4]] + 12345):
        near = [min(sum((a - b) ** 2 for a, b in zip(p, c, strict=True)) for c in centres) for p in points]
        places = centres.astype(np.int64)
        for how_many in (0, 1, 2, 3, 5):
            kept = {}
            for n in range(5):
                for rows in itertools.combinations_with_replacement(range(grid.cells), n):
                    kept[rows] = Counter(sorted(rows, key=lambda cell: (near[cell], cell))[how_many:])
            for rows in list(kept)[:: 7 if how_many else 29]:
                assert dropped(grid, Counter(rows), places, how_many) == kept[rows]
            for rows, left in kept.items():
                if len(rows) == 4:
                    continue
                more = [kept[tuple(sorted((*rows, x)))] for x in range(grid.cells)]
                assert all(not left - each and (each - left).total() <= 1 for each in more)
                assert all((one - two).total() <= 1 for one, two in itertools.combinations(more, 2))


@pytest.mark.parametrize("seed", range(5))
def test_bins_of_distance_never_change_what_is_dropped(seed):
    """Distances from 0 to the largest there are, crowded into few bins, and counts far apart."""
    rng = np.random.default_rng(seed)
    domain = Domain(middle=(0.0,) * 2, half=(1.0,) * 2)
    grid = Grid(domain, 2**12)
    near = rng.integers(0, 40, (300, 2)) + 2048
    far = rng.choice([0, 4095], (3, 2))
    cells = np.unique(np.concatenate([near, far]) @ np.array([2**12, 1]))
    counts = rng.choice([1, 2, 10**9], len(cells)).astype(np.int64)
    centres = domain.snap(grid.midpoints(cells[[5]]))
    squared = np.square(grid.lattice_points(cells).astype(object) - centres[0][:, None]).sum(axis=0)
    order = sorted(range(len(cells)), key=lambda i: (squared[i], cells[i]))
    for how_many in (1, 7, int(counts.sum()) // 3, int(counts.sum()) - 1, int(counts.sum()), 2**52):
        left, wanted = counts.copy(), how_many
        for i in order:
            gone = min(wanted, int(left[i]))
            left[i], wanted = left[i] - gone, wanted - gone
        narrower = CellEngine(grid, lambda: (cells, counts)).drop_nearest(centres, how_many)
        found = dict(zip(*(each.tolist() for each in narrower.cells(grid)), strict=True))
        assert found == {int(cell): int(many) for cell, many in zip(cells, left, strict=True) if many}
