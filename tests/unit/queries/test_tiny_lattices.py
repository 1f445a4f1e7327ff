"""Sensitivity by force: all data sets of a tiny lattice, and all their neighbours."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from covey.public import Domain, Neighbours
from covey.queries.ballcounts import BallScores, BoxCounts, BoxSums
from covey.queries.exact import WorstErrors
from covey.queries.grid import Grid
from covey.queries.net import NetSums
from covey.queries.radius import RadiusQuality

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@dataclass(frozen=True)
class Tiny(Domain):
    """A domain with so few lattice points that all data sets can be tried."""

    edge: int = 1

    @property
    def limit(self) -> int:
        return self.edge


def tiny_grid(d: int, edge: int) -> Grid:
    return Grid(Tiny(middle=(0.0,) * d, half=(1.0,) * d, edge=edge), 2 * edge + 1)


def table(rows) -> tuple[np.ndarray, np.ndarray]:
    cells, counts = np.unique(np.array(rows, dtype=np.int64), return_counts=True)
    return cells, counts.astype(np.int64)


def worst_changes(query, cells: int, most: int) -> dict[Neighbours, tuple[int, int]]:
    """The largest L1 and L∞ change over all data sets of up to `most` rows and all their neighbours."""
    every = range(cells)
    sets = [each for n in range(most + 1) for each in itertools.combinations_with_replacement(every, n)]
    value = {each: query.evaluate(*table(each)) for each in sets}
    found = dict.fromkeys(Neighbours, (0, 0))
    for base in sets:
        if len(base) == most:
            continue
        more = np.stack([value[tuple(sorted((*base, x)))] for x in every])
        added, replaced = more - value[base], more[:, None] - more
        if query.sensitivity(ADD).monotone:
            assert (added >= 0).all()
        for relation, change in ((ADD, added), (REPLACE, replaced)):
            far = np.abs(change)
            l1, linf = found[relation]
            found[relation] = max(l1, int(far.sum(axis=-1).max())), max(linf, int(far.max()))
    return found


@pytest.mark.parametrize(("d", "edge", "most"), [(1, 2, 4), (2, 1, 3)])
def test_no_data_set_of_a_tiny_lattice_moves_a_net_too_far(d, edge, most):
    """Ties, duplicates, slabs of uneven sizes, empty slabs, fewer rows than boxes, and more or fewer rows than N."""
    grid, tight = tiny_grid(d, edge), dict.fromkeys(Neighbours, 0.0)
    for slabs, rows in itertools.product((1, 2, 3), range(7)):
        query = NetSums(grid, slabs=slabs, rows=rows)
        for relation, (l1, linf) in worst_changes(query, grid.cells, most).items():
            bound = query.sensitivity(relation)
            assert l1 <= bound.l1
            assert linf <= bound.linf
            tight[relation] = max(tight[relation], l1 / bound.l1)
    assert min(tight.values()) >= (1.0 if d == 1 else 0.8)  # in one dimension 2L and 3L are reached: no room is left


@pytest.mark.parametrize(("d", "side", "most"), [(1, 5, 4), (2, 2, 4)])
def test_no_data_set_of_a_tiny_grid_moves_a_score_too_far(d, side, most):
    grid = Grid(Domain(middle=(0.0,) * d, half=(1.0,) * d), side)
    queries = [RadiusQuality(grid, t, slack) for t in (1, 3) for slack in (0, 2)]
    queries += [BallScores(grid, t) for t in (1, 3)] + [BoxCounts(grid, half) for half in (0, 1)]
    queries += [BoxSums(grid, grid.midpoints()[1], grid.domain.limit // 2)]
    queries += [WorstErrors(grid, points=2, centres=2, rows=3, objective=each) for each in ("k-means", "k-median")]
    for query in queries:
        for relation, (l1, linf) in worst_changes(query, grid.cells, most).items():
            bound = query.sensitivity(relation)
            assert l1 <= bound.l1
            assert linf <= bound.linf
            assert not (relation is REPLACE and bound.monotone)
