"""From noisy moments to a subspace and from noisy sums to steps: right without noise, better than raw with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from covey.post.subspace import (
    bells_of_clusters,
    gained,
    lost_square,
    middles_of_mass,
    number_of_axes,
    outer_radius,
    principal_axes,
    rows_in_boxes,
    shrunk_steps,
    smooth_columns,
    spanned,
    widest_columns,
)

RADII = 16.0 * 2.0 ** (-np.arange(40) / 4)[::-1]


def by_distance(distances: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(RADII, distances), minlength=len(RADII) + 1).astype(float)


def test_a_span_holds_its_directions_whatever_they_are():
    rng = np.random.default_rng(5)
    axes = np.linalg.qr(rng.normal(size=(30, 4)))[0]
    others = rng.normal(size=(30, 6))
    others[:, 2], others[:, 3], others[:, 4] = 0.0, others[:, 1], axes[:, 0]  # nothing, twice the same, and known
    found = spanned(axes, others)
    assert found.shape == (30, 10)
    np.testing.assert_allclose(found.T @ found, np.eye(10), atol=1e-12)
    for table in (axes, others):
        np.testing.assert_allclose(found @ (found.T @ table), table, atol=1e-12)
    assert (spanned(axes[:10], others[:10]) == np.eye(10)).all()


# --- spreads ----------------------------------------------------------------------------------------------------------


def test_rows_in_boxes_are_where_rows_that_were_drawn_are():
    """Boxes in the middle, beside it, at the end (which reach to infinity), and far out, where no bell is."""
    half, middle, deviations = np.array([3.0, 2.0]), np.array([0.4, -0.3]), np.array([1.0, 0.8])
    lower = np.array([[-1.0, -0.5], [0.5, 0.2], [1.5, 1.0], [-3.0, -2.0]])
    upper = np.array([[0.5, 0.5], [1.5, 1.0], [3.0, 2.0], [-1.5, 0.0]])
    rows = np.random.default_rng(4).normal(middle, deviations, (400_000, 2))
    places, spreads = rows_in_boxes(
        lower, upper, half=half, middles=np.tile(middle, (4, 1)), deviations=np.tile(deviations, (4, 1))
    )
    for low, high, place, spread in zip(lower, upper, places, spreads, strict=True):
        own = rows[np.all((np.clip(rows, -half, half) >= low) & (np.clip(rows, -half, half) <= high), axis=1)]
        inside = np.clip(own.mean(axis=0), low, high)
        assert place == pytest.approx(inside, abs=0.02)
        assert spread == pytest.approx(own.var(axis=0), rel=0.05)
    one = {"half": np.array([90.0]), "middles": np.zeros((1, 1)), "deviations": np.ones((1, 1))}
    place, spread = rows_in_boxes(np.array([[20.0]]), np.array([[26.0]]), **one)
    assert (place.tolist(), spread.tolist()) == ([[23.0]], [[3.0]])


def test_bells_of_clusters_are_those_of_their_rows():
    places, spreads = np.array([[0.5], [1.5], [6.5], [9.2]]), np.array([[1 / 12], [1 / 12], [9 / 12], [0.1]])
    weights, label = np.array([2.0, 2.0, 1.0, 0.0]), np.array([0, 0, 1, 2])
    mean, deviation = bells_of_clusters(places, spreads, weights, label, count=3)
    assert mean[:2, 0].tolist() == pytest.approx([1.0, 6.5])
    assert np.square(deviation[:2, 0]).tolist() == pytest.approx([4 / 12, 9 / 12])
    assert mean[2, 0] == pytest.approx((4 * 1.0 + 6.5) / 5)  # a cluster without weight: the whole's
    assert np.isfinite(deviation).all()


def test_what_clipping_takes_off_is_found_again():
    distances = np.abs(np.random.default_rng(5).standard_cauchy(20_000)).clip(0, 15)
    for radius in RADII[[20, 30, 35]]:
        true = np.maximum(np.square(distances) - radius**2, 0).mean()
        found = lost_square(by_distance(distances), RADII, size=20_000, radius=float(radius), scale=0.0)
        assert found == pytest.approx(true, rel=0.06)
        assert lost_square(by_distance(distances), RADII, size=20_000, radius=float(radius), scale=50.0) <= found


# --- outer_radius -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("shape", ["bell", "heavy", "point"])
def test_without_noise_the_radius_is_the_first_that_covers_the_quantile(shape, coverage):
    rng = np.random.default_rng(1)
    far = {"bell": np.abs(rng.normal(0, 2, 5000)), "heavy": np.abs(rng.standard_cauchy(5000)), "point": np.full(9, 1.3)}
    distances = np.minimum(far[shape], 16.0)
    found = outer_radius(by_distance(distances), RADII, size=len(distances), coverage=coverage, scale=0.0)
    quantile = np.sort(distances)[math.ceil(coverage * len(distances)) - 1]
    assert found == next(radius for radius in RADII if radius >= quantile)


def test_noise_in_empty_buckets_does_not_add_up_to_a_radius():
    rng = np.random.default_rng(2)
    counts, scale = by_distance(np.full(2000, 0.05)), 20.0
    wrong = naive = 0
    for _ in range(400):
        noisy = counts + rng.laplace(0, scale, len(counts))
        wrong += outer_radius(noisy, RADII, size=2000, coverage=0.9, scale=scale) > 0.1
        beyond = np.cumsum(noisy[::-1])[::-1]
        naive += bool((beyond[RADII.searchsorted(0.1) + 1 :] > 0.1 * 2000).any())
    assert wrong < 0.05 * 400
    assert naive > 0.15 * 400  # without the threshold, buckets without rows often pass for a tenth of the rows


def test_no_rows_or_no_counts_give_the_smallest_radius():
    assert outer_radius(np.zeros(41), RADII, size=16, coverage=0.9, scale=5.0) == RADII[0]
    assert outer_radius(np.full(41, -9.0), RADII, size=16, coverage=0.9, scale=5.0) == RADII[0]


# --- principal_axes and widest_columns --------------------------------------------------------------------------------


def spiked(d: int, strong: list[float], rest: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A covariance with given strong directions, and those directions."""
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    values = np.full(d, rest)
    values[: len(strong)] = strong
    return turn * values @ turn.T, turn


