"""ball-coreset: what it spends, what it refuses and in which words, what it finds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, log

import numpy as np
import pytest

from covey.algorithms.ball_coreset import COUNT_SHARE, MOST_PARTS, MOST_PLACES, SQUARE_SHARE, ball_coreset
from covey.algorithms.registry import find
from covey.budget.ledger.ledger import Ledger
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.post.ball_rounds import FEW, Demand, ball_sizes, iterated_log, needed, recconcave_rows, shares
from covey.post.many import spread_costs
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.public import Neighbours
from covey.published.coreset.coreset import Coreset
from covey.queries.counts import InsideOutside
from covey.queries.squares import NearestSquares
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DELTA = Fraction(1, 10**6)


def groups(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    return middles[rng.integers(0, 3, n)] + rng.normal(0, 0.05, (n, 2))


def run(curator_of, rows, *, k=3, epsilon=Fraction(2), delta=DELTA, relation=ADD, seed=5, **own):
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=seed)
    outcome = ball_coreset(curator, k=k, epsilon=epsilon, delta=delta, public_rng=public_rng(1), **own)
    return curator, outcome


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
        parts = shares(sizes[: i + 1])
        assert rows >= needed(Counter(parts), parts[-1], demand)
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


def test_with_a_delta_many_picks_get_more(curator_of, monkeypatch):
    plans = []
    reserve = Curator.reserve
    monkeypatch.setattr(Curator, "reserve", lambda door, plan: plans.append(plan) or reserve(door, plan))
    curator, outcome = run(curator_of, groups(60_000), k=25)
    assert outcome.notes["rounds"] >= FEW
    assert Fraction(48, 25) < sum(event.epsilon for event in plans[-1].events)  # more than what is left, by addition
    assert curator._reserve.opened.epsilon <= 2
    assert curator._reserve.opened.delta == DELTA
    assert curator._reserve.remaining == ()


def test_few_picks_do_not_use_the_delta(curator_of):
    curator, outcome = run(curator_of, groups(3000))
    assert outcome.notes["rounds"] < FEW
    assert curator._reserve.opened.epsilon == 2
    assert curator._reserve.opened.delta == 0


def test_the_counts_get_about_their_share(curator_of, monkeypatch):
    seen = []
    release = Curator.release
    monkeypatch.setattr(Curator, "release", lambda door, q, m: seen.append((q, m.epsilon)) or release(door, q, m))
    run(curator_of, groups(3000))
    (first, size_epsilon), (second, count_epsilon), (third, square_epsilon) = seen
    assert isinstance(first, InsideOutside)
    assert size_epsilon == Fraction(2, 25)
    assert isinstance(second, VoronoiSums)
    assert float(count_epsilon) == pytest.approx(COUNT_SHARE * 2 * 24 / 25, rel=0.15)
    assert isinstance(third, NearestSquares)
    assert float(square_epsilon) == pytest.approx(SQUARE_SHARE * 2 * 24 / 25, rel=0.15)
    assert np.array_equal(third.centres, second.centres)  # both about the balls that were found, not about their means


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


# --- costs ------------------------------------------------------------------------------------------------------------


def costs_of(made, rows, objective):
    """The true cost of the published centres, and the coreset's."""
    centres = np.array(made.centres)
    squares = np.square(rows.clip(-1, 1)[:, None] - centres).sum(axis=2).min(axis=1)
    true = squares.sum() if objective == "k-means" else np.sqrt(squares).sum()
    points = Coreset.of(made)
    scaled, sets = points.scaled(points.points), points.scaled(centres[None])
    return true, spread_costs(scaled, points.weights, sets, objective=objective, spreads=points.spreads)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("d", [2, 4])
def test_costs_count_how_far_rows_are_from_their_balls(d, objective, relation):
    rng = np.random.default_rng(d)
    rows = rng.choice([-0.4, 0.4], (20_000, d)) + rng.normal(0, 0.15, (20_000, d))
    given = {"bounds": (-1, 1), "algorithm": "ball-coreset", "objective": objective, "neighbours": relation}
    for seed in range(3):
        made = fit(rows, k=3, epsilon=2.0, random_state=seed, **given)
        assert made.certificate.parameters["cost_trusted"]
        true, found = costs_of(made, rows, objective)
        assert found.plain[0] < 0.95 * true
        assert found.likely[0] == pytest.approx(true, rel=0.12)
        noise = made.certificate.parameters["cost_noise"] if objective == "k-means" else 0
        assert found.plain[0] < true < found.spread[0] + 4 * noise


