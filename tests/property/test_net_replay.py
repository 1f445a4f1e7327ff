"""Replay of `net-coreset` with a net: rounds, dropped rows and all, on neighbours with what was released frozen.

tests/audit/test_replay.py does this with the defaults, which take a net only where rows are many.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.net_coreset import net_coreset
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.base import exact
from covey.public import Neighbours
from covey.queries.net import NetSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def described(query):
    return type(query).__name__, {
        name: value.tolist() if isinstance(value, np.ndarray) else repr(value) for name, value in vars(query).items()
    }


def replay(monkeypatch, curator, frozen, **own):
    """Questions, exact answers and releases of a run; with `frozen`, those releases again."""
    seen: list[tuple] = []
    release = Curator.release

    def noted(door, query, mechanism):
        truth = exact(door._engine, query)
        noisy = frozen[len(seen)] if frozen else release(door, query, mechanism)
        seen.append((query, mechanism, truth, noisy))
        return noisy

    with monkeypatch.context() as patch:
        patch.setattr(Curator, "release", noted)
        net_coreset(curator, public_rng=public_rng(1), starts=1, **own)
    return seen


def families(n: int, d: int, rng):
    cloud = rng.uniform(-1, 1, (n, d))
    few = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (n, d))  # ties and duplicates everywhere
    same = np.full((n, d), 0.25)
    return {"cloud": cloud, "few values": few, "one value": same}


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(("d", "c", "rounds"), [(1, 6, 4), (2, 2, 3), (2, 4, 2), (3, 2, 1)])
def test_on_neighbours_a_net_asks_the_same_and_no_answer_moves_too_far(monkeypatch, curator_of, relation, d, c, rounds):
    own = {"k": 2, "epsilon": Fraction(50), "base": "net", "c": c, "rounds": rounds}
    most = 0.0
    for seed, (family, rows) in enumerate(families(3000, d, np.random.default_rng(d)).items()):
        mine = rows if relation is ADD else np.concatenate([rows, -np.ones((1, d))])
        first = replay(monkeypatch, curator_of(mine, neighbours=relation, epsilon=50, seed=seed), None, **own)
        frozen, questions = [noisy for *_, noisy in first], [described(query) for query, *_ in first]
        assert sum(isinstance(query, NetSums) for query, *_ in first) == rounds
        people = [np.ones(d), -np.ones(d), np.zeros(d)]
        people += [np.full(d, np.nan), np.full(d, np.inf)] if family == "few values" else []  # the middle, a corner
        for person in people:
            other = np.concatenate([rows, person[None]])
            again = replay(monkeypatch, curator_of(other, neighbours=relation, epsilon=50, seed=9), frozen, **own)
            for (query, noise, ours, _), question, (asked, same, theirs, _) in zip(
                first, questions, again, strict=True
            ):
                assert question == described(asked), family
                assert noise == same
                change, bound = np.abs(ours - theirs), query.sensitivity(relation)
                assert change.sum() <= bound.l1, family
                assert change.max() <= bound.linf, family
                most = max(most, change.sum() / bound.l1)
    assert most > 0.2  # the neighbours are hard ones


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_that_there_are_too_few_rows_is_told_alike_on_neighbours(monkeypatch, curator_of, relation):
    """It follows from the noisy number alone; nothing is refused once it is paid for."""
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    other = np.concatenate([rows[:-1] if relation is REPLACE else rows, np.ones((1, 2))])
    words = []
    import covey.algorithms.kit as module

    monkeypatch.setattr(module, "noisy_size", lambda *_: (210, {}))
    for each in (rows, other):
        curator = curator_of(each, neighbours=relation, seed=1)
        notes = net_coreset(curator, k=2, epsilon=Fraction(1), public_rng=public_rng(1), base="net").notes
        words.append({name: notes[name] for name in ("base", "too_few_rows", "rows_needed")})
    assert words[0] == words[1]
    assert words[0]["too_few_rows"]
