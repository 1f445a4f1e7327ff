"""The caller's decimal context changes no promise, no gap and no statement."""

from __future__ import annotations

import decimal
from decimal import localcontext
from fractions import Fraction

import numpy as np

from covey import KMeans
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import amplified, inner_cost
from covey.noise import gaps
from covey.noise.source import SeededSource
from covey.theory.group import group_privacy

ROWS = np.random.default_rng(3).normal(0, 0.4, (1_500, 2))


def test_the_callers_decimal_context_changes_nothing():
    """`amplified`, the gaps' float path and a statement's factor took the caller's precision: wrong with few digits."""
    rate, release = Fraction(1, 7), KMeans(2, epsilon=0.2, bounds=(-1, 1)).fit(ROWS).release_
    cost, group = Cost(Fraction(3), Fraction(1, 10**6)), {"group": 50, "rate": 0.1, "delta": 1e-9}
    asked = [
        lambda: amplified(cost, rate=rate),
        lambda: inner_cost(cost, rate=rate),
        lambda: gaps._slope.__wrapped__(rate),
        lambda: gaps.gaps(500, rate=rate, source=SeededSource(1)).tolist(),
        lambda: group_privacy(2, **group),
        lambda: group_privacy(2, **group).delta_at(1.0),
        lambda: release.certificate.statement,  # "at most" 1.22 for e^0.2 = 1.2214
    ]
    usual = [ask() for ask in asked]
    with localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_FLOOR, Emax=9, Emin=-9)):
        gaps._slope.cache_clear()
        assert [ask() for ask in asked] == usual
    gaps._slope.cache_clear()
