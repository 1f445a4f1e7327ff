"""One person moves an exact statistic by at most what its query declares; and by that much in the worst case.

Rows hold NaN, infinities, -0.0, huge numbers, duplicates, exact corners and exact ties. The statistic is the engine's
own, before any noise.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.audit.likelihood import by_block
from covey.events import Sensitivity
from covey.geo.areas import Area, Regions
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, InsideOutside, OccupiedCells, Outside
from covey.queries.grid import Grid
from covey.queries.squares import NearestSquares, farthest_square
from covey.queries.tree import Nodes, Tree, TreeLeaves
from covey.queries.voronoi import VoronoiSums
from covey.queries.zoned import ByZone, ZonedCells, ZonedLeaves

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def unit_domain(d: int, *, ball: bool) -> Domain:
    """A domain in whose coordinates the lattice points are the whole numbers: ties and corners can be written down."""
    limit = float(Domain(middle=(0.0,) * d, half=(1.0,) * d).limit)
    return Domain(middle=(0.0,) * d, half=(limit,) * d, ball=ball)


def exact(query, rows: list[tuple[float, ...]]) -> dict[int, int] | list[int]:
    """The statistic of these rows as Python integers: by coordinate, or by key."""
    table = ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), query.domain.dimension))
    engine = MemoryEngine(table, query.domain)
    if isinstance(query, OccupiedCells):
        keys, counts = engine.totals_by_key(query)
        return dict(zip(keys.tolist(), counts.tolist(), strict=True))
    return engine.total(query).tolist()


def moves(query, before: list, after: list) -> list[int]:
    a, b = exact(query, before), exact(query, after)
    if isinstance(a, dict):
        return [b.get(key, 0) - a.get(key, 0) for key in sorted({*a, *b})]
    return [y - x for x, y in zip(a, b, strict=True)]


def assert_within(changes: list[int], bound: Sensitivity) -> None:
    assert sum(map(abs, changes)) <= bound.l1
    assert sum(c * c for c in changes) <= bound.l2_squared
    assert max(map(abs, changes), default=0) <= bound.linf
    assert sum(c != 0 for c in changes) <= bound.coordinates
    assert by_block(changes, [0] * len(changes), bound.block) <= bound.l2_by_block
    if bound.monotone:
        assert min(changes, default=0) >= 0 or max(changes, default=0) <= 0


@st.composite
def coordinates(draw, domain: Domain):
    limit = domain.limit
    return float(
        draw(
            st.one_of(
                st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, -1e308, limit, -limit, 0.5, -0.5]),
                st.sampled_from([limit - 1, 1 - limit, limit / 2, -limit / 2, 10.0 * limit, limit * (1 + 1e-15)]),
                st.integers(-limit, limit),
                st.floats(),
            )
        )
    )


def make_query(draw, kind: str, domain: Domain):
    d, limit = domain.dimension, domain.limit
    place = st.one_of(st.sampled_from([-limit, 0, limit, limit // 2, -(limit // 2)]), st.integers(-limit, limit))

    def points(count: int) -> np.ndarray:
        flat = draw(st.lists(place, min_size=count * d, max_size=count * d))
        return np.array(flat, dtype=np.float64).reshape(count, d)

    if kind == "count":
        return Count(domain)
    if kind == "inside and outside":
        return InsideOutside(domain)
    if kind == "outside":
        return Outside(domain)
    if kind == "cells":
        return CellCounts(Grid(domain, draw(st.integers(1, 5))))
    if kind == "occupied":
        most = min(2**40, int(2 ** (61 / d)))
        return OccupiedCells(Grid(domain, draw(st.integers(1, most))))
    if kind == "voronoi":
        return VoronoiSums(points(draw(st.integers(1, 4))), domain)
    if kind == "squares":
        return NearestSquares(points(draw(st.integers(1, 4))), domain)
    if kind == "cells and zones":
        return ZonedCells.of(domain, draw(st.integers(1, 5)), regions(draw, place, domain))
    if kind == "leaves and zones":
        leaves, zones = halves(domain), regions(draw, place, domain)
        pairs = st.lists(st.booleans(), min_size=leaves.size, max_size=leaves.size)
        listed = np.array([draw(pairs) for _ in range(len(zones.areas) + 1)])
        listed[0, 0] = True
        return ZonedLeaves(leaves, zones, listed)
    if kind.startswith("by zone: "):
        return ByZone(make_query(draw, kind.removeprefix("by zone: "), domain), regions(draw, place, domain))
    sets = draw(st.integers(1, 3))
    many = draw(st.integers(1, 3))
    return NegativeCosts(points(sets * many).reshape(sets, many, d), domain, objective=kind)


def halves(domain: Domain) -> TreeLeaves:
    tree = Tree(domain)
    return TreeLeaves(tree, Nodes(np.array([1, 1]), np.array([0, 1])))


def regions(draw, place, domain: Domain) -> Regions:
    """Up to three zones, each a box along the first axis; they may touch, overlap, and be thin."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        ends = np.array([[-np.inf] * domain.dimension, [np.inf] * domain.dimension])
        ends[:, 0] = sorted((draw(place), draw(place)))
        found.append(Area(domain, Fraction(number + 1, 10), (), (0, 0), ends[None]))
    return Regions(domain, tuple(found))


