"""What STOC'09 promises of its efficient coresets: values by hand, and that its noise is as large as is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from covey import limits
from covey.errors import ParameterError


def test_the_centres_of_all_nets():
    given = limits.bicriteria_ceiling(n=1024, d=2, k=3, alpha=0.5, failure=0.1)
    boxes, rounds = (16 * 3 * 2) ** 2, 10
    away = 2 * math.log(2 * boxes * rounds / 0.1) * boxes**2 / (0.5 / rounds)
    assert given.factor.value == pytest.approx(4 * math.sqrt(2))
    assert given.additive.value == pytest.approx(math.sqrt(2) * rounds * away)
    assert not given.factor.constants_known
    assert not given.additive.constants_known
    assert "Theorem 5.2" in given.additive.source


def test_the_noise_of_a_net_stays_below_its_bound_as_often_as_is_said_and_not_below_the_printed_one():
    """The largest coordinate over all boxes of one net, as section 5.1 has it: γ/n with the factor d, or without."""
    n, d, boxes, alpha, failure = 10**6, 4, 16, 1.0, 0.2
    scale = d * boxes / (n * alpha / boxes)
    largest = np.abs(np.random.default_rng(0).laplace(0, scale, (4000, boxes, d))).max(axis=(1, 2))
    printed = math.log(d * boxes / failure) * boxes**2 / (n * alpha)
    assert (largest > d * printed).mean() <= failure
    assert (largest > printed).mean() > 0.99


def test_the_error_of_the_coreset_is_that_of_its_parts():
    asked = {"n": 1024, "d": 2, "k": 3, "alpha": 0.5, "failure": 0.1}
    boxes, rounds = 9216, 10
    each = (math.log(boxes * rounds / 0.1) + 2 * math.log(4)) / (0.5 * 0.25**4)
    nets = limits.bicriteria_ceiling(**asked).additive.value
    given = limits.net_coreset_error(**asked, error=0.25)
    assert given.value == pytest.approx(0.25 * nets + boxes * rounds * each)
    assert not given.constants_known
    assert limits.net_coreset_error(**asked, error=0.125).value != given.value


@pytest.mark.parametrize(
    ("name", "value"), [("n", 2), ("d", 0), ("k", 1.5), ("alpha", 0), ("failure", 2), ("error", 0)]
)
def test_what_makes_no_sense_is_refused_by_name(name, value):
    asked = {"n": 1024, "d": 2, "k": 3, "alpha": 0.5, "failure": 0.1, "error": 0.5, name: value}
    with pytest.raises(ParameterError, match=f"{name}: "):
        limits.net_coreset_error(**asked)
