"""Algorithms: what each spends, on what, and that their choices come from public or released numbers only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import settings_of
from covey.algorithms.auto.auto import MOST_TREE_DIMENSIONS, auto
from covey.algorithms.grid import cells_per_axis
from covey.algorithms.hybrid import RHO, hybrid_threshold, round_pays
from covey.algorithms.kit import SMALLEST_SIZE, noisy_size
from covey.algorithms.registry import ALGORITHMS, find
from covey.budget.accounting.plan import Plan
from covey.checks import positive, whole_number
from covey.errors import ParameterError
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours, resolve_bounds
from covey.queries.counts import CellCounts, Count, InsideOutside, Outside
from covey.queries.voronoi import VoronoiSums
from su16_formulas import grid_bias_bound, grid_variance, hybrid_error

EPSILON = Fraction(7, 3)  # not a number that floats can hold
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def rows_of(n: int, d: int = 2) -> np.ndarray:
    return np.random.default_rng(n).uniform(-1, 1, (n, d))


class Watcher:
    """Notes every release of a curator: the query, the mechanism and its noise, by asking the engine as well."""

    def __init__(self, monkeypatch) -> None:
        self.releases: list[tuple[object, object]] = []
        release, select = Curator.release, Curator.select_several
        monkeypatch.setattr(Curator, "release", lambda door, q, m: self.releases.append((q, m)) or release(door, q, m))
        monkeypatch.setattr(
            Curator,
            "select_several",
            lambda door, q, m, *, times: self.releases.extend([(q, m)] * times) or select(door, q, m, times=times),
        )

    def of(self, kind: type) -> list[tuple[object, object]]:
        return [(query, mechanism) for query, mechanism in self.releases if isinstance(query, kind)]


@pytest.fixture
def watch(monkeypatch):
    return Watcher(monkeypatch)


def run(curator_of, name: str, rows: np.ndarray, *, relation: Neighbours = ADD, k: int = 3, epsilon=EPSILON, **own):
    needs = settings_of(name, d=rows.shape[1], k=k, neighbours=str(relation))
    delta = Fraction(str(needs["delta"] or 0))
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=9)
    row = find(name)
    values = {"k": k, "epsilon": epsilon, "delta": delta, "objective": "k-means", "public_rng": public_rng(1)}
    return curator, row.run(curator, **row.supplied(values), **(needs["algorithm_params"] or {}) | own)


PURE = [
    (row.name, relation)
    for row in ALGORITHMS.values()
    if row.guarantee == "pure" or row.with_delta
    for relation in row.neighbours
]


@pytest.mark.parametrize(("name", "relation"), PURE)
@pytest.mark.parametrize("n", [0, 5, 400])
def test_all_of_epsilon_is_planned_and_all_that_is_planned_is_drawn(curator_of, name, relation, n):
    """To the last fraction: nothing is overspent, nothing wasted."""
    curator, outcome = run(curator_of, name, rows_of(n), relation=relation)
    assert curator._reserve.opened.epsilon == EPSILON
    assert curator._reserve.opened.delta == 0
    assert curator._reserve.remaining == ()
    assert outcome.centres.shape == (3, 2)
    assert np.abs(outcome.centres).max() <= curator.domain.limit
    assert outcome.sizes is None or outcome.sizes.shape == (3,)


@pytest.mark.parametrize("rounds", [1, 5, 7])
def test_lloyd_splits_epsilon_over_its_rounds(curator_of, watch, rounds):
    run(curator_of, "lloyd", rows_of(50), rounds=rounds)
    assert [type(query) for query, _ in watch.releases] == [VoronoiSums] * rounds
    assert all(noise == DiscreteLaplace(EPSILON / rounds) for _, noise in watch.releases)


def test_lloyd_does_not_stop_early(curator_of, watch):
    run(curator_of, "lloyd", np.full((10**4, 2), 0.5), rounds=6, epsilon=Fraction(10**4))
    assert len(watch.releases) == 6


def test_one_sharp_round_of_lloyd_is_an_ordinary_round(curator_of):
    rows = rows_of(500)
    curator, outcome = run(curator_of, "lloyd", rows, rounds=1, epsilon=Fraction(10**12), start="uniform")
    low, high = curator.domain.corners
    from covey.post.starts import uniform_starts

    start = curator.domain.snap(uniform_starts(3, lower=low, upper=high, rng=public_rng(1)))
    lattice = np.rint(rows * curator.domain.limit)
    label = np.square(lattice[:, None] - start).sum(axis=2).argmin(axis=1)
    means = np.stack([lattice[label == j].mean(axis=0) for j in range(3)])
    assert np.allclose(outcome.centres, means, rtol=0, atol=1e-3)
    assert outcome.sizes.tolist() == pytest.approx(np.bincount(label, minlength=3).tolist())


def test_grid_pays_4_percent_for_the_number_of_rows(curator_of, watch):
    run(curator_of, "grid", rows_of(100))
    assert [type(query) for query, _ in watch.releases] == [InsideOutside, CellCounts]
    assert [noise.epsilon for _, noise in watch.releases] == [EPSILON / 25, EPSILON * 24 / 25]
    assert sum(noise.epsilon for _, noise in watch.releases) == EPSILON


def test_grid_pays_2_percent_for_rows_outside_when_their_number_is_public(curator_of, watch):
    curator, _ = run(curator_of, "grid", rows_of(100), relation=REPLACE)
    (counted, first), (query, noise) = watch.releases
    assert type(counted) is Outside
    assert (first.epsilon, noise.epsilon) == (EPSILON / 50, EPSILON * 49 / 50)
    assert query.grid.per_axis == cells_per_axis(curator.domain, size=100, epsilon=float(noise.epsilon) / 2)


@pytest.mark.parametrize("n", [0, 100, 10_000])
def test_the_grid_follows_from_the_noisy_number_of_rows(curator_of, watch, monkeypatch, n):
    seen = []
    import covey.algorithms.kit as module

    monkeypatch.setattr(module, "noisy_size", lambda *given: seen.append(noisy_size(*given)) or seen[-1])
    curator, outcome = run(curator_of, "grid", rows_of(n))
    wanted = cells_per_axis(curator.domain, size=seen[0][0], epsilon=float(EPSILON * 24 / 25))
    assert watch.of(CellCounts)[0][0].grid.per_axis == wanted == outcome.notes["cells_per_axis"]
    assert seen[0][0] >= SMALLEST_SIZE


def test_a_noisy_size_is_at_least_16(curator_of):
    for seed in range(30):
        curator = curator_of(rows_of(0), seed=seed, plan=Plan((DiscreteLaplace(Fraction(1, 100)).event(),)))
        size, notes = noisy_size(curator, DiscreteLaplace(Fraction(1, 100)))
        assert size == max(16, notes["rows_inside"] + notes["rows_outside"])


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("n", "epsilon"), [(40, Fraction(1, 10)), (20_000, Fraction(2))])
def test_hybrid_branches_on_inequality_15(curator_of, watch, relation, n, epsilon):
    curator, outcome = run(curator_of, "hybrid", rows_of(n), relation=relation, epsilon=epsilon, rule="printed")
    left = epsilon * 49 / 50 if relation is REPLACE else epsilon * 24 / 25
    size = n if relation is REPLACE else None
    refined = outcome.notes["refined"]
    if size is not None:
        strength = float(left) / 2
        assert refined == (strength >= hybrid_threshold(n=size, d=2, k=3))
    assert refined == (n == 20_000)
    cells, sums = watch.of(CellCounts), watch.of(VoronoiSums)
    assert len(watch.of(Outside if relation is REPLACE else InsideOutside)) == 1
    assert len(cells) == 1
    assert len(sums) == refined
    assert cells[0][1] == DiscreteLaplace(left / 2 if refined else left)
    assert curator._reserve.remaining == ()


def test_hybrid_takes_its_branch_from_the_noisy_number_of_rows_alone(curator_of, monkeypatch):
    """The same released size, other rows: the same branch."""
    import covey.algorithms.kit as module

    for size in (16, 10**6):
        monkeypatch.setattr(
            module, "noisy_size", lambda curator, noise, size=size: (size, noisy_size(curator, noise)[1])
        )
        for rule in ("expected", "printed"):
            given = {"rule": rule, "epsilon": Fraction(1, 10)}
            made = [run(curator_of, "hybrid", rows_of(n), **given)[1].notes["refined"] for n in (0, 30, 3000)]
            assert set(made) == {size == 10**6}


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("n", "d", "pays"), [(60, 2, False), (3000, 6, True)])
def test_both_branches_of_hybrid_plan_and_draw_all_of_epsilon(curator_of, relation, n, d, pays):
    curator, outcome = run(curator_of, "hybrid", rows_of(n, d), relation=relation, epsilon=Fraction(1, 2), starts=2)
    assert outcome.notes["refined"] is pays
    assert curator._reserve.opened.epsilon == Fraction(1, 2)
    assert curator._reserve.remaining == ()


def test_hybrid_makes_the_round_where_cells_are_few_and_not_where_they_are_many():
    """Su et al.'s sets: the round is worth half of the error on Adult-num at 0.05, and nothing on S1 at 0.5."""
    plane, six = (resolve_bounds((-1, 1), names=None, width=d) for d in (2, 6))
    known = {"theta": 10.0, "rho": RHO}
    assert round_pays(six, n=48_842, k=5, epsilon=0.048, **known)
    assert hybrid_threshold(n=48_842, d=6, k=5) > 0.048
    assert not round_pays(plane, n=5_000, k=15, epsilon=0.48, **known)
    assert round_pays(plane, n=10**6, k=5, epsilon=1.0, **known), "the noise of the cells alone is reason enough"


