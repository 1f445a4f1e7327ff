"""Replay: on neighbouring data, with what was released frozen, an algorithm must ask exactly the same questions.

Each algorithm runs on D and its answers are recorded. It then runs on a neighbour D', where every release returns
the recorded answer. If the sequence of plans, queries and mechanisms differs, something besides the released values
decided: a leak. And every exact statistic must differ by at most the sensitivity that its noise was scaled to.
Every algorithm of the registry is found here by itself.
"""

from fractions import Fraction

import numpy as np
import pytest

from conftest import make_curator
from covey.algorithms.registry import ALGORITHMS
from covey.errors import CoveyError
from covey.noise.averages import ClampedAverages
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource
from covey.post.public_random import public_rng
from covey.private.curator import Curator
from covey.private.engine import exact as exact_of
from covey.private.memory import MemoryEngine
from covey.private.tables import ArrayTable
from covey.public import Neighbours, resolve_bounds
from covey.queries.counts import Count


def described(query):
    """Everything public about a query, as comparable plain data."""
    fields = {}
    for name, value in vars(query).items():
        if isinstance(value, np.ndarray):
            fields[name] = value.tolist()
        else:  # a part without words of its own is described like the whole
            fields[name] = described(value) if type(value).__repr__ is object.__repr__ else repr(value)
    return type(query).__name__, fields


class Replay(Curator):
    """A curator that records questions, exact answers and releases, or hands out recorded releases again."""

    def start(self, recorded=None):
        self.questions, self.exact, self.released, self.given = [], [], [], list(recorded or [])
        return self

    def reserve(self, plan):
        super().reserve(plan)
        self.questions.append(("plan", plan))

    def _answer(self, query, mechanism, exact, release):
        self.questions.append((described(query), mechanism))
        self.exact.append((query, exact))
        answer = self.given[len(self.released)] if self.given else release()
        self.released.append(answer)
        return answer

    def release(self, query, mechanism):
        exact = exact_of(self._engine, query)
        return self._answer(query, mechanism, exact, lambda: Curator.release(self, query, mechanism))

    def select_several(self, query, mechanism, *, times):
        exact = exact_of(self._engine, query)
        return self._answer(
            query, mechanism, exact, lambda: Curator.select_several(self, query, mechanism, times=times)
        )

    def release_by_key(self, query, mechanism):
        exact = self._engine.totals_by_key(query)
        return self._answer(query, mechanism, exact, lambda: Curator.release_by_key(self, query, mechanism))

    def average_blocks(self, query, mechanism):
        return self._answer(query, mechanism, None, lambda: Curator.average_blocks(self, query, mechanism))

    def split(self, parts, plan):
        source, self._source = self._source, SeededSource(99)  # on neighbours, rows that both have keep their coins
        self.questions.append(("parts", parts, plan))
        found = super().split(parts, plan)
        self._source = source
        return found

    def grow(self, tree, mechanism):
        return self._answer(tree, mechanism, None, lambda: Curator.grow(self, tree, mechanism))

    def cover(self, query, mechanism):
        return self._answer(query, mechanism, None, lambda: Curator.cover(self, query, mechanism))

    def public_count(self):
        count = super().public_count()
        self.questions.append(("public count", count))
        return count


def replay_curator(rows, neighbours, seed, epsilon, delta=Fraction(0)):
    curator = make_curator(rows, neighbours=neighbours, seed=seed, epsilon=epsilon, delta=delta)
    curator.__class__ = Replay
    return curator


def corner(d, sign=1.0):
    return np.full((1, d), sign)


def families(d, rng):
    """Pairs (rows, one person's row or rows): hard neighbours."""
    cloud = rng.uniform(-0.9, 0.9, (300, d))
    tight = np.full((200, d), 0.25)
    return {
        "a corner into empty space": (cloud * 0.1, corner(d)),
        "the only row": (np.empty((0, d)), corner(d, -1.0)),
        "the last row of a far cluster": (tight, -corner(d)),
        "one of many duplicates": (tight, tight[:1]),
        "on every border": (cloud, np.zeros((1, d))),
        "NaN": (cloud, np.full((1, d), np.nan)),
        "infinity": (cloud, np.full((1, d), np.inf)),
        "minus zero": (cloud, np.full((1, d), -0.0)),
        "n at a rounding threshold": (rng.uniform(-1, 1, (255, d)), corner(d)),
    }


