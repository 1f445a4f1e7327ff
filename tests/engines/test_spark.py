"""Spark itself: what it refuses, samples and parts in distribution, and failures in the middle of a job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey import Box, KMeans
from covey.budget.ledger.ledger import Ledger
from covey.errors import CoveyError, DataError, ParameterError
from covey.fit.fit import fit
from covey.noise.source import OsSource, SeededSource
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import open_table
from covey.public import resolve_bounds
from covey.queries.counts import CellCounts, Count, InsideOutside, Outside
from covey.queries.grid import Grid
from covey.queries.scores import SoftRings
from covey.queries.voronoi import VoronoiSums

pytestmark = pytest.mark.timeout(900)  # whichever comes first starts Spark
BOUNDS = Box(a=(-1, 1), b=(-1, 1))
DOMAIN = resolve_bounds(BOUNDS, names=("a", "b"), width=2)


def frame(n: int = 2000, *, seed: int = 1) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).uniform(-1, 1, (n, 2)), columns=["a", "b"])


def engine_of(spark_frame):
    from covey.private.engines.spark import SparkEngine

    return SparkEngine(spark_frame, DOMAIN)


def queries() -> list:
    centres = np.array([[-0.5, -0.5], [0.4, 0.2], [0.9, -0.9]]) * DOMAIN.limit
    counts = [Count(DOMAIN), CellCounts(Grid(DOMAIN, 5)), CellCounts(Grid(DOMAIN, 300)), VoronoiSums(centres, DOMAIN)]
    return [*counts, InsideOutside(DOMAIN), Outside(DOMAIN), SoftRings([centres, centres[:1]], DOMAIN, breaks=[1e9])]


def test_statistics_are_equal_to_the_bit_whatever_the_partitions(spark):
    rows = frame()
    rows.loc[:40, "a"], rows.loc[30:60, "b"] = 3.0, np.nan
    memory = MemoryEngine(open_table(rows), DOMAIN)
    for partitions in (1, 7):
        engine = engine_of(spark.createDataFrame(rows).repartition(partitions))
        for query in queries():
            assert engine.total(query).tolist() == memory.total(query).tolist()
        found, expected = engine.cells(Grid(DOMAIN, 11)), memory.cells(Grid(DOMAIN, 11))
        assert [part.tolist() for part in found] == [part.tolist() for part in expected]
    empty = engine_of(spark.createDataFrame(rows).limit(0))
    assert all(not empty.total(query).any() for query in queries()[:2])


def test_columns_of_every_numeric_type(spark):
    values = [-7, 0, 1, 3, None, 100]
    plain = pd.DataFrame({"a": pd.array(values, dtype="Int64"), "b": [0.0] * 6})
    expected = MemoryEngine(open_table(plain), DOMAIN).total(queries()[3]).tolist()
    for kind in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(9,3)"):
        given = spark.createDataFrame([(v, 0.0) for v in values], "a int, b double")
        cast = given.withColumn("a", given["a"].cast(kind))
        assert engine_of(cast).total(queries()[3]).tolist() == expected


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"algorithm": "blocks"}, "needs rows in one place: use 'auto', 'grid' or 'lloyd'"),
        ({"algorithm": "max-cover", "delta": 1e-6}, "needs rows in one place: use 'auto', 'grid' or 'lloyd'"),
        ({"engine": "memory"}, "stays on its cluster"),
        ({"engine": "files"}, "stays on its cluster"),
        ({"bounds": Box(a=(-1, 1), text=(0, 1))}, "not numeric"),
        ({"bounds": Box(a=(-1, 1), nowhere=(0, 1))}, "nowhere"),
        ({"person": "list"}, "person"),
        ({"person": "nobody"}, "person"),
        ({"sample": 0.5, "neighbours": "replace-one"}, "add-remove"),
    ],
)
def test_what_spark_cannot_do_is_refused_before_anything_is_charged(spark, more, match):
    given = spark.createDataFrame([(0.1, 0.2, "x", [1])], "a double, b double, text string, list array<int>")
    book = Ledger.memory()
    with pytest.raises(CoveyError, match=match):
        fit(given, k=2, epsilon=1.0, ledger=book, dataset="data", **{"bounds": BOUNDS, **more})
    assert book.datasets()["data"].spent.epsilon == 0


def test_paths_that_spark_cannot_read(spark, tmp_path):
    with pytest.raises(DataError, match="Spark reads a CSV in its own way"):
        fit(tmp_path / "rows.csv", k=2, epsilon=1.0, bounds=BOUNDS, engine="spark")
    with pytest.raises(DataError, match="cannot read"):
        fit(tmp_path / "nothing.parquet", k=2, epsilon=1.0, bounds=BOUNDS, engine="spark")
    with pytest.raises(ParameterError, match="Parquet paths"):
        fit(frame(), k=2, epsilon=1.0, bounds=BOUNDS, engine="spark")


def test_the_estimator_takes_a_frame(spark):
    rows = frame()
    model = KMeans(2, epsilon=1.0, bounds=BOUNDS, random_state=3).fit(spark.createDataFrame(rows))
    again = KMeans(2, epsilon=1.0, bounds=BOUNDS, random_state=3).fit(rows)
    assert np.array_equal(model.cluster_centers_, again.cluster_centers_)
    assert model.predict(rows).shape == (2000,)
    with pytest.raises(ParameterError, match="cluster"):
        model.predict(spark.createDataFrame(rows))


def test_a_sample_keeps_every_row_with_the_same_chance_and_comes_to_memory(spark):
    from covey.private.narrowed.spark import SparkSample
    from covey.private.tables.spark import SparkTable

    n = 40_000
    table = SparkTable(spark.createDataFrame(frame(n)).repartition(4))
    sample = SparkSample(table, DOMAIN.columns, rate=Fraction(3, 10), source=OsSource())
    kept = np.concatenate([piece() for piece in sample.pieces(DOMAIN.columns)], axis=1)
    assert abs(kept.shape[1] - 0.3 * n) < 6.5 * np.sqrt(n * 0.21)  # 1e-10; a rate off by 10% is 13 deviations away
    assert abs(np.mean(kept[0] < 0) - 0.5) < 0.035
    with pytest.raises(CoveyError, match="another one"):
        sample.pieces(DOMAIN.columns)
    release = fit(table.frame, k=2, epsilon=1.0, bounds=BOUNDS, sample=0.3, algorithm="blocks")
    assert release.certificate.parameters["sample"]["rate"] == 0.3


def test_parts_share_out_the_rows_equal_ones_too(spark):
    n = 24_000
    rows = pd.DataFrame({"a": [0.5] * (n // 2) + list(np.linspace(-1, 1, n // 2)), "b": [0.0] * n})
    parts = engine_of(spark.createDataFrame(rows).repartition(3)).split(3, OsSource())
    counts = [int(part.total(Count(DOMAIN))[0]) for part in parts]
    assert sum(counts) == n
    assert all(abs(count - n / 3) < 6.5 * np.sqrt(n * 2 / 9) for count in counts)  # 10% is 11 deviations
    grid = CellCounts(Grid(DOMAIN, 4))
    whole = engine_of(spark.createDataFrame(rows)).total(grid)
    assert np.sum([part.total(grid) for part in parts], axis=0).tolist() == whole.tolist()


def test_one_row_more_changes_one_part_by_one_row_whatever_the_partitions_and_the_order(spark):
    """Claim 1 of private/engines/spark.md: coins are by value and copy number, so nobody else's coin moves."""
    rows = pd.concat([frame(300), frame(20).iloc[[0] * 40]])
    grid = CellCounts(Grid(DOMAIN, 64))

    def parts(given, *, partitions):
        engine = engine_of(spark.createDataFrame(given.sample(frac=1, random_state=partitions)).repartition(partitions))
        return np.stack([part.total(grid) for part in engine.split(4, SeededSource(3))])

    before = parts(rows, partitions=3)
    for extra in (rows.iloc[[-1]], pd.DataFrame({"a": [np.nan], "b": [7.0]})):  # one more copy; a row of its own
        moved = parts(pd.concat([extra, rows]), partitions=2) - before
        assert (moved != 0).sum() == 1
        assert moved.sum() == 1