@st.composite
def cases(draw, kind: str, *, ball: bool):
    domain = unit_domain(draw(st.integers(1, 6)), ball=ball)
    row = st.tuples(*[coordinates(domain)] * domain.dimension)
    rows = draw(st.lists(row, max_size=6))
    rows += draw(st.lists(st.sampled_from(rows), max_size=3)) if rows else []  # duplicates
    return make_query(draw, kind, domain), rows, draw(row), draw(row), draw(st.integers(0, len(rows)))


KINDS = ["count", "inside and outside", "outside", "cells", "occupied", "voronoi", "squares", "k-means", "k-median"]
KINDS += ["cells and zones", "leaves and zones", "by zone: cells", "by zone: voronoi", "by zone: squares"]


@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_row_moves_the_statistic_by_at_most_the_sensitivity(kind, ball):
    @settings(max_examples=20 if kind == "count" else 75)
    @given(cases(kind, ball=ball))
    def check(case):
        query, rows, one, other, place = case
        with_one = [*rows[:place], one, *rows[place:]]
        with_other = [*rows[:place], other, *rows[place:]]
        assert_within(moves(query, rows, with_one), query.sensitivity(ADD))
        assert_within(moves(query, with_one, rows), query.sensitivity(ADD))
        assert_within(moves(query, with_one, with_other), query.sensitivity(REPLACE))

    check()


def corner(domain: Domain, sign: int = 1) -> tuple[float, ...]:
    return (float(sign * domain.limit),) * domain.dimension


def norms(changes: list[int]) -> tuple[int, int, int]:
    return sum(map(abs, changes)), sum(c * c for c in changes), max(map(abs, changes))


@pytest.mark.parametrize("d", range(1, 7))
def test_rows_inside_and_outside_attain_their_bounds(d):
    domain = unit_domain(d, ball=False)
    inside, outside = corner(domain), (math.nan,) * d
    assert moves(InsideOutside(domain), [], [outside]) == [0, 1]
    assert norms(moves(InsideOutside(domain), [inside], [outside])) == (2, 2, 1)
    assert norms(moves(Outside(domain), [inside], [outside])) == (1, 1, 1)
    for query in (InsideOutside(domain), Outside(domain)):
        bound = query.sensitivity(REPLACE)
        assert norms(moves(query, [outside], [inside])) == (bound.l1, bound.l2_squared, bound.linf)


@pytest.mark.parametrize("d", range(1, 7))
def test_counts_attain_their_bound(d):
    domain = unit_domain(d, ball=False)
    for query in (CellCounts(Grid(domain, 2)), OccupiedCells(Grid(domain, 2))):
        assert norms(moves(query, [], [corner(domain)])) == (1, 1, 1)
        changed = moves(query, [corner(domain)], [corner(domain, -1)])
        bound = query.sensitivity(REPLACE)
        assert (sum(map(abs, changed)), sum(c * c for c in changed)) == (bound.l1, bound.l2_squared)
        assert sum(c != 0 for c in changed) == bound.coordinates
        assert not bound.monotone


@pytest.mark.parametrize("d", range(1, 7))
def test_sums_in_a_box_attain_every_bound(d):
    domain = unit_domain(d, ball=False)
    one = VoronoiSums([corner(domain, 0)], domain)
    two = VoronoiSums([corner(domain), corner(domain, -1)], domain)
    bound = one.sensitivity(ADD)
    assert norms(moves(one, [], [corner(domain)])) == (bound.l1, bound.l2_squared, bound.linf)
    assert bound.l1 == (d + 1) * domain.limit  # Su et al.'s d + 1, in units of the edge
    bound = two.sensitivity(REPLACE)
    apart = moves(two, [corner(domain)], [corner(domain, -1)])  # from one cluster into the other
    within = moves(one, [corner(domain)], [corner(domain, -1)])  # across one cluster
    assert norms(apart)[0] == bound.l1
    assert sum(c != 0 for c in apart) == bound.coordinates
    assert max(norms(apart)[1], norms(within)[1]) == bound.l2_squared
    assert norms(within)[2] == bound.linf


