"""The default: what it spends, on what, how it behaves at the edges, and that it finds what there is to find."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.cluster import KMeans as Plain

import covey
from covey.algorithms.auto import high as auto_high
from covey.algorithms.auto.auto import MOST_TREE_DIMENSIONS, auto
from covey.algorithms.auto.shares import approximate_shares, pure_shares
from covey.errors import ParameterError
from covey.events import Pure
from covey.fit.fit import fit
from covey.noise.mechanisms import DiscreteGaussian
from covey.post.distances import nearest
from covey.post.many import spread_costs
from covey.post.random import public_rng
from covey.post.subspace import Subspace
from covey.public import Neighbours, resolve_bounds
from covey.published.outside import ROWS_BY_BOUNDS

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DELTA = Fraction(1, 10**6)
PURE = Fraction(0)
NOTED = dict(zip(ROWS_BY_BOUNDS, (5000, 0, 50.0), strict=True))
FORMS = pytest.mark.parametrize("delta", [PURE, DELTA], ids=["pure", "delta"])
RELATIONS = pytest.mark.parametrize("relation", [ADD, REPLACE], ids=str)
OBJECTIVES = pytest.mark.parametrize("objective", ["k-means", "k-median"])


def cost(rows: np.ndarray, centres: np.ndarray, *, power: int = 2) -> float:
    away = [np.linalg.norm(rows - centre, axis=1) for centre in np.asarray(centres)]
    return float((np.min(away, axis=0) ** power).sum())


def ratios(rows: np.ndarray, k: int, *, runs: int, **how) -> np.ndarray:
    """The costs of seeded private fits over the cost of scikit-learn's centres."""
    best = cost(rows, Plain(k, n_init=5, random_state=0).fit(rows).cluster_centers_)
    fits = [covey.KMeans(k, random_state=seed, **how).fit(rows).cluster_centers_ for seed in range(runs)]
    return np.array([cost(rows, each) for each in fits]) / best


def ratio(rows: np.ndarray, k: int, **how) -> float:
    return float(np.mean(ratios(rows, k, runs=3, **how)))


def groups(n: int, d: int, k: int, *, spread: float = 0.05, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-0.8, 0.8, (k, d))
    return middles[rng.integers(0, k, n)] + rng.normal(0, spread, (n, d))


def run(make, rows, *, k=3, epsilon=Fraction(1), delta=PURE, objective="k-means", relation=ADD, seed=4, **more):
    keep = more.pop("keep_synopsis", False)
    door = make(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=seed, **more)
    settings = {"k": k, "epsilon": epsilon, "delta": delta, "objective": objective}
    return door, auto(door, **settings, public_rng=public_rng(seed), keep_synopsis=keep)


EDGES = {
    "no rows": lambda d: np.empty((0, d)),
    "one row": lambda d: np.full((1, d), 0.3),
    "fewer rows than centres": lambda d: np.random.default_rng(d).uniform(-1, 1, (2, d)),
    "equal rows": lambda d: np.full((400, d), 0.25),
    "all at a corner": lambda d: np.ones((200, d)),
    "no numbers": lambda d: np.full((50, d), np.nan),
    "groups": lambda d: groups(600, d, 3),
}


@FORMS
@RELATIONS
@pytest.mark.parametrize("d", [1, 2, 4, 5, 20])
def test_edges_are_normal_releases_that_draw_all_that_was_planned(curator_of, d, relation, delta):
    for number, (name, made) in enumerate(EDGES.items()):
        objective, k = ("k-means", "k-median")[number % 2], (3, 1, 5)[number % 3]
        for ball in (False, True):
            bounds = covey.Ball(1) if ball else (-1, 1)
            domain = resolve_bounds(bounds, names=None, width=d)
            how = {"domain": domain, "objective": objective, "relation": relation, "delta": delta, "k": k}
            door, outcome = run(curator_of, made(d), **how)
            assert door._reserve.remaining == (), name
            spent = door._reserve.opened
            if delta == 0 or d <= MOST_TREE_DIMENSIONS:
                assert (spent.epsilon, spent.delta) == (1, 0), name  # to the last fraction
            else:
                assert Fraction(98, 100) < spent.epsilon <= 1, name
                assert spent.delta <= delta, name
            assert outcome.centres.shape == (k, d), name
            assert np.isfinite(outcome.centres).all(), name
            assert np.abs(outcome.centres).max() <= domain.limit, name
            if ball:
                assert np.linalg.norm(outcome.centres, axis=1).max() <= domain.limit * (1 + 1e-9), name
            counted = outcome.boxes is not None if d <= MOST_TREE_DIMENSIONS else outcome.sizes.shape == (k,)
            assert counted, name


