"""Ordinary tests that were written for planted bugs (mutants/)."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from covey.events import Sensitivity
from covey.noise.averages import CANDIDATES, ClampedAverages
from covey.noise.cover import ANYWHERE, CoverPicks
from covey.noise.noisy_average import NoisyAverages
from covey.noise.source import OsSource, SeededSource

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (0.9, False), (1.1, False)])
def test_a_covered_row_counts_for_half_of_epsilon(off, accepted):
    """100 grid points, one of which covers 20 rows: its extra weight is e^(20·epsilon/2) - 1."""
    picks, source, draws = CoverPicks(Fraction(2, 5), DELTA), SeededSource(3), 4000
    levels, many = np.array([20]), np.array([1])
    chosen = [
        picks.choose(points=100, proposals=0, ceiling=0, levels=levels, many=many, source=source) for _ in range(draws)
    ]
    extra = np.expm1(20 * 0.2 * off)
    found = binomtest(draws - chosen.count(ANYWHERE), draws, extra / (100 + extra)).pvalue
    assert (found > 1e-4) == accepted


def test_the_range_of_block_averages_is_noisy():
    """With hardly any budget, the range of equal answers is anything; the answers themselves must not show."""
    table = np.full((40, 1), 123, dtype=np.int64)
    limit, noise = 10**6, ClampedAverages(Fraction(1, 1000))
    ends = np.array([noise.ranges(table, limit, SeededSource(seed)) for seed in range(60)]).reshape(60, 2)
    step = 2 * limit / (CANDIDATES - 1)
    assert len({tuple(each) for each in ends.tolist()}) > 30
    assert (np.abs(ends - 123) < 2 * step).all(axis=1).sum() < 5


def test_the_noise_of_an_average_follows_from_the_noisy_number_of_rows():
    """Clusters of very different sizes, forced to one noisy size: their averages have the same noise."""
    noise = NoisyAverages(Fraction(1), Fraction(1, 1000), 1)
    sensitivity = Sensitivity(l1=2**21, l2_squared=2 * 2**40, linf=2**20, coordinates=2)
    asked = []

    class Told(NoisyAverages):
        def variance(self, known, *, size, longest):
            asked.append(known)
            return super().variance(known, size=size, longest=longest)

    told = Told(noise.epsilon, noise.delta, 1)
    for seed in range(20):
        exact = np.array([0, (200 + seed) * 2**20])
        held = told.add(exact, sensitivity, SeededSource(seed))[-1]
        assert asked == ([held] if held > 0 else [])
        asked.clear()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_repeat_its_parents_noise():
    """The same as in test_source.py, in this very process, so that a planted bug is in the child as well."""
    source = OsSource()
    source.words(10, np.uint64)  # whatever a buffer would have kept, the child would now share
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, source.words(8, np.uint64).tobytes())
        finally:
            os._exit(0)  # whatever happens, no second run of the tests goes on from here
    os.close(writing)
    os.waitpid(child, 0)
    words = os.read(reading, 64)
    os.close(reading)
    assert len(words) == 64
    assert words != source.words(8, np.uint64).tobytes()
