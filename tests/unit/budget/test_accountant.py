"""The accountant: exact where it can be, above the truth everywhere, and not far above it."""

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from scipy.special import log_ndtr

from covey.budget import Cost, compose
from covey.budget.accounting.accountant import _distribution_epsilon, _tally, calibrate_pure
from covey.budget.accounting.gaussian import delta_bound, epsilon_bound, mu_bound, root_up
from covey.errors import ParameterError
from covey.events import Approximate, Event, Gaussian, Pure

DELTA = Fraction(1, 10**6)


def exact_delta(events: list[Event], epsilon: float) -> float:
    """The optimal delta by brute force over all signs of the losses: an oracle without grids."""
    mu = math.sqrt(sum(float(e.multiplier) ** -2 for e in events if isinstance(e, Gaussian)))
    finite = [e for e in events if not isinstance(e, Gaussian)]
    kept = math.prod(1 - float(e.delta) for e in finite if isinstance(e, Approximate))
    losses = signed_losses(tuple(float(e.epsilon) for e in finite))
    total = sum(weight * _gaussian_delta(mu, epsilon - loss) for loss, weight in losses)
    return 1 - kept + kept * total


@functools.cache
def signed_losses(epsilons: tuple[float, ...]) -> list[tuple[float, float]]:
    """Every way to put signs on the losses: their sum, and how likely it is."""
    return [
        (
            sum(sign * each for sign, each in zip(signs, epsilons, strict=True)),
            math.prod(1 / (1 + math.exp(-sign * each)) for sign, each in zip(signs, epsilons, strict=True)),
        )
        for signs in itertools.product((1, -1), repeat=len(epsilons))
    ]


def _gaussian_delta(mu: float, epsilon: float) -> float:
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def exact_epsilon(events: list[Event], delta: float) -> float:
    low, high = 0.0, 200.0
    for _ in range(70):  # as many halvings as a float can tell apart
        middle = (low + high) / 2
        low, high = (low, middle) if exact_delta(events, middle) <= delta else (middle, high)
    return high


def test_pure_events_add_up_exactly_and_need_no_delta():
    assert compose([Pure(Fraction(1, 10))] * 10, delta=Fraction(0)) == Cost(Fraction(1), Fraction(0))
    assert compose([Pure(Fraction(1))] * 3, delta=DELTA) == Cost(Fraction(3), Fraction(0))  # no use for a delta
    assert compose([Pure(Fraction(1))], delta=DELTA) == Cost(Fraction(1), Fraction(0))
    assert compose([Pure(Fraction(1, 3)), Pure(Fraction(1, 7))], delta=Fraction(0)) == Cost(Fraction(10, 21))
    assert compose([Approximate(Fraction(1, 3), Fraction(0))], delta=Fraction(0)) == Cost(Fraction(1, 3))


def test_many_small_pure_events_may_use_a_delta():
    events = [Pure(Fraction(1, 100))] * 12
    cost = compose(events, delta=Fraction(1, 100))
    optimum = exact_epsilon(events, 0.01)
    assert optimum <= cost.epsilon <= Fraction(optimum) * Fraction(101, 100)
    assert cost.epsilon < Fraction(12, 100)
    assert cost.delta == Fraction(1, 100)


@pytest.mark.parametrize("delta", [Fraction(0), DELTA, Fraction(1, 100)])
@pytest.mark.parametrize("weights", [(Fraction(1),), (Fraction(1), Fraction(2)) * 60, (Fraction(1),) * 300])
def test_calibrated_pure_events_fill_the_budget_and_never_exceed_it(weights, delta):
    epsilon = Fraction(1, 2)
    amounts = calibrate_pure(weights=weights, epsilon=epsilon, delta=delta)
    assert all(a * weights[0] == amounts[0] * w for a, w in zip(amounts, weights, strict=True))
    assert compose(list(map(Pure, amounts)), delta=delta).within(Cost(epsilon, delta))
    assert sum(amounts) >= epsilon
    assert delta or sum(amounts) == epsilon
    larger = [Pure(a * Fraction(105, 100)) for a in amounts]
    assert not compose(larger, delta=delta).within(Cost(epsilon, delta))
    if len(weights) == 300 and delta:
        assert sum(amounts) > 3 * epsilon


def test_calibration_of_pure_events_refuses_what_makes_no_sense():
    for weights, epsilon, delta in [((), 1, 0), ((Fraction(0),), 1, 0), ((1,), 0, 0), ((1,), 1, 1)]:
        with pytest.raises(ParameterError):
            calibrate_pure(weights=weights, epsilon=Fraction(epsilon), delta=Fraction(delta))


def test_nothing_costs_nothing():
    assert compose([], delta=DELTA) == Cost(Fraction(0), Fraction(0))


def test_an_approximate_event_costs_what_it_says():
    assert compose([Approximate(Fraction(1, 2), Fraction(1, 10**8))], delta=DELTA) == Cost(
        Fraction(1, 2), Fraction(1, 10**8)
    )


