"""Stable maps: narrower curators ask the same rows, pay from the same reserve, and read nothing before the charge."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_curator
from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError, ParameterError
from covey.events import Pure, Sensitivity
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.engines.base import exact
from covey.public import Neighbours, resolve_bounds
from covey.queries.counts import CellCounts, Count
from covey.queries.grid import Grid
from covey.queries.projection import Projection

HALF = Fraction(1, 2)


def domain_of(d):
    return resolve_bounds((-1, 1), names=None, width=d)


def table_of(curator, grid):
    cells, counts = curator._engine.cells(grid)
    return dict(zip(cells.tolist(), counts.tolist(), strict=True))


def dropped_by_hand(rows, grid, centres, how_many):
    """Rows one by one, as Python integers: sort by (distance, cell), forget the first."""
    cells = grid.index(rows)
    points = grid.lattice_points(cells).T.tolist()
    order = []
    for cell, point in zip(cells.tolist(), points, strict=True):
        distance = min(sum((a - b) ** 2 for a, b in zip(point, centre, strict=True)) for centre in centres.tolist())
        order.append((distance, cell))
    left = sorted(order)[how_many:]
    return {cell: [c for _, c in left].count(cell) for _, cell in left}


SMALL = st.lists(st.tuples(*[st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.3, 0.5, 1.0, np.nan, np.inf])] * 2), max_size=12)


@given(SMALL, st.integers(0, 14), st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=3))
def test_dropping_the_nearest_rows_agrees_with_doing_it_by_hand(rows, how_many, centres):
    rows = np.array(rows, dtype=float).reshape(-1, 2)
    grid = Grid(domain_of(2), 7)
    curator = make_curator(rows, plan=Plan(()))
    places = grid.domain.snap(np.array(centres) * grid.domain.limit)
    left = curator.on_cells(grid).drop_nearest(places, how_many)
    lattice = np.concatenate([np.empty((2, 0), dtype=np.int32), *curator._engine.rows()], axis=1)
    assert table_of(left, grid) == dropped_by_hand(lattice, grid, places, how_many)


@given(SMALL, SMALL.filter(bool), st.integers(0, 8), st.sampled_from(list(Neighbours)))
def test_neighbours_stay_neighbours_when_rows_are_dropped(rows, more, how_many, relation):
    grid = Grid(domain_of(2), 5)
    base = np.array(rows, dtype=float).reshape(-1, 2)
    person, other = np.array(more[:1], dtype=float), np.array(more[-1:], dtype=float)
    first = np.concatenate([base, person])
    second = base if relation is Neighbours.ADD_REMOVE else np.concatenate([base, other])
    centre = grid.lattice_points(np.array([7]))[:, 0]
    tables = []
    for data in (first, second):
        narrower = make_curator(data, neighbours=relation, plan=Plan(())).on_cells(grid).drop_nearest(centre, how_many)
        counts = np.zeros(grid.cells, dtype=int)
        for cell, count in table_of(narrower, grid).items():
            counts[cell] = count
        tables.append(counts)
    change = tables[0] - tables[1]
    if relation is Neighbours.ADD_REMOVE:
        assert abs(change).sum() <= 1
        assert (change >= 0).all()
    else:
        assert change.sum() == 0
        assert abs(change).sum() <= 2


def test_cells_answer_like_rows_on_the_middles_of_cells(blobs):
    grid = Grid(domain_of(2), 16)
    curator = make_curator(blobs, plan=Plan(()))
    cells = curator.on_cells(grid)
    wanted = exact(curator._engine, CellCounts(grid))
    assert (exact(cells._engine, CellCounts(grid)) == wanted).all()
    assert exact(cells._engine, Count(grid.domain)).tolist() == [600]
    with pytest.raises(ParameterError, match="another grid"):
        cells._engine.cells(Grid(domain_of(2), 8))


class Heaviest:
    """A whole query: the largest number of rows in one cell."""

    name, size = "heaviest cell", 1

    def __init__(self, grid):
        self.grid, self.domain = grid, grid.domain

    def sensitivity(self, neighbours):  # noqa: ARG002
        return Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)

    def evaluate(self, cells, counts):  # noqa: ARG002
        return np.array([counts.max(initial=0)], dtype=np.int64)


def test_whole_queries_are_released_like_any_other(blobs):
    grid = Grid(domain_of(2), 4)
    noise = DiscreteLaplace(Fraction(1000))
    curator = make_curator(blobs, epsilon=Fraction(2000), plan=Plan((noise.event(),) * 2))
    heaviest = int(exact(curator._engine, CellCounts(grid)).max())
    assert curator.release(Heaviest(grid), noise).tolist() == [heaviest]
    assert curator.on_cells(grid).release(Heaviest(grid), noise).tolist() == [heaviest]


def test_nothing_is_read_before_the_charge_and_all_pay_from_one_reserve(watched):
    table = watched(np.zeros((30, 2)), broken=True)
    curator = make_curator(None, table=table)
    grid, noise = Grid(curator.domain, 4), DiscreteLaplace(HALF)
    flat = Projection(np.array([[1, 0]]), np.zeros(2), np.array([curator.domain.limit]), curator.domain)
    narrower = [curator.on_cells(grid), curator.project(flat)]
    for each in narrower:
        with pytest.raises(BudgetError, match="reserve a plan"):
            each.release(Count(each.domain), noise)
    with pytest.raises(BudgetError, match="reserve a plan"):
        narrower[0].drop_nearest(np.zeros(2), 3)
    assert table.read == 0
    table.broken = False
    curator.reserve(Plan((noise.event(),)))
    narrower[0].release(Count(curator.domain), noise)
    with pytest.raises(BudgetError, match="not planned"):
        narrower[1].release(Count(flat.target), noise)


def test_maps_of_another_domain_or_in_the_wrong_order_are_refused(blobs):
    curator = make_curator(blobs, plan=Plan(()))
    elsewhere = resolve_bounds((-2, 2), names=None, width=2)
    flat = Projection(np.array([[1, 0]]), np.zeros(2), np.array([5]), elsewhere)
    with pytest.raises(ParameterError, match="another domain"):
        curator.on_cells(Grid(elsewhere, 4))
    with pytest.raises(ParameterError, match="another domain"):
        curator.project(flat)
    with pytest.raises(ParameterError, match="on_cells first"):
        curator.drop_nearest(np.zeros(2), 1)
    cells = curator.on_cells(Grid(curator.domain, 4))
    with pytest.raises(ParameterError, match="before they are moved"):
        cells.split(2, Plan(()))
    with pytest.raises(ParameterError, match="coordinates"):
        cells.drop_nearest(np.zeros(3), 1)
    with pytest.raises(ParameterError, match=r"2\^24"):
        curator.on_cells(Grid(curator.domain, 2**13))


def projected_by_hand(rows, projection):
    limit = projection.target.limit
    out = []
    for row in rows.T.tolist():
        image = []
        for line, half in zip(projection.matrix.tolist(), projection.half.tolist(), strict=True):
            product = sum(m * (x - c) for m, x, c in zip(line, row, projection.middle.tolist(), strict=True))
            image.append(max(-half, min(half, product)) * limit / half)
        out.append(image)
    return np.array(out).reshape(-1, len(projection.half)).T


@pytest.mark.parametrize("d", [1, 3, 50, 784])
def test_projections_are_exact_and_do_not_depend_on_the_batch(d):
    domain = domain_of(d)
    rng = np.random.default_rng(d)
    q = min(d, 4)
    unit = Projection.unit(domain)
    matrix = np.rint(np.linalg.qr(rng.normal(size=(d, q)))[0].T * unit).astype(np.int64)
    projection = Projection(matrix, rng.uniform(-1, 1, d) * domain.limit, np.full(q, unit * domain.limit // 2), domain)
    rows = rng.integers(-domain.limit, domain.limit + 1, (d, 40)).astype(np.int32)
    rows[:, 0], rows[:, 1] = domain.limit, -domain.limit
    image = projection.apply(rows)
    assert np.abs(image - projected_by_hand(rows, projection)).max() <= 0.5 + 1e-6
    assert np.abs(image).max() <= projection.target.limit
    alone = np.concatenate([projection.apply(rows[:, i : i + 1]) for i in range(40)], axis=1)
    assert (image == alone).all()


def test_lifting_undoes_a_projection_inside_the_subspace():
    domain = domain_of(6)
    unit = Projection.unit(domain)
    rng = np.random.default_rng(0)
    matrix = np.rint(np.linalg.qr(rng.normal(size=(6, 6)))[0].T * unit).astype(np.int64)
    half = np.full(6, 3 * unit * domain.limit)
    projection = Projection(matrix, np.zeros(6), half, domain)
    rows = rng.integers(-domain.limit, domain.limit + 1, (6, 9)).astype(np.int32)
    assert np.abs(projection.lift(projection.apply(rows).T).T - rows).max() < 1e-4 * domain.limit


def test_projections_refuse_what_could_be_inexact_or_makes_no_sense():
    domain = domain_of(3)
    good = {"matrix": np.eye(3, dtype=int), "middle": np.zeros(3), "half": np.ones(3, dtype=int)}
    for name, value in [
        ("matrix", np.eye(3)),
        ("matrix", np.eye(4, dtype=int)),
        ("matrix", np.full((3, 3), 2**40)),
        ("half", np.zeros(3, dtype=int)),
        ("half", np.ones(2, dtype=int)),
        ("middle", np.zeros(2)),
    ]:
        with pytest.raises(ParameterError, match=name):
            Projection(**{**good, name: value}, domain=domain)


def test_parts_are_disjoint_complete_and_paid_for_once(blobs):
    noise = DiscreteLaplace(Fraction(500))
    curator = make_curator(blobs, epsilon=Fraction(500), seed=1)
    parts = curator.split(4, Plan((noise.event(),)))
    sizes = [int(part.release(Count(part.domain), noise)[0]) for part in parts]
    assert sum(sizes) == 600
    assert min(sizes) > 90  # 150 each on average: more than five standard deviations
    for part in [*parts, curator]:
        with pytest.raises(BudgetError):
            part.release(Count(part.domain), noise)
    with pytest.raises(BudgetError, match="does not fit"):
        curator.split(2, Plan((Pure(Fraction(1)),)))


def test_the_parts_of_rows_do_not_depend_on_values():
    tables = []
    for value in (0.0, 0.7):
        curator = make_curator(np.full((200, 1), value), seed=5)
        tables.append([int(exact(part._engine, Count(part.domain))[0]) for part in curator.split(3, Plan(()))])
    assert tables[0] == tables[1]
    assert sum(tables[0]) == 200