CLUSTER = """
import json, os, sys, time
from pathlib import Path
import numpy as np
from spark_session import spark_or_skip
from test_spark import BOUNDS, frame
from covey.budget.ledger.ledger import Ledger
from covey.fit.fit import fit

folder = Path(sys.argv[1])
spark = spark_or_skip("local-cluster[2,1,1024]", **{"spark.executor.memory": "512m", "spark.speculation": "true"})
given = spark.createDataFrame(frame()).repartition(4)

def program(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()

def executor():
    # the parent of the daemon that forks Python workers
    pid = os.getpid()
    while b"ExecutorBackend" not in program(pid):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid

def stumble(batches):
    # one task dies with its Python worker; another kills the executor's JVM itself
    from pyspark import TaskContext
    task = TaskContext.get()
    for batch in batches:
        yield batch
        for number, victim in ((0, os.getpid), (1, executor)):
            flag = folder / f"done-{number}"
            if task.partitionId() == number and not flag.exists():
                pid = victim()
                flag.write_bytes(program(pid))
                os.kill(pid, 9)

stumbling = given.mapInArrow(stumble, given.schema)
book = Ledger.memory()
release = fit(stumbling, k=3, epsilon=1.0, bounds=BOUNDS, algorithm="lloyd", random_state=4, ledger=book,
              dataset="data", algorithm_params={"rounds": 2})
account = book.datasets()["data"]
print(json.dumps({"release": release.to_json().decode(), "spent": float(account.spent.epsilon),
                  "died": {path.name: path.read_text() for path in folder.iterdir()}}))
spark.stop()
"""


