"""OpenDP's samplers, written by others in another language, as the oracle: two samples, one law.

OpenDP cannot be seeded. p-values below 1e-9 count as different laws: so often do right samplers fail a test.
"""

from fractions import Fraction

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import enable_features
from scipy.stats import chi2_contingency

from covey.noise import SeededSource
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace

LAPLACE_DRAWS, GAUSSIAN_DRAWS = 200_000, 120_000  # six per cent off are then missed in less than one run of 10^11
WRONG = 1e-9
OFF = [("1", True), ("0.94", False), ("1.06", False)]


@pytest.fixture(scope="module", autouse=True)
def contributed():
    enable_features("contrib")


def same_law(ours, theirs):
    """The p-value of the chi-square test of homogeneity, on integers or on quantiles of both samples together."""
    both = np.concatenate([ours, theirs])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, 102)[1:-1]).astype(np.int64))
    table = [np.bincount(np.searchsorted(edges, sample), minlength=edges.size + 1) for sample in (ours, theirs)]
    table = np.array(table)[:, np.sum(table, axis=0) > 0]
    return chi2_contingency(table).pvalue


def oracle(make, metric, scale, draws):
    mechanism = make(vector_domain(atom_domain(T="i64")), metric, scale=scale)
    return np.array(mechanism([0] * draws), dtype=np.int64)


@pytest.mark.parametrize("scale", [0.75, 5.0, 2.0**20])
def test_laplace_noise_is_opendps_and_this_test_can_tell(scale):
    theirs = oracle(make_laplace, l1_distance(T="i64"), scale, LAPLACE_DRAWS)
    for off, accepted in OFF:
        rate = 1 / (Fraction(scale) * Fraction(off))
        ours = discrete_laplace(LAPLACE_DRAWS, inverse_scale=rate, source=SeededSource(21))
        assert (same_law(ours, theirs) > WRONG) == accepted, off


@pytest.mark.parametrize("sigma", [0.75, 5.0, pytest.param(2.0**20, marks=pytest.mark.slow)])
def test_gaussian_noise_is_opendps_and_this_test_can_tell(sigma):
    theirs = oracle(make_gaussian, l2_distance(T="f64"), sigma, GAUSSIAN_DRAWS)
    for off, accepted in OFF:
        variance = (Fraction(sigma) * Fraction(off)) ** 2
        ours = discrete_gaussian(GAUSSIAN_DRAWS, variance=variance, source=SeededSource(22))
        assert (same_law(ours, theirs) > WRONG) == accepted, off