def test_printed_weights_say_that_costs_miss_something(curator_of):
    _, outcome = run(curator_of, groups(20_000), weights="printed")
    assert outcome.coreset.spreads is None
    assert not outcome.notes["cost_trusted"]
    assert "how far rows are" in outcome.notes["cost_doubt"]


@pytest.mark.parametrize(
    ("n", "epsilon", "d", "why"),
    [(20_000, 2.0, 10, "as large as"), (20_000, 0.05, 2, "noise"), (3000, 0.01, 2, "fewer balls")],
)
def test_costs_that_are_not_to_be_trusted_say_why(n, epsilon, d, why):
    rows = np.random.default_rng(n + d).normal(0, 0.2, (n, d))
    made = fit(rows, k=3, epsilon=epsilon, bounds=(-1, 1), algorithm="ball-coreset", random_state=1)
    assert not made.certificate.parameters["cost_trusted"]
    assert why in made.certificate.parameters["cost_doubt"]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_too_few_rows_stop_the_rounds_and_the_certificate_says_how_many_would_do(curator_of, relation):
    """How many balls there are rows for is known after the charge: a release, not an error."""
    little = Fraction(1, 100)
    curator, outcome = run(curator_of, groups(3000), epsilon=little, relation=relation)
    assert outcome.notes["too_few_rows"]
    assert 1 <= outcome.notes["rounds"] == len(outcome.coreset.points) < 3
    assert curator._reserve.remaining == ()
    spare = 1.1 if relation is REPLACE else 2  # for the noise of the number of rows
    enough = groups(int(outcome.notes["rows_needed"] * spare))
    notes = run(curator_of, enough, epsilon=little, relation=relation)[1].notes
    assert not notes["too_few_rows"]
    assert notes["rounds"] >= 3
    assert "rows_needed" not in notes


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("n", "epsilon"), [(0, 1.0), (1, 1e-6), (14, 1.0), (5000, 1.0), (5000, 0.001)])
def test_a_ball_coreset_that_is_charged_is_released(relation, n, epsilon):
    """One ball is the least: all rows are counted, and averaged if they are many."""
    book = Ledger.memory(neighbours=relation)
    given = {"bounds": (-1, 1), "neighbours": relation, "ledger": book, "dataset": "data", "random_state": 3}
    made = fit(groups(n), k=15, epsilon=epsilon, algorithm="ball-coreset", **given)
    assert book.verify().unfinished == 0
    assert made.certificate.parameters["too_few_rows"]
    assert made.certificate.parameters["rows_needed"] > n
    assert len(made.centres) == 15


def test_a_wild_number_of_rows_makes_no_more_parts_than_can_be_worked_on(curator_of):
    """Its noise has a scale of 25 million rows here; what one ball needs is not known either."""
    _, outcome = run(curator_of, groups(50), epsilon=Fraction(1, 10**6), rows_per_part=1, side=2, starts=1)
    assert outcome.notes["parts"] <= MOST_PARTS


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_too_few_rows_run_when_asked_and_the_certificate_says_so(curator_of, relation, n):
    own = {"relation": relation, "epsilon": Fraction(1, 10), "delta": Fraction(0), "too_few": "run"}
    curator, outcome = run(curator_of, groups(n), **own)
    assert outcome.notes["too_few_rows"]
    assert outcome.notes["rounds"] == len(outcome.coreset.points) == 3
    assert np.isfinite(outcome.centres).all()
    assert curator._reserve.opened.epsilon == Fraction(1, 10)
    assert curator._reserve.remaining == ()


def test_enough_rows_are_not_too_few(curator_of):
    assert not run(curator_of, groups(5000))[1].notes["too_few_rows"]


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
        ({"too_few": "guess"}, "too_few"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_paid(curator_of, own, name):
    paid = []
    curator = curator_of(groups(50), epsilon=Fraction(1), charge=lambda: paid.append(1))
    with pytest.raises(ParameterError) as error:
        find("ball-coreset").outcome(curator, {"k": 2, "epsilon": Fraction(1), "public_rng": public_rng(0)}, own)
    assert error.value.parameter == name
    assert paid == []


def test_too_many_columns_are_refused_before_anything_is_paid(curator_of):
    paid = []
    curator = curator_of(np.zeros((10, 17)), charge=lambda: paid.append(1))
    with pytest.raises(ParameterError, match="at most 16 columns"):
        ball_coreset(curator, k=2, epsilon=Fraction(1), public_rng=public_rng(0))
    assert paid == []
