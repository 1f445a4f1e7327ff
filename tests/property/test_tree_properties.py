"""Leaves always cover the domain once; and for any tree, neighbours give it nearly the same probability."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree, above
from covey.private import trees
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Neighbours, resolve_bounds
from covey.queries.tree import Tree, TreeLeaves

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
VALUES = [-1.0, 1.0, 0.0, -0.0, 0.5, -0.5, 0.25, 0.3, 1e-9, math.nan, math.inf, -math.inf, 7.0]


@st.composite
def described_trees(draw):
    d = draw(st.integers(1, 5))
    g = draw(st.integers(1, d))
    widths = draw(st.none() | st.tuples(*[st.floats(1e-3, 1e3)] * d))
    domain = resolve_bounds((-1, 1), names=None, width=d)
    deepest = Tree(domain, widths, g).most_depth
    return Tree(domain, widths, g, draw(st.integers(0, deepest)))


def row_of(d):
    return st.tuples(*[st.sampled_from(VALUES) | st.floats(-1.2, 1.2)] * d)


@st.composite
def tables(draw, d):
    rows = draw(st.lists(row_of(d), max_size=6))
    copies = [draw(st.sampled_from([1, 2, 30])) for _ in rows]
    return [row for row, many in zip(rows, copies, strict=True) for _ in range(many)]


def engine_of(rows, tree):
    return MemoryEngine(ArrayTable(np.array(rows, dtype=np.float64).reshape(-1, tree.domain.dimension)), tree.domain)


@settings(max_examples=80)
@given(st.data(), described_trees(), st.sampled_from([ADD, REPLACE]), st.integers(0, 10**6))
def test_leaves_cover_the_domain_once(data, tree, relation, seed):
    rows = data.draw(tables(tree.domain.dimension))
    epsilon = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(40)]))
    mechanism = PrivTree(epsilon, tree.fan_out)
    engine = engine_of(rows, tree)
    leaves = trees.grow(engine, tree, mechanism, neighbours=relation, source=SeededSource(seed))
    query = TreeLeaves(tree, leaves)  # refuses leaves that do not
    assert engine.total(query).sum() == len(rows)
    lower, upper = tree.boxes(leaves)
    share = np.prod((upper - lower) / (2 * tree.domain.limit + 1), axis=1)
    assert abs(share.sum() - 1) < 1e-9
    middles = tree.domain.snap(tree.midpoints(leaves)).T.astype(np.int32)
    deep = tree.keys(middles, int(leaves.depths.max()))
    assert (np.diff(deep) > 0).all()  # every middle lies in its own leaf, and leaves are in order


class Chosen:
    """A mechanism whose decisions are given beforehand, node by node; it notes the counts it was shown."""

    def __init__(self, fan_out, decide):
        self.fan_out = fan_out
        self.decide = decide
        self.seen = []

    def splits(self, counts, *, depth, **_):
        self.seen.append(counts)
        return self.decide(len(counts), depth)


def log_probability(shown, decisions, mechanism, relation):
    """The log-probability of these decisions, given the counts of the nodes at each depth."""
    units = mechanism.units(relation)

    def log_tail(least):
        """ln P(X >= least)."""
        q = math.exp(-1 / units.noise)
        below = np.log1p(-np.exp(-(1 - np.minimum(least, 0)) / units.noise) / (1 + q))
        return np.where(least > 0, -np.maximum(least, 0) / units.noise - math.log1p(q), below)

    total = 0.0
    for depth, (counts, split) in enumerate(zip(shown, decisions, strict=True)):
        z = above(counts - mechanism.theta, depth=depth, units=units).astype(np.float64)
        given, stays = log_tail(1 - z - units.bias), log_tail(z)
        stays = stays + np.log1p(-np.exp(log_tail(z + units.bias) - stays))
        total += float((np.where(split, log_tail(1 - z), stays) - given).sum())
    return total


@settings(max_examples=100)
@given(st.data(), described_trees(), st.sampled_from([ADD, REPLACE]))
def test_neighbours_give_any_tree_nearly_the_same_probability(data, tree, relation):
    """All decisions of a whole tree, frozen: the exact log-ratio on neighbours is at most epsilon."""
    d = tree.domain.dimension
    rows, one, other = data.draw(tables(d)), data.draw(row_of(d)), data.draw(row_of(d))
    rows += [one] * data.draw(st.sampled_from([0, 3, 100]))
    epsilon = data.draw(st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(2), Fraction(15)]))
    mechanism = PrivTree(epsilon, tree.fan_out, theta=data.draw(st.sampled_from([0, 5])))
    with_one = [*rows, one]
    neighbour = rows if relation is ADD else [*rows, other]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    leans = data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    decisions = []
    counted = Chosen(tree.fan_out, None)

    def decide(nodes, depth):
        """Mostly the nodes with rows split: the trees that a row's path leads deep into."""
        split = (counted.seen[-1] > 0) & (rng.random(nodes) < leans) if nodes < 300 else np.zeros(nodes, dtype=bool)
        split |= rng.random(nodes) < 0.02
        split[60:] = False
        decisions.append(split)
        return split

    counted.decide = decide
    trees.grow(engine_of(with_one, tree), tree, counted, neighbours=relation, source=None)
    again = Chosen(tree.fan_out, lambda _, depth: decisions[depth])
    trees.grow(engine_of(neighbour, tree), tree, again, neighbours=relation, source=None)
    here, there = (log_probability(each.seen, decisions, mechanism, relation) for each in (counted, again))
    assert abs(here - there) <= float(epsilon) * (1 + 1e-9) + 1e-9
