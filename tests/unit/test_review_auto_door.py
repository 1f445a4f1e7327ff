"""What a hostile review of `auto`, PrivTree and the narrower curators found, and checks that could not break them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.auto.shares import choose_shares, drawable
from covey.budget.accounting.accountant import compose
from covey.events import Gaussian, Pure
from covey.fit.fit import fit
from covey.noise.mechanisms import GAUSSIAN_VARIANCE_PER_NUMBER, DiscreteGaussian
from covey.noise.tree import PrivTree, above
from covey.private.cells import CellEngine, dropped_rows
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Ball, Neighbours, resolve_bounds
from covey.queries.clipping import FINEST
from covey.queries.grid import Grid
from covey.queries.moments import MeanSums, SecondMoments, Variances
from covey.queries.residuals import ResidualSums
from covey.queries.tree import Tree, TreeNodes

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
BOTH = (ADD, REPLACE)


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


# --- PrivTree, by enumeration -----------------------------------------------------------------------------------------


def _shapes(fan_out: int, depth: int) -> list:
    """Every tree: None is a leaf, a tuple a split node."""
    below = _shapes(fan_out, depth - 1) if depth else []
    return [None, *itertools.product(below, repeat=fan_out)] if depth else [None]


def _log_probability(shape, rows, *, depth, deepest, units, theta, fan_out) -> float:
    """ln P(this tree | rows per bottom cell): the code's own arithmetic, the law's own formulas."""
    if depth == deepest:
        return 0.0
    z = int(above(np.array([sum(rows) - theta]), depth=depth, units=units)[0])
    noise, q = units.noise, math.exp(-1 / units.noise)
    lower = -abs(z) / noise - math.log1p(q) if z >= 0 else (z - 1) / noise - math.log1p(q)
    rare, usual = lower, math.log1p(-math.exp(lower))  # z >= 0: staying is rare; below 0: splitting is
    split, stay = (usual, rare) if z >= 0 else (rare, usual)
    if shape is None:
        return stay
    part = len(rows) // fan_out
    return split + sum(
        _log_probability(
            child,
            rows[i * part : (i + 1) * part],
            depth=depth + 1,
            deepest=deepest,
            units=units,
            theta=theta,
            fan_out=fan_out,
        )
        for i, child in enumerate(shape)
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4), Fraction(20)])
@pytest.mark.parametrize(
    ("fan_out", "deepest", "most", "theta"), [(2, 2, 4, 0), (2, 2, 4, -2), (2, 3, 2, 0), (3, 1, 4, 2)]
)
def test_no_two_neighbours_differ_by_more_than_epsilon_on_any_tree(fan_out, deepest, most, theta, epsilon):
    cells = fan_out**deepest
    shapes = _shapes(fan_out, deepest)
    tables = [
        tuple(np.bincount(np.array(chosen, dtype=np.int64), minlength=cells).tolist())
        for n in range(most + 1)
        for chosen in itertools.combinations_with_replacement(range(cells), n)
    ]
    for neighbours in BOTH:
        units = PrivTree(epsilon, fan_out, theta).units(neighbours)
        law = {
            rows: np.array(
                [
                    _log_probability(s, rows, depth=0, deepest=deepest, units=units, theta=theta, fan_out=fan_out)
                    for s in shapes
                ]
            )
            for rows in tables
        }
        for rows, log in law.items():
            assert np.exp(log).sum() == pytest.approx(1, abs=1e-12)
            for i in np.flatnonzero(rows):
                fewer = tuple(c - (j == i) for j, c in enumerate(rows))
                others = [fewer]
                if neighbours is REPLACE:
                    others = [tuple(c + (j == to) for j, c in enumerate(fewer)) for to in range(cells)]
                for other in others:
                    assert np.abs(log - law[other]).max() <= epsilon * (1 + 1e-9)


# --- composition, by hand ---------------------------------------------------------------------------------------------


def _delta(epsilon: float, pures: list[Fraction], mu: float) -> float:
    """The exact delta of pure events and one Gaussian: a sum over the signs of the pure events' losses."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(pures)):
        left = epsilon - sum(s * float(e) for s, e in zip(signs, pures, strict=True))
        weight = math.prod(1 / (1 + math.exp(-s * float(e))) for s, e in zip(signs, pures, strict=True))
        if mu == 0:
            total += weight * max(0.0, -math.expm1(left)) if left < 0 else 0.0
        else:
            near, far = left / mu - mu / 2, left / mu + mu / 2
            total += weight * (math.erfc(near / math.sqrt(2)) - math.exp(left) * math.erfc(far / math.sqrt(2))) / 2
    return total


