"""One row moves the masses of a score by at most what the query declares; masses times knots are the sum of costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sensitivity import assert_within, coordinates, exact, unit_domain

from covey.errors import ParameterError
from covey.public import Neighbours
from covey.queries.scores import MASS, SoftRings

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
KINDS = pytest.mark.parametrize("objective", ["k-means", "k-median"])


@st.composite
def cases(draw, objective: str, *, ball: bool):
    domain = unit_domain(draw(st.integers(1, 4)), ball=ball)
    limit = domain.limit
    place = st.one_of(st.sampled_from([-limit, 0, limit]), st.integers(-limit, limit))
    point = st.lists(place, min_size=domain.dimension, max_size=domain.dimension)
    sets = draw(st.lists(st.lists(point, min_size=1, max_size=3), min_size=1, max_size=3))
    breaks = draw(st.lists(st.floats(0.01, 2.0).map(lambda part: (part * limit) ** 2), max_size=1))
    most = draw(st.lists(st.one_of(st.none(), st.floats(1e-3, 1.0).map(lambda part: (part * limit) ** 2)), max_size=1))
    query = SoftRings([np.array(each) for each in sets], domain, objective=objective, breaks=breaks, most=most)
    row = st.tuples(*[coordinates(domain)] * domain.dimension)
    return query, draw(st.lists(row, max_size=4)), draw(row), draw(row)


@pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
@KINDS
def test_one_row_moves_the_masses_by_at_most_the_sensitivity(objective, ball):
    @settings(max_examples=40)
    @given(cases(objective, ball=ball))
    def check(case):
        query, rows, one, other = case
        without, with_one, with_other = (np.array(exact(query, [*rows, *more])) for more in ([], [one], [other]))
        assert_within((with_one - without).tolist(), query.sensitivity(ADD))
        assert_within((with_other - with_one).tolist(), query.sensitivity(REPLACE))
        for part in query.parts(with_one - without):
            assert part.sum() == MASS  # one row, whatever it holds

    check()


@KINDS
def test_both_bounds_are_attained(objective):
    domain = unit_domain(2, ball=False)
    query = SoftRings([[[0, 0]], [[domain.limit, 0]]], domain, objective=objective)
    at, away = (0.0, 0.0), (float(-domain.limit), float(domain.limit))
    one, other = np.array(exact(query, [at])), np.array(exact(query, [away]))
    assert np.abs(one).sum() == query.sensitivity(ADD).l1 == 2 * MASS
    assert np.abs(other - one).sum() == query.sensitivity(REPLACE).l1 == 4 * MASS
    assert np.abs(one).max() == query.sensitivity(ADD).linf
    added, replaced = query.sensitivity(ADD), query.sensitivity(REPLACE)
    assert (added.l2_squared, added.coordinates, added.monotone) == (2 * MASS**2, 4, True)
    assert (replaced.l2_squared, replaced.coordinates, replaced.monotone) == (4 * MASS**2, 8, False)


@KINDS
def test_knots_halve_the_squared_distance_with_every_second_one_from_the_farthest_place(objective):
    query = SoftRings([[[0, 0]]], unit_domain(2, ball=False), objective=objective)
    [knots] = query.knots
    assert knots[0] == 0
    assert math.isclose(
        query.told(knots)[-1],
        2 * query.domain.limit**2 if objective == "k-means" else 2**0.5 * query.domain.limit,
        rel_tol=1e-3,
    )
    power = 2 if objective == "k-means" else 4
    np.testing.assert_allclose((knots[-1:-8:-1] / knots[-2:-9:-1]) ** power, 2.0, rtol=1e-3)


def test_what_is_no_set_of_points_of_the_domain_is_refused():
    domain = unit_domain(2, ball=False)
    for sets in ([], [[[0, 0]]] * 100, [[[0, 0, 0]]], [np.zeros((0, 2))]):
        with pytest.raises(ParameterError, match="centres"):
            SoftRings(sets, domain)
    with pytest.raises(ParameterError, match="within"):
        SoftRings([[[0, 0]]], domain, breaks=[1e-9])


@KINDS
def test_masses_times_knots_are_the_sum_of_costs_and_breaks_part_nearer_from_farther(objective):
    domain = unit_domain(3, ball=False)
    rng = np.random.default_rng(3)
    rows = rng.integers(-domain.limit, domain.limit, (400, 3)).astype(float)
    centres = rng.integers(-domain.limit, domain.limit, (4, 3)).astype(float)
    near = (0.4 * domain.limit) ** 2
    query = SoftRings([centres], domain, objective=objective, breaks=[near])
    masses, [knots] = np.array(exact(query, rows.tolist())) / MASS, query.knots
    squares = np.square(rows[:, None] - centres).sum(axis=2).min(axis=1)
    costs = squares if objective == "k-means" else np.sqrt(squares)
    assert math.isclose(masses @ query.told(knots), costs.sum(), rel_tol=1e-4)
    [twice] = np.flatnonzero(np.diff(knots) == 0)
    assert math.isclose(masses[: twice + 1].sum(), (squares <= near).sum(), abs_tol=1e-9)


def test_the_cut_into_chunks_never_shows():
    domain = unit_domain(2, ball=False)
    rows = np.random.default_rng(1).integers(-domain.limit, domain.limit, (2, 300)).astype(np.int32)
    query = SoftRings([[[0, 0]], [[5, 5], [-(2**20), 3]]], domain)
    whole, cut = np.zeros((2, query.size), dtype=np.int64)
    query.accumulate(rows, whole)
    for start in range(0, 300, 7):
        query.accumulate(rows[:, start : start + 7], cut)
    assert np.array_equal(whole, cut)
