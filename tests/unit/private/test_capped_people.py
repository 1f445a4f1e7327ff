"""People who are capped: counted once over files of any type, moved by nobody else, silent, in few passes."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Box
from covey.private.engines.memory import MemoryEngine
from covey.private.lattice import to_lattice
from covey.private.narrowed import pairs
from covey.private.narrowed.cap import CappedTable, PeopleCount
from covey.private.narrowed.names import Names
from covey.private.narrowed.pairs import Group, Ranked, ascending
from covey.private.tables.frames import open_table
from covey.public import resolve_bounds
from covey.queries.counts import InsideOutside
from covey.queries.people import PeopleByRows

BOX = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("x", "y", "who"), width=3)
NAMES = Names(bytes(range(32)))


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
    before, at_once = [], pairs.AT_ONCE
    try:
        for pairs.AT_ONCE in (held, at_once):
            before.append(kept(files(rows), most=most))
            after = kept(files(with_person), most=most)
            assert before[-1] <= after
            assert (after - before[-1]).total() <= most
    finally:
        pairs.AT_ONCE = at_once
    assert before[0] == before[1]


def test_a_crowded_range_does_not_make_all_later_passes_narrow(monkeypatch):
    monkeypatch.setattr(pairs, "AT_ONCE", 1)
    ranks = np.array([5, 6, 2**63, 2**64 - 1], dtype=np.uint64)
    passes: list[int] = []

    def units():
        passes.append(1)
        none, once = np.zeros(4, dtype=np.uint64), np.ones(4, dtype=np.int64)
        yield lambda: Group(ranks, none, none, ranks, none, once, np.empty((0, 4)))

    found = [rank for held in pairs.grouped(units) for group in held for rank in group.rank.tolist()]
    assert found == ranks.tolist()
    assert len(passes) < 200


def test_rows_outside_are_kept_by_their_values_and_never_by_their_order():
    """A row on the corner and one beyond it have one lattice point; the number of each that stays is the person's."""
    x = np.array([1.0] * 6 + [9.0] * 6)
    found = set()
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(12)
        data = pa.table({"x": x[order], "y": np.ones(12), "who": np.full(12, 5)})
        table = CappedTable(open_table(data), DOMAIN, "who", most=4, key=NAMES.key)
        found.add(tuple(MemoryEngine(table, DOMAIN).total(InsideOutside(DOMAIN)).tolist()))
    assert len(found) == 1
    assert sum(found.pop()) == 4


@pytest.mark.parametrize("bits", [64, 30, 8, 0])
def test_words_are_put_into_the_stable_order_of_lexsort(bits):
    rng = np.random.default_rng(bits)
    for size in (0, 1, 2, 1000):
        words = rng.integers(0, 2**64, size=size, dtype=np.uint64, endpoint=False) >> np.uint64(64 - max(bits, 1))
        words[size // 2 :] = words[: size - size // 2]
        assert ascending(words).tolist() == np.argsort(words, kind="stable").tolist()
        others = rng.permutation(words) >> np.uint64(bits // 2)
        assert ascending(words, others).tolist() == np.lexsort((words, others)).tolist()


def test_pairs_whose_first_ranks_are_equal_by_accident_stay_apart():
    same = np.zeros(6, dtype=np.uint64)
    low = np.array([1, 2, 1, 2, 1, 3], dtype=np.uint64)
    group = Group(low, same, same, same, same, np.ones(6, dtype=np.int64), np.arange(6.0)[None]).merged()
    assert dict(zip(group.low.tolist(), group.copies.tolist(), strict=True)) == {1: 3, 2: 2, 3: 1}
    ranked = Ranked(low, same, same, np.arange(6, dtype=np.uint64)[::-1], same, np.arange(6.0)[None])
    assert ranked.smallest(1, None).values.tolist() == [[4.0, 3.0, 5.0]]
