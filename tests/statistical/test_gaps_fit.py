"""Samples against their exact law: the right rate is accepted, five per cent to either side is not. Gaps: laws.py.

The draws are seeded, so these tests always give the same answer; p-values below 1e-9 count as a wrong law.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, chi2

from covey.noise import SeededSource
from covey.noise.gaps import choose
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import ArrayTable

WRONG = 1e-9
OFF = [(1.0, True), (0.95, False), (1.05, False)]


def p_value(observed, expected):
    observed, expected = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    assert expected.min() > 20
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def kept_rows(n, rate, seed):
    table = SampledTable.poisson(ArrayTable(np.arange(n, dtype=float)[:, None]), rate=rate, source=SeededSource(seed))
    pieces = [piece()[0] for piece in table.pieces(None)]
    return np.concatenate(pieces).astype(int) if pieces else np.empty(0, dtype=int)


def test_every_row_is_kept_at_the_rate_whatever_its_place():
    n, runs, rate = 40, 10_000, Fraction(3, 10)
    seen = np.zeros(n)
    together = np.zeros((n, n))
    for seed in range(runs):
        rows = np.zeros(n)
        rows[kept_rows(n, rate, seed)] = 1
        seen += rows
        together += np.outer(rows, rows)
    for off, accepted in OFF:
        chance = float(rate) * off
        z = (seen - runs * chance) / np.sqrt(runs * chance * (1 - chance))
        assert (chi2.sf((z**2).sum(), n) > WRONG) == accepted, "first, middle and last rows alike"
    pairs = together[np.triu_indices(n, 1)]
    both = binom.sf(pairs.max(), runs, float(rate) ** 2) * len(pairs), binom.cdf(pairs.min(), runs, 0.09) * len(pairs)
    assert min(both) > WRONG, "coins are independent"


@pytest.mark.parametrize(("size", "of"), [(2, 6), (3, 5), (4, 7)])
def test_every_set_of_a_fixed_size_is_as_likely(size, of):
    runs, source = 20_000, SeededSource(4)
    sets = dict.fromkeys(combinations(range(of), size), 0)
    for _ in range(runs):
        sets[tuple(choose(size, of=of, source=source).tolist())] += 1
    assert p_value(list(sets.values()), [runs / len(sets)] * len(sets)) > WRONG


def test_the_check_of_sets_can_fail():
    assert p_value([1050, 950, 1000, 1000] * 20, [1000] * 80) > WRONG
    assert p_value([1200, 800, 1000, 1000] * 20, [1000] * 80) < WRONG
