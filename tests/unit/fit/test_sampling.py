"""Samples in front of algorithms: what is charged, what is released, which rows are met, and what is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import covey.fit.fit
from conftest import WatchedTable
from covey import Coreset, KMeans, KMedian, Ledger, ParameterError, PrivateCoreset
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import amplified
from covey.errors import BudgetError
from covey.fit.sample import SampleRequest, auto_size, read_sample
from covey.fit.session import Session
from covey.noise import SeededSource
from covey.private.narrowed.sample import RowCount, SampledTable
from covey.private.tables.frames import ArrayTable, open_table
from covey.public import resolve_bounds
from covey.published.release import Release
from covey.queries.counts import CellCounts, Count, OccupiedCells
from covey.queries.grid import Grid

CENTRES = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
BIG = CENTRES[np.arange(60_000) % 3] + np.random.default_rng(1).normal(scale=0.05, size=(60_000, 2))
NUMBERS = np.arange(40_000, dtype=np.float64).reshape(-1, 2)  # every value says which row it is from


def fit(rows=BIG, estimator=KMeans, **options):
    return estimator(3, **{"bounds": (-1, 1), "epsilon": 1.0, **options}).fit(rows)


def found(model):
    distances = np.abs(model.cluster_centers_[:, None] - CENTRES).max(axis=2)
    return (distances.min(axis=0) < 0.1).all()


# --- what is promised and charged -------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("sample", [0.05, 3_000, "auto", "auto:0.2"])
@pytest.mark.parametrize("estimator", [KMeans, KMedian])
def test_the_named_epsilon_is_charged_once_and_holds_for_the_whole(neighbours, sample, estimator):
    ledger = Ledger.memory(dataset="d", epsilon=1, neighbours=neighbours)
    rest = {"neighbours": neighbours, "ledger": ledger, "dataset": "d", "random_state": 2}
    model = fit(estimator=estimator, sample=sample, **rest)
    certificate = model.release_.certificate
    assert (certificate.epsilon, certificate.delta) == (1.0, 0.0)
    assert ledger.datasets()["d"].spent == Cost(Fraction(1))
    note = certificate.parameters["sample"]
    if neighbours == "add-remove":
        assert note["kind"] == "poisson"
        rate, rest = Fraction(note["rate"]), 1 - Fraction(note.get("epsilon_of_rows", 0))
    else:
        assert note["kind"] == "without replacement"
        rate, rest = Fraction(note["size"], note["of"]), Fraction(1)
    inner = Cost(Fraction(str(note["inner_epsilon"])))
    assert inner.epsilon > 1
    assert rest - Fraction(1, 10**7) < amplified(inner, rate=rate).epsilon <= rest + Fraction(1, 10**7)
    assert ("rows_noisy" in note) == (neighbours == "add-remove" and sample != 0.05)
    assert found(model)


def test_the_algorithm_may_spend_the_inner_cost_and_no_more(monkeypatch):
    budgets = []
    monkeypatch.setattr(
        Session,
        "door",
        lambda session, table, domain, reserve, real=Session.door, **more: (
            budgets.append(reserve.promise.cost) or real(session, table, domain, reserve, **more)
        ),
    )
    fit(sample=0.01, delta=1e-6, algorithm="ball-coreset", epsilon=2.0, random_state=1)
    (inner,) = budgets
    assert amplified(inner, rate=Fraction(1, 100)).within(Cost(Fraction(2), Fraction(1, 10**6)))
    assert inner.delta == Fraction(1, 10**4)


def test_everybody_is_no_sample():
    with_one, without = (fit(sample=each, random_state=3).release_ for each in (1.0, None))
    assert with_one.to_json() == without.to_json()
    model = fit(sample=len(BIG), neighbours="replace-one", random_state=3).release_
    assert model.certificate.parameters["sample"]["inner_epsilon"] == 1


def test_more_than_there_are_is_everybody_under_add_remove():
    note = fit(sample=10**9).release_.certificate.parameters["sample"]
    assert (note["rate"], note["inner_epsilon"]) == (1.0, 0.98)


def test_a_key_stands_for_the_sample_too(tmp_path):
    book = Ledger.create(tmp_path / "l.ledger", dataset="d", epsilon=5).with_key("monday")
    first = fit(sample=0.1, ledger=book, dataset="d").release_
    assert fit(sample=0.1, ledger=book, dataset="d").release_.to_json() == first.to_json()
    with pytest.raises(covey.LedgerError, match="key"):
        fit(sample=0.2, ledger=book, dataset="d")
    with pytest.raises(covey.LedgerError, match="key"):
        fit(ledger=book, dataset="d")


# --- what is released -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_sizes_and_weights_count_all_rows(neighbours):
    shared = {"epsilon": 20, "neighbours": neighbours, "random_state": 2}
    model = fit(sample=0.1, algorithm="grid", **shared)
    assert np.allclose(model.release_.sizes, 20_000, rtol=0.1)
    made = fit(estimator=PrivateCoreset, method="grid", sample=0.1, **shared)
    assert made.coreset_.total == pytest.approx(60_000, rel=0.1)
    again = Coreset.of(Release.from_json(made.release_.to_json()))
    assert again == made.coreset_
    ball = fit(estimator=PrivateCoreset, method="ball", sample=0.2, delta=1e-6, **shared)
    assert ball.coreset_.total == pytest.approx(60_000, rel=0.2)


def test_a_synopsis_says_how_many_rows_a_count_is():
    own = {"algorithm": "grid", "algorithm_params": {"keep_synopsis": True}, "random_state": 1}
    release = fit(sample=0.1, epsilon=20, **own).release_
    assert release.synopsis.rows_per_count == 10
    assert sum(release.synopsis.counts) == pytest.approx(6_000, rel=0.1)
    damaged = release.to_json().replace(b'"rows_per_count": 10.0', b'"rows_per_count": -1.0')
    with pytest.raises(covey.FormatError, match="synopsis"):
        Release.from_json(damaged)
    old = release.to_json().replace(b'"rows_per_count": 10.0', b'"unknown": 10.0')
    assert Release.from_json(old).synopsis.rows_per_count == 1


@pytest.mark.parametrize("sample", [0.05, 2_000, "auto"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_seed_repeats_the_sample(sample, neighbours):
    first, second = (fit(sample=sample, random_state=5, neighbours=neighbours).release_.to_json() for _ in range(2))
    assert first == second
    assert fit(sample=sample, random_state=6, neighbours=neighbours).release_.to_json() != first


# --- which rows are met -----------------------------------------------------------------------------------------------


def read(table, columns=None):
    pieces = [piece() for piece in table.pieces(columns)]
    return np.concatenate(pieces, axis=1) if pieces else np.empty((table.width, 0))


def as_files(folder):
    frame = pd.DataFrame(NUMBERS, columns=["a", "b"])
    frame.to_csv(folder / "rows.csv", index=False)
    pq.write_table(pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]}), folder / "rows.parquet", row_group_size=700)
    np.save(folder / "rows.npy", NUMBERS)
    chunks = pa.chunked_array([NUMBERS[:5, 0], NUMBERS[5:9_000, 0], NUMBERS[9_000:, 0]])
    return {
        "numpy": NUMBERS,
        "fortran": np.asfortranarray(NUMBERS),
        "masked": np.ma.MaskedArray(NUMBERS, mask=False),
        "memory-mapped": np.load(folder / "rows.npy", mmap_mode="r"),
        "pandas": frame,
        "pandas nullable": frame.astype("Float64"),
        "polars": pl.DataFrame(frame),
        "arrow": pa.table({"a": chunks, "b": NUMBERS[:, 1]}),
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same rows in every kind of table."""
    return as_files(tmp_path_factory.mktemp("tables"))


