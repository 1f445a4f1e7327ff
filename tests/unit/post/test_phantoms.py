"""Boxes far from all others that noise alone may have made draw no centre; rows do, however few boxes they have."""

from __future__ import annotations

import numpy as np
import pytest

from covey.post.errors.boxes import CountedBoxes, laplace_variance
from covey.post.phantoms import CHANCE, TREE_CHANCE, _around, _expected, without_phantoms
from covey.post.random import public_rng

SIDE, SCALE, K = 64, 10.0, 2


def boxes(far: dict[tuple[int, int], float], *, certain: int = 8, clusters: int = 2) -> CountedBoxes:
    """Cells of a grid: clusters of heavy ones, `certain` each at most, and some light ones far away."""
    counts = np.zeros((SIDE, SIDE))
    for first in range(4, 4 + 8 * clusters, 8):
        heavy = counts[first : first + 3, 4:7]
        heavy.flat[:certain] = 2000.0
    for place, count in far.items():
        counts[place] = count
    axis = (2 * np.arange(SIDE) + 1) / SIDE - 1
    points = np.stack([each.ravel() for each in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    widths = np.full(points.shape, 2 / SIDE)
    return CountedBoxes.of_one_scale(points, widths, counts.ravel(), scale=SCALE, strictness=0.65)


def left_out(found: CountedBoxes, k: int = K, *, tree: bool = False) -> set[tuple[int, int]]:
    kept = without_phantoms(found, found.stands, k, public_rng(0), tree=tree)
    assert not (kept & ~found.stands).any()
    return {divmod(int(i), SIDE) for i in np.flatnonzero(found.stands & ~kept)}


def test_a_light_box_far_from_all_others_is_left_out_and_a_heavy_one_is_not():
    assert left_out(boxes({(60, 60): 90.0})) == {(60, 60)}
    assert left_out(boxes({(60, 60): 300.0})) == set()


def test_a_light_box_near_a_cluster_does_no_harm_and_stays():
    assert left_out(boxes({(8, 6): 90.0})) == set()


def test_light_boxes_side_by_side_are_rows():
    together = {(60, 60): 90.0, (60, 61): 90.0, (61, 60): 90.0, (61, 61): 90.0}
    assert left_out(boxes(together)) == set()
    apart = {(60, 60): 90.0, (60, 20): 90.0, (20, 60): 90.0, (40, 40): 90.0}
    assert left_out(boxes(apart)) == set(apart)


def test_with_few_certain_boxes_all_stay():
    assert left_out(boxes({(60, 60): 90.0}, certain=4)) == {(60, 60)}
    assert left_out(boxes({(60, 60): 90.0}, certain=3)) == set()


def test_with_more_all_stay_where_a_centre_can_be_spared():
    """Four clusters of three certain boxes each: four centres are needed, of five one is not, and may find rows."""
    found = boxes({(60, 60): 90.0}, certain=3, clusters=4)
    assert left_out(found, 4) == {(60, 60)}
    assert left_out(found, 5) == set()
    assert left_out(boxes({(60, 60): 90.0}, certain=8, clusters=4), 5) == {(60, 60)}


def test_of_a_tree_a_box_is_one_of_as_many_as_there_are():
    """Boxes that are far from all others, by how much noise alone would have in one of 4,096 leaves or of 60."""
    many = boxes({(60, 60): 95.0})
    few = many.some((many.counts > 0) | (np.arange(SIDE * SIDE) % 100 == 0))
    assert without_phantoms(few, few.stands, K, public_rng(0)).sum() < few.stands.sum()
    assert without_phantoms(few, few.stands, K, public_rng(0), tree=True).sum() == few.stands.sum()
    assert left_out(many, tree=True) == {(60, 60)}
    assert _expected(np.array([95.0]), np.array([laplace_variance(SCALE)]), 60, scale=SCALE)[0] < TREE_CHANCE


def test_of_a_tree_all_stay_with_fewer_than_four_certain_boxes_for_each_centre():
    found = boxes({(60, 60): 90.0}, certain=3, clusters=4)
    assert left_out(found, 4) == {(60, 60)}
    assert left_out(found, 4, tree=True) == set()
    assert left_out(found, 3, tree=True) == {(60, 60)}


def test_what_is_around_counts_the_sizes_that_were_looked_at():
    """Two light boxes beside each other: for a single size of wider boxes they would be rows, for six they are not."""
    found = boxes({(60, 60): 84.0, (61, 61): 84.0})
    assert left_out(found) == {(60, 60), (61, 61)}
    once = _around(found, np.zeros(len(found.counts), dtype=np.bool_)) / 6
    assert once[61 * SIDE + 61] < CHANCE


@pytest.mark.parametrize("cells", [1, 4, 16, 64])
def test_as_many_empty_boxes_stand_out_as_expected(cells: int):
    """Sums of Laplace noise, 200,000 of them: where 200 and 20 of them are above, the formula says about as many."""
    many = 200_000
    sums = np.random.default_rng(cells).laplace(0, SCALE, (cells, many)).sum(axis=0)
    variance = np.array([cells * laplace_variance(SCALE)])
    for above in (200, 20):
        height = np.array([np.sort(sums)[-above]])
        assert 0.4 * above <= _expected(height, variance, many, scale=SCALE)[0] <= 2.5 * above


def test_noise_alone_is_seldom_certain():
    """Of 40 grids of empty cells, CHANCE x 40 are expected to have a certain one: three are no chance."""
    noise = np.random.default_rng(5).laplace(0, SCALE, (40, SIDE * SIDE)).max(axis=1)
    variance = np.full(40, laplace_variance(SCALE))
    assert (_expected(noise, variance, float(SIDE * SIDE), scale=SCALE) < CHANCE).sum() < 3