@pytest.mark.parametrize(
    ("pures", "multipliers", "delta"),
    [
        (("0.04", "0.2", "0.17"), (6, 6, 4, 5, 5), "1e-6"),
        (("0.3", "0.3", "0.3", "0.3"), (), "0.01"),
        (("0.001", "2", "0.7"), (), "0.2"),
        (("1.5", "0.00004"), (1,), "0.0001"),
    ],
)
def test_what_a_mixed_plan_costs_is_never_below_the_exact_curve(pures, multipliers, delta):
    exact = [Fraction(each) for each in pures]
    events = [*map(Pure, exact), *(Gaussian(Fraction(each)) for each in multipliers)]
    cost = compose(events, delta=Fraction(delta))
    mu = math.sqrt(sum(1 / each**2 for each in multipliers))
    assert _delta(float(cost.epsilon), exact, mu) <= float(delta) * (1 + 1e-9)
    assert cost.epsilon <= sum(exact) or multipliers


# --- auto: nothing public, and nothing released, makes a fit fail that was charged ------------------------------------

EXTREMES = [
    (1e-6, None),  # Laplace noise of more than 2^55 units
    (1e-6, 1e-6),  # less epsilon than what discrete Gaussian noise adds
    (1.08e-5, 1e-6),  # hardly more
    (1e-3, 1e-6),  # Gaussian noise of more than 2^45 units
    (1.0, 1e-300),  # less delta than what discrete Gaussian noise adds
    (1.0, 1e-40),
    (1e4, 1e-6),  # more epsilon than a plan with Gaussian noise may cost
    (1e4, None),
]


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("epsilon", "delta"), EXTREMES)
@pytest.mark.parametrize("rows", [0, 40])
def test_every_legal_budget_gives_a_release(rows, epsilon, delta, neighbours):
    data = np.full((rows, 5), 0.7)
    release = fit(data, k=3, epsilon=epsilon, delta=delta, bounds=(0, 1), neighbours=neighbours, random_state=1)
    centres = np.array(release.centres)
    assert np.isfinite(centres).all()
    assert (np.abs(centres - 0.5) <= 0.5 + 1e-9).all()


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("d", "k"), [(5, 1), pytest.param(784, 1000, marks=pytest.mark.slow), (5000, 1000)])
@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(9000), Fraction(1, 10**6)), (Fraction(60), Fraction(1, 2))])
def test_the_noise_of_every_release_can_be_drawn(d, k, epsilon, delta, neighbours):
    shares = choose_shares(d=d, k=k, size=10_000, epsilon=epsilon, delta=delta, neighbours=neighbours)
    cost = shares.plan.cost()
    assert cost.epsilon <= epsilon
    assert cost.delta <= delta
    for noise, numbers in ((shares.mean, d), (shares.recentre, d), *((each, k * d) for each in shares.rounds)):
        assert isinstance(noise, DiscreteGaussian)
        assert noise.multiplier**2 * FINEST**2 >= GAUSSIAN_VARIANCE_PER_NUMBER * numbers
    assert noise.multiplier**2 * 144 * 26_000**4 >= GAUSSIAN_VARIANCE_PER_NUMBER * d * (d + 1) // 2


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10**4), Fraction(1)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_all_that_is_planned_is_drawn_and_nothing_else(epsilon, delta):
    for neighbours in BOTH:
        shares = choose_shares(d=9, k=4, size=500, epsilon=epsilon, delta=delta, neighbours=neighbours)
        drawn = [shares.mean, shares.norms, shares.recentre, shares.moments, shares.tree, shares.counts, *shares.rounds]
        assert sorted(map(repr, shares.plan.events)) == sorted(repr(each.event()) for each in drawn)
        domain = resolve_bounds((-1, 1), names=None, width=9)
        centres = np.zeros((4, 9))
        for noise in shares.rounds:
            assert drawable(noise, ResidualSums(domain, centres, 5.0).sensitivity(neighbours))


@pytest.mark.parametrize("kind", [MeanSums, Variances, SecondMoments])
@pytest.mark.parametrize("unit_limit", [1, 3, 101, 1625, 26_000])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_coarser_units_keep_the_sensitivity(kind, unit_limit, d):
    domain = resolve_bounds((-1, 1), names=None, width=d)
    rng, limit = np.random.default_rng(d), domain.limit
    rows = np.concatenate([rng.integers(-limit, limit + 1, (d, 30)), np.eye(d) * limit, -np.eye(d) * limit], axis=1)
    rows = np.concatenate([rows, rng.choice([-limit, limit], (d, 20)), np.zeros((d, 1))], axis=1).astype(np.int32)
    query = kind(domain, np.zeros(d), limit / 3, unit_limit=unit_limit)
    assert query.clip.unit_limit == unit_limit
    alone = np.zeros((rows.shape[1], query.size), dtype=np.int64)
    for i, out in enumerate(alone):
        query.accumulate(rows[:, [i]], out)
    apart = (alone[:, None] - alone).reshape(-1, query.size)
    for neighbours, moves in ((ADD, alone), (REPLACE, apart)):
        bound = query.sensitivity(neighbours)
        moves = moves.astype(object)
        assert max(np.abs(moves).sum(axis=1)) <= bound.l1
        assert max((moves * moves).sum(axis=1)) <= bound.l2_squared
        assert np.abs(moves).max() <= bound.linf
