"""`exact-coreset`: the pick has the probabilities of the exponential mechanism, and what is too much is refused."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from covey.algorithms.exact_coreset import exact_coreset
from covey.algorithms.registry import find
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.noise.source import SeededSource
from covey.post.kmeans import Clustering
from covey.post.random import public_rng
from covey.public import Neighbours
from covey.queries.exact import WorstErrors
from covey.queries.grid import Grid

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@pytest.fixture
def without_search(monkeypatch):
    """The centres of a coreset are free and take most of the time: for tests of what is picked, any will do."""
    import covey.algorithms.exact_coreset as module

    for name in ("weighted_kmeans", "weighted_kmedian"):
        monkeypatch.setattr(module, name, lambda _, weights, *, starts, **__: Clustering(starts[0], weights, 0.0))
    monkeypatch.setattr(module, "sphere_packing", lambda k, *, lower, **_: np.tile(lower, (k, 1)))


def pick(curator, **own):
    """The chosen multiset of cells, as a tuple of numbers."""
    outcome = exact_coreset(curator, public_rng=public_rng(0), starts=1, **own)
    grid = Grid(curator.domain, outcome.notes["cells_per_axis"])
    cells = grid.index(outcome.coreset.points.T.astype(np.int32))
    each = outcome.coreset.weights.sum() / outcome.notes["points"]
    return tuple(np.repeat(cells, np.rint(outcome.coreset.weights / each).astype(int)).tolist()), outcome


def chances(rows, domain, *, points, side, k, epsilon, objective):
    """P(coreset) by the definition: e^(epsilon·u/2Δ) over all multisets, u from a plain enumeration."""
    grid = Grid(domain, side)
    places = grid.lattice_points(np.arange(grid.cells)).T / domain.limit
    at = places[grid.index(np.rint(rows * domain.limit).astype(np.int32).T)]
    power = 2 if objective == "k-means" else 1

    def cost(xs, q):
        return (np.sqrt(np.square(xs[:, None] - q).sum(axis=2)).min(axis=1) ** power).sum()

    every = range(grid.cells)
    queries = [places[list(q)] for i in range(1, k + 1) for q in itertools.combinations(every, i)]
    largest = (2 * np.sqrt(domain.dimension)) ** power
    coresets = list(itertools.combinations_with_replacement(every, points))
    errors = [max(abs(cost(at, q) - len(rows) / points * cost(places[list(c)], q)) for q in queries) for c in coresets]
    weights = np.exp(-epsilon * np.array(errors) / (2 * largest))
    return dict(zip(coresets, weights / weights.sum(), strict=True))


@pytest.mark.parametrize(
    ("d", "objective"),
    [
        (2, "k-means"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1, "k-means"), (1, "k-median"), (2, "k-median"))),
    ],
)
def test_the_pick_has_the_probabilities_of_the_exponential_mechanism(curator_of, without_search, d, objective):
    rng = np.random.default_rng(4)
    rows = rng.uniform(-1, 0.4, (9, d))
    own = {"points": 2, "side": 4 if d == 1 else 2, "k": 2, "objective": objective}
    source, found, runs = SeededSource(7), Counter(), 1500
    for _ in range(runs):
        curator = curator_of(rows, neighbours=REPLACE, epsilon=Fraction(2), source=source)
        found[pick(curator, epsilon=Fraction(2), **own)[0]] += 1
    wanted = chances(rows, curator.domain, epsilon=2.0, **own)
    assert set(found) <= set(wanted)

    def fits(distribution) -> bool:
        expected = np.array([distribution[each] * runs for each in wanted])
        seen = np.array([found[each] for each in wanted])
        return stats.chisquare(seen, expected).pvalue > 1e-4

    assert fits(wanted)
    assert not fits(chances(rows, curator.domain, epsilon=4.0, **own))  # without the factor 2 of the mechanism
    assert not fits(dict.fromkeys(wanted, 1 / len(wanted)))


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_with_a_large_epsilon_the_best_coreset_is_picked(curator_of, relation):
    rows = np.array([[-0.9]] * 30 + [[0.1]] * 10)
    curator = curator_of(rows, neighbours=relation, epsilon=Fraction(10**4), seed=1)
    chosen, outcome = pick(curator, k=2, epsilon=Fraction(10**4), points=4, side=8)
    assert chosen == (0, 0, 0, 4)
    assert outcome.coreset.weights.tolist() == [30, 10]
    assert sorted(np.round(outcome.sizes).tolist()) == [10, 30]
    assert outcome.notes["candidates"] == 330


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_all_of_epsilon_is_spent(curator_of, relation):
    epsilon = Fraction(7, 3)
    curator = curator_of(np.zeros((20, 2)), neighbours=relation, epsilon=epsilon, seed=1)
    exact_coreset(curator, k=3, epsilon=epsilon, public_rng=public_rng(1))
    assert curator._reserve.opened.epsilon == epsilon
    assert curator._reserve.remaining == ()


def test_the_weights_add_up_to_the_noisy_number_of_rows(curator_of, without_search):
    sums = {
        pick(curator_of(np.zeros((50, 1)), seed=seed), k=1, epsilon=Fraction(1))[1].coreset.weights.sum()
        for seed in range(8)
    }
    assert len(sums) > 3


@pytest.mark.parametrize(
    ("d", "wrong", "named"),
    [
        (2, {"points": 0}, "points"),
        (2, {"points": 65}, "points"),
        (2, {"side": 0}, "side"),
        (2, {"side": 9}, "side"),
        (2, {"side": 8, "points": 6}, "points"),
        (2, {"starts": 0}, "starts"),
        (7, {}, "side"),
        (6, {"points": 12}, "points"),
    ],
)
def test_too_much_is_refused_before_the_charge(curator_of, watched, d, wrong, named):
    curator = curator_of(None, table=watched(np.zeros((5, d)), broken=True), charge=lambda: pytest.fail("charged"))
    with pytest.raises(ParameterError) as refusal:
        find("exact-coreset").outcome(curator, {"k": 3, "epsilon": Fraction(1), "public_rng": public_rng(1)}, wrong)
    assert refusal.value.parameter == named


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_the_pick_is_within_the_stated_distance_of_the_best(curator_of, without_search, objective):
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (400, 1))
    worse = []
    for seed in range(40):
        curator = curator_of(rows, neighbours=REPLACE, epsilon=Fraction(1), seed=seed)
        chosen, outcome = pick(curator, k=2, epsilon=Fraction(1), points=3, side=6, objective=objective)
        query = WorstErrors(Grid(curator.domain, 6), points=3, centres=2, rows=400, objective=objective)
        utilities = query.evaluate(*curator._engine.cells(query.grid))
        mine = utilities[[tuple(each) for each in query.candidates.tolist()].index(chosen)]
        scale = curator.domain.limit ** (2 if objective == "k-means" else 1)
        worse.append((utilities.max() - mine) * query.unit / scale <= outcome.notes["beyond_the_best"])
    assert np.mean(worse) >= 0.9


def test_the_release_carries_the_coreset():
    release = fit(
        np.random.default_rng(0).uniform(-1, 1, (200, 2)),
        k=2,
        epsilon=1.0,
        bounds=(-1, 1),
        algorithm="exact-coreset",
        objective="k-median",
        algorithm_params={"points": 3, "side": 3},
    )
    assert 1 <= len(release.coreset.points) <= 3
    assert release.certificate.parameters["candidates"] == 165
