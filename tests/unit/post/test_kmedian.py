"""Weighted k-median of a synopsis: known medians, brute force, and the corners of its contract."""

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.post.cells import Cells
from covey.post.kmeans import cost, weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.medians import towards_medians
from covey.post.random import public_rng
from covey.post.starts import uniform_starts

SQUARE = {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]}
BOX = (-np.ones(2), np.ones(2))


def starts_of(k, d, *, count=5, seed=0):
    rng = public_rng(seed)
    return np.stack([uniform_starts(k, lower=-np.ones(d), upper=np.ones(d), rng=rng) for _ in range(count)])


def one_median(points, weights, **options):
    found = weighted_kmedian(points, weights, k=1, **SQUARE, starts=starts_of(1, 2), **options)
    return found.centres[0]


# --- medians that are known -------------------------------------------------------------------------------------------


def test_the_median_of_an_equilateral_triangle_is_its_middle():
    corners = 0.5 * np.array([[0, 1], [-np.sqrt(3) / 2, -0.5], [np.sqrt(3) / 2, -0.5]])
    np.testing.assert_allclose(one_median(corners, [1, 1, 1]), [0, 0], atol=1e-6)


def test_every_side_of_a_triangle_is_seen_under_120_degrees_from_the_fermat_point():
    corners = np.array([[-0.7, -0.3], [0.6, -0.4], [0.1, 0.5]])
    middle = one_median(corners, [1, 1, 1])
    towards = (corners - middle) / np.linalg.norm(corners - middle, axis=1)[:, None]
    np.testing.assert_allclose(towards @ towards.T, np.where(np.eye(3), 1, -0.5), atol=1e-3)


def test_a_corner_of_120_degrees_or_more_is_itself_the_median():
    corners = np.array([[0.0, 0.0], [0.6, 0.1], [-0.6, 0.1]])  # the angle at the first is about 161 degrees
    assert one_median(corners, [1, 1, 1]).tolist() == [0, 0]


def test_on_a_line_it_is_the_weighted_median():
    points = np.array([[-0.8, 0.0], [-0.5, 0.0], [0.1, 0.0], [0.9, 0.0]])
    assert one_median(points, [1, 1, 3, 1]).tolist() == [0.1, 0]
    assert one_median(points, [1, 1, 1, 4]).tolist() == [0.9, 0]
    middle = one_median(points, [1, 1, 1, 1])
    assert -0.5 - 1e-6 <= middle[0] <= 0.1 + 1e-6


def test_the_point_that_outweighs_all_others_is_the_median():
    rng = np.random.default_rng(3)
    points = rng.uniform(-1, 1, (50, 2))
    weights = np.ones(50)
    weights[17] = 60
    np.testing.assert_array_equal(one_median(points, weights), points[17])


def test_starting_on_a_point_that_is_no_median_is_no_trap():
    """Weiszfeld's own step divides by zero there, or stays for ever."""
    points = np.array([[0.0, 0.0], [0.5, 0.5], [0.6, 0.5], [0.5, 0.6], [0.6, 0.6]])
    cells = Cells.of_points(points, np.ones(5))
    label = np.zeros(5, dtype=np.intp)
    at = points[:1]
    for _ in range(200):
        at = towards_medians(cells, at, label, box=BOX)
    np.testing.assert_allclose(at[0], one_median(points, np.ones(5)), atol=1e-3)
    assert at[0, 0] > 0.5


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("on_a_point", [False, True])
def test_no_step_raises_the_signed_cost_of_its_cluster(seed, on_a_point):
    rng = np.random.default_rng(seed)
    points, weights = rng.uniform(-1, 1, (60, 2)), rng.laplace(0.2, 1, 60)
    points[rng.integers(60, size=10)] = points[0]  # duplicates of both signs
    cells, label = Cells.of_points(points, weights), rng.integers(0, 3, 60)
    centres = points[[0, 1, 2]] if on_a_point else rng.uniform(-1, 1, (3, 2))

    def clusters(c):
        return np.bincount(label, weights * np.linalg.norm(points - c[label], axis=1), minlength=3)

    for _ in range(30):
        moved = towards_medians(cells, centres, label, box=BOX)
        assert (clusters(moved) <= clusters(centres) + 1e-9).all()
        assert (np.abs(moved) <= 1).all()
        centres = moved