def test_without_noise_the_axes_are_the_eigenvectors():
    covariance, turn = spiked(12, [9.0, 4.0, 2.0], 0.1, np.random.default_rng(3))
    found = principal_axes(1000 * covariance, size=1000, radius=5.0, noise=0.0, k=8)
    assert found.axes.shape == (12, 3)
    np.testing.assert_allclose(np.abs(found.axes.T @ turn[:, :3]), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(found.variances[:2], [9, 4])
    assert found.variances[2] >= 2.0 - 1e-9
    assert found.scatter == pytest.approx(np.trace(covariance))
    np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(3), atol=1e-12)


def test_with_noise_the_variances_are_nearer_to_the_truth_than_the_eigenvalues():
    """Noise lifts eigenvalues, and leaning axes hold less variance: denoised ones are closer to both truths."""
    rng = np.random.default_rng(4)
    d, size, noise = 60, 1000, 60.0
    raw_error = own_error = 0.0
    for _ in range(40):
        covariance, _ = spiked(d, [2.5, 1.5], 0.02, rng)
        upper = np.triu(rng.normal(0, noise, (d, d)), 1)
        noisy = size * covariance + upper + upper.T + np.diag(rng.normal(0, noise * math.sqrt(2), d))
        found = principal_axes(noisy, size=size, radius=4.0, noise=noise, k=4)
        along = np.einsum("iq,ij,jq->q", found.axes, covariance, found.axes)[:2]  # what is really along them
        raw_error += np.square(np.linalg.eigvalsh(noisy)[::-1][:2] / size - along).sum()
        own_error += np.square(found.variances[:2] - along).sum()
    assert own_error < raw_error / 2


