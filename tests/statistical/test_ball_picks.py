"""The picks of ball-coreset use the rate that was paid for: a rate that is off by 10% is noticed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from covey.algorithms.ball_coreset import Settings, good_radius_and_centre, joint_pick, one_part
from covey.budget.accounting.plan import Plan, Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.events import Pure
from covey.noise.mechanisms import Exponential
from covey.noise.source import SeededSource
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.ballcounts import WORTH, BallScores
from covey.queries.grid import Grid
from covey.queries.radius import RadiusQuality

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
LINE = Domain(middle=(0.0,), half=(1.0,))
GRID = Grid(LINE, 2)
ROWS = np.array([-0.5] * 20 + [0.5] * 5).reshape(-1, 1)
EPSILON = Fraction(3, 4)  # odds of about 8 to 1, where 10% of the rate shows best
RUNS = 12_000


def settings(relation: Neighbours) -> Settings:
    return Settings(
        domain=LINE,
        neighbours=relation,
        k=1,
        radius_method="joint",
        weights="printed",
        fraction=1.0,
        margin=1.0,
        side=2,
        rows_per_part=None,
        too_few="stop",
    )


def curator(
    engine: MemoryEngine, relation: Neighbours, source: SeededSource, *, events: int, epsilon: Fraction = EPSILON
) -> Curator:
    made = Curator(
        engine,
        domain=LINE,
        source=source,
        reserve=Reserve(Promise.of(epsilon * events, kind=Kind(relation))),
        charge=lambda: None,
    )
    made.reserve(Plan((Pure(epsilon),) * events))
    return made


def fits(hits: int, runs: int, log_odds: float, *, significance: float = 1e-4) -> bool:
    """Whether so many hits are what these odds give."""
    p = 1 / (1 + math.exp(-log_odds))
    return bool(stats.binomtest(hits, runs, p).pvalue > significance)


@pytest.mark.parametrize(("relation", "halved"), [(ADD, 1), (REPLACE, 2)])
def test_a_pick_has_the_promised_odds_and_this_test_can_tell(relation, halved):
    """Two places, 20 and 5 rows, t = 10. Odds: e^(ε·(difference of scores)/64); replace-one needs twice ε."""
    engine, source = MemoryEngine(ArrayTable(ROWS), LINE), SeededSource(11)
    scores = BallScores(GRID, 10).evaluate(np.array([0, 1]), np.array([20, 5]))
    assert len(scores) == 2
    door = curator(engine, relation, source, events=RUNS, epsilon=EPSILON * halved)
    cells = door.on_cells(GRID)
    hits = sum(joint_pick(cells, GRID, 10, EPSILON * halved)[0] < 0 for _ in range(RUNS))
    assert door._reserve.remaining == ()
    odds = float(EPSILON) * (scores[0] - scores[1]) / WORTH
    for off, accepted in ((1.0, True), (0.9, False), (1.1, False), (2.0, False)):
        assert fits(hits, RUNS, odds * off) == accepted


def test_after_a_ball_its_rows_no_longer_count():
    """With all of the first place's rows dropped, the second place is picked with its own odds."""
    engine, source = MemoryEngine(ArrayTable(ROWS), LINE), SeededSource(12)
    alone = BallScores(GRID, 5).evaluate(np.array([1]), np.array([5]))
    hits = trials = 0
    for _ in range(RUNS // 4):
        door = curator(engine, ADD, source, events=2)
        found = one_part(door, GRID, [20, 5], [EPSILON] * 2, None, settings(ADD)).coreset
        if found.points[0, 0] < 0:
            trials, hits = trials + 1, hits + (found.points[1, 0] > 0)
    odds = float(EPSILON) * (alone[1] - alone[0]) / WORTH
    assert fits(hits, trials, odds)
    assert not fits(hits, trials, odds * 1.25)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_radius_is_picked_with_the_promised_odds(relation):
    """GOOD-RADIUS: the rate is ε/(4t) under both relations."""
    engine, source, epsilon = MemoryEngine(ArrayTable(ROWS), LINE), SeededSource(13), Fraction(4)
    query, pick = RadiusQuality(GRID, 12, 3), Exponential(epsilon)
    quality = query.evaluate(np.array([0, 1]), np.array([20, 5]))
    doors = [curator(engine, relation, source, events=1, epsilon=epsilon) for _ in range(RUNS // 4)]
    counts = np.bincount([door.on_cells(GRID).select(query, pick) for door in doors], minlength=query.size)
    for off, accepted in ((1.0, True), (0.8, False), (1.25, False)):
        weights = np.exp(float(epsilon) * off * (quality - quality.max()) / (4 * query.t))
        expected = weights / weights.sum() * counts.sum()
        assert (stats.chisquare(counts, expected).pvalue > 1e-4) == accepted


def test_the_printed_form_draws_three_events_a_round():
    engine, source = MemoryEngine(ArrayTable(ROWS), LINE), SeededSource(14)
    door = curator(engine, ADD, source, events=3)
    place = good_radius_and_centre(door.on_cells(GRID), GRID, 10, EPSILON)
    assert np.abs(place).max() <= LINE.limit
    assert door._reserve.remaining == ()
