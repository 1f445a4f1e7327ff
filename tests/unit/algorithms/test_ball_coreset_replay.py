"""Replay of the ball coreset in the forms that the audit's defaults do not reach."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.ball_coreset import ball_coreset
from covey.errors import CoveyError
from covey.noise.source import SeededSource
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.base import exact
from covey.public import Neighbours

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
FORMS = [
    {"too_few": "run"},
    {"too_few": "run", "radius_method": "exponential", "side": 16},
    {"too_few": "run", "weights": "printed", "fraction": 3.0},
    {"too_few": "run", "rows_per_part": 60},
    {"margin": 1e-3},
    {},
]


def described(query):
    return type(query).__name__, {
        name: each.tolist() if isinstance(each, np.ndarray) else repr(each) for name, each in vars(query).items()
    }


def replayed(monkeypatch, curator, frozen, **own):
    """Plans, questions, exact answers and released ones; with `frozen`, those are handed out again."""
    seen: list[tuple] = []
    plans: list = []
    release, select, reserve = Curator.release, Curator.select_several, Curator.reserve
    split = Curator.split

    def answer(door, query, mechanism, real):
        truth = exact(door._engine, query)
        given = frozen[len(seen)] if frozen else real()
        seen.append((query, mechanism, truth, given))
        return given

    def coins(door, parts, plan):
        source, door._source = door._source, SeededSource(3)  # rows that both data sets have keep their coins
        found = split(door, parts, plan)
        door._source = source
        for each in found:
            each._source = source
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Curator, "release", lambda door, q, m: answer(door, q, m, lambda: release(door, q, m)))
        patch.setattr(
            Curator,
            "select_several",
            lambda door, q, m, *, times: answer(door, q, m, lambda: select(door, q, m, times=times)),
        )
        patch.setattr(Curator, "reserve", lambda door, plan: (plans.append(plan), reserve(door, plan))[1])
        patch.setattr(Curator, "split", coins)
        try:
            outcome = ball_coreset(curator, k=2, public_rng=public_rng(1), starts=1, **own)
            end = (outcome.centres.tolist(), outcome.notes, outcome.coreset.weights.tolist())
        except CoveyError as error:
            end = str(error)
    return seen, plans, end


def every_other() -> list:
    """All combinations, half of them slow; every two values of two parameters meet in the other half."""
    numbers = itertools.product(range(len(FORMS)), range(2), range(2))
    relations, deltas = [ADD, REPLACE], [Fraction(0), Fraction(1, 10**4)]
    return [
        pytest.param(relations[i], deltas[j], FORMS[form], marks=[pytest.mark.slow] if (form + i + j) % 2 else [])
        for form, i, j in numbers
    ]


@pytest.mark.parametrize(("relation", "delta", "own"), every_other())
def test_a_ball_coreset_asks_the_same_on_neighbours(monkeypatch, curator_of, relation, delta, own):
    rng = np.random.default_rng(2)
    clouds = [
        rng.uniform(-1, 1, (180, 2)),
        np.full((150, 2), 0.25),
        np.empty((0, 2)),
        rng.choice([-1.0, 0, 1], (90, 2)),
    ]
    for seed, rows in enumerate(clouds):
        for person in (np.ones((1, 2)), np.full((1, 2), np.nan), np.full((1, 2), 0.25)):
            mine = rows if relation is ADD else np.concatenate([rows, -np.ones((1, 2))])
            other = np.concatenate([rows, person])
            values = {"epsilon": Fraction(2), "delta": delta, **own}
            doors = [
                curator_of(each, neighbours=relation, epsilon=Fraction(2), delta=delta, seed=seed + many)
                for many, each in enumerate((mine, other))
            ]
            first, plans, end = replayed(monkeypatch, doors[0], None, **values)
            again, others, other_end = replayed(monkeypatch, doors[1], [given for *_, given in first], **values)
            assert plans == others
            assert end == other_end
            moved = Counter()
            for (query, noise, ours, _), (asked, same, theirs, _) in zip(first, again, strict=True):
                assert described(query) == described(asked)
                assert noise == same
                change, bound = np.abs(ours - theirs), query.sensitivity(relation)
                assert change.sum() <= bound.l1
                assert change.max(initial=0) <= bound.linf
                moved[type(query).__name__] += bool(change.any())
            if "rows_per_part" in own:  # one person is in one part: at most one of its counts moved
                assert moved["VoronoiSums"] <= 1