KINDS = [
    "numpy",
    "fortran",
    "masked",
    "memory-mapped",
    "pandas",
    "pandas nullable",
    "polars",
    "arrow",
    "csv",
    "parquet",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["poisson", "rare", "most", "without replacement"])
def test_every_kind_of_table_gives_the_same_sample(kind, how, tables):
    table = open_table(tables[kind])
    assert table.rows() == len(NUMBERS)

    def sampled(of):
        if how == "without replacement":
            return SampledTable.without_replacement(of, size=900, rows=len(NUMBERS), source=SeededSource(2))
        rate = {"poisson": Fraction(1, 10), "rare": Fraction(1, 10_000), "most": Fraction(9, 10)}[how]
        return SampledTable.poisson(of, rate=rate, source=SeededSource(2))

    rows = read(sampled(table), ["a", "b"] if table.names else None)
    expected = read(sampled(ArrayTable(NUMBERS)))
    assert np.array_equal(rows, expected)
    assert (np.diff(rows[0]) > 0).all(), "no row twice"
    assert np.array_equal(rows[1], rows[0] + 1), "rows stay whole"
    share = {"poisson": 2_000, "rare": 2, "most": 18_000, "without replacement": 900}[how]
    assert abs(rows.shape[1] - share) <= 6 * share**0.5 * (how != "without replacement")


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "arrow"])
def test_tables_without_rows_have_empty_samples(kind, tables):
    table = open_table(tables[kind][:0])
    assert read(SampledTable.poisson(table, rate=Fraction(1, 2), source=SeededSource(0))).shape[1] == 0
    assert fit(NUMBERS[:0], sample=0.5).cluster_centers_.shape == (3, 2)
    assert fit(NUMBERS[:0], sample=0.5, neighbours="replace-one").cluster_centers_.shape == (3, 2)


