"""Rings that have one inside: what crosses, touches or runs over itself is refused, exactly and quickly."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import FormatError
from covey.geo.geojson import Region, inside
from covey.geo.rings import check_rings

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]


def polygon(*rings):
    return {"type": "Polygon", "coordinates": [np.asarray(ring).tolist() for ring in rings]}


@pytest.mark.parametrize(
    "ring",
    [
        [[0, 0], [2, 2], [2, 0], [0, 2]],
        [*SQUARE, *SQUARE],
        [[0, 0], [9, 0], [9, 9], [1, 9], [1, 1], [8, 1], [8, 8], [0, 8]],
        [[0, 0], [2, 0], [3, 0], [2, 0], [2, 2], [0, 2]],
        [[0, 0], [1, 1], [3, 3]],
        [[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 1]],
        [[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]],
        [[0, 0], [4, 0], [4, 2], [3, 0], [1, 0], [0, 2]],
    ],
    ids=["bow-tie", "twice", "wound twice", "spike", "no area", "corner twice", "corner on an edge", "along an edge"],
)
def test_a_ring_that_meets_itself_is_refused(ring):
    """By crossings, the middle of a ring that is wound twice is outside: its rows had no protection."""
    for each in (ring, ring[::-1], [*ring, ring[0]], ring[2:] + ring[:2]):
        with pytest.raises(FormatError, match=r"zones: a ring .*itself near \["):
            Region.read(polygon(each), name="zones")


@pytest.mark.parametrize(
    "rings",
    [
        [SQUARE],
        [[*SQUARE, SQUARE[0]]],
        [[[0, 0], [0, 0], [4, 0], [4, 4], [4, 4], [0, 4], [0, 0], [0, 0]]],
        [[[0, 0], [1, 0], [2, 0], [4, 0], [4, 4], [0, 4]]],
        [SQUARE, [[1, 1], [2, 1], [2, 2]]],
        [SQUARE, [[0, 1], [2, 1], [2, 2]]],
        [SQUARE, [[0, 0], [1, 2], [2, 1]], [[4, 4], [3, 2], [2, 3]]],
        [[[0.1, 0.1], [0.2, 0.2], [0.30000000000000004, 0.3], [0.4, 0.4], [0.4, 0.1]]],
    ],
    ids=["plain", "closed", "twice in a row", "on a line", "hole", "hole at a border", "holes at corners", "nearly"],
)
def test_a_ring_that_does_not_is_taken(rings):
    assert Region.read(polygon(*rings)).contains([rings[0][0]]).all()


@pytest.mark.parametrize(
    ("hole", "words"),
    [
        ([[-1, 1], [2, 1], [2, 2]], "crosses"),
        ([[0, 1], [2, 1], [2, 2], [0, 2]], "along"),
        (SQUARE, "along"),
        ([[6, 1], [7, 1], [7, 2]], "outside"),
        ([[-1, -1], [5, -1], [5, 5], [-1, 5]], "outside"),
    ],
)
def test_a_hole_lies_in_its_polygon(hole, words):
    with pytest.raises(FormatError, match=words):
        Region.read(polygon(SQUARE, hole))


def test_polygons_that_overlap_add_up():
    both = {"type": "MultiPolygon", "coordinates": [[SQUARE], [[[2, 2], [6, 2], [6, 6], [2, 6]]], [SQUARE]]}
    assert Region.read(both).contains([[1, 1], [3, 3], [5, 5], [5, 1]]).tolist() == [True, True, True, False]


# --- against every pair of edges, in fractions ------------------------------------------------------------------------


def turn(a, b, c):
    (ax, ay), (bx, by), (cx, cy) = (map(Fraction, each) for each in (a, b, c))
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def between(a, b, c):
    return all(min(u, v) <= w <= max(u, v) for u, v, w in zip(a, b, c, strict=True))


def meets_itself(ring):
    n = len(ring)
    edges = [(ring[i], ring[(i + 1) % n]) for i in range(n)]
    for (i, (a, b)), (j, (c, d)) in combinations(enumerate(edges), 2):
        first, second, third, fourth = turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)
        on = [(first, a, b, c), (second, a, b, d), (third, c, d, a), (fourth, c, d, b)]
        shared = {(i + 1) % n == j: b, (j + 1) % n == i: a}.get(True)
        ends = {end for sign, u, v, end in on if sign == 0 and between(u, v, end)} - {shared}
        if (first * second < 0 and third * fourth < 0) or ends:
            return True
    return False


steps = st.integers(0, 4).map(lambda i: (0.1, 0.2, 0.30000000000000004, 0.3, 0.7)[i])
rings = st.lists(st.tuples(steps, steps), min_size=3, max_size=8, unique=True)


@settings(max_examples=400, deadline=None)
@given(rings)
def test_every_pair_of_edges_is_judged_as_fractions_judge_it(ring):
    try:
        check_rings([np.array(ring)], "region")
        refused = False
    except FormatError:
        refused = True
    assert refused == meets_itself(ring)


@settings(max_examples=50, deadline=None)
@given(rings, st.integers(0, 2**32))
def test_of_a_ring_that_is_taken_crossings_and_turns_say_the_same(ring, seed):
    try:
        [edges] = Region.read(polygon(ring)).polygons
    except FormatError:
        return
    points = np.random.default_rng(seed).uniform(0, 0.8, (50, 2))
    x1, y1, x2, y2 = edges.T
    for point, found in zip(points, inside(points, edges), strict=True):
        angle = np.arctan2(y2 - point[1], x2 - point[0]) - np.arctan2(y1 - point[1], x1 - point[0])
        around = round(float(((angle + np.pi) % (2 * np.pi) - np.pi).sum() / (2 * np.pi)))
        assert found == (around != 0)


# --- many corners -----------------------------------------------------------------------------------------------------

MANY = 100_000
ANGLES = np.linspace(0, 2 * np.pi, MANY, endpoint=False)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def comb(turned=False):
    x, y = np.repeat(np.arange(MANY // 2), 2) * 0.001, np.tile([0.0, 1, 1, 0], MANY // 4)
    corners = np.concatenate([np.stack([x, y], axis=1), [[x[-1], -1], [0, -1]]])
    return corners[:, ::-1] if turned else corners


def on_a_line():
    line = np.stack([np.arange(MANY), np.arange(MANY) * 3], axis=1) * 0.1
    return np.concatenate([line, [[0, 1000.0]]])


def test_a_hundred_thousand_corners_take_seconds():
    for ring in (CIRCLE, comb(), comb(turned=True), on_a_line()):
        took = []
        for _ in range(2):  # the quicker: other work of the machine counts too
            started = time.process_time()
            check_rings([ring], "region")
            took.append(time.process_time() - started)
        assert min(took) < 4


@pytest.mark.parametrize("at", [(0, 2), (500, 60_000), (99_000, 10)])
def test_one_crossing_among_a_hundred_thousand_edges_is_found(at):
    ring = CIRCLE.copy()
    ring[list(at)] = ring[list(at)[::-1]]
    with pytest.raises(FormatError, match="crosses or touches itself"):
        check_rings([ring], "region")


def test_what_cannot_be_judged_in_time_is_refused():
    zigzag = CIRCLE * np.where(np.arange(MANY) % 2, 1.0, 0.5)[:, None]
    with pytest.raises(FormatError, match="simplify"):
        check_rings([zigzag], "region")


def test_no_setting_of_numpy_makes_it_raise():
    with np.errstate(all="raise"):
        for scale in (1e-140, 1e99):
            Region.read(polygon(np.array(SQUARE) / 4 * scale, np.array([[1, 1], [2, 1], [2, 2]]) / 4 * scale))
            with pytest.raises(FormatError, match="itself"):
                Region.read(polygon(np.array([[0, 0], [1, 1], [1, 0], [0, 1]]) * scale))
