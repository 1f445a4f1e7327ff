"""One person moves the scores of small balls at most as far as declared; dropping rows keeps neighbours neighbours."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.private.cells import CellEngine
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.ballcounts import BallScores, BoxCounts, BoxSums
from covey.queries.grid import Grid
from covey.queries.radius import RadiusQuality

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def number(side: int) -> st.SearchStrategy[float]:
    """Anything a table can hold; often on a border between cells, and often the same."""
    borders = st.integers(0, side).map(lambda i: 2 * i / side - 1)
    return st.one_of(st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e300, 0.25]), borders, st.floats(-1, 1))


@st.composite
def cases(draw):
    d, side = draw(st.sampled_from([(1, 1), (1, 6), (1, 33), (2, 2), (2, 5), (2, 9), (3, 4)]))
    grid = Grid(Domain(middle=(0.0,) * d, half=(1.0,) * d), side)
    row = st.tuples(*[number(side)] * d)
    few = draw(st.lists(row, max_size=3))  # many copies of few rows: balls fill up, ties abound
    rows = draw(st.lists(row, max_size=8)) + [each for each in few for _ in range(draw(st.integers(0, 9)))]
    return grid, rows, draw(row), draw(row)


def make_query(draw, grid: Grid):
    t = draw(st.integers(1, 12))
    d, limit = grid.domain.dimension, grid.domain.limit
    middle = np.array(draw(st.lists(st.integers(-limit, limit), min_size=d, max_size=d)), dtype=np.float64)
    return draw(
        st.sampled_from(
            [
                BallScores(grid, t),
                BoxCounts(grid, draw(st.integers(0, 8))),
                RadiusQuality(grid, t, draw(st.integers(0, 9))),
                BoxSums(
                    grid, middle[: grid.domain.dimension].astype(float), draw(st.integers(1, 2 * grid.domain.limit))
                ),
            ]
        )
    )


def engine_of(grid: Grid, rows: list) -> CellEngine:
    table = ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), grid.domain.dimension))
    memory = MemoryEngine(table, grid.domain)
    return CellEngine(grid, lambda: memory.cells(grid))


def assert_near(query, before: np.ndarray, after: np.ndarray, relation: Neighbours) -> None:
    bound, change = query.sensitivity(relation), after - before
    assert np.abs(change).max() <= bound.linf
    assert np.abs(change).sum() <= bound.l1
    assert (change.astype(object) ** 2).sum() <= bound.l2_squared
    assert (change != 0).sum() <= bound.coordinates
    if bound.monotone:
        assert change.min() >= 0 or change.max() <= 0


@given(cases(), st.data())
@settings(max_examples=200)
def test_one_person_moves_a_score_by_at_most_the_sensitivity(case, data):
    grid, rows, one, other = case
    query = make_query(data.draw, grid)
    without, with_one, with_other = (
        query.evaluate(*engine_of(grid, each).cells(grid)) for each in (rows, [*rows, one], [*rows, other])
    )
    assert len(without) == query.size
    assert without.dtype == np.int64
    assert_near(query, without, with_one, ADD)
    assert_near(query, with_one, with_other, REPLACE)


def rows_left(engine: CellEngine, grid: Grid) -> Counter:
    cells, counts = engine.cells(grid)
    assert (np.diff(cells) > 0).all()
    assert (counts > 0).all()
    return Counter(dict(zip(cells.tolist(), counts.tolist(), strict=True)))


@given(cases(), st.data())
@settings(max_examples=160)
def test_after_dropping_the_nearest_neighbours_are_still_neighbours(case, data):
    """Several rounds, as in the algorithm, under both relations."""
    grid, rows, one, other = case
    limit = grid.domain.limit
    engines = [engine_of(grid, each) for each in (rows, [*rows, one], [*rows, other])]
    coordinate = st.one_of(st.sampled_from([-limit, 0, limit]), st.integers(-limit, limit))
    for _ in range(data.draw(st.integers(1, 3))):
        d = grid.domain.dimension
        centres = np.array(data.draw(st.lists(st.tuples(*[coordinate] * d), min_size=1, max_size=2)))
        how_many = data.draw(st.integers(0, 12))
        engines = [engine.drop_nearest(centres, how_many) for engine in engines]
        without, with_one, with_other = (rows_left(engine, grid) for engine in engines)
        assert with_one == without or (with_one - without).total() == 1 == with_one.total() - without.total()
        assert with_one.total() == with_other.total()
        assert (with_one - with_other).total() <= 1


def test_the_bound_on_radius_quality_is_nearly_reached():
    """t - 1 rows far from one another, and a new row in the middle of them: S rises by 2t - 2."""
    grid = Grid(Domain(middle=(0.0,), half=(1.0,)), 21)
    t = 2
    query = RadiusQuality(grid, t, 0)
    before = query.evaluate(np.array([0, 20]), np.array([1, 1]))
    after = query.evaluate(np.array([0, 10, 20]), np.array([1, 1, 1]))
    moved = int(np.abs(after - before).max())
    assert moved == 2 * t - 2
    assert moved <= query.sensitivity(Neighbours.ADD_REMOVE).linf <= moved + 2