@pytest.mark.parametrize("d", range(1, 7))
def test_sums_in_a_ball_attain_their_bounds_but_for_rounding(d):
    domain = unit_domain(d, ball=True)
    query, bound = VoronoiSums([corner(domain, 0)], domain), VoronoiSums([corner(domain, 0)], domain).sensitivity(ADD)
    axis = (float(domain.limit), *[0.0] * (d - 1))
    assert norms(moves(query, [], [axis]))[1:] == (bound.l2_squared, bound.linf)
    diagonal = norms(moves(query, [], [corner(domain)]))[0]
    assert bound.l1 - 2 * d <= diagonal <= bound.l1  # truncation toward the middle takes less than 1 per coordinate
    bound = query.sensitivity(REPLACE)
    opposite = (-axis[0], *axis[1:])
    assert norms(moves(query, [axis], [opposite]))[1:] == (bound.l2_squared, bound.linf)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("d", range(1, 7))
def test_costs_attain_their_bound(d, objective):
    domain = unit_domain(d, ball=False)
    query = NegativeCosts([[corner(domain)], [corner(domain, -1)]], domain, objective=objective)
    bound = query.sensitivity(ADD)
    assert moves(query, [], [corner(domain)]) == [0, -bound.linf]
    alike = NegativeCosts([[corner(domain)], [corner(domain)]], domain, objective=objective)
    assert norms(moves(alike, [], [corner(domain, -1)])) == (bound.l1, bound.l2_squared, bound.linf)
    changed = moves(query, [corner(domain)], [corner(domain, -1)])
    assert changed == [-bound.linf, bound.linf]  # both signs: replace-one is not monotone
    assert not query.sensitivity(REPLACE).monotone
    assert bound.monotone
    assert query.row_cost < 2**26


@pytest.mark.parametrize("d", range(1, 7))
def test_squares_attain_their_bound(d):
    """A centre in a corner has rows at the whole diagonal, one in the middle at half of it: 4dL² and dL²."""
    domain = unit_domain(d, ball=False)
    for centre, times in ((corner(domain), 4), (corner(domain, 0), 1)):
        query = NearestSquares([centre], domain)
        assert farthest_square(query.centres, domain) == times * d * domain.limit**2
        for relation in (ADD, REPLACE):
            bound = query.sensitivity(relation)
            away = moves(query, [centre], [corner(domain, -1)])
            assert norms(away) == (bound.l1, bound.l2_squared, bound.linf)
            assert bound.l1 == query.row_most < 2**26
    assert query.sensitivity(ADD).monotone
    assert not query.sensitivity(REPLACE).monotone


@settings(max_examples=150)
@given(st.data(), st.booleans())
def test_no_row_is_farther_from_all_centres_than_the_farthest_place(data, ball):
    query, rows, *_ = data.draw(cases("squares", ball=ball))
    domain, centres = query.domain, query.centres.tolist()
    sharp = [list(place) for place in itertools.product([-domain.limit, domain.limit], repeat=domain.dimension)]
    engine = MemoryEngine(ArrayTable(np.array([*rows, *sharp]).reshape(-1, domain.dimension)), domain)
    lattice = [row for block in engine._load() for row in block.rows.T.tolist()]
    each = [min(sum((x - c) ** 2 for x, c in zip(row, centre, strict=True)) for centre in centres) for row in lattice]
    assert max(each) <= farthest_square(query.centres, domain)
    assert exact(query, [*rows, *sharp]) == [sum(square >> query.shift for square in each)]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_farthest_place_is_found_nearly(d):
    """Centres all over the domain: the bound is that of a fine net of places, not of the diagonal."""
    domain = unit_domain(d, ball=False)
    centres = domain.snap(np.random.default_rng(d).uniform(-domain.limit, domain.limit, (30, d)))
    side = np.linspace(-domain.limit, domain.limit, {1: 4001, 2: 201, 3: 41}[d])
    places = np.stack(np.meshgrid(*[side] * d), axis=-1).reshape(-1, 1, d)
    seen = max(np.square(part - centres).sum(axis=2).min(axis=1).max() for part in np.array_split(places, 50))
    assert seen <= farthest_square(centres, domain) <= 1.25 * seen


def test_a_search_over_all_corners_finds_exactly_the_declared_bounds():
    """Exhaustive for d <= 2: rows from corners, edges and the middle, two centres."""
    for d in (1, 2):
        domain = unit_domain(d, ball=False)
        places = list(itertools.product([-domain.limit, 0, domain.limit], repeat=d))
        most = {ADD: [0, 0, 0], REPLACE: [0, 0, 0]}
        for a, b in itertools.product(places, repeat=2):
            query = VoronoiSums([a, b], domain)
            for x in places:
                most[ADD] = list(map(max, most[ADD], norms(moves(query, [], [x]))))
                for y in places:
                    if x != y:
                        most[REPLACE] = list(map(max, most[REPLACE], norms(moves(query, [x], [y]))))
        for relation, found in most.items():
            bound = query.sensitivity(relation)
            assert found == [bound.l1, bound.l2_squared, bound.linf]