def test_axes_below_the_noise_are_not_counted():
    rng = np.random.default_rng(5)
    d, noise = 50, 10.0
    upper = np.triu(rng.normal(0, noise, (d, d)), 1)
    pure_noise = upper + upper.T + np.diag(rng.normal(0, noise * math.sqrt(2), d))
    found = principal_axes(0.8 * pure_noise, size=100, radius=1.0, noise=noise, k=16)
    assert found.axes.shape == (d, 4)  # the least that 16 centres need
    assert (found.variances > 0).all()
    assert found.scatter > 0


def test_moments_of_no_rows_are_usable():
    for matrix in (np.zeros((6, 6)), -np.eye(6)):
        found = principal_axes(matrix, size=16, radius=3.0, noise=1.0, k=3)
        assert np.isfinite(found.axes).all()
        assert (found.variances > 0).all()
    columns = widest_columns(np.zeros(6), size=16, radius=3.0, noise=1.0, k=3)
    assert (columns.variances > 0).all()


def test_the_widest_columns_without_noise():
    squares = np.array([1.0, 9.0, 4.0, 0.5, 0.1])
    found = widest_columns(100 * squares, size=100, radius=1.0, noise=0.0, k=3)
    assert found.axes.argmax(axis=0).tolist() == [1, 2, 0]
    np.testing.assert_allclose(found.variances, [9, 4, 1])
    assert found.scatter == pytest.approx(squares.sum())
    np.testing.assert_array_equal(found.axes.sum(axis=0), 1)


def test_noisy_variances_are_drawn_to_their_mean():
    rng = np.random.default_rng(6)
    true = rng.uniform(0.8, 1.2, 40)
    raw = own = 0.0
    for _ in range(50):
        noisy = 100 * true + rng.laplace(0, 60, 40)
        found = widest_columns(noisy, size=100, radius=3.0, noise=60 * math.sqrt(2), k=8)
        chosen = found.axes.argmax(axis=0)
        raw += np.square(noisy[chosen] / 100 - true[chosen]).sum()
        own += np.square(found.variances - true[chosen]).sum()
    assert own < raw / 2


@pytest.mark.parametrize(
    ("wanted", "k", "d", "expected"),
    [(0, 1, 5, 2), (9, 1, 5, 2), (0, 20, 30, 5), (30, 100, 50, 16), (9, 4, 30, 4), (9, 40, 6, 6), (3, 8, 9, 3)],
)
def test_the_number_of_axes(wanted, k, d, expected):
    assert number_of_axes(wanted, k=k, d=d) == expected


# --- middles_of_mass --------------------------------------------------------------------------------------------------


