"""The formulas of Su et al. 2016 §6: printed numbers, and derivations that do not share a line with them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.algorithms.hybrid import RHO, hybrid_threshold
from su16_formulas import grid_bias_bound, grid_cells, grid_variance, hybrid_error, lloyd_error

sizes = st.floats(1e2, 1e8)
dims = st.integers(1, 12)
counts = st.integers(1, 64)
epsilons = st.floats(1e-3, 10)
radii = st.floats(0.1, 10)
rhos = st.floats(0.01, 0.5)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9)


@given(sizes, dims, counts, epsilons, st.integers(1, 10), radii, rhos)
def test_equation_7_from_equation_6(n, d, k, epsilon, t, r, rho):
    """Laplace noise of scale (dr+1)t/ε has variance twice its square; (6) puts it together, d times."""
    variance = 2 * ((d * r + 1) * t / epsilon) ** 2
    per_axis = (k / n) ** 2 * (variance + (2 * rho * r) ** 2 * variance)
    assert close(lloyd_error(n=n, d=d, k=k, epsilon=epsilon, rounds=t, r=r, rho=rho), d * per_axis)


def test_equation_7_predicts_the_error_of_noisy_means():
    """By simulation of (S + ΔS)/(C + ΔC), with rho as defined: |S| = 2rρC."""
    rng = np.random.default_rng(5)
    n, d, k, epsilon, t = 400_000.0, 3, 4, 0.5, 5
    count, total = n / k, 2 * RHO * n / k
    scale = (d + 1) * t / epsilon
    noisy = (total + rng.laplace(0, scale, (200_000, d))) / (count + rng.laplace(0, scale, (200_000, 1)))
    seen = np.square(noisy - total / count).sum(axis=1).mean()
    expected = lloyd_error(n=n, d=d, k=k, epsilon=epsilon, rounds=t)
    assert seen == pytest.approx(expected, rel=0.03)
    assert seen != pytest.approx(1.1 * expected, rel=0.03)


@given(sizes, dims, epsilons, st.floats(1, 30))
def test_equation_4_minimises_variance_plus_squared_bias(n, d, epsilon, theta):
    """M minimises 2αM/ε² + 2dβ²N²/M^(2/d) for θ² = α/(2β²)... up to the factor that the paper folds into θ."""
    cells = grid_cells(n=n, d=d, epsilon=epsilon, theta=theta)
    # The derivative vanishes at M^((2+d)/d) = 2β²N²ε²/α; with the paper's θ that is (Nε/θ)².
    alpha, beta_squared = theta**2, 0.5

    def derivative(m: float) -> float:
        return 2 * alpha / epsilon**2 - (2 / d) * beta_squared * 2 * d * n**2 / m ** (2 / d + 1)

    assert derivative(cells * 0.999) < 0 < derivative(cells * 1.001)


@given(sizes, dims, counts, epsilons, radii)
def test_equation_9_is_the_integral_over_a_cube(n, d, k, epsilon, r):
    cells = 1234.0
    width = 2 * r / k ** (1 / d)
    density = cells / (2 * r) ** d * width ** (d - 1) * 2 / epsilon**2
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact for x²
    integral = float((weights * (nodes * width / 2) ** 2).sum() * width / 2 * density)
    per_axis = integral / (n / k) ** 2
    assert close(grid_variance(n=n, d=d, k=k, epsilon=epsilon, cells=cells, r=r), d * per_axis)


@given(sizes, dims, counts, epsilons, radii, st.floats(1, 30))
def test_equation_12_is_9_with_the_cells_of_4(n, d, k, epsilon, r, theta):
    printed = 2 * d * r**2 * k ** ((d - 2) / d) / (3 * theta ** (2 * d / (2 + d)) * (n * epsilon) ** (4 / (2 + d)))
    plugged = grid_variance(
        n=n, d=d, k=k, epsilon=epsilon, r=r, cells=grid_cells(n=n, d=d, epsilon=epsilon, theta=theta)
    )
    assert close(grid_variance(n=n, d=d, k=k, epsilon=epsilon, theta=theta, r=r), printed)
    assert close(plugged, printed)


@given(dims, st.floats(1, 1e7), radii)
def test_equation_10_bounds_the_distance_to_a_cells_middle(d, cells, r):
    half = r / cells ** (1 / d)
    assert close(grid_bias_bound(d=d, cells=cells, r=r), d * half**2)


@given(sizes, dims, counts, epsilons, radii, rhos)
def test_equation_13_as_printed(n, d, k, epsilon, r, rho):
    printed = 8 * d * (1 + (2 * rho * r) ** 2) * (k * (d * r + 1) / (n * epsilon)) ** 2
    assert close(hybrid_error(n=n, d=d, k=k, epsilon=epsilon, r=r, rho=rho), printed)


@given(sizes, dims, counts, epsilons, st.integers(1, 10), rhos)
def test_inequality_14_compares_11_and_13(n, d, k, epsilon, t, rho):
    one = hybrid_error(n=n, d=d, k=k, epsilon=epsilon, rho=rho)
    many = lloyd_error(n=n, d=d, k=k, epsilon=epsilon, rounds=t, rho=rho)
    assert (one <= many * (1 + 1e-12)) == (t >= 2)


@given(sizes, dims, counts, radii, rhos, st.floats(1, 30))
def test_inequality_15_is_where_12_and_13_are_equal(n, d, k, r, rho, theta):
    edge = hybrid_threshold(n=n, d=d, k=k, theta=theta, r=r, rho=rho)

    def pays(epsilon: float) -> bool:
        one = hybrid_error(n=n, d=d, k=k, epsilon=epsilon, r=r, rho=rho)
        return one <= grid_variance(n=n, d=d, k=k, epsilon=epsilon, theta=theta, r=r)

    assert close(
        hybrid_error(n=n, d=d, k=k, epsilon=edge, r=r, rho=rho),
        grid_variance(n=n, d=d, k=k, epsilon=edge, theta=theta, r=r),
    )
    assert pays(edge * 1.0001)
    assert not pays(edge * 0.9999)


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(5000, 2, 15), (107_091, 2, 5), (16_281, 2, 5), (34_112, 3, 3), (48_841, 6, 5), (26_733, 10, 3)],
)
def test_numbers_by_exact_arithmetic(n, d, k):
    """The paper's six data sets, t = 5, ε = 1, r = 1: exact fractions for what is rational."""
    rho = Fraction(225, 1000)
    exact = 2 * d * (1 + (2 * rho) ** 2) * Fraction(k * 5 * (d + 1), n) ** 2
    assert close(lloyd_error(n=n, d=d, k=k, epsilon=1.0), float(exact))
    if d == 2:  # every exponent of (12), (15) and (4) is whole: (N/10), 2/(3·10·N), X/Y
        assert close(grid_cells(n=n, d=2, epsilon=1.0), n / 10)
        assert close(grid_variance(n=n, d=2, k=k, epsilon=1.0), float(Fraction(4, 30 * n)))
        x = 16 * (1 + (2 * rho) ** 2) * Fraction(3 * k, n) ** 2
        assert close(hybrid_threshold(n=n, d=2, k=k), float(x / Fraction(4, 30 * n)))