@pytest.mark.parametrize("sigma", ["0.4", "1", "3.7", "40", "5000"])
@pytest.mark.parametrize("delta", ["1e-4", "1e-9", "1e-15"])
def test_gaussian_events_cost_at_least_the_exact_closed_form_and_hardly_more(sigma, delta):
    events: list[Event] = [Gaussian(Fraction(sigma))] * 4
    exact = exact_epsilon(events, float(delta))
    cost = compose(events, delta=Fraction(delta))
    assert cost.delta == Fraction(delta)
    assert exact <= cost.epsilon <= exact * 1.001 + 1e-5


MIXTURES: list[list[Event]] = [
    [Pure(Fraction(1, 10)), Gaussian(Fraction(5))],
    [Pure(Fraction(1, 10))] * 3 + [Pure(Fraction(1, 7)), Gaussian(Fraction(2)), Gaussian(Fraction(9))],
    [Approximate(Fraction(1, 4), Fraction(1, 10**7)), Gaussian(Fraction(4)), Pure(Fraction(1))],
    [Approximate(Fraction(1, 20), Fraction(1, 10**8))] * 7,
    [Pure(Fraction(1, 10**4)), Gaussian(Fraction(3000))],
    [Pure(Fraction(3)), Gaussian(Fraction(1, 2))],
]


@pytest.mark.parametrize("events", MIXTURES)
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 10**9)])
def test_mixtures_cost_at_least_the_optimum_and_at_most_one_percent_more(events, delta):
    if sum(e.delta for e in events if isinstance(e, Approximate)) > delta:
        with pytest.raises(ParameterError, match="delta"):
            compose(events, delta=delta)
        return
    exact = exact_epsilon(events, float(delta))
    cost = compose(events, delta=delta)
    assert exact <= cost.epsilon <= exact * 1.01 + 3e-6


@pytest.mark.parametrize("events", MIXTURES)
def test_the_privacy_loss_distribution_alone_is_an_upper_bound_too(events):
    exact = exact_epsilon(events, float(DELTA))
    assert exact <= _distribution_epsilon(_tally(events), DELTA) <= exact * 1.01


def test_the_result_agrees_with_the_library_s_own_accountant():
    from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    theirs = PLDAccountant().compose(SelfComposedDpEvent(GaussianDpEvent(4.0), 7)).get_epsilon(float(DELTA))
    ours = compose([Gaussian(Fraction(4))] * 7, delta=DELTA).epsilon
    assert float(ours) == pytest.approx(theirs, rel=1e-3)


def test_many_pure_events_beside_one_gaussian_profit_from_advanced_composition():
    events: list[Event] = [Pure(Fraction(1, 10))] * 100
    cost = compose([*events, Gaussian(Fraction(1000))], delta=DELTA)
    assert 4.7 < cost.epsilon < 4.85  # the optimum for the pure events is 4.77, their sum 10
    dwork_rothblum_vadhan = math.sqrt(2 * 100 * math.log(1e6)) * 0.1 + 100 * 0.1 * math.expm1(0.1)
    assert cost.epsilon < dwork_rothblum_vadhan


@pytest.mark.parametrize("events", MIXTURES)
def test_a_mixture_is_never_dearer_than_plain_addition(events):
    finite = [e for e in events if not isinstance(e, Gaussian)]
    mu = math.sqrt(sum(float(e.multiplier) ** -2 for e in events if isinstance(e, Gaussian)))
    spent = sum((e.delta for e in finite if isinstance(e, Approximate)), Fraction(0))
    alone = epsilon_bound(mu=mu, delta=float(DELTA - spent)) if mu else 0.0
    assert compose(events, delta=DELTA).epsilon <= float(sum(e.epsilon for e in finite)) + alone + 3e-6


def test_plain_addition_takes_over_where_delta_is_below_the_rounding_of_the_distributions():
    tiny = Fraction(1, 10**15)
    cost = compose([Pure(Fraction(1, 10)), Gaussian(Fraction(5))], delta=tiny)
    exact = exact_epsilon([Gaussian(Fraction(5))], 1e-15)
    assert exact + 0.1 <= cost.epsilon <= exact * 1.001 + 0.1


@pytest.mark.parametrize(
    "more", [Pure(Fraction(1, 50)), Gaussian(Fraction(30)), Approximate(Fraction(1, 9), DELTA / 9)]
)
@pytest.mark.parametrize("events", MIXTURES[:3])
def test_another_event_never_makes_a_plan_cheaper(events, more):
    assert compose([*events, more], delta=DELTA).epsilon > compose(events, delta=DELTA).epsilon


@pytest.mark.parametrize("events", MIXTURES[:3])
def test_more_delta_costs_less_epsilon_and_order_does_not_matter(events):
    less, more = compose(events, delta=DELTA), compose(events, delta=10 * DELTA)
    assert more.epsilon < less.epsilon
    assert compose(events[::-1], delta=DELTA) == less


def test_every_gaussian_event_pays_for_being_discrete():
    one = compose([Gaussian(Fraction(5))], delta=DELTA).epsilon
    four = compose([Gaussian(Fraction(10))] * 4, delta=DELTA).epsilon  # the same noise in total
    assert Fraction(286, 10**8) <= four - one < Fraction(290, 10**8)


