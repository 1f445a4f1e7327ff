"""The queries of `net-coreset` and `exact-coreset`: brute-force twins, and one row moves them as little as declared."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import ParameterError
from covey.post.rings import make_radii, make_rays, make_rings, rays_in, widest_angle
from covey.private.engines.base import exact
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.exact import WorstErrors, work
from covey.queries.grid import Grid
from covey.queries.intervals import CentreCounts, IntervalCounts
from covey.queries.net import NetSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
ODD = [math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308]


def unit_domain(d: int, *, ball: bool = False) -> Domain:
    """A domain in whose coordinates the lattice points are the whole numbers."""
    limit = float(Domain(middle=(0.0,) * d, half=(1.0,) * d).limit)
    return Domain(middle=(0.0,) * d, half=(limit,) * d, ball=ball)


def statistic(query, rows) -> np.ndarray:
    table = ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), query.domain.dimension))
    return exact(MemoryEngine(table, query.domain), query)


def assert_within(query, before, after, relation) -> None:
    change = statistic(query, after) - statistic(query, before)
    bound = query.sensitivity(relation)
    assert int(np.abs(change).sum()) <= bound.l1
    assert int((change.astype(object) ** 2).sum()) <= bound.l2_squared
    assert int(np.abs(change).max(initial=0)) <= bound.linf
    assert int((change != 0).sum()) <= bound.coordinates
    if bound.monotone:
        assert (change >= 0).all() or (change <= 0).all()


@st.composite
def neighbours(draw, domain: Domain, *, most: int = 14):
    """(rows, with one more, with another one instead): few values, so that ties and duplicates are the rule."""
    limit = float(domain.limit)
    value = st.one_of(
        st.sampled_from([-limit, -limit / 2, 0.0, limit / 2, limit]), st.sampled_from(ODD), st.floats(-limit, limit)
    )
    row = st.tuples(*[value] * domain.dimension)
    rows = draw(st.lists(row, max_size=most))
    rows += draw(st.lists(st.sampled_from(rows), max_size=4)) if rows else []
    place = draw(st.integers(0, len(rows)))
    return rows, *([*rows[:place], draw(row), *rows[place:]] for _ in range(2))


# --- the net ----------------------------------------------------------------------------------------------------------


@st.composite
def nets(draw):
    d = draw(st.integers(1, 3))
    grid = Grid(unit_domain(d, ball=draw(st.booleans())), draw(st.integers(1, 7)))
    return NetSums(grid, slabs=draw(st.integers(1, 4)), rows=draw(st.integers(0, 20)))


def slabs_one_by_one(query: NetSums, cells, counts) -> np.ndarray:
    """The definition, on a list of single rows."""
    places = query.grid.lattice_points(np.asarray(cells)).T.astype(object)
    rows = [(tuple(places[i]), cell) for i, cell in enumerate(cells) for _ in range(counts[i])]

    def cut(some, axis, size):
        if axis == query.domain.dimension:
            return [[sum(point[j] for point, _ in some) for j in range(axis)]]
        some = sorted(some, key=lambda each: (each[0][axis], each[1]))
        ends = [i * size // query.slabs for i in range(query.slabs + 1)]
        return [box for a, b in itertools.pairwise(ends) for box in cut(some[a : min(b, len(some))], axis + 1, b - a)]

    return np.array(cut(rows, 0, query.rows), dtype=np.int64).ravel()


@given(nets(), st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 6)), max_size=12))
@settings(max_examples=120)
def test_nested_slabs_are_those_of_the_definition(query, table):
    unique = {cell % query.grid.cells: count for cell, count in table}
    cells = np.array(sorted(unique), dtype=np.int64)
    counts = np.array([unique[c] for c in cells.tolist()], dtype=np.int64)
    assert query.evaluate(cells, counts).tolist() == slabs_one_by_one(query, cells, counts).tolist()
    assert query.sizes().sum() == query.rows
    assert np.ptp(query.sizes()) <= query.domain.dimension


@given(st.data(), nets())
@settings(max_examples=160)
def test_one_row_moves_the_net_by_at_most_the_sensitivity(data, query):
    rows, one, other = data.draw(neighbours(query.domain))
    assert_within(query, rows, one, ADD)
    assert_within(query, one, rows, ADD)
    assert_within(query, one, other, REPLACE)


@given(st.data(), st.integers(0, 12))
@settings(max_examples=90)
def test_every_box_swaps_at_most_one_row_and_one_gains_one(data, size):
    """Lemma 2 of net.md, seen through numbers of rows: sums of a coordinate that is 1 for all rows."""
    query = NetSums(Grid(unit_domain(2), 6), slabs=3, rows=size)
    rows, one, _ = data.draw(neighbours(query.domain))
    sizes = []
    for each in (rows, one):
        cells, counts = MemoryEngine(ArrayTable(np.array(each).reshape(-1, 2)), query.domain).cells(query.grid)
        counted = NetSums(Grid(unit_domain(2), 6), slabs=3, rows=size)
        counted.grid = OnesGrid(query.domain, 6)
        sizes.append(counted.evaluate(cells, counts).reshape(9, 2)[:, 0])
    gained = sizes[1] - sizes[0]
    assert gained.sum() in (0, 1)
    assert np.abs(gained).sum() <= 1
    assert (sizes[1] <= query.sizes()).all()


class OnesGrid(Grid):
    """A grid whose lattice points have the first coordinate 1, but that keeps the order of the real ones."""

    def lattice_points(self, cells):
        points = super().lattice_points(cells)
        return Ones(points)


class Ones:
    """Sorts like the points; adds up like ones."""

    def __init__(self, points):
        self.points = points

    def astype(self, _):
        return self

    def __getitem__(self, place):
        if isinstance(place[0], slice):
            return np.ones_like(self.points[place], dtype=np.int64)
        return self.points[place]


def test_in_one_dimension_the_number_of_slabs_does_not_matter():
    """The bound 2L is reached, and not exceeded however many slabs there are."""
    domain = unit_domain(1)
    limit = float(domain.limit)
    rows = [(x,) for x in np.linspace(-limit, limit, 60)]
    for slabs in (1, 4, 12):
        query = NetSums(Grid(domain, 2**12), slabs=slabs, rows=61)
        change = statistic(query, [*rows, (limit,)]) - statistic(query, [*rows, (-limit,)])
        assert query.sensitivity(REPLACE).l1 == 2 * domain.limit
        assert np.abs(change).sum() == pytest.approx(2 * domain.limit, rel=1e-3)


def test_in_two_dimensions_the_bound_needs_its_factor_and_not_more():
    """A chain of slabs in which every swap crosses the second coordinate: c times what one box can move."""
    domain, c = unit_domain(2), 6
    limit = float(domain.limit)
    first = np.linspace(-0.9, 0.9, c) * limit
    rows = []
    for i, x in enumerate(first):  # 4 rows a slab; those that cross the borders jump from one edge to the other
        rows += [(x, limit * (-1) ** i), (x + 1, 0.0), (x + 2, 0.0), (x + 3, 0.0)]
    rows = rows[1:]
    query = NetSums(Grid(domain, 2**12), slabs=c, rows=4 * c)
    after, before = [(-limit, 0.0), *rows], [*rows, (limit, 0.0)]
    moved = np.abs(statistic(query, after) - statistic(query, before)).sum()
    assert 2 * domain.row_l1 < moved <= query.sensitivity(REPLACE).l1
    assert query.sensitivity(REPLACE).l1 == 4 * domain.limit * c


def test_the_net_refuses_what_it_cannot_hold():
    grid = Grid(unit_domain(2), 8)
    for wrong in ({"slabs": 0, "rows": 5}, {"slabs": 300, "rows": 5}, {"slabs": 2, "rows": -1}):
        with pytest.raises(ParameterError):
            NetSums(grid, **wrong)
    with pytest.raises(ParameterError, match="2\\^24"):
        NetSums(Grid(unit_domain(2), 2**13), slabs=2, rows=5)


# --- rings and intervals ----------------------------------------------------------------------------------------------


@st.composite
def ringed(draw):
    d = draw(st.integers(1, 3))
    domain = unit_domain(d, ball=draw(st.booleans()))
    place = st.one_of(
        st.sampled_from([0, domain.limit, -domain.limit, domain.limit // 2]), st.integers(-domain.limit, domain.limit)
    )
    many = draw(st.integers(1, 5))
    flat = draw(st.lists(place, min_size=many * d, max_size=many * d))
    centres = np.unique(np.array(flat, dtype=np.int64).reshape(many, d), axis=0)
    radii = make_radii(
        inner=draw(st.floats(1, 1e8)), outer=2 * domain.limit * d**0.5, growth=draw(st.floats(0.3, 1)), most=20
    )
    rings = make_rings(centres, limit=domain.limit, steps=draw(st.integers(1, 3)), radii=radii)
    return rings, IntervalCounts(centres, rings.rays, rings.squares, rings.place, domain)


def slot_one_by_one(query: IntervalCounts, row) -> int:
    x = [int(each) for each in row]
    squared = [sum((a - int(b)) ** 2 for a, b in zip(x, c, strict=True)) for c in query.centres]
    centre = squared.index(min(squared))
    products = [
        sum(int(u) * (a - int(b)) for u, a, b in zip(ray, x, query.centres[centre], strict=True)) for ray in query.rays
    ]
    interval = sum(int(s) < squared[centre] for s in query.squares) - 1
    return -1 if interval < 0 else int(query.place[centre, products.index(max(products)), interval])


@given(st.data(), ringed())
@settings(max_examples=120)
def test_slots_are_those_of_the_definition_and_rows_are_moved_no_farther_than_said(data, case):
    rings, query = case
    d, limit = query.domain.dimension, query.domain.limit
    value = st.one_of(
        st.sampled_from([-limit, 0, limit]), st.integers(-limit, limit), st.sampled_from(query.centres.ravel().tolist())
    )
    flat = data.draw(st.lists(value, min_size=8 * d, max_size=8 * d))
    rows = np.array(flat, dtype=np.int32).reshape(d, 8)
    slots = query.slots(rows)
    assert slots.tolist() == [slot_one_by_one(query, row) for row in rows.T]
    assert slots.tolist() == [int(query.slots(rows[:, [i]])[0]) for i in range(8)]  # whatever the batch
    near = np.sqrt(np.square(query.centres[:, :, None] - rows.astype(np.float64)).sum(axis=1).min(axis=0))
    assert (near[slots < 0] <= rings.inner + 1).all()  # no row falls into a slot that was left out
    inside = slots >= 0
    moved = np.sqrt(np.square(rings.points[slots[inside]] - rows.T[inside]).sum(axis=1))
    assert (moved <= rings.moved[slots[inside]] * (1 + 1e-6) + 2).all()


@given(st.data(), ringed())
@settings(max_examples=90)
def test_one_row_moves_the_counts_by_at_most_the_sensitivity(data, case):
    _, query = case
    rows, one, other = data.draw(neighbours(query.domain))
    for each in (query, CentreCounts(query.centres, query.domain)):
        assert_within(each, rows, one, ADD)
        assert_within(each, one, other, REPLACE)
        assert statistic(each, rows).sum() <= len(rows)
    assert statistic(CentreCounts(query.centres, query.domain), rows).sum() == len(rows)


@pytest.mark.parametrize(("d", "steps"), [(1, 1), (2, 1), (2, 3), (2, 20), (3, 1), (3, 2), (4, 1), (5, 1)])
def test_no_direction_is_farther_from_its_ray_than_said(d, steps):
    rays = make_rays(d, steps)
    assert len(rays) == rays_in(d, steps)
    y = np.random.default_rng(d).normal(size=(20_000, d))
    y /= np.sqrt(np.square(y).sum(axis=1, keepdims=True))
    chosen = rays[(y @ rays.T).argmax(axis=1)].astype(np.float64)
    cosine = (y * chosen).sum(axis=1) / np.sqrt(np.square(chosen).sum(axis=1))
    angle = np.arccos(np.clip(cosine, -1, 1)).max()
    assert angle <= widest_angle(d, steps) + 1e-7
    assert d == 1 or angle >= 0.5 * widest_angle(d, steps)


def test_intervals_refuse_tables_that_do_not_fit():
    domain, one = unit_domain(1), np.ones((1, 1), dtype=np.int64)
    good = {"centres": [[0.0]], "rays": one, "squares": [4], "place": [[[0]]]}
    assert IntervalCounts(**good, domain=domain).size == 1
    for wrong in (
        {"rays": one * 0.5},
        {"rays": one * 2**20},
        {"squares": [4, 4]},
        {"place": [[0]]},
        {"place": [[[1]]]},
        {"centres": np.empty((0, 1))},
    ):
        with pytest.raises(ParameterError):
            IntervalCounts(**{**good, **wrong}, domain=domain)


# --- exact coresets ---------------------------------------------------------------------------------------------------


@st.composite
def tiny(draw):
    d = draw(st.integers(1, 2))
    return WorstErrors(
        Grid(unit_domain(d), draw(st.integers(1, 3 if d == 2 else 5))),
        points=draw(st.integers(1, 3)),
        centres=draw(st.integers(1, 3)),
        rows=draw(st.integers(0, 30)),
        objective=draw(st.sampled_from(["k-means", "k-median"])),
    )


@given(st.data(), tiny())
@settings(max_examples=90)
def test_one_row_moves_the_worst_errors_by_at_most_the_sensitivity(data, query):
    rows, one, other = data.draw(neighbours(query.domain, most=8))
    assert_within(query, rows, one, ADD)
    assert_within(query, one, rows, ADD)
    assert_within(query, one, other, REPLACE)


def worst_one_by_one(query: WorstErrors, cells, counts) -> list[int]:
    places = query.grid.lattice_points(np.arange(query.grid.cells)).T.astype(object)

    def cost(cell, chosen):
        squared = min(sum((a - b) ** 2 for a, b in zip(places[cell], places[q], strict=True)) for q in chosen)
        return (squared if query.objective == "k-means" else math.isqrt(squared)) >> query.shift

    every = range(query.grid.cells)
    queries = [q for i in range(1, query.centres + 1) for q in itertools.combinations(every, i)]
    return [
        -max(
            abs(
                query.points * sum(n * cost(cell, q) for cell, n in zip(cells, counts, strict=True))
                - query.rows * sum(cost(cell, q) for cell in coreset)
            )
            for q in queries
        )
        for coreset in itertools.combinations_with_replacement(every, query.points)
    ]


@given(st.data(), tiny())
@settings(max_examples=40)
def test_worst_errors_are_those_of_the_definition(data, query):
    table = data.draw(st.dictionaries(st.integers(0, query.grid.cells - 1), st.integers(1, 9), max_size=4))
    cells = np.array(sorted(table), dtype=np.int64)
    counts = np.array([table[c] for c in cells.tolist()], dtype=np.int64)
    assert query.evaluate(cells, counts).tolist() == worst_one_by_one(query, cells.tolist(), counts.tolist())
    assert query.size == work(query.grid.cells, points=query.points, centres=query.centres)[0]
    assert len(query.costs()) == work(query.grid.cells, points=query.points, centres=query.centres)[1]
    assert query.costs().max() <= query.row_cost


def test_exact_coresets_refuse_too_much_work():
    with pytest.raises(ParameterError, match="too many"):
        WorstErrors(Grid(unit_domain(2), 8), points=6, centres=3, rows=10)
    with pytest.raises(ParameterError, match="objective"):
        WorstErrors(Grid(unit_domain(1), 2), points=1, centres=1, rows=10, objective="k-center")