@pytest.mark.parametrize("d", range(1, 7))
def test_the_printed_sensitivity_is_too_small_under_replace_one(d):
    """Su et al. print Lap((d+1)t/ε) without naming the relation. A corner row that changes its cluster breaks it."""
    domain = unit_domain(d, ball=False)
    query = VoronoiSums([corner(domain), corner(domain, -1)], domain)
    true = query.sensitivity(REPLACE)
    printed = Sensitivity(
        l1=(d + 1) * domain.limit, l2_squared=true.l2_squared, linf=true.linf, coordinates=true.coordinates
    )
    changes = moves(query, [corner(domain)], [corner(domain, -1)])
    assert_within(changes, true)
    with pytest.raises(AssertionError):
        assert_within(changes, printed)
    assert sum(map(abs, changes)) == 2 * printed.l1


@pytest.mark.parametrize("field", ["l1", "l2_squared", "linf", "coordinates"])
def test_a_sensitivity_that_is_one_too_small_is_caught(field):
    domain = unit_domain(2, ball=False)
    query = VoronoiSums([corner(domain, 0)], domain)
    true = vars(query.sensitivity(ADD))
    with pytest.raises(AssertionError):
        assert_within(moves(query, [], [corner(domain)]), Sensitivity(**{**true, field: true[field] - 1}))


def test_a_wrong_claim_of_monotony_is_caught():
    with pytest.raises(AssertionError):
        assert_within([1, -1], Sensitivity(l1=2, l2_squared=2, linf=1, coordinates=2, monotone=True))


# Statistics against twins in Python's integers.


@settings(max_examples=100)
@given(st.data(), st.booleans())
def test_sums_and_costs_equal_their_twins(data, ball):
    query, rows, *_ = data.draw(cases("voronoi", ball=ball))
    domain, centres = query.domain, query.centres.tolist()
    engine = MemoryEngine(ArrayTable(np.array(rows).reshape(len(rows), domain.dimension)), domain)
    lattice = [row for block in engine.rows() for row in block.T.tolist()]

    def distances(row: list[int]) -> list[int]:
        return [sum((x - c) ** 2 for x, c in zip(row, centre, strict=True)) for centre in centres]

    sums = [[0] * (domain.dimension + 1) for _ in centres]
    for row in lattice:
        label = min(range(len(centres)), key=distances(row).__getitem__)
        sums[label] = [a + b for a, b in zip(sums[label], [*row, domain.limit], strict=True)]
    assert exact(query, rows) == [value for line in sums for value in line]
    for objective in ("k-means", "k-median"):
        costs = NegativeCosts([centres], domain, objective=objective)
        each = [min(distances(row)) for row in lattice]
        each = [math.isqrt(cost) for cost in each] if objective == "k-median" else each
        assert exact(costs, rows) == [-sum(cost >> costs.shift for cost in each)]
        assert all(cost >> costs.shift <= costs.row_cost for cost in each)


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(1, 2**20), st.data())
def test_cells_equal_their_twin(d, per_axis, data):
    domain = unit_domain(d, ball=False)
    limit = domain.limit
    near = st.integers(-limit, limit) | st.sampled_from([-limit, limit, 0, 1 - limit, limit - 1])
    rows = np.array(data.draw(st.lists(st.tuples(*[near] * d), min_size=1, max_size=8))).T.astype(np.int32)
    grid = Grid(domain, min(per_axis, int(2 ** (61 / d))))
    cells = grid.index(rows).tolist()
    for row, cell in zip(rows.T.tolist(), cells, strict=True):
        by_hand = 0
        for x in row:
            by_hand = by_hand * grid.per_axis + (x + limit) * grid.per_axis // (2 * limit + 1)
        assert cell == by_hand
        assert 0 <= cell < grid.cells


@given(st.integers(1, 3), st.integers(1, 40))
def test_a_cells_middle_lies_in_the_cell(d, per_axis):
    domain = unit_domain(d, ball=False)
    grid = Grid(domain, per_axis)
    cells = np.unique(np.linspace(0, grid.cells - 1, 50).astype(np.int64))
    middles = np.rint(grid.midpoints(cells)).astype(np.int32)
    assert grid.index(middles.T).tolist() == cells.tolist()


@pytest.mark.parametrize(("d", "per_axis"), [(1, 2**24), (1, 2**61), (2, 2**30), (6, 2**10)])
def test_even_the_finest_grid_has_a_cell_for_every_row(d, per_axis):
    domain = unit_domain(d, ball=False)
    grid = Grid(domain, per_axis)
    edge = np.array([[-domain.limit] * d, [domain.limit] * d, [0] * d], dtype=np.int32).T
    cells = grid.index(edge)
    assert cells.min() == 0
    assert cells.max() < grid.cells
