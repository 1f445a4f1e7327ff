"""Rows -> integers: total, per row alone, exact; and the nearest centre in exact integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.private.lattice import FARTHEST, to_block, to_lattice
from covey.public import Domain
from covey.queries.voronoi import exact_scores, nearest

SPECIAL = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, -1e308, 5e-324, 1e-300, 1.0, -1.0, 0.5, 2.0**26, 2.0**27]
numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-3, 3))


@st.composite
def domains(draw, most: int = 6):
    d = draw(st.integers(1, most))
    if draw(st.booleans()):
        half = draw(st.floats(1e-3, 1e6))
        middle = tuple(draw(st.floats(-4, 4)) * half for _ in range(d))
        return Domain(middle=middle, half=(half,) * d, ball=True)
    halves = tuple(draw(st.floats(1e-3, 1e6)) for _ in range(d))
    scale = None if draw(st.booleans()) else tuple(draw(st.floats(2.0**-16, 1)) for _ in range(d))
    return Domain(middle=tuple(draw(st.floats(-4, 4)) * half for half in halves), half=halves, scale=scale)


@st.composite
def rows_in(draw, most_rows: int = 12):
    domain = draw(domains())
    count = draw(st.integers(0, most_rows))
    values = np.array(draw(st.lists(numbers, min_size=count * domain.dimension, max_size=count * domain.dimension)))
    return domain, values.reshape(domain.dimension, count)


def by_hand(row: list[float], domain: Domain) -> list[int]:
    """The map of one row, in Python's own floats: the same IEEE operations, no numpy."""
    scaled = []
    for x, middle, half in zip(row, domain.middle, domain.half, strict=True):
        y = (x - middle) / half
        scaled.append(0.0 if math.isnan(y) else y)
    limit = float(domain.limit)
    if not domain.ball:
        scale = domain.scale or (1.0,) * domain.dimension
        return [round(min(1.0, max(-1.0, y)) * (part * limit)) for y, part in zip(scaled, scale, strict=True)]
    scaled = [min(FARTHEST, max(-FARTHEST, y)) for y in scaled]
    squares = 0.0
    for y in scaled:
        squares += y * y
    factor = limit / max(math.sqrt(squares), 1.0)
    return [math.trunc(y * factor) for y in scaled]


@given(rows_in())
def test_the_map_is_total_in_range_and_equals_its_twin(case):
    domain, values = case
    lattice = to_lattice(values.copy(), domain)
    assert lattice.dtype == np.int32
    assert lattice.shape == values.shape
    for j in range(values.shape[1]):
        image = [int(x) for x in lattice[:, j]]
        assert image == by_hand(values[:, j].tolist(), domain)
        assert max(map(abs, image)) <= domain.limit
        assert sum(x * x for x in image) <= domain.row_l2_squared
        assert sum(map(abs, image)) <= domain.row_l1


def outside_by_hand(row: list[float], domain: Domain) -> bool:
    scaled = [(x - m) / h for x, m, h in zip(row, domain.middle, domain.half, strict=True)]
    edges = [1 + 0.5 / (part * domain.limit) for part in domain.scale or (1.0,) * domain.dimension]
    if any(math.isnan(y) or abs(y) > edge for y, edge in zip(scaled, edges, strict=True)):
        return True
    squares = 0.0
    for y in scaled:
        squares += y * y
    return domain.ball and math.sqrt(squares) > edges[0]


@given(rows_in(), st.data())
def test_a_flag_equals_its_twin_and_depends_on_its_row_alone(case, data):
    domain, values = case
    flags = to_block(values.copy(), domain).outside
    assert flags.tolist() == [outside_by_hand(row, domain) for row in values.T.tolist()]
    order = np.array(data.draw(st.permutations(range(values.shape[1]))), dtype=int)
    assert np.array_equal(to_block(values[:, order], domain).outside, flags[order])
    padded = np.concatenate([np.full((len(values), 41), np.nan), values], axis=1)
    assert np.array_equal(to_block(padded, domain).outside[41:], flags)


