"""Spark's coins jointly, not only their rates: across partitions and within them, seeded and not; and retries.

The functions that run on executors are run here, with the number of a partition as Spark tells it; one job of each kind
runs on Spark itself. Bounds on what is random hold but for 10^-9.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from covey import Box
from covey.noise.source import OsSource, SeededSource, new_key
from covey.public import resolve_bounds

pytestmark = pytest.mark.timeout(900)  # whichever comes first starts Spark
narrowed = pytest.importorskip("covey.private.narrowed.spark", reason="pyspark is not installed")
tables = pytest.importorskip("covey.private.tables.spark", reason="pyspark is not installed")
BOUNDS = Box(a=(0, 1), b=(0, 1))
DOMAIN = resolve_bounds(BOUNDS, names=("a", "b", "who"), width=3)
KEY, HALF = b"k" * 32, Fraction(1, 2)
PARTITIONS, ROWS = 40, 1000
FAR = 6.9  # deviations: 5e-12 for each of up to 780 pairs, so below 10^-8 for all


@pytest.fixture
def on_partition(monkeypatch):
    """The rows that a partition keeps, as places in it."""

    def kept(
        partition: int, *, key: bytes | None, rate: Fraction = HALF, sizes: tuple[int, ...] = (ROWS,), retry: int = 0
    ):
        task = SimpleNamespace(
            partitionId=lambda: partition, attemptNumber=lambda: retry, taskAttemptId=lambda: 9 * retry
        )
        monkeypatch.setattr(narrowed, "TaskContext", SimpleNamespace(get=lambda: task))
        ends = np.cumsum((0, *sizes))
        batches = [pa.record_batch({"v0": np.arange(a, b, dtype=float)}) for a, b in pairwise(ends)]
        found = [batch.column(0).to_numpy() for batch in narrowed.keep_rows(rate, key, iter(batches))]
        return np.concatenate(found).astype(int) if found else np.empty(0, dtype=int)

    return kept


def heads(places, rows: int = ROWS) -> np.ndarray:
    return np.isin(np.arange(rows), places)


def far_off(agreements: int, trials: int) -> bool:
    """Whether two rows of fair coins agree too often or too seldom to be independent."""
    return abs(agreements - trials / 2) > FAR * np.sqrt(trials) / 2


@pytest.mark.parametrize("key", [None, KEY], ids=["unseeded", "seeded"])
def test_rows_are_kept_independently_across_partitions_and_within_them(key, on_partition):
    coins = np.array([heads(on_partition(partition, key=key)) for partition in range(PARTITIONS)])
    for a, b in combinations(coins, 2):
        assert not far_off((a == b).sum(), ROWS)
        assert not far_off((a[1:] == b[:-1]).sum(), ROWS - 1)  # nor are they the same coins, shifted by one
    for lag in (1, 2, 3, 64, 256):  # gaps are drawn 256 at a time at first
        assert not far_off((coins[:, lag:] == coins[:, :-lag]).sum(), PARTITIONS * (ROWS - lag))
    assert not far_off(coins.sum(), coins.size)


def test_the_test_of_independence_can_fail(on_partition):
    coins = heads(on_partition(0, key=KEY))
    assert far_off((coins == heads(on_partition(0, key=KEY))).sum(), ROWS)  # one seed for two partitions
    assert far_off((coins == ~coins).sum(), ROWS)


def test_spark_partitions_draw_by_the_rate(on_partition, monkeypatch):
    asked = []
    real = narrowed.kept
    monkeypatch.setattr(narrowed, "kept", lambda **given: asked.append(given["rate"]) or real(**given))
    on_partition(0, key=KEY, rate=Fraction(3, 10))
    assert asked == [Fraction(3, 10)]
    assert on_partition(0, key=KEY, rate=Fraction(1)).tolist() == list(range(ROWS))
    assert asked == [Fraction(3, 10)]  # everybody needs no coins


@pytest.mark.parametrize("sizes", [(1000,), (1, 999), (400, 0, 1, 599), (250,) * 4])
def test_batches_and_retries_change_nothing_where_there_is_a_seed(sizes, on_partition):
    whole = on_partition(3, key=KEY)
    assert on_partition(3, key=KEY, sizes=sizes).tolist() == whole.tolist()
    assert on_partition(3, key=KEY, sizes=sizes, retry=2).tolist() == whole.tolist()
    assert on_partition(4, key=KEY).tolist() != whole.tolist()
    assert on_partition(3, key=b"j" * 32).tolist() != whole.tolist()


def test_without_a_seed_every_attempt_draws_coins_of_its_own(on_partition):
    assert len({tuple(on_partition(3, key=None, retry=retry)) for retry in range(5)}) == 5


@pytest.mark.parametrize("source", [OsSource(), SeededSource(5)], ids=["unseeded", "seeded"])
def test_on_spark_itself_partitions_have_coins_of_their_own(spark, source):
    """Eight partitions that hold the same rows, numbered: what one keeps says nothing about another."""
    rows = pd.DataFrame({"a": np.arange(8 * ROWS) / (8 * ROWS), "b": np.zeros(8 * ROWS)})
    frame = spark.createDataFrame(rows, verifySchema=False).repartitionByRange(8, "a")
    sample = narrowed.SparkSample(tables.SparkTable(frame), ("a", "b"), rate=HALF, source=source)
    kept = np.concatenate([piece() for piece in sample.pieces(("a", "b"))], axis=1)[0]
    coins = heads(np.rint(kept * 8 * ROWS).astype(int), 8 * ROWS)
    assert not far_off(coins.sum(), coins.size)
    for a, b in combinations(coins.reshape(8, ROWS), 2):
        assert not far_off((a == b).sum(), ROWS)


def ranked(rows: list[tuple[str, float]], key: bytes = KEY) -> dict[tuple[str, float], list[int]]:
    """The places of rows in their person's order, as executors draw them, by person and value."""
    names = narrowed.Names(key)
    given = pa.record_batch({"v0": [x for _, x in rows], "v1": [0.5] * len(rows), "who": [who for who, _ in rows]})
    (named,) = narrowed.name_rows(names, DOMAIN, [given])
    seen: dict[tuple[str, float], int] = {}
    copies = [seen.update({row: seen.get(row, -1) + 1}) or seen[row] for row in rows]
    (found,) = narrowed.rank_rows(names, [named.append_column("copy", pa.array(copies, pa.int64()))])
    ranks: dict[tuple[str, float], list[int]] = {}
    for row, rank in zip(rows, found.column("rank").to_pylist(), strict=True):
        ranks.setdefault(row, []).append(rank)
    return ranks


