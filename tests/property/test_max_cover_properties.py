"""max-cover's state: a row leaves exactly once, for good; counts equal their brute-force twin at every moment."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.noise.cover import CoverPicks
from covey.noise.source import SeededSource
from covey.private import covers
from covey.private.covers import Block, Coverage, Runs, as_cells, cover
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, resolve_bounds
from covey.queries.cover import Cover

DELTA = Fraction(1, 10**6)
values = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, -0.0, 1.0, -1.0, float("nan"), float("inf")]))


@st.composite
def problems(draw):
    d = draw(st.integers(1, 4))
    table = draw(st.lists(st.lists(values, min_size=d, max_size=d), max_size=40))
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    sides = sorted(draw(st.lists(st.integers(domain.limit // 40, domain.limit * 3), min_size=1, max_size=4)))
    query = Cover(domain, tuple(sides), draw(st.integers(0, 9)), draw(st.integers(1, 4)))
    epsilon = draw(st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(30)]))
    rows = np.array(table, dtype=np.float64).reshape(-1, d)
    return rows, query, CoverPicks(epsilon, DELTA), draw(st.integers(0, 10**6))


def covered(query: Cover, rows: np.ndarray, grid: int, pick: np.ndarray) -> np.ndarray:
    place = pick // query.sides[grid]
    assert (place * query.sides[grid] == pick).all()
    assert np.abs(place).max() <= query.half(grid)
    return np.square(query.nearest(rows, grid) - place[:, None]).sum(axis=0) <= query.reach


@given(problems())
@settings(max_examples=60)
def test_a_row_leaves_exactly_once_and_never_comes_back(problem):
    rows, query, picks, seed = problem
    engine = MemoryEngine(ArrayTable(rows), query.domain)
    left = []

    class Watched(Coverage):
        def remove(self, place):
            before = self.rows
            super().remove(place)
            left.append(before - self.rows)

    covers.Coverage = Watched
    try:
        found = cover(engine, query, picks, source=SeededSource(seed))
    finally:
        covers.Coverage = Coverage
    assert len(found) == len(left) == len(query.sides) * query.picks
    inside = query.inside(np.concatenate([np.empty((query.domain.dimension, 0), dtype=np.int32), *engine.rows()], 1))
    here = np.ones(inside.shape[1], dtype=bool)
    for number, pick in enumerate(found):  # the twin: rows one by one, gone for good at the first pick that covers them
        gone = here & covered(query, inside, number // query.picks, pick)
        assert left[number] == gone.sum()
        here &= ~gone
    assert sum(left) + here.sum() == len(rows)


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_the_order_of_rows_leaves_no_trace(problem, shuffle):
    rows, query, picks, seed = problem
    order = list(range(len(rows)))
    shuffle.shuffle(order)
    tables = [rows, rows[order]] if len(rows) else [rows, rows]
    first, second = (
        cover(MemoryEngine(ArrayTable(each), query.domain), query, picks, source=SeededSource(seed)) for each in tables
    )
    assert np.array_equal(first, second)


class Fixed(CoverPicks):
    """The same picks with a given ceiling."""

    held = 0

    def ceiling(self, *, most, **_):
        return min(self.held, most)


@given(problems(), st.integers(0, 6))
@settings(max_examples=40)
def test_blocks_hold_every_point_above_the_ceiling_with_its_exact_count(problem, ceiling):
    rows, query, _, seed = problem
    query = Cover(query.domain, (max(query.sides[0], query.domain.limit // 5),), query.reach, 1)
    engine = MemoryEngine(ArrayTable(rows), query.domain)
    inside = query.inside(np.concatenate([np.empty((query.domain.dimension, 0), dtype=np.int32), *engine.rows()], 1))
    picks, Fixed.held = Fixed(Fraction(1), DELTA), ceiling
    dense, covers.DENSE = covers.DENSE, 64  # many blocks
    tiles, covers.TILES = covers.TILES, 64 if seed % 2 else 2**20
    try:
        state = Coverage(query.nearest(inside, 0), query, 0, picks)
    finally:
        covers.DENSE, covers.TILES = dense, tiles
    source = SeededSource(seed)
    for _ in range(3):
        cells, weights = state._cells, state.weights
        half = query.half(0)
        wanted = {}
        for point in itertools.product(range(-half, half + 1), repeat=query.domain.dimension):
            near = np.square(cells - np.array(point)[:, None]).sum(axis=0) <= query.reach
            count = int(weights[near].sum())
            if count > state.ceiling:
                wanted[point] = count
        found = {}
        for block in state.blocks:
            for level, many in zip(block.levels.tolist(), block.many.tolist(), strict=True):
                for number in range(many):
                    point = tuple(block.point(level, number).tolist())
                    assert point not in found
                    found[point] = level
        assert found == wanted
        state.remove(state.pick(source))


@given(st.integers(1, 4), st.integers(0, 12), st.integers(0, 10**6))
@settings(max_examples=60)
def test_counts_and_bounds_equal_their_brute_force_twins(d, reach, seed):
    rng = np.random.default_rng(seed)
    cells, _, weights = as_cells(rng.integers(-8, 9, (d, int(rng.integers(0, 30)))))
    lower = rng.integers(-6, 3, d)
    upper = lower + rng.integers(0, 7, d)
    ball = Runs(d, reach)
    counts = ball.counts(lower, upper, cells, weights)
    assert counts.shape == tuple(upper - lower + 1)
    for place in itertools.product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True))):
        near = np.square(cells - np.array(place)[:, None]).sum(axis=0) <= reach
        assert counts[tuple(np.array(place) - lower)] == weights[near].sum()
    floor = int(rng.integers(1, 5))
    part = ball.hopeful(cells, weights, lower, upper, floor)
    hot = np.argwhere(counts >= floor) + lower
    if part is None:
        assert not len(hot)
    elif len(hot):
        assert (part[0] <= hot.min(axis=0)).all()
        assert (part[1] >= hot.max(axis=0)).all()
    assert Block(ball, lower, upper, cells, weights, floor).many.sum() == len(hot)


@pytest.mark.parametrize("many", [2**31, 3 * 10**9, 2**40 + 1])
def test_counts_are_exact_however_many_rows_there_are(many):
    """32 bits hold two thousand million rows and no more."""
    ball, box = Runs(2, 1), (np.array([-3, -3]), np.array([3, 3]))
    cells, weights = np.array([[0, 1], [0, 0]]), np.array([many, 5])
    counts = ball.counts(*box, cells, weights)
    assert counts.sum() == 5 * (many + 5)
    assert counts[3, 3] == counts[4, 3] == many + 5
    block = Block(ball, *box, cells, weights, many)
    assert dict(zip(block.levels.tolist(), block.many.tolist(), strict=True)) == {many: 3, many + 5: 2}
    block.lower(cells[:, 1:], weights[1:], around=np.array([1, 0]))
    assert dict(zip(block.levels.tolist(), block.many.tolist(), strict=True)) == {many: 5}


def test_no_heavy_point_is_missed_however_many_columns_there_are():
    """A share of 2^-d of the rows is compared without a number that overflows."""

    class OneIsNothing:
        def ceiling(self, **_: int) -> int:
            return 1

    domain = resolve_bounds((-1, 1), names=None, width=62)
    query = Cover(domain, (domain.limit // 2,), 0, 1)
    state = Coverage(np.zeros((62, 2), dtype=np.int64), query, 0, OneIsNothing())
    assert [block.levels.tolist() for block in state.blocks] == [[2]]