@given(st.integers(1, 20), st.integers(1, 50), st.floats(16, 1e9), st.floats(1e-3, 10), st.floats(1, 30))
def test_a_round_that_pays_as_printed_is_expected_to_pay(d, k, n, epsilon, theta):
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    printed = epsilon >= hybrid_threshold(n=n, d=d, k=k, theta=theta) * (1 + 1e-9)
    expected = round_pays(domain, n=n, k=k, epsilon=epsilon, theta=theta, rho=RHO)
    assert expected or not printed
    cells = cells_per_axis(domain, size=int(n), epsilon=epsilon, theta=theta)
    given = {"n": n, "d": d, "k": k, "epsilon": epsilon}
    gain = grid_variance(**given, theta=theta) + grid_bias_bound(d=d, cells=float(cells) ** d)
    assert not expected or hybrid_error(**given) <= gain * (1 + 1e-9)


@pytest.mark.parametrize("d", [1, MOST_TREE_DIMENSIONS, MOST_TREE_DIMENSIONS + 1])
def test_auto_chooses_by_the_public_dimension(curator_of, d):
    _, outcome = run(curator_of, "auto", rows_of(60, d))
    assert outcome.notes["synopsis"] == ("tree" if d <= MOST_TREE_DIMENSIONS else "tree in a subspace")
    assert find("auto").run is auto


