"""`jl-candidates`: what it spends, that it finds clear clusters, its projection, its partition, what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from covey import Ball, KMeans, ParameterError
from covey.algorithms.jl_candidates import heights, random_projection, rows_of, share_out, split_nodes
from covey.algorithms.registry import find
from covey.budget.accounting.accountant import Cost
from covey.fit.fit import fit
from covey.post.random import public_rng
from covey.public import Neighbours, resolve_bounds
from covey.queries.tree import Nodes, Tree

EPSILON, DELTA = Fraction(7, 3), Fraction(1, 10**6)
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize(("n", "d"), [(0, 2), (5, 1), (400, 9), (400, 3)])
def test_all_of_epsilon_is_planned_and_drawn(curator_of, relation, n, d):
    """The parts add up to ε; as published they add up to 1.75 ε."""
    rows = np.random.default_rng(n).uniform(-1, 1, (n, d))
    curator = curator_of(rows, neighbours=relation, epsilon=EPSILON, seed=2)
    outcome = find("jl-candidates").run(curator, k=3, epsilon=EPSILON, public_rng=public_rng(1))
    assert curator._reserve.opened.epsilon == EPSILON
    assert curator._reserve.opened.delta == 0
    assert curator._reserve.remaining == ()
    assert outcome.centres.shape == (3, d)
    assert np.abs(outcome.centres).max() <= curator.domain.limit
    assert outcome.sizes.shape == (3,)


@pytest.mark.parametrize(
    ("relation", "own"),
    [
        (ADD, {}),
        (REPLACE, {}),
        (REPLACE, {"final_round": False}),
        (ADD, {"averages": "noisy-avg"}),
        (ADD, {"averages": "noisy-avg", "final_round": False}),
    ],
)
@pytest.mark.parametrize("n", [0, 300])
def test_with_a_delta_the_plans_add_up_to_both(curator_of, relation, own, n):
    rows = np.random.default_rng(n).uniform(-1, 1, (n, 40))
    curator = curator_of(rows, neighbours=relation, epsilon=EPSILON, delta=DELTA, seed=2)
    outcome = find("jl-candidates").run(curator, k=3, epsilon=EPSILON, delta=DELTA, public_rng=public_rng(1), **own)
    opened = curator._reserve.opened
    assert opened.within(Cost(EPSILON, DELTA))
    assert opened.delta == DELTA
    assert float(EPSILON - opened.epsilon) < 1e-4  # Gaussian calibration rounds down
    assert curator._reserve.remaining == ()
    assert np.abs(outcome.centres).max() <= curator.domain.limit


@pytest.mark.parametrize("final_round", [True, False])
@pytest.mark.parametrize(("d", "norm"), [(2, "l1"), (100, "l2")])
def test_the_parts_of_epsilon_and_delta_never_exceed_them(d, norm, final_round):
    domain = resolve_bounds((-1, 1), names=None, width=d)
    public = {"k": 3, "domain": domain, "neighbours": ADD, "final_round": final_round}
    parts, rounds = share_out(EPSILON, DELTA, averages=None, **public)
    assert sum(parts) + sum(each.epsilon for each in rounds) == EPSILON
    assert [each.norm for each in rounds] == [norm] * (1 + final_round)
    assert sum(each.delta for each in rounds) == (0 if norm == "l1" else DELTA)
    assert share_out(EPSILON, Fraction(0), averages=None, **public)[1] == ()  # all of it in the first, pure plan


@pytest.mark.parametrize(("own", "charged"), [({}, 1e-6), ({"averages": "shortened"}, 0.0)])
def test_a_delta_that_no_average_uses_is_not_charged(own, charged):
    rows = np.random.default_rng(1).uniform(-1, 1, (200, 40))
    for d, spent in ((40, charged), (2, 0.0)):
        given = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "algorithm_params": own}
        assert fit(rows[:, :d], algorithm="jl-candidates", **given).certificate.delta == spent


@pytest.mark.parametrize("given", [{}, {"delta": 1e-6, "neighbours": "replace-one"}])
def test_noisy_avg_is_refused_before_the_charge_where_it_is_not_proven(blobs, given):
    charged = []
    with pytest.raises(ParameterError, match="add-remove, with a delta"):
        KMeans(
            2,
            bounds=(-1, 1),
            algorithm="jl-candidates",
            algorithm_params={"averages": "noisy-avg"},
            progress=lambda *step: charged.append(step),
            **given,
        ).fit(blobs)
    assert charged == []


@pytest.mark.parametrize(("d", "own"), [(2, {}), (8, {}), (8, {"averages": "sums"}), (8, {"averages": "noisy-avg"})])
def test_clear_clusters_are_found_with_a_generous_budget(d, own):
    rng = np.random.default_rng(1)
    middles = rng.choice([-0.6, 0.0, 0.6], (4, d))
    middles[:, 0] = [-0.7, -0.2, 0.3, 0.8]
    rows = middles[rng.integers(0, 4, 8000)] + rng.normal(0, 0.03, (8000, d))
    costs = []
    for seed in range(4):
        model = KMeans(
            4,
            epsilon=200,
            delta=1e-4 if own else None,
            bounds=(-1, 1),
            algorithm="jl-candidates",
            algorithm_params=own,
            random_state=seed,
        ).fit(rows)
        away = np.square(rows[:, None] - model.cluster_centers_).sum(axis=2).min(axis=1)
        costs.append(float(away.mean()) / float(rows.var(axis=0).sum()))
        assert sum(model.release_.sizes) == pytest.approx(8000, abs=200)
    assert np.median(costs) < 0.1


def test_many_columns_are_projected_to_few(curator_of):
    rows = np.random.default_rng(3).normal(0, 0.2, (3000, 40))
    curator = curator_of(rows, epsilon=Fraction(5), seed=2)
    outcome = find("jl-candidates").run(curator, k=2, epsilon=Fraction(5), public_rng=public_rng(1))
    assert outcome.notes["dimensions"] == 4  # ln(3000)/2
    curator = curator_of(rows, epsilon=Fraction(5), seed=2)
    outcome = find("jl-candidates").run(curator, k=2, epsilon=Fraction(5), public_rng=public_rng(1), dimensions=7)
    assert outcome.notes["dimensions"] == 7


@pytest.mark.parametrize("bounds", [(-1, 1), Ball(1.0)], ids=["box", "ball"])
def test_the_projection_is_of_signs_with_a_public_range(bounds):
    domain = resolve_bounds(bounds, names=None, width=50)
    first, again = (random_projection(domain, 5, size=1000, rng=public_rng(4)) for _ in range(2))
    assert np.array_equal(first.matrix, again.matrix)
    assert set(np.unique(first.matrix)) == {-1, 1}
    assert abs(int(first.matrix.sum())) < 80  # of 250 fair signs
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (50, 2000))
    if domain.ball:
        rows /= np.sqrt(np.square(rows).sum(axis=0))
    products = first.matrix @ np.rint(rows * domain.limit)
    assert np.mean(np.abs(products) > first.half[:, None]) < 1e-3
    assert first.half.max() <= domain.row_l1


def test_few_columns_are_left_as_they_are():
    domain = resolve_bounds((-1, 1), names=None, width=3)
    assert np.array_equal(random_projection(domain, 3, size=10**6, rng=public_rng(0)).matrix, np.eye(3))


def test_boxes_that_were_split_their_rows_and_heights():
    tree = Tree(resolve_bounds((-1, 1), names=None, width=2), axes_per_split=1)
    # the root is split, its lower half is split, and the lower quarter of that
    depths, keys = np.array([3, 3, 2, 1]), np.array([0b000, 0b001, 0b01, 0b1])
    leaves = tree.in_order(depths, keys)
    nodes = split_nodes(tree, leaves)
    assert list(zip(nodes.depths.tolist(), nodes.keys.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 0)]
    counts = np.array([5, 7, 11, 100])
    assert rows_of(tree, nodes, leaves, counts).tolist() == [123, 23, 12]
    assert heights(tree, nodes).tolist() == [2, 1, 0]
    assert heights(tree, Nodes(nodes.depths[[0, 2]], nodes.keys[[0, 2]])).tolist() == [2, 0]
    root = tree.in_order(np.array([0]), np.array([0]))
    assert len(split_nodes(tree, root)) == 0
    assert len(heights(tree, split_nodes(tree, root))) == 0


def test_split_boxes_equal_their_twin():
    rng = np.random.default_rng(5)
    tree = Tree(resolve_bounds((-1, 1), names=None, width=2), axes_per_split=2)
    open_, closed = [(0, 0)], []
    while open_:
        depth, key = open_.pop()
        if depth < 6 and rng.random() < 0.45:
            open_ += [(depth + 1, key * 4 + i) for i in range(4)]
        else:
            closed.append((depth, key))
    leaves = tree.in_order(*np.array(closed).T)
    counts = rng.integers(-3, 50, len(leaves))
    nodes = split_nodes(tree, leaves)
    table = dict(zip(zip(leaves.depths.tolist(), leaves.keys.tolist(), strict=True), counts.tolist(), strict=True))
    above = {(d - up, k >> 2 * up) for d, k in table for up in range(1, d + 1)}
    places = list(zip(nodes.depths.tolist(), nodes.keys.tolist(), strict=True))
    assert set(places) == above
    for (depth, key), rows, height in zip(
        places, rows_of(tree, nodes, leaves, counts), heights(tree, nodes), strict=True
    ):
        inside = [c for (d, k), c in table.items() if d > depth and k >> 2 * (d - depth) == key]
        assert rows == sum(inside)
        assert height == max(d - depth for d, k in above if d >= depth and k >> 2 * (d - depth) == key)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dimensions", 0), ("dimensions", 31), ("candidates", 1), ("swaps", -1), ("swaps", "few"), ("averages", "mean")],
)
def test_wrong_parameters_are_named_before_the_charge(blobs, name, value):
    charged = []
    with pytest.raises(ParameterError) as refusal:
        KMeans(
            2,
            bounds=(-1, 1),
            algorithm="jl-candidates",
            algorithm_params={name: value},
            progress=lambda *step: charged.append(step),
        ).fit(blobs)
    assert refusal.value.parameter == name
    assert charged == []


@pytest.mark.parametrize("epsilon", [1e-6, 1e4])
@pytest.mark.parametrize("bounds", [(-1, 1), Ball(1.0)], ids=["box", "ball"])
@pytest.mark.parametrize("given", [{}, {"delta": 1e-6}])
def test_every_epsilon_works(blobs, epsilon, bounds, given):
    rows = np.tile(blobs, 15)  # columns enough for Gaussian noise
    model = KMeans(2, epsilon=epsilon, bounds=bounds, algorithm="jl-candidates", **given).fit(rows if given else blobs)
    assert np.isfinite(model.cluster_centers_).all()
