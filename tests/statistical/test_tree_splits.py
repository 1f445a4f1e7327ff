"""Nodes split as often as the exact formula says; five per cent more or less noise is told apart."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, chisquare

from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree
from covey.private import trees
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Neighbours, resolve_bounds
from covey.queries.tree import Tree

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DRAWS = 60_000  # five per cent off is then missed once in 10^22 times, a right scale refused once in 10^9
WRONG = 1e-9
FEW = 300  # nodes


def probability(rows: float, *, depth: int, noise: float, bias: float, theta: float, unit: float) -> float:
    """P(max(rows - depth·bias, theta - bias) + X > theta, given that it is above theta - bias), in rows, by hand.

    X is Laplace noise on multiples of 1/unit.
    """
    short = theta - max(rows - depth * bias, theta - bias)  # splits if X > short
    q = math.exp(-1 / (noise * unit))

    def exceeds(short):
        least = round(short * unit) + 1  # the smallest number of units that suffices
        return q**least / (1 + q) if least > 0 else 1 - q ** (1 - least) / (1 + q)

    return exceeds(short) / exceeds(short - bias)


@pytest.fixture(scope="module")
def splits():
    """For nodes of several depths and sizes how many of DRAWS split: made once for each setting."""
    made = {}

    def drawn(mechanism, relation):
        key = (mechanism.epsilon, mechanism.fan_out, mechanism.theta, relation)
        if key not in made:
            made[key] = list(draw_splits(mechanism, relation))
        return made[key]

    return drawn


def draw_splits(mechanism, relation):
    units, source, theta = mechanism.units(relation), SeededSource(5), mechanism.theta
    noise, bias = units.noise / units.row, units.bias / units.row
    for depth in (0, 1, 3):
        start = theta + depth * bias
        for rows in (0, start - 0.6 * bias, start + noise, start + 2 * noise):
            count = max(0, round(rows))
            parts = [DRAWS // 2, *[FEW] * (DRAWS // 2 // FEW)]  # at once, and few at a time, with many tries each
            nodes = (np.full(part, count, dtype=np.int64) for part in parts)
            each = (mechanism.splits(some, depth=depth, neighbours=relation, source=source) for some in nodes)
            yield depth, count, sum(int(split.sum()) for split in each)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("epsilon", "fan_out", "theta"), [(Fraction(1, 2), 4, 0), (Fraction(1), 2, 10)])
@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (0.95, False), (1.05, False)])
def test_split_probabilities_have_the_promised_scale_and_this_test_can_tell(
    splits, epsilon, fan_out, theta, relation, off, accepted
):
    mechanism = PrivTree(epsilon, fan_out, theta)
    units = mechanism.units(relation)
    noise, bias = units.noise / units.row, units.bias / units.row
    statistic, cases = 0.0, 0
    for depth, count, split in splits(mechanism, relation):
        p = probability(count, depth=depth, noise=noise * off, bias=bias, theta=theta, unit=units.row)
        statistic += (split - DRAWS * p) ** 2 / (DRAWS * p * (1 - p))
        cases += 1
    assert cases == 12
    assert (chi2.sf(statistic, cases) > WRONG) == accepted


def test_an_empty_node_splits_once_in_twice_the_fan_out():
    for fan_out in (2, 4, 16):
        empty = np.zeros(200_000, dtype=np.int64)
        for depth, expected in ((0, 1 / (2 - 1 / (2 * fan_out))), (1, 1 / (2 * fan_out)), (9, 1 / (2 * fan_out))):
            split = PrivTree(Fraction(1), fan_out).splits(empty, depth=depth, neighbours=ADD, source=SeededSource(1))
            assert abs(split.mean() - expected) < 0.005


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (1.3, False)])
def test_whole_trees_stop_at_the_root_as_often_as_they_should(off, accepted):
    """Through the engine: so many rows that the root stays whole in about one tree of twenty."""
    domain = resolve_bounds((-1, 1), names=None, width=1)
    tree, mechanism = Tree(domain, most_depth=1), PrivTree(Fraction(1, 10), 2)
    units = mechanism.units(ADD)
    count = round(units.noise / units.row * 2)
    engine, source = MemoryEngine(ArrayTable(np.zeros((count, 1))), domain), SeededSource(2)
    whole = sum(len(trees.grow(engine, tree, mechanism, neighbours=ADD, source=source)) == 1 for _ in range(4000))
    p = 1 - probability(
        count, depth=0, noise=off * units.noise / units.row, bias=units.bias / units.row, theta=0, unit=units.row
    )
    assert (binomtest(whole, 4000, p).pvalue > 1e-4) == accepted


@pytest.mark.parametrize("nodes", [2, 64, 6000])
def test_nodes_side_by_side_are_independent(nodes):
    """An empty node and one that splits about every second time, by turns: both, one or none of a pair split."""
    tree, source = PrivTree(Fraction(1, 2), 4), SeededSource(nodes)
    units = tree.units(ADD)
    noise, bias = units.noise / units.row, units.bias / units.row
    counts = np.tile([0, round(bias)], nodes // 2)
    seen = np.zeros(4)
    for _ in range(DRAWS // nodes):
        split = tree.splits(counts, depth=1, neighbours=ADD, source=source).astype(np.intp)
        seen += np.bincount(2 * split[::2] + split[1::2], minlength=4)
    one, other = (
        probability(rows, depth=1, noise=noise, bias=bias, theta=0, unit=units.row) for rows in (0, round(bias))
    )
    parts = np.outer([1 - one, one], [1 - other, other]).ravel()
    assert chisquare(seen, seen.sum() * parts).pvalue > WRONG
