"""The picks as they are drawn, against the enumerated exponential mechanism; the test rejects the authors' shortcut."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from covey.noise.cover import CoverPicks
from covey.noise.source import SeededSource
from covey.private.covers import Coverage
from covey.public import Domain
from covey.queries.cover import Cover

DRAWS = 6000  # a rate that is 30% off is missed once in 10^9 times
RATE = Fraction(2, 5)
CELLS = np.array([[0, 0, 1, 1, 1, -2, -2, 2], [0, 0, 0, 1, 1, 2, 2, -2]])


class Fixed(CoverPicks):
    """Everything listed, everything proposed, or some of both."""

    held = 0

    def ceiling(self, *, most: int, **_: int) -> int:
        return min(self.held, most)


def setting():
    domain = Domain(middle=(0.0,) * 2, half=(1.0,) * 2)
    query = Cover(domain, (domain.limit // 3,), 1, 1)
    points = list(itertools.product(range(-3, 4), repeat=2))
    counts = np.array([(np.square(CELLS - np.array(p)[:, None]).sum(axis=0) <= 1).sum() for p in points])
    return query, points, counts


def p_value(seen: np.ndarray, wanted: np.ndarray) -> float:
    expected = wanted / wanted.sum() * seen.sum()
    return float(chi2.sf(float((np.square(seen - expected) / expected).sum()), len(seen) - 1))


@pytest.mark.parametrize("held", [0, 2, 100])
def test_picks_follow_the_law(held):
    query, points, counts = setting()
    assert (counts == 0).any()
    assert counts.max() >= 4
    Fixed.held = held
    state = Coverage(CELLS, query, 0, Fixed(2 * RATE, Fraction(1, 10**6)))
    place = {point: i for i, point in enumerate(points)}
    seen = np.zeros(len(points))
    source = SeededSource(6)
    for _ in range(DRAWS):
        seen[place[tuple(state.pick(source).tolist())]] += 1
    assert p_value(seen, np.exp(float(RATE) * counts)) > 1e-7
    assert p_value(seen, np.exp(float(RATE) * 1.3 * counts)) < 1e-7  # and the test can tell a rate that is 30% off


def test_the_shortcut_of_the_authors_is_rejected():
    _, _, counts = setting()
    extra = np.expm1(float(RATE) * counts)
    bare = counts == 0
    shortcut = np.where(bare, len(counts) / bare.sum(), extra)
    seen = np.random.default_rng(1).multinomial(DRAWS, shortcut / shortcut.sum())
    assert p_value(seen, np.exp(float(RATE) * counts)) < 1e-7
    assert math.isclose(shortcut.sum(), np.exp(float(RATE) * counts).sum())
