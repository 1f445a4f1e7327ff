"""The bound on what lying can gain, against mechanisms for which everything can be computed."""

import math

import numpy as np
import pytest

from covey import ParameterError, truthful_bound


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("group", [1, 2, 10])
def test_the_factor_is_e_to_the_group_times_epsilon(epsilon, group):
    bound = truthful_bound(epsilon, group)
    assert bound.factor == pytest.approx(math.exp(group * epsilon))
    assert bound.gain == pytest.approx(bound.factor - 1)
    assert bound.share == pytest.approx((bound.factor - 1) / (bound.factor + 1))
    assert bound.slack == 0
    assert bound.factor >= math.exp(group * epsilon)


def test_a_lie_is_two_steps_where_rows_are_added_and_removed():
    assert truthful_bound(0.5, neighbours="add-remove") == truthful_bound(1.0)


def test_randomised_response_reaches_the_share_and_not_more():
    """The truth is told with probability p = e^ε/(1+e^ε): a liar who likes one answer gains exactly tanh(ε/2)."""
    for epsilon in (0.1, 1.0, 2.5):
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        gain = p - (1 - p)
        bound = truthful_bound(epsilon)
        assert gain <= bound.share
        assert gain == pytest.approx(bound.share)
        assert p <= bound.factor * (1 - p) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_no_benefit_from_noisy_counts_beats_the_bound(seed):
    """Sites picked by a noisy majority of cells: any function of noisy counts, and any benefit of the outcome."""
    rng = np.random.default_rng(seed)
    epsilon, cells = 0.7, 3
    values = np.arange(-40, 60)

    def chance(count):  # of each noisy value: discrete Laplace for replace-one, one count of a pair
        weight = np.exp(-epsilon / 2 * np.abs(values - count))
        return weight / weight.sum()

    truth, lie = rng.integers(0, 10, cells), None
    lie = truth.copy()
    lie[0] += 1
    lie[1] -= 1
    benefit = rng.uniform(0, 1, (len(values),) * 2)
    honest = np.einsum("i,j,ij->", chance(truth[0]), chance(truth[1]), benefit)
    lying = np.einsum("i,j,ij->", chance(lie[0]), chance(lie[1]), benefit)
    bound = truthful_bound(epsilon)
    assert lying <= bound.factor * honest * 1.001
    assert lying - honest <= bound.share


def test_delta_adds_a_slack_that_grows_with_the_group():
    one, two = (truthful_bound(1.0, group, delta=1e-6) for group in (1, 2))
    assert one.slack == pytest.approx(1e-6)
    assert two.slack == pytest.approx(1e-6 * (1 + math.e))
    assert truthful_bound(1e3, 5, delta=1e-6).slack == 1
    assert truthful_bound(1e3).factor == math.inf
    assert truthful_bound(1e3).share == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": 1, "group": 0}, "group"),
        ({"epsilon": 1, "group": 1.5}, "group"),
        ({"epsilon": 1, "group": True}, "group"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "neighbours": "swap"}, "neighbours"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ParameterError, match=named):
        truthful_bound(**arguments)
