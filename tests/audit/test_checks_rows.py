"""Exact statistics on the hardest rows, quickly and without chance: what planted bugs must not survive (mutants/)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from covey.noise.cover import CoverPicks
from covey.noise.source import SeededSource
from covey.private import covers
from covey.private.covers import Coverage, cover
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.rows import add_block
from covey.private.lattice import to_block, to_lattice
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.blocks import BlockCentres
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, InsideOutside, Outside
from covey.queries.cover import Cover
from covey.queries.grid import Grid
from covey.queries.intervals import CentreCounts
from covey.queries.moments import MeanSums, SecondMoments, Variances
from covey.queries.norms import NormCounts
from covey.queries.residuals import ResidualSums
from covey.queries.squares import NearestSquares
from covey.queries.swaps import SwapGains
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def domain_of(d: int, *, ball: bool) -> Domain:
    return Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=ball)


def queries(domain: Domain) -> list:
    """One of every additive query, with centres in two opposite corners or in the middle."""
    d, limit = domain.dimension, domain.limit
    middle, ends = np.zeros(d), np.array([np.full(d, limit), np.full(d, -limit)], dtype=np.float64)
    two = [VoronoiSums(ends, domain), NearestSquares(ends[:1], domain), CentreCounts(ends.astype(np.int64), domain)]
    for objective in ("k-means", "k-median"):
        two.append(NegativeCosts(ends[:, None], domain, objective=objective))
        two.append(SwapGains(np.concatenate([ends, [middle]]), np.array([0]), domain, objective=objective))
    for radius, norm, counts in itertools.product((limit / 3, 9.0 * limit), ("l1", "l2"), (False, True)):
        two += [ResidualSums(domain, each, radius, norm=norm, with_counts=counts) for each in (ends, ends[:1])]
        two += [MeanSums(domain, middle, radius, norm=norm), SecondMoments(domain, middle, radius, norm=norm)]
        two.append(Variances(domain, middle, radius))
    edges = [limit / 4, limit / 2]
    counts = [
        Count(domain),
        InsideOutside(domain),
        Outside(domain),
        CellCounts(Grid(domain, 2)),
        NormCounts(domain, middle, edges),
    ]
    return [*two, *counts, VoronoiSums([middle], domain)]


def hard_rows(d: int) -> np.ndarray:
    """Corners, ends of axes, the middle, and what is not a number."""
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    rest = [np.zeros(d), np.full(d, np.nan), np.full(d, np.inf), np.full(d, -0.0), np.full(d, 0.26)]
    return np.concatenate([corners, np.eye(d), -np.eye(d), rest])


def totals(query, rows: np.ndarray) -> np.ndarray:
    """The statistic of each row alone."""
    found = np.zeros((len(rows), query.size), dtype=np.int64)
    block = to_block(rows.T.copy(), query.domain)
    for i, out in enumerate(found):
        add_block(query, block.at(slice(i, i + 1)), out)
    return found


@pytest.mark.parametrize("kind", ["box", "ball", "scaled"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_corner_rows_move_every_statistic_by_at_most_its_sensitivity(d, kind):
    """Statistics are sums: what one row adds is all it can move; two rows differ by what a replaced one can."""
    domain = domain_of(d, ball=kind == "ball")
    for query in queries(replace(domain, scale=(1.0, 0.757, 2.0**-16)[:d]) if kind == "scaled" else domain):
        alone = totals(query, hard_rows(d)).astype(object)
        for relation, changes in ((ADD, alone), (REPLACE, (alone[:, None] - alone).reshape(-1, query.size))):
            bound, far = query.sensitivity(relation), np.abs(changes)
            assert far.sum(axis=1).max() <= bound.l1, type(query)
            assert (far**2).sum(axis=1).max() <= bound.l2_squared, type(query)
            assert far.max() <= bound.linf, type(query)
            assert (far != 0).sum(axis=1).max() <= bound.coordinates, type(query)
            squares = (far**2).reshape(len(far), -1, bound.block).sum(axis=2).astype(np.float64)
            assert np.sqrt(squares).sum(axis=1).max() <= bound.l2_by_block, type(query)
            assert not bound.monotone or ((changes >= 0).all(axis=1) | (changes <= 0).all(axis=1)).all(), type(query)


@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
def test_rows_outside_the_bounds_are_counted_and_rows_on_them_are_not(ball):
    domain = domain_of(2, ball=ball)
    far = [[1.1, 0.0], [0.0, -2.0], [np.inf, 0.0], [0.0, -np.inf], [np.nan, 0.0], [np.nan, np.nan], [1e308, -1e308]]
    near = [[1.0, 0.0], [0.0, -1.0], [-0.0, 0.5], [0.0, 0.0], [1.0 + 2e-16, 0.0], [0.6, -0.8], [5e-324, 0.0]]
    corners = [[1.0, 1.0], [-1.0, 1.0]]
    for rows, outside in ((far, True), (near, False), (corners, ball)):
        found = totals(InsideOutside(domain), np.array(rows))
        assert found.tolist() == [[int(not outside), int(outside)]] * len(rows)
        assert totals(Outside(domain), np.array(rows)).tolist() == [[int(outside)]] * len(rows)


@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
def test_a_row_becomes_the_same_integers_whoever_else_is_there(ball):
    domain = domain_of(2, ball=ball)
    rows = np.random.default_rng(0).uniform(-0.7, 0.7, (50, 2)).T
    alone = to_lattice(rows.copy(), domain)
    for other in (np.zeros((2, 1)), np.ones((2, 1)), np.full((2, 1), 1e9), np.full((2, 1), np.nan)):
        assert (to_lattice(np.concatenate([rows, other], axis=1), domain)[:, :-1] == alone).all()
    for i in range(50):
        assert (to_lattice(rows[:, i : i + 1].copy(), domain) == alone[:, i : i + 1]).all()


@pytest.mark.parametrize("d", [2, 30])
def test_sums_are_those_of_whole_numbers_in_any_order(d):
    """Against Python's own integers, with sums far beyond what a 32-bit float can tell apart; and backwards."""
    domain = domain_of(d, ball=False)
    rows = np.random.default_rng(1).uniform(-1, 1, (3000, d)) ** 3
    for centres in (np.zeros((1, d)), np.array([np.full(d, 9.0), np.full(d, -9.0)])):
        query = VoronoiSums(centres, domain)
        found = [MemoryEngine(ArrayTable(each), domain).total(query).tolist() for each in (rows, rows[::-1].copy())]
        expected = [0] * query.size
        for row in to_lattice(rows.T.copy(), domain).T.tolist():
            away = [sum((x - c) ** 2 for x, c in zip(row, centre, strict=True)) for centre in query.centres.tolist()]
            label = away.index(min(away))
            for axis, value in enumerate([*row, domain.limit]):
                expected[label * (d + 1) + axis] += value
        assert found == [expected, expected]