def test_rows_that_are_not_kept_are_not_visited():
    class Counting(np.ndarray):
        asked = 0

        def __getitem__(self, places):
            Counting.asked += len(places) if isinstance(places, np.ndarray) else 10**9
            return np.asarray(self).__getitem__(places)

    rows = np.zeros((10**7, 2)).view(Counting)
    table = ArrayTable(np.zeros((1, 2)))
    table._array = rows
    kept = read(SampledTable.poisson(table, rate=Fraction(1, 10**4), source=SeededSource(0))).shape[1]
    assert 800 < kept < 1200
    assert Counting.asked == kept


def test_a_sample_is_drawn_once_and_not_before_it_is_read():
    class Watched(SeededSource):
        asked = 0

        def words(self, count, dtype):
            Watched.asked += 1
            return super().words(count, dtype)

    sampled = SampledTable.poisson(ArrayTable(NUMBERS), rate=Fraction(1, 10), source=Watched(1))
    sampled.check_numeric(None)
    assert Watched.asked == 0
    read(sampled)
    with pytest.raises(BudgetError, match="drawn and read"):
        sampled.pieces(None)
    with pytest.raises(BudgetError, match="not known"):
        sampled.rows()
    with pytest.raises(BudgetError, match="again"):
        sampled.chosen(None, iter(()))


def test_the_counting_engine_answers_nothing_else():
    domain = resolve_bounds((-1, 1), names=None, width=2)
    engine = RowCount(ArrayTable(NUMBERS), domain)
    assert engine.total(Count(domain)).tolist() == [len(NUMBERS)]
    grid = Grid(domain, 4)
    for ask in (
        lambda: engine.total(CellCounts(grid)),
        lambda: engine.totals_by_key(OccupiedCells(grid)),
        lambda: engine.cells(grid),
    ):
        with pytest.raises(ParameterError, match="only the number"):
            ask()


def test_nothing_is_read_before_the_charge(monkeypatch):
    ledger = Ledger.memory(dataset="d", epsilon=0.5)  # too little
    monkeypatch.setattr("covey.private.opening.open_table", lambda data: WatchedTable(data, broken=True))
    monkeypatch.setattr(WatchedTable, "chosen", lambda *_: pytest.fail("rows were read"))
    for sample in (0.1, 1000, "auto"):
        with pytest.raises(BudgetError, match="left"):
            fit(sample=sample, ledger=ledger, dataset="d")
    assert ledger.datasets()["d"].spent == Cost(Fraction(0))


# --- what is refused --------------------------------------------------------------------------------------------------

BAD = [0.0, -0.1, 1.5, float("nan"), float("inf"), 1e-13, 0, -5, True, False, np.True_, 10**13]
BAD += ["", "all", "auto:", "auto:0", "auto:2", "auto:x", "auto:nan", "0.1", [0.1], {"rate": 0.1}, 1j]


@pytest.mark.parametrize("sample", BAD, ids=repr)
def test_a_wrong_sample_is_named_and_costs_nothing(sample):
    ledger = Ledger.memory(dataset="d", epsilon=1)
    before = ledger.head
    with pytest.raises(ParameterError, match=r"^sample: "):
        fit(sample=sample, ledger=ledger, dataset="d")
    assert ledger.head == before


@pytest.mark.parametrize("kind", ["numpy", "csv", "parquet"])
def test_of_fewer_rows_than_asked_for_all_are_taken_under_replace_one(kind, tables):
    """A refusal would tell the number of rows before it is paid for."""
    release = fit(tables[kind], sample=20_001, neighbours="replace-one").release_
    note = release.certificate.parameters["sample"]
    assert (note["size"], note["of"]) == (20_000, 20_000)


