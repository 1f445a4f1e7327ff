"""People with several rows: who counts, what it costs, and that one person's rows never move another's."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey import Box, KMeans, PrivateCoreset
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.groups import row_cost
from covey.budget.accounting.promise import Kind, Promise
from covey.budget.ledger.ledger import Ledger
from covey.errors import BudgetError, DataError, ParameterError
from covey.fit.cap import CAPS, cap, choose_cap
from covey.fit.fit import fit
from covey.fit.session import Session
from covey.noise.keyed import derived_key, siphash
from covey.noise.source import SeededSource, keyed_words
from covey.private.engines.memory import MemoryEngine
from covey.private.lattice import to_block, to_lattice
from covey.private.narrowed import pairs
from covey.private.narrowed.cap import CappedTable, PeopleCount
from covey.private.narrowed.names import Names
from covey.private.tables.csv.records import LONGEST_RECORD
from covey.private.tables.frames import open_table
from covey.public import Neighbours, Person, resolve_bounds
from covey.queries.counts import CellCounts, Count
from covey.queries.grid import Grid
from covey.queries.people import PeopleByRows
from covey.queries.voronoi import VoronoiSums

BOX = Box(x=(-1, 1), y=(-1, 1))
KEY = bytes(range(32))
DOMAIN = resolve_bounds(BOX, names=("x", "y", "id"), width=3)


def frame(rows, ids) -> pd.DataFrame:
    rows = np.asarray(rows, dtype=np.float64).reshape(-1, 2)
    return pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "id": pd.array(ids)})


def kept(data, *, most: int, key: bytes = KEY) -> Counter:
    """The lattice points that stay, with how often each does."""
    table = CappedTable(open_table(data), DOMAIN, "id", most=most, key=key)
    pieces = [to_lattice(piece(), DOMAIN) for piece in table.pieces(DOMAIN.columns)]
    return Counter(tuple(row) for block in pieces for row in block.T.tolist())


def plain_twin(rows, ids, *, most: int, key: bytes = KEY) -> Counter:
    """The definition, row by row."""
    names = Names(key)
    block = to_block(np.asarray(rows, dtype=np.float64).reshape(-1, 2).T, DOMAIN)
    order: dict[object, list] = {}
    seen: Counter = Counter()
    for i, (row, person) in enumerate(zip(block.rows.T, ids, strict=True)):
        low, high = names.people(pa.array([person], pa.int64()))
        point = names.rows(block.at(slice(i, i + 1)))
        copy = np.array([seen[person, int(point[0])]], dtype=np.uint64)
        seen[person, int(point[0])] += 1
        rank = int(names.ranks(low, high, point, copy)[0])
        order.setdefault(person, []).append((rank, int(point[0]), int(copy[0]), tuple(row.tolist())))
    return Counter(each[3] for rows_of in order.values() for each in sorted(rows_of)[:most])


def test_the_hash_is_that_of_the_published_vectors():
    key = bytes(range(16))
    words = np.frombuffer(bytes(range(16)), dtype="<u8").astype(np.uint64)
    assert siphash(key, [words[:1]]).tolist() == [0x93F5F5799A932462]
    assert siphash(key, [words[:1], words[1:]]).tolist() == [0x3F2ACC7F57C29BDB]


points = st.tuples(st.integers(0, 3), st.integers(0, 1)).map(lambda p: (p[0] / 4, p[1] / 4))


@settings(max_examples=40)
@example([((i % 4 / 4, i % 3 % 2 / 4), i % 5) for i in range(40)], 1, Random(1))
@given(
    st.lists(st.tuples(points, st.integers(0, 4)), max_size=40), st.integers(1, 4), st.randoms(use_true_random=False)
)
def test_who_counts_is_the_definition_whatever_the_order_and_the_passes(rows, most, random):
    data = frame([point for point, _ in rows], [person for _, person in rows])
    expected = plain_twin([point for point, _ in rows], [person for _, person in rows], most=most)
    assert kept(data, most=most) == expected
    random.shuffle(rows)
    shuffled = frame([point for point, _ in rows], [person for _, person in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SHARE", 2)
        patch.setattr("covey.private.narrowed.cap.COPIES", 2)
        patch.setattr("covey.private.tables.frames.piece_rows", lambda _: 5)
        assert kept(shuffled, most=most) == expected
        patch.setattr(pairs, "AT_ONCE", 3)
        assert kept(shuffled, most=most) == expected


@settings(max_examples=60)
@given(
    st.lists(st.tuples(points, st.integers(0, 3)), max_size=30),
    st.lists(points, max_size=12),
    st.integers(1, 3),
    st.integers(0, 30),
)
def test_a_person_more_adds_at_most_m_rows_and_moves_nobody_elses(rows, more, most, place):
    with_them = rows[:place] + [(point, 9) for point in more] + rows[place:]
    before = kept(frame([p for p, _ in rows], [i for _, i in rows]), most=most)
    after = kept(frame([p for p, _ in with_them], [i for _, i in with_them]), most=most)
    assert before <= after
    assert (after - before).total() == min(most, len(more))


def test_a_person_with_a_million_rows_moves_every_statistic_by_at_most_m_rows_worth():
    rng = np.random.default_rng(4)
    others = frame(rng.uniform(-1, 1, (2000, 2)), rng.integers(0, 400, 2000))
    flood = frame(np.where(rng.random((10**6, 1)) < 0.5, 1.0, rng.uniform(-1, 1, (10**6, 2))), np.full(10**6, 999))
    m = 3
    centres = np.array([[-0.5, 0.0], [0.5, 0.5]]) * DOMAIN.limit
    queries = [Count(DOMAIN), CellCounts(Grid(DOMAIN, 8)), VoronoiSums(centres, DOMAIN)]
    engines = [
        MemoryEngine(CappedTable(open_table(data), DOMAIN, "id", most=m, key=KEY), DOMAIN)
        for data in (others, pd.concat([others[:1000], flood, others[1000:]]))
    ]
    for query in queries:
        without, with_them = (engine.total(query) for engine in engines)
        moved = np.abs(with_them - without)
        limit = query.sensitivity(Neighbours.ADD_REMOVE)
        assert 0 < moved.sum() <= m * limit.l1
        assert moved.max() <= m * limit.linf


def test_every_row_of_a_person_has_the_same_chance():
    rows = [(0.1, 0.1), (0.1, 0.1), (0.2, 0.3), (0.5, 0.5), (0.9, 0.1)]  # two are equal
    trials = 4000
    counts = kept(frame(rows * trials, np.repeat(np.arange(trials), 5)), most=2)
    single = tuple(to_lattice(np.array([[0.5], [0.5]]), DOMAIN)[:, 0].tolist())
    double = tuple(to_lattice(np.array([[0.1], [0.1]]), DOMAIN)[:, 0].tolist())
    assert abs(counts[single] / trials - 0.4) < 5 * math.sqrt(0.24 / trials)
    assert abs(counts[double] / trials - 0.8) < 5 * math.sqrt(0.36 / trials)
    assert counts.total() == 2 * trials


def test_ids_agree_whatever_holds_them(tmp_path):
    rng = np.random.default_rng(2)
    rows, ids = rng.uniform(-1, 1, (300, 2)), rng.integers(0, 40, 300)
    data = frame(rows, ids)
    expected = kept(data, most=2)
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "rows.parquet", row_group_size=31)
    data.to_csv(tmp_path / "rows.csv", index=False)
    texts = data.assign(id=data["id"].astype(str))
    ways = [
        pl.DataFrame({name: data[name].to_numpy() for name in data}),
        pa.Table.from_pandas(data),
        tmp_path / "rows.parquet",
        tmp_path / "rows.csv",
        texts,
        texts.assign(id=texts["id"].astype("category")),
        data.assign(id=data["id"].astype(np.float64)),
        data.assign(id=data["id"].astype(np.int8)),
    ]
    for way in ways:
        assert kept(way, most=2) == expected


def test_rows_without_an_id_never_count(tmp_path):
    """In a bucket of their own they would displace one another: one more would move the rows of others."""
    rows = np.linspace(-1, 1, 12).reshape(6, 2)
    for ids in ([None, None, "a", "", None, "b"], [None, np.nan, 3.0, None, None, 5.0]):
        data = frame(rows, [0] * 6).assign(id=pd.Series(ids, dtype=object if isinstance(ids[2], str) else float))
        expected = kept(data.iloc[[2, 5]], most=6)
        data.to_csv(tmp_path / "rows.csv", index=False)
        data.to_parquet(tmp_path / "rows.parquet")
        ways = (
            data,
            pl.from_pandas(data),
            pa.Table.from_pandas(data),
            tmp_path / "rows.csv",
            tmp_path / "rows.parquet",
        )
        for way in ways:
            assert kept(way, most=1) == kept(way, most=6) == expected
            assert expected.total() == 2
            engine = PeopleCount(open_table(way), DOMAIN, "id", key=KEY)
            assert engine.total(PeopleByRows(DOMAIN, (1, 2))).tolist() == [2, 0, 0]


def test_records_that_cannot_be_split_are_nobodys(tmp_path):
    """A person's values reach only that person's rows, also in a file that no correct writer made."""
    good = ["x,y,id", *(f"{i / 10},0.5,p{i}" for i in range(5))]
    (tmp_path / "good.csv").write_text("\n".join(good))
    bad = ["1,2", "0.1,0.2,p1,3", "x" * (LONGEST_RECORD + 1) + ",0.1,p1", "7", '"0.1,0.2,p1"']
    (tmp_path / "bad.csv").write_text("\n".join([*good, *bad]))
    assert kept(tmp_path / "bad.csv", most=3) == kept(tmp_path / "good.csv", most=3)


def test_no_id_is_hashed_as_anything_else():
    """Keys of purposes, names of texts and names of whole numbers come from different inputs, whatever an id says."""
    names = Names(KEY)
    for purpose in ("low", "high", "row", "rank", "zone", "part", "covey purpose"):
        low, high = names.people(pa.array([purpose.encode()], pa.large_binary()))
        told = low.astype("<u8").tobytes() + high.astype("<u8").tobytes()
        assert told != derived_key(KEY, purpose)
    eight = (7).to_bytes(8, "little")
    words = [names.people(pa.array([each], pa.large_binary()))[0][0] for each in (b"7", eight, b" 7")]
    assert len({*words, names.people(pa.array([8]))[0][0]}) == 4
    assert words[0] == names.people(pa.array([7]))[0][0]
    one, two = np.array([1], dtype=np.uint64), np.array([2], dtype=np.uint64)
    uses = (names.coins(one, two), names.parts(one, two), names.ranks(one, two, one, two))
    assert len({int(word[0]) for word in uses}) == 3
    streams = [keyed_words(KEY, number, 1, purpose=purpose)[0] for number in (0, 1) for purpose in ("zone", "part")]
    assert len(set(streams)) == 4


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 5)), max_size=12))
def test_people_whose_rows_stand_together_have_the_same_names_as_others(runs):
    ids = [who for who, times in runs for _ in range(times)]
    names = Names(KEY)
    alone = [[int(half[0]) for half in names.people(pa.array([who]))] for who in ids]
    assert [
        list(each) for each in zip(*(half.tolist() for half in names.people(pa.array(ids, pa.int64()))), strict=True)
    ] == alone


def test_texts_that_are_no_numbers_are_told_apart():
    rows = np.linspace(-1, 1, 16).reshape(8, 2)
    data = frame(rows, [0] * 8).assign(id=["7", "07", "7 ", "-0", "0", "1e3", "1000", "99999999999999999999"])
    assert kept(data, most=1).total() == 8


def test_people_are_counted_by_their_rows():
    ids = np.repeat(np.arange(10), [1, 1, 2, 2, 3, 5, 8, 13, 700, 2000])
    data = frame(np.zeros((len(ids), 2)), ids)
    engine = PeopleCount(open_table(data), DOMAIN, "id", key=KEY)
    found = engine.total(PeopleByRows(DOMAIN, (1, 2, 4, 8, 1024)))
    assert found.tolist() == [2, 2, 1, 2, 2, 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "AT_ONCE", 3)
        patch.setattr(pairs, "SHARE", 1)
        assert engine.total(PeopleByRows(DOMAIN, (1, 2, 4, 8, 1024))).tolist() == found.tolist()
    with pytest.raises(ParameterError, match="only the number of people"):
        engine.total(CellCounts(Grid(DOMAIN, 2)))


@given(st.lists(st.integers(1, 2000), max_size=30), st.integers(1, 2000))
def test_one_person_is_in_one_count(rows_of_each, one):
    query = PeopleByRows(DOMAIN, CAPS)
    less, more = (query.tally(np.array(each, dtype=np.int64)) for each in (rows_of_each, [*rows_of_each, one]))
    assert np.abs(more - less).sum() == query.sensitivity(Neighbours.ADD_REMOVE).l1 == 1


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 1000), 20), st.fractions(Fraction(1, 10**12), Fraction(1, 100)), st.integers(1, 5000))
def test_rows_of_a_person_together_cost_what_was_named(epsilon, delta, rows):
    each = row_cost(Cost(epsilon, delta), rows=rows)
    assert each.epsilon * rows == epsilon
    total = float(each.delta) * sum(math.exp(float(each.epsilon) * i) for i in range(rows))
    assert total <= float(delta) * (1 + 1e-9)
    assert total >= float(delta) * (1 - 1e-6)
    assert row_cost(Cost(epsilon), rows=rows) == Cost(epsilon / rows)


def test_a_cap_is_a_quantile_of_the_counts():
    assert choose_cap(np.array([100] + [0] * 20), 0.9, scale=1.0) == 1
    assert choose_cap(np.array([50, 40, 10] + [0] * 18), 0.9, scale=1.0) == 2
    assert choose_cap(np.array([50, 39, 11] + [0] * 18), 0.9, scale=1.0) == 3
    assert choose_cap(np.array([-5] * 21), 0.9, scale=1.0) == 1
    assert choose_cap(np.array([0] * 20 + [10]), 0.9, scale=1.0) == CAPS[-1]
    assert choose_cap(np.array([0, 50] + [60] * 19), 0.9, scale=20.0) == 1  # noise alone


def test_the_choice_of_m_is_noisy_and_paid_for():
    ids = np.repeat(np.arange(3000), 5)
    data = frame(np.zeros((len(ids), 2)), ids)
    book = Ledger.memory(person="id")
    release = fit(
        data,
        k=2,
        epsilon=1.0,
        bounds=BOX,
        person="id",
        rows_per_person="auto",
        ledger=book,
        dataset="data",
        algorithm="grid",
        random_state=1,
    )
    notes = release.certificate.parameters["people"]
    assert notes["rows_per_person"] == 6
    assert notes["epsilon_of_choice"] == 0.05
    assert notes["epsilon_per_row"] * 6 == pytest.approx(0.95)
    assert "at most 6 count" in release.certificate.person
    assert release.certificate.epsilon == 1.0
    assert book.datasets()["data"].spent.epsilon == 1


@pytest.mark.parametrize("m", [1, 4])
def test_noise_is_for_m_rows(m):
    """The counts of kept rows in 65,536 cells, at epsilon 1 for a person: their noise has the variance of scale m."""
    data = frame(np.zeros((40, 2)), np.repeat(np.arange(20), 2))
    capped = cap(
        open_table(data),
        Person("id", m),
        session_of(Promise.of(1, kind=Kind(unit="id"))),
        domain=DOMAIN,
        run=lambda *_: None,
    )
    p = math.exp(-1 / m)
    variance = 2 * p / (1 - p) ** 2
    cells = CellCounts(Grid(DOMAIN, 256))
    exact = MemoryEngine(capped.table, DOMAIN).total(cells)
    assert exact.sum() == 20 * min(m, 2)
    errors = noisy(capped, cells) - exact
    assert abs(errors.mean()) < 5 * math.sqrt(variance / len(errors))
    spread = np.square(errors).mean() / variance
    assert 0.95 < spread < 1.05  # five standard deviations; a scale 10% too small is 0.81


def session_of(promise: Promise) -> Session:
    return Session(None, None, promise=promise, zones=None, purpose="test", fingerprint="", seed=0)


def noisy(capped, query) -> np.ndarray:
    from covey.budget.accounting.plan import Plan
    from covey.noise.mechanisms import DiscreteLaplace
    from covey.private.curator import Curator

    noise = DiscreteLaplace(capped.reserve.promise.epsilon)
    curator = Curator(
        MemoryEngine(capped.table, DOMAIN),
        domain=DOMAIN,
        source=SeededSource(1),
        reserve=capped.reserve,
        charge=lambda: None,
    )
    curator.reserve(Plan((noise.event(),)))
    return curator.release(query, noise)


def test_bounds_without_names_are_for_all_columns_but_that_of_the_person():
    data = frame(np.random.default_rng(0).normal(0, 0.2, (500, 2)), np.arange(500) % 50).assign(
        id=lambda d: "p" + d["id"].astype(str)
    )
    model = KMeans(2, epsilon=1.0, bounds=(-1, 1), person="id", rows_per_person=2).fit(data)
    assert list(model.feature_names_in_) == ["x", "y"]
    assert model.predict(data[["x", "y"]]).shape == (500,)
    coreset = PrivateCoreset(2, epsilon=1.0, bounds=BOX, person="id", rows_per_person=2).fit(data).coreset_
    assert "'id'" in coreset.certificate.person


@pytest.mark.parametrize(
    ("given_", "match"),
    [
        ({"person": "nobody"}, "no column 'nobody'"),
        ({"person": "id", "neighbours": "replace-one"}, "one row"),
        ({"person": "id", "rows_per_person": 0}, "rows_per_person"),
        ({"person": "id", "rows_per_person": "auto:2"}, "rows_per_person"),
        ({"person": "id", "rows_per_person": "many"}, "rows_per_person"),
        ({"rows_per_person": 3}, "needs person="),
        ({"person": 3}, "name of a column"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_charged(given_, match):
    book = Ledger.memory()
    with pytest.raises(ParameterError, match=match):
        fit(frame(np.zeros((4, 2)), range(4)), k=1, epsilon=1.0, bounds=BOX, ledger=book, dataset="data", **given_)
    assert book.datasets()["data"].spent.epsilon == 0


def test_an_array_has_no_names():
    with pytest.raises(ParameterError, match="person"):
        fit(np.zeros((4, 2)), k=1, epsilon=1.0, bounds=(-1, 1), person="id")


def test_what_the_algorithm_refuses_costs_nothing_although_m_is_chosen_first():
    book = Ledger.memory()
    data = frame(np.zeros((4, 2)), range(4))
    with pytest.raises((ParameterError, DataError, BudgetError)):
        fit(
            data,
            k=1,
            epsilon=1.0,
            bounds=BOX,
            person="id",
            rows_per_person="auto",
            algorithm="grid",
            algorithm_params={"theta": -1.0},
            ledger=book,
            dataset="data",
        )
    assert book.datasets()["data"].spent.epsilon == 0
