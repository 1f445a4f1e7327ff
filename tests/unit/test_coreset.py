"""A synopsis that was released once answers for ever: clustered again, queried, sampled."""

import numpy as np
import pytest

from covey import Box, Coreset, KMeans, ParameterError, Release

BOX = Box(lon=(-2, 2), lat=(0, 8))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    middles = np.array([[-1.0, 2.0], [1.0, 2.0], [0.0, 6.0]])
    return middles[rng.integers(0, 3, 40_000)] + rng.normal(0, [0.1, 0.4], (40_000, 2))


@pytest.fixture(scope="module")
def release(rows):
    model = KMeans(3, epsilon=2, bounds=BOX, algorithm="grid", algorithm_params={"keep_synopsis": True}, random_state=1)
    return model.fit(rows).release_


def test_the_synopsis_survives_the_file(release, tmp_path):
    release.save(tmp_path / "release.json")
    again = Release.load(tmp_path / "release.json")
    assert again == release
    assert (Coreset.of(again).weights == Coreset.of(release).weights).all()


def test_points_are_the_middles_of_the_cells_in_the_order_of_the_counts(release):
    coreset = Coreset.of(release)
    m = release.synopsis.cells_per_axis
    assert len(coreset) == m * m
    assert coreset.points[0] == pytest.approx([-2 + 2 / m, 4 / m])
    assert coreset.points[1] == pytest.approx([-2 + 2 / m, 12 / m])  # the last column comes fastest
    assert coreset.cell == pytest.approx([4 / m, 8 / m])


def test_cost_agrees_with_the_rows_and_with_a_plain_sum(release, rows):
    coreset = Coreset.of(release)
    centres = np.array([[-1.0, 2.0], [0.5, 5.0]])
    scale = np.array([2.0, 4.0])
    for objective, power in (("k-means", 2), ("k-median", 1)):

        def plain(points, weights, power=power):
            far = np.sqrt((((points[:, None] - centres) / scale) ** 2).sum(2).min(1))
            return (weights * far**power).sum()

        assert coreset.cost(centres, objective=objective) == pytest.approx(plain(coreset.points, coreset.weights))
        assert coreset.cost(centres, objective=objective) == pytest.approx(plain(rows, np.ones(len(rows))), rel=0.05)
        many = coreset.cost(np.stack([centres, centres + 0.1]), objective=objective)
        assert many.shape == (2,)
        assert many[0] == pytest.approx(coreset.cost(centres, objective=objective))


def test_it_can_be_clustered_again_for_any_k(release):
    for k in (1, 2, 5):
        again = Coreset.of(release).kmeans(k, random_state=0)
        assert len(again.centres) == k
        assert again.certificate.epsilon == release.certificate.epsilon
        assert sum(again.sizes) == pytest.approx(sum(release.synopsis.counts))
    found = np.array(Coreset.of(release).kmeans(3, random_state=0).centres)
    for middle in ([-1.0, 2.0], [1.0, 2.0], [0.0, 6.0]):
        assert np.abs(found - middle).max(axis=1).min() < 0.2


def test_counts_of_boxes(release, rows):
    coreset = Coreset.of(release)
    assert coreset.count(BOX) == pytest.approx(sum(release.synopsis.counts))
    assert coreset.count(Box(lat=(0, 4))) == pytest.approx((rows[:, 1] < 4).sum(), rel=0.05)
    assert coreset.count(Box(lon=(-2, 0.3), lat=(1.1, 4))) == pytest.approx(
        ((rows[:, 0] < 0.3) & (rows[:, 1] > 1.1) & (rows[:, 1] < 4)).sum(), rel=0.1
    )
    with pytest.raises(ParameterError, match="box"):
        coreset.count(Box(height=(0, 1)))


def test_samples_follow_the_weights(release):
    made_up = Coreset.of(release).sample(5_000, random_state=3)
    assert made_up.shape == (5_000, 2)
    assert (np.abs(made_up - [0, 4]) <= [2, 4]).all()
    assert (made_up[:, 1] > 4).mean() == pytest.approx(1 / 3, abs=0.08)


def test_bad_questions_are_refused_by_name(release):
    coreset = Coreset.of(release)
    for centres in ([[1.0]], [[np.nan, 0.0]], np.empty((0, 2)), [1.0, 2.0]):
        with pytest.raises(ParameterError, match="centres"):
            coreset.cost(centres)
    with pytest.raises(ParameterError, match="objective"):
        coreset.cost([[0.0, 0.0]], objective="k-center")
    with pytest.raises(ParameterError, match="k:"):
        coreset.kmeans(0)
    with pytest.raises(ParameterError, match="m:"):
        coreset.sample(-1)


def test_a_release_without_a_synopsis_says_how_to_get_one(rows):
    plain = KMeans(3, bounds=BOX, algorithm="grid").fit(rows[:100]).release_
    with pytest.raises(ParameterError, match="keep_synopsis"):
        Coreset.of(plain)
