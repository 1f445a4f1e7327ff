"""Private local search: which set it ends with, against all paths written out; a rate that is 10% off is noticed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from conftest import make_curator
from covey.algorithms import local_search
from covey.algorithms.local_search import Search
from covey.budget.accounting.plan import Plan
from covey.noise.source import SeededSource
from covey.private import curator as curators
from covey.public import Neighbours
from covey.queries.costs import NegativeCosts
from covey.queries.swaps import SwapGains

RUNS = 12_000
SITES = np.array([[-0.8, 0.1], [0.0, 0.3], [0.7, -0.2], [0.3, 0.9]])
ROWS = np.array([[-0.9, 0.0]] * 3 + [[0.1, 0.2]] * 5 + [[0.6, -0.3]] * 4 + [[0.2, 0.8]] * 2)


def costs_of(domain, objective: str, chosen: tuple[int, ...], shift: int) -> int:
    """The cost of a set of sites, in Python integers."""
    lattice = np.rint(ROWS * domain.limit).astype(np.int64).tolist()
    places = np.rint(SITES * domain.limit).astype(np.int64).tolist()
    total = 0
    for row in lattice:
        squared = min(sum((x - c) ** 2 for x, c in zip(row, places[i], strict=True)) for i in chosen)
        total += (squared if objective == "k-means" else math.isqrt(squared)) >> shift
    return total


def weights(utilities: list[int], rate: float) -> np.ndarray:
    values = np.exp((np.array(utilities) - max(utilities)) * rate)
    return values / values.sum()


def expected(curator, start: tuple[int, ...], search: Search, objective: str) -> dict[frozenset, float]:
    """The probability of every final set: all paths, and the final pick on each."""
    domain, each = curator.domain, float(search.epsilon / (search.swaps + 1))
    once = 1 if curator.neighbours is Neighbours.ADD_REMOVE else 2
    paths = {(start,): 1.0}
    for _ in range(search.swaps):
        longer: dict[tuple, float] = {}
        for path, chance in paths.items():
            now = path[-1]
            query = SwapGains(SITES * domain.limit, np.array(now), domain, objective=objective)
            others = [i for i in range(len(SITES)) if i not in now]
            swaps = [(*now[:j], i, *now[j + 1 :]) for j, i in product(range(len(now)), others)]
            utilities = [-costs_of(domain, objective, after, query.shift) for after in swaps]
            for after, share in zip(swaps, weights(utilities, each / (once * query.most)), strict=True):
                longer[(*path, after)] = longer.get((*path, after), 0.0) + chance * share
        paths = longer
    final: dict[frozenset, float] = {}
    for path, chance in paths.items():
        query = NegativeCosts(np.stack([SITES[list(s)] * domain.limit for s in path]), domain, objective=objective)
        utilities = [-costs_of(domain, objective, chosen, query.shift) for chosen in path]
        for chosen, share in zip(path, weights(utilities, each / (once * query.row_cost)), strict=True):
            final[frozenset(chosen)] = final.get(frozenset(chosen), 0.0) + chance * share
    assert sum(final.values()) == pytest.approx(1)
    return final


def agrees(seen: dict[frozenset, int], wanted: dict[frozenset, float]) -> bool:
    runs = sum(seen.values())
    statistic = sum((seen.get(key, 0) - runs * p) ** 2 / (runs * p) for key, p in wanted.items())
    return statistic < chi2.ppf(1 - 1e-5, len(wanted) - 1)


@pytest.fixture
def remembered(monkeypatch):
    """The rows never change here: each query is made and counted once, and only the picks are drawn again."""
    made: dict[tuple, object] = {}

    def once(kind):
        def make(points, *given, **named):
            key = (kind.__name__, np.asarray(points).tobytes(), str(given[:-1]), named["objective"])
            if key not in made:
                made[key] = kind(points, *given, **named)
            return made[key]

        return make

    for kind in (SwapGains, NegativeCosts):
        monkeypatch.setattr(local_search, kind.__name__, once(kind))
    answers: dict[int, np.ndarray] = {}
    exact = curators.exact

    def answer(engine, query):
        if id(query) not in answers:
            answers[id(query)] = exact(engine, query)
        return answers[id(query)]

    monkeypatch.setattr(curators, "exact", answer)


@pytest.mark.parametrize(
    ("objective", "relation", "start", "swaps", "epsilon"),
    [
        ("k-means", Neighbours.ADD_REMOVE, (2,), 1, 3),
        pytest.param("k-median", Neighbours.REPLACE_ONE, (0, 3), 1, 12, marks=pytest.mark.slow),
        pytest.param("k-means", Neighbours.REPLACE_ONE, (3,), 2, 12, marks=pytest.mark.slow),
    ],
)
def test_the_search_ends_where_the_enumeration_says(remembered, objective, relation, start, swaps, epsilon):
    """And not where it would end with a rate 10% larger or smaller."""
    search = Search(Fraction(epsilon), swaps)
    curator = make_curator(ROWS, neighbours=relation, source=SeededSource(5), epsilon=Fraction(10**9))
    candidates = SITES * curator.domain.limit
    curator.reserve(Plan(search.events() * RUNS))
    seen: dict[frozenset, int] = {}
    for _ in range(RUNS):
        ended = frozenset(search.run(curator, candidates, np.array(start), objective=objective).tolist())
        seen[ended] = seen.get(ended, 0) + 1
    for tenths, accepted in ((10, True), (9, False), (11, False)):
        other = Search(Fraction(epsilon * tenths, 10), swaps)
        assert agrees(seen, expected(curator, start, other, objective)) == accepted, tenths


def test_every_pick_has_an_equal_share_and_they_add_up():
    for swaps in (0, 1, 7):
        search = Search(Fraction(7, 3), swaps)
        assert sum(event.epsilon for event in search.events()) == Fraction(7, 3)
        assert len(search.events()) == swaps + 1
