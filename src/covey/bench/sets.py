"""The data sets of the benchmarks: columns, number of clusters, public bounds, and what each stands for.

Rows are clipped to their public bounds and scaled to [-1, 1]^d. All sets are public, so seeds and exact costs are
fine here; nothing in this folder is meant for private rows.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError
from covey.post.public_random import public_rng
from covey.post.starts import sphere_packing

Floats = NDArray[np.float64]
Ranges = tuple[tuple[str, float, float], ...]

SEPARATION = 4.0  # standard deviations from a made-up cluster's middle to the border half-way to the next, or a wall


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """One set of a paper, and the file that holds it or stands in for it."""

    name: str  # as the paper calls it
    file: str
    bounds: Ranges  # column, lower, upper
    k: int
    paper_rows: int
    stands_in: str = ""  # what the rows are, where they are not the paper's own

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


def read(which: DataSet, folder: Path) -> Floats:
    """The rows of a set, clipped to its bounds and scaled to [-1, 1]^d."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{which.file}.parquet"
    try:
        table = pq.read_table(path, columns=[column for column, _, _ in which.bounds])
        raw = np.stack([table[column].to_numpy() for column, _, _ in which.bounds], axis=1).astype(np.float64)
    except (OSError, KeyError, pa.ArrowException):
        raise DataError(f"data: {path.name} is missing or is not the data set it should be") from None
    low, high = np.array([ends for _, *ends in which.bounds], dtype=np.float64).T
    return np.clip((raw - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)


def made_up(which: DataSet, *, rows: int) -> Floats:
    """Made-up rows of the same dimension and number of clusters, for a quick run without files."""
    return gaussian_clusters(d=which.dimension, k=which.k, n=rows)[0]


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


def seed_of(*parts: object) -> int:
    """A seed that depends on nothing but what it is for."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:6])


def checksum(rows: Floats) -> str:
    """Tells whether two runs used the same rows."""
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()[:12]