def test_one_more_row_touches_one_block():
    domain = domain_of(2, ball=False)
    rows = np.random.default_rng(2).uniform(-1, 1, (200, 2))
    query = BlockCentres(domain=domain, k=2, blocks=12)
    for extra in ([1.0, 1.0], [-1.0, 1.0], [np.nan, np.inf]):
        without, with_one = (
            MemoryEngine(ArrayTable(each), domain).block_outputs(query, SeededSource(4))
            for each in (rows, np.concatenate([rows, [extra]]))
        )
        assert (without != with_one).any(axis=1).sum() <= 1
    replaced = MemoryEngine(ArrayTable(np.concatenate([rows[:-1], [[1.0, 1.0]]])), domain)
    assert (replaced.block_outputs(query, SeededSource(4)) != without).any(axis=1).sum() == 1  # and the check can see


def test_a_covered_row_never_counts_again(monkeypatch):
    """The number of rows that every pick still sees, against rows taken out one by one."""
    domain = domain_of(2, ball=False)
    rows = np.concatenate([np.full((40, 2), 0.3), np.random.default_rng(3).uniform(-0.6, 0.6, (60, 2))])
    query = Cover(domain, tuple(domain.limit // part for part in (12, 6, 3)), 2, 3)
    seen = []

    class Watched(Coverage):
        def pick(self, source):
            seen.append(self.rows)
            return super().pick(source)

    monkeypatch.setattr(covers, "Coverage", Watched)
    engine = MemoryEngine(ArrayTable(rows), domain)
    found = cover(engine, query, CoverPicks(Fraction(3), Fraction(1, 10**6)), source=SeededSource(5))
    inside = query.inside(to_lattice(rows.T.copy(), domain))
    here = np.ones(len(rows), dtype=bool)
    for number, (place, left) in enumerate(zip(found, seen, strict=True)):
        assert left == here.sum()
        grid = number // query.picks
        away = query.nearest(inside, grid) - (place // query.sides[grid])[:, None]
        here &= np.square(away).sum(axis=0) > query.reach
    assert here.sum() < len(rows) - 40


@pytest.mark.parametrize("n", [0, 1, 30])
def test_as_many_points_are_picked_as_planned_whatever_is_left(n):
    domain = domain_of(2, ball=False)
    query = Cover(domain, (domain.limit // 4, domain.limit), 3, 4)
    rows = ArrayTable(np.full((n, 2), 0.1))
    found = cover(
        MemoryEngine(rows, domain), query, CoverPicks(Fraction(20), Fraction(1, 10**6)), source=SeededSource(6)
    )
    assert found.shape == (8, 2)
