"""A level of the slider, run again on made-up rows: how far its centres may be off."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from covey.fit.rehearse import level_again, rehearse_level, reruns
from covey.fit.slider import fit_levels
from covey.post.errors.mixture import fit_mixture
from covey.post.errors.reruns import FARTHEST, RERUNS
from covey.public import Box
from covey.published.release import WeightedPoints

MIDDLES = np.array([[-0.5, -0.5], [0.5, -0.4], [0.0, 0.6]])


@pytest.fixture(scope="module")
def levels():
    rng = np.random.default_rng(1)
    rows = np.clip(np.repeat(MIDDLES, 2000, axis=0) + rng.normal(0, 0.06, (6000, 2)), -1, 1)
    return fit_levels(rows * 50, bounds=Box((-50, 50), (-50, 50)), random_state=1, per_axis=32)


def test_radii_are_those_of_the_centres_and_hold_the_true_places(levels):
    found = rehearse_level(levels, 3, 3)
    centres, _ = levels.clusters(3, 3)
    away = np.sqrt(np.square(centres[:, None] - MIDDLES).sum(axis=2)).min(axis=1)
    assert found.radii.shape == (3,)
    assert (found.radii <= FARTHEST).all()
    assert (away <= found.radii + 0.01).all()
    assert found.excess > 0
    assert np.array_equal(rehearse_level(levels, 3, 3).radii, found.radii), "the same for everybody"


def test_more_private_levels_are_farther_off(levels):
    near, far = (np.nan_to_num(rehearse_level(levels, level, 3).radii, nan=FARTHEST).mean() for level in (4, 0))
    assert near < far


def test_each_rerun_is_a_step_and_what_a_step_raises_ends_the_work(levels):
    steps = []
    rehearse_level(levels, 2, 2, step=lambda: steps.append(1))
    assert len(steps) == RERUNS
    with pytest.raises(KeyError):
        rehearse_level(levels, 2, 2, step=lambda: {}["stop"])


def test_reruns_have_the_noise_of_the_level(levels, monkeypatch):
    """The number of rows is paid from the most private level, and a person's rows share an epsilon."""
    seen = []

    def watched(rows, **asked):
        seen.append(asked)
        return fit_levels(rows, **asked)

    monkeypatch.setattr("covey.fit.rehearse.fit_levels", watched)
    for level in (0, 3):
        certificate = levels.release(level, 2).certificate
        level_again(certificate, 2, "k-means")(np.zeros((50, 2)), 2.0, 1)
    assert seen[0]["levels"] == [("most private", 0.2)]
    assert seen[1]["levels"] == [("most private", 0.2), ("detailed", 2.0)]
    assert {each["per_axis"] for each in seen} == {32}
    certificate.parameters["rows_per_person"] = 4
    level_again(certificate, 2, "k-means")(np.zeros((50, 2)), 2.0, 1)
    assert seen[2]["levels"] == [("most private", 0.05), ("detailed", 0.5)]


@pytest.mark.parametrize(
    ("objective", "per_axis", "fine"), [("k-means", 32, True), ("k-means", 512, False), ("k-median", 32, False)]
)
def test_reruns_look_inside_boxes_only_where_that_matters(monkeypatch, objective, per_axis, fine):
    """Most of their time: k-median never looks there, and in narrow boxes there is nothing to find."""
    rng = np.random.default_rng(1)
    rows = np.clip(np.repeat(MIDDLES, 2000, axis=0) + rng.normal(0, 0.1, (6000, 2)), -1, 1)
    found, mixtures = fit_levels(rows, bounds=(-1, 1), levels=[("one", 100.0)], random_state=1, per_axis=per_axis), []

    def watched(boxes, centres, **asked):
        mixtures.append(1)
        return fit_mixture(boxes, centres, **asked)

    centres, _ = found.clusters(0, 3, objective=objective)
    monkeypatch.setattr("covey.published.levels.levels.fit_mixture", watched)
    certificate = found.release(0, 3, objective=objective).certificate
    reruns(found.boxes(0), centres, objective, certificate)
    assert bool(mixtures) == fine


def test_a_level_that_was_published_with_its_coreset_is_rehearsed_by_its_reader(levels):
    release = levels.release(3, 3)
    assert release.centre_radii is None
    kept = levels.coreset(3)
    points = WeightedPoints(kept.points.tolist(), kept.weights.tolist(), cells=kept.cells.tolist(), noise=kept.noise)
    published = msgspec.structs.replace(release, coreset=points)
    radii = published.centre_radii
    assert radii.shape == (3,)
    assert np.allclose(radii, rehearse_level(levels, 3, 3).radii, atol=0.02, equal_nan=True)


def test_zones_have_no_errors():
    rows = np.random.default_rng(1).random((500, 2))
    zoned = fit_levels(rows, bounds=(0, 1), zones=[(Box((0, 0.5), (0, 0.5)), 0.01)], random_state=1)
    assert rehearse_level(zoned, 2, 2) is None
    release = zoned.release(2, 2)
    assert release.errors is None
    assert "counted up again" in release.words[0]