def test_in_a_ball_centres_of_corner_boxes_are_moved_into_it(curator_of):
    """Noise puts weight on boxes that no row can be in: their middles are outside the ball."""
    domain = resolve_bounds(covey.Ball(1), names=None, width=4)
    for seed in range(8):
        _, outcome = run(curator_of, np.ones((300, 4)), k=8, epsilon=Fraction(1, 100), domain=domain, seed=seed)
        assert np.linalg.norm(outcome.centres, axis=1).max() <= domain.limit * (1 + 1e-9)


@RELATIONS
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(7, 3), Fraction(30)])
@pytest.mark.parametrize("size", [16, 10**4, 10**8])
@pytest.mark.parametrize("d", [5, 40, 784])
def test_pure_shares_add_up_to_epsilon_exactly(d, size, epsilon, relation):
    shares = pure_shares(d=d, k=10, size=size, epsilon=epsilon, delta=PURE, neighbours=relation)
    assert all(isinstance(event, Pure) for event in shares.plan.events)
    assert sum(event.epsilon for event in shares.plan.events) == epsilon
    assert shares.plan.cost().delta == 0
    assert 1 <= len(shares.rounds) <= 3
    held = (shares.mean, shares.norms, shares.recentre, shares.moments, shares.tree, shares.counts, *shares.rounds)
    assert sorted(e.epsilon for e in shares.plan.events) == sorted(each.event().epsilon for each in held)


@pytest.mark.parametrize("size", [16, 10**4, 10**8])
def test_shares_with_delta_cost_at_most_what_is_given(size):
    epsilon = Fraction(49, 50)
    shares = approximate_shares(d=20, k=10, size=size, epsilon=epsilon, delta=DELTA, neighbours=ADD)
    cost = shares.plan.cost()
    assert Fraction(98, 100) * epsilon < cost.epsilon <= epsilon
    assert cost.delta <= DELTA
    assert len(shares.rounds) == (6 if size < 10**4 else 8)
    assert isinstance(shares.mean, DiscreteGaussian)
    assert 0.9 <= shares.coverage <= 0.98


def test_at_most_three_settings_so_that_calibrations_are_few():
    made = {
        approximate_shares(d=20, k=10, size=size, epsilon=Fraction(1), delta=DELTA, neighbours=ADD).plan
        for size in np.geomspace(16, 10**9, 25)
    }
    assert len(made) == 3


@FORMS
def test_shares_follow_from_the_released_number_of_rows_alone(curator_of, monkeypatch, delta):
    """The same released size, other rows: the same plans."""
    asked = []
    original = auto_high.learn_size
    monkeypatch.setattr(auto_high, "learn_size", lambda *a, **b: original(*a, **b)._replace(rows=5000, notes=NOTED))
    choose = auto_high.choose_shares
    monkeypatch.setattr(auto_high, "choose_shares", lambda **values: asked.append(values) or choose(**values))
    for rows in (np.empty((0, 6)), groups(3000, 6, 3)):
        run(curator_of, rows, delta=delta)
    assert asked[0] == asked[1]
    assert asked[0]["size"] == 5000


