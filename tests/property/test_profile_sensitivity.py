"""One person moves the counts of a profile by at most what the query declares, whatever the person's cells hold; and by
that much in the worst case. The statistic is the engine's own, before any noise."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sensitivity import assert_within

from covey.fit.profile import codes_of, with_cells
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import open_table
from covey.public import Box, Neighbours
from covey.published.profile.columns import read_columns
from covey.queries.profile import PAIRS, CategoryTexts, ProfileCounts

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
NAMES = ("x", "y", "mode", "age", "when")
ASKED = ("mode=bike|7|ß", "age=0:120:5", "hour(when)", "weekday(when)", "x=0:1:3")
CENTRES = [[0.2, 0.2], [0.8, 0.8], [0.8, 0.8], [0.5, 0.0]]

number = st.one_of(st.floats(), st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 0.5, 1.0, 60.0, 1e308]))
cell = st.one_of(
    st.none(),
    st.sampled_from(
        ["bike", "Bike", "ß", "7", "", "x" * 70_000, "\udcff", b"bike", 7, 7.0, True, 2**70, [1], {}, math.nan]
    ),
    st.text(max_size=3),
    st.integers(),
)
moment = st.one_of(
    st.none(),
    st.sampled_from(["2024-05-01T08:15", "24:00", "soon", datetime.date(2024, 2, 29), datetime.time(23, 59)]),
    st.datetimes(),
)
row = st.tuples(number, number, cell, number, moment)


def query_and_table(rows):
    """The query, and the table of these rows that it counts in."""
    columns = [*map(list, zip(*rows, strict=True))] or [[] for _ in NAMES]
    kinds = (float, float, object, float, object)
    frame = pd.DataFrame(
        {name: pd.Series(each, dtype=kind) for name, each, kind in zip(NAMES, columns, kinds, strict=True)}
    )
    wanted = read_columns(ASKED, NAMES, {"y": (0.0, 1.0)})
    coded = {f"cell {place}": column for place, column in enumerate(wanted)}
    domain = with_cells(Box(x=(0, 1), y=(0, 1)).domain(NAMES, len(NAMES)), coded)
    padded = np.pad(np.array(CENTRES), ((0, 0), (0, len(wanted))))
    query = ProfileCounts(domain.to_lattice(padded)[:, :2], [len(each.cells) for each in wanted], domain)
    return query, open_table(frame).coded(coded)


def exact(rows):
    query, table = query_and_table(rows)
    table.check_numeric(query.domain.columns)
    return MemoryEngine(table, query.domain).total(query)


@settings(max_examples=40)
@given(rows=st.lists(row, max_size=5), one=row, other=row, place=st.integers(0, 5))
def test_one_row_moves_the_counts_by_at_most_the_sensitivity(rows, one, other, place):
    query, _ = query_and_table([])
    without, with_one, with_other = (exact([*rows[:place], *more, *rows[place:]]) for more in ([], [one], [other]))
    assert_within((with_one - without).tolist(), query.sensitivity(ADD))
    assert_within((with_other - with_one).tolist(), query.sensitivity(REPLACE))
    assert (with_one - without).sum() == len(ASKED)  # in one cell of every column, whatever it holds


def test_both_bounds_are_attained():
    query, _ = query_and_table([])
    one = (0.1, 0.1, "bike", 30.0, "2024-05-01T08:15")
    other = (0.9, 0.9, "7", 90.0, "2024-05-02T17:15")
    moved = {ADD: exact([one]) - exact([]), REPLACE: exact([other]) - exact([one])}
    for relation, change in moved.items():
        bound = query.sensitivity(relation)
        assert (np.abs(change).sum(), (change**2).sum(), np.abs(change).max()) == (
            bound.l1,
            bound.l2_squared,
            bound.linf,
        )
        assert np.count_nonzero(change) == bound.coordinates


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), row), max_size=8),
    theirs=st.lists(row, max_size=5),
    most=st.integers(1, 3),
)
def test_a_person_moves_the_counts_of_capped_rows_by_at_most_that_many_times_as_much(rows, theirs, most):
    def capped(people):
        query, _ = query_and_table([])
        _, table = query_and_table([each for _, each in people])
        with_ids = _with_people(table, [who for who, _ in people])
        return MemoryEngine(with_ids.capped(query.domain, "who", most=most, key=b"k" * 32), query.domain).total(query)

    change = capped([*rows, *((9, each) for each in theirs)]) - capped(rows)
    assert np.abs(change).sum() <= most * len(ASKED)
    assert np.abs(change).max(initial=0) <= most
    assert change.min(initial=0) >= 0


def _with_people(table, ids):
    import pyarrow as pa

    table._ids = lambda _: lambda places: pa.array(ids, pa.int64())[places]
    table.names = (*table.names, "who")
    return table


@pytest.mark.parametrize("cut", [1, 7, 64])
def test_the_cut_into_chunks_never_shows(cut):
    rng = np.random.default_rng(4)
    rows = [(*rng.uniform(0, 1, 2), rng.choice(["bike", "7", "?"]), rng.uniform(0, 120), "08:00") for _ in range(300)]
    query, table = query_and_table(rows)
    [block] = MemoryEngine(table, query.domain).rows()
    pieces = np.zeros(query.size, dtype=np.int64)
    for start in range(0, 300, cut):
        query.accumulate(block[:, start : start + cut], pieces)
    assert np.array_equal(pieces, exact(rows))


def texts(rows):
    """The query of texts, the counts of the engine, and those of a plain loop over the cells."""
    [column] = read_columns({"mode": "private"}, NAMES, {})
    coded = {f"letters {place}": each for place, each in enumerate(codes_of(column))}
    domain = with_cells(Box(x=(0, 1), y=(0, 1)).domain(NAMES, len(NAMES)), coded)
    frame = pd.DataFrame({"x": 0.5, "y": 0.5, "mode": pd.Series([each[2] for each in rows], dtype=object)})
    table = open_table(frame).coded(coded)
    table.check_numeric(domain.columns)
    query = CategoryTexts(domain, first=2)
    keys, counts = MemoryEngine(table, domain).totals_by_key(query)
    assert np.array_equal(keys, np.unique(keys))
    return query, dict(zip(keys.tolist(), counts.tolist(), strict=True))


def by_hand(value) -> bytes:
    """The text of a cell, cut, as plainly as can be."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        text = str(int(value))
    elif isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode(errors="replace")
        text = text.encode(errors="surrogatepass").decode(errors="replace")
        text = text.lower() if text.lower() in ("true", "false") else text
    else:
        text = ""
    cut = b""
    for letter in text:
        shown = (letter if letter.isprintable() else "\ufffd").encode()
        if len(cut) + len(shown) > 2 * PAIRS:
            break
        cut += shown
    return cut


