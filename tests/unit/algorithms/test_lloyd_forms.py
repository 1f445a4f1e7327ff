"""The forms of `lloyd`: shares of the budget over its rounds, and Gaussian noise with a delta."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.lloyd import gaussian_rounds, lloyd
from covey.budget.ledger.ledger import Ledger
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace
from covey.post.errors.quantiles import deviations
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.public import Neighbours, resolve_bounds
from covey.queries.voronoi import VoronoiSums

EPSILON, DELTA = Fraction(7, 3), Fraction(1, 10**6)
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
ROWS = np.random.default_rng(5).uniform(-1, 1, (60, 2))


@pytest.fixture
def drawn(monkeypatch):
    """The noise of every release, in turn."""
    found, real = [], Curator.release
    monkeypatch.setattr(Curator, "release", lambda door, q, noise: found.append(noise) or real(door, q, noise))
    return found


def run(curator_of, rows=ROWS, *, relation=ADD, delta=Fraction(0), epsilon=EPSILON, seed=3, **own):
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=seed)
    outcome = lloyd(curator, k=3, epsilon=epsilon, delta=delta, public_rng=public_rng(1), **own)
    return curator, outcome


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("rounds", [1, 5, 7])
def test_increasing_shares_add_up_to_epsilon_exactly(curator_of, drawn, rounds, relation):
    curator, _ = run(curator_of, relation=relation, rounds=rounds, shares="increasing")
    whole = rounds * (rounds + 1) // 2
    assert drawn == [DiscreteLaplace(EPSILON * i / whole) for i in range(1, rounds + 1)]
    assert curator._reserve.opened.epsilon == EPSILON == sum(noise.epsilon for noise in drawn)
    assert curator._reserve.opened.delta == 0
    assert curator._reserve.remaining == ()


@pytest.mark.parametrize("shares", ["even", "increasing"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_rows_decide_no_share(curator_of, drawn, shares, noise):
    """Whatever the rows are, and however many: the same noise in the same turn."""
    for n in range(4):
        run(curator_of, ROWS[:n], shares=shares, noise=noise, delta=DELTA)
    assert drawn[:5] * 4 == drawn


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("shares", ["even", "increasing"])
def test_gaussian_rounds_are_one_plan_within_the_budget_and_hardly_below_it(curator_of, drawn, shares, relation):
    curator, _ = run(curator_of, relation=relation, delta=DELTA, noise="gaussian", shares=shares)
    cost = curator._reserve.opened
    assert EPSILON * Fraction(999, 1000) < cost.epsilon <= EPSILON
    assert cost.delta == DELTA
    assert curator._reserve.remaining == ()
    assert {type(noise) for noise in drawn} == {DiscreteGaussian}
    parts = [1] * 5 if shares == "even" else [1, 2, 3, 4, 5]
    squares = [1 / float(noise.multiplier) ** 2 for noise in drawn]
    assert np.allclose(np.array(squares) / sum(squares), np.array(parts) / sum(parts), rtol=1e-4)


@pytest.mark.parametrize(("relation", "edges"), [(ADD, math.sqrt(3)), (REPLACE, math.sqrt(8))])
def test_gaussian_noise_is_that_of_the_joint_sensitivity_and_this_test_can_tell(curator_of, relation, edges):
    """Two sums and a count move by (1, 1, 1) edges; a row that crosses its cluster, replaced, moves the sums by (2, 2).

    The counts of 40 clusters in 100 runs: noise 5% too large or small has a mean square that is four errors off.
    """
    noises = []
    for seed in range(100):
        curator = curator_of(ROWS, neighbours=relation, epsilon=EPSILON, delta=DELTA, seed=seed)
        outcome = lloyd(
            curator, k=40, epsilon=EPSILON, delta=DELTA, public_rng=public_rng(1), rounds=1, noise="gaussian"
        )
        noises.append(outcome.sizes)
        exact = curator._engine.total(VoronoiSums(np.zeros((1, 2)), curator.domain))[-1] / curator.domain.limit
        assert exact == len(ROWS)
    (noise,) = gaussian_rounds(
        curator, VoronoiSums(np.zeros((40, 2)), curator.domain), parts=[Fraction(1)], epsilon=EPSILON, delta=DELTA
    )
    spread = np.var(np.array(noises), axis=0, ddof=1).mean() / (edges * float(noise.multiplier)) ** 2
    error = math.sqrt(2 / (99 * 40))
    for off, accepted in ((1.0, True), (0.9, False), (1.1, False), (2 / 3, False)):
        assert (abs(spread / off - 1) < 4 * error) == accepted


def test_sizes_tell_the_law_of_gaussian_noise(curator_of):
    curator, outcome = run(curator_of, delta=DELTA, noise="gaussian", rounds=1)
    (noise,) = gaussian_rounds(
        curator, VoronoiSums(outcome.centres, curator.domain), parts=[Fraction(1)], epsilon=EPSILON, delta=DELTA
    )
    half = np.ptp(outcome.size_law.intervals(), axis=1) / 2
    assert np.allclose(half, 1.645 * math.sqrt(3) * float(noise.multiplier), rtol=1e-3)
    assert outcome.size_law.scale is None  # no Laplace noise that one could draw again
    assert float(deviations(0.9, np.array([np.inf]))[0]) == pytest.approx(1.645, rel=1e-3)


def test_noise_that_is_too_fine_is_made_coarser_and_never_refused_after_the_charge(curator_of):
    """In many columns the lattice is coarse: with a large epsilon and many centres the proof asks for more noise."""
    domain = resolve_bounds((-1, 1), names=None, width=1500)
    curator = curator_of(np.zeros((1, 1500)), domain=domain, epsilon=Fraction(90), delta=DELTA, seed=1)
    question = VoronoiSums(np.zeros((1000, 1500)), domain)
    sensitivity = question.sensitivity(ADD)
    for noise in gaussian_rounds(curator, question, parts=[Fraction(1)], epsilon=Fraction(90), delta=DELTA):
        assert noise.multiplier**2 * sensitivity.l2_squared >= 2**26 * question.size
        assert noise.multiplier**2 * sensitivity.l2_squared < 2**26 * question.size * Fraction(1001, 1000)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"algorithm_params": {"noise": "gaussian"}}, "delta"),
        ({"algorithm_params": {"noise": "gaussian"}, "sample": 30}, "delta"),
        ({"algorithm_params": {"noise": "gaussian"}, "delta": 1e-6, "epsilon": 2e-6}, "noise"),
        ({"algorithm_params": {"noise": "gaussian", "rounds": 1}, "delta": 1e-30, "epsilon": 2e-6}, "multiplier"),
        ({"algorithm_params": {"shares": "increasing", "rounds": 10_000}, "epsilon": 1e-6}, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_before_the_charge(more, named):
    book = Ledger.memory(epsilon=10, delta=0.5)
    given = {"k": 3, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "lloyd", **more}
    with pytest.raises(ParameterError, match=f"^{named}:"):
        fit(np.tile(ROWS, (1, 300)), dataset="data", ledger=book, **given)
    assert all(account.spent.epsilon == 0 for account in book.datasets().values())


def test_a_release_says_what_was_promised_and_how():
    made = fit(
        ROWS, k=2, epsilon=1.0, delta=1e-6, bounds=(-1, 1), algorithm="lloyd", algorithm_params={"noise": "gaussian"}
    )
    assert (made.certificate.epsilon, made.certificate.delta) == (1.0, 1e-6)
    assert made.certificate.parameters["noise"] == "gaussian"
    plain = fit(ROWS, k=2, epsilon=1.0, delta=1e-6, bounds=(-1, 1), algorithm="lloyd")
    assert (plain.certificate.delta, plain.certificate.parameters["noise"]) == (0, "laplace")