def test_executors_that_are_killed_leave_the_statistics_equal_and_one_charge(tmp_path):
    """A local cluster of two executors: a Python worker and an executor's JVM are killed with SIGKILL mid-job."""
    pytest.importorskip("pyspark")
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (here, here.parent)))},
        timeout=560,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert "pyspark" in found["died"]["done-0"]
    assert "java" in found["died"]["done-1"]
    book = Ledger.memory()
    more = {"random_state": 4, "ledger": book, "dataset": "data", "algorithm_params": {"rounds": 2}}
    alone = fit(frame(), k=3, epsilon=1.0, bounds=BOUNDS, algorithm="lloyd", **more)
    assert found["release"] == alone.to_json().decode()
    assert found["spent"] == 1.0


class Speculating:
    """A frame of a cluster that starts slow tasks twice, and otherwise the one that it is made of."""

    def __init__(self, frame):
        self._frame, self.sparkSession = frame, self
        self.conf = {"spark.speculation": "true"}

    def __getattr__(self, name):
        return getattr(self._frame, name)


def test_no_sample_where_spark_takes_the_quicker_of_two_attempts(spark, monkeypatch):
    """A sample with a certain row in it may be the slower one: then who is in it decides which one is taken."""
    from covey.private.tables.spark import SparkTable, speculates

    frame = spark.createDataFrame([(0.1, 0.2)], ["x", "y"])
    assert not speculates(frame)  # the usual setting
    book = Ledger.memory()
    real = SparkTable.__init__
    monkeypatch.setattr(SparkTable, "__init__", lambda self, given: real(self, Speculating(given)))
    for sample in (0.5, 100, "auto"):
        with pytest.raises(ParameterError, match="speculation"):
            fit(frame, k=1, epsilon=1, bounds=(-1, 1), algorithm="grid", sample=sample, ledger=book, dataset="data")
    assert book.verify().charges == 0


def test_scores_are_those_of_memory(spark):
    rows = frame(300)
    release = fit(rows, k=2, epsilon=1.0, bounds=BOUNDS, random_state=1)
    found = [release.score(each, epsilon=1, random_state=1).to_json() for each in (rows, spark.createDataFrame(rows))]
    assert found[0] == found[1]
