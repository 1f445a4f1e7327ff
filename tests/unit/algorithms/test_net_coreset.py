"""`net-coreset`: what it spends, what it refuses, and that its coreset answers queries within the bound it states."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.net_coreset import MOST_BLUR, net_coreset
from covey.algorithms.registry import find
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.post.cost_error import cost_error, cost_error_at, tail
from covey.post.kmeans import cost
from covey.post.random import public_rng
from covey.post.rings import make_radii, make_rings
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.counts import CellCounts, InsideOutside
from covey.queries.intervals import CentreCounts, IntervalCounts
from covey.queries.net import NetSums
from covey.queries.voronoi import nearest

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
OBJECTIVES = ["k-means", "k-median"]


def groups(n: int, d: int, seed: int = 0, k: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-0.7, 0.7, (k, d))
    return np.clip(middles[rng.integers(0, k, n)] + rng.normal(0, 0.1, (n, d)), -1, 1)


def run(curator_of, rows, *, relation=ADD, epsilon=Fraction(1), k=4, seed=5, **own):
    own = {"share": 0.5, **own}
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, seed=seed)
    return curator, net_coreset(curator, k=k, epsilon=epsilon, public_rng=public_rng(seed), starts=4, **own)


@pytest.fixture
def releases(monkeypatch):
    """(query, epsilon) of every release."""
    seen = []
    release = Curator.release
    monkeypatch.setattr(Curator, "release", lambda door, q, m: seen.append((q, m.epsilon)) or release(door, q, m))
    return seen


# --- what is spent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 0.37])
def test_add_remove_spends_on_size_grid_slots_and_totals(curator_of, releases, share):
    epsilon = Fraction(7, 3)
    curator, outcome = run(curator_of, groups(500, 2), epsilon=epsilon, share=share)
    assert [type(query) for query, _ in releases] == [InsideOutside, CellCounts, IntervalCounts, CentreCounts]
    left, part = epsilon * 24 / 25, Fraction(str(share))
    assert [each for _, each in releases] == [epsilon / 25, left * part, left * (1 - part) / 2, left * (1 - part) / 2]
    assert curator._reserve.opened.epsilon == epsilon
    assert curator._reserve.remaining == ()
    assert outcome.notes["base"] == "grid"


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_net_spends_its_share_evenly_over_the_rounds(curator_of, releases, relation):
    rows = groups(60_000, 2)
    curator, outcome = run(curator_of, rows, relation=relation, base="net", c=3, rounds=3)
    nets = [(query, epsilon) for query, epsilon in releases if isinstance(query, NetSums)]
    left = Fraction(24, 25) if relation is ADD else Fraction(49, 50)
    assert [epsilon for _, epsilon in nets] == [left / 6] * 3
    sizes = [query.rows for query, _ in nets]
    assert sizes[1] == sizes[0] - sizes[0] // 2
    assert sizes[2] == sizes[1] - sizes[1] // 2
    assert sizes[0] == 60_000 if relation is REPLACE else 59_000 < sizes[0] < 60_000
    assert outcome.notes["base_centres"] <= 27
    assert curator._reserve.opened.epsilon == 1
    assert curator._reserve.remaining == ()


def test_auto_takes_the_net_under_replace_one_where_it_is_feasible(curator_of):
    for n, relation, base in [(100, REPLACE, "grid"), (30_000, REPLACE, "net"), (30_000, ADD, "grid")]:
        assert run(curator_of, groups(n, 2), relation=relation)[1].notes["base"] == base


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_few_rows_are_a_normal_release(curator_of, relation, d, n):
    curator, outcome = run(curator_of, groups(n, d), relation=relation, epsilon=Fraction(1, 10), k=3)
    assert outcome.centres.shape == (3, d)
    assert len(outcome.coreset.points) == len(outcome.coreset.weights) == outcome.notes["coreset_points"] > 0
    assert np.abs(outcome.coreset.points).max() <= curator.domain.limit


def test_the_sizes_of_slabs_come_from_the_noisy_number_of_rows(curator_of, releases, monkeypatch):
    import covey.algorithms.net_coreset as module

    monkeypatch.setattr(module, "learn_size", lambda _, epsilon: (40_000, epsilon * 24 / 25, {}))
    asked = []
    for n in (0, 20_000, 100_000):
        curator = curator_of(groups(n, 2), epsilon=Fraction(1), seed=1)
        net_coreset(curator, k=3, epsilon=Fraction(1), public_rng=public_rng(1), base="net", starts=2)
        nets = [query for query, _ in releases if isinstance(query, NetSums)]
        asked.append([(query.rows, query.slabs) for query in nets])
        releases.clear()
    assert asked[0] == asked[1] == asked[2]


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"base": "tree"}, "base"),
        ({"c": "many"}, "c"),
        ({"c": 0}, "c"),
        ({"c": 2.0}, "c"),
        ({"base": "net", "c": 300}, "c"),
        ({"rounds": 0}, "rounds"),
        ({"base": "net", "c": 30, "rounds": 10}, "rounds"),
        ({"base_centres": 0}, "base_centres"),
        ({"error": 0}, "error"),
        ({"error": 1.5}, "error"),
        ({"error": 0.01}, "error"),
        ({"share": 1.0}, "share"),
        ({"share": "half"}, "share"),
        ({"starts": 0}, "starts"),
    ],
)
def test_a_wrong_parameter_is_named_before_the_charge(curator_of, watched, wrong, named):
    table = watched(groups(20, 2), broken=True)
    curator = curator_of(None, table=table, charge=lambda: pytest.fail("charged"))
    with pytest.raises(ParameterError) as refusal:
        find("net-coreset").outcome(curator, {"k": 3, "epsilon": Fraction(1), "public_rng": public_rng(1)}, wrong)
    assert refusal.value.parameter == named


def test_too_many_columns_are_refused_before_the_charge(curator_of, watched):
    table = watched(groups(20, 9), broken=True)
    curator = curator_of(None, table=table, charge=lambda: pytest.fail("charged"))
    with pytest.raises(ParameterError, match="19,682 rays in 9 columns"):
        net_coreset(curator, k=3, epsilon=Fraction(1), public_rng=public_rng(1))
    with pytest.raises(ParameterError, match=r"rays in 5 columns.*larger error"):
        net_coreset(curator_of(groups(5, 5)), k=3, epsilon=Fraction(1), public_rng=public_rng(1), error=0.2)


def test_the_printed_number_of_slabs_says_how_many_rows_it_needs(curator_of):
    """c = 16kd: 25,600 boxes for k = 5, d = 2. The smaller noise of net.md needs 160 times fewer rows than printed."""
    _, outcome = run(curator_of, groups(1000, 2), relation=REPLACE, k=5, base="net", c="printed")
    needed = outcome.notes["rows_needed"]
    assert needed == pytest.approx(25_600 * 4 * 160 / (MOST_BLUR * 0.5 * 0.98))
    printed = 25_600 * 4 * 25_600 / (MOST_BLUR * 1.0)
    assert printed == pytest.approx(2.6e10, rel=0.02)  # what the paper's scale takes at epsilon = 1
    with pytest.raises(
        ParameterError, match=r"boxes, and would need about .*e\+\d+ rows"
    ):  # three columns: too many boxes
        run(curator_of, groups(10, 3), relation=REPLACE, k=5, base="net", c="printed")


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_net_without_rows_enough_is_a_grid_that_says_how_many_would_do(curator_of, relation):
    """The number of rows is known after the charge: a release, not an error."""
    _, outcome = run(curator_of, groups(500, 2), relation=relation, base="net", c=3, rounds=2)
    assert (outcome.notes["base"], outcome.notes["too_few_rows"]) == ("grid", True)
    needed = outcome.notes["rows_needed"]
    spare = 0 if relation is REPLACE else 400  # the noisy number of rows, and its margin
    _, outcome = run(curator_of, groups(needed + 1 + spare, 2), relation=relation, base="net", c=3, rounds=2)
    assert outcome.notes["rounds"] == 2
    assert "too_few_rows" not in outcome.notes
    _, outcome = run(curator_of, groups(needed - 10, 2), relation=relation, base="net", c=3, rounds=2)
    assert outcome.notes["too_few_rows"]
    # or with an epsilon that is larger in proportion
    factor = Fraction(needed, 400)
    assert (
        run(curator_of, groups(500, 2), relation=relation, base="net", c=3, rounds=2, epsilon=factor)[1].notes["c"] == 3
    )


def test_what_is_said_of_too_few_rows_is_the_same_on_neighbours_with_the_same_released_number(curator_of, monkeypatch):
    import covey.algorithms.net_coreset as module

    monkeypatch.setattr(module, "learn_size", lambda _, epsilon: (300, epsilon * 24 / 25, {}))
    monkeypatch.setattr(Curator, "_draw", lambda *_: None)  # the number of rows was not asked for, so nothing was paid
    said = {run(curator_of, groups(n, 2), base="net")[1].notes["rows_needed"] for n in (0, 299, 100_000)}
    assert len(said) == 1


# --- the leak of the printed weights ----------------------------------------------------------------------------------


def printed_weights(rows: np.ndarray, radii: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """§4.1 as printed, for z = 0 on a line: noisy counts at the ends of intervals, minus the sum of the noise at z."""
    ring = np.searchsorted(radii, np.abs(rows), side="left")
    counts = np.array([[((ring == i) & (np.sign(rows) == s)).sum() for i in range(len(radii))] for s in (-1, 1)])
    return np.append((counts + noise).ravel(), -noise.sum())


def test_the_printed_weights_of_a_cell_add_up_to_its_exact_number_of_rows():
    rng = np.random.default_rng(1)
    radii = np.geomspace(0.01, 1, 8)
    for n in (0, 1, 17, 1000, 1001):
        rows = rng.uniform(0.001, 1, n) * rng.choice([-1, 1], n)
        for _ in range(20):
            weights = printed_weights(rows, radii, rng.laplace(0, 1000.0, (2, 8)))  # whatever the noise
            assert weights.sum() == pytest.approx(n, abs=1e-6)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_our_weights_of_a_cell_add_up_to_a_noisy_number(curator_of, releases, relation):
    rows, found = groups(300, 1), []
    for seed in range(50):
        curator = curator_of(rows, neighbours=relation, seed=seed)
        outcome = net_coreset(
            curator,
            k=1,
            epsilon=Fraction(1),
            public_rng=public_rng(1),
            base="grid",
            base_centres=1,
            share=0.5,
            starts=1,
        )
        assert outcome.notes["base_centres"] == 1
        found.append(outcome.coreset.weights.sum() - 300)
    assert sum(each == 0 for each in found) < 15
    scale = {ADD: 25 / 24 * 4, REPLACE: 8.0}[relation]  # a quarter of epsilon for the totals
    assert np.var(found) == pytest.approx(2 * scale**2, rel=0.6)


def test_the_centres_weight_is_its_total_minus_the_weights_around_it(curator_of, monkeypatch):
    given = {}
    release = Curator.release

    def noted(door, query, mechanism):
        given[type(query)] = query, release(door, query, mechanism)
        return given[type(query)][1]

    monkeypatch.setattr(Curator, "release", noted)
    _, outcome = run(curator_of, groups(400, 2))
    query, totals = given[CentreCounts]
    intervals, slots = given[IntervalCounts]
    weights = outcome.coreset.weights
    assert weights[len(totals) :].tolist() == slots.tolist()
    for b in range(len(totals)):
        mine = intervals.place[b][intervals.place[b] >= 0]
        assert weights[b] == totals[b] - slots[mine].sum()
    assert np.array_equal(outcome.coreset.points[: len(totals)], query.centres)


# --- how good it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_cost_of_any_centres_is_within_the_stated_bound(curator_of, relation, d):
    rng = np.random.default_rng(d)
    for n, epsilon in [(200, Fraction(1, 2)), (20_000, Fraction(2))]:
        rows = groups(n, d, seed=n)
        curator, outcome = run(curator_of, rows, relation=relation, epsilon=epsilon, seed=n + d)
        points, limit = outcome.coreset.points / curator.domain.limit, np.ones(d)
        assert np.abs(points).max() <= limit.max()
        for objective in OBJECTIVES:
            every, one = (outcome.notes[f"{objective}_error{end}"] for end in ("", "_one_query"))
            assert one <= every
            sets = [rng.uniform(-1, 1, (rng.integers(1, 6), d)) for _ in range(30)] + [np.full((1, d), -1.0)]
            off = [
                abs(
                    cost(points, outcome.coreset.weights, q, objective=objective)
                    - cost(rows, np.ones(n), q, objective=objective)
                )
                for q in sets
            ]
            assert max(off) <= every
            assert np.mean(np.array(off) > one) <= 0.1


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_without_noise_no_centres_cost_more_or_less_than_the_bound_for_them_allows(d, objective):
    """Rows at random and on the borders of their slots; centres at random, near the base, and at the corners."""
    rng, limit = np.random.default_rng(d), 1000
    base = rng.integers(-700, 700, (3, d))
    radii = make_radii(inner=40, outer=2 * limit * d**0.5, growth=1, most=9)
    rings = make_rings(base, limit=float(limit), steps=1, radii=radii)
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    query = IntervalCounts(base, rings.rays, rings.squares, rings.place, domain)
    rows = np.concatenate([rng.integers(-limit, limit + 1, (2000, d)), rng.choice([-limit, limit], (50, d)), base])
    slot = query.slots(rows.T.astype(np.int32))
    slots = np.bincount(slot[slot >= 0], minlength=len(rings.points)).astype(np.float64)
    totals = np.bincount(nearest(rows.T.astype(np.int32), base), minlength=3).astype(np.float64)
    points = np.concatenate([base, rings.points]) / limit
    weights = np.append(totals - np.bincount(rings.centre_of, slots, minlength=3), slots)
    scales = {"slot_scale": 1e-2, "total_scale": 1e-2, "limit": float(limit), "objective": objective}
    whole = cost_error(rings, slots, totals, **scales)
    queries = [*(rng.uniform(-1, 1, (k, d)) for k in (1, 2, 5, 9)), base / limit, np.ones((1, d)), points[[-1]]]
    for q in queries:
        off = cost(points, weights, q, objective) - cost(rows / limit, np.ones(len(rows)), q, objective)
        bound = cost_error_at(rings, slots, totals, q * limit, **scales)
        assert abs(off) <= bound <= whole.one_query + 1e-9


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_bound_for_the_published_centres_covers_and_is_of_the_order_of_their_cost(curator_of, relation):
    rows, misses = groups(20_000, 2), 0
    for seed in range(10):
        curator, outcome = run(curator_of, rows, relation=relation, epsilon=Fraction(1), seed=seed)
        centres, points = (each / curator.domain.limit for each in (outcome.centres, outcome.coreset.points))
        for objective in OBJECTIVES:
            true = cost(rows, np.ones(len(rows)), centres, objective)
            bound = outcome.notes[f"{objective}_error_of_centres"]
            misses += abs(cost(points, outcome.coreset.weights, centres, objective) - true) > bound
            assert bound < 3 * true
            assert bound < outcome.notes[f"{objective}_error_one_query"] / (4 if objective == "k-means" else 1)
    assert misses == 0


def line_rings():
    """One centre in the middle of [-1, 1], at 1,000 lattice units to the half-width, and three rings."""
    radii = make_radii(inner=125, outer=1000, growth=1, most=9)
    return make_rings(np.zeros((1, 1), dtype=np.int64), limit=1000.0, steps=1, radii=radii)


def test_rings_on_a_line():
    rings = line_rings()
    assert np.sqrt(rings.squares).tolist() == [125, 250, 500]
    assert sorted(rings.points[:, 0].tolist()) == [-750, -375, -187.5, 187.5, 375, 750]
    assert sorted(set(np.round(rings.moved, 6).tolist())) == [62.5, 125, 250]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_bound_is_reached_by_rows_on_the_border_of_their_slot(objective):
    """A thousand rows at 1, almost no noise, and a centre at -1: the bound is the error itself."""
    rings = line_rings()
    slots = np.where(rings.points[:, 0] == 750, 1000.0, 0.0)
    scales = {"slot_scale": 1e-2, "total_scale": 1e-2}
    bound = cost_error(rings, slots, np.array([1000.0]), **scales, limit=1000.0, objective=objective)
    q = np.array([[-1.0]])
    points = np.concatenate([rings.centres, rings.points]) / 1000
    off = cost(np.ones((1000, 1)), np.ones(1000), q, objective=objective)
    off -= cost(points, np.append(0, slots), q, objective=objective)
    assert off <= bound.one_query <= 1.01 * off
    assert off <= bound.any_query <= 1.01 * off


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_bound_covers_noise_alone_and_is_not_wasteful(objective, monkeypatch):
    """No rows: what is left is noise. Queries at a corner see the most of it."""
    known = {}

    def once(parts, fail, *, signed):  # tails depend on the rings and the scales, which stay the same
        key = fail, signed, *((factors.tobytes(), scale) for factors, scale in parts)
        return known[key] if key in known else known.setdefault(key, tail(parts, fail, signed=signed))

    monkeypatch.setattr("covey.post.cost_error.tail", once)
    rings, rng = line_rings(), np.random.default_rng(1)
    points = np.concatenate([rings.centres, rings.points]) / 1000
    p, q = 1 - np.exp(-1 / 20), np.array([[-1.0]])
    off, broken, bounds = [], 0, []
    for _ in range(400):
        slots, total = (rng.geometric(p, size) - rng.geometric(p, size) for size in (len(rings.points), 1))
        weights = np.append(total - slots.sum(), slots).astype(np.float64)
        bound = cost_error(
            rings, slots * 1.0, total * 1.0, slot_scale=20.0, total_scale=20.0, limit=1000.0, objective=objective
        )
        off.append(abs(cost(points, weights, q, objective=objective)))
        bounds.append(bound.one_query)
        broken += off[-1] > bound.one_query
    assert broken <= 0.05 * 400
    assert np.median(bounds) < 4 * np.quantile(off, 0.95)


def test_tails_hold_and_are_not_wasteful():
    rng = np.random.default_rng(2)
    factors, scale, fail = rng.uniform(0, 2, 40), 5.0, 0.05
    q = np.exp(-1 / scale)
    noise = rng.geometric(1 - q, (40_000, 40)) - rng.geometric(1 - q, (40_000, 40))
    for signed in (True, False):
        drawn = (noise if signed else np.abs(noise)) @ factors
        bound = tail([(factors[:15], scale), (factors[15:], scale)], fail, signed=signed)
        assert np.mean(drawn > bound) < fail
        assert bound < 1.6 * np.quantile(drawn, 1 - fail)
    assert tail([(np.zeros(3), 1.0)], fail, signed=True) == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("relation", "base"), [(ADD, "grid"), (ADD, "net"), (REPLACE, "net"), (REPLACE, "grid")])
def test_clear_clusters_are_found(curator_of, relation, base, objective):
    rows = groups(40_000, 2, seed=3)
    curator, outcome = run(curator_of, rows, relation=relation, base=base, epsilon=Fraction(2), objective=objective)
    centres = outcome.centres / curator.domain.limit
    rng = np.random.default_rng(3)
    middles = rng.uniform(-0.7, 0.7, (4, 2))
    assert np.sqrt(np.square(centres[:, None] - middles).sum(axis=2)).min(axis=0).max() < 0.05
    assert outcome.sizes.sum() == pytest.approx(40_000, rel=0.02)


def test_the_release_carries_the_coreset_and_its_bound():
    rows = groups(3000, 2)
    release = fit(
        rows,
        k=3,
        epsilon=1.0,
        bounds=(-1, 1),
        algorithm="net-coreset",
        algorithm_params={"error": 0.5, "base_centres": 5},
        objective="k-median",
        random_state=1,
    )
    parameters = release.certificate.parameters
    assert parameters["rays"] == 16
    assert parameters["k-median_error"] > 0
    assert len(release.coreset.points) == parameters["coreset_points"]
    assert sum(release.coreset.weights) == pytest.approx(3000, abs=300)
    assert find("net-coreset").objectives == ("k-means", "k-median")