def brute_force(points, weights, k, side=13):
    """The lowest cost over all k-sets of a fine grid and the points themselves."""
    from itertools import combinations

    axis = np.linspace(-1, 1, side)
    places = np.concatenate([np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), points])
    far = np.linalg.norm(points[:, None] - places, axis=2)
    return min(float(weights @ far[:, list(chosen)].min(axis=1)) for chosen in combinations(range(len(places)), k))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "signed"), [(1, False), (1, True), (2, False), (2, True)])
def test_not_worse_than_brute_force_over_a_grid(seed, k, signed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (8, 2))
    weights = rng.exponential(1, 8)
    if signed:
        weights[:2] *= -0.5
    found = weighted_kmedian(points, weights, k=k, **SQUARE, starts=starts_of(k, 2, count=30))
    assert found.cost == pytest.approx(cost(points, weights, found.centres, "k-median"))
    best = brute_force(points, weights, k)
    slack = 0.0 if not signed else 0.05 * np.abs(weights).sum()  # not convex: near is all one can ask for
    assert found.cost <= best + 1e-6 + slack


def test_better_than_the_means_where_there_are_outliers(blobs):
    rows = np.concatenate([blobs, np.full((40, 2), 1.0)])
    weights = np.ones(len(rows))
    starts = starts_of(3, 2, count=10)
    means = weighted_kmeans(rows, weights, k=3, **SQUARE, starts=starts)
    medians = weighted_kmedian(rows, weights, k=3, **SQUARE, starts=starts)
    assert medians.cost < 0.98 * cost(rows, weights, means.centres, "k-median")
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    assert np.linalg.norm(medians.centres[:, None] - middles, axis=2).min(axis=0).max() < 0.08


# --- the contract of weighted_kmeans, kept ----------------------------------------------------------------------------


def test_negative_weights_cancel_the_noise_of_empty_space(blobs):
    rng = np.random.default_rng(0)
    noise = rng.uniform(-1, 1, (4000, 2))
    weights = np.concatenate([np.full(len(blobs), 5.0), rng.laplace(0, 1, 4000)])
    found = weighted_kmedian(np.concatenate([blobs, noise]), weights, k=3, **SQUARE, starts=starts_of(3, 2))
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    assert np.linalg.norm(found.centres[:, None] - middles, axis=2).min(axis=0).max() < 0.1


def test_no_points_gives_the_first_start():
    starts = starts_of(4, 2)
    found = weighted_kmedian(np.empty((0, 2)), [], k=4, **SQUARE, starts=starts)
    assert np.allclose(found.centres, starts[0])
    assert not found.sizes.any()
    assert found.cost == 0


@pytest.mark.parametrize("weights", [[0, 0, 0], [-1, -2, 0], [-1e300, -1, -1]])
def test_without_positive_weight_centres_stay_inside(weights):
    found = weighted_kmedian([[0.0, 0.0], [0.5, 0.5], [1.0, -1.0]], weights, k=2, **SQUARE, starts=starts_of(2, 2))
    assert (np.abs(found.centres) <= 1).all()
    assert np.isfinite(found.sizes).all()
    assert found.cost <= 0


def test_fewer_points_than_centres_costs_nothing():
    points = np.array([[0.25, 0.5], [-0.5, 0.75]])
    found = weighted_kmedian(points, [2.0, 3.0], k=5, **SQUARE, starts=starts_of(5, 2, count=20))
    assert found.cost == pytest.approx(0, abs=1e-9)
    assert sorted(found.sizes[found.sizes != 0]) == pytest.approx([2, 3])


def test_duplicates_count_like_one_heavy_point():
    rng = np.random.default_rng(4)
    points, times = rng.uniform(-1, 1, (20, 2)), rng.integers(1, 5, 20)
    starts = starts_of(3, 2)
    heavy = weighted_kmedian(points, times, k=3, **SQUARE, starts=starts)
    many = weighted_kmedian(np.repeat(points, times, axis=0), np.ones(times.sum()), k=3, **SQUARE, starts=starts)
    assert many.cost == pytest.approx(heavy.cost, rel=1e-3)