# --- what is said about it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 6])
def test_notes_hold_public_or_released_values_only(curator_of, d):
    rows = groups(700, d, 3)
    door = curator_of(rows, epsilon=Fraction(1), seed=4)
    released = []
    grow, release = type(door).grow, type(door).release
    door.__class__ = type(
        "Seen",
        (type(door),),
        {
            "grow": lambda self, tree, how, **more: released.append(grow(self, tree, how, **more)) or released[-1],
            "release": lambda self, query, how: released.append(release(self, query, how)) or released[-1],
        },
    )
    outcome = auto(
        door, k=3, epsilon=Fraction(1), delta=PURE, objective="k-means", public_rng=public_rng(4), keep_synopsis=True
    )
    leaves = next(each for each in released if hasattr(each, "depths"))
    notes = {"synopsis", "leaves", "leaves_kept"}
    notes |= {"axes", "rounds", "cost_trusted", "cost_noise"} if d > 4 else set()
    assert set(outcome.notes) - {"cost_doubt"} == notes | set(ROWS_BY_BOUNDS)
    assert [outcome.notes[name] for name in ROWS_BY_BOUNDS] == [*released[0].tolist(), 50.0]
    assert outcome.notes["leaves"] == len(leaves)
    assert outcome.notes["leaves_kept"] <= len(outcome.coreset.points) == len(leaves)
    assert outcome.notes["synopsis"] == ("tree" if d == 2 else "tree in a subspace")
    counts = next(each for each in released if isinstance(each, np.ndarray) and len(each) == len(leaves)).tolist()
    assert outcome.coreset.weights.tolist() == counts


@pytest.mark.parametrize(("d", "delta"), [(2, None), (2, 1e-6), (6, None), (6, 1e-6)])
def test_certificates_say_what_was_promised(d, delta):
    model = covey.KMeans(3, epsilon=0.7, delta=delta, bounds=(-1, 1), random_state=1).fit(groups(500, d, 3))
    certificate = model.release_.certificate
    assert (certificate.algorithm, certificate.epsilon, certificate.delta) == (
        "auto",
        0.7,
        (delta or 0.0) if d > 4 else 0.0,
    )
    assert {"k", "synopsis", "leaves", "leaves_kept"} <= set(certificate.parameters)


@pytest.mark.parametrize("value", [1, "yes", None])
def test_keep_synopsis_is_checked_before_anything_is_paid(value):
    ledger = covey.Ledger.memory()
    model = covey.KMeans(2, bounds=(-1, 1), algorithm_params={"keep_synopsis": value}, ledger=ledger, dataset="data")
    with pytest.raises(ParameterError, match="keep_synopsis"):
        model.fit(groups(50, 2, 2))
    assert ledger.verify().charges == 0


@OBJECTIVES
@pytest.mark.parametrize(("d", "delta"), [(2, None), (6, None), (6, 1e-6)])
def test_a_seed_decides_everything(d, delta, objective):
    kind = covey.KMeans if objective == "k-means" else covey.KMedian
    rows = groups(800, d, 3)
    first, same, other = (
        kind(3, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=seed).fit(rows).cluster_centers_
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_boxes_are_no_smaller_than_a_thousandth_of_a_centres_rows(monkeypatch):
    """Where rows are very many for the noise; a box that would have fewer is split by chance alone."""
    rows = groups(200_000, 2, 2)
    leaves = {}
    for parts in (1000, 100, 10**9):
        monkeypatch.setattr("covey.algorithms.auto.low.PARTS", parts)
        found = fit(rows, k=2, epsilon=50.0, bounds=(-1, 1), algorithm="auto", random_state=1)
        leaves[parts] = found.certificate.parameters["leaves"]
    assert 2 * 1000 < leaves[1000] < 8 * 2 * 1000  # each split makes four
    assert leaves[100] < leaves[1000] / 4 < leaves[10**9] / 8


@pytest.mark.parametrize("heap", [False, True])
@pytest.mark.parametrize("d", [1, 2])
def test_of_very_many_rows_no_box_that_noise_alone_has_cut_goes_beyond_the_levels_of_one_pass(
    d, heap, monkeypatch, tmp_path
):
    """The same release from a file that is read once; where rows are in far smaller boxes, all is as it was."""
    rows = public_rng(1).uniform(-1, 1, (30_000, d))
    rows = np.concatenate([rows, np.full((15_000, d), 0.3)]) if heap else rows
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({f"x{i}": column for i, column in enumerate(rows.T)}), path)
    kept = {"algorithm_params": {"keep_synopsis": True}, "algorithm": "auto", "random_state": 1}
    found = {}
    for many in (10**9, 10**4):
        monkeypatch.setattr("covey.algorithms.auto.low.MANY", many)
        monkeypatch.setattr("covey.algorithms.auto.low.FINE", {1: 12, 2: 8})
        of_file, release = (fit(each, k=2, epsilon=5.0, bounds=(-1, 1), **kept) for each in (path, rows))
        assert of_file.coreset == release.coreset
        found[many] = np.array(release.coreset.cells).max(axis=1)
    width = 2 / (2**12 if d == 1 else 2**8)
    small = [int((each < 0.9 * width).sum()) for each in found.values()]
    assert small[0] > 0
    assert small[1] == (small[0] if heap else 0)


