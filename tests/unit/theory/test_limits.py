"""Bounds of the papers: values by hand, how they scale, which constants are known; and that they hold where tested."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.theory import limits
from covey.theory.limits import Bound

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "limits.md"
FUNCTIONS = (
    *("clustering_floor", "pure_clustering_floor", "coreset_floor", "indistinguishable", "packing_floor", "ball_floor"),
    *("exact_coreset_error", "small_coreset_error", "possible_coreset_error", "max_cover_ceiling"),
    "ball_coreset_ceiling",
)


def test_the_floors_of_clustering():
    given = limits.clustering_floor(k=5, epsilon=0.5, delta=1e-6, diameter=2.0)
    assert given.value == pytest.approx(4 * 5 * math.log(0.5 / 1e-6) / 0.5)
    assert not given.constants_known
    assert "Theorem 5" in given.source
    pure = limits.pure_clustering_floor(k=5, d=10, epsilon=0.5, diameter=2.0)
    assert pure.value == pytest.approx(4 * 5 * 10 / 0.5)
    assert "Theorem 6" in pure.source
    assert limits.clustering_floor(k=5, epsilon=0.1, delta=0.5).value == 0  # δ above ε: nothing is said


@pytest.mark.parametrize("objective", ["k-median", "k-means"])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("failure", [1e-6, 0.05, 0.4])
def test_the_floor_of_coresets_is_the_largest_that_its_proof_gives(objective, alpha, failure):
    bound = limits.coreset_floor(alpha=alpha, failure=failure, objective=objective, diameter=3.0, error=0.25)
    g = limits.indistinguishable(alpha=alpha, failure=failure)
    assert math.exp(-alpha * g) * (1 - failure) > failure
    assert math.exp(-alpha * (g + 1)) * (1 - failure) <= failure * (1 + 1e-9)
    assert bound.value == pytest.approx(0.75 * g * (3 if objective == "k-median" else 9) / 2)
    assert bound.constants_known
    assert f"g = {g}" in bound.statement


def test_for_k_center_a_coreset_says_nothing():
    assert limits.coreset_floor(alpha=1, failure=0.05, objective="k-center", diameter=7).value == 3.5
    assert limits.coreset_floor(alpha=9, failure=0.05, objective="k-center").value == 0


def test_a_failure_of_one_half_or_more_says_nothing():
    for failure in (0.5, 0.9, 1):
        assert limits.indistinguishable(alpha=1.0, failure=failure) == 0


def test_a_private_count_keeps_to_the_floor():
    """A coreset of two places is a pair of noisy counts; their error is above the floor, and not by much."""
    alpha, failure = 0.1, 0.01
    floor = limits.coreset_floor(alpha=alpha, failure=failure, objective="k-median").value
    noise = np.random.default_rng(1).laplace(0, 1 / alpha, 10**5)
    error = np.quantile(np.abs(noise), 1 - failure)
    assert floor < error < 4 * floor


def test_floors_of_section_6():
    packed = limits.packing_floor(points=1000, k=5, alpha=0.5, failure=0.01)
    assert packed.value == pytest.approx((math.log(1000) + math.log(100)) / 0.5)
    ball = limits.ball_floor(d=100, alpha=0.5, failure=0.01, radius=2)
    assert ball.value == pytest.approx(2 * (math.log(100) + 10) / 0.5)
    assert not packed.constants_known
    assert not ball.constants_known
    with pytest.raises(ParameterError, match="points"):
        limits.packing_floor(points=10, k=5, alpha=1, failure=0.1)


def test_what_exact_coreset_promises_is_the_same_number(curator_of):
    from covey.algorithms.registry import find
    from covey.post.random import public_rng
    from covey.public import Neighbours
    from covey.queries.exact import work

    rows = np.random.default_rng(0).uniform(-1, 1, (30, 1))
    curator = curator_of(rows, neighbours=Neighbours.REPLACE_ONE, epsilon=Fraction(2), seed=1)
    outcome = find("exact-coreset").run(curator, k=1, epsilon=Fraction(2), public_rng=public_rng(0), points=2, side=4)
    candidates, _ = work(4, points=2, centres=1)
    left = 2 * 0.98  # after the rows outside the bounds
    wanted = limits.exact_coreset_error(candidates=candidates, alpha=left, failure=0.05, row_cost=4.0)
    assert outcome.notes["beyond_the_best"] == pytest.approx(wanted.value, rel=1e-3)
    assert wanted.constants_known


def test_the_exponential_mechanism_keeps_within_claim_3_1():
    from covey.noise.selection import pick
    from covey.noise.source import SeededSource

    utilities = -np.arange(200, dtype=np.int64) // 3
    bound = limits.exact_coreset_error(candidates=200, alpha=1, failure=0.05, row_cost=1.0).value
    source = SeededSource(3)
    behind = [-int(utilities[pick(utilities, rate=Fraction(1, 2), source=source)]) for _ in range(500)]
    assert np.mean(np.array(behind) > bound) < 0.05


def test_what_is_possible():
    small = limits.small_coreset_error(points=10, n=1000, d=3, alpha=2, failure=0.1, base_error=5)
    assert small.value == pytest.approx(5 + (30 * math.log(1000) + math.log(10)) / 2)
    given = limits.possible_coreset_error(n=1000, d=3, k=4, error=0.5, alpha=2, failure=0.1)
    inner = 3 * math.log(2) + math.log(4) + math.log(math.log(1000))
    assert given.value == pytest.approx(16 * math.log(1000) ** 2 * 3 * inner / (2 * 0.25) + math.log(10) / 2)
    assert not given.constants_known


def test_theorem_15():
    parts = {"epsilon_picks": 0.4, "epsilon_counts": 0.3, "epsilon_means": 0.3, "delta_means": 1e-7}
    given = limits.max_cover_ceiling(n=10**4, d=50, k=8, error=0.2, failure=0.1, diameter=2, **parts)
    assert given.factor.value == pytest.approx(1.2 * (8 + 2.4 / (1 - 0.2 - 0.04)) * 2)
    assert given.factor.constants_known
    log = math.log(10**4)
    by_hand = log * math.log(10**5) / 0.4 + log / 0.3 + math.sqrt(50 * math.log(1e7)) / 0.3 + math.log(1e11) / 0.3
    assert given.additive.value == pytest.approx(32 * by_hand)
    assert not given.additive.constants_known
    twice = limits.max_cover_ceiling(n=10**4, d=50, k=16, error=0.2, failure=0.1, diameter=2, **parts)
    assert twice.additive.value == pytest.approx(2 * given.additive.value)


def test_theorem_3_6():
    given = limits.ball_coreset_ceiling(n=10**6, d=2, k=5, epsilon=1.0, delta=1e-6, failure=0.1, side=1024)
    assert given.factor.value == pytest.approx(5 * math.log(10**6))
    share = 3 / (8 * 5 * math.log(10**6))  # not 3/(3k·ln n), which the theorem prints
    logs = math.log(1 / (0.1 * share)) * math.log(2e6 / (0.1 * share * share * 1e-6 * share))
    by_hand = 5 * math.sqrt(2) / share * logs * math.sqrt(math.log(1 / (0.1 * share * 1e-6 * share)))
    assert given.additive.value == pytest.approx(by_hand * 9**3)  # ln ln ln 2896 is below 1
    assert not given.factor.constants_known
    assert not given.additive.constants_known
    assert given.additive.value > 10**6, "with constant 1 the theorem is silent on a million rows"
    wider = limits.ball_coreset_ceiling(n=10**6, d=2, k=5, epsilon=1.0, delta=1e-6, failure=0.1, side=2 * 10**6)
    assert wider.additive.value == pytest.approx(9 * given.additive.value)


def test_the_shares_of_theorem_3_6_add_up_over_its_rounds():
    """While 3/8k of what is left go, n rows are gone after at most (8k/3)·ln n rounds; the printed share costs more."""
    for n, k in ((10**3, 1), (10**6, 5), (10**7, 10)):
        rounds, left = 0, n
        while left >= 1:
            left, rounds = left * (1 - 3 / (8 * k)), rounds + 1
        assert rounds - 1 <= 8 * k * math.log(n) / 3
        assert rounds > 3 * k * math.log(n) / 3  # so that 3ε/(3k·ln n) each would exceed ε


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: limits.clustering_floor(k=0, epsilon=1, delta=0.1), "k"),
        (lambda: limits.clustering_floor(k=1, epsilon=1.5, delta=0.1), "epsilon"),
        (lambda: limits.clustering_floor(k=1, epsilon=1, delta=0), "delta"),
        (lambda: limits.clustering_floor(k=1, epsilon=math.nan, delta=0.1), "epsilon"),
        (lambda: limits.pure_clustering_floor(k=1, d=2.5, epsilon=1), "d"),
        (lambda: limits.coreset_floor(alpha=-1, failure=0.1), "alpha"),
        (lambda: limits.coreset_floor(alpha=1, failure=0.1, objective="k-centre"), "objective"),
        (lambda: limits.coreset_floor(alpha=1, failure=0.1, error=2), "error"),
        (lambda: limits.ball_coreset_ceiling(n=2, d=1, k=1, epsilon=1, delta=0.1), "n"),
        (lambda: limits.ball_coreset_ceiling(n=9, d=1, k=1, epsilon=1, delta=0), "delta"),
        (lambda: limits.ball_coreset_ceiling(n=9, d=1, k=1, epsilon=1, delta=0.1, side=0), "side"),
        (lambda: limits.possible_coreset_error(n=2, d=1, k=1, error=0.1, alpha=1, failure=0.1), "n"),
        (
            lambda: limits.max_cover_ceiling(
                n=9, d=1, k=1, epsilon_picks=1, epsilon_counts=1, epsilon_means=1, delta_means=0.1, error=0.7
            ),
            "error",
        ),
        (
            lambda: limits.max_cover_ceiling(
                n=9,
                d=1,
                k=1,
                epsilon_picks=1,
                epsilon_counts=1,
                epsilon_means=1,
                delta_means=0.1,
                clustering_factor=0.5,
            ),
            "clustering_factor",
        ),
    ],
)
def test_wrong_numbers_are_named(call, name):
    with pytest.raises(ParameterError) as refusal:
        call()
    assert refusal.value.parameter == name


def test_every_bound_is_on_the_page_and_documented():
    page = PAGE.read_text()
    here = [name for name in vars(limits) if callable(getattr(limits, name)) and not name.startswith("_")]
    functions = {name for name in here if getattr(getattr(limits, name), "__module__", "") == limits.__name__}
    assert functions - {"Bound", "CostCeiling"} == set(FUNCTIONS)
    for name in FUNCTIONS:
        assert f"`{name}" in page, name
        assert getattr(limits, name).__doc__


def test_a_bound_says_what_it_is():
    bound = limits.ball_floor(d=2, alpha=1, failure=0.1)
    assert isinstance(bound, Bound)
    with pytest.raises(AttributeError):
        bound.value = 1.0
    assert bound.statement
    assert bound.source
