"""What is asked by the zone that a person was kept by: a person more changes one block, and nobody else's zone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Box
from covey.errors import ParameterError
from covey.fit.zones import Zones
from covey.noise.source import SeededSource
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.lattice import Block, to_block, to_lattice
from covey.private.narrowed import pairs
from covey.private.narrowed.cancellable import CancellableTable
from covey.private.narrowed.cap import CappedTable, Strictest
from covey.private.narrowed.held import HeldTable
from covey.private.narrowed.names import Names
from covey.private.narrowed.pairs import Group
from covey.private.narrowed.sample import SampledTable
from covey.private.narrowed.zones import ALWAYS, Coins
from covey.private.tables.frames import open_table
from covey.public import Domain, Neighbours
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums
from covey.queries.tree import Nodes, Tree, TreeLeaves
from covey.queries.voronoi import VoronoiSums
from covey.queries.zoned import ByPersonsZone, OfImages

DOMAIN = Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
ZONES = Zones.read([(Box((-1, 0), (-1, 0)), 0.4), (Box((-1, -0.5), (-1, 1)), 0.1), (Box((0.8, 1), (-1, 1)), 0.2)])
REGIONS = ZONES.on(DOMAIN)
KINDS = len(REGIONS.areas) + 1
ALL_STAY = Coins(REGIONS, (ALWAYS,) * KINDS)
HALF_STAY = Coins(REGIONS, (ALWAYS, *[ALWAYS // 2] * (KINDS - 1)))
KEY = bytes(range(32))
CENTRES = np.array([[-0.7, 0.0], [0.5, 0.0], [0.9, 0.9]]) * DOMAIN.limit
LINE = Projection(np.array([[3, -2]]), np.array([7, -9]), np.array([2 * DOMAIN.limit]), DOMAIN)
LEAVES = TreeLeaves(Tree(DOMAIN), Nodes(np.array([1, 2, 2]), np.array([1, 0, 1])))
QUERIES = {
    "cells": CellCounts(Grid(DOMAIN, 8)),
    "leaves": LEAVES,
    "clusters": VoronoiSums(CENTRES, DOMAIN),
    "residuals": ResidualSums(DOMAIN, CENTRES, DOMAIN.limit / 3),
    "images": OfImages(CellCounts(Grid(LINE.target, 8)), LINE),
}
numbers = st.sampled_from([-0.9, -0.6, -0.3, 0.0, 0.4, 0.9, 1.0, 7.0, -np.inf, np.nan])
points = st.tuples(numbers, numbers)
lines = st.lists(st.tuples(points, st.integers(0, 6)), max_size=30)


def table_of(rows, coins: Coins, *, most: int) -> CappedTable:
    data = pa.table(
        {
            "x": pa.array([x for (x, _), _ in rows], pa.float64()),
            "y": pa.array([y for (_, y), _ in rows], pa.float64()),
            "who": pa.array([who for _, who in rows], pa.int64()),
        }
    )
    capped = CappedTable(open_table(data), DOMAIN, "who", most=most, key=KEY)
    return capped.zoned(coins, DOMAIN, SeededSource(0))


def total(rows, query, coins: Coins = ALL_STAY, *, most: int) -> np.ndarray:
    by_zone = ByPersonsZone(query, KINDS)
    return MemoryEngine(table_of(rows, coins, most=most), DOMAIN).total(by_zone).reshape(KINDS, -1)


def zone_of(rows) -> int:
    """The definition: the strictest zone that any of these rows is in, 0 for none."""
    found = REGIONS.index(to_lattice(np.array(rows, dtype=np.float64).reshape(-1, 2).T.copy(), DOMAIN))
    return int(min(found[found > 0], default=0))


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=25, deadline=None)
@given(rows=lines, more=st.lists(st.tuples(points, st.integers(0, 30)), min_size=1, max_size=8), most=st.integers(1, 5))
def test_a_person_more_changes_one_block_and_no_more_than_their_rows_may(name, rows, more, most):
    query = QUERIES[name]
    with_person = list(rows)
    for point, place in more:
        with_person.insert(place, (point, 99))
    for coins in (ALL_STAY, HALF_STAY):
        change = total(with_person, query, coins, most=most) - total(rows, query, coins, most=most)
        (blocks,) = np.nonzero(change.any(axis=1))
        assert set(blocks.tolist()) <= {zone_of([point for point, _ in more])}
        declared = ByPersonsZone(query, KINDS).sensitivity(Neighbours.ADD_REMOVE)
        assert declared == query.sensitivity(Neighbours.ADD_REMOVE)
        assert np.abs(change).sum() <= most * declared.l1
        assert np.square(change).sum() <= most**2 * declared.l2_squared
        assert np.abs(change).max() <= most * declared.linf
        if declared.block:
            lengths = np.sqrt(np.square(change.reshape(-1, declared.block).astype(float)).sum(axis=1))
            assert lengths.sum() <= most * declared.l2_by_block


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=25, deadline=None)
@given(rows=lines, most=st.integers(1, 5), held=st.integers(1, 9), order=st.randoms(use_true_random=False))
def test_it_is_the_statistic_of_the_kept_rows_of_each_zones_people(name, rows, most, held, order):
    query = QUERIES[name]
    expected = np.zeros((KINDS, query.size), dtype=np.int64)
    for person in {who for _, who in rows}:
        mine = [row for row in rows if row[1] == person]  # which of them count does not depend on others
        capped = MemoryEngine(
            CappedTable(table_of(mine, ALL_STAY, most=most)._table, DOMAIN, "who", most=most, key=KEY), DOMAIN
        )
        expected[zone_of([point for point, _ in mine])] += capped.total(query)
    assert np.array_equal(total(rows, query, most=most), expected)
    order.shuffle(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "AT_ONCE", held)
        patch.setattr(pairs, "SHARE", 2)
        patch.setattr("covey.private.narrowed.cap.piece_rows", lambda _: 3)
        assert np.array_equal(total(rows, query, most=most), expected)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """300 people with up to 9 rows."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(300), rng.integers(1, 10, 300))
    home = rng.uniform(-1, 1, (300, 2))
    rows = np.clip(home[who] + rng.normal(0, 0.3, (len(who), 2)), -1, 1)
    return pd.DataFrame(rows, columns=["x", "y"]).assign(who=who)