@pytest.mark.parametrize(("d", "width"), [(1, 1e-7), (2, 0.0)])
def test_of_very_many_rows_those_in_slivers_have_centres_of_their_own(d, width, monkeypatch):
    """Each centre's rows are in much less than a box of the levels that one pass counts."""
    monkeypatch.setattr("covey.algorithms.auto.low.MANY", 10**4)
    rng = public_rng(2)
    middles = rng.uniform(-0.9, 0.9, (5, d))
    if d == 1:
        middles = 0.3 + np.arange(5)[:, None] * 1e-6
    rows = middles[rng.integers(0, 5, 100_000)] + rng.uniform(-width / 2, width / 2, (100_000, d))
    release = fit(rows, k=5, epsilon=5.0, bounds=(-1, 1), algorithm="auto", random_state=1)
    centres = np.array(release.centres)
    off = np.abs(middles - centres[nearest(middles, centres)]).max()
    assert off < (1e-7 if d == 1 else 2e-5)


# --- accuracy: guards against a broken piece, far from the measured values --------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_three_groups_are_found_in_few_columns(d, neighbours):
    assert ratio(groups(6000, d, 3), 3, epsilon=1.0, bounds=(-1, 1), neighbours=neighbours) < 1.1


@pytest.mark.parametrize(("d", "delta", "most"), [(5, 1e-6, 1.1), (20, 1e-6, 1.1), (5, None, 1.3), (20, None, 1.5)])
def test_three_groups_are_found_in_many_columns(d, delta, most):
    assert ratio(groups(15_000, d, 3), 3, epsilon=1.0, delta=delta, bounds=(-1, 1)) < most


@pytest.mark.parametrize(("d", "delta"), [(2, None), (8, 1e-6)])
def test_medians_are_found(d, delta):
    rows = groups(10_000, d, 3, seed=2)
    rows[:200] = 1.0  # some far rows: a median does not follow them
    best = cost(rows, Plain(3, n_init=5, random_state=0).fit(rows[200:]).cluster_centers_, power=1)
    model = covey.KMedian(3, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=1).fit(rows)
    assert cost(rows, model.cluster_centers_, power=1) < 1.2 * best


@cache
def city(neighbours: str) -> np.ndarray:
    """Ratios of 60 fits of 20,000 rows in one city, with the globe for bounds: one in a hundred may lose a quarter."""
    rng = np.random.default_rng(3)
    quarters = np.array([2.35, 48.86]) + rng.normal(0, 0.06, (4, 2))
    rows = quarters[rng.integers(0, 4, 20_000)] + rng.normal(0, 0.01, (20_000, 2))
    bounds = covey.Box((-180, 180), (-90, 90))
    return ratios(rows, 4, runs=60, epsilon=1.0, bounds=bounds, neighbours=neighbours)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_city_on_the_globe_is_found_in_most_runs(neighbours):
    assert np.median(city(neighbours)) < 1.05


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_city_on_the_globe_is_found_on_average(neighbours):
    assert np.mean(city(neighbours)) < 1.5


