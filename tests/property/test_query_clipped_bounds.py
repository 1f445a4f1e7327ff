"""The queries of clipped residuals and distances: one row moves them by at most what they declare, the split of the
rows never shows, and they equal twins written in Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.audit.likelihood import by_block
from covey.events import Sensitivity
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours
from covey.queries.clipping import Clip, farthest
from covey.queries.moments import MeanAndCount, MeanSums, SecondMoments
from covey.queries.norms import NormCounts
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
KINDS = ["mean", "mean l1", "mean counts", "mean l1 counts", "second", "second l1", "norms"]
KINDS += ["residuals", "residuals l1", "residuals counts", "residuals l1 counts", "residuals projected"]
BOTH_DOMAINS = pytest.mark.parametrize("ball", [False, True], ids=["box", "ball"])
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def unit_domain(d: int, *, ball: bool) -> Domain:
    """A domain in whose coordinates the lattice points are the whole numbers."""
    limit = float(Domain(middle=(0.0,) * d, half=(1.0,) * d).limit)
    return Domain(middle=(0.0,) * d, half=(limit,) * d, ball=ball)


def lattice(domain: Domain, rows: list[tuple[float, ...]]) -> np.ndarray:
    """The rows as the engine holds them, (d, n)."""
    table = ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), domain.dimension))
    blocks = MemoryEngine(table, domain).rows()
    return np.concatenate(blocks, axis=1) if blocks else np.empty((domain.dimension, 0), dtype=np.int32)


def exact(query, rows: list[tuple[float, ...]]) -> list[int]:
    table = ArrayTable(np.array(rows, dtype=np.float64).reshape(len(rows), query.domain.dimension))
    return MemoryEngine(table, query.domain).total(query).tolist()


def assert_within(changes: list[int], bound: Sensitivity) -> None:
    assert sum(map(abs, changes)) <= bound.l1
    assert sum(c * c for c in changes) <= bound.l2_squared
    assert max(map(abs, changes)) <= bound.linf
    assert sum(c != 0 for c in changes) <= bound.coordinates
    assert by_block(changes, [0] * len(changes), bound.block) <= bound.l2_by_block
    if bound.monotone:
        assert min(changes) >= 0 or max(changes) <= 0


@st.composite
def domains(draw, *, ball: bool):
    return unit_domain(draw(st.sampled_from([1, 2, 3, 4, 5, 6, 50])), ball=ball)


@st.composite
def points(draw, domain: Domain, count: int):
    limit = domain.limit
    place = st.sampled_from([-limit, 0, limit, limit // 2]) | st.integers(-limit, limit)
    if domain.dimension > 6:  # drawn in one go: a list of numbers would be slow
        picked = np.random.default_rng(draw(st.integers(0, 99))).integers(-3, 4, (count, domain.dimension))
        return picked * (limit / 3)
    flat = draw(st.lists(place, min_size=count * domain.dimension, max_size=count * domain.dimension))
    return np.array(flat, dtype=np.float64).reshape(count, domain.dimension)


def radii(domain: Domain):
    limit = domain.limit
    return st.sampled_from([1, 2, limit // 4, limit, 3.0 * limit * domain.dimension, math.inf]) | st.floats(
        0.1, 2 * limit
    )


@st.composite
def projections(draw, domain: Domain):
    unit, d = Projection.unit(domain), domain.dimension
    lines = draw(st.integers(1, 3))
    entry = st.sampled_from([0, 1, -1, unit, -unit, unit // 3]) | st.integers(-unit, unit)
    most = lines * min(d, 6)
    matrix = np.resize(np.array(draw(st.lists(entry, min_size=most, max_size=most)), dtype=np.int64), (lines, d))
    half = draw(st.lists(st.integers(1, unit * domain.limit), min_size=lines, max_size=lines))
    return Projection(matrix, draw(points(domain, 1))[0], np.array(half), domain)


@st.composite
def queries(draw, kind: str, domain: Domain):
    norm = "l1" if "l1" in kind else "l2"
    if kind.startswith(("mean", "second")):
        made = SecondMoments if kind.startswith("second") else MeanAndCount if "counts" in kind else MeanSums
        return made(domain, draw(points(domain, 1))[0], draw(radii(domain)), norm=norm)
    if kind == "norms":
        some = draw(st.sets(st.floats(0, 3 * domain.limit) | st.integers(0, 5), min_size=1, max_size=6))
        unit = draw(st.sampled_from([1, 3, 2**20]))
        return NormCounts(domain, draw(points(domain, 1))[0], sorted(map(float, some)), unit=unit)
    k = draw(st.integers(1, 4))
    each = draw(st.lists(radii(domain), min_size=k, max_size=k) | radii(domain))
    projection = draw(projections(domain)) if "projected" in kind else None
    counts = "counts" in kind or ("projected" in kind and draw(st.booleans()))
    query = ResidualSums(domain, draw(points(domain, k)), each, projection=projection, norm=norm, with_counts=counts)
    query.projection = projection  # for the twin below
    return query


def anchors(query) -> tuple[np.ndarray, list[float]]:
    """Public points and distances about which a query may behave in a special way."""
    if hasattr(query, "clip"):
        return query.clip.centres, query.clip.radii.tolist()
    return query.centre[None, :], (query.radii if isinstance(query, NormCounts) else query.edges).tolist()


def signs(draw, d: int) -> np.ndarray:
    coins = draw(st.integers(0, 2**d - 1))
    return np.array([1.0 - 2.0 * (coins >> j & 1) for j in range(d)])


@st.composite
def one_row(draw, query):
    """NaN, infinities, corners, anything; the centre itself; a point at a radius, along an axis or spread over all."""
    domain = query.domain
    d, limit = domain.dimension, domain.limit
    how = draw(st.sampled_from(["wild", "corner", "centre", "at radius", "seeded"]))
    if how == "wild":
        many = min(d, 6)
        odd = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.5, 1e308, -1e308, 10.0 * limit, limit - 1])
        some = draw(st.lists(odd | st.integers(-limit, limit).map(float), min_size=many, max_size=many))
        return tuple(np.resize(some, d).tolist())
    if how == "corner":
        return tuple((limit * signs(draw, d)).tolist())
    if how == "seeded":
        return tuple(np.random.default_rng(draw(st.integers(0, 99))).uniform(-limit, limit, d).tolist())
    centres, distances = anchors(query)
    row = centres[draw(st.integers(0, len(centres) - 1))].astype(np.float64)
    if how == "at radius":
        far = draw(st.sampled_from(distances)) + draw(st.sampled_from([-1, 0, 1]))
        if draw(st.booleans()):
            row[draw(st.integers(0, d - 1))] += far * draw(st.sampled_from([1, -1]))
        else:
            row += far / math.sqrt(d) * signs(draw, d)
    return tuple(row.tolist())


@st.composite
def cases(draw, kind: str, *, ball: bool):
    query = draw(queries(kind, draw(domains(ball=ball))))
    rows = draw(st.lists(one_row(query), max_size=5))
    rows += draw(st.lists(st.sampled_from(rows), max_size=2)) if rows else []  # duplicates
    return query, rows


@BOTH_DOMAINS
@EVERY_KIND
def test_one_row_moves_the_statistic_by_at_most_the_sensitivity(kind, ball):
    @settings(max_examples=32)
    @given(cases(kind, ball=ball), st.data())
    def check(case, data):
        query, rows = case
        one, other = data.draw(one_row(query)), data.draw(one_row(query))
        place = data.draw(st.integers(0, len(rows)))
        without = np.array(exact(query, rows))
        with_one = np.array(exact(query, [*rows[:place], one, *rows[place:]]))
        with_other = np.array(exact(query, [*rows[:place], other, *rows[place:]]))
        assert_within((with_one - without).tolist(), query.sensitivity(ADD))
        assert_within((without - with_other).tolist(), query.sensitivity(ADD))
        assert_within((with_other - with_one).tolist(), query.sensitivity(REPLACE))

    check()


@BOTH_DOMAINS
@EVERY_KIND
def test_the_split_and_the_order_of_the_rows_never_show(kind, ball):
    @settings(max_examples=12)
    @given(cases(kind, ball=ball), st.randoms(use_true_random=False), st.lists(st.integers(0, 40), max_size=4))
    def check(case, shuffled, cuts):
        query, rows = case
        numbers = np.random.default_rng(7).uniform(
            -query.domain.limit, query.domain.limit, (33, query.domain.dimension)
        )
        columns = lattice(query.domain, [*rows, *map(tuple, numbers.tolist())])
        whole = np.zeros(query.size, dtype=np.int64)
        query.accumulate(columns, whole)
        order = list(range(columns.shape[1]))
        shuffled.shuffle(order)
        parts = np.zeros(query.size, dtype=np.int64)
        for part in np.split(columns[:, order], sorted(cuts), axis=1):
            query.accumulate(np.asfortranarray(part), parts)
        assert whole.tolist() == parts.tolist()

    check()


# Twins in plain Python.


def clipped(row: list[int], centre: list[int], radius: int, unit_limit: int, norm: str) -> list[int]:
    away = [x - c for x, c in zip(row, centre, strict=True)]
    length = math.sqrt(sum(a * a for a in away)) if norm == "l2" else float(sum(map(abs, away)))
    factor = unit_limit / max(length, float(radius))
    return [int(a * factor) for a in away]


def label(query: ResidualSums, row: list[int]) -> int:
    centres, projection = query.centres.tolist(), query.projection
    if projection is not None:
        lines, middle, limit = projection.matrix.tolist(), projection.middle.tolist(), query.domain.limit
        widest = max(1, *(sum(abs(m) * (limit + abs(c)) for m, c in zip(w, middle, strict=True)) for w in lines), 1)

        def image(point: list[int]) -> list[int]:
            away = [x - c for x, c in zip(point, middle, strict=True)]
            products = [sum(m * a for m, a in zip(line, away, strict=True)) for line in lines]
            return [round(y * (projection.target.limit / widest)) for y in products]

        row, centres = image(row), [image(centre) for centre in centres]
    far = [sum((x - c) ** 2 for x, c in zip(row, centre, strict=True)) for centre in centres]
    return far.index(min(far))


def twin(query, row: list[int]) -> dict[int, int]:
    """What one row adds, by coordinate."""
    d = query.domain.dimension
    if isinstance(query, NormCounts):
        squared = sum((x - c) ** 2 for x, c in zip(row, query.centre.tolist(), strict=True))
        return {sum(Fraction(r) ** 2 < squared for r in query.radii.tolist()): query.unit}
    clip = query.clip
    j = label(query, row) if isinstance(query, ResidualSums) else 0
    y = clipped(row, clip.centres[j].tolist(), int(clip.radii[j]), clip.unit_limit, clip.norm)
    if isinstance(query, MeanSums):
        return dict(enumerate([*y, query.row] if isinstance(query, MeanAndCount) else y))
    if isinstance(query, SecondMoments):
        on, off = query.weights
        return dict(enumerate(y[i] * y[k] * (on if i == k else off) for i in range(d) for k in range(i, d)))
    width = d + query.with_counts
    return {j * width + i: value for i, value in enumerate([*y, clip.unit_limit][:width])}


@BOTH_DOMAINS
@EVERY_KIND
def test_the_statistic_equals_its_twin(kind, ball):
    @settings(max_examples=25)
    @given(cases(kind, ball=ball))
    def check(case):
        query, rows = case
        total = [0] * query.size
        for row in lattice(query.domain, rows).T.tolist():
            for place, value in twin(query, row).items():
                total[place] += value
        assert exact(query, rows) == total

    check()


@settings(max_examples=120)
@given(st.data(), st.booleans(), st.sampled_from(["l1", "l2"]), st.sampled_from([1, 2, 1000, 26_000, 2**20, 2**24]))
def test_clipped_rows_keep_the_norm_in_integers_and_lose_less_than_a_unit(data, ball, norm, unit_limit):
    domain = data.draw(domains(ball=ball))
    clip = Clip(domain, data.draw(points(domain, 1)), data.draw(radii(domain)), norm=norm, unit_limit=unit_limit)
    query = MeanSums(domain, clip.centres[0], 1.0)
    query.clip = clip
    columns = lattice(domain, data.draw(st.lists(one_row(query), min_size=1, max_size=6)))
    radius = int(clip.radii[0])
    for row, whole in zip(columns.T.tolist(), clip.residuals(columns).T.tolist(), strict=True):
        assert all(value == int(value) for value in whole)
        y = [int(value) for value in whole]
        assert (sum(v * v for v in y) <= unit_limit**2) if norm == "l2" else (sum(map(abs, y)) <= unit_limit)
        away = [x - c for x, c in zip(row, clip.centres[0].tolist(), strict=True)]
        length = math.hypot(*away) if norm == "l2" else sum(map(abs, away))
        assert length <= farthest(domain, clip.centres[0], norm=norm) * (1 + 1e-15)
        for a, v in zip(away, y, strict=True):
            ideal = abs(a) * unit_limit / max(length, radius)
            assert ideal - 1 - 1e-6 <= abs(v) <= ideal * (1 + 2**-50)
            assert v * a >= 0