@pytest.mark.parametrize("sample", [100, 20_000, 20_001, 10**6, 0.5, "auto"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_with_nothing_left_every_sample_is_refused_alike_and_no_row_is_counted(monkeypatch, sample, neighbours):
    """Asked again and again with other sizes, the refusals would tell the number of rows."""
    ledger = Ledger.memory(dataset="d", epsilon="0.5", neighbours=neighbours)
    monkeypatch.setattr("covey.private.opening.open_table", lambda data: WatchedTable(data, broken=True))
    monkeypatch.setattr(WatchedTable, "rows", lambda _: pytest.fail("rows were counted"))
    with pytest.raises(BudgetError, match=r"only epsilon 0\.5"):
        fit(sample=sample, neighbours=neighbours, ledger=ledger, dataset="d")


def test_the_public_number_of_rows_is_read_after_the_charge(monkeypatch):
    ledger = Ledger.memory(dataset="d", epsilon=1, neighbours="replace-one")
    spent = []
    real = ArrayTable.rows
    monkeypatch.setattr(
        ArrayTable, "rows", lambda table: spent.append(ledger.datasets()["d"].spent.epsilon) or real(table)
    )
    fit(sample=500, neighbours="replace-one", ledger=ledger, dataset="d")
    assert spent
    assert set(spent) == {1}


@pytest.mark.parametrize("sample", [1000, "auto", 0.5])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_what_an_algorithm_refuses_costs_nothing_with_a_sample_either(sample, neighbours):
    ledger = Ledger.memory(dataset="d", epsilon=1, neighbours=neighbours)
    before = ledger.head
    with pytest.raises(ParameterError, match="rounds"):
        fit(
            sample=sample,
            neighbours=neighbours,
            algorithm="lloyd",
            algorithm_params={"rounds": 0},
            ledger=ledger,
            dataset="d",
        )
    assert ledger.head == before


def test_what_is_read_from_a_sample_parameter():
    assert read_sample(None) is None
    assert read_sample(1.0) is None
    assert (
        read_sample(0.1)
        == read_sample(np.float64(0.1))
        == read_sample(Fraction(1, 10))
        == SampleRequest(rate=Fraction(1, 10))
    )
    assert read_sample(5) == read_sample(np.int64(5)) == SampleRequest(size=5)
    assert read_sample(2**-40) == read_sample(np.float64(2**-40)) == SampleRequest(rate=Fraction(1, 2**40))
    assert read_sample("auto") == SampleRequest(target=Fraction(1, 20))
    assert read_sample("auto:0.02") == SampleRequest(target=Fraction(1, 50))
    assert len({str(read_sample(each)) for each in (1, 0.1, "auto", "auto:0.1", 10)}) == 5


def test_the_smallest_rate_is_not_refused_after_the_choice_of_rows_per_person_was_paid_for():
    rows = pd.DataFrame({"x": [0.1, 0.2], "id": [1, 2]})
    paid = {"person": "id", "rows_per_person": "auto", "epsilon": 1.0, "bounds": (-1, 1), "k": 1}
    release = covey.fit.fit.fit(rows, sample=2**-40, **paid)
    assert release.certificate.parameters["sample"]["rate"] == pytest.approx(2**-40)


# --- how large "auto" is ----------------------------------------------------------------------------------------------


def test_auto_grows_with_k_d_and_precision_and_hardly_with_n():
    usual = {"k": 5, "d": 2, "n": 10**8, "epsilon": 1.0, "target": 0.05}
    size = auto_size(**usual)
    assert 1_000 < size < 10**5
    assert auto_size(**usual | {"k": 10}) == pytest.approx(2 * size, rel=0.01)
    assert auto_size(**usual | {"d": 4}) == pytest.approx(2 * size, rel=0.01)
    assert auto_size(**usual | {"target": 0.025}) == pytest.approx(4 * size, rel=0.01)
    assert size < auto_size(**usual | {"n": 10**10}) < 1.5 * size
    assert auto_size(**usual | {"epsilon": 1e-6}) > 2 * size, "little privacy budget needs more rows"
    assert auto_size(**usual | {"n": 1000}) == 1000, "a small table is taken whole"
    assert auto_size(**usual | {"n": 10**8, "epsilon": 1e-6, "target": 0.001}) == 10**8
    assert auto_size(**usual | {"epsilon": 10_000.0}) == size


@pytest.mark.parametrize(("setting", "on"), [("true", True), ("TRUE", True), ("false", False), (None, False)])
def test_a_cluster_that_takes_the_quicker_of_two_attempts_is_known(setting, on):
    """Without a cluster: a frame that only tells its settings. Samples are refused there (engines/test_spark.py)."""
    from types import SimpleNamespace

    from covey.private.tables.spark import speculates

    conf = {} if setting is None else {"spark.speculation": setting}
    assert speculates(SimpleNamespace(sparkSession=SimpleNamespace(conf=conf))) is on
