"""The privacy of PrivTree's decisions, computed exactly: the worst path of counts costs epsilon, and hardly less."""

from __future__ import annotations

import itertools
import math
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from covey.audit.draws import record_calls
from covey.errors import ParameterError
from covey.events import Pure
from covey.noise.source import SeededSource
from covey.noise.tree import (
    AT_ONCE,
    MOST_TRIES,
    SLACK,
    PrivTree,
    Units,
    above,
    cost_of_a_row,
    smallest_noise,
    units_of,
)
from covey.public import Neighbours

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DEPTHS = 62
EPSILONS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10), Fraction(30)]
FAN_OUTS = [2, 3, 4, 8, 16, 1024]


def log_tail(least, noise):
    """ln P(X >= least) for discrete Laplace X of this scale."""
    m, q = np.asarray(least, dtype=np.float64), math.exp(-1 / noise)
    lower = np.log1p(-np.exp(-(1 - np.minimum(m, 0)) / noise) / (1 + q))
    return np.where(m > 0, -np.maximum(m, 0) / noise - math.log1p(q), lower)


def log_split(height, units):
    """ln P(z + X > 0 | z + B + X > 0)."""
    return log_tail(1 - height, units.noise) - log_tail(1 - height - units.bias, units.noise)


def log_stay(height, units):
    """ln P(z + X <= 0 | z + B + X > 0): X lies between."""
    low = log_tail(height, units.noise)
    gap = np.log1p(-np.exp(log_tail(height + units.bias, units.noise) - low))
    return low + gap - log_tail(1 - height - units.bias, units.noise)


def worst_path(units: Units, *, theta: int = 0) -> float:
    """The largest loss of one more row over all paths of counts that never grow: dynamic programming, no proof used."""
    most = int(DEPTHS * units.bias / units.row) + theta + 50
    rows = np.arange(most + 1) - theta
    best = np.zeros(most + 1)  # the most that the levels below can add, given the count of this node
    for depth in reversed(range(DEPTHS)):
        now = log_split(above(rows, depth=depth, units=units), units)
        more = log_split(above(rows + 1, depth=depth, units=units), units)
        best = np.maximum.accumulate(more - now + best)
    return float(best[-1])


def worst_leaf(units: Units) -> float:
    """The largest loss of one row less in the node where its path ends."""
    height = np.arange(-units.bias, 2 * (units.bias + units.row))
    return float((log_stay(height, units) - log_stay(height + units.row, units)).max())


def scaled(units: Units, fan_out: int, factor: float) -> Units:
    return units_of(int(units.noise * factor), units.row, fan_out)


def test_the_formulas_are_those_of_the_law():
    for noise, bias in ((1, 2), (3, 7), (20, 42)):
        q = math.exp(-1 / noise)
        law = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-60 * noise, 60 * noise + 1)}
        units = Units(1, noise, bias)
        for z in (-7, -2, -1, 0, 1, 2, 9):
            drawn = {x: p for x, p in law.items() if x + z + bias > 0}
            split = sum(p for x, p in drawn.items() if x + z > 0) / sum(drawn.values())
            assert log_split(z, units) == pytest.approx(math.log(split))
            assert log_stay(z, units) == pytest.approx(math.log(1 - split))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_the_worst_path_costs_at_most_epsilon_and_hardly_less(fan_out, epsilon):
    """Splits cost a row over the scale, and where the row's leaf is whole it costs a little more."""
    units = smallest_noise(epsilon, fan_out, replace=False)
    splits, leaf = worst_path(units), worst_leaf(units)
    assert max(splits, leaf, worst_path(units, theta=7)) <= epsilon * (1 + 1e-12)
    assert 0.98 * units.row / units.noise < splits <= units.row / units.noise * (1 + 1e-12)
    assert leaf > epsilon * (0.98 if epsilon < Fraction(1, 4) else 0.87)
    less = scaled(units, fan_out, 0.85)
    assert max(worst_path(less), worst_leaf(less)) > epsilon * 1.02  # so this test can fail


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_a_replaced_row_costs_at_most_epsilon_and_hardly_less(fan_out, epsilon):
    """One row leaves a path, the other enters a node that stays whole: the two losses add up."""
    units = smallest_noise(epsilon, fan_out, replace=True)
    loss = worst_path(units) + worst_leaf(units)
    assert (0.98 if epsilon < Fraction(1, 4) else 0.9) * epsilon < loss <= epsilon * (1 + 1e-12)
    alone = smallest_noise(epsilon, fan_out, replace=False)
    assert alone.noise / alone.row < units.noise / units.row


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fan_out", FAN_OUTS)
def test_the_noise_is_less_than_half_of_the_papers(fan_out, epsilon):
    paper = Fraction(2 * fan_out - 1, fan_out - 1) / epsilon
    for replace in (False, True):
        units = smallest_noise(epsilon, fan_out, replace=replace)
        assert Fraction(units.noise, units.row) <= paper * Fraction(51, 100) * (2 if replace else 1)
        assert 0 <= units.bias - units.noise * math.log(2 * fan_out) < 1 + 1e-6
        assert units.noise >= 2**11
        cost = Fraction(units.row, units.noise) * cost_of_a_row(fan_out, replace=replace)
        assert epsilon * Fraction(999, 1000) < cost <= epsilon - SLACK / 2


