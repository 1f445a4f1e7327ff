"""Attacks on engines and people: ids that two people share, rows that raise, refusals after a charge, stale answers."""

from __future__ import annotations

import gc
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Box
from covey.budget.ledger.ledger import Ledger
from covey.errors import CoveyError, DataError, ParameterError
from covey.fit.fit import fit
from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree
from covey.private.engines import streaming
from covey.private.engines.memory import MemoryEngine
from covey.private.engines.streaming import StreamEngine
from covey.private.lattice import to_lattice
from covey.private.narrowed import cap as people
from covey.private.narrowed.cap import CappedTable, Group, PeopleCount, Ranked
from covey.private.narrowed.names import Names
from covey.private.tables.frames import open_table
from covey.private.tables.ids import arrow_ids, has_id, pandas_ids
from covey.private.trees import grow
from covey.public import Neighbours, resolve_bounds
from covey.queries.counts import CellCounts, Count
from covey.queries.grid import Grid
from covey.queries.people import PeopleByRows
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree, TreeLeaves

BOX = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("x", "y", "who"), width=3)
NAMES = Names(bytes(range(32)))
CELLS = CellCounts(Grid(DOMAIN, 4))


def names_of(ids: pa.Array) -> list[tuple[int, int]]:
    return list(zip(*(each.tolist() for each in NAMES.people(arrow_ids(ids))), strict=True))


def charges(monkeypatch) -> list[str]:
    """What the ledger was asked for."""
    asked: list[str] = []
    charge = Ledger.charge

    def noted(self, name, promise, **rest):
        asked.append(name)
        return charge(self, name, promise, **rest)

    monkeypatch.setattr(Ledger, "charge", noted)
    return asked


NUMBERS = [0, 1, -1, 7, 2**53, 2**62, 10**18, -(10**18), 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64 - 2**11]
FRACTIONS = [0.5, -0.5, 1e-300, float("inf"), float("-inf"), 2.0**64, -(2.0**70), 1e300]
BITS = [int(np.array([each]).view(np.int64)[0]) for each in FRACTIONS]  # whole numbers with the same bits


def every_way(number: float) -> list[pa.Array]:
    """Arrow arrays of one cell that hold exactly this number."""
    found = []
    for kind in (pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), pa.float32(), pa.float64()):
        try:
            cell = pa.array([number], kind)
        except (pa.ArrowInvalid, OverflowError, TypeError):
            continue
        if cell[0].as_py() == number:
            found.append(cell)
    return found


def test_numbers_are_one_person_if_and_only_if_they_are_equal_in_whatever_type_a_file_holds_them():
    numbers = [*NUMBERS, *FRACTIONS, *BITS, *(float(each) for each in BITS)]
    told = {}
    for number in numbers:
        ways = {name for cell in every_way(number) for name in names_of(cell)}
        assert len(ways) == 1
        told.setdefault(ways.pop(), set()).add(number)
    assert len(told) == len(set(numbers))


@given(st.lists(st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False), min_size=1, max_size=6))
def test_a_cell_has_the_same_name_beside_any_other(numbers):
    alone = [names_of(cell)[0] for number in numbers for cell in every_way(number)[:1]]
    floats = [float(each) for each in numbers]
    assert names_of(pa.array(floats)) == [names_of(pa.array([each]))[0] for each in floats]
    for one, number in zip(alone, numbers, strict=True):
        for other, value in zip(alone, numbers, strict=True):
            assert (one == other) == (number == value)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 1234567890123456789, 10**18, -(10**18), 999, 0])
def test_long_texts_are_the_whole_numbers_that_they_say(number):
    assert names_of(pa.array([str(number)])) == names_of(pa.array([number]))


def test_texts_just_beyond_are_themselves_alone():
    texts = [str(2**63), str(-(2**63) - 1), "9" * 19, "-" + "9" * 19, "007", "7.0", "-0", "+7", "7\n", " 7", "٧"]
    assert len(set(names_of(pa.array([*texts, "7", "0"])))) == len(texts) + 2


