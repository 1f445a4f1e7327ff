"""ball-coreset: what it spends, what it refuses and in which words, what it finds; fast code against brute force."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from math import ceil, log

import numpy as np
import pytest

from covey.algorithms.ball_coreset import COUNT_SHARE, MOST_PLACES, ball_coreset
from covey.errors import BudgetError, ParameterError
from covey.fitting import fit
from covey.post.ball_rounds import Demand, ball_sizes, iterated_log, needed, recconcave_rows, shares
from covey.post.public_random import public_rng
from covey.private.cells import dropped_rows, squared_distances
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.ballcounts import (
    COARSER,
    FINEST,
    WORTH,
    BallScores,
    BoxCounts,
    BoxSums,
    box_counts,
    dense,
    halved,
    wide_box_counts,
)
from covey.queries.counts import Count
from covey.queries.grid import Grid
from covey.queries.radius import RadiusQuality, sum_of_largest
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DELTA = Fraction(1, 10**6)


def domain(d: int) -> Domain:
    return Domain(middle=(0.0,) * d, half=(1.0,) * d)


def table_of(grid: Grid, rng: np.random.Generator, *, rows: int) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(rng.integers(0, grid.cells, rows), return_counts=True)


def groups(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    return middles[rng.integers(0, 3, n)] + rng.normal(0, 0.05, (n, 2))


def run(curator_of, rows, *, k=3, epsilon=Fraction(2), delta=DELTA, relation=ADD, seed=5, **own):
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=seed)
    outcome = ball_coreset(curator, k=k, epsilon=epsilon, delta=delta, public_rng=public_rng(1), **own)
    return curator, outcome


# --- fast code and its brute-force twins ------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "side"), [(1, 1), (1, 9), (2, 2), (2, 7), (2, 16), (3, 5), (4, 4)])
def test_box_counts_equal_their_definition(d, side):
    rng = np.random.default_rng(side)
    grid = Grid(domain(d), side)
    table = dense(grid, *table_of(grid, rng, rows=40))
    places = np.stack(np.meshgrid(*[np.arange(side)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    for half in (0, 1, 2, 3, side, 2 * side):
        near = np.abs(places[:, None] - places).max(axis=2) <= half
        slow = (near @ table.ravel()).reshape(table.shape)
        assert np.array_equal(box_counts(table, half), slow)
        assert np.array_equal(wide_box_counts(table, half), slow)


@pytest.mark.parametrize(("d", "side"), [(1, 1), (1, 13), (2, 4), (2, 11), (3, 6)])
def test_scores_equal_their_definition(d, side):
    """Every candidate by hand: boxes of coarser cells, capped, weighed."""
    rng = np.random.default_rng(side)
    grid = Grid(domain(d), side)
    cells, counts = table_of(grid, rng, rows=60)
    query = BallScores(grid, 7)
    rows = np.repeat(np.stack(np.unravel_index(cells, (side,) * d), axis=1), counts, axis=0)
    expected = []
    for level, width in enumerate(query.sides):
        for where in np.ndindex(*(width,) * d):
            away = np.abs(rows // 2**level - where).max(axis=1)
            halves = COARSER if level else FINEST
            expected.append(max(query.worth(level, h) * min(int((away <= h).sum()), 7) for h in halves))
    assert query.evaluate(cells, counts).tolist() == expected
    assert len(expected) == query.size
    limit = grid.domain.limit
    for index in range(query.size):
        assert np.abs(query.place(index)).max() <= limit
    finest = grid.midpoints()[rng.integers(0, grid.cells, 5)]
    for middle in finest:
        index = int(np.square(grid.midpoints() - middle).sum(axis=1).argmin())
        assert np.allclose(query.place(index), middle)
        assert np.allclose(BoxCounts(grid, 1).place(index), middle)
    with pytest.raises(IndexError):
        query.place(query.size)


def test_a_row_is_worth_64_in_the_smallest_ball_and_half_in_the_largest():
    query = BallScores(Grid(domain(2), 256), 10)
    last = len(query.sides) - 1
    worths = [query.worth(level, half) for level in range(last + 1) for half in (COARSER if level else FINEST)]
    assert worths[0] == WORTH
    assert worths[-1] == WORTH // 2
    assert worths == sorted(worths, reverse=True)


def test_halving_keeps_every_row():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 9, (5, 7, 2))
    small = halved(table)
    assert small.shape == (3, 4, 1)
    assert small.sum() == table.sum()
    assert small[0, 0, 0] == table[:2, :2].sum()


@pytest.mark.parametrize("d", [1, 2])
def test_radius_quality_equals_the_quadratic_definition(d):
    rng = np.random.default_rng(d)
    grid = Grid(domain(d), 12)
    for rows, t in ((0, 3), (1, 1), (15, 4), (60, 20), (60, 100)):
        cells, counts = table_of(grid, rng, rows=rows)
        query = RadiusQuality(grid, t, slack=5)
        points = np.repeat(np.stack(np.unravel_index(cells, (12,) * d), axis=1), counts, axis=0)
        before, expected = 0, []
        for radius in query.radii:
            around = [min(int((np.abs(points - p).max(axis=1) <= radius).sum()), t) for p in points]
            total = sum(sorted(around, reverse=True)[:t])
            expected.append(min(t * t - before, total - t * t + 5 * t))
            before = total
        assert query.evaluate(cells, counts).tolist() == expected


def test_radii_are_geometric_and_reach_everything():
    radii = RadiusQuality(Grid(domain(2), 256), 1, 0).radii
    assert radii[0] == 0
    assert radii[-1] >= 256
    assert all(b <= max(a + 1, a * 2**0.25 + 1) for a, b in pairwise(radii))


def test_the_sum_of_the_largest_counts_multiplicities():
    values, times = np.array([5, 9, 1]), np.array([2, 3, 10])
    everything = sorted(np.repeat(values, times), reverse=True)
    for t in (0, 1, 3, 4, 5, 9, 15, 40):
        assert sum_of_largest(values, times, t) == sum(everything[:t])


@pytest.mark.parametrize("seed", range(20))
def test_dropping_by_bins_drops_what_sorting_drops(seed):
    """Ties included: distances from few values."""
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(1, 300))
    distances = np.sort(rng.choice([0.0, 1.0, 2.0, 5e11, 5e11 + 1, 2.0**51], cells)) if seed % 2 else rng.random(cells)
    rng.shuffle(distances)
    counts = rng.integers(1, 9, cells)
    for how_many in (0, 1, int(counts.sum()) // 3, int(counts.sum()) - 1, int(counts.sum()), 10**9):
        order = np.argsort(distances, kind="stable")
        slow = np.zeros_like(counts)
        left = how_many
        for cell in order:
            slow[cell] = min(left, counts[cell])
            left -= slow[cell]
        assert np.array_equal(dropped_rows(distances, counts, how_many), slow)
    assert dropped_rows(np.empty(0), np.empty(0, dtype=np.int64), 3).size == 0


def test_distances_are_exact_at_the_corners():
    limit = domain(2).limit
    points = np.array([[-limit, limit, 0], [-limit, limit, 1]], dtype=np.int32)
    found = squared_distances(points, np.array([[limit, limit], [0, 0]]))
    assert found.tolist() == [2 * limit**2, 0, 1]


def test_box_sums_and_their_mean():
    grid = Grid(domain(2), 8)
    cells, counts = np.array([0, 9, 63]), np.array([2, 3, 4])
    points = grid.lattice_points(cells).T
    box = BoxSums(grid, points[1].astype(float), reach=int(np.abs(points[0] - points[1]).max()))
    exact = box.evaluate(cells, counts)
    assert exact[:2].tolist() == (2 * (points[0] - points[1])).tolist()
    assert exact[2] == box.reach * 5
    assert np.allclose(box.mean(exact), (2 * points[0] + 3 * points[1]) / 5)
    assert box.mean(np.zeros(3, dtype=np.int64)).tolist() == points[1].tolist()
    assert np.abs(box.mean(np.array([10**12, -(10**12), box.reach]))).max() <= grid.domain.limit


# --- rounds, from public numbers --------------------------------------------------------------------------------------


def asked(**changes) -> Demand:
    base = {"k": 5, "fraction": Fraction(1), "epsilon": 0.5, "delta": 1e-6, "picks": 1, "error": 11.0, "margin": 1.0}
    return Demand(**{**base, **changes})


@pytest.mark.parametrize("size", [0, 1, 16, 1000, 10**5, 10**7])
def test_balls_take_their_share_of_what_is_left(size):
    demand = asked()
    sizes = ball_sizes(size, demand)
    left = size
    for i, rows in enumerate(sizes):
        assert rows == ceil(Fraction(left, 5))
        assert rows >= needed(sizes[: i + 1], demand)
        left -= rows
    assert left >= 0
    assert bool(sizes) == (size >= 1000)


def test_a_ball_never_takes_more_than_three_eighths():
    assert ball_sizes(10**5, asked(k=1))[0] == 37_500
    assert ball_sizes(10**5, asked(k=1, fraction=Fraction(3, 8)))[0] == 37_500


def test_more_budget_and_more_rows_mean_more_rounds():
    counts = [len(ball_sizes(10**5, asked(epsilon=e))) for e in (0.05, 0.2, 1, 5)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    counts = [len(ball_sizes(n, asked())) for n in (10**4, 10**5, 10**6)]
    assert counts == sorted(counts)


def test_later_rounds_get_more_and_steps_are_few():
    parts = shares(ball_sizes(10**7, asked()))
    assert parts == sorted(parts)
    assert parts[0] == 1
    assert len(set(parts)) <= 11


def test_the_iterated_logarithm():
    assert [iterated_log(x) for x in (1, 2, 4, 16, 65536)] == [0, 1, 2, 3, 4]


# --- what is spent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("weights", ["counted", "printed"])
@pytest.mark.parametrize("method", ["joint", "exponential"])
def test_without_a_delta_all_of_epsilon_is_spent_and_nothing_else(curator_of, relation, weights, method):
    own = {"radius_method": method, "weights": weights}
    curator, outcome = run(curator_of, groups(9000), delta=Fraction(0), epsilon=Fraction(37), relation=relation, **own)
    assert curator._reserve.opened.epsilon == 37
    assert curator._reserve.opened.delta == 0
    assert curator._reserve.remaining == ()
    assert len(outcome.coreset.points) == outcome.notes["rounds"]


def test_with_a_delta_many_picks_get_more(curator_of):
    curator, _ = run(curator_of, groups(10**5), k=12)
    assert curator._reserve.opened.epsilon <= 2
    assert curator._reserve.opened.delta == DELTA
    assert sum(event.epsilon for event in curator._reserve._undrawn) > 0  # what was planned, by plain addition
    assert curator._reserve.remaining == ()


def test_the_counts_get_about_their_share(curator_of, monkeypatch):
    seen = []
    release = Curator.release
    monkeypatch.setattr(Curator, "release", lambda door, q, m: seen.append((q, m.epsilon)) or release(door, q, m))
    run(curator_of, groups(3000))
    (first, size_epsilon), (second, count_epsilon) = seen
    assert isinstance(first, Count)
    assert size_epsilon == Fraction(2, 25)
    assert isinstance(second, VoronoiSums)
    assert float(count_epsilon) == pytest.approx(COUNT_SHARE * 2 * 24 / 25, rel=0.15)


def test_parts_are_paid_for_once(curator_of):
    curator, outcome = run(curator_of, groups(9000), rows_per_part=3000, epsilon=Fraction(4), delta=Fraction(0))
    assert outcome.notes["parts"] == 3
    assert curator._reserve.opened.epsilon == 4
    assert len(outcome.coreset.points) == 3 * outcome.notes["rounds"]


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("own", [{}, {"weights": "printed"}, {"radius_method": "exponential", "margin": 0.3}])
def test_clear_groups_are_found(curator_of, relation, objective, own):
    curator, outcome = run(
        curator_of, groups(20_000), epsilon=Fraction(4), relation=relation, objective=objective, **own
    )
    found = curator.domain.from_lattice(outcome.centres)
    for middle in ([-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]):
        assert np.sqrt(np.square(found - middle).sum(axis=1)).min() < 0.1
    assert outcome.sizes.sum() == pytest.approx(20_000, rel=0.3)
    assert (outcome.coreset.weights >= 0).all()


@pytest.mark.parametrize("d", [1, 3, 4, 8])
def test_other_dimensions(curator_of, d):
    rng = np.random.default_rng(d)
    rows = rng.choice([-0.5, 0.5], 20_000)[:, None] + rng.normal(0, 0.05, (20_000, d))
    curator, outcome = run(curator_of, rows, k=2, epsilon=Fraction(4))
    found = np.sort(curator.domain.from_lattice(outcome.centres)[:, 0])
    assert found == pytest.approx([-0.5, 0.5], abs=0.05)
    assert outcome.notes["cells_per_axis"] ** d <= MOST_PLACES


def test_a_coreset_is_part_of_the_release():
    made = fit(groups(20_000), k=3, epsilon=2.0, delta=1e-6, bounds=(-1, 1), algorithm="ball-coreset", random_state=0)
    assert made.coreset is not None
    assert sum(made.coreset.weights) == pytest.approx(20_000, rel=0.02)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_too_little_says_what_would_do_and_it_does(curator_of, relation):
    rows, little = groups(3000), Fraction(1, 100)
    with pytest.raises(BudgetError, match="What was charged stays charged") as error:
        run(curator_of, rows, epsilon=little, relation=relation)
    said = re.search(r"About ([\d,]+) rows would do, or ([\d.]+) times the epsilon", str(error.value))
    spare = 1.1 if relation is REPLACE else 2  # for the noise of the number of rows
    run(curator_of, rows, epsilon=little * Fraction(said[2]) * Fraction(spare), relation=relation)
    run(curator_of, groups(int(float(said[1].replace(",", "")) * spare)), epsilon=little, relation=relation)


def test_the_printed_mechanism_is_refused_before_anything_is_paid(curator_of):
    paid = []
    curator = curator_of(groups(50), epsilon=Fraction(1), delta=DELTA, charge=lambda: paid.append(1))
    with pytest.raises(ParameterError, match=r"recconcave.*would need at least [\d.]+e\+\d+ rows"):
        ball_coreset(
            curator, k=5, epsilon=Fraction(1), delta=DELTA, public_rng=public_rng(0), radius_method="recconcave"
        )
    assert paid == []
    with pytest.raises(ParameterError, match="give a delta"):
        ball_coreset(curator, k=5, epsilon=Fraction(1), public_rng=public_rng(0), radius_method="recconcave")


def test_the_printed_slack_needs_more_rows_than_there_are_people():
    """At the paper's own settings, 10^6 rows of 1024 x 1024 cells, k = 5, epsilon = 0.8."""
    rows = recconcave_rows(k=5, epsilon=0.8, delta=1e-9, side=1024, dimension=2)
    assert rows > 10**11
    part = 1 / (8 * 5 * log(rows))
    slack = 8**4 * 144 * 4 / (0.8 * part) * log(12 * 4 / (0.1 * 1e-9 * part**2))
    assert 3 * rows / (8 * 5) == pytest.approx(2 * slack, rel=1e-6)


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ({"radius_method": "best"}, "radius_method"),
        ({"weights": "heavy"}, "weights"),
        ({"fraction": 0}, "fraction"),
        ({"margin": -1}, "margin"),
        ({"side": 1}, "side"),
        ({"side": 5000}, "side"),
        ({"rows_per_part": 0}, "rows_per_part"),
        ({"starts": 0}, "starts"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_paid(curator_of, own, name):
    paid = []
    curator = curator_of(groups(50), epsilon=Fraction(1), charge=lambda: paid.append(1))
    with pytest.raises(ParameterError) as error:
        ball_coreset(curator, k=2, epsilon=Fraction(1), public_rng=public_rng(0), **own)
    assert error.value.parameter == name
    assert paid == []


def test_too_many_columns_are_refused_before_anything_is_paid(curator_of):
    paid = []
    curator = curator_of(np.zeros((10, 17)), charge=lambda: paid.append(1))
    with pytest.raises(ParameterError, match="at most 16 columns"):
        ball_coreset(curator, k=2, epsilon=Fraction(1), public_rng=public_rng(0))
    assert paid == []