def bell(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("deviation", [0.3, 1.0, 2.5])
def test_middles_are_the_means_of_a_bell_between_the_walls(deviation):
    edges = np.linspace(-2.0, 2.0, 9)
    found = middles_of_mass(
        edges[:-1, None], edges[1:, None], half=np.array([2.0]), deviations=np.array([deviation])
    ).ravel()
    for lower, upper, middle in zip(edges[:-1], edges[1:], found, strict=True):
        a, b = (lower / deviation, upper / deviation)
        a, b = (-np.inf if lower == -2 else a), (np.inf if upper == 2 else b)
        mass = quad(bell, a, b, epsabs=1e-14)[0]
        if mass > 1e-5:
            expected = deviation * quad(lambda x: x * bell(x), a, b, epsabs=1e-14)[0] / mass
            assert middle == pytest.approx(np.clip(expected, lower, upper), abs=1e-6)
        elif mass < 1e-7:
            assert middle == (lower + upper) / 2
    np.testing.assert_allclose(found, -found[::-1], atol=1e-9)  # symmetric, in both tails alike


def test_middles_stay_in_their_boxes_and_axes_do_not_mix():
    rng = np.random.default_rng(7)
    half, deviations = np.array([3.0, 0.5, 100.0]), np.array([1.0, 1e-3, 1e-9])
    lower = rng.uniform(-half, half, (400, 3))
    upper = lower + rng.uniform(0, 1, (400, 3)) * (half - lower)
    found = middles_of_mass(lower, upper, half=half, deviations=deviations)
    assert np.isfinite(found).all()
    assert ((found >= lower) & (found <= upper)).all()
    for axis in range(3):
        alone = middles_of_mass(lower[:, [axis]], upper[:, [axis]], half=half[[axis]], deviations=deviations[[axis]])
        np.testing.assert_array_equal(alone[:, 0], found[:, axis])


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signal", [0.0, 0.3, 3.0])
def test_shrunk_steps_have_less_error_than_raw_ones(signal):
    rng = np.random.default_rng(8)
    k, d, q = 6, 40, 4
    axes = np.linalg.qr(rng.normal(size=(d, q)))[0]
    weights, deviations = rng.uniform(50, 500, k), rng.uniform(0.1, 0.5, k)
    raw = own = 0.0
    for _ in range(200):
        true = signal * rng.normal(size=(k, q)) @ axes.T
        noisy = true + deviations[:, None] * rng.normal(size=(k, d))
        raw += np.square(noisy - true).sum()
        own += np.square(shrunk_steps(noisy, deviations, weights, axes) - true).sum()
    assert own < 0.6 * raw


def test_without_noise_steps_are_taken_whole_and_their_gain_is_known():
    rng = np.random.default_rng(9)
    shifts, weights = rng.normal(size=(5, 12)), rng.uniform(1, 9, 5)
    axes = np.linalg.qr(rng.normal(size=(12, 3)))[0]
    steps = shrunk_steps(shifts, np.zeros(5), weights, axes)
    np.testing.assert_allclose(steps, shifts)
    expected = weights @ np.square(shifts).sum(axis=1) / weights.sum()
    assert gained(steps, shifts, np.zeros(5), weights) == pytest.approx(expected)
    assert gained(np.zeros_like(steps), shifts, np.ones(5), weights) == 0


def test_steps_of_pure_noise_gain_nothing_on_average():
    rng = np.random.default_rng(10)
    axes, weights, deviations = np.eye(20)[:, :2], np.full(4, 100.0), np.full(4, 0.5)
    found = []
    for _ in range(400):
        shifts = 0.5 * rng.normal(size=(4, 20))
        found.append(gained(shrunk_steps(shifts, deviations, weights, axes), shifts, deviations, weights))
    assert abs(np.mean(found)) < 0.1 * 20 * 0.25


def test_steps_in_a_subspace_that_is_everything():
    steps = shrunk_steps(np.ones((2, 3)), np.full(2, 1e-9), np.ones(2), np.eye(3))
    np.testing.assert_allclose(steps, 1.0)
    assert not shrunk_steps(np.zeros((2, 3)), np.ones(2), np.ones(2), np.eye(3)).any()


# --- smooth_columns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 7, 8, 9, 100])
def test_smoothing_is_the_identity_without_noise(d):
    mean = np.random.default_rng(d).normal(size=d)
    np.testing.assert_allclose(smooth_columns(mean, deviation=0.0), mean, atol=1e-12)


def test_smoothing_helps_in_a_natural_order_and_harms_little_elsewhere():
    rng = np.random.default_rng(11)
    wave = np.sin(np.linspace(0, 6, 200))
    for true, most in ((wave, 0.4), (rng.permutation(wave), 1.05)):
        raw = own = 0.0
        for _ in range(50):
            noisy = true + rng.normal(0, 0.5, 200)
            raw += np.square(noisy - true).sum()
            own += np.square(smooth_columns(noisy, deviation=0.5) - true).sum()
        assert own < most * raw
