"""Exact tails of discrete Laplace noise and of the sum of two draws, against sums of their probabilities."""

from __future__ import annotations

import math

import pytest

from covey.post.tails import tail, tail_of_two


def law(strength: float, reach: int) -> dict[int, float]:
    p = math.exp(-strength)
    return {x: (1 - p) / (1 + p) * p ** abs(x) for x in range(-reach, reach + 1)}


def twice(one: dict[int, float]) -> dict[int, float]:
    both: dict[int, float] = {}
    for x, chance in one.items():
        for y, other in one.items():
            both[x + y] = both.get(x + y, 0.0) + chance * other
    return both


@pytest.mark.parametrize("share", [0.5, 0.1, 0.05, 0.001])
@pytest.mark.parametrize("strength", [0.15, 0.4, 1.0, 3.0, 20.0])
def test_the_smallest_number_that_noise_exceeds_as_rarely(strength, share):
    one = law(strength, max(3, int(40 / strength)))
    for found, chances in ((tail(strength, share), one), (tail_of_two(strength, share), twice(one))):
        beyond = [sum(each for x, each in chances.items() if abs(x) > t) for t in (found - 1, found)]
        assert beyond[1] <= share
        assert found == 0 or beyond[0] > share


@pytest.mark.parametrize("strength", [1e-12, 1e-6, 800.0])
def test_very_weak_and_very_strong_noise(strength):
    t = tail_of_two(strength, 0.05)
    assert t * strength == pytest.approx(4.113 if strength < 1 else 0.0, abs=0.01)  # (1 + t/2)·e^-t = 0.05
