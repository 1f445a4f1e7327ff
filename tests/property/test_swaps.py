"""Gains of swaps: equal to their brute-force twin, never further than declared, in range, exact in any batch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import ParameterError
from covey.private.lattice import to_lattice
from covey.public import Domain, Neighbours
from covey.queries.swaps import SwapGains

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
OBJECTIVES = ("k-means", "k-median")


def unit_domain(d: int, *, ball: bool) -> Domain:
    limit = float(Domain(middle=(0.0,) * d, half=(1.0,) * d).limit)
    return Domain(middle=(0.0,) * d, half=(limit,) * d, ball=ball)


def total(query: SwapGains, rows: np.ndarray) -> list[int]:
    out = np.zeros(query.size, dtype=np.int64)
    query.accumulate(rows, out)
    return out.tolist()


def cost(query: SwapGains, row: list[int], centre: list[int]) -> int:
    squared = sum((x - c) ** 2 for x, c in zip(row, centre, strict=True))
    return (squared if query.objective == "k-means" else math.isqrt(squared)) >> query.shift


def by_hand(query: SwapGains, rows: list[list[int]]) -> list[int]:
    """Every swap, every row, every centre, in Python integers."""
    places, current = query.candidates.tolist(), query.current.tolist()
    others = [i for i in range(len(places)) if i not in current]
    found = []
    for j in range(len(current)):
        for i in others:
            after = [*current[:j], i, *current[j + 1 :]]
            utility = 0
            for row in rows:
                new = min(cost(query, row, places[c]) for c in after)
                old = min(cost(query, row, places[c]) for c in current)
                utility += query.offset + old - new if query.relative else -new
            found.append(utility)
    return found


@st.composite
def cases(draw):
    domain = unit_domain(draw(st.integers(1, 5)), ball=draw(st.booleans()))
    d, limit = domain.dimension, domain.limit
    edge = st.sampled_from([-limit, limit, 0, limit // 2, -(limit // 2), 1])
    near = st.integers(-3, 3)
    place = st.tuples(*[edge | near | st.integers(-limit, limit)] * d)
    m = draw(st.integers(2, 7))
    if draw(st.booleans()):  # candidates close together: the range relative to the current cost is small
        place = st.tuples(*[st.integers(-limit // 9, limit // 9)] * d)
    candidates = np.array(draw(st.lists(place, min_size=m, max_size=m)), dtype=np.float64)
    if domain.ball:
        candidates = to_lattice(candidates.T, domain).T.astype(np.float64)
    current = draw(st.permutations(range(m)))[: draw(st.integers(1, m - 1))]
    query = SwapGains(candidates, np.array(current), domain, objective=draw(st.sampled_from(OBJECTIVES)))
    wild = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e300, float(limit), -float(limit)])
    row = st.tuples(*[wild | st.integers(-limit, limit).map(float)] * d)
    values = np.array(draw(st.lists(row, min_size=2, max_size=8)), dtype=np.float64)
    return query, to_lattice(values.T, domain)


@settings(max_examples=160)
@given(cases())
def test_gains_equal_their_twin_and_one_row_stays_in_range(case):
    query, rows = case
    assert total(query, rows) == by_hand(query, rows.T.tolist())
    one, other = (np.array(total(query, rows[:, [i]])) for i in (0, 1))
    declared = query.sensitivity(ADD)
    assert declared.monotone
    assert declared.linf == query.most <= query.row_cost
    for each in (one, other):
        assert np.abs(each).max() <= declared.linf
        assert (each >= 0).all() or (each <= 0).all()
        assert np.abs(each).sum() <= declared.l1
    assert np.abs(one - other).max() <= query.sensitivity(REPLACE).linf
    assert not query.sensitivity(REPLACE).monotone


@settings(max_examples=60)
@given(cases(), st.integers(1, 3))
def test_the_batch_does_not_matter(case, cut):
    query, rows = case
    whole = total(query, np.repeat(rows, 40, axis=1))
    parts = np.array_split(np.repeat(rows, 40, axis=1), cut + 1, axis=1)
    assert whole == sum(np.array(total(query, part)) for part in parts).tolist()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("ball", [False, True])
def test_the_range_of_close_candidates_is_nearly_attained_and_below_the_diameter(objective, ball):
    """A bound that were much too wide would only be noise; one that were smaller would be attained and passed."""
    domain = unit_domain(2, ball=ball)
    step = domain.limit // 8
    query = SwapGains([[0, 0], [step, 0], [-step, 0]], np.array([0]), domain, objective=objective)
    assert query.relative
    assert query.most < 0.6 * query.row_cost
    ends = np.array([[domain.limit, -domain.limit], [0, 0]], dtype=np.int32)
    seen = [np.array(total(query, ends[:, [i]])) for i in (0, 1)]
    assert max(each.max() for each in seen) >= 0.99 * query.most
    assert min(each.min() for each in seen) <= 0.01 * query.most + 2


def test_swaps_are_numbered_by_who_goes_and_who_comes():
    domain = unit_domain(1, ball=False)
    query = SwapGains([[0], [10], [20], [30]], np.array([2, 0]), domain)
    assert [query.swap(i) for i in range(query.size)] == [(0, 1), (0, 3), (1, 1), (1, 3)]
    assert query.after(3).tolist() == [2, 3]
    assert query.current.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("candidates", "current", "word"),
    [
        ([[0.0]], [0], "current"),
        ([[0.0], [1.0]], [0, 1], "current"),
        ([[0.0], [1.0], [2.0]], [0, 0], "current"),
        ([[0.0], [1.0]], [2], "current"),
        ([[0.0], [1.0]], [0.0], "current"),
        ([[0.0, 1.0]], [0], "candidates"),
        ([], [0], "candidates"),
    ],
)
def test_what_is_refused(candidates, current, word):
    with pytest.raises(ParameterError, match=word):
        SwapGains(candidates, np.array(current), unit_domain(1, ball=False))


def test_an_unknown_objective_is_refused():
    with pytest.raises(ParameterError, match="objective"):
        SwapGains([[0.0], [1.0]], np.array([0]), unit_domain(1, ball=False), objective="k-center")