def test_the_box_is_as_wide_as_the_middle_may_be_off():
    """Rows far from the first middle, whose second one is their sum over a noisy number: three of its deviations."""
    domain = resolve_bounds((-1, 1), names=None, width=6)
    axes = np.eye(6)[:, :2]
    narrow = Subspace(axes, np.array([4e4, 9e4]), 2e5)
    off = np.array([1000.0, -100.0, 500.0, 0.0, 0.0, 0.0])
    _, half = auto_high._projection(narrow, middle=np.zeros(6), off=off, radius=1e6, width=3.0, domain=domain)
    assert half.tolist() == [3000.0, 900.0]  # by the middle, by the rows; what is beside the axes widens none
    _, half = auto_high._projection(narrow, middle=np.zeros(6), off=off, radius=2500.0, width=3.0, domain=domain)
    assert half.tolist() == [2500.0, 900.0]


def test_the_number_of_rows_is_in_doubt_where_it_is_noisy(curator_of):
    """Two counts, inside and outside the bounds, each with Laplace noise of the scale that is told: 2 scales."""
    for relation, doubt in ((ADD, 2 * 50 / 4000), (REPLACE, 0.0)):
        curator = curator_of(groups(4000, 6, 2), neighbours=relation, epsilon=Fraction(1), delta=PURE, seed=1)
        assert auto_high._doubt_of_rows(curator, NOTED, 4000) == pytest.approx(doubt)


@pytest.mark.parametrize(("d", "delta"), [(6, 1e-6), (12, 1e-6), (6, None)])
def test_a_sliver_of_a_box_in_many_columns(d, delta):
    rows = 0.3 + groups(20_000, d, 3) / 100
    assert ratio(rows, 3, epsilon=1.0, delta=delta, bounds=(-1, 1)) < 1.5


@pytest.mark.parametrize(("d", "delta"), [(2, None), (8, 1e-6)])
def test_heavy_tails(d, delta):
    rng = np.random.default_rng(6)
    middles = rng.uniform(-30, 30, (4, d))
    rows = np.clip(middles[rng.integers(0, 4, 15_000)] + rng.standard_t(2.5, (15_000, d)), -100, 100)
    assert ratio(rows, 4, epsilon=1.0, delta=delta, bounds=(-100, 100)) < 1.3


def test_more_budget_is_not_worse():
    rows = groups(4000, 8, 6, spread=0.1)
    found = [ratio(rows, 6, epsilon=each, delta=1e-6, bounds=(-1, 1)) for each in (0.05, 20.0)]
    assert found[1] < 1.02
    assert found[1] < found[0]


# --- the synopsis as a coreset ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "delta", "most"), [(2, None, 1.1), (6, 1e-6, 1.6)])
def test_a_kept_synopsis_is_a_coreset_with_centres_of_similar_cost(d, delta, most):
    rows = groups(15_000, d, 3)
    settings = {"epsilon": 1.0, "delta": delta, "bounds": (-1, 1), "random_state": 1}
    model = covey.KMeans(3, algorithm_params={"keep_synopsis": True}, **settings).fit(rows)
    coreset = covey.Coreset.of(model.release_)
    again = np.array(coreset.kmeans(3, random_state=1).centres)
    assert cost(rows, again) < most * cost(rows, model.cluster_centers_)
    assert coreset.total == pytest.approx(15_000, rel=0.2)
    assert cost(rows, np.array(coreset.kmeans(6, random_state=1).centres)) < cost(rows, again) * 1.05
    plain = covey.KMeans(3, **settings).fit(rows)
    assert np.array_equal(plain.cluster_centers_, model.cluster_centers_)  # keeping it changes nothing
    assert plain.release_.coreset is None


