"""Replay: on neighbouring data, with what was released frozen, an algorithm must ask exactly the same questions.

Every algorithm of the registry is found here by itself (covey.audit.replay). The rest of the file shows that the replay
can fail: leaks of every kind are planted, each in an algorithm of its own or in a query.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from covey.algorithms.kit import Outcome
from covey.algorithms.registry import ALGORITHMS, Algorithm
from covey.audit import targets
from covey.audit.families import FAMILIES
from covey.audit.replay import FULL_SEEDS, cases, moved, record_pair, replay_pair, run
from covey.audit.tape import Diverged, described, matched
from covey.audit.watch import VERBS, Watched
from covey.budget.accounting.plan import Plan
from covey.errors import BudgetError
from covey.events import Sensitivity
from covey.noise.averages import ClampedAverages
from covey.noise.mechanisms import DiscreteLaplace, Exponential, ThresholdedLaplace
from covey.noise.source import SeededSource
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Neighbours, resolve_bounds
from covey.queries.blocks import BlockCentres
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, OccupiedCells
from covey.queries.grid import Grid
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
CASES = [(name, relation) for name in targets.names() for relation in targets.find(name).relations]
EXPECTED = ("ParameterError", "BudgetError", "DataError: bounds: no range")  # by public or released numbers
BY_NAME = {family.name: family for family in FAMILIES}


def check(results):
    assert [each for each in results if not each.ok] == []
    assert [each for each in results if each.refusal and not each.refusal.startswith(EXPECTED)] == []
    asked = [each for each in results if each.statistics]
    assert len(asked) > 0.9 * len(results)  # hardly any run ends before it asks
    assert max(each.reached for each in asked) > 0.99  # the neighbours are hard ones


@pytest.mark.parametrize(("name", "relation"), CASES, ids=str)
def test_on_neighbours_the_same_questions_are_asked_and_no_answer_moves_too_far(name, relation):
    check(run([name], seeds=1, relations=[relation]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["lloyd", "grid"])
@pytest.mark.parametrize("family", ["NaN, inf, -0.0", "a person beyond the cap", "corner to corner"])
def test_the_same_where_rows_with_missing_values_are_left_out_and_columns_count_unequally(name, family, seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    units = {"missing": "drop", "scale": [1.0, *rng.uniform(0.05, 1.0, d - 1)]}

    def make(rng, _, seed):
        pair = BY_NAME[family].make(rng, d, seed)
        pair.rows[rng.random(pair.rows.shape) < 0.1] = np.nan
        return replace(pair, persons=np.where(rng.random(pair.persons.shape) < 0.2, np.nan, pair.persons))

    hard = replace(BY_NAME[family], make=make)
    first, second, rows = record_pair(name, ADD, hard, seed, bounds=(-1, 1), **units)
    assert [first.crashed, second.crashed] == [False, False]
    assert any(step.kind for step in first.steps)
    for ours, theirs in zip(first.steps, second.steps, strict=True):
        assert not ours.kind or not moved(ours, theirs, ADD, rows)[1]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "relation"), CASES, ids=str)
def test_the_same_with_more_seeds(name, relation):
    """`covey audit --full` runs the first 80 seeds of every algorithm: these are others, and the slider's."""
    check(
        run(
            [name],
            seeds=FULL_SEEDS if name == targets.SLIDER else range(FULL_SEEDS, FULL_SEEDS + 10),
            relations=[relation],
        )
    )


def test_every_algorithm_meets_every_family_under_every_relation_it_supports():
    expected = {
        (name, relation, family.name)
        for name, row in ALGORITHMS.items()
        for relation in row.neighbours
        for family in FAMILIES
        if relation is ADD or family.name != "a person beyond the cap"  # with replace-one a person is one row
    }
    met = {(name, relation, family.name) for name, relation, family, _ in cases(None, 1) if name in ALGORITHMS}
    assert met == expected
    assert len(FAMILIES) == 12


# --- verbs ------------------------------------------------------------------------------------------------------------


def test_every_verb_of_the_curator_is_listened_to():
    public = {name for name, value in vars(Curator).items() if not name.startswith("_") and callable(value)}
    assert public - {"expect"} == set(VERBS)  # a hint, which reads and hands out nothing
    assert set(VERBS) - set(vars(Watched)) == {"select"}  # it is select_several, once


def test_every_verb_is_asked_by_some_run(toy):
    seen = {"select_several"}  # on a tape it is called select
    toy(counts_by_key)
    for name, family, seed in [
        ("toy", 0, 0),
        ("the slider", 0, 0),
        ("genetic", 0, 0),
        ("blocks", 0, 0),
        ("max-cover", 0, 0),
        *(("auto", 2, seed) for seed in range(3)),
        *(("jl-candidates", 2, seed) for seed in range(3)),
        *(("ball-coreset", 2, seed) for seed in range(4)),
    ]:
        relation = REPLACE if name == "genetic" else ADD
        first, _, _ = record_pair(name, relation, FAMILIES[family], seed)
        seen |= {"cover" if step.asked[1] == "pick of a cover" else step.asked[1] for step in first.steps}
        if set(VERBS) <= seen:
            return
    assert set(VERBS) <= seen


