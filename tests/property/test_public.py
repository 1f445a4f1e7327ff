"""Declarations: domains, bounds, people, neighbours. None of it ever sees a row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import DataError, ParameterError
from covey.public import Ball, Box, Domain, Neighbours, Person, resolve_bounds


@given(st.integers(1, 100_000))
def test_bits_are_the_most_that_keep_distances_exact(d):
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    b = domain.bits
    log2 = (d - 1).bit_length()
    assert 2 * b + log2 <= 52 < 2 * (b + 1) + log2
    assert domain.limit == 2 ** (b - 1) - 1
    assert 4 * d * domain.limit**2 < 2**52  # |x - c|²; |c|² - 2xc is smaller


@given(st.integers(1, 1000))
def test_row_norms(d):
    box = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    ball = Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=True)
    limit = box.limit
    assert (box.row_l1, box.row_l2_squared) == (d * limit, d * limit**2)
    assert ball.row_l2_squared == limit**2
    assert ball.row_l1**2 <= d * limit**2 < (ball.row_l1 + 1) ** 2


finite = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(finite, finite).filter(lambda p: p[1] - p[0] > 1e-3), min_size=1, max_size=5))
def test_a_pair_of_arrays_is_a_box(ranges):
    lower, upper = zip(*ranges, strict=True)
    by_arrays = resolve_bounds((np.array(lower), np.array(upper)), names=None, width=len(ranges))
    by_box = resolve_bounds(Box(*ranges), names=None, width=len(ranges))
    assert by_arrays == by_box
    names = [f"c{i}" for i in range(len(ranges))]
    by_name = Box.of(dict(zip(names, ranges, strict=True)))
    assert resolve_bounds(by_name, names=[*names, "other"], width=len(ranges) + 1).columns == tuple(names)
    assert by_name == Box.of(dict(zip(names, ranges, strict=True)))
    assert hash(by_name) == hash(Box.of(dict(zip(names, ranges, strict=True))))
    assert by_name != Box(*ranges)
    assert eval(repr(by_name)) == by_name


def test_a_pair_of_numbers_is_for_every_column():
    domain = resolve_bounds((-2, 4), names=None, width=3)
    assert domain.middle == (1.0,) * 3
    assert domain.half == (3.0,) * 3
    assert domain.describe() == {"type": "box", "lower": [-2.0] * 3, "upper": [4.0] * 3}
    assert domain.names == ("x0", "x1", "x2")


def test_a_ball():
    domain = resolve_bounds(Ball(2, center=(1, 1)), names=["a", "b"], width=2)
    assert domain.ball
    assert domain.describe() == {"type": "ball", "radius": 2.0, "center": [1.0, 1.0]}
    chosen = resolve_bounds(Ball(2, columns=("b",)), names=["a", "b"], width=2)
    assert (chosen.columns, chosen.dimension) == (("b",), 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(),
        lambda: Box((0, 1), a=(0, 1)),
        lambda: Box((1, 0)),
        lambda: Box((0, 0)),
        lambda: Box((0, math.nan)),
        lambda: Box((0, math.inf)),
        lambda: Box((-math.inf, 0)),
        lambda: Box(("a", "b")),
        lambda: Box((0,)),
        lambda: Box((0, 1, 2)),
        lambda: Box(3),
        lambda: Box((1e16, 1e16 + 2)),
        lambda: Box((-1e308, 1e308)),
        lambda: Box((0, 1e-310)),
        lambda: Ball(0),
        lambda: Ball(-1),
        lambda: Ball(math.nan),
        lambda: Ball(math.inf),
        lambda: Ball("wide"),
        lambda: Ball(1, center=(math.nan,)),
        lambda: Ball(1, center=("x",)),
        lambda: Ball(1e-10, center=(1e10,)),
        lambda: resolve_bounds(None, names=None, width=2),
        lambda: resolve_bounds("ab", names=None, width=2),
        lambda: resolve_bounds((0, 1, 2), names=None, width=2),
        lambda: resolve_bounds(5, names=None, width=2),
        lambda: resolve_bounds((1, 0), names=None, width=2),
        lambda: resolve_bounds(([0, 0, 0], [1, 1, 1]), names=None, width=2),
        lambda: resolve_bounds(([[0, 0]], [[1, 1]]), names=None, width=2),
        lambda: resolve_bounds(Box((0, 1)), names=None, width=2),
        lambda: resolve_bounds(Box(a=(0, 1)), names=None, width=2),
        lambda: resolve_bounds(Ball(1, center=(0,)), names=None, width=2),
        lambda: resolve_bounds(Ball(1, columns=("a",)), names=None, width=2),
    ],
)
def test_bad_bounds_are_refused_by_name(make):
    with pytest.raises(ParameterError, match="bounds") as refusal:
        make()
    assert "bounds" in refusal.value.parameter


NEW_YORK = Box((-74.3, -73.65), (40.45, 41.0))


@pytest.mark.parametrize(
    ("bounds", "width", "meant"),
    [
        ([(-74.3, -73.65), (40.45, 41.0)], 2, NEW_YORK),
        ([[-74.3, -73.65], [40.45, 41.0]], 2, NEW_YORK),
        ((np.array([-74.3, 40.45]), np.array([-73.65, 41.0])), 2, NEW_YORK),
        (((40.45, -74.3), (41.0, -73.65)), 2, Box((40.45, 41.0), (-74.3, -73.65))),  # as ranges they are reversed
        (((0, 0), (1, 1)), 2, Box((0, 1), (0, 1))),
        (([0, 1], [1, 2]), 1, None),
        ([(0, 1), (2, 3), (4, 5)], 3, Box((0, 1), (2, 3), (4, 5))),
        (((0, 1), (2, 3), (4, 5)), 3, Box((0, 1), (2, 3), (4, 5))),
        (np.array([(0, 1), (2, 3), (4, 5)]), 3, Box((0, 1), (2, 3), (4, 5))),
        (np.array([(0, 2, 4), (1, 3, 5)]), 3, Box((0, 1), (2, 3), (4, 5))),
        ([[0, 2, 4], [1, 3, 5]], 3, Box((0, 1), (2, 3), (4, 5))),
        ([(0, 1)], 1, Box((0, 1))),
        ([0, 1], 1, Box((0, 1))),
        ([0, 1], 2, Box((0, 1), (0, 1))),
        ((0, [1, 2]), 2, Box((0, 1), (0, 2))),
        ({"lon": (-74.3, -73.65), "lat": (40.45, 41.0)}, 2, NEW_YORK),
    ],
)
def test_bounds_that_people_write(bounds, width, meant):
    if meant is None:
        with pytest.raises(ParameterError, match="one range for each of 1 columns"):
            resolve_bounds(bounds, names=None, width=width)
        return
    found = resolve_bounds(bounds, names=None, width=width)
    known = meant.domain(None, width)
    assert (found.middle, found.half) == (known.middle, known.half)


@pytest.mark.parametrize("kind", [tuple, np.array, lambda pairs: [np.array(each) for each in pairs]])
def test_bounds_that_can_be_read_in_two_ways_are_refused_with_both(kind):
    both = r"Box\(\(-74.3, -73.65\), \(40.45, 41\)\).*Box\(\(-74.3, 40.45\), \(-73.65, 41\)\)"
    with pytest.raises(ParameterError, match=both):
        resolve_bounds(kind([(-74.3, -73.65), (40.45, 41.0)]), names=None, width=2)


@pytest.mark.parametrize("bounds", [[(0, 1), (3, 2)], [(0, 1), (2, 2)], {"a": (0, 1), "b": (3, 2)}])
def test_a_reversed_or_empty_range_is_named(bounds):
    with pytest.raises(ParameterError, match=r"bounds of (column 1|b): lower must be below upper"):
        resolve_bounds(bounds, names=None, width=2)


def test_a_dictionary_chooses_columns():
    found = resolve_bounds({"lat": (40, 41)}, names=["lon", "lat"], width=2)
    assert (found.columns, found.dimension) == (("lat",), 1)


@pytest.mark.parametrize("bounds", [Box(a=(0, 1)), Ball(1, columns=("a",)), (0, 1), Box((0, 1), (0, 1)), Ball(1)])
@pytest.mark.parametrize("names", [["a", "a"]])
def test_a_column_that_is_there_twice_is_refused(bounds, names):
    with pytest.raises(DataError, match="more than one column 'a'"):
        resolve_bounds(bounds, names=names, width=2)


@pytest.mark.parametrize("bounds", [Box(z=(0, 1)), Ball(1, columns=("z",))])
def test_a_column_that_is_missing_is_refused(bounds):
    with pytest.raises(DataError, match="no column 'z'"):
        resolve_bounds(bounds, names=["a", "b"], width=2)


def test_a_box_takes_any_column_name():
    assert Box.of({"self": (0, 1), "a b": (0, 1), 7: (0, 1)}).columns == ("self", "a b", "7")


@pytest.mark.parametrize("value", ["add-remove", "replace-one", Neighbours.ADD_REMOVE])
def test_neighbours_are_parsed(value):
    assert Neighbours.parse(value) == value


@pytest.mark.parametrize("value", ["", "both", None, 3, ["add-remove"], True])
def test_other_neighbours_are_refused(value):
    with pytest.raises(ParameterError, match="neighbours: must be 'add-remove' or 'replace-one'"):
        Neighbours.parse(value)


@pytest.mark.parametrize(
    ("column", "rows", "parameter"),
    [
        ("", 1, "person"),
        (3, 1, "person"),
        (None, 2, "rows_per_person"),
        ("id", 0, "rows_per_person"),
        ("id", 1.5, "rows_per_person"),
        ("id", True, "rows_per_person"),
    ],
)
def test_bad_people_are_refused(column, rows, parameter):
    with pytest.raises(ParameterError) as refusal:
        Person(column, rows)
    assert refusal.value.parameter == parameter


def test_people_in_words():
    assert str(Person()) == "one row"
    assert "'id'" in str(Person("id", 3))
    assert "3" in str(Person("id", 3))
