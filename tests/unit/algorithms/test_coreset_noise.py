"""The noise that coresets really draw is that of the proofs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import covey.noise.mechanisms as mechanisms
from covey.algorithms.ball_coreset import ball_coreset
from covey.algorithms.exact_coreset import exact_coreset
from covey.algorithms.net_coreset import net_coreset
from covey.noise.source import SeededSource
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.public import Neighbours
from covey.queries.ballcounts import BallScores, BoxCounts, BoxSums
from covey.queries.counts import Outside
from covey.queries.exact import WorstErrors
from covey.queries.intervals import CentreCounts, IntervalCounts
from covey.queries.net import NetSums
from covey.queries.radius import RadiusQuality
from covey.queries.squares import NearestSquares
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@pytest.fixture
def drawn(monkeypatch):
    """(kind of query, epsilon of its mechanism, rate or inverse scale of the noise that was really drawn)."""
    seen: list[tuple] = []
    asked: list[tuple] = []
    laplace, pick = mechanisms.discrete_laplace, mechanisms.pick
    release, select = Curator.release, Curator.select_several

    def noted_laplace(shape, *, inverse_scale, source):
        seen.append((*asked[-1], inverse_scale))
        return laplace(shape, inverse_scale=inverse_scale, source=source)

    def noted_pick(utilities, *, rate, source):
        seen.append((*asked[-1], rate))
        return pick(utilities, rate=rate, source=source)

    def noted_release(door, query, mechanism):
        asked.append((query, mechanism.epsilon))
        return release(door, query, mechanism)

    def noted_select(door, query, mechanism, *, times):
        asked.append((query, mechanism.epsilon))
        return select(door, query, mechanism, times=times)

    monkeypatch.setattr(mechanisms, "discrete_laplace", noted_laplace)
    monkeypatch.setattr(mechanisms, "pick", noted_pick)
    monkeypatch.setattr(Curator, "release", noted_release)
    monkeypatch.setattr(Curator, "select_several", noted_select)
    return seen


def expected(query, relation: Neighbours) -> Fraction:
    """What 1 of epsilon must be divided by, worked out by hand from the notes: not by asking the query."""
    twice, limit, d = (1 if relation is ADD else 2), query.domain.limit, query.domain.dimension
    edges = 2 * d * limit
    if isinstance(query, Outside):
        return Fraction(1)  # a replaced row moves this one count by 1
    if isinstance(query, NetSums):
        more = {(ADD, False): d * limit, (ADD, True): int((d * limit**2) ** 0.5)}.get((relation, query.domain.ball), 0)
        return Fraction(edges * query.slabs ** (d - 1) + more)
    if isinstance(query, WorstErrors):
        power = 4 * d * limit**2 if query.objective == "k-means" else int((4 * d * limit**2) ** 0.5)
        return Fraction(2 * query.points * (power >> query.shift))
    if isinstance(query, RadiusQuality):
        return Fraction(4 * query.t)
    if isinstance(query, BallScores):
        return Fraction(64 * twice)
    if isinstance(query, BoxSums):
        return Fraction(twice * (d + 1) * query.reach)
    if isinstance(query, NearestSquares):  # the farthest of many places, and never nearer than the real farthest one
        side = np.linspace(-limit, limit, 201)
        places = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 1, 2)
        farthest = np.square(places - query.centres).sum(axis=2).min(axis=1).max() / 2**query.shift
        assert farthest - 1 <= query.row_most <= 1.1 * farthest
        return Fraction(query.row_most)
    if isinstance(query, VoronoiSums):
        return Fraction(twice * (d + 1) * limit)
    return Fraction(twice)  # counts of rows, and boxes of rows under add/remove


RUNS = [
    (net_coreset, {"base": "net", "c": 3, "rounds": 2}, {NetSums, IntervalCounts, CentreCounts}),
    (net_coreset, {"base": "grid"}, {IntervalCounts, CentreCounts}),
    (exact_coreset, {"points": 2, "side": 3}, {WorstErrors}),
    (exact_coreset, {"points": 2, "side": 3, "objective": "k-median"}, {WorstErrors}),
    (ball_coreset, {}, {BallScores, VoronoiSums, NearestSquares}),
    (ball_coreset, {"radius_method": "exponential", "side": 8}, {RadiusQuality, BoxCounts, BoxSums, VoronoiSums}),
    (ball_coreset, {"rows_per_part": 2000}, {BallScores, VoronoiSums}),
]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("algorithm", "own", "kinds"), RUNS)
def test_the_noise_that_is_drawn_is_that_of_the_proofs(curator_of, drawn, algorithm, own, kinds, relation):
    """Exactly, not statistically: a scale that is off by a thousandth is refused."""
    rows = np.random.default_rng(1).normal(0, 0.2, (5000, 2))
    epsilon = Fraction(20)
    curator = curator_of(rows, neighbours=relation, epsilon=epsilon, source=SeededSource(5))
    algorithm(curator, k=2, epsilon=epsilon, public_rng=public_rng(1), starts=1, **own)
    assert kinds <= {type(query) for query, *_ in drawn}
    for query, paid, rate in drawn:
        assert rate == paid / expected(query, relation), type(query)
    if "rows_per_part" not in own:  # the parts of a split are paid for once
        assert sum(paid for _, paid, _ in drawn) == epsilon
    assert curator._reserve.opened.epsilon == epsilon
