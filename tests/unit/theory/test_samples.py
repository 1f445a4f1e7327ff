"""How many rows of a sample are enough: the number by hand, and that it is enough, by brute force and by draws."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from covey import limits
from covey.errors import ParameterError
from covey.fit.sample import auto_size

USUAL = {"alpha": 1.0, "k": 3, "d": 2, "n": 10**6, "target": 0.1, "failure": 0.1}
PLACES = np.linspace(0, 1, 21)  # of centres on a line


def costs(rows: np.ndarray, power: int, k: int) -> np.ndarray:
    """The average cost of every set of k places."""
    each = np.abs(rows[:, None] - PLACES) ** power
    if k == 1:
        return each.mean(axis=0)
    return np.array([np.minimum(each[:, i], each[:, j]).mean() for i, j in combinations(range(len(PLACES)), 2)])


def excess(rows: np.ndarray, chosen: np.ndarray, *, power: int, k: int = 1) -> float:
    """How much worse than the best is what is best on the sample: alpha = 1, γ = 0."""
    found = costs(rows, power, k)
    return float(found[costs(rows[chosen], power, k).argmin()] - found.min())


def test_the_number_by_hand():
    """A net of m cells: s·(1 + L/n) = L·(1 + 1/n), L = (√(kd·ln m + ln 2/β) + α·√(ln 2/β))²/(2(t - 2/m)²)."""

    def rows(cells: int) -> float:
        one = math.log(2 / 0.1)
        endless = (math.sqrt(6 * math.log(cells) + one) + math.sqrt(one)) ** 2 / (2 * (0.1 - 2 / cells) ** 2)
        return endless * (10**6 + 1) / (10**6 + endless)

    best = min(math.ceil(rows(cells)) for cells in range(21, 2000))
    found = limits.sample_size(**USUAL)
    assert best <= found.value <= 1.01 * best
    assert found.constants_known
    assert found.value == int(found.value)


def test_what_it_grows_with():
    def rows(**other):
        return limits.sample_size(**USUAL | other).value

    assert rows() < rows(k=4) < rows(k=6) == rows(d=4)
    assert rows() < rows(alpha=2.0)
    assert rows() < rows(failure=0.01) < 2 * rows()
    assert 3.5 < rows(n=10**12, target=0.05) / rows(n=10**12) < 6
    assert rows(objective="k-median") < rows()
    assert rows(n=10**12) < 1.1 * rows(), "endless rows need hardly more"
    assert rows(n=50) == 50


@pytest.mark.parametrize(("power", "objective"), [(1, "k-median"), (2, "k-means")])
@pytest.mark.parametrize("far", [1, 3, 6])
def test_all_samples_of_a_few_rows(power, objective, far):
    """Every sample of so many of 12 rows: the share of those that mislead is at most the failure."""
    asked = {"k": 1, "d": 1, "n": 12, "target": 0.95, "failure": 0.5, "objective": objective}
    size = int(limits.sample_size(alpha=1.0, **asked).value)
    assert size < 12
    rows = np.repeat([0.0, 1.0], [12 - far, far])
    worse = [excess(rows, np.array(some), power=power) > 0.95 for some in combinations(range(12), size)]
    assert np.mean(worse) <= 0.5


@pytest.mark.parametrize(("power", "objective"), [(1, "k-median"), (2, "k-means")])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("far", [0.5, 0.1])
def test_samples_of_that_size_do_not_mislead_and_far_smaller_ones_do(power, objective, k, far):
    """Rows at both ends (and in the middle, for two centres); 100 draws of each size, seeded."""
    rng, n = np.random.default_rng(4), 4000
    rows = rng.choice([0.0, 1.0] if k == 1 else [0.0, 0.5, 1.0], n, p=[1 - far, far] if k == 1 else [0.4, 0.3, 0.3])
    asked = {"k": k, "d": 1, "n": n, "target": 0.12, "failure": 0.05, "objective": objective}
    size = int(limits.sample_size(alpha=1.0, **asked).value)
    assert size < n / 2
    found = {
        s: [excess(rows, rng.choice(n, s, replace=False), power=power, k=k) for _ in range(100)] for s in (size, 3)
    }
    assert max(found[size]) <= 0.12
    if k == 2 or (power, far) == (2, 0.5):
        assert max(found[3]) > 0.12


def test_what_auto_takes_is_bolder_than_what_can_be_proven():
    """At its usual target and below, in any number of rows: the theorem, for the easiest factor, asks for more."""
    for k, d, n, target in ((5, 2, 10**6, 0.05), (5, 2, 10**12, 0.05), (100, 50, 10**9, 0.05), (1, 1, 10**12, 0.001)):
        proven = limits.sample_size(alpha=1.0, k=k, d=d, n=n, target=target, failure=0.5).value
        assert auto_size(k=k, d=d, n=n, epsilon=50.0, target=target) < proven


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 0.5), ("k", 0), ("d", 1.5), ("n", 0), ("target", 0), ("target", 2), ("failure", 1), ("objective", "k")],
)
def test_wrong_numbers_are_refused_by_name(name, value):
    with pytest.raises(ParameterError) as refusal:
        limits.sample_size(**USUAL | {name: value})
    assert refusal.value.parameter == name
