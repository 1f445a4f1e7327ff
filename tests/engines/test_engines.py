"""The same rows give the same integers, to the bit, wherever they live and however they are cut into pieces."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from covey import KMeans
from covey.private.engines import rows as row_engine
from covey.private.engines.memory import MemoryEngine
from covey.private.tables import base as tables
from covey.private.tables.frames import open_table
from covey.public import Ball, Box, Domain, resolve_bounds
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, InsideOutside, OccupiedCells, Outside
from covey.queries.grid import Grid
from covey.queries.voronoi import VoronoiSums

NAMES = ["a", "b", "c"]
BOUNDS = [Box((-1, 1), (-5, 5), (0, 2**54)), Ball(3.0)]


def awkward_rows(n: int = 500) -> np.ndarray:
    rng = np.random.default_rng(8)
    rows = np.stack([rng.normal(0, 1, n), rng.integers(-9, 9, n), rng.integers(2**53, 2**54, n)], axis=1)
    rows[rng.random((n, 3)) < 0.05] = np.nan
    rows[0] = [np.inf, -np.inf, -0.0]
    rows[1] = [1e308, -1e308, 5e-324]
    rows[2] = [-1.0, 5.0, 0.0]
    return rows


def statistics(data: object, bounds: object) -> list[list[int]]:
    """Every kind of statistic, as Python integers."""
    table = open_table(data)
    domain = resolve_bounds(bounds, names=table.names, width=table.width)
    table.check_numeric(domain.columns if table.names is not None else None)
    engine = MemoryEngine(table, domain)
    limit, d = domain.limit, domain.dimension
    centres = np.linspace(-limit, limit, 4 * d).reshape(4, d)
    unnamed = Domain(middle=domain.middle, half=domain.half, ball=domain.ball)
    return [
        engine.total(Count(unnamed)).tolist(),
        engine.total(InsideOutside(unnamed)).tolist(),
        engine.total(Outside(unnamed)).tolist(),
        engine.total(CellCounts(Grid(unnamed, 3))).tolist(),
        engine.total(VoronoiSums(centres, unnamed)).tolist(),
        engine.total(NegativeCosts(centres[None], unnamed)).tolist(),
        engine.total(NegativeCosts(centres[None], unnamed, objective="k-median")).tolist(),
        [part.tolist() for part in engine.totals_by_key(OccupiedCells(Grid(unnamed, 1000)))],
        [part.tolist() for part in engine.cells(Grid(unnamed, 7))],
    ]


def nulls(frame: pd.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        {name: [None if np.isnan(x) else float(x) for x in frame[name]] for name in frame},
        schema=dict.fromkeys(frame, pl.Float64),
    )


def parquet(frame: pd.DataFrame, folder) -> str:
    path = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=37)
    return str(path)


def csv(frame: pd.DataFrame, folder):
    path = folder / "rows.csv"
    frame.to_csv(path, index=False)  # repr of a float: reads back as the same float
    return path


def feather(frame: pd.DataFrame, folder) -> str:
    path = folder / "rows.feather"
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), path, compression="zstd", chunksize=41)
    return str(path)


def parts(frame: pd.DataFrame, folder):
    """Several files, of which one has no rows, one is compressed and one holds its columns in another order."""
    for i, (first, last) in enumerate([(0, 3), (3, 3), (3, 300), (300, len(frame))]):
        names = list(frame)[:: -1 if i == 2 else 1]
        frame[first:last].to_csv(folder / f"{i}.csv{'.gz' * (i == 3)}", index=False, columns=names)
    return folder


def pattern(frame: pd.DataFrame, folder) -> str:
    for i in range(3):
        (folder / f"day{i}").mkdir()
        frame[i * 200 : (i + 1) * 200 if i < 2 else None].to_parquet(folder / f"day{i}" / "rows.parquet")
    return f"{folder}/day?/*.parquet"


WAYS = {
    "fortran": lambda frame, _: np.asfortranarray(frame.to_numpy()),
    "strided": lambda frame, _: np.repeat(frame.to_numpy(), 2, axis=0)[::2],
    "list": lambda frame, _: frame.to_numpy().tolist(),
    "object array": lambda frame, _: frame.to_numpy().astype(object),
    "pandas": lambda frame, _: frame,
    "pandas nullable": lambda frame, _: frame.astype("Float64"),
    "pandas object": lambda frame, _: frame.astype(object).where(frame.notna(), None),
    "pandas arrow": lambda frame, _: frame.astype("double[pyarrow]"),
    "polars": lambda frame, _: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
    "polars nulls": lambda frame, _: nulls(frame),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "arrow chunks": lambda frame, _: pa.concat_tables(
        [pa.Table.from_pandas(frame[:41]), pa.Table.from_pandas(frame[41:])]
    ),
    "record batch": lambda frame, _: pa.RecordBatch.from_pandas(frame),
    "parquet": parquet,
    "csv": csv,
    "csv.gz": lambda frame, folder: frame.to_csv(folder / "rows.csv.gz", index=False) or folder / "rows.csv.gz",
    "arrow file": feather,
    "folder": parts,
    "pattern": pattern,
}


@pytest.mark.parametrize("bounds", BOUNDS, ids=["box", "ball"])
@pytest.mark.parametrize("way", WAYS)
def test_every_place_gives_the_same_integers(way, bounds, tmp_path):
    rows = awkward_rows()
    data = WAYS[way](pd.DataFrame(rows, columns=NAMES), tmp_path)
    assert statistics(data, bounds) == statistics(rows, bounds)


@pytest.mark.parametrize("ending", ["parquet", "csv.gz"])
def test_values_in_the_names_of_folders_are_values(ending, tmp_path):
    rows = awkward_rows()
    rows[:, 2] = np.random.default_rng(0).integers(-3, 3, len(rows))
    rows = rows[np.argsort(rows[:, 2].astype(int).astype(str), kind="stable")]
    frame = pd.DataFrame(rows, columns=NAMES)
    for value, part in frame.groupby("c"):
        folder = tmp_path / f"c={value:.0f}"
        folder.mkdir()
        part = part.drop(columns="c")
        if ending == "parquet":
            part.to_parquet(folder / "rows.parquet", index=False)
        else:
            part.to_csv(folder / "rows.csv.gz", index=False)
    bounds = Box((-1, 1), (-5, 5), (-2, 9))
    assert statistics(tmp_path, bounds) == statistics(rows, bounds)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("int64", lambda x: np.array(x, dtype=np.int64)[:, None]),
        ("float32", lambda x: np.array(x, dtype=np.float32)[:, None]),
        ("longdouble", lambda x: np.array(x, dtype=np.longdouble)[:, None]),
        ("big-endian", lambda x: np.array(x, dtype=">f8")[:, None]),
        ("pandas Int64", lambda x: pd.DataFrame({"a": pd.array(x, dtype="Int64")})),
        ("pandas Float32", lambda x: pd.DataFrame({"a": pd.array(x, dtype="Float32")})),
        ("pandas int32", lambda x: pd.DataFrame({"a": np.array(x, dtype=np.int32)})),
        ("polars Int8", lambda x: pl.DataFrame({"a": pl.Series(x, dtype=pl.Int8)})),
        ("polars Decimal", lambda x: pl.DataFrame({"a": [decimal.Decimal(v) for v in x]})),
        ("arrow int16", lambda x: pa.table({"a": pa.array(x, pa.int16())})),
        ("arrow float16", lambda x: pa.table({"a": pa.array(np.array(x, dtype=np.float16))})),
        ("arrow decimal128", lambda x: pa.table({"a": pa.array([decimal.Decimal(v) for v in x], pa.decimal128(9, 3))})),
        (
            "arrow decimal256",
            lambda x: pa.table({"a": pa.array([decimal.Decimal(v) for v in x], pa.decimal256(60, 3))}),
        ),
    ],
)
def test_number_types_that_hold_the_same_values_agree(kind, make):
    values = [-7, 0, 1, 3, 100, -100]
    expected = statistics(np.array(values, dtype=np.float64)[:, None], (-9, 9))
    assert statistics(make(values), (-9, 9)) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.array(x)[:, None],
        lambda x: pd.DataFrame({"a": x}),
        lambda x: pd.DataFrame({"a": pd.array(x, dtype="boolean")}),
        lambda x: pl.DataFrame({"a": x}),
        lambda x: pa.table({"a": x}),
    ],
)
def test_booleans_are_zero_and_one(make):
    values = [True, False, True]
    assert statistics(make(values), (0, 1)) == statistics(np.array([[1.0], [0.0], [1.0]]), (0, 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.array(x)[:, None],
        lambda x: pd.DataFrame({"a": pd.array(x, dtype="Int64")}),
        lambda x: pl.DataFrame({"a": x}),
        lambda x: pa.table({"a": pa.array(x, pa.int64())}),
        lambda x: pa.table({"a": pa.array(x, pa.uint64())}),
    ],
)
def test_integers_beyond_2_to_53_are_rounded_not_refused(make):
    values = [2**53 + 1, 2**62 + 3, 2**63 - 1, 5]
    expected = statistics(np.array([float(v) for v in values])[:, None], (0, 2**62))
    assert statistics(make(values), (0, 2**62)) == expected


def test_missing_integers_are_missing():
    expected = statistics(np.array([[1.0], [np.nan], [3.0]]), (0, 4))
    for data in (
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
        pl.DataFrame({"a": [1, None, 3]}),
        pa.table({"a": pa.array([1, None, 3])}),
        pa.table({"a": pa.array([decimal.Decimal(1), None, decimal.Decimal(3)])}),
        [[1], [None], [3]],
    ):
        assert statistics(data, (0, 4)) == expected


@pytest.mark.parametrize("chunk", [64, 2**10, 2**15])
@pytest.mark.parametrize("piece", [256, 1000, 2**19])
def test_the_size_of_chunks_and_pieces_never_shows(monkeypatch, tmp_path, chunk, piece):
    rows = awkward_rows(3000)
    expected = statistics(rows, BOUNDS[0])
    monkeypatch.setattr(row_engine, "CHUNK_VALUES", chunk)
    monkeypatch.setattr(tables, "PIECE_VALUES", piece)
    assert statistics(rows, BOUNDS[0]) == expected
    frame = pd.DataFrame(rows, columns=NAMES)
    assert statistics(parquet(frame, tmp_path), BOUNDS[0]) == expected


def test_the_order_of_rows_never_shows():
    rows = awkward_rows()
    assert statistics(rows[::-1], BOUNDS[1]) == statistics(rows, BOUNDS[1])


def test_a_different_row_does_show():
    rows = awkward_rows()
    changed = rows.copy()
    changed[7] = [0.25, 1.0, 2.0**53]
    assert statistics(changed, BOUNDS[0]) != statistics(rows, BOUNDS[0])


@pytest.mark.parametrize("way", ["pandas", "polars", "arrow", "parquet", "csv", "arrow file", "folder", "pattern"])
def test_columns_are_chosen_by_name(way, tmp_path):
    frame = pd.DataFrame(awkward_rows(), columns=NAMES)
    expected = statistics(frame[["c", "a"]].to_numpy(), Box((0, 2**54), (-1, 1)))
    assert statistics(WAYS[way](frame, tmp_path), Box(c=(0, 2**54), a=(-1, 1))) == expected


@pytest.mark.parametrize("way", ["pandas", "polars nulls", "arrow", "parquet", "csv", "folder", "pattern"])
@pytest.mark.parametrize("algorithm", ["lloyd", "hybrid", "blocks"])
def test_a_seeded_fit_is_the_same_everywhere(way, algorithm, tmp_path):
    frame = pd.DataFrame(awkward_rows(2000)[:, :2], columns=NAMES[:2])
    model = KMeans(3, bounds=(-5, 5), algorithm=algorithm, random_state=11)
    expected = model.fit(frame.to_numpy()).cluster_centers_
    assert np.array_equal(model.fit(WAYS[way](frame, tmp_path)).cluster_centers_, expected)


@pytest.mark.parametrize("algorithm", ["lloyd", "blocks"])
def test_a_seed_repeats_however_many_pieces_are_read_at_once(monkeypatch, algorithm):
    rows = np.random.default_rng(1).normal(0, 0.3, (20_000, 2))
    model = KMeans(3, bounds=(-1, 1), algorithm=algorithm, random_state=4)
    expected = model.fit(rows).cluster_centers_
    monkeypatch.setattr(tables, "PIECE_VALUES", 512)
    for _ in range(3):
        assert np.array_equal(model.fit(rows).cluster_centers_, expected)