def saved(folder, *tables: pa.Table):
    for i, table in enumerate(tables):
        pq.write_table(table, folder / f"{i}.parquet")
    return folder


def kept(data, *, most: int) -> Counter:
    table = CappedTable(open_table(data), DOMAIN, "who", most=most, key=NAMES.key)
    blocks = [to_lattice(piece(), DOMAIN) for piece in table.pieces(DOMAIN.columns)]
    return Counter(tuple(row) for block in blocks for row in block.T.tolist())


@pytest.mark.parametrize("who", [2**63, -(2**63), 2**64 - 2**11])
def test_a_person_in_files_of_different_number_types_counts_once(who, tmp_path):
    whole = pa.uint64() if who > 0 else pa.int64()
    rows = np.linspace(-1, 1, 12).reshape(2, 6)
    parts = [
        pa.table({"x": rows[0], "y": rows[1], "who": pa.array([who] * 6, whole)}),
        pa.table({"x": rows[1], "y": rows[0], "who": pa.array([float(who)] * 6, pa.float64())}),
    ]
    assert kept(saved(tmp_path, *parts), most=2).total() == 2
    query = PeopleByRows(DOMAIN, (1, 2, 6, 11))
    assert PeopleCount(open_table(tmp_path), DOMAIN, "who", key=NAMES.key).total(query).tolist() == [0, 0, 0, 0, 1]


def test_somebody_else_with_the_bits_of_a_fraction_moves_no_rows(tmp_path):
    rows = np.random.default_rng(1).uniform(-1, 1, (2, 40))
    other = float(np.array([0.5]).view(np.int64)[0])
    mine, both = np.full(20, 0.5), np.repeat([0.5, other], 20)
    alone = kept(saved(tmp_path, pa.table({"x": rows[0, :20], "y": rows[1, :20], "who": mine})), most=3)
    together = kept(saved(tmp_path, pa.table({"x": rows[0], "y": rows[1], "who": both})), most=3)
    assert alone <= together
    assert (together - alone).total() == 3


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series(["\ud800x", "a", None], dtype="string[python]"),
        pd.Series(["\ud800x", "a", None], dtype=object),
        pd.Series(["\ud800x", "a", None], dtype="string[python]").astype("category"),
        pd.Series([10**5000, 10**5000 + 1, None], dtype=object),
        pd.Series([2**64, -(2**63) - 1, None], dtype=object),
    ],
)
def test_no_id_raises(ids):
    found = pandas_ids(ids, "who")(slice(0, 3))
    assert has_id(found).tolist() == [True, True, False]
    assert len(set(NAMES.people(found[:2])[0].tolist())) == 2


def test_what_holds_rows_or_keys_is_silent():
    rows = (np.full(1, 0.123456789),) * 7
    for holder in (Group(*rows), Ranked(*rows[:6])):
        assert "0.123" not in repr(holder)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(holder)
    assert repr(NAMES) == "Names()"


@settings(max_examples=12, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from([-0.5, 0.25, 0.75]), st.integers(0, 4)), max_size=20),
    more=st.lists(st.tuples(st.sampled_from([-0.5, 0.25, 0.75]), st.integers(0, 20)), min_size=1, max_size=12),
    most=st.integers(1, 3),
    held=st.integers(1, 6),
)
def test_removing_a_person_moves_nobody_in_any_number_of_passes_over_files(rows, more, most, held, tmp_path_factory):
    """The person's rows stand anywhere, in files of whole numbers, of fractions and of missing ids."""
    folder = tmp_path_factory.mktemp("files")

    def files(lines: list[tuple[float, object]]):
        for i, kind in enumerate((pa.int64(), pa.float64())):
            some = lines[i::2]
            x = pa.array([value for value, _ in some], pa.float64())
            pq.write_table(
                pa.table({"x": x, "y": x, "who": pa.array([who for _, who in some], kind)}), folder / f"{i}.parquet"
            )
        return folder

    with_person: list[tuple[float, object]] = list(rows)
    for value, place in more:
        with_person.insert(place, (value, 99))
    before, at_once = [], people.AT_ONCE
    try:
        for people.AT_ONCE in (held, at_once):
            before.append(kept(files(rows), most=most))
            after = kept(files(with_person), most=most)
            assert before[-1] <= after
            assert (after - before[-1]).total() <= most
    finally:
        people.AT_ONCE = at_once
    assert before[0] == before[1]


