"""`Variances`, the query that `auto` added: one row moves it by at most what it declares, the split of the rows never
shows, it equals its twin in Python's integers, and the declared bounds are reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_query_clipped_bounds import (
    assert_within,
    clipped,
    domains,
    exact,
    lattice,
    one_row,
    points,
    radii,
    unit_domain,
)

from covey.public import Neighbours
from covey.queries.moments import Variances

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
BOTH_DOMAINS = pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])


@st.composite
def cases(draw, *, ball: bool):
    domain = draw(domains(ball=ball))
    query = Variances(domain, draw(points(domain, 1))[0], draw(radii(domain)))
    rows = draw(st.lists(one_row(query), max_size=5))
    rows += draw(st.lists(st.sampled_from(rows), max_size=2)) if rows else []  # duplicates
    return query, rows


@BOTH_DOMAINS
def test_one_row_moves_the_squares_by_at_most_the_sensitivity(ball):
    @settings(max_examples=100)
    @given(cases(ball=ball), st.data())
    def check(case, data):
        query, rows = case
        one, other = data.draw(one_row(query)), data.draw(one_row(query))
        without = np.array(exact(query, rows))
        with_one, with_other = (np.array(exact(query, [*rows, each])) for each in (one, other))
        assert_within((with_one - without).tolist(), query.sensitivity(ADD))
        assert_within((without - with_other).tolist(), query.sensitivity(ADD))
        assert_within((with_other - with_one).tolist(), query.sensitivity(REPLACE))

    check()


@BOTH_DOMAINS
def test_the_squares_equal_their_twin_however_the_rows_are_split(ball):
    @settings(max_examples=50)
    @given(cases(ball=ball), st.lists(st.integers(0, 30), max_size=4))
    def check(case, cuts):
        query, rows = case
        limit, d = query.domain.limit, query.domain.dimension
        more = np.random.default_rng(7).uniform(-limit, limit, (20, d))
        columns = lattice(query.domain, [*rows, *map(tuple, more.tolist())])
        total = [0] * d
        for row in columns.T.tolist():
            y = clipped(row, query.clip.centres[0].tolist(), int(query.clip.radii[0]), query.clip.unit_limit, "l2")
            total = [t + v * v for t, v in zip(total, y, strict=True)]
        parts = np.zeros(d, dtype=np.int64)
        for part in np.split(columns, sorted(cuts), axis=1):
            query.accumulate(np.asfortranarray(part), parts)
        assert parts.tolist() == total

    check()


@pytest.mark.parametrize("d", [1, 2, 50])
def test_the_declared_bounds_are_reached_so_no_noise_is_wasted(d):
    domain = unit_domain(d, ball=False)
    query = Variances(domain, np.zeros(d), domain.limit)
    first, last = np.zeros(d), np.zeros(d)
    first[0], last[-1] = domain.limit, 0 if d == 1 else domain.limit
    gained = np.array(exact(query, [tuple(first)]))
    moved = gained - np.array(exact(query, [tuple(last)]))
    for change, bound in ((gained, query.sensitivity(ADD)), (moved, query.sensitivity(REPLACE))):
        assert np.abs(change).sum() == bound.l1
        assert (change.astype(object) ** 2).sum() == bound.l2_squared
        assert np.abs(change).max() == bound.linf


def test_the_check_catches_a_bound_that_is_a_tenth_too_small():
    domain = unit_domain(3, ball=False)
    query = Variances(domain, np.zeros(3), domain.limit)
    bound = query.sensitivity(REPLACE)
    less = type(bound)(**{**vars(bound), "l1": bound.l1 * 9 // 10})
    change = np.array(exact(query, [(domain.limit, 0, 0)])) - np.array(exact(query, [(0, domain.limit, 0)]))
    assert_within(change.tolist(), bound)
    with pytest.raises(AssertionError):
        assert_within(change.tolist(), less)


def test_squares_in_lattice_units():
    domain = unit_domain(2, ball=False)
    query = Variances(domain, [0, 0], domain.limit)
    half = domain.limit // 2
    found = query.squares(np.array(exact(query, [(half, 0), (-half, half)])))
    np.testing.assert_allclose(found, [2 * half**2, half**2], rtol=1e-4)
