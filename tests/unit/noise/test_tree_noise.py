"""The privacy of PrivTree's decisions, computed exactly: the worst path of counts costs epsilon, and hardly less."""

from __future__ import annotations

import itertools
import math
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.events import Pure
from covey.noise.source import SeededSource
from covey.noise.tree import SLACK, PrivTree, Units, above, bias_of, smallest_noise, worst_loss
from covey.public import Neighbours

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DEPTHS = 62
EPSILONS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10), Fraction(30)]
FAN_OUTS = [2, 3, 4, 8, 16, 1024]


def log_split(above_threshold, noise):
    """ln P(X > -z) for discrete Laplace X of this scale."""
    z, q = np.asarray(above_threshold, dtype=np.float64), math.exp(-1 / noise)
    upper = np.log1p(-np.exp(-np.maximum(z, 0) / noise) / (1 + q))
    return np.where(z <= 0, (np.minimum(z, 0) - 1) / noise - math.log1p(q), upper)


def log_stay(above_threshold, noise):
    """ln P(X <= -z)."""
    z, q = np.asarray(above_threshold, dtype=np.float64), math.exp(-1 / noise)
    lower = np.log1p(-np.exp(-(1 - np.minimum(z, 0)) / noise) / (1 + q))
    return np.where(z >= 0, -np.maximum(z, 0) / noise - math.log1p(q), lower)


def worst_path(units: Units, *, theta: int = 0) -> float:
    """The largest loss of one more row over all paths of counts that never grow: dynamic programming, no proof used."""
    most = int(DEPTHS * units.bias / units.row) + theta + 50
    rows = np.arange(most + 1) - theta
    best = np.zeros(most + 1)  # the most that the levels below can add, given the count of this node
    for depth in reversed(range(DEPTHS)):
        now = log_split(above(rows, depth=depth, units=units), units.noise)
        more = log_split(above(rows + 1, depth=depth, units=units), units.noise)
        best = np.maximum.accumulate(more - now + best)
    return float(best[-1])


def scaled(units: Units, fan_out: int, factor: float) -> Units:
    noise = int(units.noise * factor)
    return Units(units.row, noise, bias_of(noise, fan_out))