# --- an algorithm in the registry is audited, with no further code; and leaks are caught -----------------------------


@pytest.fixture
def toy(monkeypatch):
    """Puts an algorithm into the registry, as "toy", and replays it on some families."""

    def put(run_it, *, guarantee="approximate", families=("a corner into an empty cluster",), relation=ADD, seeds=4):
        row = Algorithm(name="toy", run=run_it, summary="", paper="", guarantee=guarantee)
        monkeypatch.setitem(ALGORITHMS, "toy", row)
        assert "toy" in targets.names()
        return [replay_pair("toy", relation, BY_NAME[name], seed) for name in families for seed in range(seeds)]

    return put


def middle(curator, k=1):
    return Outcome(np.zeros((k, curator.domain.dimension)))


def pay(curator, *mechanisms, delta=Fraction(0)):
    curator.reserve(Plan(tuple(each.event() for each in mechanisms), delta))
    return mechanisms


def counts_by_key(curator, *, k, epsilon, delta):
    """An honest algorithm that uses a verb of which the registry has no user yet."""
    (noise,) = pay(curator, ThresholdedLaplace(epsilon, delta), delta=delta)
    keys, counts = curator.release_by_key(OccupiedCells(Grid(curator.domain, 4)), noise)
    return Outcome(np.zeros((k, curator.domain.dimension)), None, {"keys": keys.tolist(), "counts": counts.tolist()})


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_an_honest_algorithm_passes(toy, relation):
    results = toy(counts_by_key, families=tuple(BY_NAME)[:11], relation=relation, seeds=2)
    assert [each for each in results if not each.ok or each.refusal or each.statistics != 1] == []
    assert max(each.reached for each in results) == 1


def asks_by_the_exact_size(curator, *, k, epsilon, delta):
    """What the paper prints: a choice from the exact number of rows."""
    noise, _ = pay(curator, DiscreteLaplace(epsilon / 2), DiscreteLaplace(epsilon / 2))
    n = int(curator._engine.total(Count(curator.domain))[0])
    for _ in range(1 + n % 2):
        curator.release(Count(curator.domain), noise)
    return middle(curator, k)


def plans_by_the_exact_size(curator, *, k, epsilon, delta):
    pay(curator, DiscreteLaplace(epsilon / 2))
    n = int(curator._engine.total(Count(curator.domain))[0])
    pay(curator, DiscreteLaplace(epsilon / (2 + n)))
    return middle(curator, k)


def sizes_a_grid_by_the_exact_size(curator, *, k, epsilon, delta):
    (noise,) = pay(curator, DiscreteLaplace(epsilon))
    n = int(curator._engine.total(Count(curator.domain))[0])
    curator.release(CellCounts(Grid(curator.domain, 2 + n % 2)), noise)
    return middle(curator, k)


def refuses_by_the_exact_size(curator, *, k, epsilon, delta):
    pay(curator, DiscreteLaplace(epsilon))
    if int(curator._engine.total(Count(curator.domain))[0]) % 2:
        raise BudgetError("too few rows")
    return middle(curator, k)


def publishes_the_exact_size(curator, *, k, epsilon, delta):
    pay(curator, DiscreteLaplace(epsilon))
    n = int(curator._engine.total(Count(curator.domain))[0])
    return replace(middle(curator, k), notes={"rows": n})


def publishes_the_mean(curator, *, k, epsilon, delta):
    pay(curator, DiscreteLaplace(epsilon))
    rows = np.concatenate(curator._engine.rows(), axis=1)
    return Outcome(np.repeat(rows.mean(axis=1)[None], k, axis=0))


def drops_by_the_exact_size(curator, *, k, epsilon, delta):
    pay(curator, DiscreteLaplace(epsilon))
    n = int(curator._engine.total(Count(curator.domain))[0])
    curator.on_cells(Grid(curator.domain, 8)).drop_nearest(np.zeros(curator.domain.dimension), n - 5)
    return middle(curator, k)


class Refusing(DiscreteLaplace):
    """A mechanism that refuses some statistics."""

    def add(self, exact, sensitivity, source):
        if int(exact[0]) % 2:
            raise BudgetError("an odd number")
        return super().add(exact, sensitivity, source)


def refuses_in_the_mechanism(curator, *, k, epsilon, delta):
    (noise,) = pay(curator, Refusing(epsilon))
    curator.release(Count(curator.domain), noise)
    return middle(curator, k)


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        (asks_by_the_exact_size, "step"),
        (plans_by_the_exact_size, "reserve"),
        (sizes_a_grid_by_the_exact_size, "CellCounts"),
        (refuses_by_the_exact_size, "ended differently"),
        (publishes_the_exact_size, "ended differently"),
        (publishes_the_mean, "ended differently"),
        (drops_by_the_exact_size, "drop_nearest"),
        (refuses_in_the_mechanism, "refused"),
    ],
)
def test_leaks_are_caught(toy, leak, words):
    results = toy(leak, guarantee="either")
    assert [each.ok for each in results] == [False] * len(results)
    assert any(words in each.what for each in results)


