"""The noise of max-cover where its proof notes end: ranges, refusals, and the margin of floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise import cover as cover_module
from covey.noise.noisy_average import NoisyAverages, gaussian_delta
from covey.noise.source import SeededSource
from covey.public import Domain, Neighbours
from covey.queries.intervals import CentreCounts
from covey.queries.residuals import ResidualSums

DELTA = Fraction(1, 10**6)
PLANE = Domain(middle=(0.0, 0.0), half=(1.0, 1.0))


def sums(k: int = 1) -> ResidualSums:
    return ResidualSums(PLANE, np.zeros((k, 2)), 1.5 * PLANE.limit, with_counts=True)


@pytest.mark.parametrize("epsilon", [Fraction(180), Fraction(1000), Fraction(10**4)])
def test_the_noise_of_averages_never_leaves_the_range_that_discrete_noise_is_proven_for(epsilon):
    """gaussian.md ends at an epsilon of 100; a final round at epsilon 500 went to 144."""
    multiplier = float(NoisyAverages(epsilon, DELTA, 1).multiplier)
    assert gaussian_delta(multiplier, 100.0) <= float(DELTA) / 2.8
    assert multiplier == float(NoisyAverages(Fraction(125), DELTA, 1).multiplier)


def test_a_delta_that_discrete_noise_exceeds_is_refused():
    NoisyAverages(Fraction(1), Fraction(1, 2**140), 1)
    with pytest.raises(ParameterError, match="delta"):
        NoisyAverages(Fraction(1), Fraction(1, 2**151), 1)


def test_a_small_noisy_size_is_an_answer_and_not_an_error(monkeypatch):
    """At a small epsilon the sampler refused the noise of m̂ = 1: an error that came and went with the rows."""
    mechanism, query = NoisyAverages(Fraction(1, 100), DELTA, 3), sums(3)
    noise = mechanism.offset + np.array([1, 2, 4])
    monkeypatch.setattr("covey.noise.noisy_average.discrete_laplace", lambda *_, **__: noise)
    exact = np.zeros(query.size, dtype=np.int64)
    out = mechanism.add(exact, query.sensitivity(Neighbours.ADD_REMOVE), SeededSource(0)).reshape(3, -1)
    assert out[:, -1].tolist() == [1, 2, 4]
    assert (out[:, :-1] == 0).all(axis=1).tolist() == [True, True, False]


def test_averages_of_another_statistic_or_relation_are_refused():
    """Under replace-one m was read as m/2 and two clusters moved; the event charged was the same."""
    for k in (1, 2):
        query, mechanism = sums(k), NoisyAverages(Fraction(1), DELTA, k)
        exact = np.zeros(query.size, dtype=np.int64)
        mechanism.add(exact, query.sensitivity(Neighbours.ADD_REMOVE), SeededSource(0))
        with pytest.raises(ParameterError, match="add-remove"):
            mechanism.add(exact, query.sensitivity(Neighbours.REPLACE_ONE), SeededSource(0))
    bare = ResidualSums(PLANE, np.zeros((1, 2)), PLANE.limit)  # without counts: the last sum would be the size
    counts = CentreCounts(np.zeros((3, 2)), PLANE)
    for query in (bare, counts):
        with pytest.raises(ParameterError, match="add-remove"):
            NoisyAverages(Fraction(1), DELTA, 1).add(
                np.zeros(query.size, dtype=np.int64), query.sensitivity(Neighbours.ADD_REMOVE), SeededSource(0)
            )


def test_the_margin_of_floats_grows_with_the_number_of_terms():
    """cover.md bounds the rounding of 2^20 terms; different counts of many rows may be more."""
    many = 2**22
    levels, one = np.arange(1, many + 1), np.ones(many, dtype=np.int64)

    def edge(levels, one, word):
        return cover_module._by_floats(2**60, Fraction(0), levels, one, rate=Fraction(1, 10**12), word=word)

    weights = np.expm1(1e-12 * levels).sum()
    share = 2.0**60 / (2.0**60 + weights)  # where the first part ends
    assert edge(levels, one, int((share - 2.0**-29) * 2**64)) is None  # nearer than 4 margins of 2^20 terms
    assert edge(levels[:1], one[:1], int((1 - 2.0**-29) * 2**64)) == 0