def test_the_two_formulas_are_those_of_the_law():
    for noise in (1, 3, 20):
        q = math.exp(-1 / noise)
        law = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-60 * noise, 60 * noise + 1)}
        for z in (-7, -2, -1, 0, 1, 2, 9):
            assert log_split(z, noise) == pytest.approx(math.log(sum(p for x, p in law.items() if x > -z)))
            assert log_stay(z, noise) == pytest.approx(math.log(sum(p for x, p in law.items() if x <= -z)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_the_worst_path_costs_at_most_epsilon_and_hardly_less(fan_out, epsilon):
    units = smallest_noise(epsilon, fan_out, replace=False)
    assert worst_path(units) <= epsilon * (1 + 1e-12)
    assert worst_path(units, theta=7) <= epsilon * (1 + 1e-12)
    assert worst_path(units) > 0.98 * epsilon
    assert worst_path(scaled(units, fan_out, 0.95)) > epsilon * 1.02  # so this test can fail
    assert worst_loss(scaled(units, fan_out, 0.95), fan_out, replace=False) > epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_a_replaced_row_costs_at_most_epsilon_and_hardly_less(fan_out, epsilon):
    """One row leaves a path, the other enters a node that stays whole: the two losses add up."""
    units = smallest_noise(epsilon, fan_out, replace=True)
    high = np.array([0, units.row])
    stays = float(-np.diff(log_stay(high, units.noise))[0])
    assert stays == pytest.approx(units.row / units.noise)
    assert worst_path(units) + stays <= epsilon * (1 + 1e-12)
    assert worst_path(units) + stays > 0.98 * epsilon
    assert smallest_noise(epsilon, fan_out, replace=False).noise / smallest_noise(
        epsilon, fan_out, replace=False
    ).row < (units.noise / units.row)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_the_noise_is_never_more_than_the_papers(fan_out, epsilon):
    paper = Fraction(2 * fan_out - 1, fan_out - 1) / epsilon
    for replace in (False, True):
        units = smallest_noise(epsilon, fan_out, replace=replace)
        assert Fraction(units.noise, units.row) <= paper * (2 if replace else 1)
        assert 0 <= units.bias - units.noise * math.log(fan_out) < 1 + 1e-6
        assert units.noise >= 500
        assert epsilon * Fraction(99, 100) < worst_loss(units, fan_out, replace=replace) <= epsilon


def test_a_bias_that_is_too_small_breaks_the_bound():
    """The bias is what makes depth free: with half of it the worst path costs more than epsilon."""
    units = smallest_noise(Fraction(1, 2), 4, replace=False)
    assert worst_path(Units(units.row, units.noise, units.bias // 2)) > 0.5 * 1.05


def test_the_bound_is_the_sum_over_the_worst_progression():
    """worst_loss against the same sum written term by term, in floats."""
    for units, fan_out in ((Units(512, 2005, 2780), 4), (Units(8192, 1648, 1143), 2), (Units(1, 50, 35), 2)):
        places = np.arange(-units.bias, 60 * units.bias)
        steps = log_split(places + 1, units.noise) - log_split(places, units.noise)
        by_phase = np.sort(steps.reshape(-1, units.bias).sum(axis=0))[::-1]
        periods, rest = divmod(units.row, units.bias)
        expected = periods * by_phase.sum() + by_phase[:rest].sum()
        assert float(worst_loss(units, fan_out, replace=False)) == pytest.approx(expected, rel=1e-9)
        more = worst_loss(units, fan_out, replace=True) - worst_loss(units, fan_out, replace=False)
        assert more == Fraction(units.row, units.noise)


def test_a_callers_decimal_context_changes_nothing():
    units = Units(512, 2005, 2780)
    expected = worst_loss(units, 4, replace=False)
    with localcontext() as context:
        context.prec = 3
        assert worst_loss(units, 4, replace=False) == expected
        assert bias_of(2005, 4) == 2780
    assert SLACK > 0


def test_the_extremes_are_certified_too():
    for epsilon in (Fraction(1, 2**30), Fraction(2**20)):
        for fan_out in (2, 2**16):
            for replace in (False, True):
                units = smallest_noise(epsilon, fan_out, replace=replace)
                assert worst_loss(units, fan_out, replace=replace) <= epsilon
                assert units.noise < 2**40


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("epsilon", (1.0, 4)),
        ("epsilon", (Fraction(0), 4)),
        ("epsilon", (Fraction(1, 2**31), 4)),
        ("epsilon", (Fraction(2**21), 4)),
        ("fan_out", (Fraction(1), 1)),
        ("fan_out", (Fraction(1), 2**17)),
        ("theta", (Fraction(1), 4, 0.5)),
    ],
)
def test_the_mechanism_refuses_by_name(name, arguments):
    with pytest.raises(ParameterError, match=name):
        PrivTree(*arguments)


def test_the_event_is_the_epsilon():
    assert PrivTree(Fraction(1, 3), 4).event() == Pure(Fraction(1, 3))


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_huge_counts_are_clamped_and_split(relation):
    """No overflow, at any epsilon: a clamp is part of the proof."""
    counts = np.array([0, 2**40, 2**62], dtype=np.int64)
    for epsilon in (Fraction(1, 2**30), Fraction(1), Fraction(2**20)):
        for theta in (0, -(2**60), 2**60):
            mechanism = PrivTree(epsilon, 4, theta)
            height = above(counts - theta, depth=31, units=mechanism.units(relation))
            assert (np.diff(height) >= 0).all()
            assert height.min() >= -mechanism.units(relation).bias
        split = PrivTree(epsilon, 4).splits(counts, depth=31, neighbours=relation, source=SeededSource(0))
        assert split[2]


def test_one_more_row_moves_a_node_by_at_most_a_row():
    units = smallest_noise(Fraction(1, 2), 4, replace=False)
    rows = np.arange(-300, 3000)
    for depth in (0, 1, 5, 31):
        steps = np.diff(above(rows, depth=depth, units=units))
        assert steps.min() >= 0
        assert steps.max() <= units.row


BOTH = (ADD, REPLACE)


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
