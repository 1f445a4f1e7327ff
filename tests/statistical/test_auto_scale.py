"""Every release of `auto` has the noise that docs/guide/auto.md promises; noise a tenth too small is refused.

`auto` runs behind a curator that keeps noisy minus exact. The promise is written down here again, from the budget table
and the proof notes, not read from the mechanisms: the share of epsilon, and how far one row can move a statistic.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from conftest import make_curator
from covey.algorithms.auto import high as auto_high
from covey.algorithms.auto import low as auto_low
from covey.algorithms.auto import one_mean as auto_one_mean
from covey.algorithms.auto.auto import auto
from covey.algorithms.auto.shares import approximate_shares
from covey.algorithms.kit import learn_size
from covey.budget.accounting.accountant import compose
from covey.budget.accounting.plan import Plan
from covey.noise import tree as tree_noise
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace
from covey.noise.source import SeededSource
from covey.post import threads
from covey.post.errors import flat
from covey.post.kmeans import Clustering
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.base import exact as exact_of
from covey.public import Neighbours
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DELTA = Fraction(1, 10**6)
SIGMAS = 5.0  # the runs are seeded: this is how unlikely a right scale may look
OFF = [(1.0, True), (0.9, False), (1.15, False)]
D, K, RUNS = 40, 6, 90
SUM, SQUARES, MOMENTS = 2**24, 2**32, 26_000**2  # what stands for a radius, or a radius squared, in integers


class Noted(Curator):
    """A curator that keeps, for each kind of release, the mechanisms and noisy minus exact.

    Each release has a seed of its own: how many leaves a tree has hangs on the last bits of floating-point numbers,
    which are not those of every processor, and must not decide about the noise of other releases.
    """

    def start(self, run):
        self.noises, self.mechanisms = defaultdict(list), defaultdict(list)
        self._seeds = itertools.count(1000 * run)
        return self

    def release(self, query, mechanism):
        self._source = SeededSource(next(self._seeds))
        noisy = super().release(query, mechanism)
        kind = type(query).__name__
        if kind == "MeanSums" and self.noises["MeanSums"]:
            kind = "recentre"
        if getattr(query, "with_counts", False):
            kind = "counted residuals"
        self.noises[kind].append(noisy - exact_of(self._engine, query))
        self.mechanisms[kind].append(mechanism)
        return noisy

    def grow(self, tree, mechanism, **how):
        self._source = SeededSource(next(self._seeds))
        self.mechanisms["tree"].append(mechanism)
        return super().grow(tree, mechanism, **how)


@pytest.fixture
def quick(monkeypatch):
    """Leave out the search for centres, and of sizes all but a place in each box: both are free, and take most of the
    time. On one thread: for a few hundred rows each, more of them only wait for one another."""

    def first_points(points, weights, *, k, **_):
        centres = np.resize(points, (k, points.shape[1]))
        return Clustering(centres, np.ones(k), 0.0)

    for module in (auto_low, auto_high, auto_one_mean):
        monkeypatch.setattr(module, "cluster", first_points)
    monkeypatch.setattr(flat, "_PLACES", 1)
    monkeypatch.setattr(threads, "cores", lambda: 1)


def noises(rows, *, runs, epsilon, delta=Fraction(0), relation=ADD, k=K):
    """The noise of every release of many runs, by kind, and the mechanisms of the last run."""
    found = defaultdict(list)
    for run in range(runs):
        door = make_curator(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=run)
        door.__class__ = Noted
        door.start(run)
        auto(door, k=k, epsilon=epsilon, delta=delta, objective="k-means", public_rng=public_rng(1))
        for kind, parts in door.noises.items():
            found[kind] += parts
    return {kind: np.concatenate(parts).astype(float) for kind, parts in found.items()}, door.mechanisms


def laplace_fits(noise: np.ndarray, scale: float) -> bool:
    """Mean absolute value and mean of whole numbers with P(x) ∝ exp(-|x|/scale)."""
    q = math.exp(-1 / scale)
    size, square = 2 * q / (1 - q * q), 2 * q / (1 - q) ** 2
    error = (np.abs(noise).mean() - size) / math.sqrt((square - size**2) / noise.size)
    return abs(error) < SIGMAS and abs(noise.mean()) < SIGMAS * math.sqrt(square / noise.size)


def gaussian_fits(noise: np.ndarray, deviation: float) -> bool:
    error = (np.square(noise / deviation).mean() - 1) / math.sqrt(2 / noise.size)
    return abs(error) < SIGMAS and abs(noise.mean()) < SIGMAS * deviation / math.sqrt(noise.size)


def radial_fits(noise: np.ndarray, scale: float, *, size: int = 0) -> bool:
    """Vectors of D numbers, or `size`, whose length over the scale is Gamma(D), and which point anywhere."""
    size = size or D
    vectors = noise.reshape(-1, size) / scale
    lengths = np.sqrt(np.square(vectors).sum(axis=1))
    error = (lengths.mean() - size) / math.sqrt(size / len(lengths))
    return abs(error) < SIGMAS and abs(vectors.mean()) < SIGMAS * math.sqrt((size + 1) / noise.size)


def check(fits, noise, scale):
    assert noise.size > 3500  # enough to tell a tenth
    for off, accepted in OFF:
        assert fits(noise, scale * off) == accepted, (off, noise.size)


def cloud(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(d)
    return rng.normal(0, 0.1, (n, d)) + rng.choice([-0.4, 0.4], (n, 1))


PURE = {"mean": 8, "norms": 3, "recentre": 8, "counts": 14, "rest": 43}  # parts of 98 of what the number of rows leaves
FULL = {**PURE, "rest": 32}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("relation", "times", "rows", "parts"),
    [
        (ADD, 1, 6000, PURE),
        (ADD, 1, 4000, {**PURE, "mean": 4, "recentre": 4, "rest": 51}),
        (REPLACE, 2, 2500, {**PURE, "mean": 11, "recentre": 5, "rest": 43}),
        (REPLACE, 2, 1300, {**PURE, "mean": 20, "recentre": 10, "counts": 12, "rest": 33}),
        (REPLACE, 2, 400, {**PURE, "mean": 40, "recentre": 16, "counts": 8, "rest": 17}),
        (ADD, 1, 700, FULL),
        (REPLACE, 2, 700, FULL),
    ],
)
def test_the_pure_form_has_the_promised_noise(relation, times, rows, parts):
    full = parts is FULL
    epsilon = Fraction(40 * times) if full else Fraction(1)  # full moments only where they are sharp
    found, _ = noises(cloud(rows, D), runs=RUNS, epsilon=epsilon, relation=relation)
    one = float(epsilon) * 0.98 / 98
    check(radial_fits, found["MeanSums"], times * SUM / (parts["mean"] * one))
    check(laplace_fits, found["NormCounts"], times / (parts["norms"] * one))
    check(radial_fits, found["recentre"], times * SUM / (parts["recentre"] * one))
    check(laplace_fits, found["TreeLeaves"], times / (parts["counts"] * one))
    if full:
        size = D * (D + 1) // 2
        l1 = (3.5 + 8.5 * D) * MOMENTS if times == 1 else math.sqrt(size * 289) * MOMENTS
        check(laplace_fits, found["SecondMoments"], l1 / (15 * one))
    else:
        check(laplace_fits, found["Variances"], times * SQUARES / (4 * one))
    rounds = found["ResidualSums"].size // (RUNS * K * D)
    check(radial_fits, found["ResidualSums"], times * SUM * rounds / (parts["rest"] * one))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("kind", "relation", "d", "rows", "part", "runs"),
    [
        ("MeanAndCount", ADD, D, 20, 0.98, RUNS),
        ("MeanSums", REPLACE, D, 100, 0.98, RUNS),
        # where a tree did not split, in one run of five: what would have counted its leaves
        ("MeanAndCount", ADD, 4, 2, 0.98 * 0.65, 4000),
        ("MeanSums", REPLACE, 4, 8, 0.98, 900),
    ],
)
def test_a_mean_of_few_rows_has_the_promised_noise(kind, relation, d, rows, part, runs):
    """One vector: the sums, and where rows are counted their number, of which each adds 3/8 of the radius."""
    found, mechanisms = noises(cloud(rows, d), runs=runs, epsilon=Fraction(1), relation=relation)
    size = d + 1 if kind == "MeanAndCount" else d
    moved = SUM * math.hypot(1, 3 / 8) if kind == "MeanAndCount" else 2 * SUM
    check(partial(radial_fits, size=size), found[kind], moved / part)
    assert set(mechanisms) <= {kind, "InsideOutside", "Outside", "tree", "TreeLeaves"}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("relation", "times", "left"), [(ADD, 1, 0.98), (REPLACE, 2, 0.98)])
@pytest.mark.parametrize(
    ("rows", "leaves", "rounds"),
    [(700, 9, {"ResidualSums": 6}), (2500, 17, {"ResidualSums": 7, "counted residuals": 1})],
    ids=["the noisiest setting", "the least noisy one, with centres to spare"],
)
def test_the_form_with_delta_has_the_promised_noise(relation, times, left, rows, leaves, rounds):
    found, mechanisms = noises(cloud(rows * times, D), runs=RUNS, epsilon=Fraction(1), delta=DELTA, relation=relation)
    check(laplace_fits, found["NormCounts"], times / (4 / 98 * left))
    check(laplace_fits, found["TreeLeaves"], times / (leaves / 98 * left))
    gaussian = {name: mechanisms[name] for name in ("MeanSums", "recentre", "SecondMoments", *rounds)}
    # A row moves its count by as much as its residual; a replaced one moves residuals from end to end, or two counts.
    reach = {"SecondMoments": math.sqrt(144.5 * times) * MOMENTS, "counted residuals": math.sqrt(2 * times) * SUM}
    for name, parts in gaussian.items():
        assert all(isinstance(each, DiscreteGaussian) for each in parts)
        check(gaussian_fits, found[name], float(parts[0].multiplier) * reach.get(name, times * SUM))
    assert {name: len(gaussian[name]) for name in rounds} == rounds
    mu = 1 / sum(1 / each.multiplier**2 for parts in gaussian.values() for each in parts)
    of_round = 0.78 / sum(rounds.values())
    shares = {"MeanSums": 0.04, "recentre": 0.04, "SecondMoments": 0.14, **dict.fromkeys(rounds, of_round)}
    for name, share in shares.items():
        assert float(mu / gaussian[name][0].multiplier ** 2) == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize("size", [700, 10**5, 10**7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(49, 50), Fraction(3)])
def test_the_multipliers_cost_what_is_left_and_smaller_ones_cost_more(size, epsilon):
    """The bridge from the scale of the noise to (epsilon, delta): a tenth less noise does not fit the budget."""
    shares = approximate_shares(d=D, k=K, size=size, epsilon=epsilon, delta=DELTA, neighbours=ADD)
    gaussians = (shares.mean, shares.recentre, shares.moments, *shares.rounds)
    pure = [shares.norms.event(), shares.tree.event(), shares.counts.event()]
    cost = compose([*pure, *(each.event() for each in gaussians)], delta=DELTA)
    assert cost.epsilon <= epsilon
    assert cost.delta <= DELTA
    assert cost.epsilon > epsilon * Fraction(98, 100)
    less = [DiscreteGaussian(each.multiplier * 9 / 10).event() for each in gaussians]
    assert compose([*pure, *less], delta=DELTA).epsilon > epsilon


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("relation", "times", "left"), [(ADD, 1, Fraction(98, 100)), (REPLACE, 2, Fraction(98, 100))])
def test_leaf_counts_in_the_plane_have_the_promised_noise(relation, times, left):
    found, mechanisms = noises(cloud(5000, 2), runs=35, epsilon=Fraction(1), relation=relation)
    check(laplace_fits, found["TreeLeaves"], times / (0.65 * float(left)))
    assert [each.epsilon for each in mechanisms["tree"]] == [left * Fraction(35, 100)]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("relation", "times", "left"), [(ADD, 1, 0.98), (REPLACE, 2, 0.98)])
def test_a_look_and_a_grid_have_the_promised_noise(relation, times, left):
    """Few rows that fill the square: a look at 16 cells, then a grid with all that is left."""
    rows = np.random.default_rng(4).uniform(-1, 1, (620, 2))
    found, mechanisms = noises(rows, runs=25, epsilon=Fraction(1), relation=relation)
    looks, grids = mechanisms["CellCounts"]
    assert "TreeLeaves" not in found or found["TreeLeaves"].size < found["CellCounts"].size / 4
    if relation is REPLACE:
        assert looks.epsilon == Fraction(80, 620)
    assert float(looks.epsilon + grids.epsilon) == pytest.approx(left, rel=1e-12)
    assert float(looks.epsilon) == pytest.approx(40 * times / 620, rel=0.5)


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (0.9, False), (1.1, False)])
def test_the_noise_of_a_look_at_cells_and_this_test_can_tell(off, accepted):
    source, noise = SeededSource(32), []
    query = CellCounts(Grid(make_curator(np.zeros((1, 2))).domain, auto_low.LOOK_CELLS))
    mechanism = DiscreteLaplace(Fraction(40, 900))
    for _ in range(400):
        door = make_curator(np.zeros((30, 2)), epsilon=Fraction(1), source=source, plan=Plan((mechanism.event(),)))
        noise.append(door.release(query, mechanism) - exact_of(door._engine, query))
    assert laplace_fits(np.concatenate(noise).astype(float), off * 900 / 40) == accepted


def test_the_number_of_rows_costs_two_per_cent():
    source, noise = SeededSource(31), []
    for _ in range(4000):
        door = make_curator(np.zeros((3000, 1)), epsilon=Fraction(1), source=source)
        size, left, notes = learn_size(door, Fraction(1), share=auto_high.SIZE_SHARE)
        assert left == Fraction(98, 100)
        assert size == notes["rows_inside"] + notes["rows_outside"]
        noise.append([notes["rows_inside"] - 3000, notes["rows_outside"]])
    for each in np.array(noise, dtype=float).T:
        check(laplace_fits, each, 50.0)
    assert abs(np.corrcoef(np.array(noise).T)[0, 1]) < 0.1


def test_rows_outside_cost_two_per_cent_where_their_number_is_public():
    source, noise = SeededSource(31), []
    rows = np.concatenate([np.zeros((20, 1)), np.full((10, 1), 7.0)])
    for _ in range(4000):
        door = make_curator(rows, epsilon=Fraction(1), source=source, neighbours=Neighbours.REPLACE_ONE)
        size, left, notes = learn_size(door, Fraction(1))
        assert (size, left, notes["rows_outside_scale"]) == (30, Fraction(98, 100), 50.0)
        assert notes["rows_inside"] + notes["rows_outside"] == 30
        noise.append(notes["rows_outside"] - 10)
    check(laplace_fits, np.array(noise, dtype=float), 50.0)


# --- the tree: its noise is never released, so it is taken where it is drawn ------------------------------------------


def worst_leaf(fan_out: int) -> float:
    """What a row that joins a leaf costs, times the scale in rows: the slope of ln P(stays), continuous noise."""
    bias, z = math.log(2 * fan_out), np.linspace(-2.0, 2.0, 400_001)

    def falls(z: np.ndarray) -> np.ndarray:
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    return float(-np.diff(np.log(1 - falls(z) / falls(z + bias))).min() / (z[1] - z[0]))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("d", "delta", "share"), [(2, 0, 0.98 * 0.35), (6, 0, 0.18), (6, DELTA, 0.20)])
def test_the_decisions_of_the_tree_have_the_promised_noise(monkeypatch, relation, d, delta, share):
    drawn, units = [], []
    draw, splits = tree_noise.discrete_laplace, tree_noise.PrivTree.splits

    def noted(shape, *, inverse_scale, source):
        noise = draw(shape, inverse_scale=inverse_scale, source=source)
        drawn.append(noise.astype(float).ravel())
        return noise

    def with_units(self, counts, *, depth, neighbours, source):
        units.append(self.units(neighbours).row)
        return splits(self, counts, depth=depth, neighbours=neighbours, source=source)

    monkeypatch.setattr(tree_noise, "discrete_laplace", noted)
    monkeypatch.setattr(tree_noise.PrivTree, "splits", with_units)
    epsilon = Fraction(1)
    noises(cloud(2000, d), runs=60, epsilon=epsilon, delta=Fraction(delta), relation=relation, k=2)
    leaves = 1 if relation is REPLACE else 0  # a replaced row leaves one path and joins another
    assert len(set(units)) == 1
    check(laplace_fits, np.concatenate(drawn), (worst_leaf(4) + leaves) / share * units[0])


def test_the_audit_sees_a_mechanism_that_cheats():
    """All of the above rests on this: noise drawn with 0.9 of its scale is found."""
    source, cheat = SeededSource(5), DiscreteLaplace(Fraction(10, 9))
    from covey.events import Sensitivity

    one = Sensitivity(l1=1000, l2_squared=10**6, linf=1000, coordinates=1)
    noise = cheat.add(np.zeros(6000, dtype=np.int64), one, source).astype(float)
    assert laplace_fits(noise, 900.0)
    assert not laplace_fits(noise, 1000.0)
