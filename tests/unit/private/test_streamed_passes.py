"""Passes over files: one that broke off leaves no trace, a changed file ends the fit, remembered leaves are right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey import Box
from covey.errors import DataError
from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree
from covey.private.engines import streaming
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.tables.frames import open_table
from covey.private.trees import grow
from covey.public import Neighbours, resolve_bounds
from covey.queries.counts import CellCounts, Count, InsideOutside
from covey.queries.grid import Grid, SuitedGrid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree, TreeLeaves, TreeNodes

BOX = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("x", "y", "who"), width=3)
CELLS = CellCounts(Grid(DOMAIN, 4))


class Stumbling:
    """A table one of whose pieces cannot be read the first time."""

    streamed = True
    by_person = False

    def __init__(self, table, bad: int) -> None:
        self._table, self._bad = table, bad
        self.names, self.width = table.names, table.width

    def pieces(self, columns):
        for number, piece in enumerate(self._table.pieces(columns)):
            yield self._broken if number == self._bad else piece
        self._bad = -1

    def _broken(self):
        self._bad = -1
        raise DataError("data: broke off")

    def rows(self) -> int:
        return self._table.rows()

    def check_unchanged(self) -> None:
        self._table.check_unchanged()


@pytest.mark.parametrize("most", [0, 50, 200, 10**6])
@pytest.mark.parametrize("bad", [0, 3, 7])
def test_a_pass_that_broke_off_leaves_no_trace(most, bad, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "KEPT_VALUES", most)
    rows = np.random.default_rng(1).uniform(-1, 1, (2, 8, 20))
    for i in range(8):
        pq.write_table(pa.table({"x": rows[0, i], "y": rows[1, i]}), tmp_path / f"{i}.parquet")
    truth = MemoryEngine(open_table(tmp_path), DOMAIN).total(CELLS).tolist()
    engine = StreamEngine(Stumbling(open_table(tmp_path), bad), DOMAIN)
    with pytest.raises(DataError, match="broke off"):
        engine.total(CELLS)
    for _ in range(3):
        assert engine.total(CELLS).tolist() == truth
        assert engine.total(Count(DOMAIN)).tolist() == [160]


@pytest.mark.parametrize("most", [0, 50, 200, 10**6])
@pytest.mark.parametrize("bad", [-1, 0, 3, 7])
def test_the_first_reading_counts_for_the_tree_that_is_expected(most, bad, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "KEPT_VALUES", most)
    monkeypatch.setattr("covey.private.engines.rows.RowEngine.nodes_at_once", 2**8)
    rows = np.random.default_rng(1).uniform(-1, 1, (2, 8, 20))
    for i in range(8):
        pq.write_table(pa.table({"x": rows[0, i], "y": rows[1, i]}), tmp_path / f"{i}.parquet")
    tree, root = Tree(DOMAIN, axes_per_split=2), np.zeros(1, dtype=np.int64)
    engine = StreamEngine(Stumbling(open_table(tmp_path), bad), DOMAIN)
    engine.expect(tree)
    if bad >= 0:
        with pytest.raises(DataError, match="broke off"):
            engine.total(InsideOutside(DOMAIN))
    assert engine.total(InsideOutside(DOMAIN)).tolist() == [160, 0]
    passes = []
    monkeypatch.setattr(engine, "_units", lambda: passes.append(1) or StreamEngine._units(engine))
    expected = TreeNodes.under(tree, nodes=root, depth=0, most=2**8)
    others = [TreeNodes(tree, nodes=root, depth=0, levels=3), TreeNodes(Tree(DOMAIN), nodes=root, depth=0, levels=4)]
    for query in (expected, *others):
        keys, counts = MemoryEngine(open_table(tmp_path), DOMAIN).totals_by_key(query)
        found = engine.totals_by_key(query)
        assert found[0].tolist() == keys.tolist()
        assert found[1].tolist() == counts.tolist()
    assert len(passes) == (2 if most < 320 else 3)


@pytest.mark.parametrize("when", ["late", "in the counting"])
def test_a_tree_that_was_not_counted_in_full_is_counted_again(when, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    monkeypatch.setattr("covey.private.engines.rows.RowEngine.nodes_at_once", 2**8)
    for i in range(8):
        pq.write_table(pa.table(dict.fromkeys("xy", np.full(20, i / 8))), tmp_path / f"{i}.parquet")
    tree, root = Tree(DOMAIN, axes_per_split=2), np.zeros(1, dtype=np.int64)
    engine = StreamEngine(Stumbling(open_table(tmp_path), 5 if when == "late" else -1), DOMAIN)
    if when == "late":
        with pytest.raises(DataError, match="broke off"):
            engine.total(CELLS)
        engine.expect(tree)
    else:
        engine.expect(tree)
        with monkeypatch.context() as patched:
            patched.setattr(StreamEngine, "_count_keys", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                engine.total(CELLS)
    assert engine.total(CELLS).sum() == 160
    query = TreeNodes.under(tree, nodes=root, depth=0, most=2**8)
    keys, counts = MemoryEngine(open_table(tmp_path), DOMAIN).totals_by_key(query)
    found = engine.totals_by_key(query)
    assert (found[0].tolist(), found[1].tolist()) == (keys.tolist(), counts.tolist())


@pytest.mark.parametrize("spread", [1.0, 0.02])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_short_list_is_taken_where_it_will_do_and_changes_no_tree(streamed, spread, tmp_path, monkeypatch):
    rows = np.random.default_rng(3).uniform(-spread, spread, (2, 8, 1000))
    for i in range(8):
        pq.write_table(pa.table({"x": rows[0, i], "y": rows[1, i]}), tmp_path / f"{i}.parquet")
    tree = Tree(DOMAIN, axes_per_split=2)
    mechanism = PrivTree(Fraction(20), fan_out=4)
    for place in ("private.trees", "private.engines.rows"):
        monkeypatch.setattr(f"covey.{place}.MOST_NODES", 2**7)
    monkeypatch.setattr(streaming, "KEPT_VALUES", 14_000)
    monkeypatch.setattr("covey.private.engines.memory.SORTED_ROWS", 0)
    found = []
    for some in (10**6, 400):
        monkeypatch.setattr("covey.private.engines.rows.SOME", some)
        monkeypatch.setattr("covey.private.engines.rows.SHORT", 2**6)
        engine = (StreamEngine if streamed else MemoryEngine)(open_table(tmp_path), DOMAIN)
        engine.expect(tree)
        engine.total(InsideOutside(DOMAIN))
        first = engine.first_nodes(tree)
        if some == 400:
            levels = 3 if spread == 1.0 else 12 if streamed else None
            assert (None if first is None else first.levels) == levels
        leaves = grow(engine, tree, mechanism, neighbours=Neighbours.ADD_REMOVE, source=SeededSource(1))
        counts = engine.total(TreeLeaves(tree, leaves))
        found.append((leaves.depths.tolist(), leaves.keys.tolist(), counts.tolist()))
    assert found[0] == found[1]
    assert sum(found[0][2]) == 8000


def test_a_file_that_changes_after_all_of_it_was_kept_ends_the_fit_all_the_same(tmp_path):
    pq.write_table(pa.table({"x": [0.5], "y": [0.5]}), tmp_path / "rows.parquet")
    engine = StreamEngine(open_table(tmp_path / "rows.parquet"), DOMAIN)
    assert engine.total(CELLS).sum() == 1
    pq.write_table(pa.table({"x": [0.5, 0.1], "y": [0.5, 0.2]}), tmp_path / "rows.parquet")
    for query in (CELLS, Count(DOMAIN)):
        with pytest.raises(DataError, match="changed"):
            engine.total(query)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_remembered_leaves_are_those_of_the_same_tree_on_the_same_rows(streamed, axes, seed, tmp_path, monkeypatch):
    rows = np.random.default_rng(seed).normal(0, 0.2, (2, 500))
    pq.write_table(pa.table({"x": rows[0], "y": rows[1]}), tmp_path / "rows.parquet")
    if streamed:
        monkeypatch.setattr("covey.private.engines.rows.RowEngine.nodes_at_once", 64)

    def engine():
        made = StreamEngine if streamed else MemoryEngine
        return made(open_table(tmp_path / "rows.parquet"), DOMAIN)

    tree = Tree(DOMAIN, axes_per_split=axes, most_depth=8 // axes)
    mechanism = PrivTree(Fraction(1), fan_out=tree.fan_out)
    grown = engine()
    leaves = grow(grown, tree, mechanism, neighbours=Neighbours.ADD_REMOVE, source=SeededSource(seed))
    query = TreeLeaves(tree, leaves)
    truth = engine().total(query)
    assert grown.total(query).tolist() == truth.tolist()
    grown.total(query)[:] = -1
    assert grown.total(query).tolist() == truth.tolist()
    wide = Tree(DOMAIN, widths=(1.0, 3.0), axes_per_split=axes, most_depth=8 // axes)
    root = TreeLeaves(tree, Nodes(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)))
    for other in (TreeLeaves(wide, leaves), root):
        assert grown.total(other).tolist() == engine().total(other).tolist()
    half = [DOMAIN.limit * 2] * 2
    projection = Projection([[0, 1], [1, 0]], [0, 0], half, DOMAIN)
    for narrower in (grown.projected(projection), *grown.split(2, SeededSource(1))):
        assert narrower._leaves is None


@pytest.mark.parametrize("most", [0, 100, 10**6])
@pytest.mark.parametrize("noisy", [160, 161, 400])
def test_the_first_reading_counts_the_cells_that_the_number_of_rows_asks_for(most, noisy, tmp_path, monkeypatch):
    """The grid of another number is counted in a second reading; the counts are the same either way."""
    monkeypatch.setattr(streaming, "KEPT_VALUES", most)
    rows = np.random.default_rng(1).uniform(-1, 1, (2, 8, 20))
    for i in range(8):
        pq.write_table(pa.table({"x": rows[0, i], "y": rows[1, i]}), tmp_path / f"{i}.parquet")
    suited = SuitedGrid(DOMAIN, epsilon=10.0)
    same = suited.of(noisy) == suited.of(160)
    assert same == (noisy < 400)
    engine = StreamEngine(open_table(tmp_path), DOMAIN)
    engine.expect(suited)
    passes = []
    monkeypatch.setattr(engine, "_units", lambda: passes.append(1) or StreamEngine._units(engine))
    assert engine.total(InsideOutside(DOMAIN)).tolist() == [160, 0]
    query = CellCounts(suited.of(noisy))
    truth = MemoryEngine(open_table(tmp_path), DOMAIN).total(query)
    places = np.clip(((rows.reshape(2, -1) + 1) / 2 * query.grid.per_axis).astype(int), 0, query.grid.per_axis - 1)
    assert truth.tolist() == np.bincount(places[0] * query.grid.per_axis + places[1], minlength=query.size).tolist()
    for _ in range(2):
        found = engine.total(query)
        assert found.tolist() == truth.tolist()
        found += 1  # the next answer is not touched
    assert len(passes) == (3 if most == 10**6 or not same else 1)


def test_a_table_that_does_not_tell_how_many_rows_it_has_counts_cells_when_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "KEPT_VALUES", 0)
    (tmp_path / "rows.csv").write_text("x,y\n" + "0.5,0.5\n" * 50)
    table = open_table(tmp_path / "rows.csv")
    assert table.rows_told() is None
    engine = StreamEngine(table, DOMAIN)
    engine.expect(SuitedGrid(DOMAIN, epsilon=10.0))
    assert engine.total(InsideOutside(DOMAIN)).tolist() == [50, 0]
    assert engine.total(CELLS).sum() == 50