QUICK = {"candidates": 20, "parents": 3, "starts": 3}  # parameters that make a run quicker, where it has them
DELTA = Fraction(1, 10**4)
CASES = [
    (name, relation, delta)
    for name, row in ALGORITHMS.items()
    for relation in row.neighbours
    for delta in {"pure": (Fraction(0),), "approximate": (DELTA,), "either": (Fraction(0), DELTA)}[row.guarantee]
]


def outcome_of(row, curator, *, seed, **values):
    """What a run ends with: nothing of note, or the words of a refusal."""
    own = {each: value for each, value in QUICK.items() if each in row.parameters}
    asked = row.supplied({**values, "k": 3, "public_rng": public_rng(seed)})
    try:
        row.run(curator, **asked, **own)
    except CoveyError as error:
        return str(error)
    return "done"


@pytest.mark.parametrize(("name", "relation", "delta"), CASES, ids=lambda each: str(each))
def test_on_neighbours_the_same_questions_are_asked_and_no_answer_moves_too_far(name, relation, delta):
    row = ALGORITHMS[name]
    quick = any(each in row.parameters for each in QUICK)
    for seed in range(6 if quick else 3):
        rng = np.random.default_rng(seed)
        d = (1, 2, 3, 1, 6, 3)[seed]
        for family, (rows, person) in families(d, rng).items():
            other = np.concatenate([rows, person])
            if relation is Neighbours.REPLACE_ONE:
                rows = np.concatenate([rows, corner(d, -1.0)])
            values = {"epsilon": Fraction(3) if seed % 2 else Fraction(1, 10), "delta": delta}
            values["objective"] = row.objectives[seed % len(row.objectives)]
            first = replay_curator(rows, relation, seed, values["epsilon"], delta).start()
            again = replay_curator(other, relation, seed + 100, values["epsilon"], delta)
            ended = outcome_of(row, first, seed=seed, **values)
            again.start(first.released)
            assert outcome_of(row, again, seed=seed, **values) == ended, (family, seed)
            assert first.questions == again.questions, (family, seed)
            for (query, ours), (_, theirs) in zip(first.exact, again.exact, strict=True):
                if ours is None:
                    continue
                sensitivity = query.sensitivity(relation)
                change = np.abs(ours - theirs)
                assert change.sum() <= sensitivity.l1, (family, seed)
                assert (change.astype(object) ** 2).sum() <= sensitivity.l2_squared, (family, seed)
                assert change.max() <= sensitivity.linf, (family, seed)


def leaks_the_exact_size(curator, *, k, epsilon, public_rng):
    """What the paper prints: a choice from the exact number of rows."""
    from covey.budget.plan import Plan

    noise = DiscreteLaplace(epsilon / 2)
    curator.reserve(Plan((noise.event(), noise.event())))
    n = int(curator._engine.total(Count(curator.domain))[0])
    for _ in range(1 + n % 2):
        curator.release(Count(curator.domain), noise)


def test_the_replay_catches_a_choice_from_the_exact_number_of_rows():
    rows = np.zeros((20, 2))
    first = replay_curator(rows, Neighbours.ADD_REMOVE, 0, Fraction(1)).start()
    leaks_the_exact_size(first, k=2, epsilon=Fraction(1), public_rng=None)
    again = replay_curator(rows[:-1], Neighbours.ADD_REMOVE, 0, Fraction(1)).start(first.released * 2)
    leaks_the_exact_size(again, k=2, epsilon=Fraction(1), public_rng=None)
    assert first.questions != again.questions


def test_blocks_are_drawn_by_coins_that_do_not_depend_on_values():
    domain = resolve_bounds((-1, 1), names=None, width=1)
    seen = []

    class Spy:
        domain = resolve_bounds((-1, 1), names=None, width=1)
        blocks = 5

        def outputs(self, _rows, block, keys):
            seen.append((block, keys))
            return np.zeros((5, 1), dtype=np.int64)

    for value in (0.0, 1.0):
        MemoryEngine(ArrayTable(np.full((50, 1), value)), domain).block_outputs(Spy(), SeededSource(1))
    assert all((a == b).all() for a, b in zip(*seen, strict=True))
    assert ClampedAverages(Fraction(1)).event().epsilon == 1