@pytest.mark.parametrize(("d", "delta"), [(6, None), (12, 1e-6)])
@RELATIONS
def test_costs_beyond_four_columns_count_what_lies_outside_the_subspace(d, delta, relation):
    """Rows of five groups that are as wide in every direction: most of their cost is outside any few axes."""
    rng = np.random.default_rng(d)
    rows = rng.uniform(-0.5, 0.5, (5, d))[rng.integers(0, 5, 30_000)] + rng.normal(0, 0.12, (30_000, d))
    settings = {"epsilon": 4.0, "delta": delta, "bounds": (-1, 1), "neighbours": str(relation)}
    for seed in range(3):
        model = covey.PrivateCoreset(5, method="auto", random_state=seed, **settings).fit(rows)
        notes, coreset = model.release_.certificate.parameters, model.coreset_
        assert notes["cost_trusted"]
        centres = np.array(model.release_.centres)
        within = 0.05 + 3 * notes["cost_noise"] / cost(rows, centres)
        found = spread_costs(
            coreset.points, coreset.weights, centres[None], objective="k-means", spreads=coreset.spreads
        )
        assert found.plain[0] < 0.85 * cost(rows, centres)
        assert within < 0.3
        assert found.likely[0] == pytest.approx(cost(rows, centres), rel=within)
        assert coreset.cost(centres, objective="k-median") == pytest.approx(cost(rows, centres, power=1), rel=within)


@pytest.mark.parametrize("why", ["noise", "far from all others", "rows of several centres"])
def test_costs_beyond_four_columns_that_are_not_to_be_trusted_say_why(why):
    rng = np.random.default_rng(3)
    rows, k = rng.normal(0, 0.1, (20_000, 6)), 3
    if why == "far from all others":
        rows[:800] = rng.choice([-1.0, 1.0], (800, 6))
    if why == "rows of several centres":  # twenty groups in as many columns: no tree has enough leaves for them
        rows, k = rng.uniform(-0.8, 0.8, (20, 20))[rng.integers(0, 20, 20_000)] + rng.normal(0, 0.1, (20_000, 20)), 20
    epsilon, delta = (0.02, None) if why == "noise" else (2.0, 1e-6)
    settings = {"epsilon": epsilon, "delta": delta, "bounds": (-1, 1), "random_state": 1}
    model = covey.PrivateCoreset(k, method="auto", **settings).fit(rows)
    assert not model.release_.certificate.parameters["cost_trusted"]
    assert why in model.release_.certificate.parameters["cost_doubt"]


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_leaves_that_are_as_wide_as_everything_are_not_anywhere_in_them(seed):
    """Eight wide groups in ten columns, of which most leaves are split along a few only."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 0.15, (8, 10))[rng.integers(0, 8, 20_000)] + rng.normal(0, 0.15, (20_000, 10))
    settings = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1), "random_state": seed}
    model = covey.PrivateCoreset(8, method="auto", **settings).fit(rows)
    true = cost(rows, np.array(model.release_.centres))
    assert model.coreset_.cost(np.array(model.release_.centres)) == pytest.approx(true, rel=0.35)


@pytest.mark.parametrize("d", [2, 8])
@OBJECTIVES
def test_private_coresets_by_default(d, objective):
    rows = groups(8000, d, 3)
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "objective": objective, "random_state": 1}
    model = covey.PrivateCoreset(3, method="auto", **settings).fit(rows)
    assert model.release_.certificate.algorithm == "auto"
    assert len(model.coreset_) >= 3
    found = np.array(model.coreset_.kmeans(3, random_state=1).centres)
    assert cost(rows, found) < 2 * cost(rows, Plain(3, n_init=5, random_state=0).fit(rows).cluster_centers_)


@pytest.mark.parametrize(("d", "objective"), [(2, "k-means"), (3, "k-median"), (10, "k-means")])
def test_sizes_count_all_rows_and_not_only_those_that_stand_out(d, objective):
    rng = np.random.default_rng(4)
    middles = rng.uniform(-0.8, 0.8, (5, d))
    rows = np.clip(middles[rng.integers(0, 5, 20_000)] + rng.normal(0, 0.1, (20_000, d)), -1, 1)
    release = fit(rows, k=5, epsilon=2.0, bounds=(-1, 1), objective=objective, random_state=1)
    truth = np.bincount(nearest(rows, release.centres), minlength=5)
    assert np.abs(np.array(release.sizes) - truth).max() < 500
    assert abs(sum(release.sizes) - 20_000) < 700
