"""Where zones are: membership is total, deterministic and the same in every batch; keys match cells and zones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import FormatError, ParameterError
from covey.fit.zones import Zones, read_zones
from covey.geo.areas import BORDER
from covey.geo.geojson import Region, inside
from covey.private.lattice import to_lattice
from covey.public import Box, Domain, Neighbours, resolve_bounds
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid
from covey.queries.projection import Projection
from covey.queries.residuals import ResidualSums
from covey.queries.tree import Nodes, Tree, TreeLeaves
from covey.queries.voronoi import VoronoiSums
from covey.queries.zoned import ByZone, OfImages, ZonedCells, ZonedLeaves

DOMAIN = resolve_bounds(Box((-2, 2), (-1, 1)), names=None, width=2)
places = st.integers(-30, 30).map(lambda x: x / 10)
corners = st.tuples(places, places)


def is_taken(rings):
    try:
        return bool(Region.read({"type": "Polygon", "coordinates": rings}).polygons)
    except FormatError:
        return False


def in_order(ring):
    """Around their middle, so that most rings do not cross themselves."""
    x, y = (sum(each) / len(ring) for each in zip(*ring, strict=True))
    return sorted(ring, key=lambda corner: math.atan2(corner[1] - y, corner[0] - x))


rings = st.lists(corners, min_size=3, max_size=7, unique=True).map(in_order)
small = st.tuples(corners, st.integers(1, 3)).map(
    lambda at: [(at[0][0] + x * at[1] / 10, at[0][1] + y * at[1] / 10) for x, y in ((0, 0), (1, 0), (0, 1))]
)
polygons = st.one_of(rings.map(lambda ring: [ring]), st.tuples(rings, small).map(list)).filter(is_taken)
epsilons = st.sampled_from([0.1, 0.2, 0.5])


def feature(polygons, epsilon):
    geometry = {"type": "MultiPolygon", "coordinates": [[[list(c) for c in ring] for ring in p] for p in polygons]}
    return {"type": "Feature", "properties": {"epsilon": epsilon}, "geometry": geometry}


features = st.builds(feature, st.lists(polygons, min_size=1, max_size=2), epsilons)
documents = st.lists(features, min_size=1, max_size=4).map(lambda f: {"type": "FeatureCollection", "features": f})


def rows_near(regions, seed):
    """Lattice rows anywhere, on corners, and one or two steps beside edges."""
    rng = np.random.default_rng(seed)
    limit = DOMAIN.limit
    anywhere = rng.integers(-limit, limit + 1, (2, 200))
    edges = np.concatenate([e for area in regions.areas for e in area.polygons])
    share = rng.random(len(edges))[:, None]
    on = edges[:, :2] + share * (edges[:, 2:] - edges[:, :2])
    beside = np.concatenate([on, edges[:, :2], on + rng.integers(-2, 3, on.shape)]).T
    coarse = np.rint(rng.integers(-30, 31, (2, 50)) / 10 / np.array([[2], [1]]) * limit)
    return np.clip(np.rint(np.concatenate([anywhere, beside, coarse], axis=1)), -limit, limit).astype(np.int32)


def plainly(area, rows):
    """Without tables: every row against every edge."""
    points = rows.T.astype(np.float64)
    return np.any([inside(points, edges, near=BORDER) for edges in area.polygons], axis=0)


@settings(max_examples=20, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_the_table_answers_as_the_edges_do_and_the_strictest_zone_wins(document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows = rows_near(regions, seed)
    number = regions.index(rows)
    expected = np.zeros(rows.shape[1], dtype=int)
    for i in range(len(regions.areas), 0, -1):
        expected[plainly(regions.areas[i - 1], rows)] = i
    assert np.array_equal(number, expected)
    epsilon = [area.epsilon for area in regions.areas]
    assert epsilon == sorted(epsilon)


@settings(max_examples=8, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_a_row_is_where_it_is_in_every_batch(document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows = rows_near(regions, seed)
    together = regions.index(rows)
    order = np.random.default_rng(seed).permutation(rows.shape[1])
    assert np.array_equal(regions.index(np.ascontiguousarray(rows[:, order])), together[order])
    assert [regions.index(rows[:, i : i + 1])[0] for i in range(0, rows.shape[1], 29)] == together[::29].tolist()


@settings(max_examples=20, deadline=None)
@given(documents, st.integers(0, 2**32), st.sampled_from([1, 2, 8, 64]))
def test_every_row_counts_with_its_own_cell_and_zone(document, seed, per_axis):
    regions = Zones.read(document).on(DOMAIN)
    rows = rows_near(regions, seed)
    query = ZonedCells.of(DOMAIN, per_axis, regions)
    cell, zone = query.grid.index(rows), regions.index(rows)
    key = query.keys[zone.astype(np.int64) * query.grid.cells + cell]
    assert np.array_equal(query.cell_of[key], cell)
    assert np.array_equal(query.zone_of[key], zone)
    assert np.array_equal(np.unique(query.cell_of), np.arange(query.grid.cells))


@settings(max_examples=8, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_one_row_more_is_one_count_more(document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows = rows_near(regions, seed)
    query = ZonedCells.of(DOMAIN, 8, regions)
    less, more = (np.zeros(query.size, dtype=np.int64) for _ in range(2))
    query.accumulate(np.ascontiguousarray(rows[:, 1:]), less)
    query.accumulate(rows, more)
    known = query.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(more - less).sum() == known.l1 == 1
    assert more.sum() == rows.shape[1]


def corners_about(rows, seed):
    """Boxes of any size, each of which holds the row at its place."""
    rng = np.random.default_rng(seed)
    size = DOMAIN.limit * 2.0 ** -rng.integers(0, 24, rows.shape[1])
    at = rng.random(rows.shape)
    lower = rows - size * at
    return np.maximum(lower, -DOMAIN.limit - 0.5).T, np.minimum(lower + size, DOMAIN.limit + 0.5).T


@settings(max_examples=20, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_a_row_has_a_number_that_is_possible_in_every_box_about_it(document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows = rows_near(regions, seed)
    lower, upper = corners_about(rows, seed)
    possible = regions.possible_in(lower, upper)
    assert possible[regions.index(rows), np.arange(rows.shape[1])].all()
    assert possible.any(axis=0).all()


def test_boxes_that_no_border_comes_near_have_one_number():
    regions = Zones.read([(Box((-1, 0), (-1, 0)), 0.1)]).on(DOMAIN)
    unit = DOMAIN.limit / np.array(DOMAIN.half)
    lower = np.array([[-0.9, -0.8], [0.5, 0.2], [-0.5, -0.5]])
    possible = regions.possible_in(lower * unit, (lower + np.array([0.3, 0.6])) * unit)
    assert possible.T.tolist() == [[False, True], [True, False], [True, True]]


CENTRES = np.array([[-0.5, 0.0], [0.5, 0.0], [0.9, 0.9]]) * DOMAIN.limit
LINE = Projection(np.array([[3, -2]]), np.array([7, -9]), np.array([2 * DOMAIN.limit]), DOMAIN)  # clips at its ends
SUMS = {
    "clusters": VoronoiSums(CENTRES, DOMAIN),
    "residuals": ResidualSums(DOMAIN, CENTRES, DOMAIN.limit / 3),
    "residuals and counts": ResidualSums(DOMAIN, CENTRES, DOMAIN.limit / 3, projection=LINE, with_counts=True),
    "images": OfImages(CellCounts(Grid(LINE.target, 8)), LINE),
}


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("name", SUMS)
@settings(max_examples=8, deadline=None)
@given(document=documents, seed=st.integers(0, 2**32))
def test_by_zone_one_row_changes_no_more_than_is_declared(name, neighbours, document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows, query = rows_near(regions, seed), ByZone(SUMS[name], regions)
    declared = query.sensitivity(neighbours)

    def of(row):
        out = np.zeros(query.size, dtype=np.int64)
        query.accumulate(np.ascontiguousarray(row[:, None]), out)
        return out

    for row, other in zip(rows.T, rows.T[::-1], strict=True):
        change = of(row) - (of(other) if neighbours is Neighbours.REPLACE_ONE else 0)
        assert np.abs(change).sum() <= declared.l1
        assert np.square(change).sum() <= declared.l2_squared
        assert np.abs(change).max() <= declared.linf
        assert np.count_nonzero(change) <= declared.coordinates
        if neighbours is Neighbours.ADD_REMOVE and declared.block:
            lengths = np.sqrt(np.square(change.reshape(-1, declared.block).astype(float)).sum(axis=1))
            assert lengths.sum() <= declared.l2_by_block


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(sorted(SUMS)), documents, st.integers(0, 2**32))
def test_by_zone_is_the_statistic_of_each_zones_rows(name, document, seed):
    regions = Zones.read(document).on(DOMAIN)
    rows, inner = rows_near(regions, seed), SUMS[name]
    found = np.zeros(ByZone(inner, regions).size, dtype=np.int64)
    for part in np.array_split(rows, 3, axis=1):  # batches do not show
        ByZone(inner, regions).accumulate(np.ascontiguousarray(part), found)
    expected = []
    for number in range(len(regions.areas) + 1):
        block = np.zeros(inner.size, dtype=np.int64)
        for row in rows.T[regions.index(rows) == number]:
            inner.accumulate(row[:, None].copy(), block)
        expected.append(block)
    assert np.array_equal(found, np.concatenate(expected))


@settings(max_examples=8, deadline=None)
@given(documents, st.booleans())
def test_spots_lie_in_the_domain_and_in_every_zone_that_is_not_a_sliver(document, ball):
    domain = Domain(DOMAIN.middle, DOMAIN.half if not ball else (2.0, 2.0), ball=ball)
    regions = Zones.read(document).on(domain)
    spots = regions.spots().astype(np.int64)
    edge = np.square(spots).sum(axis=0) <= domain.limit**2 if ball else np.abs(spots).max(axis=0) <= domain.limit
    assert edge.all()
    anywhere = np.random.default_rng(1).integers(-domain.limit, domain.limit, (2, 4000)).astype(np.int32)
    wide = np.flatnonzero(np.bincount(regions.index(anywhere)) > 200)
    assert ball or set(wide.tolist()) <= set(regions.index(spots.astype(np.int32)).tolist())


@settings(max_examples=8, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_leaves_are_counted_by_zone_as_each_zones_rows_are(document, seed):
    """Of all pairs, those that are possible have all rows."""
    regions, tree = Zones.read(document).on(DOMAIN), Tree(DOMAIN)
    rows = rows_near(regions, seed)
    depths, keys = np.array([1, 2, 9, 9, 8, 7, 6, 5, 4, 3]), np.array([1, 0, 128, 129, 65, 33, 17, 9, 5, 3])
    leaves = TreeLeaves(tree, Nodes(depths, keys))
    possible = regions.possible_in(*tree.boxes(leaves.leaves))
    query, every = ZonedLeaves(leaves, regions, possible), ByZone(leaves, regions)
    found, expected = np.zeros(query.size, dtype=np.int64), np.zeros(every.size, dtype=np.int64)
    for part in np.array_split(rows, 3, axis=1):
        query.accumulate(np.ascontiguousarray(part), found)
        every.accumulate(np.ascontiguousarray(part), expected)
    assert np.array_equal(found, expected[possible.ravel()])
    assert found.sum() == rows.shape[1]


boxes = st.builds(
    lambda x, y, w, h: Box((x, x + w), (y, y + h)),
    places,
    places,
    st.integers(1, 20).map(lambda v: v / 10),
    st.just(0.3),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(boxes, epsilons), min_size=1, max_size=3), st.integers(0, 2**32))
def test_boxes_hold_what_lies_between_their_ends(pairs, seed):
    regions = Zones.read(pairs).on(DOMAIN)
    rows = np.random.default_rng(seed).integers(-DOMAIN.limit, DOMAIN.limit + 1, (2, 300)).astype(np.int32)
    points = DOMAIN.from_lattice(rows.T)
    number = regions.index(rows)
    query = ZonedCells.of(DOMAIN, 16, regions)
    key = query.keys[number.astype(np.int64) * query.grid.cells + query.grid.index(rows)]
    assert np.array_equal(query.zone_of[key], number)
    steps = (BORDER + 1) * np.array(DOMAIN.half) / DOMAIN.limit  # so near to an end, a row may count on either side
    ends = np.array([end for box, _ in pairs for end in zip(*box.ranges, strict=True)])
    for point, found in zip(points, number, strict=True):
        if (np.abs(ends - point) <= steps).any():
            continue
        holding = [e for box, e in pairs if all(a <= x <= b for x, (a, b) in zip(point, box.ranges, strict=True))]
        strictest = Fraction(str(min(holding))) if holding else None
        assert (regions.areas[found - 1].epsilon if found else None) == strictest


wild = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=10, deadline=None)
@given(documents, st.lists(st.tuples(wild, wild), min_size=1, max_size=20))
def test_no_row_makes_it_raise(document, rows):
    regions = Zones.read(document).on(DOMAIN)
    lattice = to_lattice(np.array(rows).T.copy(), DOMAIN)
    assert set(regions.index(lattice)) <= set(range(len(regions.areas) + 1))


@settings(max_examples=60, deadline=None)
@given(documents, st.integers(0, 2**32))
def test_zones_are_taken_if_rows_can_have_each_of_their_promises_and_only_then(document, seed):
    """Rows that are thrown at zones find no promise that the search for rows did not find."""
    zones = Zones.read(document)
    regions = zones.on(DOMAIN)
    seen = regions.index(np.concatenate([rows_near(regions, seed), rows_near(regions, seed + 1)], axis=1))
    found = list(zones.witnesses(regions))
    kinds = {area.epsilon: i for i, area in enumerate(regions.areas, start=1)}
    numbers = [*(kinds[zone.epsilon] for zone in zones.zones), 0]
    for row, number in zip(found, numbers, strict=True):
        if row is not None:
            assert regions.index(to_lattice(row[:, None], DOMAIN)).tolist() == [number]
            assert (np.abs(row) <= np.array(DOMAIN.half) * (1 + 1e-12)).all()
    assert set(seen.tolist()) <= {n for n, row in zip(numbers, found, strict=True) if row is not None}
    try:
        read_zones(document, epsilon=Fraction(1), domain=DOMAIN)
    except ParameterError:
        assert any(row is None for row in found)
    else:
        assert all(row is not None for row in found)


def test_spots_lie_in_a_strip_that_none_of_many_points_falls_into():
    """A road: without them its rows would be left out of clusters, unless they stood out of the noise."""
    ring = [[-2, -0.9], [2, 0.9], [2, 0.90001], [-2, -0.89999], [-2, -0.9]]
    strip = {"type": "Polygon", "coordinates": [ring]}
    regions = Zones.read({"type": "Feature", "properties": {"epsilon": 0.1}, "geometry": strip}).on(DOMAIN)
    spots = regions.spots()
    there = spots[0, regions.index(spots) == 1] / DOMAIN.limit
    assert np.histogram(there, bins=20, range=(-1, 1))[0].min() > 50
