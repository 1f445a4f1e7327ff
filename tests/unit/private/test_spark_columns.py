"""Spark's frames: columns of any name, samples of everybody, files that are replaced between two jobs."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import charges
from covey import Box
from covey.errors import CoveyError, DataError, ParameterError
from covey.fit.fit import fit
from covey.noise.source import SeededSource
from covey.public import resolve_bounds
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid
from covey.queries.projection import Projection

BOX = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("x", "y", "who"), width=3)
CELLS = CellCounts(Grid(DOMAIN, 4))


FRAME = pd.DataFrame({"x": np.linspace(-1, 1, 60), "y": np.linspace(1, -1, 60) ** 2, "who": np.arange(60) // 3})


@pytest.mark.timeout(900)
class TestSpark:
    @pytest.fixture(autouse=True)
    def nothing_kept(self, spark):
        """No rows that an earlier test kept, in a cycle that is not yet collected."""
        gc.collect()
        spark.catalog.clearCache()

    def test_columns_of_any_name(self, spark, monkeypatch):
        asked_for = charges(monkeypatch)
        frame = spark.createDataFrame(FRAME)
        odd = frame.toDF("x`y", "a.b c", "w`h.o")
        plain = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "grid", "random_state": 1}
        twin = fit(FRAME, person="who", rows_per_person=2, **plain)
        assert fit(odd, person="w`h.o", rows_per_person=2, **plain).centres == twin.centres
        assert len(asked_for) == 2
        assert spark._jsparkSession.sharedState().cacheManager().isEmpty()  # the rows that were kept are gone
        for names in (("x", "X", "who"), ("x", "y", "Y")):
            with pytest.raises(CoveyError, match="rename it"):
                fit(frame.toDF(*names), person=names[2], **plain)
        assert len(asked_for) == 2

    def test_a_sample_of_everybody_comes_to_memory_too(self, spark):
        """The noisy number of rows may say that a sample is all rows: what needs memory must still run."""
        frame = spark.createDataFrame(FRAME[["x", "y"]])
        found = fit(frame, k=2, epsilon=1.0, bounds=BOX, algorithm="blocks", sample=10**6, random_state=1)
        assert found.certificate.parameters["sample"]["rate"] == 1

    def test_parts_of_columns_of_any_name(self, spark):
        from covey.private.engines.spark import SparkEngine

        odd = spark.createDataFrame(FRAME[["x", "y"]]).toDF("x`y", "a.b c")
        domain = resolve_bounds((-1, 1), names=("x`y", "a.b c"), width=2)
        query = CellCounts(Grid(domain, 4))
        engine = SparkEngine(odd, domain)
        same = Projection([[0, 1], [1, 0]], [0, 0], [domain.limit * 2] * 2, domain)
        engines = [part.projected(same) for part in engine.split(2, SeededSource(1))]
        assert not spark._jsparkSession.sharedState().cacheManager().isEmpty()
        parts = [part.total(CellCounts(Grid(same.target, 4))) for part in engines]
        assert sum(parts).tolist() == engine.projected(same).total(CellCounts(Grid(same.target, 4))).tolist()
        assert sum(parts).sum() == engine.total(query).sum() == len(FRAME)
        del engines
        assert spark._jsparkSession.sharedState().cacheManager().isEmpty()

    @pytest.mark.usefixtures("spark")
    def test_a_file_that_is_replaced_between_two_jobs_ends_the_fit(self, tmp_path):
        """Spark reads the new file without a word; proofs of several passes are about one set of rows."""
        from covey.private.opening import open_data

        path = tmp_path / "some *{rows}[1]\\%20.parquet"  # all that means something else in a path or a pattern

        def write(value: float, rows: int) -> None:
            pq.write_table(pa.table({"x": [value] * rows, "y": [value] * rows}), path)

        write(0.5, 10)
        engine = open_data(tmp_path, engine="spark").engine("spark", DOMAIN)
        assert engine.total(CELLS).sum() == 10
        assert engine.cells(Grid(DOMAIN, 4))[1].tolist() == [10]
        path.unlink()
        write(-0.5, 20)
        for ask in (lambda: engine.total(CELLS), lambda: engine.cells(Grid(DOMAIN, 4))):
            with pytest.raises(DataError, match="changed while Spark read it"):
                ask()


def test_zones_on_spark_are_refused_with_the_reason_before_anything_is_read():
    from covey.private.tables.spark import SparkTable

    table = object.__new__(SparkTable)
    with pytest.raises(
        ParameterError, match=r"zones: throw a coin for each place in a table, and rows on Spark have none"
    ):
        table.check_fit(engine="spark", engines=("spark",), what="grid", zoned=True)