# --- statistics that move too far -------------------------------------------------------------------------------------


def smaller(monkeypatch, query, **less):
    """The query with a declared sensitivity that is too small in one way."""
    real = query.sensitivity

    def sensitivity(self, neighbours):
        declared = real(self, neighbours)
        return replace(declared, **{name: change(getattr(declared, name)) for name, change in less.items()})

    monkeypatch.setattr(query, "sensitivity", sensitivity)


def failed(name, relation):
    results = run([name], seeds=(0, 1, 8, 11), relations=[relation], families=FAMILIES[:3])
    return " ".join(each.what for each in results if not each.ok)


failed_as_declared = cache(failed)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(
    ("name", "query", "less", "words"),
    [
        ("lloyd", VoronoiSums, {"l1": lambda most: most * 9 // 10}, "L1"),
        ("lloyd", VoronoiSums, {"l2_squared": lambda most: most * 8 // 10}, "L2 squared"),
        ("lloyd", VoronoiSums, {"linf": lambda most: most * 9 // 10}, "Linf"),
        ("lloyd", VoronoiSums, {"coordinates": lambda most: most - 1}, "coordinates"),
        ("genetic", NegativeCosts, {"linf": lambda most: most // 4}, "Linf"),
    ],
)
def test_a_sensitivity_that_is_too_small_is_caught(monkeypatch, name, query, less, words, relation):
    assert failed_as_declared(name, relation) == ""
    smaller(monkeypatch, query, **less)
    assert words in failed(name, relation)


class Balance:
    """Rows on the left minus rows on the right, and the reverse: not monotone, whatever is declared."""

    name, size = "balance", 2

    def __init__(self, domain):
        self.domain = domain

    def sensitivity(self, neighbours):  # noqa: ARG002
        return Sensitivity(l1=4, l2_squared=8, linf=2, coordinates=2, monotone=True)

    def accumulate(self, rows, out):
        left = np.sign(rows[0]).sum()
        out += np.array([left, -left], dtype=np.int64)


def picks_a_side(curator, *, k, epsilon, delta):
    (pick,) = pay(curator, Exponential(epsilon))
    curator.select(Balance(curator.domain), pick)
    return middle(curator, k)


def test_a_query_that_is_declared_monotone_and_is_not_is_caught(toy):
    assert {each.what.rpartition(": ")[2] for each in toy(picks_a_side, guarantee="pure")} == {"not monotone"}


# --- parts of the machinery -------------------------------------------------------------------------------------------


def test_descriptions_tell_apart_what_differs_anywhere():
    domain = resolve_bounds((-1, 1), names=None, width=2)
    centres = np.zeros((200, 2))
    other = centres.copy()
    other[100, 1] = 1  # where the printed form of an array has dots
    assert described(VoronoiSums(centres, domain)) == described(VoronoiSums(centres.copy(), domain))
    assert described(VoronoiSums(centres, domain)) != described(VoronoiSums(other, domain))
    assert described(0.0) != described(-0.0)
    assert described(np.zeros(2)) != described(np.zeros(2, dtype=np.float32))
    assert described(DiscreteLaplace(Fraction(1))) != described(Exponential(Fraction(1)))


def test_rows_that_both_have_are_matched():
    rows = np.array([[5, 6, 6, 7, 9]])
    assert matched(rows, rows).tolist() == [0, 1, 2, 3, 4]
    assert matched(rows[:, [0, 1, 3]], rows).tolist() == [0, 1, 3]
    assert matched(rows, rows[:, [0, 1, 3]]).tolist() == [0, 1, -1, 2, -1]
    assert matched(rows, rows[:, :0]).tolist() == [-1] * 5


def test_a_family_that_asks_for_a_released_centre_gets_one():
    first, second, _ = record_pair("lloyd", ADD, BY_NAME["a row at z"], 0)
    changed = [(a, b) for a, b in zip(first.steps, second.steps, strict=True) if a.kind == "numbers"]
    assert any(not np.array_equal(a.exact, b.exact) for a, b in changed)
    with pytest.raises(Diverged):
        second.end("something else")


def test_blocks_are_drawn_by_coins_that_do_not_depend_on_values():
    seen = []

    class Spy(BlockCentres):
        def outputs(self, _rows, block, keys):
            seen.append((block, keys))
            return np.zeros((5, 1), dtype=np.int64)

    domain = resolve_bounds((-1, 1), names=None, width=1)
    for value in (0.0, 1.0):
        asked = Spy(domain=domain, k=1, blocks=5)
        MemoryEngine(ArrayTable(np.full((50, 1), value)), domain).block_outputs(asked, SeededSource(1))
    assert all((a == b).all() for a, b in zip(*seen, strict=True))
    assert ClampedAverages(Fraction(1)).event().epsilon == 1