def test_people_at_the_same_point_do_not_change_each_others_order():
    points = [0.1, 0.2, 0.2, 0.3, 0.7, 0.9]
    ada, bob = [("ada", x) for x in points], [("bob", x) for x in points]
    alone, together = ranked(ada), ranked([*bob, *ada, ("cleo", 0.2)])
    assert {row: ranks for row, ranks in together.items() if row[0] == "ada"} == alone
    first = [sorted(ranked([(who, x) for x in points]).items(), key=lambda each: each[1]) for who in ("ada", "bob")]
    orders = [[x for (_, x), _ in each] for each in first]
    assert orders[0] != orders[1] or ranked(ada, b"j" * 32) != alone


def test_the_orders_of_people_at_the_same_points_are_independent():
    """Which of two points comes first, for 800 people who all have both."""
    people = [f"p{i}" for i in range(800)]
    ranks = ranked([(who, x) for who in people for x in (0.25, 0.75)])
    first = np.array([ranks[who, 0.25] < ranks[who, 0.75] for who in people])
    assert not far_off(first.sum(), 800)
    for lag in (1, 2, 400):
        assert not far_off((first[lag:] == first[:-lag]).sum(), 800 - lag)


def test_on_spark_itself_a_person_beside_another_keeps_the_same_rows(spark):
    points = np.linspace(0.05, 0.95, 12)
    one = pd.DataFrame({"a": points, "b": 0.5, "who": "ada"})
    both = pd.concat([one.assign(who="bob", b=0.25), one, one.assign(who="bob")])  # bob has rows at the same points

    def kept(rows, partitions):
        frame = spark.createDataFrame(rows).repartition(partitions)
        capped = narrowed.SparkCapped(tables.SparkTable(frame), DOMAIN, "who", most=5, key=new_key(SeededSource(2)))
        found = capped.frame.toPandas()
        return sorted(map(tuple, found.to_numpy())), capped

    alone, held = kept(one, 2)
    held.frame.unpersist()
    assert sorted(map(tuple, held.frame.toPandas().to_numpy())) == alone  # made again, alike
    beside, _ = kept(both, 3)
    mine = {row for row in beside if row[1] == 0.5}
    assert len(alone) == 5
    assert len(beside) == 10
    assert set(alone) <= mine