@given(st.integers(1, 40), st.integers(0, 10**12), st.floats(1e-6, 1e4), st.floats(1e-9, 1e9))
def test_the_side_of_the_grid(d, size, epsilon, theta):
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    side = cells_per_axis(domain, size=size, epsilon=epsilon, theta=theta)
    assert side >= 1
    assert side**d <= 2**24
    wanted = max(1.0, size * epsilon / theta) ** (2 / (2 + d))
    assert side <= wanted + 1e-6
    assert side >= wanted - 1 - 1e-6 or (side + 1) ** d > 2**24


def test_the_printed_grid_would_leak(curator_of, watch):
    """With the exact number of rows in formula (4), neighbours get grids of different shapes: no noise hides it."""
    domain = resolve_bounds((-1, 1), names=None, width=2)
    sides = {n: cells_per_axis(domain, size=n, epsilon=1.0) for n in range(80, 101)}
    edge = next(n for n in range(81, 101) if sides[n] != sides[n - 1])
    shapes = {n: set() for n in (edge - 1, edge)}
    for n in shapes:
        for seed in range(60):
            curator = curator_of(rows_of(n), epsilon=Fraction(1), seed=seed)
            find("grid").run(curator, k=1, epsilon=Fraction(1), public_rng=public_rng(0), starts=1)
            shapes[n].add(watch.releases[-1][0].grid.per_axis)
    assert shapes[edge] & shapes[edge - 1]
    assert len(shapes[edge]) > 1


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_are_deterministic_given_their_coins(curator_of, name):
    first, second = (run(curator_of, name, rows_of(80))[1] for _ in range(2))
    assert np.array_equal(first.centres, second.centres)
    assert first.notes == second.notes