def test_a_bias_that_is_too_small_breaks_the_bound():
    """With a third of it, what may be drawn is so near to the threshold that a leaf tells more than was paid for."""
    units = smallest_noise(Fraction(1, 10), 4, replace=False)
    assert worst_leaf(units) <= 0.1
    assert worst_leaf(Units(units.row, units.noise, units.bias // 3)) > 0.1 * 1.1


def test_noise_is_drawn_again_exactly_where_it_would_not_have_split_the_parent():
    """Noise by hand: heights of 2·bias, 1, 0, 1 - bias and -bias; only the last is drawn again, until it is higher.

    Of the tries of one call each node takes its own first that will do, whatever the later ones are.
    """
    tree = PrivTree(Fraction(1), 4)
    units, asked = tree.units(ADD), []
    first = np.array([3 * units.bias, units.bias + 1, units.bias, 1, 0])
    opposite = np.array([1, 1, units.bias + 1, units.bias + 1, 0])  # decides otherwise, where a first try would do

    def by_hand(call):
        asked.append(call.given)
        tries = np.zeros(call.given, dtype=np.int64)
        if len(asked) == 1:
            tries[0], tries[1:] = first, opposite
        elif len(asked) == 3:
            tries[-2:] = [[units.bias + 1], [1]]
        return tries

    with record_calls(by_hand) as calls:
        split = tree.splits(np.zeros(5, dtype=np.int64), depth=1, neighbours=ADD, source=SeededSource(0))
    assert split.tolist() == [True, True, False, False, True]
    assert asked == [(MOST_TRIES, 5), (MOST_TRIES, 1), (MOST_TRIES, 1)]
    assert {call.rate for call in calls} == {Fraction(1, units.noise)}


@pytest.mark.parametrize("nodes", [1, AT_ONCE // 2, AT_ONCE, AT_ONCE + 1])
def test_each_node_has_tries_of_its_own(nodes):
    """As many at a time as memory wants, and one for each node at least."""
    with record_calls() as calls:
        PrivTree(Fraction(1), 4).splits(np.zeros(nodes, np.int64), depth=1, neighbours=ADD, source=SeededSource(0))
    tries, many = calls[0].given
    assert (tries, many) == (max(1, min(MOST_TRIES, AT_ONCE // nodes)), nodes)
    assert all(call.given[1] < nodes for call in calls[1:])


@pytest.mark.parametrize("nodes", [1, 2, 700, 3000, 9000])
def test_decisions_are_those_of_the_noise_that_was_drawn(nodes):
    """Node by node in plain integers, from the noise of every call: in order, and until each has some that will do."""
    tree, counts = PrivTree(Fraction(1), 4), np.arange(nodes) % 7
    units = tree.units(ADD)
    with record_calls() as calls:
        split = tree.splits(counts, depth=1, neighbours=ADD, source=SeededSource(nodes))
    heights = above(counts, depth=1, units=units).tolist()
    left, expected = list(range(nodes)), [False] * nodes
    for call in calls:
        again = []
        for node, own in zip(left, call.drawn.T.tolist(), strict=True):
            first = next((noise for noise in own if heights[node] + units.bias + noise > 0), None)
            if first is None:
                again.append(node)
            else:
                expected[node] = heights[node] + first > 0
        left = again
    assert not left
    assert np.array_equal(split, expected)  # not of lists: what differs in long ones takes minutes to tell


@pytest.mark.parametrize("theta", [-40, 0, 1, 300])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
def test_nodes_are_blind_where_they_and_all_below_are_as_high_as_empty_ones_at_their_lowest(theta, relation, epsilon):
    tree = PrivTree(epsilon, 4, theta=theta)
    units = tree.units(relation)
    for depth in (0, 1, 2, 10):
        for most in (0, 1, 5, 100, 299, 300, 301, 1000, 10**6):
            counts = np.arange(min(most, 400) + 1)
            counts[-1] = most
            heights = [above(counts - theta, depth=depth + more, units=units) for more in (0, 1, 20)]
            same = all((each == -units.bias).all() for each in heights)
            assert tree.blind(most, depth=depth, neighbours=relation) == same
    assert tree.blind(0, depth=10**4, neighbours=relation)


def test_a_callers_decimal_context_changes_nothing():
    expected = units_of(2005, 512, 4)
    with localcontext() as context:
        context.prec = 3
        assert units_of(2005, 512, 4) == expected == Units(512, 2005, 4170)
    assert SLACK > 0


def test_the_extremes_are_certified_too():
    for epsilon in (Fraction(1, 2**30), Fraction(2**20)):
        for fan_out in (2, 2**16):
            for replace in (False, True):
                units = smallest_noise(epsilon, fan_out, replace=replace)
                assert units.row * cost_of_a_row(fan_out, replace=replace) / units.noise <= epsilon
                assert 2**11 <= units.noise < 2**40


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
    split, stay = float(log_split(z, units)), float(log_stay(z, units))
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