def test_a_crowded_range_does_not_make_all_later_passes_narrow(monkeypatch):
    monkeypatch.setattr(people, "AT_ONCE", 1)
    ranks = np.array([5, 6, 2**63, 2**64 - 1], dtype=np.uint64)
    passes: list[int] = []

    def units():
        passes.append(1)
        none, once = np.zeros(4, dtype=np.uint64), np.ones(4, dtype=np.int64)
        yield lambda: Group(ranks, none, none, ranks, none, once, np.empty((0, 4)))

    found = [rank for group in people.grouped(units) for rank in group.rank.tolist()]
    assert found == ranks.tolist()
    assert len(passes) < 200


FRAME = pd.DataFrame({"x": np.linspace(-1, 1, 60), "y": np.linspace(1, -1, 60) ** 2, "who": np.arange(60) // 3})


@pytest.mark.parametrize(
    "asked",
    [
        {"algorithm": "auto", "epsilon": 0.001, "rows_per_person": 10**6},
        {"algorithm": "jl-candidates", "epsilon": 0.0001, "rows_per_person": 1000},
        {"algorithm": "auto", "epsilon": 0.0001, "rows_per_person": "auto"},
        {"algorithm": "max-cover", "epsilon": 100.0, "delta": 1e-6, "rows_per_person": "auto"},
    ],
)
def test_what_the_rows_of_a_person_make_impossible_is_refused_before_the_charge(asked, monkeypatch):
    asked_for = charges(monkeypatch)
    with pytest.raises(ParameterError):
        fit(FRAME, k=2, bounds=BOX, person="who", random_state=1, **asked)
    assert not asked_for


def test_the_least_that_a_row_may_cost_is_enough(monkeypatch):
    asked_for = charges(monkeypatch)
    found = fit(FRAME, k=2, bounds=BOX, person="who", rows_per_person=1000, epsilon=0.001, random_state=1)
    assert found.certificate.parameters["people"]["epsilon_per_row"] == pytest.approx(1e-6)
    assert len(asked_for) == 1


class Stumbling:
    """A table one of whose pieces cannot be read the first time."""

    streamed = True

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
    saved(tmp_path, *(pa.table({"x": rows[0, i], "y": rows[1, i]}) for i in range(8)))
    truth = MemoryEngine(open_table(tmp_path), DOMAIN).total(CELLS).tolist()
    engine = StreamEngine(Stumbling(open_table(tmp_path), bad), DOMAIN)
    with pytest.raises(DataError, match="broke off"):
        engine.total(CELLS)
    for _ in range(3):
        assert engine.total(CELLS).tolist() == truth
        assert engine.total(Count(DOMAIN)).tolist() == [160]


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
        from covey.private.opening import open_data, open_engine

        def write(value: float, rows: int) -> None:
            pq.write_table(pa.table({"x": [value] * rows, "y": [value] * rows}), tmp_path / "some rows.parquet")

        write(0.5, 10)
        engine = open_engine("spark", open_data(tmp_path / "some rows.parquet", engine="spark"), DOMAIN)
        assert engine.total(CELLS).sum() == 10
        assert engine.cells(Grid(DOMAIN, 4))[1].tolist() == [10]
        (tmp_path / "some rows.parquet").unlink()
        write(-0.5, 20)
        for ask in (lambda: engine.total(CELLS), lambda: engine.cells(Grid(DOMAIN, 4))):
            with pytest.raises(DataError, match="changed while Spark read it"):
                ask()