def test_the_constants_for_discrete_noise_are_those_that_the_noise_folder_proves():
    from covey.budget.accounting import accountant
    from covey.noise import mechanisms

    for name in ("GAUSSIAN_EPSILON", "GAUSSIAN_DELTA_FACTOR", "GAUSSIAN_DELTA", "GAUSSIAN_LARGEST_EPSILON"):
        assert getattr(accountant, name) == getattr(mechanisms, name)


def test_an_event_means_the_same_under_both_relations():
    """Replacing a row moves a sum twice as far as removing one; twice the noise is the same event and cost."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution as pld

    removed = pld.from_gaussian_mechanism(3.0, neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE)
    replaced = pld.from_gaussian_mechanism(6.0, neighboring_relation=NeighboringRelation.REPLACE_ONE)
    cost = float(compose([Gaussian(Fraction(3))], delta=DELTA).epsilon)
    for distribution in (removed, replaced):
        assert cost == pytest.approx(distribution.get_epsilon_for_delta(float(DELTA)), rel=1e-3)


@dataclass(frozen=True)
class Free(Pure):
    """A kind of event nobody told the accountant about."""


@pytest.mark.parametrize("event", [Free(Fraction(0)), "pure", None, 0.1, object()])
def test_unknown_events_are_refused_and_never_free(event):
    with pytest.raises(ParameterError, match="not a kind of event"):
        compose([Pure(Fraction(1)), event], delta=DELTA)


@pytest.mark.parametrize(
    "event",
    [
        Pure(Fraction(-1)),
        Pure(0.1),  # type: ignore[arg-type]
        Pure(float("nan")),  # type: ignore[arg-type]
        Approximate(Fraction(1), Fraction(-1)),
        Gaussian(Fraction(0)),
        Gaussian(Fraction(-3)),
        Gaussian(float("inf")),  # type: ignore[arg-type]
    ],
)
def test_amounts_that_are_no_exact_positive_fractions_are_refused(event):
    with pytest.raises(ParameterError, match="events"):
        compose([event], delta=DELTA)


@pytest.mark.parametrize("delta", [Fraction(-1), Fraction(1), Fraction(2)])
def test_a_delta_outside_zero_to_one_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        compose([Pure(Fraction(1))], delta=delta)


@pytest.mark.parametrize(
    ("events", "delta"),
    [
        ([Gaussian(Fraction(5))], Fraction(0)),
        ([Gaussian(Fraction(5))], Fraction(1, 2**150)),
        ([Approximate(Fraction(1), DELTA)] * 2, DELTA),
        ([Approximate(Fraction(1), DELTA), Gaussian(Fraction(5))], DELTA),
    ],
)
def test_a_plan_that_needs_more_delta_than_it_has_is_refused(events, delta):
    with pytest.raises(ParameterError, match="delta"):
        compose(events, delta=delta)


def test_a_plan_beyond_the_proof_for_discrete_noise_is_refused():
    with pytest.raises(ParameterError, match="at most epsilon 100"):
        compose([Gaussian(Fraction(1, 20))], delta=DELTA)
    assert compose([Pure(Fraction(1000))], delta=DELTA).epsilon == 1000


def test_costs_add_and_compare_in_both_amounts():
    total = Cost(Fraction(1), Fraction(1, 10)) + Cost(Fraction(2), Fraction(1, 5))
    assert total == Cost(Fraction(3), Fraction(3, 10))
    assert Cost(Fraction(1), Fraction(1)).within(Cost(Fraction(1), Fraction(1)))
    assert not Cost(Fraction(2), Fraction(0)).within(Cost(Fraction(1), Fraction(1)))
    assert not Cost(Fraction(0), Fraction(1)).within(Cost(Fraction(1), Fraction(0)))


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.1, 1.0, 7.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-18])
def test_the_closed_form_is_above_the_truth_at_sixty_digits(mu, delta):
    mpmath = pytest.importorskip("mpmath")
    epsilon = epsilon_bound(mu=mu, delta=delta)
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        first = mpmath.erfc((e / m - m / 2) / mpmath.sqrt(2)) / 2
        truth = first - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / mpmath.sqrt(2)) / 2
        assert truth <= delta_bound(mu=mu, epsilon=epsilon) <= truth * (1 + 1e-4) + 1e-280
        assert truth <= delta
        assert epsilon == 0 or truth >= delta * (1 - 1e-4)
    assert mu_bound(epsilon=epsilon, delta=delta) >= mu * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [700.0, 1e5])
def test_the_closed_form_survives_huge_epsilons(epsilon):
    mu = mu_bound(epsilon=epsilon, delta=1e-6)
    assert epsilon_bound(mu=mu, delta=1e-6) == pytest.approx(epsilon, rel=1e-6)


def test_roots_are_rounded_up():
    for n in range(2, 300):
        assert Fraction(root_up(Fraction(n, 7))) ** 2 >= Fraction(n, 7)
