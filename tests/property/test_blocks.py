"""Sample and aggregate: one person touches one block, and no other block in the last bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from covey.noise.averages import UNITS, ClampedAverages
from covey.noise.source import SeededSource
from covey.public import resolve_bounds
from covey.queries.blocks import BlockCentres

SMALL = st.integers(-3, 3)  # few values: ties, duplicates and equal distances are the rule


def domain_of(d):
    return resolve_bounds((-1, 1), names=None, width=d)


@st.composite
def situations(draw):
    d, k, blocks = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    n = draw(st.integers(0, 25))
    domain = domain_of(d)
    values = st.one_of(SMALL, st.integers(-domain.limit, domain.limit))
    rows = draw(hnp.arrays(np.int32, (d, n + 1), elements=values))
    block = draw(hnp.arrays(np.int64, n + 1, elements=st.integers(0, blocks - 1)))
    keys = draw(hnp.arrays(np.uint64, n + 1, elements=st.integers(0, 40)))  # equal keys occur
    query = BlockCentres(domain=domain, k=k, blocks=blocks, rounds=draw(st.integers(0, 4)))
    return query, rows, block, keys, draw(st.integers(0, n))


@given(situations())
@settings(max_examples=150, deadline=None)
def test_adding_one_row_moves_one_line_at_most(situation):
    query, rows, block, keys, where = situation
    more = query.outputs(rows, block, keys)
    less = query.outputs(*(np.delete(each, where, axis=-1) for each in (rows, block, keys)))
    moved = (more != less).any(axis=1)
    assert moved.sum() <= 1
    assert not moved.any() or moved.argmax() == block[where]


@given(situations(), st.integers(-(2**24), 2**24))
@settings(max_examples=100, deadline=None)
def test_replacing_one_row_moves_one_line_at_most(situation, value):
    query, rows, block, keys, where = situation
    other = rows.copy()
    other[:, where] = np.clip(value, -query.domain.limit, query.domain.limit)
    moved = (query.outputs(rows, block, keys) != query.outputs(other, block, keys)).any(axis=1)
    assert moved.sum() <= 1


@given(situations())
@settings(max_examples=100, deadline=None)
def test_outputs_stay_in_the_domain_and_in_canonical_order(situation):
    query, rows, block, keys, _ = situation
    outputs = query.outputs(rows, block, keys).reshape(query.blocks, query.k, -1)
    assert np.abs(outputs).max() <= query.domain.limit
    for line in outputs.tolist():
        assert line == sorted(line)


def squared(row, centre):
    """By products: a power may be off in the last bit, and break a tie."""
    total = 0.0
    for a, b in zip(row, centre, strict=True):
        total += (a - b) * (a - b)
    return total


def plain_kmeans(rows, k, rounds):
    """k-means of one block's rows, already in their random order: twenty plain lines."""
    if not len(rows):
        return [[0] * 0] * k
    centres = [list(map(float, rows[j % len(rows)])) for j in range(k)]
    for _ in range(rounds):
        groups = [[] for _ in range(k)]
        for row in rows:
            distances = [squared(row, centre) for centre in centres]
            groups[distances.index(min(distances))].append(row)
        for j, group in enumerate(groups):
            if group:
                centres[j] = [sum(int(row[i]) for row in group) / len(group) for i in range(len(group[0]))]
    return sorted([int(np.rint(value)) for value in centre] for centre in centres)


@given(situations())
@settings(max_examples=100, deadline=None)
def test_each_block_is_clustered_as_by_the_plain_twin(situation):
    query, rows, block, keys, _ = situation
    outputs = query.outputs(rows, block, keys).reshape(query.blocks, query.k, -1)
    for b in range(query.blocks):
        mine = np.flatnonzero(block == b)
        mine = mine[np.argsort(keys[mine], kind="stable")]
        expected = plain_kmeans(rows[:, mine].T.tolist(), query.k, query.rounds) if len(mine) else None
        found = outputs[b].tolist()
        assert found == (expected or [[0] * query.domain.dimension] * query.k)


def test_blocks_of_consecutive_rows_as_first_implemented_move_more_than_one_line():
    domain, rng = domain_of(1), np.random.default_rng(0)
    rows = rng.integers(-domain.limit, domain.limit, (1, 40)).astype(np.int32)
    query = BlockCentres(domain=domain, k=1, blocks=8)
    chunks = lambda n: np.arange(n) * 8 // n  # noqa: E731
    keys = np.zeros(40, dtype=np.uint64)
    more = query.outputs(rows, chunks(40), keys)
    less = query.outputs(rows[:, 1:], chunks(39), keys[1:])
    assert (more != less).any(axis=1).sum() > 1


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(-1000, 1000)),
    st.integers(-1000, 1000),
    st.integers(0, 11),
)
@settings(max_examples=100, deadline=None)
def test_replacing_a_line_moves_rank_utilities_and_clamped_sums_by_no_more_than_declared(table, value, line):
    other = table.copy()
    other[line % len(table)] = value
    candidates = np.arange(-1000, 1001, 50)
    for column in range(table.shape[1]):
        below = [np.searchsorted(np.sort(each[:, column]), candidates) for each in (table, other)]
        for percent in (25, 75):
            ours, theirs = (-np.abs(100 * each - percent * len(table)) for each in below)
            assert np.abs(ours - theirs).max() <= 100
        low, high = np.int64(-400), np.int64(300)
        sums = [((np.clip(each[:, column], low, high) - low) * UNITS // (high - low)).sum() for each in (table, other)]
        assert abs(sums[0] - sums[1]) <= UNITS


def test_ranges_lie_in_the_domain_and_are_never_empty():
    source = SeededSource(5)
    for limit in (1, 3, 1000, 2**24 - 1):
        table = np.full((7, 6), limit)
        low, high = ClampedAverages(Fraction(1, 100)).ranges(table, limit, source)
        assert (low < high).all()
        assert (low >= -limit).all()
        assert (high <= limit).all()


LINES, COLUMNS, EDGE, EPSILON = 50, 40, 1000, Fraction(1, 2)


@pytest.fixture(scope="module")
def noise_of_averages():
    low, high = np.full(COLUMNS, -EDGE), np.full(COLUMNS, EDGE)
    table, source = np.zeros((LINES, COLUMNS), dtype=np.int64), SeededSource(11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClampedAverages, "ranges", lambda *_: (low, high))
        patch.setattr(np, "clip", lambda values, *_: values)  # keep the whole noise, not only what fits the range
        return np.concatenate([ClampedAverages(EPSILON).average(table, EDGE, source) for _ in range(1500)])


@pytest.mark.parametrize(("off", "accepted"), [(1.0, True), (0.95, False), (1.05, False)])
def test_the_noise_of_averages_has_the_promised_scale_and_this_test_can_tell(noise_of_averages, off, accepted):
    scale = 2 * (2 * EDGE) * COLUMNS / (LINES * float(EPSILON)) * off  # equation (3) of the paper
    # The mean of |noise| of n Laplace numbers is the scale, give or take scale/sqrt(n): n = 60,000, 5 deviations.
    error = abs(np.abs(noise_of_averages).mean() / scale - 1)
    assert bool(error < 5 / np.sqrt(noise_of_averages.size)) == accepted
