"""The data sets of the benchmarks: columns, number of clusters, public bounds, and what each stands for.

Rows are clipped to their public bounds and scaled to [-1, 1]^d. All sets are public, so seeds and exact costs are
fine here; nothing in this folder is meant for private rows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError
from covey.post.random import public_rng
from covey.post.starts import sphere_packing

Floats = NDArray[np.float64]
Ranges = tuple[tuple[str, float, float], ...]

BALL_ROWS = 100_000  # of the made-up set in Ball(1)
BALL_SPREAD = 1 / 8  # the usual distance of a row from the middle of its cluster there
SEPARATION = 4.0  # standard deviations from a made-up cluster's middle to the border half-way to the next, or a wall


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """One set of a paper, and the file that holds it or stands in for it."""

    name: str  # as the paper calls it
    file: str
    bounds: Ranges  # column, lower, upper
    k: int
    paper_rows: int = 0
    stands_in: str = ""  # what the rows are, where they are not the paper's own
    ball: bool = False  # made-up rows in Ball(1) instead of a file
    first: int | None = None  # only so many rows, from the beginning of the file
    part: str = ""  # of a file that holds several sets as places with counts: its name there

    @property
    def dimension(self) -> int:
        return len(self.bounds)


def _same(columns: str, low: float, high: float) -> Ranges:
    return tuple((column, low, high) for column in columns.split())


SU16 = (
    DataSet(name="S1", file="s1", bounds=_same("x y", 0, 1e6), k=15, paper_rows=5_000),
    DataSet(
        name="Gowalla",
        file="gowalla_places",
        bounds=(("lon", -180, 180), ("lat", -90, 90)),
        k=5,
        paper_rows=107_091,
        stands_in="another cut of Gowalla: 30,943 places",
    ),
    DataSet(
        name="TIGER",
        file="california_roads",
        bounds=(("lon", -124.5, -114.1), ("lat", 32.5, 42.1)),
        k=2,
        paper_rows=16_281,
        stands_in="road nodes of California",
    ),
    DataSet(
        name="Image",
        file="house_rgb",
        bounds=_same("r g b", 0, 255),
        k=3,
        paper_rows=34_112,
        stands_in="another edition of the picture, as far as known: 33,925 colours",
    ),
    DataSet(
        name="Adult-num",
        file="adult_num",
        bounds=(
            ("age", 17, 90),
            ("fnlwgt", 0, 1_500_000),
            ("education_num", 1, 16),
            ("capital_gain", 0, 99_999),
            ("capital_loss", 0, 5_000),
            ("hours_per_week", 1, 99),
        ),
        k=5,
        paper_rows=48_841,
    ),
    DataSet(
        name="Lifesci",
        file="lifesci",
        bounds=_same("pc1 pc2 pc3 pc4 pc5 pc6 pc7 pc8 pc9 pc10", -15, 15),
        k=3,
        paper_rows=26_733,
    ),
)

_LETTER = "x_box y_box width high onpix x_bar y_bar x2bar y2bar xybar x2ybr xy2br x_ege xegvy y_ege yegvx"
_NYC = (("pickup_lon", -74.3, -73.65), ("pickup_lat", 40.45, 41.0))
_GAS = (
    ("ambient_temp_c", -20, 50),
    ("ambient_pressure_mbar", 950, 1050),
    ("ambient_humidity_pct", 0, 101),
    ("air_filter_diff_pressure_mbar", 0, 10),
    ("exhaust_pressure_mbar", 10, 50),
    ("turbine_inlet_temp_c", 900, 1150),
    ("turbine_after_temp_c", 500, 600),
    ("compressor_discharge_pressure_mbar", 90, 200),
    ("energy_yield_mwh", 0, 20),
    ("co_mg_m3", 0, 50),
    ("nox_mg_m3", 0, 150),
)
UTILITY = (  # the suite of `covey bench utility`
    *(replace(each, name=each.file) for each in SU16),
    DataSet(name="letter", file="letter", bounds=_same(_LETTER, 0, 15), k=26),
    DataSet(name="gas_emissions", file="gas_emissions", bounds=_GAS, k=10),
    DataSet(name="nyc_pickups_5", file="nyc_taxi", bounds=_NYC, k=5),
    DataSet(name="nyc_pickups_10", file="nyc_taxi", bounds=_NYC, k=10),
    DataSet(
        name="nyc_trips",
        file="nyc_taxi",
        bounds=(*_NYC, ("dropoff_lon", -74.3, -73.65), ("dropoff_lat", 40.45, 41.0)),
        k=5,
    ),
    DataSet(name="unbalance", file="unbalance", bounds=_same("x y", 0, 1e6), k=8),
    DataSet(name="birch2", file="birch2", bounds=_same("x y", 0, 1e6), k=100),
    DataSet(
        name="mnist_train", file="mnist_train", bounds=_same(" ".join(f"p{i:03}" for i in range(784)), 0, 255), k=10
    ),
    DataSet(name="gaussians_64", file="", bounds=_same(" ".join(f"x{i}" for i in range(100)), -1, 1), k=64, ball=True),
)


def utility_set(name: str) -> DataSet:
    return next(each for each in UTILITY if each.name == name)


def data_folder(given: Path | None) -> Path:
    """Where the files are: the folder given, the one that COVEY_DATA names, or shared/data beside the project."""
    named = os.environ.get("COVEY_DATA")
    folder = given or (Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data")
    if not folder.is_dir():
        raise DataError(
            "data: the folder with the data sets was not found; name it (--data, or the environment variable "
            "COVEY_DATA), or use the quick version, which needs no files"
        )
    return folder


def table_of(path: Path, names: list[str], *, part: str = "") -> Floats:
    """The named columns of a file, as they are; with a part, of one set in a file of places with counts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if part:
            table = pq.read_table(path, filters=[("set", "==", part)])
            table = table.take(np.repeat(np.arange(len(table)), table["count"].to_numpy()))
        else:
            table = pq.read_table(path, columns=names)
        return np.stack([table[name].to_numpy() for name in names], axis=1).astype(np.float64)
    except (OSError, KeyError, pa.ArrowException):
        raise DataError(f"data: {path.name} is missing or is not the data set it should be") from None