def test_ties_go_to_the_first_centre():
    found = weighted_kmedian([[0.0, 0.0]] * 4, [1, 1, 1, 1], k=3, **SQUARE, starts=np.zeros((1, 3, 2)))
    assert found.sizes.tolist() == [4, 0, 0]


@pytest.mark.parametrize(("scale", "shift", "heavy"), [(1e-9, 0, 1), (1e6, 5e6, 1e-12), (3.0, -7.0, 1e250)])
def test_units_do_not_matter(scale, shift, heavy):
    rng = np.random.default_rng(8)
    points, weights = rng.uniform(-1, 1, (300, 2)), rng.laplace(1, 1, 300)
    starts = starts_of(3, 2)
    plain = weighted_kmedian(points, weights, k=3, **SQUARE, starts=starts)
    corners = {"lower": np.full(2, -scale) + shift, "upper": np.full(2, scale) + shift}
    other = weighted_kmedian(points * scale + shift, weights * heavy, k=3, **corners, starts=starts * scale + shift)
    assert other.cost / (scale * heavy) == pytest.approx(plain.cost, rel=1e-3)


@pytest.mark.parametrize(("m", "k", "d"), [(9000, 1, 1), (9000, 70, 2), (300, 3, 60), (9000, 5, 12)])
def test_all_shapes(m, k, d):
    rng = np.random.default_rng(m + d)
    points, weights = rng.uniform(-1, 1, (m, d)), rng.laplace(1, 2, m)
    starts = starts_of(k, d, count=3)
    found = weighted_kmedian(points, weights, k=k, lower=-np.ones(d), upper=np.ones(d), starts=starts, coarse=1000)
    assert found.centres.shape == (k, d)
    assert found.sizes.sum() == pytest.approx(weights.sum())
    assert found.cost <= min(cost(points, weights, start, "k-median") for start in starts)


def test_the_same_inputs_give_the_same_bits_and_are_left_alone():
    rng = np.random.default_rng(2)
    points, weights, starts = rng.uniform(-1, 1, (20_000, 2)), rng.laplace(0.5, 1, 20_000), starts_of(6, 2)
    before = points.copy(), weights.copy(), starts.copy()
    one, two = (weighted_kmedian(points, weights, k=6, **SQUARE, starts=starts) for _ in range(2))
    assert np.array_equal(one.centres, two.centres)
    assert one.cost == two.cost
    assert all(np.array_equal(a, b) for a, b in zip(before, (points, weights, starts), strict=True))


def test_buckets_cost_little():
    rng = np.random.default_rng(6)
    points, weights = rng.normal(0, 0.4, (12_000, 2)).clip(-1, 1), rng.laplace(1, 1, 12_000)
    starts = starts_of(5, 2)
    exact = weighted_kmedian(points, weights, k=5, **SQUARE, starts=starts, coarse=12_000)
    quick = weighted_kmedian(points, weights, k=5, **SQUARE, starts=starts, coarse=500)
    assert quick.cost <= 1.005 * exact.cost


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"points": [[np.nan, 0]]}, "points"),
        ({"weights": [np.inf]}, "weights"),
        ({"weights": [1, 2]}, "weights"),
        ({"starts": [[[0.0]]]}, "starts"),
        ({"lower": [1, 1], "upper": [0, 0]}, "lower"),
        ({"rounds": -1}, "rounds"),
    ],
)
def test_bad_arguments_are_named(change, named):
    good = {"points": [[0.0, 0.0]], "weights": [1.0], "k": 1, **SQUARE, "starts": [[[0.0, 0.0]]]}
    with pytest.raises(ParameterError, match=named):
        weighted_kmedian(**{**good, **change})


@pytest.mark.parametrize("k", [1, 2, 7, 47, 48, 60])
def test_the_nearest_centre_is_that_of_the_two_nearest_where_distances_are_equal_too(k):
    rng = np.random.default_rng(k)
    cells = Cells.of_points(np.rint(rng.normal(size=(9_000, 2)) * 8) / 16, rng.normal(size=9_000))  # many ties
    centres = cells.positions[:, rng.choice(9_000, k)].T  # some of them equal
    assert (cells.nearest(centres) == cells.two_nearest(centres)[0]).all()
