"""Which rows were outside the bounds: counted alike on every engine, in parts, projections and narrowed tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import make_curator
from covey.budget.accounting.plan import Plan
from covey.errors import ParameterError
from covey.fit.zones import read_zones
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource
from covey.private.engines import streaming
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.narrowed.cancellable import CancellableTable
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import open_table
from covey.public import Box, resolve_bounds
from covey.queries.counts import InsideOutside, Outside
from covey.queries.grid import Grid
from covey.queries.projection import Projection

N = 5000
BOX = Box(a=(-1, 1), b=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("a", "b"), width=2)


def values() -> np.ndarray:
    found = np.random.default_rng(3).uniform(-1, 1, (N, 2))
    found[::7, 0], found[::11, 1], found[::13, 0] = 4.0, np.nan, -np.inf
    found[1::29] = [1.0, -1.0]
    return found


def expected(rows: np.ndarray) -> list[int]:
    inside = int((np.abs(rows) <= 1).all(axis=1).sum())
    return [inside, len(rows) - inside]


@pytest.fixture(params=["memory", "files", "files read again"])
def engine(request, tmp_path, monkeypatch):
    table = pa.table(dict(zip("ab", values().T, strict=True)))
    if request.param == "memory":
        return MemoryEngine(open_table(table), DOMAIN)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    if request.param == "files read again":
        monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    return StreamEngine(open_table(tmp_path / "rows.parquet"), DOMAIN)


def counted(engine, domain=DOMAIN) -> list[int]:
    both, outside = engine.total(InsideOutside(domain)).tolist(), engine.total(Outside(domain)).tolist()
    assert both[1:] == outside
    return both


def test_every_engine_counts_them_alike_and_so_do_its_parts_and_projections(engine):
    assert counted(engine) == expected(values())
    parts = engine.split(3, SeededSource(1))
    assert np.sum([counted(part) for part in parts], axis=0).tolist() == expected(values())
    assert all(counted(part)[1] > 0 for part in parts)
    unit = Projection.unit(DOMAIN)
    turned = Projection(np.array([[unit, unit]]), np.zeros(2), np.array([unit * DOMAIN.limit]), DOMAIN)
    assert counted(engine.projected(turned), turned.target) == expected(values())  # those outside before, not after


def test_tables_that_can_be_stopped_and_samples_count_their_own_rows():
    frame = open_table(pa.table(dict(zip("ab", values().T, strict=True))))
    stopped = MemoryEngine(CancellableTable(frame, lambda: None), DOMAIN)
    assert counted(stopped) == expected(values())
    kept = [SampledTable.poisson(frame, rate=Fraction(1, 3), source=SeededSource(4)) for _ in range(2)]
    rows = np.concatenate([piece() for piece in kept[0].pieces(DOMAIN.columns)], axis=1).T
    assert 0 < len(rows) < N
    assert counted(MemoryEngine(kept[1], DOMAIN)) == expected(rows)


@pytest.mark.parametrize("rows", [values(), np.empty((0, 2))], ids=["rows", "no rows"])
def test_rows_on_cells_no_longer_tell_whatever_they_are(rows):
    noise = DiscreteLaplace(Fraction(1, 2))
    door = make_curator(rows, epsilon=Fraction(1), plan=Plan((noise.event(),)))
    cells = door.on_cells(Grid(door.domain, 4))
    with pytest.raises(ParameterError, match="outside the bounds"):
        cells.release(InsideOutside(door.domain), noise)


def test_zones_keep_rows_with_their_flags():
    ring = [[0, -1], [1, -1], [1, 1], [0, 1], [0, -1]]
    zone = {"type": "Feature", "properties": {"epsilon": 0.5}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    domain = resolve_bounds(Box(lon=(-1, 1), lat=(-1, 1)), names=("lon", "lat"), width=2)
    frame = open_table(pa.table(dict(zip(("lon", "lat"), values().T, strict=True))))
    thinning = read_zones({"type": "FeatureCollection", "features": [zone]}, epsilon=Fraction(1), domain=domain)
    table = thinning.table(frame, SeededSource(9))
    rows = np.concatenate([piece() for piece in table.pieces(domain.columns)], axis=1).T
    assert 0 < len(rows) < N
    assert counted(MemoryEngine(table, domain), domain) == expected(rows)