@pytest.mark.parametrize("name", [name for name, row in ALGORITHMS.items() if row.any_order])
def test_the_order_of_rows_does_not_matter(name, curator_of):
    rows = rows_of(80)
    first, second = (run(curator_of, name, each)[1] for each in (rows, rows[::-1]))
    assert np.array_equal(first.centres, second.centres)


@pytest.mark.parametrize("name", [name for name, row in ALGORITHMS.items() if row.most_columns is not None])
def test_as_many_columns_as_are_stated_are_taken_and_more_are_refused_before_the_charge(curator_of, name):
    most = find(name).most_columns
    _, outcome = run(curator_of, name, rows_of(20, most), k=8)
    assert outcome.centres.shape == (8, most)
    values = {"k": 8, "epsilon": EPSILON, "delta": Fraction(0), "objective": "k-means", "public_rng": public_rng(0)}
    curator = curator_of(rows_of(20, most + 1), epsilon=EPSILON, charge=lambda: pytest.fail("charged"))
    with pytest.raises(ParameterError):
        find(name).outcome(curator, values, {})


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_that_meets_rows_before_it_reserves_is_impossible(curator_of, watched, name):
    """The order is the promise: the first thing that happens to the rows comes after the charge."""
    order = []
    table = watched(rows_of(40))
    needs = settings_of(name, k=2)
    delta = Fraction(str(needs["delta"] or 0))
    curator = curator_of(
        None, table=table, epsilon=EPSILON, delta=delta, seed=1, charge=lambda: order.append(table.read)
    )
    values = {"k": 2, "epsilon": EPSILON, "delta": delta, "objective": "k-means", "public_rng": public_rng(0)}
    find(name).run(curator, **find(name).supplied(values), **(needs["algorithm_params"] or {}))
    assert order == [0]
    assert table.read == 1


@pytest.mark.parametrize("value", [0, 1.0, "3", None, True, np.bool_(True), np.float64(3)])
def test_whole_numbers(value):
    with pytest.raises(ParameterError, match="rounds"):
        whole_number("rounds", value, least=1)
    assert whole_number("rounds", np.int8(3), least=3) == 3


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None, True, 1j, np.complex128(1), 1e-10])
def test_positive_numbers(value):
    with pytest.raises(ParameterError, match="theta"):
        positive("theta", value)
    assert positive("theta", Fraction(1, 4)) == 0.25


def test_an_unknown_algorithm_lists_the_known_ones():
    with pytest.raises(ParameterError, match="algorithm") as refusal:
        find("nothing")
    assert all(repr(name) in str(refusal.value) for name in ALGORITHMS)


def test_engines_and_tables_are_not_shared_between_runs(curator_of):
    rows = rows_of(10)
    domain = resolve_bounds((-1, 1), names=None, width=2)
    first, second = (MemoryEngine(ArrayTable(each), domain) for each in (rows, rows[:3]))
    assert first.total(Count(domain)).tolist() == [10]
    assert second.total(Count(domain)).tolist() == [3]
