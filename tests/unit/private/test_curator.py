"""The door: pay or refuse, touch the rows once, add noise, hand out. Every way round it is tried here."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from covey.budget.accounting.plan import Plan, Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.errors import BudgetError, ParameterError
from covey.events import Approximate, Gaussian, Pure
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, ThresholdedLaplace
from covey.noise.source import OsSource, SeededSource
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable, open_table
from covey.public import Neighbours, resolve_bounds
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, OccupiedCells
from covey.queries.grid import Grid
from covey.queries.voronoi import VoronoiSums

HALF, ONE = Fraction(1, 2), Fraction(1)
SURE = Fraction(10**4)  # so much epsilon that the noise is 0
ROWS = np.array([[0.5, 0.5], [0.5, 0.5], [-0.5, -0.5]])
DOMAIN = resolve_bounds((-1, 1), names=None, width=2)


@pytest.fixture
def door(curator_of, watched):
    """A function that makes a curator of watched rows, and that table."""

    def make(**options):
        table = watched(ROWS, broken=options.pop("broken", False))
        return curator_of(ROWS, table=table, domain=DOMAIN, **options), table

    return make


ASKS = {
    "release": lambda curator, noise: curator.release(Count(DOMAIN), noise),
    "release_by_key": lambda curator, _: curator.release_by_key(
        OccupiedCells(Grid(DOMAIN, 4)), ThresholdedLaplace(HALF, Fraction(1, 10))
    ),
    "select": lambda curator, _: curator.select(NegativeCosts([[[0, 0]]], DOMAIN), Exponential(HALF)),
}


@pytest.mark.parametrize("ask", ASKS)
def test_nothing_without_a_reserve(door, ask):
    curator, table = door(broken=True)
    with pytest.raises(BudgetError):
        ASKS[ask](curator, DiscreteLaplace(HALF))
    assert table.read == 0


def test_nothing_beyond_the_reserve(door):
    curator, table = door(plan=Plan((Pure(HALF),)))
    curator.release(Count(DOMAIN), DiscreteLaplace(HALF))
    with pytest.raises(BudgetError, match="number of rows"):
        curator.release(Count(DOMAIN), DiscreteLaplace(HALF))
    assert table.read == 1


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(ONE),  # more than reserved
        DiscreteLaplace(Fraction(1, 4)),  # less, but not what was reserved
        DiscreteGaussian(HALF),  # another kind
    ],
)
def test_only_the_very_event_that_was_reserved(door, noise):
    curator, table = door(plan=Plan((Pure(HALF),)), broken=True)
    with pytest.raises(BudgetError):
        curator.release(Count(DOMAIN), noise)
    assert table.read == 0


def test_no_plan_beyond_the_budget(door):
    charged = []
    curator, table = door(broken=True, charge=lambda: charged.append(1))
    with pytest.raises(BudgetError):
        curator.reserve(Plan((Pure(HALF), Pure(HALF), Pure(Fraction(1, 10**9)))))
    assert charged == []
    curator.reserve(Plan((Pure(HALF),)))
    with pytest.raises(BudgetError):
        curator.reserve(Plan((Pure(Fraction(51, 100)),)))
    curator.reserve(Plan((Pure(HALF),)))
    with pytest.raises(BudgetError):
        curator.reserve(Plan((Approximate(Fraction(1, 10**9), Fraction(1, 10**9)),), delta=Fraction(1, 10**6)))
    assert table.read == 0


def test_the_charge_comes_before_the_rows_and_once(door):
    order = []
    curator, table = door(charge=lambda: order.append(("charge", table.read)))
    curator.reserve(Plan((Pure(HALF),)))
    curator.reserve(Plan((Pure(HALF),)))
    assert order == [("charge", 0)]
    curator.release(Count(DOMAIN), DiscreteLaplace(HALF))
    assert table.read == 1
    assert order == [("charge", 0)]


def test_a_charge_that_fails_opens_nothing(door):
    """Not even for an algorithm that swallows the error and asks all the same."""

    def refuse():
        raise BudgetError("spent")

    curator, table = door(charge=refuse, broken=True, neighbours=Neighbours.REPLACE_ONE, delta=Fraction(1, 10))
    plan = Plan((Pure(HALF), Pure(HALF)))
    with pytest.raises(BudgetError, match="spent"):
        curator.reserve(plan)
    for ask in ASKS.values():
        with pytest.raises(BudgetError):
            ask(curator, DiscreteLaplace(HALF))
    with pytest.raises(BudgetError):
        curator.public_count()
    with pytest.raises(BudgetError):
        curator.reserve(plan)
    assert table.read == 0


def test_the_plan_is_checked_before_it_is_charged(door):
    charged = []
    curator, _ = door(charge=lambda: charged.append(1))
    with pytest.raises(BudgetError):
        curator.reserve(Plan((Pure(Fraction(2)),)))
    assert charged == []


@pytest.mark.parametrize(
    "domain",
    [
        resolve_bounds((-2, 2), names=None, width=2),
        resolve_bounds((-1, 1), names=None, width=3),
        resolve_bounds((-1, 1), names=["a", "b"], width=2),
    ],
)
def test_a_query_for_another_domain_is_refused_and_costs_nothing(door, domain):
    curator, table = door(plan=Plan((Pure(HALF), Pure(HALF))), broken=True)
    with pytest.raises(ParameterError, match="domain"):
        curator.release(Count(domain), DiscreteLaplace(HALF))
    with pytest.raises(ParameterError, match="domain"):
        curator.select(NegativeCosts(np.zeros((1, 1, domain.dimension)), domain), Exponential(HALF))
    assert table.read == 0
    assert curator._reserve.remaining == (Pure(HALF), Pure(HALF))


def test_the_number_of_rows_is_public_only_where_the_relation_says_so(door):
    curator, table = door(plan=Plan(()), broken=True)
    with pytest.raises(ParameterError, match="private under add-remove"):
        curator.public_count()
    assert table.read == 0
    curator, table = door(neighbours=Neighbours.REPLACE_ONE, broken=True)
    with pytest.raises(BudgetError):
        curator.public_count()
    assert table.read == 0
    curator, _ = door(neighbours=Neighbours.REPLACE_ONE, plan=Plan(()))
    assert curator.public_count() == 3


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_nothing_that_holds_rows_can_be_copied_or_pickled(door, act):
    curator, table = door(plan=Plan((Pure(HALF),)))
    frame = open_table(__import__("pandas").DataFrame({"a": [0.25]}))
    for thing in (curator, table, frame, ArrayTable(ROWS), MemoryEngine(table, DOMAIN), OsSource(), SeededSource(1)):
        with pytest.raises(TypeError, match=r"pickled"):
            act(thing)


def test_nothing_that_holds_rows_speaks(door):
    curator, table = door(plan=Plan((Pure(SURE),)), epsilon=SURE)
    curator.release(Count(DOMAIN), DiscreteLaplace(SURE))
    assert repr(curator) == str(curator) == "<Curator>"
    assert repr(curator._engine) == "<MemoryEngine>"
    assert repr(table) == "<WatchedTable>"


def test_releases_are_the_statistic_plus_noise(door):
    """With more epsilon than anybody should have, the noise is certainly 0 and the statistic itself comes out."""
    centres = VoronoiSums([[1.0, 1.0], [-1.0, -1.0]], DOMAIN)
    limit = DOMAIN.limit
    epsilon = Fraction(10**15)
    half = round(limit / 2)
    curator, _ = door(epsilon=3 * epsilon, plan=Plan((Pure(epsilon),) * 3))
    assert curator.release(Count(DOMAIN), DiscreteLaplace(epsilon)).tolist() == [3]
    assert curator.release(CellCounts(Grid(DOMAIN, 2)), DiscreteLaplace(epsilon)).tolist() == [1, 0, 0, 2]
    sums = curator.release(centres, DiscreteLaplace(epsilon)).tolist()
    assert sums == [2 * half, 2 * half, 2 * limit, -half, -half, limit]


def test_release_by_key_shows_what_passes_the_threshold(curator_of):
    rows = np.concatenate([np.full((500, 2), 0.5), np.full((1, 2), -0.5)])
    noise = ThresholdedLaplace(Fraction(5), Fraction(1, 10**6))
    curator = curator_of(
        rows,
        epsilon=Fraction(5),
        delta=Fraction(1, 10**6),
        plan=Plan((noise.event(),), delta=Fraction(1, 10**6)),
        seed=1,  # otherwise the lonely row is seen in one run of a million
    )
    query = OccupiedCells(Grid(curator.domain, 1000))
    keys, counts = curator.release_by_key(query, noise)
    assert keys.tolist() == query.grid.index(np.full((2, 1), round(curator.domain.limit / 2), dtype=np.int32)).tolist()
    assert abs(counts[0] - 500) < 20  # a person who is alone in a cell stays unseen


def test_select_prefers_the_better_candidate(curator_of):
    rows = np.full((400, 2), 0.5)
    query = NegativeCosts([[[-1e9, -1e9]], [[0.5 * DOMAIN.limit] * 2], [[1e9, -1e9]]], DOMAIN)
    for objective in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE):
        curator = curator_of(rows, plan=Plan((Pure(ONE),)), neighbours=objective, seed=1)
        assert curator.select(query, Exponential(ONE)) == 1


def test_select_several_picks_different_candidates_and_pays_for_each(door):
    query = NegativeCosts(np.zeros((4, 1, 2)), DOMAIN)
    pick = Exponential(Fraction(1, 4))
    curator, table = door(plan=Plan((pick.event(),) * 4))
    assert sorted(curator.select_several(query, pick, times=4)) == [0, 1, 2, 3]
    assert curator._reserve.remaining == ()
    assert table.read == 1
    curator, table = door(plan=Plan((pick.event(),) * 2), broken=True)
    with pytest.raises(BudgetError):  # three picks, two paid for: not even the first is made
        curator.select_several(query, pick, times=3)
    assert table.read == 0
    for times in (0, 5):
        with pytest.raises(ParameterError, match="times"):
            curator.select_several(query, pick, times=times)


def test_progress_counts_releases_and_never_rows(curator_of):
    seen = []
    curator = curator_of(ROWS, plan=Plan((Pure(HALF), Pure(HALF))))
    curator._desk._progress = lambda *step: seen.append(step)
    curator.release(Count(DOMAIN), DiscreteLaplace(HALF))
    curator.release(CellCounts(Grid(DOMAIN, 2)), DiscreteLaplace(HALF))
    assert seen == [(0, 2, "number of rows"), (1, 2, "rows per cell")]


def test_gaussian_noise_is_paid_for_as_such(curator_of):
    noise = DiscreteGaussian(Fraction(10))
    delta = Fraction(1, 10**6)
    curator = curator_of(ROWS, epsilon=Fraction(2), delta=delta, plan=Plan((Gaussian(Fraction(10)),), delta=delta))
    noisy = curator.release(VoronoiSums([[0, 0]], DOMAIN), noise)
    assert noisy.shape == (3,)
    with pytest.raises(BudgetError):
        curator.release(VoronoiSums([[0, 0]], DOMAIN), noise)


def test_the_promise_that_pays_is_for_the_unit_of_the_statistics(curator_of):
    """Counts of people cannot be paid for by rows, nor sums over rows by people."""
    domain = resolve_bounds((-1, 1), names=None, width=1)
    engine = MemoryEngine(ArrayTable(np.zeros((3, 1))), domain)
    for unit, counted in (("id", None), (None, "id"), ("id", "car")):
        engine.unit = counted
        with pytest.raises(BudgetError, match="another unit"):
            Curator(
                engine,
                domain=domain,
                source=SeededSource(1),
                reserve=Reserve(Promise.of(1, kind=Kind(unit=unit))),
                charge=lambda: None,
            )
    assert curator_of(np.zeros((3, 1))).neighbours is Neighbours.ADD_REMOVE
