"""Nearest centres and costs."""

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.post.distances import (
    MANY_ROWS,
    add_up,
    add_up_each,
    cost,
    nearest,
    nearest_with_squares,
    squared_lengths,
    two_nearest,
)


def plain_squares(points, centres):
    return np.square(points[:, None, :] - centres[None]).sum(axis=2)


@pytest.mark.parametrize(("n", "k", "d"), [(1, 1, 1), (500, 3, 1), (5000, 7, 2), (3000, 60, 3), (300, 10, 784)])
def test_nearest_and_cost_against_plain_sums(n, k, d):
    rng = np.random.default_rng(n)
    points, weights, centres = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(k, d))
    squares = plain_squares(points, centres)
    assert np.array_equal(nearest(points, centres), squares.argmin(axis=1))
    assert cost(points, weights, centres) == pytest.approx(weights @ squares.min(axis=1))
    assert cost(points, weights, centres, "k-median") == pytest.approx(weights @ np.sqrt(squares.min(axis=1)))


def test_ties_go_to_the_lowest_index():
    grid = np.stack(np.meshgrid(np.arange(-8, 9), np.arange(-8, 9)), axis=-1).reshape(-1, 2) / 8
    corners = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]]) / 2
    assert np.array_equal(nearest(grid, corners), plain_squares(grid, corners).argmin(axis=1))
    assert not nearest(grid, corners[[3, 3, 3]]).any()


def test_a_label_does_not_depend_on_the_rows_beside_it():
    rng = np.random.default_rng(8)
    centres = rng.normal(size=(20, 3))
    i, j = rng.integers(20, size=(2, 4000))
    points = (centres[i] + centres[j]) / 2 + 1e-15 * rng.normal(size=(4000, 3))  # ties up to rounding
    whole = nearest(points, centres)
    assert np.array_equal(whole, np.concatenate([nearest(points[s : s + 7], centres) for s in range(0, 4000, 7)]))
    order = rng.permutation(4000)
    assert np.array_equal(whole[order], nearest(points[order], centres))


def test_a_small_crowd_far_from_the_origin_is_told_apart():
    centres = 1e6 + np.array([[0.0], [1e-6], [3e-6]])
    assert nearest(centres, centres).tolist() == [0, 1, 2]


def test_no_points():
    assert nearest(np.empty((0, 2)), [[0, 0]]).shape == (0,)
    assert cost(np.empty((0, 2)), [], [[0, 0]]) == 0


@pytest.mark.parametrize(
    ("points", "weights", "centres", "objective"),
    [
        ([[0.0]], [1.0], np.empty((0, 1)), "k-means"),
        ([[0.0]], [1.0], [[0.0, 0.0]], "k-means"),
        ([[0.0]], [1.0, 2.0], [[0.0]], "k-means"),
        ([[0.0]], [np.nan], [[0.0]], "k-means"),
        ([[np.inf]], [1.0], [[0.0]], "k-means"),
        ([0.0], [1.0], [[0.0]], "k-means"),
        ([[0.0]], [1.0], [[0.0]], "k-center"),
    ],
)
def test_wrong_arguments_are_named(points, weights, centres, objective):
    with pytest.raises(ParameterError):
        cost(points, weights, centres, objective)


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 20])
def test_squared_lengths_are_sums_along_rows_to_the_bit(columns):
    rows = np.random.default_rng(columns).normal(size=(5_000, columns)) * 10.0 ** np.arange(columns)[::-1]
    plain = np.square(rows).sum(axis=1)
    assert (squared_lengths(rows) == plain).all()
    assert columns > 7 or (squared_lengths(np.asfortranarray(rows)) == plain).all()
    centres = rows[[3, 3, 9, 17]]
    label, squares = nearest_with_squares(rows, centres)
    assert (label == nearest(rows, centres)).all()
    assert (squares == np.square(rows - centres[label]).sum(axis=1)).all()


@pytest.mark.parametrize(("columns", "k"), [(1, 2), (2, 9), (3, 1), (4, 70)])
def test_the_two_nearest_centres_are_those_of_all_distances(columns, k):
    rng = np.random.default_rng(k)
    points, centres = rng.normal(size=(20_000, columns)), rng.normal(size=(k, columns))
    label, first, second = two_nearest(points, centres)
    squares = np.sort(np.square(points[:, None] - centres).sum(axis=2), axis=1)
    assert np.array_equal(label, nearest(points, centres))
    assert np.array_equal(first, nearest_with_squares(points, centres)[1])
    assert first == pytest.approx(squares[:, 0])
    assert np.isinf(second).all() if k == 1 else second == pytest.approx(squares[:, 1])


@pytest.mark.parametrize("n", [0, 1, MANY_ROWS - 1, MANY_ROWS, 3 * MANY_ROWS])
@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_sums_of_several_columns_are_those_of_each_to_the_bit(n, kind):
    rng = np.random.default_rng(n)
    labels, table = np.sort(rng.integers(6, size=n)).astype(kind), rng.normal(size=(n, 3)) * 1e6
    alone = np.stack([add_up(labels.astype(np.intp), column, 8) for column in table.T])
    assert np.array_equal(add_up_each(labels, table.T, 8), alone)
    assert np.array_equal(add_up_each(labels, [*np.ascontiguousarray(table.T)], 8), alone)