@settings(max_examples=25)
@given(rows=st.lists(row, max_size=5), one=row, other=row, place=st.integers(0, 5))
def test_one_row_moves_the_counts_of_texts_by_at_most_the_sensitivity(rows, one, other, place):
    (query, without), (_, with_one), (_, with_other) = (
        texts([*rows[:place], *more, *rows[place:]]) for more in ([], [one], [other])
    )
    for relation, ours, theirs in ((ADD, with_one, without), (REPLACE, with_other, with_one)):
        change = [ours.get(key, 0) - theirs.get(key, 0) for key in ours.keys() | theirs.keys()]
        assert_within([each for each in change if each], query.sensitivity(relation))
    told = [by_hand(each[2]) for each in rows]
    assert without == {key: told.count(key) for key in told}


def test_the_bounds_of_texts_are_attained():
    one, other = ((0.1, 0.1, text, 1.0, None) for text in ("bike", "car"))
    query, ours = texts([one])
    assert ours == {b"bike": 1}
    assert query.sensitivity(ADD).coordinates == query.sensitivity(ADD).l1 == 1
    assert texts([other])[1] == {b"car": 1}
    assert query.sensitivity(REPLACE).coordinates == query.sensitivity(REPLACE).l1 == 2


def test_rows_are_counted_under_the_texts_that_were_found():
    cells = ["bike", "b", "car", "", None, "bike", "other"]
    [column] = read_columns({"mode": "private"}, NAMES, {})
    coded = {f"letters {place}": each for place, each in enumerate(codes_of(column))}
    domain = with_cells(Box(x=(0, 1), y=(0, 1)).domain(NAMES, len(NAMES)), coded)
    frame = pd.DataFrame({"x": 0.1, "y": 0.1, "mode": pd.Series(cells, dtype=object)})
    for found, expected in (((b"car", b"bike"), [1, 2, 4]), ((b"bike", b"b", b"z"), [2, 1, 0, 4]), ((), [7])):
        query = ProfileCounts([[0.0, 0.0]], [found], domain)
        assert MemoryEngine(open_table(frame).coded(coded), domain).total(query).tolist() == expected
