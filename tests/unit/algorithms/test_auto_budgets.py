"""`auto`: every legal budget gives a release that draws what was planned, and its look is paid for and released."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conftest import make_curator
from covey.algorithms.auto.low import from_boxes
from covey.algorithms.auto.shares import LEAST_RADIAL, choose_shares, drawable
from covey.budget.accounting.accountant import Cost
from covey.fit.fit import fit
from covey.noise.mechanisms import GAUSSIAN_VARIANCE_PER_NUMBER, DiscreteGaussian, DiscreteLaplace
from covey.noise.radial import LARGEST_SCALE
from covey.post.random import public_rng
from covey.public import Neighbours, resolve_bounds
from covey.queries.clipping import FINEST
from covey.queries.residuals import ResidualSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
BOTH = (ADD, REPLACE)


# --- nothing public, and nothing released, makes a fit fail that was charged ------------------------------------------


EXTREMES = [
    (1e-6, None),  # Laplace noise of more than 2^55 units
    (1e-6, 1e-6),  # less epsilon than what discrete Gaussian noise adds
    (1.08e-5, 1e-6),  # hardly more
    (1e-3, 1e-6),  # Gaussian noise of more than 2^45 units
    (1.0, 1e-300),  # less delta than what discrete Gaussian noise adds
    (1.0, 1e-40),
    (1e4, 1e-6),  # more epsilon than a plan with Gaussian noise may cost
    (1e4, None),
]


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("epsilon", "delta"), EXTREMES)
@pytest.mark.parametrize("rows", [0, 40])
def test_every_legal_budget_gives_a_release(rows, epsilon, delta, neighbours):
    data = np.full((rows, 5), 0.7)
    release = fit(data, k=3, epsilon=epsilon, delta=delta, bounds=(0, 1), neighbours=neighbours, random_state=1)
    centres = np.array(release.centres)
    assert np.isfinite(centres).all()
    assert (np.abs(centres - 0.5) <= 0.5 + 1e-9).all()


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("d", "k"), [(5, 1), pytest.param(784, 1000, marks=pytest.mark.slow), (5000, 1000)])
@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(9000), Fraction(1, 10**6)), (Fraction(60), Fraction(1, 2))])
@pytest.mark.parametrize("zones", [1, 65])
def test_the_noise_of_every_release_can_be_drawn(d, k, epsilon, delta, neighbours, zones):
    shares = choose_shares(d=d, k=k, size=10_000, epsilon=epsilon, delta=delta, neighbours=neighbours, zones=zones)
    cost = shares.plan.cost()
    assert cost.epsilon <= epsilon
    assert cost.delta <= delta
    for noise, numbers in ((shares.mean, d), (shares.recentre, d), *((each, zones * k * d) for each in shares.rounds)):
        assert isinstance(noise, DiscreteGaussian)
        assert noise.multiplier**2 * FINEST**2 >= GAUSSIAN_VARIANCE_PER_NUMBER * numbers
    assert noise.multiplier**2 * 144 * 26_000**4 >= GAUSSIAN_VARIANCE_PER_NUMBER * d * (d + 1) // 2


@pytest.mark.parametrize("columns", [1_025, 40_000])
def test_very_many_columns_and_very_little_budget_give_a_release(columns):
    rows = np.zeros((2, columns))
    release = fit(rows, k=2, epsilon=1e-6, bounds=(-1, 1), neighbours="replace-one", random_state=0, errors="none")
    assert np.isfinite(np.array(release.centres)).all()


def test_noise_by_length_can_be_drawn_wherever_it_is_planned():
    """The finest units of a clip, from end to end under replace-one, with the least epsilon that it is planned with."""
    assert LEAST_RADIAL / (2 * FINEST) * LARGEST_SCALE >= 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10**4), Fraction(1)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_all_that_is_planned_is_drawn_and_nothing_else(epsilon, delta):
    for neighbours in BOTH:
        shares = choose_shares(d=9, k=4, size=500, epsilon=epsilon, delta=delta, neighbours=neighbours)
        drawn = [shares.mean, shares.norms, shares.recentre, shares.moments, shares.tree, shares.counts, *shares.rounds]
        assert sorted(map(repr, shares.plan.events)) == sorted(repr(each.event()) for each in drawn)
        domain = resolve_bounds((-1, 1), names=None, width=9)
        centres = np.zeros((4, 9))
        for noise in shares.rounds:
            assert drawable(noise, ResidualSums(domain, centres, 5.0).sensitivity(neighbours))


# --- the look of auto -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("d", "n"), [(2, 900), (3, 1_500), (2, 40), (4, 900)])
def test_a_look_and_what_follows_it_cost_exactly_epsilon(neighbours, d, n):
    seen = set()
    for spread in (1.0, 0.01):
        rows = np.random.default_rng(2).uniform(-spread, spread, (n, d))
        curator = make_curator(rows, neighbours=neighbours, epsilon=Fraction(1), seed=3)
        outcome = from_boxes(
            curator, k=8, epsilon=Fraction(1), objective="k-means", public_rng=public_rng(0), keep_synopsis=False
        )
        assert curator._reserve.opened == Cost(Fraction(1))
        assert curator._reserve.remaining == ()
        seen.add(outcome.notes["synopsis"])
    assert seen <= {"grid", "tree"}
    assert n != 900 or d != 2 or seen == {"grid", "tree"}


def test_what_decides_between_grid_and_tree_is_released(monkeypatch):
    """The same released numbers, the same choices and plans, whatever the rows."""
    released = {}

    def add(self, exact, sensitivity, source):
        return released.setdefault((self.epsilon, len(exact)), np.full(len(exact), 900 // len(exact), dtype=np.int64))

    monkeypatch.setattr(DiscreteLaplace, "add", add)
    told = []
    for rows in (np.zeros((900, 2)), np.random.default_rng(0).uniform(-1, 1, (5, 2))):
        curator = make_curator(rows, epsilon=Fraction(1), seed=3)
        outcome = from_boxes(
            curator, k=8, epsilon=Fraction(1), objective="k-means", public_rng=public_rng(0), keep_synopsis=False
        )
        told.append((outcome.notes, outcome.centres.tolist()))
    assert told[0] == told[1]
    assert told[0][0]["synopsis"] == "grid"