def write_table(file: IO[bytes], rows: Floats, names: list[str]) -> None:
    """Rows under the names of their columns, as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({name: rows[:, i] for i, name in enumerate(names)}), file)


def read(which: DataSet, folder: Path) -> Floats:
    """The rows of a set, clipped to its bounds and scaled to [-1, 1]^d."""
    names = [column for column, _, _ in which.bounds]
    raw = table_of(folder / f"{which.file}.parquet", names, part=which.part)[: which.first]
    low, high = np.array([ends for _, *ends in which.bounds], dtype=np.float64).T
    return np.clip((raw - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)


def load(which: DataSet, folder: Path | None, *, rows: int | None = None) -> Floats:
    """The rows of a set; if a number is given, so many made-up ones of the same dimension and number of clusters."""
    if which.ball:
        return ball_clusters(d=which.dimension, k=which.k, n=rows or BALL_ROWS)
    if rows is not None:
        return gaussian_clusters(d=which.dimension, k=which.k, n=rows)[0]
    return read(which, folder or Path("."))


def gaussian_clusters(*, d: int, k: int, n: int) -> tuple[Floats, NDArray[np.intp]]:
    """n rows of k well separated round Gaussian clusters of equal size in [-1, 1]^d, shuffled, and their clusters.

    The middles are a sphere packing: a from every wall and 2a from each other, a as large as chance allows. The
    standard deviation is a/4. Rows outside the box (about 1 in 16,000 per wall) are drawn again. Sizes differ by at
    most one row. The same d, k and n always give the same rows.
    """
    rng = public_rng(seed_of("clusters", d, k, n))
    middles = sphere_packing(k, lower=np.full(d, -1.0), upper=np.full(d, 1.0), rng=rng)
    gaps = np.sqrt(np.square(middles[:, None] - middles).sum(axis=2))[np.triu_indices(k, 1)]
    room = min(float(gaps.min(initial=np.inf)) / 2, float((1 - np.abs(middles)).min()))
    label = rng.permutation(np.arange(n) % k)
    rows = np.full((n, d), np.inf)
    while (outside := np.flatnonzero(np.abs(rows).max(axis=1) > 1)).size:
        rows[outside] = middles[label[outside]] + rng.normal(scale=room / SEPARATION, size=(outside.size, d))
    return rows, label


def ball_clusters(*, d: int, k: int, n: int) -> Floats:
    """n rows of k round Gaussian clusters of equal size in Ball(1), shuffled.

    The middles are uniform in the ball of radius 1 - s, and rows lie at about s from theirs (standard deviation
    s/√d). With s = 1/8, d = 100 and k = 64, one centre costs about 49 times as much as the best 64, as the
    peers' figures for such a set suggest. The rare row outside Ball(1) is drawn again. Always the same rows.
    """
    rng = public_rng(seed_of("ball", d, k, n))
    ways = rng.normal(size=(k, d))
    radii = (1 - BALL_SPREAD) * rng.uniform(size=(k, 1)) ** (1 / d)
    middles = ways / np.sqrt(np.square(ways).sum(axis=1, keepdims=True)) * radii
    label = rng.permutation(np.arange(n) % k)
    rows = np.full((n, d), np.inf)
    while (outside := np.flatnonzero(np.square(rows).sum(axis=1) > 1)).size:
        noise = rng.normal(scale=BALL_SPREAD / d**0.5, size=(outside.size, d))
        rows[outside] = middles[label[outside]] + noise
    return rows


def seed_of(*parts: object) -> int:
    """A seed that depends on nothing but what it is for."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:6])


def checksum(rows: Floats) -> str:
    """Tells whether two runs used the same rows."""
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()[:12]


def write_parquet(path: Path, pieces: Iterator[Floats]) -> None:
    """A file of made-up rows with the columns x and y, written piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, pa.schema([("x", pa.float64()), ("y", pa.float64())])) as writer:
        for rows in pieces:
            writer.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}))


def only_read(path: Path) -> None:
    """Read all rows of a file once, a piece at a time, and forget them: what a pass over the rows costs at least."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches(batch_size=2**20):
            pass
