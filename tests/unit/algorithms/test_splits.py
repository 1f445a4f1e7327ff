"""How budgets are split between the steps of an algorithm, exactly; and what their notes tell of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from covey.algorithms import ball_coreset
from covey.algorithms import blocks as blocks_module
from covey.algorithms import grid as grid_module
from covey.algorithms import jl_candidates as jl
from covey.algorithms import recount as recount_module
from covey.algorithms.auto import low as auto_low
from covey.algorithms.auto import shares as auto_shares
from covey.algorithms.auto.high import _cluster_weights
from covey.algorithms.auto.shares import pure_shares
from covey.algorithms.ball_coreset import MOST_PLACES, Settings
from covey.algorithms.coreset_methods import coreset_algorithm
from covey.algorithms.exact_coreset import LARGEST_SIDE, MOST_CELLS, USUAL_WORK, _side
from covey.algorithms.grid import from_cells
from covey.algorithms.max_cover import Means, averages_of, max_cover, share_out
from covey.algorithms.net_coreset import MOST_ROWS, _certain_rows
from covey.algorithms.registry import find
from covey.algorithms.sites import some_sites
from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError, ParameterError
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.random import public_rng
from covey.post.zones import KeptCounts, Keys
from covey.public import Neighbours, resolve_bounds
from covey.queries import grid as grid_query
from covey.queries.exact import work
from covey.queries.grid import Grid
from covey.queries.intervals import CentreCounts
from covey.queries.squares import NearestSquares

EPSILON, DELTA = Fraction(24, 10), Fraction(1, 10**6)
SQUARE = resolve_bounds((-1, 1), names=None, width=2)
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@pytest.mark.parametrize("final_round", [True, False])
@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_max_cover_splits_by_7_2_6_and_9_parts_of_24(final_round, neighbours):
    """Picks, counts, averages, the last round or, without it, more to the averages; a fifth of those to counts."""
    own = {"k": 3, "domain": SQUARE, "neighbours": neighbours, "averages": "sums", "bound": "stated"}
    shares = share_out(EPSILON, DELTA, final_round=final_round, **own)
    unit = EPSILON / 24
    expected = (6 * unit, 9 * unit) if final_round else (15 * unit,)
    assert tuple(mean.epsilon for mean in shares.means) == expected
    assert all(mean.counts.epsilon == part / 5 for mean, part in zip(shares.means, expected, strict=True))
    picks = shares.picks.event().epsilon
    assert picks <= 7 * unit
    assert picks > 7 * unit * (1 - Fraction(1, 10**6))
    assert shares.counts.epsilon == 9 * unit - picks
    assert shares.picks.delta + sum(mean.delta for mean in shares.means) == DELTA
    assert all(mean.delta in (0, DELTA / 2 / len(expected)) for mean in shares.means)


def test_max_cover_refuses_no_delta_in_words(curator_of):
    curator = curator_of(np.zeros((4, 2)), epsilon=EPSILON, delta=DELTA)
    with pytest.raises(ParameterError, match="proven with a delta above 0"):
        max_cover(curator, k=2, epsilon=EPSILON, public_rng=public_rng(1))


NOTES = {
    "max-cover": {"dimensions", "growth", "radii", "picks", "averages", "final_round", "bound", "epsilon_n"},
    "net-coreset": {"base", "base_centres", "error", "rays", "rings", "coreset_points", "share"},
    "jl-candidates": {"dimensions", "candidates", "swaps", "boxes"},
    "exact-coreset": {"cells_per_axis", "points", "candidates", "beyond_the_best"},
    "grid": {"cells_per_axis", "theta"},
}


@pytest.mark.parametrize("name", NOTES)
def test_certificates_tell_what_an_algorithm_chose(name, curator_of):
    row = find(name)
    delta = DELTA if row.guarantee == "approximate" else Fraction(0)
    curator = curator_of(np.random.default_rng(1).uniform(-1, 1, (80, 2)), epsilon=EPSILON, delta=delta, seed=1)
    given = {"k": 2, "epsilon": EPSILON, "public_rng": public_rng(1), **row.few_rows}
    outcome = row.run(curator, **given, **({"delta": delta} if delta else {}))
    assert set(outcome.notes) >= NOTES[name]


def test_a_trial_of_sites_has_three_to_spare():
    assert np.shape(some_sites(-np.ones(2), np.ones(2), 4, public_rng(1))["sites"]) == (7, 2)


@pytest.mark.parametrize(("size", "side"), [(3, 2), (4, 4), (15, 4), (16, 8), (63, 8), (64, 16), (10**9, 256)])
def test_the_grid_of_balls_has_more_cells_than_rows(size, side):
    own = {"radius_method": "joint", "weights": "counted", "fraction": 1.0, "margin": 0.75, "too_few": "stop"}
    settings = Settings(domain=SQUARE, neighbours=ADD, k=2, side=None, rows_per_part=None, **own)
    assert settings.grid(size).per_axis == side
    assert MOST_PLACES == 256**2


@pytest.mark.parametrize(("points", "centres"), [(2, 1), (3, 2), (1, 3), (5, 2)])
def test_the_side_of_an_exact_coreset_is_the_largest_that_is_tried_quickly(points, centres):
    sides = [side for side in range(2, LARGEST_SIDE + 1) if side**2 <= MOST_CELLS]
    effort = {side: work(side**2, points=points, centres=centres) for side in sides}
    quick = [side for side, (coresets, queries) in effort.items() if coresets * queries <= USUAL_WORK]
    assert _side(None, dimension=2, points=points, centres=centres) == max(quick, default=2)


def test_a_public_number_of_rows_is_certain_up_to_a_limit(curator_of):
    curator = curator_of(np.zeros((4, 2)), neighbours=REPLACE)
    assert _certain_rows(curator, 7, EPSILON) == 7
    assert _certain_rows(curator, 10 * MOST_ROWS, EPSILON) == MOST_ROWS


@pytest.mark.parametrize(("method", "parameters", "named"), [(["grid"], None, "method"), ("no", None, "method")])
def test_a_method_that_is_none_is_refused_by_name(method, parameters, named):
    with pytest.raises(ParameterError, match=named):
        coreset_algorithm(method, parameters)


@pytest.mark.parametrize("parameters", ["theta", [("theta", 1.0)], {"keep_synopsis": False}, {"keep_synopsis": 1}])
def test_parameters_of_a_method_are_a_dictionary_and_keep_the_coreset(parameters):
    with pytest.raises(ParameterError, match="method_params"):
        coreset_algorithm("grid", parameters)
    assert coreset_algorithm("grid", {"theta": 1.0}) == ("grid", {"keep_synopsis": True, "theta": 1.0})


@pytest.mark.parametrize("keep", [True, False])
def test_a_grid_is_as_fine_with_a_synopsis_and_searched_from_as_many_starts_as_asked(keep, curator_of, monkeypatch):
    rows = np.random.default_rng(2).uniform(-1, 1, (40, 2))
    for module in (grid_module, grid_query):
        monkeypatch.setattr(module, "MOST_CELLS", 64)
    monkeypatch.setattr(grid_module, "CLUSTERED_CELLS", 16)
    begun = []
    real = grid_module.weighted_kmeans
    monkeypatch.setattr(
        grid_module, "weighted_kmeans", lambda *a, **named: begun.append(len(named["starts"])) or real(*a, **named)
    )
    noise = DiscreteLaplace(Fraction(50))
    curator = curator_of(rows, epsilon=Fraction(50), seed=1, plan=Plan((noise.event(),)))
    own = {"k": 2, "size": 10**9, "noise": noise, "theta": 10.0, "starts": 3, "objective": "k-means"}
    found = from_cells(curator, public_rng=public_rng(1), keep_synopsis=keep, **own)
    assert begun == [3]
    assert found.notes["cells_per_axis"] == 8  # all 64: without zones nothing takes more room


@pytest.mark.parametrize(("size", "full"), [(10**6, True), (300, False)])
def test_auto_in_many_columns_splits_a_pure_epsilon_by_parts_of_98(size, full):
    shares = pure_shares(d=10, k=3, size=size, epsilon=EPSILON, delta=Fraction(0), neighbours=ADD)
    unit = EPSILON / 98
    told = {
        name: getattr(shares, name).epsilon / unit
        for name in ("mean", "norms", "recentre", "tree", "counts", "moments")
    }
    assert told == {"mean": 8, "norms": 3, "recentre": 8, "tree": 18, "counts": 14, "moments": 15 if full else 4}
    assert shares.full_moments == full
    assert sum(each.epsilon for each in shares.rounds) / unit == 98 - sum(told.values())
    assert shares.plan.cost().epsilon == EPSILON


@pytest.mark.parametrize(
    ("d", "k", "size", "tenths", "parts"),
    [
        (16, 26, 20_000, 1, {"mean": 4, "recentre": 4, "tree": 18, "counts": 14}),  # a mean of little noise: the least
        (40, 40, 9_000, 1, {"mean": 15, "recentre": 7, "tree": 10, "counts": 8}),  # 0.3 of the radius: 98·40/(0.3·882)
        (100, 6, 1_000, 10, {"mean": 20, "recentre": 10, "tree": 10, "counts": 8}),  # a noise below 5
        (10, 5, 600, 2, {"mean": 20, "recentre": 10, "tree": 16, "counts": 12}),  # a noise between 1 and 2
        (784, 10, 60_000, 1, {"mean": 40, "recentre": 16, "tree": 10, "counts": 8}),  # all that a mean may have
    ],
)
def test_where_rounds_are_noisy_the_means_get_what_their_own_noise_asks_for(d, k, size, tenths, parts):
    """98·d/(0.3·epsilon·n) of 98 parts, from 4 to 20, or to 40 where the squared noise of a round is above 5."""
    epsilon = Fraction(98 * tenths, 1000)
    shares = pure_shares(d=d, k=k, size=size, epsilon=epsilon, delta=Fraction(0), neighbours=ADD)
    assert {name: getattr(shares, name).epsilon * 98 / epsilon for name in parts} == parts
    assert sum(event.epsilon for event in shares.plan.events) == epsilon


def test_many_centres_get_columns_instead_of_axes():
    """The noise of second moments, relative to their size, must be below 0.15, and below 1.5/k."""
    own = {"d": 16, "size": 20_000, "epsilon": Fraction(98, 100), "delta": Fraction(0), "neighbours": ADD}
    noise = 32**0.5 * 17 / (0.15 * 0.98 * 20_000)
    told = [pure_shares(k=k, **own).full_moments for k in (10, int(1.5 / noise), int(1.5 / noise) + 1)]
    assert told == [True, True, False]


def test_whether_a_delta_helps_is_tried_for_very_many_some_and_the_fewest_rows(monkeypatch):
    tried = []

    def refused(*, size, **more):
        tried.append(size)
        raise BudgetError("too small")

    monkeypatch.setattr(auto_shares, "approximate_shares", refused)
    own = {"d": 10, "k": 3, "least": 5, "epsilon": EPSILON, "delta": DELTA}
    assert not auto_shares.delta_helps(neighbours=ADD, **own)
    assert tried == [2.0**60, pytest.approx(3 * (1000 * 10) ** 0.5 / 2.4), 5.0]
    assert not auto_shares.delta_helps(neighbours=REPLACE, **own)
    assert tried[4] == pytest.approx(2 * tried[1])


def test_a_replaced_row_is_in_two_cells_of_auto(curator_of):
    assert auto_low._sides(curator_of(np.zeros((3, 2)), neighbours=ADD)) == 1
    assert auto_low._sides(curator_of(np.zeros((3, 2)), neighbours=REPLACE)) == 2


@pytest.mark.parametrize(("room", "blocks"), [(12, 3), (10**6, 15)])
def test_blocks_are_a_third_of_the_rows_per_centre_and_no_more_than_there_is_room_for(
    room, blocks, curator_of, monkeypatch
):
    monkeypatch.setattr(blocks_module, "MOST_VALUES", room)
    curator = curator_of(np.zeros((90, 2)), neighbours=REPLACE, epsilon=EPSILON, seed=1)
    outcome = find("blocks").run(curator, k=2, epsilon=EPSILON, public_rng=public_rng(1), rule="gkm-3k")
    assert outcome.notes["blocks"] == blocks


@pytest.mark.parametrize(("released", "moves"), [(0.9, False), (1.0, True)])
def test_a_cluster_with_less_than_one_row_keeps_its_centre(released, moves, curator_of):
    """The averages of max cover: a noisy number of rows of one is enough to move by, less is not."""
    curator = curator_of(np.zeros((3, 2)), epsilon=Fraction(10))
    counted = SimpleNamespace(
        domain=SQUARE,
        neighbours=ADD,
        release=lambda query, _: np.array([released]) if isinstance(query, CentreCounts) else np.full(query.size, 1000),
    )
    means = Means(Fraction(1), Fraction(0), DiscreteLaplace(Fraction(1)), DiscreteLaplace(Fraction(1)))
    centres = np.array([[100.0, 100.0]])
    found, sizes = averages_of(counted, centres, means, rng=public_rng(1))
    assert sizes.tolist() == [released]
    assert (found != centres).any() == moves
    assert curator.domain == SQUARE


@pytest.mark.parametrize(("beyond", "kept"), [(0.4, True), (-0.4, True), (0.6, False), (-0.6, False)])
def test_a_block_of_cells_stands_at_their_mean_up_to_its_border(beyond, kept, monkeypatch):
    """Noisy counts may be negative: a mean up to half a cell outside the middles is in the block, beyond it is not."""
    line = resolve_bounds((-1, 1), names=None, width=1)
    cells = Grid(line, 4)
    monkeypatch.setattr(grid_module, "CLUSTERED_CELLS", 2)
    middles = cells.midpoints()[:, 0]
    width = middles[1] - middles[0]
    first = [1 + beyond, -beyond] if beyond > 0 else [beyond, 1 - beyond]
    points, weights = grid_module.blocks_of_cells(cells, np.array([*first, 1.0, 1.0]))
    mean = middles[0] - beyond * width if beyond > 0 else middles[1] - beyond * width
    assert weights.tolist() == pytest.approx([1.0, 2.0])
    assert points[0, 0] == pytest.approx(mean if kept else (middles[0] + middles[1]) / 2)
    assert points[1, 0] == pytest.approx((middles[2] + middles[3]) / 2)


def test_without_rows_candidates_come_from_the_whole_domain(curator_of, monkeypatch):
    drawn = []
    real = jl.uniform_starts
    monkeypatch.setattr(jl, "uniform_starts", lambda *a, **named: drawn.append(named) or real(*a, **named))
    curator = curator_of(np.empty((0, 2)), epsilon=Fraction(1, 1000), seed=1)
    find("jl-candidates").run(curator, k=2, epsilon=Fraction(1, 1000), public_rng=public_rng(1))
    assert drawn
    assert all((each["lower"] < each["upper"]).all() for each in drawn)
    assert (drawn[0]["lower"] == -drawn[0]["upper"]).all()


@pytest.mark.parametrize(("d", "dimensions", "whole"), [(2, 2, True), (6, 2, False)])
def test_nearest_is_judged_where_clusters_were_found(d, dimensions, whole, curator_of, monkeypatch):
    """In the projected space, unless that is the whole one."""
    asked = []
    real = jl.averages_of
    monkeypatch.setattr(jl, "averages_of", lambda *a, **named: asked.append(named.get("within")) or real(*a, **named))
    curator = curator_of(np.random.default_rng(1).uniform(-1, 1, (60, d)), epsilon=EPSILON, delta=DELTA, seed=1)
    own = {"k": 2, "epsilon": EPSILON, "delta": DELTA, "dimensions": dimensions}
    find("jl-candidates").run(curator, public_rng=public_rng(1), **own)
    assert (asked[0][2] is None) == whole
    assert asked[1:] == [None]  # the last round is in the full space


@pytest.mark.parametrize(("k", "candidates", "wanted"), [(2, None, 64), (9, None, 72), (2, 3, 4), (700, None, 5600)])
def test_there_are_enough_candidates_and_not_too_many(k, candidates, wanted, curator_of, monkeypatch):
    class Asked(Exception):
        pass

    def check(*, k, candidates):
        raise Asked(candidates)

    monkeypatch.setattr(jl, "check_pairs", check)
    own = {"k": k, "epsilon": EPSILON, "public_rng": public_rng(1)} | ({"candidates": candidates} if candidates else {})
    with pytest.raises(Asked) as found:
        find("jl-candidates").run(curator_of(np.zeros((2, 2))), **own)
    assert found.value.args == (wanted,)


def test_clusters_in_a_subspace_have_their_leaves_rows_and_never_less_than_their_noise():
    label, weights = np.array([0, 0, 1]), np.array([3.0, 5.0, 2.0])
    found, kept = _cluster_weights(KeptCounts(weights, 0.1), label, k=3, size=20.0)
    assert found.tolist() == pytest.approx([16.0, 4.0, 0.2 * 2**0.5])  # the last has no leaf: the noise of one
    assert kept is None
    wide, _ = _cluster_weights(KeptCounts(weights, 10.0), label, k=3, size=20.0)
    assert wide.tolist() == pytest.approx([20 * 4**0.5, 20 * 2**0.5, 20 * 2**0.5])
    few, _ = _cluster_weights(KeptCounts(weights / 100, 0.1), label, k=3, size=20.0)
    assert few[0] == pytest.approx(max(0.08 * 20, 0.2 * 4**0.5))  # less than one row is not scaled up as if it were


def test_clusters_by_zone_have_rows_by_their_rates_and_sums_are_worth_their_noise_or_left_out():
    """Two zones, three leaves, two clusters; of the second zone one of ten rows was kept."""
    keys = Keys(np.tile(np.arange(3), 2), np.repeat([1.0, 0.1], 3), 3)
    standing = KeptCounts(np.array([30.0, 0.0, 50.0, 20.0, 0.0, 0.0]), 0.5, keys)
    rows, kept = _cluster_weights(standing, np.array([0, 0, 1]), k=2, size=100.0)
    assert rows.tolist() == pytest.approx([30 + 200, 50])
    assert kept.kept.tolist() == [[30.0, 50.0], [20.0, 0.0]]
    assert kept.rates.tolist() == [1.0, 0.1]
    loud = kept.factors(20.0)
    assert loud.tolist() == [pytest.approx([900 / 1300, 2500 / 2900]), pytest.approx([10 / 2, 0.0])]
    assert kept.weights(loud).tolist() == pytest.approx([30 * 900 / 1300 + 100, 50 * 2500 / 2900])
    assert kept.factors(1e-9).tolist() == [pytest.approx([1.0, 1.0]), pytest.approx([10.0, 0.0])]
    nobody = replace(kept, kept=0 * kept.kept).factors(1.0)
    assert nobody.tolist() == [[1.0, 1.0], [0.0, 0.0]]  # what its sums are is noise, as without zones


@pytest.mark.parametrize(("size", "rounds"), [(20, 1), (200, 2), (10**5, 3)])
def test_auto_in_many_columns_has_as_many_rounds_as_their_noise_allows(size, rounds):
    """By the squared noise of one round with all that is left, 2·(d·k/(rest·epsilon·n))²."""
    shares = pure_shares(d=10, k=3, size=size, epsilon=EPSILON, delta=Fraction(0), neighbours=ADD)
    rest = 98 - 51 - (15 if shares.full_moments else 4)
    noise = 2 * (30 / (rest / 98 * 2.4 * size)) ** 2
    assert len(shares.rounds) == rounds == (3 if noise < 0.002 else 2 if noise < auto_shares.TWO_ROUNDS else 1)


@pytest.mark.parametrize(("size", "width", "reach"), [(10**9, 3.5, 1.2), (30, 2.5, 1.0)])
def test_auto_with_a_delta_looks_as_far_as_its_noise_allows(size, width, reach):
    shares = auto_shares.approximate_shares(d=10, k=3, size=size, epsilon=EPSILON, delta=DELTA, neighbours=ADD)
    assert (shares.width, shares.reach) == (width, reach)
    assert shares.norms.epsilon == EPSILON * Fraction(4, 98)


def test_a_noisy_number_of_rows_is_taken_to_be_at_most_two_to_the_40(curator_of, monkeypatch):
    class Asked(Exception):
        pass

    def parts(_, size):
        raise Asked(size)

    monkeypatch.setattr(ball_coreset, "learn_size", lambda _, epsilon: (2**50, epsilon, {}))
    monkeypatch.setattr(Settings, "parts", parts)
    with pytest.raises(Asked) as found:
        find("ball-coreset").run(curator_of(np.zeros((2, 2))), k=2, epsilon=EPSILON, public_rng=public_rng(1))
    assert found.value.args == (2**40,)


@pytest.mark.parametrize(("rows", "moves"), [(0.0, False), (40.0, True)])
def test_a_candidate_without_rows_stays_where_it_is(rows, moves):
    """The means of jl-candidates: what was released for a cluster with less than one row is noise alone."""
    wide = jl.random_projection(SQUARE, 2, size=100, rng=public_rng(1))
    spread = np.array([[0.1, 0.2], [-0.2, 0.1]]) * wide.half
    found = jl.Found(spread, -wide.half * 1.0, wide.half * 1.0, 5)

    def release(query, _):
        table = np.full((len(query.centres), 3), query.clip.unit_limit // 2)
        table[:, -1] = rows * query.clip.unit_limit
        return table.reshape(-1).astype(np.int64)

    curator = SimpleNamespace(domain=SQUARE, neighbours=ADD, release=release)
    centres, counts = jl._means(curator, wide, found, spread[:1], DiscreteLaplace(Fraction(100)))
    assert counts.tolist() == [rows]
    expected = SQUARE.snap(jl._lift(spread[:1], wide.matrix))
    assert (np.abs(centres - expected).max() > 1) == moves


@pytest.mark.parametrize(("kept", "up"), [(1000.0, 1), (5.0, 1), (1.0, 5)])
def test_squares_are_counted_up_and_never_down_where_zones_let_rows_through(kept, up, monkeypatch):
    """More kept rows than counted ones is noise: squares stay as they are then."""
    noisy = SimpleNamespace(sums=np.array([0, 0, 5 * SQUARE.limit]), scales=np.array([1.0]), kept=kept)
    monkeypatch.setattr(recount_module, "sum_clusters", lambda *_: noisy)
    noise = recount_module.Counting(DiscreteLaplace(Fraction(1)), DiscreteLaplace(Fraction(2)))
    zoned = {"domain": SQUARE, "neighbours": ADD, "zones": object()}
    curator = SimpleNamespace(release=lambda query, _: np.zeros(query.size, dtype=np.int64), **zoned)
    found = recount_module.recount(curator, np.zeros((1, 2)), noise)
    assert found.square_scale == up * NearestSquares(np.zeros((1, 2)), SQUARE).most / 2
