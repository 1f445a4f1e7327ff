"""The queries of clipped residuals and distances: bounds that are attained, units fine enough for the noise, edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from covey.audit.likelihood import by_block
from covey.errors import ParameterError
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace
from covey.noise.source import SeededSource
from covey.public import Domain, Neighbours, resolve_bounds
from covey.queries.clipping import Clip, farthest
from covey.queries.moments import MeanAndCount, MeanSums, SecondMoments, Variances
from covey.queries.norms import NormCounts
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def domain_of(d: int, *, ball: bool = False) -> Domain:
    return Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=ball)


def total(query, *rows) -> np.ndarray:
    """The exact statistic of rows given in lattice units."""
    columns = np.array(rows, dtype=np.int32).reshape(len(rows), query.domain.dimension).T
    out = np.zeros(query.size, dtype=np.int64)
    query.accumulate(columns, out)
    return out.astype(object)  # Python's integers: squares do not overflow


def assert_reaches(
    change, bound, *, l1: float = 0.0, l2: float = 0.0, linf: float = 0.0, coordinates: int = 0, blocks: float = 0.0
) -> None:
    """The change keeps to the bound, and reaches these shares of it."""
    sizes = [abs(int(c)) for c in change]
    assert l1 * bound.l1 <= sum(sizes) <= bound.l1
    assert l2**2 * bound.l2_squared <= sum(s * s for s in sizes) <= bound.l2_squared
    assert linf * bound.linf <= max(sizes) <= bound.linf
    assert coordinates <= sum(s > 0 for s in sizes) <= bound.coordinates
    assert blocks * bound.l2_by_block <= by_block(sizes, [0] * len(sizes), bound.block) <= bound.l2_by_block


def axis(d: int, j: int, length: int) -> np.ndarray:
    row = np.zeros(d, dtype=np.int64)
    row[j] = length
    return row


@pytest.mark.parametrize("d", [1, 2, 3, 6, 50, 784])
def test_sums_attain_their_bounds(d):
    domain = domain_of(d)
    limit, end, corner = domain.limit, axis(d, 0, domain.limit), np.full(d, domain.limit)
    l2, l1 = MeanSums(domain, np.zeros(d), limit), MeanSums(domain, np.zeros(d), limit, norm="l1")
    for query in (l2, l1):
        assert_reaches(total(query, end), query.sensitivity(ADD), l2=1, linf=1, blocks=1)
        assert_reaches(total(query, end) - total(query, -end), query.sensitivity(REPLACE), l2=1, linf=1, blocks=1)
        assert_reaches(total(query, corner), query.sensitivity(ADD), l1=0.999, coordinates=d)
        assert_reaches(total(query, corner) - total(query, -corner), query.sensitivity(REPLACE), l1=0.999)
    assert l1.sensitivity(ADD).l1 == l1.clip.unit_limit  # no √d
    assert l2.sensitivity(ADD).l2_squared == 2**48


@pytest.mark.parametrize("unit_limit", [2**24, 1000, 1])
@pytest.mark.parametrize("d", [1, 2, 6, 50])
def test_sums_with_the_number_of_rows_attain_their_bounds(d, unit_limit):
    """One row moves the sums by their radius and the number by 3/8 of that, at once and in one vector."""
    domain = domain_of(d)
    limit, end = domain.limit, axis(d, 0, domain.limit)
    query = MeanAndCount(domain, np.zeros(d), limit, unit_limit=unit_limit)
    added, bound = total(query, end), query.sensitivity(ADD)
    assert_reaches(added, bound, l2=1, linf=1, blocks=1 - 1e-3 if unit_limit > 1 else 0.7)
    assert_reaches(total(query, np.full(d, limit)), bound, l1=0.99 if unit_limit > 1 else 0, coordinates=1)
    assert_reaches(added - total(query, -end), query.sensitivity(REPLACE), l2=1, linf=1, blocks=1)
    assert (query.size, bound.block) == (d + 1, d + 1)
    assert bound.l2_squared == unit_limit**2 + query.row**2
    several = total(query, end, end, -end)
    assert query.count(several) == 3
    assert query.shift(several) == pytest.approx(end)
    assert query.row == max(1, 3 * unit_limit // 8)


@pytest.mark.parametrize("d", [2, 3, 6, 50])
def test_second_moments_attain_their_bounds(d):
    domain = domain_of(d)
    limit = domain.limit
    query = SecondMoments(domain, np.zeros(d), limit)
    corner, pair, other = (
        np.full(d, limit),
        axis(d, 0, limit) + axis(d, 1, limit),
        axis(d, 0, limit) - axis(d, 1, limit),
    )
    assert_reaches(total(query, corner), query.sensitivity(ADD), l1=0.99, l2=0.99, coordinates=query.size)
    assert_reaches(total(query, axis(d, 1, limit)), query.sensitivity(ADD), l2=0.99, linf=1)
    # Orthogonal rows: √2 times the bound of one row, and not 2 times.
    assert_reaches(total(query, pair) - total(query, other), query.sensitivity(REPLACE), l2=0.999, linf=0.999)
    assert query.sensitivity(REPLACE).l2_squared == 2 * query.sensitivity(ADD).l2_squared
    query = SecondMoments(domain, np.zeros(d), limit, norm="l1")
    first, second = total(query, axis(d, 0, limit)), total(query, axis(d, 1, limit))
    assert_reaches(first, query.sensitivity(ADD), l1=1, l2=1, linf=1)
    assert_reaches(total(query, corner), query.sensitivity(ADD), l1=0.99, coordinates=query.size)
    assert_reaches(first - second, query.sensitivity(REPLACE), l1=1, l2=1, linf=1)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_second_moments_of_one_column(norm):
    query = SecondMoments(domain_of(1), [0.0], 5.0, norm=norm)
    for relation in Neighbours:
        assert_reaches(total(query, [5]) - total(query, [0]), query.sensitivity(relation), l1=1, l2=1, linf=1)


def test_the_weights_12_and_17_are_worth_it():
    """Off the diagonal the noise is 1/√2 of that on it, within 0.2 %; with 5 and 7 the loss would be 1 %."""
    bound = math.sqrt(SecondMoments(domain_of(9), np.zeros(9), 1).sensitivity(ADD).l2_squared) / 26_000**2
    assert 1 <= bound / 12 < 1.002
    assert bound / 17 == pytest.approx(math.sqrt(0.5), rel=1e-12)


@pytest.mark.parametrize("with_counts", [False, True])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("d", [1, 2, 6, 50])
def test_residuals_attain_their_bounds(d, norm, with_counts):
    domain = domain_of(d)
    near, far = axis(d, 0, domain.limit // 2), axis(d, 0, -(domain.limit // 2))
    query = ResidualSums(domain, [near, far], [100, 7], norm=norm, with_counts=with_counts)
    ends = [near + axis(d, 0, 100), near - axis(d, 0, 100), near + 5000, far - 5000]
    assert_reaches(total(query, ends[0]), query.sensitivity(ADD), l2=1, linf=1, blocks=1 - 1e-6)
    assert_reaches(total(query, ends[3]), query.sensitivity(ADD), l1=0.999, coordinates=d + with_counts)
    within, across = total(query, ends[0]) - total(query, ends[1]), total(query, ends[2]) - total(query, ends[3])
    bound = query.sensitivity(REPLACE)
    assert_reaches(within, bound, l2=1, linf=1)
    assert_reaches(across, bound, l1=0.999, coordinates=bound.coordinates)
    apart = total(query, ends[0]) - total(query, far + axis(d, 0, 7))
    assert_reaches(apart, bound, blocks=1 - 1e-6)  # two lengths, one after the other: more than the length of both
    assert (bound.block, query.sensitivity(ADD).block) == (d + with_counts, d + with_counts)
    alone = ResidualSums(domain, [near], 100, norm=norm, with_counts=with_counts)
    assert_reaches(
        total(alone, ends[0]) - total(alone, ends[1]), alone.sensitivity(REPLACE), l2=1, coordinates=1, blocks=1
    )


def test_counts_by_distance_attain_their_bounds():
    d = 5
    domain = domain_of(d)
    corner, middle = np.full(d, domain.limit), np.zeros(d, dtype=int)
    query = NormCounts(domain, middle, [3, 9], unit=4)
    assert_reaches(total(query, corner), query.sensitivity(ADD), l1=1, l2=1, linf=1)
    assert query.sensitivity(ADD).monotone
    assert_reaches(total(query, corner) - total(query, middle), query.sensitivity(REPLACE), l1=1, l2=1, linf=1)
    assert not query.sensitivity(REPLACE).monotone


def test_a_bound_that_is_too_small_is_caught():
    query = MeanSums(domain_of(2), [0, 0], 10)
    bound = query.sensitivity(ADD)
    small = type(bound)(l1=bound.l1, l2_squared=bound.l2_squared - 1, linf=bound.linf, coordinates=bound.coordinates)
    with pytest.raises(AssertionError):
        assert_reaches(total(query, [10, 0]), small)


# Units and noise.


def big_queries():
    wide = domain_of(784)
    yield MeanSums(wide, np.zeros(784), 1e5)
    yield SecondMoments(wide, np.zeros(784), 1e5)
    yield ResidualSums(wide, np.zeros((64, 784)), 1e5, with_counts=True)
    yield ResidualSums(domain_of(2), np.zeros((1, 2)), 1)
    yield MeanSums(domain_of(1), [0], 1)
    yield SecondMoments(domain_of(1), [0], 1)
    yield NormCounts(wide, np.zeros(784), np.arange(25) + 1.0, unit=2**20)


@pytest.mark.parametrize("query", list(big_queries()), ids=lambda query: f"{type(query).__name__}-{query.size}")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_gaussian_noise_accepts_the_units_down_to_a_multiplier_of_three_tenths(query, relation):
    bound, zeros = query.sensitivity(relation), np.zeros(query.size, dtype=np.int64)
    noisy = DiscreteGaussian(Fraction(3, 10)).add(zeros, bound, SeededSource(1))
    assert noisy.shape == zeros.shape
    DiscreteGaussian(Fraction(1000)).add(zeros[:5], bound, SeededSource(1))
    DiscreteLaplace(Fraction(1, 1000)).check(bound)


def test_counts_in_whole_rows_are_too_coarse_for_gaussian_noise():
    query = NormCounts(domain_of(2), [0, 0], [1.0])
    with pytest.raises(ParameterError, match="finer units"):
        DiscreteGaussian(Fraction(3, 10)).add(np.zeros(2, dtype=np.int64), query.sensitivity(ADD), SeededSource(1))


def test_a_billion_rows_do_not_overflow():
    for query in big_queries():
        assert query.sensitivity(ADD).linf * 2**30 < 2**63
    l1 = SecondMoments(domain_of(3), np.zeros(3), 9, norm="l1")
    assert l1.sensitivity(ADD).linf * 2**30 < 2**63
    for query in (SecondMoments(domain_of(1), [0], 1), l1):  # and a block's floats stay exact
        assert query.clip.unit_limit**2 * query.rows_at_once <= 2**53


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_wide_tables_are_exact(norm):
    """784 columns and rows at the largest residual: float products against int64 ones."""
    domain = domain_of(784)
    rng = np.random.default_rng(5)
    rows = rng.integers(-domain.limit, domain.limit + 1, (784, 300)).astype(np.int32)
    rows[:, :100] = np.where(rng.random((784, 100)) < 0.5, domain.limit, -domain.limit)
    query = SecondMoments(domain, np.full(784, domain.limit), np.inf, norm=norm)
    y = query.clip.residuals(rows).astype(np.int64)
    norms = np.abs(y).sum(axis=0) if norm == "l1" else np.sqrt((y * y).sum(axis=0))
    assert norms.max() <= query.clip.unit_limit
    line, column = np.triu_indices(784)
    expected = (y @ y.T)[line, column] * np.where(line == column, *query.weights)
    out = np.zeros(query.size, dtype=np.int64)
    query.accumulate(rows, out)
    assert np.array_equal(out, expected)
    sums = ResidualSums(domain, rng.uniform(-1e6, 1e6, (10, 784)), 1e6, norm=norm)
    label, out = sums.labels(rows), np.zeros(sums.size, dtype=np.int64)
    sums.accumulate(rows, out)
    y = sums.clip.residuals(rows, label).astype(np.int64)
    assert np.array_equal(out.reshape(10, 784), np.stack([y[:, label == j].sum(axis=1) for j in range(10)]))


# What the released numbers mean.


def test_moments_mean_what_they_say():
    domain = domain_of(4)
    rng = np.random.default_rng(2)
    rows = rng.normal(0, domain.limit / 20, (4, 5000)) * np.array([[1], [2], [3], [0.1]])
    rows = rows.astype(np.int32)
    centre = np.full(4, 1000)
    away = rows.T - centre
    for norm in ("l1", "l2"):
        mean, second = (made(domain, centre, np.inf, norm=norm) for made in (MeanSums, SecondMoments))
        step = second.clip.units[0]
        assert np.allclose(mean.shift(total(mean, *rows.T)) / 5000, away.mean(axis=0), atol=mean.clip.units[0])
        matrix = second.matrix(total(second, *rows.T).astype(np.int64))
        assert np.array_equal(matrix, matrix.T)
        assert np.allclose(matrix / 5000, away.T @ away / 5000, atol=2 * step * np.abs(away).mean())


def test_residuals_move_centres_to_the_means_of_their_rows():
    domain = domain_of(3)
    rng = np.random.default_rng(4)
    middles = np.array([[0.5, 0.5, 0], [-0.5, 0.2, 0.3], [0, -0.6, -0.2]]) * domain.limit
    rows = (np.repeat(middles, 50, axis=0) + rng.normal(0, 0.02 * domain.limit, (150, 3))).astype(np.int32)
    centres = middles + 0.05 * domain.limit
    for radius in (np.inf, [0.3 * domain.limit, 0.4 * domain.limit, domain.limit]):
        query = ResidualSums(domain, centres, radius, with_counts=True)
        noisy = total(query, *rows).astype(np.int64)
        assert query.counts(noisy).tolist() == [50, 50, 50]
        found = query.centres + query.shifts(noisy) / query.counts(noisy)[:, None]
        assert np.allclose(found, rows.reshape(3, 50, 3).mean(axis=1), atol=query.clip.units.max())
    with pytest.raises(ParameterError, match="without counts"):
        ResidualSums(domain, centres, 1.0).counts(noisy)


def test_a_projection_judges_by_distance_and_not_by_its_box():
    """Lines of very different half-widths: scaled to its own box, the narrow second line would decide."""
    domain = domain_of(3)
    unit, limit = Projection.unit(domain), domain.limit
    projection = Projection(
        np.array([[unit, 0, 0], [0, unit, 0]]), np.zeros(3), np.array([unit * limit, unit * 10]), domain
    )
    far = limit // 2
    query = ResidualSums(domain, [[far, 0, 0], [0, 50, far]], far, projection=projection)
    rows = np.array([[far, 60, 0], [0, 0, -far], [far // 2 + 999, 50, limit]], dtype=np.int32).T
    assert query.labels(rows).tolist() == [0, 1, 0]
    assert ResidualSums(domain, query.centres, far).labels(rows).tolist() == [0, 0, 1]
    narrow = projection.apply(rows)[1]
    assert narrow[0] == projection.target.limit  # where the box itself would have clipped
    with pytest.raises(ParameterError, match="same domain"):
        ResidualSums(domain_of(3, ball=True), [[0, 0, 0]], 1, projection=projection)


def test_counts_by_distance_mean_what_they_say():
    domain = domain_of(2)
    query = NormCounts(domain, [1, 1], [0, 5, 5.5], unit=7)
    rows = [[1, 1], [4, 5], [4, 6], [1, 1], [6, 2]]  # distances 0, 5, √34, 0, √26
    out = total(query, *rows).astype(np.int64)
    assert query.counts(out).tolist() == [2, 1, 1, 1]
    assert query.within(out).tolist() == [2, 3, 4]


# Radii and refusals.


def test_a_radius_is_whole_and_within_reach():
    box, ball = domain_of(4), domain_of(4, ball=True)
    limit = box.limit
    assert Clip(box, np.zeros((1, 4)), 0.01).radii.tolist() == [1]
    assert Clip(box, np.zeros((1, 4)), np.inf).radii.tolist() == [2 * limit]
    assert Clip(box, np.full((1, 4), limit), np.inf).radii.tolist() == [4 * limit]
    assert Clip(box, np.full((1, 4), limit), np.inf, norm="l1").radii.tolist() == [8 * limit]
    assert farthest(ball, np.zeros(4, dtype=np.int64)) == limit + 1
    assert Clip(ball, np.zeros((1, 4)), np.inf, norm="l1").radii.tolist() == [2 * limit]
    assert Clip(box, np.zeros((2, 4)), [3.4, 1e300]).radii.tolist() == [3, 2 * limit]


def test_a_row_one_step_away_fills_a_radius_of_one_step():
    query = MeanSums(domain_of(3), [5, 5, 5], 1)
    assert total(query, [6, 5, 5]).tolist() == [2**24, 0, 0]
    assert total(query, [5, 5, 5]).tolist() == [0, 0, 0]
    assert total(query, [5, -900, 5]).tolist() == [0, -(2**24), 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda box: MeanSums(box, [0, 0], 0),
        lambda box: MeanSums(box, [0, 0], math.nan),
        lambda box: MeanSums(box, [0, 0], [1, 2]),
        lambda box: MeanSums(box, [0, 0, 0], 1),
        lambda box: SecondMoments(box, [0, 0], 1, norm="l3"),
        lambda box: Clip(box, [[0, 0]], 1, unit_limit=2**25),
        lambda box: Clip(box, [[0, 0, 0]], 1),
        lambda box: ResidualSums(box, [[0, 0], [1, 1]], [1, 2, 3]),
        lambda box: ResidualSums(box, [[0, 0], [1, 1]], [1, -2]),
        lambda box: NormCounts(box, [0, 0], []),
        lambda box: NormCounts(box, [0, 0], [2, 1]),
        lambda box: NormCounts(box, [0, 0], [1, math.inf]),
        lambda box: NormCounts(box, [0, 0], [1], unit=0),
        lambda box: NormCounts(box, [0], [1]),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(ParameterError):
        make(domain_of(2))


@pytest.mark.parametrize("kind", [MeanSums, Variances, SecondMoments])
@pytest.mark.parametrize("unit_limit", [1, 3, 101, 1625, 26_000])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_coarser_units_keep_the_sensitivity(kind, unit_limit, d):
    domain = resolve_bounds((-1, 1), names=None, width=d)
    rng, limit = np.random.default_rng(d), domain.limit
    rows = np.concatenate([rng.integers(-limit, limit + 1, (d, 30)), np.eye(d) * limit, -np.eye(d) * limit], axis=1)
    rows = np.concatenate([rows, rng.choice([-limit, limit], (d, 20)), np.zeros((d, 1))], axis=1).astype(np.int32)
    query = kind(domain, np.zeros(d), limit / 3, unit_limit=unit_limit)
    assert query.clip.unit_limit == unit_limit
    alone = np.zeros((rows.shape[1], query.size), dtype=np.int64)
    for i, out in enumerate(alone):
        query.accumulate(rows[:, [i]], out)
    apart = (alone[:, None] - alone).reshape(-1, query.size)
    for neighbours, moves in ((ADD, alone), (REPLACE, apart)):
        bound = query.sensitivity(neighbours)
        moves = moves.astype(object)
        assert max(np.abs(moves).sum(axis=1)) <= bound.l1
        assert max((moves * moves).sum(axis=1)) <= bound.l2_squared
        assert np.abs(moves).max() <= bound.linf