@given(rows_in(), st.data())
def test_an_image_depends_on_its_row_alone(case, data):
    domain, values = case
    whole = to_lattice(values, domain)
    cut = data.draw(st.integers(0, values.shape[1]))
    parts = [to_lattice(np.ascontiguousarray(part), domain) for part in (values[:, :cut], values[:, cut:])]
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert np.array_equal(to_lattice(np.asfortranarray(values), domain), whole)
    order = np.array(data.draw(st.permutations(range(values.shape[1]))), dtype=int)
    assert np.array_equal(to_lattice(values[:, order], domain), whole[:, order])
    padded = np.concatenate([values, np.full((len(values), 37), 1e300)], axis=1)  # other vector lanes, other alignment
    assert np.array_equal(to_lattice(padded, domain)[:, : values.shape[1]], whole)


@given(domains())
def test_nan_goes_to_the_middle_and_infinities_to_the_edge(domain):
    d = domain.dimension
    assert not to_lattice(np.full((d, 1), np.nan), domain).any()
    far = to_lattice(np.full((d, 1), np.inf), domain)[:, 0]
    assert (far > 0).all()
    assert np.array_equal(to_lattice(np.full((d, 1), -np.inf), domain)[:, 0], -far)
    if not domain.ball:
        assert (far == np.rint(domain.corners[1])).all()
    elif d == 1:
        assert far[0] >= domain.limit - 1
    middle = np.array(domain.middle)[:, None]
    assert not to_lattice(middle, domain).any()
    one = np.full((d, 1), np.nan)
    one[0] = np.inf  # one coordinate missing does not move the others
    image = to_lattice(one, domain)[:, 0]
    assert image[0] >= np.rint(domain.corners[1][0]) - 1
    assert not image[1:].any()


@given(domains().filter(lambda domain: not domain.ball), st.floats(), st.floats())
def test_the_box_keeps_order(domain, x, y):
    low, high = sorted([x, y]) if not (math.isnan(x) or math.isnan(y)) else (0.0, 1.0)
    rest = np.zeros(domain.dimension - 1)
    a, b = (to_lattice(np.concatenate([[v], rest])[:, None], domain)[0, 0] for v in (low, high))
    assert a <= b


