"""Every algorithm on every engine it declares: seeded releases are equal byte by byte, wherever the rows live."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import settings_of
from covey import Box, ParameterError
from covey.algorithms.registry import ALGORITHMS
from covey.fit.fit import fit
from covey.private.engines import rows as shared
from covey.private.engines import streaming

NAMES = ["a", "b"]
BOUNDS = Box(a=(-1, 1), b=(-2, 2))
QUICK = {"least_rounds": 1, "most_rounds": 2, "rounds": 2, "swaps": 2}  # where they exist: all algorithms in one test
PEOPLE = {"person": "who", "rows_per_person": 2}


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(0, 0.3, (700, 2)), columns=NAMES)
    frame.loc[3, "a"], frame.loc[4, "b"], frame.loc[5] = np.nan, np.inf, [-9.0, -0.0]
    frame["who"] = rng.integers(0, 90, len(frame))
    frame.loc[10:29, ["a", "b"]] = [[1.0, 2.0], [7.0, 2.5]] * 10  # one lattice point, inside the bounds and outside
    frame.loc[10:29, "who"] = 7
    return frame


def release(data: object, algorithm: str, **more: object) -> bytes:
    settings = settings_of(algorithm)
    own = {**(settings["algorithm_params"] or {}), **parameters(algorithm)}
    return fit(
        data,
        k=3,
        epsilon=2.0,
        delta=settings["delta"],
        bounds=BOUNDS,
        algorithm=algorithm,
        algorithm_params=own or None,
        random_state=11,
        **more,
    ).to_json()


def parameters(algorithm: str) -> dict[str, object]:
    return {name: value for name, value in QUICK.items() if name in ALGORITHMS[algorithm].parameters}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The rows as several Parquet files, in small row groups."""
    where = tmp_path_factory.mktemp("rows")
    table = pa.Table.from_pandas(rows())
    for part in range(3):
        pq.write_table(table.slice(part * 300, 300), where / f"part-{part}.parquet", row_group_size=97)
    return where


def on(engine: str) -> list[str]:
    return [name for name, row in ALGORITHMS.items() if engine in row.engines]


UNITS = {"missing": "drop", "scale": {"b": 3}}  # a row of the table misses a value


@pytest.mark.parametrize("people", [UNITS, PEOPLE | UNITS], ids=["rows", "people"])
def test_files_leave_out_and_scale_as_memory_does(people, folder, monkeypatch):
    expected = release(rows(), "auto", **people)
    assert expected != release(rows(), "auto", **{**people, "missing": "middle"})
    assert release(rows().dropna(), "auto", **people) == expected
    assert release(folder, "auto", engine="files", **people) == expected
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    assert release(folder, "auto", engine="files", **people) == expected


@pytest.mark.parametrize("people", [{}, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("algorithm", on("files"))
def test_files_that_are_read_again_for_every_statistic(algorithm, people, folder, monkeypatch):
    expected = release(rows(), algorithm, **people)
    assert release(folder, algorithm, engine="memory", **people) == expected
    assert release(folder, algorithm, engine="files", **people) == expected
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    assert release(folder, algorithm, **people) == expected


def test_every_algorithm_runs_on_files():
    assert on("files") == list(ALGORITHMS)


@pytest.mark.parametrize("rule", ["gkm", "gkm-3k"])
def test_blocks_are_the_same_however_many_are_made_at_a_time(rule, folder, monkeypatch):
    own = {"algorithm_params": {"rule": rule, "rounds": 2}, "algorithm": "blocks", "random_state": 11}
    asked = {"k": 3, "epsilon": 2.0, "bounds": BOUNDS, **own}
    expected = fit(rows(), **asked).to_json()
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    for values in (1, 100, 1401):
        monkeypatch.setattr(shared, "BLOCK_VALUES", values)
        assert fit(rows(), **asked).to_json() == expected
        assert fit(folder, **asked, engine="files").to_json() == expected


def test_max_cover_keeps_few_columns_of_a_file(folder, monkeypatch):
    """The rows that it holds at once have the dimensions that they were projected to."""
    held, real = [], shared.RowEngine.rows

    def watched(engine):
        found = real(engine)
        held.append({each.shape[0] for each in found})
        return found

    monkeypatch.setattr(shared.RowEngine, "rows", watched)
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    asked = {"k": 2, "epsilon": 2.0, "delta": 1e-6, "bounds": BOUNDS, "algorithm": "max-cover", "random_state": 3}
    own = {"algorithm_params": {"dimensions": 1}}
    assert fit(folder, engine="files", **asked, **own).to_json() == fit(rows(), **asked, **own).to_json()
    assert held == [{1}]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", on("spark"))
def test_spark_gives_the_same_releases(algorithm, spark):
    frame = spark.createDataFrame(rows()).repartition(3)
    assert release(frame, algorithm) == release(rows(), algorithm)
    assert release(frame, algorithm, **UNITS) == release(rows(), algorithm, **UNITS)
    with pytest.raises(ParameterError, match=r"hour.* not on Spark"):
        fit(frame, k=2, epsilon=1.0, bounds={"a": (-1, 1), "hour(who)": (0, 24)}, random_state=1)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", [pytest.param("auto", marks=pytest.mark.slow), "grid"])
def test_spark_counts_people_as_memory_does(algorithm, spark, folder):
    expected = release(rows(), algorithm, **PEOPLE)
    assert release(spark.createDataFrame(rows()).repartition(3), algorithm, **PEOPLE) == expected
    assert release(str(folder), algorithm, engine="spark", **PEOPLE) == expected
    dropped = release(rows(), algorithm, **PEOPLE | UNITS)
    assert release(str(folder), algorithm, engine="spark", **PEOPLE | UNITS) == dropped
    chosen = {"person": "who", "rows_per_person": "auto", **UNITS}
    assert release(str(folder), algorithm, engine="spark", **chosen) == release(rows(), algorithm, **chosen)
