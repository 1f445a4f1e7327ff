"""Borders of queries, and the whole numbers that bound what one row can do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from covey import Ball, Box
from covey.errors import ParameterError
from covey.events import Neighbours, Sensitivity
from covey.fit.zones import Zones
from covey.public import Domain, resolve_bounds
from covey.queries import exact
from covey.queries.cover import Cover
from covey.queries.exact import WorstErrors
from covey.queries.grid import Grid
from covey.queries.projection import MOST, Projection
from covey.queries.swaps import SwapGains, _farthest_squared
from covey.queries.zoned import ByZone

BOX = resolve_bounds((-1, 1), names=None, width=2)
BALL = resolve_bounds(Ball(radius=1.0), names=None, width=2)


def test_the_farthest_row_is_bounded_by_whole_numbers_and_hardly_more():
    """In the box its farthest corner; in the ball the radius and the length of the point, rounded up by at most 1."""
    limit = BOX.limit
    points = np.array([[3, 4], [-6, 8]])
    assert _farthest_squared(points, BOX) == (6 + limit) ** 2 + (8 + limit) ** 2
    assert _farthest_squared(points[:1], BALL) == (5 + 1 + BALL.limit) ** 2
    assert _farthest_squared(points, BALL) == (10 + 1 + BALL.limit) ** 2


@pytest.mark.parametrize("candidates", [np.zeros(4), np.zeros((4, 3)), np.zeros((0, 2)), np.zeros((4, 0))])
def test_candidates_of_another_shape_are_refused_by_name(candidates):
    with pytest.raises(ParameterError, match="candidates"):
        SwapGains(candidates, np.array([0]), BOX)


@pytest.mark.parametrize("current", [np.array([0.0]), np.array([[0]]), np.arange(4), np.array([], dtype=int)])
def test_current_centres_are_some_and_fewer_than_candidates(current):
    with pytest.raises(ParameterError, match="current"):
        SwapGains(np.arange(8).reshape(4, 2), current, BOX)


def test_a_projection_leads_to_a_cube_and_cannot_be_changed():
    projection = Projection(np.array([[1, 2, 0], [0, 1, 1]]), np.zeros(3, dtype=int), np.array([5, 6]), _three())
    assert projection.target == Domain(middle=(0.0, 0.0), half=(1.0, 1.0))
    for array in (projection.matrix, projection.middle, projection.half):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def _three() -> Domain:
    return resolve_bounds((-1, 1), names=None, width=3)


@pytest.mark.parametrize("sides", [(), (0,), (3, -1), (2.0,), (1, 0)])
def test_the_sides_of_a_cover_are_positive_whole_numbers(sides):
    with pytest.raises(ParameterError, match="sides"):
        Cover(BOX, sides, reach=2, picks=1)
    assert Cover(BOX, (1, 2), reach=2, picks=1).sides == (1, 2)


@pytest.mark.parametrize("d", [1, 2, 3, 17, 1000, 10**5])
def test_the_unit_of_a_projection_is_the_largest_power_of_two_that_stays_exact(d):
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d)
    unit = Projection.unit(domain)
    assert unit & (unit - 1) == 0
    assert unit * d * 2 * domain.limit < MOST
    assert unit == 2**20 or 2 * unit * d * 2 * domain.limit >= MOST


@dataclass
class Declared:
    """A query that declares what a test says."""

    one: Sensitivity
    same: Sensitivity
    domain: Domain = BOX
    name: str = "declared"

    def sensitivity(self, neighbours):
        return self.one if neighbours is Neighbours.ADD_REMOVE else self.same


def test_by_zone_a_replaced_row_leaves_one_block_and_enters_another():
    regions = Zones.read([(Box((-1, 0), (-1, 1)), 0.5)]).on(BOX)
    one = Sensitivity(l1=3, l2_squared=5, linf=2, coordinates=2)
    small = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
    large = Sensitivity(l1=60, l2_squared=500, linf=20, coordinates=9)
    for same, expected in ((small, Sensitivity(l1=6, l2_squared=10, linf=2, coordinates=4)), (large, large)):
        by_zone = ByZone(Declared(one, same), regions)
        assert by_zone.sensitivity(Neighbours.ADD_REMOVE) == one
        assert by_zone.sensitivity(Neighbours.REPLACE_ONE) == expected


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_no_row_moves_the_gain_of_a_swap_out_of_its_range(objective):
    """Near candidates, whose gains are relative to the present cost: from 0 to what is declared, at every corner."""
    candidates = np.array([[0, 0], [1, 0], [0, 3], [2, 2]]) + BOX.limit // 3
    query = SwapGains(candidates, np.array([0, 1]), BOX, objective=objective)
    assert query.relative
    edge = np.array([-BOX.limit, -1, 0, 1, BOX.limit // 3, BOX.limit // 3 + 1, BOX.limit])
    reached = set()
    for x in edge:
        for y in edge:
            out = np.zeros(query.size, dtype=np.int64)
            query.accumulate(np.array([[x], [y]], dtype=np.int32), out)
            reached |= set(out.tolist())
    assert min(reached) >= 0
    assert max(reached) <= query.most == query.sensitivity(Neighbours.ADD_REMOVE).linf


def test_errors_of_coresets_are_the_same_however_few_are_looked_at_at_once(monkeypatch):
    query = WorstErrors(Grid(BOX, 2), points=2, centres=1, rows=6)
    cells, counts = np.array([0, 3]), np.array([4, 2])
    at_once = query.evaluate(cells, counts)
    monkeypatch.setattr(exact, "CHUNK_VALUES", 1)
    assert query.evaluate(cells, counts).tolist() == at_once.tolist()
