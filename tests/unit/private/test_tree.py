"""Trees of boxes, the verb `grow`, and their brute-force twin in plain integers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError, ParameterError
from covey.noise.laplace import discrete_laplace
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree
from covey.post.random import public_rng
from covey.private import trees
from covey.private.engines.base import exact
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.lattice import to_lattice
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours, resolve_bounds
from covey.queries.grid import Grid
from covey.queries.tree import Nodes, Tree, TreeLeaves, TreeNodes

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
ONE = Fraction(1)


def box(d: int) -> Domain:
    return resolve_bounds((-1, 1), names=None, width=d)


def lattice(rows: np.ndarray, domain: Domain) -> np.ndarray:
    return to_lattice(np.asarray(rows, dtype=np.float64).reshape(-1, domain.dimension).T, domain)


@cache
def plain_axes(tree: Tree) -> list[list[int]]:
    """The axes of each split, found again with fractions."""
    d, domain = tree.domain.dimension, tree.domain
    widths = [Fraction(width) for width in tree.widths or (1,) * d]
    times, splits = [0] * d, []
    for _ in range(tree.most_depth):
        order = sorted((axis for axis in range(d) if times[axis] < domain.bits - 1), key=lambda a: (-widths[a], a))
        chosen = order[: tree.axes_per_split]
        for axis in chosen:
            widths[axis] /= 2
            times[axis] += 1
        splits.append(chosen)
    return splits


def plain_key(tree: Tree, row: list[int], depth: int) -> int:
    """The key of one lattice row: Python integers, halving by halving."""
    span, parts, key = 2 * tree.domain.limit + 1, [1] * tree.domain.dimension, 0
    for chosen in plain_axes(tree)[:depth]:
        for axis in chosen:
            parts[axis] *= 2
            key = 2 * key + (row[axis] + tree.domain.limit) * parts[axis] // span % 2
    return key


def plain_privtree(rows: np.ndarray, tree: Tree, mechanism: PrivTree, neighbours: Neighbours, source) -> list:
    """The leaves, level by level, with real arithmetic done in fractions of a row."""
    units = mechanism.units(neighbours)
    bias = Fraction(units.bias, units.row)
    deep = [plain_key(tree, row, tree.most_depth) for row in rows.T.tolist()]
    nodes, leaves = [0], []
    for depth in range(tree.most_depth + 1):
        if not nodes:
            break
        if depth == tree.most_depth:
            leaves += [(depth, key) for key in nodes]
            break
        keys = [key >> (tree.most_depth - depth) * tree.axes_per_split for key in deep]
        height = {key: max(keys.count(key) - depth * bias, mechanism.theta - bias) for key in nodes}
        split, left = {}, nodes
        while left:
            tries = max(1, min(16, 8192 // len(left)))
            drawn = discrete_laplace((tries, len(left)), inverse_scale=Fraction(1, units.noise), source=source)
            again = []
            for key, own in zip(left, drawn.T.tolist(), strict=True):
                noisy = (height[key] + Fraction(each, units.row) for each in own)
                first = next((each for each in noisy if each + bias > mechanism.theta), None)
                if first is None:
                    again.append(key)
                else:
                    split[key] = first > mechanism.theta
            left = again
        children = []
        for key in nodes:
            if split[key]:
                children += [key * mechanism.fan_out + i for i in range(mechanism.fan_out)]
            else:
                leaves.append((depth, key))
        nodes = children
    bits = tree.axes_per_split
    return sorted(leaves, key=lambda leaf: leaf[1] << (tree.most_depth - leaf[0]) * bits)


def pairs(nodes: Nodes) -> list:
    return list(zip(nodes.depths.tolist(), nodes.keys.tolist(), strict=True))


class Passes(StreamEngine):
    """An engine that streams, keeps nothing, counts few nodes at once, and its passes."""

    def __init__(self, rows: np.ndarray, domain: Domain, *, nodes_at_once: int) -> None:
        super().__init__(ArrayTable(rows), domain)
        self._kept, self.passes, self.nodes_at_once = None, 0, nodes_at_once

    def list_by_key(self, query):
        self.passes += 1
        return super().list_by_key(query)


def grown(rows, tree, mechanism, *, neighbours=ADD, seed=0, engine=None, fine=None):
    engine = engine or MemoryEngine(ArrayTable(np.asarray(rows, dtype=np.float64)), tree.domain)
    return trees.grow(engine, tree, mechanism, neighbours=neighbours, source=SeededSource(seed), fine=fine)


# --- the tree ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("g", [1, 2, 3])
def test_keys_are_those_of_plain_integers(d, g):
    if g > d:
        pytest.skip("fewer axes")
    rng = np.random.default_rng(d)
    domain = box(d)
    limit = domain.limit
    tree = Tree(domain, widths=tuple(rng.uniform(0.001, 1, d)), axes_per_split=g)
    edges = [math.ceil(cell * (2 * limit + 1) / 2**s) - limit for s in (1, 2, 9, domain.bits - 1) for cell in (0, 1, 2)]
    edges = [min(edge + shift, limit) for edge in edges for shift in (-1, 0, 1) if edge + shift >= -limit]
    rows = rng.choice([-limit, -1, 0, 1, limit, *edges, *rng.integers(-limit, limit + 1, 20)], (d, 60)).astype(np.int32)
    assert [axis for split in plain_axes(tree) for axis in split] == list(tree.axes(tree.most_depth))
    for depth in {0, 1, 2, tree.most_depth // 2, tree.most_depth}:
        expected = [plain_key(tree, row, depth) for row in rows.T.tolist()]
        assert tree.keys(rows, depth).tolist() == expected


def test_the_depth_ends_where_keys_or_the_lattice_do():
    for d in (1, 2, 3, 6, 30):
        for g in {1, min(2, d), min(d, 16)}:
            tree = Tree(box(d), axes_per_split=g)
            halvings = tree.axes(tree.most_depth)
            assert len(halvings) == g * tree.most_depth <= 62
            assert max(halvings.count(axis) for axis in range(d)) <= tree.domain.bits - 1
            assert g * (tree.most_depth + 1) > 62 or d * (tree.domain.bits - 1) - len(halvings) < d * g
            with pytest.raises(ParameterError, match="most_depth"):
                Tree(box(d), axes_per_split=g, most_depth=tree.most_depth + 1)


def test_longer_axes_are_halved_first_and_an_axis_at_the_lattice_no_more():
    tree = Tree(box(2), widths=(1.0, 8.0), most_depth=6)
    assert tree.axes(6) == (1, 1, 1, 0, 1, 0)
    assert Tree(box(3), widths=(2, 2, 1), axes_per_split=2, most_depth=3).axes(3) == (0, 1, 0, 1, 2, 0)
    thin = Tree(box(2), widths=(1e-300, 1e300))
    bits = thin.domain.bits - 1
    assert thin.axes(thin.most_depth) == (1,) * bits + (0,) * bits


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("axes_per_split", {"axes_per_split": 0}),
        ("axes_per_split", {"axes_per_split": 3}),
        ("widths", {"widths": (1.0,)}),
        ("widths", {"widths": (1.0, 0.0)}),
        ("widths", {"widths": (1.0, math.nan)}),
        ("most_depth", {"most_depth": -1}),
    ],
)
def test_a_tree_refuses_by_name(name, options):
    with pytest.raises(ParameterError, match=name):
        Tree(box(2), **options)


def test_trees_are_values():
    assert Tree(box(2), widths=[1, 2]) == Tree(box(2), widths=(1.0, 2.0))
    assert hash(Tree(box(2))) == hash(Tree(box(2)))


def test_a_full_level_is_a_grid():
    domain = box(2)
    tree = Tree(domain, axes_per_split=2)
    every = tree.in_order(np.full(64, 3), np.arange(64))
    grid = Grid(domain, 8)
    middles = tree.midpoints(every)
    assert {tuple(m) for m in middles.tolist()} == {tuple(m) for m in grid.midpoints().tolist()}
    rows = np.random.default_rng(0).integers(-domain.limit, domain.limit + 1, (2, 500)).astype(np.int32)
    lower, upper = tree.boxes(every)
    key = tree.keys(rows, 3)
    assert (lower[key] <= rows.T).all()
    assert (upper[key] >= rows.T).all()


def test_the_root_is_the_cube():
    tree = Tree(box(3))
    lower, upper = tree.boxes(tree.in_order(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)))
    assert (lower == -tree.domain.limit - 0.5).all()
    assert (upper == tree.domain.limit + 0.5).all()


@pytest.mark.parametrize(("d", "g"), [(1, 1), (2, 2), (3, 2), (3, 3), (5, 4)])
def test_boxes_are_those_of_plain_fractions(d, g):
    tree = Tree(box(d), widths=tuple(range(1, d + 1)), axes_per_split=g)
    rng, span = np.random.default_rng(d), 2 * tree.domain.limit + 1
    depths = np.concatenate([[0, 1, tree.deepest], rng.integers(0, tree.deepest + 1, 20)])
    keys = np.array([int(rng.integers(0, 1 << depth * g)) for depth in depths.tolist()], dtype=np.int64)
    nodes = Nodes(depths, keys)
    lower, upper = tree.boxes(nodes)
    for depth, key, low, high in zip(depths.tolist(), keys.tolist(), lower, upper, strict=True):
        start, width = [Fraction(-span, 2)] * d, [Fraction(span)] * d
        for place, axis in enumerate(axis for split in plain_axes(tree)[:depth] for axis in split):
            width[axis] /= 2
            start[axis] += width[axis] * (key >> (depth * g - 1 - place) & 1)
        assert low.tolist() == [float(each) for each in start]
        assert high.tolist() == [float(each + size) for each, size in zip(start, width, strict=True)]


# --- counts of leaves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", [1, 4, 16])
def test_leaves_count_every_row_once(monkeypatch, prefix):
    monkeypatch.setattr("covey.queries.tree.PREFIX_BITS", prefix)
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(0.3, 0.01, (400, 2)), rng.uniform(-1, 1, (300, 2)), np.full((50, 2), np.nan)])
    tree = Tree(box(2), axes_per_split=2)
    leaves = grown(rows, tree, PrivTree(ONE, 4))
    query = TreeLeaves(tree, leaves)
    counts = exact(MemoryEngine(ArrayTable(rows), tree.domain), query)
    assert counts.sum() == len(rows)
    deep = [plain_key(tree, row, 24) for row in lattice(rows, tree.domain).T.tolist()]
    for depth in set(leaves.depths.tolist()):
        keys = [key >> 2 * (24 - depth) for key in deep]
        for place in np.flatnonzero(leaves.depths == depth).tolist():
            assert counts[place] == keys.count(int(leaves.keys[place]))


@pytest.mark.parametrize(
    "leaves", [[(1, 0)], [(1, 0), (1, 1), (2, 0)], [(0, 0), (1, 0)], [], [(1, 0), (1, 0)], [(1, 1), (2, 0)]]
)
def test_leaves_must_cover_the_domain_once(leaves):
    depths, keys = (np.array([leaf[i] for leaf in leaves], dtype=np.int64) for i in range(2))
    with pytest.raises(ParameterError, match="cover"):
        TreeLeaves(Tree(box(2)), Nodes(depths, keys))


@pytest.mark.parametrize("leaves", [[(1, 2)], [(-1, 0)], [(99, 0)], [(0, -1)]])
def test_nodes_are_of_the_tree(leaves):
    depths, keys = (np.array([leaf[i] for leaf in leaves], dtype=np.int64) for i in range(2))
    with pytest.raises(ParameterError, match="nodes"):
        Tree(box(2)).in_order(depths, keys)


def test_leaves_are_put_in_order():
    tree = Tree(box(1), most_depth=3)
    query = TreeLeaves(tree, Nodes(np.array([1, 2, 2]), np.array([1, 1, 0])))
    assert pairs(query.leaves) == [(2, 0), (2, 1), (1, 1)]
    assert query.size == 3
    assert query.sensitivity(ADD).l1 == 1
    assert query.sensitivity(REPLACE).l1 == 2


# --- growing ----------------------------------------------------------------------------------------------------------

DATA = {
    "none": np.empty((0, 1)),
    "one": np.array([[0.3]]),
    "equal": np.full((40, 1), 0.123),
    "edges": np.repeat([[-1.0], [1.0], [0.0], [np.nan], [np.inf], [-np.inf], [-0.0]], 6, axis=0),
    "cloud": np.random.default_rng(0).normal(0.5, 0.1, (60, 1)),
}


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("d", "g", "epsilon"), [(1, 1, 1), (2, 2, 3), (2, 1, 20), (3, 2, 2), (5, 3, 4)])
@pytest.mark.parametrize("kind", DATA)
def test_the_tree_is_that_of_the_brute_force_twin(kind, d, g, epsilon, relation):
    rows = np.repeat(DATA[kind], d, axis=1)
    if d > 1 and len(rows):
        rows = rows * np.linspace(1, 0.5, d)
    tree = Tree(box(d), widths=tuple(range(1, d + 1)), axes_per_split=g, most_depth=7)
    mechanism = PrivTree(Fraction(epsilon), 2**g, theta=d % 3)
    for seed in range(2):
        twin = plain_privtree(lattice(rows, tree.domain), tree, mechanism, relation, SeededSource(seed))
        assert pairs(grown(rows, tree, mechanism, neighbours=relation, seed=seed)) == twin


def test_an_engine_that_streams_gives_the_same_tree_in_more_passes():
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(0.3, 1e-4, (2000, 2)), rng.uniform(-1, 1, (2000, 2))])
    for g, most in ((1, 62), (2, 24), (2, 5), (2, 0)):
        tree = Tree(box(2), axes_per_split=g, most_depth=min(most, Tree(box(2), axes_per_split=g).most_depth))
        mechanism = PrivTree(ONE, 2**g)
        expected = pairs(grown(rows, tree, mechanism))
        for size in (1, 2**6, 2**10):
            engine = Passes(rows, tree.domain, nodes_at_once=size)
            assert pairs(grown(rows, tree, mechanism, engine=engine)) == expected
            assert (engine.passes > 1) == (most > 5 or (most > 0 and size < 2**10))
            leaves = TreeLeaves(tree, grown(rows, tree, mechanism, engine=engine))
            fresh = MemoryEngine(ArrayTable(rows), tree.domain).total(leaves)
            assert engine._leaves is None or engine._leaves[-1].tolist() == fresh.tolist()
            assert engine.total(leaves).tolist() == fresh.tolist()


@pytest.mark.parametrize("sorted_below", [-1, 1500, 10**6])
def test_many_rows_in_memory_give_the_same_tree_from_lists_and_what_is_left_sorted(monkeypatch, sorted_below):
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.normal(0.3, 1e-4, (2000, 2)), rng.uniform(-1, 1, (2000, 2))])
    tree, mechanism = Tree(box(2), axes_per_split=2), PrivTree(ONE, 4)
    expected = pairs(grown(rows, tree, mechanism))
    monkeypatch.setattr("covey.private.engines.memory.SORTED_ROWS", 100)
    monkeypatch.setattr("covey.private.engines.memory.LISTED", 2**6)
    monkeypatch.setattr("covey.private.trees.SORTED_ROWS", sorted_below)
    engine = MemoryEngine(ArrayTable(rows), tree.domain)
    asked = []
    monkeypatch.setattr(
        engine, "sorted_keys", lambda query: asked.append(query) or MemoryEngine.sorted_keys(engine, query)
    )
    assert pairs(grown(rows, tree, mechanism, engine=engine)) == expected
    assert [query.depth > 0 for query in asked] == ([True] if sorted_below > 0 else [])


@pytest.mark.parametrize("nodes", [[1, 6], [0], [2, 3, 6, 7], list(range(8)), [2, 3, 6], [1, 2]])
@pytest.mark.parametrize("place_bits", [0, 20])
def test_nodes_below_given_ones_and_the_rest(nodes, place_bits, monkeypatch):
    """Whole families of children are found by their parents, others one by one."""
    monkeypatch.setattr("covey.queries.tree.PLACE_BITS", place_bits)
    tree = Tree(box(1))
    rows = np.linspace(-tree.domain.limit, tree.domain.limit, 64).astype(np.int32)[None]
    query = TreeNodes(tree, nodes=np.array(nodes), depth=3, levels=2)
    deep = tree.keys(rows, 5)
    size = 4 * len(nodes) + 1
    expected = [4 * nodes.index(key >> 2) + key % 4 if key >> 2 in nodes else size - 1 for key in deep.tolist()]
    assert query.size == size
    assert query.keys(rows).tolist() == expected
    assert [query.keys(rows)[i] for i in query.descending(rows)[0]] == query.descending(rows)[1].tolist()
    assert len(query.descending(rows)[0]) == sum(key < size - 1 for key in expected)
    assert query.sensitivity(ADD).l1 == 1


def test_leaves_of_the_deepest_level_are_counted_while_the_tree_grows():
    """Their rows decide nothing, but are asked for next: another pass over all rows would be for them alone."""
    tree, rows = Tree(box(2), axes_per_split=2), np.full((10**3, 2), 0.3)
    engine = MemoryEngine(ArrayTable(rows), tree.domain)
    leaves = TreeLeaves(tree, grown(rows, tree, PrivTree(ONE, 4), engine=engine))
    assert leaves.leaves.depths.max() == tree.most_depth
    assert engine._leaves is not None
    assert engine.total(leaves).tolist() == MemoryEngine(ArrayTable(rows), tree.domain).total(leaves).tolist()


def test_equal_rows_stop_at_the_most_depth():
    tree = Tree(box(2), axes_per_split=2)
    leaves = grown(np.full((10**4, 2), 0.3), tree, PrivTree(ONE, 4))
    assert leaves.depths.max() == tree.most_depth
    TreeLeaves(tree, leaves)
    short = Tree(box(2), axes_per_split=2, most_depth=4)
    assert grown(np.full((10**4, 2), 0.3), short, PrivTree(ONE, 4)).depths.max() == 4
    assert pairs(grown(np.zeros((9, 2)), Tree(box(2), axes_per_split=2, most_depth=0), PrivTree(ONE, 4))) == [(0, 0)]


def test_growth_ends_when_a_level_would_be_too_wide(monkeypatch):
    rows = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    tree = Tree(box(2), axes_per_split=2)
    mechanism = PrivTree(Fraction(50), 4)
    free = grown(rows, tree, mechanism)
    monkeypatch.setattr(trees, "MOST_NODES", 100)
    leaves = grown(rows, tree, mechanism)
    TreeLeaves(tree, leaves)
    assert max(np.bincount(leaves.depths)) <= 100 < max(np.bincount(free.depths))
    deepest = leaves.depths.max()
    above = set(pairs(free))
    assert {pair for pair in pairs(leaves) if pair[0] < deepest} <= above  # the same decisions up to there


def test_the_order_of_rows_leaves_no_trace():
    rng = np.random.default_rng(4)
    rows = rng.normal(0, 0.2, (3000, 3))
    tree = Tree(box(3), axes_per_split=3)
    assert pairs(grown(rows, tree, PrivTree(ONE, 8))) == pairs(grown(rng.permutation(rows), tree, PrivTree(ONE, 8)))


def test_a_city_on_the_globe_is_found():
    rng = np.random.default_rng(5)
    rows = np.array([0.3, -0.2]) + rng.normal(0, 1e-4, (20000, 2))
    tree = Tree(box(2), axes_per_split=2)
    leaves = grown(rows, tree, PrivTree(ONE, 4))
    counts = exact(MemoryEngine(ArrayTable(rows), tree.domain), TreeLeaves(tree, leaves))
    assert counts.max() < 0.02 * len(rows)
    assert len(leaves) < 5000


# --- at the door ------------------------------------------------------------------------------------------------------


def test_one_event_pays_for_the_tree(curator_of, watched):
    table = watched(np.zeros((50, 2)))
    mechanism = PrivTree(ONE, 4)
    curator = curator_of(None, table=table, epsilon=ONE + Fraction(1, 2), seed=1)
    tree = Tree(curator.domain, axes_per_split=2)
    with pytest.raises(BudgetError):
        curator.grow(tree, mechanism)
    curator.reserve(Plan((mechanism.event(), DiscreteLaplace(Fraction(1, 2)).event())))
    assert table.read == 0
    leaves = curator.grow(tree, mechanism)
    assert isinstance(leaves, Nodes)
    assert set(vars(leaves)) == {"depths", "keys"}
    noisy = curator.release(TreeLeaves(tree, leaves), DiscreteLaplace(Fraction(1, 2)))
    assert len(noisy) == len(leaves)
    with pytest.raises(BudgetError):
        curator.grow(tree, mechanism)
    assert table.read == 1


def test_the_door_refuses_what_does_not_fit(curator_of, watched):
    table = watched(np.zeros((5, 2)), broken=True)
    curator = curator_of(None, table=table, plan=Plan((PrivTree(ONE, 4).event(),)))
    with pytest.raises(ParameterError, match="fan_out"):
        curator.grow(Tree(curator.domain, axes_per_split=1), PrivTree(ONE, 4))
    with pytest.raises(ParameterError, match="another domain"):
        curator.grow(Tree(box(3), axes_per_split=2), PrivTree(ONE, 4))
    with pytest.raises(AssertionError, match="rows were read"):
        curator.grow(Tree(curator.domain, axes_per_split=2), PrivTree(ONE, 4))  # nothing was drawn before


def test_rows_moved_to_cells_grow_a_tree_too(curator_of):
    rows = np.random.default_rng(1).normal(0, 0.1, (2000, 2))
    mechanism = PrivTree(ONE, 4)
    curator = curator_of(rows, plan=Plan((mechanism.event(),)), seed=3)
    grid = Grid(curator.domain, 64)
    tree = Tree(curator.domain, axes_per_split=2)
    leaves = curator.on_cells(grid).grow(tree, mechanism)
    moved = grid.lattice_points(grid.index(lattice(rows, curator.domain))).T / curator.domain.limit
    assert pairs(leaves) == pairs(grown(moved, tree, mechanism, seed=3))


@pytest.mark.parametrize("at_once", [1, 1000, 2**22])
def test_totals_by_key_are_those_of_all_rows_however_they_are_sorted(monkeypatch, at_once):
    monkeypatch.setattr("covey.private.engines.rows.WAITING", at_once)
    monkeypatch.setattr("covey.private.engines.rows.CHUNK_VALUES", 500)
    rows = np.random.default_rng(6).normal(0, 0.3, (3000, 2))
    tree = Tree(box(2), axes_per_split=2)
    engine = MemoryEngine(ArrayTable(rows), tree.domain)
    for levels in (0, 4, 24):
        query = TreeNodes(tree, nodes=np.zeros(1, dtype=np.int64), depth=0, levels=levels)
        keys, counts = np.unique(tree.keys(lattice(rows, tree.domain), levels), return_counts=True)
        found = engine.totals_by_key(query)
        assert found[0].tolist() == keys.tolist()
        assert found[1].tolist() == counts.tolist()
        assert engine.sorted_keys(query).tolist() == np.repeat(keys, counts).tolist()


# --- what grows by noise alone is cut off -----------------------------------------------------------------------------


def plain_twigs_cut(
    leaves: list[tuple[int, int]], bits: int, fine: int, least: int, tall: int, deepest: int
) -> list[tuple[int, int]]:
    """Nodes of a depth in place of the leaves below, if one in 1000 at most has `least` or all, or reaches `tall`."""
    of_fork: dict[int, list[tuple[int, int]]] = {}
    for depth, key in leaves:
        if depth > fine:
            of_fork.setdefault(key >> (depth - fine) * bits, []).append((depth, key))
    every = 2 ** (bits * (deepest - fine)) if deepest > fine else 0
    large = [
        len(below) >= min(least, every) or max(depth for depth, _ in below) - fine >= tall for below in of_fork.values()
    ]
    if 1000 * sum(large) > len(large):
        return leaves
    return [leaf for leaf in leaves if leaf[0] <= fine] + [(fine, fork) for fork in of_fork]


EVEN = np.random.default_rng(4).uniform(-1, 1, (3000, 2))
PILED = np.concatenate([np.full((3000, 2), 0.3), EVEN, np.full((5, 2), -0.7)])


@pytest.mark.parametrize("least", [1, 5, 20, 10**6])
@pytest.mark.parametrize("fine", [0, 2, 4, 30])
@pytest.mark.parametrize("theta", [0, 60, 400])
@pytest.mark.parametrize("size", [2**6, 2**10, None])
@pytest.mark.parametrize("rows", [EVEN, PILED], ids=["even", "piled"])
def test_leaves_below_forks_with_few_of_them_are_cut_off(rows, least, fine, theta, size, monkeypatch):
    """The same tree with and without the counts of nodes that decide nothing; what is counted is true."""
    tall = 62 if least == 10**6 else 6
    monkeypatch.setattr(trees, "TWIGS", least)
    monkeypatch.setattr(trees, "TALL", tall)
    tree, mechanism = Tree(box(2), axes_per_split=2), PrivTree(ONE, 4, theta=theta)
    for seed in range(3):
        whole = pairs(grown(rows, tree, mechanism, seed=seed))
        engine = Passes(rows, tree.domain, nodes_at_once=size)
        leaves = grown(rows, tree, mechanism, engine=engine, seed=seed, fine=fine)
        assert sorted(pairs(leaves)) == sorted(plain_twigs_cut(whole, 2, fine, least, tall, tree.deepest))
        query = TreeLeaves(tree, leaves)
        assert engine.total(query).tolist() == MemoryEngine(ArrayTable(rows), tree.domain).total(query).tolist()


@pytest.mark.parametrize(("d", "fine"), [(1, 22), (2, 11)])
def test_nodes_whose_rows_are_in_little_of_them_stay_divided(d, fine):
    """At the depths that `auto` asks for. A heap in one column is as wide as its node already, nearly."""
    tree, mechanism = Tree(box(d), axes_per_split=d), PrivTree(ONE, 2**d, theta=1)
    sliver = 0.3 + public_rng(1).uniform(0, 2.0 ** (2 - fine) if d == 1 else 2.0**-fine / 10, (40_000, d))
    for rows in ([] if d == 1 else [np.full((40_000, d), 0.3)]) + [sliver]:
        whole = pairs(grown(rows, tree, mechanism))
        assert max(depth for depth, _ in whole) > fine + 2
        assert pairs(grown(rows, tree, mechanism, fine=fine)) == whole


def test_one_large_twig_of_very_many_is_noise():
    tree, fine = Tree(box(1), most_depth=12), 10
    forks = np.arange(1000)
    level = np.zeros(2000, dtype=np.int64)
    below = (fine + 1, np.arange(2, 2000), level[2:])
    deepest = (fine + 2, np.arange(4), level[:4])
    leaves = [(fine, np.arange(1000, 1024), np.zeros(24, dtype=np.int64)), below, deepest]
    assert pairs_of(trees._without_twigs(tree, leaves, (fine, forks, forks))) == [(fine, key) for key in range(1024)]
    few = [(fine, np.arange(999, 1024), np.zeros(25, dtype=np.int64)), (fine + 1, np.arange(2, 1998), None), deepest]
    assert trees._without_twigs(tree, few, (fine, forks[:-1], forks[:-1])) is few


def pairs_of(leaves: trees.Leaves) -> list[tuple[int, int]]:
    return sorted((depth, key) for depth, keys, _ in leaves for key in keys.tolist())


def test_nodes_that_decide_nothing_need_no_pass():
    """Below 1/4 of the domain all boxes have fewer rows than the threshold: what grows there is noise."""
    rows = np.random.default_rng(5).uniform(-1, 1, (8000, 2))
    tree, mechanism = Tree(box(2), axes_per_split=2), PrivTree(ONE, 4, theta=1000)
    passes, deeper = [], 0
    for seed in range(20):
        engine = Passes(rows, tree.domain, nodes_at_once=2**4)
        whole = grown(rows, tree, mechanism, engine=engine, seed=seed)
        deeper += whole.depths.max() > 2
        engine = Passes(rows, tree.domain, nodes_at_once=2**4)
        leaves = TreeLeaves(tree, grown(rows, tree, mechanism, engine=engine, seed=seed, fine=2))
        assert leaves.leaves.depths.max() == 2
        engine.total(leaves)
        passes.append(engine.passes)
    assert deeper > 5
    assert set(passes) == {1}


def test_nodes_without_rows_need_no_pass():
    rows, tree = np.full((1000, 1), 0.3), Tree(box(1))
    engine = Passes(rows, tree.domain, nodes_at_once=2**3)
    mechanism = PrivTree(ONE, 2, theta=-30)  # so that empty nodes split for a while
    leaves = grown(rows[:0], tree, mechanism, engine=Passes(rows[:0], tree.domain, nodes_at_once=2**3))
    empty = Passes(rows[:0], tree.domain, nodes_at_once=2**3)
    assert pairs(grown(rows[:0], tree, mechanism, engine=empty)) == pairs(leaves)
    assert leaves.depths.max() > 4
    assert empty.passes == 1
    grown(rows, tree, mechanism, engine=engine)
    assert engine.passes > 3