def near_the_surface(d: int, rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows whose scaled norm is 1 up to a few units in the last place, in unkind directions; (d, n)."""
    directions = [rng.normal(size=(d, count)), rng.choice([-1.0, 1.0], size=(d, count)), np.ones((d, count))]
    sparse = np.zeros((d, count))
    sparse[rng.integers(0, d, count), np.arange(count)] = 1.0
    sparse[rng.integers(0, d, count), np.arange(count)] += 10.0 ** rng.uniform(-9, 0, count)
    directions += [sparse, rng.standard_cauchy(size=(d, count))]
    rows = np.concatenate(directions, axis=1)
    rows /= np.sqrt(np.square(rows).sum(axis=0))
    ulps = 1 + rng.integers(-6, 7, rows.shape[1]) * 2.0**-53
    lengths = np.where(rng.random(rows.shape[1]) < 0.5, ulps, 10.0 ** rng.uniform(0, 8, rows.shape[1]))
    return rows * lengths


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 17, 100, 784])
def test_the_ball_holds_in_integers(d):
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=True)
    rows = near_the_surface(d, np.random.default_rng(d), 4000 if d < 50 else 300)
    squares = np.square(to_lattice(rows, domain).astype(np.int64)).sum(axis=0)  # below 2^52: exact
    assert squares.max() <= domain.limit**2
    assert squares.max() >= (domain.limit - d**0.5 - 1) ** 2  # and the ball is used up to its surface


def test_the_test_of_the_ball_can_tell():
    """Rounding to nearest instead of toward the middle breaks the norm: the surface test sees it."""
    d = 3
    limit = Domain(middle=(0.0,) * d, half=(1.0,) * d).limit
    rows = near_the_surface(d, np.random.default_rng(d), 1000)
    rounded = np.rint(rows * (limit / np.maximum(np.sqrt(np.square(rows).sum(axis=0)), 1.0)))
    assert np.square(rounded).sum(axis=0).max() > limit**2


@given(domains(), st.data())
def test_lattice_points_survive_the_way_there_and_back(domain, data):
    point = np.array([data.draw(st.integers(-int(edge), int(edge))) for edge in domain.corners[1]])[None, :]
    assert np.array_equal(domain.snap(point), point)
    if not domain.ball:
        assert np.array_equal(to_lattice(domain.from_lattice(point).T, domain).T, point)
    again = domain.from_lattice(point)
    assert (np.abs(again - np.array(domain.middle)) <= np.array(domain.half) * (1 + 1e-9)).all()


@given(domains(), st.lists(numbers, min_size=1, max_size=6))
def test_snapping_public_points_is_total(domain, values):
    points = np.resize(np.array(values), (1, domain.dimension))
    with np.errstate(over="ignore"):
        snapped = domain.snap(points * domain.limit)
    assert snapped.dtype == np.int64
    assert np.abs(snapped).max() <= domain.limit
    assert not domain.snap(np.full((2, domain.dimension), np.nan)).any()


# The nearest centre, in exact integers.


def nearest_by_hand(rows: np.ndarray, centres: np.ndarray) -> list[int]:
    """Squared distances in Python's integers; `min` keeps the first of equals."""
    points = centres.tolist()

    def distance(row: list[int], centre: list[int]) -> int:
        return sum((x - c) ** 2 for x, c in zip(row, centre, strict=True))

    return [min(range(len(points)), key=lambda j: distance(row, points[j])) for row in rows.T.tolist()]


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 8), st.data())
def test_nearest_equals_its_twin_ties_included(d, k, n, data):
    small = st.integers(-2, 2)  # a tiny lattice: ties everywhere
    limit = Domain(middle=(0.0,) * d, half=(1.0,) * d).limit
    scale = data.draw(st.sampled_from([1, limit // 2]))
    rows = np.array(data.draw(st.lists(small, min_size=d * n, max_size=d * n)), dtype=np.int32).reshape(d, n) * scale
    centres = np.array(data.draw(st.lists(small, min_size=d * k, max_size=d * k))).reshape(k, d) * scale
    assert nearest(rows.astype(np.int32), centres).tolist() == nearest_by_hand(rows, centres)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 100, 129, 512, 784])
def test_nearest_is_exact_at_the_largest_coordinates(d):
    rng = np.random.default_rng(d)
    limit = Domain(middle=(0.0,) * d, half=(1.0,) * d).limit
    rows = rng.choice([-limit, limit, limit - 1, 1 - limit], size=(d, 40)).astype(np.int32)
    centres = rng.choice([-limit, limit], size=(7, d)).astype(np.int64)
    centres[3] = centres[2]
    centres[4] = centres[2]
    centres[4, 0] -= np.sign(centres[4, 0])  # one step from a tie
    rows[:, 0] = -centres[0]
    assert nearest(rows, centres).tolist() == nearest_by_hand(rows, centres)
    exact = [[int(c @ c) - 2 * int(c @ x) for x in rows.T.astype(object)] for c in centres.astype(object)]
    assert exact_scores(rows, centres).tolist() == exact


def test_the_exactness_test_can_tell():
    """Coordinates 64 times as large as the lattice allows lose their last digits."""
    d = 100
    limit = 64 * Domain(middle=(0.0,) * d, half=(1.0,) * d).limit
    rng = np.random.default_rng(0)
    rows = rng.integers(-limit, limit, size=(d, 200)) | 1
    centres = rng.integers(-limit, limit, size=(4, d)) | 1
    exact = np.array([[int(c @ c) - 2 * int(c @ x) for x in rows.T.astype(object)] for c in centres.astype(object)])
    assert (exact_scores(rows.astype(np.int32), centres) != exact).any()


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_dropping_a_row_changes_no_other_rows_centre(d, k, seed):
    """Plain float products depend on the batch (the shape decides which kernel runs); exact integers cannot."""
    rng = np.random.default_rng(seed)
    limit = Domain(middle=(0.0,) * d, half=(1.0,) * d).limit
    rows = rng.integers(-limit, limit + 1, size=(d, 65)).astype(np.int32)
    centres = rng.integers(-limit, limit + 1, size=(k, d))
    whole = nearest(rows, centres)
    gone = int(rng.integers(0, 65))
    assert np.array_equal(nearest(np.delete(rows, gone, axis=1), centres), np.delete(whole, gone))
    assert [int(nearest(rows[:, [j]], centres)[0]) for j in range(0, 65, 13)] == whole[::13].tolist()
