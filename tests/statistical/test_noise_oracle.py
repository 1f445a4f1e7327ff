"""OpenDP's samplers, written by others in another language, as the oracle: two samples, one law.

OpenDP cannot be seeded. p-values below 1e-9 count as different laws.
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

DRAWS = 200_000
WRONG = 1e-9
OFF = pytest.mark.parametrize(("off", "accepted"), [("1", True), ("0.94", False), ("1.06", False)])


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


@pytest.fixture(scope="module")
def oracle():
    """Draws of OpenDP, made once for each law."""
    made = {}

    def drawn(make, metric, scale):
        key = (make.__name__, scale)
        if key not in made:
            mechanism = make(vector_domain(atom_domain(T="i64")), metric, scale=scale)
            made[key] = np.array(mechanism([0] * DRAWS), dtype=np.int64)
        return made[key]

    return drawn


@OFF
@pytest.mark.parametrize("scale", [0.75, 5.0, 2.0**20])
def test_laplace_noise_is_opendps_and_this_test_can_tell(oracle, scale, off, accepted):
    theirs = oracle(make_laplace, l1_distance(T="i64"), scale)
    rate = 1 / (Fraction(scale) * Fraction(off))
    ours = discrete_laplace(DRAWS, inverse_scale=rate, source=SeededSource(21))
    assert (same_law(ours, theirs) > WRONG) == accepted


@OFF
@pytest.mark.parametrize("sigma", [0.75, 5.0, pytest.param(2.0**20, marks=pytest.mark.slow)])
def test_gaussian_noise_is_opendps_and_this_test_can_tell(oracle, sigma, off, accepted):
    theirs = oracle(make_gaussian, l2_distance(T="f64"), sigma)
    variance = (Fraction(sigma) * Fraction(off)) ** 2
    ours = discrete_gaussian(DRAWS, variance=variance, source=SeededSource(22))
    assert (same_law(ours, theirs) > WRONG) == accepted