@pytest.mark.parametrize("name", QUERIES)
def test_files_and_memory_say_the_same_in_any_order(people, name, tmp_path):
    query = ByPersonsZone(QUERIES[name], KINDS)
    pq.write_table(pa.table(people[: len(people) // 3]), tmp_path / "a.parquet")
    pq.write_table(pa.table(people[len(people) // 3 :]), tmp_path / "b.parquet")
    answers = []
    for data in (people, people.sample(frac=1, random_state=1), tmp_path):
        capped = CappedTable(open_table(data), DOMAIN, "who", most=4, key=KEY).zoned(HALF_STAY, DOMAIN, SeededSource(0))
        for engine in (MemoryEngine(capped, DOMAIN), StreamEngine(capped, DOMAIN)):
            answers += [engine.total(query), sum(part.total(query) for part in engine.split(3, SeededSource(5)))]
    assert answers[0].sum() != 0
    assert all(np.array_equal(each, answers[0]) for each in answers[1:])


def test_zones_stay_with_rows_that_are_sampled_or_held(people):
    query = ByPersonsZone(QUERIES["cells"], KINDS)

    def zoned():
        return CappedTable(open_table(people), DOMAIN, "who", most=4, key=KEY).zoned(ALL_STAY, DOMAIN, SeededSource(0))

    whole = MemoryEngine(zoned(), DOMAIN).total(query)
    assert np.array_equal(MemoryEngine(HeldTable(zoned()), DOMAIN).total(query), whole)
    some = SampledTable.poisson(zoned(), rate=Fraction(1, 2), source=SeededSource(1))
    part = MemoryEngine(some, DOMAIN).total(query)
    assert 0 < part.sum() < whole.sum()
    assert (part <= whole).all()


def test_the_line_of_zones_is_never_taken_for_a_coordinate(people):
    """Of one column, a table of two lines would pass for two rows of it."""
    line = Domain((0.0,), (1.0,), ("x",))
    regions = Zones.read([(Box(x=(-1, 0)), 0.4)]).on(line)
    capped = CappedTable(open_table(people[["x", "who"]]), line, "who", most=4, key=KEY)
    zoned = capped.zoned(Coins(regions, (ALWAYS, ALWAYS)), line, SeededSource(0))
    query = ByPersonsZone(CellCounts(Grid(line, 4)), 2)
    whole = MemoryEngine(zoned, line).total(query)
    assert np.array_equal(MemoryEngine(CancellableTable(zoned, lambda: None), line).total(query), whole)
    with pytest.raises(ParameterError, match="lines"):
        to_block(next(zoned.pieces(("x",)))(), line)


def test_zones_stay_with_rows_that_are_chosen_and_with_their_images():
    block = Block(np.array([[1, 2, 3]], dtype=np.int32), np.array([False, True, False]), np.array([0, 2, 1], np.uint8))
    assert block.at(np.array([2, 1])).zone.tolist() == [1, 2]
    assert block.mapped(lambda rows: -rows).zone.tolist() == [0, 2, 1]


def test_where_no_zone_comes_with_rows_nothing_is_counted_by_it(people):
    query = ByPersonsZone(QUERIES["cells"], KINDS)
    with pytest.raises(ParameterError, match="by which zones their people were kept"):
        MemoryEngine(open_table(people[["x", "y"]]), DOMAIN).total(query)
    with pytest.raises(ParameterError, match="whose they are"):
        query.accumulate(np.zeros((2, 1), dtype=np.int32), np.zeros(query.size, dtype=np.int64))


def test_people_whose_first_words_are_equal_by_accident_have_zones_of_their_own():
    same, high = np.full(4, 7, dtype=np.uint64), np.array([1, 2, 3, 3], dtype=np.uint64)
    none, once, zone = np.zeros(4, dtype=np.uint64), np.ones(4, dtype=np.int64), np.array([2, 1, 3, 2], np.uint8)
    found = Strictest()
    found.add([Group(same, high, none, none, zone, once, np.empty((0, 4)))])
    asked = np.array([3, 1, 9, 2], dtype=np.uint64)
    assert found.of(same, asked).tolist() == [2, 2, 0, 1]
    assert found.of(same + np.uint64(1), asked).tolist() == [0] * 4
    assert Strictest().of(same, asked).tolist() == [0] * 4


def test_the_coin_is_the_persons_own_and_of_the_rate_of_their_zone(people):
    coins = Coins(REGIONS, (ALWAYS, ALWAYS // 4, ALWAYS // 2, 1))
    kept = CappedTable(open_table(people), DOMAIN, "who", most=1, key=KEY).zoned(coins, DOMAIN, SeededSource(0))
    whole = MemoryEngine(kept, DOMAIN).total(ByPersonsZone(CellCounts(Grid(DOMAIN, 1)), KINDS))
    names, last, expected = Names(KEY), [None, ALWAYS // 4, ALWAYS // 2, 1], [0] * KINDS
    for who, mine in people.groupby("who"):
        zone = zone_of(mine[["x", "y"]].to_numpy())
        coin = int(names.coins(*names.people(pa.array([who], pa.int64())))[0])
        expected[zone] += zone == 0 or coin < last[zone]
    assert whole.tolist() == expected
